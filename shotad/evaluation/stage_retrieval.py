"""Which scenes or memories of STAGE are nearest to a question: by words (BM25), by vectors, or by both.

The paper fuses BM25 and dense vectors over scenes and gives no number. The numbers of `hybrid_chooser` are
those of its authors' runner of Task II (github.com/roytian1992/NarrativeKnowledgeWeaver, commit 1c6bc5a,
``experiments/stage/run_stage_task2_hybrid_rag_benchmark.py``): the 8 nearest of each, fused by reciprocal
rank with 60, the 8 best of these.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core.errors import EvaluationError
from shotad.evaluation.stage import StageScene
from shotad.evaluation.store import LONGEST, MetricContext, vectors_of

Scores = npt.NDArray[np.float64]
"""float64[n], one for each text: the nearer, the higher."""

TOP = 4
"""Memories that are given (paper, section 4); so many scenes where BM25 or vectors alone choose them."""
TOP_FUSED = 8
"""Scenes, or parts of the graph, that each of the paper's three methods gives."""
RANKS = 60
"""What is added to a rank before its reciprocal counts (Cormack et al., SIGIR 2009): the first place of one
ranking is then worth little more than the second."""
K1, B, FLOOR = 1.5, 0.75, 0.25
"""As rank-bm25 0.2.2, which STAGE's own runs use; the last is what a word that more than half of the texts
have weighs, of the mean weight."""

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
        texts_with_word = Counter(word for counts in self._counts for word in counts)
        weights: dict[str, float] = {}
        for word, count in texts_with_word.items():
            weights[word] = math.log(len(texts) - count + 0.5) - math.log(count + 0.5)
        # A word in more than half of the texts would weigh less than nothing.
        least_weight = FLOOR * sum(weights.values()) / max(1, len(weights))
        self._weights = {word: least_weight if weight < 0 else weight for word, weight in weights.items()}

    def scores(self, query: Sequence[str]) -> Scores:
        """How near each text is to the words of ``query``; one that stands twice counts twice."""
        total = np.zeros(len(self._counts))
        for word in query:
            if word in self._weights:
                times = np.array([counts[word] for counts in self._counts], np.float64)
                total += self._weights[word] * times * (K1 + 1) / (times + self._norms)
        return total


Choose = Callable[[str], list[int]]
"""A query → the places of what is given, the nearest first; of equals, the one that comes first."""


def chooser(setting: str, texts: Sequence[str], language: str, context: MetricContext, top: int) -> Choose:
    """How a setting chooses among ``texts``: ``none``, ``full``, ``bm25`` or ``dense``. Raises ShotadError
    where vectors cannot be counted here."""
    count = {"none": 0, "full": len(texts)}.get(setting, top)
    if setting == "bm25":
        index = Bm25([words_of(text, language) for text in texts])
        return lambda query: _best_places(index.scores(words_of(query, language)), count)
    if setting == "dense" and texts:
        service = vectors_of(context)
        vectors = service.of(texts)
        return lambda query: _best_places(vectors @ service.of([query])[0], count)
    return lambda query: list(range(count))[: len(texts)]


def hybrid_chooser(scenes: Sequence[StageScene], language: str, context: MetricContext, top: int) -> Choose:
    """The scenes that words and vectors together put first: each ranks ``top`` scenes, and a scene's ranks
    add up by reciprocal rank fusion. Of equals the one that is nearer by vectors comes first.

    A vector is of a text's first `LONGEST` characters, and scenes are longer. So a scene counts by the
    nearest of its passages. Raises ShotadError where vectors cannot be counted here.
    """
    index = Bm25([words_of(scene_text(scene), language) for scene in scenes])
    service = vectors_of(context)
    if not scenes:
        return lambda query: []
    passages: list[str] = []
    scene_of_passage: list[int] = []
    for place, scene in enumerate(scenes):
        for passage in passages_of(scene_text(scene), LONGEST):
            passages.append(passage)
            scene_of_passage.append(place)
    vectors = service.of(passages)

    def choose(query: str) -> list[int]:
        by_words = index.scores(words_of(query, language))
        by_vectors = np.full(len(scenes), -1.0)
        np.maximum.at(by_vectors, scene_of_passage, vectors @ service.of([query])[0])
        # A scene that shares no word with the question has no place in the ranking by words.
        words_ranking = [place for place in _best_places(by_words, top) if by_words[place] != 0]
        fused = np.zeros(len(scenes))
        for ranking in (words_ranking, _best_places(by_vectors, top)):
            for rank, place in enumerate(ranking, 1):
                fused[place] += 1 / (RANKS + rank)
        order = np.lexsort((-by_vectors, -fused))
        return [int(place) for place in order[:top] if fused[place] > 0]

    return choose


def scene_text(scene: StageScene) -> str:
    """A scene as it is looked for: its heading, and below it all that is done and said."""
    return f"{scene.heading}\n{scene.content}"


def passages_of(text: str, longest: int) -> list[str]:
    """A text in passages of ``longest`` characters at most, cut between lines where one line is not longer.

    >>> passages_of("one\\ntwo\\nthree", 8)
    ['one\\ntwo', 'three']
    """
    passages: list[str] = []
    for line in text.splitlines():
        for start in range(0, max(1, len(line)), longest):
            piece = line[start : start + longest]
            if passages and len(passages[-1]) + 1 + len(piece) <= longest:
                passages[-1] += f"\n{piece}"
            else:
                passages.append(piece)
    return [passage for passage in passages if passage.strip()] or [text[:longest]]


def check_settings(settings: Sequence[str], allowed: Sequence[str]) -> tuple[str, ...]:
    """The settings, each once. Raises EvaluationError for one that the task does not know."""
    for setting in settings:
        if setting not in allowed:
            hint = f"Known: {', '.join(allowed)}."
            raise EvaluationError(f"There is no memory setting {setting!r}.", hint, usage=True)
    return tuple(dict.fromkeys(settings))


def _best_places(scores: npt.NDArray[Any], count: int) -> list[int]:
    return [int(place) for place in np.argsort(-scores, kind="stable")[:count]]
