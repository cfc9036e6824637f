"""Painted faces in place of real ones, and films that discovery goes through."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.description import cast_discovery as discovering
from tests.cast.castfiles import picture
from tests.cast.discoveringroom import EPISODE, NEXT, Room, VariedFaces
from tests.painted_faces import PaintedFaces, Take, look_for_painted_faces, paint_film


@pytest.fixture
def painted_faces(monkeypatch: pytest.MonkeyPatch) -> PaintedFaces:
    """All that look for faces look for painted ones."""
    return look_for_painted_faces(monkeypatch)


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    paint_film(folder / "ep1.mp4", EPISODE)
    paint_film(folder / "ep2.mp4", NEXT)
    paint_film(folder / "empty.mp4", (Take(1.5), Take(1.5)))
    return folder


@pytest.fixture
def faces(monkeypatch: pytest.MonkeyPatch) -> VariedFaces:
    models = VariedFaces()
    monkeypatch.setattr(discovering, "FaceModels", lambda *_: models)
    return models


@pytest.fixture(scope="module")
def begun(films: Path) -> Path:
    """The films, and in the folder ``done`` what a run over the first episode leaves behind."""
    (films / "done").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discovering, "FaceModels", lambda *_: VariedFaces())
        Room(films, films / "done").run()
    return films


@pytest.fixture
def room(begun: Path, tmp_path: Path, faces: VariedFaces) -> Room:
    return Room(begun, tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with photos."""
    for name in ("anna/2.jpg", "anna/10.jpg", "extra/anna-1.png", "extra/bob.png", "thom.jpg"):
        picture(tmp_path / name)
    return tmp_path
