"""What a recogniser is given to listen to, and to whom its words go."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.core import Interval, Utterance
from shotad.core.types import SpeechKind
from shotad.film.transcript import (
    RATE,
    Word,
    captions,
    dialogue_text,
    joined_words,
    listening_windows,
    split_at_pauses,
    with_words,
    wordless,
)


def words(text: str, start: float = 0.0, each: float = 0.5) -> list[Word]:
    return [Word(word, start + i * each, start + (i + 1) * each) for i, word in enumerate(text.split())]


def test_close_neighbours_are_listened_to_together_up_to_a_window() -> None:
    intervals = [Interval(0.1, 2), Interval(3, 4), Interval(10, 20), Interval(20.1, 40), Interval(59.9, 60)]
    windows = listening_windows(intervals, 60)
    expected = [(0, 4.2), (9.8, 20.2), (20.2, 40.2), (59.7, 60)]
    assert [(w.start, w.end) for w in windows] == [pytest.approx(pair) for pair in expected]
    assert listening_windows([], 60) == []


def test_long_speech_is_divided_where_it_is_quiet() -> None:
    samples = np.random.default_rng(3).normal(0, 0.1, 70 * RATE).astype(np.float32)
    for second in (20, 41):
        samples[second * RATE : second * RATE + RATE // 2] *= 0.01
    parts = list(split_at_pauses(samples))
    assert np.array_equal(np.concatenate([part for _, part in parts]), samples)
    assert all(len(part) <= 28 * RATE for _, part in parts)
    cuts = [offset for offset, _ in parts[1:]]
    assert 20 <= cuts[0] <= 20.5
    assert 41 <= cuts[1] <= 41.5


def test_a_word_goes_to_the_nearest_speech_without_a_text() -> None:
    speech = (
        Utterance(Interval(1, 3)),
        Utterance(Interval(3.2, 4), "By subtitles."),
        Utterance(Interval(4.2, 6)),
        Utterance(Interval(7, 8), kind=SpeechKind.LYRICS),
    )
    assert wordless(speech) == (speech[0], speech[2])
    # Halves of a second from 0.3 s on: "Who" comes before anybody speaks, "old" where there are subtitles, and the
    # last ones where somebody sings.
    spoken = words("Who is there now in our old house la la x y z w", 0.3)
    texts = [utterance.text for utterance in with_words(speech, spoken)]
    assert texts == ["is there now in our", "By subtitles.", "house la la x y", ""]


def test_what_is_known_to_be_invented_is_no_text() -> None:
    for text in ("Thanks for watching!", "[Music]", "(applause)", "♪", "You", "you.", "*sighs*"):
        assert dialogue_text(words(text)) == "", text
    assert dialogue_text(words("[Music] Who is there?")) == "Who is there?"
    assert dialogue_text(words("Thank you.")) == "Thank you."
    assert dialogue_text(words("No, no, no, no!")) == "No, no, no, no!"


def test_words_are_joined_as_their_language_writes_them() -> None:
    assert joined_words(words("鍵 は どこ です か ？")) == "鍵はどこですか？"
    assert joined_words(words("Who is there?")) == "Who is there?"


def test_captions_are_sentences_of_two_lines_at_most() -> None:
    speech = [Utterance(Interval(1, 60))]
    text = "Who is there? " + "word " * 40 + "end."
    rows = captions(speech, words(text, 1))
    assert rows[0] == (Interval(1, 2.5), "Who is there?")
    assert all(len(row) <= 84 for _, row in rows)
    assert " ".join(row for _, row in rows) == text
