"""Tiny ONNX files, written byte by byte: the `onnx` package is not needed for a handful of nodes.

The numbers of the fields are those of ``onnx.proto3``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

FLOAT, INT64 = 1, 7


@dataclass(frozen=True)
class Node:
    """One operation; attributes are whole numbers or lists of them."""

    kind: str
    inputs: Sequence[str]
    output: str
    attributes: Mapping[str, int | Sequence[int]] = field(default_factory=dict)


def write_onnx(
    path: Path,
    nodes: Sequence[Node],
    constants: Mapping[str, npt.NDArray[np.float32] | npt.NDArray[np.int64]],
    inputs: Mapping[str, Sequence[int]],
    outputs: Sequence[str],
) -> Path:
    """A model of opset 13; all inputs and outputs are floats."""
    graph = b"".join(_bytes(1, _node(node)) for node in nodes)
    graph += _bytes(2, b"tiny")
    graph += b"".join(_bytes(5, _tensor(name, values)) for name, values in constants.items())
    graph += b"".join(_bytes(11, _value(name, shape)) for name, shape in inputs.items())
    graph += b"".join(_bytes(12, _value(name, None)) for name in outputs)
    path.write_bytes(_number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13)))
    return path


def _node(node: Node) -> bytes:
    packed = b"".join(_bytes(1, name.encode()) for name in node.inputs)
    packed += _bytes(2, node.output.encode()) + _bytes(4, node.kind.encode())
    for name, value in node.attributes.items():
        packed += _bytes(5, _bytes(1, name.encode()) + _attribute(value))
    return packed


def _attribute(value: int | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _number(3, value) + _number(20, 2)
    return b"".join(_number(8, v) for v in value) + _number(20, 7)


def _tensor(name: str, values: npt.NDArray[np.float32] | npt.NDArray[np.int64]) -> bytes:
    kind = FLOAT if values.dtype == np.float32 else INT64
    packed = b"".join(_number(1, size) for size in values.shape)
    return packed + _number(2, kind) + _bytes(8, name.encode()) + _bytes(9, values.tobytes())


def _value(name: str, shape: Sequence[int] | None) -> bytes:
    kind = _number(1, FLOAT)
    if shape is not None:
        kind += _bytes(2, b"".join(_bytes(1, _number(1, size)) for size in shape))
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, kind))


def _number(tag: int, value: int) -> bytes:
    return _varint(tag << 3) + _varint(value & 0xFFFFFFFFFFFFFFFF)


def _bytes(tag: int, value: bytes) -> bytes:
    return _varint(tag << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    packed = bytearray()
    while value > 0x7F:
        packed.append(value & 0x7F | 0x80)
        value >>= 7
    packed.append(value)
    return bytes(packed)
