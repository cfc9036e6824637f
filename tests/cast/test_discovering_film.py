"""The people of a real film, found by the real models."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from shotad.core import Config, Given, NoProgress, WorkFolder
from shotad.description import RunContext, discover
from shotad.film import open_film
from shotad.sight import FaceModels, Facts, Picture, read_gallery
from shotad.sight.castfile import read_cast

FILM = Path(__file__).resolve().parents[3] / "shared" / "data" / "films" / "tears-of-steel-battle.webm"

SEEN = (
    ("dark", 5.0, 6.6, 0.0), ("fair", 12.8, 26.2, 0.0), ("beard", 26.8, 27.8, 0.0), ("fair", 28.6, 29.8, 0.0),
    ("beard", 29.2, 29.8, 0.38), ("fair", 36.2, 37.7, 0.0), ("beard", 36.2, 37.7, 0.42),
    ("dark", 50.0, 57.5, 0.0),
)  # fmt: skip
"""Who is seen, from when to when, with the face's left edge from which it is them; by eye. Later rows win."""


def shown(picture: Picture) -> str:
    return [
        who for who, start, end, left in SEEN if start <= picture.second <= end and picture.box.left >= left
    ][-1]


@pytest.mark.slow
def test_nobody_found_is_two_people_and_the_pictures_know_them_again(tmp_path: Path) -> None:
    if not FILM.is_file():
        pytest.skip(f"there is no {FILM}")
    film = Path(shutil.copy(FILM, tmp_path))
    config = Config()
    with open_film(film) as opened, WorkFolder(tmp_path / "work") as folder:
        found = discover(RunContext.of(opened, folder, config, Given(), NoProgress()), tmp_path / "x.cast")
    whose: dict[str, set[str]] = {}
    for picture in Facts.read(tmp_path / "x.cast").pictures:
        whose.setdefault(picture.id, set()).add(shown(picture))
    assert all(len(people) == 1 for people in whose.values()), whose
    assert set().union(*whose.values()) == {"dark", "fair", "beard"}
    assert len(found.people) <= 7, "three people, of whom some are found in parts"
    assert found.people[0].found.seconds > 10
    models = FaceModels(config.cast)
    reading = read_gallery(read_cast(tmp_path / "x.cast" / "cast.yaml"), models, config.cast)
    assert set(reading.gallery.photos) == {one.id for one in found.people}
    assert not [text for text in reading.warnings if "No face" in text or "Several faces" in text]
