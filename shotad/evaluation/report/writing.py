"""What a report says, in words, with the best and the worst lines; written into a folder, as text and as a
page, and its numbers for a terminal.

The page is one file, to be read by eye, by ear and on paper, no scripts.
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
    write_bytes,
    write_text,
)
from shotad.core.progress import plural, table_lines
from shotad.core.workfolder import readable_json
from shotad.evaluation.metric import Item, Json, Row
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
from shotad.evaluation.running import AND, Report, base_name
from shotad.film.palette import page_environment

Content = dict[str, Any]
"""The parts of a report by name, as its page, its text and the terminal take them."""


def content_of(run: Report, intervals: Mapping[str, Span | None]) -> Content:
    """What is said of a run in all three."""
    notes = footnotes(run.results)
    heads, lines = beside_paper(run, intervals, notes)
    level = percent(LEVEL)
    return {
        "title": f"{run.system} on {run.dataset}",
        "lead": basis_words(intervals.values(), run.config.measures.report.unit),
        "counts": (*counts_words(run), *run.notes),
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
    run: Report, record: Json, intervals: Mapping[str, Span | None], *, plots: bool = True
) -> Content:
    """With lines, plots, and how it was made. ``record`` is its ``report.json``."""
    drawn: tuple[Plot, ...] = ()
    no_plots = ""
    try:
        drawn = plots_of(run) if plots else ()
    except ShotadError as error:
        no_plots = f"There are no plots. {error}"
    told = content_of(run, intervals)
    made, git = record["made_with"], record["made_with"]["git"]
    state = f", commit {git['commit'][:12]}{', changed since' if git['dirty'] else ''}" if git else ""
    libraries = ", ".join(f"{name} {version}" for name, version in made["libraries"].items())
    dataset, predictions = record["dataset"], record["predictions"]
    parts = [f"{what} {dataset[what][:12]}" for what in ("texts", "actions", "casts") if dataset[what]]
    hashes = " + ".join(digest[:12] for digest in predictions["sha256"].split(AND))
    settings = [*(f"--config {name}" for name in run.configs), *(f"--set {said}" for said in run.assignments)]
    return {
        **told,
        "lead": told["lead"] or "There are too few ADs for intervals.",
        "level": percent(LEVEL),
        "listings": listings(run),
        "plots": drawn,
        "no_plots": no_plots,
        "made": (
            ("Program", f"shotad {made['shotad']}{state}; Python {made['python']} on {made['system']}"),
            *([("Java", made["java"])] if made.get("java") else []),
            ("Libraries", libraries or "none"),
            ("Dataset", f"{run.dataset}: {plural(dataset['ads'], 'AD')}; SHA-256 of {', '.join(parts)}"),
            ("Predictions", f"{predictions['name']}{f', {hashes} (SHA-256)' if hashes else ''}"),
            ("Settings", f"{', '.join(settings) or 'all as they come'}; seed {run.config.seed}"),
            *((metric["title"], identity_words(metric["identity"])) for metric in record["metrics"]),
        ),
    }


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


def listings(run: Report) -> list[Content]:
    """By each main metric the lines, the ``worst`` first and the ``best`` first. No line stands in both.
    ``silent`` have no word predicted for them and are not listed."""
    results = main_results(run)
    items = {item.id: item for item in run.scored}
    found = []
    for result in [r for r in results if base_name(r.name) in _LISTED] or list(results[:1]):
        spoken = [row for row in result.rows if row.value is not None and items[row.id].prediction]
        sign = 1.0 if result.higher_is_better else -1.0
        spoken = sorted(spoken, key=lambda row: (sign * (row.value or 0.0), row.id))
        n = min(LISTED, len(spoken) // 2)
        worst, best = (
            tuple(_line(run, result.name, row, items[row.id]) for row in rows)
            for rows in (spoken[:n], spoken[::-1][:n])
        )
        silent = sum(not items[row.id].prediction for row in result.rows)
        found.append({"title": result.title, "worst": worst, "best": best, "silent": silent})
    return found


def _line(run: Report, metric: str, row: Row, item: Item) -> Line:
    """With what the metric notes on it in one line: ``wanted: Ann, Ben; found: Ann``."""
    told = {name: value for name, value in row.notes.items() if value not in (None, "", [], {})}
    notes = "; ".join(
        filter(None, [row.failure, *(f"{name}: {_plain(value)}" for name, value in told.items())])
    )
    notes = notes if len(notes) <= _LONGEST else f"{notes[: _LONGEST - 1]}…"
    texts = (item.reference, item.prediction or "", run.titles.get(item.film) or item.film)
    return (item.id, number(metric, row.value), *texts, clock(item.interval), notes)


def _plain(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(part) for part in value)
    if isinstance(value, Mapping):
        told = (f"{name} {_plain(part)}" for name, part in value.items() if part not in (None, "", [], {}))
        return f"({', '.join(told)})"
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


TEXT, PAGE = "report.md", "report.html"


def intervals_of(run: Report) -> dict[str, Span | None]:
    """The interval of each metric, by name, as the settings ask for it."""
    unit, films = run.config.measures.report.unit, run.films
    return {result.name: span_of(result, films, unit=unit) for result in run.results}


def write_report(folder: Path, run: Report, *, plots: bool = True) -> list[Path]:
    """Write all files of the report into ``folder`` and say which. Each replaces an older one whole;
    ``report.json`` comes last, so that a folder that has it is complete. Raises WorkFolderError."""
    intervals = intervals_of(run)
    record = report_record(run, intervals)
    content = whole_content(run, record, intervals, plots=plots)
    texts = {
        **{name: page(name, content=content, line_heads=LINE_HEADS) for name in (PAGE, TEXT)},
        TABLE: item_table(run),
        SPEED: readable_json(speed_record(run)),
    }
    pictures = {f"{PLOTS}/{plot.name}.png": plot.png for plot in content["plots"]}
    plots_folder = inner_folder(folder, PLOTS)
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
            (plots_folder / f"{name}.png").unlink(missing_ok=True)
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


def terminal_text(run: Report) -> str:
    """The report's numbers, for people."""
    told = content_of(run, intervals_of(run))
    lines = [
        f"{told['title']}.",
        *told["counts"],
        "",
        *table_lines(told["heads"], told["metrics"], range(1, 6)),
    ]
    lines += ["", told["columns"], *([told["lead"]] if told["lead"] else [])]
    if told["beside"]:
        heads = ("System", "Source", *told["beside_heads"])
        systems = [(", ".join(filter(None, row[1:3])), *row[3:]) for row in told["beside"]]
        lines += ["", *table_lines(heads, systems, range(2, len(heads))), "", *told["paper_notes"]]
    if told["footnotes"]:
        lines += ["", *map(" ".join, told["footnotes"])]
    if told["left_out"]:
        lines += ["", *(f"Not measured: {name}. {reason}" for name, reason in told["left_out"])]
    return "\n".join(lines)


PLOTS = "plots"
"""The folder of pictures, beside the text."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def _table(rows: Sequence[Sequence[str]], heads: Sequence[str], numbers: Sequence[int]) -> str:
    """A table in Markdown; columns whose places are in ``numbers`` are set to the right."""
    rule = ["---:" if place in numbers else "---" for place in range(len(heads))]
    lines = [[_text(head) for head in heads], rule, *([_text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(text: str) -> str:
    """Text on one line in which nothing is taken for a sign of Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


_TEMPLATES = Path(__file__).parent / "page"


def page(template: str, **values: Any) -> str:
    """The page, or the text in Markdown, of this template, filled in."""
    environment = page_environment(
        _TEMPLATES,
        embedded=lambda plot: f"data:image/png;base64,{base64.b64encode(plot.png).decode('ascii')}",
        bare=lambda mark: mark.strip("[]"),
        adcount=lambda n: plural(n, "AD"),
        linecount=lambda n: plural(n, "line"),
        md=_text,
        table=_table,
        without_first=lambda rows: [row[1:] for row in rows],
    )
    return environment.get_template(f"{template}.j2").render(**values)
