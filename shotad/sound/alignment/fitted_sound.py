"""A recording in the time of the film that it was fitted to: each piece at its place and speed, with the
film's own sound where the recording lacks a part."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shotad.film import Samples, SoundBlock
from shotad.sound.alignment.pieces import AlignedPiece
from shotad.sound.alignment.recording import Recording
from shotad.sound.alignment.resampling import SoundReader
from shotad.sound.layouts import remixed
from shotad.sound.programme import RATE, Programme, channel_names

FADE = 0.02
"""Seconds in which sound goes over at the edge of a piece: long enough not to click, and shorter than a sound
of speech. Film and recording hold the same there, so their amplitudes add up to 1."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a recording is put into the film's time.

    ``pitch_kept``: where the recording's speed is not the film's, its pitch is; it is stretched then, and not
    resampled. ``film_gain`` is how loud the film is in the recording, as a factor of amplitude.
    """

    pieces: tuple[AlignedPiece, ...]
    pitch_kept: bool = False
    film_gain: float = 1.0


def fitted_blocks(recording: Recording, fit: Fit, programme: Programme) -> Iterator[SoundBlock]:
    """The recording on film time, as long as the film, ``float32[n, channels]`` in the recording's layout.

    Where no piece is, the film's own sound takes its place, as loud as in the recording.
    """
    film_blocks = iter(remixed(programme.blocks(), programme.layout, recording.layout, true_peak=0.0))
    channels = len(channel_names(recording.layout))
    pieces_only = recording_blocks(recording, fit, programme.total)
    for film_samples, (first, samples, weights) in zip(
        in_blocks(film_blocks, programme.total, RATE, channels), pieces_only, strict=True
    ):
        film_weights = np.float32(fit.film_gain) * (1 - weights)[:, None]
        yield SoundBlock(first / RATE, samples + film_samples * film_weights)


def recording_blocks(
    recording: Recording, fit: Fit, total: int, rate: int = RATE, *, mono: bool = False
) -> Iterator[tuple[int, Samples, Samples]]:
    """The recording alone on film time, ``total`` samples in blocks of a second, silent where no piece is.

    Each block is the number of its first sample, its ``float32[n, channels]``, and ``float32[n]`` how much of
    the recording is in it: 1 in pieces, 0 outside, between them at the edges.
    """
    channels = 1 if mono else len(channel_names(recording.layout))
    reader = SoundReader(recording.blocks(rate, mono=mono), channels, rate)
    sources = [
        _ReadToItsEnd(
            _source(reader, piece, channels, rate, stretches=fit.pitch_kept),
            _end_of(piece, total, rate),
            rate,
        )
        for piece in fit.pieces
    ]
    next_piece = 0
    for first in range(0, total, rate):
        seconds = np.arange(first, min(first + rate, total)) / rate
        samples = np.zeros((len(seconds), channels), np.float32)
        weights = np.zeros(len(seconds), np.float32)
        while next_piece < len(sources) and fit.pieces[next_piece].film.end + FADE < seconds[0]:
            next_piece += 1
        for piece, source in zip(fit.pieces[next_piece:], sources[next_piece:], strict=True):
            if piece.film.start - FADE > seconds[-1]:
                break
            share = _share(piece, seconds, total / rate)
            inside = np.flatnonzero(share)
            if len(inside):
                part = slice(inside[0], inside[-1] + 1)
                sound = source.between(first + int(inside[0]), first + int(inside[-1]) + 1)
                samples[part] += sound * share[part, None]
                weights[part] += share[part]
        yield first, samples, weights


def _share(piece: AlignedPiece, seconds: npt.NDArray[np.float64], duration: float) -> Samples:
    """How much of a piece is heard at each moment, 0 to 1; at the film's own ends nothing fades."""
    begins = np.clip((seconds - piece.film.start) / FADE + 0.5, 0, 1) if piece.film.start > FADE else 1.0
    ends = np.clip((piece.film.end - seconds) / FADE + 0.5, 0, 1) if piece.film.end < duration - FADE else 1.0
    return np.asarray(np.broadcast_to(begins * ends, seconds.shape), np.float32)


def _end_of(piece: AlignedPiece, total: int, rate: int) -> int:
    """The number of the film's sample from which nothing of the piece is heard."""
    if piece.film.end >= total / rate - FADE:
        return total
    return min(total, math.ceil((piece.film.end + FADE / 2) * rate) + 1)


def in_blocks(blocks: Iterator[SoundBlock], total: int, rate: int, channels: int) -> Iterator[Samples]:
    """The same sound as ``total`` samples, in blocks of a second but for the last; silence where it is
    shorter."""
    held: Samples = np.zeros((0, channels), np.float32)
    for first in range(0, total, rate):
        size = min(rate, total - first)
        while len(held) < size and (block := next(blocks, None)) is not None:
            held = np.concatenate([held, block.samples.reshape(-1, channels)])
        missing = max(0, size - len(held))
        yield np.pad(held[:size], ((0, missing), (0, 0)))
        held = held[size:]


class _Source(Protocol):
    def between(self, first: int, end: int) -> Samples:
        """Samples ``[first, end)`` on film time; asked for in ascending order."""


class _ReadToItsEnd:
    """A piece whose last samples are read together.

    Two pieces are heard at once where one fades into the next. A block may end there, and the next piece may
    be read far behind in the recording. What this piece needs for the block after is gone by then.
    """

    def __init__(self, source: _Source, end: int, rate: int) -> None:
        self._source, self._end = source, end
        # The next piece is read from half a fade before this one's end at the earliest; so this is early
        # enough.
        self._near = math.ceil(2 * FADE * rate)
        self._tail: Samples | None = None
        self._tail_first = 0

    def between(self, first: int, end: int) -> Samples:
        """Samples ``[first, end)`` on film time; asked for in ascending order."""
        if self._tail is None:
            if self._end - end > self._near:
                return self._source.between(first, end)
            self._tail = self._source.between(first, max(end, self._end))
            self._tail_first = first
        return self._tail[first - self._tail_first : end - self._tail_first]


def _source(
    reader: SoundReader, piece: AlignedPiece, channels: int, rate: int, *, stretches: bool
) -> _Source:
    if stretches and abs(piece.speed - 1) > LEAST_CHANGE:
        return _StretchedPiece(reader, piece, channels, rate)
    return _ResampledPiece(reader, piece, rate)


LEAST_CHANGE = 0.005
"""Change of speed under which nobody hears whether the pitch changes with it, a twelfth of a semitone."""


@dataclass(frozen=True, slots=True, eq=False)
class _ResampledPiece:
    reader: SoundReader
    piece: AlignedPiece
    rate: int

    def between(self, first: int, end: int) -> Samples:
        piece = self.piece
        seconds = np.arange(first, end) / self.rate - piece.film.start
        return self.reader.at((piece.recording.start + seconds / piece.speed) * self.rate)


class _StretchedPiece:
    """A piece stretched by ffmpeg's ``atempo``, which keeps the pitch (by overlapping similar windows, as
    WSOLA) and takes any number of channels in step."""

    def __init__(self, reader: SoundReader, piece: AlignedPiece, channels: int, rate: int) -> None:
        self._reader, self._piece, self._channels, self._rate = reader, piece, channels, rate
        self._graph: Any = None
        self._fed = 0
        self._held: Samples = np.zeros((0, channels), np.float32)
        self._first = 0

    def between(self, first: int, end: int) -> Samples:
        if self._graph is None:
            self._begin(first)
        while self._first + len(self._held) < end:
            self._feed()
        self._held = self._held[first - self._first :]
        self._first = first
        return self._held[: end - first]

    def _begin(self, first: int) -> None:
        """Start so that the film's sample number ``first`` is the first that comes out."""
        from av.filter import Graph

        piece, rate = self._piece, self._rate
        self._fed = round(piece.recording_second(first / rate) * rate)
        self._first = first
        layout = f"{self._channels}c"
        graph = Graph()
        source = graph.add_abuffer(format="flt", sample_rate=rate, layout=layout, time_base=Fraction(1, rate))
        tempo = graph.add("atempo", f"{1 / piece.speed:.9f}")
        sink = graph.add("abuffersink")
        source.link_to(tempo)
        tempo.link_to(sink)
        graph.configure()
        self._graph = graph

    def _feed(self) -> None:
        """Push half a second of the recording, silence behind its end, and take what comes out."""
        import av

        size = self._rate // 2
        samples = self._reader.between(self._fed, self._fed + size)
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(samples).reshape(1, -1), format="flt", layout=f"{self._channels}c"
        )
        frame.sample_rate, frame.pts, frame.time_base = self._rate, self._fed, Fraction(1, self._rate)
        self._fed += size
        self._graph.push(frame)
        while True:
            try:
                ready = self._graph.pull()
            except (av.error.BlockingIOError, av.error.EOFError):
                return
            self._held = np.concatenate([self._held, ready.to_ndarray().reshape(ready.samples, -1)])
