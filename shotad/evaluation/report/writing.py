"""A report written into a folder, as text and as a page, and its numbers for a terminal.

The page is one file, to be read by eye, by ear and on paper, no scripts.
"""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from shotad.core import WorkFolderError, aligned, plural, readable_json, write_bytes, write_text
from shotad.evaluation.report.content import LINE_HEADS, Content, content_of, whole_content
from shotad.evaluation.report.inputs import ReportInput
from shotad.evaluation.report.intervals import LEVEL, Span, spans
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
    content = whole_content(run, record, intervals, plots=plots)
    texts = {
        PAGE: page("report", content=content),
        TEXT: markdown(content),
        TABLE: item_table(run),
        SPEED: readable_json(speed_record(run)),
    }
    pictures = {f"{PLOTS}/{plot.name}.png": plot.png for plot in content["plots"]}
    try:  # the older report's last file goes first: a run that is killed leaves no mixture of both
        if folder.is_dir():
            (folder / REPORT).unlink(missing_ok=True)
    except OSError as error:
        raise WorkFolderError(f"{folder / REPORT} cannot be replaced: {error.strerror}.") from None
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


def terminal_text(run: ReportInput) -> str:
    """Counts, the metrics, this system above the paper's, what to know of them, and what was left out."""
    told = content_of(run, intervals_of(run))
    lines = [f"{told['title']}.", *told["counts"], "", *aligned(told["heads"], told["metrics"], range(1, 6))]
    lines += ["", told["columns"], *([told["lead"]] if told["lead"] else [])]
    if told["beside"]:
        heads = ("System", "Source", *told["beside_heads"])
        systems = [(", ".join(filter(None, row[1:3])), *row[3:]) for row in told["beside"]]
        lines += ["", *aligned(heads, systems, range(2, len(heads))), "", *told["paper_notes"]]
    if told["footnotes"]:
        lines += ["", *map(" ".join, told["footnotes"])]
    if told["left_out"]:
        lines += ["", *(f"Not measured: {left.metric}. {left.reason}" for left in told["left_out"])]
    return "\n".join(lines)


PLOTS = "plots"
"""The folder of pictures, beside the text."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown(told: Content) -> str:
    """All of the report."""
    lines = [f"# {md_text(told['title'])}", "", md_text(told["lead"]), "", *bullets(told["counts"])]
    lines += ["", "## Metrics", "", *md_table(told["heads"], told["metrics"], range(1, 6))]
    lines += ["", told["columns"]]
    if told["beside"]:
        heads = ("System", "Models", "Source", *told["beside_heads"])
        table = md_table(heads, [row[1:] for row in told["beside"]], range(3, len(heads)))
        lines += ["", "## Beside the paper", "", *table, "", *bullets(told["paper_notes"])]
    if told["footnotes"]:
        lines += ["", "## Notes", "", *bullets(map(" ".join, told["footnotes"]))]
    if told["left_out"]:
        left_out = (f"{left.metric}: {left.reason}" for left in told["left_out"])
        lines += ["", "## Not counted", "", *bullets(left_out)]
    for listing in told["listings"]:
        for name, found in (("Worst", listing.worst), ("Best", listing.best)):
            heading = f"## {name} lines by {md_text(listing.title)}"
            lines += ["", heading, "", *md_table(LINE_HEADS, found, [1])]
        if listing.silent:
            lines += ["", f"{plural(listing.silent, 'AD')} for which nothing was said not listed."]
    if told["plots"] or told["no_plots"]:
        lines += ["", "## Plots", "", *([md_text(told["no_plots"])] if told["no_plots"] else [])]
    for plot in told["plots"]:
        rows = md_table(plot.table.heads, plot.table.rows, range(plot.table.texts, len(plot.table.heads)))
        lines += [f"### {md_text(plot.title)}", "", f"![{md_text(plot.alt)}]({PLOTS}/{plot.name}.png)", ""]
        lines += [md_text(plot.caption), "", *rows, ""]
    lines += ["", "## How it was made", "", *bullets(map(": ".join, told["made"]))]
    return "\n".join(lines) + "\n"


def bullets(said: Iterable[str]) -> Iterator[str]:
    """A list."""
    return (f"- {md_text(one)}" for one in said)


def md_table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> list[str]:
    """A table; columns whose places are in ``numbers`` are set to the right."""
    rule = ["---:" if place in numbers else "---" for place in range(len(heads))]
    lines = [[md_text(head) for head in heads], rule, *([md_text(cell) for cell in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


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
        adcount=lambda n: plural(n, "AD"),
        linecount=lambda n: plural(n, "line"),
    )
    return environment.get_template(f"{template}.html.j2").render(**values)
