"""CIDEr, BLEU and ROUGE-L as metrics of items; equal to the COCO caption tools, without Java.

BLEU: Papineni et al., ACL 2002. ROUGE-L: Lin, 2004, as the COCO tool weighs it. CIDEr: Vedantam, Zitnick
and Parikh, CVPR 2015: the cosine of weighted n-gram counts, averaged over n of 1 to 4. What the COCO tool
calls CIDEr is their CIDEr-D: a repeated n-gram counts no more than in the reference, and a different length
is punished. Both are times ten, as in their programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.core import key_of
from shotad.evaluation.metric import Corpus, Figure, Floats, Item, Json, Metric, Row
from shotad.evaluation.metrics.ptb import VERSION, tokens
from shotad.evaluation.store import MetricContext, text_key

FEW = 100
"""Items below which frequencies of words say little."""


class CaptionMetric(Metric):
    """What metrics of texts have in common: a row depends on the item's texts, and on nothing else of it."""

    columns: tuple[str, ...] = ("score", "items")

    def __init__(self, name: str, context: MetricContext) -> None:
        super().__init__(name, context)
        self._tokenizer = context.once("caption/tokenizer", lambda: Tokenizer(context))

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """The texts; and why there is no prediction, since the row says so."""
        return [_key(corpus.items[place]) for place in places]

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
        """Definition, and that of the tokens."""
        kind = (
            {"definition": "CVPR 2015, no stems"}
            if self._plain
            else {"definition": "CIDEr-D", "sigma": SIGMA}
        )
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
        predictions = words(self._tokenizer.predictions(items))
        references = [words(group) for group in self._tokenizer.references(corpus)]
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
        """Definition, and that of the tokens."""
        return {"metric": self.name, "length": "closest", "tokens": VERSION}

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """Counts of each item, and the COCO tool's score of it alone."""
        items = [corpus.items[place] for place in places]
        predictions = words(self._tokenizer.predictions(items))
        references = [words(group) for group in self._tokenizer.references(items)]
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
        """Definition, and that of the tokens."""
        return {"metric": self.name, "beta": BETA, "tokens": VERSION}

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """Each item by itself."""
        items = [corpus.items[place] for place in places]
        predictions = self._tokenizer.predictions(items)
        references = self._tokenizer.references(items)
        for item, ours, theirs in zip(items, predictions, references, strict=True):
            yield self._share(item, rouge_l(ours, theirs))


def _key(item: Item) -> Json:
    key: Json = {"prediction": item.prediction, "references": list(item.references)}
    return key if item.prediction is not None else {**key, "failure": item.failure}


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
        min((abs(len(r) - len(p)), len(r)) for r in group)[1]
        for p, group in zip(predictions, references, strict=True)
    ]
    return np.stack([*columns, lengths, np.array(nearest, np.int64)], axis=1).astype(np.float64)


class Tokenizer:
    """Tokens of the COCO chain (`shotad.evaluation.metrics.ptb`), by text."""

    def __init__(self, context: MetricContext) -> None:
        self._store = context.store
        self._space = f"tokens/{VERSION}"
        self._known: dict[str, tuple[str, ...]] = {}

    def of(self, texts: Iterable[str]) -> list[tuple[str, ...]]:
        """The tokens of each text, in order."""
        wanted = list(texts)
        keys = {text: text_key(text) for text in dict.fromkeys(wanted) if text not in self._known}
        made = self._store.filled(
            self._space, keys, lambda new: [{text: " ".join(tokens(text)).encode() for text in new}]
        )
        for text, line in made.items():
            self._known[text] = tuple(line.decode().split(" ")) if line else ()
        return [self._known[text] for text in wanted]

    def predictions(self, items: Sequence[Item]) -> list[tuple[str, ...]]:
        """Of what was predicted; none of a missing prediction."""
        return self.of(item.prediction or "" for item in items)

    def references(self, corpus: Corpus | Sequence[Item]) -> list[list[tuple[str, ...]]]:
        """Of every human AD of each item."""
        items = corpus.items if isinstance(corpus, Corpus) else corpus
        found = iter(self.of(text for item in items for text in item.references))
        return [[next(found) for _ in item.references] for item in items]


def words(sentences: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Tokens parted at every blank, as the COCO tools read them for CIDEr and BLEU: one that holds a
    non-breaking space is two words there."""
    return [found if " ".join(found).isascii() else tuple(" ".join(found).split()) for found in sentences]


LONGEST = 4
SIGMA = 6.0
"""Tokens: how far a length may differ (CIDEr-D)."""


def cider_scores(
    predictions: Sequence[Tokens], places: Sequence[int], corpus: Sequence[Sequence[Tokens]], *, plain: bool
) -> Floats:
    """``float64[predictions]``, 0 to 10: how alike each prediction is to the references ``corpus[place]`` of
    its place, with the frequencies of ``corpus`` (references of every item, in tokens).

    ``plain``: the first definition, without stemming (the paper reduces words to their stems first, its
    authors' program does not); else CIDEr-D. A corpus of one item makes every n-gram worth nothing: 0.
    """
    references = [reference for group in corpus for reference in group]
    owner = np.repeat(np.arange(len(corpus)), [len(group) for group in corpus])
    tables = count_grams([*references, *predictions], LONGEST)
    prediction, reference = _pairs(owner, np.asarray(places, np.int64), len(references))
    lengths = np.array([max(len(s) - 1, 0) for s in (*references, *predictions)], np.float64)
    alike = np.zeros(len(prediction))
    for grams in tables:
        weights = _weights(grams, owner, len(corpus))
        alike += _cosines(grams, weights, prediction, reference, clipped=not plain)
    if not plain:
        alike *= np.exp(-((lengths[prediction] - lengths[reference]) ** 2) / (2 * SIGMA**2))
    rows = prediction - len(references)
    total = np.bincount(rows, alike, minlength=len(predictions))
    return np.asarray(
        10.0 * total / LONGEST / np.maximum(np.bincount(rows, minlength=len(predictions)), 1), np.float64
    )


def _pairs(owner: Ints, places: Ints, references: int) -> tuple[Ints, Ints]:
    """Sentences to compare: each prediction (they come after the references) and each of its references."""
    starts = np.searchsorted(owner, places)
    sizes = np.searchsorted(owner, places, side="right") - starts
    row = np.repeat(np.arange(len(places)), sizes)
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return row + references, starts[row] + within


def _weights(grams: Grams, owner: Ints, items: int) -> Floats:
    """``float64[entries]``: each count times the logarithm of how many items there are for each that has the
    n-gram in a reference; one that is in none counts as in one."""
    ours = grams.sentence < len(owner)
    met = np.unique(grams.gram[ours] * items + owner[grams.sentence[ours]])
    frequency = np.bincount(met // items, minlength=grams.kinds)
    rarity = np.log(float(items)) - np.log(np.maximum(frequency, 1))
    return np.asarray(grams.count * rarity[grams.gram], np.float64)


def _cosines(grams: Grams, weights: Floats, prediction: Ints, reference: Ints, *, clipped: bool) -> Floats:
    """``float64[pairs]``; 0 where either side has no n-gram of any weight."""
    shared = common(grams, prediction, reference)
    ours, theirs = weights[shared.ours], weights[shared.theirs]
    dots = (np.minimum(ours, theirs) if clipped else ours) * theirs
    norms = np.sqrt(np.bincount(grams.sentence, weights**2, minlength=grams.sentences))
    below = norms[prediction] * norms[reference]
    total = np.bincount(shared.pair, dots, minlength=len(prediction))
    found = np.zeros(len(prediction))
    np.divide(total, below, out=found, where=below > 0)
    return found


Tokens = Sequence[str]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Grams:
    """The distinct n-grams of each of ``sentences`` sentences, for one n.

    Entries are grouped by sentence, in order of first appearance there: whatever is added up over them is
    the same to the last bit, whichever sentences are beside it. ``gram`` ids are below ``kinds``.
    """

    sentences: int
    kinds: int
    sentence: Ints
    gram: Ints
    count: Ints
    _sorted: Ints
    _entry: Ints

    def starts(self) -> Ints:
        """``int64[sentences + 1]``: where each sentence's entries begin."""
        return np.searchsorted(self.sentence, np.arange(self.sentences + 1)).astype(np.int64)

    def find(self, sentence: Ints, gram: Ints) -> Ints:
        """``int64[q], int64[q] → int64[q]``: the entry of a sentence's n-gram, -1 where it has none such."""
        if not len(self._sorted):
            return np.full(len(sentence), -1, np.int64)
        wanted = sentence * self.kinds + gram
        at = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[at] == wanted, self._entry[at], -1)


@dataclass(frozen=True, slots=True)
class Common:
    """Entries that two sentences have in common: ``pair`` says in which pair, ``ours`` and ``theirs`` are
    places in `Grams.count`. In the order of the pairs, then of their sentence."""

    pair: Ints
    ours: Ints
    theirs: Ints


def count_grams(sentences: Iterable[Tokens], longest: int) -> list[Grams]:
    """N-grams of 1 to ``longest`` tokens, with ids that hold for all these sentences."""
    words: dict[str, int] = {}
    rows = [[words.setdefault(token, len(words)) for token in sentence] for sentence in sentences]
    lengths = np.array([len(row) for row in rows], np.int64)
    tokens = np.array([word for row in rows for word in row], np.int64)
    owner = np.repeat(np.arange(len(rows)), lengths)
    return [_grams(ids, owner, len(rows)) for ids in _ids(tokens, owner, longest, len(words))]


def common(grams: Grams, ours: Ints, theirs: Ints) -> Common:
    """``int64[pairs]`` of sentences on both sides: what they share."""
    starts = grams.starts()
    sizes = (starts[1:] - starts[:-1])[theirs]
    pair = np.repeat(np.arange(len(theirs)), sizes)
    entry = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + starts[theirs][pair]
    found = grams.find(ours[pair], grams.gram[entry])
    shared = found >= 0
    return Common(pair[shared], found[shared], entry[shared])


def _ids(tokens: Ints, owner: Ints, longest: int, words: int) -> Iterable[Ints]:
    """For each n: ``int64[tokens]``, the id of the n-gram that begins at each token, -1 where the sentence
    ends before it does."""
    ids = tokens
    yield ids
    for n in range(1, longest):
        longer = np.full(len(tokens), -1, np.int64)
        here = max(len(tokens) - n, 0)
        whole = owner[:here] == owner[n:]
        longer[:here][whole] = ids[:here][whole] * words + tokens[n:][whole]
        known = longer >= 0
        _, longer[known] = np.unique(longer[known], return_inverse=True)
        ids = longer
        yield ids


def _grams(ids: Ints, owner: Ints, sentences: int) -> Grams:
    whole = ids >= 0
    gram, sentence = ids[whole], owner[whole]
    kinds = int(gram.max()) + 1 if len(gram) else 1
    keys, first, count = np.unique(sentence * kinds + gram, return_index=True, return_counts=True)
    order = np.argsort(first)
    entry = np.empty(len(order), np.int64)
    entry[order] = np.arange(len(order))
    return Grams(sentences, kinds, sentence[first[order]], gram[first[order]], count[order], keys, entry)
