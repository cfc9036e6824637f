"""Things with a name, and things that move without one. Pure logic.

Names of things are the detectors' weakest side: on drawn and unusual pictures both agree on a bed where
dunes are (0.86 and 0.82, for seconds), on a clock for a round sign, on a bird for a rabbit (0.82 and 0.97).
A name is therefore given only where both are surer than that in several frames, to an animal never; what
moves by itself and is no person is told as a figure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shotad.facts import FigureFact, ThingFact
from shotad.sight.people import Glimpse
from shotad.sight.persons import Person, Stretch, movement_of, place_of
from shotad.sight.things import ANIMALS, overlap
from shotad.sight.tracks import Track, link
from shotad.types import Sighting

_FRAMES = 4
"""Frames in which a thing, or a figure, must be seen."""
_FIGURE_SCORE = 0.6
_FIGURE_MEAN = 0.65
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
        facts.append(ThingFact(shot, name, counts[_FRAMES - 1], place, round(sure, 3)))
    return facts


def figures_of(
    firsts: Sequence[Sequence[Sighting]],
    seconds: Sequence[Sequence[Sighting]],
    people: Sequence[Person],
    stretch: Stretch,
) -> list[FigureFact]:
    """What moves by itself and looks alive to a detector, but is no person for sure."""
    frames = [
        [Glimpse(s.box, s.seconds, body=s.score) for s in _alive(a, b) if not _is_person(s, people)]
        for a, b in zip(firsts, seconds, strict=True)
    ]
    facts = []
    for track in link(frames, stretch.shifts):
        mean = float(np.mean([g.body for g in track.seen]))
        movement = movement_of(track, stretch)
        if len(track.seen) < _FRAMES or mean < _FIGURE_MEAN or movement in (None, "still"):
            continue
        facts.append(
            FigureFact(
                shot=stretch.shot,
                first=round(track.first, 3),
                last=round(track.last, 3),
                place=place_of([track]),
                size=round(max(g.box.height for g in track.seen), 3),
                movement=movement,
                enters=False,
                leaves=False,
                sure=round(min(0.95, mean + 0.15), 3),
            )
        )
    return facts


def _agreed(first: Sequence[Sighting], second: Sequence[Sighting], border: float) -> list[Sighting]:
    return [
        a
        for a in first
        if a.score >= border
        and a.name not in ANIMALS | {"person"}
        and a.box.area <= _LARGEST
        and any(b.name == a.name and b.score >= border and a.box.iou(b.box) > 0.5 for b in second)
    ]


def _alive(first: Sequence[Sighting], second: Sequence[Sighting]) -> list[Sighting]:
    """Everything that either detector takes for an animal or a person, each place once, surest first."""
    kinds = ANIMALS | {"person"}
    seen = sorted((s for s in (*first, *second) if s.name in kinds), key=lambda s: (-s.score, s.box.left))
    kept: list[Sighting] = []
    for sighting in seen:
        if sighting.score >= _FIGURE_SCORE and not any(overlap(k.box, sighting.box) > 0.5 for k in kept):
            kept.append(sighting)
    return kept


def _is_person(sighting: Sighting, people: Sequence[Person]) -> bool:
    return any(
        overlap(g.box, sighting.box) > 0.5
        for p in people
        for g in p.track.seen
        if g.seconds == sighting.seconds
    )
