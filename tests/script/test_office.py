"""Word and Excel scripts: what people find in them, what they do to them, and what is not let in."""

from __future__ import annotations

import datetime
import io
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import docx
import openpyxl
import pytest
from hypothesis import given, settings, strategies as st
from lxml import etree
from PIL import Image

from shotad.core import Interval
from shotad.core.errors import ScriptError
from shotad.core.types import SlotVoice
from shotad.script import (
    ALL_FORMATS,
    Cue,
    CueStatus,
    Maker,
    SheetEntry,
    Track,
    Worksheet,
    check_script,
)
from shotad.script.cue import (
    LineNote,
    LineState,
    SpokenTake,
    clean_text,
    line_stamp,
)
from shotad.script.edits import Import, import_script
from shotad.script.formats import detect_format
from shotad.script.track import FilmId
from shotad.script.worksheet import (
    SheetDialogue,
    SheetPeople,
    SheetShot,
    SheetText,
    text_offer,
)

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
BODY, STYLES, SHEET = "word/document.xml", "word/styles.xml", "xl/worksheets/sheet1.xml"
DOCX, XLSX = ALL_FORMATS["docx"], ALL_FORMATS["xlsx"]
both = pytest.mark.parametrize("name", ["docx", "xlsx"])


def cue(start: float, text: str, **more: object) -> Cue:
    return replace(Cue(f"s{round(start * 1000):08d}", None, Interval(start, start + 2.5), text), **more)  # type: ignore[arg-type]


def make_track(*cues: Cue, **more: object) -> Track:
    track = Track(FilmId("a & <b>.mp4", "x", 40_000.0), "en", (Maker("stage2", "fake"),), "0.1.0", ())
    return replace(track.with_cues(cues), **more)  # type: ignore[arg-type]


ODD_LINE = 'She says "=1"\n+2 & <goes> _x0041_'
TRACK = make_track(cue(10, "A dog runs."), cue(20, ODD_LINE), cue(36_000, "Night. שלום 🎬"))


def parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        return {name: package.read(name) for name in package.namelist()}


def changed(data: bytes, part: str, old: bytes, new: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts(data).items():
            assert name != part or old in content
            package.writestr(name, content.replace(old, new, 1) if name == part else content)
    return out.getvalue()


def xml(data: bytes, part: str) -> Any:
    return etree.fromstring(parts(data)[part])


def document(data: bytes) -> Any:
    return docx.Document(io.BytesIO(data))


def book(data: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(data))


def saved(made: Any) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def read(name: str, data: bytes) -> Any:
    return ALL_FORMATS[name].read(data, "x")


ODD = [
    "\n", "=1", "+", "-", "@", "'", '"', "<w:t>", "&amp;", "]]>", "_x000D_", "_x005F_", "_ad_", "שלום", "\u200f", "🎬",
    "\u2011", "\u00ad", "  ", "1.5", "10:30",
]  # fmt: skip
odd = st.lists(st.sampled_from(ODD) | st.text(max_size=6), min_size=1, max_size=6)
clean = odd.map("".join).map(clean_text)
lines = st.tuples(st.integers(1, 9**8), st.integers(1, 9000), clean.filter(bool))


@both
@settings(max_examples=25, deadline=None)
@given(rows=st.lists(lines, max_size=4, unique_by=lambda one: one[0]))
def test_ids_times_texts_and_stamps_come_back(name: str, rows: list[tuple[int, int, str]]) -> None:
    cues = [Cue(f"h{a:08d}", None, Interval(a / 1000, (a + n) / 1000), text) for a, n, text in rows]
    track = make_track(*cues)
    script = read(name, ALL_FORMATS[name].encode(track))
    assert [(c.id, c.interval, c.text) for c in script.cues] == [
        (c.id, c.interval, c.text) for c in track.heard
    ]
    assert script.stamp == track.stamp
    assert script.line_stamps == {c.id: line_stamp(c.interval, c.text) for c in track.heard}


@both
def test_the_same_track_gives_the_same_valid_file_and_untouched_it_changes_nothing(name, tmp_path):
    data = ALL_FORMATS[name].encode(TRACK)
    assert data == ALL_FORMATS[name].encode(TRACK)
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        assert {part.date_time for part in package.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    (tmp_path / "x.bin").write_bytes(data)
    assert detect_format("x.bin", data) == name
    assert check_script(tmp_path / "x.bin") == ()
    again = saved((document if name == "docx" else book)(data))  # as another program saves it
    for each in (data, again):
        assert import_script(TRACK, read(name, each), "x") == Import(TRACK)


def test_a_document_has_what_a_screen_reader_needs() -> None:
    first = TRACK.cues[0]
    voiced = SpokenTake("hibari:heart", first.text, Interval(10, 11), line_stamp(first.interval, first.text))
    spoken = TRACK.with_cues([replace(first, stored_take=voiced), *TRACK.cues[1:]])
    data = DOCX.encode(replace(spoken, language="de", reviewed_by=("Ada Byron",)))
    texts = [paragraph.text for paragraph in document(data).paragraphs]
    assert texts[0] == "Audiodeskription: a & <b>.mp4"
    assert texts[1].startswith("Maschinell erstellte Audiodeskription: shotad 0.1.0 (stage2: fake).")
    assert "3 Zeilen in 11:06:40. Sprache: de. Stimme: hibari:heart." in texts[2]
    body = xml(data, BODY)
    styles = [p.find(f"{W}pPr/{W}pStyle") for p in body.iter(f"{W}p")]
    assert [s.get(f"{W}val") for s in styles if s is not None] == ["Heading1", "Heading2"]
    (table,) = body.iter(f"{W}tbl")
    assert table.find(f"{W}tblPr/{W}tblCaption").get(f"{W}val") == "Skript"
    assert "eine Zeile der Beschreibung" in table.find(f"{W}tblPr/{W}tblDescription").get(f"{W}val", "")
    rows = table.findall(f"{W}tr")
    assert [row.find(f"{W}trPr/{W}tblHeader") is not None for row in rows] == [True, False, False, False]
    assert all(row.find(f"{W}trPr/{W}cantSplit") is not None for row in rows)
    assert not [*table.iter(f"{W}gridSpan", f"{W}vMerge")]
    found = {etree.QName(node).localname: node.text for node in xml(data, "docProps/core.xml")}
    assert (found["title"], found["language"]) == ("Audiodeskription: a & <b>.mp4", "de")
    assert found["creator"] == "shotad 0.1.0, Ada Byron"


@pytest.mark.parametrize(
    ("language", "kind", "named"),
    [("de", "val", "de-DE"), ("he", "bidi", "he-IL"), ("ja", "eastAsia", "ja-JP"), ("gsw", "val", "gsw")],
)
def test_the_language_is_named_as_word_knows_it(language: str, kind: str, named: str) -> None:
    data = DOCX.encode(replace(TRACK, language=language))
    (default,) = xml(data, STYLES).iter(f"{W}lang")
    assert default.get(f"{W}{kind}") == named
    assert (next(xml(data, BODY).iter(f"{W}bidiVisual"), None) is not None) == (language == "he")


def test_a_sheet_is_made_to_be_worked_in_and_no_text_is_a_formula() -> None:
    made = book(XLSX.encode(TRACK))
    sheet = made["Script"]
    assert (sheet.freeze_panes, sheet.print_title_rows) == ("A2", "$1:$1")
    assert sheet.tables["AudioDescription"].ref == "A1:K4"
    assert sheet["C2"].alignment.wrap_text
    assert sheet.column_dimensions["K"].hidden
    (choice,) = sheet.data_validations.dataValidation
    assert (choice.formula1, str(choice.sqref)) == ('"placed,shortened,dropped,empty"', "F2:F4")
    assert made["About"]["B1"].value == TRACK.statement
    assert (made.properties.title, made.properties.language) == ("Audio description: a & <b>.mp4", "en")
    for start in "=+-@":
        data = XLSX.encode(make_track(cue(1, f"{start}1+1", reason=f"{start}2")))
        assert not [*xml(data, SHEET).iter(f"{S}f")]
        cell = book(data)["Script"]["C2"]
        assert (cell.value, cell.data_type, cell.quotePrefix) == (f"{start}1+1", "s", True)


@both
def test_what_a_describer_changes_comes_back(name: str) -> None:
    data = ALL_FORMATS[name].encode(TRACK)
    if name == "docx":
        made = document(data)
        rows = made.tables[0].rows
        rows[1].cells[2].text = "A hound runs."
        rows[2].cells[0].text, rows[2].cells[1].text = " 0:00:20.400 ", "22.5"
        rows[3].cells[5].text = "Dropped"
        new = made.tables[0].add_row().cells
        new[0].text, new[1].text, new[2].text = "30", "0:32,5", "It rains."
        made.tables[0].add_row()
    else:
        made = book(data)
        sheet = made["Script"]
        sheet["C2"] = "A hound runs."
        sheet["A3"], sheet["B3"] = datetime.time(0, 0, 20, 400_000), datetime.timedelta(seconds=22.5)
        sheet["F4"] = "dropped"
        sheet.append(["30", 32.5, "It rains."])
    done = import_script(TRACK, read(name, saved(made)), "x")
    assert (done.changed, done.added) == (("s00010000", "s00020000"), ("h00030000",))
    assert done.removed == ("s36000000",)
    assert [c.text for c in done.track.heard] == ["A hound runs.", TRACK.cues[1].text, "It rains."]
    assert [c.interval for c in done.track.cues[1:3]] == [Interval(20.4, 22.5), Interval(30, 32.5)]


@both
def test_a_line_that_is_written_into_an_empty_slot_comes_back(name: str) -> None:
    silent, dropped = (
        Cue(f"s{at:05d}000", f"s{at:05d}000", Interval(at, at + 6), text, status=status, reason="x")
        for at, text, status in ((40, "", CueStatus.SILENT), (50, "Too long.", CueStatus.DROPPED))
    )
    # A line that a person took out of a slot in which another is heard, and one that has no slot.
    covered = Cue("s00020001", "s00020001", Interval(20.001, 21), "No.", status=CueStatus.DROPPED)
    without_slot = Cue("h00060000", None, Interval(60, 61), "No.", status=CueStatus.DROPPED)
    track = TRACK.with_cues([*TRACK.cues, silent, dropped, covered, without_slot])
    data = ALL_FORMATS[name].encode(track)
    script = read(name, data)
    empty = [(line.id, line.interval) for line in script.cues if not line.text]
    assert empty == [(cue.id, cue.interval) for cue in (silent, dropped)]
    assert import_script(track, script, "x") == Import(track)
    if name == "docx":
        made = document(data)
        row = next(row for row in made.tables[0].rows if row.cells[9].text == "s00040000")
        assert [row.cells[5].text, row.cells[8].text] == ["empty", "Empty slot · 6.0 s, about 16 words"]
        row.cells[2].text = "The wind blows."
    else:
        made = book(data)
        row = next(row for row in made["Script"].iter_rows() if row[9].value == "s00040000")
        assert [row[5].value, row[8].value] == ["empty", "Empty slot · 6.0 s, about 16 words"]
        row[2].value = "The wind blows."
    done = import_script(track, read(name, saved(made)), "x", slots={"s00040000": Interval(40, 46)})
    assert (done.changed, done.added, done.removed) == (("s00040000",), (), ())
    (line,) = [cue for cue in done.track.heard if cue.id == "s00040000"]
    assert (line.text, line.interval, line.slot_id) == ("The wind blows.", Interval(40, 41.125), "s00040000")


@pytest.mark.parametrize("name", ["docx", "xlsx", "csv", "dapt"])
def test_notes_to_a_colleague_go_out_and_come_back_and_none_is_lost(name: str) -> None:
    track = make_track(
        cue(10, "A dog runs.", note=LineNote("Whose dog?\n=1", "Ann")), cue(20, "It rains."), cue(30, "Night."),
    )  # fmt: skip
    data = ALL_FORMATS[name].encode(track)
    script = read(name, data)
    assert [line.note for line in script.cues] == ["Whose dog?\n=1", "", ""]
    assert import_script(track, script, "x") == Import(track)
    asked = replace(
        script, cues=tuple(replace(line, note=f"{line.note}\nCheck.".strip()) for line in script.cues)
    )
    done = import_script(track, asked, "x")
    assert (done.changed, done.noted) == ((), tuple(cue.id for cue in track.cues))
    assert [cue.note and (cue.note.text, cue.note.by) for cue in done.track.cues] == [
        ("Whose dog?\n=1\nCheck.", "Ann"), ("Check.", ""), ("Check.", ""),
    ]  # fmt: skip
    # The track has another note by now: both stay.
    other = import_script(done.track, replace(script, cues=(replace(script.cues[1], note="Rain?"),)), "x")
    assert [cue.note and cue.note.text for cue in other.track.cues][1] == "Check.\nRain?"
    assert [cue.state for cue in done.track.cues] == [LineState.MACHINE] * 3


def test_notes_are_comments_in_webvtt_and_are_not_in_what_players_show() -> None:
    note = LineNote("Stamp: 12345678\n00:01.000 --> 00:02.000", "Ann")
    track = make_track(cue(10, "A dog runs.", note=note))
    vtt = ALL_FORMATS["vtt"].write(track)
    assert (
        "\nNOTE To a colleague by Ann, on s00010000: Stamp: 12345678 00:01.000 -> 00:02.000\n\ns00010000\n"
        in vtt
    )
    assert import_script(track, read("vtt", vtt.encode()), "x") == Import(track)
    for name in ("srt", "frazier", "reaper"):
        assert "12345678" not in ALL_FORMATS[name].write(track)


def test_tracked_changes_count_as_accepted() -> None:
    tracked = (
        b'<w:del w:id="90" w:author="A"><w:r><w:delText>A dog</w:delText></w:r></w:del>'
        b'<w:ins w:id="91" w:author="A"><w:r><w:t>A hound</w:t></w:r></w:ins><w:r><w:t xml:space="preserve"> runs.</w:t></w:r>'
    )
    data = changed(DOCX.encode(TRACK), BODY, b"<w:r><w:t>A dog runs.</w:t></w:r>", tracked)
    row = b"<w:tr><w:trPr><w:cantSplit/></w:trPr>"
    before, _, after = parts(data)[BODY].rpartition(row)
    gone = b'<w:tr><w:trPr><w:cantSplit/><w:del w:id="92" w:author="A"/></w:trPr>'
    script = read("docx", changed(data, BODY, before + row + after, before + gone + after))
    assert [line.text for line in script.cues] == ["A hound runs.", TRACK.cues[1].text]


def test_tabs_hyphens_tables_in_cells_and_paragraphs_that_run_on_are_read() -> None:
    words = b"<w:r><w:t>A</w:t><w:tab/><w:t>half</w:t><w:noBreakHyphen/><w:t>tame</w:t></w:r>"
    inner = b"</w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>In 1</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p>"
    end = b'<w:pPr><w:rPr><w:del w:id="93" w:author="A"/></w:rPr></w:pPr><w:r><w:t>dog runs.</w:t></w:r>'
    data = changed(DOCX.encode(TRACK), BODY, b"<w:r><w:t>A dog runs.</w:t></w:r>", words + inner + end)
    script = read("docx", changed(data, BODY, b"<w:body>", b"<w:body><w:tbl/>"))
    rest = [line.text for line in TRACK.cues[1:]]
    assert [line.text for line in script.cues] == ["A half\u2011tame\ndog runs.", *rest]


def test_what_is_locked_or_has_too_many_rows_is_refused() -> None:
    data = bytearray(DOCX.encode(TRACK))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ScriptError, match="x is locked with a password"):
        read("docx", bytes(data))
    rows = b"<w:tr><w:tc><w:p/></w:tc></w:tr>" * 50_000
    with pytest.raises(ScriptError, match="table 1, has over 50000 rows"):
        read("docx", changed(DOCX.encode(TRACK), BODY, b"</w:tbl>", rows + b"</w:tbl>"))


@both
def test_a_table_of_another_describer_is_read(name: str) -> None:
    rows: Sequence[Sequence[Any]] = (
        ["No.", "TC in:" if name == "docx" else "Time in", "TC out", "Audio description"],
        ["1", "00:00:10.000", "0:12.5", "A cat."],
        ["", "", "", ""],
        ["2", "0:20" if name == "docx" else 20, "0:21", "7"],
    )
    made = docx.Document() if name == "docx" else openpyxl.Workbook()
    if name == "docx":
        made.add_table(1, 2).rows[0].cells[0].text = "Contents"
        table = made.add_table(0, 4)
        for row in rows:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = text
    else:
        made.active.append(["Contents"])
        sheet = made.create_sheet("AD")
        for row in rows:
            sheet.append(row)
    assert [(c.id, c.interval, c.text) for c in read(name, saved(made)).cues] == [
        (None, Interval(10, 12.5), "A cat."), (None, Interval(20, 21), "7"),
    ]  # fmt: skip


DOCTYPE = b'?><!DOCTYPE w [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
FAILED = b'<c r="C2" t="e"><f>foo()</f><v>#NAME?</v></c>'
PLAIN = b'<c r="C2" s="2" t="inlineStr"><is><t>A dog runs.</t></is></c>'


@pytest.mark.parametrize(("name", "part", "old", "new", "message"), [
    ("docx", BODY, b"<w:body>", b"<w:body", "damaged at word/document.xml"),
    ("docx", BODY, b"00:00:12.500", b"later", "x, table 1, row 2: 'later' is no time"),
    ("docx", BODY, b"<w:t>Line</w:t>", b"<w:t>Sentence</w:t>", "no table with the heads"),
    ("docx", BODY, b"?>", DOCTYPE, "declares a document type"),
    ("xlsx", SHEET, b"<sheetData>", b"<sheetData", "cannot be read"),
    ("xlsx", "xl/workbook.xml", b"<sheets>", b"<sheets", "cannot be read as a workbook"),
    ("xlsx", SHEET, b"00:00:12.500", b"later", "x, sheet Script, row 2: 'later' is no time"),
    ("xlsx", SHEET, b"<t>Line</t>", b"<t>Sentence</t>", "no sheet with the heads"),
    ("xlsx", SHEET, b"<worksheet", DOCTYPE[2:] + b"<worksheet", "declares a document type"),
    ("xlsx", "xl/styles.xml", b"<styleSheet", DOCTYPE[2:] + b"<styleSheet", "declares a document type"),
    ("xlsx", SHEET, PLAIN, FAILED, "sheet Script, row 2: C2 holds the error #NAME"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(name: str, part: str, old: bytes, new: bytes, message: str) -> None:
    data = ALL_FORMATS[name].encode(TRACK)
    with pytest.raises(ScriptError, match=message):
        read(name, changed(data, part, old, new))
    for broken in (b"nonsense", data[:-200]):
        with pytest.raises(ScriptError, match="no Office document"):
            read(name, broken)


def test_bombs_are_refused_before_they_unpack() -> None:
    for count, size in ((1, 2**26 + 1), (10_001, 1)):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
            for i in range(count):
                package.writestr(f"word/{i}.xml", b"")
            package.writestr(BODY, bytes(size))
        with pytest.raises(ScriptError, match="would unpack to"):
            read("docx", out.getvalue())
    with pytest.raises(ScriptError, match="bytes in word/document.xml; at most 16777216 are read"):
        read("docx", changed(DOCX.encode(TRACK), BODY, b"<w:body>", b"<w:body>" + b" " * 2**24))


@pytest.mark.parametrize(("form", "part"), [("docx", BODY), ("xlsx", "xl/styles.xml")])
def test_a_part_whose_size_and_sum_lie_is_not_unpacked(form: str, part: str) -> None:
    """Size and check sum in the directory are those of the part's first bytes; the rest is a bomb."""
    out, large = io.BytesIO(), 200 << 20
    with (
        zipfile.ZipFile(io.BytesIO(ALL_FORMATS[form].encode(TRACK))) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
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
            assert len(read(form, data).cues) == 3
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


def test_odd_sheets_are_read_as_what_they_hold_and_too_many_rows_refused() -> None:
    whole = XLSX.encode(TRACK)
    plain = b'<cellStyle name="Normal" xfId="0" builtinId="0" hidden="0"/>'
    unstyled = changed(whole, "xl/styles.xml", plain, b"")
    with pytest.warns(UserWarning, match="default style"):
        book(unstyled)
    grid = changed(whole, SHEET, b"A1:K4", b"A1:XFD1048576")
    far = changed(whole, SHEET, b'</row><row r="3">', b'<c r="XFD2" t="n"><v>1</v></c></row><row r="3">')
    for data in (unstyled, grid, far):
        assert len(read("xlsx", data).cues) == 3
    last = b'<row r="1048576"><c r="D1048576" t="n"><v>1</v></c></row>'
    with pytest.raises(ScriptError, match="over 50000 rows"):
        read("xlsx", changed(whole, SHEET, b"</sheetData>", last + b"</sheetData>"))


def test_links_to_other_files_are_left_alone_and_a_text_longer_than_a_cell_is_not_cut() -> None:
    made = book(XLSX.encode(TRACK))
    made["Script"]["C2"] = "='file:///etc/passwd'#$A.A1"
    made["Script"]["C3"] = '=WEBSERVICE("http://127.0.0.1:9/")'
    with pytest.raises(ScriptError, match="C2 holds a formula without its value"):
        read("xlsx", saved(made))
    told = cue(1, "A cat.", status=CueStatus.SHORTENED, reason="a" * 32_768)
    with pytest.raises(ScriptError, match="32768 characters"):
        XLSX.encode(make_track(told))


def test_what_people_do_to_a_workbook_moves_and_removes_no_line() -> None:
    whole = book(encoded := ALL_FORMATS["xlsx"].encode(make_track(cue(10.0, "A man enters."))))
    before = read("xlsx", encoded)
    # A title, and nothing, above the heads.
    whole["Script"].insert_rows(1, 2)
    whole["Script"]["A1"] = "The film"
    assert read("xlsx", saved(whole)).cues == before.cues
    # 0:00:10 as the part of a day, where the format of the cell was lost.
    numbers = book(encoded)
    numbers["Script"]["A2"] = 10 / 86_400
    assert read("xlsx", saved(numbers)).cues == before.cues
    # A formula without its value looks like a line that was taken out.
    formula = book(encoded)
    formula["Script"]["C2"] = "=A1"
    formula["Script"]["C2"].data_type = "f"
    with pytest.raises(ScriptError, match="sheet Script: C2 holds a formula without its value"):
        read("xlsx", saved(formula))


def worksheet(*cues: Cue, pictures: bool = True) -> Worksheet:
    """A slot for each line, with a text to take in, somebody seen and dialogue."""
    out = io.BytesIO()
    Image.new("RGB", (64, 36), (200, 30, 30)).save(out, "JPEG")
    entries = []
    for cue in cues:
        start, end = cue.interval.start, cue.interval.end + 2
        shots = (SheetShot(3, start, end, (start + 0.2, start + 3), "medium", same_as=1),)
        texts = (
            SheetText(3, "READY", "scene", start, end, text_offer("READY", "scene", "en")),
            SheetText(3, "A dog", "scene", start, end, text_offer("A dog", "scene", "en")),
        )
        people = (SheetPeople(3, ("Thom", "person A"), 1),)
        before, after = (SheetDialogue(at, at + 1, "=Wait!", "Anna") for at in (start - 3, end + 1))
        entries.append(
            SheetEntry(
                cue.id, start, end, 11, False, SlotVoice.SONG, shots, people, texts, (before,), (after,)
            )
        )
    seconds = {second for entry in entries for shot in entry.shots for second in shot.pictures}
    shown = dict.fromkeys(seconds, out.getvalue()) if pictures else {}
    return Worksheet(
        "a.mp4",
        100.0,
        tuple(entries),
        pictures=shown,
        no_pictures="" if pictures else "No pictures: the film is not at hand.",
    )


def with_slots(track: Track) -> Track:
    return track.with_cues([replace(cue, slot_id=cue.id) for cue in track.cues])


def test_word_has_the_pictures_and_the_material_of_a_slot_beside_its_line() -> None:
    track = with_slots(TRACK)
    sheet = worksheet(*track.cues)
    data = DOCX.encode(track, sheet)
    assert data == DOCX.encode(track, sheet)
    table = document(data).tables[0]
    assert [cell.text for cell in table.rows[0].cells] == [
        "In", "Out", "Line", "Pictures", "Material", "Status", "Note", "Remarks", "Id",
    ]  # fmt: skip
    paragraphs = [paragraph.text for paragraph in table.rows[1].cells[4].paragraphs]
    # A text that the line says already is not offered again; the other can be copied as one paragraph.
    assert paragraphs == [
        "4.5 s, 11 words fit.", "Song likely here: a line is a choice.", "Text to take in", 'Text reads: "READY."',
        "Who is seen", "Shot 4: Thom, person A and 1 other face", "Shots",
        "Shot 4 from 0:10.0: medium, same set-up as shot 2", "Dialogue before", "0:07.0 Anna: =Wait!",
        "Dialogue after", "0:15.5 Anna: =Wait!",
    ]  # fmt: skip
    described = [node.get("descr") for node in xml(data, BODY).iter(f"{WP}docPr")]
    assert described[0] == "Pictures: shot 4 at 0:10.2, shot 4 at 0:13.0"
    assert len(described) == len([name for name in parts(data) if name.startswith("word/media/")]) == 3
    assert import_script(track, read("docx", data), "x") == Import(track)


def test_word_says_where_there_are_no_pictures() -> None:
    track = with_slots(TRACK)
    data = DOCX.encode(track, worksheet(*track.cues, pictures=False))
    assert "No pictures: the film is not at hand." in [one.text for one in document(data).paragraphs]
    assert not [name for name in parts(data) if name.startswith("word/media/")]


def test_excel_has_columns_for_the_material_and_a_text_ready_to_be_copied() -> None:
    track = with_slots(TRACK)
    data = XLSX.encode(track, worksheet(*track.cues))
    sheet = book(data)["Script"]
    heads, first = ([cell.value for cell in row] for row in sheet.iter_rows(max_row=2))
    row = dict(zip(heads, first, strict=True))
    assert (row["Text to take in"], row["Words that fit"]) == ('Text reads: "READY."', 11)
    assert row["Who is seen"] == "Shot 4: Thom, person A and 1 other face"
    assert row["Dialogue before"] == "0:07.0 Anna: =Wait!"
    assert row["About the slot"] == "Song likely here: a line is a choice."
    assert not [*xml(data, SHEET).iter(f"{S}f")]
    (choice,) = sheet.data_validations.dataValidation
    assert str(choice.sqref) == "M2:M4"
    assert sheet.column_dimensions["R"].hidden
    assert import_script(track, read("xlsx", data), "x") == Import(track)
