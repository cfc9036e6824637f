"""Numbers, articles, plurals, agreement, and how long a text is when spoken."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from shotad.engines import narrator_words as words


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
    ("verb", "form"),
    [
        ("come closer", "coming closer"),
        ("leave", "leaving"),
        ("go", "going"),
        ("keep still", "keeping still"),
    ],
)
def test_gerunds(verb: str, form: str) -> None:
    assert words.gerund(verb) == form


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


@given(st.text())
def test_speaking_never_takes_fewer_words_than_writing(text: str) -> None:
    assert words.spoken_words(text) >= len(text.split())


def test_capital_skips_quotation_marks() -> None:
    assert words.capital("a person") == "A person"
    assert words.capital('"exit"') == '"Exit"'
    assert words.capital("…") == "…"


def test_bare_keeps_letters_and_digits() -> None:
    assert words.bare('A sign reads: "EXIT 3."') == "a sign reads exit 3"
