"""Words of a script and words that were heard."""

import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from heardwords import Match, plain_words, side_by_side, spelled


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Grey-eyed Tom’s 21.", "gray eyed toms twenty one"),
        ("In 1999, 2,500 men & 1 dog.", "in nineteen ninety nine two thousand five hundred men and one dog"),
        ("The 21st, 3rd and 20th door.", "the twenty first third and twentieth door"),
        ("Colour: travelling, realise, theatre, Mr. Hour", "color traveling realize theater mister hour"),
        ("— “…” !", ""),
        ("naïve café", "naïve café"),
    ],
)
def test_texts_are_brought_to_one_spelling(text: str, words: str) -> None:
    assert plain_words(text) == words.split()


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "zero"), (13, "thirteen"), (80, "eighty"), (105, "one hundred five"), (1066, "one thousand sixty six"),
     (2024, "two thousand twenty four"), (1500, "one thousand five hundred"), (30_000, "thirty thousand"), (7_654_321, "seven six five four three two one")],
)  # fmt: skip
def test_numbers_are_spelled(number: int, words: str) -> None:
    assert spelled(number) == words


def matches(wanted: str, heard: str, names: tuple[str, ...] = ()) -> list[tuple[int, bool]]:
    found = side_by_side(plain_words(wanted), plain_words(heard), names)
    return [(match.wanted, match.near) for match in found]


def test_words_are_found_in_order_and_others_are_not() -> None:
    assert matches("a big red dog", "the big brown dog") == [(1, False), (3, False)]
    assert len(matches("a big red dog", "dog red big")) == 1
    assert matches("he runs", "you sit") == []
    assert matches("he runs", "") == []


def test_joined_and_parted_words_count_where_their_letters_agree() -> None:
    assert side_by_side(["the", "door", "way"], ["the", "doorway"]) == [
        Match(0, 0, 0),
        Match(1, 1, 1),
        Match(2, 1, 1),
    ]
    assert side_by_side(["the", "doorway"], ["the", "door", "way"]) == [Match(0, 0, 0), Match(1, 1, 2)]


def test_only_names_may_sound_alike() -> None:
    assert matches("Proog pulls Emo", "prug pulls emmo", ("Proog", "Emo")) == [
        (0, True),
        (1, False),
        (2, True),
    ]
    assert matches("Proog pulls Emo", "prug pulls emmo") == [(1, False)]
    assert matches("Proog pulls", "gold pulls", ("Proog",)) == [(1, False)]


@given(st.lists(st.sampled_from(["a", "b", "c", "ab"]), max_size=8))
def test_the_same_words_are_all_found(words: list[str]) -> None:
    assert {match.wanted for match in side_by_side(words, words)} == set(range(len(words)))


@given(st.lists(st.sampled_from("abcd"), max_size=8), st.lists(st.sampled_from("abcd"), max_size=8))
def test_no_word_is_found_twice_and_order_is_kept(wanted: list[str], heard: list[str]) -> None:
    found = side_by_side(wanted, heard)
    assert [match.wanted for match in found] == sorted({match.wanted for match in found})
    assert [match.first for match in found] == sorted({match.first for match in found})
    assert all(wanted[match.wanted] == heard[match.first] for match in found)
