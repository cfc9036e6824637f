"""The texts for people in everything that comes out of a described film, by the form of its file.

What programs read is left out: names of fields and columns, keywords of formats, ids, stamps, addresses.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import docx
import openpyxl
from lxml import etree, html

from shotad.review.messages import TEXTS

FOR_PROGRAMS = frozenset(
    ["apart", "at", "change", "engine", "file", "fingerprint", "hold", "id", "key", "kind", "language", "maker", "material", "model", "path", "role", "rule", "scale", "script", "level", "name", "slot", "speaks", "stage", "stamp", "state", "status", "text_stamp", "tone", "type", "url", "version", "voice", "what", "words_stamp"]
)  # fmt: skip
"""Fields of JSON that programs read."""
ENGLISH_BY_DESIGN = frozenset(["hint", "raw", "stage1", "prompts", "choices", "why"])
"""Fields of the review page's JSON: a finding's hint, which the page says by its rule; what models were asked and
answered; how voices are installed."""
XHTML_TEXT = ("alt", "aria-label", "title", "placeholder")


def texts_of_json(value: Any, language: str, field: str = "") -> Iterator[str]:
    """All strings for people; a message of the review page as the page shows it in ``language``."""
    match value:
        case str():
            if field not in FOR_PROGRAMS:
                yield value
        case {"key": "note.wrong"}:
            # What a model was told about its answer: the prompts are English.
            return
        case {"key": str(key), "values": {**values}}:
            yield page_text(key, values, language)
        case dict():
            for name, inner in value.items():
                if name not in ENGLISH_BY_DESIGN:
                    yield from texts_of_json(inner, language, name)
        case list():
            for inner in value:
                yield from texts_of_json(inner, language, field)


def page_text(key: str, values: dict[str, Any], language: str) -> str:
    """A text of the review page with its values, as its script shows it."""
    entry = json.loads((TEXTS / f"{language}.json").read_text(encoding="utf-8"))[key]
    text = entry if isinstance(entry, str) else entry["one" if values.get("count") == 1 else "other"]
    return re.sub(r"\{(\w+)\}", lambda place: _value_text(values[place[1]], language), text)


def _value_text(value: Any, language: str) -> str:
    match value:
        case {"key": str(key), "values": {**values}}:
            return page_text(key, values, language)
        case {**number}:
            return str(*number.values())
        case list():
            return ", ".join(_value_text(inner, language) for inner in value)
    return str(value)


def texts_of_lines(text: str) -> Iterator[str]:
    """Those of SRT, WebVTT and plain text."""
    for line in text.splitlines():
        is_for_programs = line.startswith(("Kind:", "Stamp:", "NOTE Lines as written"))
        if not is_for_programs and not re.match(r"[sh]\d{8} |.*-->|Language:", line):
            yield line.removeprefix("WEBVTT").removeprefix("NOTE")


def texts_of_xml(data: bytes) -> Iterator[str]:
    """Those of DAPT, FCPXML and DASH."""
    for node in etree.fromstring(data).iter():
        yield node.text or ""
        if isinstance(node.tag, str) and node.tag.endswith(("event", "project", "marker")):
            yield from (str(node.get(name, "")) for name in ("name", "note", "value"))


def texts_of_csv(text: str, *columns: str, delimiter: str = ",") -> Iterator[str]:
    """Those in these columns of a table."""
    for row in csv.DictReader(io.StringIO(text.removeprefix("\ufeff")), delimiter=delimiter):
        yield from (row[column] for column in columns)


def texts_of_docx(path: Path) -> Iterator[str]:
    """Those of a Word file: properties, paragraphs, tables."""
    document = docx.Document(str(path))
    properties = document.core_properties
    yield from (properties.title, properties.subject, properties.keywords, properties.comments)
    yield from (paragraph.text for paragraph in document.paragraphs)
    for table in document.tables:
        for node in table._tbl.tblPr:
            if node.tag.endswith(("Caption", "Description")):
                yield str(node.get(node.tag.rpartition("}")[0] + "}val"))
        yield from (cell.text for row in table.rows for cell in row.cells)


def texts_of_xlsx(path: Path) -> Iterator[str]:
    """Those of an Excel file: properties, sheets, cells, choices."""
    book = openpyxl.load_workbook(path)
    properties = book.properties
    yield from (str(text) for text in (properties.title, properties.subject, properties.keywords))
    for sheet in book:
        yield sheet.title
        yield from sheet.tables
        for choice in sheet.data_validations.dataValidation:
            choice_texts = (choice.prompt, choice.error, choice.formula1, choice.promptTitle)
            yield from (str(text) for text in choice_texts)
        for row in sheet.iter_rows(values_only=True):
            yield from (str(value) for value in row if value is not None)


def texts_of_page(data: bytes, language: str) -> Iterator[str]:
    """Those of the worksheet."""
    page = html.fromstring(data)
    assert page.get("lang") == language
    for node in page.iter():
        if isinstance(node.tag, str) and node.tag != "style":
            yield node.text or ""
            yield from (node.get(name, "") for name in XHTML_TEXT)
        yield node.tail or ""


def texts_of_film(path: Path) -> Iterator[str]:
    """The tags of a film or a sound file and of its tracks."""
    with av.open(str(path)) as film:
        tags = {**film.metadata}
        for stream in film.streams:
            tags |= {f"{stream.index} {key}": value for key, value in stream.metadata.items()}
    for_programs = ("encoder", "handler_name", "vendor_id", "DURATION", "duration")
    yield from (value for key, value in tags.items() if not key.endswith(for_programs) or "AD" in value)
