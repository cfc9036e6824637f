"""Dense features without weights: what each cell of a frame and its surroundings look like.

The matching score is high only where a patch is much more like its counterpart than like that one's
neighbours, so a cell is described by the layout of edges around it, which changes from cell to cell, and
a little by that of colour. Plain means and spreads of colour and gradient are too alike among neighbours.

Edges: the gradient's lightness in eight directions, each the positive part of the derivative that way,
blurred and read at points about the cell (E. Tola, V. Lepetit, P. Fua: DAISY, PAMI 2010), as shares of all
edges there, so that exposure does not matter, and their roots (R. Arandjelovic, A. Zisserman: Three things
everyone should know to improve object retrieval, CVPR 2012). What all cells of a frame have in common is
taken off, so that grain says nothing. Cells that have little to tell share one direction: they match none
in particular.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from shotad.core import Image
from shotad.grammar.features import THREAD_SIZE, Features, all_upright, fitted, grid_of, is_upright
from shotad.sight.motion import active_area

Floats = npt.NDArray[np.float32]

DIRECTIONS = 8
"""Directions of edges, 45 degrees apart."""
POINTS = 4
"""Points along each side of the square about a cell at which edges and colours are read."""
SIDE = 4.0
"""Side of that square in cells."""
FAINT = 0.1
"""Mean gradient, in units of L* a pixel, at which a cell is as much flat as textured."""
PLAIN = 0.05
"""Difference of a cell's layout of edges from that of the whole frame at which it is as much like it."""
COLOUR = 0.2
"""Share of colour in a cell's features; the rest is edges."""
PALE = 3.0
"""Spread of a* and b* at which a cell is as much grey as coloured."""

LINES = 160
"""Lines of the picture, at least, by which black bars are looked for."""
BLACK = 10
"""Level up to which a bar is black. Higher ones take the dark edges of a night for bars, and cut none."""


class GridFeatures:
    """Features of 12 x 16 cells (16 x 12 for upright film) by edges and colour; no weights, no torch.

    Black bars are cut off first, as far as the frame itself shows them. The same frame gives the same bytes,
    whichever frames come with it.
    """

    identity = "grid:2"
    agreeing = True
    threshold = 0.11
    """The least that joins no two set-ups of the real clips for tuning, nor of halves of their shots, for a
    wrong thread is told to the model (`benchmarks/threads.py`)."""

    def of(self, images: Sequence[Image]) -> Features:
        """Features of ``images``, as `shotad.grammar.features.FeatureMaker` says.

        ``patches`` is float32 ``[n, 192, 161]``, ``whole`` float32 ``[n, 1932]``: the means of 4 x 4 cells.
        """
        all_upright(images)
        grid = grid_of(images[0])
        patches = np.stack([_patches(fitted(_unbarred(image), *THREAD_SIZE), grid) for image in images])
        # The frame's coarse layout: means of the patches of each 4 x 4 cells, one after the other
        blocks = patches.reshape(len(patches), grid[0] // 4, 4, grid[1] // 4, 4, -1).mean(axis=(2, 4))
        return Features(patches, _unit(blocks.reshape(len(patches), -1)).astype(np.float32), grid)


def _unbarred(image: Image) -> Image:
    """The frame without black bars, unless that would turn a broad frame into an upright one."""
    height, width = image.shape[:2]
    step = max(1, height // LINES)
    area = active_area(image[None, ::step, ::step], BLACK)
    top, bottom = round(area.top * height), round(area.bottom * height)
    left, right = round(area.left * width), round(area.right * width)
    cut = image[top:bottom, left:right]
    return cut if cut.size and is_upright(cut) == is_upright(image) else image


def _patches(image: Image, grid: tuple[int, int]) -> Floats:
    """One unit vector for each cell, ``float32[cells, D]``, row by row."""
    lab = np.asarray(cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), np.float32)
    # How much lighter it gets in each direction, per pixel: ``float32[H, W, DIRECTIONS]``, 0 or more
    lightness = lab[..., 0]
    across, down = (
        cv2.Sobel(lightness, cv2.CV_32F, dx, 1 - dx, scale=1 / 8, borderType=cv2.BORDER_REFLECT_101)
        for dx in (1, 0)
    )
    angles = np.arange(DIRECTIONS // 2) * (2 * np.pi / DIRECTIONS)
    half = [across * np.float32(np.cos(angle)) + down * np.float32(np.sin(angle)) for angle in angles]
    both = np.stack([*half, *(-towards for towards in half)], -1)
    field = np.concatenate([np.asarray(np.maximum(both, 0), np.float32), lab[..., 1:]], -1)
    # Means of 2 x 2 pixels, blurred, at the points about each cell: ``float32[cells, POINTS ** 2, C]``
    field = (field[0::2, 0::2] + field[1::2, 0::2] + field[0::2, 1::2] + field[1::2, 1::2]) / 4
    spacing = SIDE / POINTS * field.shape[0] / grid[0]
    blurred = cv2.GaussianBlur(field, (0, 0), spacing / 2, borderType=cv2.BORDER_REFLECT_101)
    rows, columns = (_points(cells, length) for cells, length in zip(grid, field.shape[:2], strict=True))
    read = blurred[rows[:, None, :, None], columns[None, :, None, :]]
    read = np.asarray(read.reshape(grid[0] * grid[1], POINTS**2, -1), np.float32)
    edges, colours = (part.reshape(len(part), -1) for part in np.split(read, [DIRECTIONS], axis=-1))
    strength = edges.sum(-1, keepdims=True) / POINTS**2
    textured = strength**2 / (strength**2 + FAINT**2)
    layout = np.sqrt(edges / np.maximum(edges.sum(-1, keepdims=True), 1e-9))
    layout = layout - (layout * textured).sum(0) / max(float(textured.sum()), 1e-6)
    layout = layout / np.sqrt((layout**2).sum(-1, keepdims=True) + PLAIN**2)
    tint = colours - colours.mean(0)
    tint = tint / np.sqrt((tint**2).sum(-1, keepdims=True) + (POINTS * PALE) ** 2)
    described = np.concatenate([layout * np.sqrt(1 - COLOUR), tint * np.sqrt(COLOUR)], -1)
    described *= np.sqrt(textured)
    rest = np.sqrt(np.maximum(1 - (described**2).sum(-1, keepdims=True), 0))
    return _unit(np.concatenate([described, rest], -1)).astype(np.float32)


def _points(cells: int, length: int) -> npt.NDArray[np.intp]:
    """Pixels ``[cells, POINTS]`` at which the cells along one side are read, mirrored at its ends."""
    step = length / cells
    off = (np.arange(POINTS) - (POINTS - 1) / 2) * SIDE / POINTS * step
    at = np.abs(np.rint((np.arange(cells)[:, None] + 0.5) * step - 0.5 + off)).astype(np.intp)
    mirrored: npt.NDArray[np.intp] = np.minimum(at, 2 * (length - 1) - at)
    return mirrored


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9))
