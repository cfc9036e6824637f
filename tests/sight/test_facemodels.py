"""Which face models are used, with which borders, and both pairs through the same path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from shotad.core import CastSettings, Image, Task, WeightsError
from shotad.sight import FaceModels, faces as facemodels, get_face_models, tracks_of_shot
from tests.sight.face_makers import tiny_arcface, tiny_scrfd

FILMS = Path(__file__).parents[3] / "shared" / "data" / "films"


class Notes:
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def task(self, name: str, total: float | None, unit: str) -> Task:
        raise AssertionError(f"nothing should be fetched, got {name}")

    def note(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the weights that were asked for; buffalo_l's are tiny models of the same shapes."""
    asked: list[str] = []
    files = {
        "buffalo-l-det": tiny_scrfd(tmp_path / "det.onnx"),
        "buffalo-l-rec": tiny_arcface(tmp_path / "rec.onnx"),
    }

    def weights_file(name: str, progress: object = None) -> Path:
        asked.append(name)
        return files.get(name, tmp_path / name)

    monkeypatch.setattr(facemodels, "weights_file", weights_file)
    return asked


def test_the_identity_holds_what_changes_the_faces_found_and_nothing_else() -> None:
    def identity(**settings: object) -> str:
        return FaceModels(CastSettings.model_validate(settings)).identity

    plain = identity()
    assert identity(threshold=0.9) == plain
    assert "sface:0ba9fbfa01b5" in plain
    others = [
        identity(rules="paper"), identity(faces="buffalo_l"), identity(faces="buffalo_l", rules="paper"),
    ]  # fmt: skip
    assert len({plain, *others}) == 4


def test_the_terms_are_said_when_the_models_are_fetched(fetched: list[str]) -> None:
    said = Notes()
    get_face_models(CastSettings(faces="buffalo_l"), said)
    assert len(said.said) == 1
    assert "non-commercial" in said.said[0]
    assert fetched == ["buffalo-l-det", "buffalo-l-rec"]
    free = Notes()
    get_face_models(CastSettings(), free)
    assert free.said == []


def test_models_that_cannot_be_fetched_can_be_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(name: str, progress: object = None) -> Path:
        raise WeightsError(f"The weights {name} could not be fetched.", "Check the network.")

    monkeypatch.setattr("shotad.sight.faces.weights_file", offline)
    with pytest.raises(WeightsError, match="cast.faces=sface"):
        get_face_models(CastSettings(faces="buffalo_l"), Notes())
    with pytest.raises(WeightsError) as told:
        get_face_models(CastSettings(), Notes())
    assert "cast.faces" not in str(told.value)


def red_and_moving() -> Iterator[tuple[float, Image]]:
    for i in range(4):
        image = np.random.default_rng(3).integers(0, 90, (320, 640, 3), np.uint8)
        image[..., 0] = 0
        left = 80 + 8 * i
        image[40:48, left : left + 8] = (255, 60 * (i % 2), 0)
        yield i / 4, image


def test_tracks_with_buffalos_own_code(fetched: list[str]) -> None:
    (track,) = tracks_of_shot(red_and_moving(), 1, FaceModels(CastSettings(faces="buffalo_l")))
    assert [round(f.box.left * 640) for f in track.faces] == [72, 80, 88, 96]
    assert track.embeddings.shape == (4, 48)


def frames(name: str, start: float, end: float, step: float = 0.25) -> list[tuple[float, Image]]:
    from shotad.film import open_film

    if not (FILMS / name).exists():
        pytest.skip(f"{FILMS / name} is not on this machine")
    with open_film(FILMS / name) as film:
        seconds = np.arange(start, end, step).tolist()
        return [(picture.seconds, picture.image) for picture in film.pictures(seconds)]


@pytest.mark.slow
def test_two_men_side_by_side_are_never_one_track() -> None:
    """At 36.3 s of Tears of Steel a young man is left, one with glasses right of him and further back."""
    found = tracks_of_shot(frames("tears-of-steel-battle.webm", 36.3, 37.4), 0, FaceModels(CastSettings()))
    larger = [[f.box.height > 0.42 for f in track.faces] for track in found]
    assert {True, False} == {row[0] for row in larger}
    assert max(len(row) for row in larger) > 2
    assert all(len(set(row)) == 1 for row in larger)
