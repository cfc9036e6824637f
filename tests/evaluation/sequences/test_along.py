"""Lines before a line, and runs of words that come again."""

from __future__ import annotations

import pytest

from shotad.core import Interval
from shotad.evaluation import Corpus
from shotad.evaluation.metric import Item
from shotad.evaluation.metrics.sequences import before_of, human, predicted, repeated, words_of
from tests.evaluation.measuring import corpus_of


def test_words() -> None:
    assert words_of("Ann’s T-shirt -- 'red' … no. 5!") == ("ann's", "t-shirt", "red", "no", "5")
    assert words_of("…") == ()
    assert words_of(None) == ()


def test_the_last_lines_are_those_that_were_heard() -> None:
    corpus = corpus_of(
        [("r0", "One."), ("r1", None), ("r2", "…"), ("r3", "Two."), ("r4", "Three."), ("r5", "x")]
    )
    assert before_of(corpus, 2, predicted) == [
        (),
        ("One.",),
        ("One.",),
        ("One.",),
        ("One.", "Two."),
        ("Two.", "Three."),
    ]
    assert before_of(corpus, 1, human)[2] == ("r1",)


def test_films_are_apart_and_time_decides() -> None:
    places = [("a", 9), ("b", 0), ("a", 3)]
    items = [Item(str(i), f, Interval(t, t + 1), ("r",), f"p{i}") for i, (f, t) in enumerate(places)]
    assert before_of(Corpus(tuple(items)), 5, predicted) == [("p2",), (), ()]


@pytest.mark.parametrize(
    ("line", "before", "runs", "total"),
    [
        ("She smiles at Bob.", ["Ann smiles at Bob again."], ("smiles at bob",), 2),
        ("She smiles at Bob.", ["SHE SMILES, at Bob!"], ("she smiles at", "smiles at bob"), 2),
        ("He smiles.", ["He turns.", "Then he smiles again."], ("he smiles",), 1),
        ("He smiles.", ["He turns."], (), 1),
        ("Later.", ["Much later."], ("later",), 1),
        ("She steps out of the house.", ["He runs out of the fog."], (), 3),
        ("Out of the", ["out of the"], (), 0),
        ("", ["He turns."], (), 0),
        ("red red red red", ["red red red"], ("red red red", "red red red"), 2),
        ("Ann walks up.", [], (), 1),
    ],
)
def test_runs_that_come_again(line: str, before: list[str], runs: tuple[str, ...], total: int) -> None:
    found = repeated(line, before, 3)
    assert (found.runs, found.total) == (runs, total)
