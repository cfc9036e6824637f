"""How likely speech is, 31.25 times a second: Silero's voice activity network through onnxruntime.

Only the ONNX file is used (silero-vad 6, MIT, https://github.com/snakers4/silero-vad). It reads
windows of 512 samples at 16 kHz with the 64 samples before them, and carries a state along.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

RATE = 16_000
"""Samples a second that the network takes."""
WINDOW = 512
"""Samples for one probability."""
STEP = WINDOW / RATE
"""Seconds for one probability, 0.032."""
_CONTEXT = 64
_STATE = (2, 128)

Signal = npt.NDArray[np.float32]


class Vad:
    """The network on ``channels`` parallel signals, one thread, so that results never vary.

    Feed it whole windows in order; it holds only the state and 64 samples, whatever the length.
    """

    def __init__(self, weights: Path, channels: int = 1) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )
        self._rate = np.array(RATE, np.int64)
        self._state = np.zeros((_STATE[0], channels, _STATE[1]), np.float32)
        self._context = np.zeros((channels, _CONTEXT), np.float32)

    def feed(self, signals: Signal) -> Signal:
        """Probabilities ``float32[windows, channels]`` of ``float32[channels, windows * 512]``."""
        channels, samples = signals.shape
        if channels != len(self._context) or samples % WINDOW:
            raise ValueError(
                f"expected float32[{len(self._context)}, n * {WINDOW}], got shape {signals.shape}"
            )
        if samples == 0:
            return np.zeros((0, channels), np.float32)
        padded = np.concatenate([self._context, signals], axis=1).astype(np.float32, copy=False)
        windows = [self._step(padded[:, at : at + WINDOW + _CONTEXT]) for at in range(0, samples, WINDOW)]
        self._context = padded[:, -_CONTEXT:].copy()
        return np.stack(windows)

    def _step(self, window: Signal) -> Signal:
        chance, self._state = self._session.run(
            None, {"input": window, "state": self._state, "sr": self._rate}
        )
        flat: Signal = np.asarray(chance, np.float32)[:, 0]
        return flat
