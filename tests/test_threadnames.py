"""Threads are named by letters, and found again by them."""

from __future__ import annotations

import pytest

from shotad.core import thread_name, thread_number


@pytest.mark.parametrize(
    ("number", "name"), [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (52, "BA"), (702, "AAA")]
)
def test_letters_never_end(number: int, name: str) -> None:
    assert thread_name(number) == name


def test_a_name_tells_its_number() -> None:
    assert [thread_number(thread_name(n)) for n in range(800)] == list(range(800))


@pytest.mark.parametrize("name", ["", "a", "1", "A1", "Ä", "["])
def test_what_is_no_thread_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="capitals A to Z"):
        thread_number(name)
