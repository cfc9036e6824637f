from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pictures

from shotad.core import Box, Cast, CastSettings, Image, Member
from shotad.sight import Embedding, Face, Gallery, read_gallery
from tests.rules import ruled

LANDMARKS = ((0.4, 0.4), (0.6, 0.4), (0.5, 0.5), (0.4, 0.6), (0.6, 0.6))
FACE = Face(Box(0.2, 0.2, 0.8, 0.8), 0.0, 0.9, LANDMARKS, 0.0)


def unit(*values: float) -> Embedding:
    vector = np.array(values, np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def rows(*vectors: Embedding) -> Embedding:
    return np.stack(vectors)


class Models:
    """A photo's colour is whose it is: red, green and blue are a direction; black has no face."""

    identity = "made"
    threshold, margin, join, same = 0.4, 0.1, 0.5, 0.7

    def __init__(self) -> None:
        self.read_so_far = 0

    def find(self, image: Image, seconds: float) -> list[Face]:
        return [FACE] if image.max(axis=(0, 1)).tolist() != [0, 0, 0] and not _padded(image) else []

    def read(self, image: Image, face: Face) -> Embedding:
        self.read_so_far += 1
        return unit(*image[image.shape[0] // 2, image.shape[1] // 2].astype(float))


def _padded(image: Image) -> bool:
    return bool((image[0, 0] == 128).all())


class Studio:
    """Photos of plain colours in a folder, and members who have them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.taken = 0

    def photo(self, *colour: int) -> Path:
        self.taken += 1
        path = self.folder / f"photo-{self.taken}.png"
        Pictures.new("RGB", (20, 20), colour).save(path)
        return path

    def member(self, name: str, *colours: tuple[int, int, int], nameless: bool = False) -> Member:
        photos = tuple(self.photo(*colour) for colour in colours)
        return Member(name.lower(), "" if nameless else name, photos=photos)


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    return Studio(tmp_path)


RED, GREEN, BLUE, BLACK = (200, 0, 0), (0, 200, 0), (0, 0, 200), (0, 0, 0)


def test_looks_from_the_film_help_but_the_photos_stay_decisive() -> None:
    photos = {"anna": rows(unit(1, 0, 0))}
    gallery = Gallery(photos).with_film({"anna": np.tile(unit(0, 1, 0), (500, 1))})
    near_both = rows(unit(1, 2, 0))
    assert gallery.likeness(near_both)["anna"] > Gallery(photos).likeness(near_both)["anna"] + 0.2
    assert gallery.likeness(rows(unit(0, 1, 0)))["anna"] < 0.5 < gallery.likeness(rows(unit(1, 0, 0)))["anna"]
    # A gallery refuses looks of nobody and empty ones.
    with pytest.raises(ValueError, match="no photo"):
        Gallery({"anna": rows(unit(1, 0, 0))}, film={"ben": rows(unit(0, 1, 0))})
    with pytest.raises(ValueError, match="'anna' must be float32"):
        Gallery({"anna": np.zeros((0, 3), np.float32)})


def test_the_first_of_the_cast_that_have_a_usable_photo(studio: Studio) -> None:
    cast = Cast(
        (
            studio.member("Faceless", BLACK), studio.member("extra", GREEN, nameless=True),
            studio.member("Anna", RED), studio.member("Ben", BLUE),
        )
    )  # fmt: skip
    gallery = read_gallery(cast, Models(), ruled(CastSettings(), first=1)).gallery
    assert list(gallery.photos) == ["extra", "anna"]


def test_look_alikes_and_photos_of_others_are_named(studio: Studio) -> None:
    member = studio.member("Anna", RED, (190, 20, 0), GREEN)
    reading = read_gallery(Cast((member,)), Models(), CastSettings())
    assert len(reading.warnings) == 1
    assert str(member.photos[2]) in reading.warnings[0]
    assert "Anna" in reading.warnings[0]
    cast = Cast((studio.member("Anna", RED), studio.member("Ben", GREEN), studio.member("Ann", (190, 60, 0))))
    (warning,) = read_gallery(cast, Models(), CastSettings()).warnings
    assert "Anna" in warning
    assert "Ann " in warning
    assert "Ben" not in warning
