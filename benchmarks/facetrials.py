"""Casts of ten made of the people of portraits.py, everybody else being a stranger; and how alike they are.

Used by faces.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from facelooks import Looks

from shotad.sight.gallery import mean_of

Rows = npt.NDArray[np.float32]
Photos = dict[tuple[str, str], Rows]

OPEN_PHOTOS = ("studio_portrait", "amateur_selfie", "studio_posture", "amateur_posture")
LEAST = 30
"""Height of the smallest faces that count in the tables, unless they are by height."""


_PHOTOS = {*OPEN_PHOTOS, "portrait", "1", "2", "3", "4"}


@dataclass(frozen=True, eq=False)
class Trial:
    """A cast with its photos (``float32[n, d]`` by person), its tracks, and those of strangers to it.

    ``photographed`` are tracks of the cast that show a picture which may be a photo: nobody is asked
    about them, but in a film they fill the bank."""

    name: str
    photos: dict[str, Rows]
    own: list[Looks]
    strangers: list[Looks]
    photographed: list[Looks]


@dataclass(frozen=True, eq=False)
class Scores:
    """Likeness of each track to each member, best and second best, over all trials of one kind.

    ``right`` says of own tracks whether the best is who it is; ``persons`` whose track it is.
    """

    best: npt.NDArray[np.float64]
    second: npt.NDArray[np.float64]
    right: npt.NDArray[np.bool_]
    persons: list[str]
    heights: npt.NDArray[np.int64]

    def named(self, threshold: float, margin: float) -> npt.NDArray[np.bool_]:
        """Which tracks are given a name."""
        return (self.best >= threshold) & (self.best - self.second >= margin)

    def only(self, keep: npt.NDArray[np.bool_]) -> Scores:
        """Those of the tracks."""
        persons = [p for p, k in zip(self.persons, keep, strict=True) if k]
        return Scores(self.best[keep], self.second[keep], self.right[keep], persons, self.heights[keep])


LOOK_POOLS: dict[str, Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]] = {
    "mean": lambda likeness: likeness.mean(axis=0),
    "median": lambda likeness: np.median(likeness, axis=0),
    "best": lambda likeness: likeness.max(axis=0),
    "first": lambda likeness: likeness[0],
}
"""How ``float64[k, members]`` become one row; ``joined`` compares the mean face, brought to length 1."""


def trials(
    tracks: Sequence[Looks], photos: Photos, count: int, kinds: Sequence[str] = OPEN_PHOTOS
) -> list[Trial]:
    """All casts of ten, with ``count`` photos each where there are as many."""
    made = [_trial("openpeople", _set(photos, "P"), list(kinds[:count]), tracks, photos)]
    for first in range(0, 40, 10):
        members = [f"orl-s{n}" for n in range(first + 1, first + 11)]
        made.append(_trial("orl-faces", members, [str(n) for n in range(1, count + 1)], tracks, photos))
    for name, start in (("fake-avatars", "avatar"), ("others", "other")):
        people = _set(photos, start)
        tens = [people[first : first + 10] for first in range(0, len(people) - 9, 10)]
        made += [_trial(name, members, ["portrait"], tracks, photos) for members in tens]
    return made


def _set(photos: Photos, start: str) -> list[str]:
    return list(dict.fromkeys(person for person, _ in photos if person.startswith(start)))


def _trial(
    name: str, members: Sequence[str], kinds: Sequence[str], tracks: Sequence[Looks], photos: Photos
) -> Trial:
    rows = {m: [photos[m, kind] for kind in kinds if (m, kind) in photos] for m in members}
    known = {m: np.stack(found) for m, found in rows.items() if found}
    own = [t for t in tracks if t.person in known and _PHOTOS.isdisjoint(t.kinds)]
    shown = [t for t in tracks if t.person in known and not _PHOTOS.isdisjoint(t.kinds)]
    return Trial(name, known, own, [t for t in tracks if t.person not in members], shown)


def scored(
    made: Iterable[Trial],
    which: Literal["own", "strangers"],
    photo_pool: str = "mean",
    look_pool: str = "joined",
    looks: int = 4,
) -> Scores:
    """The own tracks (``own``) or those of the strangers of all trials, against their casts."""
    parts = []
    for trial in made:
        references = _references(trial, photo_pool)
        for track in getattr(trial, which):
            if len(track.embeddings):
                rows = track.embeddings[:looks]
                faces = mean_of(rows)[None] if look_pool == "joined" else rows
                each = np.stack([(known @ faces.T).max(axis=0) for known in references.values()], axis=1)
                likeness = LOOK_POOLS["mean" if look_pool == "joined" else look_pool](each)
                second, best = np.argsort(likeness)[-2:]
                right = list(references)[best] == track.person
                parts.append((likeness[best], likeness[second], right, track.person, track.height))
    best_ones, seconds, rights, persons, heights = zip(*parts, strict=True)
    return Scores(np.array(best_ones), np.array(seconds), np.array(rights), list(persons), np.array(heights))


def _references(trial: Trial, photo_pool: str) -> dict[str, Rows]:
    """What a face is compared with, ``float32[n, d]`` by person: all photos, or their mean."""
    if photo_pool == "set":
        return trial.photos
    return {member: mean_of(rows)[None] for member, rows in trial.photos.items()}
