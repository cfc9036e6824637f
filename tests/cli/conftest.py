"""The fixture ``shotad`` for all commands, a film, and painted faces for those that look for faces."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from shotad.cli.main import main
from tests.cli.program import Said, Shotad
from tests.media import FilmSpec, make_film
from tests.painted_faces import PaintedFaces, look_for_painted_faces


@pytest.fixture
def shotad(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shotad:
    def call(*words: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["shotad", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        heard = capsys.readouterr()
        return Said(int(stop.value.code or 0), heard.out, heard.err)

    return call


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A film of twelve seconds in three shots, which nobody has described yet."""
    path = tmp_path / "movie.mp4"
    shutil.copy(make_film(FilmSpec(frames=300, cuts=(100, 200))).path, path)
    return path


@pytest.fixture
def painted_faces(monkeypatch: pytest.MonkeyPatch) -> PaintedFaces:
    """All that look for faces look for painted ones."""
    return look_for_painted_faces(monkeypatch)
