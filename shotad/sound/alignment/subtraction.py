"""Taking a film's sound out of a described recording that is in step with it, so that the narrator is left.

In each frequency the recording is taken for the film, filtered and turned up or down over time (ducking),
plus the narrator. Filter and gain are estimated by weighted least squares: where the rest is large the
narrator speaks, and the weight is small. What remains of the film after that (coding, a mix that differs a
little) is as loud as the quiet part of the rest shows, in proportion to the film, and is taken out by a
Wiener mask.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shotad.film import Samples

WINDOW = 2048
"""Samples of a spectrum, 43 ms: the film may be out of step by a tenth of it."""
HOP = WINDOW // 4
CHUNK = 940
"""Spectra that are cleaned at a time, 10 s. The filter is estimated on them and their neighbours, 30 s."""
ROUNDS = 3
"""Times that filter and gain are estimated in turn."""
GAIN_SPECTRA = 5
"""Spectra, 53 ms, over which the gain of one is estimated: a mixer ducks in 100 ms or more."""
UNDUCKED_SHARE = 0.9
"""Share of the spectra, those with the least gain, in which the film may be lowered: its gain there is 1."""
MAX_GAIN = 4.0
SAMPLED = 4
"""Of so many spectra one counts for the filter: neighbours share three quarters of their samples."""
QUIET_SHARE = 0.3
"""Share of the spectra, those with the least rest for their film, that surely have no narrator in a
frequency."""
QUIET_RATIO = 0.36
"""The ratio at that share to the mean ratio where both powers vary as those of noise do (``-log(1 -
0.3)``)."""
OVERESTIMATE = 3.0
"""Times that the film's remainder is taken for as large as measured: more takes out more of both."""
FLOOR = 1e-9
"""Power, -90 dB of full scale, under which there is nothing in a frequency."""

Spectra = npt.NDArray[np.complex64]
Powers = npt.NDArray[np.float32]

_FADE = np.sqrt(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)
"""Window before and after the spectrum; its squares, `HOP` apart, add up to 2."""


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """Spectra that follow each other: ``film`` is ``complex64[frequencies, channels, spectra]``,
    ``recording`` ``complex64[frequencies, spectra]``."""

    film: Spectra
    recording: Spectra


def without_film(pairs: Iterator[tuple[Samples, Samples]]) -> Iterator[Samples]:
    """The recording without the film, ``float32[n]``, as long as all that comes in.

    ``pairs`` are blocks of film, ``float32[n, channels]``, and recording, ``float32[n]``, of the same
    samples, at 48 kHz. About 20 s are held at a time.
    """
    chunks: deque[_Chunk] = deque(maxlen=3)
    joiner = _Joiner()
    total = 0
    for chunk, new_samples in _chunks(pairs):
        total += new_samples
        chunks.append(chunk)
        if len(chunks) > 1:
            yield joiner.add(_cleaned(chunks[-2], tuple(chunks)), total)
    if chunks:
        yield joiner.add(_cleaned(chunks[-1], tuple(chunks)[-2:]), total)
    yield joiner.rest(total)


def _chunks(pairs: Iterator[tuple[Samples, Samples]]) -> Iterator[tuple[_Chunk, int]]:
    """Chunks of spectra, each with the number of samples that came in since the one before.

    The first spectrum begins `WINDOW` - `HOP` samples before the sound, so that each sample is in four.
    """
    held: list[tuple[Samples, Samples]] = []
    held_samples = new_samples = 0
    wanted = (CHUNK - 1) * HOP + WINDOW
    for film, recording in pairs:
        if not held:
            lead = WINDOW - HOP
            held = [(np.zeros((lead, film.shape[1]), np.float32), np.zeros(lead, np.float32))]
            held_samples = lead
        held.append((film, recording))
        held_samples += len(recording)
        new_samples += len(recording)
        while held_samples >= wanted:
            film_sound = np.concatenate([part for part, _ in held])
            sound = np.concatenate([part for _, part in held])
            yield _Chunk(_film_spectra(film_sound[:wanted]), _spectra(sound[:wanted])), new_samples
            held = [(film_sound[CHUNK * HOP :], sound[CHUNK * HOP :])]
            held_samples, new_samples = len(held[0][1]), 0
    if held:
        film_sound = np.concatenate([part for part, _ in held])
        sound = np.concatenate([part for _, part in held])
        # Filled up so that the last sample is in four spectra too.
        end = WINDOW - HOP + (-len(sound)) % HOP
        film_sound = np.pad(film_sound, ((0, end), (0, 0)))
        yield _Chunk(_film_spectra(film_sound), _spectra(np.pad(sound, (0, end)))), new_samples


def _film_spectra(samples: Samples) -> Spectra:
    """``float32[n, channels]`` → ``complex64[frequencies, channels, spectra]``."""
    channels = [_spectra(samples[:, channel]) for channel in range(samples.shape[1])]
    return np.ascontiguousarray(np.stack(channels, axis=1))


def _spectra(samples: Samples) -> Spectra:
    """``float32[n]`` → ``complex64[frequencies, spectra]``."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[::HOP]
    return np.ascontiguousarray(np.fft.rfft(frames * _FADE, axis=1).astype(np.complex64).T)


class _Joiner:
    """Spectra back to sound."""

    def __init__(self) -> None:
        self._tail = np.zeros(0, np.float32)
        self._skip = WINDOW - HOP
        self._given = 0

    def add(self, spectra: Spectra, total: int) -> Samples:
        """The sound that is complete with these spectra, of ``total`` samples at most in all."""
        frames = np.fft.irfft(spectra.T, WINDOW, axis=1).astype(np.float32) * (_FADE / 2)
        sound = np.zeros(len(frames) * HOP + WINDOW - HOP, np.float32)
        sound[: len(self._tail)] = self._tail
        for number in range(WINDOW // HOP):
            # Of each spectrum the quarter with this number: they lie side by side.
            quarter = frames[:, number * HOP : (number + 1) * HOP].reshape(-1)
            sound[number * HOP : number * HOP + len(quarter)] += quarter
        end = len(frames) * HOP
        self._tail = sound[end:]
        return self._give(sound[:end], total)

    def rest(self, total: int) -> Samples:
        return self._give(self._tail, total)

    def _give(self, sound: Samples, total: int) -> Samples:
        skipped = min(self._skip, len(sound))
        self._skip -= skipped
        ready = sound[skipped:][: total - self._given]
        self._given += len(ready)
        return ready


def _cleaned(chunk: _Chunk, context: tuple[_Chunk, ...]) -> Spectra:
    """The spectra of a chunk without the film; the filter is estimated on a part of those of ``context``."""
    film_sample = np.concatenate([part.film[:, :, ::SAMPLED] for part in context], axis=2)
    recording_sample = np.concatenate([part.recording[:, ::SAMPLED] for part in context], axis=1)
    filters, usual_rest, remainder_share = _film_in_recording(film_sample, recording_sample)
    filtered = _applied(filters, chunk.film)
    # At first by what is soft in the recording, for the narrator is loud; then by what is soft in the rest.
    weights = _weights(chunk.recording, usual_rest)
    for _ in range(ROUNDS):
        gains = _gains(filtered, chunk.recording, weights, GAIN_SPECTRA)
        rest = chunk.recording - filtered * gains
        weights = _weights(rest, usual_rest)
    remainder = remainder_share * _power(filtered * gains)
    around = _smoothed(_smoothed(_power(rest), 3, axis=1), 3, axis=0)
    mask = np.maximum(0, 1 - OVERESTIMATE * (remainder + FLOOR) / (around + FLOOR))
    cleaned: Spectra = rest * mask
    return cleaned


def _power(spectra: Spectra) -> Powers:
    return np.asarray(spectra.real**2 + spectra.imag**2, np.float32)


def _weights(rest: Spectra, usual_power: Powers | np.float32) -> Powers:
    """Cauchy's weights: what is far over the usual power counts as little."""
    return np.asarray(1 / (_power(rest) + usual_power), np.float32)


def _film_in_recording(film: Spectra, recording: Spectra) -> tuple[Spectra, Powers, Powers]:
    """Of each frequency the channels' filters, ``complex64[frequencies, channels]``; the usual power of the
    rest; and how much of the film's power is in the rest, both ``float32[frequencies, 1]``.

    How loud the film is where it is not lowered is part of the filters.
    """
    gains = np.ones(recording.shape[1], np.float32)
    # The narrator is not known yet: the whole recording counts, loud moments no more than soft ones.
    weights = _weights(recording, np.float32(FLOOR))
    for _ in range(ROUNDS):
        filters = _filters(film, recording, weights, gains)
        filtered = _applied(filters, film)
        rest = recording - filtered * gains
        usual_rest = np.asarray(np.median(_power(rest), axis=1, keepdims=True) + FLOOR, np.float32)
        weights = _weights(rest, usual_rest)
        gains = _gains(filtered, recording, weights, 1)
        usual_gain = np.float32(max(0.01, float(np.quantile(gains, UNDUCKED_SHARE))))
        filters, filtered, gains = filters * usual_gain, filtered * usual_gain, gains / usual_gain
    shares = _power(recording - filtered * gains) / (_power(filtered * gains) + FLOOR)
    quiet_shares = np.quantile(shares, QUIET_SHARE, axis=1, keepdims=True)
    return filters, usual_rest, np.asarray(quiet_shares / QUIET_RATIO, np.float32)


def _gains(filtered: Spectra, recording: Spectra, weights: Powers, width: int) -> Powers:
    """How much louder or softer the film is in each spectrum, ``float32[spectra]``, over ``width`` of
    them."""
    products = (weights * (filtered.conj() * recording).real).sum(axis=0)
    powers = (weights * _power(filtered)).sum(axis=0)
    gains = _smoothed(products, width) / (_smoothed(powers, width) + FLOOR)
    return np.clip(gains, 0, MAX_GAIN)


def _applied(filters: Spectra, film: Spectra) -> Spectra:
    """The sum of the film's filtered channels, ``complex64[frequencies, spectra]``."""
    return np.asarray((filters[:, None, :] @ film)[:, 0, :], np.complex64)


def _filters(film: Spectra, recording: Spectra, weights: Powers, gains: Powers) -> Spectra:
    """What each channel is multiplied by so that their sum is as like the recording as it can be."""
    heard = film * gains
    weighted = heard.conj() * weights[:, None, :]
    products = weighted @ heard.transpose(0, 2, 1)
    targets = (weighted @ recording[:, :, None])[:, :, 0]
    channels = film.shape[1]
    # Channels that are alike, or silent, leave the filter open: the smallest is taken.
    loads = 1e-3 * np.trace(products, axis1=1, axis2=2).real / channels + 1e-12
    products = products + loads[:, None, None] * np.eye(channels, dtype=np.float32)
    return np.linalg.solve(products, targets[:, :, None])[:, :, 0].astype(np.complex64)


def _smoothed(values: Powers, width: int, axis: int = 0) -> Powers:
    """The mean of so many neighbours (an odd number) along an axis; of fewer at the ends."""
    sums = np.cumsum(np.moveaxis(values, axis, 0), axis=0, dtype=np.float64)
    sums = np.concatenate([np.zeros_like(sums[:1]), sums])
    numbers = np.arange(len(sums) - 1)
    first, end = np.maximum(0, numbers - width // 2), np.minimum(len(numbers), numbers + width // 2 + 1)
    shape = (-1,) + (1,) * (sums.ndim - 1)
    means = (sums[end] - sums[first]) / (end - first).reshape(shape)
    return np.moveaxis(means.astype(np.float32), 0, axis)
