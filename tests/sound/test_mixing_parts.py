"""The parts of a mix by themselves: channels, takes, limiter, levels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval, MixSettings
from shotad.sound import Course, Heard, Loudness, Spoken, Take
from shotad.sound.levels import FOLLOW, LOUDEST, PROFILES, SOFTEST, Dialogue, target_of
from shotad.sound.loudness import ATTACK, RELEASE, Limiter, limited, measure
from shotad.sound.mix import FADE_IN, FADE_OUT, Playing, place
from shotad.sound.programme import channel_names, layout_name, voice_gains
from tests.sound.tones import Samples, blocks, line, noise, whole


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
    spoken = Spoken("a", "a", 1.0, Take(np.ones(48000, np.float32), 48000, "v", "a"))
    placed = place(spoken, 48000, 480000, 1.0)
    assert placed is not None
    heard = Playing([placed], 48000).between(0, 144000)
    assert heard is not None
    begin, end = round(FADE_IN * 48000), round(FADE_OUT * 48000)
    assert not heard[:48000].any()
    assert np.all(np.diff(heard[48000 : 48000 + begin]) > 0)
    assert np.all(heard[48000 + begin : 96000 - end] == 1)
    assert np.all(np.diff(heard[96000 - end : 96000]) < 0)
    assert np.abs(np.diff(heard)).max() < 0.02
    assert not heard[96000:].any()


def test_a_lane_is_the_same_in_any_blocks() -> None:
    lines = [line(name, at) for name, at in (("a", 0.2), ("b", 2.0), ("c", 8.1))]
    takes = [take for one in lines if (take := place(one, 48000, 48000 * 9, 1.0)) is not None]
    at_once = Playing(takes, 48000).between(0, 48000 * 9)
    playing = Playing(takes, 48000)
    bits = [playing.between(at, at + 7000) for at in range(0, 48000 * 9 - 7000, 7000)]
    joined = np.concatenate([np.zeros(7000, np.float32) if bit is None else bit for bit in bits])
    assert at_once is not None
    assert np.array_equal(joined, at_once[: len(joined)])
    assert any(bit is None for bit in bits)


def run(sound: Samples, limit: float, size: int = 48000) -> Samples:
    return whole(limited(blocks(sound, size), Limiter(limit, 48000)))


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


def scenes(*parts: tuple[float, float]) -> Course:
    """Scenes of so many seconds and so many LUFS, one after the other."""
    levels = [np.full(round(seconds * 10), level, np.float32) for seconds, level in parts]
    return Course(np.concatenate(levels))


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(-70, 0)), min_size=1, max_size=8),
    st.floats(0, 100),
    st.floats(0.1, 20),
)
def test_the_voice_never_jumps(parts: list[tuple[int, int]], start: float, apart: float) -> None:
    course = scenes((30, -23), *parts, (30, -23))
    heard = Heard(Loudness(-23, 5.0, -3.0, -23, -23), course)
    one, other = (heard.voice_level(Interval(at, at + 3), MixSettings()) for at in (start, start + apart))
    assert abs(one - other) <= (LOUDEST - SOFTEST) * (apart + 0.2) / FOLLOW
    assert -23 + SOFTEST <= one <= -23 + LOUDEST


def test_dialogue_counts_where_there_is_enough_of_it() -> None:
    netflix = PROFILES["netflix"]
    assert target_of(netflix, Dialogue([Interval(0, 20), Interval(10, 30)], 100)) == (-27, True)
    assert target_of(netflix, Dialogue([Interval(0, 14)], 100)) == (-24, False)
    assert target_of(PROFILES["source"], Dialogue([], 100)) == (None, False)
    assert Dialogue([Interval(0, 20), Interval(10, 30)], 100).share == pytest.approx(0.3)
