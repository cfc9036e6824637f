"""The human ADs' actions, as they are published beside an annotation: joined by id, never by row."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from shotad.core import DatasetError
from shotad.evaluation.datasets.ads import Finding
from shotad.evaluation.datasets.cells import plain_id, texts
from shotad.evaluation.datasets.description import ActionFile
from shotad.evaluation.datasets.findings import MALFORMED, NOTE, of_rows
from shotad.evaluation.datasets.tables import Table, TableRow, read_table

_ALIKE = 0.5
"""Share of words that two texts of the same AD have in common at least; another AD's hardly has a third."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the file of actions says of one AD. ``actions`` None: nothing that can be read."""

    text: str
    without_names: str
    actions: tuple[str, ...] | None
    row: TableRow


@dataclass(frozen=True, slots=True)
class ToldActions:
    """The file of actions, by id of the AD."""

    table: Table | None = None
    told: dict[str, Told] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def read_actions(path: Path, columns: ActionFile) -> ToldActions:
    """The table of actions.

    A cell of actions that is no list, such as the published ``0``, is a finding, and so is an id that stands
    twice; the first row with it is kept. Raises DatasetError for a file without the columns.
    """
    table = read_table(path)
    ids = table.needed(columns.id, "the ids of the ADs")
    actions = table.needed(columns.actions, "the actions")
    text, bare = table.column(columns.text), table.column(columns.without_names)
    told: dict[str, Told] = {}
    findings: list[Finding] = []
    double, glued, broken = [], [], []
    for row in table.rows:
        name = plain_id(row.cells.get(ids))
        if row.wrong or not name:
            broken.append(row)
        elif name in told:
            double.append(row)
        else:
            one = _told(table, row, text, bare, actions, findings)
            told[name] = one
            if bare and not one.without_names:
                glued.append(row)
    mended = [row for row in table.rows if row.mended]
    for level, rows, what in (
        (MALFORMED, broken, "rows without an id, or without the header's cells"),
        (MALFORMED, double, "rows whose id stood before, where the first is kept"),
        (NOTE, glued, "texts without names that are no such text, and are left out"),
        (NOTE, mended, "rows that are not UTF-8, and are read as Windows-1252"),
    ):
        findings += of_rows(level, table, rows, f"{what}: {len(rows):,}.")
    return ToldActions(table, told, tuple(findings))


def _told(
    table: Table, row: TableRow, text: str | None, bare: str | None, actions: str, findings: list[Finding]
) -> Told:
    said = (row.cells.get(text, "") if text else "").strip()
    try:
        found: tuple[str, ...] | None = texts(row.cells[actions])
        if not found:
            raise ValueError("the list is empty")
    except ValueError as error:
        findings.append(Finding(NOTE, table.where(row), f"no actions are known of this AD: {error}."))
        found = None
    without = (row.cells.get(bare, "") if bare else "").strip()
    return Told(said, "" if _is_odd(without, said) else without, found, row)


def _is_odd(without: str, text: str) -> bool:
    """A number for a text, or one with what a model chatted around it."""
    return without.isdigit() or (bool(text) and len(without) > 2 * len(text) + 40)


def same_text(one: str, other: str) -> bool:
    """Whether two texts are one but for white space."""
    return one.split() == other.split()


def alike(one: str, other: str) -> bool:
    """Whether two texts can be of one AD: at least half of their words are in both."""
    first, second = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return len(first & second) >= _ALIKE * len(first | second)


def require_texts(told: ToldActions, path: Path, column: tuple[str, ...]) -> None:
    """Raise DatasetError where the file of actions cannot stand in for texts that the annotation lacks."""
    if not any(one.text for one in told.told.values()):
        raise DatasetError(
            f"{path} has no column {' or '.join(column)}, and there is no file of actions with the texts.",
            "Put the dataset's file of actions (text_gt) beside it, name it by --actions, or take "
            "Shot-by-Shot's annotation, which has the texts.",
        )
