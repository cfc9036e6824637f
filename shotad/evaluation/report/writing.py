"""A report written into a folder, as text and as a page, and its numbers for a terminal.

The page is one file, to be read by eye, by ear and on paper, no scripts.
"""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from shotad.core import WorkFolderError, aligned, readable_json, write_bytes, write_text
from shotad.evaluation.report.content import Content, Listing, content_of
from shotad.evaluation.report.inputs import ReportInput
from shotad.evaluation.report.intervals import LEVEL, Span, basis_words, spans
from shotad.evaluation.report.plots import PLOT_NAMES
from shotad.evaluation.report.records import (
    ITEMS,
    REPORT,
    SPEED,
    TABLE,
    item_lines,
    item_table,
    report_record,
    speed_record,
)
from shotad.evaluation.report.table import (
    MetricLine,
    beside_paper,
    footnotes,
    metric_lines,
    paper_notes,
)
from shotad.evaluation.report.wording import COLUMNS, count, counts_words, failures_words, percent
from shotad.film import page_environment

TEXT, PAGE = "report.md", "report.html"


def intervals_of(run: ReportInput) -> dict[str, Span | None]:
    """The interval of each metric, by name, as the settings ask for it."""
    settings = run.config.measures.report
    films = {item.id: item.film for item in run.corpus.items}
    return spans(run.results, films, unit=settings.unit, level=LEVEL)


def write_report(folder: Path, run: ReportInput, *, plots: bool = True) -> list[Path]:
    """Write all files of the report into ``folder`` and say which. Each replaces an older one whole;
    ``report.json`` comes last, so that a folder that has it is complete. Raises WorkFolderError."""
    intervals = intervals_of(run)
    record = report_record(run, intervals)
    content = content_of(run, record, intervals, plots=plots)
    texts = {
        PAGE: page("report", content=content),
        TEXT: markdown(content),
        TABLE: item_table(run),
        SPEED: readable_json(speed_record(run)),
    }
    pictures = {f"{PLOTS}/{plot.name}.png": plot.png for plot in content.plots}
    _begin(folder)
    write_bytes(folder / ITEMS, (line.encode() for line in item_lines(run)))
    for name, text in texts.items():
        write_text(folder / name, text)
    for name, png in pictures.items():
        write_bytes(folder / name, [png])
    for name in PLOT_NAMES:  # of an earlier report, that this one has not
        if f"{PLOTS}/{name}.png" not in pictures:
            (folder / PLOTS / f"{name}.png").unlink(missing_ok=True)
    write_text(folder / REPORT, readable_json(record))
    return [folder / name for name in (REPORT, *texts, ITEMS, *pictures)]


def check_folder(folder: Path) -> None:
    """Raise WorkFolderError where no report could be written into ``folder``; nothing is left there."""
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise WorkFolderError(
            f"No report can be written into {folder}: {error.strerror}.", "Name another folder by --out."
        ) from None
    finally:
        for parent in made:
            with suppress(OSError):
                parent.rmdir()


def _begin(folder: Path) -> None:
    """Take the older report's last file away, so that a run that is killed leaves no mixture of both."""
    try:
        if folder.is_dir():
            (folder / REPORT).unlink(missing_ok=True)
    except OSError as error:
        raise WorkFolderError(f"{folder / REPORT} cannot be replaced: {error.strerror}.") from None


def terminal_text(run: ReportInput) -> str:
    """Counts, the metrics, this system above the paper's, what to know of them, and what was left out."""
    intervals, notes = intervals_of(run), footnotes(run.results)
    level = percent(LEVEL)
    heads, rows = _metric_table(level, metric_lines(run.results, intervals, notes.marks))
    lines = [f"{run.predictions.called} on {run.dataset}.", *counts_words(run), *failures_words(run)]
    lines += [*run.notes, "", *aligned(heads, rows, range(1, 6)), "", COLUMNS]
    basis = basis_words(intervals.values(), run.config.measures.report.unit)
    lines += [basis] if basis else []
    beside = beside_paper(run, intervals, notes.marks)
    if beside is not None:
        systems = [
            (", ".join(part for part in (line.system, line.made_with) if part), line.source, *line.cells)
            for line in beside.lines
        ]
        heads = ("System", "Source", *beside.heads)
        lines += ["", *aligned(heads, systems, range(2, len(heads))), "", *paper_notes(run, beside)]
    if notes.notes:
        lines += ["", *(f"{note.mark} {note.text}" for note in notes.notes)]
    if run.left_out:
        lines += ["", *(f"Not measured: {left.metric}. {left.reason}" for left in run.left_out)]
    return "\n".join(lines)


def _metric_table(level: str, metrics: Sequence[MetricLine]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows of the metrics one by one; the columns 1 to 5 are numbers."""
    heads = ("Metric", "Value", f"{level} interval", "ADs", "Scored", "Failed", "Better")
    rows: list[tuple[str, ...]] = [
        (
            f"{m.title} {m.mark}".strip(),
            m.value,
            m.interval,
            f"{m.n:,}",
            f"{m.scored:,}",
            f"{m.failed:,}",
            m.better,
        )
        for m in metrics
    ]
    return heads, rows


PLOTS = "plots"
"""The folder of pictures, beside the text."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown(content: Content) -> str:
    """All of the report."""
    lines = [f"# {md_text(content.title)}", "", md_text(content.lead), ""]
    lines += [f"- {md_text(said)}" for said in content.counts]
    lines += ["", "## Metrics", "", *md_table(*_metric_table(content.level, content.metrics), range(1, 6))]
    lines += ["", content.columns]
    if content.beside is not None:
        heads = ("System", "Models", "Source", *content.beside.heads)
        rows = [(line.system, line.made_with, line.source, *line.cells) for line in content.beside.lines]
        lines += ["", "## Beside the paper", "", *md_table(heads, rows, range(3, len(heads))), ""]
        lines += [f"- {md_text(note)}" for note in content.paper_notes]
    if content.footnotes:
        lines += ["", "## Notes", ""]
        lines += [f"- {md_text(note.mark)} {md_text(note.text)}" for note in content.footnotes]
    if content.left_out:
        lines += ["", "## Not counted", ""]
        lines += [f"- {md_text(left.metric)}: {md_text(left.reason)}" for left in content.left_out]
    for listing in content.listings:
        lines += _listing(listing)
    lines += _plots(content)
    lines += ["", "## How it was made", ""]
    lines += [f"- {md_text(term)}: {md_text(said)}" for term, said in content.made]
    return "\n".join(lines) + "\n"


def md_table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> list[str]:
    """A table; columns whose places are in ``numbers`` are set to the right."""
    rule = ["---:" if place in numbers else "---" for place in range(len(heads))]
    lines = [[md_text(head) for head in heads], rule, *([md_text(cell) for cell in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _listing(listing: Listing) -> list[str]:
    """The worst and best lines by one metric; the page has all that are listed."""
    heads = ("AD", "Score", "Human AD", "Prediction", "Film", "When, how long", "Notes of the metric")
    lines: list[str] = []
    for name, found in (("Worst", listing.worst), ("Best", listing.best)):
        rows = [(ln.id, ln.value, ln.reference, ln.prediction, ln.film, ln.when, ln.notes) for ln in found]
        lines += ["", f"## {name} lines by {md_text(listing.title)}", "", *md_table(heads, rows, [1])]
    if listing.silent:
        lines += ["", f"{count(listing.silent, 'AD')} for which nothing was said not listed."]
    return lines


def _plots(content: Content) -> list[str]:
    lines = ["", "## Plots", ""] if content.plots or content.no_plots else []
    lines += [md_text(content.no_plots)] if content.no_plots else []
    for plot in content.plots:
        rows = md_table(plot.table.heads, plot.table.rows, range(plot.table.texts, len(plot.table.heads)))
        lines += [f"### {md_text(plot.title)}", "", f"![{md_text(plot.alt)}]({PLOTS}/{plot.name}.png)", ""]
        lines += [md_text(plot.caption), "", *rows, ""]
    return lines


def md_text(text: str) -> str:
    """Text on one line in which nothing is taken for a sign of Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


_TEMPLATES = Path(__file__).parent / "page"


def page(template: str, **values: Any) -> str:
    """The page of this template, filled in."""
    environment = page_environment(
        _TEMPLATES,
        embedded=lambda plot: f"data:image/png;base64,{base64.b64encode(plot.png).decode('ascii')}",
        bare=lambda mark: mark.strip("[]"),
        adcount=lambda n: count(n, "AD"),
        linecount=lambda n: count(n, "line"),
    )
    return environment.get_template(f"{template}.html.j2").render(**values)
