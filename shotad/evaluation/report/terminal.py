"""A report's numbers for a terminal: plain lines that a screen reader can follow."""

from __future__ import annotations

from shotad.evaluation.report.columns import aligned
from shotad.evaluation.report.inputs import ReportInput
from shotad.evaluation.report.intervals import basis_words
from shotad.evaluation.report.table import Beside, beside_paper, footnotes, metric_lines, paper_notes
from shotad.evaluation.report.wording import COLUMNS, counts_words, failures_words, percent
from shotad.evaluation.report.writing import intervals_of


def terminal_text(run: ReportInput) -> str:
    """Counts, the metrics, this system above the paper's, what to know of them, and what was left out."""
    intervals, notes = intervals_of(run), footnotes(run.results)
    level = percent(run.config.measures.report.level)
    heads = ("Metric", "Value", f"{level} interval", "ADs", "Scored", "Failed", "Better")
    rows = [
        (
            f"{m.title} {m.mark}".strip(),
            m.value,
            m.interval,
            *map(_count, (m.n, m.scored, m.failed)),
            m.better,
        )
        for m in metric_lines(run.results, intervals, notes.marks)
    ]
    lines = [f"{run.predictions.called} on {run.dataset}.", *counts_words(run), *failures_words(run)]
    lines += [*run.notes, "", *aligned(heads, rows, range(1, 6)), "", COLUMNS]
    basis = basis_words(intervals.values(), run.config.measures.report.unit)
    lines += [basis] if basis else []
    beside = beside_paper(run, intervals, notes.marks)
    if beside is not None:
        lines += ["", *_beside(beside), "", *paper_notes(run, beside)]
    if notes.notes:
        lines += ["", *(f"{note.mark} {note.text}" for note in notes.notes)]
    if run.left_out:
        lines += ["", *(f"Not measured: {left.metric}. {left.reason}" for left in run.left_out)]
    return "\n".join(lines)


def _beside(beside: Beside) -> list[str]:
    rows = [
        (", ".join(part for part in (line.system, line.made_with) if part), line.source, *line.cells)
        for line in beside.lines
    ]
    return aligned(("System", "Source", *beside.heads), rows, range(2, 2 + len(beside.heads)))


def _count(n: int) -> str:
    return f"{n:,}"
