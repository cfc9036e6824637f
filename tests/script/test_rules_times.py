"""Rules on times, T1 to T6."""

from __future__ import annotations

import math

import pytest

from shotad.core import Interval
from shotad.script import BENCHMARK, Finding, Level, Limits, check_line, gaps, stretches
from shotad.script.cue import ScriptCue
from shotad.script.rules import check_times


def test_t1_over_speech() -> None:
    speech = [Interval(1, 2), Interval(5, 6)]
    assert check_line("A dog.", interval=Interval(2, 5), speech=speech) == ()
    (found,) = check_line("A dog.", interval=Interval(4, 5.5), speech=speech)
    assert (found.rule, found.level) == ("T1", Level.ERROR)
    assert "[5.000, 6.000)" in found.message


@pytest.mark.parametrize(
    ("length", "level"), [(1.9, Level.ERROR), (2.0, Level.WARNING), (3.9, Level.WARNING)]
)
def test_t2_short_gaps(length: float, level: Level) -> None:
    (found,) = check_line("A dog.", gap=Interval(10, 10 + length))
    assert (found.rule, found.level) == ("T2", level)
    assert check_line("A dog.", gap=Interval(10, 10 + length), limits=BENCHMARK) == ()
    assert check_line("A dog.", gap=Interval(10, 14)) == ()


@pytest.mark.parametrize(("words", "level"), [(9, None), (10, Level.WARNING), (11, Level.ERROR)])
def test_t3_rate_on_the_spoken_length(words: int, level: Level | None) -> None:
    found = check_line("word " * words, interval=Interval(10, 13))
    assert [(f.rule, f.level) for f in found] == ([] if level is None else [("T3", level)])
    assert check_line("word " * words, interval=Interval(10, 13), limits=BENCHMARK) == ()


def test_t3_counts_exactly_180_as_good() -> None:
    assert check_line("a b c", interval=Interval(0.1, 1.1)) == ()


def test_t4_measured_voice() -> None:
    slot = Interval(10, 13)
    assert check_line("A dog.", slot=slot, measured=3.0) == ()
    (found,) = check_line("A dog.", slot=slot, measured=3.01)
    assert (found.rule, found.level) == ("T4", Level.ERROR)


def where(found: tuple[Finding, ...]) -> list[tuple[str, str | None]]:
    return [(finding.rule, finding.cue_id) for finding in found]


def test_t5_stretches_without_speech_or_ad() -> None:
    free = gaps([Interval(60, 110)], 200.0)
    lines = [Interval(40, 41), Interval(150, 152)]
    assert [f.message for f in stretches(lines, free, Limits())] == [
        "[152.000, 200.000): 48 s without speech or AD"
    ]
    found = list(stretches([], free, Limits()))
    assert [f.message.split(":")[0] for f in found] == ["[0.000, 60.000)", "[110.000, 200.000)"]
    assert {f.level for f in found} == {Level.WARNING}
    assert list(stretches([], free, Limits(stretch=math.inf))) == []


def test_t6_zero_order_and_overlap() -> None:
    lines = [(0.0, 2.0), (5.0, 7.0), (6.0, 8.0), (3.0, 4.0)]
    cues = [ScriptCue(None, Interval(*line), "A.") for line in lines]
    assert where(check_times(cues)) == [("T6", "cue 1"), ("T6", "cue 3"), ("T6", "cue 4")]
    assert where(check_times([ScriptCue("x", Interval(-1, 2), "A.")])) == [("T6", "x")]
    assert check_times([ScriptCue(None, Interval(1, 2), "A."), ScriptCue(None, Interval(2, 3), "B.")]) == ()


def test_gaps_are_the_rest_of_the_film() -> None:
    assert gaps([Interval(2, 3)], 10) == (Interval(0, 2), Interval(3, 10))
    assert gaps([Interval(5, 6), Interval(0, 1), Interval(0.5, 5)], 10) == (Interval(6, 10),)
    assert gaps([Interval(8, 12)], 10) == (Interval(0, 8),)
    assert gaps([], 10) == (Interval(0, 10),)


def test_a_line_may_touch_speech_as_long_as_the_limit_says() -> None:
    speech = [Interval(1, 2), Interval(4, 6)]
    touching = Limits(overlap=0.3)
    assert check_line("A dog.", interval=Interval(1.7, 4.3), speech=speech, limits=touching) == ()
    (found,) = check_line("A dog.", interval=Interval(1.8, 4.31), speech=speech, limits=touching)
    assert "[4.000, 6.000)" in found.message
