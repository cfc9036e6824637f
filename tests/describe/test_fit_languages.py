"""Lines of other languages are shortened by the time they take, not by their words."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from shotad.script import count_words, fit_spoken, split_sentences, spoken_words, variants

LONG = "Die Donaudampfschifffahrtsgesellschaft legt ab, während Menschen am Ufer winken."
"""Nine words that take as long as seventeen English ones."""
TWO = "Er öffnet die Haustür. Draußen fällt Regen auf die Straße."


def test_a_line_of_long_words_does_not_fit_where_its_words_would() -> None:
    assert (count_words(LONG), spoken_words(LONG, "de")) == (9, 17)
    assert fit_spoken(LONG, 17, language="de").text == LONG  # type: ignore[union-attr]
    short = fit_spoken(LONG, 16, language="de")
    assert short is not None
    assert short.text == "Die Donaudampfschifffahrtsgesellschaft legt ab."
    assert fit_spoken(LONG, 8, language="de") is None


def test_sentences_that_stay_are_as_many_as_are_said_in_time() -> None:
    assert fit_spoken(TWO, spoken_words(TWO, "de"), language="de").text == TWO  # type: ignore[union-attr]
    assert fit_spoken(TWO, 10, language="de").text == "Er öffnet die Haustür."  # type: ignore[union-attr]


def test_forms_get_shorter_in_time() -> None:
    lengths = [spoken_words(form.text, "de") for form in variants(TWO, language="de")]
    assert len(lengths) > 1
    assert lengths == sorted(set(lengths), reverse=True)


@pytest.mark.parametrize(
    ("language", "text", "budget", "fitted"),
    [
        ("zh-Hans", "他打开门。外面下雨了。", 6, "他打开门。"),
        ("zh-Hans", "他打开门，走进去。", 5, "他打开门。"),
        ("ja", "彼はドアを開ける。雨が降る。", 7, "彼はドアを開ける。"),
        ("zh-Hans", "他打开门走进去了然后坐下", 6, None),
    ],
)
def test_chinese_and_japanese_are_cut_at_their_own_signs(
    language: str, text: str, budget: int, fitted: str | None
) -> None:
    found = fit_spoken(text, budget, language=language)
    assert (found.text if found else None) == fitted


PIECES = "Er geht, und sie. Tür Haustür; langsam – er! Дом дверь. هو يذهب، ثم."
WORDS = st.lists(st.sampled_from(PIECES.split(" ")))


@given(
    WORDS.map(" ".join), st.integers(1, 30), st.sampled_from(["de", "ru", "ar", "fi", "hi", "zh", "ja", "th"])
)
def test_what_fits_is_said_in_time(text: str, budget: int, language: str) -> None:
    found = fit_spoken(text, budget, language=language)
    if found is not None:
        assert spoken_words(found.text, language) <= budget
        assert bool(found.steps) == (found.text != text)


@pytest.mark.parametrize(
    ("language", "text", "parts"),
    [
        ("de", "Er kommt am 3. Mai an. Öffnet er die Tür?", ["Er kommt am 3. Mai an.", "Öffnet er die Tür?"]),
        ("ru", "Он входит. Она молчит.", ["Он входит.", "Она молчит."]),
        ("ar", "يدخل الرجل. هل تراه؟ لا.", ["يدخل الرجل.", "هل تراه؟", "لا."]),
        ("hi", "वह आता है। वह जाती है।", ["वह आता है।", "वह जाती है।"]),
        ("zh", "他走进来。她沉默。", ["他走进来。", "她沉默。"]),
        ("es", "Entra. ¿Quién es?", ["Entra.", "¿Quién es?"]),
        ("de", "„Halt!“ ruft er.", ["„Halt!“ ruft er."]),
        ("en", "He comes on May 3. A dog barks.", ["He comes on May 3.", "A dog barks."]),
    ],
)
def test_sentences_end_as_their_language_has_it(language: str, text: str, parts: list[str]) -> None:
    assert split_sentences(text, language) == parts
