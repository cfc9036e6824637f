"""What the people of a cast look like: the embeddings of their photos.

Photos are read as AutoAD-Zero's profile pictures are (section 3.2), but there may be several of a person, and
one that does not plainly show who is meant is left out with a warning rather than used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from shotad.core import Cast, CastSettings, Member
from shotad.sight.cast.photos import PhotoReading, photo_key, read_photo
from shotad.sight.facemodels import FaceModels

Embeddings = npt.NDArray[np.float32]
"""``float32[n, d]``, rows of length 1."""

Pool = Literal["mean", "set"]
_POOLS: dict[Pool, Callable[[Embeddings], Embeddings]] = {
    "mean": lambda photos: mean_of(photos)[None],
    "set": lambda photos: photos,
}
"""What of ``float32[n, d]`` is compared, the likest counting."""

_ODD = 0.5
"""A photo that is less than this part of the threshold like all others of a person shows somebody else."""


@dataclass(frozen=True, slots=True, eq=False)
class _Measure:
    """A gallery as arrays: ``rows`` ``float32[r, d]`` of the photos, those of a person from ``starts`` on
    (``int64[m]``); ``film`` ``float32[m, d]`` and its ``weight`` ``float64[m]``."""

    rows: Embeddings
    starts: npt.NDArray[np.int64]
    film: Embeddings
    weight: npt.NDArray[np.float64]

    @classmethod
    def of(cls, photos: Mapping[str, Embeddings], film: Mapping[str, Embeddings], pool: Pool) -> _Measure:
        people = [_POOLS[pool](rows) for rows in photos.values()]
        none = np.zeros((0, 1), np.float32)
        looks = [film.get(name, none) for name in photos]
        means = [mean_of(f) if len(f) else np.zeros_like(p[0]) for f, p in zip(looks, people, strict=True)]
        counts = np.array([len(rows) for rows in looks], np.float64)
        ends = np.cumsum([0, *(len(rows) for rows in people)])
        return cls(
            np.concatenate(people) if people else none,
            ends[:-1].astype(np.int64),
            np.stack(means) if means else none,
            counts / (counts + 1),
        )

    def likeness(self, face: Embeddings) -> list[float]:
        to_photos = np.maximum.reduceat(self.rows @ face, self.starts).astype(np.float64)
        together: list[float] = ((to_photos + self.weight * (self.film @ face)) / (1 + self.weight)).tolist()
        return together


@dataclass(frozen=True, slots=True, eq=False)
class Gallery:
    """What each person looks like, by `Member.id`, in the order of the cast.

    ``photos`` are ``float32[n, d]``, n > 0, rows of length 1. ``film`` are further looks of some of them,
    taken from the film itself, which count less (see `likeness`). ``nameless`` are the ids of those who are
    known but never named.
    """

    photos: Mapping[str, Embeddings]
    pool: Pool = "mean"
    nameless: frozenset[str] = frozenset()
    film: Mapping[str, Embeddings] = field(default_factory=dict)
    _measure: _Measure = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, rows in (*self.photos.items(), *self.film.items()):
            if rows.ndim != 2 or len(rows) == 0:
                raise ValueError(f"embeddings of {name!r} must be float32[n, d], n > 0, got {rows.shape}")
        stray = next((name for name in (*self.film, *self.nameless) if name not in self.photos), None)
        if stray is not None:
            raise ValueError(f"{stray!r} has no photo in the gallery")
        object.__setattr__(self, "_measure", _Measure.of(self.photos, self.film, self.pool))

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
        return dict(zip(self.photos, self._measure.likeness(mean_of(looks)), strict=True))

    def with_film(self, film: Mapping[str, Embeddings]) -> Gallery:
        """The same photos with other looks from the film, ``float32[n, d]`` by id."""
        return Gallery(self.photos, self.pool, self.nameless, film)


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

    With ``settings.first`` only so many of those who may be named, in the order of the cast, that have a
    usable photo. Raises CastError where a photo cannot be read.
    """
    readings: dict[str, PhotoReading] = {}
    warnings: list[str] = []
    photos: dict[str, Embeddings] = {}
    named = 0
    for member in cast:
        if member.says and settings.first is not None and named >= settings.first:
            continue
        read = {path: _reading(path, models, known or {}, readings) for path in member.photos}
        warnings += _photo_warnings(member, read, models.threshold)
        rows = [reading.embedding for reading in read.values() if reading.embedding is not None]
        if rows:
            photos[member.id] = np.stack(rows)
            named += bool(member.says)
    nameless = frozenset(member.id for member in cast if member.id in photos and not member.says)
    gallery = Gallery(photos, settings.pool, nameless)
    warnings += _twins(gallery, cast, models.join)
    return GalleryReading(gallery, tuple(warnings), readings)


def mean_of(rows: Embeddings) -> Embeddings:
    """The mean of ``float32[n, d]``, brought to length 1: ``float32[d]``."""
    return _unit(rows.astype(np.float64).sum(axis=0))


def _unit(vector: npt.NDArray[np.floating]) -> Embeddings:
    unit: Embeddings = (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)
    return unit


def _reading(
    path: Path, models: FaceModels, known: Mapping[str, PhotoReading], readings: dict[str, PhotoReading]
) -> PhotoReading:
    """One photo, from those that were read before where it is among them; put down in ``readings``."""
    key = photo_key(path)
    if key not in readings:
        readings[key] = known[key] if key in known else read_photo(path, models)
    return readings[key]


def _photo_warnings(member: Member, read: Mapping[Path, PhotoReading], threshold: float) -> Iterator[str]:
    for path, reading in read.items():
        if reading.trouble == "no face":
            yield f"No face was found in {path}; the photo is not used."
        elif reading.trouble == "several faces":
            yield f"Several faces of like size are in {path}, so nobody can tell whose it is; it is not used."
    usable = {path: r.embedding for path, r in read.items() if r.embedding is not None}
    yield from _odd_ones(member, usable, threshold)


def _odd_ones(member: Member, usable: Mapping[Path, Embeddings], threshold: float) -> Iterator[str]:
    """The photos of a person that look like none of the others."""
    for path, embedding in usable.items():
        others = [float(embedding @ other) for at, other in usable.items() if at != path]
        if others and max(others) < _ODD * threshold:
            yield f"The face in {path} is not like those in the other photos of {_called(member)}."


def _twins(gallery: Gallery, cast: Cast, join: float) -> Iterator[str]:
    """Pairs of people who look so alike that they may be one."""
    members = {member.id: member for member in cast}
    for one, other in combinations(gallery.photos, 2):
        likeness = float(mean_of(gallery.photos[one]) @ mean_of(gallery.photos[other]))
        if likeness >= join:
            yield (
                f"{_called(members[one])} and {_called(members[other])} look alike ({likeness:.2f}); "
                "if they are one person, make them one, else neither may be named where both are possible."
            )


def _called(member: Member) -> str:
    return member.name or member.id
