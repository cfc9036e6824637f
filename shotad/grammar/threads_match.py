"""How well frames match, for all pairs of two lists: Shot-by-Shot, section 3.1, equations 3 and 4."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from array_api_compat import is_torch_array

from shotad.grammar.base import RADIUS, TEMPERATURE, Array
from shotad.grammar.threads_window import WindowProduct

Scores = npt.NDArray[np.float32]
"""``float32[n, m]``: row a, column b is the score of the earlier frame a with the later frame b."""

CPU_SIZES = (48, 16)
"""Frames of each side that are multiplied at once, at most: two times 57 MB of float32 at 192 x 1536; and
shots below which a triangle of pairs is not cut further."""
GPU_SIZES = (512, 64)
"""The same on a GPU, where a product must be large enough to hide its launch."""


@dataclass(frozen=True, slots=True)
class Matching:
    """How frames are matched. ``grid`` is rows and columns of patches."""

    grid: tuple[int, int]
    radius: int = RADIUS
    temperature: float = TEMPERATURE
    both_ways: bool = False
    """True: the mean of both directions, as in the published code; False: the paper's equation 4."""
    mend_flat: bool = False
    """True lets two flat frames match by their likeness (`shotad.grammar.threads`)."""
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
    product = WindowProduct(matching.grid, matching.radius, matching.temperature, earlier)
    last, ours = None, None
    for a, b in rectangles:
        if a != last:
            last, ours = a, None
            ours = product.laid(earlier[a, ...])
        # Without a name for it, the last block of later frames is gone before the next is laid out.
        block = product.scores(ours, product.laid(later[b, ...]), matching.both_ways)
        scores[a, b] = numpy_scores(block)
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


def numpy_scores(values: Array) -> Scores:
    """A float array of numpy or torch, on any device, as numpy's float32."""
    if is_torch_array(values):
        values = values.detach().float().cpu().numpy()
    return np.asarray(values, np.float32)
