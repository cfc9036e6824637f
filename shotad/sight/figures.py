"""Things with a name, and things that move without one. Pure logic.

Names of things are the detectors' weakest side: on drawn and unusual pictures both agree on a bed where
dunes are (0.86 and 0.82, for seconds), on a clock for a round sign, on a bird for a rabbit (0.82 and 0.97).
A name is therefore given only where both are surer than that in several frames, to an animal never; what
moves by itself and is no person is told as a figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shotad.core import Box, FigureFact, Movement, Sighting, ThingFact
from shotad.sight.people import Glimpse
from shotad.sight.persons import Person, Stretch, drift, least, place_of
from shotad.sight.things import ANIMALS, overlap
from shotad.sight.tracks import Carrier, Track, link, way_of, windows

_FRAMES = 4
"""Frames in which a thing must be seen."""
_STEPS = 7
"""Steps from frame to frame in which a figure must move."""
_WINDOW = 1.6
"""Seconds in which a course is looked for."""
_FAR = 0.12
"""Fraction of the picture that a figure must go."""
_LARGEST = 0.5
"""Share of the picture from which a thing is its surroundings."""


def things_of(
    firsts: Sequence[Sequence[Sighting]], seconds: Sequence[Sequence[Sighting]], shot: int, border: float
) -> list[ThingFact]:
    """Things that both detectors name alike, with at least ``border``, in several frames of a shot.

    ``firsts`` and ``seconds`` hold what each detector saw, frame by frame.
    """
    agreed = [_agreed(a, b, border) for a, b in zip(firsts, seconds, strict=True)]
    names = sorted({s.name for frame in agreed for s in frame})
    facts = []
    for name in names:
        seen = [[s for s in frame if s.name == name] for frame in agreed]
        counts = sorted((len(frame) for frame in seen if frame), reverse=True)
        if len(counts) < _FRAMES:
            continue
        sure = float(np.mean([s.score for frame in seen for s in frame]))
        glimpses = tuple(Glimpse(s.box, s.seconds) for frame in seen for s in frame)
        place = place_of([Track(glimpses, tuple(range(len(glimpses))))])
        count = counts[_FRAMES - 1]
        since = next(frame[0].seconds for frame in seen if len(frame) >= count)
        facts.append(ThingFact(shot, name, count, place, round(sure, 3), round(since, 3)))
    return facts


def figure_of(
    moving: Sequence[Box | None],
    shifts: Sequence[Carrier | None],
    people: Sequence[Person],
    stretch: Stretch,
    seconds: Sequence[float],
) -> FigureFact | None:
    """What moves through the picture by itself and is no person for sure.

    ``moving[i]`` is where the change between frames ``i`` and ``i + 1`` lies, ``shifts`` the background's
    movement there, ``seconds`` the frames' times (one more). Told is the longest way that one region goes,
    steadily, by its own movement and not the background's.
    """
    frames: list[list[Glimpse]] = [[]]
    for box, second in zip(moving, seconds[1:], strict=True):
        alone = box is not None and box.area <= _LARGEST and not _covers(box, second, people)
        frames.append([Glimpse(box, second)] if box is not None and alone else [])
    best: _Course | None = None
    for track in link(frames, shifts):
        for part in windows(track, _WINDOW):
            course = _course(part, shifts, stretch.aspect)
            if course and (best is None or course.far > best.far):
                best = course
    return _figure(best.track, best.movement, stretch) if best else None


@dataclass(frozen=True, slots=True)
class _Course:
    """A steady movement: its track, where it goes, and how far (fraction of the picture)."""

    track: Track[Glimpse]
    movement: Movement
    far: float


def _figure(track: Track[Glimpse], movement: Movement, stretch: Stretch) -> FigureFact:
    return FigureFact(
        shot=stretch.shot,
        first=round(track.first, 3),
        last=round(track.last, 3),
        place=place_of([track]),
        size=round(float(np.median([g.box.height for g in track.seen])), 3),
        movement=movement,
        enters=False,
        leaves=False,
        sure=0.95,
    )


def _course(track: Track[Glimpse], shifts: Sequence[Carrier | None], aspect: float) -> _Course | None:
    """Left, right, up or down where both edges of the region go that way, and farther than the background."""
    if len(track.seen) < _STEPS or 3 * len(track.seen) < 2 * (track.frames[-1] - track.frames[0] + 1):
        return None
    boxes = [g.box for g in track.seen]
    way = way_of(track, shifts, aspect)
    if way.known < 0.8:
        return None
    across = least(drift([b.left for b in boxes]), drift([b.right for b in boxes]))
    if abs(across) > _FAR and across * way.x > 0 and abs(way.x) > 0.2:
        return _Course(track, "right" if across > 0 else "left", abs(across))
    rooted = min(b.bottom for b in boxes) > 0.95
    top = drift([b.top for b in boxes])
    upright = top if rooted else least(top, drift([b.bottom for b in boxes]))
    if abs(upright) > _FAR and upright * way.y > 0 and abs(way.y) > 0.1:
        return _Course(track, "down" if upright > 0 else "up", abs(upright))
    return None


def _covers(box: Box, second: float, people: Sequence[Person]) -> bool:
    near = [g for p in people for g in p.track.seen if abs(g.seconds - second) < 0.5]
    return any(overlap(g.box, box) > 0.3 for g in near)


def _agreed(first: Sequence[Sighting], second: Sequence[Sighting], border: float) -> list[Sighting]:
    return [
        a
        for a in first
        if a.score >= border
        and a.name not in ANIMALS | {"person"}
        and a.box.area <= _LARGEST
        and any(b.name == a.name and b.score >= border and a.box.iou(b.box) > 0.5 for b in second)
    ]
