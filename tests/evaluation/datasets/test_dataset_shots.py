"""Published shots without their gaps."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval
from shotad.evaluation.datasets.loading import touching

GAP = 0.02


def published(cuts: list[float]) -> list[Interval]:
    """As the lists are: 10 ms later at the start, 10 ms earlier at the end."""
    return [Interval(round(a + GAP / 2, 3), round(b - GAP / 2, 3)) for a, b in pairwise(cuts)]


def test_gaps_close_half_way() -> None:
    shots = touching(published([0.0, 7.549, 9.843, 20.0]), GAP)
    assert [(s.index, s.interval) for s in shots] == [
        (0, Interval(0.0, 7.549)),
        (1, Interval(7.549, 9.843)),
        (2, Interval(9.843, 20.0)),
    ]


@given(st.lists(st.integers(60, 20_000), min_size=1, max_size=30))
def test_the_true_cuts_come_back(lengths: list[int]) -> None:
    cuts = [0.0]
    for length in lengths:
        cuts.append(round(cuts[-1] + length / 1000, 3))
    shots = touching(published(cuts), GAP)
    assert [s.interval.start for s in shots] == pytest.approx(cuts[:-1], abs=1e-6)
    assert all(one.interval.end == other.interval.start for one, other in pairwise(shots))
    assert shots[-1].interval.end == pytest.approx(cuts[-1], abs=1e-6)


def test_last_shot_lasts_to_the_end_of_the_film() -> None:
    assert touching(published([0.0, 5.0, 9.0]), GAP, end=9.4)[-1].interval == Interval(5.0, 9.4)
    assert touching(published([0.0, 5.0, 9.0]), GAP, end=4.0)[-1].interval == Interval(5.0, 9.0), (
        "a wrong end"
    )


def test_no_cut_is_one_shot() -> None:
    assert [s.interval for s in touching([], GAP, end=61.5)] == [Interval(0.0, 61.5)]
    assert touching([], GAP) == ()


def test_a_hole_stays_and_so_does_a_late_beginning() -> None:
    shots = touching([Interval(2.01, 3.99), Interval(7.01, 8.99)], GAP)
    assert [s.interval for s in shots] == [Interval(2.0, 4.0), Interval(7.0, 9.0)]


def test_frames_touch_already() -> None:
    shots = [Interval(0.0, 4 / 3), Interval(4 / 3, 2.0)]
    assert [s.interval.duration for s in touching(shots, 0.0)] == pytest.approx([4 / 3, 2 / 3], abs=1e-6)
