"""The formulas of CML-Bench, over vectors of texts and over what engines found in them.

Vectors are float[n, d], a row to each text, of any length; a row of zeros is like nothing (cosine 0). A
formula is None where it is not defined: that is 0 in the published figures, and
`shotad.evaluation.cml.report` says why. ``clipped`` keeps each cosine within 0 and 1, as the published code
does and the paper does not say; embeddings with negative cosines come out otherwise. Numbers in brackets are
the paper's equations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[Any]
"""float[n, d]"""

WEIGHT = 0.5
"""λ1 to λ4 of equations 5 and 8: only that each pair adds up to 1 is published."""


def adjacent_similarity(vectors: Rows, *, clipped: bool = False) -> float | None:
    """The mean cosine of each text and the next (1, 7). None for fewer than two texts."""
    return paired_similarity(vectors[:-1], vectors[1:], clipped=clipped)


def paired_similarity(some: Rows, others: Rows, *, clipped: bool = False) -> float | None:
    """The mean cosine of the k-th of some and the k-th of the others. None for no pair."""
    if not len(some):
        return None
    return _mean((_units(some) * _units(others)).sum(axis=1), clipped)


def mutual_similarity(vectors: Rows) -> float | None:
    """The mean cosine over all pairs (within 3, 5, 8). None for fewer than two texts."""
    n = len(vectors)
    if n < 2:
        return None
    table = _units(vectors) @ _units(vectors).T
    return float(table[np.triu_indices(n, 1)].mean())


def central_similarity(vectors: Rows) -> float | None:
    """The mean cosine to the mean vector (within 8; dc3 and cc2 of the published code). None for no text."""
    if not len(vectors):
        return None
    centre = np.asarray(vectors, np.float64).mean(axis=0, keepdims=True)
    return _mean((_units(vectors) @ _units(centre).T)[:, 0], clipped=False)


def creativity(analyses: Rows) -> float | None:
    """1 minus the mean cosine of what was said of each creative feature (3). None for fewer than two."""
    alike = mutual_similarity(analyses)
    return None if alike is None else 1.0 - alike


def originality(voices: Rows, own: Sequence[float], weight: float = WEIGHT) -> float | None:
    """How unlike characters speak, and how alike each speaks (5). None for fewer than two characters.

    ``voices`` has a row for each character, ``own`` the mean cosine of the character's turns; ``weight`` is
    λ1.
    """
    alike = mutual_similarity(voices)
    if alike is None or not own:
        return None
    return weight * (1.0 - alike) + (1.0 - weight) * math.fsum(own) / len(own)


def innovation(patterns: Rows, weight: float = WEIGHT) -> float | None:
    """1 minus how alike patterns are, each to each and to their mean (8). None for fewer than two.

    ``weight`` is λ3.
    """
    alike, central = mutual_similarity(patterns), central_similarity(patterns)
    if alike is None or central is None:
        return None
    return 1.0 - (weight * alike + (1.0 - weight) * central)


def alignment(
    intentions: Rows, actions: Rows, first: Sequence[int], *, clipped: bool = False
) -> float | None:
    """The mean, over intentions, of the largest cosine with an action from number ``first[k]`` on (6).

    An intention that no action follows counts 0. None without intentions or actions.
    """
    if not len(intentions) or not len(actions):
        return None
    table = _units(intentions) @ _units(actions).T
    best = [
        float(row[start:].max()) if start < len(row) else 0.0 for row, start in zip(table, first, strict=True)
    ]
    return _mean(np.array(best), clipped)


def topic_concentration(keywords: Sequence[Sequence[str]]) -> float | None:
    """1 minus the entropy of the keywords of all turns, over its largest value (2). None without keywords.

    One keyword alone is the highest concentration, 1; the paper leaves 0 / 0 open.
    """
    counts = Counter(word.casefold() for words in keywords for word in words)
    if not counts:
        return None
    if len(counts) == 1:
        return 1.0
    shares = [count / counts.total() for count in counts.values()]
    return 1.0 + math.fsum(share * math.log(share) for share in shares) / math.log(len(counts))


def emotional_stability(emotions: Sequence[int]) -> float | None:
    """1 minus the mean change of a character's emotion, from turn to turn, of 2 that are possible (4).

    Emotions are -1, 0 or 1. None for fewer than two turns.

    >>> emotional_stability([0, 1, -1])
    0.25
    """
    if len(emotions) < 2:
        return None
    changes = [abs(b - a) / 2 for a, b in pairwise(emotions)]
    return 1.0 - math.fsum(changes) / len(changes)


def _units(vectors: Rows) -> npt.NDArray[np.float64]:
    rows = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def _mean(cosines: npt.NDArray[np.float64], clipped: bool) -> float:
    return float((np.clip(cosines, 0.0, 1.0) if clipped else cosines).mean())
