"""Numbers, articles, plurals, agreement, and how long a text is when spoken."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from shotad.engines import narrator_words as words
from shotad.engines.narrator_phrases import Clause
from shotad.engines.narrator_sentence import Memory, same_text
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
