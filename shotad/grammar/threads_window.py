"""The products of patches with their windows, and the softmax over them, for many pairs of frames at once.

With patches laid out ``[patch, frame, D]``, a tile of neighbouring patches of all earlier frames meets a row
of its windows in all later frames in one matrix product, so that only the window is multiplied: about a
ninth of the full product at 12 x 16 and radius 2. What lies outside has logit 0 and is counted, not computed.

On a CPU the products limit it. On a GPU, by reckoning and not yet measured: float32 is limited by the
products too; in bfloat16 they take a third of the time of the softmax, which reads and writes float32 logits
several times and so is limited by memory; short lists of shots are limited by the launches, some 800 a call.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_torch_array

from shotad.grammar.base import Array

TILE = 4
"""Patches side by side that are multiplied together, at most. Neighbours share most of their windows."""
ENOUGH = 64
"""Columns of a matrix product that fill it; with as many frames, a tile is a single patch."""


@dataclass(frozen=True, slots=True)
class Tile:
    """Patches side by side, and the rectangle of patches that holds all their windows."""

    patches: slice
    rows: slice
    columns: slice
    inside: npt.NDArray[np.bool_]
    """``[k, t]``: is patch k of the rectangle, row by row, in the window of patch t of the tile?"""


def tiles(grid: tuple[int, int], radius: int, width: int = 1) -> Iterator[Tile]:
    """The tiles of a grid, row by row, ``width`` patches each, fewer at the end of a row.

    A grid of 2 x 3, radius 1, width 2: patches 0:2 with columns 0:3 of rows 0:2, then 2:3 with 1:3 …
    """
    rows, columns = grid
    for row in range(rows):
        above, below = max(row - radius, 0), min(row + radius + 1, rows)
        for start in range(0, columns, width):
            stop = min(start + width, columns)
            left, right = max(start - radius, 0), min(stop + radius, columns)
            apart = np.abs(np.arange(left, right)[:, None] - np.arange(start, stop))
            yield Tile(
                slice(row * columns + start, row * columns + stop),
                slice(above, below),
                slice(left, right),
                np.tile(apart <= radius, (below - above, 1)),
            )


@dataclass(frozen=True, slots=True)
class _Masks:
    """What a tile needs besides its products, as arrays that broadcast over frames."""

    outside: Array
    """``[k, 1, t, 1]``: 0 in the window of patch t, else -inf."""
    counted: Array
    """``[1, t, 1]``: patches outside the window, whose logit is 0."""
    least: Array
    """``[1, t, 1]``: 0 where there are such, else -inf."""


class WindowProduct:
    """Equation 4 for rectangles of pairs; ``like`` is an array of the kind and on the device to work on."""

    def __init__(self, grid: tuple[int, int], radius: int, temperature: float, like: Array) -> None:
        self.grid, self.radius, self.temperature = grid, radius, temperature
        self.xp, self.device = array_namespace(like), device(like)
        self._tiles: dict[int, list[tuple[Tile, _Masks]]] = {}

    def laid(self, patches: Array) -> Array:
        """``[n, N, D]`` to a new ``[N, n, D]``, in the precision that is multiplied in."""
        if is_torch_array(patches):
            patches = patches.detach()
        # Half precision has fast products in torch alone.
        if not (is_torch_array(patches) and patches.dtype.itemsize == 2):
            patches = self.xp.astype(patches, self.xp.float32, copy=False)
        moved = self.xp.permute_dims(patches, (1, 0, 2))
        # A reshape of moved axes has to copy: this makes the frames of each patch lie together.
        return self.xp.reshape(self.xp.reshape(moved, (-1,)), moved.shape)

    def scores(self, ours: Array, theirs: Array, both_ways: bool) -> Array:
        """Laid out ``[N, n, D]`` and ``[N, m, D]`` to scores ``[n, m]``, on the device."""
        xp, (count, n, _), m = self.xp, ours.shape, theirs.shape[1]
        total = xp.zeros((m, n), dtype=xp.float32, device=self.device)
        backward = _Running(xp, self.grid, self._counted(), (m, n)) if both_ways else None
        for tile, masks in self._of_width(max(1, min(TILE, ENOUGH // n))):
            logits = self._logits(tile, masks, ours, theirs)
            total += _sharpness(xp, logits, masks)
            if backward is not None:
                backward.add(tile, logits)
        if backward is not None:
            total = (total + backward.total()) / 2
        return (total / count).T

    def _logits(self, tile: Tile, masks: _Masks, ours: Array, theirs: Array) -> Array:
        """``[k, m, t, n]``, -inf outside the windows."""
        xp, (_, n, depth), m = self.xp, ours.shape, theirs.shape[1]
        mine = xp.reshape(ours[tile.patches, ...], (-1, depth)).T
        rows = xp.reshape(theirs, (self.grid[0], self.grid[1] * m, depth))
        across = slice(tile.columns.start * m, tile.columns.stop * m)
        products = xp.stack([rows[r, across, :] @ mine for r in range(tile.rows.start, tile.rows.stop)])
        logits = xp.astype(products, xp.float32, copy=False) / self.temperature
        logits = xp.reshape(logits, (-1, m, logits.shape[-1] // n, n))
        return logits if tile.inside.all() else logits + masks.outside

    def _of_width(self, width: int) -> list[tuple[Tile, _Masks]]:
        if width not in self._tiles:
            every = tiles(self.grid, self.radius, width)
            self._tiles[width] = [(tile, self._masks(tile)) for tile in every]
        return self._tiles[width]

    def _masks(self, tile: Tile) -> _Masks:
        inside = tile.inside[:, None, :, None]
        counted = self.grid[0] * self.grid[1] - inside.sum(axis=0)
        return _Masks(
            self._array(np.where(inside, 0, -math.inf)),
            self._array(counted),
            self._array(np.where(counted > 0, 0, -math.inf)),
        )

    def _counted(self) -> Array:
        """``[rows, columns, 1, 1]``: patches outside the window of each."""
        count = self.grid[0] * self.grid[1]
        sizes = [count - tile.inside.sum() for tile in tiles(self.grid, self.radius)]
        return self._array(np.reshape(sizes, (*self.grid, 1, 1)))

    def _array(self, values: npt.NDArray[Any]) -> Array:
        return self.xp.asarray(values.astype(np.float32), device=self.device)


def _sharpness(xp: Any, logits: Array, masks: _Masks) -> Array:
    """The greatest softmax of each patch over its window and the masked cells, summed over the tile.

    ``[k, m, t, n]`` to ``[m, n]``. The greatest softmax is 1 over the sum of the exponentials of all logits
    less the greatest, which is 0 at least where masked cells are.
    """
    top = xp.maximum(xp.max(logits, axis=0), masks.least)
    masked = masks.counted * xp.exp(-xp.clip(top, 0.0, None))
    return xp.sum(1 / (xp.sum(xp.exp(logits - top), axis=0) + masked), axis=1)


class _Running:
    """The same for the other direction, whose logits come in tile by tile: a running softmax.

    For each patch of the later frame the greatest logit so far and the sum of exponentials relative to it.
    """

    def __init__(self, xp: Any, grid: tuple[int, int], counted: Array, pairs: tuple[int, int]) -> None:
        self.xp = xp
        self.sums = xp.zeros((*grid, *pairs), dtype=xp.float32, device=device(counted)) + counted
        self.tops = xp.where(self.sums > 0, 0.0, -math.inf) + xp.zeros_like(self.sums)

    def add(self, tile: Tile, logits: Array) -> None:
        xp, where = self.xp, (tile.rows, tile.columns, ...)
        old = self.tops[where]
        rows, columns, m, n = old.shape
        split = xp.reshape(logits, (rows, columns, m, -1, n))
        top = xp.maximum(old, xp.max(split, axis=3))
        fresh = xp.sum(xp.exp(split - xp.expand_dims(top, axis=3)), axis=3)
        self.sums[where] = self.sums[where] * xp.exp(old - top) + fresh
        self.tops[where] = top

    def total(self) -> Array:
        """``[m, n]``: the greatest softmax, summed over patches."""
        return self.xp.sum(1 / self.sums, axis=(0, 1))
