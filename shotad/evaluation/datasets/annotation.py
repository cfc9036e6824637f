"""From the rows of an annotation to ADs: text, film, clip, times, and their actions.

Actions are published in a file beside the annotation: joined by id, never by row.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from shotad.core import DatasetError, Interval, plural
from shotad.evaluation.datasets.dataset import ActionFile, Ad, Columns, Description, Finding
from shotad.evaluation.datasets.tables import (
    MALFORMED,
    MISSING,
    NOTE,
    Table,
    TableRow,
    number,
    numbers,
    of_rows,
    plain_id,
    read_table,
    texts,
)

FIRST_FRAME = 1
"""Published frames are counted from 1."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What an annotation holds. ``lost`` are the rows that make no AD, each with the reason."""

    ads: tuple[Ad, ...]
    films: dict[str, str]
    findings: tuple[Finding, ...]
    lost: tuple[tuple[TableRow, str], ...]
    table: Table


@dataclass(slots=True)
class _RowReader:
    """Reads one annotation's rows."""

    table: Table
    described: Description
    told: ActionTable
    columns: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    notes: dict[str, list[TableRow]] = field(default_factory=dict)

    def cell(self, row: TableRow, name: str) -> str:
        return str(row.values.get(self.columns.get(name, ""), "")).strip()

    def number(self, row: TableRow, name: str) -> float:
        try:
            return number(self.cell(row, name))
        except ValueError as error:
            raise ValueError(f"{self.columns[name]}: {error}") from None

    def note(self, kind: str, row: TableRow) -> None:
        self.notes.setdefault(kind, []).append(row)


def read_annotation(path: Path, described: Description, told: ActionTable) -> Annotation:
    """The ADs of an annotation file, in its order, with their actions.

    A row that makes no AD is in ``lost``, and keeps its number. Raises DatasetError for a file without the
    columns.
    """
    table = read_table(path)
    reading = _RowReader(table, described, told)
    _find_columns(reading)
    ads: dict[str, Ad] = {}
    films: dict[str, str] = {}
    lost: list[tuple[TableRow, str]] = []
    seen: set[str] = set()
    for place, row in enumerate(table.rows):
        name = plain_id(reading.cell(row, "id")) if "id" in reading.columns else str(place)
        seen.add(name)
        try:
            ad = _ad(reading, row, name)
            if ad.id in ads:
                raise ValueError(f"the id {ad.id!r} stands twice")
        except ValueError as error:
            lost.append((row, str(error)))
            continue
        ads[ad.id] = ad
        if title := reading.cell(row, "title"):
            films.setdefault(ad.film, title)
    rest = [one.row for name, one in told.told.items() if name not in seen] if told.table else []
    if told.table:
        reading.findings += of_rows(
            MALFORMED, told.table, rest, f"rows whose id is not in {path.name}: {len(rest):,}."
        )
    for kind, rows in reading.notes.items():
        level, says = _NOTES[kind]
        reading.findings += of_rows(level, table, rows, f"{plural(len(rows), 'AD')}: {says}")
    return Annotation(tuple(ads.values()), films, tuple(reading.findings), tuple(lost), table)


def _find_columns(reading: _RowReader) -> None:
    """The names that this file has for what is needed, and for what is welcome."""
    table, described = reading.table, reading.described
    named = described.annotation
    needed: dict[str, Columns] = {"film": named.film, "start": named.start, "end": named.end}
    slot = described.slot
    if slot.kind == "centred":
        needed |= {"slot start": slot.start, "slot end": slot.end}
    if slot.kind == "frames":
        needed["frames"] = slot.frames
    welcome: dict[str, Columns] = {"title": named.title, "file": named.file}
    for name, columns in (("clip", named.clip), ("id", named.id)):
        if columns:
            needed[name] = columns
    for name, columns in needed.items():
        reading.columns[name] = table.needed(columns, f"the {name}")
    if found := table.column(named.text):
        reading.columns["text"] = found
    else:
        require_texts(reading.told, table.path, named.text)
        reading.findings.append(
            Finding(
                NOTE, table.path.name, "it has no texts; they are taken from the file of actions, by number."
            )
        )
    for column, says in named.editions.items():
        if column in table.columns:
            reading.findings.append(Finding(NOTE, f"{table.path.name}, column {column}", says))
    for name, columns in welcome.items():
        if found := table.column(columns):
            reading.columns[name] = found


def _ad(reading: _RowReader, row: TableRow, name: str) -> Ad:
    """Raises ValueError, saying what makes it none."""
    if row.wrong:
        raise ValueError(row.wrong)
    film = reading.cell(row, "film")
    clip = reading.cell(row, "clip") if "clip" in reading.columns else film
    for what, value in (("id", name), ("film", film), ("clip", clip)):
        if not value:
            raise ValueError(f"the {what} is empty")
    interval = Interval(reading.number(row, "start"), reading.number(row, "end"))
    slot = _SLOTS[reading.described.slot.kind](reading, row, interval)
    told = reading.told.told.get(name)
    text = _text(reading, row, told)
    actions = _actions(reading, row, text, told)
    return Ad(name, film, clip, interval, slot, text, actions, file=reading.cell(row, "file"))


def _text(reading: _RowReader, row: TableRow, told: ActionRow | None) -> str:
    """The annotation's text; the other file's where the row has none, or was not UTF-8."""
    text = reading.cell(row, "text")
    other = told.text if told else ""
    if "text" not in reading.columns:
        text = other
    elif row.mended:
        found = alike(text, other)
        reading.note("mended from the file of actions" if found else "mended", row)
        text = other if found else text
    if not text:
        raise ValueError("the text is empty" if "text" in reading.columns else "no text is known of this id")
    return text


def _actions(reading: _RowReader, row: TableRow, text: str, told: ActionRow | None) -> tuple[str, ...] | None:
    """The AD's actions, unless they are another AD's."""
    if told is None:
        if reading.told.table:
            reading.note("untold", row)
        return None
    if told.text and not same_text(told.text, text):
        same = alike(told.text, text)
        reading.note("reworded" if same else "strange", row)
        if not same:
            return None
    return told.actions


def _centred(reading: _RowReader, row: TableRow, interval: Interval) -> Interval:
    start, end = reading.number(row, "slot start"), reading.number(row, "slot end")
    middle, half = (start + end) / 2, (interval.end - interval.start) / 2
    if start < 0:
        reading.note("early", row)
    if middle + half <= 0:
        raise ValueError(f"it ends {-(middle + half):.3f} s before its clip begins")
    return Interval(max(middle - half, 0.0), middle + half)


def _frames(reading: _RowReader, row: TableRow, _interval: Interval) -> Interval:
    found = numbers(reading.cell(row, "frames"))
    first, last = min(found), max(found)
    if first < FIRST_FRAME:
        reading.note("early frames", row)
    if last < FIRST_FRAME:
        raise ValueError(f"its last frame is {last:g}, and the first of a clip is {FIRST_FRAME}")
    rate = reading.described.videos.frames_per_second
    return Interval((max(first, FIRST_FRAME) - FIRST_FRAME) / rate, (last - FIRST_FRAME + 1) / rate)


_SLOTS: dict[str, Callable[[_RowReader, TableRow, Interval], Interval]] = {
    "own": lambda _reading, _row, interval: interval,
    "centred": _centred,
    "frames": _frames,
}

_NOTES = {
    "mended": (NOTE, "bytes that are not UTF-8 are read as Windows-1252."),
    "mended from the file of actions": (
        NOTE,
        "the line is not UTF-8; the text is taken from the file of actions.",
    ),
    "early": (NOTE, "the padded interval begins before the clip; the slot is cut to begin with it."),
    "early frames": (NOTE, "a frame's number is below 1; it is taken for the first."),
    "reworded": (NOTE, "the text differs from that in the file of actions; the annotation's is kept."),
    "strange": (
        MALFORMED,
        "the file of actions has quite another text under this number; its actions are not used. Is the file "
        "that of another edition?",
    ),
    "untold": (MISSING, "the file of actions says nothing of this AD."),
}


def lost_error(annotation: Annotation) -> DatasetError:
    """The error for rows that make no AD."""
    row, why = annotation.lost[0]
    return DatasetError(
        f"{annotation.table.path}: {len(annotation.lost)} of {len(annotation.table.rows)} rows are no AD, "
        f"first line {row.line}: {why}.",
        "Correct them; shotad datasets check lists them all. Leaving them out would change what is measured.",
    )


_ALIKE = 0.5
"""Share of words that two texts of the same AD have in common at least; another AD's hardly has a third."""


@dataclass(frozen=True, slots=True)
class ActionRow:
    """What the file of actions says of one AD. ``actions`` None: nothing that can be read."""

    text: str
    actions: tuple[str, ...] | None
    row: TableRow


@dataclass(frozen=True, slots=True)
class ActionTable:
    """The file of actions, by id of the AD."""

    table: Table | None = None
    told: dict[str, ActionRow] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def read_actions(path: Path, columns: ActionFile) -> ActionTable:
    """The table of actions.

    A cell of actions that is no list, such as the published ``0``, is a finding, and so is an id that stands
    twice; the first row with it is kept. Raises DatasetError for a file without the columns.
    """
    table = read_table(path)
    ids = table.needed(columns.id, "the ids of the ADs")
    actions = table.needed(columns.actions, "the actions")
    text = table.column(columns.text)
    told: dict[str, ActionRow] = {}
    findings: list[Finding] = []
    double, broken = [], []
    for row in table.rows:
        name = plain_id(row.values.get(ids))
        if row.wrong or not name:
            broken.append(row)
        elif name in told:
            double.append(row)
        else:
            told[name] = _told(table, row, text, actions, findings)
    mended = [row for row in table.rows if row.mended]
    for level, rows, what in (
        (MALFORMED, broken, "rows without an id, or without the header's cells"),
        (MALFORMED, double, "rows whose id stood before, where the first is kept"),
        (NOTE, mended, "rows that are not UTF-8, and are read as Windows-1252"),
    ):
        findings += of_rows(level, table, rows, f"{what}: {len(rows):,}.")
    return ActionTable(table, told, tuple(findings))


def _told(table: Table, row: TableRow, text: str | None, actions: str, findings: list[Finding]) -> ActionRow:
    said = (row.values.get(text, "") if text else "").strip()
    try:
        found: tuple[str, ...] | None = texts(row.values[actions])
        if not found:
            raise ValueError("the list is empty")
    except ValueError as error:
        findings.append(Finding(NOTE, table.where(row), f"no actions are known of this AD: {error}."))
        found = None
    return ActionRow(said, found, row)


def same_text(one: str, other: str) -> bool:
    """Whether two texts are one but for white space."""
    return one.split() == other.split()


def alike(one: str, other: str) -> bool:
    """Whether two texts can be of one AD: at least half of their words are in both."""
    first, second = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return len(first & second) >= _ALIKE * len(first | second)


def require_texts(told: ActionTable, path: Path, column: tuple[str, ...]) -> None:
    """Raise DatasetError where the file of actions cannot stand in for texts that the annotation lacks."""
    if not any(one.text for one in told.told.values()):
        raise DatasetError(
            f"{path} has no column {' or '.join(column)}, and there is no file of actions with the texts.",
            "Put the dataset's file of actions (text_gt) beside it, name it by --actions, or take "
            "Shot-by-Shot's annotation, which has the texts.",
        )
