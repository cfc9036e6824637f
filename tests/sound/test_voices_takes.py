"""What becomes of a voice's sound before it is a take."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.core import VoiceError
from shotad.sound.takes import cleaned, decoded
from tests.speech_server import tone, wav

RATE = 24000


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE))


def test_silence_around_is_cut_to_a_breath_and_pauses_within_stay() -> None:
    sound = np.concatenate([silence(0.7), tone(0.3), silence(0.5), tone(0.2), silence(1.0)])
    take = cleaned(sound, RATE, "x")
    assert take.dtype == np.float32
    assert 1.0 <= take.size / RATE <= 1.03
    loud = np.flatnonzero(np.abs(take) > 0.05)
    assert loud[0] / RATE <= 0.012
    assert take.size - loud[-1] <= 0.025 * RATE


def test_a_consonant_far_softer_than_the_vowels_is_not_cut_off() -> None:
    generator = np.random.default_rng(1)
    hiss = generator.standard_normal(round(0.1 * RATE)) * 0.5 * 10 ** (-46 / 20)
    take = cleaned(np.concatenate([silence(0.4), hiss, tone(0.3), hiss, silence(0.4)]), RATE, "x")
    assert take.size / RATE == pytest.approx(0.5, abs=0.03)


def test_the_noise_of_a_voice_is_silence_too() -> None:
    generator = np.random.default_rng(1)
    noise = generator.standard_normal(2 * RATE) * 0.5 * 10 ** (-60 / 20)
    noise[RATE : RATE + 7200] += tone(0.3)
    assert cleaned(noise, RATE, "x").size / RATE == pytest.approx(0.32, abs=0.03)


def test_an_offset_is_taken_away_and_the_caller_s_samples_stay() -> None:
    sound = tone(0.5) * 0.5 + 0.2
    before = sound.copy()
    assert abs(float(cleaned(sound, RATE, "x").mean())) < 1e-3
    assert np.array_equal(sound, before)


def test_the_peak_stays_below_full_scale_and_softer_sound_as_it_is() -> None:
    assert float(np.abs(cleaned(tone(0.5) * 4, RATE, "x")).max()) <= 0.9801
    assert float(np.abs(cleaned(tone(0.5), RATE, "x")).max()) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("sound", [np.zeros(0), silence(1.0), np.full(100, np.nan), np.full(RATE, 0.3)])
def test_sound_without_a_sound_is_a_clear_error(sound: np.ndarray) -> None:
    with pytest.raises(VoiceError, match="The voice x gave"):
        cleaned(sound, RATE, "x")


def test_a_voice_that_does_not_end_is_a_clear_error() -> None:
    with pytest.raises(VoiceError, match="without an end"):
        cleaned(np.ones(700 * 100), 100, "x")


def test_files_are_read_at_their_own_rate_with_whatever_length_in_their_head() -> None:
    for streamed in (False, True):
        samples, rate = decoded(wav(tone(0.5, 22050), 22050, streamed=streamed), "x")
        assert (rate, samples.size, samples.dtype) == (22050, 11025, np.float32)
        assert np.allclose(samples, tone(0.5, 22050), atol=1e-4)


@pytest.mark.parametrize("data", [b"", b"RIFF", b"hello", wav(tone(0.0))])
def test_files_that_are_none_are_clear_errors(data: bytes) -> None:
    with pytest.raises(VoiceError, match="The voice x gave"):
        decoded(data, "x")
