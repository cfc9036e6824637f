"""The joints of people, by MoveNet, and what a person does with their body: pure logic over several frames.

`PoseReader` (MoveNet lightning, Google, Apache-2.0) finds seventeen joints of the one person in a box. What
they do is measured in their own size, so that near and far people are judged alike, and by margins: an arm is
raised when the wrist is clearly above the eyes, and was clearly below the shoulder before. Joints that are
hidden or cut off by the picture are guessed by the model with a low score; nothing is built on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from shotad.core import Box, Deed, Image, Posture
from shotad.sight.motion import Timed
from shotad.sight.pictures import shared
from shotad.sight.things import LiteModel, square_around

CLEAR = 0.4
"""Mean score of a track's best joints from which it is of a real person."""

_SEEN = 0.3
"""Score from which a joint is where it is said to be."""
_ROOM = 1.25
"""Sides of the square that is looked at, in those of the box."""
NOSE, EYES, EARS, SHOULDERS, ELBOWS, WRISTS, HIPS, KNEES, ANKLES = (
    0, (1, 2), (3, 4), (5, 6), (7, 8), (9, 10), (11, 12), (13, 14), (15, 16)
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """One person at ``seconds``. ``points`` is ``float64[17, 2]``, x and y in heights of the picture;
    ``scores`` is ``float64[17]``, 0 to 1."""

    seconds: float
    points: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]

    def seen(self, *joints: int) -> bool:
        """True where all these joints are seen."""
        return bool(np.all(self.scores[list(joints)] >= _SEEN))

    def middle(self, joints: tuple[int, int]) -> npt.NDArray[np.float64]:
        """The point half way between two joints."""
        return np.asarray(self.points[list(joints)].mean(axis=0), np.float64)

    @property
    def clear(self) -> float:
        """The mean score of the six best joints: real people have 0.47 and more on the tuning clips, drawn
        figures and lone hands 0.30 and less."""
        return float(np.sort(self.scores)[-6:].mean())

    @property
    def size(self) -> float:
        """A length that hardly changes with the posture, about the width of the shoulders from before."""
        wide = float(np.linalg.norm(self.points[SHOULDERS[0]] - self.points[SHOULDERS[1]]))
        return max(wide, 0.65 * self.torso) if self.seen(*HIPS) else wide

    @property
    def torso(self) -> float:
        """From the middle of the shoulders to that of the hips."""
        return float(np.linalg.norm(self.middle(HIPS) - self.middle(SHOULDERS)))

    @property
    def breadth(self) -> float:
        """How far the left shoulder is to the right of the right one, in torsos: less than 0 from behind."""
        across = float(self.points[SHOULDERS[0]][0] - self.points[SHOULDERS[1]][0])
        return across / max(self.torso, 1e-6)

    @property
    def lean(self) -> float:
        """Degrees between the torso and the upright: 0 upright, 90 level, more with the head down."""
        across, up = self.middle(SHOULDERS) - self.middle(HIPS)
        return float(np.degrees(np.arctan2(abs(across), -up)))


class PoseReader:
    """MoveNet lightning through LiteRT: 192 x 192."""

    def __init__(self, path: Path) -> None:
        self._model = shared(LiteModel, path)

    def read(self, image: Image, box: Box, seconds: float) -> Pose:
        """The joints of the person in ``box``, a part of ``image``."""
        height, width = image.shape[:2]
        square, left, top, side = square_around(image, box, _ROOM, self._model.pixels)
        y, x, scores = np.asarray(self._model(square)[0], np.float64).reshape(17, 3).T
        points = np.stack([left + x * side, top + y * side], axis=1)
        inside = (points >= 0).all(axis=1) & (points[:, 0] < width) & (points[:, 1] < height)
        return Pose(seconds, points / height, np.where(inside, scores, 0.0))


@dataclass(frozen=True, slots=True)
class Act:
    """What a person is measured to do, and the seconds between which it is to be seen."""

    deed: Deed
    since: float
    until: float


_UPRIGHT = 25.0
"""Degrees up to which a torso is upright."""
_BEFORE = 2.5
"""Seconds within which a posture must change to be told as a change."""
_HOLD = 0.4
"""Seconds for which a posture must be held to be one."""
_RISE = 0.75
"""How far the shoulders rise from a seat or sink to it, in sizes."""
_RISE_OF_HIPS = 0.3
"""How far the hips do, in sizes: who leans towards the camera sinks with the shoulders alone. Of six who sit
down and stand up behind a table, hips half hidden, the least is 0.37."""
_STEADY = 0.3
"""How much they may move while somebody sits or stands, in sizes."""
_NEARER = 1.3
"""Factor by which one may come nearer meanwhile: beyond it they walk."""
_LEVEL = 0.4
"""How far the knees are below the hips of who sits at most, in torsos."""
_BENT = 0.72
"""Height of the hips above the feet, in that on straight legs, up to which one crouches."""
_TALL = 0.9
"""The same from which one stands again."""
_LEGS = 1.1
"""Height of the hips above the feet, in torsos, from which legs are straight: of somebody on a seat or on the
floor it is less."""
_BROAD = 0.4
"""Width of the shoulders, in torsos, from which somebody is seen from before or from behind."""
_BACKS = 5
"""Frames in which a back must be seen to be told."""
_HAND = 0.35
"""Where a hand is beyond the wrist, in lengths of the forearm as it is seen."""
_HEAD = 0.25
"""How far the nose is above the shoulders, in sizes, of who does not bow over what they hold."""
_CALM = 0.6
"""How far hands may move while somebody merely stands, sits or lies, in sizes."""


def posture_of(poses: Sequence[Pose]) -> Posture | None:
    """How the person is over all of the time: stands, sits, lies; None where that changes or is not seen."""
    found = {_posture(pose) for pose in poses}
    known = sum(_posture(pose) is not None for pose in poses)
    clear = found - {None}
    if len(clear) != 1 or known < 3 or 4 * known < 3 * len(poses) or not _is_calm(poses):
        return None
    return clear.pop()


def _is_calm(poses: Sequence[Pose]) -> bool:
    """True where neither shoulders nor hands move about."""
    size = float(np.median([pose.size for pose in poses]))
    for joint in (*SHOULDERS, *WRISTS):
        points = np.array([pose.points[joint] for pose in poses if pose.seen(joint)])
        if len(points) > 2 and float(np.ptp(points, axis=0).max()) > _CALM * size * (1 + (joint in WRISTS)):
            return False
    return True


def acts_of(poses: Sequence[Pose]) -> list[Act]:
    """All that the person does in these frames (ascending seconds), by time."""
    whole = [pose for pose in poses if pose.seen(*SHOULDERS)]
    acts = [*_raised(whole), *_spread(whole), *_at_face(whole), *_up_and_down(whole)]
    acts += [*_crouched(whole), *_bends(whole), *_turns(whole)]
    return sorted(acts, key=lambda act: (act.since, act.deed))


def is_turned_away(poses: Sequence[Pose]) -> bool:
    """True where the back is to be seen all the time."""
    backs = [pose.breadth <= -_BROAD for pose in poses if pose.seen(*SHOULDERS, *HIPS)]
    return len(backs) >= _BACKS and 5 * sum(backs) >= 4 * len(poses)


def walks(poses: Sequence[Pose]) -> bool:
    """True where one foot passes the other, and back, by half a torso's length."""
    seen = [pose for pose in poses if pose.seen(*HIPS, *ANKLES)]
    if len(seen) < 5 or 5 * len(seen) < 3 * len(poses):
        return False
    apart = [float((p.points[ANKLES[0]] - p.points[ANKLES[1]])[0]) / p.torso for p in seen if p.torso > 0]
    wide = [step for step in apart if abs(step) > 0.15]
    changes = sum(a * b < 0 for a, b in pairwise(wide))
    return changes >= 2 and max(apart) - min(apart) > 0.5


def _posture(pose: Pose) -> Posture | None:
    if not pose.seen(*SHOULDERS, *HIPS, *KNEES):
        return None
    torso, thigh = pose.torso, pose.middle(KNEES) - pose.middle(HIPS)
    if torso < 1e-6:
        return None
    long, down = float(np.linalg.norm(thigh)) / torso, float(thigh[1]) / torso
    if pose.lean > 65 and pose.lean < 115 and long > 0.4 and abs(down) < 0.5 * long:
        return "lies"
    if pose.lean > _UPRIGHT or not pose.seen(*ANKLES):
        return None
    shank = float((pose.middle(ANKLES) - pose.middle(KNEES))[1]) / torso
    if down > 0.6 and shank > 0.55:
        return "stands"
    seated = -0.15 < down < _LEVEL and shank > 0.45 and down + shank > 0.7
    return "sits" if seated and pose.lean < 20 else None


Seen = TypeVar("Seen", bound=Timed)


def runs(flags: Sequence[bool], seen: Sequence[Timed], least: float = _HOLD) -> Iterator[tuple[int, int]]:
    """First and last place of each unbroken run of true flags that lasts at least so many seconds."""
    start: int | None = None
    for at, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = at
        elif not flag and start is not None:
            if seen[at - 1].seconds - seen[start].seconds >= least:
                yield start, at - 1
            start = None


def _raised(poses: Sequence[Pose]) -> Iterator[Act]:
    """A hand, or both, taken up from below the shoulders to above the eyes."""
    sides = [[_is_up(pose, side) for pose in poses] for side in (0, 1)]
    both = [a and b for a, b in zip(*sides, strict=True)]
    taken: list[tuple[float, float]] = []
    for start, end in runs(both, poses):
        if came_from(poses, start, lambda pose: _is_down(pose, 0) and _is_down(pose, 1)):
            taken.append((poses[start].seconds, poses[end].seconds))
            yield Act("raises both arms", *taken[-1])
    for side in (0, 1):
        for start, end in runs(sides[side], poses):
            first, last = poses[start].seconds, poses[end].seconds
            if any(a <= last and first <= b for a, b in taken):
                continue
            if came_from(poses, start, partial(_is_down, side=side)):
                yield Act("raises a hand", first, last)


def came_from(seen: Sequence[Seen], start: int, before: Callable[[Seen], bool]) -> bool:
    """True where it was so, in two frames at least, within the time before ``start``."""
    return sum(before(s) for s in seen[:start] if s.seconds >= seen[start].seconds - _BEFORE) >= 2


def _is_up(pose: Pose, side: int) -> bool:
    """True for a wrist above the eyes and away from them, the elbow seen."""
    wrist, elbow = WRISTS[side], ELBOWS[side]
    if not pose.seen(wrist, elbow, NOSE):
        return False
    above = pose.points[NOSE][1] - pose.points[wrist][1]
    away = float(np.linalg.norm(pose.points[NOSE] - pose.points[wrist]))
    return bool(above > 0.1 * pose.size and away > 0.7 * pose.size)


def _is_down(pose: Pose, side: int) -> bool:
    """True for an elbow, and a wrist where it is seen, below the shoulder."""
    shoulder, elbow, wrist = (pose.points[joints[side]][1] for joints in (SHOULDERS, ELBOWS, WRISTS))
    if not pose.seen(ELBOWS[side]):
        return False
    low = elbow > shoulder + 0.3 * pose.size
    return bool(low and (not pose.seen(WRISTS[side]) or wrist > shoulder + 0.2 * pose.size))


def _spread(poses: Sequence[Pose]) -> Iterator[Act]:
    """Both arms held out to the sides."""
    flags = [_is_spread(pose) for pose in poses]
    for start, end in runs(flags, poses, 0.2):
        yield Act("spreads the arms", poses[start].seconds, poses[end].seconds)


def _is_spread(pose: Pose) -> bool:
    if not pose.seen(*ELBOWS, *WRISTS) or (pose.seen(*HIPS) and pose.lean > _UPRIGHT):
        return False
    middle, size = pose.middle(SHOULDERS), pose.size
    left, right = sorted((pose.points[w] - middle for w in WRISTS), key=lambda p: float(p[0]))
    apart = left[0] < -1.15 * size and right[0] > 1.15 * size
    return bool(apart and max(abs(left[1]), abs(right[1])) < 0.75 * size)


def _at_face(poses: Sequence[Pose]) -> Iterator[Act]:
    """A hand brought to the face from below: one that waves passes it too."""
    for side in (0, 1):
        down, up = partial(_is_down, side=side), partial(_is_up, side=side)
        for start, end in runs([_is_at_face(pose, side) for pose in poses], poses):
            if came_from(poses, start, down) and not came_from(poses, start, up):
                yield Act("puts a hand to the face", poses[start].seconds, poses[end].seconds)


def _is_at_face(pose: Pose, side: int) -> bool:
    if not pose.seen(WRISTS[side], ELBOWS[side], NOSE):
        return False
    wrist, nose = pose.points[WRISTS[side]], pose.points[NOSE]
    hand = wrist + _HAND * (wrist - pose.points[ELBOWS[side]])
    upright = pose.middle(SHOULDERS)[1] - nose[1] > _HEAD * pose.size
    return bool(upright and np.linalg.norm(hand - nose) < 0.5 * pose.size)


def _up_and_down(poses: Sequence[Pose]) -> Iterator[Act]:
    """Standing up and sitting down: the shoulders rise or sink, upright before and after."""
    steady = [p for p in poses if p.seen(*HIPS) and p.lean <= _UPRIGHT and not p.seen(*ANKLES)]
    rises: list[tuple[Pose, Pose]] = []
    sinks: list[tuple[Pose, Pose]] = []
    at = 0
    while at < len(steady):
        found = next((end for end in range(at + 1, len(steady)) if _has_changed(steady, at, end)), None)
        if found is None:
            at += 1
            continue
        before, after = steady[at], steady[found]
        (rises if _rise(before, after, SHOULDERS) > 0 else sinks).append((before, after))
        at = found
    for before, after in rises:
        yield Act("stands up", before.seconds, after.seconds)
    for before, after in sinks:
        if _is_seated(after, [low for low, _ in rises]):
            yield Act("sits down", before.seconds, after.seconds)


def _is_seated(pose: Pose, risen: Sequence[Pose]) -> bool:
    """True where the thighs are level, or the person has risen, or will, from where they are now: who kneels
    or stoops sinks just so."""
    thigh = float((pose.middle(KNEES) - pose.middle(HIPS))[1])
    if pose.seen(*KNEES) and 0 < thigh < _LEVEL * pose.torso:
        return True
    here = pose.middle(SHOULDERS)
    return any(float(np.linalg.norm(low.middle(SHOULDERS) - here)) < pose.size for low in risen)


def _rise(before: Pose, after: Pose, joints: tuple[int, int]) -> float:
    size = max(before.size, after.size)
    return float(before.middle(joints)[1] - after.middle(joints)[1]) / size


def _has_changed(poses: Sequence[Pose], start: int, end: int) -> bool:
    before, after = poses[start], poses[end]
    rise = _rise(before, after, SHOULDERS)
    if after.seconds - before.seconds > _BEFORE or abs(rise) < _RISE:
        return False
    if rise * _rise(before, after, HIPS) < abs(rise) * _RISE_OF_HIPS:
        return False
    ratio = after.size / max(before.size, 1e-6)
    aside = abs(float((after.middle(SHOULDERS) - before.middle(SHOULDERS))[0])) / after.size
    if not 1 / _NEARER < ratio < _NEARER or aside > 1.2:
        return False
    return _is_held(poses, start, -1) and _is_held(poses, end, 1)


def _is_held(poses: Sequence[Pose], at: int, way: int) -> bool:
    """True where the shoulders hardly move for a moment before or after."""
    near = [p for p in poses if 0 < way * (p.seconds - poses[at].seconds) <= 2 * _HOLD]
    return len(near) >= 2 and all(abs(_rise(poses[at], p, SHOULDERS)) < _STEADY for p in near)


def _crouched(poses: Sequence[Pose]) -> Iterator[Act]:
    """From straight legs to bent ones, the feet where they were, and up again."""
    legs = [pose for pose in poses if pose.seen(*HIPS, *KNEES, *ANKLES)]
    heights = [float((p.middle(ANKLES) - p.middle(HIPS))[1]) for p in legs]
    straight = float(np.quantile(heights, 0.8)) if heights else 0.0
    if not legs or straight < _LEGS * float(np.median([pose.torso for pose in legs])):
        return
    low = [height < _BENT * straight for height in heights]
    for start, end in runs(low, legs):
        feet = legs[start].middle(ANKLES)
        before = [
            p for p, bent in zip(legs[:start], low[:start], strict=True)
            if not bent and p.seconds >= legs[start].seconds - _BEFORE
        ]  # fmt: skip
        kept = [p for p in before if float(np.linalg.norm(p.middle(ANKLES) - feet)) < 0.5 * p.size]
        if len(kept) < 2:
            continue
        yield Act("crouches", legs[start].seconds, legs[end].seconds)
        tall = [height > _TALL * straight for height in heights]
        up = next((first for first, _ in runs(tall, legs) if first > end), None)
        if up is not None and legs[up].seconds <= legs[end].seconds + _BEFORE:
            yield Act("stands up", legs[end].seconds, legs[up].seconds)


def _turns(poses: Sequence[Pose]) -> Iterator[Act]:
    """From the back to the front, or from the front to the back."""
    whole = [pose for pose in poses if pose.seen(*HIPS) and pose.lean <= _UPRIGHT]
    ways: tuple[tuple[Deed, int], ...] = (("turns round", 1), ("turns away", -1))
    for deed, way in ways:
        shown = [way * pose.breadth >= _BROAD for pose in whole]
        for start, end in runs(shown, whole):
            if came_from(whole, start, lambda pose, way=way: way * pose.breadth <= -_BROAD):  # type: ignore[misc]
                yield Act(deed, whole[start - 1].seconds, whole[end].seconds)


def _bends(poses: Sequence[Pose]) -> Iterator[Act]:
    """From upright to a torso more level than not."""
    whole = [pose for pose in poses if pose.seen(*HIPS)]
    flags = [50 < pose.lean < 130 for pose in whole]
    for start, end in runs(flags, whole, 0.2):
        if came_from(whole, start, lambda pose: pose.lean <= _UPRIGHT):
            yield Act("bends forward", whole[start].seconds, whole[end].seconds)
