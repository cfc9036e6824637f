"""Sound stands on film time, whatever the container does, the centre leads, what is sought is in its place; and speech."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest
from av.stream import Disposition
from hypothesis import given, strategies as st

from shotad.core import Interval, Utterance
from shotad.core.config.film import SpeechSettings
from shotad.core.errors import FilmError, SubtitleError
from shotad.core.types import SpeechKind
from shotad.film import (
    Film,
    SoundBlock,
    SoundSeeker,
    SoundSpeech,
    choose_speech,
    detect_speech,
    open_film,
    sound_blocks,
)
from shotad.film.audio import DownmixCheck, Runs, _blocks
from shotad.film.slots import join_intervals
from shotad.film.speech import LEAD, LEVELS, RATE, STEP, WINDOW, Leveller, Signal, speech_in, speech_intervals
from tests.made_weights import use_manifest
from tests.media import FilmSpec, Made, SoundSpec, make_film
from tests.simple_detector import loud_is_speech


def _listen(made: Made, track: int | None = None, **options: object) -> tuple[np.ndarray, list[SoundBlock]]:
    with open_film(made.path) as film:
        blocks = list(sound_blocks(film, track, **options))  # type: ignore[arg-type]
    samples = np.concatenate([block.samples for block in blocks]) if blocks else np.zeros(0)
    return samples, blocks


def _onsets(samples: np.ndarray, rate: int = RATE, least: float = 0.1) -> list[float]:
    """Seconds at which sound begins after at least 0.2 s of silence."""
    loud = np.flatnonzero(np.abs(samples) > least)
    if len(loud) == 0:
        return []
    begins = loud[np.r_[True, np.diff(loud) > 0.2 * rate]]
    return [float(begin) / rate for begin in begins]


SOUNDS = {
    "mp4 aac": FilmSpec(sounds=(SoundSpec(),)),
    "mp4, sound later than picture": FilmSpec(sounds=(SoundSpec(start=0.4),)),
    "mkv, late start": FilmSpec(suffix=".mkv", shift=5.0, sounds=(SoundSpec(start=0.4),)),
    "mkv ac3": FilmSpec(suffix=".mkv", sounds=(SoundSpec(start=0.1, codec="ac3"),)),
    "mov pcm": FilmSpec(suffix=".mov", sounds=(SoundSpec(codec="pcm_s16le"),)),
    "transport stream ac3": FilmSpec(suffix=".ts", sounds=(SoundSpec(start=0.2, codec="ac3"),)),
    "webm": FilmSpec(suffix=".webm", codec="libvpx", sounds=(SoundSpec(start=0.2, codec="libopus"),)),
    "a gap": FilmSpec(suffix=".mkv", frames=75, sounds=(SoundSpec(duration=3.0, gap=(0.7, 1.1), start=0.1),)),
    "a long gap": FilmSpec(
        suffix=".ts",
        frames=150,
        sounds=(SoundSpec(duration=6.0, gap=(0.7, 4.2), beeps=(0.5, 5.0), start=0.2),),
    ),
}


@pytest.mark.parametrize("name", list(SOUNDS))
def test_a_tone_is_heard_at_its_film_second_and_blocks_have_no_gap(name: str) -> None:
    made = make_film(SOUNDS[name])
    sound = made.spec.sounds[0]
    samples, blocks = _listen(made)
    assert _onsets(samples) == pytest.approx(sound.beeps, abs=0.004)
    assert samples.dtype == np.float32
    done = 0
    for block in blocks:
        assert block.seconds == done / RATE
        done += len(block.samples)
    assert all(len(block.samples) == RATE for block in blocks[:-1])
    assert done / RATE == pytest.approx(sound.start + sound.duration, abs=0.05)


def test_who_stops_listening_stops_the_decoding() -> None:
    with open_film(make_film(FilmSpec(sounds=(SoundSpec(),))).path) as film:
        blocks = sound_blocks(film)
        assert len(next(blocks).samples) == 16000
        del blocks
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("decoding sound")]


def test_the_centre_and_the_default_lead() -> None:
    loud = []
    for channel in range(4):
        sound = SoundSpec(layout="5.1", only_channel=channel, codec="flac", start=0.1)
        samples, _ = _listen(make_film(FilmSpec(suffix=".mkv", sounds=(sound,))))
        loud.append(float(np.abs(samples[int(0.52 * RATE) : int(0.58 * RATE)]).max()))
    assert loud == pytest.approx([0.15, 0.15, 0.5, 0.0], abs=0.02)
    # The default is neither description nor commentary.
    made = make_film(TRACKS)
    assert _onsets(_listen(made)[0]) == pytest.approx([1.1], abs=0.004)
    for track, beep in enumerate((0.3, 0.7, 1.1)):
        assert _onsets(_listen(made, track)[0]) == pytest.approx([beep], abs=0.004)
    # A film without sound gives nothing.
    with open_film(make_film().path) as film:
        assert list(sound_blocks(film)) == []
        with pytest.raises(FilmError, match="it has no sound"):
            sound_blocks(film, 0)
    # What comes twice is heard once and what misses is silent.
    assert _pieces([(0, 30), (20, 30), (60, 5)]) == [*range(50), *[0] * 10, *range(60, 65)]
    assert _pieces([(-5, 10), (250, 3)]) == [*range(5), *[0] * 245, 250, 251, 252]
    assert _pieces([(0, 5), (1000000, 5)]) == [*range(5)]


TRACKS = FilmSpec(
    suffix=".mkv",
    sounds=(
        SoundSpec(beeps=(0.3,), language="eng", title="Audio Description", default=True),
        SoundSpec(beeps=(0.7,), language="fre", title="Director's commentary"),
        SoundSpec(beeps=(1.1,), language="ger"),
    ),
)


def _pieces(pieces: Iterable[tuple[int, int]]) -> list[float]:
    made = ((at, np.arange(at, at + n, dtype=np.float32)) for at, n in pieces)
    return np.concatenate([b.samples for b in _blocks(iter(made), 100, 10.0)]).tolist()


def test_channels_that_change_on_the_way_stay_those_it_began_with() -> None:
    def frames() -> Iterator[tuple[float, av.AudioFrame]]:
        for second, layout, channels in ((0.0, "stereo", 2), (1.0, "5.1", 6), (2.0, "stereo", 2)):
            samples = np.full((channels, 48000), 0.25, np.float32)
            frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout=layout)
            frame.sample_rate = 48000
            yield second, frame

    runs = Runs(48000, "native")
    pieces = [piece for second, frame in frames() for piece in runs.take(second, frame)]
    blocks = list(_blocks(iter([*pieces, *runs.flush()]), 48000, 3.0))
    assert [block.samples.shape for block in blocks] == [(48000, 2)] * 3
    assert all(np.abs(block.samples[1000:-1000]).min() > 0.1 for block in blocks)


# A stretch that was sought is that of a whole pass
Samples = npt.NDArray[np.float32]
BEEPS = tuple(np.cumsum(np.random.default_rng(3).uniform(0.15, 0.4, 86)).round(3).tolist())


def film_with(
    suffix: str, codec: str, rate: int = 48000, layout: str = "stereo", start: float = 0.0, **more: Any
) -> Film:
    """24 s of beeps at uneven times."""
    sound = SoundSpec(
        start, 24 - start, BEEPS, layout=layout, rate=rate, codec=codec, gap=more.pop("gap", None)
    )
    made = make_film(
        FilmSpec(suffix=suffix, rate=Fraction(10), frames=240, gop=25, size=(96, 56), sounds=(sound,), **more)
    )
    return open_film(made.path)


SOUGHT: dict[str, tuple[Any, ...]] = {
    "mp4 aac": (".mp4", "aac"),
    "mkv aac 44100 5.1": (".mkv", "aac", 44100, "5.1"),
    "avi mp2": (".avi", "mp2"),
    "mkv opus 5.1, late": (".mkv", "libopus", 48000, "5.1", 0.2),
    "ts aac 44100, late": (".ts", "aac", 44100, "stereo", 0.4),
    "mkv flac, a gap": (".mkv", "flac"),
    "mov pcm 44100, late": (".mov", "pcm_s16le", 44100, "stereo", 0.2),
}


def shift_of(found: Samples, wanted: Samples) -> int:
    """By how many samples a stretch stands off, by the best correlation of its first channel."""
    size = 2 * len(wanted)
    spectrum = np.fft.rfft(found[:, 0], size) * np.conj(np.fft.rfft(wanted[:, 0], size))
    at = int(np.fft.irfft(spectrum, size).argmax())
    return at if at < size // 2 else at - size


def whole(film: Film) -> Samples:
    return np.concatenate([block.samples for block in sound_blocks(film, 0, 48000, "native")])


@pytest.mark.parametrize("name", SOUGHT)
def test_what_is_sought_is_what_a_whole_pass_has(name: str) -> None:
    more = {"shift": 5.0 if "5.1" in name else 0.0, "gap": (12.0, 17.0) if "gap" in name else None}
    with film_with(*SOUGHT[name], **more) as film:
        full, seeker = whole(film), SoundSeeker(film, 0, 48000)
        for second in (3.0, 17.37, 20.111):
            first, end = round(second * 48000), round((second + 2.5) * 48000)
            found, wanted = seeker.between(first, end), full[first:end]
            assert found is not None
            off = shift_of(found, wanted)
            assert abs(off) <= 48, f"at {second}"  # Matroska counts in ms
            level, apart = wanted.std(), (np.roll(found, -off, 0) - wanted)[200:-200].std()
            assert apart < 0.1 * level, f"at {second}"


def test_beyond_ends_and_gaps_and_in_threads() -> None:
    with film_with(".mp4", "aac") as film:
        seeker = SoundSeeker(film, 0, 48000)
        assert seeker.between(50 * 48000, 51 * 48000) is None
        found = seeker.between(round(23.5 * 48000), round(25.5 * 48000))
        assert found is not None
        assert len(found) == 96000
        assert not found[round(0.6 * 48000) :].any()
        assert found[: round(0.4 * 48000)].any()
        # Several threads seek at once.
        firsts = [round(second * 48000) for second in (12.1, 20.2, 17.3, 8.4)]
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(lambda first: seeker.between(first, first + 4800), firsts))
        for first, part in zip(firsts, parts, strict=True):
            np.testing.assert_array_equal(part, seeker.between(first, first + 4800))
    # A long gap is silence.
    with film_with(".mkv", "flac", gap=(12.0, 17.0)) as film:
        silent = SoundSeeker(film, 0, 48000).between(round(13.5 * 48000), round(15.5 * 48000))
        assert silent is None or not silent.any()
    # A film without sound cannot be sought.
    with open_film(make_film().path) as film, pytest.raises(FilmError, match="no sound"):
        SoundSeeker(film, 0, 48000)


# Speech comes from the best source there is, and the sound is heard without being deceived
SHARED = Path(__file__).parents[3] / "shared" / "data"
LABELS = Path(__file__).parents[1] / "labels" / "speech.json"


def blocks(sound: Signal, size: int = RATE) -> Iterator[SoundBlock]:
    for at in range(0, len(sound), size):
        yield SoundBlock(at / RATE, sound[at : at + size])


def noise(seconds: float, level: float = 0.05) -> Signal:
    rng = np.random.default_rng(7)
    return (level * rng.standard_normal(round(seconds * RATE))).astype(np.float32)


@pytest.fixture
def simple_detector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_manifest(
        tmp_path,
        monkeypatch,
        {"silero-vad": ("voice activity", loud_is_speech(tmp_path / "loud.onnx"))},
    )


def said(start: float, end: float, text: str = "Hello.") -> Utterance:
    return Utterance(Interval(start, end), text)


def test_subtitles_are_cut_and_must_be_there_where_demanded() -> None:
    given_ = [said(-1, 1), said(18, 25), said(30, 32), Utterance(Interval(3, 4), "La", SpeechKind.LYRICS)]
    found = choose_speech(None, SpeechSettings(), subtitles=given_, duration=20)
    utterances = found.utterances
    assert [u.interval for u in utterances] == [Interval(0, 1), Interval(3, 4), Interval(18, 20)]
    assert utterances[1].kind is SpeechKind.LYRICS
    assert utterances[2].text == "Hello."
    assert "1 beyond" in found.detail
    # Subtitles that are demanded must be there.
    with pytest.raises(SubtitleError, match="there are none") as caught:
        choose_speech(None, SpeechSettings(source="subtitles"), subtitles=None, duration=9)
    assert "--subtitles" in caught.value.hint


@pytest.mark.usefixtures("simple_detector")
def test_the_sound_is_heard_where_it_is_if_so_set() -> None:
    for silent in (None, blocks(np.zeros(0, np.float32))):
        heard = None if silent is None else speech_in(silent, 20)
        assert heard is None
        found = choose_speech(heard, SpeechSettings(), subtitles=None, duration=20)
        assert (found.utterances, found.source) == ((), "none")
        assert "no sound" in found.detail
    sound = noise(20, 0.001)
    sound[5 * RATE : 6 * RATE] = noise(1, 0.2)
    heard = speech_in(blocks(sound), 20)
    assert heard is not None
    found = choose_speech(
        SoundSpeech(heard), SpeechSettings(source="sound"), subtitles=[said(1, 2)], duration=20
    )
    assert found.source == "sound"
    (heard_in,) = (utterance.interval for utterance in found.utterances)
    assert heard_in.start == pytest.approx(5 - LEAD, abs=2 * STEP)
    assert heard_in.end == pytest.approx(6, abs=2 * STEP)
    assert "1 stretches" in found.detail


def heard_in(*chances: float, **changes: float) -> list[tuple[int, int]]:
    """The stretches, in windows."""
    chosen = {"bridge": 0, "shortest": 0, "lead": 0, **changes}
    found = speech_intervals(np.array(chances, np.float32), 1e4, **chosen)
    return [(round(i.start / STEP), round(i.end / STEP)) for i in found]


def test_stretches_and_views_do_not_depend_on_blocks() -> None:
    assert heard_in(0, 0.3, 0.3, 0.9, 0.3, 0.1, 0, threshold=0.5, release=0.2) == [(1, 5)]
    assert heard_in(0, 0.3, 0.4, 0.3, 0, threshold=0.5, release=0.2) == []
    # Views do not depend on the blocks and leave the sound alone.
    sound = noise(7.3)
    before = sound.copy()
    whole = levelled(sound, len(sound))
    assert np.array_equal(whole, levelled(sound, 777))
    assert np.array_equal(sound, before)
    assert whole.shape[1] == -(-len(sound) // WINDOW) * WINDOW
    # Both have their level however loud the film.
    for level in (0.05, 0.8):
        views = levelled(noise(8, level))
        assert views.shape == (2, 8 * RATE)
        assert np.sqrt(np.mean(views**2, axis=1)) == pytest.approx(LEVELS, rel=0.02)


@given(st.lists(st.floats(0, 1, width=32), max_size=80), st.floats(0.1, 3))
def test_stretches_are_sorted_apart_long_enough_and_inside(chances: list[float], duration: float) -> None:
    found = speech_intervals(np.array(chances, np.float32), duration, bridge=0.1, shortest=0.1)
    assert join_intervals(found, 0.1 - 1e-9) == found
    assert all(piece.start >= 0 and piece.end <= duration for piece in found)
    assert all(piece.duration >= 0.1 - 1e-9 for piece in found if piece.end < duration)


def levelled(sound: Signal, size: int = RATE) -> Signal:
    leveller = Leveller()
    pieces = [leveller.feed(sound[at : at + size]) for at in range(0, len(sound), size)]
    return np.concatenate([*pieces, leveller.finish()], axis=1)


@pytest.mark.slow
def test_noise_hum_and_silence_are_no_speech() -> None:
    time = np.arange(5 * RATE) / RATE
    hum = (0.1 * np.sin(2 * np.pi * 220 * time)).astype(np.float32)
    for sound in (noise(5), hum, np.zeros(5 * RATE, np.float32)):
        assert speech_in(blocks(sound), 5) == ()


CLIPS = json.loads(LABELS.read_text(encoding="utf-8"))["clips"]


@pytest.mark.slow
@pytest.mark.parametrize("name", CLIPS)
def test_supplied_clips(name: str) -> None:
    """No more than a word is missed; false speech is what the benchmark's notes explain, and no more."""
    path = SHARED / name
    if not path.exists():
        pytest.skip("the supplied clips are not beside the repository")
    label = CLIPS[name]
    with open_film(path) as film:
        found = detect_speech(film)
    assert found is not None
    margin, heard_in = SpeechSettings().margin, found.intervals
    kept = join_intervals(Interval(one.start - margin, one.end + margin) for one in heard_in)
    spoken = [Interval(*pair) for pair in label["speech"]]
    for line in spoken:
        covered = sum(shared.duration for piece in kept if (shared := piece.clip(line)))
        assert line.duration - covered < 0.2
    known = [Interval(a - 0.75, b + 0.75) for a, b in label["speech"] + label["voiced"]]
    assert sum(one.duration for one in heard_in if not any(one.overlaps(k) for k in known)) < 0.75


def sounding_film(path: Path, *tracks: Samples) -> Path:
    """A film with a small grey picture and tracks of lossless sound at 16 kHz, ``float32[n, channels]``."""
    layouts = {1: "mono", 2: "stereo", 6: "5.1"}
    with av.open(str(path), "w") as container:
        picture = container.add_stream("mpeg4", rate=10)
        picture.width, picture.height, picture.pix_fmt = 96, 56, "yuv420p"
        streams = []
        for number, samples in enumerate(tracks):
            stream = container.add_stream("flac", rate=RATE, layout=layouts[samples.shape[1]])
            stream.disposition = Disposition.default if number == 0 else Disposition(0)
            streams.append(stream)
        for number in range(round(10 * len(tracks[0]) / RATE)):
            frame = av.VideoFrame.from_ndarray(np.full((56, 96, 3), 99, np.uint8), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 10)
            container.mux(picture.encode(frame))
        container.mux(picture.encode(None))
        for stream, samples in zip(streams, tracks, strict=True):
            woven = np.ascontiguousarray(np.clip(samples * 32767, -32768, 32767).astype(np.int16))
            for at in range(0, len(woven), 4096):
                part = woven[at : at + 4096]
                frame = av.AudioFrame.from_ndarray(part.reshape(1, -1), "s16", stream.layout.name)
                frame.sample_rate, frame.pts, frame.time_base = RATE, at, Fraction(1, RATE)
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
    return path


def syllables(seconds: float, seed: int = 3) -> Samples:
    """``float32[n]``: noise without high notes that comes and goes three times a second, as speech does."""
    time = np.arange(round(seconds * RATE)) / RATE
    noise_ = np.convolve(np.random.default_rng(seed).standard_normal(len(time)), np.ones(8) / 3, "same")
    return (0.2 * np.sin(np.pi * 3 * time) ** 2 * noise_).astype(np.float32)


def mono_of(path: Path, check: DownmixCheck | None = None) -> Samples:
    with open_film(path) as film:
        return np.concatenate([block.samples for block in sound_blocks(film, check=check)])


def cancelled_sounds(voice: Samples) -> dict[str, Samples]:
    """Sounds in which the channels cancel each other where ``voice`` is, all the time or for a part."""
    ambience = 0.05 * np.random.default_rng(5).standard_normal((len(voice), 2)).astype(np.float32)
    later = np.roll(voice, 1)
    part = np.where(np.arange(len(voice)) < len(voice) // 2, 1, -1).astype(np.float32) * voice
    silence = np.zeros_like(voice)
    return {
        "inverted": np.stack([voice, -voice], 1) + ambience,
        "inverted and later": np.stack([voice, -later], 1) + ambience,
        "nearly inverted": np.stack([voice, -0.9 * voice], 1) + ambience,
        "half inverted": np.stack([voice, part], 1) + ambience,
        "5.1": np.stack([0.7 * voice, 0.7 * voice, -0.42 * voice, silence, silence, silence], 1),
    }


@pytest.mark.parametrize("name", cancelled_sounds(np.zeros(1, np.float32)))
def test_channels_do_not_cancel_each_other_in_mono(name: str, tmp_path: Path) -> None:
    voice = syllables(12)
    check = DownmixCheck()
    path = sounding_film(tmp_path / "a.mkv", cancelled_sounds(voice)[name])
    mono = mono_of(path, check)
    for first in range(RATE, 11 * RATE, RATE):
        piece, wanted = mono[first : first + RATE], voice[first : first + RATE]
        alike = abs(float(np.corrcoef(piece, wanted)[0, 1]))
        # Where the sign changes, one of two halves may be turned round.
        assert alike > 0.6 or (name == "half inverted" and first == 5 * RATE), first
        assert piece.std() > 0.5 * wanted.std(), first
    assert check.is_inverted
    # What is sought has the same samples.
    with open_film(path) as film:
        seeker = SoundSeeker(film, 0, RATE, "mono")
        for first in (round(5.7 * RATE), round(7.03 * RATE)):
            found = seeker.between(first, first + 2 * RATE)
            np.testing.assert_array_equal(found, mono[first : first + 2 * RATE])


def test_channels_that_go_together_are_mixed_as_ever(tmp_path: Path) -> None:
    voice, rng = syllables(8), np.random.default_rng(6)
    ambience = (0.05 * rng.standard_normal((len(voice), 2))).astype(np.float32)
    sounds = {
        "centre": np.stack([voice, voice], 1) + ambience,
        "left": np.stack([voice, np.zeros_like(voice)], 1),
        "wide": np.stack([voice, syllables(8, seed=4)], 1),
        "surround": np.stack([voice * gain for gain in (0.3, 0.3, 1, 0.2, 0.1, 0.1)], 1),
    }
    for name, samples in sounds.items():
        check = DownmixCheck()
        path = sounding_film(tmp_path / f"{name}.mkv", samples)
        weights = np.array([0.3, 0.3, 1, 0, 0.1, 0.1]) if name == "surround" else np.array([0.5, 0.5])
        np.testing.assert_allclose(mono_of(path, check), samples @ weights, atol=1e-4)
        assert not check.is_inverted
        assert check.is_two_programmes == (name == "wide")


SPOKEN = Path(__file__).parents[1] / "sample" / "sample.mp4"


@pytest.mark.slow
def test_speech_is_heard_whatever_the_channels_do(tmp_path: Path) -> None:
    with open_film(SPOKEN) as film:
        voice = np.concatenate([block.samples for block in sound_blocks(film)])[: 16 * RATE]
    rng = np.random.default_rng(8)
    loud = (0.2 * rng.standard_normal(len(voice))).astype(np.float32)
    sounds: dict[str, tuple[Samples, ...]] = {name: (one,) for name, one in cancelled_sounds(voice).items()}
    sounds["inverted, a millisecond later"] = (np.stack([voice, -np.roll(voice, RATE // 1000)], 1),)
    sounds["noise on one side"] = (np.stack([loud, voice], 1),)
    sounds["a silent first track"] = (np.zeros((len(voice), 2), np.float32), voice[:, None])
    notes = {
        "inverted, a millisecond later": "nothing in common",
        "noise on one side": "nothing in common",
        "a silent first track": "track 0 is silent",
    }
    for name, tracks in sounds.items():
        with open_film(sounding_film(tmp_path / f"{name}.mkv", *tracks)) as film:
            found = detect_speech(film)
        assert found is not None
        kept = join_intervals(Interval(piece.start - 0.25, piece.end + 0.25) for piece in found.intervals)
        for line in (Interval(4.75, 7.9), Interval(9.8, 12.1)):
            covered = sum(shared.duration for piece in kept if (shared := piece.clip(line)))
            assert line.duration - covered < 0.4, name
        assert notes.get(name, "cancel each other") in " ".join(found.notes), name
