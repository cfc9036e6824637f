"""Which shots share a camera set-up: Shot-by-Shot, section 3.1, without training and without weights.

Features of the frames go in, a matrix of matching scores (equations 3 and 4) comes out, and from it the
threads. Nothing here touches a file, a model or a clock. Arrays are numpy's or torch's.

The score asks whether the best match of a patch stands out from its window. In a frame without texture,
flat or black, nothing stands out: with a window of 25 alike cells even the frame itself scores 0.04.

With patches laid out ``[patch, frame, D]``, a tile of neighbouring patches of all earlier frames meets a
row of its windows in all later frames in one matrix product, so that only the window is multiplied: about a
ninth of the full product at 12 x 16 and radius 2. What lies outside has logit 0 and is counted, not
computed.

On a CPU the products limit it. On a GPU, by reckoning and not yet measured: float32 is limited by the
products too; in bfloat16 they take a third of the time of the softmax, which reads and writes float32
logits several times and so is limited by memory; short lists of shots are limited by the launches, some 800
a call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_torch_array

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
    size, _ = _sizes(earlier)
    pairs = ((a, b) for a in _parts(0, len(earlier), size) for b in _parts(0, len(later), size))
    return _filled(earlier, later, matching, pairs)


def shot_scores(kinds: ShotFeatures, matching: Matching, frames: FrameChoice = "side") -> Scores:
    """Matching scores of all pairs of shots: float32 ``[n, n]``, symmetric, 1 on the diagonal.

    Entry i < j is that of the chosen frames of shot i with those of shot j. Beyond the matrix itself, memory
    does not grow with n.
    """

    def between(ours: Place, theirs: Place) -> Scores:
        earlier, later = kinds.at(ours).patches, kinds.at(theirs).patches
        _check(earlier, later, matching)
        return _filled(earlier, later, matching, _rectangles(len(earlier), *_sizes(earlier)))

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


def _rectangles(n: int, size: int, least: int) -> Iterator[tuple[slice, slice]]:
    """Rectangles that cover all pairs ``i < j`` of n shots, and few others, each once."""
    for a in _parts(0, n, size):
        yield from _triangle(a.start, a.stop, least)
        for b in _parts(a.stop, n, size):
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
