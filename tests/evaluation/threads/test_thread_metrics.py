"""The figures of thread prediction, checked by hand; the working stands beside each number."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.evaluation.thread_figures import (
    ClipCounts,
    PairCounts,
    average_precision,
    best_threshold,
    count_clip,
    labels_of,
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


def test_average_precision_is_the_plain_sum_over_thresholds() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        n = int(rng.integers(1, 30))
        scores, together = rng.integers(0, 6, n) / 5, rng.random(n) < 0.4
        area, before = 0.0, 0.0
        for threshold in sorted(set(scores.tolist()), reverse=True):
            taken = scores >= threshold
            recall = np.sum(taken & together) / max(np.sum(together), 1)
            area += (recall - before) * np.sum(taken & together) / np.sum(taken)
            before = recall
        expected = None if not together.any() else pytest.approx(area)
        assert average_precision(scores, together) == expected


def test_average_precision_without_pairs_that_belong_together_is_undefined() -> None:
    assert ap([0.5, 0.1], [0, 0]) is None
    assert ap([], []) is None


def test_pairs_without_a_score_are_never_found() -> None:
    # One of two right pairs is found at once, the other never.
    assert ap([0.9, 0.1], [1, 0], unscored=1) == pytest.approx(0.5)
    assert ap([], [], unscored=3) == 0.0


def test_average_precision_refuses_what_is_no_score() -> None:
    with pytest.raises(ValueError, match="1 that are not"):
        ap([0.5, float("nan")], [1, 0])
    with pytest.raises(ValueError, match="two arrays"):
        ap([0.5], [1, 0])


def test_pairs_of_clusters() -> None:
    # (0,1) (0,2) (0,3) (1,2) (1,3) (2,3)
    assert together_pairs([[0, 2], [1]], 4).tolist() == [False, True, False, False, False, False]
    assert together_pairs([], 2).tolist() == [False]
    assert together_pairs([], 1).tolist() == []
    assert labels_of([[1, 3]], 4).tolist() == [0, 4, 2, 4]
    with pytest.raises(ValueError, match="shot 4"):
        labels_of([[4]], 4)
    with pytest.raises(ValueError, match="two clusters"):
        labels_of([[0, 1], [1, 2]], 4)


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
    # Components: {0, 1, 2, 4}, {3}; so 01 02 04 12 14 24 are closed, of them 02 04 24 right.
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    scores = np.array([{(0, 2): 0.9, (2, 4): 0.8, (0, 1): 0.4}.get(pair, 0.3) for pair in pairs])
    counts = count_clip(scores, 0.3, [[0, 1, 2, 4]], [[0, 2, 4], [1, 3]], 5)
    assert counts == ClipCounts(
        shots=5,
        pairs=10,
        together=4,
        edges=PairCounts(right=2, wrong=1, missed=2),
        closed=PairCounts(right=3, wrong=3, missed=1),
        pure=3 + 1,
        clusters=2,
        true_clusters=2,
    )
    assert counts.wcp == pytest.approx(0.8)
    # Ranks: 02 right, 24 right, 01 wrong, then seven equal ones with two right:
    # 1/4 * 1 + 1/4 * 1 + 2/4 * 4/10.
    assert average_precision(scores, together_pairs([[0, 2, 4], [1, 3]], 5)) == pytest.approx(0.7)


def test_a_failed_clip_counts_as_nothing_found() -> None:
    counts = count_clip(None, 0.3, (), [[0, 2], [1, 3]], 4)
    assert counts.edges == counts.closed == PairCounts(missed=2)
    assert (counts.shots, counts.pairs, counts.pure, counts.true_clusters) == (4, 6, 0, 2)
    assert counts.wcp == 0.0
    good = count_clip(np.ones(1), 0.3, [[0, 1]], [[0, 1]], 2)
    assert (good + counts).wcp == pytest.approx(2 / 6)
    assert (good + counts).edges.recall == pytest.approx(1 / 3)


def test_a_clip_of_one_shot_has_no_pairs() -> None:
    counts = count_clip(np.zeros(0), 0.3, [], [], 1)
    assert (counts.pairs, counts.clusters, counts.wcp) == (0, 1, 1.0)
    assert counts.edges.precision is None
    assert counts.edges.recall is None


def test_the_best_threshold_by_hand() -> None:
    # From the top: F1 is 2/3 (1 of 1, 1 of 2), 1/2, 4/5 (2 of 3, 2 of 2), 2/3.
    found = best_threshold(np.array([0.9, 0.7, 0.5, 0.1]), np.array([1, 0, 1, 0], bool))
    assert found is not None
    assert found.threshold == pytest.approx(0.3)
    assert found.f1 == pytest.approx(0.8)
    last = best_threshold(np.array([0.4, 0.4]), np.array([1, 1], bool), unscored=2)
    assert last is not None
    assert last.threshold < 0.4
    assert last.f1 == pytest.approx(2 / 3)
    assert best_threshold(np.array([0.4]), np.array([0], bool)) is None
    assert best_threshold(np.zeros(0), np.zeros(0, bool), unscored=2) is None
