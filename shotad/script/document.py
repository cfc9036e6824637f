"""The script as a Word document (DOCX, ECMA-376) that people read, print, send round and edit.

Made to be read by ear as well (Microsoft's accessibility rules, WCAG 2.2 for documents): a title property
and a language for the whole text, real headings, one plain table without merged cells whose first row is
marked as heads and repeated on every page, a name and a description of the table, 12 points, no colour that
says anything. What is machine-made is said before the script begins.

With a worksheet each row has its slot's pictures and material beside the line: who is seen, texts to take
in, the shots, the dialogue before and after. Pictures of a slot stand in one image, with their times and
shots below, and in its description. The lines keep 12 points, the rest has 10.

Read are the tables of any Word document, from the XML by lxml: what Word shows with all changes accepted
counts. Lost: kind, candidates, provenance.

Office documents are zip files of XML parts. One that somebody sends may be a bomb (kilobytes that unpack to
gigabytes) or name entities that read other files: what is over the limits here, or declares anything, is
refused before any part of it is read. Ours are written the same every time.
"""

from __future__ import annotations

import io
import lzma
import re
import zipfile
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from lxml import etree

from shotad.core.errors import ScriptError
from shotad.core.weight_store import read_limited
from shotad.script.cue import (
    Cue,
    Script,
    ScriptCue,
    clean_text,
    count_words,
    line_stamp,
    parse_interval,
    timecode,
)
from shotad.script.pace import budget_in_language_units, has_blanks
from shotad.script.strip import Strip, strip_of, strip_words
from shotad.script.table_formats import (
    COLUMN_OF_HEAD,
    SECONDS_PER_WORD,
    is_heard_status,
    line_remarks,
    note_author,
    note_text,
    plain_head,
    review_text,
)
from shotad.script.track import Track
from shotad.script.track_texts import texts_in
from shotad.script.worksheet import (
    SheetEntry,
    Worksheet,
    dialogue_text,
    entries_by_cue,
    is_text_read_out,
    people_lines,
    shot_text,
    slot_length_text,
    slot_note,
    text_summary,
)

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

COLUMNS: tuple[str, ...] = (
    "in", "out", "line", "words", "seconds", "status", "review", "note", "remarks", "id",
)  # fmt: skip
"""The columns of the script; their heads are in the language of the track (`column_head`)."""
COLUMNS_WITH_MATERIAL: tuple[str, ...] = (
    "in", "out", "line", "pictures", "material", "status", "note", "remarks", "id",
)  # fmt: skip
MARK = "_ad_"
"""Bookmarks that begin so are hidden in Word and tell import how a line, or the track, was written."""

_WIDTHS: tuple[float, ...] = (1.1, 1.1, 2.6, 0.65, 0.85, 0.9, 0.85, 1.1, 0.9, 0.85)
"""Inches, 10.9 together: A4 on its side with narrow margins."""
_WIDTHS_WITH_MATERIAL: tuple[float, ...] = (0.9, 0.9, 2.3, 1.85, 2.0, 0.65, 0.9, 0.7, 0.7)
_PICTURES_WIDTH = 1.7
"""Inches of the pictures of a slot."""
_REGIONS = {
    "ar": "SA", "ca": "ES", "cs": "CZ", "da": "DK", "el": "GR", "en": "US", "et": "EE", "eu": "ES",
    "fa": "IR", "ga": "IE", "he": "IL", "hi": "IN", "ja": "JP", "ko": "KR", "nb": "NO", "nn": "NO",
    "sl": "SI", "sv": "SE", "uk": "UA", "ur": "PK", "vi": "VN", "zh": "CN",
}  # fmt: skip
"""Word names languages with a region. Where none is given: these, or the region named as the language is."""
_EAST_ASIAN = ("ja", "ko", "zh")
_RIGHT_TO_LEFT = ("ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "syr", "ug", "ur", "yi")


def write_docx(track: Track, worksheet: Worksheet | None = None) -> bytes:
    """The heard lines, and rows for empty slots, as a Word document; with the material of ``worksheet``."""
    import docx

    document = docx.Document()
    _set_page(document, track.language)
    texts = texts_in(track.language)
    title = texts("script.title_of_film", film=track.film.name)
    heading = document.add_heading(clean_text(title), level=1)
    _add_bookmark(heading._p, f"{MARK}track_{track.stamp}", 0)
    for text in about_track(track):
        document.add_paragraph(text)
    document.add_heading(texts("office.script"), level=2)
    for sentence in about_material(worksheet, track.language):
        document.add_paragraph(clean_text(sentence))
    table = _add_table(document, track, worksheet)
    if _base_language(track.language) in _RIGHT_TO_LEFT:
        document.styles["Normal"].element.get_or_add_pPr().append(_element("bidi"))
        table._tbl.tblPr.insert(1, _element("bidiVisual"))
    out = io.BytesIO()
    document.save(out)
    return sealed(out.getvalue(), track)


def _base_language(language: str) -> str:
    return language.partition("-")[0].lower()


def about_track(track: Track) -> tuple[str, ...]:
    """What stands before the script: who made it, for which film, how it is edited."""
    texts = texts_in(track.language)
    voices = dict.fromkeys(cue.spoken.voice for cue in track.heard if cue.spoken is not None)
    film = texts(
        "office.film",
        film=track.film.name,
        lines=texts.count("count.lines", len(track.heard)),
        length=timecode(track.film.duration).partition(".")[0],
        language=track.language,
        voice=texts("office.voice", voices=", ".join(voices)) if voices else texts("office.not_spoken"),
    )
    return tuple(clean_text(part) for part in (track.statement, film, texts("office.use")))


def about_material(worksheet: Worksheet | None, language: str) -> tuple[str, ...]:
    """What stands before a script that has material: what it is, and what of it is missing."""
    if worksheet is None:
        return ()
    use = texts_in(language)("office.material")
    return tuple(filter(None, (use, worksheet.no_pictures, *worksheet.missing)))


def column_head(column: str, language: str) -> str:
    """The head of a column: ``in`` → ``In``, in German ``Von``."""
    return texts_in(language)(f"head.{column}")


def status_text(status: str, language: str) -> str:
    """A line's status, or `EMPTY_STATUS`, as the table shows it: ``dropped``, in German ``gestrichen``."""
    return texts_in(language)(f"status.{status}")


EMPTY_STATUS = "empty"
"""Status of a row for a slot that has no line yet. It is none of a cue's, so that a line written there is
heard."""


def script_rows(track: Track) -> list[Cue]:
    """The cues that have a row: lines that are heard, and slots in which none is, for a describer to fill."""
    heard = track.heard
    starts = [cue.start for cue in heard]
    # The latest end of the lines up to each.
    ends = list(accumulate((cue.end for cue in heard), max))
    rows: list[Cue] = []
    for cue in track.cues:
        begun = bisect_left(starts, cue.end)
        is_filled = begun > 0 and ends[begun - 1] > cue.start
        if cue.heard or (cue.slot_id is not None and not is_filled):
            rows.append(cue)
    return rows


def row_of_cue(cue: Cue, entry: SheetEntry | None = None) -> tuple[str | float, ...]:
    """A row of `script_rows` under `COLUMNS`; ``entry`` is the material of its slot, where that is known."""
    note = note_text(cue)
    if not cue.heard:
        return (
            timecode(cue.interval.start), timecode(cue.interval.end), "", "", round(cue.interval.duration, 1),
            status_text(EMPTY_STATUS, cue.language), "", note, empty_slot_text(cue, entry), cue.id,
        )  # fmt: skip
    return (
        timecode(cue.interval.start), timecode(cue.interval.end), cue.text, count_words(cue.text),
        round(cue.interval.duration, 1), status_text(cue.status, cue.language), review_text(cue), note,
        line_remarks(cue), cue.id,
    )  # fmt: skip


def empty_slot_text(cue: Cue, entry: SheetEntry | None = None) -> str:
    """``Empty slot · 4.2 s, about 11 words``; by the pace of a calm voice where the material does not say how
    many words fit."""
    max_words = None if entry is None else entry.max_words
    if max_words is None:
        max_words = int(cue.interval.duration / SECONDS_PER_WORD)
    number = budget_in_language_units(cue.language, max_words)
    key = "office.slot_words" if has_blanks(cue.language) else "office.slot_characters"
    texts = texts_in(cue.language)
    text = texts.count(key, number, seconds=texts.decimal(cue.interval.duration))
    return "; ".join(filter(None, (text, note_author(cue))))


def _add_table(document: Document, track: Track, worksheet: Worksheet | None) -> Table:
    from docx.shared import Inches, Pt
    from docx.table import _Cell

    cues = script_rows(track)
    entries = entries_by_cue(worksheet, cues, each_once=True)
    columns = COLUMNS if worksheet is None else COLUMNS_WITH_MATERIAL
    texts = texts_in(track.language)
    widths = _WIDTHS if worksheet is None else _WIDTHS_WITH_MATERIAL
    table: Table = document.add_table(rows=len(cues) + 1, cols=len(columns), style="Table Grid")
    table.autofit = False
    for grid_column, width in zip(table._tbl.tblGrid.gridCol_lst, widths, strict=True):
        grid_column.w = Inches(width)
    properties = table._tbl.tblPr
    for look in properties.findall(f"{_W}tblLook"):
        properties.remove(look)
    flags = {"val": "0020", "firstRow": "1", "lastRow": "0", "firstColumn": "0", "lastColumn": "0",
             "noHBand": "1", "noVBand": "1"}  # fmt: skip
    properties.append(_element("tblLook", **flags))
    properties.append(_element("tblCaption", val=texts("office.script")))
    properties.append(_element("tblDescription", val=texts("office.table_is")))
    # Row by row, through XML: python-docx counts all cells to look one up.
    cells: list[dict[str, str | float]] = [
        {column: column_head(column, track.language) for column in columns}
    ]
    cells += [_cells_by_column(cue, entries.get(cue.id), with_material=worksheet is not None) for cue in cues]
    for number, (row, by_column) in enumerate(zip(table._tbl.tr_lst, cells, strict=True)):
        row.get_or_add_trPr().append(_element("cantSplit"))
        for cell, width, column in zip(row.tc_lst, widths, columns, strict=True):
            cell.width = Inches(width)
            text = by_column.get(column, "")
            if text != "":
                run = _Cell(cell, table).paragraphs[0].add_run(str(text))
                if number == 0:
                    run.bold = True
                if worksheet is not None and (column != "line" or number == 0):
                    run.font.size = Pt(10)
        entry = entries.get(cues[number - 1].id) if number else None
        if entry is not None and worksheet is not None:
            material, pictures = (row.tc_lst[columns.index(name)] for name in ("material", "pictures"))
            _fill_material(_Cell(material, table), entry, cues[number - 1])
            strip = strip_of(entry, worksheet.pictures, track.language)
            if strip is not None:
                words = strip_words(entry, track.language)
                _put_strip(document, _Cell(pictures, table), strip, words, number)
        if number == 0:
            row.get_or_add_trPr().append(_element("tblHeader"))  # repeated on every page
        elif (cue := cues[number - 1]).heard:
            stamp = line_stamp(cue.interval, cue.text).replace("-", "_")
            last = _Cell(row.tc_lst[-1], table)
            _add_bookmark(last.paragraphs[0]._p, f"{MARK}{cue.id}_{stamp}", number)
    return table


def _cells_by_column(cue: Cue, entry: SheetEntry | None, *, with_material: bool) -> dict[str, str | float]:
    """A row by its columns; beside the material whose a line is has no column of its own."""
    cells = dict(zip(COLUMNS, row_of_cue(cue, entry), strict=True))
    if with_material:
        cells["remarks"] = "; ".join(filter(None, (str(cells["review"]), str(cells["remarks"]))))
    return cells


def material_texts(entry: SheetEntry, line: str, language: str) -> list[tuple[str, list[str]]]:
    """What is known of a slot under its headings, without headings of which nothing is known."""
    offers = [text.offer for text in entry.texts if text.offer and not is_text_read_out(text, line)]
    too_long = [text_summary(text, language) for text in entry.texts if not text.offer]
    about_slot = [f"{slot_length_text(entry, language)}.", *slot_note(entry, language)]
    lines_by_column = {
        "text_to_take_in": offers,
        "text_on_screen": too_long,
        "who_is_seen": list(people_lines(entry.people, language)),
        "shots": [shot_text(shot, language) for shot in entry.shots],
        "dialogue_before": [dialogue_text(line) for line in entry.before],
        "dialogue_after": [dialogue_text(line) for line in entry.after],
    }
    headed = [(column_head(column, language), lines) for column, lines in lines_by_column.items() if lines]
    return [("", about_slot), *headed]


def _fill_material(cell: Any, entry: SheetEntry, cue: Cue) -> None:
    """A paragraph for each text, so that one that is to be taken in can be copied as a whole."""
    from docx.shared import Pt

    paragraph = cell.paragraphs[0]
    is_first = True
    for head, lines in material_texts(entry, cue.text if cue.heard else "", cue.language):
        for text in filter(None, (head, *lines)):
            paragraph = paragraph if is_first else cell.add_paragraph()
            is_first = False
            paragraph.paragraph_format.space_after = Pt(2)
            run = paragraph.add_run(clean_text(text))
            run.font.size = Pt(10)
            if text is head:
                run.bold = True


def _put_strip(document: Document, cell: Any, strip: Strip, words: str, number: int) -> None:
    """Put the pictures of a slot, as one image, into a cell; ``words`` say it to screen readers."""
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.opc.packuri import PackURI
    from docx.oxml.shape import CT_Inline
    from docx.parts.image import ImagePart
    from docx.shared import Inches, Length

    # By hand, for python-docx compares each picture with all before it.
    part = ImagePart(PackURI(f"/word/media/slot{number:05d}.jpg"), "image/jpeg", strip.jpeg)
    relation = document.part.relate_to(part, RELATIONSHIP_TYPE.IMAGE)
    width = Inches(_PICTURES_WIDTH)
    height = Length(round(width * strip.height / strip.width))
    inline = CT_Inline.new_pic_inline(number, relation, f"slot{number:05d}.jpg", width, height)
    inline.docPr.set("descr", words)
    cell.paragraphs[0].add_run()._r.add_drawing(inline)


def _set_page(document: Document, language: str) -> None:
    """The language of all text, of the defaults in the styles and of the theme's fonts in the settings; the
    page and its letters."""
    from docx.enum.section import WD_ORIENT
    from docx.shared import Inches, Pt, RGBColor

    plain = _base_language(language)
    kind = "bidi" if plain in _RIGHT_TO_LEFT else "eastAsia" if plain in _EAST_ASIAN else "val"
    if language.lower() == plain and len(plain) == 2:
        language = f"{plain}-{_REGIONS.get(plain, plain.upper())}"
    styles, settings = document.styles.element, document.settings.element
    for element in (*styles.iter(f"{_W}lang"), *settings.findall(f"{_W}themeFontLang")):
        element.attrib.clear()
        element.set(f"{_W}val", language)
        element.set(f"{_W}{kind}", language)
    section = document.sections[0]
    section.orientation = WD_ORIENT.LANDSCAPE
    section.page_width, section.page_height = Inches(11.69), Inches(8.27)
    section.left_margin = section.right_margin = Inches(0.4)
    section.top_margin = section.bottom_margin = Inches(0.7)
    document.styles["Normal"].font.size = Pt(12)
    document.styles["Normal"].font.name = "Calibri"
    document.styles["Normal"].element.rPr.append(_element("szCs", val="24"))
    for name in ("Heading 1", "Heading 2"):
        document.styles[name].font.color.rgb = RGBColor(0, 0, 0)
    for setting in document.settings.element.iter(f"{_W}compatSetting"):
        if setting.get(f"{_W}name") == "compatibilityMode":
            setting.set(f"{_W}val", "15")


def _add_bookmark(paragraph: Any, name: str, number: int) -> None:
    start, end = _element("bookmarkStart", id=str(number), name=name), _element("bookmarkEnd", id=str(number))
    position = 1 if paragraph.pPr is not None else 0
    paragraph.insert(position, start)
    paragraph.append(end)


def _element(tag: str, **attributes: str) -> Any:
    from docx.oxml import OxmlElement

    element = OxmlElement(f"w:{tag}")
    for key, value in attributes.items():
        element.set(f"{_W}{key}", value)
    return element


MOST_ROWS = 50_000

_UNREAD_TAGS = frozenset(
    f"{_W}{tag}" for tag in ("del", "moveFrom", "pPr", "rPr", "delText", "instrText", "tbl")
)
_LINE_MARK = re.compile(r"_ad_(?P<id>[sh]\d{8,})_(?P<times>[0-9a-f]{8})_(?P<text>[0-9a-f]{8})")
_TRACK_MARK = re.compile(r"_ad_track_(?P<stamp>[0-9a-f]{8})")


def read_docx(data: bytes, file_name: str) -> Script:
    """The lines in the tables of a Word document whose heads name a start, an end and a text.

    Tracked changes count as accepted. Raises ScriptError with file and row; for a document without such a
    table; and for one that is not safe to read (`open_package`).
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    with open_package(data, file_name) as package:
        try:
            body = etree.fromstring(read_part(package, DOCUMENT, file_name), parser)
        except etree.XMLSyntaxError as error:
            raise ScriptError(f"{file_name} is damaged at {DOCUMENT}: {error}.") from None
    cues: list[ScriptCue] | None = None
    tables = (table for table in body.iter(f"{_W}tbl") if next(table.iterancestors(f"{_W}tbl"), None) is None)
    for number, table in enumerate(tables, 1):
        # Its own rows that are not deleted.
        own_rows = (
            row for row in table.iter(f"{_W}tr") if next(row.iterancestors(f"{_W}tbl"), None) is table
        )
        rows = (_row_texts(row) for row in own_rows if row.find(f"{_W}trPr/{_W}del") is None)
        table_lines = lines_of_table(rows, f"{file_name}, table {number}")
        if table_lines is not None:
            cues = [*(cues or []), *table_lines]
    if cues is None:
        message = f"{file_name} has no table with the heads In, Out and Line."
        raise ScriptError(message, "Give the table a first row with these heads.")
    marks = [str(mark.get(f"{_W}name")) for mark in body.iter(f"{_W}bookmarkStart")]
    stamps = {m["id"]: f"{m['times']}-{m['text']}" for mark in marks if (m := _LINE_MARK.fullmatch(mark))}
    tracks = [m["stamp"] for mark in marks if (m := _TRACK_MARK.fullmatch(mark))]
    return Script(tuple(cues), tracks[0] if tracks else None, stamps, is_proven=True)


ROWS_ABOVE_HEADS = 5
"""Rows in which the heads of a table may follow: a title, the film's name, an empty row."""


def lines_of_table(
    rows: Iterator[list[str]], place: str, stamps: dict[str, str] | None = None
) -> list[ScriptCue] | None:
    """The lines of a table; None where none of its first rows are heads that name a start, an end and a text.

    People put a title, or nothing, above the heads.

    A status such as dropped empties the text. Stamps go into ``stamps`` by id. Raises ScriptError with
    ``place`` and the row for a time or a status that is none, and for too many rows.
    """
    heads: list[str] = []
    heads_row = 0
    for row in islice(rows, ROWS_ABOVE_HEADS + 1):
        heads_row += 1
        heads = [COLUMN_OF_HEAD.get(plain_head(head), "") for head in row]
        if {"start", "end", "text"} <= set(heads):
            break
    else:
        return None
    cues = []
    for number, row in enumerate(rows, heads_row + 1):
        if number > MOST_ROWS:
            raise ScriptError(f"{place}, has over {MOST_ROWS} rows.", "Is it a script?")
        cells = dict(zip(heads, row, strict=False))
        text, start, end, note = (clean_text(cells.get(key, "")) for key in ("text", "start", "end", "note"))
        key = cells.get("id", "").strip()
        if text or start or end:
            interval = parse_interval(start, end, f"{place}, row {number}")
            heard = is_heard_status(
                cells.get("status", ""), f"{place}, row {number}", is_ours="stamp" in heads
            )
            cues.append(ScriptCue(key or None, interval, text if heard else "", note))
        if stamps is not None and key and cells.get("stamp"):
            stamps[key] = cells["stamp"]
    return cues


def _row_texts(row: etree._Element) -> list[str]:
    texts: list[str] = []
    for cell in row.iter(f"{_W}tc"):
        if next(cell.iterancestors(f"{_W}tr"), None) is not row:
            continue
        lines = [""]
        for paragraph in cell.iter(f"{_W}p"):
            if next(paragraph.iterancestors(f"{_W}tc"), None) is cell:
                lines[-1] += "".join(_text_pieces(paragraph))
                # One whose end mark is deleted runs on into the next.
                if paragraph.find(f"{_W}pPr/{_W}rPr/{_W}del") is None:
                    lines.append("")
        span = cell.find(f"{_W}tcPr/{_W}gridSpan")
        width = int(value) if span is not None and (value := span.get(f"{_W}val", "1")).isdecimal() else 1
        texts += ["\n".join(lines if lines[-1] else lines[:-1]), *[""] * (min(width, 64) - 1)]
    return texts


def _text_pieces(element: etree._Element) -> Iterator[str]:
    for child in element:
        if child.tag in _UNREAD_TAGS or not isinstance(child.tag, str) or child.tag.endswith("}Fallback"):
            continue
        if child.tag == f"{_W}t":
            yield child.text or ""
        elif child.tag in (f"{_W}br", f"{_W}cr"):
            yield "\n"
        elif child.tag == f"{_W}tab":
            yield " "
        elif child.tag == f"{_W}noBreakHyphen":
            yield "\u2011"
        else:
            yield from _text_pieces(child)


LARGEST_PACKAGE = 64 * 2**20
"""Bytes of all parts together, unpacked: pictures may be among them."""
LARGEST_PART = 16 * 2**20
"""Bytes of a part that is parsed. 3,000 lines need 5 MiB; 16 MiB of empty elements take 0.6 GB of memory."""
MOST_PARTS = 10_000
"""Our own documents have a part for each slot with pictures: 3,000 in a long film."""

DOCUMENT = "word/document.xml"
WORKBOOK = "xl/workbook.xml"

_DAMAGE_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, EOFError, OSError,
    ValueError,
)  # fmt: skip
_PROPERTIES_PART = "docProps/core.xml"
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_NOT_TEXT = (".jpeg", ".jpg", ".png", ".gif", ".emf", ".wmf", ".bin", ".ttf", ".odttf")


def open_package(data: bytes, file_name: str) -> zipfile.ZipFile:
    """The parts of a document. Raises ScriptError for one that is damaged, locked, too large or not safe."""
    try:
        package = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
        message = f"{file_name} is no Office document: {error}."
        raise ScriptError(message, "Save it as DOCX or XLSX, without a password.") from None
    parts = package.infolist()
    size = sum(part.file_size for part in parts)
    if len(parts) > MOST_PARTS or size > LARGEST_PACKAGE:
        raise ScriptError(
            f"{file_name} would unpack to {len(parts)} parts of {size} bytes; at most {MOST_PARTS} parts of "
            f"{LARGEST_PACKAGE} bytes together are read.",
            "Take pictures and other contents out of it.",
        )
    if any(part.flag_bits & 1 for part in parts):
        raise ScriptError(f"{file_name} is locked with a password.", "Save it without one.")
    return package


def read_part(package: zipfile.ZipFile, part: str, file_name: str) -> bytes:
    """One part. Raises ScriptError if it is absent, damaged, or declares a document type (XXE)."""
    is_text = not part.lower().endswith(_NOT_TEXT)
    try:
        size, size_limit = package.getinfo(part).file_size, LARGEST_PART if is_text else LARGEST_PACKAGE
        if size > size_limit:
            raise ScriptError(f"{file_name} has {size} bytes in {part}; at most {size_limit} are read.")
        with package.open(part) as stream:
            data = read_limited(stream, size_limit)
    except KeyError:
        raise ScriptError(f"{file_name} has no part {part}.", "Save it as DOCX or XLSX.") from None
    except _DAMAGE_ERRORS as error:
        raise ScriptError(f"{file_name} is damaged at {part}: {error}.") from None
    # XML in any usual encoding; a text would have to escape the sign.
    plain = data.replace(b"\x00", b"") if is_text else b""
    if b"<!DOCTYPE" in plain or b"<!ENTITY" in plain:
        raise ScriptError(f"{file_name} declares a document type in {part}, which no Office program writes.")
    return data


def checked_package(data: bytes, file_name: str) -> bytes:
    """The same document with parts that are as large as it says, for programs that read it without limits.

    Raises ScriptError as `open_package` and `read_part`.
    """
    out = io.BytesIO()
    with open_package(data, file_name) as package, zipfile.ZipFile(out, "w") as new_package:
        for part in package.namelist():
            new_package.writestr(part, read_part(package, part, file_name))
    return out.getvalue()


def office_format(data: bytes) -> str | None:
    """``docx`` or ``xlsx`` by what is in the package, None for anything else."""
    if not data.startswith(b"PK\x03\x04"):
        return None
    try:
        names = set(zipfile.ZipFile(io.BytesIO(data)).namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError):
        return None
    return "docx" if DOCUMENT in names else "xlsx" if WORKBOOK in names else None


def sealed(data: bytes, track: Track) -> bytes:
    """The package with the track's properties, which screen readers announce and libraries index, and without
    times: the same track gives the same bytes."""
    texts = texts_in(track.language)
    values = {
        "dc:title": texts("script.title_of_film", film=track.film.name),
        "dc:subject": texts("script.subject"),
        "dc:creator": ", ".join((f"shotad {track.version}", *track.reviewed_by)),
        "cp:keywords": texts("script.keywords"),
        "dc:description": track.statement,
        "dc:language": track.language,
        "cp:lastModifiedBy": f"shotad {track.version}",
    }
    body = "".join(f"<{key}>{escape(clean_text(value))}</{key}>" for key, value in values.items())
    properties = (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<cp:coreProperties '
        'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{body}</cp:coreProperties>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old_package, zipfile.ZipFile(out, "w") as new_package:
        for name in old_package.namelist():
            part = zipfile.ZipInfo(name, _ZIP_TIME)
            part.compress_type = zipfile.ZIP_DEFLATED
            part.external_attr = 0o600 << 16
            new_package.writestr(
                part, properties.encode() if name == _PROPERTIES_PART else old_package.read(name)
            )
    return out.getvalue()
