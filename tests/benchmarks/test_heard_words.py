"""Words of a script and words that were heard."""

import pytest
from heardwords import Match, plain_words, side_by_side
from hypothesis import given, strategies as st


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


def matches(wanted: str, heard: str, names: tuple[str, ...] = ()) -> list[tuple[int, bool]]:
    found = side_by_side(plain_words(wanted), plain_words(heard), names)
    return [(match.wanted, match.near) for match in found]


def test_words_count_where_they_are_found_or_sound_alike() -> None:
    assert matches("a big red dog", "the big brown dog") == [(1, False), (3, False)]
    assert len(matches("a big red dog", "dog red big")) == 1
    assert matches("he runs", "you sit") == []
    assert matches("he runs", "") == []
    # Joined and parted words count where their letters agree.
    assert side_by_side(["the", "door", "way"], ["the", "doorway"]) == [
        Match(0, 0, 0), Match(1, 1, 1), Match(2, 1, 1),
    ]  # fmt: skip
    assert side_by_side(["the", "doorway"], ["the", "door", "way"]) == [Match(0, 0, 0), Match(1, 1, 2)]
    # Only names may sound alike.
    assert matches("Proog pulls Emo", "prug pulls emmo", ("Proog", "Emo")) == [
        (0, True), (1, False), (2, True),
    ]  # fmt: skip
    assert matches("Proog pulls Emo", "prug pulls emmo") == [(1, False)]
    assert matches("Proog pulls", "gold pulls", ("Proog",)) == [(1, False)]


@given(st.lists(st.sampled_from(["a", "b", "c", "ab"]), max_size=8))
def test_the_same_words_are_all_found(words: list[str]) -> None:
    assert {match.wanted for match in side_by_side(words, words)} == set(range(len(words)))
