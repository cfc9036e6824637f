"""The report as Markdown, for docs/benchmarks.md and for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from table_parts.figures import (
    FLAT,
    LINEAR,
    Spread,
    counted,
    disagreements,
    grown,
    met,
    ratio,
    shown,
)
from table_parts.kinds import Clock, Contest, Entrant, Growth, Report

_DASH = "–"
_ROLE = {"rival": "", "limit": " (limit)"}
_UNITS = ("images", "ADs", "pairs")
Row = tuple[str, ...]


def markdown(report: Report) -> str:
    """What the page shows: a table for each part and one of growth, the machine and what is meant, and what
    is missing."""
    parts = [about(report), *map(pipes, (*ratios(report), growths(report))), *_notes(report)]
    return "\n\n".join(part for part in parts if part)


def about(report: Report) -> str:
    """Where and when, and how to read the figures."""
    load = [report.machine.get(name) for name in ("load_before", "load_after")]
    busy = "" if None in load else f", load {load[0]} before and {load[1]} after"
    versions = ", ".join(
        f"{name} {number}" for name, number in report.versions.items() if number != "not installed"
    )
    return (
        f"Measured {report.made} on {report.machine['words']}{busy}; {versions}. Each measurement is a "
        "process of its own, all in turns. Time is ours over the other's, by the clock and of the "
        "processors (all threads): below 1 ours is quicker. It is the median of the ratios within a turn, in "
        "brackets the least and the greatest, and of how many turns. Memory is the most at once, ours and "
        f"the other's. A limit is work that cannot be spared.{_busy(report)}"
    )


def _busy(report: Report) -> str:
    """A warning, where others were at work on the machine when the run began."""
    load, cores = report.machine.get("load_before"), report.machine.get("cores")
    if load is None or cores is None or load <= cores / 2:
        return ""
    return " Others were at work on the machine: the wall times say little, the CPU times more."


def ratios(report: Report) -> Iterator[list[Row]]:
    """A table for each part, with a row for each of ours against each other."""
    for part in dict.fromkeys(contest.part for contest in report.contests):
        head = (part, "ours against", "time by the clock", "of the processors", "ours takes", "MB")
        pairs = (
            (contest, ours, other)
            for contest in report.contests
            for ours in contest.entrants
            for other in contest.entrants
            if contest.part == part and ours.role == "ours" and other.role != "ours"
        )
        yield [head, *(_row(*pair) for pair in pairs)]


def _row(contest: Contest, ours: Entrant, other: Entrant) -> Row:
    named = (contest.name, f"{ours.name} against {other.name}{_ROLE[other.role]}")
    wall, cpu = ratio(ours, other, "wall"), ratio(ours, other, "cpu")
    if wall is None or cpu is None:
        return (*named, ours.missing or other.missing or "not measured", *[_DASH] * 3)
    memory = f"{_peak(ours):.0f} / {_peak(other):.0f}"
    told = [
        _spread(found) + _target(contest, ours, other, clock)
        for found, clock in ((wall, "wall"), (cpu, "cpu"))
    ]
    return (*named, *told, _speed(contest, ours), memory)


def _spread(found: Spread) -> str:
    if found.n == 1:
        return f"{shown(found.median)} (1 turn)"
    return f"{shown(found.median)} ({shown(found.least)} to {shown(found.most)}, {found.n} turns)"


def _peak(entrant: Entrant) -> float:
    return Spread.of(run.peak for run in entrant.runs).median


def _speed(contest: Contest, ours: Entrant) -> str:
    """Seconds, and what they are of the film's length, or how many things a second."""
    seconds = Spread.of(run.wall for run in ours.runs).median
    if contest.seconds:
        return f"{shown(seconds)} s, {shown(seconds / contest.seconds)} of the film"
    for unit in _UNITS:
        count = counted(ours, unit)
        if count and seconds:
            return f"{shown(seconds)} s, {shown(count / seconds)} {unit}/s"
    return f"{shown(seconds)} s"


def _target(contest: Contest, ours: Entrant, other: Entrant, clock: Clock) -> str:
    """What the project asked of this ratio, and whether it is so; nothing where nothing was asked."""
    told = [
        f", target {target.most:g} {'met' if met(contest, target) else 'MISSED'}"
        for target in contest.targets
        if (target.ours, target.against, target.clock) == (ours.name, other.name, clock)
    ]
    return "".join(told)


def growths(report: Report) -> list[Row]:
    """A row for each work that was measured at several lengths."""
    head = ("growth", "1 time is", "processor seconds at 1, 2, 4, 8 times", "power of the length (95 %)",
            "so it is", "MB at 1, 2, 4, 8 times")  # fmt: skip
    return [head, *map(_growth_row, report.growths)]


def _growth_row(growth: Growth) -> Row:
    named = (f"{growth.part}: {growth.name}", f"{growth.base:g} {growth.unit}")
    found = grown(growth)
    if found is None:
        why = next((entrant.missing for entrant in growth.entrants if entrant.missing), "not measured")
        return (*named, why, *[_DASH] * 3)
    more = found.peak[-1] - found.peak[0]
    memory = f"{'flat' if found.flat else 'grows'} ({found.memory_grown:+.0%}, {more:+.0f} MB)"
    peaks = ", ".join(f"{value:.0f}" for value in found.peak)
    power, verdict = _DASH, "too few figures"
    if fit := found.fit:
        power, verdict = f"{fit.exponent:.2f} ({fit.low:.2f} to {fit.high:.2f})", fit.verdict
    return (*named, ", ".join(map(shown, found.cpu)), power, verdict, f"{peaks}: {memory}")


def _notes(report: Report) -> Iterator[str]:
    if report.growths:
        yield (
            "Growth: processor seconds are fitted as a fixed part and one that goes with a power of the "
            "length (1: twice the film costs twice as much), with the interval in which that power lies by "
            "95 %. "
            f"Linear or better: its upper end is at most {LINEAR:g}. Memory is flat where the longest needs "
            f"at most {FLAT:.0%} more than the shortest."
        )
    told = [f"- {name}: {reason}." for name, reason in report.left_out]
    told += [f"- {line}." for contest in report.contests for line in disagreements(contest)]
    if told:
        yield "Not measured, or to be known:\n\n" + "\n".join(told)


def missed(report: Report) -> list[str]:
    """Targets that are missed, in words."""
    return [
        f"{one.part}, {one.name}, {goal.ours} against {goal.against}: {goal.clock} above {goal.most:g}"
        for one in report.contests
        for goal in one.targets
        if met(one, goal) is False
    ]


def pipes(rows: Sequence[Row]) -> str:
    """A table of a head and rows, all of the same number of cells; nothing where there are no rows."""
    if len(rows) < 2:
        return ""
    cells = ([cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows)
    head, *lines = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *lines])
