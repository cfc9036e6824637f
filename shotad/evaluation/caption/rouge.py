"""ROUGE-L (Lin, 2004): the longest common subsequence, as the COCO tool weighs it."""

from __future__ import annotations

from collections.abc import Sequence

from shotad.evaluation.caption.ngrams import Tokens

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
