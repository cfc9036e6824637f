"""How well two frames match patch by patch: Shot-by-Shot, section 3.1, equations 3 and 4.

Scores of all pairs of two lists of frames, from their patches alone. Only the window of each patch is
multiplied, about a ninth of the full product at 12 x 16 and radius 2: with the patches laid out
``[patch, frame, D]``, one patch of all earlier frames meets one row of its window in all later frames in a
single matrix product. What lies outside the window has logit 0 and is counted, not computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_torch_array

from shotad.grammar.base import Array

Scores = npt.NDArray[np.float32]
"""``float32[n, m]``: row a, column b is the score of the earlier frame a with the later frame b."""

CPU_SIZES = (32, 16)
"""Frames of each side that are multiplied at once, at most: two times 40 MB of float32 at 192 x 1536; and
shots below which a triangle of pairs is not cut further."""
GPU_SIZES = (512, 64)
"""The same on a GPU, where a product must be large enough to hide its launch."""


@dataclass(frozen=True, slots=True)
class Matching:
    """How frames are matched. ``grid`` is rows and columns of patches."""

    grid: tuple[int, int]
    radius: int = 2
    """Patches by which a match may be displaced, down and across: 2 is a window of 5 x 5."""
    temperature: float = 0.1
    both_ways: bool = False
    """True: the mean of both directions, as in the published code; False: the paper's equation 4."""
    mend_flat: bool = False
    """True lets two flat frames match by their likeness (`shotad.grammar.threads_flat`)."""
    flat: float = 0.3
    """A frame is flat if it scores no more than this with itself: best the threshold in use."""

    def __post_init__(self) -> None:
        if min(self.grid) < 1:
            raise ValueError(f"grid must have at least one row and one column, got {self.grid}")
        if self.radius < 0:
            raise ValueError(f"radius must be 0 or more, got {self.radius}")
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise ValueError(f"temperature must be above 0, got {self.temperature}")
        if math.isnan(self.flat):
            raise ValueError(f"flat must be a score, got {self.flat}")

    @property
    def patches(self) -> int:
        """Patches of a frame."""
        return self.grid[0] * self.grid[1]


def window_scores(earlier: Array, later: Array, matching: Matching) -> Scores:
    """Equation 4 for every pair of a frame of ``earlier`` and a frame of ``later``.

    ``earlier`` is float ``[n, N, D]``, ``later`` float ``[m, N, D]``, patches of length 1, both of numpy or
    both of torch on one device. The answer is numpy's float32 ``[n, m]``, 0 to 1.
    """
    _check(earlier, later, matching)
    size, _ = _sizes(earlier)
    pairs = ((a, b) for a in _parts(0, len(earlier), size) for b in _parts(0, len(later), size))
    return _filled(earlier, later, matching, pairs)


def window_scores_after(earlier: Array, later: Array, matching: Matching, reach: int | None = None) -> Scores:
    """The same for two frames of each shot: entry i, j is frame i of ``earlier`` with frame j of ``later``.

    Only where ``i < j <= i + reach`` (None: all ``i < j``); elsewhere not a number.
    """
    _check(earlier, later, matching)
    if len(earlier) != len(later):
        raise ValueError(
            f"earlier and later must have a frame of each shot, got {len(earlier)} and {len(later)}"
        )
    n = len(earlier)
    reach = n if reach is None else reach
    scores = _filled(earlier, later, matching, _rectangles(n, reach, *_sizes(earlier)))
    ahead = np.arange(n)[None, :] - np.arange(n)[:, None]
    scores[(ahead < 1) | (ahead > reach)] = np.nan
    return scores


def _filled(
    earlier: Array, later: Array, matching: Matching, rectangles: Iterable[tuple[slice, slice]]
) -> Scores:
    scores = np.full((len(earlier), len(later)), np.nan, np.float32)
    last = None
    for a, b in rectangles:
        if a != last:
            ours, last = _by_patch(earlier[a]), a
        scores[a, b] = _rectangle_scores(ours, _by_patch(later[b]), matching)
    return scores


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


def _sizes(patches: Array) -> tuple[int, int]:
    on_cpu = not is_torch_array(patches) or patches.device.type == "cpu"
    return CPU_SIZES if on_cpu else GPU_SIZES


def _parts(start: int, stop: int, size: int) -> Iterator[slice]:
    """``start`` to ``stop`` in equal parts of at most ``size``, few: 0, 5, 2 → 0:1, 1:3, 3:5."""
    count, span = -(-(stop - start) // size), stop - start
    for k in range(count):
        yield slice(start + span * k // count, start + span * (k + 1) // count)


def _rectangles(n: int, reach: int, size: int, least: int) -> Iterator[tuple[slice, slice]]:
    """Rectangles that cover all pairs ``i < j <= i + reach`` of n shots, and few others, each once."""
    for a in _parts(0, n, min(size, max(reach, 8))):
        yield from _triangle(a.start, a.stop, least)
        for b in _parts(a.stop, min(n, a.stop + reach), size):
            yield a, b


def _triangle(start: int, stop: int, least: int) -> Iterator[tuple[slice, slice]]:
    if stop - start > least:
        middle = (start + stop) // 2
        yield slice(start, middle), slice(middle, stop)
        yield from _triangle(start, middle, least)
        yield from _triangle(middle, stop, least)
    elif stop - start > 1:
        yield slice(start, stop), slice(start, stop)


def _by_patch(patches: Array) -> Array:
    """``[n, N, D]`` to a new ``[N, n, D]``, in the precision that is multiplied in."""
    xp = array_namespace(patches)
    if is_torch_array(patches):
        patches = patches.detach()
    # Half precision has fast products in torch alone.
    if not (is_torch_array(patches) and patches.dtype.itemsize == 2):
        patches = xp.astype(patches, xp.float32, copy=False)
    laid = xp.permute_dims(patches, (1, 0, 2))
    # A reshape of moved axes has to copy: this makes the frames of each patch lie together.
    return xp.reshape(xp.reshape(laid, (-1,)), laid.shape)


def windows(matching: Matching) -> Iterator[tuple[int, list[slice]]]:
    """Each patch and the runs of patches, one for each row, that its window consists of.

    A grid of 2 x 3 with radius 1: patch 0 → ``[0:2, 3:5]``, patch 1 → ``[0:3, 3:6]``.
    """
    (rows, columns), reach = matching.grid, matching.radius
    for patch in range(rows * columns):
        row, column = divmod(patch, columns)
        left, right = max(column - reach, 0), min(column + reach + 1, columns)
        yield (
            patch,
            [
                slice(r * columns + left, r * columns + right)
                for r in range(max(row - reach, 0), min(row + reach + 1, rows))
            ],
        )


def _rectangle_scores(ours: Array, theirs: Array, matching: Matching) -> Scores:
    """``[N, n, D]`` and ``[N, m, D]`` to scores ``[n, m]``."""
    xp = array_namespace(ours)
    count, n, depth = ours.shape
    m = theirs.shape[1]
    forward = xp.zeros((m, n), dtype=xp.float32, device=device(ours))
    backward = _Running(xp, matching, (m, n), device(ours)) if matching.both_ways else None
    for patch, runs in windows(matching):
        mine = ours[patch, ...].T
        logits = []
        for run in runs:
            flat = xp.reshape(theirs[run, ...], (-1, depth))
            product = xp.astype(xp.matmul(flat, mine), xp.float32, copy=False) / matching.temperature
            logits.append(xp.reshape(product, (-1, m, n)))
            if backward is not None:
                backward.add(run, logits[-1])
        forward += _sharpness(xp, xp.concat(logits, axis=0), count)
    if backward is not None:
        forward = (forward + backward.total()) / 2
    return numpy_scores(forward / count).T


def _sharpness(xp: Any, logits: Array, count: int) -> Array:
    """The greatest softmax of ``logits`` ``[k, …]`` and ``count - k`` logits of 0, over the first axis.

    The greatest softmax is 1 over the sum of all exponentials relative to the greatest logit.
    """
    masked = count - logits.shape[0]
    top = xp.max(logits, axis=0)
    if masked:
        top = xp.clip(top, 0.0, None)
    return 1 / (xp.sum(xp.exp(logits - top), axis=0) + masked * xp.exp(-top))


class _Running:
    """The same for the other direction, whose logits come in bit by bit: a running softmax.

    For each patch of the later frame the greatest logit so far and the sum of exponentials relative to it.
    """

    def __init__(self, xp: Any, matching: Matching, pairs: tuple[int, int], where: Any) -> None:
        self.xp = xp
        count = matching.patches
        shape = (count, *pairs)
        sizes = [sum(run.stop - run.start for run in runs) for _, runs in windows(matching)]
        masked = xp.asarray([float(count - size) for size in sizes], dtype=xp.float32, device=where)
        masked = xp.reshape(masked, (count, 1, 1))
        self.sums = xp.zeros(shape, dtype=xp.float32, device=where) + masked
        self.tops = xp.where(self.sums > 0, 0.0, -math.inf) + xp.zeros_like(self.sums)

    def add(self, run: slice, logits: Array) -> None:
        xp, old = self.xp, self.tops[run, ...]
        top = xp.maximum(old, logits)
        self.sums[run, ...] = self.sums[run, ...] * xp.exp(old - top) + xp.exp(logits - top)
        self.tops[run, ...] = top

    def total(self) -> Array:
        return self.xp.sum(1 / self.sums, axis=0)


def numpy_scores(values: Array) -> Scores:
    """A float array of numpy or torch, on any device, as numpy's float32."""
    if is_torch_array(values):
        values = values.detach().float().cpu().numpy()
    return np.asarray(values, np.float32)
