"""Families of vision-language models look at a film for `describe`: tiny random models of the very classes.

What they say is nonsense, so the engine `fake` writes the lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from shotad.engines import local_loading
from shotad.script import load_track
from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, SoundSpec, make_film
from tests.vision_models import (
    NO_STILLS,
    VIDEO_FAMILIES,
    has_torchvision,
    llava_folder,
    omni_folder,
    qwen_folder,
    split_folder,
    video_folder,
)

# Of transformers' own processors of GLM-4.6V and MiniCPM-V.
pytestmark = pytest.mark.filterwarnings("ignore:__array_.* must|__array__ impl:DeprecationWarning")

SHOWN = "video" if has_torchvision() else "timed stills"
FAMILIES = {
    "llava": "timed stills", "idefics3": "timed stills", "qwen2_5_vl": "video", "qwen3_vl": "video",
    "qwen2_5_omni": "video", "glm46v": SHOWN,
}  # fmt: skip
"""One of each kind, and how it is shown the clip; the others answer in tests/engines."""
REFUSED = () if has_torchvision() else NO_STILLS

SMALL = ("compute.device=cpu", "compute.precision=float32", "stage1.attempts=1", "stage1.sampling.max_tokens=8",
         "frames.inside=3", "frames.outside=2", "frames.min_pixels=784", "frames.max_pixels=20000")  # fmt: skip


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # several wait for each other where cores are busy
    yield
    torch.set_num_threads(before)
    local_loading.CACHE.clear()


def tiny(kind: str, folder: Path) -> Path:
    if kind in VIDEO_FAMILIES:
        return video_folder(folder, kind)
    others = {
        "llava": llava_folder, "idefics3": split_folder, "qwen2_5_omni": partial(omni_folder, whole=True),
    }  # fmt: skip
    return others[kind](folder) if kind in others else qwen_folder(folder, kind)


@pytest.fixture
def words(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[object, ...]:
    """``describe`` with a tiny model of a kind; two slots, and a film with sound."""
    spec = FilmSpec(frames=200, cuts=(100,), sounds=(SoundSpec(duration=8.0),))
    slots = tmp_path / "slots.csv"
    slots.write_text("start,end\n0.2,3.8\n4.2,7.8\n")
    own = ("stage1.engine=qwen2-vl", f"stage1.model={tiny(request.param, tmp_path / request.param)}", *SMALL)
    settings = (word for one in own for word in ("--set", one))
    return ("describe", make_film(spec).path, *FAKE, *settings, "--slots", slots, "--out", tmp_path / "out",
            "--no-sheet")  # fmt: skip


@pytest.mark.parametrize(
    ("words", "kind"), [(kind, kind) for kind in FAMILIES if kind not in REFUSED], indirect=["words"]
)
def test_each_family_looks_at_a_film_once(words, kind, shotad, tmp_path):
    out = tmp_path / "out"
    said = shotad(*words)
    assert said.code == 0, said.err
    assert "2 calls" in said.out
    assert [len(cue.text) > 0 for cue in load_track(out / "track.json").heard] == [True, True]
    kept = {name: (out / name).read_bytes() for name in ("stage1.jsonl", "stage2.jsonl", "track.json")}
    records = [json.loads(line) for line in kept["stage1.jsonl"].splitlines()]
    assert [record["slot"] for record in records] == ["s00000200", "s00004200"]
    for record in records:
        maker = record["maker"]
        assert (maker["engine"], maker["model"], record["error"]) == ("qwen2-vl", kind, None)
        assert maker["revision"].endswith(" float32")
        (one,) = record["tries"]
        assert (len(one["raw"]), one["shown"]) == (8, FAMILIES[kind])
        seconds = [second for shot in record["shots"] for second in shot["seconds"]]
        assert seconds == sorted(set(seconds))
        assert len(seconds) == 5
        assert ("everybody hears it" in record["prompt"][0]["text"]) == (kind == "qwen2_5_omni")
    again = shotad(*words)
    assert (again.code, "Used by" in again.out) == (0, False)
    assert {name: (out / name).read_bytes() for name in kept} == kept


@pytest.mark.skipif(not REFUSED, reason="torchvision is here")
@pytest.mark.parametrize("words", REFUSED, indirect=True)
def test_who_cannot_do_without_torchvision_says_so(words: tuple[object, ...], shotad: Shotad) -> None:
    said = shotad(*words)
    assert said.code == 1
    assert "torchvision" in said.err
    assert "Finding shots" not in said.err, "the film is not touched"
