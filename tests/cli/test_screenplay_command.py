"""``shotad screenplay`` as a user meets it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from shotad.evaluation import read_screenplay
from tests.cli.program import Shotad
from tests.evaluation.filmfolder import make_folder

CUTS = (0.0, 12.0, 31.0, 50.0)
SHOTS = [{"index": n, "start": a, "end": b} for n, (a, b) in enumerate(pairwise(CUTS))]
LOOK = {
    "first": 0.0, "quarter": 0.0, "middle": 0.0, "three_quarters": 0.0, "last": 0.0, "thread": None,
    "scale": None,
}  # fmt: skip
GRAMMAR = {"features": None, "threshold": None, "scale_method": None, "pairs": []}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    looks = [{**LOOK, "index": n, "probabilities": None} for n in range(3)]
    return make_folder(
        tmp_path / "door.shotad",
        "door",
        [(2, 4, "Ann opens\nthe door."), (33, 35, "Snow falls on a roof.")],
        [(5, 28, "Ann: Who is it?"), (36, 38, "Nobody.")],
        shots={"end": 50.0, "shots": SHOTS},
        grammar={**GRAMMAR, "shots": looks},
        characters={"cast": [{"id": "p1", "name": "Ann", "shots": [0]}], "tracks": []},
    )


WHOLE = """Title: door
Language: en

.SCENE 1 - ANN

Ann opens the door.

@Ann
Who is it?

.SCENE 2

Snow falls on a roof.

UNKNOWN
Nobody."""


def test_a_work_folder_as_fountain(shotad: Shotad, folder: Path) -> None:
    said = shotad("screenplay", folder)
    assert (said.code, said.out.strip()) == (0, WHOLE)


def test_into_cml_tags(shotad: Shotad, folder: Path, tmp_path: Path) -> None:
    for name in ("door.cml", "door.json"):
        assert shotad("screenplay", folder, "-o", tmp_path / name).code == 0
    tagged, whole = (read_screenplay(tmp_path / name) for name in ("door.cml", "door.json"))
    assert [scene.heading for scene in tagged.scenes] == [scene.heading for scene in whole.scenes]
    for scene, told in zip(tagged.scenes, whole.scenes, strict=True):
        plain = [replace(one, interval=None, cue="") for one in told.elements]
        assert list(scene.elements) == plain


def test_other_subtitles_and_a_text_for_people(shotad: Shotad, folder: Path, tmp_path: Path) -> None:
    subtitles = tmp_path / "door.srt"
    subtitles.write_text("1\n00:00:06,000 --> 00:00:08,000\n[Bo] Let me in!\n", encoding="utf-8")
    said = shotad("screenplay", folder, "--subtitles", subtitles, "--format", "text", "--json")
    value = json.loads(said.out)
    assert value["dialogue"] == 1
    assert "SCENE 1 - ANN  (00:00:02)\n[Ann opens the door.]\nBO: Let me in!" in value["screenplay"]


def test_without_words_it_says_how_to_get_them(shotad: Shotad, tmp_path: Path) -> None:
    said = shotad("screenplay", make_folder(tmp_path / "a.shotad", "a", [(1, 2, "Rain.")]))
    assert said.code == 0
    assert "Name them by --subtitles" in said.err
