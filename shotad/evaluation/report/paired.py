"""Is B better than A? Both on the same draws of the ADs that they have in common (Koehn, EMNLP 2004)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shotad.evaluation.measure.rows import Result, only
from shotad.evaluation.report.bootstrap import Span, Units, figures, span, units_of


@dataclass(frozen=True, slots=True)
class Paired:
    """Two results of one metric on ``n`` common ADs.

    ``difference`` is B's number less A's. ``not_better`` is the part of the draws in which B is not better
    than A: the one-sided p of "B is better". ``p`` is two-sided: twice the smaller of the two parts. Both
    are None where nothing was drawn.
    """

    a: float | None
    b: float | None
    n: int
    interval: Span | None
    not_better: float | None
    p: float | None
    draws: int

    @property
    def difference(self) -> float | None:
        """None where one of the numbers is not defined."""
        return None if self.a is None or self.b is None else self.b - self.a


def paired(
    a: Result, b: Result, films: Mapping[str, str], *, draws: int, unit: str, level: float, seed: int
) -> Paired:
    """A and B on the ADs that both have rows of. ``films`` is the film of each of these ids."""
    theirs = {row.id for row in b.rows}
    common = [row.id for row in a.rows if row.id in theirs]
    a, b = only(a, common), only(b, common)
    units = units_of({name: films[name] for name in common}, unit)
    in_a, in_b = _drawn(a, units, draws, seed), _drawn(b, units, draws, seed)
    gained = in_b - in_a
    gained = gained[np.isfinite(gained)]
    better = gained if a.higher_is_better else -gained
    beaten, ahead = _part(better <= 0), _part(better >= 0)
    p = None if beaten is None or ahead is None else min(1.0, 2 * min(beaten, ahead))
    return Paired(a.value, b.value, len(common), span(in_b - in_a, level), beaten, p, len(gained))


def _drawn(
    result: Result, units: Units, draws: int, seed: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return figures([result], units, draws, seed)[0]


def _part(truths: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float | None:
    return float(truths.mean()) if len(truths) else None
