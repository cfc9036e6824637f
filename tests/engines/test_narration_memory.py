"""What was said already, and what counts as the same text."""

from __future__ import annotations

import pytest

from shotad.engines.narrator_phrases import Clause
from shotad.engines.narrator_sentence import Memory, same_text


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("SINTEL", "sintel", True),
        ("SINTEL", "SINTEI", True),
        ("COMING SOON", "COMINGSOON", True),
        ("CHAPTER ONE", "CHAPTER TWO", False),
        ("PART 1", "PART 2", False),
        ("THE END", "", False),
    ],
)
def test_same_text(first: str, second: str, same: bool) -> None:
    assert same_text(first, second) is same


def test_lines_since_counts_from_the_last_line() -> None:
    memory = Memory(("A person appears.", "Light flashes."), 0)
    assert memory.lines_since("light flashes") == 0
    assert memory.lines_since("a person appears") == 1
    assert memory.lines_since("person appear") is None


def test_a_statement_is_known_with_or_without_its_details() -> None:
    memory = Memory(("Someone with red hair and black clothes comes closer in the dark.",), 0)
    assert memory.lines_since_any([Clause("someone", "come closer")]) == 0
    assert memory.lines_since_any([Clause("someone", "move away")]) is None
    assert memory.lines_since_any([Clause("a person", "come closer")]) is None


def test_a_text_is_known_from_its_quotation() -> None:
    memory = Memory(('Words appear: "THE BLENDER FOUNDATION," then "SINTEL."',), 0)
    assert memory.has_read("Sintel")
    assert memory.has_read("THE BIENDER FOUNDATION")
    assert not memory.has_read("COMING SOON")


def test_order_prefers_the_verb_not_lately_heard_and_follows_the_seed() -> None:
    clauses = [Clause("someone", "come closer"), Clause("someone", "draw nearer")]
    fresh = Memory(("A person comes closer.",), 3).order(clauses, "tag")
    assert fresh[0].verb == "draw nearer"
    firsts = {Memory((), seed).order(clauses, "tag")[0].verb for seed in range(20)}
    assert firsts == {"come closer", "draw nearer"}
    assert Memory((), 5).order(clauses, "tag") == Memory((), 5).order(clauses, "tag")
