"""Extended AD after the ladder: what could not be made to fit is waited for, and nobody is talked over."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given, settings, strategies as st

from shotad.core import ExtendedSettings, FitSettings, Interval, Shot
from shotad.film import subtract
from shotad.sound import Take, pauses
from shotad.sound.fake_voice import FakeVoice
from shotad.sound.fitting import fit
from shotad.sound.kinds import Line
from shotad.sound.pauses import plan_pauses
from shotad.sound.placing import CLEAR
from shotad.sound.time_map import TimeMap

FIT = FitSettings()
ON = ExtendedSettings(on=True, longest=30.0)
MARGIN = 0.25


@pytest.fixture(autouse=True, scope="module")
def _no_limits() -> Iterator[None]:
    """Lines are waited for however little they matter, and for as long as they take together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pauses, "SHARE", 1.0)
        patch.setattr(pauses, "LEAST", 0.0)
        yield


class Studio:
    """The fake voice, each text once."""

    voice = "fake"

    def __init__(self) -> None:
        self._voice, self._said = FakeVoice(rate=8000), dict[tuple[str, float], Take]()

    def say(self, text: str, speed: float = 1.0) -> Take:
        if (text, speed) not in self._said:
            self._said[text, speed] = self._voice.speak(text, speed)
        return self._said[text, speed]


STUDIO = Studio()
TEXT = "the old woman opens a wooden door and looks into the dark room where a small boy sleeps"
WORDS = TEXT.split()


@st.composite
def films(draw: st.DrawFn) -> tuple[list[Line], list[Interval], float]:
    """Speech with gaps between, and one to three lines in each gap, each with its room as fitting sees it."""
    clock, speech, gaps = 0.0, list[Interval](), list[Interval]()
    for _ in range(draw(st.integers(1, 4))):
        gaps.append(Interval(clock, clock + draw(st.integers(1, 90)) / 10))
        speech.append(Interval(gaps[-1].end, gaps[-1].end + draw(st.integers(5, 60)) / 10))
        clock = speech[-1].end
    duration = clock + 1.0
    taken = [Interval(one.start - MARGIN - CLEAR, one.end + MARGIN) for one in speech]
    lines = []
    for room in subtract(Interval(0.1, duration), taken):
        for i in range(draw(st.integers(1, 3))):
            start = room.start + i * room.duration / 3
            text = " ".join(WORDS[: draw(st.integers(1, len(WORDS)))]) + "."
            lines.append(Line(f"l{len(lines)}", text, start, room, room))
    return lines, speech, duration


def _by_a_rounding() -> tuple[list[Line], list[Interval], float]:
    """The second line is heard from its room's start, less a rounding; the first waits at that very moment."""
    texts = [("l0", "the.", 8.55, 8.55, 10.250000000000002)]
    texts += [("l1", "the.", 11.350000000000001, 11.350000000000001, 12.850000000000001)]
    texts += [("l2", "the old woman opens a.", 11.850000000000001, 11.350000000000001, 12.850000000000001)]
    rooms = [(name, text, at, Interval(start, end)) for name, text, at, start, end in texts]
    lines = [Line(name, text, at, room, room) for name, text, at, room in rooms]
    return lines, [Interval(7.7, 8.3), Interval(10.600000000000001, 11.100000000000001)], 15.3


@settings(max_examples=50)
@example(_by_a_rounding())
@given(films())
def test_every_line_is_heard_whole_or_fitted_and_none_over_speech_or_another(
    film: tuple[list[Line], list[Interval], float],
) -> None:
    lines, speech, duration = film
    fitting = fit(lines, STUDIO, FIT)
    shots = [Shot(i, Interval(float(i), float(i + 1))) for i in range(int(duration))]
    many = ON.model_copy(update={"most": 100})
    found = plan_pauses(lines, fitting, STUDIO, shots, many, FIT, duration, speech)
    times = TimeMap(found.pauses)
    copy = times.fitting(found.fitting).spoken
    for one, other in pairwise(copy):
        assert one.interval.end <= other.start + 1e-6
    for line in copy:
        assert line.start >= 0
        for said in speech:
            there = times.interval(said)
            assert min(line.interval.end, there.end) - max(line.start, there.start) <= 1e-6
    whole = {line.id: line.text for line in lines}
    for pause in found.pauses:
        spoken = next(line for line in found.fitting.spoken if line.id == pause.cue_id)
        assert spoken.text == whole[pause.cue_id]
        assert (spoken.pause, spoken.pause_at) == (pause.length, pause.at)
        assert not any(said.start < pause.at < said.end for said in speech)
    assert {line.id for line in found.refused} <= {line.id for line in found.fitting.unspoken}
    assert {line.id for line in found.fitting.spoken} | {line.id for line in found.fitting.unspoken} == set(
        whole
    )


def test_a_line_that_only_lacks_a_little_is_waited_for_and_the_reason_is_told() -> None:
    room = Interval(10.0, 12.0)
    line = Line("s00010000", " ".join(WORDS) + ".", 10.0, room, room)
    lost = fit([line], STUDIO, FIT)
    assert [one.id for one in lost.unspoken] == ["s00010000"]
    found = plan_pauses([line], lost, STUDIO, [], ON, FIT, 60.0)
    (spoken,) = found.fitting.spoken
    assert found.pauses[0].length == pytest.approx(spoken.take.seconds - 2.0, abs=0.001)
    none = plan_pauses([line], lost, STUDIO, [], ON.model_copy(update={"longest": 1.0}), FIT, 60.0)
    assert none.refused[0].reason.endswith(
        "are free between speech and other lines; no pause: it would be longer than 1 s"
    )
