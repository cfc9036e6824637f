"""The Word document: what Word and a screen reader find in it, what people do to it, what is not let in."""

from __future__ import annotations

import io
import struct
import sys
import tracemalloc
import zipfile
import zlib
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from lxml import etree

from shotad.core import Interval, ScriptError
from shotad.script import (
    ALL_FORMATS,
    CueStatus,
    EditField,
    Voiced,
    check_script,
    document as document_package,
    line_stamp,
    mark_edit,
)
from shotad.script.document import MOST_PARTS, read_docx
from shotad.script.formats import detect_format
from shotad.script.importing import Import, import_script
from tests.script.office import (
    Lines,
    changed,
    check_coming_back,
    check_same_bytes,
    cue,
    lines_with,
    make_track,
    parts,
)

docx = pytest.importorskip("docx", reason="needs the extra documents")

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
DOCX = ALL_FORMATS["docx"]

TRACK = make_track(
    cue(10, "A dog runs."), cue(20, 'She says "=1"\nand & <goes>.'), cue(36_000, "Night. שלום 🎬")
)


def xml(data: bytes, part: str = "word/document.xml") -> etree._Element:
    return etree.fromstring(parts(data)[part])


def test_what_a_screen_reader_needs_is_there() -> None:
    data = DOCX.encode(replace(TRACK, language="de", reviewed_by=("Ada Byron",)))
    body = xml(data)
    styles = [p.find(f"{W}pPr/{W}pStyle") for p in body.iter(f"{W}p")]
    assert [s.get(f"{W}val") for s in styles if s is not None] == ["Heading1", "Heading2"]
    (table,) = body.iter(f"{W}tbl")
    assert table.find(f"{W}tblPr/{W}tblCaption").get(f"{W}val") == "Script"  # type: ignore[union-attr]
    assert "one line of description" in table.find(f"{W}tblPr/{W}tblDescription").get(f"{W}val", "")  # type: ignore[union-attr]
    rows = table.findall(f"{W}tr")
    assert [row.find(f"{W}trPr/{W}tblHeader") is not None for row in rows] == [True, False, False, False]
    assert all(row.find(f"{W}trPr/{W}cantSplit") is not None for row in rows)
    assert {len(row.findall(f"{W}tc")) for row in rows} == {9}
    assert not [*table.iter(f"{W}gridSpan", f"{W}vMerge")]
    core = xml(data, "docProps/core.xml")
    found = {etree.QName(node).localname: node.text for node in core}
    assert found["title"] == "Audio description: a & <b>.mp4"
    assert found["creator"] == "shotad 0.1.0, Ada Byron"
    assert found["language"] == "de"
    languages = {node.get(f"{W}val") for node in xml(data, "word/styles.xml").iter(f"{W}lang")}
    assert languages == {"de-DE"}
    sizes = xml(data, "word/styles.xml").xpath(
        "//w:style[@w:styleId='Normal']//w:sz/@w:val", namespaces={"w": W[1:-1]}
    )
    assert sizes == ["24"]


@pytest.mark.parametrize(
    ("language", "kind", "named"),
    [("he", "bidi", "he-IL"), ("ja", "eastAsia", "ja-JP"), ("en-GB", "val", "en-GB"), ("pt-BR", "val", "pt-BR"), ("gsw", "val", "gsw")],
)  # fmt: skip
def test_the_language_is_named_as_word_knows_it(language: str, kind: str, named: str) -> None:
    data = DOCX.encode(replace(TRACK, language=language))
    (default,) = xml(data, "word/styles.xml").iter(f"{W}lang")
    assert default.get(f"{W}{kind}") == named
    assert (next(xml(data).iter(f"{W}bidiVisual"), None) is not None) == (language == "he")


def test_it_says_what_it_is_before_the_script() -> None:
    spoken = replace(
        TRACK.cues[0],
        voiced=Voiced(
            "hibari:heart", "A dog runs.", Interval(10, 11), line_stamp(TRACK.cues[0].interval, "A dog runs.")
        ),
    )
    document = docx.Document(io.BytesIO(DOCX.encode(make_track(spoken))))
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert texts[0] == "Audio description: a & <b>.mp4"
    assert texts[1].startswith("Audio description made by machine: shotad 0.1.0 (stage2: fake).")
    assert texts[1].endswith("Not reviewed by a person.")
    assert "1 lines in 11:06:40. Language: en. Voice: hibari:heart." in texts[2]


def test_the_table_shows_each_line() -> None:
    first = TRACK.cues[0]
    edited = mark_edit(
        replace(first, status=CueStatus.SHORTENED, reason="two words out"), first, (EditField.TEXT,), "x"
    )
    document = docx.Document(io.BytesIO(DOCX.encode(make_track(edited))))
    assert [[cell.text for cell in row.cells] for row in document.tables[0].rows] == [
        ["In", "Out", "Line", "Words", "Seconds", "Status", "Review", "Notes", "Id"],
        [
            "00:00:10.000",
            "00:00:12.500",
            "A dog runs.",
            "3",
            "2.5",
            "shortened",
            "edited",
            "two words out; edited by a person",
            "s00010000",
        ],
    ]


def test_the_same_track_gives_the_same_bytes_and_no_times() -> None:
    check_same_bytes(DOCX.encode, TRACK)


ODD = ["\n", "=1", "+", "-", "@", '"', "'", "<w:t>", "&amp;", "]]>", "שלום", "\u200f", "🎬", "\u2011", "\u00ad", "  ", "_ad_"]  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(lines_with(ODD))
def test_ids_times_texts_and_stamps_come_back(lines: Lines) -> None:
    check_coming_back(DOCX.encode, read_docx, lines)


def test_an_untouched_document_changes_nothing_and_is_valid(tmp_path) -> None:  # type: ignore[no-untyped-def]
    data = DOCX.encode(TRACK)
    assert import_script(TRACK, read_docx(data, "x"), "x") == Import(TRACK)
    (tmp_path / "x.bin").write_bytes(data)
    assert detect_format("x.bin", data) == "docx"
    assert check_script(tmp_path / "x.bin") == ()


def edit(data: bytes) -> docx.document.Document:
    return docx.Document(io.BytesIO(data))


def saved(document: docx.document.Document) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def test_what_a_describer_changes_in_word_comes_back() -> None:
    document = edit(DOCX.encode(TRACK))
    rows = document.tables[0].rows
    rows[1].cells[2].text = "A hound runs."
    rows[2].cells[0].text = " 0:00:20.400 "
    rows[3].cells[5].text = "Dropped"
    new = document.tables[0].add_row().cells
    new[0].text, new[1].text, new[2].text = "30", "0:32,5", "It rains."
    document.tables[0].add_row()
    done = import_script(TRACK, read_docx(saved(document), "x"), "x")
    assert (done.changed, done.added, done.removed) == (
        ("s00010000", "s00020000"),
        ("h00030000",),
        ("s36000000",),
    )
    assert done.track.cues[0].text == "A hound runs."
    assert done.track.cues[1].interval == Interval(20.4, 22.5)
    assert done.track.cues[2].interval == Interval(30, 32.5)


def test_tracked_changes_count_as_accepted() -> None:
    data = DOCX.encode(TRACK)
    tracked = (
        b'<w:del w:id="90" w:author="A"><w:r><w:delText>A dog</w:delText></w:r></w:del>'
        b'<w:ins w:id="91" w:author="A"><w:r><w:t>A hound</w:t></w:r></w:ins><w:r><w:t xml:space="preserve"> runs.</w:t></w:r>'
    )
    data = changed(data, "word/document.xml", b"<w:r><w:t>A dog runs.</w:t></w:r>", tracked)
    row = b"<w:tr><w:trPr><w:cantSplit/></w:trPr>"
    before, _, after = parts(data)["word/document.xml"].rpartition(row)
    gone = b'<w:tr><w:trPr><w:cantSplit/><w:del w:id="92" w:author="A"/></w:trPr>'
    data = changed(data, "word/document.xml", before + row + after, before + gone + after)
    script = read_docx(data, "x")
    assert [line.text for line in script.cues] == ["A hound runs.", 'She says "=1"\nand & <goes>.']
    assert import_script(TRACK, script, "x").removed == ("s36000000",)


def test_a_table_of_another_describer_is_read() -> None:
    document = docx.Document()
    document.add_table(1, 2).rows[0].cells[0].text = "Contents"
    table = document.add_table(0, 4)
    for row in (
        ("No.", "TC in:", "TC out", "Description"),
        ("1", "00:00:10.000", "0:12.5", "A cat."),
        ("", "", "", ""),
    ):
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    script = read_docx(saved(document), "x")
    assert [(c.id, c.interval, c.text) for c in script.cues] == [(None, Interval(10, 12.5), "A cat.")]
    assert import_script(TRACK, script, "x").changed == ("s00010000",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda d: b"nonsense", "no Office document"),
        (lambda d: d[:-200], "no Office document"),
        (lambda d: changed(d, "word/document.xml", b"<w:body>", b"<w:body"), "damaged at word/document.xml"),
        (lambda d: changed(d, "word/document.xml", b"00:00:12.500", b"later"), "x, table 1, row 2: 'later' is no time"),
        (lambda d: changed(d, "word/document.xml", b"<w:t>Line</w:t>", b"<w:t>Sentence</w:t>"), "no table with the heads"),
        (lambda d: changed(d, "word/document.xml", b"?>", b'?><!DOCTYPE w [<!ENTITY a SYSTEM "file:///etc/passwd">]>'), "declares a document type"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ScriptError, match=message):
        read_docx(make(DOCX.encode(TRACK)), "x")


def test_bombs_are_refused_before_they_unpack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_package, "LARGEST", 2**20)

    def bomb(count: int, size: int) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
            for i in range(count):
                package.writestr(f"word/{i}.xml", b"")
            package.writestr("word/document.xml", bytes(size))
        return out.getvalue()

    assert len(bomb(1, 2**20 + 1)) < 10_000
    for data in (bomb(1, 2**20 + 1), bomb(MOST_PARTS + 1, 1)):
        with pytest.raises(ScriptError, match="would unpack to"):
            read_docx(data, "x")


def test_a_part_that_is_too_large_to_parse_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_package, "LARGEST_PART", 1000)
    with pytest.raises(ScriptError, match="bytes in word/document.xml; at most 1000 are read"):
        read_docx(DOCX.encode(TRACK), "x")


def test_a_small_size_in_the_directory_does_not_hide_a_bomb() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", bytes(1_234_567))
    size = (1_234_567).to_bytes(4, "little")
    data = out.getvalue()
    assert data.count(size) == 2
    with pytest.raises(ScriptError, match="damaged at word/document.xml"):
        read_docx(data.replace(size, (100).to_bytes(4, "little")), "x")


@pytest.mark.parametrize(("form", "part"), [("docx", "word/document.xml"), ("xlsx", "xl/styles.xml")])
def test_a_part_whose_size_and_sum_lie_is_not_unpacked(form: str, part: str) -> None:
    """Size and check sum in the directory are those of the part's first bytes; the rest is a bomb."""
    real = ALL_FORMATS[form].encode(TRACK)
    out = io.BytesIO()
    large = 200 << 20
    with zipfile.ZipFile(io.BytesIO(real)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            with new.open(name, "w") as writing:
                writing.write(old.read(name))
                for _ in range(large >> 20 if name == part else 0):
                    writing.write(bytes(1 << 20))
        whole, lie = new.getinfo(part), old.read(part)
        fields = struct.pack("<L", whole.CRC), struct.pack("<L", whole.file_size)
    told = struct.pack("<L", zlib.crc32(lie)), struct.pack("<L", len(lie))
    data = out.getvalue()
    for before, after in zip(fields, told, strict=True):
        assert before in data
        data = data.replace(before, after)
    tracemalloc.start()
    try:
        with suppress(ScriptError):
            assert len(ALL_FORMATS[form].read(data, "x").cues) == 3
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


def test_reading_needs_no_extra_and_writing_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    data = DOCX.encode(TRACK)
    monkeypatch.setitem(sys.modules, "docx", None)
    assert len(read_docx(data, "x").cues) == 3
    with pytest.raises(ScriptError, match=r"python-docx, which is not installed.*shotad\[documents\]"):
        DOCX.encode(TRACK)


def test_it_is_no_text() -> None:
    with pytest.raises(ScriptError, match="docx is no text"):
        DOCX.write(TRACK)
