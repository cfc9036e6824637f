"""How loud sound is, by EBU R 128 (ITU-R BS.1770, EBU Tech 3341 and 3342), and its true peaks, measured and
limited: all figures in one pass, in blocks.

ffmpeg's ``ebur128`` filter measures. The true peak (between samples too, by four times as many: BS.1770-4,
annex 2) is our own, since the filter's costs five times all the rest: values in between are made only where
one above what matters is possible. A finished file is measured as players decode it, for coders move peaks.

The limiter shifts no sample and changes none where no peak is near: its gain in dB is the highest curve that
nowhere lets a peak pass, falls by no more than `ATTACK` before it and comes back by no more than `RELEASE`
after it.

One channel is counted once, as in the centre, as the standard and others' meters do; over two loudspeakers
at full level it is 3 dB louder. Surround channels count 1.5 dB more, bass effects (LFE) nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shotad.core.errors import SoundError
from shotad.film import Samples, SoundBlock
from shotad.sound.programme import RATE

if TYPE_CHECKING:
    from av import AudioResampler, Packet


TAPS = 32
"""Samples that a value between two samples is made from."""

TAPS_BEFORE, TAPS_AFTER = TAPS // 2 - 1, TAPS // 2
"""How many of them are before a sample and after it."""

_PHASES = 4
_HOP = 32
_PIECE = 1024


def _kernel() -> tuple[Samples, Samples]:
    """``float32[TAPS, 3]``, a windowed sinc for 1/4, 1/2 and 3/4 of the way from sample to sample; and
    ``float32[_HOP + TAPS - 1, 3 * _HOP]``, the same for so many samples at once, the middle ones of which are
    multiplied in one go."""
    places = np.arange(TAPS)[:, None] - TAPS_BEFORE - np.arange(1, _PHASES) / _PHASES
    window = np.i0(8.0 * np.sqrt(np.clip(1 - (2 * places / TAPS) ** 2, 0, 1))) / np.i0(8.0)
    taps = np.sinc(places) * window
    kernel = np.asarray(taps / taps.sum(axis=0), np.float32)
    matrix = np.zeros((_HOP + TAPS - 1, _HOP, _PHASES - 1), np.float32)
    for place in range(_HOP):
        matrix[place : place + TAPS, place] = kernel
    return kernel, matrix.reshape(_HOP + TAPS - 1, -1)


_KERNEL, _MATRIX = _kernel()

OVERSHOOT = float(np.abs(_KERNEL).sum(axis=0).max())
"""No value between samples is further from 0 than this times the furthest of them."""


def peaks_above(samples: Samples, threshold: float) -> Iterator[tuple[int, Samples]]:
    """Stretches in which something may be further from 0 than ``threshold``: the number of the first sample,
    and for each, ``float32[m]``, the furthest of any channel at it and before the next.

    ``samples`` is ``float32[TAPS_BEFORE + n + TAPS_AFTER, channels]``; number 0 is the first of the n.
    """
    count = len(samples) - TAPS_BEFORE - TAPS_AFTER
    planes = np.ascontiguousarray(samples.T)
    for first in range(0, count, _PIECE):
        piece = planes[:, first : min(first + _PIECE, count) + TAPS_BEFORE + TAPS_AFTER]
        tops = np.maximum(piece.max(axis=1), -piece.min(axis=1))
        loud = tops * OVERSHOOT > threshold
        if loud.any():
            yield first, _furthest(piece[loud])


def _furthest(planes: Samples) -> Samples:
    """``float32[n]`` of ``float32[channels, TAPS_BEFORE + n + TAPS_AFTER]``."""
    channels, count = planes.shape[0], planes.shape[1] - TAPS_BEFORE - TAPS_AFTER
    hops = -(-count // _HOP)
    padded = np.zeros((channels, hops * _HOP + TAPS - 1), np.float32)
    padded[:, : planes.shape[1]] = planes
    windows = np.lib.stride_tricks.sliding_window_view(padded, _HOP + TAPS - 1, axis=1)[:, ::_HOP]
    # Copied, for only what lies in one piece is multiplied fast; channel by channel, for larger products are
    # shared among threads that cost more than they save.
    between = np.abs(np.ascontiguousarray(windows) @ _MATRIX)
    highest = between.reshape(channels, hops * _HOP, _PHASES - 1).max(axis=0).T
    furthest = np.maximum(np.maximum(highest[0], highest[1]), highest[2])[:count]
    at_samples = np.abs(planes[:, TAPS_BEFORE : TAPS_BEFORE + count]).max(axis=0)
    return np.asarray(np.maximum(furthest, at_samples), np.float32)


class TruePeak:
    """The true peak of blocks that follow each other."""

    def __init__(self) -> None:
        self._held: Samples | None = None
        self._top = 0.0

    def add(self, samples: Samples) -> None:
        """``float32[n, channels]``."""
        if self._held is None:
            self._held = np.zeros((TAPS_BEFORE, samples.shape[1]), np.float32)
        self._look(np.concatenate([self._held, samples]))

    @property
    def decibels(self) -> float | None:
        """dBTP of all so far; None: silence. Ends what is measured."""
        if self._held is not None:
            self._look(np.concatenate([self._held, np.zeros((TAPS_AFTER, self._held.shape[1]), np.float32)]))
            self._held = None
        return float(20 * np.log10(self._top)) if self._top > 0 else None

    def _look(self, samples: Samples) -> None:
        count = len(samples) - TAPS_BEFORE - TAPS_AFTER
        self._held = samples[max(0, count) :]
        if count > 0:
            self._top = max(self._top, float(samples.max()), -float(samples.min()))
            for _, peaks in peaks_above(samples, self._top):
                self._top = max(self._top, float(peaks.max()))


ATTACK = 1000.0
"""dB a second: 6 dB take 6 ms, before the peak."""

RELEASE = 40.0
"""dB a second: 6 dB take 0.15 s; faster, and bass would be bent."""

LOOK_AHEAD = 0.05
"""Seconds that are looked ahead: enough for a peak 50 dB too high."""

LIMIT_MARGIN = 0.1
"""dB kept below the limit: meters at four times the rate differ by as much."""


def limited(blocks: Iterable[SoundBlock], limiter: Limiter) -> Iterator[SoundBlock]:
    """The same sound through a fresh limiter; blocks of other lengths, ``float32[n, channels]``."""
    done = 0
    for block in blocks:
        samples = limiter.push(block.samples)
        if len(samples):
            yield SoundBlock(done / RATE, samples)
            done += len(samples)
    samples = limiter.flush()
    if len(samples):
        yield SoundBlock(done / RATE, samples)


class Limiter:
    """Keeps samples that come bit by bit, `RATE` a second, under ``true_peak`` dBTP."""

    def __init__(self, true_peak: float) -> None:
        self._limit = 10 ** ((true_peak - LIMIT_MARGIN) / 20)
        self._attack, self._release = ATTACK / RATE, RELEASE / RATE
        self._ahead = round(LOOK_AHEAD * RATE) + TAPS_AFTER
        self._held: Samples = np.zeros((0, 1), np.float32)
        self._need = np.zeros(0)
        self._past: Samples = np.zeros((0, 1), np.float32)
        self._level = 0.0

    def push(self, samples: Samples) -> Samples:
        """``float32[n, channels]`` in; what is ready out, of those and the ones before."""
        if self._held.shape[1] != samples.shape[1]:
            self._held = np.zeros((0, samples.shape[1]), np.float32)
            self._past = np.zeros((TAPS_BEFORE, samples.shape[1]), np.float32)
        self._held = np.concatenate([self._held, samples])
        self._look(len(self._held) - TAPS_AFTER)
        return self._give(max(0, len(self._held) - self._ahead))

    def flush(self) -> Samples:
        silence = np.zeros((TAPS_AFTER, self._held.shape[1]), np.float32)
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
        for first, peaks in peaks_above(around[begin : until + TAPS_BEFORE + TAPS_AFTER], self._limit):
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
            self._past = np.concatenate([self._past, self._held[:count]])[-TAPS_BEFORE:]
            self._held, self._need = self._held[count:], self._need[count:]
        return out


DOWNMIXED_PEAK = -1.0
"""dBTP that a downmix stays under where nothing else is asked; it may be louder than each of its channels."""


Levels = npt.NDArray[np.float32]
"""``float32[n]``, LUFS; -inf is silence."""

STEP = 0.1
"""Seconds between two figures of a course."""

WINDOW = 0.4
"""Seconds that a momentary figure covers; short-term ones cover 3."""

ABSOLUTE_GATE = -70.0
"""LUFS: what is quieter does not count (the absolute gate)."""

RELATIVE_GATE = -10.0
"""LU below the mean of what is left, under which the rest does not count either."""


@dataclass(frozen=True, slots=True)
class Loudness:
    """Figures of a whole. None: it is silence, or shorter than what the figure needs.

    ``integrated`` and the highest ``momentary`` (0.4 s) and ``short_term`` (3 s) are LUFS, ``range`` is LU,
    ``true_peak`` dBTP.
    """

    integrated: float | None
    range: float
    true_peak: float | None
    momentary: float | None
    short_term: float | None

    def louder(self, decibels: float) -> Loudness:
        moved = [
            None if figure is None else figure + decibels
            for figure in (self.integrated, self.true_peak, self.momentary, self.short_term)
        ]
        return Loudness(moved[0], self.range, *moved[1:])


@dataclass(frozen=True, slots=True, eq=False)
class LoudnessCurve:
    """Loudness along time: figure k is of the window that ends at ``(k + 1) * STEP`` seconds."""

    momentary: Levels

    def within(self, start: float, end: float) -> slice:
        """The momentary figures whose windows have their middle in ``[start, end)``; at least the nearest."""
        offset = STEP - WINDOW / 2
        first = int(np.ceil((start - offset) / STEP - 1e-9))
        last = int(np.ceil((end - offset) / STEP - 1e-9))
        first = min(max(0, first), max(0, len(self.momentary) - 1))
        return slice(first, max(first + 1, last))

    @property
    def middles(self) -> npt.NDArray[np.float64]:
        """``float64[n]``: the second in the middle of each momentary window."""
        windows = np.arange(1, len(self.momentary) + 1, dtype=np.float64)
        return np.asarray(windows * STEP - WINDOW / 2, np.float64)


def power(levels: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Levels in LUFS or dB as power: -10 → 0.1."""
    return np.asarray(10 ** (np.asarray(levels, np.float64) / 10), np.float64)


def level(value: float) -> float:
    """Power as LUFS or dB: 0.1 → -10; 0 → -inf."""
    return float(10 * np.log10(value)) if value > 0 else -np.inf


def gated(momentary: npt.ArrayLike) -> float | None:
    """The integrated loudness of momentary figures: their mean by power after both gates; None: silence."""
    loud = np.asarray(momentary, np.float64)
    loud = loud[loud >= ABSOLUTE_GATE]
    if len(loud) == 0:
        return None
    loud = loud[loud >= level(float(power(loud).mean())) + RELATIVE_GATE]
    return level(float(power(loud).mean()))


class Meter:
    """Measures what it is given, samples after samples, by ffmpeg's ``ebur128``, which gives figures for each
    tenth of a second. ``layout`` is ffmpeg's name, ``5.1(side)`` say; the channels stand in its order."""

    def __init__(self, layout: str, rate: int) -> None:
        from av.filter import Graph

        self._layout, self._rate, self._given = layout, rate, 0
        self._peak = TruePeak()
        self._momentary: list[float] = []
        self._short: list[float] = []
        self._last: dict[str, str] = {}
        self._graph = Graph()
        source = self._graph.add_abuffer(
            sample_rate=rate, format="flt", layout=layout, time_base=Fraction(1, rate)
        )
        self._graph.link_nodes(
            source,
            self._graph.add("ebur128", "metadata=1:peak=none:framelog=quiet"),
            self._graph.add("abuffersink"),
        ).configure()

    def measure(self, blocks: Iterable[SoundBlock]) -> tuple[Loudness, LoudnessCurve]:
        """Figures of all ``blocks`` of a sound, which follow each other."""
        for block in blocks:
            self.add(block.samples)
        return self.result()

    def add(self, samples: npt.NDArray[np.float32]) -> None:
        """Samples that follow those before: ``float32[n]`` or ``float32[n, channels]``."""
        from av import AudioFrame

        if len(samples) == 0:
            return
        woven = np.ascontiguousarray(samples.reshape(len(samples), -1), np.float32)
        self._peak.add(woven)
        frame = AudioFrame.from_ndarray(woven.reshape(1, -1), format="flt", layout=self._layout)
        frame.sample_rate, frame.pts = self._rate, self._given
        self._given += len(samples)
        self._graph.push(frame)
        self._note()

    def result(self) -> tuple[Loudness, LoudnessCurve]:
        """What was measured; nothing may be added afterwards."""
        if self._given:
            self._graph.push(None)
            self._note()
        momentary, short = _clean_levels(self._momentary), _clean_levels(self._short)
        integrated = float(self._last.get("lavfi.r128.I", "-70"))
        whole = Loudness(
            integrated if integrated > ABSOLUTE_GATE else None,
            float(self._last.get("lavfi.r128.LRA", "0")),
            self._peak.decibels,
            _highest(momentary),
            _highest(short),
        )
        return whole, LoudnessCurve(momentary)

    def _note(self) -> None:
        """Take the figures that are ready. The last part, shorter than a tenth of a second, has none."""
        import av

        with suppress(av.error.BlockingIOError, av.error.EOFError):
            while True:
                frame: Any = self._graph.pull()
                if figures := frame.metadata:
                    self._last = figures
                    self._momentary.append(float(figures["lavfi.r128.M"]))
                    self._short.append(float(figures["lavfi.r128.S"]))


def _clean_levels(figures: Sequence[float]) -> Levels:
    """ffmpeg's figures; -120 is its silence, and so is nan: its running sums go below 0 by rounding."""
    levels = np.array(figures, np.float32)
    return np.asarray(np.where(levels > -119, levels, -np.inf), np.float32)


def _highest(levels: Levels) -> float | None:
    top = float(levels.max(initial=-np.inf))
    return top if top > ABSOLUTE_GATE else None


PEAK_RISE = {
    "aac": 1.5, "libopus": 2.0, "libmp3lame": 0.8, "ac3": 1.5, "eac3": 1.8, "mp2": 0.8, "libvorbis": 1.5,
}  # fmt: skip
"""dB by which peaks must be lower before a coder, by ffmpeg's encoder: about what peaks of loud sound that
was limited before rise by at our bit rates (AAC 0.4 to 1.9, Opus 0.7 to 2.5). AES TD1008 asks for such
headroom, too. Where it is too little the file is written again, so more would only cost loudness."""


class DecodedMeter:
    """Measures one track of an open file as its packets pass by."""

    def __init__(self) -> None:
        self._meter: Meter | None = None
        self._resampler: AudioResampler | None = None
        self._held: list[Samples] = []

    def add(self, packet: Packet[Any]) -> None:
        """The track's next packet, or the empty one at its end. What cannot be decoded is left out."""
        from av.error import FFmpegError

        try:
            frames: list[Any] = list(packet.decode())
        except FFmpegError:
            return
        for frame in frames:
            from av import AudioResampler

            if self._meter is None or self._resampler is None:
                layout = frame.layout.name
                self._meter = Meter(layout, frame.sample_rate)
                self._resampler = AudioResampler(format="flt", layout=layout, rate=frame.sample_rate)
            frame.pts = None
            for part in self._resampler.resample(frame):
                self._held.append(np.asarray(part.to_ndarray(), np.float32).reshape(part.samples, -1))
            if sum(map(len, self._held)) >= frame.sample_rate:
                self._measure(self._meter)

    def result(self) -> tuple[Loudness, LoudnessCurve] | None:
        """What was measured, None where nothing was decoded; nothing may be added afterwards."""
        if self._meter is None:
            return None
        self._measure(self._meter)
        return self._meter.result()

    def _measure(self, meter: Meter) -> None:
        """A second at once, for it costs less than frame by frame."""
        if self._held:
            meter.add(np.concatenate(self._held))
            self._held = []


def measure_file(path: Path) -> tuple[Loudness, LoudnessCurve]:
    """The loudness of a sound file as players decode it. Raises SoundError where it cannot be read."""
    import av

    meter = DecodedMeter()
    try:
        with av.open(str(path)) as container:
            for packet in container.demux(container.streams.audio[0]):
                meter.add(packet)
    except (av.error.FFmpegError, IndexError, OSError) as error:
        raise SoundError(f"{path.name} cannot be read back: {error}.", "Write it again.") from error
    figures = meter.result()
    if figures is None:
        raise SoundError(f"{path.name} has no sound that can be decoded.", "Write it again.")
    return figures
