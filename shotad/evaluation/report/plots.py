"""How a metric does on parts of the ADs, and the report's pictures: which numbers, how they are told in
words, and how they are drawn.

Drawn with matplotlib (extra ``evaluate``), without a screen and without state. Colours are Okabe and Ito's,
and nothing is told by colour alone. The same numbers give the same bytes.
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
from shotad.evaluation.metric import Floats, Item, Result, only
from shotad.evaluation.report.intervals import LEVEL, Span, span_of
from shotad.evaluation.report.table import number, percent, span_words
from shotad.evaluation.running import Report, base_name
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
"""All that there may be."""

EXTREME_FILMS = 5
"""Films that are named at either end."""


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture. ``name`` is its file without ending, ``alt`` says what it shows, ``caption`` how to read
    it; ``heads`` and ``rows`` are its numbers, of which the first ``texts`` columns are words."""

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
    found = (_distributions(run), *(_by_part(run, part) for part in _PARTS), _by_film(run))
    return tuple(plot for plot in found if plot is not None)


MAIN = (
    "cider", "critic", "action", "events", "recall", "llm-ad-eval", "llm-action", "rouge-l", "meteor",
    "spice", "bleu-1", "story-recall", "action-description",
)  # fmt: skip
"""Metrics that parts are shown for, the first of them that a report has."""

SHOWN = 6
"""How many metrics are shown by part."""

Label = Callable[[Item], str | None]
"""The part that an AD belongs to; None: to none."""

DURATIONS = ("under 1 s", "1 to 2 s", "2 to 3 s", "3 to 5 s", "5 s or more")
SCALES = tuple(scale.value for scale in ShotScale)
THREADS = ("no thread", "thread")


@dataclass(frozen=True, slots=True)
class Group:
    """A metric's number on a part of the ADs: on ``n`` that it speaks of."""

    label: str
    n: int
    value: float | None
    interval: Span | None


def main_results(run: Report) -> tuple[Result, ...]:
    """The results that are looked at more closely; the first ones where none is known."""
    rank = {name: place for place, name in enumerate(MAIN)}
    known = [result for result in run.results if base_name(result.name) in rank]
    known.sort(key=lambda result: rank[base_name(result.name)])
    return tuple((known or run.results)[:SHOWN])


def grouped(
    run: Report, label: Label, order: Sequence[str] | None = None
) -> list[tuple[Result, tuple[Group, ...]]]:
    """Each main result on the parts of the ADs, in this order (None: by name), those without ADs left out;
    nothing where there are fewer than two parts."""
    parts: dict[str, list[str]] = {}
    for item in run.scored:
        found = label(item)
        if found is not None:
            parts.setdefault(found, []).append(item.id)
    names = [name for name in (sorted(parts) if order is None else order) if name in parts]
    if len(names) < 2:
        return []
    films = {item.id: item.film for item in run.scored}
    main = {result.name for result in main_results(run)}
    grouped = []
    for result in (result for result in run.results if result.name in main):
        there, groups = {row.id for row in result.rows}, []
        for name in names:
            part = only(result, [one for one in parts[name] if one in there])
            value = part.value if part.scored else None
            span = span_of(part, films, unit=run.config.measures.report.unit)
            groups.append(Group(name, part.scored, value, span))
        grouped.append((result, tuple(groups)))
    return grouped


def _distributions(run: Report) -> Plot | None:
    panels, rows = [], []
    for result in run.results:
        values = np.array([row.value for row in result.rows if row.value is not None], np.float64)
        if not len(values):
            continue
        five = [number(result.name, float(q)) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])]
        rows.append((result.title, f"{len(values):,}", *five, percent(float((values == 0).mean()))))
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
        _drawn(panels, 2.6, _histogram),
    )


def _by_film(run: Report) -> Plot | None:
    parts = grouped(run, lambda item: run.titles.get(item.film) or item.film)
    if not parts:
        return None
    films = len(parts[0][1])
    ranked, rows = [], []
    for result, groups in parts:
        told = [group for group in groups if group.value is not None]
        sign = 1 if result.higher_is_better else -1
        ordered = sorted(
            told, key=lambda group: (sign * (group.value or 0.0), group.label)
        )  # the worst first
        ranked.append((result, ordered))
        for place, group in enumerate(ordered, 1):
            if min(place, len(ordered) + 1 - place) <= EXTREME_FILMS:
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
        _drawn(ranked, 2.9, _ranked),
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
"""Name, title, what parts the ADs, how an AD's part is called, and the parts in order."""


def _by_part(run: Report, part: tuple[str, str, str, Label, Sequence[str]]) -> Plot | None:
    name, title, what, label, order = part
    parts = grouped(run, label, order)
    if not parts:
        return None
    told, rows = [], []
    for result, groups in parts:
        said = (f"{g.label} {number(result.name, g.value)} ({plural(g.n, 'AD')})" for g in groups)
        told.append(f"{result.title}: {', '.join(said)}")
        rows += [(result.title, g.label, f"{g.n:,}", *_numbers(result, g)) for g in groups]
    heads = ("Metric", f"{what[:1].upper()}{what[1:]}", "ADs", "Score", f"{percent(LEVEL)} interval")
    return Plot(
        name,
        title,
        f"Each dot is the number on the ADs of one part, with its {percent(LEVEL)} interval; n below it is "
        "how many ADs it speaks of; the dashed line is the number over all.",
        f"{title}. {'; '.join(told)}.",
        heads,
        tuple(rows),
        2,
        _drawn(parts, 3.1, partial(_dots, what)),
    )


def _numbers(result: Result, group: Group) -> tuple[str, str]:
    return number(result.name, group.value), span_words(result.name, group.interval)


_DPI = 130
_WIDTH = 10.0
"""Inches of a picture."""
_ACROSS = 3
"""Panels side by side."""
_BARS = 30
_TAIL = 0.995
"""Part of the values that the axis reaches; the few above are counted in the last bar."""
_STRIPE = "///"
_BAR: dict[str, Any] = {"color": css_colour(SKY_BLUE), "edgecolor": css_colour(BLUE), "linewidth": 0.5}
_UNDERLAY: dict[str, Any] = {"facecolor": css_colour(PAPER), "alpha": 0.8, "edgecolor": "none", "pad": 0.8}


def _dots(what: str, axis: Axes, result: Result, groups: Sequence[Group]) -> None:
    folded = textwrap.TextWrapper(10, break_long_words=False, break_on_hyphens=False).fill
    labels = [f"{folded(group.label)}\nn {group.n:,}" for group in groups]
    _points(axis, result, groups)
    axis.set_xticks(range(len(labels)), labels, fontsize=7 if len(labels) > 3 else 8)
    axis.set_xlim(-0.6, len(labels) - 0.4)
    axis.set_xlabel(what, fontsize=8)


def _ranked(axis: Axes, result: Result, films: Sequence[Group]) -> None:
    _points(axis, result, films, small=len(films) > 25)
    axis.set_xlim(-1, len(films))
    axis.set_xticks([0, len(films) - 1], ["1", f"{len(films)}"], fontsize=8)
    low, high = (end((film.n for film in films), default=0) for end in (min, max))
    several = f"{low} ADs each" if low == high else f"{low} to {high} ADs each"
    axis.set_xlabel(f"{len(films)} films in order, {several}", fontsize=8)


def _histogram(axis: Axes, result: Result, values: Floats) -> None:
    """The values of single ADs; the few beyond the axis are counted in the last bar."""
    low, high = float(values.min()), float(np.quantile(values, _TAIL))
    edges = np.linspace(low, high if high > low else max(float(values.max()), low + 1), _BARS + 1)
    heights = np.histogram(np.minimum(values, edges[-1]), edges)[0] / len(values)
    bars = axis.bar(edges[:-1], 100 * heights, width=np.diff(edges), align="edge", **_BAR)
    median, beyond = float(np.median(values)), int((values > edges[-1]).sum())
    axis.axvline(min(median, edges[-1]), color=css_colour(VERMILLION), linestyle="--", linewidth=1.3)
    said = f"n {len(values):,}; median {number(result.name, median)}; "
    said += f"exactly 0: {percent(float((values == 0).mean()))}"
    if beyond:
        bars[-1].set_hatch(_STRIPE)
        said += f"\nhatched: with {beyond:,} beyond"
    _head(axis, result)
    axis.set_ylabel("% of ADs", fontsize=8)
    axis.set_xlabel(f"score of a single AD\n{said}", fontsize=8)


def _points(axis: Axes, result: Result, groups: Sequence[Group], *, small: bool = False) -> None:
    """Dots with intervals; a part without a number stays empty, one of few ADs has no interval."""
    told = [(place, group.value, group) for place, group in enumerate(groups) if group.value is not None]
    for place, _, group in told:
        if group.interval is not None:
            ends = [group.interval.low, group.interval.high]
            axis.plot([place, place], ends, color=css_colour(BLUE), linewidth=0.9 if small else 1.6, zorder=2)
    places, values = [place for place, _, _ in told], [value for _, value, _ in told]
    axis.plot(places, values, "o", color=css_colour(BLUE), markersize=2.6 if small else 6, zorder=3)
    if result.value is not None:
        axis.axhline(result.value, color=css_colour(VERMILLION), linestyle="--", linewidth=1.2, zorder=1)
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
    axis.set_title("\n".join(textwrap.wrap(result.title, 38)), fontsize=9, loc="left", color=css_colour(INK))
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8, colors=css_colour(INK))
    axis.grid(axis="y", color=css_colour(FAINT), alpha=0.25, linewidth=0.6)
    axis.set_axisbelow(True)


def _drawn(panels: Sequence[tuple[Any, Any]], height: float, draw: Callable[..., None]) -> bytes:
    """A picture of a panel for each, row by row, as PNG without the version of what drew it. A title in a
    script that the letters lack shows boxes for it; the table has the text."""
    made = require_module("matplotlib.figure", "Plotting", "evaluate")
    across = 2 if len(panels) == 4 else min(len(panels), _ACROSS)
    down = math.ceil(len(panels) / across)
    size = (_WIDTH * max(across, 1.4) / _ACROSS, height * down)
    figure = made.Figure(figsize=size, dpi=_DPI, facecolor=css_colour(PAPER), layout="constrained")
    grid = figure.add_gridspec(down, across)
    for place, panel in enumerate(panels):
        draw(figure.add_subplot(grid[place // across, place % across]), *panel)
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()
