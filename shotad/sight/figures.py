"""Things with a name, and things that move without one. Pure logic.

Names of things are the detectors' weakest side: on drawn and unusual pictures both agree on a bed where
dunes are (0.86 and 0.82, for seconds), on a clock for a round sign, on a phone for a car from above (0.86 and
1.00). A name is therefore given only to what is one of `KINDS`, and where a classifier that was trained on
other pictures sees the same, and nothing else as clearly. What moves by itself and is no person is told as a
figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

import numpy as np

from shotad.core import MANY, Box, FigureFact, Movement, Sighting, ThingFact
from shotad.sight.motion import Shift, T, Track, link, way_of, windows
from shotad.sight.people import Glimpse
from shotad.sight.persons import Person, Stretch, drift, least, place_of
from shotad.sight.things import KINDS, overlap

Course = tuple[float, Movement, Track[T]]
"""A steady movement: how far it goes (fraction of the picture), where to, and its track."""

_FRAMES = 4
"""Frames in which a thing must be seen."""
_LEAST = 0.5
"""The first detector's score in a frame that counts, and from `_FIRST` on in a fifth of them."""
_FIRST = 0.75
_ANOTHER = 0.4
"""The first detector's score of another thing of the kind."""
_SECOND = 0.45
"""The second detector's score in half of them."""
_THIRD = 0.2
"""The classifier's share for all its classes of that kind, on the mean of the `ASKED` clearest frames."""
ASKED = 4
_RIVAL = 0.6
"""Share of its certainty up to which it may take it for something else."""
_SCENE = 0.5
"""How sure the classifiers must be of what a picture shows, on the mean of the frames."""
_SCENE_LEAST = 0.25
"""The same in each; the first may not show it yet."""
_ALIKE = {"cat": 0.75, "dog": 0.75}
"""The same of what is taken for one another where it moves."""
_PLURAL = ("mountain", "drawn figure", "bookshelf")
_STEPS = 7
"""Steps from frame to frame in which a figure must move."""
_WINDOW = 1.6
"""Seconds in which a course is looked for."""
_PASSING = 2.0
"""The same for a thing with a name."""
_FAR = 0.12
"""Fraction of the picture that a figure must go."""
_DISSOLVE = 1.0
"""Seconds at either end of a shot in which the one beside it may be seen."""
_PART = 0.6
"""Share of a box within a larger one from which it is a part of that."""
_LARGEST = 0.5
"""Share of the picture from which a thing is its surroundings."""


def things_of(
    firsts: Sequence[Sequence[Sighting]],
    seconds: Sequence[Sequence[Sighting]],
    stretch: Stretch,
    ask: Callable[[Sighting], Mapping[str, float]],
) -> list[ThingFact]:
    """The things of a shot that two detectors and a classifier name alike, in several frames.

    ``firsts`` and ``seconds`` hold what each detector saw, frame by frame, ``stretch`` how the picture moves
    between them; ``ask`` says how much the classifier takes a sighting for each of `KINDS`.
    """
    listed = [[s for s in frame if s.name in KINDS and s.score >= _LEAST] for frame in firsts]
    found: dict[str, list[Track[Sighting]]] = {}
    for track in link(listed, stretch.shifts):
        name = track.seen[0].name
        mine = all(s.name == name for s in track.seen) and not _is_of_another_shot(track, stretch)
        if mine and _agree(track, seconds, ask):
            found.setdefault(name, []).append(track)
    return [_thing(name, tracks, firsts, stretch) for name, tracks in sorted(found.items())]


def scene_of(shares: Sequence[Mapping[str, float]], seconds: Sequence[float], shot: int) -> ThingFact | None:
    """What all of a shot's picture shows, by classifiers alone.

    ``shares`` is how sure they are of each kind in `ASKED` frames, at ``seconds``; None where they are not in
    all of them, but for the first.
    """
    mean = {kind: float(np.mean([frame[kind] for frame in shares])) for kind in shares[0]}
    name, *others = sorted(mean, key=lambda kind: -mean[kind])
    plain = [frame[name] >= _SCENE_LEAST for frame in shares]
    if mean[name] < _ALIKE.get(name, _SCENE) or not all(plain[1:]):
        return None
    if mean[others[0]] >= _RIVAL * mean[name]:
        return None
    count = MANY if name in _PLURAL else 1
    return ThingFact(shot, name, count, "centre", round(mean[name], 3), round(seconds[not plain[0]], 3))


def _thing(
    name: str, tracks: Sequence[Track[Sighting]], firsts: Sequence[Sequence[Sighting]], stretch: Stretch
) -> ThingFact:
    """One, from when it is seen or moves; `MANY` where the first detector sees another beside it in half of
    the frames, for nobody has counted those of which it is less sure."""
    moments = sorted({s.seconds for track in tracks for s in track.seen})
    crowded = sum(
        _is_several([s.box for s in frame if s.name == name and s.score >= _ANOTHER]) for frame in firsts
    )
    count = MANY if 2 * crowded >= len(firsts) else 1
    sure = min(float(np.quantile([s.score for s in track.seen], 0.8)) for track in tracks)
    area = float(np.median([s.box.area for track in tracks for s in track.seen]))
    since, movement = moments[0], None
    if len(tracks) == count == 1:
        course = _farthest(tracks[0], stretch.shifts, stretch.aspect, _PASSING)
        since, movement = (course[2].first, course[1]) if course else (since, None)
    return ThingFact(
        stretch.shot, name, count, place_of(tracks), round(sure, 3), round(since, 3), round(area, 3),
        movement, last=round(moments[-1], 3),
    )  # fmt: skip


def _is_several(boxes: Sequence[Box]) -> bool:
    """True for two boxes or more of which none lies in a larger one: parts of a thing are found as things."""
    larger = ([b for b in boxes if b.area > one.area and overlap(one, b) >= _PART] for one in boxes)
    return sum(not others for others in larger) > 1


def _is_of_another_shot(track: Track[Sighting], stretch: Stretch) -> bool:
    """True for what dissolves away as a shot begins, or comes up as it ends."""
    start, end = stretch.seconds[0], stretch.seconds[-1]
    if end - start < 2 * _DISSOLVE:
        return False
    before, after = track.last < start + _DISSOLVE, track.first > end - _DISSOLVE
    return (stretch.opens and before) or (stretch.closes and after)


def _agree(
    track: Track[Sighting],
    seconds: Sequence[Sequence[Sighting]],
    ask: Callable[[Sighting], Mapping[str, float]],
) -> bool:
    """True where all three see the same for long enough."""
    if len(track.seen) < _FRAMES or float(np.quantile([s.score for s in track.seen], 0.8)) < _FIRST:
        return False
    name = track.seen[0].name
    votes = [
        max((o.score for o in seconds[i] if o.name == name and o.box.iou(s.box) > 0.4), default=0.0)
        for s, i in zip(track.seen, track.frames, strict=True)
    ]
    if float(np.median(votes)) < _SECOND:
        return False
    best = sorted(track.seen, key=lambda s: (-s.score, s.seconds))[:ASKED]
    asked = [ask(sighting) for sighting in best]
    shares = {kind: float(np.mean([shares[kind] for shares in asked])) for kind in KINDS}
    rival = max(share for kind, share in shares.items() if kind != name)
    return shares[name] >= _THIRD and rival < _RIVAL * shares[name]


def figure_of(
    moving: Sequence[Box | None],
    shifts: Sequence[Shift | None],
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
        near = [g.box for p in people for g in p.track.seen if abs(g.seconds - second) < 0.5]
        alone = box is not None and box.area <= _LARGEST and all(overlap(one, box) <= 0.3 for one in near)
        frames.append([Glimpse(box, second)] if box is not None and alone else [])
    courses = (_farthest(track, shifts, stretch.aspect, _WINDOW) for track in link(frames, shifts))
    best = max(filter(None, courses), key=itemgetter(0), default=None)
    if best is None:
        return None
    _, movement, track = best
    return FigureFact(
        shot=stretch.shot,
        first=round(track.first, 3),
        last=round(track.last, 3),
        place=place_of([track]),
        size=round(float(np.median([g.box.height for g in track.seen])), 3),
        movement=movement,
    )


def _farthest(
    track: Track[T], shifts: Sequence[Shift | None], aspect: float, seconds: float
) -> Course[T] | None:
    """The longest way that it goes by itself within so many seconds."""
    courses = (_course(part, shifts, aspect) for part in windows(track, seconds))
    return max(filter(None, courses), key=itemgetter(0), default=None)


def _course(track: Track[T], shifts: Sequence[Shift | None], aspect: float) -> Course[T] | None:
    """Left, right, up or down where both edges of the region go that way, and farther than the background."""
    if len(track.seen) < _STEPS or 3 * len(track.seen) < 2 * (track.frames[-1] - track.frames[0] + 1):
        return None
    boxes = [g.box for g in track.seen]
    way = way_of(track, shifts, aspect)
    if way.known < 0.8:
        return None
    across = least(drift([b.left for b in boxes]), drift([b.right for b in boxes]))
    if abs(across) > _FAR and across * way.x > 0 and abs(way.x) > 0.2:
        return abs(across), "right" if across > 0 else "left", track
    rooted = min(b.bottom for b in boxes) > 0.95
    top = drift([b.top for b in boxes])
    upright = top if rooted else least(top, drift([b.bottom for b in boxes]))
    if abs(upright) > _FAR and upright * way.y > 0 and abs(way.y) > 0.1:
        return abs(upright), "down" if upright > 0 else "up", track
    return None
