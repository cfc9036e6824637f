"""The formulas of CML-Bench, against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shotad.evaluation import (
    adjacent_similarity,
    alignment,
    central_similarity,
    creativity,
    emotional_stability,
    innovation,
    mutual_similarity,
    originality,
    paired_similarity,
    topic_concentration,
)

X, Y = [1.0, 0.0], [0.0, 1.0]
BETWEEN = [3.0, 3.0]
HALF = math.sqrt(0.5)
ROWS = np.array([X, BETWEEN, Y])
"""Cosines: HALF between neighbours, 0 between the first and the last. Lengths do not matter."""


def test_similarities() -> None:
    assert adjacent_similarity(ROWS) == pytest.approx(HALF)
    assert mutual_similarity(ROWS) == pytest.approx(2 * HALF / 3)
    assert paired_similarity(ROWS, ROWS[::-1]) == pytest.approx(1 / 3)
    centre = np.array([4.0, 4.0]) / 3
    cosines = [row @ centre / np.linalg.norm(row) / np.linalg.norm(centre) for row in ROWS]
    assert central_similarity(ROWS) == pytest.approx(np.mean(cosines))
    # Negative cosines count unless they are clipped.
    rows = np.array([X, [-1.0, 0.0], [-1.0, 0.0]])
    assert adjacent_similarity(rows) == pytest.approx(0.0)
    assert adjacent_similarity(rows, clipped=True) == pytest.approx(0.5)
    # A row of zeros is like nothing.
    assert adjacent_similarity(np.array([X, [0.0, 0.0], X])) == 0.0


def test_creativity_originality_innovation_and_alignment() -> None:
    alike = 2 * HALF / 3
    assert creativity(ROWS) == pytest.approx(1 - alike)
    assert originality(ROWS, [0.8, 0.6, 0.7]) == pytest.approx(0.5 * (1 - alike) + 0.5 * 0.7)
    assert originality(ROWS, [0.8, 0.6], weight=1.0) == pytest.approx(1 - alike)
    central = central_similarity(ROWS)
    assert central is not None
    assert innovation(ROWS) == pytest.approx(1 - (alike + central) / 2)
    assert innovation(ROWS, weight=0.0) == pytest.approx(1 - central)
    # Alignment takes the best action from a place on.
    intentions, actions = np.array([X, Y]), np.array([X, BETWEEN])
    assert alignment(intentions, actions, [0, 0]) == pytest.approx((1 + HALF) / 2)
    assert alignment(intentions, actions, [1, 1]) == pytest.approx(HALF)
    assert alignment(intentions, actions, [2, 0]) == pytest.approx(HALF / 2), "no action follows the first: 0"


def test_concentration_and_stability() -> None:
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    found = topic_concentration([["boat", "fog"], ["Boat"], ["boat"]])
    assert found == pytest.approx(1 - entropy / math.log(2))
    assert topic_concentration([["a", "b"], ["c"]]) == pytest.approx(0.0)
    assert topic_concentration([["a"], ["a"]]) == 1.0
    assert emotional_stability([1, 1, 1]) == 1.0
    assert emotional_stability([1, -1, 1]) == 0.0
    assert emotional_stability([0, 1, 1, -1]) == pytest.approx(1 - (0.5 + 0 + 1) / 3)


def test_what_is_not_defined() -> None:
    one, none = ROWS[:1], ROWS[:0]
    assert [f(one) for f in (adjacent_similarity, mutual_similarity, creativity, innovation)] == [None] * 4
    assert paired_similarity(none, none) is central_similarity(none) is None
    assert originality(one, [0.5]) is alignment(none, ROWS, []) is alignment(one, none, [0]) is None
    assert topic_concentration([[], []]) is emotional_stability([1]) is None
