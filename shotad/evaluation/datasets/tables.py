"""Reads tables and records from files of any program: rows, cells, and findings about them.

CSV files may be in any encoding. Whether a user's file is CSV or JSON Lines is decided by its contents, not
by its name.
"""

from __future__ import annotations

import ast
import codecs
import csv
import difflib
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shotad.core.errors import DatasetError, quoted
from shotad.core.text_files import read_file_bytes

_EMPTY_CELLS = ("", "nan", "NaN", "None", "null", "<NA>")
"""Cells that other programs write where there is no value."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""The beginning of half a character in JSON, of a pair that is written as two escapes."""


@dataclass(frozen=True, slots=True)
class DatasetFinding:
    """A problem or remark about a file.

    ``level`` is missing, malformed or note; ``where`` names file and line; ``what`` is the message. ``about``
    is the part of the dataset that it concerns (actions, casts, shots), or empty: where that part is not used
    the finding is not shown.
    """

    level: str
    where: str
    what: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row, or one record, of the file ``path``.

    ``line`` is the number of its first line. ``mended``: some of its bytes were not UTF-8, and were read as
    Windows-1252. ``wrong`` says how its cells do not fit the header; empty where they do.
    """

    path: Path
    line: int
    values: dict[str, Any]
    mended: bool = False
    wrong: str = ""

    @property
    def where(self) -> str:
        """``cmdad_anno.csv, line 12``."""
        return f"{self.path.name}, line {self.line}"

    def error(self, problem: str, hint: str = "") -> DatasetError:
        """An error that names file and line."""
        return DatasetError(f"{self.path}, line {self.line}: {problem}.", hint)

    def text(self, name: str | None) -> str | None:
        """The text in a column, or a number as text; None where there is none. Raises DatasetError."""
        value = self.values.get(name) if name else None
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{value:g}" if isinstance(value, float) else str(value)
        raise self.error(f"{name} is {quoted(value)}, and must be a text")

    def number(self, name: str | None) -> float | None:
        """The finite number in a column; None where there is none. Raises DatasetError for other values."""
        value = self.values.get(name) if name else None
        if value is None:
            return None
        try:
            parsed = float(value)
        except (TypeError, ValueError):
            parsed = math.nan
        if isinstance(value, bool) or not math.isfinite(parsed):
            raise self.error(f"{name} is {quoted(value)}, and must be a number")
        return parsed

    def truth(self, name: str | None) -> bool | None:
        """The truth value in a column; None where there is none. Raises DatasetError for other values."""
        value = self.values.get(name) if name else None
        if value is None or isinstance(value, bool):
            return value
        truth_values = {"true": True, "1": True, "false": False, "0": False}
        if str(value).lower() not in truth_values:
            raise self.error(f"{name} is {quoted(value)}, and must be true or false")
        return truth_values[str(value).lower()]

    def list(self, name: str | None) -> tuple[str, ...] | None:
        """The texts of a list in a column (in a CSV file written as JSON or Python), without null.

        None where there is none. Raises DatasetError for other values.
        """
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
    """All rows of a file, the columns' names, and the problems found.

    In the rows of `read_records` values that are null, not a number, or an empty cell of a CSV file are None;
    those of `read_table` are all texts.
    """

    path: Path
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    findings: tuple[DatasetFinding, ...] = ()

    def column(self, names: Sequence[str]) -> str | None:
        """The first of the names that is a column of the table; None where none is."""
        return next((name for name in names if name in self.columns), None)

    def needed(self, names: Sequence[str], content: str) -> str:
        """The first of the names that is a column of the table. Raises DatasetError where none is, saying
        that there is no column for ``content``."""
        column = self.column(names)
        if column is None:
            similar = difflib.get_close_matches(names[0], self.columns, 1) if names else []
            suggestion = f" ({similar[0]} looks like it)" if similar else ""
            raise DatasetError(
                f"{self.path} has no column for {content}: "
                f"{' or '.join(names) or 'none is named'}{suggestion}.",
                f"It has: {', '.join(self.columns)}. Rename the column, or describe the file.",
            )
        return column


def read_records(path: Path) -> Table:
    """The records of a CSV file with a header, of JSON Lines, or of a JSON list of objects.

    A last line that is incomplete, because its program was stopped, is a finding. Raises DatasetError.
    """
    data = read_file_bytes(path, "table", DatasetError)
    first_character = data.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if not first_character:
        raise DatasetError(f"{path} is empty.", "CSV with a header, or JSON Lines, is expected.")
    if first_character in (b"{", b"["):
        return _json_table(path, data, is_list=first_character == b"[")
    table = read_table(path)
    rows = []
    for row in table.rows:
        if row.wrong:
            raise DatasetError(f"{row.where}: {row.wrong}.", "Look at its quotes and commas.")
        values = {name: None if cell.strip() in _EMPTY_CELLS else cell for name, cell in row.values.items()}
        rows.append(replace(row, values=values))
    findings: tuple[DatasetFinding, ...] = ()
    mended = [row for row in rows if row.mended]
    if mended:
        message = f"{len(mended)} rows are not UTF-8; their bytes are read as Windows-1252."
        findings = (DatasetFinding(NOTE, mended[0].where, message),)
    return replace(table, rows=tuple(rows), findings=findings)


def _json_table(path: Path, data: bytes, *, is_list: bool) -> Table:
    """The records in ``data``, a JSON list or JSON Lines. Raises DatasetError."""
    text, mended_lines = decoded(data)
    findings: list[DatasetFinding] = []
    if mended_lines:
        message = "bytes that are not UTF-8 are taken over."
        findings.append(DatasetFinding(NOTE, f"{path.name}, line {min(mended_lines)}", message))
    records = _records_of_list(path, text) if is_list else _records_of_lines(path, text, findings)
    rows = []
    columns: dict[str, None] = {}  # as an ordered set
    for line_number, record in records:
        if not isinstance(record, dict):
            message = f"{path}, line {line_number}, is {quoted(record)}."
            raise DatasetError(message, "Each record is an object: {…}.")
        values = {}
        for name, value in record.items():
            values[name] = None if isinstance(value, float) and math.isnan(value) else value
        rows.append(TableRow(path, line_number, values))
        columns |= dict.fromkeys(values)
    return Table(path, tuple(columns), tuple(rows), tuple(findings))


def _records_of_list(path: Path, text: str) -> list[tuple[int, Any]]:
    """The records of a JSON list, numbered from 1. Raises DatasetError."""
    try:
        return list(enumerate(_parse_json(text), 1))
    except json.JSONDecodeError as error:
        raise DatasetError(f"{path}, line {error.lineno}, is no JSON: {error.msg}.") from None


def _records_of_lines(path: Path, text: str, findings: list[DatasetFinding]) -> list[tuple[int, Any]]:
    """The records of JSON Lines, with the numbers of their lines. An incomplete last line becomes a finding.
    Raises DatasetError."""
    records: list[tuple[int, Any]] = []
    lines = text.split("\n")
    for line_number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            records.append((line_number, _parse_json(line)))
        except json.JSONDecodeError as error:
            if line_number < len(lines):
                message = f"{path}, line {line_number}, is no JSON: {error.msg}."
                raise DatasetError(message, "Each line is one object: {…}.") from None
            message = "the last line is not whole, as if its program had been stopped; it is left out."
            findings.append(DatasetFinding(MALFORMED, f"{path.name}, line {line_number}", message))
    return records


def _parse_json(text: str) -> Any:
    """The value of a JSON text. Raises JSONDecodeError.

    Half a surrogate pair (``\\ud83d`` alone, where a program cut a text) becomes U+FFFD: it is no character
    and cannot be encoded.
    """
    value = json.loads(text)
    if _SURROGATE.search(text):
        # Encoding to UTF-16 joins whole pairs; decoding replaces the halves.
        utf_16 = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        value = json.loads(utf_16.decode("utf-16", "replace"))
    return value


_LONGEST_CELL = 1 << 26
"""Characters of a cell; the csv module's own limit of 131,072 is below what a film's shots or faces take."""


def read_table(path: Path) -> Table:
    """All rows of a CSV file with a header. Raises DatasetError where it cannot be read at all.

    Rows whose cells do not fit the header are among them (`TableRow.wrong`). Bytes that are not UTF-8 are
    read as Windows-1252.
    """
    text, mended_lines = decoded(read_file_bytes(path, "table", DatasetError))
    if "\0" in text:
        raise DatasetError(f"{path} is no text: it has bytes that are 0.", "A CSV file is expected.")
    # Spreadsheets may write tabs or semicolons; a comma in the header goes before them.
    header = text.partition("\n")[0]
    delimiter = next((mark for mark in (",", "\t", ";") if mark in header), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    earlier_limit = csv.field_size_limit(_LONGEST_CELL)
    rows: list[TableRow] = []
    try:
        columns = tuple(name.strip() for name in next(reader, ()))
        if not any(columns):
            raise DatasetError(f"{path} is empty.", "A CSV file with a line of column names is expected.")
        repeated = {name for name in columns if name and columns.count(name) > 1}
        if repeated:
            message = f"{path} has several columns called {', '.join(sorted(repeated))}."
            raise DatasetError(message, "Name each column once.")
        last_line = 1
        for cells in reader:
            # A row has several lines where a quoted cell has line breaks.
            first_line, last_line = last_line + 1, reader.line_num
            if not cells:
                continue
            mended = any(line in mended_lines for line in range(first_line, last_line + 1))
            wrong = "" if len(cells) == len(columns) else f"{len(cells)} cells for {len(columns)} columns"
            values = dict(zip(columns, cells, strict=False))
            rows.append(TableRow(path, first_line, values, mended, wrong))
    except csv.Error as error:
        message = f"{path}, line {reader.line_num}, is no CSV: {error}."
        raise DatasetError(message, "Look for a quote that is not closed.") from None
    finally:
        # The limit is the csv module's, for the whole process.
        csv.field_size_limit(earlier_limit)
    return Table(path, columns, tuple(rows))


def columns_of_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The line and these columns' cells of each row of a CSV file with a header, read row by row.

    For tables whose other cells do not fit into memory: the published ones with faces have up to 75,000
    characters in a cell. Raises DatasetError.
    """
    earlier_limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            missing = [name for name in columns if name not in header]
            if missing:
                raise DatasetError(
                    f"{path} has no column {' and no column '.join(missing)}.",
                    f"It has: {', '.join(header) or 'no columns at all'}.",
                )
            places = {name: header.index(name) for name in columns}
            for cells in reader:
                if not cells:
                    continue
                if len(cells) != len(header):
                    problem = f"{len(cells)} cells for {len(header)} columns"
                    raise DatasetError(
                        f"{path}, line {reader.line_num}: {problem}.", "Is the file whole? Fetch it again."
                    )
                yield reader.line_num, {name: cells[place] for name, place in places.items()}
    except csv.Error as error:
        raise DatasetError(f"{path} is no CSV: {error}.", "Fetch it again.") from None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}.") from None
    finally:
        csv.field_size_limit(earlier_limit)


def decoded(data: bytes) -> tuple[str, frozenset[int]]:
    """The text of a file's bytes, and the numbers (from 1) of the lines in which some were not UTF-8."""
    if data[:2] in _UTF_16_MARKS:
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16"), frozenset()
    text = data.decode("utf-8-sig", "surrogateescape")
    mended_lines: set[int] = set()
    if _ESCAPED_BYTE.search(text):
        for line_number, line in enumerate(re.split("\r\n|\r|\n", text), 1):
            if _ESCAPED_BYTE.search(line):
                mended_lines.add(line_number)
    return text.translate(_WINDOWS_1252), frozenset(mended_lines)


_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
"""A byte that is not UTF-8, as Python's ``surrogateescape`` decodes it."""
_WINDOWS_1252 = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}
"""The character of each such byte, in Windows-1252."""
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
"""First bytes of a UTF-16 file, as spreadsheets write it."""


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV: the columns' names, then a line for each row."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue()


def plain_id(cell: str | None) -> str:
    """An id in the form in which ids are compared: ``12.0`` becomes ``12``.

    Programs write 12 so where the column has an empty cell, and its numbers became floats.
    """
    text = (cell or "").strip()
    return text[:-2] if text.endswith(".0") and text[:-2].isdigit() else text


def number(cell: str | None) -> float:
    """The finite number in a cell. Raises ValueError, quoting the cell."""
    try:
        value = float(cell or "")
    except ValueError:
        raise ValueError(f"{_quoted_cell(cell)} is no number") from None
    if not math.isfinite(value):
        raise ValueError(f"{_quoted_cell(cell)} is no finite number")
    return value


def list_in_cell(cell: str | None) -> list[Any]:
    """The list in a cell, written in JSON or in Python. Raises ValueError, quoting the cell."""
    text = (cell or "").strip()
    if text[:1] not in ("[", "("):
        raise ValueError(f"{_quoted_cell(cell)} is no list")
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            raise ValueError(f"{_quoted_cell(cell)} is no list that can be read") from None
    if not isinstance(value, list | tuple):
        raise ValueError(f"{_quoted_cell(cell)} is no list")
    return list(value)


def texts(cell: str | None) -> tuple[str, ...]:
    """The texts of the list in a cell, without empty ones. Raises ValueError."""
    stripped_texts = []
    for item in list_in_cell(cell):
        if not isinstance(item, str):
            raise ValueError(f"{_quoted_cell(repr(item))} in the list is no text")
        if item.strip():
            stripped_texts.append(item.strip())
    return tuple(stripped_texts)


def numbers(cell: str | None) -> tuple[float, ...]:
    """The numbers of the list in a cell, at least one. Raises ValueError."""
    items = list_in_cell(cell)
    if not items or not all(_is_number(item) for item in items):
        raise ValueError(f"{_quoted_cell(cell)} is no list of numbers")
    return tuple(float(item) for item in items)


def pairs(cell: str | None) -> tuple[tuple[float, float], ...]:
    """The pairs of numbers of the list in a cell, which may be empty. Raises ValueError."""
    number_pairs = []
    for item in list_in_cell(cell):
        if not isinstance(item, list | tuple) or len(item) != 2 or not all(map(_is_number, item)):
            raise ValueError(f"{_quoted_cell(repr(item))} in the list is no pair of numbers")
        number_pairs.append((float(item[0]), float(item[1])))
    return tuple(number_pairs)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _quoted_cell(cell: str | None) -> str:
    return quoted(cell) if cell and cell.strip() else "an empty cell"


_SHOWN = 5
"""Names that a finding lists."""

MISSING, MALFORMED, NOTE = "missing", "malformed", "note"
"""Levels of a finding."""


def finding_of_rows(level: str, rows: Sequence[TableRow], text: str, about: str = "") -> list[DatasetFinding]:
    """One finding about all these rows, in a list; an empty list for no rows."""
    if not rows:
        return []
    lines = first_of([str(row.line) for row in rows])
    return [DatasetFinding(level, f"{rows[0].path.name}, line{'s' * (len(rows) > 1)} {lines}", text, about)]


def first_of(names: Sequence[str], most: int = _SHOWN) -> str:
    """The first of the names, and the number of the others: ``a, b and 3 more``."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def tally(label: str, names: Sequence[str]) -> str:
    """``ADs without a prediction: 7 (3, 9, 12, 14, 15 and 2 more).``"""
    return f"{label}: {len(names):,} ({first_of(names)})."
