"""A report's numbers for a terminal: plain lines that a screen reader can follow."""

from __future__ import annotations

from collections.abc import Sequence

from shotad.evaluation.report.inputs import ReportInput
from shotad.evaluation.report.table import (
    Beside,
    MetricLine,
    beside_paper,
    footnotes,
    metric_lines,
    paper_notes,
)
from shotad.evaluation.report.wording import counts_words, failures_words
from shotad.evaluation.report.writing import intervals_of

HEADS = ("Metric", "value", "interval", "ADs", "failed", "better")


def terminal_text(run: ReportInput) -> str:
    """The metrics, the paper's rows for this dataset, what to know of both, and what was left out."""
    intervals, notes = intervals_of(run), footnotes(run.results)
    level = f"{run.config.measures.report.level:.0%} interval"
    heads = (*HEADS[:2], level, *HEADS[3:])
    lines = [f"{run.predictions.called} on {run.dataset}.", *counts_words(run), ""]
    lines += _table([heads, *map(_cells, metric_lines(run.results, intervals, notes.marks))])
    lines += failures_words(run.results)
    beside = beside_paper(run, intervals, notes.marks)
    if beside is not None:
        lines += ["", *_table(_rows(beside)), *paper_notes(run, beside)]
    if notes.notes:
        lines += ["", *(f"{note.mark} {note.text}" for note in notes.notes)]
    if run.left_out:
        lines += ["", "Not measured:", *(f"  {one.metric}: {one.reason}" for one in run.left_out)]
    return "\n".join(lines)


def _cells(line: MetricLine) -> tuple[str, ...]:
    title = f"{line.title} {line.mark}".strip()
    return title, line.value, line.interval, f"{line.scored:,}", f"{line.failed:,}", line.better


def _rows(beside: Beside) -> list[tuple[str, ...]]:
    heads = ("System", "source", *beside.heads)
    return [heads, *((line.system, line.source, *line.cells) for line in beside.lines)]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
