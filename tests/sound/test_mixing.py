"""Levels, channels, takes, limiter and loudness by themselves, against EBU Tech 3341 and 3342 and a second implementation;
and whole mixes over films of every kind: places to the sample, levels as promised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Interval
from shotad.core.config.sound import MixSettings
from shotad.film import Film, SoundBlock, open_film, sound_blocks
from shotad.script import Level
from shotad.sound import (
    Loudness,
    Spoken,
    Take,
    excerpt,
    measure_whole,
    mix as mixing,
    place_lines,
    programme_of,
)
from shotad.sound.levels import PROFILES, SHORTEST_RAMP, envelope, gain_at, loudness_target, peak_limit
from shotad.sound.mix import (
    FADE_IN,
    FADE_OUT,
    FileSound,
    Mix,
    MixReport,
    Playing,
    estimated_make_up,
    loudness_findings,
    loudness_sentence,
    place,
    prepare_mix,
    resampled,
)
from shotad.sound.programme import RATE, channel_names, layout_name, stereo_matrix, voice_gains
from tests.sound.tones import (
    Samples,
    SoundFilm,
    along,
    blocks,
    given_programme,
    line,
    measure,
    measured,
    noise,
    onset,
    sine,
    whole,
)


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
    ([(5, 7)], [(3, 5), (7, 8)], [(5, 0), (5 + SHORTEST_RAMP, -9), (7 - SHORTEST_RAMP, -9), (7, 0)]),
    # In a gap too short for two ramps it gets less deep, and a dip too small to help is left out.
    ([(5, 5.1)], [(3, 5), (5.05, 8)], [(5, 0), (5.025, -4.5), (5.05, 0)]),
    ([(5, 5.1)], [(3, 5), (5.005, 8)], []),
    # Speech within a line is not lowered, a line under speech lowers nothing.
    ([(5, 8)], [(6, 7)], [*NEAR, (6 - SHORTEST_RAMP, -9), (6, 0), (7, 0), (7 + SHORTEST_RAMP, -9), (8, -9), (8.4, 0)]),
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
    talks = [Interval(start / 20, (start + length) / 20) for start, length in speech]
    points = envelope(spoken, talks, [9.0] * len(spoken))
    assert all(point.seconds < following.seconds for point, following in pairwise(points))
    assert all(-9 - 1e-9 <= point.decibels <= 0 for point in points)
    for talk in talks:
        inside = np.linspace(talk.start, talk.end, 50, endpoint=False)
        assert np.allclose(gain_at(points, inside), 1, atol=1e-4)


@pytest.mark.parametrize("layout", ["mono", "stereo", "2.1", "3.0", "quad", "5.1", "5.1(side)", "6.1", "7.1"])
@pytest.mark.parametrize("where", ["auto", "centre", "front", "all"])
def test_the_voice_is_as_loud_in_every_layout(layout: str, where: str) -> None:
    voice = noise(3, 7)[:, 0] * np.float32(0.05)
    alone = measure(blocks(voice), "mono").integrated
    gains = voice_gains(channel_names(layout), where)  # type: ignore[arg-type]
    assert measure(blocks(voice[:, None] * gains), layout).integrated == pytest.approx(alone, abs=0.1)


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
    played = Playing([placed]).between(0, 144000)
    assert played is not None
    begin, end = round(FADE_IN * 48000), round(FADE_OUT * 48000)
    assert not played[:48000].any()
    assert np.all(np.diff(played[48000 : 48000 + begin]) > 0)
    assert np.all(played[48000 + begin : 96000 - end] == 1)
    assert np.all(np.diff(played[96000 - end : 96000]) < 0)
    assert np.abs(np.diff(played)).max() < 0.02
    assert not played[96000:].any()


def limited(sound: Samples, limit: float, size: int = 48000) -> Samples:
    """A sound without any line, in a mix that is not to pass ``limit`` dBTP; it comes in blocks of that ``size``."""
    programme = given_programme([*blocks(sound, size)], "stereo")
    recipe = place_lines(programme, measured(blocks(sound), "stereo"), [], [], USUAL)
    return excerpt(recipe, 0, len(sound), limit)


def test_the_limiter_shifts_nothing_and_only_moves_the_level_around_a_peak() -> None:
    sound = noise(4, 1, channels=2) * np.float32(0.05)
    sound[96000] = 2.0
    result = limited(sound, -1.0)
    assert len(result) == len(sound)
    assert np.argmax(result[:, 0]) == 96000
    gain = result[:, 1] / np.where(sound[:, 1] == 0, 1, sound[:, 1])
    # It falls by 1000 dB a second before a peak, and comes back by 40 dB a second; 8 dB are needed here.
    reach = round(8 / 1000 * 48000), round(8 / 40 * 48000)
    assert np.array_equal(result[: 96000 - reach[0]], sound[: 96000 - reach[0]])
    assert np.array_equal(result[96000 + reach[1] :], sound[96000 + reach[1] :])
    assert np.all(gain <= 1 + 1e-6)


@given(st.integers(1, 5), st.integers(300, 48000), st.floats(-6, 0))
@settings(max_examples=15)
def test_the_limiter_does_the_same_in_any_blocks(seed: int, size: int, limit: float) -> None:
    sound = noise(0.9, seed, channels=2) * np.float32(0.4)
    result = limited(sound, limit, size)
    assert np.allclose(result, limited(sound, limit), atol=1e-6)
    peak = measure(blocks(result), "stereo").true_peak
    assert peak is not None
    assert peak <= limit


def test_dialogue_counts_where_there_is_enough_of_it() -> None:
    netflix = PROFILES["netflix"]
    assert loudness_target(netflix, [Interval(0, 20), Interval(10, 30)], 100) == (-27, True)
    assert loudness_target(netflix, [Interval(0, 8), Interval(0, 14)], 100) == (-24, False)
    assert loudness_target(PROFILES["source"], [], 100) == (None, False)


def steps(*parts: tuple[float, float], rate: int = 48000) -> Samples:
    """A tone of 1 kHz in both channels, at the levels (dBFS) and for the seconds given."""
    tone = np.concatenate([sine(1000, level, seconds, rate) for level, seconds in parts])
    return np.stack([tone, tone], axis=1)


def integrated(samples: Samples, layout: str = "stereo") -> float:
    loudness = measure(blocks(samples), layout).integrated
    assert loudness is not None
    return loudness


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
    levels = []
    for channel in range(6):
        sound = silence.copy()
        sound[:, channel] = sine(1000, -20, 5)
        levels.append(measure(blocks(sound), layout).integrated)
    front, bass, surround = levels[:3], levels[3], levels[4:]
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
    assert measure(blocks(steps(*parts)), "stereo").range == pytest.approx(expected, abs=1)


@pytest.mark.parametrize(
    ("divisor", "degrees", "peak_db", "expected"),
    [(4, 0, -6.0206, -6), (4, 45, -6.0206, -6), (6, 60, -6.0206, -6), (8, 67.5, -6.0206, -6), (4, 45, 2.98, 3)],
)  # fmt: skip
def test_true_peak_of_tech_3341(divisor: int, degrees: float, peak_db: float, expected: float) -> None:
    tone = sine(48000 / divisor, peak_db, 2, phase=np.radians(degrees))
    ramp = np.clip(np.minimum(np.arange(len(tone)), np.arange(len(tone))[::-1]) / 2400, 0, 1)
    peak = measure(blocks((tone * ramp).astype(np.float32)), "mono").true_peak
    assert peak is not None
    assert expected - 0.4 <= peak <= expected + 0.2


def test_true_peak_is_found_across_blocks_and_at_both_ends() -> None:
    sound = noise(2, 1, channels=2) * np.float32(0.1)
    for loud in (0, 47999, 48000, 95999):
        marked = sound.copy()
        marked[loud] = 0.9
        in_one = measure([SoundBlock(0.0, marked)], "stereo").true_peak
        assert in_one is not None
        assert measure(blocks(marked, 777), "stereo").true_peak == pytest.approx(in_one, abs=1e-4)
        assert in_one >= 20 * np.log10(0.9) - 1e-4


def test_silence_and_too_little_have_no_figures() -> None:
    loudness = measure(blocks(np.zeros((96000, 2), np.float32)), "stereo")
    assert (loudness.integrated, loudness.true_peak, loudness.momentary, loudness.short_term) == (None,) * 4
    assert measure([], "stereo").integrated is None
    assert measure(blocks(sine(1000, -20, 0.3)), "mono").integrated is None
    sound = np.concatenate([noise(1, 2)[:, 0] * np.float32(0.1), np.zeros(96000, np.float32)])
    momentary = along(blocks(sound), "mono").momentary
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


LINES = (line("first", 1.5), line("second", 4.0, 0.8, rate=44100), line("third", 7.3104, rate=22050))
SPEECH = (Interval(5.5, 6.5),)
USUAL = MixSettings()


def programme(seconds: float = 10.0, channels: int = 2, rate: int = 48000, level: float = 0.05) -> Samples:
    return noise(seconds, 3, rate=rate, channels=channels) * np.float32(level)


def mixed_film(
    path: Path, spec: SoundFilm, settings: MixSettings = USUAL, **more: Any
) -> tuple[Mix, Samples]:
    """The mix of a film, and the film's own sound on film time."""
    own = np.zeros(0, np.float32)
    with open_film(spec.make(path)) as film:
        if spec.wave is not None:
            own = whole(sound_blocks(film, rate=mixing.RATE, layout="native"))
    return prepare_mix(open_film(path), LINES, SPEECH, settings, **more), own


FILMS: dict[str, tuple[str, Callable[[], SoundFilm]]] = {
    "stereo": (".mkv", lambda: SoundFilm(programme())),
    "starts late": (".mkv", lambda: SoundFilm(programme(), shift=2.5)),
    "starts late in TS": (".ts", lambda: SoundFilm(programme(), codec="mp2", shift=10.0)),
    "MP4": (".mp4", lambda: SoundFilm(programme(), codec="aac")),
    "5.1": (".mkv", lambda: SoundFilm(programme(channels=6), layout="5.1", codec="ac3")),
    "5.1 with sides": (".mkv", lambda: SoundFilm(programme(channels=6), layout="5.1(side)")),
    "7.1": (".mkv", lambda: SoundFilm(programme(channels=8), layout="7.1")),
    "mono": (".mkv", lambda: SoundFilm(programme(channels=1), layout="mono")),
    "44.1 kHz": (".mkv", lambda: SoundFilm(programme(rate=44100), rate=44100)),
    "gap in the sound": (".mkv", lambda: SoundFilm(programme(), gap=(4.2, 5.0))),
    "sound begins late": (".mkv", lambda: SoundFilm(programme(9), start=1.0)),
    "sound ends early": (".mkv", lambda: SoundFilm(programme(5))),
    "variable frame rate": (".mkv", lambda: SoundFilm(programme(), times=tuple(np.cumsum(0.04 + 0.1 * np.random.default_rng(0).random(100)) - 0.04))),
    "no sound": (".mkv", lambda: SoundFilm(None)),
}  # fmt: skip


@pytest.mark.parametrize("name", FILMS)
def test_every_line_is_at_its_place_to_the_sample(name: str, tmp_path: Path) -> None:
    ending, make = FILMS[name]
    mix, _ = mixed_film(tmp_path / f"film{ending}", make())
    sound, alone = whole(mix.mixed()), whole(mix.alone())
    assert len(sound) == len(alone) == round(mix.duration * 48000)
    for spoken in LINES:
        at = round(spoken.start * 48000)
        take = resampled(spoken.take)
        assert onset(alone, take, at) == at
        assert onset(sound[:, : min(3, sound.shape[1])].sum(axis=1), take, at) == at


@pytest.mark.parametrize(
    "name", ["stereo", "starts late", "5.1 with sides", "gap in the sound", "sound ends early"]
)
def test_the_mix_is_programme_times_gain_and_voice(name: str, tmp_path: Path) -> None:
    ending, make = FILMS[name]
    mix, own = mixed_film(tmp_path / f"film{ending}", make())
    sound, alone = whole(mix.mixed()), whole(mix.alone())
    held = np.zeros_like(sound)
    held[: len(own)] = own[: len(held)]
    gain = gain_at(mix.gains, np.arange(len(sound)) / RATE)
    voice = alone[:, None] * mix.recipe.channel_gains
    assert np.abs(sound - (held * gain[:, None] + voice)).max() < 1e-6
    untouched = (gain == 1) & (alone == 0)
    assert 0.2 < untouched.mean() < 0.9
    assert np.array_equal(sound[untouched], held[untouched])


def test_lines_stand_over_quiet_and_loud_scenes_alike(tmp_path: Path) -> None:
    levels = np.repeat([10 ** (db / 20) for db in (-24, -44, -15, -120, -24)], 24 * 48000)
    wave = noise(120, 4, channels=2) * levels[:, None].astype(np.float32)
    spoken = [line(f"line {at}", at + 0.5, 2.0) for at in range(2, 118, 6)]
    with open_film(SoundFilm(wave, seconds=120).make(tmp_path / "film.mkv")) as film:
        mix = prepare_mix(film, spoken, [], MixSettings())
        alone = along(mix.alone(), "mono")
        sound, own = (
            whole(mix.mixed()),
            whole(sound_blocks(film, rate=48000, layout="native")),
        )
    # The film as it is lowered: what is in the mix besides the voice.
    voice = whole(mix.alone())[: len(own), None] * mix.recipe.channel_gains
    lowered = along(blocks(sound[: len(own)] - voice), "stereo")
    voices = []
    for spoken_line, report_line in zip(spoken, mix.report.lines, strict=True):
        part = alone.within(spoken_line.start + 0.3, spoken_line.interval.end - 0.3)
        voice_level = float(alone.momentary[part].mean())
        film_level = float(lowered.momentary[part].mean())
        voices.append(voice_level)
        assert voice_level == pytest.approx(report_line.voice, abs=0.7)
        if not 72 <= spoken_line.start < 96:
            near_a_cut = min(abs(spoken_line.interval.middle - cut) for cut in (24, 48, 72, 96)) < 6
            assert 9.5 <= voice_level - film_level <= (20 if near_a_cut else 18)
        else:
            # In silence it is softer than elsewhere, and no softer than is understood.
            assert mix.report.programme.integrated is not None
            assert -10.7 <= voice_level - mix.report.programme.integrated < 0
    assert np.abs(np.diff(voices)).max() < 6.7


@pytest.mark.parametrize("profile", ["ebu-r128", "atsc-a85", "web"])
@pytest.mark.parametrize("layout", ["stereo", "5.1"])
def test_profiles_reach_their_target_under_their_peak(profile: str, layout: str, tmp_path: Path) -> None:
    wave = programme(channels=2 if layout == "stereo" else 6)
    wave[::9600] = 0.9
    mix, _ = mixed_film(tmp_path / "film.mkv", SoundFilm(wave, layout=layout), MixSettings(profile=profile))
    loudness = measure(mix.mixed(), mix.layout)
    wanted = PROFILES[profile]
    # What the limiter takes from so many peaks is reckoned with only once.
    assert loudness.integrated == pytest.approx(wanted.target, abs=0.25)
    assert loudness.true_peak is not None
    assert loudness.true_peak <= wanted.true_peak


def test_netflix_counts_dialogue(tmp_path: Path) -> None:
    wave = programme()
    wave[: 48000 * 3] *= 0.1
    film = open_film(SoundFilm(wave).make(tmp_path / "film.mkv"))
    mix = prepare_mix(film, LINES[1:], [Interval(5.5, 7)], MixSettings(profile="netflix"))
    course = along(mix.mixed(), mix.layout)
    spoken = [Interval(5.5, 7), *(x.interval for x in LINES[1:])]
    levels = np.concatenate([course.momentary[course.within(i.start, i.end)] for i in spoken])
    assert 10 * np.log10(np.mean(10 ** (levels / 10))) == pytest.approx(-27, abs=0.1)
    assert mix.file_sound(measure(mix.mixed(), mix.layout), course).reached == pytest.approx(-27, abs=0.1)


def test_a_film_without_sound_gets_the_voice_in_stereo(tmp_path: Path) -> None:
    mix, _ = mixed_film(tmp_path / "film.mkv", SoundFilm(None))
    assert (mix.layout, mix.gains) == ("stereo", ())
    sound = whole(mix.mixed())
    assert np.array_equal(sound[:, 0], sound[:, 1])
    # The edges of lines of a second count in the whole.
    assert measure(mix.mixed(), "stereo").integrated == pytest.approx(-23, abs=1.5)
    assert measure(mix.mixed(), "stereo").momentary == pytest.approx(-23, abs=0.5)
    assert mix.report.programme.integrated is None
    assert all(level.over is None for level in mix.report.lines)


TALK = (Interval(5.0, 6.0), Interval(11.3, 12.1))


def film_of(
    path: Path, layout: str = "stereo", loud: float = 0.1, seconds: float = 16.0, **more: Any
) -> Film:
    """A film of noise that gets louder and softer."""
    wave = loud * noise(seconds, 8, channels=len(channel_names(layout)))
    swell = 0.6 + 0.4 * np.sin(2 * np.pi * np.arange(len(wave)) / 48000 / 7)
    wave = np.clip(wave * swell[:, None], -0.99, 0.99).astype(np.float32)
    return open_film(SoundFilm(wave, layout, seconds=seconds, **more).make(path))


SAID = tuple(
    line(*given, level_db=-14) for given in (("a", 2.0, 1.5), ("b", 7.0, 2.0), ("c", 10.0), ("d", 12.5, 3.0))
)


@pytest.mark.parametrize(
    ("layout", "loud", "more"), [("stereo", 0.1, {}), ("mono", 0.6, {"start": 0.3}), ("5.1", 0.6, {})]
)
def test_an_excerpt_is_what_the_whole_has(
    layout: str, loud: float, more: dict[str, Any], tmp_path: Path
) -> None:
    settings = MixSettings(true_peak=-3.0 if loud > 0.5 else None)
    with film_of(tmp_path / "film.mov", layout, loud, **more) as film:
        mix = prepare_mix(film, SAID, TALK, settings)
        full, alone = whole(mix.mixed()), whole(mix.alone())
        loudest = max(float(np.abs(block.samples).max()) for block in mix.recipe.mixed())
        assert (loudest > 10 ** ((mix.true_peak + 1) / 20)) == (loud > 0.5)
        if full.shape[1] > 2:
            # As sound files of two channels have it.
            full = limited(full @ stereo_matrix(channel_names(mix.layout)), -1.0)
        own = measure_whole(programme_of(film, None))
        for first, end in ((0, 96000), (300_123, 440_000), (500_000, 767_000)):
            recipe = place_lines(programme_of(film, None), own, SAID, TALK, settings)
            part, voice = (
                excerpt(recipe, first, end, peak_limit(own, settings), of) for of in ("mix", "voice")
            )
            wanted = full[first:end]
            assert part.shape == wanted.shape
            assert np.abs(part - wanted).max() < 2e-6
            spread = 1.0 if voice.shape[1] == 1 else float(np.sqrt(0.5))
            if loud < 0.5 and mix.recipe.programme.channels <= 2:
                assert np.abs(voice[:, 0] - spread * alone[first:end]).max() < 2e-6


@pytest.mark.parametrize("profile", ["ebu-r128", "atsc-a85", "netflix"])
def test_the_make_up_gain_is_foreseen(tmp_path: Path, profile: str) -> None:
    settings = MixSettings(profile=profile)
    with film_of(tmp_path / "film.mov", loud=0.05, seconds=24.0) as film:
        mix = prepare_mix(film, SAID, TALK, settings)
        own = measure_whole(programme_of(film, None))
        lines = [spoken_line.interval for spoken_line in SAID]
        make_up = estimated_make_up(own, lines, TALK, settings, film.info.duration)
    assert abs(mix.report.make_up) > 0.2
    assert make_up == pytest.approx(mix.report.make_up, abs=0.6)


@pytest.mark.parametrize(
    ("mix", "words"),
    [
        (-20.3, "as loud as the film"),
        (-21.5, "1.5 LU softer than the film"),
        (-19.0, "1.0 LU louder than the film"),
    ],
)
def test_a_mix_without_a_target_is_said_to_be_as_loud_as_the_film_only_where_it_is(
    mix: float, words: str
) -> None:
    film = Loudness(-20.0, 0.0, -1.0, -20.0, -20.0)
    report = MixReport("source", None, False, film, film, 0.0, -1.0, ())
    sound = FileSound(replace(film, integrated=mix), True, mix)
    assert loudness_sentence(report, sound, "film.mix.wav").startswith(f"Loudness, source ({words}):")


def test_a_file_whose_peaks_are_over_their_limit_is_an_error(tmp_path: Path) -> None:
    mix, _ = mixed_film(tmp_path / "film.mkv", SoundFilm(programme()), MixSettings(true_peak=-3.0))
    loudness = measure(mix.mixed(), mix.layout)
    within = mix.file_sound(replace(loudness, true_peak=-2.95), None)
    assert list(loudness_findings(mix.report, within, "a.opus")) == []
    over = mix.file_sound(replace(loudness, true_peak=-2.0), None)
    (finding,) = loudness_findings(mix.report, over, "a.opus")
    assert (finding.rule, finding.level) == ("A1", Level.ERROR)
    assert finding.message == "the peaks of a.opus reach -2.0 dBTP, over -3.0 (source)"
