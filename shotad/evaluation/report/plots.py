"""The report's pictures: which numbers, how they are told in words, and how they are drawn.

Drawn with matplotlib (extra ``evaluate``), without a screen and without state. Colours are Okabe and Ito's,
and nothing is told by colour alone. The same numbers give the same bytes.
"""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import need
from shotad.evaluation.metric import Floats, Item, Result
from shotad.evaluation.report.inputs import ReportInput
from shotad.evaluation.report.intervals import (
    DURATIONS,
    LEVEL,
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
from shotad.evaluation.report.wording import count, number, percent, span_words
from shotad.film import BLUE, FAINT, INK, PAPER, SKY_BLUE, VERMILLION, css

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    found = (_distributions(run), *(_by_part(run, part) for part in _PARTS), _by_film(run))
    return tuple(plot for plot in found if plot is not None)


def _distributions(run: ReportInput) -> Plot | None:
    panels = [
        Values(result, np.array([row.value for row in result.rows if row.value is not None], np.float64))
        for result in run.results
        if result.scored
    ]
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


def _by_film(run: ReportInput) -> Plot | None:
    results = main_results(run)
    parts = _parts(run, grouped(run, results, lambda item: run.film_called(item.film)))
    if not parts or len(parts[0].groups) < 2:
        return None
    films = len(parts[0].groups)
    return Plot(
        "films",
        "Score film by film",
        f"Each dot is one of {films} films, worst to best by each metric; the line through it is "
        f"its {percent(LEVEL)} interval, the dashed line the number over all ADs.",
        f"The {films} films in order of their score, one panel for each metric. The table below names those "
        "at either end.",
        Table(
            ("Metric", "Place", "Film", "ADs", "Score", f"{percent(LEVEL)} interval"), _film_rows(parts), 3
        ),
        ranked(parts),
    )


_PARTS = (
    ("duration", "Score by length of the human AD", "length of the human AD", duration_label, DURATIONS),
    ("scale", "Score by shot scale", "effective shot scale", scale_label, SCALES),
    ("thread", "Score by thread structure", "whether the clip has a thread", thread_label, THREADS),
)
"""Name, title, what parts the ADs, how an AD's part is called, and the parts in order."""


def _by_part(
    run: ReportInput, part: tuple[str, str, str, Callable[[Item], str | None], Sequence[str]]
) -> Plot | None:
    name, title, what, label, order = part
    parts = _parts(run, grouped(run, main_results(run), label, order))
    if not parts or len(parts[0].groups) < 2:
        return None
    told = "; ".join(
        f"{part.result.title}: "
        + ", ".join(
            f"{g.label} {number(part.result.name, g.value)} ({count(g.n, 'AD')})" for g in part.groups
        )
        for part in parts
    )
    heads = ("Metric", f"{what[:1].upper()}{what[1:]}", "ADs", "Score", f"{percent(LEVEL)} interval")
    rows = tuple(
        (part.result.title, group.label, f"{group.n:,}", *_numbers(part.result, group))
        for part in parts
        for group in part.groups
    )
    return Plot(
        name,
        title,
        f"Each dot is the number on the ADs of one part, with its {percent(LEVEL)} interval; n below it is "
        "how many ADs it speaks of; the dashed line is the number over all.",
        f"{title}. {told}.",
        Table(heads, rows, 2),
        dots(parts, what),
    )


def _parts(run: ReportInput, groups: Mapping[str, tuple[Group, ...]]) -> list[Parts]:
    return [Parts(result, groups[result.name]) for result in run.results if groups.get(result.name)]


def _quartiles(panel: Values) -> tuple[str, ...]:
    name = panel.result.name
    five = [number(name, float(q)) for q in np.quantile(panel.values, [0, 0.25, 0.5, 0.75, 1])]
    return (panel.result.title, f"{len(panel.values):,}", *five, percent(float((panel.values == 0).mean())))


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


_DPI = 130
_WIDTH = 10.0
"""Inches of a picture."""
_ACROSS = 3
"""Panels side by side."""
_BARS = 30
_DISCRETE = 12
"""A metric of at most so many different values has a bar for each."""
_LABELS = 8
"""How many numbers fit below a panel."""
_TAIL = 0.995
"""Part of the values that the axis reaches; the few above are counted in the last bar."""
_STRIPE = "///"
_BAR: dict[str, Any] = {"color": css(SKY_BLUE), "edgecolor": css(BLUE), "linewidth": 0.5}
_UNDERLAY: dict[str, Any] = {"facecolor": css(PAPER), "alpha": 0.8, "edgecolor": "none", "pad": 0.8}


def histograms(panels: Sequence[Values]) -> bytes:
    """A histogram of each metric's values of single ADs, as PNG."""
    figure, axes = _panels(len(panels), 2.6)
    for axis, panel in zip(axes, panels, strict=True):
        _histogram(axis, panel)
    return _png(figure)


def dots(parts: Sequence[Parts], what: str) -> bytes:
    """Each metric's number on the parts of the ADs, with intervals, as PNG."""
    figure, axes = _panels(len(parts), 3.1)
    for axis, part in zip(axes, parts, strict=True):
        folded = textwrap.TextWrapper(10, break_long_words=False, break_on_hyphens=False).fill
        labels = [f"{folded(group.label)}\nn {group.n:,}" for group in part.groups]
        _points(axis, part.result, part.groups)
        axis.set_xticks(range(len(labels)), labels, fontsize=7 if len(labels) > 3 else 8)
        axis.set_xlim(-0.6, len(labels) - 0.4)
        axis.set_xlabel(what, fontsize=8)
    return _png(figure)


def ranked(parts: Sequence[Parts]) -> bytes:
    """The films in order of each metric, with intervals, as PNG."""
    figure, axes = _panels(len(parts), 2.9)
    for axis, part in zip(axes, parts, strict=True):
        films = sorted_films(part)
        _points(axis, part.result, films, small=len(films) > 25)
        axis.set_xlim(-1, len(films))
        axis.set_xticks([0, len(films) - 1], ["1", f"{len(films)}"], fontsize=8)
        low, high = (end((film.n for film in films), default=0) for end in (min, max))
        several = f"{low} ADs each" if low == high else f"{low} to {high} ADs each"
        axis.set_xlabel(f"{len(films)} films in order, {several}", fontsize=8)
    return _png(figure)


def _histogram(axis: Axes, panel: Values) -> None:
    values, name = panel.values, panel.result.name
    known = np.unique(values)
    if len(known) <= _DISCRETE:
        heights, beyond = _bars_at(axis, values, known), 0
    else:
        heights, beyond = _bars_between(axis, values)
    median = float(np.median(values))
    axis.axvline(min(median, axis.get_xlim()[1]), color=css(VERMILLION), linestyle="--", linewidth=1.3)
    said = [f"n {len(values):,}", f"median {number(name, median)}"]
    said.append(f"exactly 0: {percent(float((values == 0).mean()))}")
    said += [f"hatched: with {beyond:,} beyond"] if beyond else []
    left = _leans_right(heights)
    x, side = (0.03, "left") if left else (0.97, "right")
    told = axis.text(x, 0.96, "\n".join(said), transform=axis.transAxes, ha=side, va="top", fontsize=7.5)
    told.set_bbox(_UNDERLAY)
    _head(axis, panel.result)
    axis.set_ylim(0, 118 * heights.max())
    axis.set_ylabel("% of ADs", fontsize=8)
    axis.set_xlabel("score of a single AD", fontsize=8)


def _bars_at(axis: Axes, values: Floats, known: Floats) -> Floats:
    """A bar at each value that occurs; the shares of the ADs."""
    heights = np.array([(values == value).mean() for value in known])
    step = float(np.diff(known).min()) if len(known) > 1 else 1.0
    width = max(0.5 * step, float(known[-1] - known[0]) / 100)
    axis.bar(known, 100 * heights, width=width, **_BAR)
    axis.set_xlim(known[0] - step, known[-1] + step)
    told = _told_apart(known)
    axis.set_xticks(told, [f"{value:.4g}" for value in told], rotation=60 if len(told) > 6 else 0)
    return heights


def _told_apart(known: Floats) -> list[float]:
    """Of ascending values those whose words have room beside each other, the first and the last at least."""
    room = (known[-1] - known[0]) / _LABELS
    told = [float(known[0])]
    for value in known[1:-1]:
        if value - told[-1] >= room and known[-1] - value >= room:
            told.append(float(value))
    return [*told, float(known[-1])] if len(known) > 1 else told


def _bars_between(axis: Axes, values: Floats) -> tuple[Floats, int]:
    """Bars of equal width; the shares of the ADs, and how many values lie beyond the axis."""
    low, high = float(values.min()), float(np.quantile(values, _TAIL))
    edges = np.linspace(low, high if high > low else float(values.max()), _BARS + 1)
    heights = np.histogram(np.minimum(values, edges[-1]), edges)[0] / len(values)
    bars = axis.bar(edges[:-1], 100 * heights, width=np.diff(edges), align="edge", **_BAR)
    beyond = int((values > edges[-1]).sum())
    if beyond:
        bars[-1].set_hatch(_STRIPE)
    return heights, beyond


def _leans_right(heights: Floats) -> bool:
    """Whether the high bars stand on the right, so that words find room on the left."""
    half = len(heights) // 2
    return float(heights[half:].max()) > float(heights[: max(half, 1)].max())


def _points(axis: Axes, result: Result, groups: Sequence[Group], *, small: bool = False) -> None:
    """Dots with intervals; a part without a number stays empty, one of few ADs has no interval."""
    told = [(place, group.value, group) for place, group in enumerate(groups) if group.value is not None]
    for place, _, group in told:
        if group.interval is not None:
            ends = [group.interval.low, group.interval.high]
            axis.plot([place, place], ends, color=css(BLUE), linewidth=0.9 if small else 1.6, zorder=2)
    places, values = [place for place, _, _ in told], [value for _, value, _ in told]
    axis.plot(places, values, "o", color=css(BLUE), markersize=2.6 if small else 6, zorder=3)
    if result.value is not None:
        axis.axhline(result.value, color=css(VERMILLION), linestyle="--", linewidth=1.2, zorder=1)
    if not small:
        for place, value, _ in told:
            axis.annotate(
                number(result.name, value),
                (place, value),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=7.5,
                bbox=_UNDERLAY,
                zorder=4,
            )
    low, high = axis.get_ylim()
    axis.set_ylim(min(1.05 * low, 0.0), max(1.05 * high, 0.0))  # from 0: a small difference looks small
    _head(axis, result)


def _head(axis: Axes, result: Result) -> None:
    """Title, and axes that are light but can be read."""
    axis.set_title("\n".join(textwrap.wrap(result.title, 38)), fontsize=9, loc="left", color=css(INK))
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8, colors=css(INK))
    axis.grid(axis="y", color=css(FAINT), alpha=0.25, linewidth=0.6)
    axis.set_axisbelow(True)


def _panels(n: int, height: float) -> tuple[Figure, list[Axes]]:
    """An empty figure with n panels, row by row."""
    made = need("matplotlib.figure", "Plotting", "evaluate")
    across = 2 if n == 4 else min(n, _ACROSS)
    down = math.ceil(n / across)
    width = _WIDTH * max(across, 1.4) / _ACROSS
    figure: Figure = made.Figure(
        figsize=(width, height * down), dpi=_DPI, facecolor=css(PAPER), layout="constrained"
    )
    grid = figure.add_gridspec(down, across)
    return figure, [figure.add_subplot(grid[place // across, place % across]) for place in range(n)]


def _png(figure: Figure) -> bytes:
    """The picture without the version of what drew it. A title in a script that the letters lack shows boxes
    for it; the table has the text."""
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()
