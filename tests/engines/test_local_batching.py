"""Groups within a budget of tokens, and halves where memory runs out."""

from __future__ import annotations

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
