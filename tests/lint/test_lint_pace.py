"""T3: short lines at a natural pace are let pass, fast ones of any length are found."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval
from shotad.script import Level, Limits, TrackLine, Voiced, check_pace, usual_words
from shotad.script.pace import tempo


def level(text: str, seconds: float, *, voiced: bool = True, language: str = "en") -> Level | None:
    when = Interval(10, 10 + seconds)
    spoken = Voiced("v", text, when, "x") if voiced else None
    line = TrackLine("s00010000", when, text, language, None, spoken)
    return next((finding.level for finding in check_pace(line, Limits())), None)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        # As a voice speaks them that says 165 words a minute over many lines.
        ("Darkness gives way to light.", 1.68),
        ("Out of the dark, someone appears.", 1.88),
        ("A person in black appears, then a face appears up close.", 3.6),
    ],
)
def test_a_natural_pace_is_no_fault(text: str, seconds: float) -> None:
    assert level(text, seconds) is None
    assert level(text, seconds / 1.6) is Level.ERROR


def test_long_words_count_for_more() -> None:
    assert level("It is as big as it is old.", 2.2) is None
    assert level("Photographers surround extraordinary skyscrapers downtown.", 2.2) is Level.ERROR


def test_a_line_without_a_voice_is_counted_as_it_was_planned() -> None:
    wordy = "Photographers surround extraordinary skyscrapers downtown throughout."
    assert level(wordy, 2.4, voiced=False) is None
    assert level(wordy, 2.4) is Level.ERROR
    assert level("He is in it and it is on as he is up", 2.4, voiced=False) is None
    assert level("The old dog runs down the hill and leaps over the gate.", 2.0, voiced=False) is Level.ERROR


def test_other_languages_are_counted_as_english_that_takes_as_long() -> None:
    assert level("Die Dunkelheit weicht dem Licht, das durch ein Fenster fällt.", 4.2, language="de") is None
    assert level("Die Dunkelheit weicht dem Licht, das durch ein Fenster fällt.", 2.5, language="de")
    assert level("黑暗让位于光明", 2.0, language="zh") is None
    assert level("黑暗让位于光明", 0.9, language="zh") is Level.ERROR


def test_digits_are_spoken_in_more_than_a_letter() -> None:
    assert usual_words("1984") == pytest.approx(16 * 228 / 987)
    assert usual_words("") == 0


@given(st.text(max_size=60), st.floats(0.1, 30), st.floats(1.01, 3))
def test_faster_is_never_slower(text: str, seconds: float, times: float) -> None:
    words = usual_words(text)
    assert tempo(words, seconds / times) >= tempo(words, seconds)
