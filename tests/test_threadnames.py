"""Threads are named by letters, and found again by them."""

from __future__ import annotations

import pytest

from shotad.core import thread_name, thread_number


def test_a_name_tells_its_number() -> None:
    assert [thread_number(thread_name(n)) for n in range(800)] == list(range(800))


@pytest.mark.parametrize("name", ["", "a", "1", "A1", "Ä", "["])
def test_what_is_no_thread_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="capitals A to Z"):
        thread_number(name)
