"""CIDEr, BLEU and ROUGE-L as metrics of items; equal to the COCO caption tools, without Java.

BLEU (Papineni et al., ACL 2002): n-grams of the prediction that a reference has, and its length.

Counts as the COCO tool takes them; `shotad.evaluation.measure.rows.bleu` makes the number of their sums.

ROUGE-L (Lin, 2004): the longest common subsequence, as the COCO tool weighs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from shotad.core import key_of
from shotad.evaluation.caption.cider import LONGEST, SIGMA, cider_scores
from shotad.evaluation.caption.ngrams import Ints, Tokens, common, count_grams
from shotad.evaluation.caption.ptb import VERSION
from shotad.evaluation.caption.tokens import Tokenizer, tokenizer_of, words
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.rows import Figure, Json, Row

BETA = 1.2
"""Recall counts this much more than precision (COCO tool)."""


def rouge_l(prediction: Tokens, references: Sequence[Tokens]) -> float:
    """0 to 1, of the best precision and the best recall of any reference; 0 of an empty prediction."""
    common = [longest_common(prediction, reference) for reference in references]
    precision = max(common) / len(prediction) if prediction else 0.0
    recall = max(c / len(r) if r else 0.0 for c, r in zip(common, references, strict=True))
    if not precision or not recall:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def longest_common(ours: Tokens, theirs: Tokens) -> int:
    """Length of the longest common subsequence, with a bit for each of our tokens (Crochemore et al., A fast
    and practical bit-vector algorithm for the longest common subsequence problem, 2001)."""
    where: dict[str, int] = {}
    for place, token in enumerate(ours):
        where[token] = where.get(token, 0) | 1 << place
    full = (1 << len(ours)) - 1
    left = full
    for token in theirs:
        found = left & where.get(token, 0)
        left = ((left + found) | (left - found)) & full
    return (full ^ left).bit_count()


def bleu_sums(
    predictions: Sequence[Tokens], references: Sequence[Sequence[Tokens]], longest: int
) -> npt.NDArray[np.float64]:
    """``float64[n, 2 longest + 2]`` for n predictions, each with its own references: n-grams that are in a
    reference, clipped to the most that one of them has; all n-grams; the length of the prediction and that
    of the reference nearest in length (of two as near, the shorter)."""
    n = len(predictions)
    flat = [reference for group in references for reference in group]
    ours = np.repeat(np.arange(n), [len(group) for group in references])
    theirs = np.arange(len(flat)) + n
    lengths = np.array([len(prediction) for prediction in predictions], np.int64)
    columns: list[Ints] = []
    for grams in count_grams([*predictions, *flat], longest):
        shared = common(grams, ours, theirs)
        most = np.zeros(len(grams.count), np.int64)
        np.maximum.at(most, shared.ours, grams.count[shared.theirs])
        matches = np.bincount(grams.sentence, np.minimum(most, grams.count), minlength=n)
        columns.append(matches[:n].astype(np.int64))
    columns.extend(np.maximum(lengths - order, 0) for order in range(longest))
    nearest = [
        _nearest(len(p), [len(r) for r in group]) for p, group in zip(predictions, references, strict=True)
    ]
    return np.stack([*columns, lengths, np.array(nearest, np.int64)], axis=1).astype(np.float64)


def _nearest(length: int, lengths: Sequence[int]) -> int:
    return min((abs(other - length), other) for other in lengths)[1]


FEW = 100
"""Items below which frequencies of words say little."""


class CaptionMetric:
    """What metrics of texts have in common: a row depends on the item's texts, and on nothing else of it."""

    columns: tuple[str, ...] = ("score", "items")
    figure: Figure = Figure(factor=100.0)
    comparable: bool = True

    def __init__(self, name: str, title: str) -> None:
        self.name = name
        self.title = title
        self.remarks: tuple[str, ...] = ()

    @property
    def identity(self) -> Json:
        """Definition and version."""
        return {"metric": self.name}

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """The texts; and why there is no prediction, since the row says so."""
        return [_key(corpus.items[place]) for place in places]

    def basis(self, corpus: Corpus) -> str:
        """Rows need nothing of the corpus."""
        return ""

    def _share(self, item: Item, score: float) -> Row:
        """The row of a score of 0 to 1, which is averaged over items."""
        return Row(item.id, (score, 1.0), self.figure.factor * score, missing(item))


_FIRST = "Not the CIDEr-D of the COCO tool, which papers call CIDEr: not comparable with their numbers."


class Cider(CaptionMetric):
    """``cider``: the COCO tool's, which is CIDEr-D; ``cider-plain``: the first definition. Times 100.

    Frequencies are those of all references of the corpus, also where a shard of it is scored.
    """

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self._plain = name == "cider-plain"
        super().__init__(name, "CIDEr, first definition" if self._plain else "CIDEr")
        self.comparable = not self._plain
        self.remarks = self._definition = (_FIRST,) if self._plain else ()
        self._tokenizer = tokenizer

    @classmethod
    def of(cls, name: str, bench: Bench) -> Self:
        """The metric called ``cider`` or ``cider-plain``."""
        return cls(name, tokenizer_of(bench))

    @property
    def identity(self) -> Json:
        """Definition, and that of the tokens."""
        kind = (
            {"definition": "CVPR 2015, no stems"}
            if self._plain
            else {"definition": "CIDEr-D", "sigma": SIGMA}
        )
        return {"metric": self.name, **kind, "longest": LONGEST, "tokens": VERSION}

    def basis(self, corpus: Corpus) -> str:
        """Hash of all references. What is to be remarked on them is known from here on."""
        self.remarks = self._definition
        if len(corpus.items) < FEW:
            self.remarks = (
                *self._definition,
                f"CIDEr with frequencies of only {len(corpus.items)} items: not to be compared with others.",
            )
        return key_of(sorted(item.references for item in corpus.items))

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """All at once: frequencies are counted over the whole corpus."""
        items = [corpus.items[place] for place in places]
        predictions = words(self._tokenizer.predictions(items))
        references = [words(group) for group in self._tokenizer.references(corpus)]
        scores = cider_scores(predictions, places, references, plain=self._plain)
        return [self._share(item, float(score)) for item, score in zip(items, scores, strict=True)]


class Bleu(CaptionMetric):
    """``bleu-1`` to ``bleu-4``: of the whole corpus, with the reference of nearest length. Times 100."""

    figure = Figure("bleu", 100.0)

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        super().__init__(name, name.upper())
        self._longest = int(name.removeprefix("bleu-"))
        self._tokenizer = tokenizer
        grams = range(1, self._longest + 1)
        self.columns = (
            *(f"{n}-grams matched" for n in grams),
            *(f"{n}-grams" for n in grams),
            "length",
            "reference length",
        )

    @classmethod
    def of(cls, name: str, bench: Bench) -> Self:
        """The metric called ``bleu-N``."""
        return cls(name, tokenizer_of(bench))

    @property
    def identity(self) -> Json:
        """Definition, and that of the tokens."""
        return {"metric": self.name, "length": "closest", "tokens": VERSION}

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """Counts of each item, and the COCO tool's score of it alone."""
        items = [corpus.items[place] for place in places]
        predictions = words(self._tokenizer.predictions(items))
        references = [words(group) for group in self._tokenizer.references(items)]
        sums = bleu_sums(predictions, references, self._longest)
        return [
            Row(item.id, tuple(map(float, row)), float(value), missing(item))
            for item, row, value in zip(items, sums, self.figure.of(sums), strict=True)
        ]


class RougeL(CaptionMetric):
    """``rouge-l``: the mean over items. Times 100."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        super().__init__(name, "ROUGE-L")
        self._tokenizer = tokenizer

    @classmethod
    def of(cls, name: str, bench: Bench) -> Self:
        """The metric called ``rouge-l``."""
        return cls(name, tokenizer_of(bench))

    @property
    def identity(self) -> Json:
        """Definition, and that of the tokens."""
        return {"metric": self.name, "beta": BETA, "tokens": VERSION}

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """Each item by itself."""
        items = [corpus.items[place] for place in places]
        predictions = self._tokenizer.predictions(items)
        references = self._tokenizer.references(items)
        for item, ours, theirs in zip(items, predictions, references, strict=True):
            yield self._share(item, rouge_l(ours, theirs))


def missing(item: Item) -> str:
    """Why an item has no prediction; empty where it has one."""
    return item.failure or "no prediction" if item.prediction is None else ""


def _key(item: Item) -> Json:
    key: Json = {"prediction": item.prediction, "references": list(item.references)}
    return key if item.prediction is not None else {**key, "failure": item.failure}
