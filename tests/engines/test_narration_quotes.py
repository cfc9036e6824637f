"""Text on the screen, made fit to be read aloud."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from shotad.engines.narrator_words import Quote, clean, fit_quote, spoken_words

LONG = "In the year 2045, the world is ruled by machines. Nobody remembers how it began."


@pytest.mark.parametrize(
    ("written", "speakable"),
    [
        ("COMING SOON", "COMING SOON"),
        ("  THE BLENDER\n FOUNDATION ", "THE BLENDER FOUNDATION"),
        ("“Exit”", "Exit"),
        ("The End.", "The End"),
        ("- London -", "London"),
        ("Who are you ?", "Who are you?"),
        ("To be continued...", "To be continued..."),
        ('He said "no"', "He said 'no'"),
        ("|", ""),
        ("I", ""),
        ("--- ***", ""),
        ("7", "7"),
    ],
)
def test_clean(written: str, speakable: str) -> None:
    assert clean(written) == speakable


def test_a_text_that_fits_is_whole() -> None:
    assert fit_quote("COMING SOON", 2) == Quote("COMING SOON")


def test_a_long_text_is_cut_after_a_sentence() -> None:
    quote = fit_quote(LONG, 12)
    assert quote == Quote("In the year 2045, the world is ruled by machines", whole=False)


def test_an_opening_phrase_alone_is_not_read() -> None:
    assert fit_quote(LONG, 7) is None


def test_nothing_is_cut_inside_a_phrase() -> None:
    assert fit_quote("THE BLENDER FOUNDATION", 2) is None


def test_quotes_close_a_sentence_with_their_own_mark() -> None:
    assert Quote("Who are you?").at_end() == '"Who are you?"'
    assert Quote("SINTEL").at_end() == '"SINTEL."'


@given(st.text(max_size=200), st.integers(0, 30))
def test_what_is_read_fits_and_stands_in_the_text(text: str, room: int) -> None:
    quote = fit_quote(text, room)
    if quote is not None:
        assert 0 < spoken_words(quote.words) <= room
        assert quote.words in clean(text)
        assert '"' not in quote.words
        assert quote.words == " ".join(quote.words.split())
