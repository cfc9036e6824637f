"""The report as text (``report.md``), as a page (``report.html``) and for a terminal; and its folder.

The page is one file without scripts, for reading by eye, by ear and on paper.
"""

from __future__ import annotations

import base64
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from shotad.core import ShotadError
from shotad.core.errors import WorkFolderError
from shotad.core.files import (
    inner_folder,
    remove_file,
    write_bytes,
    write_text,
)
from shotad.core.progress import plural, table_lines
from shotad.core.workfolder import readable_json
from shotad.evaluation.evaluation_run import AND, Report, base_name
from shotad.evaluation.metric import Item, Json, Result, Row
from shotad.evaluation.report.intervals import LEVEL, Span, basis_words, span_of
from shotad.evaluation.report.plots import PLOT_NAMES, Plot, main_results, plots_of
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
    COLUMNS,
    beside_paper,
    clock,
    counted_as_0,
    counts_words,
    footnotes,
    number,
    paper_notes,
    percent,
    span_words,
    with_marks,
)
from shotad.film.palette import page_environment

Content = dict[str, Any]
"""Values of the report's templates, by name; the terminal uses some of them."""


HEADS = ("Metric", "Value", f"{percent(LEVEL)} interval", "ADs", "Scored", "Failed", "Better")
"""Heads of the table of metrics; `_metric_cells` has a cell for each."""

NUMBER_COLUMNS = range(1, 6)
"""Columns of that table that are set to the right."""


def _metric_cells(result: Result, interval: Span | None, title: str) -> tuple[str, ...]:
    """A row of the table of metrics, a cell for each of `HEADS`."""
    return (
        title,
        number(result.name, result.value),
        span_words(result.name, interval),
        f"{len(result.rows):,}",
        f"{result.scored:,}",
        f"{counted_as_0(result):,}",
        "higher" if result.higher_is_better else "lower",
    )


def content_of(run: Report, intervals: Mapping[str, Span | None]) -> Content:
    """The content that page, text and terminal share: titles, counts, tables and notes.

    ``intervals`` are those of the metrics, by name.
    """
    notes = footnotes(run.results)
    paper_heads, paper_lines = beside_paper(run, intervals, notes)
    metrics, titles = [], []
    for result, marked_title in zip(run.results, with_marks(run.results, notes), strict=True):
        metrics.append(_metric_cells(result, intervals.get(result.name), marked_title))
        titles.append((result.title, notes[result.name][0] if result.name in notes else ""))
    return {
        "title": f"{run.system} on {run.dataset}",
        "lead": basis_words(intervals.values(), run.config.measures.report.unit),
        "counts": (*counts_words(run), *run.notes),
        "differs": run.differs,
        "heads": HEADS,
        "number_columns": NUMBER_COLUMNS,
        "metrics": metrics,
        "titles": titles,
        "columns": COLUMNS,
        "beside_heads": paper_heads,
        "beside": paper_lines,
        "paper_notes": paper_notes(run, paper_lines) if paper_lines else (),
        "footnotes": tuple(notes.values()),
        "not_measured": run.not_measured,
    }


def full_content(
    run: Report, record: Json, intervals: Mapping[str, Span | None], *, plots: bool = True
) -> Content:
    """`content_of`, with the listed lines, the plots, and how the report was made.

    ``record`` is its ``report.json``.
    """
    drawn: tuple[Plot, ...] = ()
    no_plots = ""
    try:
        drawn = plots_of(run) if plots else ()
    except ShotadError as error:
        no_plots = f"There are no plots. {error}"
    content = content_of(run, intervals)
    return {
        **content,
        "lead": content["lead"] or "There are too few ADs for intervals.",
        "level": percent(LEVEL),
        "listings": listings(run),
        "plots": drawn,
        "no_plots": no_plots,
        "provenance": _provenance(run, record),
    }


def _provenance(run: Report, record: Json) -> list[tuple[str, str]]:
    """How the report was made: terms with their descriptions. ``record`` is its ``report.json``."""
    made_with, dataset, predictions = record["made_with"], record["dataset"], record["predictions"]
    git = made_with["git"]
    commit = ""
    if git:
        commit = f", commit {git['commit'][:12]}" + (", changed since" if git["dirty"] else "")
    program = f"shotad {made_with['shotad']}{commit}"
    rows = [("Program", f"{program}; Python {made_with['python']} on {made_with['system']}")]
    if made_with.get("java"):
        rows.append(("Java", made_with["java"]))
    libraries = ", ".join(f"{name} {version}" for name, version in made_with["libraries"].items())
    rows.append(("Libraries", libraries or "none"))
    parts = [f"{part} {dataset[part][:12]}" for part in ("texts", "actions", "casts") if dataset[part]]
    rows.append(("Dataset", f"{run.dataset}: {plural(dataset['ads'], 'AD')}; SHA-256 of {', '.join(parts)}"))
    hashes = " + ".join(digest[:12] for digest in predictions["sha256"].split(AND))
    rows.append(("Predictions", f"{predictions['name']}{f', {hashes} (SHA-256)' if hashes else ''}"))
    options = [f"--config {name}" for name in run.configs]
    options += [f"--set {assignment}" for assignment in run.assignments]
    rows.append(("Settings", f"{', '.join(options) or 'all as they come'}; seed {run.config.seed}"))
    rows += [(metric["title"], identity_words(metric["identity"])) for metric in record["metrics"]]
    return rows


def identity_words(identity: Json) -> str:
    """What a metric is, in one line: ``model: minilm, revision: …``; nested values in brackets."""
    return ", ".join(f"{name}: {_value_words(value)}" for name, value in identity.items()) or "no settings"


def _value_words(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({identity_words(dict(value))})"
    if value is None or value == "":
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_LISTED = ("cider", "critic", "action", "events", "llm-ad-eval", "llm-action", "action-description")
"""Metrics whose single lines are worth reading; recall's are right or wrong."""

LISTED = 20
"""Best and worst lines that are shown: what is read at one sitting."""

_MAX_NOTES = 300
"""Characters of a metric's notes on a line; longer ones are cut."""


Line = tuple[str, ...]
"""One AD as it is listed: a cell for each of `LINE_HEADS`."""

LINE_HEADS = ("AD", "Score", "Human AD", "Prediction", "Film", "When, how long", "Notes of the metric")
"""Heads of the lists of lines; `_line` has a cell for each."""

LINE_NUMBER_COLUMNS = (1,)
"""Places of the columns of `LINE_HEADS` that hold numbers."""


def listings(run: Report) -> list[Content]:
    """For each main metric its ``title``, and its lines: the ``worst``, worst first, and the ``best``, best
    first. No line stands in both. ``unpredicted`` is the number of ADs without a predicted word, which are
    not listed."""
    results = main_results(run)
    items = {item.id: item for item in run.scored}
    lists = []
    listed_results = [result for result in results if base_name(result.name) in _LISTED]
    for result in listed_results or results[:1]:
        rows = [row for row in result.rows if row.value is not None and items[row.id].prediction]
        sign = 1.0 if result.higher_is_better else -1.0
        rows.sort(key=lambda row: (sign * (row.value or 0.0), row.id))
        n = min(LISTED, len(rows) // 2)
        lists.append(
            {
                "title": result.title,
                "worst": [_line(run, result.name, row, items[row.id]) for row in rows[:n]],
                "best": [_line(run, result.name, row, items[row.id]) for row in rows[::-1][:n]],
                "unpredicted": sum(not items[row.id].prediction for row in result.rows),
            }
        )
    return lists


def _line(run: Report, metric: str, row: Row, item: Item) -> Line:
    """A listed AD, with the metric's notes on it in one cell: ``wanted: Ann, Ben; found: Ann``."""
    notes = [row.failure] if row.failure else []
    notes += [f"{name}: {_note_words(value)}" for name, value in row.notes.items() if not _is_empty(value)]
    text = "; ".join(notes)
    return (
        item.id,
        number(metric, row.value),
        item.reference,
        item.prediction or "",
        run.titles.get(item.film) or item.film,
        clock(item.interval),
        text if len(text) <= _MAX_NOTES else f"{text[: _MAX_NOTES - 1]}…",
    )


def _is_empty(value: object) -> bool:
    """Whether a note says nothing; 0 and False do say something."""
    return value in (None, "", [], {})


def _note_words(value: object) -> str:
    """A note of a metric, which is JSON, in words."""
    if isinstance(value, (list, tuple)):
        return ", ".join(_note_words(part) for part in value)
    if isinstance(value, Mapping):
        parts = [f"{name} {_note_words(part)}" for name, part in value.items() if not _is_empty(part)]
        return f"({', '.join(parts)})"
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


TEXT, PAGE = "report.md", "report.html"


def intervals_of(run: Report) -> dict[str, Span | None]:
    """The interval of each metric, by name, as the settings ask for it."""
    unit, films = run.config.measures.report.unit, run.films
    return {result.name: span_of(result, films, unit=unit) for result in run.results}


def write_report(folder: Path, run: Report, *, plots: bool = True) -> list[Path]:
    """Write all files of the report into ``folder`` and return their paths. Raises WorkFolderError.

    Each file replaces an older one whole. ``report.json`` comes last, so that a folder that has it is
    complete.
    """
    intervals = intervals_of(run)
    record = report_record(run, intervals)
    content = full_content(run, record, intervals, plots=plots)
    texts = {
        **{
            name: page(name, content=content, line_heads=LINE_HEADS, line_number_columns=LINE_NUMBER_COLUMNS)
            for name in (PAGE, TEXT)
        },
        TABLE: item_table(run),
        SPEED: readable_json(speed_record(run)),
    }
    pictures = {f"{PLOTS}/{plot.name}.png": plot.png for plot in content["plots"]}
    plots_folder = inner_folder(folder, PLOTS)
    try:  # the older report's last file goes first: a run that is killed leaves no mixture of both
        if folder.is_dir():
            remove_file(folder / REPORT)
    except OSError as error:
        raise WorkFolderError(f"{folder / REPORT} cannot be replaced: {error.strerror}.") from None
    write_bytes(folder / ITEMS, (line.encode() for line in item_lines(run)))
    for name, text in texts.items():
        write_text(folder / name, text)
    for name, png in pictures.items():
        write_bytes(folder / name, [png])
    for name in PLOT_NAMES:  # of an earlier report, that this one has not
        if f"{PLOTS}/{name}.png" not in pictures:
            remove_file(plots_folder / f"{name}.png")
    write_text(folder / REPORT, readable_json(record))
    return [folder / name for name in (REPORT, *texts, ITEMS, *pictures)]


def check_folder(folder: Path) -> None:
    """Raise WorkFolderError where no report could be written into ``folder``; nothing is left there."""
    new_folders = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise WorkFolderError(
            f"No report can be written into {folder}: {error.strerror}.", "Name another folder by --out."
        ) from None
    finally:
        for parent in new_folders:
            with suppress(OSError):
                parent.rmdir()


def terminal_text(run: Report) -> str:
    """The report's numbers, for people."""
    content = content_of(run, intervals_of(run))
    lines = [f"{content['title']}.", *content["counts"], ""]
    if content["differs"]:
        lines += ["Differs from the paper in:", *(f"- {text}" for text in content["differs"]), ""]
    lines += table_lines(HEADS, content["metrics"], NUMBER_COLUMNS)
    lines += ["", content["columns"]]
    if content["lead"]:
        lines.append(content["lead"])
    if content["beside"]:
        heads = ("System", "Source", *content["beside_heads"])
        systems = []
        for _kind, system, models, *cells in content["beside"]:
            # Terminals are narrow: the models stand in the system's cell.
            systems.append((f"{system}, {models}" if models else system, *cells))
        lines += ["", *table_lines(heads, systems, range(2, len(heads))), "", *content["paper_notes"]]
    if content["footnotes"]:
        lines += ["", *(f"{mark} {note}" for mark, note in content["footnotes"])]
    if content["not_measured"]:
        lines += ["", *(f"Not measured: {name}. {reason}" for name, reason in content["not_measured"])]
    return "\n".join(lines)


PLOTS = "plots"
"""The folder of pictures, beside the text."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def _markdown_table(rows: Sequence[Sequence[str]], heads: Sequence[str], numbers: Sequence[int]) -> str:
    """A table in Markdown; columns whose places are in ``numbers`` are set to the right."""
    rule = ["---:" if place in numbers else "---" for place in range(len(heads))]
    lines = [list(map(_markdown_text, heads)), rule]
    lines += [list(map(_markdown_text, row)) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _markdown_text(text: str) -> str:
    """``text`` on one line, with Markdown's special characters escaped."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


_TEMPLATES = Path(__file__).parent / "page"


def page(template: str, **values: Any) -> str:
    """The template ``page/{template}.j2``, in HTML or Markdown, filled in with ``values``."""
    environment = page_environment(
        _TEMPLATES,
        embedded=lambda plot: f"data:image/png;base64,{base64.b64encode(plot.png).decode('ascii')}",
        bare=lambda mark: mark.strip("[]"),
        adcount=lambda n: plural(n, "AD"),
        linecount=lambda n: plural(n, "line"),
        md=_markdown_text,
        table=_markdown_table,
        without_first=lambda rows: [row[1:] for row in rows],
    )
    return environment.get_template(f"{template}.j2").render(**values)
