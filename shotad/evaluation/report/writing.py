"""A report written into a folder."""

from __future__ import annotations

from pathlib import Path

from shotad.evaluation.report.bootstrap import Span, spans
from shotad.evaluation.report.content import content_of
from shotad.evaluation.report.inputs import ReportInput
from shotad.evaluation.report.markdown import markdown
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
from shotad.workfolder import readable_json, write_bytes, write_text

TEXT = "report.md"


def intervals_of(run: ReportInput) -> dict[str, Span | None]:
    """The interval of each metric, by name, as the settings ask for it."""
    settings = run.config.measures.report
    films = {item.id: item.film for item in run.corpus.items}
    return spans(
        run.results,
        films,
        draws=settings.draws,
        unit=settings.unit,
        level=settings.level,
        seed=run.seed,
    )


def write_report(folder: Path, run: ReportInput) -> list[Path]:
    """Write all files of the report into ``folder`` and say which. Each replaces an older one whole;
    ``report.json`` comes last, so that a folder that has it is complete. Raises WorkFolderError."""
    intervals = intervals_of(run)
    content = content_of(run, intervals)
    texts = {TABLE: item_table(run), TEXT: markdown(content), SPEED: readable_json(speed_record(run))}
    write_bytes(folder / ITEMS, (line.encode() for line in item_lines(run)))
    for name, text in texts.items():
        write_text(folder / name, text)
    write_text(folder / REPORT, readable_json(report_record(run, intervals)))
    return [folder / name for name in (REPORT, ITEMS, *texts)]
