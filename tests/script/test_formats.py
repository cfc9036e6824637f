"""Every script format gives back what was written; other people's files are read or refused plainly; files for other
programs: Frazier's and Reaper's CSV, and the signals of description in HLS and DASH."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from lxml import etree

from shotad.core import Interval
from shotad.core.errors import ScriptError
from shotad.script import (
    ALL_FORMATS,
    FORMATS,
    Cue,
    CueKind,
    CueStatus,
    Edit,
    EditField,
    Maker,
    Track,
    check_script,
    read_cues,
    script_format,
)
from shotad.script.cue import (
    ScriptCue,
    clean_text,
    line_stamp,
    mark_edit,
    on_frames,
)
from shotad.script.edits import Import, import_script
from shotad.script.formats import detect_format, parse_script, read_script
from shotad.script.track import FilmId
from tests.script_text import dapt_violations, violations, write_script

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
    stamped = name in ("vtt", "dapt") or (track.heard and name not in ("json", "srt"))
    assert script.stamp == (track.stamp if stamped else None)
    if name != "srt":
        assert script.line_stamps == {c.id: line_stamp(c.interval, c.text) for c in track.heard}
    if name == "dapt":
        assert dapt_violations(written) == []


@pytest.mark.parametrize("name", FORMATS)
def test_scripts_hold_what_is_heard_say_who_made_it_and_are_found_valid(name: str, tmp_path: Path) -> None:
    first = line(1000, 2000, "A dog runs.")
    dropped = replace(line(5000, 1000, "Gone."), status=CueStatus.DROPPED)
    edited = mark_edit(first, first, (EditField.TEXT,), "x")
    flat = write_script(make_track(edited, dropped, reviewed_by=("Ada Byron",)), name)
    said = ("made by machine", "observer", "narrator (Llama)", "1 line edited", "Reviewed by Ada Byron")
    # SubRip has no place for it that no player shows.
    assert [part for part in said if part not in flat] == ([] if name != "srt" else list(said))
    written = write_script(make_track(first, dropped), name)
    assert ("Not reviewed by a person." in written) == (name != "srt")
    path = tmp_path / f"film.{FORMATS[name].ending}"
    path.write_text(written, encoding="utf-8", newline="")
    assert detect_format(path.name, path.read_bytes()) == name
    assert check_script(path) == ()
    assert read_cues(path) == (ScriptCue("s00001000", Interval(1.0, 3.0), "A dog runs."),)


def test_subrip_holds_the_words_of_the_lines_and_nothing_else() -> None:
    track = make_track(line(1000, 2000, "A dog {runs}."), line(5000, 1000, "It rains."))
    written = write_script(track, "srt")
    assert written == (
        "100001000\n00:00:01,000 --> 00:00:03,000\nA dog {runs}.\n\n"
        "300005000\n00:00:05,000 --> 00:00:06,000\nIt rains.\n\n"
    )


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
    assert dapt_violations(written) == []
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


PLAIN_TTML = """<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter" xml:lang="de"
ttp:frameRate="25"><body begin="1s"><div><p begin="00:00:00:13" end="2s">Ein <span>Hund</span><br/>  bellt.</p>
<p begin="3s" dur="1s"/></div></body></tt>"""


@pytest.mark.parametrize("name", ["movie.ttml", "movie.xml", "movie.dfxp"])
def test_ttml_that_is_no_dapt_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(PLAIN_TTML, encoding="utf-8")
    script = read_script(path)
    assert [(cue.id, cue.interval, cue.text) for cue in script.cues] == [
        (None, Interval(1.52, 3.0), "Ein Hund\nbellt.")
    ]
    assert script.is_proven
    assert check_script(path) == ()


@pytest.mark.parametrize(("old", "new", "message"), [
    ('end="2s"', 'end="at two"', "line 2: .*at two"), ("</div></body></tt>", "", "line 3: .*well-formed"),
    ('end="2s"', 'end="0.1s"', "Ein Hund"),
])  # fmt: skip
def test_plain_ttml_of_which_a_line_cannot_be_read_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        parse_script(PLAIN_TTML.replace(old, new).encode(), "movie.ttml")


def test_an_event_in_two_languages_is_read_in_one() -> None:
    root = OTHERS["dapt"][0].partition("<body")[0].replace('xml:lang="en"', 'xml:lang="en-GB"')
    event = (
        '<body><div xml:id="a" begin="1s" end="3s"><p xml:lang="fr" begin="0s" end="1s">Un chien.</p>'
        '<p>A dog.</p><p xml:lang="de">Ein Hund.</p><p xml:lang="de">Er rennt.</p></div></body></tt>'
    )
    read = {
        language: script_format("dapt").read((root + event).encode(), "x", language).cues[0]
        for language in (None, "en", "de-AT", "fr", "it")
    }
    assert {language: cue.text for language, cue in read.items()} == {
        None: "A dog.", "en": "A dog.", "de-AT": "Ein Hund.\nEr rennt.", "fr": "Un chien.", "it": "A dog.",
    }  # fmt: skip
    assert read["fr"].interval == Interval(1.0, 2.0)


def test_csv_without_heads_is_start_end_text_and_a_dropped_line_is_empty() -> None:
    assert read_back("1.5,3,Hi\n4,5\n", "csv") == [(None, 1500, 3000, "Hi"), (None, 4000, 5000, "")]
    table = write_script(make_track(line(1000, 2000, "A.")), "csv").replace(",placed,", ",Dropped,")
    assert read_back(table, "csv") == [("s00001000", 1000, 3000, "")]


@pytest.mark.parametrize(("name", "text", "message"), [
    ("vtt", "WEBVT\n", "x.vtt, line 1: a WebVTT file starts with WEBVTT, got 'WEBVT'"),
    ("vtt", "WEBVTT\n\nstray\n", "x.vtt, line 3: 'stray' stands outside"),
    ("vtt", "WEBVTT\n\n1\n00.05.0 --> 00:06.000\nA\n", "x.vtt, line 4: '00.05.0' is no time"),
    ("vtt", "WEBVTT\n\n00:06.000 --> 00:06.000\nA\n", r"x.vtt, line 3: .*\[6.0, 6.0\)"),
    ("srt", "1\n00:00:05,000 --> 00:00:04,000\nA\n", r"x.srt, line 2: .*\[5.0, 4.0\)"),
    ("srt", "1\n00:00:05,000 --> later\nA\n", "x.srt, line 2: .* is no timing"),
    ("srt", "1\n00:00:05,000 --> 00:00:06,000\nA\n2\n00:00:07,000 --> 00:00:08,000\nB\n", "line 5: .*empty line"),
    ("csv", "id,text\n1,A\n", "x.csv, line 1: columns are id, text; start and end are missing"),
    ("csv", "start,end\n1,2\n3,x\n", "x.csv, line 3: 'x' is no time"),
    ("json", '[{"start": 1}]', "x.json, entry 1: 'None' is no time"),
    ("json", '{"lines": 3}', "x.json holds no list"),
    ("json", '[{"start": 1, "end": 2, "text": 5}]', "entry 1: .* 5"),
    ("dapt", "<tt/>", "x.dapt, line 1: the root is tt"),
    ("frazier", "Position;Start;End;Text\n1;00:00:01.25;00:00:03.00;A\n", "x.frazier, line 2: .* frame 25, but there are 25"),
    ("frazier", "Position;Start;End;Text\n1;00:00:03.00;00:00:03.00;A\n", r"x.frazier, line 2: .*\[3.0, 3.0\)"),
    ("frazier", "Position;Start;End;Text\n1;later;00:00:03.00;A\n", "x.frazier, line 2: 'later' is no time"),
    ("reaper", "#,Name,Start,End,Length\nR1,a,0:03,0:02,\n", r"x.reaper, line 2: .*\[3.0, 2.0\)"),
    ("frazier", "Position;Start;End\n1;2;3\n", "x.frazier, line 1: .* Text missing"),
    ("frazier", 'Position;Start;End;Text\n1;2;3;"A" b\n', "x.frazier, line 2"),
    ("reaper", "#,Name,Start,End,Length\nR1,a,5.1.00,9.1.00,4.0.00\n", "x.reaper, line 2: '5.1.00' is in measures"),
    ("reaper", "#,Name,Start,End,Length\nR1,a,0:00:01:12,0:00:02:00,\n", "x.reaper, line 2: '0:00:01:12' is in frames"),
    ("reaper", "#,Start,End\nR1,1,2\n", "x.reaper, line 1: .* Name and Start are missing"),
])  # fmt: skip
def test_malformed_files_are_refused_with_file_and_line(name: str, text: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        ALL_FORMATS[name].read(text.encode(), f"x.{name}")


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
    ("00:00.000 --> 00:02.000\nA\n", "T6", "cue 1: This line starts at 0, "),
    ("00:05.000 --> 00:06.000\nA\n\n00:01.000 --> 00:02.000\nB\n", "T6", "cue 2: .* earlier than the line above"),
    ("00:01.000 --> 00:03.000\nA\n\n00:02.000 --> 00:04.000\nB\n", "T6", "cue 2: .* before the line above it ends"),
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


RATES = (Fraction(25), Fraction(24), Fraction(30000, 1001), Fraction(60))
FRAZIER, REAPER = ALL_FORMATS["frazier"], ALL_FORMATS["reaper"]


def lines_track(*lines: tuple[int, int, str]) -> Track:
    cues = [Cue(f"s{a:08d}", None, Interval(a / 1000, b / 1000), text) for a, b, text in lines]
    film, makers = FilmId("f.mp4", "x", 400_000.0), (Maker("stage2", "fake"),)
    return Track(film, "de", makers, "0.1.0", ()).with_cues(cues)


TRACK = lines_track(
    (1003, 3011, 'A dog, "Rex", runs.'), (20017, 23000, "Words:\n- stop"), (36_000_123, 36_003_000, "Night.")
)


def imported(text: str, form: str = "frazier") -> Import:
    return import_script(TRACK, ALL_FORMATS[form].read(text.encode(), "x"), "x")


@st.composite
def studio_tracks(draw: st.DrawFn) -> Track:
    words = st.text(min_size=1, max_size=12).map(clean_text).filter(bool) | st.sampled_from(
        ['"', "=1;2", "a\nb", "'=x", "שלום; 🎬", "-", "@", "＝1", "x [s00000001]", "[track 1a2b3c4d]"]
    )
    at, lines = 0, []
    for gap, length, text in draw(
        st.lists(st.tuples(st.integers(1, 9**8), st.integers(100, 9000), words), max_size=4)
    ):
        lines.append((at + gap, at + gap + length, text))
        at += gap + length
    return lines_track(*lines)


@pytest.mark.parametrize("rate", [*RATES, None])
@settings(max_examples=60, deadline=None)
@given(track=studio_tracks())
def test_ids_and_texts_come_back_with_times_on_frames_and_change_nothing(rate, track):
    """Without a rate: Reaper's, in milliseconds."""
    form = REAPER if rate is None else script_format(f"frazier@{rate}")
    script = form.read(form.encode(track), "x")
    assert [(c.id, c.text) for c in script.cues] == [(c.id, c.text) for c in track.heard]
    for cue, line in zip(track.heard, script.cues, strict=True):
        assert line.interval == (cue.interval if rate is None else on_frames(cue.interval, rate))
        assert rate is None or abs(line.interval.start - cue.interval.start) <= 0.51 / rate
    if track.heard and track.heard[-1].interval.start < track.film.duration:
        assert import_script(track, script, "x") == Import(track)


def test_the_layouts() -> None:
    assert FRAZIER.write(TRACK) == (
        "Position;Start;End;Text\r\n"
        '100001003;00:00:01.00;00:00:03.00;"A dog, ""Rex"", runs."\r\n'
        "100020017;00:00:20.00;00:00:23.00;Words: \u2028- stop\r\n"
        "336000123;10:00:00.03;10:00:03.00;Night.\r\n"
    )
    head, statement, *lines = REAPER.write(TRACK).split("\n")
    assert head == "#,Name,Start,End,Length"
    made = "M1,Maschinell erstellte Audiodeskription: shotad 0.1.0 (stage2: fake). Von keinem Menschen"
    assert statement.startswith(made)
    assert statement.endswith(f"[track {TRACK.stamp}],0:00.000,,")
    assert lines == [
        'R1,"A dog, ""Rex"", runs. [s00001003]",0:01.003,0:03.011,0:02.008',
        "R2,Words: \u2028- stop [s00020017],0:20.017,0:23.000,0:02.983",
        "R3,Night. [s36000123],10:00:00.123,10:00:03.000,0:02.877",
        f"M2,Ende der Audiodeskription [track {TRACK.stamp} end],10:00:03.000,,",
        "",
    ]


def test_a_change_of_one_frame_is_an_edit_of_that_end_only() -> None:
    text = FRAZIER.write(TRACK)
    later, longer = text.replace("00:00:20.00", "00:00:20.01"), text.replace("03.00;", "03.01;", 1)
    assert imported(later).track.cues[1].interval == Interval(20.04, 23.0)
    assert imported(longer).track.cues[0].interval == Interval(1.003, 3.04)


def test_a_file_counted_anew_is_known_by_its_times_or_ids() -> None:
    text = FRAZIER.write(TRACK).replace("Night.", "Nacht.")
    for number, key in enumerate(("100001003", "100020017", "336000123"), 1):
        text = text.replace(key, str(number))
    done = imported(text)
    assert (done.changed, done.added, done.removed) == (("s36000123",), (), ())
    assert done.track.cues[2].interval.start == 36_000.123
    rows = REAPER.write(TRACK).replace("R3,", "R7,").replace("Night", "Nightfall").split("\n")
    done = imported("\n".join([*rows[:3], *rows[4:]]), "reaper")
    assert (done.changed, done.removed) == (("s36000123",), ("s00020017",))


@pytest.mark.parametrize(("form", "text", "lines"), [
    ("frazier", "Slot;Startzeit;Endzeit;Dauer_s;Audiodeskription\n1;00:00:01,12;00:00:03,00;1.52;Hallo\n", [(1.48, 3.0, "Hallo")]),
    ("frazier", "Position;Start;Ende;Text\n1;00:00:01:12;00:00:03:00;Hallo\n", [(1.48, 3.0, "Hallo")]),
    ("frazier", "\ufeffPosition;Start;End;Text;Sprecher\r\n1;00:00:01.12;00:00:03.00;Hallo;A\r\n;;;;\r\n", [(1.48, 3.0, "Hallo")]),
    ("reaper", "#,Name,Start,End,Length,Color\nR1,Hello,0:01.500,0:03.000,0:01.500,00FF00\nM1,verse,0:02.000,,,\n", [(1.5, 3.0, "Hello")]),
    ("reaper", '"#";"Name";"Start";"End";"Length"\n"R1";"A; B";"1.5";"3";"1.5"\n', [(1.5, 3.0, "A; B")]),
    ("reaper", "#,Name,Start\nM2,It rains,4.000\nM1,One two three four,1:02:03.000\n", [(4.0, 4.75, "It rains"), (3723.0, 3724.5, "One two three four")]),
])  # fmt: skip
def test_files_of_other_programs_are_read(form, text, lines):
    assert detect_format("x.csv", text.encode()) == form
    found = ALL_FORMATS[form].read(text.encode(), "x").cues
    assert [(c.interval.start, c.interval.end, c.text) for c in found] == lines


def test_the_frames_a_second_are_a_setting(tmp_path: Path) -> None:
    form = script_format("frazier@30000/1001")
    assert form.ending == "ad.frazier.csv"
    assert ";00:00:20.00;00:00:22.29;" in form.write(TRACK)
    for wrong in ("frazier@0", "frazier@x", "frazier@1/0", "vtt@25"):
        with pytest.raises(ScriptError, match=re.escape(repr(wrong))):
            script_format(wrong)
    path = tmp_path / "x.csv"
    path.write_bytes(script_format("frazier@60").encode(lines_track((1500, 3000, "A."))))
    with pytest.raises(ScriptError, match="frame 30"):
        read_script(path)
    assert read_script(path, "frazier@60").cues[0].interval == Interval(1.5, 3.0)


SIGNALLED = Track(FilmId('a "b" #1 <c>--.mp4', "x", 10.0), "en-GB", (Maker("stage2", "fake"),), "0.1.0", ())


def test_the_hls_lines_of_described_sound_and_of_text() -> None:
    sound, text = write_script(SIGNALLED, "hls").splitlines()[-2:]
    assert sound == (
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio description (en-GB)",LANGUAGE="en-GB",DEFAULT=NO,'
        'AUTOSELECT=YES,CHARACTERISTICS="public.accessibility.describes-video,public.machine-generated",'
        'CHANNELS="2",URI="a%20%22b%22%20%231%20%3Cc%3E--.ad.m3u8"'
    )
    assert "TYPE=SUBTITLES" in text
    assert "AUTOSELECT=NO" in text
    assert "describes-video" not in text


def test_dash_says_description_in_both_schemes_and_how_it_is_mixed() -> None:
    node = etree.fromstring(write_script(SIGNALLED, "dash").encode())[0]
    role, purpose = "urn:mpeg:dash:role:2011", "urn:tva:metadata:cs:AudioPurposeCS:2007"
    for tag, wanted in (
        ("Accessibility", [(role, "description"), (purpose, "1")]),
        ("Role", [(role, "alternate")]),
    ):
        assert [(n.get("schemeIdUri"), n.get("value")) for n in node.findall(f"{{*}}{tag}")] == wanted
    order = [etree.QName(child).localname for child in node]
    assert order == ["Label", "Accessibility", "Accessibility", "Role", "Representation"]
    assert node.findtext("{*}Label") == "Audio description (en-GB)"
    assert node.findtext("{*}Representation/{*}BaseURL") == "a%20%22b%22%20%231%20%3Cc%3E--.ad.m4a"


def test_what_is_written_is_found_and_valid_and_a_language_that_is_none_refused() -> None:
    for name, file in (("hls", "x.m3u8"), ("dash", "x.mpd")):
        text = write_script(SIGNALLED, name)
        assert violations(text, file) == ()
        assert detect_format("x", text.encode()) == name
        assert "made by machine" in text
        assert "a%20%22b%22%20%231%20%3Cc%3E--.ad." in text
        with pytest.raises(ScriptError, match="holds none"):
            ALL_FORMATS[name].read(text.encode(), "x")
    with pytest.raises(ScriptError, match="'english please'"):
        write_script(replace(SIGNALLED, language="english please"), "hls")


@pytest.mark.parametrize(("text", "clause", "message"), [
    ("#EXTM3U\n", "CHARACTERISTICS", "no AUDIO rendition"),
    ('#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a"\n', "EXT-X-MEDIA", "NAME missing"),
    ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a"b",GROUP-ID="a"\n', "EXT-X-MEDIA", "no list"),
    ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a",GROUP-ID="a",CHARACTERISTICS="public.accessibility.describes-video"\n', "AUTOSELECT", "not chosen"),
    ('#EXT-X-MEDIA:TYPE=SUBTITLES,NAME="a",GROUP-ID="a",CHARACTERISTICS="public.accessibility.describes-video"\n', "CHARACTERISTICS", "for AUDIO"),
    ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a",GROUP-ID="a",DEFAULT=YES,AUTOSELECT=NO\n', "EXT-X-MEDIA", "DEFAULT is YES"),
])  # fmt: skip
def test_playlists_that_hide_the_description_are_found(text: str, clause: str, message: str) -> None:
    (violation,) = violations(text, "x.m3u8")
    assert violation.clause == clause
    assert message in violation.message


def test_manifests_that_hide_the_description_are_found() -> None:
    def wrong(text: str) -> str:
        (violation,) = violations(text, "x.mpd")
        return violation.message

    written = write_script(SIGNALLED, "dash")
    assert "only one" in wrong(written.replace("AudioPurposeCS", "Other"))
    assert "no AdaptationSet" in wrong(written.replace("<Accessibility", "<Essential"))
    assert "well-formed" in wrong(written.replace("</Period>", ""))
    assert "declares entities" in wrong(
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><MPD>&a;</MPD>'
    )
