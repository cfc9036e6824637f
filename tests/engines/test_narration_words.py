"""Numbers, articles, plurals, agreement, and how long a text is when spoken."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from shotad.engines import narrator_words as words
from shotad.engines.narrator_sentence import same_text
from shotad.engines.narrator_words import Quote, clean, fit_quote, spoken_words


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("dog", "a dog"),
        ("umbrella", "an umbrella"),
        ("elephant", "an elephant"),
        ("hour", "an hour"),
        ("unicycle", "a unicycle"),
        ("old man", "an old man"),
        ("one-way sign", "a one-way sign"),
        ("horse", "a horse"),
    ],
)
def test_article_follows_the_sound(noun: str, expected: str) -> None:
    assert words.article(noun) == expected


@pytest.mark.parametrize(
    ("noun", "count", "expected"),
    [
        ("person", 2, "two people"),
        ("person", 1, "a person"),
        ("knife", 3, "three knives"),
        ("bus", 2, "two buses"),
        ("wine glass", 2, "two wine glasses"),
        ("sheep", 3, "three sheep"),
        ("bench", 12, "several benches"),
        ("teddy bear", 4, "several teddy bears"),
        ("city", 2, "two cities"),
        ("toy", 2, "two toys"),
        ("skis", 1, "a pair of skis"),
        ("scissors", 2, "several pairs of scissors"),
        ("broccoli", 3, "broccoli"),
    ],
)
def test_counted_nouns(noun: str, count: int, expected: str) -> None:
    assert words.counted(noun, count) == expected


@pytest.mark.parametrize(
    ("verb", "one", "many"),
    [
        ("come closer", "comes closer", "come closer"),
        ("be there", "is there", "are there"),
        ("go dark", "goes dark", "go dark"),
        ("pass by", "passes by", "pass by"),
        ("cross", "crosses", "cross"),
        ("rush in", "rushes in", "rush in"),
        ("enter & come closer", "enters and comes closer", "enter and come closer"),
        ("appear, then leave", "appears, then leaves", "appear, then leave"),
        ("turn to face forward", "turns to face forward", "turn to face forward"),
        ("be a dog and a cat", "is a dog and a cat", "are a dog and a cat"),
        ("carry", "carries", "carry"),
        ("stay", "stays", "stay"),
    ],
)
def test_verbs_agree(verb: str, one: str, many: str) -> None:
    assert words.agree(verb, False) == one
    assert words.agree(verb, True) == many


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("COMING SOON", 2),
        ("www.sintel.org", 7),
        ("London, 1940", 3),
        ("2010", 2),
        ("2001", 3),
        ("12345", 5),
        ("1943", 3),
        ("21", 2),
        ("40", 1),
        ("BBC", 2),
        ("sci-fi", 2),
        ("Salt & Pepper", 3),
        ("don't", 1),
        ("", 0),
    ],
)
def test_spoken_words(text: str, expected: int) -> None:
    assert words.spoken_words(text) == expected


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


def test_a_long_text_is_cut_after_a_sentence() -> None:
    quote = fit_quote(LONG, 12)
    assert quote == Quote("In the year 2045, the world is ruled by machines", whole=False)


@given(st.text(max_size=200), st.integers(0, 30))
def test_what_is_read_fits_and_stands_in_the_text(text: str, room: int) -> None:
    quote = fit_quote(text, room)
    if quote is not None:
        assert 0 < spoken_words(quote.words) <= room
        assert quote.words in clean(text)
        assert '"' not in quote.words
        assert quote.words == " ".join(quote.words.split())


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
