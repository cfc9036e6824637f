"""timm's DINOv2 and transformers' DINOv2 are the same features, where the weights are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from shotad.core import ComputeSettings, ConfigError, ShotadError, ThreadSettings, WeightsError  # noqa: E402  # noqa: E402
from shotad.grammar import make_feature_maker  # noqa: E402
from shotad.grammar.vit_features import (  # noqa: E402
    DinoV2,
    check_name,
    load_timm_model,
    resampled,
)
from tests.grammar.dino_models import pictures, put_in_cache, tiny  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("registers", [0, 4])
@pytest.mark.parametrize("grid", [(12, 16), (16, 12), (5, 5), (24, 32)])
def test_positions_are_resampled_as_transformers_does(registers: int, grid: tuple[int, int]) -> None:
    embeddings = tiny(registers).embeddings
    rows, columns = grid
    empty = torch.zeros(1, 1 + rows * columns, 96)
    with torch.no_grad():
        wanted = embeddings.interpolate_pos_encoding(empty, rows * 14, columns * 14)
        stored = embeddings.position_embeddings
        found = resampled(stored, grid, prefix=1, antialias=bool(registers))
        without_cls = resampled(stored[:, 1:], grid, prefix=0, antialias=bool(registers))
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-6)
    torch.testing.assert_close(without_cls, wanted[:, 1:], rtol=0, atol=1e-6)


def test_a_name_that_is_none_and_a_missing_timm_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ["vit_small_patch14_dinov2.lvd142m", "vit_base_patch14_dinov2.lvd142m"]
    check_name(known[0], known)
    with pytest.raises(ConfigError, match=r"Nearest: timm:vit_small_patch14_dinov2\.lvd142m"):
        check_name("vit_smal_patch14_dinov2", known)
    with pytest.raises(ConfigError, match="none of timm's DINOv2 models"):
        check_name("resnet50", known)
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(ShotadError, match=r'needs timm.*pip install "shotad\[timm\]"'):
        make_feature_maker(ThreadSettings(features="timm:x"), ComputeSettings(device="cpu"))


def test_weights_of_another_model_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of one weight in timm's place: what is missing or unknown in the file must not pass."""
    from safetensors.torch import save_file

    class Timm:
        @staticmethod
        def create_model(name: str, **options: Any) -> Any:
            return torch.nn.Linear(3, 3, bias=False)

    monkeypatch.setitem(sys.modules, "timm", Timm)
    (tmp_path / "config.json").write_text("{}")
    file = tmp_path / "model.safetensors"
    for weights in ({"weight": (3, 3), "extra": (1,)}, {"other": (3, 3)}, {"weight": (3, 4)}):
        save_file({name: torch.zeros(shape) for name, shape in weights.items()}, file)
        with pytest.raises(WeightsError, match="cannot be loaded"):
            load_timm_model("vit", tmp_path)
    file.write_bytes(b"no such thing")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        load_timm_model("vit", tmp_path)
    save_file({"weight": torch.ones(3, 3, dtype=torch.float16)}, file)
    assert load_timm_model("vit", tmp_path).weight.dtype == torch.float32


@dataclass(frozen=True)
class Pair:
    """One model in both backends: timm's name, transformers' settings, and what timm is to be built as."""

    name: str
    registers: int = 0
    changes: dict[str, Any] = field(default_factory=dict)
    size: dict[str, Any] = field(default_factory=dict)
    precision: str = "float32"

    @property
    def key(self) -> str:
        return f"{self.name.partition('.')[0]}-{self.precision}"


TINY = {"embed_dim": 96, "depth": 3, "num_heads": 3}
NATIVE = {"image_size": 518}
PAIRS = [
    Pair("vit_base_patch14_dinov2.lvd142m", changes=NATIVE, size=TINY),
    Pair("vit_base_patch14_dinov2.lvd142m", changes=NATIVE, size=TINY, precision="bfloat16"),
    Pair(
        "vit_giant_patch14_reg4_dinov2.lvd142m",
        registers=4,
        changes={**NATIVE, "use_swiglu_ffn": True},
        size=TINY,
    ),
]


def timm_weights(model: Any) -> dict[str, Any]:
    """The weights of transformers' model under timm's names.

    timm calls the gated MLP's matrices fc1 and fc2, adds the CLS token's position to the CLS token where
    there are registers, and has no mask token.
    """
    from shotad.grammar.scale_net import to_released

    weights = dict(model.state_dict())
    weights.pop("embeddings.mask_token")
    registers = weights.pop("embeddings.register_tokens", None)
    found = {
        name.replace("mlp.w12", "mlp.fc1").replace("mlp.w3", "mlp.fc2"): value
        for name, value in to_released(weights).items()
    }
    if registers is not None:
        found["reg_token"] = registers
        found["cls_token"] = found["cls_token"] + found["pos_embed"][:, :1]
        found["pos_embed"] = found["pos_embed"][:, 1:]
    return {name: value.detach().clone().contiguous() for name, value in found.items()}


@pytest.fixture(scope="module")
def timm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """timm and torchvision, without what they would bring along, in a folder of their own."""
    folder = tmp_path_factory.mktemp("timm")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-input"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--retries", "1"]
    command += ["--target", str(folder)]
    done = subprocess.run([*command, "timm", "torchvision"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"timm could not be had from the package index: {done.stderr.strip()[-200:]}")
    return folder


@pytest.mark.slow
def test_both_backends_give_the_same_features(timm_folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import save_file

    torch.set_num_threads(2)
    views = {"broad": pictures(3, 200, 340), "upright": pictures(3, 340, 200, seed=1)}
    wanted: dict[str, npt.NDArray[np.float32]] = {}
    for pair in PAIRS:
        model = tiny(pair.registers, **pair.changes)
        model.save_pretrained(tmp_path / pair.key)
        compute = ComputeSettings(device="cpu", precision=pair.precision, batch=2)
        maker = DinoV2.in_folder(tmp_path / pair.key, compute)
        for view, images in views.items():
            features = maker.of(images)
            wanted[f"{pair.key}.{view}.patches"] = features.patches.numpy()
            wanted[f"{pair.key}.{view}.whole"] = features.whole.numpy()
            wanted[f"{pair.key}.{view}.grid"] = np.array(features.grid)
        as_timm = tmp_path / "timm" / pair.key
        as_timm.mkdir(parents=True)
        (as_timm / "config.json").write_text("{}")
        save_file(timm_weights(model), as_timm / "model.safetensors", metadata={"format": "pt"})
        if not (tmp_path / "hub" / f"models--timm--{pair.name}").exists():
            put_in_cache(tmp_path / "hub", f"timm/{pair.name}", as_timm)
    found = _ask_timm(timm_folder, tmp_path, views)
    for pair in PAIRS:
        first, second = wanted[f"{pair.key}.broad.patches"][:2]
        assert np.abs(first - second).max() > 0.1, "the features must depend on the frames"
    assert sorted(found) == sorted(wanted)
    for key, value in wanted.items():
        tolerance = 0.02 if "bfloat16" in key else 1e-5
        np.testing.assert_allclose(found[key], value, rtol=0, atol=tolerance, err_msg=key)


def _ask_timm(folder: Path, place: Path, views: dict[str, Any]) -> dict[str, npt.NDArray[np.float32]]:
    orders = [{"key": p.key, "name": p.name, "size": p.size, "precision": p.precision} for p in PAIRS]
    job = place / "job.json"
    job.write_text(json.dumps(orders))
    np.savez(place / "job.npz", **{view: np.stack(images) for view, images in views.items()})
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(folder))),
        "HF_HUB_CACHE": str(place / "hub"),
        "HF_HUB_OFFLINE": "1",
    }
    side = Path(__file__).with_name("timm_side.py")
    done = subprocess.run(
        [sys.executable, str(side), str(job)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for pair, line in zip(PAIRS, done.stdout.splitlines(), strict=True):
        model, identity, threshold = line.split()
        assert model.startswith("timm.models.")
        assert identity.startswith(f"timm:{pair.name}@")
        assert identity.endswith(f":{pair.precision}")
        assert threshold == "0.3"
    with np.load(place / "job.found.npz") as found:
        return dict(found)
