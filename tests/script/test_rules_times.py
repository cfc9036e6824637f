"""Rules on times, T1 to T6: gaps, pace, stretches, and what lies near a time."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval
from shotad.film import subtract
from shotad.script import (
    BENCHMARK,
    IntervalIndex,
    Level,
    Limits,
    TrackLine,
    Voiced,
    check_line,
    check_pace,
    stretches,
)


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
    free = subtract(Interval(0, 200), [Interval(60, 110)])
    lines = [Interval(40, 41), Interval(150, 152)]
    assert [f.message for f in stretches(lines, free, Limits())] == [
        "[152.000, 200.000): 48 s without speech or AD"
    ]
    found = list(stretches([], free, Limits()))
    assert [f.message.split(":")[0] for f in found] == ["[0.000, 60.000)", "[110.000, 200.000)"]
    assert {f.level for f in found} == {Level.WARNING}
    assert list(stretches([], free, Limits(stretch=math.inf))) == []


def test_gaps_are_the_rest_of_the_film() -> None:
    assert subtract(Interval(0, 10), [Interval(2, 3)]) == (Interval(0, 2), Interval(3, 10))
    assert subtract(Interval(0, 10), [Interval(5, 6), Interval(0, 1), Interval(0.5, 5)]) == (Interval(6, 10),)
    assert subtract(Interval(0, 10), [Interval(8, 12)]) == (Interval(0, 8),)
    assert subtract(Interval(0, 10), []) == (Interval(0, 10),)


def level(text: str, seconds: float, *, voiced: bool = True, language: str = "en") -> Level | None:
    when = Interval(10, 10 + seconds)
    spoken = Voiced("v", text, when, "x") if voiced else None
    line = TrackLine("s00010000", when, text, language, None, spoken)
    return next((finding.level for finding in check_pace(line, Limits())), None)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        # As a voice speaks them that says 165 words a minute over many lines.
        ("Darkness gives way to light.", 1.68),
        ("Out of the dark, someone appears.", 1.88),
        ("A person in black appears, then a face appears up close.", 3.6),
    ],
)
def test_a_natural_pace_is_no_fault(text: str, seconds: float) -> None:
    assert level(text, seconds) is None
    assert level(text, seconds / 1.6) is Level.ERROR


INTERVALS = st.builds(
    lambda start, length: Interval(start / 4, (start + length) / 4), st.integers(0, 80), st.integers(1, 40)
)


@given(st.lists(INTERVALS, max_size=12), INTERVALS, st.integers(0, 8))
def test_nothing_near_is_left_out(items: list[Interval], time: Interval, window: int) -> None:
    found = IntervalIndex.of(items, lambda item: item).near(time, window)
    wide = Interval(max(0, time.start - window), time.end + window)
    assert [item for item in found if item.overlaps(wide)] == sorted(
        (item for item in items if item.overlaps(wide)), key=lambda item: item.start
    )
