"""``shotad sheet``: with a film, with a work folder, and with neither beside the other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.program import Shotad
from tests.media import FilmSpec, make_film

PLAIN = (
    "--set", "slots.find_credits=false", "--set", "speech.source=none", "--set", "threads.features=none",
    "--set", "scale.method=none",
)  # fmt: skip


@pytest.fixture
def film(tmp_path: Path) -> Path:
    path = tmp_path / "movie.mp4"
    shutil.copy(make_film(FilmSpec(frames=150, cuts=(60,))).path, path)
    return path


def test_a_film_that_was_never_described_is_drawn_without_lines(shotad: Shotad, film: Path) -> None:
    code, out, err = shotad("sheet", film, *PLAIN)
    assert code == 0, err
    folder = film.with_suffix(".shotad")
    assert out == f"{folder / 'overview.html'}\n"
    assert "There are no lines yet" in (folder / "overview.html").read_text()
    assert not (folder / "track.json").exists()
    assert not list(folder.glob("frames.*"))


@pytest.mark.parametrize("given", [(), ("--slots", "slots.csv")])
def test_the_sheet_of_a_run_and_one_drawn_later_are_the_same(shotad, film, given, monkeypatch):
    """The one is drawn from kept frames, the other decodes the film; given slots are read exactly."""
    monkeypatch.chdir(film.parent)
    Path("slots.csv").write_text("start,end\n0.43,1.1\n3.01,5.2\n")
    code, _, err = shotad("describe", film, "--engine", "fake", *PLAIN, *given, "--quiet")
    assert code == 0, err
    page = film.with_suffix(".shotad") / "overview.html"
    drawn = page.read_bytes()
    assert b"What the engine saw" in drawn
    page.unlink()
    assert shotad("sheet", page.parent, "--quiet") == (0, "", "")
    assert page.read_bytes() == drawn
