"""How a metric does on parts of the ADs: short and long ones, close and far shots, film by film."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from shotad.core import ShotScale
from shotad.evaluation.measure.items import Item
from shotad.evaluation.measure.rows import Floats, Result, only
from shotad.evaluation.report.inputs import ReportInput, base_name
from shotad.evaluation.report.intervals import Span, span_of

MAIN = (
    "cider", "critic", "action", "recall", "llm-ad-eval", "llm-action", "rouge-l", "meteor", "spice",
    "bleu-1", "story-recall", "action-description",
)  # fmt: skip
"""Metrics that parts are shown for, the first of them that a report has."""

SHOWN = 6
"""How many metrics are shown by part."""

Label = Callable[[Item], str | None]
"""The part that an AD belongs to; None: to none."""

DURATIONS = ("under 1 s", "1 to 2 s", "2 to 3 s", "3 to 5 s", "5 s or more")
_DURATION_ENDS = (1.0, 2.0, 3.0, 5.0)
SCALES = tuple(scale.value for scale in ShotScale)
_SCALE_ENDS = (0.5, 1.5, 2.5, 3.5)
THREADS = ("no thread", "thread")


@dataclass(frozen=True, slots=True)
class Group:
    """A metric's number on a part of the ADs: on ``n`` that it speaks of."""

    label: str
    n: int
    value: float | None
    interval: Span | None


def main_results(run: ReportInput) -> tuple[Result, ...]:
    """The results that are looked at more closely; the first ones where none is known."""
    rank = {name: place for place, name in enumerate(MAIN)}
    known = [result for result in run.results if base_name(result.name) in rank]
    known.sort(key=lambda result: rank[base_name(result.name)])
    return tuple((known or run.results)[:SHOWN])


def duration_label(item: Item) -> str:
    """How long the human AD is: half-open classes.

    >>> from shotad.core.types import Interval
    >>> duration_label(Item("1", "f", Interval(3.0, 4.0), ("He runs.",)))
    '1 to 2 s'
    """
    return DURATIONS[_place(item.interval.duration, _DURATION_ENDS)]


def scale_label(item: Item) -> str | None:
    """The shot scale nearest to the effective one; from a half on it is the wider."""
    return None if item.scale is None else SCALES[_place(item.scale, _SCALE_ENDS)]


def thread_label(item: Item) -> str | None:
    """Whether its clip has a thread."""
    return None if item.threaded is None else THREADS[item.threaded]


def grouped(
    run: ReportInput, results: Sequence[Result], label: Label, order: Sequence[str] | None = None
) -> dict[str, tuple[Group, ...]]:
    """The parts of each result, by its name, in this order (None: by name), those without ADs left out."""
    parts: dict[str, list[str]] = {}
    for item in run.items:
        found = label(item)
        if found is not None:
            parts.setdefault(found, []).append(item.id)
    told = [name for name in (sorted(parts) if order is None else order) if name in parts]
    films = {item.id: item.film for item in run.items}
    made = [_groups(run, results, name, parts[name], films) for name in told]
    return {result.name: tuple(row[place] for row in made) for place, result in enumerate(results)}


def _groups(
    run: ReportInput, results: Sequence[Result], label: str, ids: Sequence[str], films: Mapping[str, str]
) -> list[Group]:
    """One part in each result."""
    settings = run.config.measures.report
    parts = [only(result, _common(result, ids)) for result in results]
    return [
        Group(
            label,
            part.scored,
            part.value if part.scored else None,
            span_of(part, films, unit=settings.unit, level=settings.level),
        )
        for part in parts
    ]


def _common(result: Result, ids: Sequence[str]) -> list[str]:
    there = {row.id for row in result.rows}
    return [name for name in ids if name in there]


def _place(value: float, ends: Sequence[float]) -> int:
    return sum(value >= end for end in ends)


@dataclass(frozen=True, slots=True)
class Values:
    """All numbers of single ADs by one metric, for a histogram."""

    result: Result
    values: Floats


@dataclass(frozen=True, slots=True)
class Parts:
    """One metric on each part of the ADs, and on all."""

    result: Result
    groups: tuple[Group, ...]


def sorted_films(part: Parts) -> list[Group]:
    """The films that have a number, the worst first."""
    told = [group for group in part.groups if group.value is not None]
    sign = 1 if part.result.higher_is_better else -1
    return sorted(told, key=lambda group: (sign * (group.value or 0.0), group.label))
