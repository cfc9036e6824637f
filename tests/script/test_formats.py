"""Every script format gives back what was written; and other people's files are read or refused plainly."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval, ScriptError
from shotad.script import (
    FORMATS,
    Cue,
    CueKind,
    CueStatus,
    Edit,
    EditField,
    FilmId,
    Maker,
    Track,
    check_script,
    clean_text,
    line_stamp,
    mark_edit,
    parse_time,
    read_cues,
)
from shotad.script.cue import ScriptCue
from shotad.script.dapt_reader import check_dapt
from shotad.script.formats import detect_format, read_script
from tests.script_text import write_script

SHARED = Path(__file__).parents[3] / "shared" / "data"
AD_TEXT = SHARED / "ad-text"

PIECES = (
    "-->", " & ", "<i>", "</i>", "&lt;", "&amp;", "\n", "🎬👩‍🚀", "שלום", "مرحبا", '"', "'", ",", ";", "- ", "=SUM(1)",
    "+", "@", "{\\an8}", "{", "}", "\\", "NOTE ", "WEBVTT", "1", "A dog runs.", "  ", "é", "\u00a0", "\u200f", "]]>", "<!--",
    "日本語。「漢字」，！", "؟؛،", "۰۱۲ـَُّ", "«»", "\u2067",
)  # fmt: skip
pieces = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), min_size=1, max_size=8)
texts = pieces.map("".join).map(clean_text).filter(bool)
kinds = st.sampled_from(CueKind)
lines = st.tuples(st.integers(1, 4000), st.integers(1, 9000), texts, kinds, st.sampled_from("sh"))


def make_track(*cues: Cue, **more: object) -> Track:
    makers = (Maker("stage1", "observer"), Maker("stage2", "narrator", "Llama", "r1"))
    track = Track(FilmId("a & <b>.mp4", "f00d", 36000.0), "en", makers, "0.1.0", ())
    return replace(track.with_cues(cues), **more)  # type: ignore[arg-type]


def line(start_ms: int, length_ms: int, text: str, kind: CueKind = CueKind.ACTION, letter: str = "s") -> Cue:
    interval = Interval(start_ms / 1000, (start_ms + length_ms) / 1000)
    return Cue(f"{letter}{start_ms:08d}", None, interval, text, kind)


@st.composite
def tracks(draw: st.DrawFn) -> Track:
    at, cues = 0, []
    for gap, length, text, kind, letter in draw(st.lists(lines, max_size=4)):
        cues.append(line(at + gap, length, text, kind, letter))
        at += gap + length
    return make_track(*cues)


def rows(cues: Iterable[Any]) -> list[tuple[str | None, int, int, str]]:
    return [(c.id, round(c.interval.start * 1000), round(c.interval.end * 1000), c.text) for c in cues]


def read_back(text: str, name: str) -> list[tuple[str | None, int, int, str]]:
    return rows(FORMATS[name].read(text.encode(), f"x.{name}").cues)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=120, deadline=None)
@given(track=tracks())
def test_ids_times_and_texts_come_back(name: str, track: Track) -> None:
    written = write_script(track, name)
    assert read_back(written, name) == rows(track.heard)
    script = FORMATS[name].read(written.encode(), "x")
    stamped = name in ("vtt", "dapt") or (track.heard and name != "json")
    assert script.stamp == (track.stamp if stamped else None)
    if name != "srt":
        assert script.line_stamps == {c.id: line_stamp(c.interval, c.text) for c in track.heard}
    if name == "dapt":
        assert check_dapt(written.encode()) == ()


@pytest.mark.parametrize("name", FORMATS)
def test_scripts_hold_what_is_heard_say_who_made_it_and_are_found_valid(name: str, tmp_path: Path) -> None:
    first = line(1000, 2000, "A dog runs.")
    dropped = replace(line(5000, 1000, "Gone."), status=CueStatus.DROPPED)
    edited = mark_edit(first, first, (EditField.TEXT,), "x")
    flat = write_script(make_track(edited, dropped, reviewed_by=("Ada Byron",)), name)
    said = ("made by machine", "observer", "narrator (Llama)", "1 line edited", "Reviewed by Ada Byron")
    assert [part for part in said if part not in flat] == []
    written = write_script(make_track(first, dropped), name)
    assert "Not reviewed by a person." in written
    path = tmp_path / f"film.{FORMATS[name].ending}"
    path.write_text(written, encoding="utf-8", newline="")
    assert detect_format(path.name, path.read_bytes()) == name
    assert check_script(path) == ()
    assert read_cues(path) == (ScriptCue("s00001000", Interval(1.0, 3.0), "A dog runs."),)


def test_csv_is_rfc_4180_with_a_mark_for_excel_and_no_formulas_by_whatever_separator() -> None:
    written = write_script(make_track(line(1000, 2000, '=1+1, "x"')), "csv")
    assert written.startswith("\ufeffid,start,end,text,kind,status,state,reviewer,note,")
    assert written.endswith("\r\n")
    rows = list(csv.reader(io.StringIO(written.removeprefix("\ufeff"), newline="")))
    assert rows[1][:4] == ["s00001000", "1.000", "3.000", '\'=1+1, "x"']
    assert len(rows[0]) == len(rows[1])
    for text in ("a;=cmd|' /C calc'!A0;b", "a\n=1+1", "a, -1", "＝1"):
        written = write_script(make_track(line(1000, 2000, text)), "csv")
        cells = re.split("[;,\n]", written.replace('"', ""))
        assert not [cell for cell in cells if cell.strip()[:1] in tuple("=+-@＝")]
        assert read_back(written, "csv")[0][3] == text


def test_dapt_tells_from_which_language_lines_were_translated() -> None:
    added = line(7000, 2000, "Es regnet.", letter="h")
    added = replace(added, edited=Edit((EditField.ADDED,), "track.json", None))
    cues = (line(1000, 2000, "Ein Hund."), line(4000, 2000, "Worte.", CueKind.TEXT), added)
    german = tuple(replace(cue, language="de") for cue in cues)
    track = replace(make_track(*german), language="de", translated_from="en-GB")
    written = write_script(track, "dapt")
    assert check_dapt(written.encode()) == ()
    root, *events = re.findall("<(?:tt|div) [^>]*>", written)
    assert 'daptm:langSrc="en-GB"' in root
    assert 'xml:lang="de"' in root
    assert 'daptm:scriptType="preRecording"' in root
    assert ["langSrc" in event for event in events] == [False, False, True]
    assert 'daptm:langSrc="zxx"' in events[2]


OTHERS = {
    "vtt": (
        "WEBVTT - by hand\nLicense: none\n\nSTYLE\n::cue {}\n\nNOTE a\n\nintro\n00:01.500 --> 00:03.000 line:0\n"
        "<v.loud Ann>Hi &amp; <i>bye</i>\n\n00:00:04.000 --> 00:00:05.000\nB\n\nafter a gap\n",
        [("intro", 1500, 3000, "Hi & bye"), (None, 4000, 5000, "B\nafter a gap")],
    ),
    "srt": (
        "\ufeff1\r\n00:00:01,500 --> 00:00:03,000 X1:10 X2:20\r\n{\\an8}<i>Hi</i> <3\r\n\r\n2\r\n"
        "00:00:04,000 --> 00:00:05,000\r\nB\r\n\r\nC\r\n",
        [(None, 1500, 3000, "Hi <3"), (None, 4000, 5000, "B\nC")],
    ),
    "csv": (
        'Text;Start;End\r\n"Hi; ""you""";1,5;0:03\r\n;00:00:04.000;5\r\n',
        [(None, 1500, 3000, 'Hi; "you"'), (None, 4000, 5000, "")],
    ),
    "json": (
        '{"slots": [{"start": 1.5, "end": 3, "id": "a", "text": "Hi"}, {"start": "0:04", "end": 5}]}',
        [("a", 1500, 3000, "Hi"), (None, 4000, 5000, "")],
    ),
    "dapt": (
        """<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter" xml:lang="en"
        xmlns:daptm="http://www.w3.org/ns/ttml/profile/dapt#metadata" daptm:scriptType="asRecorded"
        ttp:frameRate="25" ttp:contentProfiles="http://www.w3.org/ns/ttml/profile/dapt1.0/content"
        daptm:scriptRepresents="visual" daptm:represents="visual"><body begin="1s">
        <div xml:id="a" begin="500ms" dur="1.5s"><p> Hi\n <span> you</span><br/>there </p></div>
        <div begin="00:00:01.000"><div xml:id="b" begin="50f" end="00:00:03"><p/></div></div></body></tt>""",
        [("a", 1500, 3000, "Hi you\nthere"), ("b", 4000, 5000, "")],
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_peoples_files_are_read(name: str) -> None:
    text, expected = OTHERS[name]
    assert read_back(text, name) == expected


def test_csv_without_heads_is_start_end_text_and_a_dropped_line_is_empty() -> None:
    assert read_back("1.5,3,Hi\n4,5\n", "csv") == [(None, 1500, 3000, "Hi"), (None, 4000, 5000, "")]
    table = write_script(make_track(line(1000, 2000, "A.")), "csv").replace(",placed,", ",Dropped,")
    assert read_back(table, "csv") == [("s00001000", 1000, 3000, "")]


@pytest.mark.parametrize(("name", "text", "message"), [
    ("vtt", "WEBVT\n", "x.vtt, line 1: a WebVTT file starts with WEBVTT, got 'WEBVT'"),
    ("vtt", "WEBVTT\n\nstray\n", "x.vtt, line 3: 'stray' stands outside"),
    ("vtt", "WEBVTT\n\n1\n00.05.0 --> 00:06.000\nA\n", "x.vtt, line 4: '00.05.0' is no time"),
    ("vtt", "WEBVTT\n\n00:06.000 --> 00:06.000\nA\n", r"x.vtt, line 3: .*\[6.0, 6.0\)"),
    ("vtt", "WEBVTT\n\n00:66.000 --> 01:06.000\nA\n", "x.vtt, line 3: '00:66.000' has over 59"),
    ("srt", "1\n00:00:05,000 --> later\nA\n", "x.srt, line 2: .* is no timing"),
    ("srt", "1\n00:00:05,000 --> 00:00:04,000\nA\n", r"x.srt, line 2: .*\[5.0, 4.0\)"),
    ("srt", "1\n00:00:05,000 --> 00:00:06,000\nA\n2\n00:00:07,000 --> 00:00:08,000\nB\n", "line 5: .*empty line"),
    ("csv", "id,text\n1,A\n", "x.csv, line 1: columns are id, text; start and end are missing"),
    ("csv", "start,end\n1,2\n3,x\n", "x.csv, line 3: 'x' is no time"),
    ("json", '[{"start": 1}]', "x.json, entry 1: 'None' is no time"),
    ("json", '{"lines": 3}', "x.json holds no list"),
    ("json", '[{"start": 1, "end": 2, "text": 5}]', "entry 1: .* 5"),
    ("dapt", "<tt/>", "x.dapt, line 1: the root is tt"),
])  # fmt: skip
def test_malformed_files_are_refused_with_file_and_line(name: str, text: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        FORMATS[name].read(text.encode(), f"x.{name}")


HOSTILE = [
    "WEBVTT", "\n", "\n\n", "1", "00:00:01,000 --> 00:00:02,000", "-->", "start,end", '"', ",", "[{", "}",
]  # fmt: skip
hostile = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=5), max_size=12).map("".join)


@pytest.mark.parametrize("name", FORMATS)
@given(text=hostile)
def test_any_text_is_read_or_refused(name: str, text: str) -> None:
    said = "x.file"
    try:
        FORMATS[name].read(text.encode("utf-8", "replace"), "x.file")
    except ScriptError as error:
        said = error.what
    assert "x.file" in said


def test_other_letters_an_unknown_format_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="x.srt, line 3: the text is not UTF-8"):
        FORMATS["srt"].read("1\n00:00:05,000 --> 00:00:06,000\né\n".encode("latin-1"), "x.srt")
    with pytest.raises(ScriptError, match="'doc'.*vtt, srt, dapt, csv, json, frazier.*dash"):
        write_script(make_track(), "doc")
    with pytest.raises(ScriptError, match="none.vtt cannot be read"):
        read_script(tmp_path / "none.vtt")


@pytest.mark.parametrize(("body", "clause", "message"), [
    ("00:00.000 --> 00:02.000\nA\n", "T6", "cue 1: starts at 0.000"),
    ("00:05.000 --> 00:06.000\nA\n\n00:01.000 --> 00:02.000\nB\n", "T6", "cue 2: .*out of order"),
    ("00:01.000 --> 00:03.000\nA\n\n00:02.000 --> 00:04.000\nB\n", "T6", "cue 2: .* overlaps"),
    ("x\n00:01.000 --> 00:02.000\nA\n\nx\n00:03.000 --> 00:04.000\nB\n", "ids", "2 cues have the id x"),
])  # fmt: skip
def test_check_script_finds_times_out_of_order_and_repeated_ids(body, clause, message, tmp_path):
    path = tmp_path / "a.vtt"
    path.write_text(f"WEBVTT\n\n{body}", encoding="utf-8")
    (found,) = check_script(path)
    assert found.clause == clause
    path.write_text("hello", encoding="utf-8")
    assert [broken.clause for broken in check_script(path)] == ["vtt syntax"]
    assert re.match(message, found.message)


@pytest.mark.parametrize(
    ("text", "seconds"), [("1:02:03.5", 3723.5), ("02:03,25", 123.25), ("83.12", 83.12), ("83,12", 83.12)]
)
def test_times_are_read_in_all_spellings(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.skipif(not AD_TEXT.is_dir(), reason="needs ../shared/data/ad-text")
def test_human_ad_and_captions_are_read() -> None:
    counts = {}
    for path in sorted(AD_TEXT.rglob("*.vtt")):
        if path.name == "paulallen_meta.vtt":
            with pytest.raises(ScriptError, match="line 15: '00.02:32.000' is no time"):
                read_cues(path)
        else:
            counts[path.name] = len(read_cues(path))
    assert counts["descriptions.en.vtt"] == 63
    assert counts["descriptions-jjhunt.en.vtt"] == 64
    assert counts["captions.en.vtt"] == 78
    assert min(counts.values()) > 1
