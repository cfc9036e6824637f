from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pictures

from shotad.core import Box, CastError, Image
from shotad.sight import Embedding, Face, check_photo, load_photo, photo_key
from shotad.sight.gallery import read_photo

LANDMARKS = ((0.4, 0.4), (0.6, 0.4), (0.5, 0.5), (0.4, 0.6), (0.6, 0.6))


def face(left: float, height: float, score: float = 0.9) -> Face:
    return Face(Box(left, 0.1, left + 0.1, 0.1 + height), 0.0, score, LANDMARKS, 0.0)


class Models:
    """Finds what it is told to, once for each call, and reads a face by where it stands."""

    identity = "made"
    threshold, margin, join, same = 0.4, 0.1, 0.5, 0.7

    def __init__(self, *faces: list[Face]) -> None:
        self.faces = list(faces)
        self.seen: list[tuple[int, ...]] = []

    def find(self, image: Image, seconds: float) -> list[Face]:
        self.seen.append(image.shape)
        return self.faces.pop(0)

    def read(self, image: Image, face: Face) -> Embedding:
        return np.array([face.box.left, 0, 1], np.float32) / np.float32(np.hypot(face.box.left, 1))


def photo(path: Path, size: tuple[int, int] = (60, 40), mode: str = "RGB") -> Path:
    Pictures.new(mode, size, 200 if mode == "L" else (200, 100, 50, 0)[: len(mode)]).save(path)
    return path


def test_the_largest_face_is_whose_photo_it_is(tmp_path: Path) -> None:
    models = Models([face(0.7, 0.2, 0.99), face(0.2, 0.5)])
    reading = read_photo(photo(tmp_path / "a.png"), models)
    assert reading.trouble == ""
    assert reading.embedding is not None
    assert reading.embedding[0] / reading.embedding[2] == pytest.approx(0.2)
    # Nobody can tell whose photo it is with two faces of like size.
    reading = read_photo(photo(tmp_path / "a.png"), Models([face(0.1, 0.5), face(0.6, 0.4)]))
    assert (reading.embedding, reading.trouble) == (None, "several faces")
    # A face that fills the photo is found on a rim.
    models = Models([], [face(0.3, 0.5)])
    assert read_photo(photo(tmp_path / "a.png"), models).embedding is not None
    assert models.seen == [(40, 60, 3), (80, 120, 3)]


def test_photos_stand_upright_and_what_is_see_through_is_grey(tmp_path: Path) -> None:
    picture = Pictures.new("RGB", (60, 40), (0, 0, 0))
    picture.paste((255, 0, 0), (0, 0, 60, 10))
    exif = Pictures.Exif()
    exif[0x0112] = 6
    picture.save(tmp_path / "a.png", exif=exif)
    image = load_photo(tmp_path / "a.png")
    assert image.shape == (60, 40, 3)
    assert image[30, 39].tolist() == [255, 0, 0]
    assert image[30, 0].tolist() == [0, 0, 0]
    assert load_photo(photo(tmp_path / "a.png", mode="RGBA"))[0, 0].tolist() == [128, 128, 128]


def test_what_is_no_whole_picture_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.jpg"
    path.write_text("not a picture")
    for read in (load_photo, check_photo):
        with pytest.raises(CastError, match=r"notes\.jpg cannot be read: it is no picture"):
            read(path)
    check_photo(photo(tmp_path / "good.png", size=(32, 32)))
    # Half a picture is named.
    rng = np.random.default_rng(1)
    Pictures.fromarray(rng.integers(0, 255, (64, 64, 3), np.uint8)).save(tmp_path / "whole.png")
    half = tmp_path / "half.png"
    half.write_bytes((tmp_path / "whole.png").read_bytes()[:4000])
    with pytest.raises(CastError, match=r"half\.png cannot be read"):
        load_photo(half)
    # A missing photo is named.
    with pytest.raises(CastError, match=r"gone\.jpg cannot be read"):
        photo_key(tmp_path / "gone.jpg")
