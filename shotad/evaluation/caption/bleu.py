"""BLEU (Papineni et al., ACL 2002): n-grams of the prediction that a reference has, and its length.

Counts as the COCO tool takes them; `shotad.evaluation.measure.rows.bleu` makes the number of their sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shotad.evaluation.caption.ngrams import Ints, Tokens, common, count_grams


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
