"""Families with a video processor, as tiny random models of the very classes: one video, or stills with times.

Their video processors want torchvision. Without it those that can show stills do; Molmo 2 and Perception-LM
cannot, and say so. Perception-LM wants timm besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from shotad.core import Config, NoProgress, load_config
from shotad.engines import local_loading, make_engine
from tests.vision_models import (
    NO_STILLS,
    VIDEO_FAMILIES,
    has_torchvision,
    make_clip,
    make_request,
    video_folder,
)

# Of transformers' own processors of GLM-4.6V and MiniCPM-V.
pytestmark = pytest.mark.filterwarnings("ignore:__array_.* must|__array__ impl:DeprecationWarning")

KINDS = [kind for kind in VIDEO_FAMILIES if has_torchvision() or kind not in NO_STILLS]
SHOWN = "video" if has_torchvision() else "timed stills"


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Path]]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # several wait for each other where cores are busy
    root = tmp_path_factory.mktemp("families")
    yield cache(lambda kind: video_folder(root / kind, kind))
    torch.set_num_threads(before)
    local_loading.CACHE.clear()


def settings(folder: Path, *more: str) -> Config:
    return load_config(
        None,
        [
            f"stage1.model={folder}", "compute.device=cpu", "compute.precision=float32", "local.batch=4",
            "frames.min_pixels=784", "frames.max_pixels=20000", "frames.inside=2", "frames.outside=2", *more,
        ],
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_each_family_sees_every_frame_and_its_time(kind: str, folder_of: Callable[[str], Path]) -> None:
    engine: Any = make_engine("qwen2-vl", settings(folder_of(kind)), "stage1")
    engine.get_ready(NoProgress())
    assert engine.identity.revision.endswith(f" {SHOWN} float32")
    clip, slow = make_clip(4), make_clip(4, step=4.0)
    other = make_clip(4)
    other.images[3] = 255 - other.images[3]
    asked = [make_request(str(n), clip=one, max_tokens=24) for n, one in enumerate([clip, slow, other])]
    alone = [engine.generate([request])[0] for request in asked]
    assert all(reply.text and reply.error is None for reply in alone)
    assert len({reply.text for reply in alone}) == 3
    together = engine.generate(asked)
    assert [(reply.text, reply.usage) for reply in together] == [(r.text, r.usage) for r in alone]


@pytest.mark.parametrize("kind", KINDS)
def test_by_the_papers_rules_all_see_wordless_stills(kind: str, folder_of: Callable[[str], Path]) -> None:
    engine: Any = make_engine("qwen2-vl", settings(folder_of(kind), "prompt.rules=paper"), "stage1")
    engine.get_ready(NoProgress())
    assert "stills" not in engine.identity.revision
    assert "video" not in engine.identity.revision
    one, other = (make_request(clip=make_clip(4, step=step), max_tokens=24) for step in (0.5, 4.0))
    assert engine.generate([one])[0].text == engine.generate([other])[0].text
