"""True peaks, measured and limited: how far from 0 sound goes between its samples too, by four times as
many (BS.1770-4, annex 2).

Values in between are made only where one above what matters is possible, which in a film is seldom. The
limiter shifts no sample and changes none where no peak is near: its gain in dB is the highest curve that
nowhere lets a peak pass, falls by no more than `ATTACK` before it and comes back by no more than `RELEASE`
after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from shotad.film import Samples, SoundBlock

TAPS = 32
"""Samples that a value between two samples is made from."""

BEFORE, AFTER = TAPS // 2 - 1, TAPS // 2
"""How many of them are before a sample and after it."""

_PHASES = 4
_HOP = 32
_PIECE = 1024


def _kernel() -> Samples:
    """``float32[TAPS, 3]``: a windowed sinc for 1/4, 1/2 and 3/4 of the way from sample to sample."""
    places = np.arange(TAPS)[:, None] - BEFORE - np.arange(1, _PHASES) / _PHASES
    window = np.i0(8.0 * np.sqrt(np.clip(1 - (2 * places / TAPS) ** 2, 0, 1))) / np.i0(8.0)
    taps = np.sinc(places) * window
    return np.asarray(taps / taps.sum(axis=0), np.float32)


def _matrix(kernel: Samples) -> Samples:
    """``float32[_HOP + TAPS - 1, 3 * _HOP]``: the kernel for so many samples at once, the middle ones of
    which are multiplied in one go."""
    matrix = np.zeros((_HOP + TAPS - 1, _HOP, _PHASES - 1), np.float32)
    for place in range(_HOP):
        matrix[place : place + TAPS, place] = kernel
    return matrix.reshape(_HOP + TAPS - 1, -1)


_KERNEL = _kernel()
_MATRIX = _matrix(_KERNEL)

OVERSHOOT = float(np.abs(_KERNEL).sum(axis=0).max())
"""No value between samples is further from 0 than this times the furthest of them."""


def peaks_above(samples: Samples, threshold: float) -> Iterator[tuple[int, Samples]]:
    """Stretches in which something may be further from 0 than ``threshold``: the number of the first sample,
    and for each, ``float32[m]``, the furthest of any channel at it and before the next.

    ``samples`` is ``float32[BEFORE + n + AFTER, channels]``; number 0 is the first of the n.
    """
    count = len(samples) - BEFORE - AFTER
    planes = np.ascontiguousarray(samples.T)
    for first in range(0, count, _PIECE):
        piece = planes[:, first : min(first + _PIECE, count) + BEFORE + AFTER]
        tops = np.maximum(piece.max(axis=1), -piece.min(axis=1))
        loud = tops * OVERSHOOT > threshold
        if loud.any():
            yield first, _furthest(piece[loud])


def _furthest(planes: Samples) -> Samples:
    """``float32[n]`` of ``float32[channels, BEFORE + n + AFTER]``."""
    channels, count = planes.shape[0], planes.shape[1] - BEFORE - AFTER
    hops = -(-count // _HOP)
    padded = np.zeros((channels, hops * _HOP + TAPS - 1), np.float32)
    padded[:, : planes.shape[1]] = planes
    windows = np.lib.stride_tricks.sliding_window_view(padded, _HOP + TAPS - 1, axis=1)[:, ::_HOP]
    # Copied, for only what lies in one piece is multiplied fast; channel by channel, for larger products are
    # shared among threads that cost more than they save.
    between = np.abs(np.ascontiguousarray(windows) @ _MATRIX)
    highest = between.reshape(channels, hops * _HOP, _PHASES - 1).max(axis=0).T
    furthest = np.maximum(np.maximum(highest[0], highest[1]), highest[2])[:count]
    own = np.abs(planes[:, BEFORE : BEFORE + count]).max(axis=0)
    return np.asarray(np.maximum(furthest, own), np.float32)


class TruePeak:
    """The true peak of blocks that follow each other."""

    def __init__(self) -> None:
        self._held: Samples | None = None
        self._top = 0.0

    def add(self, samples: Samples) -> None:
        """``float32[n, channels]``."""
        if self._held is None:
            self._held = np.zeros((BEFORE, samples.shape[1]), np.float32)
        self._look(np.concatenate([self._held, samples]))

    @property
    def decibels(self) -> float | None:
        """dBTP of all so far; None: silence. Ends what is measured."""
        if self._held is not None:
            self._look(np.concatenate([self._held, np.zeros((AFTER, self._held.shape[1]), np.float32)]))
            self._held = None
        return float(20 * np.log10(self._top)) if self._top > 0 else None

    def _look(self, samples: Samples) -> None:
        count = len(samples) - BEFORE - AFTER
        self._held = samples[max(0, count) :]
        if count > 0:
            self._top = max(self._top, float(samples.max()), -float(samples.min()))
            for _, peaks in peaks_above(samples, self._top):
                self._top = max(self._top, float(peaks.max()))


ATTACK = 1000.0
"""dB a second: 6 dB take 6 ms, before the peak."""

RELEASE = 40.0
"""dB a second: 6 dB take 0.15 s; faster, and bass would be bent."""

AHEAD = 0.05
"""Seconds that are looked ahead: enough for a peak 50 dB too high."""

SAFE = 0.1
"""dB kept below the limit: meters at four times the rate differ by as much."""


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
    """Keeps samples that come bit by bit under ``true_peak`` dBTP."""

    def __init__(self, true_peak: float, rate: int) -> None:
        self.rate = rate
        self._limit = 10 ** ((true_peak - SAFE) / 20)
        self._attack, self._release = ATTACK / rate, RELEASE / rate
        self._ahead = round(AHEAD * rate) + AFTER
        self._held: Samples = np.zeros((0, 1), np.float32)
        self._need = np.zeros(0)
        self._past: Samples = np.zeros((0, 1), np.float32)
        self._level = 0.0

    def push(self, samples: Samples) -> Samples:
        """``float32[n, channels]`` in; what is ready out, of those and the ones before."""
        if self._held.shape[1] != samples.shape[1]:
            self._held = np.zeros((0, samples.shape[1]), np.float32)
            self._past = np.zeros((BEFORE, samples.shape[1]), np.float32)
        self._held = np.concatenate([self._held, samples])
        self._look(len(self._held) - AFTER)
        return self._give(max(0, len(self._held) - self._ahead))

    def flush(self) -> Samples:
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
            over = np.maximum(peaks, self._limit) / self._limit
            need[first : first + len(peaks)] = np.minimum(0.0, -20 * np.log10(over))
        self._need = np.concatenate([self._need, need])

    def _give(self, count: int) -> Samples:
        out = self._held[:count]
        if self._level < 0 or self._need.any():
            # What is needed, dB, widened before and after by the slopes.
            places = np.arange(len(self._need))
            falling = np.minimum.accumulate((self._need + self._attack * places)[::-1])[::-1]
            falling -= self._attack * places
            rising = falling - self._release * places
            if len(rising):
                rising[0] = min(rising[0], self._level + self._release)
            curve = np.minimum(np.minimum.accumulate(rising) + self._release * places, 0.0)[:count]
            self._level = float(curve[-1]) if count else self._level
            out = out * np.asarray(10 ** (curve / 20), np.float32)[:, None]
        if count:
            self._past = np.concatenate([self._past, self._held[:count]])[-BEFORE:]
            self._held, self._need = self._held[count:], self._need[count:]
        return out


DOWNMIXED_PEAK = -1.0
"""dBTP that a downmix stays under where nothing else is asked; it may be louder than each of its channels."""
