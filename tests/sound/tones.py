"""Sounds whose truth is known, films that hold them, and takes to be found again in a mix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.film import SoundBlock
from shotad.sound import Loudness, LoudnessCurve, MeasuredSound, Programme, Spoken, Take, measure_whole
from tests.media import FilmSpec, make_film

Samples = npt.NDArray[np.float32]


def noise(seconds: float, seed: int, rate: int = 48000, channels: int = 1, low: float = 0.0) -> Samples:
    """``float32[n, channels]``: noise that reaches to 8 kHz, RMS 1, from ``low`` Hz; channels differ."""
    count = round(seconds * rate)
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal((count, channels)), axis=0)
    hertz = np.fft.rfftfreq(count, 1 / rate)
    spectrum[(hertz > 8000) | (hertz < low)] = 0
    wave = np.fft.irfft(spectrum, count, axis=0)
    return np.asarray(wave / np.sqrt((wave * wave).mean()), np.float32)


def sine(hertz: float, peak_db: float, seconds: float, rate: int = 48000, phase: float = 0.0) -> Samples:
    """``float32[n]``: a tone whose peak is at ``peak_db`` dBFS."""
    time = np.arange(round(seconds * rate)) / rate
    return np.asarray(10 ** (peak_db / 20) * np.sin(2 * np.pi * hertz * time + phase), np.float32)


def line(name: str, start: float, seconds: float = 1.2, rate: int = 24000, level_db: float = -30.0) -> Spoken:
    """A line whose take is noise of its own, so that it is found again by correlation."""
    samples = noise(seconds, seed=sum(name.encode()), rate=rate, low=150)[:, 0] * 10 ** (level_db / 20)
    return Spoken(name, name, start, Take(samples.astype(np.float32), rate))


def blocks(samples: Samples, rate: int = 48000) -> Iterator[SoundBlock]:
    """A sound in blocks of a second."""
    for at in range(0, len(samples), rate):
        yield SoundBlock(at / rate, samples[at : at + rate])


def whole(parts: Iterable[SoundBlock]) -> Samples:
    """All blocks as one sound."""
    return np.concatenate([block.samples for block in parts])


def onset(sound: Samples, wanted: Samples, around: int, reach: int = 4800) -> int:
    """Where ``wanted`` begins in ``sound``, both ``float32[n]``: the sample where they are most alike."""
    first = max(0, around - reach)
    stretch = sound[first : around + reach + len(wanted)].astype(np.float64)
    size = 1 << (len(stretch) + len(wanted)).bit_length()
    spectrum = np.fft.rfft(stretch, size) * np.conj(np.fft.rfft(wanted.astype(np.float64), size))
    return first + int(np.argmax(np.fft.irfft(spectrum, size)[: len(stretch)]))


def decoded(path: Path) -> tuple[Samples, int]:
    """``float32[n, channels]`` of a sound file as players decode it, and its rate."""
    import av

    with av.open(str(path)) as container:
        stream, parts = container.streams.audio[0], []
        resampler = av.AudioResampler(format="flt", layout=stream.codec_context.layout)
        for frame in [*container.decode(stream), None]:
            if frame is not None:
                frame.pts = None
            parts += [out.to_ndarray().reshape(out.samples, -1) for out in resampler.resample(frame)]
        return np.concatenate(parts), stream.rate


@dataclass(frozen=True, eq=False)
class SoundFilm:
    """A small film with given sound.

    ``wave`` is ``float32[n, channels]`` from second ``start`` of the film's own clock; ``gap`` is left out of
    the stream; ``shift`` is added to every timestamp; ``times`` are the seconds of the pictures.
    """

    wave: Samples | None
    layout: str = "stereo"
    rate: int = 48000
    codec: str = "pcm_s16le"
    start: float = 0.0
    shift: float = 0.0
    gap: tuple[float, float] | None = None
    seconds: float = 10.0
    times: Sequence[float] = field(default=())

    def make(self, path: Path) -> Path:
        """Write it."""
        import av

        times = tuple(float(second) for second in self.times or np.arange(0, self.seconds, 0.1))
        spec = FilmSpec(".mkv", size=(64, 36), times=times, shift=self.shift, time_base=Fraction(1, 1000))
        with av.open(str(make_film(spec).path)) as shown, av.open(str(path), "w") as container:
            way = container.add_stream_from_template(shown.streams.video[0], opaque=True)
            packets = [packet for packet in shown.demux() if packet.size]
            for packet in packets:
                packet.stream = way
            if self.wave is not None:
                packets += self._sounds(container.add_stream(self.codec, rate=self.rate, layout=self.layout))
            for packet in sorted(packets, key=lambda p: float(p.dts * p.time_base)):
                container.mux(packet)
        return path

    def _sounds(self, stream: Any) -> Iterator[Any]:
        from av import AudioFrame

        assert self.wave is not None
        size = stream.codec_context.frame_size or 1024
        first = round((self.start + self.shift) * self.rate)
        for at in range(0, len(self.wave), size):
            second = self.start + at / self.rate
            if self.gap and self.gap[0] <= second < self.gap[1]:
                continue
            part = self.wave[at : at + size]
            if stream.codec_context.format.name == "s16":
                part = np.round(part * 32767).astype(np.int16)
            woven = part.reshape(1, -1) if not stream.codec_context.format.is_planar else part.T
            frame = AudioFrame.from_ndarray(
                np.ascontiguousarray(woven), format=stream.codec_context.format.name, layout=self.layout
            )
            frame.sample_rate, frame.pts, frame.time_base = self.rate, first + at, Fraction(1, self.rate)
            yield from stream.encode(frame)
        yield from stream.encode(None)


@dataclass(frozen=True, eq=False)
class GivenProgramme(Programme):
    """A programme that is in no film: ``given`` are its blocks."""

    given: Iterable[SoundBlock] = ()

    def blocks(self) -> Iterator[SoundBlock]:
        yield from self.given


def given_programme(blocks: Iterable[SoundBlock], layout: str) -> GivenProgramme:
    return GivenProgramme(None, None, layout, 0, given=blocks)


def measured(blocks: Iterable[SoundBlock], layout: str) -> MeasuredSound:
    """Blocks that follow each other at 48 kHz, measured."""
    return measure_whole(given_programme(blocks, layout))


def along(blocks: Iterable[SoundBlock], layout: str) -> LoudnessCurve:
    """Their loudness along time."""
    return measured(blocks, layout).curve


def measure(blocks: Iterable[SoundBlock], layout: str) -> Loudness:
    """Their loudness as a whole."""
    return measured(blocks, layout).loudness


def aac_configuration(path: Path, track: int) -> int:
    """The ``channelConfiguration`` of a track of AAC (ISO/IEC 14496-3), 0 where it describes its channels itself."""
    import av

    with av.open(str(path)) as container:
        stream = container.streams.audio[track]
        assert stream.codec_context.name == "aac"
        packet = next(bytes(packet) for packet in container.demux(stream) if packet.size)
        header = stream.codec_context.extradata
    if header is not None:
        # Of the AudioSpecificConfig five bits are the kind and four the rate.
        return header[1] >> 3 & 15
    # In MPEG-TS each frame has a header of its own (ADTS).
    assert packet[0] == 0xFF
    return (packet[2] & 1) << 2 | packet[3] >> 6
