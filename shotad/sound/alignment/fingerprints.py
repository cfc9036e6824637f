"""Fingerprints of sound that stay alike under a narrator, another coder, another loudness and another speed.

The energy in 16 bands of frequency, each against its own level around that moment, says when something begins
and ends, as in the fingerprints of Haitsma and Kalker (2002). What changes slowly, such as a film that is
lowered under a narrator, a filter, or a louder copy, falls out. The bands are wide enough for a film whose
pitch has changed by 4 %.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from shotad.core.types import HEARING_RATE
from shotad.film import Samples, SoundBlock

RATE = HEARING_RATE
"""Samples a second that are listened to."""
FRAMES_PER_SECOND = 100
BANDS = 16

_HOP = RATE // FRAMES_PER_SECOND
_WINDOW = 512
"""Samples of a frame: 32 ms."""
_LOWEST, _HIGHEST = 100.0, 7000.0
"""Hertz. Coders for low rates keep nothing above 7 kHz, small loudspeakers nothing below 100 Hz."""
_AROUND = 1.0
"""Seconds around a moment that its level is compared with. A narrator's ducking takes 0.3 s and more."""
_DEPTH = 6.0
"""Power of ten by which a band may lie below its loud moments; what is more silent counts as silence."""
_SILENCE = 1e-9
"""Mean square of a band, -90 dB of full scale."""

Matrix = npt.NDArray[np.float32]
Wave = npt.NDArray[np.int16]

WAVE_RATE = 4000
_KEPT_EVERY = RATE // WAVE_RATE
_WAVE_HIGHEST = 1400.0
"""Hertz up to which the wave holds the sound."""
_TAPS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """The course of a sound.

    ``frames`` is ``float32[n, BANDS]`` from -1 (softer than around it) to 1; the middle of frame i stands at
    ``i / FRAMES_PER_SECOND`` seconds. ``duration`` is in seconds. ``loud`` is the share of frames that are no
    silence. ``wave`` is ``int16[m]``, the deep part of the sound itself at `WAVE_RATE`, for what has to be
    told within a frame or under a loud narrator.
    """

    frames: Matrix
    duration: float
    loud: float
    wave: Wave

    def at(self, positions: npt.NDArray[np.float64]) -> Matrix:
        """The frames at fractional positions, ``float32[len(positions), BANDS]``; zeros outside the sound."""
        last = len(self.frames) - 1
        below = np.floor(positions).astype(np.int64)
        part = (positions - below).astype(np.float32)[:, None]
        inside = (positions >= 0) & (positions <= last)
        lower = np.clip(below, 0, last)
        upper = np.clip(below + 1, 0, last)
        frames = self.frames[lower] * (1 - part) + self.frames[upper] * part
        frames[~inside] = 0
        return np.asarray(frames, np.float32)

    def wave_at(self, moments: npt.NDArray[np.float64]) -> Matrix:
        """The wave at any seconds, between its samples along straight lines; zeros outside."""
        positions = moments * WAVE_RATE
        below = np.floor(positions).astype(np.int64)
        part = (positions - below).astype(np.float32)
        last = len(self.wave) - 1
        lower = self.wave[np.clip(below, 0, last)]
        upper = self.wave[np.clip(below + 1, 0, last)]
        values = lower * (1 - part) + upper * part
        values[(positions < 0) | (positions > last)] = 0
        return np.asarray(values, np.float32)


def fingerprint(blocks: Iterable[SoundBlock]) -> Fingerprint:
    """The fingerprint of sound in mono at `RATE`, in blocks that follow each other from second 0.

    The sound itself is not kept: an hour takes 52 MB.
    """
    samples = 0
    energy_parts: list[Matrix] = []
    wave_parts: list[Wave] = []
    # The middle of the first frame, and of the first filter, stands at second 0.
    for_frames: Samples = np.zeros(_WINDOW // 2, np.float32)
    for_wave: Samples = np.zeros(_TAPS // 2, np.float32)
    end = SoundBlock(0.0, np.zeros(_WINDOW // 2, np.float32))
    for block in itertools.chain(blocks, [end]):
        samples += len(block.samples) if block is not end else 0
        frames_in, for_frames = _windows_of(np.concatenate([for_frames, block.samples]), _WINDOW, _HOP)
        energy_parts.append(_energies_of(frames_in))
        kept_in, for_wave = _windows_of(np.concatenate([for_wave, block.samples]), _TAPS, _KEPT_EVERY)
        kept = np.clip(kept_in @ _lowpass() * 32767, -32768, 32767)
        wave_parts.append(kept.astype(np.int16))
    energies, wave = np.concatenate(energy_parts), np.concatenate(wave_parts)
    del energy_parts, wave_parts
    loud = energies.max(axis=1) > _SILENCE
    frames = np.zeros_like(energies)
    for band in range(BANDS):
        frames[:, band] = _changes(energies[:, band], loud)
    return Fingerprint(frames, samples / RATE, float(loud.mean()) if len(loud) else 0.0, wave)


def _changes(energies: Matrix, loud: npt.NDArray[np.bool_]) -> Matrix:
    """How much louder than around it each frame of a band is, -1 to 1; ``loud``: frames with sound."""
    floor = _SILENCE
    if loud.any():
        floor = max(floor, float(np.quantile(energies[loud], 0.95)) * 10**-_DEPTH)
    levels = np.log10(energies + floor)
    changes = levels - _moving_mean(levels, round(_AROUND * FRAMES_PER_SECOND))
    usual = float(np.sqrt(np.mean(np.square(changes[loud])))) if loud.any() else 0.0
    if usual < 1e-6:
        return np.zeros_like(changes)
    # Bounded, so that a bang counts no more than many small changes.
    return np.asarray(np.tanh(changes / usual), np.float32)


def _moving_mean(values: Matrix, width: int) -> Matrix:
    """The mean of about ``width`` values around each, of fewer at the ends."""
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    first = np.maximum(0, np.arange(len(values)) - width // 2)
    end = np.minimum(len(values), np.arange(len(values)) + width // 2 + 1)
    return np.asarray((sums[end] - sums[first]) / (end - first), np.float32)


def _windows_of(samples: Samples, width: int, hop: int) -> tuple[Matrix, Samples]:
    """The whole windows in ``samples``, ``float32[n, width]``, and the samples from the next one on."""
    count = max(0, (len(samples) - width) // hop + 1)
    if count == 0:
        return np.zeros((0, width), np.float32), samples
    windows = np.lib.stride_tricks.sliding_window_view(samples, width)[::hop]
    return windows[:count], samples[count * hop :]


def _energies_of(windows: Matrix) -> Matrix:
    """The mean square in each band, ``float32[n, BANDS]``."""
    taper = np.hanning(_WINDOW).astype(np.float32)
    spectrum = np.fft.rfft(windows * taper, axis=1)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    scale = float(np.square(taper).sum() * _WINDOW / 2)
    return np.asarray(power @ _band_weights() / scale, np.float32)


@cache
def _lowpass() -> Matrix:
    """``float32[_TAPS]``: a filter that keeps what lies below `_WAVE_HIGHEST`."""
    moments = np.arange(_TAPS) - _TAPS / 2
    taps = np.sinc(2 * _WAVE_HIGHEST / RATE * moments) * np.hamming(_TAPS + 1)[:_TAPS]
    return np.asarray(taps / taps.sum(), np.float32)


@cache
def _band_weights() -> Matrix:
    """``float32[_WINDOW // 2 + 1, BANDS]``: how much of each frequency belongs to each band, in triangles."""
    edges = np.geomspace(_LOWEST, _HIGHEST, BANDS + 2)
    hertz = np.fft.rfftfreq(_WINDOW, 1 / RATE)[:, None]
    rising = (hertz - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - hertz) / (edges[2:] - edges[1:-1])
    return np.asarray(np.clip(np.minimum(rising, falling), 0, None), np.float32)
