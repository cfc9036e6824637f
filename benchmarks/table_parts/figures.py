"""What is made of the runs: ratios within a turn, medians with their spread, how cost grows with length."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls
from scipy.special import fdtri

from table_parts.kinds import LENGTHS, Clock, Contest, Entrant, Growth, Target

LINEAR = 1.1
"""Exponents up to this count as linear: the measured ones are not exact to the last part of ten."""
FLAT = 0.15
"""Share by which memory at the greatest length may exceed that at the shortest."""
_EXPONENTS = np.round(np.arange(0.3, 2.51, 0.01), 2)


@dataclass(frozen=True)
class Spread:
    """A median, with the least and the greatest of ``n`` values."""

    median: float
    least: float
    most: float
    n: int

    @staticmethod
    def of(values: Iterable[float]) -> Spread:
        some = list(values)
        return Spread(statistics.median(some), min(some), max(some), len(some))


def ratio(ours: Entrant, other: Entrant, clock: Clock) -> Spread | None:
    """Ours against the other, turn by turn: what disturbed the machine in a turn disturbed both.

    None where there is no turn in which both ran, or where the other took no time that can be measured.
    """
    theirs = {run.turn: run for run in other.runs}
    pairs = [(run, theirs[run.turn]) for run in ours.runs if run.turn in theirs]
    times = [(getattr(mine, clock), getattr(its, clock)) for mine, its in pairs]
    values = [mine / its for mine, its in times if its > 0]
    return Spread.of(values) if values else None


def met(contest: Contest, target: Target) -> bool | None:
    """Whether the median ratio keeps to the target; None where it was not measured."""
    named = {entrant.name: entrant for entrant in contest.entrants}
    found = ratio(named[target.ours], named[target.against], target.clock)
    return None if found is None else found.median <= target.most


NEAR = 1e-4
"""Share by which measures may differ: of CMD-AD's lines the COCO tools read two otherwise in one file with
the others than by themselves, which moves CIDEr by 8e-5."""


def disagreements(contest: Contest) -> list[str]:
    """Counts in which not all entrants agree, in words; none where all did the same."""
    found = []
    for count in contest.same:
        told: dict[str, set[float]] = {
            entrant.name: {run.counts[count] for run in entrant.runs if count in run.counts}
            for entrant in contest.entrants
        }
        told = {name: values for name, values in told.items() if values}
        if not _alike(set().union(*told.values())):
            said = "; ".join(f"{name}: {_plain(values)}" for name, values in told.items())
            found.append(f"{contest.part}, {contest.name}: {count} differ ({said})")
    return found


def _alike(values: set[float]) -> bool:
    """Whole numbers are counts, and must be equal; others are measures, and must be near."""
    least, most = min(values, default=0), max(values, default=0)
    return least == most or (
        not any(float(value).is_integer() for value in values) and math.isclose(least, most, rel_tol=NEAR)
    )


def _plain(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(values))


@dataclass(frozen=True)
class Fit:
    """Cost as ``fixed + each * times ** exponent``; the exponent lies in ``low`` to ``high`` by 95 %."""

    exponent: float
    low: float
    high: float
    fixed: float

    @property
    def verdict(self) -> str:
        """``linear or better``, ``grows faster``, or that the figures cannot tell."""
        if self.high <= LINEAR:
            return "linear or better"
        if self.low > 1.0 and self.exponent > LINEAR:
            return "grows faster"
        return "not to be told apart from linear" if self.low <= 1.0 else "hardly faster than linear"


def fit(times: Sequence[float], seconds: Sequence[float]) -> Fit:
    """How cost grows, with a fixed part that does not: without it growth would look slower than it is.

    For each exponent the two other numbers are found by least squares of the relative errors, neither of
    them negative; the exponents that are as good by Fisher's test are the interval. Raises ValueError for
    fewer than four costs, for fewer than three lengths, and for costs that are not positive.
    """
    x, y = np.asarray(times, np.float64), np.asarray(seconds, np.float64)
    if len(y) < 4 or len(set(x.tolist())) < 3 or len(x) != len(y) or not (y > 0).all():
        raise ValueError(f"at least four costs at three lengths are needed, got {list(seconds)}")
    found = [nnls(np.stack([1 / y, x**power / y], axis=1), np.ones(len(y))) for power in _EXPONENTS]
    errors = np.array([missed**2 for _, missed in found])
    best = int(errors.argmin())
    # A tenth of a per cent, as no clock is exact to less.
    least = max(float(errors[best]), len(y) * 1e-6)
    freedom = len(y) - 3
    within = errors <= least * (1 + float(fdtri(1, freedom, 0.95)) / freedom)
    good = _EXPONENTS[within]
    return Fit(float(_EXPONENTS[best]), float(good.min()), float(good.max()), float(found[best][0][0]))


@dataclass(frozen=True)
class Grown:
    """How one work grows: medians by length, the fit of its CPU time, and its memory."""

    cpu: tuple[float, ...]
    peak: tuple[float, ...]
    fit: Fit | None

    @property
    def memory_grown(self) -> float:
        """Memory at the greatest length beyond that at the shortest, as a share of the latter."""
        return self.peak[-1] / self.peak[0] - 1

    @property
    def flat(self) -> bool:
        return self.memory_grown <= FLAT


def grown(growth: Growth) -> Grown | None:
    """What is made of a growth's runs; None where a length has none."""
    if not all(entrant.runs for entrant in growth.entrants):
        return None
    pairs = list(zip(LENGTHS, growth.entrants, strict=True))
    x = [float(times) for times, entrant in pairs for _ in entrant.runs]
    y = [run.cpu for _, entrant in pairs for run in entrant.runs]
    found = fit(x, y) if len(y) >= 4 and min(y) > 0 and len(set(x)) >= 3 else None
    return Grown(
        tuple(Spread.of(run.cpu for run in entrant.runs).median for entrant in growth.entrants),
        tuple(Spread.of(run.peak for run in entrant.runs).median for entrant in growth.entrants),
        found,
    )


def shown(value: float) -> str:
    """A ratio or a number of seconds with three digits that count: 0.0123, 0.12, 1.23, 12.3, 123."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 4)}f}"


def counted(entrant: Entrant, count: str) -> float | None:
    """The median of something that the runs of an entrant counted."""
    values = [run.counts[count] for run in entrant.runs if count in run.counts]
    return statistics.median(values) if values else None
