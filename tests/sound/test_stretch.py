"""Time-stretching: exact lengths, the pitch as it was, clean ends, nothing changed in place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from shotad.film import Samples
from shotad.sound import Take
from shotad.sound.takes import stretched, to_length

RATE = 16000


def voice(seconds: float, pitch: float = 120.0, glide: float = 0.1) -> Samples:
    """Something like a vowel that glides and swells."""
    t = np.arange(int(seconds * RATE)) / RATE
    phase = 2 * np.pi * np.cumsum(pitch * (1 + glide * np.sin(2 * np.pi * 1.5 * t))) / RATE
    tone = sum(np.sin(k * phase) / k for k in range(1, 12))
    swell = 0.5 - 0.5 * np.cos(2 * np.pi * 3 * t)
    return (0.2 * tone * swell).astype(np.float32)


def stretch(samples: Samples, rate: int, factor: float) -> Samples:
    return stretched(samples, rate, max(1, round(samples.size / factor)))


def pitches(samples: Samples) -> float:
    """Median pitch in Hz, by autocorrelation."""
    size, found = RATE // 20, []
    for at in range(0, samples.size - 2 * size, size // 2):
        piece = samples[at : at + 2 * size].astype(np.float64)
        if np.mean(piece**2) < 1e-3:
            continue
        spectrum = np.abs(np.fft.rfft(piece * np.hanning(2 * size), 4 * size)) ** 2
        likeness = np.fft.irfft(spectrum)[:size]
        low, high = RATE // 300, RATE // 60
        found.append(RATE / (low + int(np.argmax(likeness[low:high]))))
    return float(np.median(found))


@given(st.integers(1, 6000), st.floats(0.7, 1.5), st.sampled_from([8000, 16000, 22050, 24000, 48000]))
@settings(max_examples=60, deadline=None)
def test_the_length_is_exact(number: int, factor: float, rate: int) -> None:
    samples = np.random.default_rng(number).uniform(-0.5, 0.5, number).astype(np.float32)
    before = samples.copy()
    made = stretch(samples, rate, factor)
    assert abs(made.size - number / factor) <= max(1, rate // 1000)
    assert made.dtype == np.float32
    assert np.all(np.isfinite(made))
    assert np.abs(made).max() <= np.abs(samples).max() * 1.001
    assert np.array_equal(samples, before)
    assert np.array_equal(made, stretch(samples, rate, factor))


@pytest.mark.parametrize("factor", [1.05, 1.15, 1.3, 0.9])
@pytest.mark.parametrize("pitch", [90.0, 120.0, 210.0])
def test_the_pitch_stays(factor: float, pitch: float) -> None:
    samples = voice(2.0, pitch, glide=0.0)
    assert pitches(stretch(samples, RATE, factor)) == pytest.approx(pitches(samples), rel=0.01)


@pytest.mark.parametrize("factor", [1.03, 1.15, 1.4])
def test_the_ends_are_those_of_the_original_and_nothing_clicks(factor: float) -> None:
    samples = voice(2.0)
    made = stretch(samples, RATE, factor)
    assert made[:20] == pytest.approx(samples[:20], abs=1e-3)
    assert made[-20:] == pytest.approx(samples[-20:], abs=1e-3)
    assert np.abs(np.diff(made)).max() <= np.abs(np.diff(samples)).max() * 1.1


def test_a_take_of_a_length_is_never_longer() -> None:
    take = Take(voice(1.0), RATE, "fake:one", "He walks.", 1.0)
    made = to_length(take, 0.9)
    assert made.samples.size == 14400
    assert made.speed == pytest.approx(1.0 / 0.9, rel=1e-3)
    assert to_length(take, 0.90009).seconds <= 0.90009
    assert to_length(take, take.seconds) is take
    with pytest.raises(ValueError, match="one sample"):
        to_length(take, 0.0)
