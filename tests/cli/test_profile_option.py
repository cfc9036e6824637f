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


def test_programs_get_the_table_too(shotad: Shotad, film: Path) -> None:
    said = shotad("describe", film, *FAKE, "--json", "--profile", "--no-sheet")
    found = json.loads(said.out)["profile"]
    assert found["wall"] > 0
    assert {row["room"] for row in found["rooms"]} >= {"speech", "track"}
    said = shotad("describe", film, *FAKE, "--json", "--estimate", "--profile")
    assert json.loads(said.out)["profile"]["rooms"]
