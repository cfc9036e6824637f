"""What is plotted: which numbers, and how they are told in words and as a table beside the picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shotad.evaluation.measure.rows import Floats, Result
from shotad.evaluation.report.groups import (
    DURATIONS,
    SCALES,
    THREADS,
    Group,
    Parts,
    Values,
    duration_label,
    grouped,
    main_results,
    scale_label,
    sorted_films,
    thread_label,
)
from shotad.evaluation.report.inputs import ReportInput
from shotad.evaluation.report.wording import count, number, percent, span_words

PLOT_NAMES = ("distributions", "duration", "scale", "thread", "films")
"""All that there may be."""

EXTREME_FILMS = 5
"""Films that are named at either end."""


@dataclass(frozen=True, slots=True)
class Table:
    """The numbers of a plot; the first ``texts`` columns are words."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture. ``name`` is its file without ending, ``alt`` says what it shows, ``caption`` how to read
    it."""

    name: str
    title: str
    caption: str
    alt: str
    table: Table
    png: bytes


def plots_of(run: ReportInput) -> tuple[Plot, ...]:
    """All plots that the report has data for. Raises ShotadError where matplotlib is missing."""
    makers: tuple[Callable[[ReportInput], Plot | None], ...] = (
        _distributions,
        _by_duration,
        _by_scale,
        _by_thread,
        _by_film,
    )
    return tuple(plot for make in makers if (plot := make(run)) is not None)


def _distributions(run: ReportInput) -> Plot | None:
    from shotad.evaluation.report.drawing import histograms

    panels = [Values(result, _values(result)) for result in run.results]
    panels = [panel for panel in panels if len(panel.values)]
    if not panels:
        return None
    heads = ("Metric", "ADs", "Lowest", "Lower quarter", "Median", "Upper quarter", "Highest", "Exactly 0")
    return Plot(
        "distributions",
        "How the scores of single ADs spread",
        "Each bar is the share of the ADs whose score lies there; the dashed line is the median.",
        "Histograms of the scores of single ADs, one for each metric. The numbers stand in the table below.",
        Table(heads, tuple(map(_quartiles, panels)), 1),
        histograms(panels),
    )


def _by_duration(run: ReportInput) -> Plot | None:
    parts = _parts(run, grouped(run, main_results(run), duration_label, DURATIONS))
    return _part_plot(run, "duration", "Score by length of the human AD", "length of the human AD", parts)


def _by_scale(run: ReportInput) -> Plot | None:
    parts = _parts(run, grouped(run, main_results(run), scale_label, SCALES))
    return _part_plot(run, "scale", "Score by shot scale", "effective shot scale", parts)


def _by_thread(run: ReportInput) -> Plot | None:
    parts = _parts(run, grouped(run, main_results(run), thread_label, THREADS))
    return _part_plot(run, "thread", "Score by thread structure", "whether the clip has a thread", parts)


def _by_film(run: ReportInput) -> Plot | None:
    from shotad.evaluation.report.drawing import ranked

    results = main_results(run)
    parts = _parts(run, grouped(run, results, lambda item: run.film_called(item.film)))
    if not parts or len(parts[0].groups) < 2:
        return None
    films = len(parts[0].groups)
    return Plot(
        "films",
        "Score film by film",
        f"Each dot is one of {films} films, worst to best by each metric; the line through it is "
        f"its {_level(run)} interval, the dashed line the number over all ADs.",
        f"The {films} films in order of their score, one panel for each metric. The table below names those "
        "at either end.",
        Table(("Metric", "Place", "Film", "ADs", "Score", f"{_level(run)} interval"), _film_rows(parts), 3),
        ranked(parts),
    )


def _part_plot(run: ReportInput, name: str, title: str, what: str, parts: Sequence[Parts]) -> Plot | None:
    from shotad.evaluation.report.drawing import dots

    if not parts or len(parts[0].groups) < 2:
        return None
    told = "; ".join(f"{part.result.title}: {', '.join(map(_told(part), part.groups))}" for part in parts)
    heads = ("Metric", f"{what[:1].upper()}{what[1:]}", "ADs", "Score", f"{_level(run)} interval")
    rows = tuple(
        (part.result.title, group.label, f"{group.n:,}", *_numbers(part.result, group))
        for part in parts
        for group in part.groups
    )
    return Plot(
        name,
        title,
        f"Each dot is the number on the ADs of one part, with its {_level(run)} interval; n below it is how "
        "many ADs it speaks of; the dashed line is the number over all.",
        f"{title}. {told}.",
        Table(heads, rows, 2),
        dots(parts, what),
    )


def _parts(run: ReportInput, groups: Mapping[str, tuple[Group, ...]]) -> list[Parts]:
    return [Parts(result, groups[result.name]) for result in run.results if groups.get(result.name)]


def _values(result: Result) -> Floats:
    return np.array([row.value for row in result.rows if row.value is not None], np.float64)


def _quartiles(panel: Values) -> tuple[str, ...]:
    name = panel.result.name
    five = [number(name, float(q)) for q in np.quantile(panel.values, [0, 0.25, 0.5, 0.75, 1])]
    return (panel.result.title, f"{len(panel.values):,}", *five, percent(float((panel.values == 0).mean())))


def _told(part: Parts) -> Callable[[Group], str]:
    return lambda group: f"{group.label} {number(part.result.name, group.value)} ({count(group.n, 'AD')})"


def _numbers(result: Result, group: Group) -> tuple[str, str]:
    return number(result.name, group.value), span_words(result.name, group.interval)


def _film_rows(parts: Sequence[Parts]) -> tuple[tuple[str, ...], ...]:
    rows: list[tuple[str, ...]] = []
    for part in parts:
        ordered = sorted_films(part)
        ends = {*range(EXTREME_FILMS), *range(len(ordered) - EXTREME_FILMS, len(ordered))}
        for place, group in enumerate(ordered):
            if place in ends:
                numbers = _numbers(part.result, group)
                rows.append((part.result.title, f"{place + 1}", group.label, f"{group.n:,}", *numbers))
    return tuple(rows)


def _level(run: ReportInput) -> str:
    return percent(run.config.measures.report.level)
