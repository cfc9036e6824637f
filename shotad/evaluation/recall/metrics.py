"""Recall@k/N (AutoAD-II): of how many ADs is the own human AD among the k that are most like the prediction,
out of N neighbours?

Windows of neighbouring ADs, and where the own AD stands in one. Pure logic.

The published code (AutoAD-II) slides a window of N by N//2 along a film and takes only full ones: what stands
in the middle is asked about twice, the last ADs perhaps never, and a film of fewer than N stops it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from shotad.core import EvaluationError
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.rows import Figure, Json, Row
from shotad.evaluation.recall.bertscore import PUBLISHED, published, rescaled
from shotad.evaluation.recall.pairs import Pair, PairScores, pair_scores, source_of
from shotad.script import check_name

Rule = Literal["all", "full"]

TIE = 1e-6
"""Similarities that differ by less are equal: what float32 leaves open of one sentence in two batches."""


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbours ``[start, end)`` along a film, by their number in it."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


def windows_of(count: int, size: int, rule: Rule) -> tuple[Window, ...]:
    """The windows of a film of ``count`` ADs, in order.

    ``full``: windows of ``size`` with a step of ``size // 2``, as long as they fit in. ``all``: besides, one
    that ends with the film where the last does not, and the whole film where it is shorter than ``size``.

    >>> [(w.start, w.end) for w in windows_of(8, 5, "all")]
    [(0, 5), (2, 7), (3, 8)]
    """
    starts = range(0, count - size + 1, max(size // 2, 1))
    found = [Window(start, start + size) for start in starts]
    if rule == "all" and count and (not found or found[-1].end < count):
        found.append(Window(max(count - size, 0), count))
    return tuple(found)


def rank_of(similarities: Sequence[float] | npt.NDArray[np.float64], own: int) -> int:
    """The own AD's place among the candidates, from 1.

    Counted are only those that are more similar: of equals the own one comes first, since a prediction that
    is like two ADs of the same words has found its own. So no order of items decides.

    >>> rank_of([0.5, 0.9, 0.9], 2), rank_of([0.5, 0.9, 0.9], 0)
    (1, 3)
    """
    scores = np.asarray(similarities, np.float64)
    return 1 + int(np.count_nonzero(scores > scores[own] + TIE))


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What one AD is asked about: ``places`` of the corpus along its film, itself at ``own``, and the windows
    it is in, by numbers of ``places``."""

    places: tuple[int, ...]
    own: int
    windows: tuple[Window, ...]


def neighbours_of(corpus: Corpus, size: int, rule: Rule, above: int) -> list[Neighbours]:
    """For each item of the corpus its neighbours, in windows of more than ``above`` ADs.

    In a window of at most k ADs whatever is predicted is among the first k, which tests nothing.
    """
    found: list[Neighbours] = [Neighbours((i,), 0, ()) for i in range(len(corpus.items))]
    for places in corpus.films().values():
        windows = [w for w in windows_of(len(places), size, rule) if len(w) > above]
        for i, place in enumerate(places):
            found[place] = _around(i, places, [w for w in windows if w.start <= i < w.end])
    return found


def _around(i: int, places: Sequence[int], windows: Sequence[Window]) -> Neighbours:
    if not windows:
        return Neighbours((places[i],), 0, ())
    first, last = min(w.start for w in windows), max(w.end for w in windows)
    within = tuple(Window(w.start - first, w.end - first) for w in windows)
    return Neighbours(tuple(places[first:last]), i - first, within)


_PAPER = "roberta-large"
_PAPER_WINDOWS = ((1, 5), (5, 16))
"""k and N of Shot-by-Shot's tables: of CMD-AD and TV-AD, and of MAD-Eval."""
_CHUNK = 1024
"""ADs whose texts are encoded together."""


class Recall:
    """Sums: of how many windows the own AD was found, of how many it was asked for.

    An AD that stands in two windows counts twice, as in the published code. One that stands in no window of
    more than k ADs says nothing: its value is None. A prediction that is missing, or has no word, is never
    found. The similarity of a prediction to an AD is the largest to any of its references.
    """

    name = "recall"
    columns = ("found", "asked")
    figure = Figure("share", 100.0)
    higher_is_better = True

    def __init__(self, bench: Bench) -> None:
        self._settings = bench.settings.recall
        self._pairs: PairScores = pair_scores(bench)
        self._corpus: Corpus | None = None
        self._neighbours: list[Neighbours] = []
        self.title = f"Recall@{self._settings.k}/{self._settings.neighbours}"

    @classmethod
    def of(cls, name: str, bench: Bench) -> Self:
        """Fetches the model if it is not here. Raises EvaluationError where k leaves nothing to find or the
        model has no such layer, WeightsError for a model that is none or cannot be had."""
        del name
        wanted = bench.settings.recall
        if wanted.k >= wanted.neighbours:
            raise EvaluationError(
                f"recall.k = {wanted.k} of recall.neighbours = {wanted.neighbours} finds everything.",
                "Let more neighbours be than are looked at, such as 1 of 5 or 5 of 16.",
            )
        check_name(source_of(wanted.model))
        made = cls(bench)
        made._pairs.identity  # noqa: B018  a model that cannot be had is said now
        return made

    @property
    def identity(self) -> Json:
        wanted = self._settings
        return {
            "metric": "recall 1",
            "k": wanted.k,
            "neighbours": wanted.neighbours,
            "windows": wanted.windows,
            "rescale": self._baseline,
            **self._pairs.identity,
        }

    @property
    def comparable(self) -> bool:
        """True for the paper's model, layer, k and N, whichever windows: they differ in less than 1 of 100
        ADs."""
        known = published(self._settings.model)
        paper = PUBLISHED[_PAPER]
        windows = (self._settings.k, self._settings.neighbours)
        return known is paper and self._pairs.layer == paper.layer and windows in _PAPER_WINDOWS

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(self._remarks())

    def _remarks(self) -> Iterator[str]:
        wanted = self._settings
        if published(wanted.model) is not PUBLISHED[_PAPER]:
            yield f"BERTScore with {wanted.model}; the paper's is roberta-large."
        known = published(wanted.model)
        if known is None or known.layer != self._pairs.layer:
            yield f"Vectors of layer {self._pairs.layer} of {self._pairs.place.layers}."
        if (wanted.k, wanted.neighbours) not in _PAPER_WINDOWS:
            yield "The paper has Recall@1/5 on CMD-AD and TV-AD, and Recall@5/16 on MAD-Eval."
        yield from self._left_out()

    def _left_out(self) -> Iterator[str]:
        """Of the whole dataset, so that all shards say the same."""
        if self._corpus is None:
            return
        without = [i for i, those in enumerate(self._neighbours) if not those.windows]
        if without:
            films = len({self._corpus.items[i].film for i in without})
            why = (
                f"no full window of {self._settings.neighbours}"
                if self._settings.windows == "full"
                else f"no window of more than {self._settings.k}"
            )
            yield f"{len(without)} ADs of {films} films stand in {why} and are not asked about."
        twins = self._twins()
        if twins:
            yield f"{twins} ADs share a window with another of the same words; of equals the own is first."

    def _twins(self) -> int:
        assert self._corpus is not None
        items = self._corpus.items
        found = 0
        for place, those in enumerate(self._neighbours):
            shared = {p for w in those.windows for p in those.places[w.start : w.end]} - {place}
            found += any(items[p].reference == items[place].reference for p in shared)
        return found

    @property
    def _baseline(self) -> float | None:
        known = published(self._settings.model)
        if not self._settings.rescale or known is None or known.layer != self._pairs.layer:
            return None
        return known.baseline

    def basis(self, corpus: Corpus) -> str:
        """Nothing: a row needs its neighbours alone."""
        return ""

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """The prediction, the neighbours' references in order, the own place and the windows."""
        around = self._around(corpus)
        return [
            {
                "prediction": corpus.items[place].prediction,
                "references": [corpus.items[p].references for p in around[place].places],
                "own": around[place].own,
                "windows": [(w.start, w.end) for w in around[place].windows],
            }
            for place in places
        ]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        around = self._around(corpus)
        for first in range(0, len(places), _CHUNK):
            chunk = places[first : first + _CHUNK]
            scores = self._pairs.of(pair for place in chunk for pair in _pairs(corpus, place, around[place]))
            for place in chunk:
                yield self._row(corpus, place, around[place], scores)

    def _around(self, corpus: Corpus) -> list[Neighbours]:
        if self._corpus is not corpus:
            wanted = self._settings
            self._neighbours = neighbours_of(corpus, wanted.neighbours, wanted.windows, wanted.k)
            self._corpus = corpus
        return self._neighbours

    def _row(self, corpus: Corpus, place: int, those: Neighbours, scores: dict[Pair, float]) -> Row:
        item = corpus.items[place]
        failure = (item.failure or "no prediction") if item.prediction is None else ""
        asked = len(those.windows)
        if not asked:
            return Row(item.id, (0.0, 0.0), None, failure, {"windows": 0})
        if not _has_words(item.prediction):
            return Row(item.id, (0.0, float(asked)), 0.0, failure)
        alike = [_similarity(item.prediction, corpus.items[p], scores) for p in those.places]
        ranks = [rank_of(alike[w.start : w.end], those.own - w.start) for w in those.windows]
        found = sum(rank <= self._settings.k for rank in ranks)
        return Row(
            item.id,
            (float(found), float(asked)),
            100.0 * found / asked,
            "",
            self._notes(corpus, those, alike, ranks),
        )

    def _notes(self, corpus: Corpus, those: Neighbours, alike: Sequence[float], ranks: Sequence[int]) -> Json:
        best = max(range(len(alike)), key=lambda i: (alike[i], i == those.own))
        notes: Json = {
            "ranks": list(ranks),
            "similarity": round(rescaled(alike[those.own], self._baseline), 4),
        }
        if min(ranks) > 1:
            notes["more like"] = corpus.items[those.places[best]].reference
        return notes


def _has_words(text: str | None) -> bool:
    return text is not None and any(char.isalnum() for char in text)


def _pairs(corpus: Corpus, place: int, those: Neighbours) -> Iterator[Pair]:
    prediction = corpus.items[place].prediction
    if prediction is not None and _has_words(prediction) and those.windows:
        for neighbour in those.places:
            for reference in corpus.items[neighbour].references:
                yield prediction, reference


def _similarity(prediction: str | None, item: Item, scores: dict[Pair, float]) -> float:
    return max(scores[prediction or "", reference] for reference in item.references)
