"""Which lines the film waits for, where it stands still, and what is told of that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from shotad.core import ExtendedSettings, FilmInfo, FitSettings, Interval, Shot, VoiceError
from shotad.film import subtract
from shotad.script.subtitle_formats import read_vtt
from shotad.sound import Spoken, Take, Unspoken, pauses
from shotad.sound.fitting import fit
from shotad.sound.kinds import Fitting, LineToSpeak, Pause
from shotad.sound.pauses import (
    AROUND_CUT,
    NEWCOMER,
    SHORTEST,
    TimeMap,
    Worth,
    names_of,
    pauses_record,
    pauses_vtt,
    plan_pauses,
    worth,
)
from shotad.sound.placing import CLEAR

ON = ExtendedSettings(on=True)
FIT = FitSettings()
MARGIN = 0.25


@pytest.fixture(autouse=True, scope="module")
def _no_limits() -> Iterator[None]:
    """Lines are waited for however little they matter, and for as long as they take together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pauses, "SHARE", 1.0)
        patch.setattr(pauses, "LEAST", 0.0)
        yield


class Half:
    """A studio in which every word takes half a second."""

    voice = "fake:half"

    def __init__(self, mute: str = "") -> None:
        self._mute = mute

    def say(self, text: str, speed: float = 1.0) -> Take:
        if self._mute and self._mute in text:
            raise VoiceError(f"The voice fell silent at {text!r}.")
        return Take(np.zeros(500 * len(text.split()), np.float32), 1000, self.voice, text, speed)


def words(count: int) -> str:
    return " ".join(["word"] * count) + "."


def line(name: str, start: float, room: tuple[float, float], text: str = "") -> LineToSpeak:
    return LineToSpeak(name, text or words(8), start, Interval(*room), Interval(*room))


def lost(of: LineToSpeak, missing: float = 1.0) -> Unspoken:
    return Unspoken(of.id, of.text, "it does not fit", ("dropped",), missing)


def refused(found: Fitting) -> list[Unspoken]:
    """The lines that might have had a pause and got none."""
    return [line for line in found.unspoken if "; no pause: " in line.reason]


def said(of: LineToSpeak, start: float, seconds: float) -> Spoken:
    silence = np.zeros(round(seconds * 1000), np.float32)
    return Spoken(of.id, of.text, start, Take(silence, 1000, "fake", of.text))


def plan(
    lines: Sequence[LineToSpeak],
    spoken: Sequence[Spoken] = (),
    *,
    settings: ExtendedSettings = ON,
    cuts: Sequence[float] = (),
    speech: Sequence[Interval] | None = None,
    studio: Half | None = None,
    duration: float = 100.0,
) -> Fitting:
    there = {one.id for one in spoken}
    fitting = Fitting(tuple(spoken), tuple(lost(one) for one in lines if one.id not in there))
    edges = [0.0, *cuts, duration]
    shots = [Shot(i, Interval(a, b)) for i, (a, b) in enumerate(pairwise(edges))]
    return plan_pauses(lines, fitting, studio or Half(), shots, settings, FIT, duration, speech)


def test_a_pause_is_never_too_short_to_be_understood_as_one_nor_at_a_cut() -> None:
    found = plan([line("a", 10.0, (10.0, 13.9))])
    assert found.pauses[0].length == SHORTEST
    assert TimeMap(found.pauses).line(found.spoken[0]).interval == Interval(10.4, 14.4)
    found = plan([line("a", 10.0, (10.0, 12.0))], cuts=[11.95])
    assert found.pauses[0].at == pytest.approx(11.95 - AROUND_CUT)
    assert TimeMap(found.pauses).line(found.spoken[0]).interval == Interval(10.0, 14.0)


def test_all_pauses_together_keep_to_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "SHARE", 0.05)
    lines = [line(f"l{i}", 10.0 * i, (10.0 * i, 10.0 * i + 2)) for i in range(1, 6)]
    found = plan(lines, settings=ON)
    assert len(found.pauses) == 2
    assert sum(pause.length for pause in found.pauses) <= 5.0
    assert "more than the 5.0 s" in refused(found)[0].reason


def test_a_line_that_would_stop_the_film_too_long_loses_its_last_sentences() -> None:
    sentence = words(6).capitalize()
    text = f"{sentence} {sentence} {sentence}"
    four = ON.model_copy(update={"longest": 4.0})
    found = plan([line("a", 10.0, (10.0, 12.0), text)], settings=four)
    assert found.spoken[0].text == f"{sentence} {sentence}"
    assert "last sentences dropped for the pause" in found.spoken[0].steps
    none = plan([line("a", 10.0, (10.0, 12.0), words(30))], settings=four)
    assert none.pauses == ()
    assert "longer than 4 s" in refused(none)[0].reason


def test_a_line_that_is_heard_in_fewer_words_may_be_waited_for_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "LEAST", 0.3)
    one = line("a", 10.0, (10.0, 12.0), f"{words(4)} {words(6)}")
    short = replace(said(one, 10.0, 2.0), text=words(4))
    found = plan([one], [short], settings=ON)
    assert [spoken.text for spoken in found.spoken] == [one.text]
    assert found.pauses[0].length == pytest.approx(3.0)
    assert "60% of it not heard" in found.spoken[0].steps[-1]
    monkeypatch.setattr(pauses, "LEAST", 3.0)
    same = plan([one], [short], settings=ON)
    assert (same.spoken, same.pauses, refused(same)) == ((short,), (), [])


def test_lines_that_matter_little_and_lines_lost_for_other_reasons_get_none(monkeypatch):
    monkeypatch.setattr(pauses, "LEAST", 3.5)
    little = plan([line("a", 10.0, (10.0, 11.0))], settings=ON)
    assert "matters too little" in refused(little)[0].reason
    one = line("a", 10.0, (10.0, 11.0))
    other = Fitting((), (Unspoken("a", one.text, "The voice has no such sound."),))
    found = plan_pauses([one], other, Half(), [], ON, FIT, 100.0)
    assert (found.pauses, refused(found), found) == ((), [], other)


def test_a_persons_line_always_earns_its_pause_and_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "LEAST", 50.0)
    monkeypatch.setattr(pauses, "SHARE", 0.01)
    tight = ON.model_copy(update={"most": 1, "longest": 4.0})
    mine = [
        replace(line("a", 10.0, (10.0, 10.5), f"{words(20)} {words(20)}"), by_person=True),
        replace(line("b", 30.0, (30.0, 30.5), "He nods."), by_person=True),
    ]
    other = line("c", 50.0, (50.0, 52.0), 'A sign: "No way".')
    found = plan([other, *mine], settings=tight)
    assert [pause.cue_id for pause in found.pauses] == ["a", "b"]
    assert [one.text for one in found.spoken] == [one.text for one in mine]
    assert [one.id for one in refused(found)] == ["c"]


def test_a_voice_that_fails_costs_its_own_line_only_and_nobody_is_talked_over() -> None:
    lines = [line("a", 10.0, (10.0, 12.0), "Oh no no no no."), line("b", 30.0, (30.0, 32.0))]
    found = plan(lines, studio=Half(mute="Oh"))
    assert [pause.cue_id for pause in found.pauses] == ["b"]
    assert "fell silent" in refused(found)[0].reason
    for speech in (None, [Interval(5.0, 20.0)]):
        found = plan([line("a", 11.0, (11.0, 11.001))], speech=speech)
        assert found.pauses == ()
        assert "somebody speaks there" in refused(found)[0].reason


STUDIO = Half()


@st.composite
def films(draw: st.DrawFn) -> tuple[list[LineToSpeak], list[Interval], float]:
    """Speech with gaps between, and one to three lines in each gap, each with its room as fitting sees it."""
    clock, speech = 0.0, list[Interval]()
    for _ in range(draw(st.integers(1, 4))):
        start = clock + draw(st.integers(1, 90)) / 10
        clock = start + draw(st.integers(5, 60)) / 10
        speech.append(Interval(start, clock))
    duration = clock + 1.0
    taken = [Interval(one.start - MARGIN - CLEAR, one.end + MARGIN) for one in speech]
    lines = []
    for room in subtract(Interval(0.1, duration), taken):
        for i in range(draw(st.integers(1, 3))):
            start = room.start + i * room.duration / 3
            lines.append(LineToSpeak(f"l{len(lines)}", words(draw(st.integers(1, 17))), start, room, room))
    return lines, speech, duration


def _by_a_rounding() -> tuple[list[LineToSpeak], list[Interval], float]:
    """The second line is heard from its room's start, less a rounding; the first waits at that very moment."""
    first, second = Interval(8.55, 10.250000000000002), Interval(11.350000000000001, 12.850000000000001)
    lines = [
        LineToSpeak(f"l{number}", words(count), at, room, room)
        for number, (count, at, room) in enumerate(
            ((1, first.start, first), (1, second.start, second), (5, 11.850000000000001, second))
        )
    ]
    return lines, [Interval(7.7, 8.3), Interval(10.600000000000001, 11.100000000000001)], 15.3


@settings(max_examples=100)
@example(_by_a_rounding(), 100, 30.0, 1.0)
@given(films(), st.sampled_from([0, 1, 3, 100]), st.sampled_from([3.0, 30.0]), st.sampled_from([0.2, 1.0]))
def test_every_line_is_heard_whole_or_fitted_and_none_over_speech_or_another(film, most, longest, share):
    lines, speech, duration = film
    fitting = fit(lines, STUDIO, FIT)
    shots = [Shot(i, Interval(float(i), float(i + 1))) for i in range(int(duration))]
    limits = ON.model_copy(update={"most": most, "longest": longest})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pauses, "SHARE", share)
        found = plan_pauses(lines, fitting, STUDIO, shots, limits, FIT, duration, speech)
    assert len(found.pauses) <= most
    assert sum(pause.length for pause in found.pauses) <= share * duration
    times = TimeMap(found.pauses)
    copy = times.fitting(found).spoken
    for one, other in pairwise(copy):
        assert one.interval.end <= other.start + 1e-6
    for spoken in copy:
        assert spoken.start >= 0
        for heard in speech:
            there = times.interval(heard)
            assert min(spoken.interval.end, there.end) - max(spoken.start, there.start) <= 1e-6
    whole = {one.id: one.text for one in lines}
    for pause in found.pauses:
        assert pause.length <= longest
        waiting = next(one for one in found.spoken if one.id == pause.cue_id)
        assert whole[pause.cue_id].startswith(waiting.text)
        assert waiting.pause == pause.length
        assert not any(heard.start < pause.at < heard.end for heard in speech)
    assert {one.id for one in refused(found)} <= {one.id for one in found.unspoken}
    everything = [*found.spoken, *found.unspoken]
    assert sorted(one.id for one in everything) == sorted(whole)


def test_pauses_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="must ascend"):
        TimeMap((Pause(20.0, 1.0, "a"), Pause(10.0, 1.0, "b")))
    with pytest.raises(ValueError, match="lasts"):
        Pause(1.0, 0.0, "a")


def of(text: str, **given: object) -> Worth:
    values = {"start": 10.0, "last": 10.0, "names": (), "told": (), "shots": ()} | given
    return worth(text, **values)  # type: ignore[arg-type]


def test_a_name_counts_the_first_time_only() -> None:
    names = names_of(["Proog pulls Emo away.", "Then Emo falls. He stares at Proog."], "en")
    assert names == {"Proog", "Emo"}
    assert names_of(["Then he runs. Snow falls: Dark clouds.", 'He says, "Go".'], "en") == frozenset()
    first = of("Emo runs.", names=names)
    again = of("Emo runs.", names=names, told=["Proog pulls Emo's arm."])
    assert first.points - again.points == pytest.approx(NEWCOMER)
    assert "introduces Emo" in first.reasons


def test_the_metadata_track_stands_on_the_films_own_time() -> None:
    info = FilmInfo("film.mp4", None, "ab" * 16, 60.0, 320, 240, Fraction(25), None, "h264", Fraction(0))
    starts = (("s00010000", 9.0), ("s00015000", 15.0), ("h00020000", 20.5))
    spoken = [said(line(name, at, (at, 60.0)), at, 3.0) for name, at in starts]
    pauses = (Pause(10.0, 2.0, "s00010000"), Pause(20.0, 3.6, "h00020000"))
    text = pauses_vtt(pauses_record(info, Fitting(tuple(spoken), pauses=pauses), "de", "fake"))
    cues = read_vtt(text, "pauses.vtt").cues
    assert [(cue.id, cue.interval.start) for cue in cues] == [("s00010000", 10.0), ("h00020000", 20.0)]
    assert json.loads(cues[0].text) == {"pause": 2.0, "line": "s00010000", "starts": 9.0}
    assert json.loads(cues[1].text) == {"pause": 3.6, "line": "h00020000", "starts": 20.5}
