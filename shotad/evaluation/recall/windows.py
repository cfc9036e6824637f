"""Windows of neighbouring ADs, and where the own AD stands in one. Pure logic.

The published code (AutoAD-II) slides a window of N by N//2 along a film and takes only full ones: what stands
in the middle is asked about twice, the last ADs perhaps never, and a film of fewer than N stops it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from shotad.evaluation.measure.items import Corpus

Rule = Literal["all", "full"]

TIE = 1e-6
"""Similarities that differ by less are equal: what float32 leaves open of one sentence in two batches."""


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbours ``[start, end)`` along a film, by their number in it."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


def windows_of(count: int, size: int, rule: Rule) -> tuple[Window, ...]:
    """The windows of a film of ``count`` ADs, in order.

    ``full``: windows of ``size`` with a step of ``size // 2``, as long as they fit in. ``all``: besides, one
    that ends with the film where the last does not, and the whole film where it is shorter than ``size``.

    >>> [(w.start, w.end) for w in windows_of(8, 5, "all")]
    [(0, 5), (2, 7), (3, 8)]
    """
    starts = range(0, count - size + 1, max(size // 2, 1))
    found = [Window(start, start + size) for start in starts]
    if rule == "all" and count and (not found or found[-1].end < count):
        found.append(Window(max(count - size, 0), count))
    return tuple(found)


def rank_of(similarities: Sequence[float] | npt.NDArray[np.float64], own: int) -> int:
    """The own AD's place among the candidates, from 1.

    Counted are only those that are more similar: of equals the own one comes first, since a prediction that
    is like two ADs of the same words has found its own. So no order of items decides.

    >>> rank_of([0.5, 0.9, 0.9], 2), rank_of([0.5, 0.9, 0.9], 0)
    (1, 3)
    """
    scores = np.asarray(similarities, np.float64)
    return 1 + int(np.count_nonzero(scores > scores[own] + TIE))


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What one AD is asked about: ``places`` of the corpus along its film, itself at ``own``, and the windows
    it is in, by numbers of ``places``."""

    places: tuple[int, ...]
    own: int
    windows: tuple[Window, ...]


def neighbours_of(corpus: Corpus, size: int, rule: Rule, above: int) -> list[Neighbours]:
    """For each item of the corpus its neighbours, in windows of more than ``above`` ADs.

    In a window of at most k ADs whatever is predicted is among the first k, which tests nothing.
    """
    found: list[Neighbours] = [Neighbours((i,), 0, ()) for i in range(len(corpus.items))]
    for places in corpus.films().values():
        windows = [w for w in windows_of(len(places), size, rule) if len(w) > above]
        for i, place in enumerate(places):
            found[place] = _around(i, places, [w for w in windows if w.start <= i < w.end])
    return found


def _around(i: int, places: Sequence[int], windows: Sequence[Window]) -> Neighbours:
    if not windows:
        return Neighbours((places[i],), 0, ())
    first, last = min(w.start for w in windows), max(w.end for w in windows)
    within = tuple(Window(w.start - first, w.end - first) for w in windows)
    return Neighbours(tuple(places[first:last]), i - first, within)
