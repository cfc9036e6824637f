"""What a report says, in words, before it is set as text or as a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shotad.evaluation.report.bootstrap import Span
from shotad.evaluation.report.inputs import LeftOut, ReportInput
from shotad.evaluation.report.table import (
    Beside,
    Footnote,
    MetricLine,
    beside_paper,
    footnotes,
    metric_lines,
    paper_notes,
)
from shotad.evaluation.report.wording import counts_words, failures_words, percent


@dataclass(frozen=True, slots=True)
class Content:
    """The report's parts, in their order."""

    title: str
    lead: str
    level: str
    counts: tuple[str, ...]
    metrics: tuple[MetricLine, ...]
    beside: Beside | None
    paper_notes: tuple[str, ...]
    footnotes: tuple[Footnote, ...]
    left_out: tuple[LeftOut, ...]


def content_of(run: ReportInput, intervals: Mapping[str, Span | None]) -> Content:
    """What is said of a run."""
    notes = footnotes(run.results)
    beside = beside_paper(run, intervals, notes.marks)
    settings = run.config.measures.report
    return Content(
        title=f"{run.predictions.called} on {run.dataset}",
        lead=_lead(run),
        level=percent(settings.level),
        counts=(*counts_words(run), *failures_words(run.results), *run.notes),
        metrics=metric_lines(run.results, intervals, notes.marks),
        beside=beside,
        paper_notes=tuple(paper_notes(run, beside)) if beside else (),
        footnotes=notes.notes,
        left_out=run.left_out,
    )


def _lead(run: ReportInput) -> str:
    settings = run.config.measures.report
    drawn = "whole films with all their ADs" if settings.unit == "film" else "ADs"
    if not settings.draws:
        return "No intervals were asked for."
    return (
        f"Intervals are {percent(settings.level)} percentile intervals of a bootstrap: "
        f"{settings.draws:,} draws of {drawn} with replacement, seed {run.seed}, the same for all metrics."
    )
