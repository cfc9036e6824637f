"""Groups within a budget of tokens, and halves where memory runs out."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from shotad.engines.local_answers import groups, in_groups


class NoRoomError(Exception):
    pass


def is_no_room(error: Exception) -> bool:
    return isinstance(error, NoRoomError)


@given(
    st.lists(st.integers(1, 500), max_size=40),
    st.integers(0, 100),
    st.integers(1, 3000),
    st.integers(1, 16),
)
def test_all_are_in_one_group_each_and_each_group_fits(
    lengths: list[int], answer: int, tokens: int, most: int
) -> None:
    found = groups(lengths, answer, tokens, most)
    assert sorted(index for group in found for index in group) == list(range(len(lengths)))
    for group in found:
        size = (max(lengths[index] for index in group) + answer) * len(group)
        assert len(group) == 1 or size <= tokens
        assert len(group) <= most
    walked = [lengths[index] for group in found for index in group]
    assert walked == sorted(lengths, reverse=True)


def test_one_too_long_is_alone_and_takes_no_other_along() -> None:
    assert groups([10, 999, 10], answer=5, tokens=100, most=8) == [[1], [0, 2]]


def test_a_group_is_as_large_as_the_budget_allows() -> None:
    assert [len(group) for group in groups([10] * 25, answer=10, tokens=200, most=99)] == [10, 10, 5]
    assert [len(group) for group in groups([10] * 5, answer=10, tokens=200, most=2)] == [2, 2, 1]
    assert groups([], answer=10, tokens=200, most=2) == []


def test_memory_that_runs_out_halves_the_group_and_keeps_the_order() -> None:
    sizes: list[int] = []
    relieved: list[list[int]] = []

    def work(items: list[int]) -> list[int]:
        sizes.append(len(items))
        if len(items) > 2:
            raise NoRoomError
        return [item * 10 for item in items]

    found = in_groups(list(range(7)), work, is_no_room, lambda item, why: -1, relieved.append)
    assert found == [item * 10 for item in range(7)]
    assert sizes == [7, 4, 2, 2, 3, 2, 1]
    assert relieved == [list(range(7)), [0, 1, 2, 3], [4, 5, 6]]


def test_what_does_not_fit_alone_fails_alone() -> None:
    tried: list[int] = []

    def work(items: list[str]) -> list[str]:
        if "giant" in items:
            tried.append(len(items))
            raise NoRoomError("no room for it\nand more")
        return items

    found = in_groups(["a", "giant", "b", "c"], work, is_no_room, lambda item, why: f"{item}: {why}")
    assert found == ["a", "giant: no room for it", "b", "c"]
    assert tried == [4, 2, 1, 1], "once more after memory was freed"


def test_one_that_fits_once_others_have_left_is_answered() -> None:
    room = 0

    def work(items: list[int]) -> list[int]:
        if not room:
            raise NoRoomError
        return items

    def relieve(items: list[int]) -> None:
        nonlocal room
        room = 1

    assert in_groups([5], work, is_no_room, lambda item, why: -1, relieve) == [5]


def test_other_errors_pass() -> None:
    def work(items: list[int]) -> list[int]:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        in_groups([1, 2], work, is_no_room, lambda item, why: -1)


def test_what_the_failed_try_held_is_free_before_the_next() -> None:
    import weakref

    class Tensor:
        pass

    alive: list[weakref.ref[Tensor]] = []
    seen: list[int] = []

    def work(items: list[int]) -> list[int]:
        seen.append(sum(ref() is not None for ref in alive))
        held = Tensor()
        alive.append(weakref.ref(held))
        if len(items) > 1:
            raise NoRoomError
        return items

    in_groups([1, 2, 3, 4], work, is_no_room, lambda item, why: -1)
    assert seen == [0] * len(seen)
