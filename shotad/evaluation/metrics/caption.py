"""CIDEr, BLEU and ROUGE-L as metrics of items; equal to the COCO caption tools, without Java.

BLEU: Papineni et al., ACL 2002. ROUGE-L: Lin, 2004, as the COCO tool weighs it. CIDEr: Vedantam, Zitnick
and Parikh, CVPR 2015: the cosine of weighted n-gram counts, averaged over n of 1 to 4. What the COCO tool
calls CIDEr is their CIDEr-D: a repeated n-gram counts no more than in the reference, and a different length
is punished. Both are times ten, as in their programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from math import sqrt
from operator import add, or_

import numpy as np

from shotad.core import key_of
from shotad.evaluation.metric import Corpus, Figure, Floats, Item, Json, Metric, Row
from shotad.evaluation.metrics.ptb import VERSION, tokens
from shotad.evaluation.store import MetricContext

FEW = 100
"""Items below which frequencies of words say little."""


class CaptionMetric(Metric):
    """What metrics of texts have in common: a row depends on the item's texts, and on nothing else of it."""

    columns: tuple[str, ...] = ("score", "items")

    def __init__(self, name: str, context: MetricContext) -> None:
        super().__init__(name, context)
        self._store = context.store

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        items = [corpus.items[place] for place in places]
        return [{"prediction": item.prediction, "references": list(item.references)} for item in items]

    def _tokens(self, texts: Iterable[str]) -> list[tuple[str, ...]]:
        """Those of the COCO chain (`shotad.evaluation.metrics.ptb`) of each text, in order."""
        wanted = list(texts)
        keys = {text: key_of(text) for text in dict.fromkeys(wanted)}
        lines = self._store.filled(
            f"tokens/{VERSION}", keys, lambda new: [{text: " ".join(tokens(text)).encode() for text in new}]
        )
        found = {text: tuple(line.decode().split(" ")) if line else () for text, line in lines.items()}
        return [found[text] for text in wanted]

    def _predictions(self, items: Sequence[Item]) -> list[tuple[str, ...]]:
        """Tokens of what was predicted; none of a missing prediction."""
        return self._tokens(item.prediction or "" for item in items)

    def _references(self, items: Sequence[Item]) -> list[list[tuple[str, ...]]]:
        """Tokens of every human AD of each item."""
        found = iter(self._tokens(text for item in items for text in item.references))
        return [[next(found) for _ in item.references] for item in items]

    def _share(self, item: Item, score: float) -> Row:
        """The row of a score of 0 to 1, which is averaged over items."""
        return Row(item.id, (score, 1.0), self.figure.factor * score, item.missing)


_FIRST = "Not the CIDEr-D of the COCO tool, which papers call CIDEr: not comparable with their numbers."


class Cider(CaptionMetric):
    """``cider``: the COCO tool's, which is CIDEr-D; ``cider-plain``: the first definition. Times 100.

    Frequencies are those of all references of the corpus, also where a shard of it is scored.
    """

    def __init__(self, name: str, context: MetricContext) -> None:
        super().__init__(name, context)
        self._plain = name == "cider-plain"
        self.title = "CIDEr, first definition" if self._plain else "CIDEr"
        self._few: tuple[str, ...] = ()

    @property
    def comparable(self) -> bool:
        return not self._plain

    @property
    def remarks(self) -> tuple[str, ...]:
        return (*((_FIRST,) if self._plain else ()), *self._few)

    @property
    def identity(self) -> Json:
        kind = {"definition": "CIDEr-D", "sigma": SIGMA}
        if self._plain:
            kind = {"definition": "CVPR 2015, no stems"}
        return {"metric": self.name, **kind, "longest": LONGEST, "tokens": VERSION}

    def basis(self, corpus: Corpus) -> str:
        """Hash of all references. What is to be remarked on them is known from here on."""
        n = len(corpus.items)
        few = f"CIDEr with frequencies of only {n} items: not to be compared with others."
        self._few = (few,) if n < FEW else ()
        return key_of(sorted(item.references for item in corpus.items))

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """All at once: frequencies are counted over the whole corpus."""
        items = [corpus.items[place] for place in places]
        predictions = words(self._predictions(items))
        references = [words(group) for group in self._references(corpus.items)]
        scores = cider_scores(predictions, places, references, plain=self._plain)
        return [self._share(item, float(score)) for item, score in zip(items, scores, strict=True)]


class Bleu(CaptionMetric):
    """``bleu-1`` to ``bleu-4``: of the whole corpus, with the reference of nearest length. Times 100."""

    figure = Figure("bleu", 100.0)

    def __init__(self, name: str, context: MetricContext) -> None:
        super().__init__(name, context)
        self.title = name.upper()
        self._longest = int(name.removeprefix("bleu-"))
        grams = range(1, self._longest + 1)
        self.columns = (
            *(f"{n}-grams matched" for n in grams),
            *(f"{n}-grams" for n in grams),
            "length",
            "reference length",
        )

    @property
    def identity(self) -> Json:
        return {"metric": self.name, "length": "closest", "tokens": VERSION}

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """Counts of each item, and the COCO tool's score of it alone."""
        items = [corpus.items[place] for place in places]
        predictions = words(self._predictions(items))
        references = [words(group) for group in self._references(items)]
        sums = bleu_sums(predictions, references, self._longest)
        return [
            Row(item.id, tuple(map(float, row)), float(value), item.missing)
            for item, row, value in zip(items, sums, self.figure.of(sums), strict=True)
        ]


class RougeL(CaptionMetric):
    """``rouge-l``: the mean over items. Times 100."""

    title = "ROUGE-L"

    @property
    def identity(self) -> Json:
        return {"metric": self.name, "beta": BETA, "tokens": VERSION}

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        items = [corpus.items[place] for place in places]
        found = zip(items, self._predictions(items), self._references(items), strict=True)
        for item, ours, theirs in found:
            yield self._share(item, rouge_l(ours, theirs))


BETA = 1.2
"""Recall counts this much more than precision (COCO tool)."""


def rouge_l(prediction: Tokens, references: Sequence[Tokens]) -> float:
    """0 to 1, of the best precision and the best recall of any reference; 0 of an empty prediction."""
    where: dict[str, int] = {}
    for place, token in enumerate(prediction):
        where[token] = where.get(token, 0) | 1 << place
    full, precision, recall = (1 << len(prediction)) - 1, 0.0, 0.0
    for reference in references:
        # The longest common subsequence, with a bit for each of our tokens (Crochemore et al., A fast and
        # practical bit-vector algorithm for the longest common subsequence problem, 2001).
        left = full
        for token in reference:
            found = left & where.get(token, 0)
            left = ((left + found) | (left - found)) & full
        if common := (full ^ left).bit_count():
            precision = max(precision, common / len(prediction))
            recall = max(recall, common / len(reference))
    if not precision or not recall:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def bleu_sums(predictions: Sequence[Tokens], references: Sequence[Sequence[Tokens]], longest: int) -> Floats:
    """``float64[n, 2 longest + 2]`` for n predictions, each with its own references: n-grams that are in a
    reference, clipped to the most that one of them has; all n-grams; the length of the prediction and that
    of the reference nearest in length (of two as near, the shorter)."""
    rows = []
    for prediction, group in zip(predictions, references, strict=True):
        matches = []
        for n in range(1, longest + 1):
            most = reduce(or_, (_grams(reference, n) for reference in group))
            matches.append((_grams(prediction, n) & most).total())
        size = len(prediction)
        nearest = min((abs(len(reference) - size), len(reference)) for reference in group)[1]
        rows.append([*matches, *(max(size - n, 0) for n in range(longest)), size, nearest])
    return np.array(rows, np.float64).reshape(-1, 2 * longest + 2)


def _grams(sentence: Tokens, n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(sentence[k:] for k in range(n)), strict=False))


def words(sentences: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Tokens parted at every blank, as the COCO tools read them for CIDEr and BLEU: one that holds a
    non-breaking space is two words there."""
    return [found if " ".join(found).isascii() else tuple(" ".join(found).split()) for found in sentences]


LONGEST = 4
SIGMA = 6.0
"""Tokens: how far a length may differ (CIDEr-D)."""


def cider_scores(
    predictions: Sequence[tuple[str, ...]],
    places: Sequence[int],
    corpus: Sequence[Sequence[tuple[str, ...]]],
    *,
    plain: bool,
) -> Floats:
    """``float64[predictions]``, 0 to 10: how alike each prediction is to the references ``corpus[place]`` of
    its place, with the frequencies of ``corpus`` (references of every item, in tokens).

    ``plain``: the first definition, without stemming (the paper reduces words to their stems first, its
    authors' program does not); else CIDEr-D. A corpus of one item makes every n-gram worth nothing: 0.
    """
    lines = [(predictions[row], theirs) for row, place in enumerate(places) for theirs in corpus[place]]
    rows = [row for row, place in enumerate(places) for _ in corpus[place]]
    alike = np.zeros(len(lines))
    for n in range(1, LONGEST + 1):
        met = Counter(gram for group in corpus for gram in {g for line in group for g in _grams(line, n)})
        rare = np.log(float(len(corpus))) - np.log(np.array([1, *met.values()], np.float64))
        rarity = dict(zip(met, rare[1:].tolist(), strict=True))
        weights = {
            line: {gram: count * rarity.get(gram, float(rare[0])) for gram, count in _grams(line, n).items()}
            for line in {line for pair in lines for line in pair}
        }
        lengths = {line: sqrt(_total(w * w for w in found.values())) for line, found in weights.items()}
        for place, (ours, theirs) in enumerate(lines):
            own, below = weights[ours], lengths[ours] * lengths[theirs]
            shared = [(own[gram], weight) for gram, weight in weights[theirs].items() if gram in own]
            if below:
                alike[place] += _total((a if plain else min(a, b)) * b for a, b in shared) / below
    if not plain:
        apart = np.array([len(ours) - len(theirs) for ours, theirs in lines], np.float64)
        alike *= np.exp(-(apart**2) / (2 * SIGMA**2))
    total = np.bincount(rows, alike, minlength=len(predictions))
    count = np.bincount(rows, minlength=len(predictions))
    return np.asarray(10.0 * total / LONGEST / np.maximum(count, 1), np.float64)


def _total(values: Iterable[float]) -> float:
    """Added up one after the other, on every Python: `sum` of 3.12 and later rounds otherwise."""
    return reduce(add, values, 0.0)


Tokens = Sequence[str]
