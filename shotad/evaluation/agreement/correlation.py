"""Correlations of two rows of numbers, with percentile intervals over draws of the pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shotad.compute import need
from shotad.config.measures import ReportSettings
from shotad.evaluation.measure.rows import Floats
from shotad.evaluation.report.bootstrap import FEWEST, Span, span

Coefficient = Callable[[Floats, Floats], float]
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


def correlations(
    x: Floats, y: Floats, films: Sequence[str], settings: ReportSettings, seed: int
) -> Correlations:
    """The correlations of ``x`` and ``y``, ``float64[n]`` each, with intervals over draws of the pairs, or of
    whole films (``films`` has each pair's)."""
    if not len(x) == len(y) == len(films):
        raise ValueError(f"pairs must be equal in number, got {len(x)}, {len(y)} and {len(films)}")
    reason = _undefined(x, y)
    if reason:
        nothing = Estimate(None, None)
        return Correlations(len(x), nothing, nothing, nothing, reason)
    picks = _picks(films, settings, seed)
    found = {
        name: Estimate(
            round(coefficient(x, y), 9),
            span(np.array([coefficient(x[pick], y[pick]) for pick in picks], np.float64), settings.level),
        )
        for name, coefficient in COEFFICIENTS.items()
    }
    return Correlations(len(x), found["pearson"], found["spearman"], found["kendall"])


def _undefined(x: Floats, y: Floats) -> str:
    if len(x) < _FEWEST:
        return f"only {len(x)} ADs have both a score by people and one by the metric"
    if np.ptp(x) == 0:
        return "the metric gives all of them the same number"
    return "people give all of them the same score" if np.ptp(y) == 0 else ""


def _picks(
    films: Sequence[str], settings: ReportSettings, seed: int
) -> list[np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """Places of the pairs in each draw; no draws of too few."""
    chance = np.random.default_rng(seed)
    n = len(films)
    if n < FEWEST:
        return []
    if settings.unit == "ad":
        return [np.asarray(chance.integers(0, n, n), np.intp) for _ in range(settings.draws)]
    names = sorted(set(films))
    places = [np.array([k for k, film in enumerate(films) if film == name], np.intp) for name in names]
    if len(names) < FEWEST:
        return []
    return [
        np.concatenate([places[k] for k in chance.integers(0, len(names), len(names))])
        for _ in range(settings.draws)
    ]


def _ranks(values: Floats) -> Floats:
    """Ranks from 1; equal numbers share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], np.float64)
