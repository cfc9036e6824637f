"""Speaking faster with the pitch kept: natural time-stretching of a take. Pure.

Waveform-similarity overlap-add (WSOLA: Verhelst and Roelands 1993, `An overlap-add technique based on
waveform similarity`): the sound is laid out anew in windows that overlap by half, each taken from near its
place where it goes on most like what stands there already, so that the periods of the voice meet.

Chosen over a voice's own speed, which costs another call and whose lengths cannot be foretold (the embedded
voice, asked for 1.15, came out 0.03 to 0.5 s too long); over ffmpeg's atempo, which is as clear but 7 ms
short to 16 ms long and gives nothing for very short sound; over a library that is as good: one more to have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.sound.kinds import Samples, Take

WINDOW = 0.04
"""Seconds: two periods or more of a voice down to 50 Hz."""

SEARCH = 0.01
"""Seconds to both sides in which a window is looked for: a period down to 50 Hz."""


def stretch(samples: Samples, rate: int, factor: float) -> Samples:
    """``float32[n]`` said ``factor`` times faster (below 1: slower): ``float32[round(n / factor)]``.

    The pitch stays. The first and the last samples are those of the original, so that the ends are as clean
    as they were. Raises ValueError for a factor that is not above 0.
    """
    if not (factor > 0 and np.isfinite(factor)):
        raise ValueError(f"a factor of speed must be above 0, got {factor}")
    return _laid_out(samples, rate, max(1, round(samples.size / factor)))


def to_length(take: Take, seconds: float) -> Take:
    """The take in ``seconds``, never longer, its ``speed`` raised by as much. Raises ValueError for 0.

    Nothing is stretched, and nothing held, until the samples are asked for.
    """
    number = int(seconds * take.rate + 1e-6)
    if number < 1:
        raise ValueError(f"a take must last one sample at least, got {seconds} s at {take.rate}")
    if number == take.size:
        return take
    speed = take.speed * take.size / number
    return Take.recorded(_Stretched(take, number), take.rate, take.voice, take.text, speed)


@dataclass(frozen=True, slots=True, eq=False)
class _Stretched:
    """A `Recording`: a take in ``size`` samples."""

    take: Take
    size: int

    @property
    def key(self) -> str:
        return f"{self.take.key} in {self.size}"

    def read(self) -> Samples:
        return _laid_out(self.take.samples, self.take.rate, self.size)


def _laid_out(samples: Samples, rate: int, number: int) -> Samples:
    """The samples in ``number`` of them."""
    if number == samples.size:
        return samples.copy()
    half = max(2, round(WINDOW * rate / 2))
    search = min(round(SEARCH * rate), half)
    padded = np.pad(samples.astype(np.float64), half + search)
    window = 0.5 - 0.5 * np.cos(np.pi * (np.arange(2 * half) + 0.5) / half)
    out = np.zeros(number + 2 * half)
    weight = np.zeros_like(out)
    before: int | None = None
    for middle in _middles(number, half):
        # Where its middle is taken from, in `padded` the start of its window.
        at = round(middle * samples.size / number) + search
        if before is not None and middle < number:
            at = _most_alike(padded, before + half, at, 2 * half, search)
        elif before is not None:
            at = samples.size + search
        out[middle : middle + 2 * half] += window * padded[at : at + 2 * half]
        weight[middle : middle + 2 * half] += window
        before = at
    made = out[half : half + number] / weight[half : half + number]
    return made.astype(np.float32)


def _middles(number: int, half: int) -> list[int]:
    """Where the windows' middles stand in the result: one at each end, and half a window apart.

    What is over lies between the first two, where the sound is still so near its place that they agree.
    """
    first = number % half
    inner = list(range(first + half if first < half // 2 else first, number, half))
    return [0, *inner, number]


def _most_alike(sound: npt.NDArray[np.float64], natural: int, wanted: int, size: int, search: int) -> int:
    """The start, near ``wanted``, of what is most like what naturally comes next, at ``natural``."""
    first = max(0, min(wanted - search, sound.size - size))
    last = max(first, min(wanted + search, sound.size - size))
    natural = min(natural, sound.size - size)
    target = sound[natural : natural + size]
    near = sound[first : last + size]
    likeness = np.correlate(near, target, "valid")
    squares = np.concatenate(([0.0], np.cumsum(near * near)))
    energy = squares[size:] - squares[: squares.size - size]
    likeness /= np.sqrt(np.maximum(energy, _SILENT * size))
    best = likeness.max()
    # Of equals the nearest to where it is wanted.
    equal = np.flatnonzero(likeness >= best - 1e-9 * abs(best))
    return first + int(equal[np.argmin(np.abs(equal + first - wanted))])


_SILENT = 1e-8
"""Mean square below which sound is silence."""
