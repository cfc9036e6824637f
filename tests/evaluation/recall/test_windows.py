"""Windows along a film, and ranks in them, counted by hand."""

from __future__ import annotations

import pytest

from shotad.core import Interval
from shotad.evaluation import Corpus
from shotad.evaluation.metric import Item
from shotad.evaluation.metrics.recall import neighbours_of, rank_of, windows_of


def spans(count: int, size: int, rule: str) -> list[tuple[int, int]]:
    return [(w.start, w.end) for w in windows_of(count, size, rule)]


@pytest.mark.parametrize(
    ("count", "size", "full", "added"),
    [
        (9, 4, [(0, 4), (2, 6), (4, 8)], [(5, 9)]),
        (8, 4, [(0, 4), (2, 6), (4, 8)], []),
        (8, 5, [(0, 5), (2, 7)], [(3, 8)]),
        (5, 5, [(0, 5)], []),
        (4, 5, [], [(0, 4)]),
        (1, 5, [], [(0, 1)]),
        (0, 5, [], []),
        (3, 2, [(0, 2), (1, 3)], []),
        (20, 16, [(0, 16)], [(4, 20)]),
    ],
)
def test_windows(count: int, size: int, full: list[tuple[int, int]], added: list[tuple[int, int]]) -> None:
    assert spans(count, size, "full") == full
    assert spans(count, size, "all") == full + added


def test_of_equals_the_own_is_first_wherever_it_stands() -> None:
    assert [rank_of([0.5, 0.5, 0.5], own) for own in range(3)] == [1, 1, 1]
    assert [rank_of([0.2, 0.9, 0.4], own) for own in range(3)] == [3, 1, 2]
    assert rank_of([0.5, 0.5 + 1e-8], 0) == 1
    assert rank_of([0.5, 0.501], 0) == 2


def test_neighbours_are_those_of_the_film_in_order_of_time() -> None:
    times = [("a", 30), ("b", 5), ("a", 10), ("a", 20), ("a", 0)]
    items = [
        Item(str(i), film, Interval(second, second + 1), ("x",)) for i, (film, second) in enumerate(times)
    ]
    found = neighbours_of(Corpus(tuple(items)), 3, "all", 1)
    assert found[3].places == (4, 2, 3, 0)
    assert found[3].own == 2
    assert [(w.start, w.end) for w in found[3].windows] == [(0, 3), (1, 4)]
    assert found[4].places == (4, 2, 3)
    assert found[1].windows == ()
