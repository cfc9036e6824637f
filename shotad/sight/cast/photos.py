"""A photo of somebody: the file, and whose face in it is meant."""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image as Pictures, ImageOps, UnidentifiedImageError

from shotad.core import CastError, Image
from shotad.sight.facemodels import FaceModels
from shotad.sight.faces import Embedding, Face

Trouble = Literal["", "no face", "several faces"]

_LARGEST = 1600
"""Pixels of the longer side that are kept: more finds no further faces and costs memory."""
_LIKE_SIZE = 0.6
"""Heights of two faces, the smaller over the larger, from which a photo does not say who is meant."""
_RIM = 0.5
"""Grey that is put round a photo in which no face is found, on each side, in parts of its size: detectors
miss a face that fills the picture."""


@dataclass(frozen=True, slots=True, eq=False)
class PhotoReading:
    """What one photo gave: ``float32[d]`` of length 1, or why not. Of one `FaceModels.identity`."""

    embedding: Embedding | None
    trouble: Trouble = ""


def photo_key(path: Path) -> str:
    """The sha256 of the file. Raises CastError where it cannot be read."""
    return hashlib.sha256(_bytes(path)).hexdigest()


def read_photo(path: Path, models: FaceModels) -> PhotoReading:
    """The face of the person whom a photo shows. Raises CastError where it is no picture."""
    image = load_photo(path)
    faces = models.find(image, 0.0)
    if not faces:
        image = _rimmed(image)
        faces = models.find(image, 0.0)
    if not faces:
        return PhotoReading(None, "no face")
    face = _meant(faces)
    return PhotoReading(None, "several faces") if face is None else PhotoReading(models.read(image, face))


def check_photo(path: Path) -> None:
    """Look at the head of a file. Raises CastError where it is no picture, or too large to be one."""
    with _told(path), Pictures.open(path):
        pass


def load_photo(path: Path) -> Image:
    """The picture in ``path``, upright, ``uint8[H, W, 3]``, at most 1600 pixels long.

    Raises CastError where it is not a picture, or too large to be one.
    """
    with _told(path), Pictures.open(io.BytesIO(_bytes(path))) as opened:
        opened.draft("RGB", (_LARGEST, _LARGEST))
        picture = _flat(ImageOps.exif_transpose(opened))
    picture.thumbnail((_LARGEST, _LARGEST))
    return np.asarray(picture, np.uint8)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn what Pillow finds wrong with a picture into a CastError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Pictures.DecompressionBombWarning)
            yield
    except UnidentifiedImageError:
        raise _unreadable(path, "it is no picture, or damaged") from None
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise _unreadable(path, getattr(error, "strerror", None) or str(error)) from None
    except (Pictures.DecompressionBombError, Pictures.DecompressionBombWarning):
        raise _unreadable(path, "it is too large") from None


def _flat(picture: Pictures.Image) -> Pictures.Image:
    """RGB, with what is see-through on grey."""
    if "transparency" not in picture.info and "A" not in picture.getbands():
        return picture.convert("RGB")
    ground = Pictures.new("RGBA", picture.size, (128, 128, 128, 255))
    return Pictures.alpha_composite(ground, picture.convert("RGBA")).convert("RGB")


def _meant(faces: list[Face]) -> Face | None:
    """The largest face; None where another is nearly as large."""
    first, *others = sorted(faces, key=lambda face: -face.box.height)
    rivals = [o for o in others if o.box.height >= _LIKE_SIZE * first.box.height]
    return None if rivals else first


def _rimmed(image: Image) -> Image:
    height, width = image.shape[:2]
    down, across = round(height * _RIM), round(width * _RIM)
    return np.pad(image, ((down, down), (across, across), (0, 0)), constant_values=128)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None


def _unreadable(path: Path, why: str) -> CastError:
    return CastError(
        f"The photo {path} cannot be read: {why}.",
        "Give a JPEG, PNG or WebP file, or take it out of the cast.",
    )
