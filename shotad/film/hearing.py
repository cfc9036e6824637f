"""Makes film sound fit for a speech detector: two levelled views of it.

Detectors are trained on speech at speech level. Film sound is not so: a voice over loud music goes
unheard because the whole is too loud, one far away because it is too low. So each view is brought to
a steady level over a few seconds: one as it is, one louder and with the low notes damped, where music
and rumble are strongest. benchmarks/speech.py measures what this is worth.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shotad.film.vad import RATE, WINDOW, Signal

LEVELS = (0.1, 0.5)
"""Root mean square of the two views: the sound as it is, and with its low notes damped."""
REACHES = (47, 94)
"""Windows to each side over which a view's level is taken: 3 s and 6 s in all."""
LARGEST_GAINS = (60.0, 12.0)
"""So that near silence (below -55 dB of full scale) is not raised to the level of speech, and that the
second view, meant for loud scenes, makes no voices of the birds in a quiet one."""
LOW_CUT = 600.0
"""Hertz below which the second view falls by 6 dB an octave; a steeper filter takes the voice too."""
_TAPS = 64


class Leveller:
    """Turns sound that arrives in pieces into the two views, 3 s late.

    What comes out does not depend on how the sound was cut into pieces.
    """

    def __init__(self) -> None:
        self._taps = _high_pass(_TAPS, LOW_CUT)
        self._sound = np.zeros(_TAPS - 1, np.float32)
        self._views = np.zeros((2, 0, WINDOW), np.float32)
        self._power = np.zeros((2, 0), np.float64)
        self._given = 0

    def feed(self, samples: Signal) -> Signal:
        """The views ``float32[2, n * 512]`` of the next windows that can be levelled; n may be 0."""
        self._take(samples)
        return self._give(self._power.shape[1] - max(REACHES))

    def finish(self) -> Signal:
        """The views of what is left; its last window is filled up with silence."""
        left = (len(self._sound) - (_TAPS - 1)) % WINDOW
        if left:
            self._take(np.zeros(WINDOW - left, np.float32))
        return self._give(self._power.shape[1])

    def _take(self, samples: Signal) -> None:
        self._sound = np.concatenate([self._sound, samples.astype(np.float32, copy=False)])
        whole = max(0, len(self._sound) - (_TAPS - 1)) // WINDOW * WINDOW
        if whole == 0:
            return
        piece = self._sound[: whole + _TAPS - 1]
        views = np.stack([piece[_TAPS - 1 :], np.convolve(piece, self._taps, "valid")]).astype(np.float32)
        views = views.reshape(2, -1, WINDOW)
        self._views = np.concatenate([self._views, views], axis=1)
        power = np.mean(views.astype(np.float64) ** 2, axis=2)
        self._power = np.concatenate([self._power, power], axis=1)
        self._sound = self._sound[whole:]

    def _give(self, stop: int) -> Signal:
        """The levelled windows up to number ``stop`` of those held; older powers are let go."""
        count = max(0, stop - self._given)
        if count == 0:
            return np.zeros((2, 0), np.float32)
        gains = np.stack([self._gain(self._given + k) for k in range(count)], axis=1)
        views: Signal = self._views[:, :count] * gains.astype(np.float32)[:, :, None]
        self._views = self._views[:, count:]
        self._given += count
        spare = max(0, self._given - max(REACHES))
        self._power = self._power[:, spare:]
        self._given -= spare
        return views.reshape(2, -1)

    def _gain(self, window: int) -> npt.NDArray[np.float64]:
        around = (
            power[max(0, window - reach) : window + reach + 1]
            for power, reach in zip(self._power, REACHES, strict=True)
        )
        level = np.sqrt([piece.mean() for piece in around])
        gain = np.minimum(np.array(LEVELS) / np.maximum(level, 1e-9), LARGEST_GAINS)
        return np.asarray(gain, np.float64)


def _high_pass(taps: int, hertz: float) -> Signal:
    """The impulse response of a first-order Butterworth high-pass, cut where it has died away."""
    warped = np.tan(np.pi * hertz / RATE)
    pole = (1 - warped) / (1 + warped)
    response = np.concatenate([[1.0], (pole - 1) * pole ** np.arange(taps - 1)])
    return np.asarray((1 + pole) / 2 * response, np.float32)
