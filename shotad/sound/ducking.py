"""How the programme is lowered under the lines: a curve of decibels over film time, from times alone.

The rules, the stronger first:

1. Never under speech: outside the gaps between utterances the curve stands at 0 dB.
2. Nothing clicks: no ramp is shorter than `LEAST`.
3. Under a line the curve is at the line's depth from its first sound to its last. Where a gap leaves no room
for
   the full ramp beside the line, the ramp gets steeper, down to `LEAST`; then it reaches into the line;
   where the gap is too short even for two such ramps, the depth gets smaller.
4. Between lines nearer than the hold it stays at the lesser of their depths.

Every line, and every such bridge between two, is a trapezoid; the curve is the lowest of them everywhere. So
it is continuous, and nowhere steeper than the steepest trapezoid.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.core import GainPoint, Interval, Seconds

LEAST = 0.05
"""Seconds of the shortest ramp. Ten times the 5 ms from which on a fade is not heard as a click, so that even
20 dB in it have none; half a short syllable, so that it passes unnoticed beside speech."""

WORTH = 1.0
"""dB: where a gap has no room for more than this the programme is left alone; such a dip helps nobody."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """How the programme goes down and comes back, in seconds: as a mixer's hand does, before the line begins
    and after it ends, and not up and down again between two lines."""

    fade_out: float = 0.3
    """In which it is lowered, before the line begins."""
    fade_in: float = 0.4
    """In which it comes back, after the line's end."""
    hold: float = 1.5
    """Between lines nearer than this it stays low, where nobody speaks in between."""


SLOPES = Slopes()


@dataclass(frozen=True, slots=True)
class _Trapezoid:
    """Falls from ``begin`` to ``low``, stays at ``-depth`` dB to ``rise``, is back at ``end``."""

    begin: float
    low: float
    rise: float
    end: float
    depth: float

    def at(self, seconds: Seconds) -> Seconds:
        bends = (self.begin, self.low, self.rise, self.end)
        return np.interp(seconds, bends, (0.0, -self.depth, -self.depth, 0.0))


def envelope(
    spoken: Sequence[Interval], speech: Sequence[Interval], depths: Sequence[float], slopes: Slopes = SLOPES
) -> tuple[GainPoint, ...]:
    """The programme's level under the lines ``spoken``, ascending by second; empty where it is never lowered.

    ``depths`` are dB, 0 or more, one for each line. ``speech`` is whatever must not be lowered, in any
    order. The first point is at second 0 or later; first and last point are at 0 dB, save where a line
    begins with the film. Raises ValueError where depths and lines differ in number.
    """
    gaps = _Gaps(speech)
    shapes = sorted(_shapes(spoken, gaps, depths, slopes), key=lambda shape: shape.begin)
    return _from_zero([point for group in _touching(shapes) for point in _lowest(group)])


def gain_at(points: Sequence[GainPoint], seconds: Seconds) -> npt.NDArray[np.float32]:
    """``float32[n]``: the factor of the programme's amplitude at each of ``float64[n]`` film seconds; 1 at 0
    dB."""
    if not points:
        return np.ones(len(seconds), np.float32)
    decibels = np.interp(seconds, [p.seconds for p in points], [p.decibels for p in points])
    return np.asarray(10 ** (decibels / 20), np.float32)


def _shapes(
    spoken: Sequence[Interval], gaps: _Gaps, depths: Sequence[float], slopes: Slopes
) -> Iterator[_Trapezoid]:
    lines = sorted(zip(spoken, depths, strict=True), key=lambda pair: pair[0])
    for line, depth in lines:
        yield from _within(gaps, line, depth, slopes.fade_out, slopes.fade_in)
    for (before, deep), (after, deeper) in itertools.pairwise(lines):
        if 0 < after.start - before.end < slopes.hold and gaps.hold(before.end, after.start):
            between = Interval(before.end, after.start)
            yield from _within(gaps, between, min(deep, deeper), LEAST, LEAST)


def _within(
    gaps: _Gaps, line: Interval, depth: float, fade_out: float, fade_in: float
) -> Iterator[_Trapezoid]:
    """The trapezoids of one line: one for each gap between utterances that it lies in."""
    for gap_start, gap_end in gaps.around(line):
        begin = max(gap_start, line.start - max(fade_out, LEAST))
        end = min(gap_end, line.end + max(fade_in, LEAST))
        room = end - begin
        if room <= 2 * LEAST:
            middle, share = (begin + end) / 2, room / (2 * LEAST)
            shape = _Trapezoid(begin, middle, middle, end, depth * share)
        else:
            low = max(line.start, begin + LEAST)
            rise = min(max(line.end, low), end - LEAST)
            shape = _Trapezoid(begin, min(low, rise), rise, end, depth)
        if shape.depth >= min(WORTH, depth) and shape.depth > 0:
            yield shape


class _Gaps:
    """Where nobody speaks: the time between utterances that share no time."""

    def __init__(self, speech: Sequence[Interval]) -> None:
        ends: list[float] = []
        starts: list[float] = []
        for utterance in sorted(speech):
            if ends and utterance.start <= ends[-1]:
                ends[-1] = max(ends[-1], utterance.end)
            else:
                starts.append(utterance.start)
                ends.append(utterance.end)
        self._begins, self._ends = [-math.inf, *ends], [*starts, math.inf]

    def around(self, line: Interval) -> Iterator[tuple[float, float]]:
        """Begin and end of the gaps that share time with a line."""
        at = max(0, bisect.bisect_right(self._begins, line.start) - 1)
        while at < len(self._begins) and self._begins[at] < line.end:
            if self._ends[at] > line.start and self._ends[at] > self._begins[at]:
                yield self._begins[at], self._ends[at]
            at += 1

    def hold(self, start: float, end: float) -> bool:
        """True where one gap holds all of ``[start, end]``."""
        at = bisect.bisect_right(self._begins, start) - 1
        return end <= self._ends[at]


def _touching(shapes: Sequence[_Trapezoid]) -> Iterator[list[_Trapezoid]]:
    """Shapes, ascending by their begin, in groups between which the curve is at 0 dB."""
    group: list[_Trapezoid] = []
    end = -math.inf
    for shape in shapes:
        if group and shape.begin >= end:
            yield group
            group = []
        group.append(shape)
        end = max(end, shape.end) if len(group) > 1 else shape.end
    if group:
        yield group


def _lowest(group: Sequence[_Trapezoid]) -> list[GainPoint]:
    """The bends of the lowest of all shapes: at their own bends and where two of them cross."""
    bends = np.unique([second for s in group for second in (s.begin, s.low, s.rise, s.end)])
    crossings = [crossing for one, other in _overlapping(group) for crossing in _crossings(one, other, bends)]
    seconds = np.unique([*bends, *crossings])
    decibels = np.min([shape.at(seconds) for shape in group], axis=0)
    points = [GainPoint(float(s), float(d) + 0.0) for s, d in zip(seconds, decibels, strict=True)]
    return _without_straight(points)


def _overlapping(group: Sequence[_Trapezoid]) -> Iterator[tuple[_Trapezoid, _Trapezoid]]:
    """Pairs that share time, of shapes that ascend by their begin."""
    for number, one in enumerate(group):
        for other in itertools.islice(group, number + 1, None):
            if other.begin >= one.end:
                break
            yield one, other


def _crossings(one: _Trapezoid, other: _Trapezoid, bends: Seconds) -> Iterator[float]:
    near = bends[np.searchsorted(bends, other.begin) : np.searchsorted(bends, one.end, "right")]
    apart = one.at(near) - other.at(near)
    for k in np.flatnonzero(apart[:-1] * apart[1:] < 0):
        share = apart[k] / (apart[k] - apart[k + 1])
        yield float(near[k] + share * (near[k + 1] - near[k]))


def _without_straight(points: list[GainPoint]) -> list[GainPoint]:
    """The same curve without the points at which it does not bend."""
    kept: list[GainPoint] = []
    for number, point in enumerate(points):
        after = points[number + 1] if number + 1 < len(points) else None
        if kept and after is not None:
            share = (point.seconds - kept[-1].seconds) / (after.seconds - kept[-1].seconds)
            straight = kept[-1].decibels + share * (after.decibels - kept[-1].decibels)
            if abs(straight - point.decibels) < 1e-9:
                continue
        kept.append(point)
    return kept


def _from_zero(points: list[GainPoint]) -> tuple[GainPoint, ...]:
    """The curve from second 0 on: a ramp that would begin before is entered where it then stands."""
    later = [point for point in points if point.seconds >= 0]
    if later and len(later) < len(points):
        before, after = points[len(points) - len(later) - 1], later[0]
        share = -before.seconds / (after.seconds - before.seconds)
        level = before.decibels + share * (after.decibels - before.decibels)
        if after.seconds > 0:
            later.insert(0, GainPoint(0.0, level))
    return tuple(later)
