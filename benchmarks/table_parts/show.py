"""The report as Markdown, for docs/benchmarks.md and for a terminal: ratios within a turn, medians with their
spread, how cost grows with length."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import get_args

import numpy as np
from scipy.optimize import nnls
from scipy.special import fdtri
from table_parts.contests import LENGTHS, Clock, Contest, Entrant, Report

LINEAR = 1.1
"""Exponents up to this count as linear: the measured ones are not exact to the last part of ten."""
FLAT = 0.15
"""Share by which memory at the greatest length may exceed that at the shortest."""
NEAR = 1e-4
"""Share by which measures may differ: of CMD-AD's lines the COCO tools read two otherwise in one file with
the others than by themselves, which moves CIDEr by 8e-5."""
_EXPONENTS = np.round(np.arange(0.3, 2.51, 0.01), 2)
_DASH = "–"
Row = tuple[str, ...]


def markdown(report: Report) -> str:
    """What the page shows: the machine and what is meant, a table for each part and one of growth, and what
    is missing."""
    machine = report.machine
    versions = ", ".join(f"{name} {one}" for name, one in report.versions.items() if one != "not installed")
    about = (
        f"Measured {report.made} on {machine['words']}, load {machine['load_before']} before and "
        f"{machine['load_after']} after; {versions}. {_ABOUT}"
    )
    if machine["load_before"] > machine["cores"] / 2:
        about += " Other programs were running: CPU times are more reliable here than wall times."
    growths = [contest for contest in report.contests if contest.unit]
    tables = map(_pipes, (*_ratios(report), [_GROWTH, *map(_growth_row, growths)]))
    told = [f"- {name}: {reason}." for name, reason in report.left_out]
    told += [f"- {line}." for contest in report.contests for line in disagreements(contest)]
    missing = ["Not measured, and other notes:", "\n".join(told)] if told else []
    parts = [about, *tables, *([_ON_GROWTH] if growths else []), *missing]
    return "\n\n".join(part for part in parts if part)


_ABOUT = (
    "Ratios are our time divided by the other's; below 1 ours is faster. Each is the median over turns, with "
    "the lowest and highest. In each turn every program runs once, in a process of its own. CPU time is that "
    "of all threads. Memory is the peak. A limit is work that cannot be avoided."
)


# Ours against others


def _ratios(report: Report) -> Iterator[list[Row]]:
    """A table for each part, with a row for each of ours against each other."""
    contests = [contest for contest in report.contests if not contest.unit]
    for part in dict.fromkeys(contest.part for contest in contests):
        rows = [(part, "ours against", "wall time ratio", "CPU time ratio", "our time", "MB, ours / other")]
        for contest in contests:
            pairs = product(contest.entrants, contest.entrants) if contest.part == part else ()
            rows += [
                _row(contest, *pair) for pair in pairs if [p.role == "ours" for p in pair] == [True, False]
            ]
        yield rows


def _row(contest: Contest, ours: Entrant, other: Entrant) -> Row:
    limit = " (limit)" if other.role == "limit" else ""
    named = (contest.name, f"{ours.name} against {other.name}{limit}")
    told = [_told(contest, ours, other, clock) for clock in get_args(Clock)]
    if not all(told):
        return (*named, ours.missing or other.missing or "not measured", *[_DASH] * 3)
    seconds = statistics.median(run.wall for run in ours.runs)
    speed = f"{shown(seconds)} s"
    if contest.seconds:
        speed += f", {shown(seconds / contest.seconds)} of the film"
    elif count := ours.runs[0].counts.get("ADs"):
        speed += f", {shown(count / seconds)} ADs/s"
    return (*named, *told, speed, f"{_peak(ours):.0f} / {_peak(other):.0f}")


def _told(contest: Contest, ours: Entrant, other: Entrant, clock: Clock) -> str:
    """The ratios by a clock, and whether what the project asked of them is so; empty where there are none."""
    values = ratios(ours, other, clock)
    if not values:
        return ""
    middle = statistics.median(values)
    told = f"{shown(middle)} (1 turn)"
    if len(values) > 1:
        told = f"{shown(middle)} ({shown(min(values))} to {shown(max(values))}, {len(values)} turns)"
    for target in contest.targets:
        if (target.ours, target.against, target.clock) == (ours.name, other.name, clock):
            told += f", target {target.most:g} {'met' if middle <= target.most else 'MISSED'}"
    return told


def ratios(ours: Entrant, other: Entrant, clock: Clock) -> list[float]:
    """Ours against the other, turn by turn: what disturbed the machine in a turn disturbed both.

    Empty where there is no turn in which both ran, or where the other took no time that can be measured.
    """
    theirs = {run.turn: getattr(run, clock) for run in other.runs}
    return [getattr(run, clock) / theirs[run.turn] for run in ours.runs if theirs.get(run.turn, 0) > 0]


def _peak(entrant: Entrant) -> float:
    return statistics.median(run.peak for run in entrant.runs)


def disagreements(contest: Contest) -> list[str]:
    """Counts in which not all entrants agree, in words; none where all did the same."""
    found = []
    for count in contest.same:
        told = {
            one.name: values
            for one in contest.entrants
            if (values := sorted({run.counts[count] for run in one.runs if count in run.counts}))
        }
        if not _alike([value for values in told.values() for value in values]):
            said = (f"{name}: {', '.join(f'{v:g}' for v in values)}" for name, values in told.items())
            found.append(f"{contest.part}, {contest.name}: {count} differ ({'; '.join(said)})")
    return found


def _alike(values: Sequence[float]) -> bool:
    """Whole numbers are counts, and must be equal; others are measures, and must be near."""
    least, most = min(values, default=0), max(values, default=0)
    return least == most or (
        not any(float(value).is_integer() for value in values) and math.isclose(least, most, rel_tol=NEAR)
    )


# Growth with length


_GROWTH = ("growth", "length 1", "CPU seconds at lengths 1, 2, 4, 8", "exponent (95 % interval)", "verdict",
           "MB at lengths 1, 2, 4, 8")  # fmt: skip
_ON_GROWTH = (
    "Growth: CPU seconds are fitted as a fixed part plus a power of the length. With exponent 1, twice the "
    f"length costs twice as much. Linear or better: the interval ends at {LINEAR:g} or below. Memory is flat "
    f"if the longest needs at most {FLAT:.0%} more than the shortest."
)


def _growth_row(growth: Contest) -> Row:
    named = (f"{growth.part}: {growth.name}", f"{growth.base:g} {growth.unit}")
    if not all(entrant.runs for entrant in growth.entrants):
        why = next((entrant.missing for entrant in growth.entrants if entrant.missing), "not measured")
        return (*named, why, *[_DASH] * 3)
    pairs = list(zip(LENGTHS, growth.entrants, strict=True))
    cpu = [(times, run.cpu) for times, entrant in pairs for run in entrant.runs]
    power, verdict = _DASH, "too few figures"
    if len(cpu) >= 4 and min(seconds for _, seconds in cpu) > 0:
        found = fit([times for times, _ in cpu], [seconds for _, seconds in cpu])
        power, verdict = f"{found.exponent:.2f} ({found.low:.2f} to {found.high:.2f})", found.verdict
    middles = ", ".join(shown(statistics.median(run.cpu for run in one.runs)) for one in growth.entrants)
    peaks = [_peak(entrant) for entrant in growth.entrants]
    more = peaks[-1] / peaks[0] - 1
    memory = f"{'flat' if more <= FLAT else 'grows'} ({more:+.0%}, {peaks[-1] - peaks[0]:+.0f} MB)"
    return (*named, middles, power, verdict, f"{', '.join(f'{peak:.0f}' for peak in peaks)}: {memory}")


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
        return "cannot be told from linear" if self.low <= 1.0 else "hardly faster than linear"


def fit(times: Sequence[float], seconds: Sequence[float]) -> Fit:
    """How cost grows, with a fixed part that does not: without it growth would look slower than it is.

    For each exponent the two other numbers are found by least squares of the relative errors, neither of
    them negative; the exponents that are as good by Fisher's test are the interval. It takes four costs or
    more, all positive, at three lengths or more.
    """
    x, y = np.asarray(times, np.float64), np.asarray(seconds, np.float64)
    found = [nnls(np.stack([1 / y, x**power / y], axis=1), np.ones(len(y))) for power in _EXPONENTS]
    errors = np.array([missed**2 for _, missed in found])
    best = int(errors.argmin())
    # A tenth of a per cent, as no clock is exact to less.
    least = max(float(errors[best]), len(y) * 1e-6)
    freedom = len(y) - 3
    within = errors <= least * (1 + float(fdtri(1, freedom, 0.95)) / freedom)
    good = _EXPONENTS[within]
    return Fit(float(_EXPONENTS[best]), float(good.min()), float(good.max()), float(found[best][0][0]))


def shown(value: float) -> str:
    """A ratio or a number of seconds with three digits that count: 0.0123, 0.12, 1.23, 12.3, 123."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 4)}f}"


def _pipes(rows: Sequence[Row]) -> str:
    """A table of a head and rows, all of the same number of cells; nothing where there are no rows."""
    if len(rows) < 2:
        return ""
    cells = ([cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows)
    head, *lines = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *lines])
