"""What a picture shows, by MobileNetV2 (Sandler and others, 2018; torchvision's weights, BSD-3-Clause).

A second opinion beside EfficientNet-Lite3, trained apart from it. The file holds the bytes of each tensor
behind two pickles, of what they are called and in which order they lie. These are read as lists of their
parts and never run. The layers become an ONNX graph; batch normalisation is one factor and one summand of
each filter.
"""

from __future__ import annotations

import io
import pickletools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from shotad.core import Floats, Image, OnnxGraph, OnnxModel, unloadable

_SIDE = 224
_MEAN, _SPREAD = (np.array(levels, np.float32) for levels in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
"""Mean and standard deviation of ImageNet's colours, 0 to 1."""
_STAGES = ((1, 1, 1), (6, 2, 2), (6, 3, 2), (6, 4, 2), (6, 3, 1), (6, 3, 2), (6, 1, 1))
"""Of blocks of one width: how far each widens, how many they are, the first one's stride."""
_NUMBERS: dict[str, np.dtype[Any]] = {
    "torch FloatStorage": np.dtype("<f4"),
    "torch LongStorage": np.dtype("<i8"),
}


class MobileNet:
    """The network; raises WeightsError where the file at ``path`` does not hold its weights."""

    def __init__(self, path: Path) -> None:
        try:
            kept = _read(path)
            self._last = kept["classifier.1.weight"].reshape(1000, -1), kept["classifier.1.bias"]
            model = _model(kept)
        except (OSError, KeyError, ValueError, IndexError) as error:
            raise unloadable(path, error) from None
        self._features = OnnxModel(path, 2, model)

    def certainty(self, image: Image) -> npt.NDArray[np.float64]:
        """How sure it is of each class of ImageNet for a picture, ``float64[1000]``, 1 in all."""
        pixels = (squeeze(image, _SIDE).astype(np.float32) / 255 - _MEAN) / _SPREAD
        features = self._features(np.ascontiguousarray(pixels.transpose(2, 0, 1)[None]))[0]
        weights, bias = self._last
        odds = (weights @ features + bias).astype(np.float64)
        shares = np.exp(odds - odds.max())
        return np.asarray(shares / shares.sum(), np.float64)


def squeeze(image: Image, side: int) -> Image:
    """The picture as a square of so many pixels on each side."""
    way = cv2.INTER_AREA if image.shape[0] > side else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, (side, side), interpolation=way), np.uint8)


def _read(path: Path) -> dict[str, Floats]:
    """The tensors by name, flat: torch's format before zip files."""
    stream = io.BytesIO(path.read_bytes())
    *_, table, order = [list(_parts(stream)) for _ in range(5)]
    names: dict[str, str] = {}
    numbers: dict[str, np.dtype[Any]] = {}
    name = kind = ""
    for part in table:
        if part in _NUMBERS:
            kind = part
        elif part.isdecimal():
            names[part], numbers[part] = name, _NUMBERS[kind]
        elif "." in part and " " not in part:
            name = part
    kept: dict[str, Floats] = {}
    for key in filter(None, order):
        size = int.from_bytes(stream.read(8), "little") * numbers[key].itemsize
        data = stream.read(size)
        if not 0 < len(data) == size:
            raise ValueError(f"{names[key]} is cut off")
        kept[names[key]] = np.frombuffer(data, numbers[key])
    return kept


def _parts(stream: io.BytesIO) -> Iterator[str]:
    """The words of the pickle that begins there, in order, those that it remembers too."""
    known: dict[object, str] = {}
    word = ""
    for code, value, _ in pickletools.genops(stream):
        if code.name.endswith("PUT"):
            known[value] = word
            continue
        word = value if isinstance(value, str) else known.get(value, "") if code.name.endswith("GET") else ""
        yield word


def _model(kept: dict[str, Floats]) -> bytes:
    """``picture [n, 3, 224, 224]`` → ``features [n, 1280]``, the means over the picture."""
    graph = OnnxGraph()
    bounds = [np.array(0, np.float32), np.array(6, np.float32)]

    def layer(now: str, conv: str, norm: str, stride: int = 1, groups: int = 1, bends: bool = True) -> str:
        gain, shift, mean, variance = (
            kept[f"{norm}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")
        )
        factor = gain / np.sqrt(variance + np.float32(1e-5))
        flat = kept[f"{conv}.weight"].reshape(len(gain), -1)
        wide = 1 if stride == groups == 1 else 3
        kernel = (flat * factor[:, None]).reshape(len(gain), -1, wide, wide)
        edge = [wide // 2] * 4
        out = graph.add(
            *("Conv", conv, [now], [kernel, shift - mean * factor]),
            strides=[stride, stride], pads=edge, group=groups,
        )  # fmt: skip
        return graph.add("Clip", f"{conv}.bent", [out], bounds) if bends else out

    now, at = layer("picture", "features.0.0", "features.0.1", 2), 1
    for widens, count, first in _STAGES:
        for i in range(count):
            block, stride, inner = f"features.{at}.conv.", first if i == 0 else 1, now
            if widens > 1:
                inner = layer(inner, f"{block}0.0", f"{block}0.1")
            deep = int(widens > 1)
            conv, norm = f"{block}{deep}.0", f"{block}{deep}.1"
            channels = len(kept[f"{norm}.weight"])
            inner = layer(inner, conv, norm, stride, channels)
            inner = layer(inner, f"{block}{deep + 1}", f"{block}{deep + 2}", bends=False)
            now = graph.add("Add", f"{block}sum", [now, inner]) if i else inner
            at += 1
    now = layer(now, f"features.{at}.0", f"features.{at}.1")
    graph.add("ReduceMean", "features", [now], axes=[2, 3], keepdims=0)
    return graph.model({"picture": ("n", 3, _SIDE, _SIDE)}, {"features": ("n", 1280)})
