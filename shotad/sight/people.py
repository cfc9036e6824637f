"""People in one picture, from weak evidence put together: bodies by two detectors, and faces. Pure logic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shotad.core import Box, Sighting
from shotad.sight.faces import Face
from shotad.sight.things import ANIMALS, overlap

_LONE_SECOND = 0.5
"""Score from which the second detector alone is worth following."""
_LONE_FACE = 0.6
_SAME_BODY = 0.4


@dataclass(frozen=True, slots=True)
class Glimpse:
    """One possible person at one moment, and what speaks for and against.

    ``body`` is the first detector's score in the whole picture, ``part`` its score in a tile of it,
    ``second`` the second detector's (0: it saw none), ``face`` the face in it, ``rival`` the best
    score of an animal in the same place. ``who`` is the id of the one of the cast whose face was recognised
    in it at this very moment, empty for everybody else.
    """

    box: Box
    seconds: float
    body: float = 0.0
    part: float = 0.0
    second: float = 0.0
    face: Face | None = None
    rival: float = 0.0
    who: str = ""

    @property
    def face_score(self) -> float:
        """The face's score, 0 where there is none."""
        return self.face.score if self.face else 0.0


def glimpses_of(
    whole: Sequence[Sighting], parts: Sequence[Sighting], second: Sequence[Sighting], faces: Sequence[Face]
) -> list[Glimpse]:
    """All possible people of one frame, from left to right.

    ``whole`` and ``parts``: what the first detector saw in the picture and in its tiles.
    """
    found = [Glimpse(s.box, s.seconds, body=s.score) for s in whole if s.name == "person"]
    for other in (s for s in parts if s.name == "person"):
        found = _with_part(found, other)
    for other in (s for s in second if s.name == "person"):
        found = _with_second(found, other)
    for face in faces:
        found = _with_face(found, face)
    rivals = [s for s in (*whole, *parts, *second) if s.name in ANIMALS]
    found = [replace(g, rival=_rival(g, rivals)) for g in found]
    return sorted(found, key=lambda g: (g.box.centre, -g.body, -g.part))


def body_of(face: Face) -> Box:
    """Where head and shoulders must be, given the face."""
    return around(face.box)


def around(box: Box) -> Box:
    """The same, given the face's box."""
    x, width, height = box.centre[0], box.width, box.height
    return Box(
        max(0.0, x - 1.5 * width),
        max(0.0, box.top - 0.4 * height),
        min(1.0, x + 1.5 * width),
        min(1.0, box.bottom + 1.2 * height),
    )


def holds(body: Box, face: Box) -> bool:
    """True where the face lies in the upper part of the body."""
    return overlap(body, face) > 0.7 and face.centre[1] < body.top + 0.65 * body.height


def head_distance(body: Box, face: Box) -> float:
    """How far the face lies from where the body's head should be, in widths and heights of the body."""
    across = abs(body.centre[0] - face.centre[0]) / body.width
    return across + abs(body.top + face.height / 2 - face.centre[1]) / body.height


def _with_part(found: list[Glimpse], other: Sighting) -> list[Glimpse]:
    """A tile cuts people who fill the picture: what it shows of one lies inside the whole."""
    best = max(found, key=lambda g: g.box.iou(other.box), default=None)
    if best is None or (best.box.iou(other.box) < _SAME_BODY and overlap(best.box, other.box) < 0.8):
        return [*found, Glimpse(other.box, other.seconds, part=other.score)]
    better = replace(best, part=max(best.part, other.score))
    return [better if g is best else g for g in found]


def _with_second(found: list[Glimpse], other: Sighting) -> list[Glimpse]:
    best = max(found, key=lambda g: g.box.iou(other.box), default=None)
    if best is not None and best.box.iou(other.box) > _SAME_BODY:
        better = replace(best, second=max(best.second, other.score))
        return [better if g is best else g for g in found]
    if other.score < _LONE_SECOND:
        return found
    return [*found, Glimpse(other.box, other.seconds, second=other.score)]


def _with_face(found: list[Glimpse], face: Face) -> list[Glimpse]:
    """The face goes to the free body whose head is nearest; without one it stands for a body itself."""
    free = [g for g in found if g.face is None and holds(g.box, face.box)]
    if free:
        best = min(free, key=lambda g: head_distance(g.box, face.box))
        return [replace(g, face=face) if g is best else g for g in found]
    if face.score < _LONE_FACE:
        return found
    return [*found, Glimpse(body_of(face), face.seconds, face=face)]


def _rival(glimpse: Glimpse, rivals: Sequence[Sighting]) -> float:
    return max((s.score for s in rivals if s.box.iou(glimpse.box) > 0.5), default=0.0)
