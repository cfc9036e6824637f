"""The programme's level under lines, from times alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

from shotad.core import GainPoint, Interval
from shotad.sound import HOLD
from shotad.sound.levels import LEAST, envelope, gain_at


def shape(
    lines: list[tuple[float, float]],
    speech: Sequence[tuple[float, float]] = (),
    depths: list[float] | None = None,
) -> list[tuple[float, float]]:
    spoken = [Interval(*line) for line in lines]
    points = envelope(spoken, [Interval(*s) for s in speech], depths or [9.0] * len(lines))
    return [(round(p.seconds, 6), round(p.decibels, 6)) for p in points]


def level(points: tuple[GainPoint, ...], seconds: object) -> np.ndarray:
    return 20 * np.log10(gain_at(points, np.asarray(seconds, np.float64)).astype(np.float64))


NEAR = [(4.7, 0), (5, -9)]


@pytest.mark.parametrize(("lines", "speech", "points"), [
    ([], [(1, 2)], []),
    # It falls before a line and rises after it; at the film's start it begins on the ramp.
    ([(5, 7)], [], [*NEAR, (7, -9), (7.4, 0)]),
    ([(0.1, 1)], [], [(0, -6), (0.1, -9), (1, -9), (1.4, 0)]),
    ([(0, 1)], [], [(0, -9), (1, -9), (1.4, 0)]),
    # Between near lines it stays low, but for somebody who speaks there; further apart it comes back.
    ([(5, 6), (7.4, 8)], [], [*NEAR, (8, -9), (8.4, 0)]),
    ([(5, 6), (7, 8)], [(6.4, 6.6)], [*NEAR, (6, -9), (6.4, 0), (6.7, 0), (7, -9), (8, -9), (8.4, 0)]),
    ([(5, 6), (7.6, 8)], [], [*NEAR, (6, -9), (6.4, 0), (7.3, 0), (7.6, -9), (8, -9), (8.4, 0)]),
    # Beside speech the ramps get steeper; touching it, the least ramp reaches into the line.
    ([(5, 7)], [(3, 4.9), (7.1, 8)], [(4.9, 0), (5, -9), (7, -9), (7.1, 0)]),
    ([(5, 7)], [(3, 5), (7, 8)], [(5, 0), (5 + LEAST, -9), (7 - LEAST, -9), (7, 0)]),
    # In a gap too short for two ramps it gets less deep, and a dip too small to help is left out.
    ([(5, 5.1)], [(3, 5), (5.05, 8)], [(5, 0), (5.025, -4.5), (5.05, 0)]),
    ([(5, 5.1)], [(3, 5), (5.005, 8)], []),
    # Speech within a line is not lowered, a line under speech lowers nothing.
    ([(5, 8)], [(6, 7)], [*NEAR, (6 - LEAST, -9), (6, 0), (7, 0), (7 + LEAST, -9), (8, -9), (8.4, 0)]),
    ([(5, 6)], [(4, 7)], []),
])  # fmt: skip
def test_the_level_around_lines(lines, speech, points):
    assert shape(lines, speech) == points


ticks = st.integers(0, 600).map(lambda n: n / 20)
stretches = st.lists(st.tuples(ticks, st.integers(1, 60).map(lambda n: n / 20)), max_size=8)


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Interval], list[Interval], list[float]]:
    lines, at = [], 0.0
    for start, length in draw(stretches):
        begin = at + start / 10
        lines.append(Interval(begin, begin + length))
        at = begin + length
    speech = [Interval(start, start + length) for start, length in draw(stretches)]
    depths = draw(st.lists(st.floats(0, 30), min_size=len(lines), max_size=len(lines)))
    return lines, speech, depths


@given(scenes())
def test_the_curve_keeps_its_rules(scene: tuple[list[Interval], list[Interval], list[float]]) -> None:
    lines, speech, depths = scene
    points = envelope(lines, speech, depths)
    deepest = max(depths, default=0)
    assert all(-deepest - 1e-9 <= p.decibels <= 0 for p in points)
    assert all(p.seconds >= 0 for p in points)
    for before, after in itertools.pairwise(points):
        assert before.seconds < after.seconds
        steep = abs(after.decibels - before.decibels) / (after.seconds - before.seconds)
        assert steep <= deepest / LEAST * 1.001 + 1e-6
    for spoken in speech:
        inside = np.linspace(spoken.start, spoken.end, 50, endpoint=False)
        assert np.allclose(level(points, inside), 0, atol=1e-4)
    for line, depth in zip(lines, depths, strict=True):
        # Well inside a line and away from speech it is as low as was asked for.
        inside = np.linspace(line.start, line.end, 50)
        room = [all(t < s.start - LEAST or t > s.end + LEAST for s in speech) for t in inside]
        if len(lines) == 1 or not speech:
            clear = inside[np.array(room, bool)]
            assert np.all(level(points, clear) <= -depth + 1e-3)
    # Far from lines it is not lowered.
    times = np.linspace(0, 60, 400)
    near = np.zeros(len(times), bool)
    for line in lines:
        near |= (times > line.start - 0.3) & (times < line.end + 0.4)
    for one, other in itertools.pairwise(lines):
        if other.start - one.end < HOLD:
            near |= (times >= one.end) & (times <= other.start)
    assert np.array_equal(gain_at(points, times[~near]), np.ones((~near).sum(), np.float32))
