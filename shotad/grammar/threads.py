"""Which shots share a camera set-up: Shot-by-Shot, section 3.1, without training and without weights.

Features of the frames go in, a matrix of matching scores (equations 3 and 4) comes out, and from it the
threads. Nothing here touches a file, a model or a clock. Arrays are numpy's or torch's.

The score asks whether the best match of a patch stands out from its window. In a frame without texture,
flat or black, nothing stands out: with a window of 25 alike cells even the frame itself scores 0.04.

A pair is one product of all patches with all, of which the windows count: 2 to 4 ms on a processor with the
largest DINOv2, which takes seconds to make the features of a frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from array_api_compat import is_torch_array
from numpy.lib.stride_tricks import sliding_window_view

from shotad.grammar.features import RADIUS, TEMPERATURE, Array, FeatureMaker, Features

FramePosition = Literal["first", "middle", "last"]
"""Which frame of a shot."""

FrameChoice = Literal["side", "mid", "all"]
"""Which frames of two shots are compared; the setting ``threads.frames``."""

_PLACES: tuple[FramePosition, ...] = ("first", "middle", "last")

_COMPARED: dict[FrameChoice, tuple[tuple[FramePosition, FramePosition], ...]] = {
    "side": (("last", "first"),),
    "mid": (("middle", "middle"),),
    "all": tuple((ours, theirs) for ours in _PLACES for theirs in _PLACES),
}
"""Frame of the earlier and frame of the later shot; the best counts."""


def positions_for(frames: FrameChoice) -> tuple[FramePosition, ...]:
    """The frames of each shot that a choice needs: ``side`` → first and last."""
    return tuple(place for place in _PLACES if any(place in pair for pair in _COMPARED[frames]))


FeaturesByPlace = Mapping[FramePosition, Features]
"""Features of the shots of one clip or film, in order, by frame (`positions_for`): row k of each is shot
k.
"""


def shot_scores(kinds: FeaturesByPlace, matching: Matching, frames: FrameChoice = "side") -> ScoreMatrix:
    """Matching scores of all pairs of shots: float32 ``[n, n]``, symmetric, 0 to 1, 1 on the diagonal.

    Entry i < j is equation 4 for the chosen frames of shot i with those of shot j::

        C[p, q] = cosine(earlier[p], later[q]) where q is in the window of p, else 0
        score   = mean over p of the greatest softmax over all q of C[p, q] / temperature

    Patches are float ``[n, N, D]`` of length 1, of numpy or of torch. Each pair is scored by itself, so that
    no score depends on which other shots there are.
    """

    def between(ours: FramePosition, theirs: FramePosition) -> ScoreMatrix:
        earlier, later = kinds[ours].patches, kinds[theirs].patches
        inside, scores = matching.windows, np.zeros((len(earlier), len(later)), np.float32)
        for i, j in zip(*np.triu_indices(len(earlier), 1), strict=True):
            scores[i, j] = _score(earlier[i], later[j], inside, matching)
        return scores

    return _best(frames, between)


def whole_scores(kinds: FeaturesByPlace, frames: FrameChoice = "side") -> ScoreMatrix:
    """The paper's baseline: cosines of ``whole`` in place of matching scores, -1 to 1, else the same."""

    def between(ours: FramePosition, theirs: FramePosition) -> ScoreMatrix:
        return numpy_scores(kinds[ours].whole) @ numpy_scores(kinds[theirs].whole).T

    return _best(frames, between)


def _best(frames: FrameChoice, between: Callable[[FramePosition, FramePosition], ScoreMatrix]) -> ScoreMatrix:
    """The best scores of a choice of frames, the part above the diagonal mirrored below it, 1 on it."""
    scores: ScoreMatrix = np.maximum.reduce([between(ours, theirs) for ours, theirs in _COMPARED[frames]])
    above = np.triu(np.ones(scores.shape, bool), 1)
    whole: ScoreMatrix = np.where(above, scores, scores.T)
    np.fill_diagonal(whole, 1)
    return whole


def threads_of(scores: ScoreMatrix, threshold: float) -> tuple[tuple[int, ...], ...]:
    """Connected components over all pairs with a score above ``threshold``, those of one shot too.

    ``scores`` is float ``[n, n]``, symmetric; not a number joins nothing. Shots ascend within a thread, and
    threads by their first shot: shots 0 and 2 alike → ``((0, 2), (1,))``.
    """
    return joined(range(len(scores)), np.argwhere(np.triu(scores > threshold, 1)).tolist())


def joined(shots: Iterable[int], pairs: Iterable[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Connected components of ascending ``shots`` joined by ``pairs``, in the order of `threads_of`."""
    parents = {shot: shot for shot in shots}

    def root(shot: int) -> int:
        while parents[shot] != shot:
            # Halve the path while it is walked: long threads stay cheap.
            parents[shot] = parents[parents[shot]]
            shot = parents[shot]
        return shot

    for first, second in pairs:
        low, high = sorted((root(first), root(second)))
        parents[high] = low
    threads: dict[int, list[int]] = {}
    for shot in parents:
        threads.setdefault(root(shot), []).append(shot)
    return tuple(tuple(thread) for thread in threads.values())


ScoreMatrix = npt.NDArray[np.float32]
"""``float32[n, m]``: row a, column b is the score of the earlier frame a with the later frame b."""


@dataclass(frozen=True, slots=True)
class Matching:
    """How frames are matched. ``grid`` is rows and columns of patches."""

    grid: tuple[int, int]
    radius: int = RADIUS
    temperature: float = TEMPERATURE
    both_ways: bool = False
    """True: the mean of both directions, as in the published code; False: the paper's equation 4."""
    agreeing: bool = False
    """True: a patch counts only where it and its best match are each other's, and all count that moved the
    same way within a patch; by their cosines. For features that tell look-alikes apart less well."""

    @property
    def windows(self) -> npt.NDArray[np.bool_]:
        """``[patches, patches]`` of a frame: whether patch q is in the window of patch p."""
        rows, columns = np.divmod(np.arange(self.grid[0] * self.grid[1]), self.grid[1])
        down, across = np.abs(rows[:, None] - rows), np.abs(columns[:, None] - columns)
        within_radius: npt.NDArray[np.bool_] = (down <= self.radius) & (across <= self.radius)
        return within_radius


def matching_of(maker: FeatureMaker, grid: tuple[int, int], both_ways: bool = False) -> Matching:
    """How frames are matched whose features ``maker`` made."""
    radius = 4 if maker.agreeing else RADIUS  # in a wider window chance agrees less often
    return Matching(grid, radius, both_ways=both_ways, agreeing=maker.agreeing)


def _score(ours: Array, theirs: Array, inside: npt.NDArray[np.bool_], matching: Matching) -> float:
    """Equation 4 for one pair of frames, ``[N, D]`` each."""
    # Half precision has fast products in torch alone; more than eight rows OpenBLAS gives to threads, which
    # take up to 15 ms to meet on a busy machine.
    rows = [ours] if is_torch_array(ours) else np.split(ours, range(8, len(ours), 8))
    cosines = np.concatenate([numpy_scores(few @ theirs.T) for few in rows])
    logits = np.where(inside, cosines / np.float32(matching.temperature), 0)
    # The greatest softmax, one way or both: 1 over the sum of the exponentials of logits less the greatest
    axes = (1, 0) if matching.both_ways else (1,)
    rests = [np.exp(logits - logits.max(axis=axis, keepdims=True)) for axis in axes]
    ways = [1 / rest.sum(axis=axis, dtype=np.float64) for axis, rest in zip(axes, rests, strict=True)]
    if not matching.agreeing:
        return float(np.mean([way.mean() for way in ways]))
    # The share of patches whose matches moved the same way, each by its sharpness and its cosine
    cosines = np.where(inside, cosines, 0)
    patches, best = np.arange(len(cosines)), cosines.argmax(axis=1)
    near = cosines[patches, best]
    mutual = (cosines.argmax(axis=0)[best] == patches) & (near > 0)
    sharp = np.mean([ways[0], *(way[best] for way in ways[1:])], axis=0)
    columns, widest = matching.grid[1], matching.radius + 1
    moved = np.stack([best // columns - patches // columns, best % columns - patches % columns])[:, mutual]
    votes = np.zeros((2 * widest + 1, 2 * widest + 1))
    np.add.at(votes, tuple(moved + widest), (sharp * near)[mutual])
    return float(sliding_window_view(votes, (3, 3)).sum(axis=(2, 3)).max() / len(cosines))


def numpy_scores(values: Array) -> ScoreMatrix:
    """A float array of numpy or torch, on any device, as numpy's float32."""
    if is_torch_array(values):
        values = values.detach().float().cpu().numpy()
    return np.asarray(values, np.float32)
