"""A film for all commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.media import FilmSpec, make_film


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A film of twelve seconds in three shots, which nobody has described yet."""
    path = tmp_path / "movie.mp4"
    shutil.copy(make_film(FilmSpec(frames=300, cuts=(100, 200))).path, path)
    return path
