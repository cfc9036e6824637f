"""Numbers, articles, plurals, agreement, and how long a text is when spoken."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from shotad.engines.narrator_sentence import same_text
from shotad.engines.narrator_words import (
    Quote,
    agree,
    article,
    clean,
    counted,
    fit_quote,
    spoken_words,
)  # fmt: skip

CASES: dict[Callable[..., object], list[tuple[object, ...]]] = {
    article: [
        ("dog", "a dog"), ("umbrella", "an umbrella"), ("hour", "an hour"), ("unicycle", "a unicycle"),
        ("old man", "an old man"), ("one-way sign", "a one-way sign"), ("horse", "a horse"),
    ],
    counted: [
        ("person", 2, "two people"), ("person", 1, "a person"), ("knife", 3, "three knives"),
        ("wine glass", 2, "two wine glasses"), ("sheep", 3, "three sheep"), ("bench", 12, "several benches"),
        ("city", 2, "two cities"), ("toy", 2, "two toys"), ("skis", 1, "a pair of skis"),
        ("scissors", 2, "several pairs of scissors"), ("broccoli", 3, "broccoli"),
    ],
    agree: [
        ("come closer", False, "comes closer"), ("be there", False, "is there"), ("be there", True, "are there"),
        ("go dark", False, "goes dark"), ("rush in", False, "rushes in"), ("carry", False, "carries"),
        ("stay", False, "stays"), ("enter & come closer", False, "enters and comes closer"),
        ("enter & come closer", True, "enter and come closer"), ("appear, then leave", False, "appears, then leaves"),
        ("turn to face forward", False, "turns to face forward"),
    ],
    spoken_words: [
        ("COMING SOON", 2), ("www.sintel.org", 7), ("London, 1940", 3), ("2010", 2), ("2001", 3), ("12345", 5),
        ("21", 2), ("40", 1), ("BBC", 2), ("sci-fi", 2), ("Salt & Pepper", 3), ("don't", 1), ("", 0),
    ],
    clean: [
        ("  THE BLENDER\n FOUNDATION ", "THE BLENDER FOUNDATION"), ("“Exit”", "Exit"), ("The End.", "The End"),
        ("- London -", "London"), ("Who are you ?", "Who are you?"), ("To be continued...", "To be continued..."),
        ('He said "no"', "He said 'no'"), ("|", ""), ("I", ""), ("--- ***", ""), ("7", "7"),
    ],
    same_text: [
        ("SINTEL", "SINTEI", True), ("COMING SOON", "COMINGSOON", True), ("CHAPTER ONE", "CHAPTER TWO", False),
        ("PART 1", "PART 2", False), ("THE END", "", False),
    ],
    fit_quote: [
        (
            "In the year 2045, the world is ruled by machines. Nobody remembers how it began.", 12,
            Quote("In the year 2045, the world is ruled by machines", whole=False),
        ),
    ],
}  # fmt: skip


@pytest.mark.parametrize("made", CASES, ids=lambda made: made.__name__)
def test_words(made: Callable[..., object]) -> None:
    for *given_, wanted in CASES[made]:
        assert made(*given_) == wanted, given_


@given(st.text(max_size=200), st.integers(0, 30))
def test_what_is_read_fits_and_stands_in_the_text(text: str, room: int) -> None:
    quote = fit_quote(text, room)
    if quote is not None:
        assert 0 < spoken_words(quote.words) <= room
        assert quote.words in clean(text)
        assert '"' not in quote.words
        assert quote.words == " ".join(quote.words.split())
