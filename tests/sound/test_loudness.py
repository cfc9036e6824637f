"""Loudness against the signals of EBU Tech 3341 and 3342 (made here), and against a second implementation."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.sound.loudness import OVERSHOOT, TruePeak, measure
from tests.sound.tones import Samples, along, blocks, noise, sine


def steps(*parts: tuple[float, float], rate: int = 48000) -> Samples:
    """A tone of 1 kHz in both channels, at the levels (dBFS) and for the seconds given."""
    tone = np.concatenate([sine(1000, level, seconds, rate) for level, seconds in parts])
    return np.stack([tone, tone], axis=1)


def integrated(samples: Samples, layout: str = "stereo", rate: int = 48000) -> float:
    found = measure(blocks(samples, rate), layout, rate).integrated
    assert found is not None
    return found


@pytest.mark.parametrize(("parts", "expected"), [
    ([(-23, 20)], -23),
    ([(-33, 20)], -33),
    ([(-36, 10), (-23, 60), (-36, 10)], -23),
    ([(-72, 10), (-36, 10), (-23, 60), (-36, 10), (-72, 10)], -23),
    ([(-26, 20), (-20, 20.1), (-26, 20)], -23),
])  # fmt: skip
def test_integrated_of_tech_3341(parts: list[tuple[float, float]], expected: float) -> None:
    assert integrated(steps(*parts)) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("layout", ["5.0", "5.0(side)"])
def test_surround_of_tech_3341(layout: str) -> None:
    levels = (-28, -28, -24, -30, -30)
    tone = np.stack([sine(1000, level, 20) for level in levels], axis=1)
    assert integrated(tone, layout) == pytest.approx(-23, abs=0.1)


@pytest.mark.parametrize("layout", ["5.1", "5.1(side)"])
def test_bass_effects_do_not_count_and_surrounds_count_more(layout: str) -> None:
    silence = np.zeros((48000 * 5, 6), np.float32)
    heard = []
    for channel in range(6):
        one = silence.copy()
        one[:, channel] = sine(1000, -20, 5)
        heard.append(measure(blocks(one), layout, 48000).integrated)
    front, bass, surround = heard[:3], heard[3], heard[4:]
    assert bass is None
    assert front == pytest.approx([-23.0] * 3, abs=0.05)
    assert surround == pytest.approx([-21.5] * 2, abs=0.05)


@pytest.mark.parametrize(("parts", "expected"), [
    ([(-20, 20), (-30, 20)], 10),
    ([(-20, 20), (-15, 20)], 5),
    ([(-40, 20), (-20, 20)], 20),
    ([(-50, 20), (-35, 20), (-20, 20), (-35, 20), (-50, 20)], 15),
])  # fmt: skip
def test_range_of_tech_3342(parts: list[tuple[float, float]], expected: float) -> None:
    assert measure(blocks(steps(*parts)), "stereo", 48000).range == pytest.approx(expected, abs=1)


@pytest.mark.parametrize(
    ("divisor", "degrees", "peak_db", "expected"),
    [(4, 0, -6.0206, -6), (4, 45, -6.0206, -6), (6, 60, -6.0206, -6), (8, 67.5, -6.0206, -6), (4, 45, 2.98, 3)],
)  # fmt: skip
def test_true_peak_of_tech_3341(divisor: int, degrees: float, peak_db: float, expected: float) -> None:
    tone = sine(48000 / divisor, peak_db, 2, phase=np.radians(degrees))
    ramp = np.clip(np.minimum(np.arange(len(tone)), np.arange(len(tone))[::-1]) / 2400, 0, 1)
    found = measure(blocks((tone * ramp).astype(np.float32)), "mono", 48000).true_peak
    assert found is not None
    assert expected - 0.4 <= found <= expected + 0.2


def test_true_peak_is_found_across_blocks_and_at_both_ends() -> None:
    sound = noise(2, 1, channels=2) * np.float32(0.1)
    together = TruePeak()
    together.add(sound)
    for loud in (0, 47999, 48000, 95999):
        marked = sound.copy()
        marked[loud] = 0.9
        bits, one = TruePeak(), TruePeak()
        one.add(marked)
        for at in range(0, len(marked), 777):
            bits.add(marked[at : at + 777])
        assert bits.decibels == pytest.approx(one.decibels, abs=1e-4)
        found = one.decibels
        assert found is not None
        assert found >= 20 * np.log10(0.9) - 1e-4
    assert OVERSHOOT > 2


def test_silence_and_too_little_have_no_figures() -> None:
    found = measure(blocks(np.zeros((96000, 2), np.float32)), "stereo", 48000)
    assert (found.integrated, found.true_peak, found.momentary, found.short_term) == (None,) * 4
    assert measure([], "stereo", 48000).integrated is None
    assert measure(blocks(sine(1000, -20, 0.3)), "mono", 48000).integrated is None
    sound = np.concatenate([noise(1, 2)[:, 0] * np.float32(0.1), np.zeros(96000, np.float32)])
    momentary = along(blocks(sound), "mono", 48000).momentary
    assert not np.isnan(momentary).any()
    assert np.all(momentary[15:] < -60)


@pytest.mark.parametrize(("layout", "channels"), [("mono", 1), ("5.1", 6)])
def test_a_second_implementation_agrees(layout: str, channels: int) -> None:
    """pyloudnorm wants L R C Ls Rs, so bass effects are left out by hand."""
    pyloudnorm = pytest.importorskip("pyloudnorm")
    swell = 0.02 + 0.2 * np.abs(np.sin(np.arange(48000 * 12) / 48000 / 2))[:, None]
    sound = (noise(12, 4, channels=channels) * swell * (0.4 + np.arange(channels))).astype(np.float32)
    counted = sound[:, [0, 1, 2, 4, 5]] if channels == 6 else sound
    wanted = pyloudnorm.Meter(48000).integrated_loudness(counted.astype(np.float64))
    assert integrated(sound, layout) == pytest.approx(wanted, abs=0.1)
