"""Sound read at any moments between its samples, by windowed sinc interpolation (Smith, "Digital Audio
Resampling Home Page", CCRMA)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from shotad.film import Samples, SoundBlock

_TAPS = 32
"""Samples that count for the one between them."""
_PHASES = 2048
"""Positions between two samples; rounding to one of them is 77 dB under a tone of 8 kHz."""
_CUT_OFF = 0.95
"""Of half the rate. What is above would be mirrored where sound is read faster than it was recorded."""
_KEPT = 0.5
"""Seconds before the last position that can still be read: the recording may go back a little at a cut."""


def _filters() -> Samples:
    """``float32[taps, phases + 1]``: how much each sample counts."""
    offsets = np.arange(_TAPS) - _TAPS // 2 + 1 - np.arange(_PHASES + 1)[:, None] / _PHASES
    taper = np.i0(8.0 * np.sqrt(np.maximum(0, 1 - (offsets / (_TAPS / 2)) ** 2))) / np.i0(8.0)
    filters = _CUT_OFF * np.sinc(_CUT_OFF * offsets) * taper
    return np.ascontiguousarray((filters / filters.sum(axis=1, keepdims=True)).T, np.float32)


class SoundReader:
    """Sound that comes in ``blocks``, ``float32[n, channels]``, to be read at ascending positions."""

    def __init__(self, blocks: Iterator[SoundBlock], channels: int, rate: int) -> None:
        self._blocks = blocks
        self._rate = rate
        self._filters = _filters()
        self._held: Samples = np.zeros((_TAPS, channels), np.float32)
        self._first = -_TAPS
        """The number of the first sample that is held; before number 0 there is silence."""
        self._is_over = False

    def at(self, positions: npt.NDArray[np.float64]) -> Samples:
        """``float32[n, channels]``: the sound at ``float64[n]`` ascending positions, counted in samples.

        Before its begin and after its end it is silent. What lies more than half a second before the
        highest position that was read so far is gone: ValueError.
        """
        base = np.floor(positions).astype(np.int64)
        phases = np.rint((positions - base) * _PHASES).astype(np.int64)
        held = self.between(int(base[0]) - _TAPS // 2 + 1, int(base[-1]) + _TAPS // 2 + 1)
        offsets = base - base[0]
        if phases.min() == phases.max() and offsets[-1] == len(offsets) - 1:
            # As fast as the film: one filter for all.
            taps = self._filters[::-1, phases[0]]
            return np.stack([np.convolve(channel, taps, "valid") for channel in held.T], axis=1)
        sound = np.zeros((held.shape[1], len(positions)), np.float32)
        planes = np.ascontiguousarray(held.T)
        for tap in range(_TAPS):
            factors = np.take(self._filters[tap], phases)
            for channel, plane in enumerate(planes):
                sound[channel] += np.take(plane[tap:], offsets) * factors
        return sound.T

    def between(self, first: int, end: int) -> Samples:
        """Samples ``[first, end)``, silent where there are none."""
        while self._first + len(self._held) < end and not self._is_over:
            block = next(self._blocks, None)
            if block is None:
                self._is_over = True
                continue
            self._held = np.concatenate([self._held, block.samples.reshape(len(block.samples), -1)])
            unneeded = min(len(self._held), first - round(_KEPT * self._rate) - self._first)
            if unneeded > 0:
                self._held = self._held[unneeded:]
                self._first += unneeded
        if first < self._first and self._first > 0 and end > 0:
            raise ValueError(f"sample {first} is not held any more, the first is {self._first}")
        part = self._held[max(0, first - self._first) : max(0, end - self._first)]
        before = max(0, min(self._first, end) - first)
        after = (end - first) - before - len(part)
        return np.pad(part, ((before, after), (0, 0)))
