"""Which shots share a camera set-up: Shot-by-Shot, section 3.1, without training and without weights.

Features of the frames go in, a matrix of matching scores (equations 3 and 4) comes out, and from it the
threads. Nothing here touches a file, a model or a clock. Arrays are numpy's or torch's.

The score asks whether the best match of a patch stands out from its window. In a frame without texture,
flat or black, nothing stands out: with a window of 25 alike cells even the frame itself scores 0.04.

A pair is one product of all patches with all, of which the windows count: 2 to 4 ms on a processor with the
largest DINOv2, which takes seconds to make the features of a frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from array_api_compat import is_torch_array

from shotad.grammar.features import RADIUS, TEMPERATURE, Array, Features

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

    float ``[n, N, D]`` and ``[m, N, D]``, patches of length 1, both of numpy or both of torch on one device,
    to numpy's float32 ``[n, m]``, 0 to 1::

        C[p, q] = cosine(earlier[a, p], later[b, q]) where q is in the window of p, else 0
        score   = mean over p of the greatest softmax over all q of C[p, q] / temperature

    Raises ValueError for patches that do not fit the grid.
    """
    _check(earlier, later, matching)
    inside = matching.windows
    rows = [[_score(ours, theirs, inside, matching) for theirs in later] for ours in earlier]
    return np.array(rows, np.float32).reshape(len(earlier), len(later))


def shot_scores(kinds: ShotFeatures, matching: Matching, frames: FrameChoice = "side") -> Scores:
    """Matching scores of all pairs of shots: float32 ``[n, n]``, symmetric, 1 on the diagonal.

    Entry i < j is that of the chosen frames of shot i with those of shot j. Each pair is scored by itself, so
    that no score depends on which other shots there are.
    """

    def between(ours: Place, theirs: Place) -> Scores:
        earlier, later = kinds.at(ours).patches, kinds.at(theirs).patches
        _check(earlier, later, matching)
        inside, scores = matching.windows, np.zeros((len(earlier), len(later)), np.float32)
        for i, j in zip(*np.triu_indices(len(earlier), 1), strict=True):
            scores[i, j] = _score(earlier[i], later[j], inside, matching)
        return scores

    return _both_halves(_best(frames, between))


def whole_scores(kinds: ShotFeatures, frames: FrameChoice = "side") -> Scores:
    """The paper's baseline: cosines of ``whole`` in place of matching scores, -1 to 1, else the same."""

    def between(ours: Place, theirs: Place) -> Scores:
        return numpy_scores(kinds.at(ours).whole) @ numpy_scores(kinds.at(theirs).whole).T

    return _both_halves(_best(frames, between))


def _best(frames: FrameChoice, between: Callable[[Place, Place], Scores]) -> Scores:
    scores = None
    for ours, theirs in _COMPARED[frames]:
        new = between(ours, theirs)
        scores = new if scores is None else np.maximum(scores, new, out=scores)
    assert scores is not None
    return scores


def _both_halves(scores: Scores) -> Scores:
    """The part above the diagonal mirrored below it, 1 on it."""
    above = np.triu(np.ones(scores.shape, bool), 1)
    whole = np.where(above, scores, scores.T)
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


Scores = npt.NDArray[np.float32]
"""``float32[n, m]``: row a, column b is the score of the earlier frame a with the later frame b."""


@dataclass(frozen=True, slots=True)
class Matching:
    """How frames are matched. ``grid`` is rows and columns of patches."""

    grid: tuple[int, int]
    radius: int = RADIUS
    temperature: float = TEMPERATURE
    both_ways: bool = False
    """True: the mean of both directions, as in the published code; False: the paper's equation 4."""

    def __post_init__(self) -> None:
        if min(self.grid) < 1:
            raise ValueError(f"grid must have at least one row and one column, got {self.grid}")
        if self.radius < 0:
            raise ValueError(f"radius must be 0 or more, got {self.radius}")
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise ValueError(f"temperature must be above 0, got {self.temperature}")

    @property
    def patches(self) -> int:
        """Patches of a frame."""
        return self.grid[0] * self.grid[1]

    @property
    def windows(self) -> npt.NDArray[np.bool_]:
        """``[patches, patches]``: whether patch q is in the window of patch p."""
        rows, columns = np.divmod(np.arange(self.patches), self.grid[1])
        down, across = np.abs(rows[:, None] - rows), np.abs(columns[:, None] - columns)
        found: npt.NDArray[np.bool_] = (down <= self.radius) & (across <= self.radius)
        return found


def _score(ours: Array, theirs: Array, inside: npt.NDArray[np.bool_], matching: Matching) -> float:
    """Equation 4 for one pair of frames, ``[N, D]`` each."""
    if not is_torch_array(ours):  # half precision has fast products in torch alone
        ours, theirs = numpy_scores(ours), numpy_scores(theirs)
    logits = np.where(inside, numpy_scores(ours @ theirs.T) / np.float32(matching.temperature), 0)
    return float(np.mean([_sharpness(logits, axis) for axis in ((1, 0) if matching.both_ways else (1,))]))


def _sharpness(logits: Scores, axis: int) -> float:
    """The greatest softmax along ``axis``, 1 over the sum of the exponentials of all logits less the
    greatest, as a mean over the other."""
    rest = np.exp(logits - logits.max(axis=axis, keepdims=True))
    return float((1 / rest.sum(axis=axis, dtype=np.float64)).mean())


def _check(earlier: Array, later: Array, matching: Matching) -> None:
    for name, patches in (("earlier", earlier), ("later", later)):
        if patches.ndim != 3 or patches.shape[1] != matching.patches:
            rows, columns = matching.grid
            raise ValueError(
                f"{name} must be float[n, {matching.patches}, D] for a grid of {rows} x {columns}, "
                f"got shape {tuple(patches.shape)}"
            )
    if earlier.shape[2] != later.shape[2]:
        raise ValueError(
            f"earlier and later must have equally long features, got {earlier.shape[2]} and {later.shape[2]}"
        )


def numpy_scores(values: Array) -> Scores:
    """A float array of numpy or torch, on any device, as numpy's float32."""
    if is_torch_array(values):
        values = values.detach().float().cpu().numpy()
    return np.asarray(values, np.float32)
