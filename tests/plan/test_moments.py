"""Which frames of a shot are looked at."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval
from shotad.film import ShotMoments, moments_of, published_moments_of


def frame_at(second: float, start: float, rate: Fraction) -> int:
    """Number of the frame on the screen, counted from the shot's start."""
    return int(np.floor((second - start) * float(rate) + 1e-6))


@given(
    start=st.floats(0, 9000),
    frames=st.integers(1, 5000),
    rate=st.sampled_from([Fraction(3), Fraction(24000, 1001), Fraction(25), Fraction(60)]),
)
def test_the_first_the_middle_and_the_last_frame(start: float, frames: int, rate: Fraction) -> None:
    shot = Interval(start, start + frames / float(rate))
    found = moments_of(shot, rate)
    assert found is not None
    assert frame_at(found.first, start, rate) == 0
    assert frame_at(found.last, start, rate) == frames - 1
    assert abs(frame_at(found.middle, start, rate) - frames // 2) <= 1
    assert abs(frame_at(found.quarter, start, rate) - frames // 4) <= 1
    assert abs(frame_at(found.three_quarters, start, rate) - 3 * frames // 4) <= 1
    assert shot.contains(found.first)
    assert shot.contains(found.last)


@given(start=st.floats(0, 100), length=st.floats(0.01, 30), step=st.sampled_from([0.125, 1.0]))
def test_with_stamps_all_moments_are_stamps_inside_the_shot(start: float, length: float, step: float) -> None:
    shot, stamps = Interval(start, start + length), np.arange(0.0, 200, step)
    inside = [s for s in stamps if start - 1e-6 <= s < start + length - 1e-6]
    found = moments_of(shot, Fraction(24), stamps=stamps)
    if not inside:
        assert found is None
        return
    assert found is not None
    assert (found.first, found.last) == (inside[0], inside[-1])
    for part, moment in ((0.25, found.quarter), (0.5, found.middle), (0.75, found.three_quarters)):
        place = shot.start + part * shot.duration
        assert abs(moment - place) == min(abs(s - place) for s in inside)


def test_a_shot_that_begins_on_a_stamp_has_it_and_one_that_ends_there_has_it_not() -> None:
    stamps = np.arange(0.0, 9, 0.125)
    for shot in (Interval(1.0, 2.0), Interval(1.0000004, 2.0000004)):
        assert moments_of(shot, Fraction(24), stamps=stamps) == ShotMoments(1.0, 1.25, 1.5, 1.75, 1.875)
    assert published_moments_of(Interval(10.0, 42.0)) == ShotMoments(10.0, 18.0, 25.0, 34.0, 41.0)
    with pytest.raises(ValueError, match="ascend"):
        ShotMoments(1.0, 1.5, 3.0, 2.0, 4.0)
