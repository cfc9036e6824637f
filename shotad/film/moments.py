"""Which frames of a shot its film grammar is read from: first, middle, last, and two between."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from shotad.core import Interval, Seconds
from shotad.film.sampling import LAG, TOLERANCE

POSITIONS = 32
"""Places at which the published code looks at a shot: ``start + k / 32`` of its length, k from 0."""


@dataclass(frozen=True, slots=True)
class ShotMoments:
    """The seconds at which frames of a shot are asked for, ascending.

    ``quarter`` and ``three_quarters`` are for readers of scale that want more than the middle frame.
    """

    first: float
    quarter: float
    middle: float
    three_quarters: float
    last: float

    def __post_init__(self) -> None:
        moments = [self.first, self.quarter, self.middle, self.three_quarters, self.last]
        if moments != sorted(moments):
            raise ValueError(f"moments of a shot must ascend, got {self}")


Moment = Literal["first", "quarter", "middle", "three_quarters", "last"]
"""Name of one of them."""

_BETWEEN = (0.25, 0.5, 0.75)


def moments_of(shot: Interval, frame_rate: Fraction, *, stamps: Seconds | None = None) -> ShotMoments | None:
    """The first and the last frame of ``shot``, and those at a quarter, the middle and three quarters.

    Frames stand ``1 / frame_rate`` apart from the shot's start, and are asked for a quarter of that
    behind their stamps, so that every reader finds them. With ``stamps``, ``float64[n]`` ascending, they
    are the first and last stamp inside the shot and those nearest to the places between; None where none is.

    >>> moments_of(Interval(1.0, 3.0), Fraction(4), stamps=np.arange(0, 9, 0.5))
    ShotMoments(first=1.0, quarter=1.5, middle=2.0, three_quarters=2.5, last=2.5)
    """
    between = [shot.start + part * shot.duration for part in _BETWEEN]
    if stamps is not None:
        low, high = (int(np.searchsorted(stamps, t - TOLERANCE)) for t in (shot.start, shot.end))
        inside = stamps[low:high]
        if not len(inside):
            return None
        a, b, c = (float(inside[int(np.argmin(np.abs(inside - second)))]) for second in between)
        return ShotMoments(float(inside[0]), a, b, c, float(inside[-1]))
    frame = float(1 / frame_rate)
    first = min(shot.start + LAG * frame, shot.middle)
    last = max(shot.end - (1 - LAG) * frame, first)
    a, b, c = (min(max(second, first), last) for second in between)
    return ShotMoments(first, a, b, c, last)


def published_moments_of(shot: Interval) -> ShotMoments:
    """The same as the published code has it: positions 0, 15 and 31 of 32, the end left out."""
    a, b, c, d, e = (shot.start + k * shot.duration / POSITIONS for k in (0, 8, 15, 24, POSITIONS - 1))
    return ShotMoments(a, b, c, d, e)
