"""The tables of a report: the metrics one by one, and this system above those of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from shotad.evaluation.measure.rows import Result
from shotad.evaluation.report.inputs import ReportInput
from shotad.evaluation.report.intervals import Span
from shotad.evaluation.report.paper_rows import JUDGES, RUN_TO_RUN, PaperRow, paper_rows, paper_values
from shotad.evaluation.report.wording import NONE, counted_as_0, direction, number, span_words

PAPER_MARK = "from the paper"
"""What stands in each row that was not measured here."""

_NOT_COMPARABLE = "not comparable"
"""What a remark says of a number that must not stand beside the paper's."""

Kind = Literal["own", "paper", "ceiling"]


@dataclass(frozen=True, slots=True)
class MetricLine:
    """One metric: its number, of how many ADs, and what to know of it. ``mark`` points to a footnote."""

    title: str
    mark: str
    value: str
    interval: str
    n: int
    scored: int
    failed: int
    better: str


@dataclass(frozen=True, slots=True)
class SystemLine:
    """One system: a cell for each column."""

    kind: Kind
    system: str
    made_with: str
    source: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Beside:
    """This system's line, then the paper's. ``heads`` are the titles of the columns, with their marks."""

    heads: tuple[str, ...]
    lines: tuple[SystemLine, ...]


@dataclass(frozen=True, slots=True)
class Footnote:
    """What a mark stands for."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Footnotes:
    """Remarks of the metrics, and by which mark each metric points to its own."""

    notes: tuple[Footnote, ...]
    marks: Mapping[str, str]


def footnotes(results: Sequence[Result]) -> Footnotes:
    """One note for each metric that has anything to say: first whether it may stand beside the paper's."""
    notes: list[Footnote] = []
    marks: dict[str, str] = {}
    for result in results:
        said = list(result.remarks)
        if not result.comparable and not any(_NOT_COMPARABLE in remark for remark in said):
            said.insert(0, f"{_NOT_COMPARABLE} with the paper's number")
        if result.figure.shift:
            zero = number(result.name, result.figure.factor * result.figure.shift)
            said.append(f"The score 0, as of what is missing, stands at {zero} on this scale.")
        if said:
            marks[result.name] = _mark(len(notes))
            notes.append(Footnote(marks[result.name], f"{result.title}: {_sentence(said)}"))
    return Footnotes(tuple(notes), marks)


def metric_lines(
    results: Sequence[Result], intervals: Mapping[str, Span | None], marks: Mapping[str, str]
) -> tuple[MetricLine, ...]:
    """The metrics one by one."""
    return tuple(
        MetricLine(
            result.title,
            marks.get(result.name, ""),
            number(result.name, result.value),
            span_words(result.name, intervals.get(result.name)),
            len(result.rows),
            result.scored,
            counted_as_0(result),
            direction(result),
        )
        for result in results
    )


def beside_paper(
    run: ReportInput, intervals: Mapping[str, Span | None], marks: Mapping[str, str]
) -> Beside | None:
    """This system above the paper's rows, in the metrics that the paper has for this dataset; None where it
    has none of them."""
    rows = paper_rows(run.corpus.dataset, run.protocol)
    columns = [r for r in run.results if any(paper_values(row, r) for row in rows)]
    if not columns:
        return None
    own = tuple(_own_cell(result, intervals.get(result.name)) for result in columns)
    told = [row for row in rows if any(paper_values(row, result) for result in columns)]
    heads = tuple(f"{r.title} {marks[r.name]}" if r.name in marks else r.title for r in columns)
    lines = [SystemLine("own", run.predictions.called, "", "measured here", own)]
    return Beside(heads, (*lines, *(_paper_line(row, columns) for row in told)))


def paper_notes(run: ReportInput, beside: Beside) -> list[str]:
    """What must be known to read the paper's rows."""
    notes = [f"Rows marked “{PAPER_MARK}” were not measured here: their numbers are those that it prints."]
    odd = [r.title for r in run.results if not r.comparable and _in_paper(run, r)]
    if odd:
        notes.append(
            f"Not comparable with the numbers below {'it' if len(odd) == 1 else 'them'}, for the reasons in "
            f"the notes: {', '.join(odd)}."
        )
    if run.partial:
        here, there = len(run.items), len(run.corpus.items)
        notes.append(f"The first row is of {here:,} of {there:,} ADs, the paper's rows are of all.")
    if any(" | " in cell for line in beside.lines for cell in line.cells):
        notes.append(f"Two numbers in a cell are those of two judges, {' and '.join(JUDGES)}.")
    if any(line.kind == "ceiling" for line in beside.lines):
        rows = [row for row in paper_rows(run.corpus.dataset, run.protocol) if row.ceiling]
        notes += [f"{row.method} {row.note}. It says how far people agree." for row in rows]
    spread = RUN_TO_RUN.get(run.corpus.dataset)
    if spread and run.protocol == "single":
        titles = {result.name: result.title for result in run.results}
        named = [f"{titles[name]} {value:g}" for name, value in spread.items() if name in titles]
        notes += (
            [f"Standard deviation of the paper's own system over five runs: {', '.join(named)}."]
            if named
            else []
        )
    return notes


def _in_paper(run: ReportInput, result: Result) -> bool:
    return any(paper_values(row, result) for row in paper_rows(run.corpus.dataset, run.protocol))


def _own_cell(result: Result, interval: Span | None) -> str:
    value = number(result.name, result.value)
    return value if interval is None else f"{value} ({span_words(result.name, interval)})"


def _paper_line(row: PaperRow, columns: Sequence[Result]) -> SystemLine:
    cells = tuple(
        " | ".join(number(result.name, value) for value in paper_values(row, result)) or NONE
        for result in columns
    )
    extra = ["trained on human AD"] if row.trained else []
    extra += [row.note] if row.note and not row.ceiling else []
    system = f"{row.method} ({'; '.join(extra)})" if extra else row.method
    return SystemLine(
        "ceiling" if row.ceiling else "paper", system, row.models, f"{PAPER_MARK}, {row.table}", cells
    )


def _mark(place: int) -> str:
    """``0 → [a]``, ``26 → [aa]``."""
    letters = ""
    while True:
        letters = chr(ord("a") + place % 26) + letters
        place = place // 26 - 1
        if place < 0:
            return f"[{letters}]"


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(part.strip().rstrip(".") for part in parts)
    return f"{text[:1].lower()}{text[1:]}." if text[1:2].islower() else f"{text}."
