"""DAPT as recorded: sounds and ducking by the standard, valid, and read back with the words' own times."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st
from lxml import etree

from shotad.core import GainPoint, Interval
from shotad.script import (
    Cue,
    FilmId,
    Maker,
    Recording,
    Track,
    Voiced,
    clean_text,
    line_stamp,
    milliseconds,
    write_dapt,
)
from shotad.script.dapt import level_at
from shotad.script.dapt_reader import check_dapt, read_dapt
from shotad.script.edits import import_script
from tests.script_text import write_script

TT = "{http://www.w3.org/ns/ttml}"
GAIN = "{http://www.w3.org/ns/ttml#audio}gain"


def cue(start: float, end: float, text: str, said: str = "", at: tuple[float, float] | None = None) -> Cue:
    interval = Interval(start, end)
    voiced = Voiced("hibari:heart", said or text, Interval(*(at or (start, end))), line_stamp(interval, text))
    return replace(Cue(f"s{milliseconds(start):08d}", None, interval, text), voiced=voiced)


def make_track(*cues: Cue) -> Track:
    return Track(FilmId("f.mp4", "x", 60.0), "en", (Maker("stage2", "fake"),), "0.1.0", ()).with_cues(cues)


def points(*pairs: tuple[float, float]) -> tuple[GainPoint, ...]:
    return tuple(GainPoint(*pair) for pair in pairs)


ONE = make_track(cue(20, 22, "Night."))
DUCK = points((19.7, 0), (20, -9), (22, -9), (22.4, 0))


def events(text: str) -> list[etree._Element]:
    assert check_dapt(text.encode()) == ()
    return list(etree.fromstring(text.encode()).iter(f"{TT}div"))


def seconds(clock: str | None) -> float:
    hours, minutes, rest = (clock or "").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def heard_level(divs: list[etree._Element], second: float) -> float:
    """dB of the programme as a player of TTML computes it from the document, at a second of the film."""
    active = [div for div in divs if seconds(div.get("begin")) <= second < seconds(div.get("end"))]
    assert len(active) <= 1, "two events at a time let the programme through twice"
    if not active:
        return 0.0
    factor = float(active[0].get(GAIN, "1"))
    at = second - seconds(active[0].get("begin"))
    for move in active[0].iter(f"{TT}animate"):
        begin, end = seconds(move.get("begin")), seconds(move.get("end"))
        values = [float(value) for value in (move.get(GAIN) or "").split(";")]
        if begin <= at < end:
            place = (at - begin) / (end - begin) * (len(values) - 1)
            low = min(int(place), len(values) - 2)
            factor = values[low] + (place - low) * (values[low + 1] - values[low])
        elif at >= end and move.get("fill") == "freeze":
            factor = values[-1]
    return 20 * math.log10(factor)


def test_a_line_with_its_sound_and_its_ducking() -> None:
    written = write_dapt(ONE, Recording("f.ad.wav", DUCK))
    assert 'daptm:scriptType="asRecorded"' in written
    (div,) = events(written)
    assert (div.get("begin"), div.get("end"), div.get(GAIN)) == ("00:00:19.700", "00:00:22.400", None)
    down, up = div.findall(f"{TT}animate")
    assert (down.get("begin"), down.get("end"), down.get("fill")) == (
        "00:00:00.000",
        "00:00:00.300",
        "freeze",
    )
    assert (up.get("begin"), up.get("end"), up.get("fill")) == ("00:00:02.300", "00:00:02.700", None)
    assert down.get(GAIN) == "1;0.7718;0.5957;0.4597;0.3548"
    (span,) = div.iter(f"{TT}span")
    assert (span.get("begin"), span.get("end")) == ("00:00:00.300", "00:00:02.300")
    (audio,) = span
    assert dict(audio.attrib) == {
        "src": "f.ad.wav", "type": "audio/wave", "clipBegin": "00:00:20.000", "clipEnd": "00:00:22.000",
    }  # fmt: skip
    assert audio.tail == "Night."


def test_the_script_has_the_lines_and_the_recording_what_was_said() -> None:
    track = make_track(cue(5, 8, "A dog runs, quickly.", "A dog runs.", (5.2, 6.4)), cue(9, 10, "B."))
    silent = replace(track, cues=(track.cues[0], replace(track.cues[1], voiced=None)))
    recorded = write_dapt(silent, Recording("a.wav"))
    assert [(c.interval, c.text) for c in read_dapt(recorded.encode(), "x").cues] == [
        (Interval(5.2, 6.4), "A dog runs.")
    ]
    assert "A dog runs, quickly." in write_script(silent, "dapt")
    assert 'daptm:scriptType="preRecording"' in write_script(silent, "dapt")
    # It brings back only what a person changed in it.
    done = import_script(silent, read_dapt(recorded.encode(), "x"), "x")
    assert (done.changed, done.added, done.removed, done.track) == ((), (), (), silent)
    edited = recorded.replace("A dog runs.", "A hound runs.")
    assert import_script(silent, read_dapt(edited.encode(), "x"), "x").track.cues[0].text == "A hound runs."


@st.composite
def recordings(draw: st.DrawFn) -> tuple[Track, tuple[GainPoint, ...]]:
    """Lines with the ducking that a mix makes: held where the gap between two is short."""
    words = st.text(min_size=1, max_size=8).map(clean_text).filter(bool)
    at, cues, bends = 2.0, [], []
    hold = draw(st.floats(0, 3))
    for gap, length, text in draw(
        st.lists(st.tuples(st.integers(0, 6000), st.integers(50, 3000), words), min_size=1, max_size=5)
    ):
        start, end = at + gap / 1000, at + gap / 1000 + length / 1000
        depth = draw(st.sampled_from([-3.0, -9.0, -24.0]))
        if bends and start - 0.3 <= bends[-1].seconds + hold:
            bends = [*bends[:-1], GainPoint(max(start, bends[-2].seconds), bends[-2].decibels)]
        else:
            bends += [GainPoint(start - 0.3, 0.0), GainPoint(start, depth)]
        bends += [GainPoint(end, bends[-1].decibels), GainPoint(end + 0.4, 0.0)]
        cues.append(cue(start, end, text))
        at = end
    return make_track(*cues), tuple(bends)


@settings(max_examples=50, deadline=None)
@given(recordings())
def test_a_player_hears_the_mix_and_the_words_come_back(made: tuple[Track, tuple[GainPoint, ...]]) -> None:
    track, gains = made
    written = write_dapt(track, Recording("a.wav", gains))
    divs = events(written)
    back = read_dapt(written.encode(), "x").cues
    assert [(c.id, milliseconds(c.interval.start), milliseconds(c.interval.end), c.text) for c in back] == [
        (c.id, milliseconds(c.interval.start), milliseconds(c.interval.end), c.text) for c in track.heard
    ]
    for step in range(1200):
        second = step / 20 + 0.0051
        slope = abs(level_at(gains, second + 0.001) - level_at(gains, second - 0.001))
        assert abs(heard_level(divs, second) - level_at(gains, second)) < 0.12 + 2 * slope, second


def test_w3cs_own_example_is_read_with_the_times_of_its_words() -> None:
    document = """<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter" xml:lang="en"
    xmlns:tta="http://www.w3.org/ns/ttml#audio" xmlns:daptm="http://www.w3.org/ns/ttml/profile/dapt#metadata"
    ttp:contentProfiles="http://www.w3.org/ns/ttml/profile/dapt1.0/content" daptm:scriptType="asRecorded"
    daptm:scriptRepresents="visual" daptm:represents="visual.nonText"><body><div xml:id="a" begin="25s" end="28s"><p>
    <animate begin="0.0s" end="0.3s" tta:gain="1;0.39" fill="freeze"/><animate begin="2.7s" end="3s" tta:gain="0.39;1"/>
    <span begin="0.3s" end="2.7s"><audio src="clip3.wav"/>The sails billow.</span></p></div></body></tt>"""
    (line,) = read_dapt(document.encode(), "x").cues
    assert (line.interval, line.text) == (Interval(25.3, 27.7), "The sails billow.")


@pytest.mark.parametrize(
    ("old", "new", "clause"),
    [
        ('tta:gain="1;', 'tta:gain="loud;', "#gain"),
        ('.000"/>', '.000" tta:pan="-1.5"/>', "#pan"),
        ('clipEnd="00:00:22.000"', 'clipEnd="00:00:10.000"', "#timing"),
        ('src="f.ad.wav"', 'src="#nowhere"', "#embedded-audio"),
        ('.000"/>Night', '.000"><source src="b.wav" type="audio/wave"/></audio>Night', "#audio"),
        ("<animate begin", "<animation/><animate begin", "#animation-out-of-line"),
    ],
)
def test_the_checker_judges_sounds_and_gains(old: str, new: str, clause: str) -> None:
    written = write_dapt(ONE, Recording("f.ad.wav", DUCK))
    assert old in written
    assert clause in [found.clause for found in check_dapt(written.replace(old, new, 1).encode())]


@pytest.mark.parametrize(
    ("more", "message"),
    [({"source": " "}, "address"), ({"source": "#a"}, "address"),
     ({"gains": points((2, 0), (1, -9))}, "ascend")],
)  # fmt: skip
def test_a_recording_checks_itself(more: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Recording(**{"source": "a.wav", **more})  # type: ignore[arg-type]
