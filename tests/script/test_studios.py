"""Files for other programs: Frazier's and Reaper's CSV, and the signals of description in HLS and DASH."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from lxml import etree

from shotad.core import Interval, ScriptError
from shotad.script import ALL_FORMATS, Cue, FilmId, Maker, Track, clean_text, script_format
from shotad.script.cue import on_frames
from shotad.script.edits import Import, import_script
from shotad.script.formats import detect_format, read_script
from shotad.script.signalling import check_dash, check_hls, write_dash, write_hls

RATES = (Fraction(25), Fraction(24), Fraction(30000, 1001), Fraction(60))
FRAZIER, REAPER = ALL_FORMATS["frazier"], ALL_FORMATS["reaper"]


def make_track(*lines: tuple[int, int, str]) -> Track:
    cues = [Cue(f"s{a:08d}", None, Interval(a / 1000, b / 1000), text) for a, b, text in lines]
    film, makers = FilmId("f.mp4", "x", 400_000.0), (Maker("stage2", "fake"),)
    return Track(film, "de", makers, "0.1.0", ()).with_cues(cues)


TRACK = make_track(
    (1003, 3011, 'A dog, "Rex", runs.'), (20017, 23000, "Words:\n- stop"), (36_000_123, 36_003_000, "Night.")
)


def imported(text: str, form: str = "frazier") -> Import:
    return import_script(TRACK, ALL_FORMATS[form].read(text.encode(), "x"), "x")


@st.composite
def tracks(draw: st.DrawFn) -> Track:
    words = st.text(min_size=1, max_size=12).map(clean_text).filter(bool) | st.sampled_from(
        ['"', "=1;2", "a\nb", "'=x", "שלום; 🎬", "-", "@", "＝1", "x [s00000001]", "[track 1a2b3c4d]"]
    )
    at, lines = 0, []
    for gap, length, text in draw(
        st.lists(st.tuples(st.integers(1, 9**8), st.integers(100, 9000), words), max_size=4)
    ):
        lines.append((at + gap, at + gap + length, text))
        at += gap + length
    return make_track(*lines)


@pytest.mark.parametrize("rate", [*RATES, None])
@settings(max_examples=60, deadline=None)
@given(track=tracks())
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
        "136000123;10:00:00.03;10:00:03.00;Night.\r\n"
    )
    head, statement, *lines = REAPER.write(TRACK).split("\n")
    assert head == "#,Name,Start,End,Length"
    made = "M1,Audio description made by machine: shotad 0.1.0 (stage2: fake). Not reviewed"
    assert statement.startswith(made)
    assert statement.endswith(f"[track {TRACK.stamp}],0:00.000,,")
    assert lines == [
        'R1,"A dog, ""Rex"", runs. [s00001003]",0:01.003,0:03.011,0:02.008',
        "R2,Words: \u2028- stop [s00020017],0:20.017,0:23.000,0:02.983",
        "R3,Night. [s36000123],10:00:00.123,10:00:03.000,0:02.877",
        "",
    ]


def test_a_change_of_one_frame_is_an_edit_of_that_end_only() -> None:
    text = FRAZIER.write(TRACK)
    later, longer = text.replace("00:00:20.00", "00:00:20.01"), text.replace("03.00;", "03.01;", 1)
    assert imported(later).track.cues[1].interval == Interval(20.04, 23.0)
    assert imported(longer).track.cues[0].interval == Interval(1.003, 3.04)


def test_a_file_counted_anew_is_known_by_its_times_or_ids() -> None:
    text = FRAZIER.write(TRACK).replace("Night.", "Nacht.")
    for number, key in enumerate(("100001003", "100020017", "136000123"), 1):
        text = text.replace(key, str(number))
    done = imported(text)
    assert (done.changed, done.added, done.removed) == (("s36000123",), (), ())
    assert done.track.cues[2].interval.start == 36_000.123
    rows = REAPER.write(TRACK).replace("R3,", "R7,").replace("Night", "Nightfall").split("\n")
    done = imported("\n".join([*rows[:3], rows[4]]), "reaper")
    assert (done.changed, done.removed) == (("s36000123",), ("s00020017",))


@pytest.mark.parametrize(("form", "text", "lines"), [
    ("frazier", "Slot;Startzeit;Endzeit;Dauer_s;Audiodeskription\n1;00:00:01,12;00:00:03,00;1.52;Hallo\n", [(1.48, 3.0, "Hallo")]),
    ("frazier", "Position;Start;Ende;Text\n1;00:00:01:12;00:00:03:00;Hallo\n", [(1.48, 3.0, "Hallo")]),
    ("frazier", "\ufeffPosition;Start;End;Text;Sprecher\r\n1;00:00:01.12;00:00:03.00;Hallo;A\r\n;;;;\r\n", [(1.48, 3.0, "Hallo")]),
    ("reaper", "#,Name,Start,End,Length,Color\nR1,Hello,0:01.500,0:03.000,0:01.500,00FF00\nM1,verse,0:02.000,,,\n", [(1.5, 3.0, "Hello")]),
    ("reaper", '"#";"Name";"Start";"End";"Length"\n"R1";"A; B";"1.5";"3";"1.5"\n', [(1.5, 3.0, "A; B")]),
    ("reaper", "#,Name,Start\nM2,It rains,4.000\nM1,One two three four,1:02:03.000\n", [(4.0, 4.75, "It rains"), (3723.0, 3724.5, "One two three four")]),
    ("reaper", "#,Name,Start,End,Length\nM1,a b c d e f,1.0,,\nM2,x,2.0,,\n", [(1.0, 2.0, "a b c d e f"), (2.0, 2.375, "x")]),
])  # fmt: skip
def test_files_of_other_programs_are_read(form, text, lines):
    assert detect_format("x.csv", text.encode()) == form
    found = ALL_FORMATS[form].read(text.encode(), "x").cues
    assert [(c.interval.start, c.interval.end, c.text) for c in found] == lines


@pytest.mark.parametrize(("form", "text", "message"), [
    ("frazier", "Position;Start;End;Text\n1;00:00:01.25;00:00:03.00;A\n", "x, line 2: .* frame 25, but there are 25"),
    ("frazier", "Position;Start;End;Text\n1;00:00:03.00;00:00:03.00;A\n", r"x, line 2: .*\[3.0, 3.0\)"),
    ("frazier", "Position;Start;End;Text\n1;later;00:00:03.00;A\n", "x, line 2: 'later' is no time"),
    ("frazier", "Position;Start;End\n1;2;3\n", "x, line 1: .* Text missing"),
    ("frazier", 'Position;Start;End;Text\n1;2;3;"A" b\n', "x, line 2"),
    ("reaper", "#,Name,Start,End,Length\nR1,a,5.1.00,9.1.00,4.0.00\n", "x, line 2: '5.1.00' is in measures"),
    ("reaper", "#,Name,Start,End,Length\nR1,a,0:00:01:12,0:00:02:00,\n", "x, line 2: '0:00:01:12' is in frames"),
    ("reaper", "#,Name,Start,End,Length\nR1,a,0:03,0:02,\n", r"x, line 2: .*\[3.0, 2.0\)"),
    ("reaper", "#,Start,End\nR1,1,2\n", "x, line 1: .* Name and Start are missing"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_line(form: str, text: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        ALL_FORMATS[form].read(text.encode(), "x")


def test_the_frames_a_second_are_a_setting(tmp_path: Path) -> None:
    form = script_format("frazier@30000/1001")
    assert form.ending == "ad.frazier.csv"
    assert ";00:00:20.00;00:00:22.29;" in form.write(TRACK)
    for wrong in ("frazier@0", "frazier@x", "frazier@1/0", "vtt@25"):
        with pytest.raises(ScriptError, match=re.escape(repr(wrong))):
            script_format(wrong)
    path = tmp_path / "x.csv"
    path.write_bytes(script_format("frazier@60").encode(make_track((1500, 3000, "A."))))
    with pytest.raises(ScriptError, match="frame 30"):
        read_script(path)
    assert read_script(path, "frazier@60").cues[0].interval == Interval(1.5, 3.0)


SIGNALLED = Track(FilmId('a "b" #1 <c>--.mp4', "x", 10.0), "en-GB", (Maker("stage2", "fake"),), "0.1.0", ())


def test_the_hls_lines_of_described_sound_and_of_text() -> None:
    sound, text = write_hls(SIGNALLED).splitlines()[-2:]
    assert sound == (
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio description (en-GB)",LANGUAGE="en-GB",DEFAULT=NO,'
        'AUTOSELECT=YES,CHARACTERISTICS="public.accessibility.describes-video,public.machine-generated",'
        'CHANNELS="2",URI="a%20%22b%22%20%231%20%3Cc%3E--.ad.m3u8"'
    )
    assert "TYPE=SUBTITLES" in text
    assert "AUTOSELECT=NO" in text
    assert "describes-video" not in text


def test_dash_says_description_in_both_schemes_and_how_it_is_mixed() -> None:
    node = etree.fromstring(write_dash(SIGNALLED).encode())[0]
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
    for name, check, write in (("hls", check_hls, write_hls), ("dash", check_dash, write_dash)):
        text = write(SIGNALLED)
        assert check(text.encode()) == ()
        assert detect_format("x", text.encode()) == name
        assert "made by machine" in text
        assert "a%20%22b%22%20%231%20%3Cc%3E--.ad." in text
        with pytest.raises(ScriptError, match="holds none"):
            ALL_FORMATS[name].read(text.encode(), "x")
    with pytest.raises(ScriptError, match="'english please'"):
        write_hls(replace(SIGNALLED, language="english please"))


@pytest.mark.parametrize(("text", "clause", "message"), [
    ("#EXTM3U\n", "CHARACTERISTICS", "no AUDIO rendition"),
    ('#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a"\n', "EXT-X-MEDIA", "NAME missing"),
    ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a"b",GROUP-ID="a"\n', "EXT-X-MEDIA", "no list"),
    ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a",GROUP-ID="a",CHARACTERISTICS="public.accessibility.describes-video"\n', "AUTOSELECT", "not chosen"),
    ('#EXT-X-MEDIA:TYPE=SUBTITLES,NAME="a",GROUP-ID="a",CHARACTERISTICS="public.accessibility.describes-video"\n', "CHARACTERISTICS", "for AUDIO"),
    ('#EXT-X-MEDIA:TYPE=AUDIO,NAME="a",GROUP-ID="a",DEFAULT=YES,AUTOSELECT=NO\n', "EXT-X-MEDIA", "DEFAULT is YES"),
])  # fmt: skip
def test_playlists_that_hide_the_description_are_found(text: str, clause: str, message: str) -> None:
    (found,) = check_hls(text.encode())
    assert found.clause == clause
    assert message in found.message


def test_manifests_that_hide_the_description_are_found() -> None:
    def wrong(text: str) -> str:
        (found,) = check_dash(text.encode())
        return found.message

    written = write_dash(SIGNALLED)
    assert "only one" in wrong(written.replace("AudioPurposeCS", "Other"))
    assert "no AdaptationSet" in wrong(written.replace("<Accessibility", "<Essential"))
    assert "well-formed" in wrong(written.replace("</Period>", ""))
    assert "no AdaptationSet" in wrong('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><MPD>&a;</MPD>')
