"""A report written into a folder."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from shotad.core import WorkFolderError, readable_json, write_bytes, write_text
from shotad.evaluation.report.content import content_of
from shotad.evaluation.report.inputs import ReportInput
from shotad.evaluation.report.intervals import Span, spans
from shotad.evaluation.report.markdown import PLOTS, markdown
from shotad.evaluation.report.pages import page
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

TEXT, PAGE = "report.md", "report.html"


def intervals_of(run: ReportInput) -> dict[str, Span | None]:
    """The interval of each metric, by name, as the settings ask for it."""
    settings = run.config.measures.report
    films = {item.id: item.film for item in run.corpus.items}
    return spans(run.results, films, unit=settings.unit, level=settings.level)


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
    _sweep(folder / PLOTS, set(pictures))
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


def _sweep(folder: Path, kept: set[str]) -> None:
    """Remove plots of an earlier report that this one has not."""
    for name in PLOT_NAMES:
        if f"{PLOTS}/{name}.png" not in kept:
            (folder / f"{name}.png").unlink(missing_ok=True)
