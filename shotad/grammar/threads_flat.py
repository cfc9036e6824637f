"""What the matching score does to flat and black frames, and how it can be mended.

The score asks whether the best match of a patch stands out from its window. In a frame without texture
nothing stands out: with a window of 25 alike cells even the frame itself scores 0.04. The mend leaves alone
every frame that can tell its own patches apart. Two frames that both cannot are compared as they lie, by
the likeness of their patches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_torch_array

from shotad.grammar.base import Array
from shotad.grammar.threads_match import Matching, Scores, numpy_scores
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
