"""How the whole picture moves from frame to frame, what moves within it, and how light it is.

The camera's own movement is a shift with scale, fitted with RANSAC to sparse optical flow
(Shi-Tomasi corners, pyramidal Lucas-Kanade, checked backwards), so that a walking person's way can
be told from a panning camera. Sightings of one shot are linked into tracks: the same person or thing from
frame to frame. Of light: level, fades and flashes of one shot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

import cv2
import numpy as np
import numpy.typing as npt

from shotad.core import Box, Image

Gray = npt.NDArray[np.uint8]
"""``uint8[h, w]``, luma of a small picture."""
Points = npt.NDArray[np.float32]
"""``float32[n, 1, 2]``, x and y in pixels."""
Camera = Literal["still", "left", "right", "up", "down", "in", "out", "shaky"]
Inside = Literal["none", "little", "much"]

_WIDTH = 320
_CORNERS = 240
_LEAST = 14
"""Corners that must agree before a movement of the whole picture is believed."""
_SAME_PICTURE = 0.4
"""Correlation of two thumbnails below which they show different pictures."""
_PLAIN = 1e3
"""Strength of two thumbnails' patterns below which at least one is plain, as in a fade to black."""
_OTHER_LIGHT = 25.0
_LEAST_CHANGE = 0.004
"""Share of the picture that must change for something to move in it."""
_MOST = 0.75
"""Share of the change that one region must hold for it to be one thing."""
_BACK = 1.0
"""Pixels by which a corner may miss its start when it is followed back."""


@dataclass(frozen=True, slots=True)
class Shift:
    """Movement of the whole picture between two frames, in fractions of its width and height.

    A point ``p`` (from the middle, in widths and heights) goes to ``scale * p + (x, y)``; scale above 1
    comes closer. ``trust`` is the share of corners that agree, ``rest`` the share of the picture that
    has changed after the movement is undone, both 0 to 1. ``moving``: where nearly all of that change
    lies together; None where there is none or it is scattered.
    """

    x: float
    y: float
    scale: float
    trust: float
    rest: float
    moving: Box | None = None

    def carry(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the background, in fractions from the top left, is in the next frame."""
        return 0.5 + self.scale * (x - 0.5) + self.x, 0.5 + self.scale * (y - 0.5) + self.y


def composed(shifts: Sequence[Shift | None]) -> Shift | None:
    """Several movements one after the other as one; None where one of them is not known."""
    x = y = 0.0
    scale, trust, rest = 1.0, 1.0, 0.0
    for shift in shifts:
        if shift is None:
            return None
        x, y, scale = shift.scale * x + shift.x, shift.scale * y + shift.y, shift.scale * scale
        trust, rest = min(trust, shift.trust), max(rest, shift.rest)
    return Shift(x, y, scale, trust, rest)


def is_break(before: Gray, after: Gray, shift: Shift | None) -> bool:
    """True where another picture begins that the shot detector has passed over, as after a dissolve.

    Wild movement within a picture looks the same; sightings before and after are then not linked.
    """
    if shift is not None:
        return False
    size = (32, 18)
    one = cv2.resize(before, size, interpolation=cv2.INTER_AREA).astype(np.float64)
    two = cv2.resize(after, size, interpolation=cv2.INTER_AREA).astype(np.float64)
    lighter = abs(float(one.mean() - two.mean()))
    one, two = one - one.mean(), two - two.mean()
    strength = float(np.sqrt((one**2).sum() * (two**2).sum()))
    if strength < _PLAIN:
        return lighter > _OTHER_LIGHT
    return float((one * two).sum()) / strength < _SAME_PICTURE


def small_gray(image: Image) -> Gray:
    """The picture as luma, 320 pixels wide."""
    height, width = image.shape[:2]
    size = (_WIDTH, max(2, round(height * _WIDTH / width)))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), np.uint8)


def shift_between(before: Gray, after: Gray, apart: Sequence[Box] = ()) -> Shift | None:
    """The movement of the whole picture from one frame to the next; None where it cannot be told.

    ``apart`` are places of people in ``before``, whose own movement must not count.
    """
    (height, width), mask = before.shape, np.full(before.shape, 255, np.uint8)
    for box in apart:
        rows = slice(int(box.top * height), int(np.ceil(box.bottom * height)))
        mask[rows, int(box.left * width) : int(np.ceil(box.right * width))] = 0
    if np.count_nonzero(mask) <= 0.2 * mask.size:
        mask[:] = 255
    corners = cv2.goodFeaturesToTrack(before, _CORNERS, 0.01, 6, mask=mask)
    if corners is None or len(corners) < _LEAST:
        return None
    start = np.asarray(corners, np.float32)
    end, there = _follow(before, after, start)
    back, here = _follow(after, before, end)
    true = there & here & (np.abs(back - start).max(axis=(1, 2)) < _BACK)
    if np.count_nonzero(true) < _LEAST:
        return None
    matrix, inside = cv2.estimateAffinePartial2D(
        start[true], end[true], method=cv2.RANSAC, ransacReprojThreshold=1.5
    )
    if matrix is None or np.count_nonzero(inside) < _LEAST:
        return None
    trust = float(np.count_nonzero(inside)) / len(start)
    scale = float(np.hypot(matrix[0, 0], matrix[1, 0]))
    middle = np.array([width / 2, height / 2, 1.0])
    x, y = (matrix @ middle) - middle[:2]
    changed, share = _changed(matrix, before, after)
    return Shift(float(x) / width, float(y) / height, scale, trust, share, _together(changed))


def camera_of(shifts: Sequence[Shift | None], seconds: Sequence[float]) -> Camera:
    """What the camera does in a shot. ``seconds`` are the frames' times, one more than shifts."""
    known = [s for s in shifts if s is not None and s.trust > 0.3]
    if len(known) * 2 < len(shifts) or not known:
        return "shaky"
    span = max(seconds[-1] - seconds[0], 1e-3)
    x, y = sum(s.x for s in known), sum(s.y for s in known)
    growth = float(np.log([s.scale for s in known]).sum())
    if abs(growth) > 0.18 and abs(growth) > max(abs(x), abs(y)):
        return "in" if growth > 0 else "out"
    if abs(x) > 0.12 and abs(x) >= abs(y):
        return "right" if x < 0 else "left"
    if abs(y) > 0.15:
        return "down" if y < 0 else "up"
    restless = sum(abs(s.x) + abs(s.y) for s in known) / span
    return "shaky" if restless > 0.12 else "still"


def inside_of(shifts: Sequence[Shift | None]) -> Inside:
    """How much moves within a shot, apart from the whole picture."""
    rests = [s.rest for s in shifts if s is not None]
    if not rests:
        return "much" if shifts else "none"
    middle = float(np.median(rests))
    if middle > 0.25:
        return "much"
    return "little" if middle > 0.02 else "none"


def _follow(before: Gray, after: Gray, points: Points) -> tuple[Points, npt.NDArray[np.bool_]]:
    """Where the points went, and which of them were found."""
    found, status, _ = cv2.calcOpticalFlowPyrLK(
        before, after, points, points.copy(), winSize=(15, 15), maxLevel=4
    )
    return np.asarray(found, np.float32), np.asarray(status)[:, 0] == 1


def _changed(
    matrix: npt.NDArray[np.float64], before: Gray, after: Gray
) -> tuple[npt.NDArray[np.bool_], float]:
    """The pixels that both frames show and that differ once the movement is undone, and their share."""
    size = (before.shape[1], before.shape[0])
    moved = cv2.GaussianBlur(cv2.warpAffine(before, matrix, size), (5, 5), 0)
    shown = cv2.warpAffine(np.full_like(before, 255), matrix, size) > 250
    differs = cv2.absdiff(moved, cv2.GaussianBlur(after, (5, 5), 0)) > 20
    changed = np.asarray(differs & shown, bool)
    return changed, float(np.count_nonzero(changed)) / max(int(np.count_nonzero(shown)), 1)


def _together(changed: npt.NDArray[np.bool_]) -> Box | None:
    """The box of the one region that holds most of the change."""
    total = int(np.count_nonzero(changed))
    if total < _LEAST_CHANGE * changed.size:
        return None
    kernel = np.ones((25, 25), np.uint8)
    joined = cv2.morphologyEx(changed.astype(np.uint8), cv2.MORPH_CLOSE, kernel)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(joined)
    held = np.bincount(np.asarray(labels)[changed], minlength=len(stats))
    best = int(held[1:].argmax()) + 1 if len(held) > 1 else 0
    if best == 0 or held[best] < _MOST * total:
        return None
    height, width = changed.shape
    left, top, w, h = (int(v) for v in np.asarray(stats)[best][:4])
    return Box(left / width, top / height, (left + w) / width, (top + h) / height)


_GAP = 0.9
"""Seconds for which a track may be out of sight."""
_LEAST_LIKENESS = 0.25


class Timed(Protocol):
    """Anything seen at a second of the film."""

    @property
    def seconds(self) -> float: ...


class Placed(Timed, Protocol):
    """Anything seen at a place and a time."""

    @property
    def box(self) -> Box: ...


T = TypeVar("T", bound=Placed)


@dataclass(frozen=True, slots=True)
class Track(Generic[T]):
    """One person or thing through a shot: what was seen of it, and in which of the shot's frames."""

    seen: tuple[T, ...]
    frames: tuple[int, ...]

    @property
    def first(self) -> float:
        """Second of the first sighting."""
        return self.seen[0].seconds

    @property
    def last(self) -> float:
        """Second of the last sighting."""
        return self.seen[-1].seconds


def link(frames: Sequence[Sequence[T]], shifts: Sequence[Shift | None]) -> tuple[Track[T], ...]:
    """Tracks from the sightings of a shot's frames, oldest first.

    ``shifts`` are the movements of the picture from each frame to the next, one fewer than frames; they
    foretell where a track is found again. Each sighting belongs to one track; best likeness first.
    """
    open_tracks: list[list[tuple[int, T]]] = []
    for number, sightings in enumerate(frames):
        pairs = (
            (likeness(_carried(track[-1][1].box, shifts[track[-1][0] : number]), seen.box), s, t)
            for t, track in enumerate(open_tracks)
            for s, seen in enumerate(sightings)
            if seen.seconds - track[-1][1].seconds <= _GAP
        )
        taken = best_pairs(pair for pair in pairs if pair[0] >= _LEAST_LIKENESS)
        for s, t in taken.items():
            open_tracks[t].append((number, sightings[s]))
        open_tracks += [[(number, seen)] for s, seen in enumerate(sightings) if s not in taken]
    return tuple(Track(tuple(s for _, s in track), tuple(n for n, _ in track)) for track in open_tracks)


def best_pairs(alike: Iterable[tuple[float, int, int]]) -> dict[int, int]:
    """Which of the second numbers goes with which first one, the most alike pair first, each number once.

    >>> best_pairs([(0.5, 0, 0), (0.9, 1, 0), (0.2, 0, 1)])
    {1: 0, 0: 1}
    """
    found: dict[int, int] = {}
    for _, one, other in sorted(alike, key=lambda pair: (-pair[0], pair[2], pair[1])):
        if one not in found and other not in found.values():
            found[one] = other
    return found


def windows(track: Track[T], seconds: float) -> tuple[Track[T], ...]:
    """Overlapping parts of a track, each about ``seconds`` long; the whole of a shorter one."""
    if track.last - track.first <= seconds:
        return (track,)
    parts: list[Track[T]] = []
    times = [seen.seconds for seen in track.seen]
    for start, begin in enumerate(times):
        end = next((i for i in range(start, len(times)) if times[i] - begin >= seconds), None)
        if end is None:
            break
        parts.append(Track(track.seen[start : end + 1], track.frames[start : end + 1]))
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class Way:
    """How a track moves against the background, from its first to its last sighting.

    ``x`` and ``y`` in heights of its own body (+ right, + down), ``growth`` the factor by which it grows
    beyond the background, ``seconds`` the time between, ``known`` the share of steps whose background
    movement could be told.
    """

    x: float
    y: float
    growth: float
    seconds: float
    known: float


def way_of(track: Track[T], shifts: Sequence[Shift | None], aspect: float) -> Way:
    """The way of a track. ``aspect`` is width over height of the picture."""
    x = y = growth = 0.0
    known = 0
    steps = list(zip(track.seen, track.seen[1:], track.frames, track.frames[1:], strict=False))
    for before, after, i, j in steps:
        passed = shifts[i:j]
        if any(shift is None for shift in passed):
            continue
        known += 1
        here = _carried(before.box, passed)
        size = (here.height + after.box.height) / 2
        x += (after.box.centre[0] - here.centre[0]) * aspect / size
        y += (after.box.centre[1] - here.centre[1]) / size
        growth += math.log(after.box.height / here.height)
    span = track.last - track.first
    return Way(x, y, math.exp(growth), span, known / len(steps) if steps else 0.0)


class _BoxPlace(NamedTuple):
    """Where a box may lie, partly outside of the picture perhaps."""

    centre: tuple[float, float]
    width: float
    height: float


def _carried(box: Box, shifts: Sequence[Shift | None]) -> _BoxPlace:
    """Where the box would be had it moved with the background."""
    (x, y), width, height = box.centre, box.width, box.height
    for shift in shifts:
        if shift is not None:
            x, y = shift.carry(x, y)
            width, height = width * shift.scale, height * shift.scale
    return _BoxPlace((x, y), width, height)


def likeness(a: _BoxPlace | Box, b: Box) -> float:
    """1 for the same place and size, 0 for one that cannot be the same: distance by size, and size."""
    width, height = (a.width + b.width) / 2, (a.height + b.height) / 2
    away = math.hypot((a.centre[0] - b.centre[0]) / width, (a.centre[1] - b.centre[1]) / height)
    size = min(a.width * a.height, b.area) / max(a.width * a.height, b.area)
    return max(0.0, 1 - away) * math.sqrt(size)


Level = Literal["black", "dark", "middling", "bright", "white"]
Change = Literal["fade-out", "fade-in", "flash"]

_LEVELS: tuple[tuple[float, Level], ...] = ((8, "black"), (50, "dark"), (150, "middling"), (235, "bright"))
"""Mean luma (0 to 255) below which a picture counts as such; from there on it is white."""
_FADED = 8.0
"""Mean luma of a picture that has faded away."""
_SEEN = 13.0
"""Mean luma that a picture must have had to be one that fades."""
_FLASH = 30.0
"""Luma levels by which a flash outshines the frames before and after."""
_SUDDEN = 0.4
"""Seconds in which a flash rises, at most."""
_FLASH_SECONDS = 1.0
"""Seconds after which it has gone."""


def luma(image: Image) -> npt.NDArray[np.float32]:
    """``float32[H, W]``, 0 to 255, by the weights of Rec. 601."""
    weights = np.array([0.299, 0.587, 0.114], np.float32)
    return np.asarray(image.astype(np.float32) @ weights, np.float32)


def mean_luma(image: Image) -> float:
    """Mean luma of every second pixel, 0 to 255."""
    return float(luma(image[::2, ::2]).mean())


def active_area(images: npt.NDArray[np.uint8], black: int = 28) -> Box:
    """The part of the frames ``uint8[n, H, W, 3]`` that is not a black bar in all of them.

    The whole picture where less than a tenth or more than half of it would be cut off, and where the
    frames are too dark to tell.
    """
    # One axis after the other, whole rows first: a fourteenth of the time of both at once.
    brightest = images[:, ::2].max(axis=0)[:, ::2].max(axis=2)
    rows, columns = (np.flatnonzero(np.percentile(brightest, 98, axis=axis) > black) for axis in (1, 0))
    if len(rows) == 0 or len(columns) == 0:
        return Box(0, 0, 1, 1)
    height, width = brightest.shape
    box = Box(
        float(columns[0] / width),
        float(rows[0] / height),
        float((columns[-1] + 1) / width),
        float((rows[-1] + 1) / height),
    )
    balanced = abs(box.top - (1 - box.bottom)) < 0.05 and abs(box.left - (1 - box.right)) < 0.05
    return box if balanced and 0.5 <= box.area <= 0.97 else Box(0, 0, 1, 1)


def level_of(lumas: Sequence[float]) -> Level:
    """The level of a shot: that of the median of its frames' mean lumas."""
    middle = float(np.median(lumas))
    return next((name for limit, name in _LEVELS if middle < limit), "white")


def change_of(lumas: Sequence[float], seconds: Sequence[float]) -> Change | None:
    """What the light of one shot does: it fades out or in, or flashes, or None.

    ``lumas`` are the mean lumas of its frames (0 to 255), ``seconds`` their times, ascending.
    """
    values = np.asarray(lumas, float)
    if len(values) < 3 or values.max() < _SEEN:
        return None
    if _flash(values, np.asarray(seconds, float)) is not None:
        return "flash"
    peak = int(values.argmax())
    if values[-1] < _FADED and values[-1] < values.max() / 4 and _falls(values[peak:]):
        return "fade-out"
    if values[0] < _FADED and values[0] < values.max() / 4 and _falls(values[: peak + 1][::-1]):
        return "fade-in"
    return None


def since_of(change: Change | None, lumas: Sequence[float], seconds: Sequence[float]) -> float:
    """The second from which a change that `change_of` found is seen: the picture half gone, the
    first of it come, the flash risen. Without a change that of the first frame."""
    values = np.asarray(lumas, float)
    peak = int(values.argmax())
    if change == "flash":
        return float(seconds[_flash(values, np.asarray(seconds, float)) or 0])
    if change == "fade-out":
        return float(seconds[peak + int(np.argmax(values[peak:] < values[peak] / 2))])
    if change == "fade-in":
        return float(seconds[int(np.argmax(values >= _FADED))])
    return float(seconds[0])


def _falls(values: npt.NDArray[np.float64]) -> bool:
    """True where the values fall step by step, with at least one in between: no cut to black."""
    between = np.count_nonzero((values > values[-1] + 3) & (values < values[0] - 3))
    return bool(np.all(np.diff(values) < 2.0)) and int(between) >= 1


def _flash(values: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]) -> int | None:
    """The first frame of a sudden rise that has all but gone a moment later: what is brighter for longer is
    no flash."""
    for i in range(1, len(values) - 1):
        before = values[:i][seconds[:i] >= seconds[i] - _SUDDEN]
        after = values[i + 1 :][seconds[i + 1 :] <= seconds[i] + _FLASH_SECONDS]
        if not len(before) or not len(after):
            continue
        rise = values[i] - before.min()
        if rise > _FLASH and values[i] - after.min() > 0.7 * rise:
            return i
    return None
