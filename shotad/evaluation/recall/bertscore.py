"""BERTScore (Zhang et al. 2020): how alike two sentences are, by the vectors of their words in context.

Each word of one sentence is held against the word of the other that is most like it; precision is the mean
over the prediction's words, recall that over the reference's, and the score their harmonic mean. As in the
authors' bert_score 0.3.13 without frequencies: the marks of beginning and end are matched with, but not
counted. The numbers are those of that program (table below; a test holds ours against it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.script import TokenVectors

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Published:
    """What BERTScore's authors chose and measured for a model: its ``repo`` on the hub, the ``layer``, and
    the F of sentences that have nothing to do with each other in English at that layer."""

    repo: str
    layer: int
    baseline: float | None = None


PUBLISHED = {
    known.repo.partition("/")[2]: known
    for known in (
        Published("FacebookAI/roberta-large", 17, 0.83122575),
        Published("FacebookAI/roberta-base", 10, 0.814463),
        Published("FacebookAI/roberta-large-mnli", 19, 0.6896288),
        Published("FacebookAI/xlm-roberta-base", 9, 0.81639785),
        Published("FacebookAI/xlm-roberta-large", 17, 0.8525485),
        Published("google-bert/bert-base-uncased", 9, 0.35219112),
        Published("google-bert/bert-large-uncased", 18, 0.42646673),
        Published("google-bert/bert-base-multilingual-cased", 9, 0.63146895),
        Published("distilbert/distilbert-base-uncased", 5, 0.66620487),
        Published("distilbert/distilroberta-base", 5, 0.8473319),
        Published("albert/albert-base-v2", 9, 0.56031275),
        Published("albert/albert-xxlarge-v2", 8, 0.23519956),
        Published("microsoft/deberta-base-mnli", 9, 0.52866036),
        Published("microsoft/deberta-large-mnli", 18, 0.45173016),
        Published("microsoft/deberta-xlarge-mnli", 40, 0.5150192),
        Published("microsoft/mpnet-base", 8),
        Published("microsoft/deberta-v3-base", 9),
        Published("microsoft/deberta-v3-large", 12),
    )
}
"""By the model's name without its owner. Source: bert_score 0.3.13, ``model2layers`` and
``rescale_baseline/en``."""


def published(model: str) -> Published | None:
    """What is published for a model, by its short name, repository, or folder of the same name.

    >>> published("FacebookAI/roberta-large").layer
    17
    """
    return PUBLISHED.get(model.rstrip("/").rpartition("/")[2])


def rescaled(score: float, baseline: float | None) -> float:
    """A score on the scale where unrelated sentences have 0. No ranks change by it."""
    return score if baseline is None else (score - baseline) / (1 - baseline)


def f_scores(predictions: Sequence[TokenVectors], references: Sequence[TokenVectors]) -> Scores:
    """float64[p, r], of each prediction with each reference; 0 where one of them has no word."""
    scores = np.zeros((len(predictions), len(references)))
    rows = [i for i, text in enumerate(predictions) if text.words.any()]
    columns = [i for i, text in enumerate(references) if text.words.any()]
    if rows and columns:
        scores[np.ix_(rows, columns)] = _matched(
            [predictions[i] for i in rows], [references[i] for i in columns]
        )
    return scores


def _matched(predictions: Sequence[TokenVectors], references: Sequence[TokenVectors]) -> Scores:
    """One product of all words with all words, then the best of each text and the mean over the words."""
    ours, theirs = _starts(predictions), _starts(references)
    alike = (
        np.concatenate([text.vectors for text in predictions])
        @ np.concatenate([text.vectors for text in references]).T
    )
    precision = _means(np.maximum.reduceat(alike, theirs, axis=1), predictions, ours)
    recall = _means(np.maximum.reduceat(alike, ours, axis=0).T, references, theirs).T
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)


def _starts(texts: Sequence[TokenVectors]) -> npt.NDArray[np.intp]:
    return np.cumsum([0, *(len(text.words) for text in texts[:-1])])


def _means(
    best: npt.NDArray[np.float32], texts: Sequence[TokenVectors], starts: npt.NDArray[np.intp]
) -> Scores:
    """``[tokens, n] → [texts, n]``: the mean over each text's words."""
    words = np.concatenate([text.words for text in texts]).astype(np.float64)
    sums = np.add.reduceat(best * words[:, None], starts, axis=0)
    return np.asarray(sums / np.add.reduceat(words, starts)[:, None], np.float64)
