"""Recall@k/N (AutoAD-II): of how many ADs is the own human AD among the k that are most like the prediction,
out of N neighbours?

The published code slides a window of N by N//2 along a film and takes only full ones: what stands in the
middle is asked about twice, the last ADs perhaps never, and a film of fewer than N stops it.

How alike two texts are is BERTScore (Zhang et al. 2020), as in the authors' bert_score 0.3.13 without
frequencies: the marks of beginning and end are matched with, but not counted. A test holds ours against it.
"""

from __future__ import annotations

import csv
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from shotad.core.config.measures import RecallSettings
from shotad.core.errors import EvaluationError
from shotad.core.model_cache import ModelNeed
from shotad.core.progress import progress_task, without_folder
from shotad.core.workfolder import hash_key
from shotad.evaluation.metric import Corpus, Json, Metric, Row, says_something
from shotad.evaluation.store import MetricContext
from shotad.script.embeddings import (
    LocalEncoder,
    TokenEncoder,
    TokenVectors,
    check_encoder_name,
    encoder_need,
    find_encoder,
)

TIE = 1e-6
"""Similarities that differ by less are equal: what float32 leaves open of one sentence in two batches."""


Window = tuple[int, int]
"""Neighbours ``[start, end)`` along a film, by their number in it."""


Neighbours = tuple[tuple[int, ...], int, tuple[Window, ...]]
"""What one AD is asked about: places of the corpus along its film, which of these is its own, and the windows
it is in, by numbers of them; itself and in none where it is asked about nothing."""


_PAPER = "roberta-large"
_PAPER_WINDOWS = ((1, 5), (5, 16))
"""k and N of Shot-by-Shot's tables: of CMD-AD and TV-AD, and of MAD-Eval."""
_CHUNK = 1024
"""ADs whose texts are encoded together."""


class Recall(Metric):
    """Sums: of how many windows the own AD was found, of how many it was asked for: twice where it stands in
    two, as in the published code. One that stands in no window of more than k ADs says nothing. A prediction
    without a word is never found. Its similarity to an AD is the largest to any of its references."""

    columns = ("found", "asked")
    model = "encoder"

    def __init__(self, name: str, context: MetricContext) -> None:
        """Fetches nothing. Raises EvaluationError where k leaves nothing to find, WeightsError for a model
        that is none."""
        super().__init__(name, context)
        self._settings = settings = context.settings.recall
        if settings.k >= settings.neighbours:
            raise EvaluationError(
                f"recall.k = {settings.k} of recall.neighbours = {settings.neighbours} finds everything.",
                "Let more neighbours be than are looked at, such as 1 of 5 or 5 of 16.",
            )
        check_encoder_name(source_of(settings.model))
        self._rule = "full" if context.settings.rules == "code" else "all"
        self._pairs: PairScores = context.once("pair scores", lambda: PairScores(context))
        self._corpus: Corpus | None = None
        self._neighbours: list[Neighbours] = []
        self.title = f"Recall@{settings.k}/{settings.neighbours}"

    @classmethod
    def needs(cls, name: str, context: MetricContext) -> tuple[ModelNeed, ...]:
        model, compute = source_of(context.settings.recall.model), context.config.compute
        need = encoder_need(model, compute, context.progress, _SMALLER)
        return () if need is None else (need,)

    @property
    def identity(self) -> Json:
        settings = self._settings
        return {
            "metric": "recall 1",
            "k": settings.k,
            "neighbours": settings.neighbours,
            "windows": self._rule,
            "rescale": self._baseline,
            **self._pairs.identity,
        }

    @property
    def comparable(self) -> bool:
        """True for the paper's model, layer, k and N, whichever windows: they differ in less than 1 of 100
        ADs."""
        return not self._differences()

    def _differences(self) -> list[str]:
        """Sentences: what differs from the paper."""
        settings, differences = self._settings, []
        if published(settings.model) is not PUBLISHED[_PAPER]:
            differences.append(
                f"BERTScore with {without_folder(settings.model)}; the paper's is roberta-large."
            )
        if self._known is None:
            differences.append(f"Vectors of layer {self._pairs.layer} of {self._pairs.place.layers}.")
        if (settings.k, settings.neighbours) not in _PAPER_WINDOWS:
            differences.append("The paper has Recall@1/5 on CMD-AD and TV-AD, and Recall@5/16 on MAD-Eval.")
        return differences

    @property
    def remarks(self) -> tuple[str, ...]:
        """What differs from the paper; and what is left out of the whole dataset, so that all shards say the
        same."""
        remarks = self._differences()
        items = self._corpus.items if self._corpus else ()
        without_window: Counter[str] = Counter()
        twins = 0
        for place, (near, _, windows) in enumerate(self._neighbours):
            if not windows:
                without_window[items[place].film] += 1
            in_windows: set[int] = set()
            for start, end in windows:
                in_windows.update(near[start:end])
            in_windows.discard(place)
            reference = items[place].reference
            twins += any(items[neighbour].reference == reference for neighbour in in_windows)
        if without_window:
            missing = f"no window of more than {self._settings.k}"
            if self._rule == "full":
                missing = f"no full window of {self._settings.neighbours}"
            ads = f"{without_window.total()} ADs of {len(without_window)} films"
            remarks.append(f"{ads} stand in {missing} and are not asked about.")
        if twins:
            remarks.append(
                f"{twins} ADs share a window with another of the same words; of equals the own is first."
            )
        return tuple(remarks)

    @property
    def _known(self) -> Published | None:
        """The published layer and baseline of the model, where that layer is used."""
        published_for_model = published(self._settings.model)
        return (
            published_for_model
            if published_for_model is not None and published_for_model[1] == self._pairs.layer
            else None
        )

    @property
    def _baseline(self) -> float | None:
        return self._known[2] if self._known else None

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        around = self._around(corpus)
        keys = []
        for place in places:
            near, own, windows = around[place]
            keys.append(
                {
                    "prediction": corpus.items[place].prediction,
                    "references": [corpus.items[neighbour].references for neighbour in near],
                    "own": own,
                    "windows": windows,
                }
            )
        return keys

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        around = self._around(corpus)
        for first in range(0, len(places), _CHUNK):
            chunk = places[first : first + _CHUNK]
            pairs: list[Pair] = []
            for place in chunk:
                prediction, (near, _, windows) = corpus.items[place].prediction, around[place]
                if prediction is not None and says_something(prediction) and windows:
                    for neighbour in near:
                        pairs += [(prediction, text) for text in corpus.items[neighbour].references]
            scores = self._pairs.of(pairs)
            for place in chunk:
                yield self._row(corpus, place, around[place], scores)

    def _around(self, corpus: Corpus) -> list[Neighbours]:
        """For each item of the corpus its neighbours, in windows of more than k ADs: in a window of at most k
        ADs any prediction is among the first k.

        Windows have a step of half their size, as long as they fit in. Not in the published code: one more
        window ends with the film where the last does not, and is the whole film where that is shorter.
        """
        if self._corpus is corpus:
            return self._neighbours
        size, above = self._settings.neighbours, self._settings.k
        neighbours: list[Neighbours] = [((i,), 0, ()) for i in range(len(corpus.items))]
        for places in corpus.films().values():
            count = len(places)
            windows = [(start, start + size) for start in range(0, count - size + 1, max(size // 2, 1))]
            if self._rule == "all" and (not windows or windows[-1][1] < count):
                windows.append((max(count - size, 0), count))
            for i, place in enumerate(places):
                own = [(a, b) for a, b in windows if a <= i < b and b - a > above]
                if own:
                    first, last = min(a for a, _ in own), max(b for _, b in own)
                    within = tuple((a - first, b - first) for a, b in own)
                    neighbours[place] = tuple(places[first:last]), i - first, within
        self._neighbours, self._corpus = neighbours, corpus
        return neighbours

    def _row(self, corpus: Corpus, place: int, neighbours: Neighbours, scores: dict[Pair, float]) -> Row:
        """The row of an item; ``scores`` has those of its prediction with the texts of its neighbours."""
        item, (near, index, windows) = corpus.items[place], neighbours
        count = len(windows)
        if not count:
            return Row(item.id, (0.0, 0.0), None, item.missing, {"windows": 0})
        if not says_something(item.prediction):
            return Row(item.id, (0.0, float(count)), 0.0, item.missing)
        prediction = item.prediction or ""
        similarities = []
        for neighbour in near:
            references = corpus.items[neighbour].references
            similarities.append(max(scores[prediction, text] for text in references))
        own, zero = similarities[index], self._baseline
        # Of equals the own one comes first: a prediction that is like two ADs of the same words has found its
        # own. So no order of items decides.
        ranks = [1 + sum(score > own + TIE for score in similarities[a:b]) for a, b in windows]
        hits = sum(rank <= self._settings.k for rank in ranks)
        # On the scale where unrelated sentences have 0; no ranks change by it.
        similarity = own if zero is None else (own - zero) / (1 - zero)
        notes: Json = {"ranks": ranks, "similarity": round(similarity, 4)}
        if min(ranks) > 1:
            best = max(range(len(similarities)), key=lambda i: (similarities[i], i == index))
            notes["more like"] = corpus.items[near[best]].reference
        return Row(item.id, (float(hits), float(count)), 100.0 * hits / count, "", notes)


Pair = tuple[str, str]
"""A prediction and a reference."""

AT_ONCE = 64
"""Texts that are encoded together; it changes no figure."""
_SMALLER = "Set measures.recall.model to minilm, which is not comparable with the paper's figures."
_BATCHES = 8
"""Batches between two reports of progress."""
_ROOM = 1 << 29
"""Bytes of vectors that stay in memory, for the texts that come again."""


class PairScores:
    """BERTScore's F of pairs, before any rescaling, kept by model and layer. The model is loaded when the
    first text has to be encoded."""

    def __init__(self, context: MetricContext) -> None:
        self._context = context
        self._settings: RecallSettings = context.settings.recall
        self._encoder: TokenEncoder | None = None
        self._vectors: dict[str, TokenVectors] = {}

    @cached_property
    def place(self) -> LocalEncoder:
        """Where the model is, fetched if it is not here."""
        return find_encoder(source_of(self._settings.model), self._context.progress)

    @property
    def layer(self) -> int:
        """The layer that BERTScore's authors found best for this model, else the last."""
        model, layers = published(self._settings.model), self.place.layers
        return min(model[1] if model else layers, layers)

    @property
    def identity(self) -> dict[str, str | int]:
        """All that changes a score besides its texts."""
        model = self.place.identity
        half = self._context.config.compute.precision == "bfloat16"
        return {
            "score": "BERTScore F 1",
            "model": model.model,
            "revision": model.revision,
            "layer": self.layer,
            "precision": "bfloat16" if half else "float32",
        }

    def of(self, pairs: Iterable[Pair]) -> dict[Pair, float]:
        """The score of each pair."""
        keys = {pair: hash_key("\0".join(pair)) for pair in dict.fromkeys(pairs)}
        values = self._context.store.get_or_compute(
            f"bertscore/{hash_key(self.identity)}", keys, lambda new: [self._matched(new)]
        )
        return {pair: struct.unpack("<d", value)[0] for pair, value in values.items()}

    def _matched(self, pairs: Sequence[Pair]) -> dict[Pair, bytes]:
        texts = dict.fromkeys(text for pair in pairs for text in pair)
        missing = sorted(
            (text for text in texts if text not in self._vectors), key=lambda text: (len(text), text)
        )
        size = AT_ONCE * _BATCHES
        with progress_task(self._context.progress, "Comparing words", len(missing), "texts") as task:
            for group in (missing[first : first + size] for first in range(0, len(missing), size)):
                if self._encoder is None:
                    compute = self._context.config.compute
                    self._encoder = TokenEncoder(self.place, self.layer, compute, AT_ONCE, _SMALLER)
                self._vectors.update(zip(group, self._encoder.of(group), strict=True))
                task.advance(len(group))
        scores = {pair: f_score(*(self._vectors[text] for text in pair)) for pair in pairs}
        # Those that came first are forgotten, until the others take no more than `_ROOM`.
        room = sum(vectors.nbytes for vectors, _ in self._vectors.values())
        for text in list(self._vectors):
            if room <= _ROOM:
                break
            room -= self._vectors.pop(text)[0].nbytes
        return {pair: struct.pack("<d", score) for pair, score in scores.items()}


def source_of(model: str) -> str:
    """Where a model is looked for: its repository, where only its short name is given."""
    return PUBLISHED[model][0] if model in PUBLISHED and not Path(model).is_dir() else model


Published = tuple[str, int, float | None]
"""What BERTScore's authors chose and measured for a model: its repository on the hub, the layer, and the F of
sentences that have nothing to do with each other in English at that layer."""


def _published() -> Iterator[Published]:
    with Path(__file__).with_name("bertscore.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield row["repo"], int(row["layer"]), float(row["baseline"]) if row["baseline"] else None


PUBLISHED = {known[0].partition("/")[2]: known for known in _published()}
"""By the model's name without its owner. Source: bert_score 0.3.13, ``model2layers`` and
``rescale_baseline/en``."""


def published(model: str) -> Published | None:
    """What is published for a model, by its short name, repository, or folder of the same name.

    >>> published("FacebookAI/roberta-large")[1]
    17
    """
    return PUBLISHED.get(model.rstrip("/").rpartition("/")[2])


def f_score(prediction: TokenVectors, reference: TokenVectors) -> float:
    """BERTScore's F; 0 where one of them has no word."""
    (ours, words), (theirs, reference_words) = prediction, reference
    if not (words.any() and reference_words.any()):
        return 0.0
    alike = (ours @ theirs.T).astype(np.float64)
    precision = alike.max(axis=1)[words].mean()
    recall = alike.max(axis=0)[reference_words].mean()
    total = precision + recall
    return float(2 * precision * recall / total) if total else 0.0
