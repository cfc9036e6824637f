"""What is seen of one person's head: how near it is, where it looks, where it turns to. Pure logic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

import numpy as np

from shotad.core import Framing, Look
from shotad.sight.people import Glimpse
from shotad.sight.tracks import Track

FACE_SEEN = 0.75
"""Score from which a face is there beyond doubt."""
EDGE = 0.02
"""Share of the picture that is its border."""
_AHEAD = 0.14
"""Yaw up to which a face looks ahead, and from ``_ASIDE`` on aside; between them nothing is said."""
_ASIDE = 0.33
_ORDER: dict[Look, int] = {"left": -1, "ahead": 0, "right": 1}


def framing_of(track: Track[Glimpse]) -> Framing | None:
    """How much of the person is seen, from the face's height and where the body ends."""
    faces = [g.face.box.height for g in track.seen if g.face and g.face_score > FACE_SEEN]
    if 2 * len(faces) > len(track.seen):
        face = float(np.median(faces))
        return "face" if face > 0.6 else "head and shoulders" if face > 0.33 else _body_framing(track)
    return _body_framing(track)


def look_of(seen: Sequence[Glimpse]) -> Look | None:
    """Where the face points to over the last second of sight: left or right.

    None where it is between, or changing, and for a face that points ahead: whether it looks down is
    not measured.
    """
    yaws = [g.face.yaw for g in seen if g.face and g.face_score > FACE_SEEN]
    if len(yaws) < 2 or 2 * len(yaws) < len(seen):
        return None
    looks = {_look(yaw) for yaw in yaws[-4:]}
    look = looks.pop()
    return look if not looks and look != "ahead" else None


def turn_of(seen: Sequence[Glimpse]) -> Look | None:
    """Where the head turns to: two looks at least one way, then two at least to the left or right."""
    looks = [_look(g.face.yaw) for g in seen if g.face and g.face_score > FACE_SEEN]
    clear = [look for look in looks if look is not None]
    if len(clear) < 4 or clear[0] == clear[-1] or clear[0] != clear[1] or clear[-1] != clear[-2]:
        return None
    steps = [_ORDER[b] - _ORDER[a] for a, b in pairwise(clear)]
    one_way = all(step >= 0 for step in steps) or all(step <= 0 for step in steps)
    return clear[-1] if one_way and clear[-1] != "ahead" else None


def gaze_since(seen: Sequence[Glimpse]) -> float:
    """The second from which the face points to where it points last."""
    faces = [(g.seconds, _look(g.face.yaw)) for g in seen if g.face and g.face_score > FACE_SEEN]
    clear = [(second, look) for second, look in faces if look is not None]
    return min(second for second, _ in takewhile(lambda face: face[1] == clear[-1][1], reversed(clear)))


def _look(yaw: float) -> Look | None:
    if abs(yaw) <= _AHEAD:
        return "ahead"
    if abs(yaw) < _ASIDE:
        return None
    return "right" if yaw > 0 else "left"


def _body_framing(track: Track[Glimpse]) -> Framing | None:
    """By the body's height and ends; None where no body was seen, only a face that was recognised."""
    if not any(max(g.body, g.part, g.second) or g.face for g in track.seen):
        return None
    height = float(np.median([g.box.height for g in track.seen]))
    if height < 0.25:
        return "distant"
    if height > 0.45 and float(np.mean([g.box.bottom > 1 - EDGE for g in track.seen])) > 0.8:
        return "upper body" if any(g.face for g in track.seen) else None
    ends = [g.box.top > 0.03 and g.box.bottom < 1 - 2 * EDGE for g in track.seen]
    slim = float(np.median([g.box.height / g.box.width for g in track.seen]))
    return "full figure" if float(np.mean(ends)) > 0.8 and slim > 0.9 else None
