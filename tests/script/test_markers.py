"""Lines as markers in EDL and FCPXML: on the right frames, read back by us and by OpenTimelineIO."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from lxml import etree

from shotad.core import Interval
from shotad.core.errors import ScriptError
from shotad.script import Cue, Maker, Track, script_format
from shotad.script.cue import LineNote
from shotad.script.edits import Import, import_script
from shotad.script.formats import detect_format, parse_script
from shotad.script.frame_count import FilmFrames
from shotad.script.track import FilmId

SPECS = ("24", "25", "30", "23.976", "29.97", "29.97df", "59.94df", "25+01:00:00:00", "29.97df+01:00:00;00")
PAL = FilmFrames()


def cue(start: float, text: str, length: float = 2.5, **more: Any) -> Cue:
    return replace(Cue(f"s{round(start * 1000):08d}", None, Interval(start, start + length), text), **more)


def make_track(*cues: Cue) -> Track:
    track = Track(FilmId("a & <b>.mp4", "x", 4000.0), "en", (Maker("stage2", "fake"),), "0.1.0", ())
    return track.with_cues(cues)


TRACK = make_track(
    cue(10.017, "A dog | runs.\nIt barks."), cue(61.0, 'She says "no" & <goes>.', note=LineNote("Who?", "Ann")),
    cue(63.0, "12 men march.", 4.0), cue(3599.99, "שלום 🎬"),
)  # fmt: skip


def encoded(name: str, spec: str, track: Track = TRACK) -> str:
    return script_format(f"{name}@{spec}").write(track)


@pytest.mark.parametrize("spec", ["29.97df", "59.94df", "25", "23.976"])
@given(number=st.integers(0, 24 * 3600 * 60))
def test_time_codes_name_each_frame_once(spec: str, number: int) -> None:
    frames = FilmFrames.parse(spec)
    assert frames.number_of(frames.timecode(number)) == number


def test_drop_frame_time_code_leaves_out_numbers_and_no_frames() -> None:
    frames = FilmFrames.parse("29.97df")
    numbers = {1799: "00:00:59;29", 1800: "00:01:00;02", 17982: "00:10:00;00", 107892: "01:00:00;00"}
    assert {number: frames.timecode(number) for number in numbers} == numbers
    assert FilmFrames.parse("29.97").timecode(1800) == "00:01:00:00"
    assert FilmFrames.parse("24+01:00:00:00").start == 86400
    # A semicolon in the time code of the start says it too.
    assert FilmFrames.parse("30000/1001+01:00:00;00") == FilmFrames.parse("29.97df+01:00:00:00")
    for spec in ("25df", "0", "1/0", "x", "25+1:00", "24+00:00:00:24"):
        with pytest.raises(ScriptError, match="edl@"):
            script_format(f"edl@{spec}")


def test_an_edl_of_a_track_without_lines_holds_its_title_alone() -> None:
    edl = encoded("edl", "25+01:00:00:00", make_track())
    assert edl.splitlines()[0].endswith(" AD, 0 lines at 25 fps from 01:00:00:00")
    assert edl.splitlines()[1:] == ["FCM: NON-DROP FRAME", ""]


def test_an_edl_has_the_text_where_resolve_and_others_look_for_it() -> None:
    edl = encoded("edl", "25+01:00:00:00", make_track(TRACK.cues[0], cue(12.0, "It rains.", 1.0)))
    assert edl == (
        "TITLE: a AD, 2 lines at 25 fps from 01:00:00:00\nFCM: NON-DROP FRAME\n\n"
        "001  001      V     C        01:00:10:00 01:00:12:00 01:00:10:00 01:00:12:00\n"
        " |C:ResolveColorBlue |M:A dog / runs. It barks. |D:63\n"
        "* LOC: 01:00:10:00 BLUE    A dog / runs. It barks.\n\n"
        "002  001      V     C        01:00:12:00 01:00:13:00 01:00:12:00 01:00:13:00\n"
        " |C:ResolveColorBlue |M:It rains. |D:25\n"
        "* LOC: 01:00:12:00 BLUE    It rains.\n\n"
    ).replace("TITLE: a AD", "TITLE: a    b AD")


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", ["edl", "fcpxml"])
def test_markers_come_back_and_what_was_changed_is_an_edit(name: str, spec: str) -> None:
    text = encoded(name, spec)
    assert detect_format(f"movie.ad.{name}", text.encode()) == name
    # A bar cannot stand in a marker of an EDL.
    track = make_track(*(replace(c, text=c.text.replace("|", "/"), note=None) for c in TRACK.cues))
    text = encoded(name, spec, track)
    assert import_script(track, parse_script(text.encode(), "x", name), "x") == Import(track)
    moved = text.replace("12 men march.", "They march.")
    done = import_script(track, parse_script(moved.encode(), "x", name), "x")
    assert (done.changed, done.added, done.removed) == (("s00063000",), (), ())
    assert done.track.cues[2].text == "They march."


def test_the_markers_that_resolve_exports_are_read() -> None:
    edl = (
        "TITLE: Timeline 1\nFCM: NON-DROP FRAME\n\n"
        "001  001      V     C        01:00:10:00 01:00:10:01 01:00:10:00 01:00:10:01  \n"
        "why? |C:ResolveColorYellow |M:A dog runs. |D:48\n\n"
        "002  001      V     C        01:00:20:12 01:00:20:13 01:00:20:12 01:00:20:13  \n"
        " |C:ResolveColorBlue |M:It rains. |D:1\n"
    )
    script = parse_script(edl.encode(), "x", "edl@24+01:00:00:00")
    assert [(line.interval, line.text) for line in script.cues] == [
        (Interval(10, 12), "A dog runs."), (Interval(20.5, float(Fraction(493, 24))), "It rains."),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["edl", "fcpxml"])
def test_a_file_that_was_cut_off_never_holds_fewer_lines(name: str) -> None:
    data = encoded(name, "25").encode()
    for cut in range(1, len(data) - 1, 7):
        try:
            script = parse_script(data[:cut], "x", name)
        except ScriptError:
            continue
        assert len(script.cues) == 4, data[:cut]


@pytest.mark.parametrize(("name", "text", "why"), [
    ("edl", "TITLE: x\n", "holds no markers"),
    ("edl", "001  001  V  C  00:00:01:00 00:00:02:00 00:00:01:30 00:00:02:00\n* LOC: 00:00:01:00 RED A.\n", "line 1: '00:00:01:30'"),
    ("edl", "001  001  V  C  00:00:01:00 00:00:02:00 00:00:01:00 00:00:02:00\n", "has no marker"),
    ("fcpxml", "<fcpxml version='1.9'/>", "no FCPXML with a sequence"),
    ("fcpxml", "<fcpxml><sequence/></fcpxml>", "holds no markers"),
    ("fcpxml", "<fcpxml><sequence><marker start='1/0s'/></sequence></fcpxml>", "x: Fraction|x: "),
    ("fcpxml", "<fcpxml><sequence><marker start='two'/></sequence></fcpxml>", "'two' is no time"),
])  # fmt: skip
def test_what_cannot_be_read_is_said_with_its_place(name: str, text: str, why: str) -> None:
    with pytest.raises(ScriptError, match=why):
        parse_script(text.encode(), "x", name)


def test_fcpxml_counts_in_exact_frames_from_the_films_first_time_code() -> None:
    root = etree.fromstring(encoded("fcpxml", "29.97df+01:00:00;00").encode())
    assert root.get("version") == "1.10"
    assert root.find(".//format").get("frameDuration") == "1001/30000s"
    sequence = root.find(".//sequence")
    assert (sequence.get("tcStart"), sequence.get("tcFormat")) == ("107999892/30000s", "DF")
    marker = root.findall(".//marker")[1]
    assert marker.get("value") == 'She says "no" & <goes>.'
    assert marker.get("note") == "Who?"
    start = Fraction(marker.get("start")[:-1]) - Fraction(sequence.get("tcStart")[:-1])
    assert abs(float(start) - 61.0) < 0.5 / 29.97
    assert (start / Fraction(1001, 30000)).denominator == 1
    assert root.find(".//media-rep").get("src") == "./a%20%26%20%3Cb%3E.mp4"


@pytest.mark.parametrize("spec", ["24", "25", "30", "25+01:00:00:00", "23.976"])
def test_opentimelineio_reads_the_same_markers_in_an_edl(spec: str, tmp_path: Path) -> None:
    otio = pytest.importorskip("opentimelineio", reason="needs opentimelineio and its adapters")
    frames = FilmFrames.parse(spec)
    path = tmp_path / "a.edl"
    path.write_text(encoded("edl", spec), encoding="utf-8")
    timeline = otio.adapters.read_from_file(str(path), adapter_name="cmx_3600", rate=frames.nominal_rate)
    clips = list(timeline.find_clips())
    assert [clip.markers[0].name for clip in clips] == [
        c.text.replace("|", "/").replace("\n", " ") for c in TRACK.cues
    ]
    starts = [round(clip.markers[0].marked_range.start_time.value) for clip in clips]
    assert starts == [frames.span(c.interval)[0] for c in TRACK.cues]


@pytest.mark.parametrize("spec", ["24", "25", "30"])
def test_opentimelineio_reads_the_same_markers_in_an_fcpxml(spec: str, tmp_path: Path) -> None:
    otio = pytest.importorskip("opentimelineio", reason="needs opentimelineio and its adapters")
    frames = FilmFrames.parse(spec)
    path = tmp_path / "a.fcpxml"
    path.write_text(encoded("fcpxml", spec), encoding="utf-8")
    result = otio.adapters.read_from_file(str(path), adapter_name="fcpx_xml")
    (clip,) = (
        [clip for timeline in [*result] for clip in timeline.find_clips()]
        if not hasattr(result, "find_clips")
        else list(result.find_clips())
    )
    assert [marker.name for marker in clip.markers] == [c.text.replace("\n", " ") for c in TRACK.cues]
    starts = [round(marker.marked_range.start_time.value) for marker in clip.markers]
    assert starts == [frames.span(c.interval)[0] for c in TRACK.cues]
