"""What the people of a cast look like: their photos, whose face in them is meant, and its embeddings.

Photos are read as AutoAD-Zero's profile pictures are (section 3.2), but there may be several of a person, and
one that does not plainly show who is meant is left out with a warning rather than used.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image as Pictures, ImageOps, UnidentifiedImageError

from shotad.core import Cast, CastError, CastSettings, Image, Member
from shotad.sight.cast_entries import called
from shotad.sight.faces import Embedding, FaceModels

Embeddings = npt.NDArray[np.float32]
"""``float32[n, d]``, rows of length 1."""

_ODD = 0.5
"""A photo that is less than this part of the threshold like all others of a person shows somebody else."""


@dataclass(frozen=True, eq=False)
class Gallery:
    """What each person looks like, by `Member.id`, in the order of the cast.

    ``photos`` are ``float32[n, d]``, n > 0, rows of length 1. ``film`` are further looks of some of them,
    taken from the film itself, which count less (see `likeness`). ``nameless`` are the ids of those who are
    known but never named.
    """

    photos: Mapping[str, Embeddings]
    nameless: frozenset[str] = frozenset()
    film: Mapping[str, Embeddings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, rows in (*self.photos.items(), *self.film.items()):
            if rows.ndim != 2 or len(rows) == 0:
                raise ValueError(f"embeddings of {name!r} must be float32[n, d], n > 0, got {rows.shape}")
        stray = next((name for name in (*self.film, *self.nameless) if name not in self.photos), None)
        if stray is not None:
            raise ValueError(f"{stray!r} has no photo in the gallery")

    @cached_property
    def _arrays(self) -> tuple[Embeddings, Embeddings, npt.NDArray[np.float64]]:
        """Means of each one's photos and of the looks from the film, ``float32[m, d]``, and the weight of
        these, ``float64[m]``."""
        people = [mean_of(rows) for rows in self.photos.values()]
        looks = [self.film.get(name, np.zeros((0, 1), np.float32)) for name in self.photos]
        means = [mean_of(f) if len(f) else np.zeros_like(p) for f, p in zip(looks, people, strict=True)]
        counts = np.array([len(rows) for rows in looks], np.float64)
        return np.stack(people), np.stack(means), counts / (counts + 1)

    def __len__(self) -> int:
        return len(self.photos)

    def likeness(self, looks: Embeddings) -> dict[str, float]:
        """How much a face looks like each person: cosine, -1 to 1, by id, in the order of the cast.

        ``looks`` is ``float32[k, d]``, k > 0: one face seen k times, whose mean is compared (measured better
        than the mean, the median or the best of their likenesses). Where there are looks from the film, it is
        the mean of the likeness to the photos and of that to these, which weigh less, however many they
        are: somebody wrong among them does not take the person over.
        """
        if not self.photos:
            return {}
        face, (people, film, weight) = mean_of(looks), self._arrays
        together = ((people @ face).astype(np.float64) + weight * (film @ face)) / (1 + weight)
        return dict(zip(self.photos, together.tolist(), strict=True))

    def with_film(self, film: Mapping[str, Embeddings]) -> Gallery:
        """The same photos with other looks from the film, ``float32[n, d]`` by id."""
        return Gallery(self.photos, self.nameless, film)


@dataclass(frozen=True, slots=True)
class GalleryReading:
    """A gallery with what there is to say about its photos; ``photos`` are all readings by `photo_key`."""

    gallery: Gallery
    warnings: tuple[str, ...]
    photos: Mapping[str, PhotoReading]


def read_gallery(
    cast: Cast,
    models: FaceModels,
    settings: CastSettings,
    known: Mapping[str, PhotoReading] | None = None,
) -> GalleryReading:
    """Read the photos of a cast; those in ``known``, read by the same models before, are not looked at again.

    By the paper's rules only so many of those who may be named, in the order of the cast, that have a
    usable photo. Raises CastError where a photo cannot be read.
    """
    readings: dict[str, PhotoReading] = {}
    warnings: list[str] = []
    photos: dict[str, Embeddings] = {}
    named = 0
    most = settings.by_rules.first
    for member in cast:
        if member.says and most is not None and named >= most:
            continue
        read = {}
        for path in member.photos:
            key = photo_key(path)
            if key not in readings:
                readings[key] = known[key] if known and key in known else read_photo(path, models)
            read[path] = readings[key]
        warnings += _photo_warnings(member, read, models.threshold)
        rows = [reading.embedding for reading in read.values() if reading.embedding is not None]
        if rows:
            photos[member.id] = np.stack(rows)
            named += bool(member.says)
    nameless = frozenset(member.id for member in cast if member.id in photos and not member.says)
    gallery = Gallery(photos, nameless)
    warnings += _twins(gallery, cast, models.join)
    return GalleryReading(gallery, tuple(warnings), readings)


def mean_of(rows: Embeddings) -> Embeddings:
    """The mean of ``float32[n, d]``, brought to length 1: ``float32[d]``."""
    vector = rows.astype(np.float64).sum(axis=0)
    unit: Embeddings = (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)
    return unit


def _photo_warnings(member: Member, read: Mapping[Path, PhotoReading], threshold: float) -> Iterator[str]:
    for path, reading in read.items():
        if reading.trouble == "no face":
            yield f"No face was found in {path}; the photo is not used."
        elif reading.trouble == "several faces":
            yield f"Several faces of like size are in {path}, so nobody can tell whose it is; it is not used."
    usable = {path: r.embedding for path, r in read.items() if r.embedding is not None}
    for path, embedding in usable.items():
        others = [float(embedding @ other) for at, other in usable.items() if at != path]
        if others and max(others) < _ODD * threshold:
            yield f"The face in {path} is not like those in the other photos of {called(member)}."


def _twins(gallery: Gallery, cast: Cast, join: float) -> Iterator[str]:
    """Pairs of people who look so alike that they may be one."""
    members = {member.id: member for member in cast}
    for one, other in combinations(gallery.photos, 2):
        likeness = float(mean_of(gallery.photos[one]) @ mean_of(gallery.photos[other]))
        if likeness >= join:
            yield (
                f"{called(members[one])} and {called(members[other])} look alike ({likeness:.2f}); "
                "if they are one person, make them one, else neither may be named where both are possible."
            )


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
    """The face of the person in a photo. Raises CastError where it is no picture."""
    image = load_photo(path)
    faces = models.find(image, 0.0)
    if not faces:
        height, width = image.shape[:2]
        down, across = round(height * _RIM), round(width * _RIM)
        image = np.pad(image, ((down, down), (across, across), (0, 0)), constant_values=128)
        faces = models.find(image, 0.0)
    if not faces:
        return PhotoReading(None, "no face")
    # The largest face, where none is nearly as large
    first, *others = sorted(faces, key=lambda face: -face.box.height)
    if any(other.box.height >= _LIKE_SIZE * first.box.height for other in others):
        return PhotoReading(None, "several faces")
    return PhotoReading(models.read(image, first))


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
        picture = ImageOps.exif_transpose(opened)
        if "transparency" in picture.info or "A" in picture.getbands():  # what is see-through, on grey
            ground = Pictures.new("RGBA", picture.size, (128, 128, 128, 255))
            picture = Pictures.alpha_composite(ground, picture.convert("RGBA"))
        picture = picture.convert("RGB")
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
