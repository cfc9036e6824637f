"""The DAPT check: W3C's validation documents, each rule on its own, hostile input; and DAPT as recorded, with sounds and
ducking."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from lxml import etree

from shotad.core import Interval
from shotad.core.errors import ScriptError
from shotad.core.types import GainPoint
from shotad.script import (
    FORMATS,
    Cue,
    Maker,
    Track,
    check_script,
)
from shotad.script.cue import (
    Script,
    SpokenTake,
    clean_text,
    line_stamp,
    milliseconds,
)
from shotad.script.dapt import level_at, write_dapt
from shotad.script.edits import import_script
from shotad.script.track import FilmId
from shotad.sound.levels import envelope
from tests.script_text import dapt_violations, write_script

VALIDATION = Path(__file__).parents[3] / "shared" / "data" / "dapt" / "validation"

ROOT = """<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttm="http://www.w3.org/ns/ttml#metadata"
 xmlns:ttp="http://www.w3.org/ns/ttml#parameter"
 xmlns:daptm="http://www.w3.org/ns/ttml/profile/dapt#metadata" xmlns:my="urn:my"
 ttp:contentProfiles="http://www.w3.org/ns/ttml/profile/dapt1.0/content"
 daptm:scriptRepresents="visual" daptm:scriptType="preRecording" xml:lang="en" daptm:represents="visual"
 %s>%s</tt>"""


def document(inner: str = "", attributes: str = "") -> bytes:
    return (ROOT % (attributes, inner)).encode()


NAME = '<ttm:name type="full">A</ttm:name>'
ORIGIN = "<metadata><daptm:daptOriginTimecode>%s</daptm:daptOriginTimecode></metadata>"
FRENCH = '<head><resources><data xml:id="d" xml:lang="fr">AA</data></resources></head>'


def agents(inner: str) -> str:
    """A head with two agents, a and b; what the first of them has."""
    first = f'<ttm:agent xml:id="a" type="person">{inner}</ttm:agent>'
    return f'<head><metadata>{first}<ttm:agent xml:id="b" type="person">{NAME}</ttm:agent></metadata></head>'


def clauses(content: bytes) -> list[str]:
    return [violation.clause for violation in dapt_violations(content)]


def read_dapt(content: str | bytes) -> Script:
    return FORMATS["dapt"].read(content.encode() if isinstance(content, str) else content, "x")


def suite() -> list[tuple[str, str, str]]:
    if not VALIDATION.is_dir():
        return []
    index = json.loads((VALIDATION / "tests.json").read_text(encoding="utf-8"))
    return [
        (clause, verdict, entry["test"])
        for clause, cases in index.items()
        for verdict in ("valid", "invalid")
        for entry in cases[verdict]
    ]


@pytest.mark.parametrize(("clause", "verdict", "name"), suite())
def test_w3c_validation_documents(clause: str, verdict: str, name: str) -> None:
    data = (VALIDATION / verdict / f"{name}.xml").read_bytes()
    assert set(clauses(data)) == (set() if verdict == "valid" else {clause})
    if verdict == "invalid":
        with pytest.raises(ScriptError) as caught:
            read_dapt(data)
        assert caught.value.clause == clause


@pytest.mark.parametrize(("inner", "attributes", "clause"), [
    # Valid ones.
    ("", "", ""),
    ('<body><my:x my:y="1">free</my:x><div my:z="2"/></body>', 'my:a="b"', ""),
    ('<body timeContainer="par"/>', "", ""),
    ('<body><div xml:id="a" begin="0.5h" end="31m"/></body>', "", ""),
    ('<body><div begin="00:00:01.5" dur="10f"/></body>', 'ttp:frameRate="25"', ""),
    ('<body><div begin="9t"/></body>', 'ttp:tickRate="10"', ""),
    (f"<head>{ORIGIN % '100:00:00:59'}</head>", 'ttp:frameRate="60" ttp:frameRateMultiplier="1000 1001"', ""),
    ('<body><div daptm:represents="visual.text.x-sign"/></body>', "", ""),
    (agents(f'{NAME}<ttm:actor agent="b"/>') + '<body><div ttm:agent="a b"/></body>', "", ""),
    ('<body><div xml:id="a"><p><span>a<br/>b</span></p></div></body>', "", ""),
    # Each broken rule names its clause.
    ("", 'ttp:timeBase="smpte"', "#timeBase-smpte"),
    ("", 'ttp:frameRateMultiplier="1000"', "#frameRateMultiplier"),
    ("<head><animation/></head>", "", "#animation-out-of-line"),
    ('<body timeContainer="seq"/>', "", "#timeContainer"),
    ("<body><p/></body>", "", "#structure"),
    ("<body><div>loose</div></body>", "", "#structure"),
    ("<body/><body/>", "", "#structure"),
    ('<body><div xml:id="a"/><div xml:id="a"/></body>', "", "#structure"),
    ('<body><div begin="00:00:01:10"/></body>', "", "#time-clock-with-frames"),
    ('<body><div begin="wallclock(1)"/></body>', "", "#time-wall-clock"),
    ('<body><div begin="00:61:00"/></body>', "", "#timing"),
    ('<body><div begin="2s" end="1s"/></body>', "", "#timing"),
    ('<body><div begin="2f"/></body>', "", "#time-offset-with-frames"),
    ('<body><div><p xml:lang="e"/></div></body>', "", "#xmlLang"),
    ('<body><div daptm:langSrc=""/></body>', "", "#textLanguageSource"),
    ('<body><div daptm:descType="scene"/></body>', "", "#descType"),
    ('<body><div><p daptm:represents="audio"/></div></body>', "", "#represents"),
    ('<body><div><p><audio src="#x"/></p></div></body>', "", "#embedded-audio"),
    ("<body/><head/>", "", "#structure"),
    ('<body><div ttm:agent="b"/></body>', "", "#agent"),
    (agents('<ttm:name type="nick">A</ttm:name>'), "", "#agent"),
    (agents(NAME + 2 * '<ttm:actor agent="b"/>'), "", "#agent"),
    (agents(NAME).replace("person", "robot", 1), "", "#agent"),
    (f"<body>{ORIGIN % '10:00:00:00'}</body>", 'ttp:frameRate="25"', "#daptOriginTimecode"),
    (FRENCH + '<body><div><p><audio src="#d"/></p></div></body>', "", "#xmlLang-audio-nonMatching"),
])  # fmt: skip
def test_documents_are_valid_or_break_one_rule(inner: str, attributes: str, clause: str) -> None:
    assert clauses(document(inner, attributes)) == ([clause] if clause else [])


def test_a_script_is_checked_by_what_it_holds_and_an_event_without_an_end_is_no_line(tmp_path: Path) -> None:
    path = tmp_path / "movie.xml"
    path.write_bytes(document("<body/><head/>"))
    assert [str(violation) for violation in check_script(path)] == [
        "line 7: head stands after body [#structure]"
    ]
    event = '<body><div xml:id="s00001000" begin="1s"><p>A cat.</p></div></body>'
    with pytest.raises(ScriptError, match="event 's00001000' has no end"):
        read_dapt(document(event))


@pytest.mark.parametrize("data", [
    b"",
    b"\x00\xff",
    "<tt/>".encode("utf-16"),
    b'<?xml version="1.1"?><tt xmlns="http://www.w3.org/ns/ttml"/>',
    document("&nbsp;"),
    document("<my2:x/>"),
    document('<body a="1" a="2"/>'),
])  # fmt: skip
def test_what_is_not_xml_1_0_in_utf8_is_refused(data: bytes) -> None:
    with pytest.raises(ScriptError) as caught:
        read_dapt(data)
    assert caught.value.clause == "#serialization"


def test_entity_bombs_and_files_are_not_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    laughs = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    bomb = f'<!DOCTYPE tt [<!ENTITY e0 "ha">{laughs}]><tt xmlns="http://www.w3.org/ns/ttml">&e11;</tt>'
    outside = f'<!DOCTYPE tt [<!ENTITY x SYSTEM "{secret.as_uri()}">]><tt xmlns="http://www.w3.org/ns/ttml">&x;</tt>'
    started = time.process_time()
    for data in (bomb, outside):
        (violation,) = dapt_violations(data)
        assert violation.clause == "#serialization"
        assert "secret" not in violation.message
    assert time.process_time() - started < 5


TT = "{http://www.w3.org/ns/ttml}"
GAIN = "{http://www.w3.org/ns/ttml#audio}gain"


def cue(start: float, end: float, text: str, said: str = "", at: tuple[float, float] | None = None) -> Cue:
    interval = Interval(start, end)
    voiced = SpokenTake(
        "hibari:heart", said or text, Interval(*(at or (start, end))), line_stamp(interval, text)
    )
    return replace(Cue(f"s{milliseconds(start):08d}", None, interval, text), stored_take=voiced)


def make_track(*cues: Cue) -> Track:
    return Track(FilmId("f.mp4", "x", 60.0), "en", (Maker("stage2", "fake"),), "0.1.0", ()).with_cues(cues)


def points(*pairs: tuple[float, float]) -> tuple[GainPoint, ...]:
    return tuple(GainPoint(*pair) for pair in pairs)


ONE = make_track(cue(20, 22, "Night."))
DUCK = points((19.7, 0), (20, -9), (22, -9), (22.4, 0))


def events(text: str) -> list[etree._Element]:
    assert dapt_violations(text) == []
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
    written = write_dapt(ONE, "f.ad.wav", DUCK)
    assert 'daptm:scriptType="asRecorded"' in written
    (div,) = events(written)
    assert (div.get("begin"), div.get("end"), div.get(GAIN)) == ("00:00:19.700", "00:00:22.400", None)
    moves = div.findall(f"{TT}animate")
    assert [(one.get("begin"), one.get("end"), one.get("fill")) for one in moves] == [
        ("00:00:00.000", "00:00:00.300", "freeze"), ("00:00:02.300", "00:00:02.700", None),
    ]  # fmt: skip
    assert moves[0].get(GAIN) == "1;0.7718;0.5957;0.4597;0.3548"
    (span,) = div.iter(f"{TT}span")
    assert (span.get("begin"), span.get("end")) == ("00:00:00.300", "00:00:02.300")
    (audio,) = span
    assert dict(audio.attrib) == {
        "src": "f.ad.wav", "type": "audio/wave", "clipBegin": "00:00:20.000", "clipEnd": "00:00:22.000",
    }  # fmt: skip
    assert audio.tail == "Night."


def test_the_script_has_the_lines_and_the_recording_what_was_said() -> None:
    track = make_track(cue(5, 8, "A dog runs, quickly.", "A dog runs.", (5.2, 6.4)), cue(9, 10, "B."))
    silent = replace(track, cues=(track.cues[0], replace(track.cues[1], stored_take=None)))
    recorded = write_dapt(silent, "a.wav")
    assert [(c.interval, c.text) for c in read_dapt(recorded).cues] == [(Interval(5.2, 6.4), "A dog runs.")]
    assert "A dog runs, quickly." in write_script(silent, "dapt")
    assert 'daptm:scriptType="preRecording"' in write_script(silent, "dapt")
    # It brings back only what a person changed in it.
    done = import_script(silent, read_dapt(recorded), "x")
    assert (done.changed, done.added, done.removed, done.track) == ((), (), (), silent)
    edited = recorded.replace("A dog runs.", "A hound runs.")
    assert import_script(silent, read_dapt(edited), "x").track.cues[0].text == "A hound runs."


@st.composite
def recordings(draw: st.DrawFn) -> tuple[Track, tuple[GainPoint, ...]]:
    """Lines with the ducking that a mix makes."""
    words = st.text(min_size=1, max_size=8).map(clean_text).filter(bool)
    row = st.tuples(st.integers(0, 6000), st.integers(50, 3000), words, st.sampled_from([3.0, 9.0, 24.0]))
    at, cues, depths = 2.0, [], []
    for gap, length, text, depth in draw(st.lists(row, min_size=1, max_size=5)):
        start = at + gap / 1000
        at = start + length / 1000
        cues.append(cue(start, at, text))
        depths.append(depth)
    return make_track(*cues), envelope([one.interval for one in cues], [], depths)


@settings(max_examples=50, deadline=None)
@given(recordings())
def test_a_player_hears_the_mix_and_the_words_come_back(made: tuple[Track, tuple[GainPoint, ...]]) -> None:
    track, gains = made
    written = write_dapt(track, "a.wav", gains)
    divs = events(written)
    back = read_dapt(written).cues
    assert [(c.id, milliseconds(c.interval.start), milliseconds(c.interval.end), c.text) for c in back] == [
        (c.id, milliseconds(c.interval.start), milliseconds(c.interval.end), c.text) for c in track.heard
    ]
    for step in range(1200):
        second = step / 20 + 0.0051
        slope = abs(level_at(gains, second + 0.001) - level_at(gains, second - 0.001))
        assert abs(heard_level(divs, second) - level_at(gains, second)) < 0.12 + 2 * slope, second


@pytest.mark.parametrize(("old", "new", "clause"), [
    ('tta:gain="1;', 'tta:gain="loud;', "#gain"),
    ('.000"/>', '.000" tta:pan="-1.5"/>', "#pan"),
    ('clipEnd="00:00:22.000"', 'clipEnd="00:00:10.000"', "#timing"),
    ('src="f.ad.wav"', 'src="#nowhere"', "#embedded-audio"),
    ('.000"/>Night', '.000"><source src="b.wav" type="audio/wave"/></audio>Night', "#audio"),
    ("<animate begin", "<animation/><animate begin", "#animation-out-of-line"),
])  # fmt: skip
def test_the_checker_judges_sounds_and_gains(old: str, new: str, clause: str) -> None:
    written = write_dapt(ONE, "f.ad.wav", DUCK)
    assert old in written
    assert clause in clauses(written.replace(old, new, 1).encode())


@pytest.mark.parametrize(
    ("more", "message"),
    [({"recording": " "}, "address"), ({"recording": "#a"}, "address"),
     ({"gains": points((2, 0), (1, -9))}, "ascend")],
)  # fmt: skip
def test_a_recording_checks_itself(more: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_dapt(ONE, **{"recording": "a.wav", **more})  # type: ignore[arg-type]
