"""What can be text at all."""

from __future__ import annotations

import pytest

from shotad.sight.text import is_readable, is_word, tidy


@pytest.mark.parametrize(
    "text",
    [
        "SINTEL", "COMING SOON", "BBC", "NO", "1943", "23:59", "Mr. Ng", "McGregor", "3D", "21st", "rhythm", "No. 5",
        "Élodie", "Привет", "东京物语", "F.B.I.", "50%", "100", "Chapter II", "http://durian.blender.org", "We're",
        "(CC) CREATIVE COMMONS ATTRIBUTION 3.0",
    ],
)  # fmt: skip
def test_words_names_and_numbers_are_readable(text: str) -> None:
    assert is_readable(tidy(text))


@pytest.mark.parametrize(
    "text",
    [
        "IIl|", "ill", "1111", "2", "小", "A羅", "xKqvL", "hT", "l1l", "AAAA", "", "—", "!?", "J", "一0", "/\\/\\",
        "a.,:;-", "oooo", "0000", "00080800", "OO C", "XKCDQ",
    ],
)  # fmt: skip
def test_strokes_crumbs_and_mixtures_are_not(text: str) -> None:
    assert not is_readable(tidy(text))


@pytest.mark.parametrize(
    ("word", "expected"), [("l1l", False), ("2nd", True), ("U-571", True), ("a1b2c3", False), ("B2B", True)]
)
def test_words_with_digits(word: str, expected: bool) -> None:
    assert is_word(word) is expected
