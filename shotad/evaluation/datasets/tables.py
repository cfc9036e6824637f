"""Tables and records from files, whatever wrote them: rows, cells, and what is found wrong with them.

CSV files in any encoding, and a user's own CSV or JSON Lines, told by contents and not by name.
"""

from __future__ import annotations

import ast
import csv
import difflib
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shotad.core import DatasetError, quoted, read_file_bytes

_NOTHING = ("", "nan", "NaN", "None", "null", "<NA>")
"""What other programs write into a cell for nothing."""
_HALVES = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found. ``level`` is missing, malformed or note; ``where`` names file and
    line. ``about`` is the part of the dataset that it concerns (actions, casts, shots) where that is not all
    of it: whoever does not use that part need not know."""

    level: str
    where: str
    what: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row, or one record, of the file ``path``. ``line`` is that where it begins; ``mended``: some of its
    bytes were not UTF-8; ``wrong`` says how its cells do not fit the header, empty where they do."""

    path: Path
    line: int
    values: dict[str, Any]
    mended: bool = False
    wrong: str = ""

    @property
    def where(self) -> str:
        """``cmdad_anno.csv, line 12``."""
        return f"{self.path.name}, line {self.line}"

    def error(self, what: str, hint: str = "") -> DatasetError:
        """An error that names file and line."""
        return DatasetError(f"{self.path}, line {self.line}: {what}.", hint)

    def text(self, name: str | None) -> str | None:
        """The text under a name; numbers are written out (an id). Raises DatasetError for anything else."""
        value = self.values.get(name) if name else None
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{value:g}" if isinstance(value, float) else str(value)
        raise self.error(f"{name} is {quoted(value)}, and must be a text")

    def number(self, name: str | None) -> float | None:
        """The finite number under a name. Raises DatasetError for anything else."""
        value = self.values.get(name) if name else None
        if value is None:
            return None
        try:
            found = float(value)
        except (TypeError, ValueError):
            found = math.nan
        if isinstance(value, bool) or not math.isfinite(found):
            raise self.error(f"{name} is {quoted(value)}, and must be a number")
        return found

    def truth(self, name: str | None) -> bool | None:
        """The truth value under a name. Raises DatasetError for anything else."""
        value = self.values.get(name) if name else None
        if value is None or isinstance(value, bool):
            return value
        known = {"true": True, "1": True, "false": False, "0": False}
        if str(value).lower() not in known:
            raise self.error(f"{name} is {quoted(value)}, and must be true or false")
        return known[str(value).lower()]

    def list(self, name: str | None) -> tuple[str, ...] | None:
        """The texts of a list, or of one that is written into a cell, without null. Raises DatasetError."""
        value = self.values.get(name) if name else None
        if value is None:
            return None
        if isinstance(value, Sequence) and not isinstance(value, str):
            value = [item for item in value if item is not None]
        try:
            return texts(value if isinstance(value, str) else json.dumps(value))
        except ValueError as error:
            raise self.error(f"{name}: {error}", 'Write a list of texts: ["…", "…"].') from None


@dataclass(frozen=True, slots=True)
class Table:
    """All rows of a file, the names that occur in them, and what reading them brought to light. Of records
    (`read_records`) ``values`` has None for what is null, not a number, or an empty cell of a CSV file; of a
    table (`read_table`) texts alone."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    findings: tuple[Finding, ...] = ()

    def column(self, names: Sequence[str]) -> str | None:
        """The first of the names that is a column here."""
        return next((name for name in names if name in self.columns), None)

    def needed(self, names: Sequence[str], what: str) -> str:
        """The same; raises DatasetError where there is none."""
        found = self.column(names)
        if found is None:
            near = difflib.get_close_matches(names[0], self.columns, 1) if names else []
            meant = f" ({near[0]} looks like it)" if near else ""
            raise DatasetError(
                f"{self.path} has no column for {what}: {' or '.join(names) or 'none is named'}{meant}.",
                f"It has: {', '.join(self.columns)}. Rename the column, or describe the file.",
            )
        return found


def read_records(path: Path) -> Table:
    """The records of a CSV file with a header, of JSON Lines, or of a JSON list of objects.

    A last line that is not whole, as a program leaves it that was stopped, is a finding. Raises DatasetError.
    """
    data = _bytes(path)
    first = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if not first:
        raise DatasetError(f"{path} is empty.", "CSV with a header, or JSON Lines, is expected.")
    if first in (b"{", b"["):
        return _json_records(path, data, whole=first == b"[")
    table = read_table(path)
    rows = []
    for row in table.rows:
        if row.wrong:
            raise DatasetError(f"{row.where}: {row.wrong}.", "Look at its quotes and commas.")
        values = {key: None if cell.strip() in _NOTHING else cell for key, cell in row.values.items()}
        rows.append(replace(row, values=values))
    mended = [row for row in rows if row.mended]
    what = f"{len(mended)} rows are not UTF-8; their bytes are read as Windows-1252."
    findings = (Finding(NOTE, mended[0].where, what),) if mended else ()
    return replace(table, rows=tuple(rows), findings=findings)


def _bytes(path: Path) -> bytes:
    return read_file_bytes(path, "table", DatasetError)


def _json_records(path: Path, data: bytes, *, whole: bool) -> Table:
    text, mended = decoded(data)
    records: list[tuple[int, Any]] = []
    findings: list[Finding] = []
    if mended:
        what = "bytes that are not UTF-8 are taken over."
        findings.append(Finding(NOTE, f"{path.name}, line {min(mended)}", what))
    lines = [text] if whole else text.split("\n")
    for number, line in enumerate(lines, 1):
        try:
            if whole:
                records = list(enumerate(_json(line), 1))
            elif line.strip():
                records.append((number, _json(line)))
        except json.JSONDecodeError as error:
            if whole:
                raise DatasetError(f"{path}, line {error.lineno}, is no JSON: {error.msg}.") from None
            if number < len(lines):
                what = f"{path}, line {number}, is no JSON: {error.msg}."
                raise DatasetError(what, "Each line is one object: {…}.") from None
            what = "the last line is not whole, as if its program had been stopped; it is left out."
            findings.append(Finding(MALFORMED, f"{path.name}, line {number}", what))
    rows = []
    for number, record in records:
        if not isinstance(record, dict):
            what = f"{path}, line {number}, is {quoted(record)}."
            raise DatasetError(what, "Each record is an object: {…}.")
        values = {name: None if isinstance(v, float) and math.isnan(v) else v for name, v in record.items()}
        rows.append(TableRow(path, number, values))
    names = tuple(dict.fromkeys(name for row in rows for name in row.values))
    return Table(path, names, tuple(rows), tuple(findings))


def _json(text: str) -> Any:
    """What JSON says. Half a pair (``\\ud83d`` alone, where a program cut a text), which is no character and
    cannot be written anywhere, becomes U+FFFD."""
    value = json.loads(text)
    if _HALVES.search(text):
        written = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        value = json.loads(written.decode("utf-16", "replace"))
    return value


_LONGEST_CELL = 1 << 26
"""Characters; the csv module's own limit of 131,072 is below what a film's shots or faces take."""


def read_table(path: Path) -> Table:
    """All rows of a CSV file with a header. Raises DatasetError where it cannot be read at all.

    Bytes that are not UTF-8 are taken for Windows-1252, the others left as they are.
    """
    text, mended = decoded(_bytes(path))
    if "\0" in text:
        raise DatasetError(f"{path} is no text: it has bytes that are 0.", "A CSV file is expected.")
    # A tab or semicolon, as spreadsheets write, where the header has no comma but one of these.
    header = text.partition("\n")[0]
    mark = next((mark for mark in (",", "\t", ";") if mark in header), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    before = csv.field_size_limit(_LONGEST_CELL)
    rows: list[TableRow] = []
    try:
        columns = tuple(name.strip() for name in next(reader, ()))
        if not any(columns):
            raise DatasetError(f"{path} is empty.", "A CSV file with a line of column names is expected.")
        double = {name for name in columns if name and columns.count(name) > 1}
        if double:
            what = f"{path} has several columns called {', '.join(sorted(double))}."
            raise DatasetError(what, "Name each column once.")
        last = 1
        for cells in reader:
            first, last = last + 1, reader.line_num
            if not cells:
                continue
            bad = any(line in mended for line in range(first, last + 1))
            wrong = "" if len(cells) == len(columns) else f"{len(cells)} cells for {len(columns)} columns"
            rows.append(TableRow(path, first, dict(zip(columns, cells, strict=False)), bad, wrong))
    except csv.Error as error:
        what = f"{path}, line {reader.line_num}, is no CSV: {error}."
        raise DatasetError(what, "Look for a quote that is not closed.") from None
    finally:
        csv.field_size_limit(before)
    return Table(path, columns, tuple(rows))


def decoded(data: bytes) -> tuple[str, frozenset[int]]:
    """The text of a file's bytes, and the numbers (from 1) of the lines in which some were not UTF-8."""
    if data[:2] in _UTF_16:
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16"), frozenset()
    text = data.decode("utf-8-sig", "surrogateescape")
    lines = enumerate(re.split("\r\n|\r|\n", text), 1) if _ESCAPED.search(text) else ()
    return text.translate(_MENDED), frozenset(number for number, line in lines if _ESCAPED.search(line))


_ESCAPED = re.compile("[\udc80-\udcff]")
"""A byte that is no UTF-8, as Python's ``surrogateescape`` has it."""
_MENDED = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""What such a file begins with; spreadsheets write it."""


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV: the columns' names, then a line for each row."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue()


def plain_id(cell: str | None) -> str:
    """An id as it is compared: ``12.0``, which programs make of 12 beside an empty cell, is ``12``."""
    text = (cell or "").strip()
    return text[:-2] if text.endswith(".0") and text[:-2].isdigit() else text


def number(cell: str | None) -> float:
    """A finite number. Raises ValueError, saying what stands there."""
    try:
        value = float(cell or "")
    except ValueError:
        raise ValueError(f"{_short(cell)} is no number") from None
    if not math.isfinite(value):
        raise ValueError(f"{_short(cell)} is no finite number")
    return value


def listed(cell: str | None) -> list[Any]:
    """A list written in JSON or in Python. Raises ValueError, saying what stands there."""
    text = (cell or "").strip()
    if text[:1] not in ("[", "("):
        raise ValueError(f"{_short(cell)} is no list")
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            raise ValueError(f"{_short(cell)} is no list that can be read") from None
    if not isinstance(value, list | tuple):
        raise ValueError(f"{_short(cell)} is no list")
    return list(value)


def texts(cell: str | None) -> tuple[str, ...]:
    """A list of texts without empty ones. Raises ValueError."""
    found = listed(cell)
    for item in found:
        if not isinstance(item, str):
            raise ValueError(f"{_short(repr(item))} in the list is no text")
    return tuple(text for item in found if (text := item.strip()))


def numbers(cell: str | None) -> tuple[float, ...]:
    """A list of numbers, at least one. Raises ValueError."""
    found = listed(cell)
    if not found or not all(_is_number(item) for item in found):
        raise ValueError(f"{_short(cell)} is no list of numbers")
    return tuple(float(item) for item in found)


def pairs(cell: str | None) -> tuple[tuple[float, float], ...]:
    """A list of pairs of numbers, perhaps empty. Raises ValueError."""
    found = listed(cell)
    for item in found:
        if not isinstance(item, list | tuple) or len(item) != 2 or not all(_is_number(x) for x in item):
            raise ValueError(f"{_short(repr(item))} in the list is no pair of numbers")
    return tuple((float(a), float(b)) for a, b in found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _short(cell: str | None) -> str:
    return quoted(cell) if cell and cell.strip() else "an empty cell"


_NAMED = 5

MISSING, MALFORMED, NOTE = "missing", "malformed", "note"


def of_rows(level: str, rows: Sequence[TableRow], what: str, about: str = "") -> list[Finding]:
    """One finding about all these rows, or none where there are none."""
    if not rows:
        return []
    lines = counted([str(row.line) for row in rows])
    return [Finding(level, f"{rows[0].path.name}, line{'s' * (len(rows) > 1)} {lines}", what, about)]


def counted(names: Sequence[str], most: int = _NAMED) -> str:
    """The first of them, and how many more: ``a, b and 3 more``."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def tally(what: str, names: Sequence[str]) -> str:
    """``ADs without a prediction: 7 (3, 9, 12, 14, 15 and 2 more).``"""
    return f"{what}: {len(names):,} ({counted(names)})."
