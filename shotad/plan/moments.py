"""Which frames of a shot its film grammar is read from: the first, the middle and the last."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shotad.plan.sampling import LAG, TOLERANCE
from shotad.types import Interval, Seconds

POSITIONS = 32
"""Places at which the published code looks at a shot: ``start + k / 32`` of its length, k from 0."""


@dataclass(frozen=True, slots=True)
class ShotMoments:
    """The seconds at which a shot's first, middle and last frame are asked for, ascending."""

    first: float
    middle: float
    last: float

    def __post_init__(self) -> None:
        if not self.first <= self.middle <= self.last:
            raise ValueError(f"moments of a shot must ascend, got {self}")


def moments_of(shot: Interval, frame_rate: Fraction, *, stamps: Seconds | None = None) -> ShotMoments | None:
    """First, middle and last frame of ``shot``.

    Frames stand ``1 / frame_rate`` apart from the shot's start, and are asked for a quarter of that
    behind their stamps, so that every reader finds them. With ``stamps``, ``float64[n]`` ascending, they
    are the first and last stamp inside the shot and that nearest to its middle; None where none is.

    >>> moments_of(Interval(1.0, 3.0), Fraction(4), stamps=np.arange(0, 9, 0.5))
    ShotMoments(first=1.0, middle=2.0, last=2.5)
    """
    if stamps is not None:
        low, high = (int(np.searchsorted(stamps, t - TOLERANCE)) for t in (shot.start, shot.end))
        inside = stamps[low:high]
        if not len(inside):
            return None
        nearest = int(np.argmin(np.abs(inside - shot.middle)))
        return ShotMoments(float(inside[0]), float(inside[nearest]), float(inside[-1]))
    frame = float(1 / frame_rate)
    first = min(shot.start + LAG * frame, shot.middle)
    last = max(shot.end - (1 - LAG) * frame, first)
    return ShotMoments(first, min(max(shot.middle, first), last), last)


def published_moments_of(shot: Interval) -> ShotMoments:
    """The same as the published code has it: positions 0, 15 and 31 of 32, the end left out."""
    first, middle, last = (shot.start + k * shot.duration / POSITIONS for k in (0, 15, POSITIONS - 1))
    return ShotMoments(first, middle, last)
