"""Which pictures each step sees: a function of seed, epoch and keys alone.

Neither the number of processes nor where a run was broken off and resumed changes it. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def epoch_order(keys: Sequence[str], seed: int, epoch: int) -> list[int]:
    """Places of all keys in the order of an epoch: by the hash of seed, epoch and key."""
    marks = [hashlib.sha256(f"{seed}:{epoch}:{key}".encode()).digest() for key in keys]
    return sorted(range(len(keys)), key=marks.__getitem__)


def in_batches(places: Sequence[int], size: int) -> list[list[int]]:
    """Consecutive batches; the last may be smaller.

    >>> in_batches([3, 1, 4, 1, 5], 2)
    [[3, 1], [4, 1], [5]]
    """
    return [list(places[start : start + size]) for start in range(0, len(places), size)]


def share_of(places: Sequence[int], rank: int, processes: int) -> list[int]:
    """What one of several processes takes of a batch: every so many-th, so that shares differ by one at
    most. A share is empty where there are fewer places than processes.

    >>> [share_of([7, 8, 9], rank, 2) for rank in (0, 1)]
    [[7, 9], [8]]
    """
    return list(places[rank::processes])
