"""How often a whole run decodes the film, counted, for every kind of run; and that its memory stays flat."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from shotad.core import RunInputs, WorkFolder, load_config
from shotad.description import Engines, describe
from shotad.film import open_film
from tests.decodes import Decodes, counted_decodes
from tests.media import FilmSpec, make_film

pytestmark = pytest.mark.slow

SPEC = FilmSpec(frames=1000, gop=50, cuts=tuple(range(90, 990, 90)))
QUICK = (
    "engine=fake", "shots.detector=adaptive", "speech.source=auto", "slots.find_credits=false", "scale.method=none",
    "frames.min_pixels=12544", "frames.max_pixels=25088",
)  # fmt: skip
SLACK = 60
"""Frames that decoders may decode more than once: where parts of the pass for the shots join, and behind
the last moment that is wanted."""


def run(out: Path, given: RunInputs, *assignments: str) -> Decodes:
    config = load_config(None, (*QUICK, *assignments))
    with counted_decodes() as decodes, open_film(make_film(SPEC).path) as film, WorkFolder(out) as folder:
        describe(film, folder, config, given, engines=Engines.of(config))
    return decodes


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Subtitles with long and short pauses; shots and slots of a run, as files."""
    folder = tmp_path_factory.mktemp("given")
    spoken = [(6.0, 9.0), (18.0, 22.0), (33.0, 38.0)]
    cues = [f"00:00:{a:06.3f} --> 00:00:{b:06.3f}\nWords\n" for a, b in spoken]
    (folder / "speech.vtt").write_text("WEBVTT\n\n" + "\n".join(cues))
    files = {"subtitles": folder / "speech.vtt"}
    run(folder / "w", RunInputs(**files))
    shots = json.loads((folder / "w" / "shots.json").read_text())["shots"]
    slots = json.loads((folder / "w" / "slots.json").read_text())["slots"]
    (folder / "shots.csv").write_text("\n".join(["start,end", *(f"{s['start']},{s['end']}" for s in shots)]))
    timed = [f"00:00:{s['start']:06.3f} --> 00:00:{s['end']:06.3f}\nx\n" for s in slots]
    (folder / "slots.vtt").write_text("WEBVTT\n\n" + "\n".join(timed))
    return {**files, "shots": folder / "shots.csv", "slots": folder / "slots.vtt", "run": folder / "w"}


@pytest.mark.parametrize(
    ("files", "part", "reads", "passes"),
    [
        ((), {}, 1, 9),
        ((), {"start": 9.0, "end": 20.0}, 1, 9),
        (("shots",), {}, 1, 2),
        (("slots",), {}, 2, 9),
        (("slots", "shots"), {}, 1, 1),
    ],
    ids=["plain", "a part", "given shots", "given slots", "given slots and shots"],
)
def test_a_run_decodes_the_film_as_seldom_as_can_be(
    given: dict[str, Any],
    tmp_path: Path,
    files: tuple[str, ...],
    part: dict[str, float],
    reads: int,
    passes: int,
) -> None:
    named = {name: given[name] for name in ("subtitles", *files)}
    decodes = run(tmp_path / "w", RunInputs(**named, **part))
    assert decodes.frames <= reads * SPEC.frames + SLACK
    assert len(decodes.passes) <= passes
    assert not [path.name for path in (tmp_path / "w").iterdir() if path.suffix in (".pack", ".index")]


def test_what_follows_a_part_or_stop_reads_on_in_one_pass(given: dict[str, Any], tmp_path: Path) -> None:
    run(tmp_path / "w", RunInputs(subtitles=given["subtitles"], start=9.0, end=20.0))
    decodes = run(tmp_path / "w", RunInputs(subtitles=given["subtitles"]))
    assert len(decodes.passes) <= 2
    assert decodes.frames <= SPEC.frames + SLACK
    shutil.copytree(given["run"], tmp_path / "v")
    for name in ("stage1.jsonl", "stage2.jsonl", "track.json"):
        (tmp_path / "v" / name).unlink()
    assert len(run(tmp_path / "v", RunInputs(subtitles=given["subtitles"])).passes) == 1
