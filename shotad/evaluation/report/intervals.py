"""Intervals over films.

Student's t with the jackknife's standard error (Efron and Tibshirani, 1993, ch. 11). ADs of one film are
alike, so each film is left out once. By bootstrap they are too narrow of few films (benchmarks/LOG.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from shotad.evaluation.metric import Floats, Result

Unit = Literal["ad", "film"]
"""What is left out: one AD, or a film with all its ADs."""

LEVEL = 0.95
"""Confidence level of every interval that is reported: the one that readers expect."""

MIN_ITEMS = 5
"""Items to which a metric applies; an interval over fewer says nothing."""

_MIN_UNITS: dict[Unit, int] = {"ad": MIN_ITEMS, "film": 2}

_DIGITS = 9
"""Decimals of what is reported: the last bits of a sum differ between machines."""


@dataclass(frozen=True, slots=True)
class Span:
    """An interval, both ends included, at this level of confidence, over so many units of this kind: it
    speaks of further lines of the same films, or of further films."""

    low: float
    high: float
    level: float
    unit: Unit
    units: int


@dataclass(frozen=True, slots=True)
class Units:
    """Rows that are left out together: ``by_id`` is the unit of a row, by its id, from 0 to ``n`` - 1."""

    kind: Unit
    by_id: Mapping[str, int]
    n: int

    def without(self, result: Result) -> Floats:
        """``float64[n]``: the result's value without each of the units."""
        totals = np.zeros((self.n, len(result.columns)))
        rows = [row for row in result.rows if row.id in self.by_id]
        if rows:
            units_of_rows = [self.by_id[row.id] for row in rows]
            np.add.at(totals, units_of_rows, np.array([row.sums for row in rows]))
        return result.figure.of(result.sums - totals)

    def error(self, value: float | None, without: Floats) -> float | None:
        """The jackknife's standard error of ``value``, from the values without each unit, ``float64[n]``.

        None where there are too few units, or the value is not defined without one of them.
        """
        if value is None or self.n < _MIN_UNITS[self.kind] or not np.isfinite(without).all():
            return None
        return float(np.sqrt((self.n - 1) / self.n * ((without - value) ** 2).sum()))

    def span(self, value: float, error: float, scale: Callable[[float], float] = float) -> Span:
        """The interval around ``value``; ``scale`` turns its ends into the numbers that are reported."""
        reach = quantile(LEVEL, self.n - 1) * error
        low, high = (round(float(scale(end)), _DIGITS) for end in (value - reach, value + reach))
        return Span(low, high, LEVEL, self.kind, self.n)

    def chance(self, value: float, error: float) -> float:
        """Two-sided p: how often a number is as far from 0 as ``value`` by chance, if the true one is 0."""
        if value == 0 or error == 0:
            return float(value == 0)
        return 1.0 - within(abs(value) / error, self.n - 1)


def units_of(films: Mapping[str, str], unit: Unit) -> Units:
    """Units of the rows with these ids (id → film): films, where there are several and ``unit`` says so, else
    each row by itself.

    >>> units_of({"1": "Up", "2": "Up", "3": "Coco"}, "film").n
    2
    """
    kind: Unit = "film" if unit == "film" and len(set(films.values())) > 1 else "ad"
    unit_names = films if kind == "film" else {item_id: item_id for item_id in films}
    numbers = {name: number for number, name in enumerate(sorted(set(unit_names.values())))}
    return Units(kind, {item_id: numbers[name] for item_id, name in unit_names.items()}, len(numbers))


def films_of_scored(films: Mapping[str, str], results: Iterable[Result]) -> dict[str, str]:
    """``films`` (id → film) of the items to which one of the results applies; other films are no units."""
    return {row.id: films[row.id] for result in results for row in result.rows if row.value is not None}


def span_of(result: Result, films: Mapping[str, str], *, unit: Unit) -> Span | None:
    """The interval of a result; None where it applies to too few items. ``films`` is id → film."""
    if result.value is None or result.scored < MIN_ITEMS:
        return None
    units = units_of(films_of_scored(films, [result]), unit)
    error = units.error(result.value, units.without(result))
    return None if error is None else units.span(result.value, error)


def within(t: float, df: int) -> float:
    """The share of Student's t with ``df`` degrees of freedom between ``-t`` and ``t``: the finite sums of
    Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = np.arctan2(t, np.sqrt(df))
    odd, k = df % 2, np.arange(1, df // 2)
    factors = (2 * k / (2 * k + 1) if odd else (2 * k - 1) / (2 * k)) * np.cos(angle) ** 2
    series = 1.0 + np.cumprod(factors).sum()
    if not odd:
        return float(np.sin(angle) * series)
    return float(2 / np.pi * (angle + (np.sin(angle) * np.cos(angle) * series if df > 1 else 0.0)))


@lru_cache(maxsize=256)
def quantile(level: float, df: int) -> float:
    """The ``t`` with ``within(t, df) == level``: 12.706 for 0.95 and 1, 1.96 for many."""
    low, high = 0.0, 1.0
    while within(high, df) < level and high < 1e9:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, df) < level else (low, middle)
    return high


def basis_words(intervals: Collection[Span | None], unit: Unit) -> str:
    """What intervals are over, and what they do not say; empty where there are none."""
    spans = [span for span in intervals if span is not None]
    if not spans:
        return ""
    film_counts = sorted({span.units for span in spans if span.unit == "film"})
    level = f"{100 * spans[0].level:.1f}".removesuffix(".0") + " %"
    method = f"Intervals ({level}) are Student's t with the jackknife's standard error"
    if film_counts:
        fewest, most = film_counts[0], film_counts[-1]
        films = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        warning = " Of so few films they are wide, and rough." if fewest < 5 else ""
        return f"{method} over {films} films, each left out once with all its ADs.{warning}"
    if unit == "ad":
        return (
            f"{method} over single ADs, as asked; ADs of a film are alike, so other films may lie well "
            "outside."
        )
    return (
        f"{method} over the ADs of one film: they cover lines of this film only, and say nothing of other "
        "films."
    )
