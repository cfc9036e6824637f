"""Words that are said in their own way."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from shotad.core import Member
from shotad.sound import NOTHING, Lexicon, said
from shotad.sound.pronunciation import lexicon_of, parse_lexicon


def spoken(text: str, **sayings: str) -> str:
    return said(text, "en", Lexicon({word.replace("_", " "): saying for word, saying in sayings.items()}))


def test_whole_words_are_found_and_parts_of_words_are_not() -> None:
    assert spoken("Sintel meets Sintelia; sintel, (Sintel).", Sintel="Sin-TELL") == (
        "Sin-TELL meets Sintelia; sintel, Sin-TELL."
    )


def test_possessives_go_with_their_word_and_capitals_with_both() -> None:
    assert (
        spoken("Sintel's dragon, Sintel’s spear", Sintel="Sin-TELL") == "Sin-TELL's dragon, Sin-TELL’s spear"
    )
    assert spoken("SINTEL'S END", Sintel="Sin-TELL") == "Sin-TELL's End"


def test_a_word_with_capitals_is_found_as_written_or_shouted() -> None:
    assert spoken("Will will WILL", Will="Wil") == "Wil will Wil"


def test_a_small_word_is_found_in_any_case() -> None:
    assert spoken("Gif gif GIF", gif="jiff") == "jiff jiff jiff"


def test_the_longest_goes_first() -> None:
    found = spoken("Anna Lee and Anna", Anna="AH-na", Anna_Lee="AH-na LEE")
    assert found == "AH-na LEE and AH-na"


def test_no_other_rule_touches_a_saying_or_looks_past_it() -> None:
    assert spoken("St. Clair", **{"St. Clair": "Sinclair"}) == "Sinclair"
    assert spoken("Dr. Nkemelu III", Nkemelu="n'keh-MEH-loo") == "Doctor n'keh-MEH-loo three"
    assert spoken("The FBI", FBI="the FEDS") == "The the FEDS"
    assert spoken("Sintel & Co", Sintel="Sin & TELL") == "Sin & TELL and Co"


def test_a_cast_says_its_names_as_its_entries_tell() -> None:
    people = [
        Member("sintel", "Sintel Ishtar", spoken="Sintel", say_as="Sin-TELL"),
        Member("thom", "Thom"),
        Member("extra", "Extra", nameless=True, say_as="x"),
    ]
    assert lexicon_of(people) == Lexicon({"Sintel": "Sin-TELL"})


def test_comments_and_order_of_a_file() -> None:
    text = "\ufeff# names\n\nSintel = Sin-TELL # ours\nC# = see sharp\nAnna  Lee=AH-na Lee\n"
    assert parse_lexicon(text).sayings == {"Sintel": "Sin-TELL", "C#": "see sharp", "Anna Lee": "AH-na Lee"}


def test_the_later_of_two_lexicons_counts() -> None:
    assert Lexicon({"a": "x", "b": "y"}).joined(Lexicon({"a": "z"})).sayings == {"a": "z", "b": "y"}


def test_characters_of_private_use_in_a_line_are_nobody_s_mark() -> None:
    assert spoken("a \ue000 b Sintel \ue001", Sintel="Sin-TELL") == "a b Sin-TELL"


@given(st.text(max_size=80))
def test_no_text_breaks_it_and_the_empty_lexicon_adds_nothing(text: str) -> None:
    marked, sayings = NOTHING.marked(text)
    assert sayings == ()
    assert set(marked) <= set(text)
    found = said(text, "en", Lexicon({"the": "thee"}))
    assert "\ue000" not in found
    assert "\n" not in found


@pytest.mark.parametrize("word", ["a.b", "(x)", "c++", "o'neill"])
def test_words_with_signs_are_no_patterns(word: str) -> None:
    assert Lexicon({word: "yes"}).marked(f"so {word} then")[1] == ("yes",)
