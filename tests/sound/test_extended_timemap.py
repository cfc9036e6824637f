"""Seconds of the film and of the copy that pauses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval
from shotad.sound import Spoken, Take
from shotad.sound.kinds import Fitting
from shotad.sound.pauses import Pause
from shotad.sound.time_map import TimeMap

TWO = TimeMap((Pause(10.0, 2.0, "a"), Pause(20.0, 3.0, "b")))

milliseconds = st.integers(0, 20_000_000).map(lambda number: number / 1000)


@st.composite
def maps(draw: st.DrawFn) -> TimeMap:
    places = sorted(draw(st.lists(milliseconds, max_size=12)))
    lengths = [draw(st.integers(1, 20_000)) / 1000 for _ in places]
    return TimeMap(
        tuple(Pause(at, length, f"p{i}") for i, (at, length) in enumerate(zip(places, lengths, strict=True)))
    )


def spoken(name: str, start: float, seconds: float, pause: float = 0.0, at: float = 0.0) -> Spoken:
    take = Take(np.zeros(round(seconds * 1000), np.float32), 1000, "fake", name)
    return Spoken(name, name, start, take, pause=pause, pause_at=at)


@pytest.mark.parametrize(
    ("film", "early", "late"), [(0, 0, 0), (9, 9, 9), (10, 10, 12), (11, 13, 13), (20, 22, 25), (30, 35, 35)]
)
def test_a_second_of_the_film_is_one_of_the_copy_and_a_pause_is_a_stretch(
    film: float, early: float, late: float
) -> None:
    assert (TWO.early(film), TWO.late(film)) == (early, late)


def test_pauses_on_the_copys_time() -> None:
    assert TWO.pause(1) == Interval(22.0, 25.0)
    assert TWO.total == 5.0


@given(maps(), milliseconds)
def test_what_is_reached_is_never_later_than_where_the_film_goes_on(times: TimeMap, second: float) -> None:
    assert times.early(second) <= times.late(second)


@given(maps(), milliseconds, milliseconds)
def test_order_is_kept_and_nothing_is_nearer_than_before(times: TimeMap, one: float, other: float) -> None:
    first, then = sorted((one, other))
    assert times.late(then) - times.late(first) >= then - first - 1e-9
    assert times.early(then) - times.early(first) >= then - first - 1e-9
    if first < then:
        assert times.late(first) <= times.early(then) + 1e-9
        assert times.interval(Interval(first, then)).duration >= then - first - 1e-6


@given(maps())
def test_pauses_stand_one_after_another_and_the_film_waits_in_each(times: TimeMap) -> None:
    stretches = [times.pause(number) for number in range(len(times.pauses))]
    for before, after in pairwise(stretches):
        assert before.end <= after.start + 1e-6


def test_pauses_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="must ascend"):
        TimeMap((Pause(20.0, 1.0, "a"), Pause(10.0, 1.0, "b")))
    with pytest.raises(ValueError, match="lasts"):
        Pause(1.0, 0.0, "a")


def test_what_lasts_over_a_pause_lasts_through_it_and_what_touches_it_does_not() -> None:
    assert TWO.interval(Interval(8, 12)) == Interval(8, 14)
    assert TWO.interval(Interval(8, 10)) == Interval(8, 10)
    assert TWO.interval(Interval(10, 12)) == Interval(12, 14)


def test_a_line_with_a_pause_begins_as_far_from_it_as_on_film_time() -> None:
    lines = Fitting((spoken("first", 1, 2), spoken("a", 9, 3, 2.0, 10.0), spoken("b", 20.5, 2.5, 3.0, 20.0)))
    moved = TWO.fitting(lines)
    assert [line.interval for line in moved.spoken] == [Interval(1, 3), Interval(9, 12), Interval(22.5, 25)]
    assert [line.pause for line in moved.spoken] == [0, 0, 0]


def test_two_pauses_at_one_moment_follow_each_other() -> None:
    times = TimeMap((Pause(10.0, 2.0, "a"), Pause(10.0, 3.0, "b")))
    lines = times.fitting(Fitting((spoken("a", 10, 2, 2.0, 10.0), spoken("b", 10.3, 2.7, 3.0, 10.0))))
    assert [line.interval for line in lines.spoken] == [Interval(10, 12), Interval(12.3, 15)]
