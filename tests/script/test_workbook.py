"""The workbook: no cell is a formula, people can work in it, what others send is read or refused."""

from __future__ import annotations

import datetime
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from lxml import etree

from shotad.core import Interval, ScriptError
from shotad.script import (
    ALL_FORMATS,
    CueStatus,
    check_script,
    workbook,
)
from shotad.script.formats import detect_format
from shotad.script.importing import Import, import_script
from shotad.script.workbook import read_xlsx
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

openpyxl = pytest.importorskip("openpyxl", reason="needs the extra documents")

XLSX = ALL_FORMATS["xlsx"]
S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
SHEET = "xl/worksheets/sheet1.xml"

TRACK = make_track(
    cue(10, "A dog runs."), cue(20, "=HYPERLINK(1)\n+2 _x0041_"), cue(36_000, "Night. שלום 🎬")
)


def edit(data: bytes) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(data))


def saved(book: openpyxl.Workbook) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_no_text_is_a_formula_and_none_becomes_one_when_edited() -> None:
    for start in "=+-@":
        data = XLSX.encode(make_track(cue(1, f"{start}1+1", reason=f"{start}2")))
        root = etree.fromstring(parts(data)[SHEET])
        assert not [*root.iter(f"{S}f")]
        cell = edit(data)["Script"]["C2"]
        assert (cell.value, cell.data_type, cell.number_format, cell.quotePrefix) == (
            f"{start}1+1",
            "s",
            "@",
            True,
        )


def test_a_text_that_looks_like_excels_own_escape_is_escaped() -> None:
    assert b"_x005F_x0041_" in parts(XLSX.encode(TRACK))[SHEET]
    assert read_xlsx(XLSX.encode(TRACK), "x").cues[1].text.endswith("_x0041_")


def test_the_sheet_is_made_to_be_worked_in() -> None:
    data = XLSX.encode(TRACK)
    book = edit(data)
    sheet = book["Script"]
    assert [cell.value for cell in sheet[1]][:9] == [
        "In",
        "Out",
        "Line",
        "Words",
        "Seconds",
        "Status",
        "Review",
        "Notes",
        "Id",
    ]
    assert sheet.freeze_panes == "A2"
    assert sheet.print_title_rows == "$1:$1"
    assert sheet.tables["AudioDescription"].ref == "A1:J4"
    assert sheet["C2"].alignment.wrap_text
    assert sheet.column_dimensions["J"].hidden
    (choice,) = sheet.data_validations.dataValidation
    assert (choice.formula1, str(choice.sqref)) == ('"placed,shortened,dropped"', "F2:F4")
    assert [row[0].value for row in book["About"]] == [
        "Audio description",
        "Film",
        "Use",
        "Reviewed by",
        "Review",
        "Track",
    ]
    assert book["About"]["B1"].value == TRACK.statement
    assert book.properties.title == "Audio description: a & <b>.mp4"
    assert book.properties.language == "en"


def test_the_same_track_gives_the_same_bytes() -> None:
    check_same_bytes(XLSX.encode, TRACK)


ODD = ["\n", "=1", "+", "-", "@", "'", '"', "<t>", "&amp;", "_x000D_", "_x005F_", "שלום", "🎬", "  ", "1.5", "10:30"]  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(lines_with(ODD))
def test_ids_times_texts_and_stamps_come_back(lines: Lines) -> None:
    check_coming_back(XLSX.encode, read_xlsx, lines)


def test_an_untouched_workbook_changes_nothing_and_is_valid(tmp_path: Path) -> None:
    data = XLSX.encode(TRACK)
    assert import_script(TRACK, read_xlsx(data, "x"), "x") == Import(TRACK)
    (tmp_path / "x.bin").write_bytes(data)
    assert detect_format("x.bin", data) == "xlsx"
    assert check_script(tmp_path / "x.bin") == ()


def test_a_workbook_saved_by_another_program_changes_nothing() -> None:
    assert import_script(TRACK, read_xlsx(saved(edit(XLSX.encode(TRACK))), "x"), "x") == Import(TRACK)


def test_what_a_describer_changes_comes_back() -> None:
    book = edit(XLSX.encode(TRACK))
    sheet = book["Script"]
    sheet["C2"] = "A hound runs."
    sheet["A3"], sheet["B3"] = datetime.time(0, 0, 20, 400_000), datetime.timedelta(seconds=22.5)
    sheet["F4"] = "dropped"
    sheet.append(["30", 32.5, "It rains."])
    done = import_script(TRACK, read_xlsx(saved(book), "x"), "x")
    assert (done.changed, done.added, done.removed) == (
        ("s00010000", "s00020000"),
        ("h00030000",),
        ("s36000000",),
    )
    assert [c.text for c in done.track.heard] == ["A hound runs.", TRACK.cues[1].text, "It rains."]
    assert done.track.cues[1].interval == Interval(20.4, 22.5)
    assert done.track.cues[3].status is CueStatus.DROPPED


def test_a_sheet_of_another_describer_is_read() -> None:
    book = openpyxl.Workbook()
    book.active.append(["Contents"])
    sheet = book.create_sheet("AD")
    for row in (
        ["Nr", "Time in", "Time out", "Audio description"],
        [1, 10, 12.5, "A cat."],
        [None, None, None, None],
        [2, "0:20", "0:21", 7],
    ):
        sheet.append(row)
    script = read_xlsx(saved(book), "x")
    assert [(c.id, c.interval, c.text) for c in script.cues] == [
        (None, Interval(10, 12.5), "A cat."), (None, Interval(20, 21), "7"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda d: b"nonsense", "no Office document"),
        (lambda d: changed(d, SHEET, b"<sheetData>", b"<sheetData"), "cannot be read"),
        (lambda d: changed(d, "xl/workbook.xml", b"<sheets>", b"<sheets"), "cannot be read as a workbook"),
        (lambda d: changed(d, SHEET, b"00:00:12.500", b"later"), "x, sheet Script, row 2: 'later' is no time"),
        (lambda d: changed(d, SHEET, b"<t>Line</t>", b"<t>Sentence</t>"), "no sheet with the heads"),
        (lambda d: changed(d, SHEET, b"<worksheet", b'<!DOCTYPE w [<!ENTITY a SYSTEM "file:///etc/passwd">]><worksheet'), "declares a document type"),
        (lambda d: changed(d, "xl/styles.xml", b"<styleSheet", b'<!DOCTYPE w [<!ENTITY a "aaaa">]><styleSheet'), "declares a document type"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(make: Callable[[bytes], bytes], message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        read_xlsx(make(XLSX.encode(TRACK)), "x")


def test_styles_that_openpyxl_does_not_know_are_no_trouble() -> None:
    plain = b'<cellStyle name="Normal" xfId="0" builtinId="0" hidden="0"/>'
    data = changed(XLSX.encode(TRACK), "xl/styles.xml", plain, b"")
    with pytest.warns(UserWarning, match="default style"):
        edit(data)
    assert len(read_xlsx(data, "x").cues) == 3


def test_a_sheet_that_claims_the_whole_grid_is_read_as_what_it_holds() -> None:
    data = changed(XLSX.encode(TRACK), SHEET, b"A1:J4", b"A1:XFD1048576")
    assert len(read_xlsx(data, "x").cues) == 3
    far = b'<c r="XFD2" t="n"><v>1</v></c></row><row r="3">'
    assert len(read_xlsx(changed(XLSX.encode(TRACK), SHEET, b'</row><row r="3">', far), "x").cues) == 3


def test_a_sheet_of_too_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 500)
    rows = b"".join(b'<row r="%d"><c r="D%d" t="n"><v>1</v></c></row>' % (n, n) for n in range(10, 1000))
    for more in (rows, b'<row r="1048576"><c r="D1048576" t="n"><v>1</v></c></row>'):
        data = changed(XLSX.encode(TRACK), SHEET, b"</sheetData>", more + b"</sheetData>")
        with pytest.raises(ScriptError, match="over 500 rows"):
            read_xlsx(data, "x")


def test_links_to_other_files_and_macros_are_left_alone(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    book = edit(XLSX.encode(TRACK))
    book["Script"]["C2"] = f"='file://{secret}'#$A.A1"
    book["Script"]["C3"] = '=WEBSERVICE("http://127.0.0.1:9/")'
    script = read_xlsx(saved(book), "x")
    assert [line.text for line in script.cues] == ["", "", TRACK.cues[2].text]


def test_a_formula_that_failed_is_not_taken_for_a_line() -> None:
    failed = b'<c r="C2" t="e"><f>foo()</f><v>#NAME?</v></c>'
    text = b'<c r="C2" s="2" t="inlineStr"><is><t>A dog runs.</t></is></c>'
    with pytest.raises(ScriptError, match="sheet Script, row 2: C2 holds the error #NAME"):
        read_xlsx(changed(XLSX.encode(TRACK), SHEET, text, failed), "x")


def test_a_text_longer_than_a_cell_is_refused_not_cut() -> None:
    told = cue(1, "A cat.", status=CueStatus.SHORTENED, reason="a" * 32_768)
    with pytest.raises(ScriptError, match="32768 characters"):
        XLSX.encode(make_track(told))


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    data = XLSX.encode(TRACK)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    for act in (lambda: XLSX.encode(TRACK), lambda: read_xlsx(data, "x")):
        with pytest.raises(ScriptError, match=r"openpyxl, which is not installed.*shotad\[documents\]"):
            act()
