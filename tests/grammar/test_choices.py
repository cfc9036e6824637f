"""Which features and which reader of scale the settings mean, with and without weights, torch and network."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch

from shotad.core.config.sight import (
    ComputeSettings,
    ScaleSettings,
    ThreadSettings,
)
from shotad.core.errors import ConfigError, WeightsError
from shotad.core.model_loading import (
    cached_model_folder,
    is_model_folder,
    model_folder,
)
from shotad.grammar import MODELS, auto_choice, make_feature_maker, make_scale_reader, scale_weights
from shotad.grammar.scale_net import BackboneShape, ScaleClassifier, ScaleDesign, ScaleNet, save_net
from shotad.grammar.vit_features import DinoV2
from tests.gpus import show_gpus
from tests.grammar.dino_models import COMMIT, pictures, put_in_cache, saved
from tests.made_weights import use_manifest
from tests.runs import Heard

pytest.importorskip("torch")
pytest.importorskip("transformers")
CPU = ComputeSettings(device="cpu", precision="float32")


@pytest.fixture
def cache(empty_hub: Path) -> Path:
    return empty_hub


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of a model without and one with registers."""
    torch.set_num_threads(2)
    root = tmp_path_factory.mktemp("models")
    return {"plain": saved(root / "plain"), "registers": saved(root / "registers", 4)}


def settings(name: str = "auto") -> ThreadSettings:
    return ThreadSettings(features=name)


def put(cache: Path, models: dict[str, Path], *names: str) -> None:
    for name in names:
        put_in_cache(cache, MODELS[name].repo, models["registers" if "registers" in name else "plain"])


def test_a_published_model_from_the_cache(cache: Path, models: dict[str, Path]) -> None:
    put(cache, models, "dinov2-base-registers")
    maker = make_feature_maker(settings("dinov2-base-registers"), CPU)
    assert isinstance(maker, DinoV2)
    assert maker.identity == f"dinov2:facebook/dinov2-with-registers-base@{COMMIT}:float32"
    assert maker.threshold == 0.3
    wanted = DinoV2.in_folder(models["registers"], CPU).of(pictures(2))
    assert torch.equal(maker.of(pictures(2)).patches, wanted.patches)


def test_half_a_download_is_not_at_hand(cache: Path, models: dict[str, Path]) -> None:
    put(cache, models, "dinov2-small", "dinov2-base")
    folder = cached_model_folder(MODELS["dinov2-small"].repo)
    assert folder is not None
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert not is_model_folder(folder)
    assert auto_choice(CPU) == ("dinov2-base", "at hand, on cpu")
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"a": "gone.safetensors"}})
    )
    assert auto_choice(CPU) == ("dinov2-base", "at hand, on cpu")


def test_the_hub_must_be_whole(
    cache: Path, models: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The hub's own function is replaced: it brings what a repository of pickles would."""
    asked = []

    def brought(repo: str, *, revision: str | None, allow_patterns: list[str], tqdm_class: type) -> str:
        asked.append((repo, revision, allow_patterns))
        with tqdm_class(total=0, unit="B", desc="Reconstructing") as bar:
            bar.update(70)
        with tqdm_class(total=2, desc="Fetching 2 files") as files:
            files.update(1)
        return str(tmp_path / "got")

    heard = Heard()
    monkeypatch.setattr(huggingface_hub, "snapshot_download", brought)
    (tmp_path / "got").mkdir()
    with pytest.raises(WeightsError, match="holds no safetensors"):
        model_folder("facebook/dinov2-small", "v1", heard)
    saved(tmp_path / "got")
    assert model_folder("facebook/dinov2-small", "v1", heard) == tmp_path / "got"
    assert asked[0] == asked[1]
    assert asked[0][:2] == ("facebook/dinov2-small", "v1")
    assert not any(pattern.endswith(("bin", "*")) for pattern in asked[0][2])
    assert (heard.steps, heard.advanced, heard.ended) == (
        ["Fetching facebook/dinov2-small"] * 2,
        [70.0] * 2,
        2,
    )


def test_what_cannot_be_had_says_what_can_be_done(cache: Path, models: dict[str, Path]) -> None:
    with pytest.raises(WeightsError) as offline:
        make_feature_maker(settings("dinov2-large"), CPU)
    assert f"{MODELS['dinov2-large'].repo} could not be fetched from the hub" in offline.value.what
    assert all(way in offline.value.hint for way in ("HF_HUB_OFFLINE", "FOLDER", "threads.features=grid"))
    for name, needle in (
        ("dinov2-bas", "Did you mean dinov2-base"),
        ("girder", "Did you mean grid"),
        ("no/such/folder", "Known: auto, grid, none, dinov2-small"),
    ):
        with pytest.raises(ConfigError, match="neither a known name nor a folder") as caught:
            make_feature_maker(settings(name), CPU)
        assert needle in caught.value.hint
    put(cache, models, "dinov2-base")
    with pytest.raises(ConfigError, match="is no device"):
        make_feature_maker(settings(), ComputeSettings(device="gpu"))


def test_no_torch_is_grid(cache: Path, models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    put(cache, models, "dinov2-base")
    for name in ("torch", "transformers"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            choice = auto_choice(CPU)
        assert choice[0] == "grid"
        assert choice[1].startswith(f"{name} is not installed")
    assert auto_choice(CPU)[0] == "dinov2-base"


def test_auto_prefers_quick_models_on_a_processor(cache: Path, models: dict[str, Path]) -> None:
    put(cache, models, "dinov2-giant-registers")
    assert auto_choice(CPU)[0] == "dinov2-giant-registers"
    for better in ("dinov2-large", "dinov2-small", "dinov2-base", "dinov2-base-registers"):
        put(cache, models, better)
        assert auto_choice(CPU)[0] == better
    assert "also here: dinov2-small, dinov2-base, " in auto_choice(CPU)[1]


def test_auto_is_best_on_a_gpu(cache: Path, models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    show_gpus(monkeypatch, 1, memory=80 * 10**9)
    put(cache, models, "dinov2-small", "dinov2-base-registers", "dinov2-giant", "dinov2-giant-registers")
    assert auto_choice(ComputeSettings())[0] == "dinov2-giant-registers"
    show_gpus(monkeypatch, 1, memory=2 * 10**9)
    assert auto_choice(ComputeSettings())[0] == "dinov2-base-registers"
    show_gpus(monkeypatch, 1, memory=10**8)
    choice = auto_choice(ComputeSettings())
    assert choice[0] == "grid"
    assert "too large for the memory of cuda" in choice[1]


# Scales
NAME = "scale-movieshots"


def make(**scale: Any) -> Any:
    return make_scale_reader(ScaleSettings(**scale), ComputeSettings())


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A manifest with an entry for shot scale and one for something else; gives the cached file."""
    design = ScaleDesign(BackboneShape(16, 1, 2, side=56), 1, 112, 84)
    save_net(tmp_path / "net.safetensors", ScaleNet(design), {})
    (tmp_path / "faces.onnx").write_bytes(b"a net for faces")
    files = {NAME: ("shot scale", tmp_path / "net.safetensors"), "faces": ("faces", tmp_path / "faces.onnx")}
    return use_manifest(tmp_path, monkeypatch, files)[NAME]


def test_a_checkpoint_is_a_name_in_the_manifest(manifest: Path) -> None:
    reader = make(checkpoint=NAME)
    assert isinstance(reader, ScaleClassifier)
    assert reader.identity == make(checkpoint=str(manifest)).identity
    assert scale_weights(ScaleSettings(checkpoint=NAME)) == (NAME,)
    with pytest.raises(ConfigError, match="scale-movieshot'") as caught:
        make(checkpoint="scale-movieshot")
    assert caught.value.hint == f"Name a file made by `shotad train scale` or {NAME}."
    with pytest.raises(ConfigError):
        scale_weights(ScaleSettings(checkpoint="scale-movieshot"))
    with pytest.raises(ConfigError, match="names weights for faces, not for shot scale"):
        make(checkpoint="faces")
    with pytest.raises(ConfigError, match=r"scale\.checkpoint is not set") as caught:
        make(method="classifier")
    assert "shotad train scale" in caught.value.hint
    assert "by-face" in caught.value.hint


def test_a_checkpoint_that_differs_from_its_hash_is_not_loaded(manifest: Path) -> None:
    manifest.write_bytes(b"another net")
    with pytest.raises(WeightsError, match=NAME):
        make(checkpoint=NAME)
