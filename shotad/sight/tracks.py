"""Sightings of one shot, linked into tracks: the same person or thing from frame to frame. Pure logic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from shotad.core import Box

_GAP = 0.9
"""Seconds for which a track may be out of sight."""
_LEAST_LIKENESS = 0.25


class Placed(Protocol):
    """Anything seen at a place and a time."""

    @property
    def box(self) -> Box: ...

    @property
    def seconds(self) -> float: ...


class Carrier(Protocol):
    """Where the background of one frame is in the next."""

    @property
    def scale(self) -> float: ...

    def carry(self, x: float, y: float) -> tuple[float, float]: ...


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


def link(frames: Sequence[Sequence[T]], shifts: Sequence[Carrier | None]) -> tuple[Track[T], ...]:
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


def way_of(track: Track[T], shifts: Sequence[Carrier | None], aspect: float) -> Way:
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


def _carried(box: Box, shifts: Sequence[Carrier | None]) -> _BoxPlace:
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
