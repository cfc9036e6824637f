"""The voice by itself: takes at the mix's rate, at their level, in their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shotad.film import SoundBlock
from shotad.sound.kinds import Samples, Spoken, Take
from shotad.sound.loudness import measure

FADE_IN, FADE_OUT = 0.003, 0.010
"""Seconds over which a take comes up and goes, so that a cut in it does not click. Short enough that the
first sound of a word stays sharp and is found at its place."""

LEAST = 1.0
"""Seconds of sound that a loudness is taken from; a shorter take is repeated."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedTake:
    """A take, the number of its first sample in the mix, the number after its last, and its factor."""

    line: Spoken
    first: int
    end: int
    gain: float

    def louder(self, decibels: float) -> PlacedTake:
        """The same, amplified."""
        return PlacedTake(self.line, self.first, self.end, self.gain * 10 ** (decibels / 20))


def resampled(take: Take, rate: int) -> Samples:
    """A take at another rate: ``float32[round(n * rate / take.rate)]``, sample 0 at the same moment."""
    if take.rate == rate:
        return take.samples
    count = max(1, round(take.size * rate / take.rate))
    from av import AudioFrame, AudioResampler

    frame = AudioFrame.from_ndarray(np.ascontiguousarray(take.samples)[None], format="flt", layout="mono")
    frame.sample_rate = take.rate
    resampler = AudioResampler(format="flt", layout="mono", rate=rate)
    parts = [out.to_ndarray()[0] for given in (frame, None) for out in resampler.resample(given)]
    samples = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    whole = np.zeros(count, np.float32)
    whole[: min(count, len(samples))] = samples[:count]
    return whole


def loudness_of(take: Take) -> float | None:
    """Integrated loudness of a take in LUFS, pauses in it left out; None: silence."""
    samples = take.samples
    if take.seconds < LEAST:
        samples = np.tile(samples, int(np.ceil(LEAST / take.seconds)))
    return measure([SoundBlock(0.0, samples)], "mono", take.rate).integrated


class Lane:
    """All takes of a mix in order, as one long mono sound that is never whole in memory."""

    def __init__(self, takes: Sequence[PlacedTake], rate: int) -> None:
        self._takes, self._rate = sorted(takes, key=lambda take: take.first), rate

    def louder(self, decibels: float) -> Lane:
        """The same, amplified."""
        return Lane([take.louder(decibels) for take in self._takes], self._rate)

    def play(self) -> Playing:
        """From the start."""
        return Playing(self._takes, self._rate)


class Playing:
    """A lane being played: asked for one stretch after the other."""

    def __init__(self, takes: Sequence[PlacedTake], rate: int) -> None:
        self._coming, self._rate = list(reversed(takes)), rate
        self._sounding: list[tuple[PlacedTake, Samples]] = []

    def between(self, first: int, end: int) -> Samples | None:
        """Samples ``[first, end)``; None: nothing is said. No stretch begins before the last one ended."""
        while self._coming and self._coming[-1].first < end:
            take = self._coming.pop()
            self._sounding.append((take, self._ready(take)))
        self._sounding = [pair for pair in self._sounding if pair[0].end > first]
        return _sum(self._sounding, first, end) if self._sounding else None

    def _ready(self, take: PlacedTake) -> Samples:
        """A take's samples as they are heard in one channel."""
        samples = resampled(take.line.take, self._rate) * np.float32(take.gain)
        samples = samples[: take.end - take.first]
        for seconds, edge in ((FADE_IN, samples), (FADE_OUT, samples[::-1])):
            count = min(round(seconds * self._rate), len(samples) // 2)
            edge[:count] *= np.sin(np.pi / 2 * (np.arange(count) + 0.5) / max(1, count)) ** 2
        return samples


def _sum(sounding: Sequence[tuple[PlacedTake, Samples]], first: int, end: int) -> Samples:
    mixed = np.zeros(end - first, np.float32)
    for take, samples in sounding:
        begin, stop = max(first, take.first), min(end, take.end)
        if begin < stop:
            mixed[begin - first : stop - first] += samples[begin - take.first : stop - take.first]
    return mixed


def place(line: Spoken, rate: int, total: int, gain: float) -> PlacedTake | None:
    """A line where it is heard; cut where the film begins or ends, None where it lies outside."""
    first = round(line.start * rate)
    end = first + max(1, round(line.take.size * rate / line.take.rate))
    return PlacedTake(line, first, min(end, total), gain) if max(first, 0) < min(end, total) else None
