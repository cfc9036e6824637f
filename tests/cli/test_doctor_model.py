"""``shotad doctor --model``: tiny models of several families against plain transformers, alike and not alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
import transformers

from tests.cli.program import Shotad
from tests.gpus import Card, Cards
from tests.language_models import make_llama
from tests.vision_models import (
    has_torchvision,
    llava_folder,
    omni_folder,
    qwen_folder,
    split_folder,
    video_folder,
)

# Of transformers' own processors of GLM-4.6V and MiniCPM-V.
pytestmark = pytest.mark.filterwarnings("ignore:__array_.* must|__array__ impl:DeprecationWarning")

PIXELS = ("llava", "idefics3")
"""Families whose own processor needs no torchvision."""
VIDEOS = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "omni", "internvl")


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # several wait for each other where cores are busy
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("models")

    def make(kind: str) -> Path:
        if kind.startswith("qwen"):
            return qwen_folder(root / kind, kind)
        makers: dict[str, Callable[[Path], Path]] = {
            "llama": make_llama, "llava": llava_folder, "idefics3": split_folder, "omni": omni_folder,
        }  # fmt: skip
        return makers[kind](root / kind) if kind in makers else video_folder(root / kind, kind)

    return cache(make)


def doctor(
    shotad: Shotad, model: object, *settings: str, precision: str = "float32"
) -> tuple[int, dict[str, Any]]:
    """The exit code, and the lines of the report by their topics."""
    chosen = (f"compute.precision={precision}", "frames.inside=2", "frames.outside=2", *settings)
    said = shotad("doctor", "--model", model, "--json", *(word for one in chosen for word in ("--set", one)))
    assert said.out, said.err
    return said.code, {check["topic"]: check for check in json.loads(said.out)}


@pytest.mark.parametrize("kind", ["llama", *PIXELS, *VIDEOS])
def test_each_family_is_given_and_answers_what_plain_transformers_does(
    kind: str, shotad: Shotad, folder_of: Callable[[str], Path]
) -> None:
    code, checks = doctor(shotad, folder_of(kind))
    assert code == 0, checks
    assert checks["Text"]["ok"] is True
    assert checks["Positions"]["ok"] is True
    assert checks["Model"]["finding"].startswith(f"{kind}, float32 on cpu, transformers")
    if kind in ("llama", *PIXELS):
        assert checks["Ids"]["finding"].startswith("the same")
    elif not has_torchvision():
        assert "not compared with AutoProcessor" in checks["Ids, pixels"]["finding"]
        assert checks["Ids, pixels"]["ok"] is None
    if kind in PIXELS:
        assert checks["Pixels"]["finding"] == "pixel_values is the same"
    thing = "prompt" if kind == "llama" else "clip"
    assert f" s a {thing} (" in checks["Speed"]["finding"]
    assert "GB of this process" in checks["Memory"]["finding"]


def test_it_says_the_precision(shotad: Shotad, folder_of: Callable[[str], Path]) -> None:
    code, checks = doctor(shotad, folder_of("llava"), precision="bfloat16")
    assert code == 0
    assert "llava, bfloat16 on cpu" in checks["Model"]["finding"]
    assert checks["Model"]["finding"].endswith("it gets a clip as timed stills")


# Qwen's own processors, whose video part would need torchvision
class VideoPart:
    """In place of ``Qwen2VLVideoProcessor``, after its description: patches of two frames, row by row."""

    temporal_patch_size = 2
    merge_size = 2
    model_input_names = ("pixel_values_videos", "video_grid_thw")

    def __init__(self, patch: int, shift: float = 0.0) -> None:
        self.patch, self.shift = patch, shift

    def __call__(self, videos: Any, video_metadata: Any, **_: Any) -> Any:
        (frames,), p, m = videos, self.patch, self.merge_size
        mean, std = np.array([0.4, 0.5, 0.6]), np.array([0.2, 0.25, 0.3])
        values = (np.asarray(frames) / 255 - mean) / std + self.shift
        t, h, w = len(frames) // 2, frames.shape[1] // p, frames.shape[2] // p
        split = values.transpose(0, 3, 1, 2).reshape(t, 2, 3, h // m, m, p, w // m, m, p)
        rows = split.transpose(0, 3, 6, 4, 7, 2, 1, 5, 8).reshape(t * h * w, -1)
        metadata = [transformers.video_utils.VideoMetadata(**one) for one in video_metadata]
        return transformers.BatchFeature(
            {
                "pixel_values_videos": torch.tensor(rows, dtype=torch.float32),
                "video_grid_thw": torch.tensor([[t, h, w]]),
                "video_metadata": metadata,
            }
        )


def own_processor(
    monkeypatch: pytest.MonkeyPatch, name: str, patch: int = 14, shift: float = 0.0, words: str = ""
) -> None:
    """Let ``AutoProcessor`` find the model's own processor; ``words`` are added to its chat template."""
    kind = getattr(transformers, name)
    bare = type(name, (kind,), {"check_argument_for_proper_class": lambda *_: None})

    def from_pretrained(folder: Path, **_: Any) -> Any:
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        images = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
        template = words + tokenizer.chat_template
        return bare(images, tokenizer, VideoPart(patch, shift), chat_template=template)

    monkeypatch.setattr(transformers.AutoProcessor, "from_pretrained", from_pretrained)


OWN = {"qwen2_vl": ("Qwen2VLProcessor", 14), "qwen2_5_vl": ("Qwen2_5_VLProcessor", 14), "qwen3_vl": ("Qwen3VLProcessor", 16)}  # fmt: skip


@pytest.mark.parametrize("kind", OWN)
def test_a_video_s_ids_and_pixels_are_those_of_the_published_processor(
    kind: str, shotad: Shotad, folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own_processor(monkeypatch, *OWN[kind])
    code, checks = doctor(shotad, folder_of(kind))
    assert code == 0, checks
    for topic in ("Ids", "Pixels", "Positions", "Text"):
        assert checks[topic]["ok"] is True, checks[topic]


def test_what_differs_is_trouble_and_says_where(
    shotad: Shotad, folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of("qwen2_vl")
    own_processor(monkeypatch, "Qwen2VLProcessor", shift=0.5)
    code, checks = doctor(shotad, folder)
    assert code == 1
    assert (checks["Pixels"]["ok"], checks["Ids"]["ok"]) == (False, True)
    assert checks["Pixels"]["finding"] == "pixel_values_videos differs by up to 0.5"

    own_processor(monkeypatch, "Qwen2VLProcessor", words="Well. ")
    code, checks = doctor(shotad, folder)
    assert code == 1
    assert checks["Ids"]["finding"].startswith("token 1 is ")
    assert "in plain transformers (" in checks["Ids"]["finding"]
    assert checks["Positions"]["ok"] is False


def test_another_answer_is_trouble(
    shotad: Shotad, folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = transformers.GenerationMixin.generate

    def generate(model: Any, **options: Any) -> Any:
        ids = whole(model, **options)
        return ids if "generation_config" in options else ids[:, :-5]  # plain calls give no configuration

    monkeypatch.setattr(transformers.GenerationMixin, "generate", generate)
    code, checks = doctor(shotad, folder_of("llama"))
    assert code == 1
    assert (checks["Text"]["ok"], checks["Ids"]["ok"]) == (False, True)
    assert " here, " in checks["Text"]["finding"]


def test_on_a_gpu_it_finds_the_batch_and_the_peak(
    shotad: Shotad, folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("accelerate")
    from shotad.core.model_cache import CACHE

    CACHE.clear()
    Cards(monkeypatch, [Card(24 * 10**9)], lambda name: 16 * 10**9, bytes_per_token=5 * 10**6)
    code, checks = doctor(shotad, folder_of("llama"), "compute.device=cuda", "local.batch=8")
    CACHE.clear()
    assert code == 0, checks
    assert "on cuda:0" in checks["Model"]["finding"]
    assert checks["Memory"]["finding"] == "16.6 GB on cuda:0"
    assert checks["Batch"]["finding"] == "8 of 8 prompts at once"


def test_weights_that_are_not_here_are_not_fetched(shotad: Shotad, empty_hub: Path) -> None:
    said = shotad("doctor", "--model", "llama3-8b")
    assert said.code == 1
    assert "The weights of meta-llama/Meta-Llama-3-8B-Instruct are not on this machine" in said.err
    assert "shotad models pull llama3-8b" in said.err
    assert shotad("doctor", "--set", "local.batch=2").code == 2
