"""The script as a workbook (XLSX, ECMA-376) for Excel, LibreOffice Calc and the like.

One sheet with one table: heads in a frozen first row that is repeated on paper, every column named, texts
wrapped, a list to choose the status from; a second sheet says what the file is and by whom. Times and texts
are text cells, so that no program reads a formula, a date or a number into them.

With a worksheet the material of each slot has columns of its own: texts to take in, how many words fit, who
is seen, the shots, the dialogue before and after.

Lost: kind, candidates, provenance. Import reads the first sheet whose heads name a start, an end and a text,
of any make.
"""

from __future__ import annotations

import datetime
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shotad.core.errors import ScriptError
from shotad.script.cue import CueStatus, Script, ScriptCue, clean_text, line_stamp, timecode
from shotad.script.document import (
    EMPTY_STATUS,
    HEADS,
    about_material,
    about_track,
    checked_package,
    lines_of_table,
    row_of_cue,
    script_rows,
    sealed,
)
from shotad.script.track import Track
from shotad.script.worksheet import (
    SheetEntry,
    Worksheet,
    dialogue_text,
    entries_by_cue,
    is_text_read_out,
    people_lines,
    shot_text,
    slot_note,
    text_summary,
)

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.workbook.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet as Page

SCRIPT, ABOUT = "Script", "About"
STAMP_HEAD = "Stamp"
MATERIAL_HEADS = (
    "Text to take in", "Words that fit", "Who is seen", "Shots", "Dialogue before", "Dialogue after",
    "About the slot",
)  # fmt: skip
LONGEST_CELL = 32_767
"""Characters that a cell can hold; openpyxl would cut what is longer without a word."""

_WIDTHS = {
    "In": 14, "Out": 14, "Line": 70, "Words": 8, "Seconds": 9, "Status": 12, "Review": 18, "Note": 30,
    "Remarks": 26, "Id": 13,
    "Text to take in": 34, "Words that fit": 9, "Who is seen": 26, "Shots": 40, "Dialogue before": 40,
    "Dialogue after": 40, "About the slot": 22, STAMP_HEAD: 20,
}  # fmt: skip
_STATUSES = (CueStatus.PLACED, CueStatus.SHORTENED, CueStatus.DROPPED, EMPTY_STATUS)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_MAX_COLUMNS = 64
"""Columns that are read; a cell far to the right would make every row as wide."""


def write_xlsx(track: Track, worksheet: Worksheet | None = None) -> bytes:
    """The heard lines, and rows for empty slots, as a workbook; with the material of ``worksheet``.

    Raises ScriptError where a text is longer than a cell can be.
    """
    from openpyxl import Workbook

    book = Workbook()
    script = book.worksheets[0]
    script.title = SCRIPT
    # Behind the line, so that it is in view beside it
    heads = (
        (*HEADS[:3], *MATERIAL_HEADS, *HEADS[3:], STAMP_HEAD)
        if worksheet is not None
        else (*HEADS, STAMP_HEAD)
    )
    for column, head in enumerate(heads, 1):
        _put_cell(script, 1, column, head, bold=True)
    cues = script_rows(track)
    entries = entries_by_cue(worksheet, cues)
    for row, cue in enumerate(cues, 2):
        values: dict[str, str | float] = dict(zip(HEADS, row_of_cue(cue, entries.get(cue.id)), strict=True))
        entry = entries.get(cue.id)
        if entry is not None:
            values |= material_cells(entry, cue.text if cue.heard else "")
        if cue.heard:
            values[STAMP_HEAD] = line_stamp(cue.interval, cue.text)
        for column, head in enumerate(heads, 1):
            if head != STAMP_HEAD or cue.heard:
                _put_cell(script, row, column, values.get(head, ""))
    _format_sheet(script, heads, len(cues))
    # The second sheet says what the file is: its first column names what the second says.
    about_sheet = book.create_sheet(ABOUT)
    statement, film, use = about_track(track)
    facts = (
        ("Audio description", statement), ("Film", film), ("Use", use),
        ("Reviewed by", clean_text(", ".join(track.reviewers)) or "nobody yet"),
        ("Review", clean_text(track.review)), ("Track", track.stamp),
        *(("Material", clean_text(text)) for text in about_material(worksheet)),
    )  # fmt: skip
    for row, (head, text) in enumerate(facts, 1):
        _put_cell(about_sheet, row, 1, head, bold=True)
        _put_cell(about_sheet, row, 2, text)
    about_sheet.column_dimensions["A"].width, about_sheet.column_dimensions["B"].width = 20, 100
    out = io.BytesIO()
    book.save(out)
    return sealed(out.getvalue(), track)


def material_cells(entry: SheetEntry, line: str) -> dict[str, str | float]:
    """The cells of a slot under `MATERIAL_HEADS`. Texts that the line says already are not offered again."""
    offers = [text.offer for text in entry.texts if text.offer and not is_text_read_out(text, line)]
    too_long = [text_summary(text) for text in entry.texts if not text.offer]
    return {
        "Text to take in": clean_text("\n".join(offers)),
        "Words that fit": "" if entry.max_words is None else entry.max_words,
        "Who is seen": clean_text("\n".join(people_lines(entry.people))),
        "Shots": clean_text("\n".join(map(shot_text, entry.shots))),
        "Dialogue before": clean_text("\n".join(map(dialogue_text, entry.before))),
        "Dialogue after": clean_text("\n".join(map(dialogue_text, entry.after))),
        "About the slot": clean_text("\n".join([*slot_note(entry), *too_long])),
    }


def read_xlsx(data: bytes, file_name: str) -> Script:
    """The lines of a workbook.

    Raises ScriptError with file, sheet and row, and for a file that is not safe to read (`checked_package`).
    """
    from openpyxl import load_workbook

    data = checked_package(data, file_name)
    with warnings.catch_warnings():
        # openpyxl warns of styles and extensions that it leaves out, which hold no lines.
        warnings.simplefilter("ignore", UserWarning)
        try:
            book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        except Exception as error:  # noqa: BLE001  openpyxl lets through whatever its parts meet
            raise ScriptError(
                f"{file_name} cannot be read as a workbook: {error}.", "Save it as XLSX."
            ) from None
        try:
            script = _read_book(book, file_name)
            if not all(cue.text for cue in script.cues):
                formulas = load_workbook(io.BytesIO(data), read_only=True, keep_links=False)
                _refuse_formulas(formulas, book, file_name)
        finally:
            book.close()
    return script


def _refuse_formulas(formulas: Workbook, values: Workbook, file_name: str) -> None:
    """Raise ScriptError for a formula of which the file does not hold the value: its cell looks empty, and a
    line without a text is one that a person took out. Both books are the same file."""
    try:
        for title in formulas.sheetnames:
            sheets = (formulas[title], values[title])
            if not all(hasattr(sheet, "reset_dimensions") for sheet in sheets):
                continue
            for sheet in sheets:
                sheet.reset_dimensions()
            rows = zip(*(sheet.iter_rows(max_col=_MAX_COLUMNS) for sheet in sheets), strict=False)
            for formula_cells, value_cells in rows:
                for formula, value in zip(formula_cells, value_cells, strict=False):
                    if formula.data_type == "f" and value.value is None:
                        place = f"{file_name}, sheet {title}"
                        message = f"{place}: {formula.coordinate} holds a formula without its value."
                        raise ScriptError(message, "Write the text itself into the cell.")
    finally:
        formulas.close()


def _read_book(book: Workbook, file_name: str) -> Script:
    stamp: str | None = None
    cues: list[ScriptCue] | None = None
    stamps: dict[str, str] = {}
    for title in book.sheetnames:
        rows = _rows_of_sheet(book, title, file_name)
        sheet_lines = lines_of_table(rows, f"{file_name}, sheet {title}", stamps) if cues is None else None
        if sheet_lines is not None:
            cues = sheet_lines
        elif title == ABOUT:
            about_rows = _rows_of_sheet(book, title, file_name)
            stamp = next((row[1] for row in about_rows if len(row) > 1 and row[0] == "Track"), None)
    if cues is None:
        raise ScriptError(f"{file_name} has no sheet with the heads In, Out and Line.", "Name the columns.")
    return Script(tuple(cues), stamp, stamps, is_proven=True)


def _rows_of_sheet(book: Workbook, title: str, file_name: str) -> Iterator[list[str]]:
    """The cells of a sheet as texts, row by row; what a file says of its own size is not believed."""
    sheet = book[title]
    if not hasattr(sheet, "reset_dimensions"):
        return
    sheet.reset_dimensions()
    try:
        for number, row in enumerate(sheet.iter_rows(max_col=_MAX_COLUMNS), 1):
            failed = next((cell for cell in row if cell.data_type == "e"), None)
            if failed is not None:
                place = f"{file_name}, sheet {title}, row {number}"
                message = f"{place}: {failed.coordinate} holds the error {failed.value}."
                raise ScriptError(message, "Write the text itself into the cell.")
            yield [_cell_text(cell.value) for cell in row]
    except ScriptError:
        raise
    except Exception as error:  # noqa: BLE001  openpyxl lets through whatever its parts meet
        raise ScriptError(
            f"{file_name}, sheet {title}, cannot be read: {error}.", "Save it as XLSX."
        ) from None


def _cell_text(value: object) -> str:
    """A cell as text. What Excel makes of a typed 00:01:23, a time of day or a length, is a clock time; so is
    the part of a day that is left of it where the format of the cell was lost."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        value = value.time()
    if isinstance(value, datetime.time):
        value = datetime.timedelta(
            hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
        )
    if isinstance(value, datetime.timedelta):
        return timecode(value.total_seconds())
    if isinstance(value, float):
        milliseconds_of_day = value * 86_400_000
        is_part_of_day = 0 < value < 1 and abs(value * 1000 - round(value * 1000)) > 1e-6
        if is_part_of_day and abs(milliseconds_of_day - round(milliseconds_of_day)) < 1e-3:
            return timecode(round(milliseconds_of_day) / 1000)
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), str(value))


def _put_cell(sheet: Page, row: int, column: int, value: str | float, *, bold: bool = False) -> None:
    from openpyxl.styles import Alignment, Font

    cell: Cell = sheet.cell(row, column)  # type: ignore[assignment]  # no cell here is merged
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    cell.font = Font(name="Calibri", size=12, bold=bold)
    if not isinstance(value, str):
        cell.value = value
        return
    if len(value) > LONGEST_CELL:
        message = f"A text of {len(value)} characters does not fit into a cell of a workbook."
        raise ScriptError(message, f"Shorten it to {LONGEST_CELL} characters.")
    if value:
        cell.value = _ESCAPED.sub(r"_x005F_x\1_", value)
        cell.data_type = "s"
    cell.number_format = "@"
    cell.quotePrefix = True  # it stays a text when somebody edits it


def _format_sheet(sheet: Page, heads: Sequence[str], line_count: int) -> None:
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation
    from openpyxl.worksheet.properties import PageSetupProperties
    from openpyxl.worksheet.table import Table, TableStyleInfo

    last = get_column_letter(len(heads))
    for column, head in enumerate(heads, 1):
        sheet.column_dimensions[get_column_letter(column)].width = _WIDTHS[head]
    sheet.column_dimensions[last].hidden = True
    sheet.freeze_panes = "A2"
    sheet.print_title_rows = "1:1"
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    table = Table(displayName="AudioDescription", ref=f"A1:{last}{max(2, line_count + 1)}")
    table.tableStyleInfo = TableStyleInfo(name="TableStyleLight1", showRowStripes=True)
    sheet.add_table(table)
    choice = DataValidation("list", formula1=f'"{",".join(_STATUSES)}"', allow_blank=True)
    choice.promptTitle, choice.prompt = (
        "Status",
        "A line that is dropped is left out; empty is a slot without a line.",
    )
    choice.errorTitle, choice.error = "Status", f"Choose one of {', '.join(_STATUSES)}."
    status = get_column_letter(heads.index("Status") + 1)
    choice.add(f"{status}2:{status}{max(2, line_count + 1)}")
    sheet.add_data_validation(choice)
