"""Whether the lines are heard in a finished mix: found by taking the film's own sound out of it (check
A3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shotad.core import Interval
from shotad.film import Samples, SoundBlock
from shotad.sound.loudness import along, level, power

PIECE = 0.05
"""Seconds of a stretch in which the programme's level is taken as constant."""

SHIFT = 0.02
"""Seconds by which the mix may lie beside the programme: what coders and containers may shift it by."""

HIGHEST = 40.0
"""LU: what stands this far over the programme, or over silence, stands clear; no figure goes beyond."""


def audibility(
    programme: Iterable[SoundBlock], mix: Iterable[SoundBlock], lines: Sequence[Interval], rate: int
) -> tuple[float, ...]:
    """How many LU each line stands over what is left of the programme in a finished mix, ±`HIGHEST` at most.

    Both sounds are ``float32[n]`` or ``float32[n, channels]`` at ``rate``, on the same time and with the same
    channels: ``sound_blocks(film, track, 16000, "stereo")`` of both tracks will do. What of the mix goes with
    the programme, by a factor of its own in each stretch and channel, is taken for the programme, and the
    rest for the line: so neither ducking nor make-up gain matters, and where nothing is said the rest is
    only the noise of coders. Both are weighted as loudness is. ``lines`` ascend.
    """
    pairs = zip(_cuts(programme, lines, rate), _cuts(mix, lines, rate), strict=True)
    return tuple(_over(film, both, rate) for film, both in pairs)


def _over(film: Samples, both: Samples, rate: int) -> float:
    """LU of what stands beside the programme over what of it is there; both ``float32[n, channels]``."""
    if not both.any():
        return -HIGHEST
    # A sound that had ended before has lost its channels.
    film, both = np.broadcast_arrays(film, both)
    own = _explained(_aligned(film, both, rate), both, rate)
    voice, left = _loudness(both - own, rate), _loudness(own, rate)
    return float(np.clip(voice - max(left, -70.0), -HIGHEST, HIGHEST))


def _explained(film: Samples, both: Samples, rate: int) -> Samples:
    """What of ``both`` goes with the programme: in each stretch and channel the nearest multiple of it."""
    size = max(1, round(PIECE * rate))
    own = np.zeros_like(both)
    for at in range(0, len(both), size):
        part, mixed = film[at : at + size], both[at : at + size]
        energy = (part * part).sum(axis=0)
        factor = np.divide((part * mixed).sum(axis=0), energy, out=np.zeros_like(energy), where=energy > 0)
        own[at : at + size] = part * np.clip(factor, 0.0, None)
    return own


def _aligned(film: Samples, both: Samples, rate: int) -> Samples:
    """The programme, shifted to where it lies in the mix."""
    size = 1 << (2 * len(both) - 1).bit_length()
    spectrum = np.fft.rfft(both.sum(axis=1), size) * np.conj(np.fft.rfft(film.sum(axis=1), size))
    likeness = np.fft.irfft(spectrum, size)
    reach = min(round(SHIFT * rate), len(both) - 1)
    shifts = np.arange(-reach, reach + 1)
    best = int(shifts[np.argmax(likeness[shifts])])
    moved = np.zeros_like(film)
    if best >= 0:
        moved[best:] = film[: len(film) - best]
    else:
        moved[:best] = film[-best:]
    return moved


def _loudness(samples: Samples, rate: int) -> float:
    """Mean loudness, every channel counted alike; sounds shorter than a window are repeated."""
    samples = np.tile(samples, (max(1, int(np.ceil(rate / len(samples)))), 1))
    means = [
        power(along([SoundBlock(0.0, channel)], "mono", rate).momentary[3:]).mean() for channel in samples.T
    ]
    return level(float(np.sum(means)))


@dataclass(slots=True)
class _Cut:
    """A stretch of sound being gathered: samples ``[first, end)``."""

    first: int
    end: int
    parts: list[Samples]

    def whole(self) -> Samples:
        """``float32[end - first, channels]``; silence where the sound has ended."""
        if not self.parts:
            return np.zeros((self.end - self.first, 1), np.float32)
        missing = self.end - self.first - sum(len(part) for part in self.parts)
        return np.pad(np.concatenate(self.parts), ((0, missing), (0, 0)))


def _cuts(blocks: Iterable[SoundBlock], lines: Sequence[Interval], rate: int) -> Iterator[Samples]:
    """The sound of each line, ``float32[n, channels]``, in the lines' order; only those at hand are held."""
    cuts = [_Cut(max(0, round(line.start * rate)), round(line.end * rate), []) for line in lines]
    waiting = list(cuts)
    for block in blocks:
        begin = round(block.seconds * rate)
        samples = block.samples.reshape(len(block.samples), -1)
        for cut in waiting:
            if cut.first < begin + len(samples) and cut.end > begin:
                cut.parts.append(samples[max(0, cut.first - begin) : cut.end - begin])
        while waiting and waiting[0].end <= begin + len(samples):
            yield waiting.pop(0).whole()
    for cut in waiting:
        yield cut.whole()
