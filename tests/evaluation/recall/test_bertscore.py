"""BERTScore: by hand on vectors that can be drawn, and equal to its authors' program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shotad.core import ComputeSettings
from shotad.evaluation.metrics.recall import PUBLISHED, f_scores, published
from shotad.script import TokenEncoder, TokenVectors, locate

PREDICTIONS = [
    "Ann opens a door.",
    "Bob sits",
    "A man walks up the stairs slowly.",
    "She waits",
    "the door",
    "Bob sits",
    "",
    "Ann opens a door.",
]
REFERENCES = [
    "Ann opens a door.",
    "Ann opens a door",
    "The man walks up, Bob waits.",
    "He sits.",
    "Bob walks slowly up the stairs",
    "A quick man",
    "Bob sits.",
    "  Bob sits. ",
]
THEIRS = {
    ("bert", 1): [1.0, 0.843548, 0.964191, 0.882976, 0.867737, 0.935827, 0.0, 0.925864],
    ("bert", 2): [1.0, 0.855527, 0.979574, 0.96104, 0.841318, 0.986588, 0.0, 0.921449],
    ("bert", 3): [1.0, 0.874446, 0.971843, 0.94488, 0.89195, 0.962486, 0.0, 0.862108],
    ("roberta", 1): [1.0, 0.757957, 0.808091, 0.446205, 0.742232, 0.807641, 0.0, 0.77369],
    ("roberta", 2): [1.0, 0.915683, 0.776973, 0.654195, 0.918582, 0.944503, 0.0, 0.951624],
    ("roberta", 3): [1.0, 0.765687, 0.464965, 0.663016, 0.93543, 0.837531, 0.0, 0.832762],
}
"""F of these pairs by bert_score 0.3.13 with transformers 4.46.3 on the same two models, pair by pair."""


@pytest.mark.parametrize(("name", "layer"), THEIRS)
def test_equal_to_the_authors_program(name: str, layer: int, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the extra language is not installed")
    from tests.language import tiny_encoders

    folder = getattr(tiny_encoders, f"make_{name}")(tmp_path / name)
    encoder = TokenEncoder(locate(str(folder)), layer, ComputeSettings(device="cpu"))
    scores = f_scores(encoder.of(PREDICTIONS), encoder.of(REFERENCES))
    assert np.diag(scores) == pytest.approx(THEIRS[name, layer], abs=2e-6)


def text(*vectors: tuple[float, float], marks: bool = False) -> TokenVectors:
    words = [True] * len(vectors)
    if marks:
        words[0] = words[-1] = False
    return TokenVectors(np.array(vectors, np.float32).reshape(len(vectors), 2), np.array(words, np.bool_))


EAST, NORTH, WEST = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)


def test_precision_and_recall_by_hand() -> None:
    # Both words of the first are in the second; of its three, two are in the first and one is at right angles.
    scores = f_scores([text(EAST, EAST)], [text(EAST, EAST, NORTH)])
    precision, recall = 1.0, 2 / 3
    assert scores[0, 0] == pytest.approx(2 * precision * recall / (precision + recall))


def test_marks_are_matched_with_but_not_counted() -> None:
    with_marks = text(NORTH, EAST, WEST, marks=True)
    assert f_scores([with_marks], [text(EAST)])[0, 0] == pytest.approx(1)
    assert f_scores([text(NORTH)], [with_marks])[0, 0] == 0  # precision 1 by a mark, recall 0
    assert f_scores([text(NORTH, EAST)], [with_marks])[0, 0] == pytest.approx(1)


def test_many_at_once_are_the_same_as_each_alone() -> None:
    random = np.random.default_rng(0)
    texts = []
    for length in (3, 1, 5, 2):
        rows = random.normal(size=(length, 2))
        texts.append(text(*(rows / np.linalg.norm(rows, axis=1, keepdims=True))))
    alone = [[f_scores([a], [b])[0, 0] for b in texts] for a in texts]
    assert f_scores(texts, texts) == pytest.approx(np.array(alone))
    assert f_scores(texts, texts) == pytest.approx(f_scores(texts, texts).T)
    assert np.diag(f_scores(texts, texts)) == pytest.approx(1)


def test_a_text_without_words_is_like_nothing() -> None:
    empty = TokenVectors(np.zeros((0, 0), np.float32), np.zeros(0, np.bool_))
    marks = text(EAST, WEST, marks=True)
    scores = f_scores([empty, marks, text(EAST)], [text(EAST), empty])
    assert scores.tolist() == [[0, 0], [0, 0], [1, 0]]
    assert f_scores([], [text(EAST)]).shape == (0, 1)


def test_what_is_published_is_found_by_any_name() -> None:
    assert published("roberta-large") is published("FacebookAI/roberta-large")
    assert published("/models/roberta-large/") is PUBLISHED["roberta-large"]
    assert PUBLISHED["roberta-large"].layer == 17
    assert published("minilm") is None
