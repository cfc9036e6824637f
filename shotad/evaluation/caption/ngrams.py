"""N-grams of many sentences at once, as integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
