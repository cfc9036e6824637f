"""Recordings of lines as microphones give them: cut to the voice, checked, and kept by line and words."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from shotad.core import Interval
from shotad.core.errors import SoundError
from shotad.script import Cue
from shotad.sound.programme import RATE
from shotad.sound.recordings import (
    MAX_RECORDING_SECONDS,
    keep_recording,
    read_recording,
    recording_file,
    with_recording,
)
from shotad.sound.takes import wav
from tests.sound.tones import Samples, noise

QUIET = 10 ** (-66 / 20)


def spoken(seconds: float = 2.0, level_db: float = -20.0, rate: int = RATE) -> Samples:
    """``float32[n]``: something like a voice, between a second of a quiet room at both sides."""
    voice = noise(seconds, seed=3, rate=rate)[:, 0] * 10 ** (level_db / 20)
    room = noise(seconds + 2, seed=4, rate=rate)[:, 0] * QUIET
    room[rate : rate + len(voice)] += voice
    return room.astype(np.float32)


def coded(samples: Samples, form: str, codec: str, rate: int = RATE, layout: str = "mono") -> bytes:
    """A sound as a browser's recorder gives it."""
    file = io.BytesIO()
    with av.open(file, "w", format=form) as container:
        stream: Any = container.add_stream(codec, rate=rate, layout=layout)
        stream.codec_context.time_base = Fraction(1, rate)
        channels = 1 if layout == "mono" else 2
        woven = np.repeat(samples[:, None], channels, axis=1).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(woven), "flt", layout)
        frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
        resampler = av.AudioResampler(stream.codec_context.format, layout, rate, stream.frame_size or None)
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return file.getvalue()


@pytest.mark.parametrize(
    ("form", "codec", "layout"),
    [
        ("webm", "libopus", "mono"),
        ("ogg", "libopus", "stereo"),
        ("mp4", "aac", "mono"),
        ("flac", "flac", "mono"),
    ],
)
def test_what_browsers_record_is_read_and_cut_to_the_voice(form: str, codec: str, layout: str) -> None:
    sound = read_recording(coded(spoken(), form, codec, layout=layout))
    # The voice with 50 ms before it and 120 ms after it.
    assert sound.seconds == pytest.approx(2.17, abs=0.04)
    assert (sound.samples.dtype, sound.warnings) == (np.float32, ())
    assert np.abs(sound.samples).max() == pytest.approx(0.9)


def test_a_wav_of_another_rate_in_stereo_becomes_mono_at_the_rate_of_films() -> None:
    samples = spoken(rate=44100)
    sound = read_recording(wav(np.stack([samples, samples], axis=1), 44100))
    assert sound.seconds == pytest.approx(2.17, abs=0.03)


def test_a_click_of_the_mouse_before_and_after_is_cut_off() -> None:
    samples = spoken()
    samples[4800:4900] = samples[-4900:-4800] = 0.8
    assert read_recording(wav(samples, RATE)).seconds == pytest.approx(2.17, abs=0.03)


def test_a_voice_that_begins_at_once_is_kept_whole() -> None:
    samples = spoken()[RATE : 3 * RATE]
    sound = read_recording(wav(samples, RATE))
    assert (sound.seconds, sound.warnings) == (pytest.approx(2.0, abs=0.02), ())


def test_what_can_be_heard_to_be_wrong_is_told() -> None:
    (loud,) = read_recording(wav(spoken(level_db=6), RATE)).warnings
    assert loud.startswith("The recording is too loud, and distorted in ")
    soft, _ = read_recording(wav(spoken(level_db=-52), RATE)).warnings
    assert soft.startswith("The recording is very soft (-5")
    noisy = spoken() + noise(4, seed=9)[:, 0] * np.float32(10 ** (-34 / 20))
    assert read_recording(wav(noisy, RATE)).warnings == (
        "There is much noise behind the voice. Record it in a quieter place.",
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (wav(np.zeros(RATE, np.float32), RATE), "Nothing can be heard"),
        (wav(spoken(0.02)[RATE - 500 : RATE + 1500], RATE), "only a click"),
        (b"#EXTM3U\nfile:///etc/passwd\n", "no sound file that is known"),
        (b"RIFF\0\0\0\0WAVE", "recording"),
        (b"\x1aE\xdf\xa3 nothing", "cannot be read"),
        (b"", "no sound file that is known"),
        (wav(noise(MAX_RECORDING_SECONDS + 1, 1, 8000)[:, 0] / 4, 8000), "lasts more than 120 s"),
    ],
    ids=["silence", "click", "playlist", "empty WAV", "broken", "nothing", "endless"],
)
def test_what_is_no_recording_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(SoundError, match=message):
        read_recording(data)


def test_a_recording_is_kept_by_line_and_words_and_another_text_makes_it_outdated(tmp_path: Path) -> None:
    cue = Cue("s00010000", None, Interval(10.0, 12.0), "She runs.")
    kept = keep_recording(tmp_path, cue, read_recording(wav(spoken(), RATE)))
    assert kept.file.startswith("s00010000-")
    assert recording_file(tmp_path, kept) == tmp_path / "voice" / "own" / kept.file
    recorded = with_recording(cue, kept, "review")
    assert recorded.recording == kept
    assert recorded.spoken_length == kept.seconds
    # Signs and capitals are not heard.
    assert with_recording(Cue(cue.id, None, cue.interval, "she runs!"), kept, "review").recording == kept
    other = with_recording(Cue(cue.id, None, cue.interval, "He runs."), kept, "review")
    assert (other.recording, other.stored_recording) == (None, kept)
    assert with_recording(recorded, None, "review").edited is None
    (tmp_path / "voice" / "own" / kept.file).write_bytes(b"no sound")
    assert recording_file(tmp_path, kept) is None
