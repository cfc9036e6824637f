"""The script as a Word document (DOCX, ECMA-376) that people read, print, send round and edit.

Made to be read by ear as well (Microsoft's accessibility rules, WCAG 2.2 for documents): a title property
and a language for the whole text, real headings, one plain table without merged cells whose first row is
marked as heads and repeated on every page, a name and a description of the table, 12 points, no colour that
says anything, no text boxes. What is machine-made is said before the script begins.

`shotad.script.document_reader` brings back times and texts, also with tracked changes. Lost: kind,
candidates, provenance.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from shotad.core import ScriptError
from shotad.script.cue import Cue, clean_text, count_words, line_stamp
from shotad.script.document_package import sealed
from shotad.script.sheet import note, review_words
from shotad.script.timecodes import timecode
from shotad.script.track import Track

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table

HEADS: tuple[str, ...] = ("In", "Out", "Line", "Words", "Seconds", "Status", "Review", "Notes", "Id")
TABLE = "Script"
MARK = "_ad_"
"""Bookmarks that begin so are hidden in Word and tell import how a line, or the track, was written."""

_WIDTHS = (1.15, 1.15, 3.05, 0.7, 0.9, 0.95, 0.95, 1.05, 1.0)
"""Inches, 10.9 together: A4 on its side with narrow margins."""
_REGIONS = {
    "ar": "SA", "ca": "ES", "cs": "CZ", "da": "DK", "el": "GR", "en": "US", "et": "EE", "eu": "ES",
    "fa": "IR", "ga": "IE", "he": "IL", "hi": "IN", "ja": "JP", "ko": "KR", "nb": "NO", "nn": "NO",
    "sl": "SI", "sv": "SE", "uk": "UA", "ur": "PK", "vi": "VN", "zh": "CN",
}  # fmt: skip
"""Word names languages with a region. Where none is given: these, or the region named as the language is."""
_EAST_ASIAN = ("ja", "ko", "zh")
_RIGHT_TO_LEFT = ("ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "syr", "ug", "ur", "yi")


def write_docx(track: Track) -> bytes:
    """The heard lines as a Word document.

    Raises ScriptError where the extra ``documents`` is not installed.
    """
    try:
        import docx
    except ModuleNotFoundError:
        raise missing_extra("DOCX", "python-docx") from None
    document = docx.Document()
    right_to_left = track.language.partition("-")[0].lower() in _RIGHT_TO_LEFT
    _set_language(document, track.language)
    _set_page(document)
    heading = document.add_heading(clean_text(f"Audio description: {track.film.name}"), level=1)
    _mark(heading._p, f"{MARK}track_{track.stamp}", 0)
    for text in about(track):
        document.add_paragraph(text)
    document.add_heading("Script", level=2)
    table = _new_table(document, len(track.heard))
    if right_to_left:
        document.styles["Normal"].element.get_or_add_pPr().append(_element("bidi"))
        table._tbl.tblPr.insert(1, _element("bidiVisual"))
    _fill(table, track)
    out = io.BytesIO()
    document.save(out)
    return sealed(out.getvalue(), track)


def about(track: Track) -> tuple[str, ...]:
    """What stands before the script: who made it, for which film, how it is edited."""
    voices = dict.fromkeys(cue.spoken.voice for cue in track.heard if cue.spoken is not None)
    voice = f"Voice: {', '.join(voices)}." if voices else "Not spoken yet."
    length = f"{len(track.heard)} lines in {timecode(track.film.duration).partition('.')[0]}"
    parts = (
        track.statement,
        f"Film: {track.film.name}, {length}. Language: {track.language}. {voice}",
        "Text, times and status in the table may be changed, rows deleted and added, and the file brought "
        "back with shotad import. Status dropped leaves a line out. Words and seconds are counted anew. The "
        "Id column tells the lines apart: leave it as it is, and empty in a new row.",
    )
    return tuple(clean_text(part) for part in parts)


def cells_of(cue: Cue) -> tuple[str | float, ...]:
    """A line under `HEADS`."""
    return (
        timecode(cue.interval.start), timecode(cue.interval.end), cue.text, count_words(cue.text),
        round(cue.interval.duration, 1), cue.status.value, review_words(cue), note(cue), cue.id,
    )  # fmt: skip


def missing_extra(what: str, package: str) -> ScriptError:
    """The error where a library is not installed."""
    return ScriptError(
        f"{what} needs {package}, which is not installed.", 'Install it: pip install "shotad[documents]".'
    )


def _fill(table: Table, track: Track) -> None:
    """Texts into the cells, row by row, through XML: python-docx counts all cells to look one up."""
    from docx.table import _Cell

    rows = table._tbl.tr_lst
    heads = [[_Cell(cell, table) for cell in rows[0].tc_lst]]
    _repeat_head(rows[0])
    for cell, head in zip(heads[0], HEADS, strict=True):
        cell.paragraphs[0].add_run(head).bold = True
    for number, (row, cue) in enumerate(zip(rows[1:], track.heard, strict=True), 1):
        _keep_together(row)
        cells = [_Cell(cell, table) for cell in row.tc_lst]
        for cell, value in zip(cells, cells_of(cue), strict=True):
            if value != "":
                cell.paragraphs[0].add_run(str(value))
        stamp = line_stamp(cue.interval, cue.text).replace("-", "_")
        _mark(cells[-1].paragraphs[0]._p, f"{MARK}{cue.id}_{stamp}", number)


def _new_table(document: Document, lines: int) -> Table:
    from docx.shared import Inches

    table: Table = document.add_table(rows=lines + 1, cols=len(HEADS), style="Table Grid")
    table.autofit = False
    for column, width in zip(table._tbl.tblGrid.gridCol_lst, _WIDTHS, strict=True):
        column.w = Inches(width)
    for row in table._tbl.tr_lst:
        for cell, width in zip(row.tc_lst, _WIDTHS, strict=True):
            cell.width = Inches(width)
    properties = table._tbl.tblPr
    look = properties.find(_w("tblLook"))
    if look is not None:
        properties.remove(look)
    flags = {"val": "0020", "firstRow": "1", "lastRow": "0", "firstColumn": "0", "lastColumn": "0",
             "noHBand": "1", "noVBand": "1"}  # fmt: skip
    what = "Each row is one line of description: when it begins and ends, its words, its status and notes."
    properties.append(_element("tblLook", **flags))
    properties.append(_element("tblCaption", val=TABLE))
    properties.append(_element("tblDescription", val=what))
    return table


def _repeat_head(row: Any) -> None:
    properties = row.get_or_add_trPr()
    properties.append(_element("cantSplit"))
    properties.append(_element("tblHeader"))


def _keep_together(row: Any) -> None:
    row.get_or_add_trPr().append(_element("cantSplit"))


def _set_page(document: Document) -> None:
    from docx.enum.section import WD_ORIENT
    from docx.shared import Inches, Pt, RGBColor

    section = document.sections[0]
    section.orientation = WD_ORIENT.LANDSCAPE
    section.page_width, section.page_height = Inches(11.69), Inches(8.27)
    for side in ("left_margin", "right_margin", "top_margin", "bottom_margin"):
        setattr(section, side, Inches(0.4 if side.startswith(("left", "right")) else 0.7))
    document.styles["Normal"].font.size = Pt(12)
    document.styles["Normal"].font.name = "Calibri"
    document.styles["Normal"].element.rPr.append(_element("szCs", val="24"))
    for name in ("Heading 1", "Heading 2"):
        document.styles[name].font.color.rgb = RGBColor(0, 0, 0)
    for setting in document.settings.element.iter(_w("compatSetting")):
        if setting.get(_w("name")) == "compatibilityMode":
            setting.set(_w("val"), "15")


def _set_language(document: Document, language: str) -> None:
    """The language of all text: of the defaults in the styles, and of the theme's fonts in the settings."""
    plain = language.partition("-")[0].lower()
    kind = "bidi" if plain in _RIGHT_TO_LEFT else "eastAsia" if plain in _EAST_ASIAN else "val"
    if language.lower() == plain and len(plain) == 2:
        language = f"{plain}-{_REGIONS.get(plain, plain.upper())}"
    styles = document.styles.element
    for old in styles.iter(_w("lang")):
        old.attrib.clear()
        old.set(_w("val"), language)
        old.set(_w(kind), language)
    settings = document.settings.element
    for old in settings.findall(_w("themeFontLang")):
        old.attrib.clear()
        old.set(_w("val"), language)
        old.set(_w(kind), language)


def _mark(paragraph: Any, name: str, number: int) -> None:
    start, end = _element("bookmarkStart", id=str(number), name=name), _element("bookmarkEnd", id=str(number))
    at = 1 if paragraph.pPr is not None else 0
    paragraph.insert(at, start)
    paragraph.append(end)


def _element(tag: str, **attributes: str) -> Any:
    from docx.oxml import OxmlElement

    element = OxmlElement(f"w:{tag}")
    for key, value in attributes.items():
        element.set(_w(key), value)
    return element


def _w(name: str) -> str:
    return f"{{http://schemas.openxmlformats.org/wordprocessingml/2006/main}}{name}"
