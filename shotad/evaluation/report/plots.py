"""The report's plots: metrics on parts of the ADs, as numbers, as text and as pictures.

Drawn with matplotlib (extra ``evaluate``), without a screen and without global state. Colours are Okabe and
Ito's, and no information is in colour alone. The same numbers give the same bytes.
"""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import ShotScale
from shotad.core.model_loading import require_module
from shotad.core.progress import plural
from shotad.evaluation.evaluation_run import Report, base_name
from shotad.evaluation.metric import Floats, Item, Result, only
from shotad.evaluation.report.intervals import LEVEL, Span, span_of
from shotad.evaluation.report.table import number, percent, span_words
from shotad.film.palette import (
    BLUE,
    FAINT,
    INK,
    PAPER,
    SKY_BLUE,
    VERMILLION,
    css_colour,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLOT_NAMES = ("distributions", "duration", "scale", "thread", "films")
"""Names of all plots; a report has those that it has data for."""

EXTREME_FILMS = 5
"""Films that are named at either end of the order."""


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture, a PNG. ``name`` is its file without ending, ``alt`` says what it shows, ``caption`` how to
    read it. ``heads`` and ``rows`` are its numbers as a table, whose first ``texts`` columns are words."""

    name: str
    title: str
    caption: str
    alt: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int
    png: bytes


def plots_of(run: Report) -> tuple[Plot, ...]:
    """All plots that the report has data for. Raises ShotadError where matplotlib is missing."""
    plots = [_distributions(run), *(_by_part(run, part) for part in _PARTS), _by_film(run)]
    return tuple(plot for plot in plots if plot is not None)


MAIN = (
    "cider", "critic", "action", "events", "recall", "llm-ad-eval", "llm-action", "rouge-l", "meteor",
    "spice", "bleu-1", "story-recall", "action-description",
)  # fmt: skip
"""Metrics worth a closer look, the most important first."""

SHOWN = 6
"""Number of metrics that are shown by part."""

Label = Callable[[Item], str | None]
"""Returns the part that an AD belongs to; None where it belongs to none."""

DURATIONS = ("under 1 s", "1 to 2 s", "2 to 3 s", "3 to 5 s", "5 s or more")
SCALES = tuple(scale.value for scale in ShotScale)
THREADS = ("no thread", "thread")


@dataclass(frozen=True, slots=True)
class Group:
    """A metric's value on a part of the ADs: on the ``n`` of them to which it applies."""

    label: str
    n: int
    value: float | None
    interval: Span | None


def main_results(run: Report) -> tuple[Result, ...]:
    """The results of the first `SHOWN` metrics of `MAIN` that the report has; its first ones where it has
    none of them."""
    rank = {name: place for place, name in enumerate(MAIN)}
    ranked = [result for result in run.results if base_name(result.name) in rank]
    ranked.sort(key=lambda result: rank[base_name(result.name)])
    return tuple((ranked or run.results)[:SHOWN])


def grouped(
    run: Report, label: Label, order: Sequence[str] | None = None
) -> list[tuple[Result, tuple[Group, ...]]]:
    """Each main result, with its values on the parts of the ADs; empty where there are fewer than two parts.

    Parts come in ``order`` (None: by name), without those that have no AD.
    """
    ids_by_part: dict[str, list[str]] = {}
    for item in run.scored:
        part = label(item)
        if part is not None:
            ids_by_part.setdefault(part, []).append(item.id)
    parts = [part for part in (sorted(ids_by_part) if order is None else order) if part in ids_by_part]
    if len(parts) < 2:
        return []
    films = {item.id: item.film for item in run.scored}
    main = {result.name for result in main_results(run)}
    results_with_groups = []
    for result in run.results:
        if result.name not in main:
            continue
        result_ids = {row.id for row in result.rows}
        groups = []
        for part in parts:
            part_result = only(result, [item_id for item_id in ids_by_part[part] if item_id in result_ids])
            value = part_result.value if part_result.scored else None
            span = span_of(part_result, films, unit=run.config.measures.report.unit)
            groups.append(Group(part, part_result.scored, value, span))
        results_with_groups.append((result, tuple(groups)))
    return results_with_groups


def _distributions(run: Report) -> Plot | None:
    """A histogram of the ADs' scores for each metric; None where nothing is scored."""
    panels, rows = [], []
    for result in run.results:
        values = np.array([row.value for row in result.rows if row.value is not None], np.float64)
        if not len(values):
            continue
        quartiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
        cells = [number(result.name, float(quartile)) for quartile in quartiles]
        rows.append((result.title, f"{len(values):,}", *cells, percent(float((values == 0).mean()))))
        panels.append((result, values))
    if not panels:
        return None
    heads = ("Metric", "ADs", "Lowest", "Lower quarter", "Median", "Upper quarter", "Highest", "Exactly 0")
    return Plot(
        "distributions",
        "How the scores of single ADs spread",
        "Each bar is the share of the ADs whose score lies there; the dashed line is the median.",
        "Histograms of the scores of single ADs, one for each metric. The numbers stand in the table below.",
        heads,
        tuple(rows),
        1,
        _draw(panels, 2.6, _histogram),
    )


def _by_film(run: Report) -> Plot | None:
    """The films in order of their score, for each main metric; None where there are fewer than two."""
    results_with_films = grouped(run, lambda item: run.titles.get(item.film) or item.film)
    if not results_with_films:
        return None
    films = len(results_with_films[0][1])
    panels, rows = [], []
    for result, groups in results_with_films:
        worst_first = [group for group in groups if group.value is not None]
        sign = 1 if result.higher_is_better else -1
        worst_first.sort(key=lambda group: (sign * (group.value or 0.0), group.label))
        panels.append((result, worst_first))
        for place, group in enumerate(worst_first, 1):
            if min(place, len(worst_first) + 1 - place) <= EXTREME_FILMS:
                rows.append((result.title, f"{place}", group.label, f"{group.n:,}", *_numbers(result, group)))
    level = percent(LEVEL)
    return Plot(
        "films",
        "Score film by film",
        f"Each dot is one of {films} films, worst to best by each metric; the line through it is "
        f"its {level} interval, the dashed line the number over all ADs.",
        f"The {films} films in order of their score, one panel for each metric. The table below names those "
        "at either end.",
        ("Metric", "Place", "Film", "ADs", "Score", f"{level} interval"),
        tuple(rows),
        3,
        _draw(panels, 2.9, _ranked),
    )


_PARTS: tuple[tuple[str, str, str, Label, Sequence[str]], ...] = (
    (
        "duration",
        "Score by length of the human AD",
        "length of the human AD",
        lambda item: DURATIONS[bisect_right((1.0, 2.0, 3.0, 5.0), item.interval.duration)],
        DURATIONS,
    ),
    (
        "scale",
        "Score by shot scale",
        "effective shot scale",
        # The scale nearest to the effective one; from a half on it is the wider.
        lambda item: None if item.scale is None else SCALES[bisect_right((0.5, 1.5, 2.5, 3.5), item.scale)],
        SCALES,
    ),
    (
        "thread",
        "Score by thread structure",
        "whether the clip has a thread",
        lambda item: None if item.threaded is None else THREADS[item.threaded],
        THREADS,
    ),
)
"""Name, title, the property that parts the ADs, the label of an AD's part, and the parts in order."""


def _by_part(run: Report, part: tuple[str, str, str, Label, Sequence[str]]) -> Plot | None:
    """The main metrics on the parts of ``part``, one of `_PARTS`; None where there are fewer than two."""
    name, title, criterion, label, order = part
    results_with_groups = grouped(run, label, order)
    if not results_with_groups:
        return None
    sentences, rows = [], []
    for result, groups in results_with_groups:
        values = []
        for group in groups:
            values.append(f"{group.label} {number(result.name, group.value)} ({plural(group.n, 'AD')})")
            rows.append((result.title, group.label, f"{group.n:,}", *_numbers(result, group)))
        sentences.append(f"{result.title}: {', '.join(values)}")
    heads = (
        "Metric",
        f"{criterion[:1].upper()}{criterion[1:]}",
        "ADs",
        "Score",
        f"{percent(LEVEL)} interval",
    )
    return Plot(
        name,
        title,
        f"Each dot is the number on the ADs of one part, with its {percent(LEVEL)} interval; n below it is "
        "how many ADs it speaks of; the dashed line is the number over all.",
        f"{title}. {'; '.join(sentences)}.",
        heads,
        tuple(rows),
        2,
        _draw(results_with_groups, 3.1, partial(_dots, criterion)),
    )


def _numbers(result: Result, group: Group) -> tuple[str, str]:
    """The cells of a group's value and of its interval."""
    return number(result.name, group.value), span_words(result.name, group.interval)


_DPI = 130
_WIDTH = 10.0
"""Width of a picture of `_PANELS_A_ROW` panels, in inches."""
_PANELS_A_ROW = 3
_BARS = 30
_TAIL = 0.995
"""Share of the values that the axis reaches; the few above are counted in the last bar."""
_STRIPE = "///"
_BAR: dict[str, Any] = {"color": css_colour(SKY_BLUE), "edgecolor": css_colour(BLUE), "linewidth": 0.5}
_UNDERLAY: dict[str, Any] = {"facecolor": css_colour(PAPER), "alpha": 0.8, "edgecolor": "none", "pad": 0.8}


def _dots(criterion: str, axis: Axes, result: Result, groups: Sequence[Group]) -> None:
    """A dot for each part of the ADs, with its label below."""
    fold = textwrap.TextWrapper(10, break_long_words=False, break_on_hyphens=False).fill
    labels = [f"{fold(group.label)}\nn {group.n:,}" for group in groups]
    _points(axis, result, groups)
    axis.set_xticks(range(len(labels)), labels, fontsize=7 if len(labels) > 3 else 8)
    axis.set_xlim(-0.6, len(labels) - 0.4)
    axis.set_xlabel(criterion, fontsize=8)


def _ranked(axis: Axes, result: Result, films: Sequence[Group]) -> None:
    """A dot for each film, the worst at the left; only the first and the last place are numbered."""
    _points(axis, result, films, small=len(films) > 25)
    axis.set_xlim(-1, len(films))
    axis.set_xticks([0, len(films) - 1], ["1", f"{len(films)}"], fontsize=8)
    ad_counts = [film.n for film in films]
    fewest, most = min(ad_counts, default=0), max(ad_counts, default=0)
    ads = f"{fewest} ADs each" if fewest == most else f"{fewest} to {most} ADs each"
    axis.set_xlabel(f"{len(films)} films in order, {ads}", fontsize=8)


def _histogram(axis: Axes, result: Result, values: Floats) -> None:
    """The values of single ADs; the few beyond the axis are counted in the last bar."""
    low, high = float(values.min()), float(np.quantile(values, _TAIL))
    if high <= low:  # nearly all values are equal
        high = max(float(values.max()), low + 1)
    edges = np.linspace(low, high, _BARS + 1)
    heights = np.histogram(np.minimum(values, edges[-1]), edges)[0] / len(values)
    bars = axis.bar(edges[:-1], 100 * heights, width=np.diff(edges), align="edge", **_BAR)
    median, beyond = float(np.median(values)), int((values > edges[-1]).sum())
    axis.axvline(min(median, edges[-1]), color=css_colour(VERMILLION), linestyle="--", linewidth=1.3)
    zeros = percent(float((values == 0).mean()))
    legend = f"n {len(values):,}; median {number(result.name, median)}; exactly 0: {zeros}"
    if beyond:
        bars[-1].set_hatch(_STRIPE)
        legend += f"\nhatched: with {beyond:,} beyond"
    _style(axis, result)
    axis.set_ylabel("% of ADs", fontsize=8)
    axis.set_xlabel(f"score of a single AD\n{legend}", fontsize=8)


def _points(axis: Axes, result: Result, groups: Sequence[Group], *, small: bool = False) -> None:
    """Dots with intervals; a part without a number stays empty, one of few ADs has no interval."""
    points: list[tuple[int, float]] = []
    for place, group in enumerate(groups):
        if group.value is None:
            continue
        points.append((place, group.value))
        if group.interval is not None:
            ends = [group.interval.low, group.interval.high]
            axis.plot([place, place], ends, color=css_colour(BLUE), linewidth=0.9 if small else 1.6, zorder=2)
    places, values = [place for place, _ in points], [value for _, value in points]
    axis.plot(places, values, "o", color=css_colour(BLUE), markersize=2.6 if small else 6, zorder=3)
    if result.value is not None:
        axis.axhline(result.value, color=css_colour(VERMILLION), linestyle="--", linewidth=1.2, zorder=1)
    if not small:
        for place, value in points:
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
    _style(axis, result)


def _style(axis: Axes, result: Result) -> None:
    """Set the panel's title and the look of its frame."""
    axis.set_title("\n".join(textwrap.wrap(result.title, 38)), fontsize=9, loc="left", color=css_colour(INK))
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8, colors=css_colour(INK))
    axis.grid(axis="y", color=css_colour(FAINT), alpha=0.25, linewidth=0.6)
    axis.set_axisbelow(True)


def _draw(panels: Sequence[tuple[Any, Any]], height: float, draw_panel: Callable[..., None]) -> bytes:
    """A PNG with a panel for each of ``panels``, row by row; a row is ``height`` inches high.

    ``draw_panel`` gets the axes and what the panel shows.
    """
    figure_module = require_module("matplotlib.figure", "Plotting", "evaluate")
    columns = 2 if len(panels) == 4 else min(len(panels), _PANELS_A_ROW)
    rows = math.ceil(len(panels) / columns)
    size = (_WIDTH * max(columns, 1.4) / _PANELS_A_ROW, height * rows)
    figure = figure_module.Figure(figsize=size, dpi=_DPI, facecolor=css_colour(PAPER), layout="constrained")
    grid = figure.add_gridspec(rows, columns)
    for place, panel in enumerate(panels):
        draw_panel(figure.add_subplot(grid[place // columns, place % columns]), *panel)
    out = io.BytesIO()
    with warnings.catch_warnings():
        # A title in a script that the font lacks is drawn as boxes; the table has the text.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        # Without the version of matplotlib in it, so that equal numbers give equal bytes.
        figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()
