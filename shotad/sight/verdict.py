"""Which tracks are people, beyond doubt: many weak signs over many frames, weighed. Pure logic.

The rules and borders were chosen on labelled frames (tests/labels/people.json) for at least 95 % right;
`benchmarks/observer.py` prints what each border costs. What misleads single frames is known: pillars
and statues reach 0.66 as bodies, an animated animal 0.84 as a face and 0.76 as a body in a tile, but
none of them two kinds of sign at once, over several frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shotad.sight.people import Glimpse
from shotad.sight.tracks import Track

_GROUP_SCORE = 0.39
_GROUP_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class PeopleBorders:
    """From where on a sign counts. All are scores from 0 to 1 but ``frames``."""

    face: float = 0.75
    face_body: float = 0.3
    """What a body's score must be for its face to count."""
    body: float = 0.72
    """Best score of a body without a face. Pillars and statues reach 0.66 (benchmarks/observer.py)."""
    body_mean: float = 0.6
    second_mean: float = 0.6
    second_body: float = 0.2
    frames: int = 2
    """In how many frames a face, and one more for a body, must be seen."""
    rival: float = 0.6
    """Share of the own scores that an animal's may reach."""


def sure_of(track: Track[Glimpse], borders: PeopleBorders | None = None) -> float:
    """How sure it is that the track is a person: 0 where it is not sure enough to be said, else to 1."""
    borders = borders or PeopleBorders()
    if _outbid(track.seen, borders):
        return 0.0
    votes = [_by_face(track.seen, borders), _by_body(track.seen, borders), _by_second(track.seen, borders)]
    best = max(votes)
    return min(1.0, best + 0.02 * (sum(vote > 0 for vote in votes) - 1)) if best else 0.0


def is_clear(track: Track[Glimpse], borders: PeopleBorders | None = None) -> bool:
    """True for one who may be counted beside others: with a face, or a body that is clear throughout.

    A statue beside a person was the only false one left without this.
    """
    borders = borders or PeopleBorders()
    bodies = float(np.mean([g.body for g in track.seen]))
    return _by_face(track.seen, borders) > 0 or bodies >= borders.body_mean


def group_of(tracks: Sequence[Track[Glimpse]]) -> list[Track[Glimpse]]:
    """Small people who keep together: none sure alone, but three or more of them for two seconds.

    Empty where there are fewer. On the labelled films two groups are found, and nothing else; nearest to a
    false one came rocks in a snowstorm, with three tracks of 1.5 s at 0.36 to 0.39.
    """
    small = [t for t in tracks if _is_small(t) and t.last - t.first >= _GROUP_SECONDS]
    usual = float(np.median([_height(t) for t in small])) if small else 0.0
    small = [t for t in small if 0.6 * usual <= _height(t) <= usual / 0.6]
    kept: list[Track[Glimpse]] = []
    for track in small:
        if all(track.seen[0].box.iou(other.seen[0].box) < 0.3 for other in kept):
            kept.append(track)
    return kept if len(kept) >= 3 else []


def _height(track: Track[Glimpse]) -> float:
    return float(np.median([g.box.height for g in track.seen]))


def _is_small(track: Track[Glimpse]) -> bool:
    seen = track.seen
    scores = float(np.mean([max(g.body, g.part) for g in seen]))
    steady = len(seen) >= 0.7 * (track.frames[-1] - track.frames[0] + 1)
    rival = float(np.mean([g.rival for g in seen]))
    return scores >= _GROUP_SCORE and _height(track) <= 0.55 and steady and len(seen) >= 9 and rival < 0.2


def _outbid(seen: Sequence[Glimpse], borders: PeopleBorders) -> bool:
    """True where an animal is seen in the same place about as clearly."""
    own = float(np.mean([max(g.body, g.part, g.second) for g in seen]))
    return float(np.mean([g.rival for g in seen])) > borders.rival * max(own, 0.01)


def _by_face(seen: Sequence[Glimpse], borders: PeopleBorders) -> float:
    faces = [
        g.face_score
        for g in seen
        if g.face_score >= borders.face and max(g.body, g.part, g.second) >= borders.face_body
    ]
    return min(0.96, 0.9 + 0.01 * len(faces)) if len(faces) >= borders.frames else 0.0


def _by_body(seen: Sequence[Glimpse], borders: PeopleBorders) -> float:
    bodies = sorted((g.body for g in seen), reverse=True)
    better = bodies[: max(borders.frames + 1, (len(bodies) + 1) // 2)]
    if len(bodies) <= borders.frames or bodies[0] < borders.body:
        return 0.0
    mean = float(np.mean(better))
    return min(0.96, 0.3 + mean) if mean >= borders.body_mean else 0.0


def _by_second(seen: Sequence[Glimpse], borders: PeopleBorders) -> float:
    if len(seen) <= borders.frames + 1:
        return 0.0
    second = float(np.mean([g.second for g in seen]))
    own = float(np.mean([max(g.body, g.part) for g in seen]))
    return min(0.95, 0.3 + second) if second >= borders.second_mean and own >= borders.second_body else 0.0
