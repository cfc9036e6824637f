"""Which lines the film waits for, and where it stands still."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from shotad.core import ExtendedSettings, FitSettings, Interval, Shot, VoiceError
from shotad.sound import Spoken, Take, Unspoken, pauses
from shotad.sound.kinds import Fitting, Line
from shotad.sound.pauses import AROUND_CUT, SHORTEST, Extension, plan_pauses
from shotad.sound.placing import BETWEEN
from shotad.sound.time_map import TimeMap

ON = ExtendedSettings(on=True)
FIT = FitSettings()


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


def line(name: str, start: float, room: tuple[float, float], text: str = "") -> Line:
    return Line(name, text or words(8), start, Interval(*room), Interval(*room))


def lost(of: Line, missing: float = 1.0) -> Unspoken:
    return Unspoken(of.id, of.text, "it does not fit", ("dropped",), missing)


def said(of: Line, start: float, seconds: float) -> Spoken:
    return Spoken(
        of.id, of.text, start, Take(np.zeros(round(seconds * 1000), np.float32), 1000, "fake", of.text)
    )


def plan(
    lines: Sequence[Line],
    spoken: Sequence[Spoken] = (),
    *,
    settings: ExtendedSettings = ON,
    cuts: Sequence[float] = (),
    speech: Sequence[Interval] | None = None,
    studio: Half | None = None,
    duration: float = 100.0,
) -> Extension:
    there = {one.id for one in spoken}
    fitting = Fitting(tuple(spoken), tuple(lost(one) for one in lines if one.id not in there))
    edges = [0.0, *cuts, duration]
    shots = [Shot(i, Interval(a, b)) for i, (a, b) in enumerate(pairwise(edges))]
    return plan_pauses(lines, fitting, studio or Half(), shots, settings, FIT, duration, speech)


def test_the_line_begins_in_its_gap_and_the_film_stops_at_the_end_of_the_gap_for_what_is_missing() -> None:
    found = plan([line("a", 10.0, (10.0, 12.5))])
    (pause,), (spoken,) = found.pauses, found.fitting.spoken
    assert (pause.at, pause.length, pause.cue_id) == (12.5, 1.5, "a")
    assert (spoken.start, spoken.pause, spoken.pause_at) == (10.0, 1.5, 12.5)
    assert TimeMap(found.pauses).line(spoken).interval == Interval(10.0, 14.0)
    assert found.refused == found.fitting.unspoken == ()
    assert "film paused 1.50 s" in spoken.steps[-1]


def test_off_or_with_no_pause_allowed_nothing_changes() -> None:
    for settings in (ExtendedSettings(), ExtendedSettings(on=True, most=0)):
        found = plan([line("a", 10.0, (10.0, 12.5))], settings=settings)
        assert (found.pauses, found.refused, len(found.fitting.unspoken)) == ((), (), 1)


def test_a_pause_is_never_too_short_to_be_understood_as_one() -> None:
    found = plan([line("a", 10.0, (10.0, 13.9))])
    assert found.pauses[0].length == SHORTEST
    spoken = TimeMap(found.pauses).line(found.fitting.spoken[0])
    assert spoken.interval == Interval(10.4, 14.4)


def test_neighbours_in_the_gap_keep_their_places_and_a_breath() -> None:
    before, after = line("a", 10.0, (10.0, 20.0)), line("c", 15.0, (10.0, 20.0))
    wanted = line("b", 12.0, (10.0, 20.0))
    found = plan([before, wanted, after], [said(before, 10.0, 3.0), said(after, 15.0, 4.0)])
    assert found.pauses[0].at == pytest.approx(15.0 - BETWEEN)
    copy = TimeMap(found.pauses).fitting(found.fitting).spoken
    assert [one.id for one in copy] == ["a", "b", "c"]
    for one, other in pairwise(copy):
        assert other.start - one.interval.end >= BETWEEN - 1e-6


def test_two_lines_without_room_in_one_gap_both_get_their_pause() -> None:
    found = plan([line("a", 10.0, (10.0, 12.0)), line("b", 11.0, (10.0, 12.0))])
    assert [pause.cue_id for pause in found.pauses] == ["a", "b"]
    first, second = TimeMap(found.pauses).fitting(found.fitting).spoken
    assert second.start - first.interval.end == pytest.approx(BETWEEN)
    assert second.interval.end == pytest.approx(TimeMap(found.pauses).late(12.0))


def test_the_film_does_not_stop_at_a_cut() -> None:
    found = plan([line("a", 10.0, (10.0, 12.0))], cuts=[11.95])
    assert found.pauses[0].at == pytest.approx(11.95 - AROUND_CUT)
    spoken = TimeMap(found.pauses).line(found.fitting.spoken[0])
    assert spoken.interval == Interval(10.0, 14.0)


def test_what_matters_most_comes_first_where_only_some_may() -> None:
    plain, told = line("a", 10.0, (10.0, 12.0)), line("b", 30.0, (30.0, 32.0), 'A sign: "No way".')
    found = plan([plain, told], settings=ON.model_copy(update={"most": 1}))
    assert [pause.cue_id for pause in found.pauses] == ["b"]
    assert [one.id for one in found.refused] == ["a"]
    assert "it does not fit; no pause: the film has 1 already" in found.refused[0].reason
    assert found.fitting.unspoken == found.refused


def test_all_pauses_together_keep_to_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "SHARE", 0.05)
    lines = [line(f"l{i}", 10.0 * i, (10.0 * i, 10.0 * i + 2)) for i in range(1, 6)]
    found = plan(lines, settings=ON)
    assert len(found.pauses) == 2
    assert sum(pause.length for pause in found.pauses) <= 5.0
    assert "more than the 5.0 s" in found.refused[0].reason


def test_a_line_that_would_stop_the_film_too_long_loses_its_last_sentences() -> None:
    sentence = words(6).capitalize()
    text = f"{sentence} {sentence} {sentence}"
    found = plan([line("a", 10.0, (10.0, 12.0), text)], settings=ON.model_copy(update={"longest": 4.0}))
    assert found.fitting.spoken[0].text == f"{sentence} {sentence}"
    assert "last sentences dropped for the pause" in found.fitting.spoken[0].steps
    none = plan([line("a", 10.0, (10.0, 12.0), words(30))], settings=ON.model_copy(update={"longest": 4.0}))
    assert none.pauses == ()
    assert "longer than 4 s" in none.refused[0].reason


def test_a_line_that_is_heard_in_fewer_words_may_be_waited_for_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pauses, "LEAST", 0.3)
    one = line("a", 10.0, (10.0, 12.0), f"{words(4)} {words(6)}")
    short = replace(said(one, 10.0, 2.0), text=words(4))
    found = plan([one], [short], settings=ON)
    assert [spoken.text for spoken in found.fitting.spoken] == [one.text]
    assert found.pauses[0].length == pytest.approx(3.0)
    assert "60% of it not heard" in found.fitting.spoken[0].steps[-1]
    monkeypatch.setattr(pauses, "LEAST", 3.0)
    same = plan([one], [short], settings=ON)
    assert (same.fitting.spoken, same.pauses, same.refused) == ((short,), (), ())


def test_lines_that_matter_little_and_lines_lost_for_other_reasons_get_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pauses, "LEAST", 3.5)
    little = plan([line("a", 10.0, (10.0, 11.0))], settings=ON)
    assert "matters too little" in little.refused[0].reason
    one = line("a", 10.0, (10.0, 11.0))
    other = Fitting((), (Unspoken("a", one.text, "The voice has no such sound."),))
    found = plan_pauses([one], other, Half(), [], ON, FIT, 100.0)
    assert (found.pauses, found.refused, found.fitting) == ((), (), other)


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
    assert [one.text for one in found.fitting.spoken] == [one.text for one in mine]
    assert [one.id for one in found.refused] == ["c"]


def test_a_persons_line_comes_before_the_machines_and_its_long_pause_costs_them_none() -> None:
    mine = replace(line("a", 10.0, (10.0, 10.5), words(30)), by_person=True)
    other = line("b", 30.0, (30.0, 32.0), 'A sign: "No way".')
    limits = ON.model_copy(update={"longest": 6.0})
    found = plan([other, mine], settings=limits)
    assert [pause.cue_id for pause in found.pauses] == ["a", "b"]
    first = plan([other, mine], settings=limits.model_copy(update={"most": 1}))
    assert [pause.cue_id for pause in first.pauses] == ["a"]


def test_a_voice_that_fails_costs_its_own_line_only() -> None:
    lines = [line("a", 10.0, (10.0, 12.0), "Oh no no no no."), line("b", 30.0, (30.0, 32.0))]
    found = plan(lines, studio=Half(mute="Oh"))
    assert [pause.cue_id for pause in found.pauses] == ["b"]
    assert "fell silent" in found.refused[0].reason


def test_a_line_within_a_conversation_is_said_between_two_utterances() -> None:
    speech = [Interval(5.0, 10.0), Interval(10.4, 20.0)]
    one = line("a", 11.0, (11.0, 11.001))
    (pause,) = (found := plan([one], speech=speech)).pauses
    assert 10.0 <= pause.at <= 10.4
    times = TimeMap(found.pauses)
    spoken = times.line(found.fitting.spoken[0])
    assert spoken.start >= times.late(10.0) + BETWEEN - 1e-6
    assert spoken.interval.end <= times.late(10.4) - BETWEEN + 1e-6


def test_without_such_a_stop_it_gets_none() -> None:
    one = line("a", 11.0, (11.0, 11.001))
    for speech in (None, [Interval(5.0, 20.0)]):
        found = plan([one], speech=speech)
        assert found.pauses == ()
        assert "somebody speaks there" in found.refused[0].reason


@st.composite
def tracks(draw: st.DrawFn) -> tuple[list[Line], list[Spoken], list[float]]:
    lines: list[Line] = []
    spoken: list[Spoken] = []
    clock = 1.0
    for gap in range(draw(st.integers(1, 4))):
        room = (round(clock, 3), round(clock + draw(st.integers(200, 9000)) / 1000, 3))
        at = room[0]
        for number in range(draw(st.integers(1, 3))):
            one = line(f"g{gap}n{number}", at, room, words(draw(st.integers(1, 25))))
            length = draw(st.integers(200, 4000)) / 1000
            if at + length <= room[1] and draw(st.booleans()):
                spoken.append(said(one, at, length))
                at = round(at + length + BETWEEN, 3)
            lines.append(one)
            if at >= room[1]:
                break
        clock = room[1] + draw(st.integers(100, 3000)) / 1000
    cuts = sorted(draw(st.lists(st.integers(1, 40_000), max_size=10, unique=True)))
    return lines, spoken, [cut / 1000 for cut in cuts]


@given(tracks(), st.integers(0, 5), st.sampled_from([3.0, 20.0]))
def test_whatever_is_asked_lines_do_not_meet_and_no_pause_is_in_speech(
    track: tuple[list[Line], list[Spoken], list[float]], most: int, longest: float
) -> None:
    lines, spoken, cuts = track
    settings = ON.model_copy(update={"most": most, "longest": longest})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pauses, "SHARE", 0.5)
        found = plan(lines, spoken, settings=settings, cuts=cuts)
    rooms = {one.id: one.room for one in lines}
    assert len(found.pauses) <= most
    assert sum(pause.length for pause in found.pauses) <= 50.0
    for pause in found.pauses:
        assert pause.length <= longest
        assert rooms[pause.cue_id].start <= pause.at <= rooms[pause.cue_id].end
    times = TimeMap(found.pauses)
    copy = times.fitting(found.fitting).spoken
    assert [one.id for one in copy] == [one.id for one in lines if one.id in {each.id for each in copy}]
    for one, other in pairwise(copy):
        assert one.interval.end <= other.start + 1e-6
    for one in copy:
        room = rooms[one.id]
        assert times.early(room.start) - 1e-6 <= one.start
        assert one.interval.end <= times.late(room.end) + 1e-6
    everything = {one.id for one in found.fitting.spoken} | {one.id for one in found.fitting.unspoken}
    assert everything == {one.id for one in lines}
