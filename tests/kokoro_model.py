"""A tiny model with the inputs and outputs of Kokoro's, and a file of voices like its own, in place of the weights."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.made_weights import use_manifest

SAMPLES_PER_SOUND = 1800
"""At speed 1: 0.075 s at 24000 samples a second, as with the real model."""
STYLES = 510
VOICES = (
    "af_heart",
    "af_bella",
    "am_michael",
    "bf_emma",
    "ef_dora",
    "ff_siwis",
    "if_sara",
    "pf_dora",
    "hf_alpha",
)
_FLOAT, _INT64 = 1, 7


def use_tiny_kokoro(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have the tiny model be the only weights, and here. Returns the folder of its two files."""
    folder.mkdir(exist_ok=True)
    model, voices = folder / "tiny.onnx", folder / "voices.npz"
    model.write_bytes(tiny_model())
    # Each voice has a pitch of its own, in radians a sample.
    styles = {
        name: np.full((STYLES, 1, 256), 0.04 + 0.01 * number, np.float32)
        for number, name in enumerate(VOICES)
    }
    np.savez(voices, **styles)
    cached = use_manifest(folder, monkeypatch, {"kokoro": ("voices", model)})["kokoro"]
    shutil.copy(voices, cached.with_name("voices-v1.0.bin"))
    return cached.parent


def tiny_model() -> bytes:
    """An ONNX file: a tone of the style's pitch, for each sound as long, and as loud as the sound's number says."""
    nodes = [
        _node("Shape", ["tokens"], "shape"),
        _node("Gather", ["shape", "one"], "count"),
        _node("Cast", ["count"], "count_float", to=_FLOAT),
        _node("Gather", ["speed", "zero"], "pace"),
        _node("Div", ["samples", "pace"], "each"),
        _node("Mul", ["count_float", "each"], "size"),
        _node("Range", ["start", "size", "step"], "at"),
        _node("Div", ["at", "each"], "place"),
        _node("Cast", ["place"], "index", to=_INT64),
        _node("Reshape", ["tokens", "flat"], "numbers"),
        _node("Gather", ["numbers", "index"], "number"),
        _node("Cast", ["number"], "number_float", to=_FLOAT),
        _node("Div", ["number_float", "loudest"], "gain"),
        _node("Reshape", ["style", "flat"], "styles"),
        _node("Gather", ["styles", "zero"], "pitch"),
        _node("Mul", ["at", "pitch"], "phase"),
        _node("Sin", ["phase"], "tone"),
        _node("Mul", ["tone", "gain"], "audio"),
    ]
    constants = [
        _tensor("zero", np.array(0, np.int64)),
        _tensor("one", np.array(1, np.int64)),
        _tensor("flat", np.array([-1], np.int64)),
        _tensor("samples", np.array(SAMPLES_PER_SOUND, np.float32)),
        _tensor("start", np.array(0, np.float32)),
        _tensor("step", np.array(1, np.float32)),
        _tensor("loudest", np.array(400, np.float32)),
    ]
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"tiny")
    graph += b"".join(_field(5, constant) for constant in constants)
    inputs = [("tokens", _INT64, [1, "n"]), ("style", _FLOAT, [1, 256]), ("speed", _FLOAT, [1])]
    graph += b"".join(_field(11, _value(*value)) for value in inputs)
    graph += _field(12, _value("audio", _FLOAT, ["m"]))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 13))


def _node(kind: str, inputs: Sequence[str], output: str, to: int | None = None) -> bytes:
    body = b"".join(_field(1, name.encode()) for name in inputs) + _field(2, output.encode())
    body += _field(4, kind.encode())
    return body if to is None else body + _field(5, _field(1, b"to") + _field(3, to) + _field(20, 2))


def _tensor(name: str, array: npt.NDArray[Any]) -> bytes:
    kind = _INT64 if array.dtype == np.int64 else _FLOAT
    shape = b"".join(_field(1, side) for side in array.shape)
    return shape + _field(2, kind) + _field(8, name.encode()) + _field(9, array.tobytes())


def _value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    sides = b"".join(
        _field(1, _field(2, side.encode()) if isinstance(side, str) else _field(1, side)) for side in shape
    )
    tensor = _field(1, kind) + _field(2, sides)
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, value: int | bytes) -> bytes:
    """A field of a protocol buffer; numbers are those of onnx.proto."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])
