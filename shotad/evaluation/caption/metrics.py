"""CIDEr, BLEU and ROUGE-L as metrics of items; equal to the COCO caption tools, without Java."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from shotad.core.workfolder import key_of
from shotad.evaluation.caption.bleu import bleu_sums
from shotad.evaluation.caption.cider import LONGEST, SIGMA, cider_scores
from shotad.evaluation.caption.ptb import VERSION
from shotad.evaluation.caption.rouge import BETA, rouge_l
from shotad.evaluation.caption.tokens import Tokenizer, tokenizer_of, words
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.rows import Figure, Json, Row

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
