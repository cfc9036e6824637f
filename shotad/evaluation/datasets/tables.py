"""CSV tables as they are published, whatever their encoding, with the number of each line."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shotad.core import DatasetError

_LONGEST_CELL = 1 << 26
"""Characters; the csv module's own limit of 131,072 is below what a film's shots or faces take."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row. ``line`` is that of the file where it begins; ``mended`` says which bytes were not UTF-8;
    ``wrong`` how its cells do not fit the header, empty where they do."""

    line: int
    cells: dict[str, str]
    mended: str = ""
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]

    def where(self, row: TableRow) -> str:
        """``cmdad_anno.csv, line 12``."""
        return f"{self.path.name}, line {row.line}"

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


def read_table(path: Path) -> Table:
    """All rows of a CSV file with a header. Raises DatasetError where it cannot be read at all.

    Bytes that are not UTF-8 are taken for Windows-1252, the others left as they are.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}.") from None
    text, mended = decoded(data)
    if "\0" in text:
        raise DatasetError(f"{path} is no text: it has bytes that are 0.", "A CSV file is expected.")
    with _long_cells():
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
        try:
            columns = tuple(name.strip() for name in next(reader, ()))
            _check_header(path, columns)
            rows = tuple(_rows(reader, columns, mended))
        except csv.Error as error:
            raise DatasetError(
                f"{path}, line {reader.line_num}, is no CSV: {error}.", "Look for a quote that is not closed."
            ) from None
    return Table(path, columns, rows)


def _delimiter(text: str) -> str:
    """A comma; a tab or semicolon, as spreadsheets write, where the header has no comma but one of these."""
    header = text.partition("\n")[0]
    return next((mark for mark in (",", "\t", ";") if mark in header), ",")


def decoded(data: bytes) -> tuple[str, dict[int, str]]:
    """The text of a file's bytes, and what was mended, by number of the line (from 1)."""
    try:
        return data.decode("utf-16" if data[:2] in _UTF_16 else "utf-8-sig"), {}
    except UnicodeDecodeError:
        pass
    lines, mended = [], {}
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True), 1):
        text, bad = _mended(line)
        lines.append(text)
        if bad:
            mended[number] = " ".join(f"0x{byte:02x}" for byte in bad)
    return "".join(lines), mended


_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""What such a file begins with; spreadsheets write it."""


def _mended(line: bytes) -> tuple[str, bytes]:
    """One line's text, and its bytes that are not UTF-8."""
    text, bad = "", b""
    while True:
        try:
            return text + line.decode("utf-8"), bad
        except UnicodeDecodeError as error:
            wrong = line[error.start : error.end]
            text += line[: error.start].decode("utf-8") + wrong.decode("cp1252", errors="replace")
            bad += wrong
            line = line[error.end :]


def _check_header(path: Path, columns: Sequence[str]) -> None:
    if not any(columns):
        raise DatasetError(f"{path} is empty.", "A CSV file with a line of column names is expected.")
    double = {name for name in columns if name and columns.count(name) > 1}
    if double:
        raise DatasetError(
            f"{path} has several columns called {', '.join(sorted(double))}.", "Name each column once."
        )


def _rows(reader: Iterator[list[str]], columns: Sequence[str], mended: dict[int, str]) -> Iterator[TableRow]:
    last = 1
    for cells in reader:
        first, last = last + 1, reader.line_num  # type: ignore[attr-defined]
        if not cells:
            continue
        bad = " ".join(mended[line] for line in range(first, last + 1) if line in mended)
        named = dict(zip(columns, cells, strict=False))
        wrong = "" if len(cells) == len(columns) else f"{len(cells)} cells for {len(columns)} columns"
        yield TableRow(first, named, bad, wrong)


@contextmanager
def _long_cells() -> Iterator[None]:
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
