"""The formula, on vectors that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.evaluation.metrics.action import Phrase, PredictionTexts, Table, matches

TEXTS = ["act", "near", "far", "against", "other"]
VECTORS = np.array([[1, 0], [0.8, 0.6], [0.6, 0.8], [-1, 0], [0, 1]], np.float32)
TABLE = Table(TEXTS, VECTORS)
ACT = Phrase("act", "run")


def score_of(told: PredictionTexts, action: Phrase = ACT, weight: float = 0.8) -> float:
    return matches([action], told, TABLE, weight)[0].score


def test_similarity_is_the_best_of_texts_and_phrases() -> None:
    assert score_of(PredictionTexts(("far", "near"))) == pytest.approx(0.8 * 0.8)
    assert score_of(PredictionTexts(("far",), (Phrase("near", "sit"),))) == pytest.approx(0.8 * 0.8)


def test_the_verb_counts_where_the_lemma_is_the_same() -> None:
    told = PredictionTexts(("near",), (Phrase("far", "run"), Phrase("other", "run"), Phrase("near", "sit")))
    found = matches([ACT], told, TABLE, 0.8)[0]
    assert (found.similarity, found.verb) == (pytest.approx(0.8), pytest.approx(0.6))
    assert found.score == pytest.approx(0.8 * 0.8 + 0.2 * 0.6)
    assert (found.nearest, found.phrase) == ("near", "far")
    assert found.to_json()["phrase"] == "far"


def test_no_lemma_equals_no_lemma() -> None:
    assert score_of(PredictionTexts((), (Phrase("near", None),)), Phrase("act", None)) == pytest.approx(
        0.8 * 0.8
    )


def test_a_phrase_against_the_action_lowers_only_where_all_have_its_verb() -> None:
    # As in the published code: products with other verbs are 0, and the largest is taken.
    assert score_of(PredictionTexts((), (Phrase("against", "run"),))) == pytest.approx(-1)
    assert score_of(
        PredictionTexts((), (Phrase("against", "run"), Phrase("against", "sit")))
    ) == pytest.approx(-0.8)


def test_the_action_itself_scores_exactly_one_and_nothing_scores_zero() -> None:
    assert score_of(PredictionTexts((), (Phrase("act", "run"),))) == 1
    assert score_of(PredictionTexts(("act",))) == pytest.approx(0.8)
    assert score_of(PredictionTexts()) == 0


def test_the_weight_is_the_meanings() -> None:
    told = PredictionTexts((), (Phrase("near", "run"), Phrase("act", "sit")))
    assert score_of(told, weight=1) == 1
    assert score_of(told, weight=0) == pytest.approx(0.8)


def test_cosines_are_bounded_and_equal_texts_are_one() -> None:
    long = Table(["a", "b"], np.array([[1.0001, 0], [-1.0001, 0]], np.float32))
    assert long.cosines(["a", "b"], ["a", "b"]).tolist() == [[1, -1], [-1, 1]]
