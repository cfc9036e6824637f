"""The figures of thread prediction, checked by hand; the working stands beside each number."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.evaluation.threads import (
    ClipCounts,
    average_precision,
    best_threshold,
    count_clip,
    pure_shots,
    together_pairs,
)


def ap(scores: list[float], together: list[int], unscored: int = 0) -> float | None:
    return average_precision(np.array(scores, float), np.array(together, bool), unscored)


@pytest.mark.parametrize(
    ("scores", "together", "expected"),
    [
        # The four scores of scikit-learn's own example: ranks 1, 3 are right: 1/2 * 1 + 1/2 * 2/3.
        ([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 5 / 6),
        # Right, wrong, right, wrong, right: 1/3 (1/1 + 2/3 + 3/5).
        ([0.9, 0.8, 0.7, 0.6, 0.5], [1, 0, 1, 0, 1], (1 + 2 / 3 + 3 / 5) / 3),
        # All right ones above all wrong ones.
        ([0.3, 0.2, 0.1], [1, 1, 0], 1.0),
        # All equal: one step with the share of right ones as its precision.
        ([0.5, 0.5, 0.5, 0.5], [1, 0, 0, 0], 0.25),
        # Two equal at the top, one of them right, then the other right one at rank 3: 1/2 * 1/2 + 1/2 * 2/3.
        ([0.7, 0.7, 0.2], [1, 0, 1], 1 / 4 + 1 / 3),
        # Scores below zero rank as well.
        ([-1.0, -0.5], [0, 1], 1.0),
    ],
)
def test_average_precision_by_hand(scores: list[float], together: list[int], expected: float) -> None:
    assert ap(scores, together) == pytest.approx(expected)


def test_pairs_that_cannot_be_found() -> None:
    assert ap([0.5, 0.1], [0, 0]) is None
    assert ap([], []) is None
    # One of two right pairs is found at once, the other never.
    assert ap([0.9, 0.1], [1, 0], unscored=1) == pytest.approx(0.5)
    assert ap([], [], unscored=3) == 0.0


@pytest.mark.parametrize(
    ("predicted", "truth", "expected"),
    [
        ([0, 0, 0, 1], [5, 5, 6, 6], 3),  # 2 of 3, 1 of 1
        ([0, 0, 0, 0], [1, 1, 2, 2], 2),
        ([0, 1, 2, 3], [7, 7, 7, 7], 4),  # all alone is pure
        ([0, 1, 1, 0, 1], [0, 1, 1, 0, 0], 4),  # 2 of 2, 2 of 3
    ],
)
def test_pure_shots_by_hand(predicted: list[int], truth: list[int], expected: int) -> None:
    assert pure_shots(predicted, truth) == expected


def test_a_clip_by_hand() -> None:
    # True: {0, 2, 4}, {1, 3}, so together are 02 04 24 13. Scores above 0.3: 02 24 01.
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    scores = np.array([{(0, 2): 0.9, (2, 4): 0.8, (0, 1): 0.4}.get(pair, 0.3) for pair in pairs])
    counts = count_clip(scores, 0.3, [[0, 1, 2, 4]], [[0, 2, 4], [1, 3]], 5)
    assert counts == ClipCounts(
        shots=5,
        pairs=10,
        together=4,
        right=2,
        wrong=1,
        missed=2,
        pure=3 + 1,
        clusters=2,
        true_clusters=2,
    )
    assert counts.wcp == pytest.approx(0.8)
    # Ranks: 02 right, 24 right, 01 wrong, then seven equal ones with two right:
    # 1/4 * 1 + 1/4 * 1 + 2/4 * 4/10.
    assert average_precision(scores, together_pairs([[0, 2, 4], [1, 3]], 5)) == pytest.approx(0.7)


def test_the_best_threshold_by_hand() -> None:
    # From the top: F1 is 2/3 (1 of 1, 1 of 2), 1/2, 4/5 (2 of 3, 2 of 2), 2/3.
    found = best_threshold(np.array([0.9, 0.7, 0.5, 0.1]), np.array([1, 0, 1, 0], bool))
    assert found is not None
    assert found == pytest.approx((0.3, 0.8))
    last = best_threshold(np.array([0.4, 0.4]), np.array([1, 1], bool), unscored=2)
    assert last is not None
    assert last[0] < 0.4
    assert last[1] == pytest.approx(2 / 3)
    assert best_threshold(np.array([0.4]), np.array([0], bool)) is None
    assert best_threshold(np.zeros(0), np.zeros(0, bool), unscored=2) is None
