"""A stretch of sound that was sought is that of a whole pass, in its place."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import FilmError
from shotad.film import Film, Layout, SoundSeeker, open_film, sound_blocks

Samples = npt.NDArray[np.float32]
SECONDS = 24.0


@dataclass(frozen=True)
class Spec:
    """A film with sound: gliding tones, other ones in each channel. ``gap`` is left out of the stream."""

    suffix: str = ".mkv"
    codec: str = "flac"
    rate: int = 48000
    layout: str = "stereo"
    start: float = 0.0
    shift: float = 0.0
    gap: tuple[float, float] | None = None
    noise: float = 0.0


@cache
def made(spec: Spec) -> Path:
    """The film of a spec."""
    path = Path(mkdtemp(prefix="soundseek-")) / f"film{spec.suffix}"
    with av.open(str(path), "w") as container:
        picture: Any = container.add_stream("libx264", rate=10, options={"g": "25"})
        picture.width, picture.height, picture.pix_fmt = 64, 36, "yuv420p"
        picture.codec_context.time_base = Fraction(1, 1000)
        sound: Any = container.add_stream(spec.codec, rate=spec.rate, layout=spec.layout)
        packets = [*_pictures(picture, spec), *_sounds(sound, spec)]
        for packet in sorted(packets, key=lambda p: float(p.dts * p.time_base)):
            container.mux(packet)
    return path


def _pictures(stream: Any, spec: Spec) -> Iterator[Any]:
    for number in range(round(SECONDS * 10)):
        frame = av.VideoFrame.from_ndarray(np.full((54, 64), 16 + number % 200, np.uint8), "yuv420p")
        frame.pts, frame.time_base = round((number / 10 + spec.shift) * 1000), Fraction(1, 1000)
        yield from stream.encode(frame)
    yield from stream.encode(None)


def _sounds(stream: Any, spec: Spec) -> Iterator[Any]:
    context = stream.codec_context
    resampler = av.AudioResampler(context.format, spec.layout, spec.rate, context.frame_size or 1024)
    first, wave = round((spec.start + spec.shift) * spec.rate), _wave(spec)
    for at in range(0, len(wave), 4096):
        part = np.ascontiguousarray(wave[at : at + 4096]).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(part, "flt", spec.layout)
        frame.sample_rate, frame.pts, frame.time_base = spec.rate, first + at, Fraction(1, spec.rate)
        for out in resampler.resample(frame):
            second = ((out.pts or 0) - first) / spec.rate
            if spec.gap is None or not spec.gap[0] <= second < spec.gap[1]:
                yield from stream.encode(out)
    yield from stream.encode(None)


def _wave(spec: Spec) -> Samples:
    """``float32[n, channels]``."""
    time = np.arange(round((SECONDS - spec.start) * spec.rate)) / spec.rate
    channels = len(av.AudioLayout(spec.layout).channels)
    tones = [0.2 * np.sin(2 * np.pi * (300 + 40 * k + 20 * time) * time) for k in range(channels)]
    generator = np.random.default_rng(3)
    return np.stack([tone + spec.noise * generator.standard_normal(time.size) for tone in tones], 1).astype(
        np.float32
    )


def whole(film: Film, rate: int = 48000, layout: Layout = "native") -> Samples:
    return np.concatenate([block.samples for block in sound_blocks(film, 0, rate, layout)])


def stretch(sound: Samples, first: int, end: int) -> Samples:
    """Samples of a whole, silence where it has ended."""
    part = sound[first:end]
    return np.concatenate([part, np.zeros((end - first - len(part), *sound.shape[1:]), np.float32)])


FILMS = {
    "mp4 aac": Spec(".mp4", "aac"),
    "mkv aac 44100 5.1, shifted": Spec(".mkv", "aac", 44100, "5.1", shift=5.0),
    "avi mp3": Spec(".avi", "libmp3lame"),
    "mkv opus 5.1, late": Spec(".mkv", "libopus", layout="5.1", start=0.2),
    "ts aac 44100, late": Spec(".ts", "aac", 44100, start=0.4),
    "mov pcm 44100, late": Spec(".mov", "pcm_s16le", 44100, start=0.2),
    "mkv flac, a gap": Spec(".mkv", "flac", gap=(12.0, 17.0), noise=0.05),
}


def shift_of(found: Samples, wanted: Samples) -> int:
    """By how many samples a stretch stands off, by the best correlation of its first channel."""
    size = 2 * len(wanted)
    spectrum = np.fft.rfft(found[:, 0], size) * np.conj(np.fft.rfft(wanted[:, 0], size))
    at = int(np.fft.irfft(spectrum, size).argmax())
    return at if at < size // 2 else at - size


@pytest.mark.parametrize("name", FILMS)
def test_what_is_sought_is_what_a_whole_pass_has(name: str) -> None:
    with open_film(made(FILMS[name])) as film:
        full, seeker = whole(film), SoundSeeker(film, 0, 48000)
        for second in (3.0, 17.37, 20.111):
            first, end = round(second * 48000), round((second + 2.5) * 48000)
            found, wanted = seeker.between(first, end), stretch(full, first, end)
            assert found is not None
            off = shift_of(found, wanted)
            assert abs(off) <= 48, f"at {second}"  # Matroska counts in ms
            level, apart = wanted.std(), (np.roll(found, -off, 0) - wanted)[200:-200].std()
            assert apart < 0.1 * level, f"at {second}"


def test_beyond_ends_and_gaps() -> None:
    with open_film(made(FILMS["mp4 aac"])) as film:
        seeker = SoundSeeker(film, 0, 48000)
        assert seeker.between(50 * 48000, 51 * 48000) is None
        found = seeker.between(round(23.5 * 48000), round(25.5 * 48000))
        assert found is not None
        assert len(found) == 96000
        assert not found[round(0.6 * 48000) :].any()
        assert found[: round(0.4 * 48000)].any()
    # A long gap is silence and what follows stands where it stood.
    with open_film(made(FILMS["mkv flac, a gap"])) as film:
        seeker = SoundSeeker(film, 0, 48000)
        silent = seeker.between(round(13.5 * 48000), round(15.5 * 48000))
        assert silent is None or not silent.any()
    # A film without sound cannot be sought.
    from tests.media import FilmSpec, make_film

    with open_film(make_film(FilmSpec(sounds=())).path) as film, pytest.raises(FilmError, match="no sound"):
        SoundSeeker(film, 0, 48000)


def test_several_threads_seek_at_once() -> None:
    with open_film(made(FILMS["mp4 aac"])) as film:
        full, seeker = whole(film), SoundSeeker(film, 0, 48000)
        firsts = [round(second * 48000) for second in (12.1, 20.2, 17.3, 8.4)]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda first: seeker.between(first, first + 4800), firsts))
    for first, part in zip(firsts, found, strict=True):
        assert part is not None
        assert np.abs(part - full[first : first + 4800]).max() < 1e-4
