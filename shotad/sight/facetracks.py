"""Faces followed through a shot, with the embeddings of their best looks.

Looks at faces are linked from picture to picture of a shot. A strand is one person: place and likeness must
agree, and where they leave a doubt the strand ends and another begins. Two short tracks of one person do no
harm; one of two people gives somebody a wrong name.
"""

from __future__ import annotations

import base64
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import Box, Image
from shotad.sight.faces import Embedding, Face, FaceModels, Following
from shotad.sight.motion import Gray, active_area, is_break, shift_between, small_gray
from shotad.sight.tracks import best_pairs, likeness

MOMENT = 0.6
"""Seconds between two looks that count as a moment; pictures come four a second, or one."""
_NEAR = 0.25
"""Least likeness of two places that are the same."""
_MEMORY = 3
"""Looks back to which a face is compared."""
_ONCE = 0.15
"""Seconds within which all looks count as one: neighbouring frames repeat each other's mistakes."""


@dataclass(frozen=True, slots=True, eq=False)
class FaceView:
    """One face in one picture; ``worth`` is how much its embedding says, 0 to 1."""

    face: Face
    embedding: Embedding
    worth: float

    @property
    def seconds(self) -> float:
        """When."""
        return self.face.seconds


Strand = list[FaceView]
"""Looks at one person, oldest first."""
Cut = Callable[[float, float], bool]
"""Whether the pictures of two moments show different scenes; asked only where likeness does not settle it."""


def extend(strands: list[Strand], looks: Sequence[FaceView], following: Following, cut: Cut) -> None:
    """Add the looks of one picture, each to the strand that it continues, or as a new strand.

    The most alike come first; each strand takes one look at most.
    """

    def tie(strand: Strand, look: FaceView) -> float:
        """How well a look continues a strand; 0: not at all."""
        last = strand[-1]
        alike = max(float(look.embedding @ other.embedding) for other in strand[-_MEMORY:])
        place = likeness(last.face.box, look.face.box)
        if alike >= following.again:
            return alike + place
        moment = look.seconds - last.seconds <= MOMENT
        border = following.near if moment and place >= _NEAR else following.far
        if not (moment or place >= _NEAR) or alike < border:
            return 0.0
        return 0.0 if cut(last.seconds, look.seconds) else alike + place

    ties = ((tie(one, look), n, s) for s, one in enumerate(strands) for n, look in enumerate(looks))
    taken = best_pairs(found for found in ties if found[0] > 0)
    for n, s in taken.items():
        strands[s].append(looks[n])
    strands += [[look] for n, look in enumerate(looks) if n not in taken]


def parted(strand: Strand, following: Following) -> list[Strand]:
    """The strand in as many parts as it has people: it may have passed from one to another by steps, over
    looks that say little. Two parts of one person have looks that are alike across the parting."""
    if len(strand) < 4:
        return [strand]
    vectors = np.stack([look.embedding for look in strand])
    worth = np.array([look.worth for look in strand])
    weights = np.outer(worth, worth)
    # The sum of ``matrix[:i, i:]`` for each ``i`` that leaves two rows on either side, by running sums
    i, sums = np.arange(2, len(strand) - 1), []
    for matrix in (weights * (vectors @ vectors.T), weights):
        above = np.cumsum(np.cumsum(matrix, axis=0, dtype=np.float64), axis=1)
        sums.append(above[i - 1, -1] - above[i - 1, i - 1])
    across = sums[0] / np.maximum(sums[1], 1e-9)
    at = int(np.argmin(across))
    if across[at] >= following.near:
        return [strand]
    return [*parted(strand[: at + 2], following), *parted(strand[at + 2 :], following)]


def believed(strand: Strand, following: Following) -> bool:
    """True where this is a face beyond doubt: a good look among several, or a very good one."""
    best = max(look.face.score for look in strand)
    once = strand[-1].seconds - strand[0].seconds < _ONCE
    return best >= (following.alone if once else following.believed)


_AT = 1e-3
"""Seconds by which a look may be beside the moment asked for."""
_TRUST = 0.3
"""Share of a picture's corners that must be found again in another one that shows the same."""
_READ = 5
"""Looks of a track whose embeddings are kept, at most."""
_ENOUGH = 0.7
"""Share of the best look's worth below which a look is not kept: poor looks make strangers alike."""
_SPREAD = 1.0
"""Seconds to the next look that is kept, beyond which distance makes no look better."""
_LARGE = 112.0
"""Height of a face in pixels beyond which size makes it no better: recognisers see faces of 112."""
_HALF = np.dtype("<f2")
"""Embeddings are kept in half precision, little-endian."""


@dataclass(frozen=True, slots=True, eq=False)
class FaceTrack:
    """One face through one shot.

    ``faces`` are what was seen, oldest first (their ``seconds`` are those of the pictures); ``embeddings`` is
    ``float32[k, d]``, rows of length 1 (in half precision, so that records keep them to the bit), read from
    ``faces[i]`` for ``i`` in ``read``, the best looks first.
    """

    shot: int
    faces: tuple[Face, ...]
    embeddings: npt.NDArray[np.float32]
    read: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.faces or not self.read or not set(self.read) <= set(range(len(self.faces))):
            raise ValueError(f"a track reads some of its {len(self.faces)} faces, got {self.read}")
        if self.embeddings.ndim != 2 or len(self.embeddings) != len(self.read):
            raise ValueError(f"embeddings must be float32[{len(self.read)}, d], got {self.embeddings.shape}")

    @property
    def first(self) -> float:
        """Second of the first look."""
        return self.faces[0].seconds

    @property
    def last(self) -> float:
        """Second of the last look."""
        return self.faces[-1].seconds

    def box_at(self, seconds: float) -> Box | None:
        """Where the face is at a moment: seen, or between two looks that are close; None elsewhere."""
        later = bisect_left(self.faces, seconds - _AT, key=lambda face: face.seconds)
        if later == len(self.faces):
            return None
        after, before = self.faces[later], self.faces[max(later - 1, 0)]
        if after.seconds <= seconds + _AT:
            return after.box
        span = after.seconds - before.seconds
        if later == 0 or span > MOMENT:
            return None
        share = (seconds - before.seconds) / span
        a, b = (np.array([box.left, box.top, box.right, box.bottom]) for box in (before.box, after.box))
        left, top, right, bottom = (float(v) for v in a + (b - a) * share)
        return Box(left, top, right, bottom)


def tracks_of_shot(
    pictures: Iterable[tuple[float, Image]], shot: int, models: FaceModels
) -> tuple[FaceTrack, ...]:
    """The faces of one shot's pictures, given as (second, image) oldest first; the first to appear first.

    Pictures are looked at one by one and let go. What was seen too seldom and too faintly to be a face
    beyond doubt is left out.
    """
    strands: list[Strand] = []
    grays: dict[float, Gray] = {}  # small pictures of the moments at which faces were last seen

    def differ(before: float, after: float) -> bool:
        """Whether a cut lies between two moments, which the shot detector has passed over."""
        one, two = grays[before], grays[after]
        # Without the black bars of both, which make any two pictures alike
        area, (height, width) = active_area(np.stack([one, two])[..., None]), one.shape
        rows = slice(round(area.top * height), round(area.bottom * height))
        columns = slice(round(area.left * width), round(area.right * width))
        one, two = one[rows, columns], two[rows, columns]
        shift = shift_between(one, two)
        return is_break(one, two, shift if shift is not None and shift.trust >= _TRUST else None)

    for seconds, image in pictures:
        # As records keep it: a microsecond, a ten thousandth of the picture.
        faces = [_face_of(_face_row(face)) for face in models.find(image, seconds)]
        looks = [_view(face, models.read(image, face), image.shape[0]) for face in faces]
        if looks:
            grays[looks[0].seconds] = small_gray(image)
            extend(strands, looks, models.following, differ)
            grays = {strand[-1].seconds: grays[strand[-1].seconds] for strand in strands}
    parts = [part for strand in strands for part in parted(strand, models.following)]
    parts = [part for part in parts if believed(part, models.following)]
    parts.sort(key=lambda part: (part[0].seconds, part[0].face.box.left, part[0].face.box.top))
    tracks = []
    for part in parts:
        read = tuple(range(len(part))) if models.following.every else _best(part)
        embeddings = np.stack([part[i].embedding for i in read])
        tracks.append(FaceTrack(shot, tuple(look.face for look in part), embeddings, read))
    return tuple(tracks)


def _view(face: Face, embedding: Embedding, height: int) -> FaceView:
    """Worth most is what is large, sure and turned to the camera: what recognisers were trained on.

    Scores of good and poor looks lie close together, between 0.6 and 0.95, and are drawn apart.
    """
    size = min(1.0, face.box.height * height / _LARGE)
    worth = size * face.score**4 * max(0.1, 1 - abs(face.yaw))
    return FaceView(face, embedding.astype(_HALF).astype(np.float32), worth)


def _best(strand: Strand) -> tuple[int, ...]:
    """The looks worth most, spread over time: what one moment has said, its neighbour says again."""
    least = _ENOUGH * max(look.worth for look in strand)
    rest = [i for i, look in enumerate(strand) if look.worth >= least]
    chosen: list[int] = []

    def worth(i: int) -> tuple[float, int]:
        # All of it for a look far from all that are chosen, little for a neighbour
        away = min((abs(strand[i].seconds - strand[c].seconds) for c in chosen), default=_SPREAD)
        return strand[i].worth * (0.2 + 0.8 * min(1.0, away / _SPREAD)), -i

    while rest and len(chosen) < _READ:
        chosen.append(max(rest, key=worth))
        rest.remove(chosen[-1])
    return tuple(chosen)


def to_row(track: FaceTrack) -> dict[str, Any]:
    """A track as JSON; `from_row` gives back the same to the bit."""
    halves = track.embeddings.astype(_HALF)
    return {
        "shot": track.shot,
        "faces": [_face_row(face) for face in track.faces],
        "read": list(track.read),
        "embeddings": [base64.b64encode(half.tobytes()).decode("ascii") for half in halves],
    }


def from_row(row: Mapping[str, Any]) -> FaceTrack:
    """The track that `to_row` wrote. Raises KeyError, TypeError, ValueError for anything else."""
    vectors = [np.frombuffer(base64.b64decode(text), _HALF) for text in row["embeddings"]]
    return FaceTrack(
        row["shot"],
        tuple(_face_of(face) for face in row["faces"]),
        np.stack(vectors).astype(np.float32),
        tuple(row["read"]),
    )


def _face_row(face: Face) -> dict[str, Any]:
    box = face.box
    return {
        "seconds": round(face.seconds, 6),
        "box": [round(v, 4) for v in (box.left, box.top, box.right, box.bottom)],
        "score": round(face.score, 3),
        "yaw": round(face.yaw, 3),
        "landmarks": [[round(x, 4), round(y, 4)] for x, y in face.landmarks],
    }


def _face_of(row: Mapping[str, Any]) -> Face:
    points = tuple((x, y) for x, y in row["landmarks"])
    return Face(Box(*row["box"]), row["seconds"], row["score"], points, row["yaw"])
