"""Faces followed through a shot, with the embeddings of their best looks, and pictures cut of them.

Looks at faces are linked from picture to picture of a shot. A strand is one person: place and likeness must
agree, and where they leave a doubt the strand ends and another begins. Two short tracks of one person do no
harm; one of two people gives somebody a wrong name.

A picture is kept only if the finder finds just that face in the JPEG again and the recogniser says that it
is this person's and nobody else's found in the film: a describing run knows people by the pictures alone.
"""

from __future__ import annotations

import base64
import io
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image as Pictures

from shotad.core import Box, Image
from shotad.film import jpeg
from shotad.sight.faces import Embedding, Embeddings, Face, FaceModels, Following
from shotad.sight.motion import (
    Gray,
    active_area,
    agreement,
    best_pairs,
    is_break,
    likeness,
    small_gray,
)

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
    """One face in one picture; ``worth`` is how much its embedding says, 0 to 1.

    Of one that could become a picture of somebody, ``worth`` is how good a picture it promises to be: size,
    frontality, certainty, wholeness. With its ``jpeg`` it is a checked picture, from which the embedding was
    read, and its sharpness and light count too.
    """

    face: Face
    embedding: Embedding
    worth: float
    shot: int = 0
    jpeg: bytes = b""

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
        agreed = agreement(one, two)
        return is_break(one, two, moved_on=agreed is not None and agreed >= _TRUST)

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


_MARGINS = (0.6, 0.4, 0.25)
"""Of the face's height, left around it; less where somebody else would be in the picture."""
_TALLEST = 640
"""Pixels of a picture's height at most."""
_QUALITY = 92
_LARGEST = 160.0
"""Pixels of height from which a larger face is no better."""
_TURNED = 0.9
"""Yaw from which a face shows one side only."""
_SHARP = 0.12
"""Of `_sharpness`, for a face in focus."""
_LEAST_WORTH = 0.05
_SAME_SHOT = 0.3
_ALIKE = 0.6
"""What being of a shot, and as alike as can be, takes off a look's worth: pictures shall differ."""
_KNOWN = 0.9
"""Likeness to a photo that is there from which another shows nothing new."""


def looks_of(tracks: Iterable[FaceTrack], height: int) -> list[FaceView]:
    """The looks that could become a picture, oldest first; ``height`` is that of the frames in pixels."""
    looks = [
        FaceView(track.faces[i], track.embeddings[k], _picture_worth(track.faces[i], height), track.shot)
        for track in tracks
        for k, i in enumerate(track.read)
    ]
    good = (look for look in looks if look.worth > _LEAST_WORTH)
    return sorted(good, key=lambda look: (look.face.seconds, look.face.box.left))


def _picture_worth(face: Face, height: int) -> float:
    box = face.box
    size: float = min(box.height * height / _LARGEST, 1.0) ** 0.5
    front = max(1.0 - abs(face.yaw) / _TURNED, 0.0)
    # A face that the picture's edge cuts off counts less.
    whole = 1.0 if min(box.left, box.top, 1 - box.right, 1 - box.bottom) > 0.005 else 0.4
    return size * (0.35 + 0.65 * front) * face.score * whole


def best_of(
    portraits: Sequence[FaceView], centre: Embedding, there: Embeddings, count: int
) -> list[FaceView]:
    """The ``count`` to make pictures of, or pictures to keep, best first: one after the other the best, given
    those before it and the photos ``there``, and nothing that shows what is known already."""
    chosen: list[FaceView] = []

    def worth(one: FaceView) -> tuple[float, float]:
        typical = float(np.clip(one.embedding @ centre, 0.0, 1.0))
        rows = [*there, *(other.embedding for other in chosen)]
        alike = max((float(one.embedding @ row) for row in rows), default=0.0)
        again = _SAME_SHOT * any(one.shot == other.shot for other in chosen)
        value = one.worth * (0.3 + 0.7 * typical) * max(1 - _ALIKE * max(alike, 0.0) - again, 0.0)
        return value, -one.face.seconds

    left = [one for one in portraits if not len(there) or float((there @ one.embedding).max()) < _KNOWN]
    while left and len(chosen) < count:
        best = max(left, key=worth)
        chosen.append(best)
        left = [o for o in left if o is not best and float(o.embedding @ best.embedding) < _KNOWN]
    return chosen


def portrait(
    image: Image, look: FaceView, centre: Embedding, others: Embeddings, models: FaceModels
) -> FaceView | None:
    """The picture of ``look`` cut from the film's frame ``image``; None where no cut of it passes.

    ``centre`` is what the person looks like, ``others`` (``float32[n, d]``) what the rest do.
    """
    box, (height, width) = look.face.box, image.shape[:2]
    for margin in _MARGINS:
        left, top, right, bottom = _edges(image, box, margin)
        wide, high = right - left, bottom - top
        cut = Pictures.fromarray(np.ascontiguousarray(image[top:bottom, left:right]))
        if high > _TALLEST:
            cut = cut.resize((round(wide * _TALLEST / high), _TALLEST), Pictures.Resampling.LANCZOS)
        data = jpeg(np.asarray(cut), _QUALITY, subsampling=0)
        shown = np.array(Pictures.open(io.BytesIO(data)).convert("RGB"), np.uint8)
        faces = models.find(shown, 0.0)
        meant = Box(
            max((box.left * width - left) / wide, 0.0),
            max((box.top * height - top) / high, 0.0),
            min((box.right * width - left) / wide, 1.0),
            min((box.bottom * height - top) / high, 1.0),
        )
        if len(faces) != 1 or faces[0].box.iou(meant) <= 0.4:
            continue
        embedding = models.read(shown, faces[0])
        own = float(embedding @ centre)
        nearest = float((others @ embedding).max()) if len(others) else -1.0
        if own < max(models.threshold, models.join) or own - nearest < models.margin:
            continue
        # Sharpness and light of a face, 0 to 1
        left, top, right, bottom = _edges(image, box, 0.0)
        grey = cv2.cvtColor(np.ascontiguousarray(image[top:bottom, left:right]), cv2.COLOR_RGB2GRAY)
        small = np.asarray(cv2.resize(grey, (96, 128), interpolation=cv2.INTER_AREA), np.float32)
        light = float(small.mean())
        lit = min((light - 15) / 45, (250 - light) / 40, 1.0)
        clearness = max(lit, 0.05) * (0.3 + 0.7 * min(_sharpness(small) / _SHARP, 1.0))
        return replace(look, jpeg=data, embedding=embedding, worth=look.worth * clearness)
    return None


def _edges(image: Image, box: Box, margin: float) -> tuple[int, int, int, int]:
    """Left, top, right, bottom in pixels of a cut around ``box``, inside the picture."""
    height, width = image.shape[:2]
    around = margin * box.height * height
    return (
        max(int(box.left * width - around), 0),
        max(int(box.top * height - around), 0),
        min(int(np.ceil(box.right * width + around)), width),
        min(int(np.ceil(box.bottom * height + around)), height),
    )


def _sharpness(grey: npt.NDArray[np.float32]) -> float:
    """How much of a face's contrast is in its finest lines: the deviation of the Laplacian over its own."""
    fine = cv2.Laplacian(cv2.GaussianBlur(grey, (3, 3), 0), cv2.CV_32F)
    return float(fine.std()) / max(float(grey.std()), 8.0) / 4
