"""What a report says, in words, before it is set as text or as a page; with the best and the worst lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shotad.core import ShotadError, plural
from shotad.evaluation.metric import Item, Json, Result, Row
from shotad.evaluation.report.inputs import AND, ReportInput, base_name
from shotad.evaluation.report.intervals import LEVEL, Span, basis_words, main_results
from shotad.evaluation.report.plots import Plot, plots_of
from shotad.evaluation.report.table import beside_paper, footnotes, paper_notes, with_marks
from shotad.evaluation.report.wording import (
    COLUMNS,
    clock,
    counted_as_0,
    counts_words,
    failures_words,
    number,
    percent,
    span_words,
)

Content = dict[str, Any]
"""The parts of a report by name, as its page, its text and the terminal take them."""


def content_of(run: ReportInput, intervals: Mapping[str, Span | None]) -> Content:
    """What is said of a run in all three: counts, the metrics, this system above the paper's, what to know of
    them, and what was left out."""
    notes = footnotes(run.results)
    heads, lines = beside_paper(run, intervals, notes)
    level = percent(LEVEL)
    return {
        "title": f"{run.predictions.called} on {run.dataset}",
        "lead": basis_words(intervals.values(), run.config.measures.report.unit),
        "counts": (*counts_words(run), *failures_words(run), *run.notes),
        "heads": ("Metric", "Value", f"{level} interval", "ADs", "Scored", "Failed", "Better"),
        "metrics": [
            (
                title,
                number(result.name, result.value),
                span_words(result.name, intervals.get(result.name)),
                f"{len(result.rows):,}",
                f"{result.scored:,}",
                f"{counted_as_0(result):,}",
                "higher" if result.higher_is_better else "lower",
            )
            for title, result in zip(with_marks(run.results, notes), run.results, strict=True)
        ],
        "titles": [(r.title, notes[r.name][0] if r.name in notes else "") for r in run.results],
        "columns": COLUMNS,
        "beside_heads": heads,
        "beside": lines,
        "paper_notes": paper_notes(run, lines) if lines else (),
        "footnotes": tuple(notes.values()),
        "left_out": run.left_out,
    }


def whole_content(
    run: ReportInput, record: Json, intervals: Mapping[str, Span | None], *, plots: bool = True
) -> Content:
    """With lines, plots, and how it was made. ``record`` is its ``report.json``; ``plots`` False leaves them
    out."""
    drawn: tuple[Plot, ...] = ()
    no_plots = ""
    try:
        drawn = plots_of(run) if plots else ()
    except ShotadError as error:
        no_plots = f"There are no plots. {error}"
    told = content_of(run, intervals)
    return {
        **told,
        "lead": told["lead"] or "There are too few ADs for intervals.",
        "level": percent(LEVEL),
        "listings": listings(run),
        "plots": drawn,
        "no_plots": no_plots,
        "made": tuple(_made(run, record)),
    }


def _made(run: ReportInput, record: Json) -> Iterator[tuple[str, str]]:
    made, git = record["made_with"], record["made_with"]["git"]
    state = f", commit {git['commit'][:12]}{', changed since' if git['dirty'] else ''}" if git else ""
    yield "Program", f"shotad {made['shotad']}{state}; Python {made['python']} on {made['system']}"
    if made.get("java"):
        yield "Java", made["java"]
    yield "Libraries", ", ".join(f"{name} {version}" for name, version in made["libraries"].items()) or "none"
    dataset, predictions = record["dataset"], record["predictions"]
    parts = [f"{what} {dataset[what][:12]}" for what in ("texts", "actions", "casts") if dataset[what]]
    yield "Dataset", f"{run.dataset}: {plural(dataset['ads'], 'AD')}; SHA-256 of {', '.join(parts)}"
    hashes = " + ".join(digest[:12] for digest in predictions["sha256"].split(AND))
    yield "Predictions", f"{predictions['name']}{f', {hashes} (SHA-256)' if hashes else ''}"
    settings = [*(f"--config {name}" for name in run.configs), *(f"--set {said}" for said in run.assignments)]
    yield "Settings", f"{', '.join(settings) or 'all as they come'}; seed {run.seed}"
    for metric in record["metrics"]:
        yield metric["title"], identity_words(metric["identity"])


def identity_words(identity: Json) -> str:
    """What a metric is, in one line: ``model: minilm, revision: …``; what belongs together in brackets."""
    return ", ".join(f"{name}: {_short(value)}" for name, value in identity.items()) or "no settings"


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({identity_words(dict(value))})"
    if value is None or value == "":
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_LISTED = ("cider", "critic", "action", "events", "llm-ad-eval", "llm-action", "action-description")
"""Metrics whose single lines are worth reading; recall's are right or wrong."""

LISTED = 20
"""Best and worst lines that are shown: what is read at one sitting."""

_LONGEST = 300
"""Characters of what a metric notes on a line."""


Line = tuple[str, ...]
"""One AD as it is listed: a cell for each of `LINE_HEADS`."""

LINE_HEADS = ("AD", "Score", "Human AD", "Prediction", "Film", "When, how long", "Notes of the metric")


@dataclass(frozen=True, slots=True)
class Listing:
    """The lines of one metric, the worst first and the best first. ``silent`` have no word predicted
    for them and are not listed."""

    metric: str
    title: str
    worst: tuple[Line, ...]
    best: tuple[Line, ...]
    silent: int


def listings(run: ReportInput) -> tuple[Listing, ...]:
    """The best and worst lines by each main metric.

    No line stands in both lists of a metric.
    """
    results = main_results(run)
    listed = [r for r in results if base_name(r.name) in _LISTED] or list(results[:1])
    items = {item.id: item for item in run.items}
    return tuple(_listing(run, result, items) for result in listed)


def _listing(run: ReportInput, result: Result, items: Mapping[str, Item]) -> Listing:
    spoken = [row for row in result.rows if row.value is not None and items[row.id].prediction]
    sign = 1.0 if result.higher_is_better else -1.0
    spoken.sort(key=lambda row: (sign * (row.value or 0.0), row.id))
    n = min(LISTED, len(spoken) // 2)
    worst, best = (
        tuple(_line(run, result.name, row, items[row.id]) for row in rows)
        for rows in (spoken[:n], spoken[::-1][:n])
    )
    silent = sum(not items[row.id].prediction for row in result.rows)
    return Listing(result.name, result.title, worst, best, silent)


def _line(run: ReportInput, metric: str, row: Row, item: Item) -> Line:
    texts = (item.reference, item.prediction or "", run.film_called(item.film))
    return (item.id, number(metric, row.value), *texts, clock(item.interval), _notes_words(row))


def _notes_words(row: Row) -> str:
    """What the metric notes on a line, in one line: ``wanted: Ann, Ben; found: Ann``."""
    told = {name: value for name, value in row.notes.items() if value not in (None, "", [], {})}
    parts = [row.failure, *(f"{name}: {_plain(value)}" for name, value in told.items())]
    text = "; ".join(filter(None, parts))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _plain(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(part) for part in value)
    if isinstance(value, Mapping):
        told = (f"{name} {_plain(part)}" for name, part in value.items() if part not in (None, "", [], {}))
        return f"({', '.join(told)})"
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
