"""A limiter for true peaks that does nothing else: it shifts no sample and changes none where no peak is
near.

The gain in dB is the highest curve that nowhere lets a peak pass, falls by no more than `ATTACK` before it
and comes back by no more than `RELEASE` after it. Peaks are those between samples too, at four times the
rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from shotad.film import SoundBlock
from shotad.sound.truepeak import AFTER, BEFORE, peaks_above

ATTACK = 1000.0
"""dB a second: 6 dB take 6 ms, before the peak."""

RELEASE = 40.0
"""dB a second: 6 dB take 0.15 s; faster, and bass would be bent."""

AHEAD = 0.05
"""Seconds that are looked ahead: enough for a peak 50 dB too high."""

SAFE = 0.1
"""dB kept below the limit: meters at four times the rate differ by as much."""

Samples = npt.NDArray[np.float32]


def limited(blocks: Iterable[SoundBlock], limiter: Limiter) -> Iterator[SoundBlock]:
    """The same sound through a fresh limiter; blocks of other lengths, ``float32[n, channels]``."""
    done = 0
    for block in blocks:
        samples = limiter.push(block.samples)
        if len(samples):
            yield SoundBlock(done / limiter.rate, samples)
            done += len(samples)
    samples = limiter.flush()
    if len(samples):
        yield SoundBlock(done / limiter.rate, samples)


class Limiter:
    """Keeps samples that come bit by bit under ``true_peak`` dBTP. ``deepest`` is the most that it has
    lowered so far, dB."""

    def __init__(self, true_peak: float, rate: int) -> None:
        self.rate = rate
        self._limit = 10 ** ((true_peak - SAFE) / 20)
        self._attack, self._release = ATTACK / rate, RELEASE / rate
        self._ahead = round(AHEAD * rate) + AFTER
        self._held: Samples = np.zeros((0, 1), np.float32)
        self._need = np.zeros(0)
        self._past: Samples = np.zeros((0, 1), np.float32)
        self._level = 0.0
        self.deepest = 0.0

    def push(self, samples: Samples) -> Samples:
        """``float32[n, channels]`` in; what is ready out, of those and the ones before."""
        if self._held.shape[1] != samples.shape[1]:
            self._held = np.zeros((0, samples.shape[1]), np.float32)
            self._past = np.zeros((BEFORE, samples.shape[1]), np.float32)
        self._held = np.concatenate([self._held, samples])
        self._look(len(self._held) - AFTER)
        return self._give(max(0, len(self._held) - self._ahead))

    def flush(self) -> Samples:
        """All that is left."""
        silence = np.zeros((AFTER, self._held.shape[1]), np.float32)
        count = len(self._held)
        self._held = np.concatenate([self._held, silence])
        self._look(count)
        self._held = self._held[:count]
        return self._give(count)

    def _look(self, until: int) -> None:
        """Find how far each sample must be lowered that was not looked at, up to number ``until``."""
        begin = len(self._need)
        if until <= begin:
            return
        around = np.concatenate([self._past, self._held])
        need = np.zeros(until - begin)
        for first, peaks in peaks_above(around[begin : until + BEFORE + AFTER], self._limit):
            need[first : first + len(peaks)] = _needed(peaks, self._limit)
        self._need = np.concatenate([self._need, need])

    def _give(self, count: int) -> Samples:
        out = self._held[:count]
        if self._level < 0 or self._need.any():
            curve = self._curve()[:count]
            self._level = float(curve[-1]) if count else self._level
            self.deepest = max(self.deepest, -float(curve.min(initial=0.0)))
            out = out * np.asarray(10 ** (curve / 20), np.float32)[:, None]
        if count:
            self._past = np.concatenate([self._past, self._held[:count]])[-BEFORE:]
            self._held, self._need = self._held[count:], self._need[count:]
        return out

    def _curve(self) -> npt.NDArray[np.float64]:
        """``float64[n]``, dB: what is needed, widened before and after by the slopes."""
        places = np.arange(len(self._need))
        falling = np.minimum.accumulate((self._need + self._attack * places)[::-1])[::-1]
        falling -= self._attack * places
        rising = falling - self._release * places
        if len(rising):
            rising[0] = min(rising[0], self._level + self._release)
        return np.asarray(np.minimum(np.minimum.accumulate(rising) + self._release * places, 0.0), np.float64)


def _needed(peaks: Samples, limit: float) -> npt.NDArray[np.float64]:
    """dB, 0 or less, by which each must be lowered."""
    return np.asarray(np.minimum(0.0, -20 * np.log10(np.maximum(peaks, limit) / limit)), np.float64)


DOWNMIXED_PEAK = -1.0
"""dBTP that a downmix stays under where nothing else is asked; it may be louder than each of its channels."""
