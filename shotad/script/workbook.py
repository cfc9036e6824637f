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
    COLUMNS,
    EMPTY_STATUS,
    about_material,
    about_track,
    checked_package,
    column_head,
    lines_of_table,
    row_of_cue,
    script_rows,
    sealed,
)
from shotad.script.pace import budget_in_language_units
from shotad.script.track import Track
from shotad.script.track_texts import Texts, in_all_languages, texts_in
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

STAMP_COLUMN = "stamp"
MATERIAL_COLUMNS = (
    "text_to_take_in", "words_that_fit", "who_is_seen", "shots", "dialogue_before", "dialogue_after",
    "about_the_slot",
)  # fmt: skip
LONGEST_CELL = 32_767
"""Characters that a cell can hold; openpyxl would cut what is longer without a word."""

_WIDTHS = {
    "in": 14, "out": 14, "line": 70, "words": 8, "seconds": 9, "status": 12, "review": 18, "note": 30,
    "remarks": 26, "id": 13,
    "text_to_take_in": 34, "words_that_fit": 9, "who_is_seen": 26, "shots": 40, "dialogue_before": 40,
    "dialogue_after": 40, "about_the_slot": 22, STAMP_COLUMN: 20,
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
    texts = texts_in(track.language)
    script.title = texts("office.script")
    # Behind the line, so that it is in view beside it
    columns = (
        (*COLUMNS[:3], *MATERIAL_COLUMNS, *COLUMNS[3:], STAMP_COLUMN)
        if worksheet is not None
        else (*COLUMNS, STAMP_COLUMN)
    )
    for number, column in enumerate(columns, 1):
        _put_cell(script, 1, number, column_head(column, track.language), bold=True)
    cues = script_rows(track)
    entries = entries_by_cue(worksheet, cues)
    for row, cue in enumerate(cues, 2):
        values: dict[str, str | float] = dict(zip(COLUMNS, row_of_cue(cue, entries.get(cue.id)), strict=True))
        entry = entries.get(cue.id)
        if entry is not None:
            values |= material_cells(entry, cue.text if cue.heard else "", cue.language)
        if cue.heard:
            values[STAMP_COLUMN] = line_stamp(cue.interval, cue.text)
        for number, column in enumerate(columns, 1):
            if column != STAMP_COLUMN or cue.heard:
                _put_cell(script, row, number, values.get(column, ""))
    _format_sheet(script, columns, len(cues), texts)
    # The second sheet says what the file is: its first column names what the second says.
    about_sheet = book.create_sheet(texts("office.about"))
    statement, film, use = about_track(track)
    reviewers = clean_text(", ".join(track.reviewers)) or texts("office.about_nobody")
    facts = (
        (texts("script.title"), statement), (texts("office.about_film"), film),
        (texts("office.about_use"), use), (texts("office.about_reviewed_by"), reviewers),
        (texts("head.review"), clean_text(track.review)), (texts("office.about_track"), track.stamp),
        *((texts("head.material"), clean_text(text)) for text in about_material(worksheet, track.language)),
    )  # fmt: skip
    for row, (head, text) in enumerate(facts, 1):
        _put_cell(about_sheet, row, 1, head, bold=True)
        _put_cell(about_sheet, row, 2, text)
    about_sheet.column_dimensions["A"].width, about_sheet.column_dimensions["B"].width = 20, 100
    out = io.BytesIO()
    book.save(out)
    return sealed(out.getvalue(), track)


def material_cells(entry: SheetEntry, line: str, language: str) -> dict[str, str | float]:
    """The cells of a slot under `MATERIAL_COLUMNS`. Texts that the line says already are not offered."""
    offers = [text.offer for text in entry.texts if text.offer and not is_text_read_out(text, line)]
    too_long = [text_summary(text, language) for text in entry.texts if not text.offer]
    shots = [shot_text(shot, language) for shot in entry.shots]
    words = "" if entry.max_words is None else budget_in_language_units(language, entry.max_words)
    return {
        "text_to_take_in": clean_text("\n".join(offers)),
        "words_that_fit": words,
        "who_is_seen": clean_text("\n".join(people_lines(entry.people, language))),
        "shots": clean_text("\n".join(shots)),
        "dialogue_before": clean_text("\n".join(map(dialogue_text, entry.before))),
        "dialogue_after": clean_text("\n".join(map(dialogue_text, entry.after))),
        "about_the_slot": clean_text("\n".join([*slot_note(entry, language), *too_long])),
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
        elif title in in_all_languages("office.about"):
            about_rows = _rows_of_sheet(book, title, file_name)
            heads = in_all_languages("office.about_track")
            stamp = next((row[1] for row in about_rows if len(row) > 1 and row[0] in heads), None)
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


def _format_sheet(sheet: Page, columns: Sequence[str], line_count: int, texts: Texts) -> None:
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation
    from openpyxl.worksheet.properties import PageSetupProperties
    from openpyxl.worksheet.table import Table, TableStyleInfo

    last = get_column_letter(len(columns))
    for number, column in enumerate(columns, 1):
        sheet.column_dimensions[get_column_letter(number)].width = _WIDTHS[column]
    sheet.column_dimensions[last].hidden = True
    sheet.freeze_panes = "A2"
    sheet.print_title_rows = "1:1"
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    table = Table(displayName=texts("office.table"), ref=f"A1:{last}{max(2, line_count + 1)}")
    table.tableStyleInfo = TableStyleInfo(name="TableStyleLight1", showRowStripes=True)
    sheet.add_table(table)
    statuses = [texts(f"status.{status}") for status in _STATUSES]
    choice = DataValidation("list", formula1=f'"{",".join(statuses)}"', allow_blank=True)
    choice.promptTitle, choice.prompt = texts("head.status"), texts("office.choose")
    choice.errorTitle = texts("head.status")
    choice.error = texts("office.choose_of", statuses=", ".join(statuses))
    status = get_column_letter(columns.index("status") + 1)
    choice.add(f"{status}2:{status}{max(2, line_count + 1)}")
    sheet.add_data_validation(choice)
