"""The protocol's outcome as a table, with the paper's Table 9 below it, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shotad.evaluation.assisted.protocol import ROLES, Assisted, Role
from shotad.evaluation.measure.rows import Json, Result
from shotad.evaluation.report.paper_rows import PaperRow, paper_rows, paper_values
from shotad.evaluation.report.table import PAPER_MARK, footnotes
from shotad.evaluation.report.wording import NONE, count, number

_CALLED: dict[Role, str] = {
    "chosen": "Chosen by the expert",
    "first": "The first candidate",
    "random": "A random one (on average)",
    "best": "The best by each metric",
}


def render(done: Assisted, called: str = "") -> str:
    """Plain lines for people."""
    results = done.measured.results
    notes = footnotes(results)
    heads = [f"{r.title} {notes.marks[r.name]}" if r.name in notes.marks else r.title for r in results]
    rows = [["", *heads], *([_CALLED[role], *_cells(done, role)] for role in ROLES)]
    shown = [row for row in _paper(done) if any(paper_values(row, result) for result in results)]
    rows += [[_named(row), *(_paper_cell(row, result) for result in results)] for row in shown]
    lines = [*_opening(done, called), "", *_aligned(rows), ""]
    if shown:
        lines.append(f"Rows marked “{PAPER_MARK}” were not measured here.")
    lines += [f"{note.mark} {note.text}" for note in notes.notes]
    lines += _of_the_whole(results)
    return "\n".join([*lines, *(f"Not measured: {name}. {why}" for name, why in done.measured.left_out)])


def as_json(done: Assisted) -> Json:
    """The same for programs; the choices one by one are not in it."""
    numbers = Counter(choice.number for choice in done.choices if choice.number is not None)
    return {
        "dataset": done.corpus.dataset,
        "protocol": "assisted",
        "expert": list(done.expert),
        "ads": len(done.choices),
        "without_candidates": done.sizes.get(0, 0),
        "candidates": {str(size): ads for size, ads in done.sizes.items()},
        "chosen_number": {str(number): numbers[number] for number in sorted(numbers)},
        "results": {role: _values(done, role) for role in ROLES},
        "scored": {result.name: result.scored for result in done.measured.results},
        "failed": {result.name: result.failed for result in done.measured.results},
        "comparable": {result.name: result.comparable for result in done.measured.results},
        "left_out": [{"metric": name, "reason": why} for name, why in done.measured.left_out],
        "paper": [row.record() for row in _paper(done)],
    }


def expert_words(done: Assisted) -> str:
    """What the expert goes by: ``CIDEr and Action score``."""
    return " and ".join(done.expert.values())


def _opening(done: Assisted, called: str) -> list[str]:
    """Whose candidates, how many, and who chose."""
    most = max(done.sizes, default=0)
    whose = f"{called}: " if called else ""
    lines = [f"{whose}{count(len(done.choices), 'AD')} with up to {count(most, 'candidate')}."]
    fewer = [(size, ads) for size, ads in done.sizes.items() if 0 < size < most]
    if fewer:
        told = ", ".join(f"{ads:,} have {size}" for size, ads in fewer)
        lines.append(f"Fewer candidates: {told}; the choice is among those.")
    if done.sizes.get(0):
        lines.append(f"{count(done.sizes[0], 'AD')} without any count as 0.")
    lines.append(f"The expert takes the one with the highest mean of {expert_words(done)}.")
    return lines


def _of_the_whole(results: Sequence[Result]) -> list[str]:
    """What the last row is for metrics that are no means over ADs."""
    titles = [result.title for result in results if result.figure.kind != "share"]
    if not titles:
        return []
    named = ", ".join(titles)
    return [
        f"Figures of all lines together: {named}. The best line of each AD need not make the best of those."
    ]


def _cells(done: Assisted, role: Role) -> list[str]:
    results = [done.result(role, name) for name in done.names]
    return [NONE if result is None else number(result.name, result.value) for result in results]


def _values(done: Assisted, role: Role) -> dict[str, float | None]:
    results = ((name, done.result(role, name)) for name in done.names)
    return {name: result.value for name, result in results if result is not None}


def _paper(done: Assisted) -> list[PaperRow]:
    """Table 9, and below it the same system's single lines."""
    rows = paper_rows(done.corpus.dataset, "assisted")
    assisted = [row for row in rows if row.protocol == "assisted"]
    models = {(row.method.partition(",")[0], row.models) for row in assisted}
    singles = [row for row in rows if row.protocol == "single" and (row.method, row.models) in models]
    return [*assisted, *(row for row in singles if not row.note)]


def _named(row: PaperRow) -> str:
    single = ", one line" if row.protocol == "single" else ""
    return f"{row.method}{single} ({PAPER_MARK}, {row.table})"


def _paper_cell(row: PaperRow, result: Result) -> str:
    return " | ".join(number(result.name, value) for value in paper_values(row, result)) or NONE


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The first column to the left, the others to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
