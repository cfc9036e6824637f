"""Correlations: ties and constants, and their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.core import ReportSettings
from shotad.evaluation.human_agreement import correlations

pytest.importorskip("scipy.stats")

SETTINGS = ReportSettings()


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    x = chance.normal(size=n)
    y = 0.7 * x + 0.7 * chance.normal(size=n)
    return x, y


def test_ties_by_hand() -> None:
    """Four pairs, the first two equal in x: 5 pairs in the same order, none against; tau-b = 5 / sqrt(5 · 6)."""
    x, y = np.array([1.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 4.0])
    found = correlations(x, y, ["f"] * 4, SETTINGS)
    assert found.kendall.value == pytest.approx(5 / np.sqrt(30))
    assert found.spearman.value == pytest.approx(np.corrcoef([1.5, 1.5, 3, 4], [1, 2, 3, 4])[0, 1])


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], "the metric gives all of them the same"),
        ([1.0, 2.0, 3.0], [2.0, 2.0, 2.0], "people give all of them the same"),
        ([1.0, 2.0], [1.0, 2.0], "only 2 ADs"),
        ([], [], "only 0 ADs"),
    ],
)
def test_where_it_is_not_defined_the_reason_is_told(x: list[float], y: list[float], reason: str) -> None:
    found = correlations(np.array(x), np.array(y), ["f"] * len(x), SETTINGS)
    assert reason in found.reason
    assert found.pearson.value is found.spearman.value is found.kendall.value is None


def test_intervals_hold_the_value_and_are_narrower_for_more() -> None:
    widths = []
    for n in (30, 300):
        x, y = rows(n)
        found = correlations(x, y, [str(k) for k in range(n)], SETTINGS)
        for estimate in (found.pearson, found.spearman, found.kendall):
            assert estimate.value is not None
            assert estimate.interval is not None
            assert estimate.interval.low < estimate.value < estimate.interval.high
        assert found.pearson.interval is not None
        widths.append(found.pearson.interval.high - found.pearson.interval.low)
    assert widths[1] < widths[0] / 2


def test_intervals_are_over_films_unless_asked_otherwise() -> None:
    """ADs of a film that say the same give wide intervals, however many they are."""
    x, y = rows(8, 5)
    x, y = np.repeat(x, 40), np.repeat(y, 40)
    films = [f"{k // 40}" for k in range(320)]
    wide = correlations(x, y, films, SETTINGS).pearson.interval
    narrow = correlations(x, y, films, SETTINGS.model_copy(update={"unit": "ad"})).pearson.interval
    assert narrow is not None
    assert wide is not None
    assert (wide.unit, wide.units) == ("film", 8)
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)
    assert -1 <= wide.low < wide.high <= 1


def test_intervals_of_correlations_hold_the_true_one() -> None:
    """Six films of 20 pairs, which differ in both: the true correlation is sqrt(0.5)."""
    held = 0
    for trial in range(200):
        x, y = rows(120, 100 + trial)
        found = correlations(x, y, [f"{k % 6}" for k in range(120)], SETTINGS).pearson.interval
        assert found is not None
        held += found.low <= np.sqrt(0.5) <= found.high
    assert 0.9 <= held / 200 <= 0.99


def test_one_that_is_perfect_is_sure() -> None:
    x = np.arange(12.0)
    found = correlations(x, 2 * x, [f"{k % 4}" for k in range(12)], SETTINGS).pearson
    assert found.value == 1
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (1, 1)
