"""ONNX models on the processor, and those written by hand, for weights that come as bare numbers.

ONNX is protocol buffers; numbers of fields are those of its onnx.proto.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core.errors import WeightsError

_Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]


class OnnxModel:
    """One ONNX file: quiet, a fixed number of threads, the same answer every time. Each process makes its
    own; not to be shared between threads.

    ``threads`` is fixed by the caller rather than taken from the machine, so that a film costs the
    cores that were asked for. Waiting threads sleep instead of spinning: film decoding wants the core.
    ``model`` is what was made of a file of bare weights. Raises WeightsError if it is no model that
    onnxruntime can load.
    """

    def __init__(self, path: Path, threads: int = 1, model: bytes | None = None) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.enable_mem_pattern = False  # a fifth of the memory, for the same time
        options.log_severity_level = 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session: Any = onnxruntime.InferenceSession(
                model or str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # noqa: BLE001 - onnxruntime's own errors have no public base class
            raise unloadable_model_error(path, error) from None
        self._input = self._session.get_inputs()[0].name

    def __call__(self, batch: _Array) -> Floats:
        """The first output for ``batch``, the only input."""
        return self.all(**{self._input: batch})[0]

    def all(self, *batch: _Array, **inputs: _Array) -> list[Floats]:
        """All outputs, in the model's order, for its inputs by name, or for ``batch``, the only one."""
        outputs: list[Floats] = self._session.run(None, {self._input: batch[0]} if batch else inputs)
        return outputs

    def metadata(self, key: str) -> str:
        """A text kept inside the file. Raises WeightsError if it has none of that name."""
        texts: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        if key not in texts:
            raise WeightsError(f"The model lacks its {key!r} text; it has {sorted(texts)}.")
        return texts[key]


def model_buffers(path: Path) -> tuple[str, npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """An ONNX file as OpenCV's models take one: format, content, and no configuration. Raises OSError.

    Not by its path: on Windows OpenCV opens none with letters that the old encoding of the system lacks, such
    as those of a user's name (github.com/opencv/opencv/issues/4242).
    """
    return "onnx", np.frombuffer(path.read_bytes(), np.uint8), np.empty(0, np.uint8)


def unloadable_model_error(path: Path, error: Exception) -> WeightsError:
    """The error for a file that is no model that its library can load."""
    hint = "Fetch it again with `shotad models pull`."
    return WeightsError(f"The model {path} cannot be loaded: {error}.", hint)


class OnnxGraph:
    """A model that grows node by node."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._kept: dict[str, _Array] = {}

    def add(
        self, kind: str, name: str, inputs: Sequence[str], weights: Sequence[_Array] = (), **options: Any
    ) -> str:
        """One node, whose output has its name: an operator of ``inputs`` and then ``weights``, float32.
        Options are whole numbers or lists of them."""
        own = {f"{name}.{i}": array for i, array in enumerate(weights)}
        self._kept.update(own)
        self._nodes.append(_node(kind, [*inputs, *own], [name], options))
        return name

    def model(
        self, takes: Mapping[str, Sequence[int | str]], gives: Mapping[str, Sequence[int | str]]
    ) -> bytes:
        """The file (format 8, operators 13); ``takes`` and ``gives`` are inputs and outputs, float32, with
        their shapes, in which a name stands for any length."""
        graph = b"".join(self._nodes) + _field(2, "shotad")
        graph += b"".join(_field(5, _tensor(name, array)) for name, array in self._kept.items())
        graph += b"".join(_field(11, _value(name, shape)) for name, shape in takes.items())
        graph += b"".join(_field(12, _value(name, shape)) for name, shape in gives.items())
        return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 13))


def _node(kind: str, inputs: Iterable[str], outputs: Iterable[str], options: Mapping[str, Any]) -> bytes:
    body = _fields(1, inputs) + _fields(2, outputs) + _field(4, kind)
    for name, value in options.items():
        is_integer = isinstance(value, int)
        body += _field(
            5,
            _field(1, name)
            + (_field(3, value) if is_integer else _fields(8, value))
            + _field(20, 2 if is_integer else 7),
        )
    return _field(1, body)


def _tensor(name: str, array: _Array) -> bytes:
    return _fields(1, array.shape) + _field(2, 1) + _field(8, name) + _field(9, array.tobytes())


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    sides = b"".join(_field(1, _field(2 if isinstance(side, str) else 1, side)) for side in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, 1) + _field(2, sides)))


def _fields(number: int, values: Iterable[int | str | bytes]) -> bytes:
    return b"".join(_field(number, value) for value in values)


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    number, out = number & (1 << 64) - 1, bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])
