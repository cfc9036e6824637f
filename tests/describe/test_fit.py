"""Shortening a line without a model: whole sentences, whole clauses, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shotad.describe.fit import fit_words, split_sentences
from shotad.script.cue import count_words


@pytest.mark.parametrize(
    ("text", "budget", "fitted"),
    [
        ("She opens the door.", 4, "She opens the door."),
        ("She opens the door. Rain falls outside.", 4, "She opens the door."),
        ("She opens the door, letting in the cold.", 4, "She opens the door."),
        ("She opens the door while he sleeps.", 4, "She opens the door."),
        ("She opens the door, looks around, and leaves.", 6, "She opens the door."),
        ("She opens the door, looks around, and leaves.", 7, "She opens the door and looks around."),
        ("Mr. Bean falls over the red chair, laughing.", 7, "Mr. Bean falls over the red chair."),
        ('Words appear: "Long, long ago, there was a king."', 8, None),
        ("She opens the heavy old door of oak.", 4, None),
        ("Then, she opens the heavy old door.", 4, None),
    ],
)
def test_lines_are_shortened_at_whole_phrases(text: str, budget: int, fitted: str | None) -> None:
    found = fit_words(text, budget)
    assert (found.text if found else None) == fitted


def test_what_was_done_is_said() -> None:
    found = fit_words("He runs down the road, panting. A dog barks.", 5)
    assert found is not None
    assert found.steps == ("dropped sentences", "dropped clauses")
    assert fit_words("He runs.", 5).steps == ()  # type: ignore[union-attr]


@given(st.text(alphabet="ab ,.;-\"“”'ABC while", max_size=120), st.integers(1, 20))
def test_the_result_always_fits_and_comes_from_the_line(text: str, budget: int) -> None:
    found = fit_words(text, budget)
    if found is not None:
        assert count_words(found.text) <= budget
        assert "".join(c for c in found.text if c.isalnum()) in "".join(c for c in text if c.isalnum())


def test_sentences_do_not_end_after_titles_or_within_quotes() -> None:
    assert split_sentences("Dr. Who waits. He sees Mrs. Jones.") == ["Dr. Who waits.", "He sees Mrs. Jones."]
    assert split_sentences('A sign reads "Stop. Go back." He stops.') == [
        'A sign reads "Stop. Go back."',
        "He stops.",
    ]
