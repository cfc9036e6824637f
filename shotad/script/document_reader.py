"""Lines out of a Word document: one that we wrote and somebody edited, or another describer's own table.

Read from the XML by lxml, without python-docx: what Word shows with all changes accepted counts, whether
they are tracked or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lxml import etree

from shotad.core import Interval, ScriptError
from shotad.script.cue import CueStatus, Script, ScriptCue, clean_text
from shotad.script.document_package import DOCUMENT, open_package, read_xml
from shotad.script.timecodes import parse_time

MOST_ROWS = 50_000

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_NAMES = {
    "in": "start", "start": "start", "begin": "start", "tc in": "start", "time in": "start",
    "timecode": "start", "time code": "start", "von": "start", "beginn": "start", "out": "end",
    "end": "end", "tc out": "end",
    "time out": "end", "bis": "end", "ende": "end", "line": "text", "text": "text", "description": "text",
    "audio description": "text", "ad": "text", "audiodeskription": "text", "status": "status", "id": "id",
    "stamp": "stamp",
}  # fmt: skip
_GONE = frozenset(f"{_W}{tag}" for tag in ("del", "moveFrom", "pPr", "rPr", "delText", "instrText", "tbl"))
_MARK = re.compile(r"_ad_(?P<id>[sh]\d{8,})_(?P<times>[0-9a-f]{8})_(?P<text>[0-9a-f]{8})")
_TRACK = re.compile(r"_ad_track_(?P<stamp>[0-9a-f]{8})")
_UNHEARD = tuple(status.value for status in CueStatus if not status.heard)


def read_docx(data: bytes, name: str) -> Script:
    """The lines in the tables of a Word document whose heads name a start, an end and a text.

    Tracked changes count as accepted. Raises ScriptError with file and row; for a document without such a
    table; and for one that is not safe to read (`open_package`).
    """
    with open_package(data, name) as package:
        body = read_xml(package, DOCUMENT, name)
    cues: list[ScriptCue] = []
    found = False
    for number, table in enumerate(_tables(body), 1):
        rows = _rows(table)
        heads = column_names(_cells(next(rows, None)))
        if not {"start", "end", "text"} <= set(heads):
            continue
        found = True
        for at, row in enumerate(rows, 2):
            if at > MOST_ROWS:
                raise ScriptError(f"{name}, table {number}, has over {MOST_ROWS} rows.", "Is it a script?")
            cue = line_of(dict(zip(heads, _cells(row), strict=False)), f"{name}, table {number}, row {at}")
            cues += [cue] if cue is not None else []
    if not found:
        raise ScriptError(
            f"{name} has no table with the heads In, Out and Line.",
            "Give the table a first row with these heads.",
        )
    marks = [str(mark.get(f"{_W}name")) for mark in body.iter(f"{_W}bookmarkStart")]
    stamps = {m["id"]: f"{m['times']}-{m['text']}" for mark in marks if (m := _MARK.fullmatch(mark))}
    tracks = [m["stamp"] for mark in marks if (m := _TRACK.fullmatch(mark))]
    return Script(tuple(cues), tracks[0] if tracks else None, stamps)


def column_names(heads: Sequence[str]) -> list[str]:
    """What each column holds by its head; empty where it is nothing that we read."""
    return [_NAMES.get(" ".join(head.lower().replace(":", " ").split()), "") for head in heads]


def line_of(cells: Mapping[str, str], where: str) -> ScriptCue | None:
    """A row as a line, None where it is empty; a status such as dropped empties the text.

    Raises ScriptError with ``where`` for a time that is none.
    """
    text = clean_text(cells.get("text", ""))
    start, end = (clean_text(cells.get(key, "")) for key in ("start", "end"))
    if not (text or start or end):
        return None
    try:
        interval = Interval(parse_time(start), parse_time(end))
    except ValueError as error:
        raise ScriptError(f"{where}: {error}.", "Correct the times.") from None
    heard = cells.get("status", "").strip().lower() not in _UNHEARD
    return ScriptCue(cells.get("id", "").strip() or None, interval, text if heard else "")


def _tables(body: etree._Element) -> Iterator[etree._Element]:
    for table in body.iter(f"{_W}tbl"):
        if not any(True for _ in table.iterancestors(f"{_W}tbl")):
            yield table


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    """The table's own rows that are not deleted."""
    for row in table.iter(f"{_W}tr"):
        own = next(row.iterancestors(f"{_W}tbl"), None) is table
        if own and row.find(f"{_W}trPr/{_W}del") is None:
            yield row


def _cells(row: etree._Element | None) -> list[str]:
    if row is None:
        return []
    cells = [c for c in row.iter(f"{_W}tc") if next(c.iterancestors(f"{_W}tr"), None) is row]
    texts: list[str] = []
    for cell in cells:
        span = cell.find(f"{_W}tcPr/{_W}gridSpan")
        width = int(value) if span is not None and (value := span.get(f"{_W}val", "1")).isdecimal() else 1
        texts += ["\n".join(_paragraphs(cell)), *[""] * (min(width, 64) - 1)]
    return texts


def _paragraphs(cell: etree._Element) -> Iterator[str]:
    """A paragraph whose end mark is deleted runs on into the next."""
    open_text = ""
    for paragraph in cell.iter(f"{_W}p"):
        if next(paragraph.iterancestors(f"{_W}tc"), None) is not cell:
            continue
        open_text += "".join(_pieces(paragraph))
        if paragraph.find(f"{_W}pPr/{_W}rPr/{_W}del") is None:
            yield open_text
            open_text = ""
    if open_text:
        yield open_text


def _pieces(element: etree._Element) -> Iterator[str]:
    for child in element:
        if child.tag in _GONE or not isinstance(child.tag, str) or child.tag.endswith("}Fallback"):
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
            yield from _pieces(child)
