"""CIDEr: how alike two sentences are in n-grams that are rare elsewhere.

The first definition is that of Vedantam, Zitnick and Parikh (CVPR 2015): the cosine of weighted n-gram
counts, averaged over n of 1 to 4. What the COCO tool calls CIDEr is their CIDEr-D: a repeated n-gram counts
no more than in the reference, and a different length is punished. Both are times ten, as in their programs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shotad.evaluation.caption.ngrams import Grams, Ints, Tokens, common, count_grams

Floats = npt.NDArray[np.float64]

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
