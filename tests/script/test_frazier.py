"""Frazier's CSV: the layout, times on frames, and that nothing but a person's change comes back as one."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval, ScriptError
from shotad.script import ALL_FORMATS, Cue, EditField, FilmId, Maker, Track, clean_text, script_format
from shotad.script.cue import on_frames
from shotad.script.formats import detect_format, read_script
from shotad.script.importing import Import, import_script
from shotad.script.studio_formats import read_frazier, write_frazier

RATES = (Fraction(25), Fraction(24), Fraction(30000, 1001), Fraction(60))


def make_track(*lines: tuple[int, int, str]) -> Track:
    cues = [Cue(f"s{a:08d}", None, Interval(a / 1000, b / 1000), text) for a, b, text in lines]
    return Track(FilmId("f.mp4", "x", 400_000.0), "de", (Maker("stage2", "fake"),), "0.1.0", ()).with_cues(
        cues
    )


TRACK = make_track(
    (1003, 3011, "Ein Hund läuft."), (20017, 23000, "Es regnet."), (36_000_123, 36_003_000, "Nacht.")
)


@st.composite
def tracks(draw: st.DrawFn) -> Track:
    words = st.text(min_size=1, max_size=12).map(clean_text).filter(bool) | st.sampled_from(
        ['"', "=1;2", "a\nb", "'=x", "שלום; 🎬", "-", "@", "＝1"]
    )
    at, lines = 0, []
    for gap, length, text in draw(
        st.lists(st.tuples(st.integers(1, 9**8), st.integers(100, 9000), words), max_size=4)
    ):
        lines.append((at + gap, at + gap + length, text))
        at += gap + length
    return make_track(*lines)


def test_the_layout() -> None:
    assert write_frazier(TRACK) == (
        "Position;Start;End;Text\r\n"
        "100001003;00:00:01.00;00:00:03.00;Ein Hund läuft.\r\n"
        "100020017;00:00:20.00;00:00:23.00;Es regnet.\r\n"
        "136000123;10:00:00.03;10:00:03.00;Nacht.\r\n"
    )


@pytest.mark.parametrize("rate", RATES)
@settings(max_examples=60, deadline=None)
@given(track=tracks())
def test_ids_and_texts_come_back_with_times_on_frames(rate: Fraction, track: Track) -> None:
    found = read_frazier(write_frazier(track, rate), "x", rate).cues
    assert [(c.id, c.text) for c in found] == [(c.id, c.text) for c in track.heard]
    for cue, line in zip(track.heard, found, strict=True):
        assert line.interval == on_frames(cue.interval, rate)
        assert abs(line.interval.start - cue.interval.start) <= 0.51 / rate


@pytest.mark.parametrize("rate", RATES)
@settings(max_examples=60, deadline=None)
@given(track=tracks())
def test_an_untouched_file_changes_nothing(rate: Fraction, track: Track) -> None:
    script = read_frazier(write_frazier(track, rate), "x", rate)
    if track.heard and track.heard[-1].interval.start < track.film.duration:
        assert import_script(track, script, "x") == Import(track)


def test_a_change_of_one_frame_is_an_edit_of_that_end_only() -> None:
    text = write_frazier(TRACK).replace("00:00:20.00", "00:00:20.01")
    line = import_script(TRACK, read_frazier(text, "x"), "x").track.cues[1]
    assert line.interval == Interval(20.04, 23.0)
    assert line.edited is not None
    assert line.edited.fields == (EditField.TIME,)
    later = import_script(
        TRACK, read_frazier(write_frazier(TRACK).replace("03.00;Ein", "03.01;Ein"), "x"), "x"
    )
    assert later.track.cues[0].interval == Interval(1.003, 3.04)


def test_a_file_counted_anew_is_known_by_its_times() -> None:
    text = write_frazier(TRACK).replace("Es regnet.", "Es gießt.")
    for number, key in enumerate(("100001003", "100020017", "136000123"), 1):
        text = text.replace(key, str(number))
    done = import_script(TRACK, read_frazier(text, "x"), "x")
    assert (done.changed, done.added, done.removed) == (("s00020017",), (), ())
    assert done.track.cues[1].interval.start == 20.017


@pytest.mark.parametrize(
    "text",
    [
        "Slot;Startzeit;Endzeit;Dauer_s;Audiodeskription\n1;00:00:01,12;00:00:03,00;1.52;Hallo\n",
        "Position;Start;Ende;Text\n1;00:00:01:12;00:00:03:00;Hallo\n",
        "\ufeffPosition;Start;End;Text;Sprecher\r\n1;00:00:01.12;00:00:03.00;Hallo;A\r\n;;;;\r\n",
    ],
)
def test_other_states_of_the_layout_are_read(text: str) -> None:
    assert detect_format("x.csv", text.encode()) == "frazier"
    script = ALL_FORMATS["frazier"].read(text.encode(), "x")
    assert [(c.id, c.interval, c.text) for c in script.cues] == [(None, Interval(1.48, 3.0), "Hallo")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Position;Start;End;Text\n1;00:00:01.25;00:00:03.00;A\n",
            "x, line 2: .* frame 25, but there are 25",
        ),
        ("Position;Start;End;Text\n1;00:00:03.00;00:00:03.00;A\n", r"x, line 2: .*\[3.0, 3.0\)"),
        ("Position;Start;End;Text\n1;later;00:00:03.00;A\n", "x, line 2: 'later' is no time"),
        ("Position;Start;End\n1;2;3\n", "x, line 1: .* Text missing"),
        ('Position;Start;End;Text\n1;2;3;"A" b\n', "x, line 2"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        read_frazier(text, "x")


def test_the_frames_a_second_are_a_setting() -> None:
    form = script_format("frazier@30000/1001")
    assert form.ending == "ad.frazier.csv"
    assert ";00:00:20.00;00:00:22.29;" in form.write(TRACK)
    assert form.read(form.encode(TRACK), "x").cues[1].id == "s00020017"
    for wrong in ("frazier@0", "frazier@x", "frazier@1/0", "vtt@25"):
        with pytest.raises(ScriptError, match=re.escape(repr(wrong))):
            script_format(wrong)


def test_a_name_with_frames_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(script_format("frazier@60").encode(make_track((1500, 3000, "A."))))
    with pytest.raises(ScriptError, match="frame 30"):
        read_script(path)
    assert read_script(path, "frazier@60").cues[0].interval == Interval(1.5, 3.0)
