"""Results add up, and figures are functions of sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from shotad.core import EvaluationError
from shotad.evaluation import Result
from shotad.evaluation.metric import Figure, Row, only

SUMS = st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 5)), min_size=2, max_size=12)


def result(sums: list[tuple[float, ...]], first: int = 0, **changes: object) -> Result:
    rows = tuple(Row(f"i{first + k}", s, s[0]) for k, s in enumerate(sums))
    made = Result("m", "M", ("a", "b"), Figure("share", 100.0), {"version": 1}, rows)
    return replace(made, **changes)  # type: ignore[arg-type]


@given(SUMS, st.data())
def test_shards_add_up_to_the_whole(sums: list[tuple[float, float]], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(sums)))
    whole, left, right = result(list(sums)), result(list(sums[:cut])), result(list(sums[cut:]), cut)
    assert (left + right).value == pytest.approx(whole.value)
    assert (right + left).value == pytest.approx(whole.value)
    assert (left + right).rows == whole.rows


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"identity": {"version": 2}}, "identity"),
        ({"basis": "other"}, "basis"),
        ({"figure": Figure("share", 1.0)}, "figure"),
        ({"name": "n"}, "name"),
    ],
)
def test_results_that_do_not_belong_together_are_refused(change: dict[str, object], word: str) -> None:
    with pytest.raises(EvaluationError, match=f"differ in {word}"):
        result([(1, 1)]) + result([(1, 1)], 1, **change)


def test_an_item_in_both_is_refused() -> None:
    with pytest.raises(EvaluationError, match="1 items stand in both results of M, such as i0"):
        result([(1, 1)]) + result([(1, 1)])


def test_a_figure_of_many_sums_at_once() -> None:
    sums = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]])
    found = Figure("share", 200.0, -0.25).of(sums)
    assert found[[0, 2]].tolist() == [50.0, 100.0]
    assert np.isnan(found[1])


def test_bleu_of_hand_counted_sums() -> None:
    """Three of four words, one of three pairs, as long as the reference: sqrt(3/4 * 1/3) = 0.5."""
    found = Figure("bleu", 100.0).of(np.array([3.0, 1.0, 4.0, 3.0, 4.0, 4.0]))
    assert float(found) == pytest.approx(50, abs=1e-6)
    short = Figure("bleu", 100.0).of(np.array([2.0, 1.0, 2.0, 1.0, 2.0, 4.0]))
    assert float(short) == pytest.approx(100 * np.exp(-1), abs=1e-5)


def test_only_some_items_in_an_order_of_their_own() -> None:
    whole = result([(1, 1), (0, 1), (0.5, 1)])
    assert [row.id for row in only(whole, ["i2", "i0"]).rows] == ["i2", "i0"]
    assert only(whole, ["i2", "i0"]).value == pytest.approx(75)
