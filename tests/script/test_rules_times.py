"""Rules on times, T1 to T6."""

from __future__ import annotations

import math

import pytest

from shotad.core import Interval
from shotad.script import BENCHMARK, Level, Limits, check_line, gaps, stretches


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


def test_gaps_are_the_rest_of_the_film() -> None:
    assert gaps([Interval(2, 3)], 10) == (Interval(0, 2), Interval(3, 10))
    assert gaps([Interval(5, 6), Interval(0, 1), Interval(0.5, 5)], 10) == (Interval(6, 10),)
    assert gaps([Interval(8, 12)], 10) == (Interval(0, 8),)
    assert gaps([], 10) == (Interval(0, 10),)
