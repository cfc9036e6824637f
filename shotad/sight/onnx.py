"""ONNX models on the processor: quiet, a fixed number of threads, the same answer every time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import WeightsError

Floats = npt.NDArray[np.float32]


class OnnxModel:
    """One ONNX file with one input. Each process makes its own; not to be shared between threads.

    ``threads`` is fixed by the caller rather than taken from the machine, so that a film costs the
    cores that were asked for. Waiting threads sleep instead of spinning: film decoding wants the core.
    ``model`` is what was made of a file of bare weights. Raises WeightsError if it is no model that
    onnxruntime can load.
    """

    def __init__(self, path: Path, threads: int = 1, model: bytes | None = None) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # a fifth of the memory, for the same time
        options.log_severity_level = 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session: Any = onnxruntime.InferenceSession(
                model or str(path), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # noqa: BLE001 - onnxruntime's own errors have no public base class
            raise unloadable(path, error) from None
        self._input = self._session.get_inputs()[0].name

    def __call__(self, batch: Floats) -> Floats:
        """The model's first output for ``batch``."""
        return self.all(batch)[0]

    def all(self, batch: Floats) -> list[Floats]:
        """All outputs for ``batch``, in the model's order."""
        outputs: list[Floats] = self._session.run(None, {self._input: batch})
        return outputs

    def metadata(self, key: str) -> str:
        """A text kept inside the file. Raises WeightsError if it has none of that name."""
        texts: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        if key not in texts:
            raise WeightsError(f"The model lacks its {key!r} text; it has {sorted(texts)}.")
        return texts[key]


def unloadable(path: Path, error: Exception) -> WeightsError:
    """The error for a file that is no model that its library can load."""
    hint = "Fetch it again with `shotad models pull`."
    return WeightsError(f"The model {path} cannot be loaded: {error}.", hint)
