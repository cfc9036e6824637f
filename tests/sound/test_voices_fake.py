"""The voice for tests."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.core import VoiceError
from shotad.sound.fake_voice import FakeVoice, syllables

TEXT = "A woman climbs the snowy ridge, leaning on a spear."


def test_it_says_the_same_the_same_way_and_another_text_otherwise() -> None:
    one, again, other = (FakeVoice().speak(text) for text in (TEXT, TEXT, TEXT[::-1]))
    assert np.array_equal(one.samples, again.samples)
    size = min(one.samples.size, other.samples.size)
    alike = np.corrcoef(one.samples[:size], other.samples[:size])[0, 1]
    assert abs(alike) < 0.1


def test_a_line_is_found_in_a_mix_to_the_sample() -> None:
    take = FakeVoice().speak(TEXT)
    mix = np.random.default_rng(0).standard_normal(take.samples.size + 9000) * 0.05
    mix[4321 : 4321 + take.samples.size] += take.samples
    assert int(np.argmax(np.correlate(mix, take.samples[:6000].astype(float), "valid"))) == 4321


def test_it_is_as_long_as_its_syllables_and_as_fast_as_is_asked() -> None:
    short, long = FakeVoice().speak("A cat."), FakeVoice().speak("A cat sat on a mat and slept.")
    assert 2.2 < long.seconds / short.seconds < 5
    assert FakeVoice().speak(TEXT, 1.25).seconds == pytest.approx(
        FakeVoice().speak(TEXT).seconds / 1.25, rel=0.02
    )
    words = "She walks to the door and looks out. " * 20
    rate = 60 * len(words.split()) / FakeVoice().speak(words).seconds
    assert 130 < rate < 220


def test_it_begins_at_once_and_is_heard_in_the_band_of_speech() -> None:
    take = FakeVoice().speak(TEXT)
    assert np.flatnonzero(np.abs(take.samples) > 0.01)[0] < 0.012 * take.rate
    power = np.abs(np.fft.rfft(take.samples)) ** 2
    hertz = np.fft.rfftfreq(take.samples.size, 1 / take.rate)
    assert power[(hertz > 150) & (hertz < 4200)].sum() > 0.98 * power.sum()


def test_a_text_without_a_word_is_no_line() -> None:
    with pytest.raises(VoiceError):
        FakeVoice().speak(" … ")


def test_syllables_are_counted_roughly_but_never_none() -> None:
    assert [syllables(word) for word in ("cat", "spoken", "hmm", "42", "Müller")] == [1, 2, 1, 2, 2]
