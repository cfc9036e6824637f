"""Which shots share a camera set-up: Shot-by-Shot, section 3.1, without training and without weights.

Features of the frames go in, a matrix of matching scores comes out, and from it the threads. Nothing here
touches a file, a model or a clock. Arrays are numpy's or torch's.

What the matching score does to flat and black frames, and how it can be mended.

The score asks whether the best match of a patch stands out from its window. In a frame without texture
nothing stands out: with a window of 25 alike cells even the frame itself scores 0.04. The mend leaves alone
every frame that can tell its own patches apart. Two frames that both cannot are compared as they lie, by
the likeness of their patches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_torch_array

from shotad.grammar.base import Array, Features
from shotad.grammar.threads_match import Matching, Scores, numpy_scores, window_scores, window_scores_after
from shotad.grammar.threads_window import tiles

SELF_BLOCK = 8
"""Frames whose full products, 192 x 192 each, are held at once."""


def self_scores(patches: Array, matching: Matching) -> npt.NDArray[np.float32]:
    """The score of each frame of ``patches`` (float ``[n, N, D]``) with itself, float32 ``[n]``.

    It is the most that the frame can score with any frame that is as sharp: low where the frame is flat.
    """
    xp = array_namespace(patches)
    inside = xp.asarray(_inside(matching), device=device(patches))
    scores = np.empty(len(patches), np.float32)
    for start in range(0, len(patches), SELF_BLOCK):
        some = slice(start, start + SELF_BLOCK)
        frames = _single(xp, patches[some, ...])
        logits = xp.matmul(frames, xp.permute_dims(frames, (0, 2, 1))) * inside / matching.temperature
        top = xp.max(logits, axis=-1, keepdims=True)
        scores[some] = numpy_scores(xp.mean(1 / xp.sum(xp.exp(logits - top), axis=-1), axis=-1))
    return scores


def flat_frames(patches: Array, matching: Matching) -> npt.NDArray[np.bool_]:
    """Which frames score no more than ``matching.flat`` with themselves, bool ``[n]``."""
    return self_scores(patches, matching) <= matching.flat


def likeness(earlier: Array, later: Array, temperature: float) -> Scores:
    """How alike the frames are, patch by patch where it lies: mean of ``exp((cosine - 1) / temperature)``.

    float ``[n, N, D]`` and ``[m, N, D]`` to float32 ``[n, m]``: 1 for identical frames; at a temperature of
    0.1 a cosine of 0.88 in all patches is 0.3. It is the weight that a patch gives to its counterpart,
    relative to that which it would give to itself.
    """
    xp = array_namespace(earlier, later)
    count = earlier.shape[1]
    total = xp.zeros((len(earlier), len(later)), dtype=xp.float32, device=device(earlier))
    for patch in range(count):
        ours, theirs = _single(xp, earlier[:, patch, :]), _single(xp, later[:, patch, :])
        total += xp.exp((xp.matmul(ours, theirs.T) - 1) / temperature)
    return numpy_scores(total / count)


def mended(
    scores: Scores,
    frames: tuple[Array, Array],
    flat: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]],
    temperature: float,
) -> Scores:
    """``scores`` of earlier and later ``frames``, with likeness where both are ``flat``, if that is more."""
    ours, theirs = (np.flatnonzero(which) for which in flat)
    better = scores.copy()
    if len(ours) and len(theirs):
        where = np.ix_(ours, theirs)
        alike = likeness(_chosen(frames[0], ours), _chosen(frames[1], theirs), temperature)
        better[where] = np.maximum(scores[where], alike)
    return better


def _chosen(patches: Array, rows: npt.NDArray[np.intp]) -> Array:
    xp = array_namespace(patches)
    return xp.take(patches, xp.asarray(rows, device=device(patches)), axis=0)


def _inside(matching: Matching) -> npt.NDArray[np.float32]:
    """1 where q lies in the window of p, else 0: ``float32[N, N]``."""
    mask = np.zeros((matching.patches, matching.patches), np.float32)
    columns = matching.grid[1]
    for tile in tiles(matching.grid, matching.radius):
        for row in range(tile.rows.start, tile.rows.stop):
            mask[tile.patches, row * columns + tile.columns.start : row * columns + tile.columns.stop] = 1
    return mask


def _single(xp: Any, values: Array) -> Array:
    if is_torch_array(values):
        values = values.detach()
    return xp.astype(values, xp.float32, copy=False)


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
