"""How long the examples of Stage II are: by the published rule, also where a budget is another moment's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from shotad.core import Interval, Slot, load_config
from shotad.description.stage2 import _expected_words
from shotad.film import word_budget

TV = load_config(["paper", "tv-ad"])


def plan(duration: float, words: int) -> Any:
    return SimpleNamespace(slot=Slot("s", Interval(10.0, 10.0 + duration), words))


@pytest.mark.parametrize(("duration", "words"), [(2.0, 7), (1.0, 4), (0.1, 1), (5.31, 20)])
def test_a_slots_own_budget_leaves_the_rounded_duration(duration: float, words: int) -> None:
    assert _expected_words(plan(duration, word_budget(duration, TV.slots)), TV) == words


def test_a_padded_slot_has_the_length_of_its_human_ad() -> None:
    """TV-AD pads an AD of one second to two: 4 words at most, not 8, and examples of about 3, not 7."""
    assert _expected_words(plan(2.0, 4), TV) is None, "one less than the budget"


def test_other_budgets_say_the_length_themselves() -> None:
    assert _expected_words(plan(2.0, 5), load_config(None)) is None
