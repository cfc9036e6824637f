"""What a model is given of a character's memories, or of a screenplay's scenes: nothing, all, or the ``top``
that are nearest to what is asked, by BM25 or by their vectors.

BM25 is Okapi's with the numbers of rank-bm25 0.2.2, which STAGE's own runs use: k1 1.5, b 0.75, and a quarter
of the mean weight for a word that more than half of the texts have, whose own weight is below 0.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from shotad.core import EvaluationError
from shotad.evaluation.store import MetricContext, vectors_of

Scores = npt.NDArray[np.float64]
"""float64[n], one for each text: the nearer, the higher."""

TOP = 4
"""Memories that are given (paper, section 4)."""
K1, B, FLOOR = 1.5, 0.75, 0.25

_WORD = {"zh": re.compile(r"[a-z0-9_]+|[\u4e00-\u9fff]")}
_USUAL = re.compile(r"[a-z0-9']+")


def words_of(text: str, language: str) -> list[str]:
    """The words by which texts are compared; of Chinese each character.

    >>> words_of("Ann's 2 cats", "en")
    ["ann's", '2', 'cats']
    """
    return _WORD.get(language, _USUAL).findall(text.lower())


class Bm25:
    """The weights of ``texts`` (lists of words), counted once."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(text) for text in texts]
        lengths = np.array([len(text) for text in texts], np.float64)
        mean = lengths.mean() if lengths.size and lengths.any() else 1.0
        self._norms = K1 * (1 - B + B * lengths / mean)
        found = Counter(word for counts in self._counts for word in counts)
        weights = {
            word: math.log(len(texts) - times + 0.5) - math.log(times + 0.5) for word, times in found.items()
        }
        floor = FLOOR * sum(weights.values()) / max(1, len(weights))
        self._weights = {word: floor if weight < 0 else weight for word, weight in weights.items()}

    def scores(self, query: Sequence[str]) -> Scores:
        """How near each text is to the words of ``query``; one that stands twice counts twice."""
        total = np.zeros(len(self._counts))
        for word in query:
            if word in self._weights:
                times = np.array([counts[word] for counts in self._counts], np.float64)
                total += self._weights[word] * times * (K1 + 1) / (times + self._norms)
        return total


def _by_bm25(texts: Sequence[str], language: str, context: MetricContext) -> Callable[[str], Scores]:
    index = Bm25([words_of(text, language) for text in texts])
    return lambda query: index.scores(words_of(query, language))


def _by_vectors(texts: Sequence[str], language: str, context: MetricContext) -> Callable[[str], Scores]:
    service = vectors_of(context)
    vectors = service.of(texts)
    return lambda query: np.asarray(vectors @ service.of([query])[0], np.float64) if texts else np.zeros(0)


_RANKERS = {"bm25": _by_bm25, "dense": _by_vectors}
SETTINGS = ("none", "full", *_RANKERS)
"""What may be given."""


class Chooser:
    """Chooses among ``texts`` for each query, as the ``setting`` says.

    Raises EvaluationError for an unknown one; ShotadError where vectors cannot be counted here.
    """

    def __init__(
        self, setting: str, texts: Sequence[str], language: str, context: MetricContext, top: int
    ) -> None:
        if setting not in SETTINGS:
            known = f"Known: {', '.join(SETTINGS)}."
            raise EvaluationError(f"There is no memory setting {setting!r}.", known, usage=True)
        self._top = {"none": 0, "full": len(texts)}.get(setting, top)
        make = _RANKERS.get(setting)
        self._rank = make(texts, language, context) if make else lambda query: np.zeros(len(texts))

    def of(self, query: str) -> list[int]:
        """The places of what is given, the nearest first; of equals, the one that comes first."""
        scores = self._rank(query)
        return sorted(range(len(scores)), key=lambda place: -scores[place])[: self._top]
