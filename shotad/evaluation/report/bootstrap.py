"""Percentile intervals by drawing rows anew, or whole films (Efron and Tibshirani, 1993).

Figures are functions of sums, so a draw is a number for each unit, how often it was drawn, and all draws of
all metrics are one product of matrices. All metrics see the same draws, and so do two systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shotad.evaluation.measure.rows import Floats, Result

_CELLS = 1 << 22
"""Counts that are held at once, 32 MiB of them."""

FEWEST = 5
"""Units, and items that a metric speaks of, below which draws say nothing: of three there are ten."""

_DIGITS = 9
"""Decimals of what is reported: the last bits of a sum differ between machines."""


@dataclass(frozen=True, slots=True)
class Span:
    """An interval, both ends included: the middle ``level`` of what the draws gave."""

    low: float
    high: float
    level: float

    def record(self) -> dict[str, float]:
        """As JSON."""
        return {"low": self.low, "high": self.high, "level": self.level}


@dataclass(frozen=True, slots=True)
class Units:
    """What is drawn. ``of`` is the unit of each row that there is, by the row's id, from 0 to ``n`` - 1."""

    of: Mapping[str, int]
    n: int

    def totals(self, result: Result) -> Floats:
        """``float64[n, columns]``: each unit's sums. Rows of an id that is no unit's are left out."""
        rows = [row for row in result.rows if row.id in self.of]
        found = np.zeros((self.n, len(result.columns)))
        if rows:
            places = np.array([self.of[row.id] for row in rows], np.intp)
            np.add.at(found, places, np.array([row.sums for row in rows], np.float64))
        return found


def units_of(films: Mapping[str, str], unit: str) -> Units:
    """Units of the rows with these ids (id → film): each row by itself (``ad``), or all rows of a film.

    >>> units_of({"1": "Up", "2": "Up", "3": "Coco"}, "film").n
    2
    """
    names = sorted({film if unit == "film" else name for name, film in films.items()})
    places = {name: place for place, name in enumerate(names)}
    return Units({name: places[film if unit == "film" else name] for name, film in films.items()}, len(names))


def drawn(totals: Floats, draws: int, seed: int) -> Floats:
    """Sums of ``draws`` draws of n units out of n, with replacement: ``[n, columns] → [draws, columns]``."""
    n = len(totals)
    chance = np.random.default_rng(seed)
    step = max(1, _CELLS // max(n, 1))
    parts = []
    for first in range(0, draws, step):
        size = min(step, draws - first)
        picked = chance.integers(0, n, size=(size, n))
        counts = np.bincount((picked + n * np.arange(size)[:, None]).ravel(), minlength=size * n)
        parts.append(counts.reshape(size, n).astype(np.float64) @ totals)
    return np.concatenate(parts) if parts else np.zeros((0, totals.shape[1]))


def figures(results: Sequence[Result], units: Units, draws: int, seed: int) -> list[Floats]:
    """The figure of each result in each draw, ``float64[draws]``: the same draws for all of them.

    Nothing is drawn of fewer than `FEWEST` units.
    """
    if units.n < FEWEST or not results:
        return [np.zeros(0) for _ in results]
    widths = [len(result.columns) for result in results]
    sums = drawn(np.concatenate([units.totals(result) for result in results], axis=1), draws, seed)
    parts = np.split(sums, np.cumsum(widths)[:-1], axis=1)
    return [result.figure.of(part) for result, part in zip(results, parts, strict=True)]


def span(values: Floats, level: float) -> Span | None:
    """The middle ``level`` of the values; None where hardly any are defined (a metric of few items)."""
    defined = values[np.isfinite(values)]
    if not len(values) or len(defined) < 0.9 * len(values):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Span(round(float(low), _DIGITS), round(float(high), _DIGITS), level)


def span_of(result: Result, values: Floats, level: float) -> Span | None:
    """The interval of a result from its figures in all draws; None where it speaks of too few items."""
    return span(values, level) if result.scored >= FEWEST else None


def spans(
    results: Sequence[Result], films: Mapping[str, str], *, draws: int, unit: str, level: float, seed: int
) -> dict[str, Span | None]:
    """The interval of each result's value, by its name. ``films`` is the film of each row's id."""
    scored = {row.id: films[row.id] for result in results for row in result.rows}
    values = figures(results, units_of(scored, unit), draws, seed)
    return {r.name: span_of(r, drawn, level) for r, drawn in zip(results, values, strict=True)}
