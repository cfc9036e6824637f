"""``shotad redo`` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shotad.core import Config, Request
from shotad.engines.fake import FakeEngine, plain_answer
from tests.cli.program import FAKE, Said, Shotad

HERE = "tests.cli.test_redo_command"


class Dice(FakeEngine):
    """Says another line for every seed. Named on the command line as ``module:Class``."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, answer=_dice)


class Mute(FakeEngine):
    """Never says anything that can be used."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, answer=lambda request: "" if request.schema else plain_answer(request))


def _dice(request: Request) -> str:
    if request.schema is None:
        return plain_answer(request)
    return json.dumps({"summarized_AD": f"A cat sits by {request.seed}."})


@pytest.fixture(autouse=True)
def _named_from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    # This module is imported anew by the name under which the command line loads it.
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2]))


@pytest.fixture
def film(film: Path, shotad: Shotad) -> Path:
    """A film that was described beside itself."""
    assert shotad("describe", film, *FAKE, "--no-sheet", "--quiet") == Said(0, "", "")
    return film


DICE = ("--set", f"stage2.engine={HERE}:Dice", "--no-sheet")


def first_line(film: Path) -> dict[str, object]:
    track = json.loads((film.with_suffix(".shotad") / "track.json").read_text())
    line: dict[str, object] = track["cues"][0]
    return line


def test_old_and_new_line_are_told(shotad: Shotad, film: Path) -> None:
    old = first_line(film)
    said = shotad("redo", film.with_suffix(".shotad"), old["id"], *DICE)
    assert said.code == 0, said.err
    new = first_line(film)
    assert f"old: {old['text']}" in said.out
    assert f"new: {new['text']}" in said.out
    assert str(new["text"]).startswith("A cat sits")
    assert str(film.with_suffix(".shotad") / "movie.ad.srt") in said.out
    assert str(new["text"]) in (film.with_suffix(".shotad") / "movie.ad.srt").read_text()
    assert shotad("describe", film, *FAKE, "--no-sheet").code == 0
    assert first_line(film)["text"] == new["text"]
    assert shotad("describe", film, *FAKE, "--no-sheet", "--discard-edits").code == 0
    assert first_line(film)["text"] == old["text"]


def test_no_new_line_is_exit_code_1(shotad: Shotad, film: Path) -> None:
    before = first_line(film)
    said = shotad("redo", film, "1", "--set", f"stage2.engine={HERE}:Mute", "--no-sheet")
    assert said.code == 1
    assert "Nothing was changed: the new answer is failed" in said.out
    assert "1 of 1 slots failed: " in said.err
    assert first_line(film) == before


def test_a_film_that_has_moved_is_asked_for(shotad: Shotad, film: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "other.mp4"
    elsewhere.parent.mkdir()
    film.rename(elsewhere)
    folder = film.with_suffix(".shotad")
    said = shotad("redo", folder, "1", *DICE)
    assert said.code == 1
    assert "--film" in said.err
    assert shotad("redo", folder, "1", *DICE, "--film", elsewhere).code == 0
    moved = elsewhere.parent / "movie.shotad"
    folder.rename(moved)
    elsewhere.rename(moved.with_suffix(".mp4"))
    assert shotad("redo", moved, "1", *DICE).code == 0, "beside the folder, by the track's name for it"


def test_a_folder_of_an_older_run_is_told_of(shotad: Shotad, film: Path) -> None:
    (film.with_suffix(".shotad") / "settings.json").unlink()
    said = shotad("redo", film, "1")
    assert said.code == 1
    assert "Run shotad describe on the film again" in said.err
