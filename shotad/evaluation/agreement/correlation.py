"""Correlations of two rows of numbers, with intervals over films."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.core.compute import need
from shotad.core.config.measures import ReportSettings
from shotad.evaluation.measure.rows import Floats
from shotad.evaluation.report.intervals import FEWEST, Span, Units, spread, units_of

Coefficient = Callable[[Floats, Floats], float]
_ALL_BUT_1 = 1.0 - 1e-12
"""What 1 counts as on Fisher's scale, on which it has no place."""
_FEWEST = 3
"""Pairs that a correlation is told of; of two it is always 1 or -1."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient and its interval; None where it is not defined."""

    value: float | None
    interval: Span | None

    def record(self) -> dict[str, object]:
        """As JSON."""
        return {"value": self.value, "interval": self.interval.record() if self.interval else None}


@dataclass(frozen=True, slots=True)
class Correlations:
    """All three over ``n`` pairs. ``reason`` says why they are not defined, where they are not."""

    n: int
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    reason: str = ""


def pearson(x: Floats, y: Floats) -> float:
    """The product-moment correlation; nan where one row is constant."""
    a, b = x - x.mean(), y - y.mean()
    norm = float(np.sqrt((a @ a) * (b @ b)))
    constant = np.ptp(x) == 0 or np.ptp(y) == 0
    return float("nan") if constant or norm == 0 else float(np.clip((a @ b) / norm, -1, 1))


def spearman(x: Floats, y: Floats) -> float:
    """Pearson of the ranks; those of equal numbers are averaged."""
    return pearson(_ranks(x), _ranks(y))


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b, which takes ties into account; nan where one row is constant."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    stats = need("scipy.stats", "Kendall's tau", "evaluate")
    return float(stats.kendalltau(x, y, variant="b").statistic)


COEFFICIENTS: dict[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def correlations(x: Floats, y: Floats, films: Sequence[str], settings: ReportSettings) -> Correlations:
    """The correlations of ``x`` and ``y``, ``float64[n]`` each, with intervals over films (``films`` has each
    pair's), or over the pairs of one film."""
    if not len(x) == len(y) == len(films):
        raise ValueError(f"pairs must be equal in number, got {len(x)}, {len(y)} and {len(films)}")
    reason = _undefined(x, y)
    if reason:
        nothing = Estimate(None, None)
        return Correlations(len(x), nothing, nothing, nothing, reason)
    units = units_of({f"{k:09d}": film for k, film in enumerate(films)}, settings.unit)
    owners = np.array([units.of[f"{k:09d}"] for k in range(len(films))], np.intp)
    found = {
        name: _estimate(coefficient, x, y, units, owners, settings.level)
        for name, coefficient in COEFFICIENTS.items()
    }
    return Correlations(len(x), found["pearson"], found["spearman"], found["kendall"])


def _estimate(
    coefficient: Coefficient, x: Floats, y: Floats, units: Units, owners: npt.NDArray[np.intp], level: float
) -> Estimate:
    """The coefficient with its interval, which is found on Fisher's scale: it ends at 1 and -1."""
    value = coefficient(x, y)
    if len(x) < FEWEST:
        return Estimate(round(value, 9), None)
    others = [coefficient(x[owners != k], y[owners != k]) for k in range(units.n)]
    whole, *without = np.arctanh(np.clip([value, *others], -_ALL_BUT_1, _ALL_BUT_1))
    found = spread(float(whole), np.array(without), units.kind)
    return Estimate(round(value, 9), None if found is None else found.span(float(whole), level, np.tanh))


def _undefined(x: Floats, y: Floats) -> str:
    if len(x) < _FEWEST:
        return f"only {len(x)} ADs have both a score by people and one by the metric"
    if np.ptp(x) == 0:
        return "the metric gives all of them the same number"
    return "people give all of them the same score" if np.ptp(y) == 0 else ""


def _ranks(values: Floats) -> Floats:
    """Ranks from 1; equal numbers share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], np.float64)
