"""The people of a film, found by their faces alone. Pure logic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.core.types import Box
from shotad.sight.cast.found.clusters import Appearance, group
from shotad.sight.cast.gallery import mean_of
from shotad.sight.faces import Embedding
from shotad.sight.facetracks import FaceTrack

_FIRM_LOOKS = 2
_FIRM_HEIGHT = 40.0
"""Pixels of a face that may found a person; smaller ones look alike, whosever they are."""
_LEAST_HEIGHT = 24.0
"""Pixels of a face that says anything."""


@dataclass(frozen=True, slots=True, eq=False)
class Person:
    """Somebody seen in a film: their ``tracks``, oldest first, and ``centre``, what they look like on average
    (``float32[d]`` of length 1)."""

    tracks: tuple[FaceTrack, ...]
    centre: Embedding

    @property
    def first(self) -> float:
        """Second of the first look."""
        return min(track.first for track in self.tracks)

    @property
    def shots(self) -> int:
        """In how many shots they were seen."""
        return len({track.shot for track in self.tracks})

    @property
    def looks(self) -> int:
        """How often they were seen."""
        return sum(len(track.faces) for track in self.tracks)

    @property
    def order(self) -> tuple[float, ...]:
        """What people are sorted by: who is seen most, and first, and farther left."""
        box = self.tracks[0].faces[0].box
        return -self.looks, self.first, box.left, box.top

    @property
    def rows(self) -> npt.NDArray[np.float32]:
        """What they look like in each track, ``float32[n, d]``."""
        return np.stack([mean_of(track.embeddings) for track in self.tracks])

    def is_seen_at(self, second: float, box: Box) -> bool:
        """Whether one of the faces is there then."""
        return any(
            abs(face.seconds - second) < 2e-3 and face.box.iou(box) > 0.5
            for track in self.tracks
            if track.first - 1 < second < track.last + 1
            for face in track.faces
        )

    def meets(self, other: Person) -> bool:
        """Whether both are on the screen at one moment."""
        mine = {face.seconds for track in self.tracks for face in track.faces}
        return any(face.seconds in mine for track in other.tracks for face in track.faces)


def people_in(tracks: Sequence[FaceTrack], height: int, join: float, margin: float) -> list[Person]:
    """Who is who: the people among the faces of a film, the most seen first.

    ``height`` is that of the pictures, in pixels; ``join`` and ``margin`` as in
    `shotad.sight.cast.found.clusters.group`.
    Faces too small to tell are left out, and so is who was never seen twice in a shot.
    """
    large = [track for track in tracks if _largest(track) * height >= _LEAST_HEIGHT]
    appearances = [_appearance(track, height) for track in large]
    groups = group(appearances, join, margin)
    people = [person_of(large[number] for number in numbers) for numbers in groups]
    return sorted(people, key=lambda person: person.order)


def person_of(tracks: Iterable[FaceTrack]) -> Person:
    """Somebody to whom all of these tracks belong."""
    ordered = tuple(sorted(tracks, key=lambda t: (t.first, t.faces[0].box.left, t.faces[0].box.top)))
    return Person(ordered, mean_of(np.stack([mean_of(track.embeddings) for track in ordered])))


def _appearance(track: FaceTrack, height: int) -> Appearance:
    firm = len(track.faces) >= _FIRM_LOOKS and _largest(track) * height >= _FIRM_HEIGHT
    return Appearance(mean_of(track.embeddings), tuple(face.seconds for face in track.faces), firm)


def _largest(track: FaceTrack) -> float:
    return max(face.box.height for face in track.faces)
