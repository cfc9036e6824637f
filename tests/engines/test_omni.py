"""Qwen2.5-Omni with tiny random weights of the very class: frames, their times, and sound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from shotad.core import HEARING_RATE, Config, NoProgress, Request, load_config
from shotad.engines import local_loading, make_engine
from tests.vision_models import make_clip, make_request, omni_folder

NOISE = np.random.default_rng(0).normal(0, 0.2, 3 * HEARING_RATE // 2).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # several wait for each other where cores are busy
    yield
    torch.set_num_threads(before)
    local_loading.CACHE.clear()


def engine_of(folder: Path) -> Any:
    given = ("compute.device=cpu", "compute.precision=float32", "local.batch=4")
    small = ("frames.min_pixels=784", "frames.max_pixels=20000")
    config: Config = load_config(None, [f"stage1.model={folder}", *given, *small])
    engine: Any = make_engine("qwen2-vl", config, "stage1")
    engine.get_ready(NoProgress())
    return engine


def questions() -> list[Request]:
    """Without sound, with it, with another of another length, with the frames further apart, with words alone."""
    clip, slow = make_clip(4), make_clip(4, step=3.0)
    loud = [replace(clip, sound=NOISE), replace(clip, sound=NOISE[:20_123]), replace(slow, sound=NOISE)]
    asked = [make_request(str(n), clip=one, max_tokens=16) for n, one in enumerate([clip, *loud])]
    return [*asked, make_request("words", max_tokens=16)]


def test_the_sound_has_as_many_tokens_as_the_published_rule_gives(tmp_path: Path) -> None:
    from transformers.models.qwen2_5_omni.processing_qwen2_5_omni import _get_feat_extract_output_lengths

    engine = engine_of(omni_folder(tmp_path / "omni"))
    silent, loud, *_ = (engine.generate([request])[0].usage.tokens_in for request in questions()[:2])
    marks = 2
    assert loud - silent == marks + _get_feat_extract_output_lengths(150)
