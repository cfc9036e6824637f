"""Which line of one human AD is of the same moment as which line of another: by overlap in time.

tIoU is the time that both lines share over the time that either takes (AutoAD-III; Shot-by-Shot, table A5).
Of all pairs with at least the wanted tIoU, those are taken that share the most in total, each line at most
once. Above 0.5 there is no choice, as long as the lines of each version do not overlap among themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shotad.core.compute import need
from shotad.core.types import Interval
from shotad.evaluation.agreement.versions import Spoken, Version


@dataclass(frozen=True, slots=True)
class Pair:
    """Two lines of the same moment, one of each version."""

    a: Spoken
    b: Spoken
    tiou: float


def tiou(a: Interval, b: Interval) -> float:
    """Shared time over the time that either takes, 0 to 1.

    >>> tiou(Interval(0, 4), Interval(2, 6)) == 2 / 6
    True
    """
    shared = a.clip(b)
    if shared is None:
        return 0.0
    return shared.duration / (a.duration + b.duration - shared.duration)


def pairs(a: Version, b: Version, threshold: float) -> tuple[Pair, ...]:
    """The pairs of at least this tIoU, film by film, in the order of A. Raises ShotadError without scipy."""
    others = b.films()
    found = [
        pair for film, lines in a.films().items() for pair in _of_film(lines, others.get(film, []), threshold)
    ]
    place = {line.id: k for k, line in enumerate(a.lines)}
    return tuple(sorted(found, key=lambda pair: place[pair.a.id]))


def _of_film(a: Sequence[Spoken], b: Sequence[Spoken], threshold: float) -> list[Pair]:
    if not a or not b:
        return []
    optimize = need("scipy.optimize", "Matching two human ADs", "evaluate")
    overlaps = np.array([[tiou(one.interval, two.interval) for two in b] for one in a], np.float64)
    wanted = np.where((overlaps >= threshold) & (overlaps > 0), overlaps, 0.0)
    rows, columns = optimize.linear_sum_assignment(wanted, maximize=True)
    return [
        Pair(a[i], b[j], float(overlaps[i, j]))
        for i, j in zip(rows, columns, strict=True)
        if wanted[i, j] > 0
    ]
