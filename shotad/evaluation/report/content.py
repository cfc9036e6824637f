"""What a report says, in words, before it is set as text or as a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shotad.core import ShotadError
from shotad.evaluation.measure.rows import Json
from shotad.evaluation.report.inputs import AND, LeftOut, ReportInput
from shotad.evaluation.report.intervals import Span, basis_words
from shotad.evaluation.report.lines import Listing, listings
from shotad.evaluation.report.plots import Plot, plots_of
from shotad.evaluation.report.table import (
    Beside,
    Footnote,
    MetricLine,
    beside_paper,
    footnotes,
    metric_lines,
    paper_notes,
)
from shotad.evaluation.report.wording import COLUMNS, count, counts_words, failures_words, percent


@dataclass(frozen=True, slots=True)
class Content:
    """The report's parts, in their order."""

    title: str
    lead: str
    level: str
    columns: str
    counts: tuple[str, ...]
    metrics: tuple[MetricLine, ...]
    beside: Beside | None
    paper_notes: tuple[str, ...]
    footnotes: tuple[Footnote, ...]
    left_out: tuple[LeftOut, ...]
    listings: tuple[Listing, ...]
    plots: tuple[Plot, ...]
    no_plots: str
    made: tuple[tuple[str, str], ...]


def content_of(
    run: ReportInput, record: Json, intervals: Mapping[str, Span | None], *, plots: bool = True
) -> Content:
    """What is said of a run. ``record`` is its ``report.json``; ``plots`` False leaves them out."""
    drawn, no_plots = _plots(run) if plots else ((), "")
    notes = footnotes(run.results)
    beside = beside_paper(run, intervals, notes.marks)
    settings = run.config.measures.report
    return Content(
        title=f"{run.predictions.called} on {run.dataset}",
        lead=basis_words(intervals.values(), settings.unit) or "There are too few ADs for intervals.",
        level=percent(settings.level),
        columns=COLUMNS,
        counts=(*counts_words(run), *failures_words(run), *run.notes),
        metrics=metric_lines(run.results, intervals, notes.marks),
        beside=beside,
        paper_notes=tuple(paper_notes(run, beside)) if beside else (),
        footnotes=notes.notes,
        left_out=run.left_out,
        listings=listings(run),
        plots=drawn,
        no_plots=no_plots,
        made=tuple(_made(run, record)),
    )


def _plots(run: ReportInput) -> tuple[tuple[Plot, ...], str]:
    """The plots, or why there are none."""
    try:
        return plots_of(run), ""
    except ShotadError as error:
        return (), f"There are no plots. {error}"


def _made(run: ReportInput, record: Json) -> Iterator[tuple[str, str]]:
    made, git = record["made_with"], record["made_with"]["git"]
    state = f", commit {git['commit'][:12]}{', changed since' if git['dirty'] else ''}" if git else ""
    yield "Program", f"shotad {made['shotad']}{state}; Python {made['python']} on {made['system']}"
    if made.get("java"):
        yield "Java", made["java"]
    yield "Libraries", ", ".join(f"{name} {version}" for name, version in made["libraries"].items()) or "none"
    dataset, predictions = record["dataset"], record["predictions"]
    parts = [f"{what} {dataset[what][:12]}" for what in ("texts", "actions", "casts") if dataset[what]]
    yield "Dataset", f"{run.dataset}: {count(dataset['ads'], 'AD')}; SHA-256 of {', '.join(parts)}"
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
