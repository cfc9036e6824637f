"""Which shots share a camera set-up: Shot-by-Shot, section 3.1, without training and without weights.

Features of the frames go in, a matrix of matching scores comes out, and from it the threads. Nothing here
touches a file, a model or a clock. Arrays are numpy's or torch's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shotad.grammar.base import Array, Features
from shotad.grammar.threads_flat import flat_frames, mended
from shotad.grammar.threads_match import Matching, Scores, numpy_scores, window_scores, window_scores_after

__all__ = [
    "FrameChoice",
    "Matching",
    "Place",
    "Scores",
    "ShotFeatures",
    "match_scores",
    "places",
    "shot_scores",
    "threads_of",
    "whole_scores",
]

Place = Literal["first", "middle", "last"]
"""Which frame of a shot."""

FrameChoice = Literal["side", "mid", "all"]
"""Which frames of two shots are compared; the setting ``threads.frames``."""

_PLACES: tuple[Place, ...] = ("first", "middle", "last")

_COMPARED: dict[FrameChoice, tuple[tuple[Place, Place], ...]] = {
    "side": (("last", "first"),),
    "mid": (("middle", "middle"),),
    "all": tuple((ours, theirs) for ours in _PLACES for theirs in _PLACES),
}
"""Frame of the earlier and frame of the later shot; the best counts."""


def places(frames: FrameChoice) -> tuple[Place, ...]:
    """The frames of each shot that a choice needs: ``side`` → first and last."""
    return tuple(place for place in _PLACES if any(place in pair for pair in _COMPARED[frames]))


@dataclass(frozen=True, slots=True)
class ShotFeatures:
    """Features of the shots of one clip or film, in order: row k of each is shot k.

    Only the frames that a choice needs must be there (`places`).
    """

    first: Features | None = None
    middle: Features | None = None
    last: Features | None = None

    def __post_init__(self) -> None:
        given = {place: getattr(self, place) for place in _PLACES if getattr(self, place) is not None}
        if not given:
            raise ValueError("shot features need those of the first, middle or last frames, got none")
        if len({(len(some), some.grid) for some in given.values()}) > 1:
            told = ", ".join(f"{place} {len(some)} of {some.grid}" for place, some in given.items())
            raise ValueError(f"shot features must be of the same shots and one grid, got {told}")

    def __len__(self) -> int:
        return next(len(some) for some in (self.first, self.middle, self.last) if some is not None)

    def at(self, place: Place) -> Features:
        """Features of one frame of each shot. Raises ValueError where they were not given."""
        found: Features | None = getattr(self, place)
        if found is None:
            raise ValueError(f"the {place} frames are needed, but their features were not given")
        return found


def match_scores(earlier: Array, later: Array, matching: Matching) -> Scores:
    """Equation 4: the score of every frame of ``earlier`` with every frame of ``later``.

    float ``[n, N, D]`` and ``[m, N, D]``, patches of length 1, to float32 ``[n, m]``, 0 to 1::

        C[p, q] = cosine(earlier[a, p], later[b, q]) where q is in the window of p, else 0
        score   = mean over p of the greatest softmax over all q of C[p, q] / temperature

    Raises ValueError for patches that do not fit the grid.
    """
    scores = window_scores(earlier, later, matching)
    if not matching.mend_flat:
        return scores
    flat = flat_frames(earlier, matching), flat_frames(later, matching)
    return mended(scores, (earlier, later), flat, matching.temperature)


def shot_scores(
    kinds: ShotFeatures, matching: Matching, frames: FrameChoice = "side", reach: int | None = None
) -> Scores:
    """Matching scores of all pairs of shots: float32 ``[n, n]``, symmetric, 1 on the diagonal.

    Entry i < j is that of the chosen frames of shot i with those of shot j. With ``reach``, only pairs with
    ``j - i <= reach`` are computed; the others are not a number, which joins no thread. Beyond the matrix
    itself, memory does not grow with n.
    """
    _check_reach(reach)
    flat = {}
    if matching.mend_flat:
        flat = {place: flat_frames(kinds.at(place).patches, matching) for place in places(frames)}

    def between(ours: Place, theirs: Place) -> Scores:
        pair = kinds.at(ours).patches, kinds.at(theirs).patches
        scores = window_scores_after(*pair, matching, reach)
        if not flat:
            return scores
        return mended(scores, pair, (flat[ours], flat[theirs]), matching.temperature)

    return _both_halves(_best(frames, between), reach)


def whole_scores(kinds: ShotFeatures, frames: FrameChoice = "side", reach: int | None = None) -> Scores:
    """The paper's baseline: cosines of ``whole`` in place of matching scores, -1 to 1, else the same."""
    _check_reach(reach)

    def between(ours: Place, theirs: Place) -> Scores:
        return numpy_scores(kinds.at(ours).whole) @ numpy_scores(kinds.at(theirs).whole).T

    return _both_halves(_best(frames, between), reach)


def _best(frames: FrameChoice, between: Callable[[Place, Place], Scores]) -> Scores:
    scores = None
    for ours, theirs in _COMPARED[frames]:
        new = between(ours, theirs)
        scores = new if scores is None else np.maximum(scores, new, out=scores)
    assert scores is not None
    return scores


def _check_reach(reach: int | None) -> None:
    if reach is not None and reach < 0:
        raise ValueError(f"reach must be 0 or more shots, got {reach}")


def _both_halves(scores: Scores, reach: int | None) -> Scores:
    """The part above the diagonal mirrored below it, 1 on it, not a number out of reach."""
    n = len(scores)
    above = np.triu(np.ones((n, n), bool), 1)
    whole = np.where(above, scores, scores.T)
    if reach is not None:
        ahead = np.abs(np.arange(n)[None, :] - np.arange(n)[:, None])
        whole[ahead > reach] = np.nan
    np.fill_diagonal(whole, 1)
    return whole


def threads_of(scores: Scores, threshold: float) -> tuple[tuple[int, ...], ...]:
    """Connected components over all pairs with a score above ``threshold``, those of one shot too.

    ``scores`` is float ``[n, n]``, symmetric; not a number joins nothing. Shots ascend within a thread, and
    threads by their first shot: shots 0 and 2 alike → ``((0, 2), (1,))``.
    """
    if scores.ndim != 2 or scores.shape[0] != scores.shape[1]:
        raise ValueError(f"scores must be float[n, n], got shape {scores.shape}")
    if np.isnan(threshold):
        raise ValueError(f"threshold must be a number, got {threshold}")
    return joined(range(len(scores)), np.argwhere(np.triu(scores > threshold, 1)).tolist())


def joined(shots: Iterable[int], pairs: Iterable[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Connected components of ascending ``shots`` joined by ``pairs``, in the order of `threads_of`."""
    first = {shot: shot for shot in shots}

    def root(shot: int) -> int:
        while first[shot] != shot:
            first[shot] = first[first[shot]]
            shot = first[shot]
        return shot

    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        first[high] = low
    threads: dict[int, list[int]] = {}
    for shot in first:
        threads.setdefault(root(shot), []).append(shot)
    return tuple(tuple(thread) for thread in threads.values())
