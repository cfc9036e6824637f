"""Lines of one gap, placed together: possible, cheapest and nearest, against trying out everything."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from shotad.sound.placing import (
    Option,
    Window,
    cheapest,
    earliest_starts,
    nearest_starts,
)

LINES = st.lists(
    st.tuples(st.integers(0, 14), st.integers(0, 3), st.integers(0, 3), st.integers(1, 6), st.integers(1, 5)),
    min_size=1,
    max_size=3,
)


def window(wanted: int, earlier: int, later: int, room: int) -> Window:
    return Window(wanted, wanted - earlier, wanted + later, wanted - earlier + room)


def made(rows: list[tuple[int, int, int, int, int]]) -> tuple[list[Window], list[int]]:
    rows = sorted(rows)
    windows = [window(wanted, earlier, later, earlier + room) for wanted, earlier, later, room, _ in rows]
    return windows, [length for *_, length in rows]


def possible(windows: list[Window], lengths: list[int], starts: tuple[int, ...], between: int) -> bool:
    apart = all(starts[i] + lengths[i] + between <= starts[i + 1] for i in range(len(starts) - 1))
    return apart and all(w.takes(s, n) for w, s, n in zip(windows, starts, lengths, strict=True))


def everywhere(windows: list[Window]) -> list[tuple[int, ...]]:
    return list(product(*(range(w.earliest, w.latest + 1) for w in windows)))


@given(LINES, st.integers(0, 2))
@settings(max_examples=100, deadline=None)
def test_nearest_is_the_nearest_of_all_that_is_possible(
    rows: list[tuple[int, int, int, int, int]], between: int
) -> None:
    windows, lengths = made(rows)
    all_starts = [s for s in everywhere(windows) if possible(windows, lengths, s, between)]
    found = earliest_starts(windows, lengths, between)
    assert (found is None) == (not all_starts)
    if found is None:
        with pytest.raises(ValueError, match="cannot be placed"):
            nearest_starts(windows, lengths, between)
        return

    def way(starts: tuple[int, ...]) -> int:
        return sum((s - w.wanted) ** 2 for s, w in zip(starts, windows, strict=True))

    got = tuple(nearest_starts(windows, lengths, between))
    assert possible(windows, lengths, got, between)
    assert way(got) == min(map(way, all_starts))


@given(LINES, st.data())
@settings(max_examples=100, deadline=None)
def test_the_cheapest_choice_is_the_cheapest_of_all(
    rows: list[tuple[int, int, int, int, int]], data: st.DataObject
) -> None:
    windows, lengths = made(rows)
    options = []
    for length in lengths:
        shorter = data.draw(st.lists(st.integers(1, length), max_size=2))
        options.append([Option(length, 0), *(Option(n, length - n + 1) for n in shorter)])
    dropping = [100 + length for length in lengths]

    def cost(choice: tuple[int | None, ...]) -> int:
        each = [dropping[i] if number is None else options[i][number].cost for i, number in enumerate(choice)]
        return sum(each)

    def fits(choice: tuple[int | None, ...]) -> bool:
        taken = [None if n is None else options[i][n].length for i, n in enumerate(choice)]
        return earliest_starts(windows, taken, 1) is not None

    every = product(*([None, *range(len(line))] for line in options))
    best = min(cost(choice) for choice in every if fits(choice))
    got = cheapest(windows, options, dropping, 1)
    assert fits(got)
    assert cost(got) == best


def test_two_lines_that_press_on_each_other_share_the_way() -> None:
    windows = [window(1000, 1000, 1000, 9000), window(2000, 1000, 1000, 9000)]
    assert nearest_starts(windows, [1700, 1000], 300) == [500, 2500]


def test_a_line_with_a_bound_leaves_the_way_to_the_other() -> None:
    windows = [Window(1000, 900, 2000, 9000), window(2000, 1000, 1000, 9000)]
    assert nearest_starts(windows, [1700, 1000], 300) == [900, 2900]


def test_a_line_that_is_not_said_takes_no_time() -> None:
    windows = [window(0, 0, 0, 10), window(1, 0, 0, 10)]
    assert earliest_starts(windows, [5, 5], 0) is None
    assert earliest_starts(windows, [None, 5], 0) == [None, 1]


def test_many_lines_in_one_long_gap_are_quickly_chosen() -> None:
    windows = [window(1000 * i, 1000, 1000, 10_000) for i in range(400)]
    options = [[Option(1500 - 100 * k, k) for k in range(8)]] * 400
    chosen = cheapest(windows, options, [1000] * 400, 300)
    lengths = [None if n is None else options[0][n].length for n in chosen]
    assert earliest_starts(windows, lengths, 300) is not None
    assert chosen.count(None) < 60
