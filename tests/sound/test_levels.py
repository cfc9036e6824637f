"""Levels: the programme's under lines from times alone, channels, takes and limiter by themselves, and loudness against
the signals of EBU Tech 3341 and 3342 (made here) and a second implementation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval
from shotad.film import SoundBlock
from shotad.sound import Spoken, Take
from shotad.sound.levels import LEAST, PROFILES, envelope, gain_at, target_of
from shotad.sound.loudness import ATTACK, RELEASE, Limiter, TruePeak, limited
from shotad.sound.mix import FADE_IN, FADE_OUT, Playing, place
from shotad.sound.programme import channel_names, layout_name, voice_gains
from tests.sound.tones import Samples, along, blocks, measure, noise, sine, whole


def shape(
    lines: list[tuple[float, float]],
    speech: Sequence[tuple[float, float]] = (),
    depths: list[float] | None = None,
) -> list[tuple[float, float]]:
    spoken = [Interval(*line) for line in lines]
    points = envelope(spoken, [Interval(*s) for s in speech], depths or [9.0] * len(lines))
    return [(round(p.seconds, 6), round(p.decibels, 6)) for p in points]


NEAR = [(4.7, 0), (5, -9)]


@pytest.mark.parametrize(("lines", "speech", "points"), [
    ([], [(1, 2)], []),
    # It falls before a line and rises after it; at the film's start it begins on the ramp.
    ([(5, 7)], [], [*NEAR, (7, -9), (7.4, 0)]),
    ([(0.1, 1)], [], [(0, -6), (0.1, -9), (1, -9), (1.4, 0)]),
    ([(0, 1)], [], [(0, -9), (1, -9), (1.4, 0)]),
    # Between near lines it stays low, but for somebody who speaks there; further apart it comes back.
    ([(5, 6), (7.4, 8)], [], [*NEAR, (8, -9), (8.4, 0)]),
    ([(5, 6), (7, 8)], [(6.4, 6.6)], [*NEAR, (6, -9), (6.4, 0), (6.7, 0), (7, -9), (8, -9), (8.4, 0)]),
    ([(5, 6), (7.6, 8)], [], [*NEAR, (6, -9), (6.4, 0), (7.3, 0), (7.6, -9), (8, -9), (8.4, 0)]),
    # Beside speech the ramps get steeper; touching it, the least ramp reaches into the line.
    ([(5, 7)], [(3, 4.9), (7.1, 8)], [(4.9, 0), (5, -9), (7, -9), (7.1, 0)]),
    ([(5, 7)], [(3, 5), (7, 8)], [(5, 0), (5 + LEAST, -9), (7 - LEAST, -9), (7, 0)]),
    # In a gap too short for two ramps it gets less deep, and a dip too small to help is left out.
    ([(5, 5.1)], [(3, 5), (5.05, 8)], [(5, 0), (5.025, -4.5), (5.05, 0)]),
    ([(5, 5.1)], [(3, 5), (5.005, 8)], []),
    # Speech within a line is not lowered, a line under speech lowers nothing.
    ([(5, 8)], [(6, 7)], [*NEAR, (6 - LEAST, -9), (6, 0), (7, 0), (7 + LEAST, -9), (8, -9), (8.4, 0)]),
    ([(5, 6)], [(4, 7)], []),
])  # fmt: skip
def test_the_level_around_lines(lines, speech, points):
    assert shape(lines, speech) == points


SPANS = st.lists(st.tuples(st.integers(0, 600), st.integers(1, 60)), max_size=8)


@given(SPANS, SPANS)
def test_speech_is_never_lowered(lines: list[tuple[int, int]], speech: list[tuple[int, int]]) -> None:
    at, spoken = 0.0, []
    for gap, length in lines:
        spoken.append(Interval(at + gap / 200, at + gap / 200 + length / 20))
        at = spoken[-1].end
    heard = [Interval(start / 20, (start + length) / 20) for start, length in speech]
    points = envelope(spoken, heard, [9.0] * len(spoken))
    assert all(one.seconds < two.seconds for one, two in pairwise(points))
    assert all(-9 - 1e-9 <= point.decibels <= 0 for point in points)
    for one in heard:
        inside = np.linspace(one.start, one.end, 50, endpoint=False)
        assert np.allclose(gain_at(points, inside), 1, atol=1e-4)


@pytest.mark.parametrize("layout", ["mono", "stereo", "2.1", "3.0", "quad", "5.1", "5.1(side)", "6.1", "7.1"])
@pytest.mark.parametrize("where", ["auto", "centre", "front", "all"])
def test_the_voice_is_as_loud_in_every_layout(layout: str, where: str) -> None:
    voice = noise(3, 7)[:, 0] * np.float32(0.05)
    alone = measure(blocks(voice), "mono", 48000).integrated
    gains = voice_gains(channel_names(layout), where)  # type: ignore[arg-type]
    assert measure(blocks(voice[:, None] * gains), layout, 48000).integrated == pytest.approx(alone, abs=0.1)


def test_where_the_voice_is_heard() -> None:
    side = channel_names("5.1(side)")
    assert voice_gains(side, "auto").tolist() == [0, 0, 1, 0, 0, 0]
    assert np.flatnonzero(voice_gains(side, "front")).tolist() == [0, 1, 2]
    assert np.flatnonzero(voice_gains(side, "all")).tolist() == [0, 1, 2, 4, 5]
    assert voice_gains(("FL", "FR"), "centre") == pytest.approx([0.7071, 0.7071], abs=1e-4)
    assert np.flatnonzero(voice_gains(channel_names("quad"), "auto")).tolist() == [0, 1]


@pytest.mark.parametrize(("name", "channels", "layout"), [
    ("5.1(side)", 6, "5.1(side)"), ("6 channels", 6, "5.1"), ("stereo", 6, "5.1"), ("unknown", 2, "stereo"),
    ("binaural", 2, "stereo"), ("16 channels", 16, None),
])  # fmt: skip
def test_names_of_layouts(name: str, channels: int, layout: str | None) -> None:
    assert layout_name(name, channels) == layout


def test_takes_come_up_and_go_within_milliseconds() -> None:
    spoken = Spoken("a", "a", 1.0, Take(np.ones(48000, np.float32), 48000))
    placed = place(spoken, 480000, 1.0)
    assert placed is not None
    heard = Playing([placed]).between(0, 144000)
    assert heard is not None
    begin, end = round(FADE_IN * 48000), round(FADE_OUT * 48000)
    assert not heard[:48000].any()
    assert np.all(np.diff(heard[48000 : 48000 + begin]) > 0)
    assert np.all(heard[48000 + begin : 96000 - end] == 1)
    assert np.all(np.diff(heard[96000 - end : 96000]) < 0)
    assert np.abs(np.diff(heard)).max() < 0.02
    assert not heard[96000:].any()


def run(sound: Samples, limit: float, size: int = 48000) -> Samples:
    return whole(limited(blocks(sound, size), Limiter(limit)))


def test_the_limiter_shifts_nothing_and_only_moves_the_level_around_a_peak() -> None:
    sound = noise(4, 1, channels=2) * np.float32(0.05)
    sound[96000] = 2.0
    found = run(sound, -1.0)
    assert len(found) == len(sound)
    assert np.argmax(found[:, 0]) == 96000
    gain = found[:, 1] / np.where(sound[:, 1] == 0, 1, sound[:, 1])
    reach = round(8 / ATTACK * 48000), round(8 / RELEASE * 48000)
    assert np.array_equal(found[: 96000 - reach[0]], sound[: 96000 - reach[0]])
    assert np.array_equal(found[96000 + reach[1] :], sound[96000 + reach[1] :])
    assert np.all(gain <= 1 + 1e-6)


@given(st.integers(1, 5), st.integers(300, 48000), st.floats(-6, 0))
@settings(max_examples=15)
def test_the_limiter_does_the_same_in_any_blocks(seed: int, size: int, limit: float) -> None:
    sound = noise(0.9, seed, channels=2) * np.float32(0.4)
    found = run(sound, limit, size)
    assert np.allclose(found, run(sound, limit), atol=1e-6)
    peak = measure(blocks(found), "stereo", 48000).true_peak
    assert peak is not None
    assert peak <= limit


def test_dialogue_counts_where_there_is_enough_of_it() -> None:
    netflix = PROFILES["netflix"]
    assert target_of(netflix, [Interval(0, 20), Interval(10, 30)], 100) == (-27, True)
    assert target_of(netflix, [Interval(0, 8), Interval(0, 14)], 100) == (-24, False)
    assert target_of(PROFILES["source"], [], 100) == (None, False)


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
    for loud in (0, 47999, 48000, 95999):
        marked, bits = sound.copy(), TruePeak()
        marked[loud] = 0.9
        for at in range(0, len(marked), 777):
            bits.add(marked[at : at + 777])
        whole_one = measure([SoundBlock(0.0, marked)], "stereo", 48000).true_peak
        assert whole_one is not None
        assert bits.decibels == pytest.approx(whole_one, abs=1e-4)
        assert whole_one >= 20 * np.log10(0.9) - 1e-4


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
