"""A stretch of sound that was sought is, sample for sample, that of a whole pass."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
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
from hypothesis import given, settings, strategies as st

from shotad.core import FilmError
from shotad.film import Film, Layout, SoundSeeker, open_film, sound_blocks
from shotad.film.audio import WANDERING, Runs, _origin_of

Samples = npt.NDArray[np.float32]
SECONDS = 32.0
NEAR = 5e-6
"""What AAC's decoder draws by chance in sound that has next to no noise; all else is the same to the bit."""


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


EXACT = {
    "mp4 aac": Spec(".mp4", "aac"),
    "mp4 aac 44100, late": Spec(".mp4", "aac", 44100, start=0.3),
    "mkv aac 44100 5.1, shifted": Spec(".mkv", "aac", 44100, "5.1", shift=5.0),
    "mkv mp3 44100": Spec(".mkv", "libmp3lame", 44100, start=0.1),
    "avi mp3": Spec(".avi", "libmp3lame"),
    "mkv opus 5.1, late": Spec(".mkv", "libopus", layout="5.1", start=0.2),
    "mkv flac 44100": Spec(".mkv", "flac", 44100, noise=0.05),
    "mkv flac mono, shifted": Spec(".mkv", "flac", layout="mono", shift=5.0, noise=0.05),
    "ts aac 44100, late": Spec(".ts", "aac", 44100, start=0.4),
    "ts aac mono": Spec(".ts", "aac", layout="mono"),
    "mov pcm 44100, late": Spec(".mov", "pcm_s16le", 44100, start=0.2, noise=0.05),
    "mkv flac, a gap": Spec(".mkv", "flac", gap=(12.0, 17.0), noise=0.05),
}


COSTLY = ("avi mp3", "mkv aac 44100 5.1, shifted", "mkv opus 5.1, late")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in COSTLY else ()) for name in EXACT]
)
def test_what_is_sought_is_what_a_whole_pass_has(name: str) -> None:
    with open_film(made(EXACT[name])) as film:
        full, seeker = whole(film), SoundSeeker(film, 0, 48000)
        for second in (3.0, 13.0, 17.37, 28.111):
            first, end = round(second * 48000), round((second + 2.5) * 48000)
            found = seeker.between(first, end)
            wanted = stretch(full, first, end)
            assert found is not None or not wanted.any()
            if found is not None:
                assert np.abs(found - wanted).max() < NEAR, f"at {second}"


@pytest.mark.parametrize(("rate", "layout"), [(44100, "native"), (16000, "mono"), (48000, "stereo")])
def test_whatever_the_rate_and_the_channels(rate: int, layout: Layout) -> None:
    with open_film(made(EXACT["mkv opus 5.1, late"])) as film:
        full, seeker = whole(film, rate, layout), SoundSeeker(film, 0, rate, layout)
        first, end = round(21.3 * rate), round(23.9 * rate)
        found = seeker.between(first, end)
        assert found is not None
        assert found.shape == full[first:end].shape
        assert np.abs(found - full[first:end]).max() < NEAR


@pytest.mark.parametrize("name", ["mkv flac 44100", "mp4 aac 44100, late"])
@given(first=st.integers(0, 29 * 48000), count=st.integers(1, 96000))
@settings(max_examples=12, deadline=None)
def test_wherever_it_begins(name: str, first: int, count: int) -> None:
    full, seeker = _known(name)
    found = seeker.between(first, first + count)
    wanted = stretch(full, first, first + count)
    assert found is not None or not wanted.any()
    assert found is None or np.abs(found - wanted).max() < NEAR


@cache
def _known(name: str) -> tuple[Samples, SoundSeeker]:
    film = open_film(made(EXACT[name]))
    return whole(film), SoundSeeker(film, 0, 48000)


@pytest.mark.parametrize("rate", [44100, 48000])
def test_of_ac3_only_the_noise_that_the_decoder_draws_is_other(rate: int) -> None:
    from scipy.signal import butter, sosfilt

    low = butter(6, 500, fs=48000, output="sos")
    with open_film(made(Spec(".ts", "ac3", rate, noise=0.02))) as film:
        full, seeker = whole(film), SoundSeeker(film, 0, 48000)
        first, end = round(23.3 * 48000), round(26.3 * 48000)
        found = seeker.between(first, end)
        assert found is not None
        wanted = full[first:end]
        apart = sosfilt(low, found - wanted, axis=0).std() / sosfilt(low, wanted, axis=0).std()
        assert 20 * np.log10(apart) < -45
        # A shift by one sample would be this far apart.
        assert np.abs(found[1:] - wanted[:-1]).std() > 2 * np.abs(found - wanted).std()


def test_beyond_the_end_there_is_nothing() -> None:
    with open_film(made(EXACT["mp4 aac"])) as film:
        seeker = SoundSeeker(film, 0, 48000)
        assert seeker.between(50 * 48000, 51 * 48000) is None
        found = seeker.between(round(31.5 * 48000), round(33.5 * 48000))
        assert found is not None
        assert len(found) == 96000
        assert not found[round(0.6 * 48000) :].any()
        assert found[: round(0.4 * 48000)].any()


def test_a_long_gap_is_silence_and_what_follows_stands_where_it_stood() -> None:
    with open_film(made(EXACT["mkv flac, a gap"])) as film:
        seeker = SoundSeeker(film, 0, 48000)
        silent = seeker.between(round(13.5 * 48000), round(15.5 * 48000))
        assert silent is None or not silent.any()


def test_a_film_without_sound_cannot_be_sought() -> None:
    from tests.media import FilmSpec, make_film

    with open_film(make_film(FilmSpec(sounds=())).path) as film, pytest.raises(FilmError, match="no sound"):
        SoundSeeker(film, 0, 48000)


WANDER = [128] * 30 + [576, 1024, 1024, 1024, 1024, 576] * 3 + [128] * 20 + [576, 1024] * 12
"""Lengths of Vorbis frames as they come."""


def wandering(
    rate: int = 44100, begin: float = 0.0, sizes: list[int] = WANDER
) -> list[tuple[float, av.AudioFrame]]:
    """Frames of changing length, each with the whole ms at which it ends."""
    ends = list(itertools.accumulate(sizes))
    generator = np.random.default_rng(5)
    frames = []
    for size, end in zip(sizes, ends, strict=True):
        noise = generator.uniform(0.1, 0.5, (1, size)).astype(np.float32)
        frame = av.AudioFrame.from_ndarray(noise, "flt", "mono")
        frame.sample_rate, frame.time_base = rate, Fraction(1, 1000)
        frames.append((round((begin + end / rate) * 1000) / 1000, frame))
    return frames


def test_frames_whose_times_follow_their_ends_are_no_gaps() -> None:
    runs, slack = Runs(44100, "native", WANDERING["vorbis"]), []
    for second, frame in wandering():
        slack += list(runs.take(second, frame))
    slack += list(runs.flush())
    sound = np.concatenate([samples for _, samples in slack])
    assert len(sound) == sum(WANDER)
    assert sound.min() > 0.05
    places = [position for position, _ in slack]
    lengths = [len(samples) for _, samples in slack]
    assert places == [places[0] + before for before in itertools.accumulate([0, *lengths[:-1]])]


@given(skipped=st.integers(0, 40), begin=st.floats(0, 3))
@settings(max_examples=40, deadline=None)
def test_the_count_of_frames_that_differ_is_found_by_many(skipped: int, begin: float) -> None:
    frames = wandering(begin=begin, sizes=WANDER * 2)
    origin = _origin_of(frames[:48], WANDERING["vorbis"])
    assert origin is not None
    assert (origin.size, origin.grid, origin.ends) == (0, 64, True)
    assert origin.given_of(frames[skipped : skipped + 48]) == sum(WANDER[:skipped])
    off = [(second + 0.00073, frame) for second, frame in frames[skipped : skipped + 48]]
    assert origin.given_of(off) is None


def test_a_sound_of_another_run_has_no_count() -> None:
    frames = wandering(sizes=[1024] * 48)
    origin = _origin_of(frames, 0.02)
    assert origin is not None
    assert origin.size == 1024
    assert origin.given(origin.seconds + 10 * 1024 / 44100, 0.001) == 10 * 1024
    assert origin.given(origin.seconds + 10.5 * 1024 / 44100, 0.001) is None


SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "films" / "tears-of-steel-battle.webm"


@pytest.mark.skipif(not SHARED.exists(), reason="the shared films are not here")
def test_vorbis_in_webm_is_whole_and_sought_as_it_is() -> None:
    with open_film(SHARED) as film:
        full, seeker = whole(film), SoundSeeker(film, 0, 48000)
        for second in (11.0, 24.48, 48.07):
            first, end = round(second * 48000), round((second + 2) * 48000)
            found = seeker.between(first, end)
            assert found is not None
            apart = np.abs(found - full[first:end]).std() / full[first:end].std()
            assert apart < 0.001


def test_several_threads_seek_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with open_film(made(EXACT["mp4 aac"])) as film:
        full, seeker = whole(film), SoundSeeker(film, 0, 48000)
        firsts = [round(second * 48000) for second in (12.1, 20.2, 27.3, 8.4)]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda first: seeker.between(first, first + 4800), firsts))
    for first, part in zip(firsts, found, strict=True):
        assert part is not None
        assert np.abs(part - full[first : first + 4800]).max() < NEAR
