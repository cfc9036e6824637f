"""``shotad describe --profile``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, make_film


@pytest.fixture
def film(tmp_path: Path) -> Path:
    path = tmp_path / "movie.mp4"
    shutil.copy(make_film(FilmSpec(frames=150, cuts=(60,))).path, path)
    return path


def test_the_time_of_each_room_is_told(shotad: Shotad, film: Path) -> None:
    said = shotad("describe", film, *FAKE, "--plain", "--profile")
    assert said.code == 0
    assert "Time: " in said.out
    assert "Busiest: " in said.out
    named = {line.split()[0] for line in said.out.splitlines() if line.startswith("  ")}
    assert {"track", "scripts", "sheet", "frames", "lint"} <= named


def test_programs_get_the_table_too(shotad: Shotad, film: Path) -> None:
    said = shotad("describe", film, *FAKE, "--json", "--profile", "--no-sheet")
    found = json.loads(said.out)["profile"]
    assert found["wall"] > 0
    assert {row["room"] for row in found["rooms"]} >= {"speech", "track"}
    said = shotad("describe", film, *FAKE, "--json", "--estimate", "--profile")
    assert json.loads(said.out)["profile"]["busiest"]


def test_nothing_is_recorded_unasked_and_nothing_else_changes(shotad: Shotad, film: Path) -> None:
    shotad("describe", film, *FAKE, "--quiet", "--no-sheet")
    folder = film.with_suffix(".shotad")
    kept = {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "log.txt"}
    shotad("describe", film, *FAKE, "--quiet", "--no-sheet", "--profile", "--force")
    again = {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "log.txt"}
    assert again == kept
