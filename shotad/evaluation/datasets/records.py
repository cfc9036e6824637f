"""Rows of a user's own file, CSV or JSON Lines, as one kind of record: by its contents, not by its name."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad.core import DatasetError
from shotad.evaluation.datasets.ads import Finding
from shotad.evaluation.datasets.cells import texts
from shotad.evaluation.datasets.findings import MALFORMED, NOTE
from shotad.evaluation.datasets.tables import decoded, read_table

_NOTHING = ("nan", "NaN", "None", "null", "<NA>")
"""What other programs write into a cell for nothing."""
_HALVES = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class RecordRow:
    """One record. ``values`` has None for what is null, not a number, or an empty cell of a CSV file."""

    line: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Records:
    """All records of a file, the names that occur in them, and what reading them brought to light."""

    path: Path
    names: tuple[str, ...]
    rows: tuple[RecordRow, ...]
    findings: tuple[Finding, ...] = ()

    def name(self, wanted: Sequence[str]) -> str | None:
        """The first of the names that occurs."""
        return next((name for name in wanted if name in self.names), None)

    def error(self, row: RecordRow, what: str, hint: str = "") -> DatasetError:
        """An error that names file and line."""
        return DatasetError(f"{self.path}, line {row.line}: {what}.", hint)

    def text(self, row: RecordRow, name: str | None) -> str | None:
        """The text under a name; numbers are written out (an id). Raises DatasetError for anything else."""
        value = row.values.get(name) if name else None
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{value:g}" if isinstance(value, float) else str(value)
        raise self.error(row, f"{name} is {_short(value)}, and must be a text")

    def number(self, row: RecordRow, name: str | None) -> float | None:
        """The finite number under a name. Raises DatasetError for anything else."""
        value = row.values.get(name) if name else None
        if value is None:
            return None
        try:
            found = float(value)
        except (TypeError, ValueError):
            found = math.nan
        if isinstance(value, bool) or not math.isfinite(found):
            raise self.error(row, f"{name} is {_short(value)}, and must be a number")
        return found

    def truth(self, row: RecordRow, name: str | None) -> bool | None:
        """The truth value under a name. Raises DatasetError for anything else."""
        value = row.values.get(name) if name else None
        if value is None or isinstance(value, bool):
            return value
        known = {"true": True, "1": True, "false": False, "0": False}
        if str(value).lower() not in known:
            raise self.error(row, f"{name} is {_short(value)}, and must be true or false")
        return known[str(value).lower()]

    def list(self, row: RecordRow, name: str | None) -> tuple[str, ...] | None:
        """The texts of a list, or of a list that is written into a cell; null in it is left out.

        Raises DatasetError.
        """
        value = row.values.get(name) if name else None
        if value is None:
            return None
        if isinstance(value, Sequence) and not isinstance(value, str):
            value = [item for item in value if item is not None]
        try:
            return texts(value if isinstance(value, str) else json.dumps(value))
        except ValueError as error:
            raise self.error(row, f"{name}: {error}", 'Write a list of texts: ["…", "…"].') from None


def read_records(path: Path) -> Records:
    """The records of a CSV file with a header, of JSON Lines, or of a JSON list of objects.

    A last line that is not whole, as a program leaves it that was stopped, is a finding. Raises DatasetError.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}.") from None
    first = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if not first:
        raise DatasetError(f"{path} is empty.", "CSV with a header, or JSON Lines, is expected.")
    if first in (b"{", b"["):
        return _json_records(path, data, whole=first == b"[")
    table = read_table(path)
    rows, findings = [], []
    for row in table.rows:
        if row.wrong:
            raise DatasetError(f"{table.where(row)}: {row.wrong}.", "Look at its quotes and commas.")
        rows.append(RecordRow(row.line, {key: _cell(value) for key, value in row.cells.items()}))
    mended = [row for row in table.rows if row.mended]
    if mended:
        where = f"{path.name}, line {mended[0].line}"
        what = f"{len(mended)} rows are not UTF-8; their bytes are read as Windows-1252."
        findings.append(Finding(NOTE, where, what))
    return Records(path, table.columns, tuple(rows), tuple(findings))


def _cell(cell: str) -> str | None:
    return None if not cell.strip() or cell.strip() in _NOTHING else cell


def _json_records(path: Path, data: bytes, *, whole: bool) -> Records:
    findings: list[Finding] = []
    text, mended = decoded(data)
    if mended:
        line = min(mended)
        findings.append(
            Finding(NOTE, f"{path.name}, line {line}", "bytes that are not UTF-8 are taken over.")
        )
    rows = tuple(_of_list(path, text) if whole else _of_lines(path, text, findings))
    names = tuple(dict.fromkeys(name for row in rows for name in row.values))
    return Records(path, names, rows, tuple(findings))


def _of_list(path: Path, text: str) -> Iterator[RecordRow]:
    try:
        tree = _json(text)
    except json.JSONDecodeError as error:
        raise DatasetError(f"{path}, line {error.lineno}, is no JSON: {error.msg}.") from None
    for place, record in enumerate(tree, 1):
        yield RecordRow(place, _values(path, place, record))


def _of_lines(path: Path, text: str, findings: list[Finding]) -> Iterator[RecordRow]:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = _json(line)
        except json.JSONDecodeError as error:
            if number == len(lines):
                what = "the last line is not whole, as if its program had been stopped; it is left out."
                findings.append(Finding(MALFORMED, f"{path.name}, line {number}", what))
                return
            raise DatasetError(
                f"{path}, line {number}, is no JSON: {error.msg}.", "Each line is one object: {…}."
            ) from None
        yield RecordRow(number, _values(path, number, record))


def _json(text: str) -> Any:
    """What JSON says. Half a pair (``\\ud83d`` alone, where a program cut a text), which is no character and
    cannot be written anywhere, becomes U+FFFD."""
    value = json.loads(text)
    if _HALVES.search(text):
        written = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        value = json.loads(written.decode("utf-16", "replace"))
    return value


def _values(path: Path, line: int, record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise DatasetError(f"{path}, line {line}, is {_short(record)}.", "Each record is an object: {…}.")
    return {name: None if isinstance(v, float) and math.isnan(v) else v for name, v in record.items()}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
