"""Whole mixes over films of every kind: places to the sample, levels as promised; a part of a mix is what the whole has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Interval, MixSettings
from shotad.film import Film, SoundBlock, open_film, sound_blocks
from shotad.sound import (
    excerpt,
    foreseen_make_up,
    lay,
    limit_of,
    mix as mixing,
    programme_of,
    whole as measured,
)
from shotad.sound.levels import PROFILES, gain_at
from shotad.sound.loudness import DOWNMIXED_PEAK, Limiter, limited
from shotad.sound.mix import Mix, prepare_mix, resampled
from shotad.sound.programme import RATE, channel_names, to_stereo
from tests.sound.tones import Samples, SoundFilm, along, blocks, line, measure, noise, onset, whole

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
    voice = alone[:, None] * mix.recipe.spread
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
        alone = along(mix.alone(), "mono", 48000)
        sound, own = whole(mix.mixed()), whole(sound_blocks(film, rate=48000, layout="native"))
    # The film as it is lowered: what is in the mix besides the voice.
    voice = whole(mix.alone())[: len(own), None] * mix.recipe.spread
    lowered = along(blocks(sound[: len(own)] - voice), "stereo", 48000)
    voices = []
    for one, told in zip(spoken, mix.report.lines, strict=True):
        part = alone.within(one.start + 0.3, one.interval.end - 0.3)
        heard = float(alone.momentary[part].mean())
        film_heard = float(lowered.momentary[part].mean())
        voices.append(heard)
        assert heard == pytest.approx(told.voice, abs=0.7)
        if not 72 <= one.start < 96:
            near_a_cut = min(abs(one.interval.middle - cut) for cut in (24, 48, 72, 96)) < 6
            assert 9.5 <= heard - film_heard <= (20 if near_a_cut else 18)
        else:
            # In silence it is softer than elsewhere, and no softer than is understood.
            assert mix.report.programme.integrated is not None
            assert -10.7 <= heard - mix.report.programme.integrated < 0
    assert np.abs(np.diff(voices)).max() < 6.7


@pytest.mark.parametrize("profile", ["ebu-r128", "atsc-a85", "web"])
@pytest.mark.parametrize("layout", ["stereo", "5.1"])
def test_profiles_reach_their_target_under_their_peak(profile: str, layout: str, tmp_path: Path) -> None:
    wave = programme(channels=2 if layout == "stereo" else 6)
    wave[::9600] = 0.9
    mix, _ = mixed_film(tmp_path / "film.mkv", SoundFilm(wave, layout=layout), MixSettings(profile=profile))
    found = measure(mix.mixed(), mix.layout, RATE)
    wanted = PROFILES[profile]
    # What the limiter takes from so many peaks is reckoned with only once.
    assert found.integrated == pytest.approx(wanted.target, abs=0.25)
    assert found.true_peak is not None
    assert found.true_peak <= wanted.true_peak


def test_netflix_counts_dialogue(tmp_path: Path) -> None:
    wave = programme()
    wave[: 48000 * 3] *= 0.1
    film = open_film(SoundFilm(wave).make(tmp_path / "film.mkv"))
    mix = prepare_mix(film, LINES[1:], [Interval(5.5, 7)], MixSettings(profile="netflix"))
    course = along(mix.mixed(), mix.layout, RATE)
    spoken = [Interval(5.5, 7), *(x.interval for x in LINES[1:])]
    heard = np.concatenate([course.momentary[course.within(i.start, i.end)] for i in spoken])
    assert 10 * np.log10(np.mean(10 ** (heard / 10))) == pytest.approx(-27, abs=0.1)
    assert mix.heard(measure(mix.mixed(), mix.layout, RATE), course).reached == pytest.approx(-27, abs=0.1)


def test_a_film_without_sound_gets_the_voice_in_stereo(tmp_path: Path) -> None:
    mix, _ = mixed_film(tmp_path / "film.mkv", SoundFilm(None))
    assert (mix.layout, mix.gains) == ("stereo", ())
    sound = whole(mix.mixed())
    assert np.array_equal(sound[:, 0], sound[:, 1])
    # The edges of lines of a second count in the whole.
    assert measure(mix.mixed(), "stereo", 48000).integrated == pytest.approx(-23, abs=1.5)
    assert measure(mix.mixed(), "stereo", 48000).momentary == pytest.approx(-23, abs=0.5)
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
    line(*one, level_db=-14) for one in (("a", 2.0, 1.5), ("b", 7.0, 2.0), ("c", 10.0), ("d", 12.5, 3.0))
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
            two = SoundBlock(0.0, full @ to_stereo(channel_names(mix.layout)))
            full = whole(limited([two], Limiter(DOWNMIXED_PEAK)))
        own = measured(programme_of(film, None))
        for first, end in ((0, 96000), (300_123, 440_000), (500_000, 767_000)):
            recipe = lay(programme_of(film, None), own, SAID, TALK, settings)
            part, voice = (
                excerpt(recipe, first, end, limit_of(own, settings), of) for of in ("mix", "voice")
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
        own = measured(programme_of(film, None))
        lines = [one.interval for one in SAID]
        found = foreseen_make_up(own, lines, TALK, settings, film.info.duration)
    assert abs(mix.report.make_up) > 0.2
    assert found == pytest.approx(mix.report.make_up, abs=0.6)
