"""A part of a mix is what the whole has for the same seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Interval, MixSettings
from shotad.film import Film, SoundBlock, open_film
from shotad.sound import Excerpt, foreseen_make_up, lay, limit_of, programme_of, whole
from shotad.sound.loudness import DOWNMIXED_PEAK, Limiter, limited
from shotad.sound.mix import prepare_mix
from shotad.sound.programme import channel_names, to_stereo
from tests.sound.tones import SoundFilm, line, noise, whole as joined

SPEECH = (Interval(5.0, 6.0), Interval(11.3, 12.1))


def film_of(
    path: Path, layout: str = "stereo", loud: float = 0.1, seconds: float = 16.0, **more: Any
) -> Film:
    """A film of noise that gets louder and softer."""
    wave = loud * noise(seconds, 8, channels=len(channel_names(layout)))
    swell = 0.6 + 0.4 * np.sin(2 * np.pi * np.arange(len(wave)) / 48000 / 7)
    wave = np.clip(wave * swell[:, None], -0.99, 0.99).astype(np.float32)
    return open_film(SoundFilm(wave, layout, seconds=seconds, **more).make(path))


LINES = tuple(
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
        mix = prepare_mix(film, LINES, SPEECH, settings)
        full, alone = joined(mix.mixed()), joined(mix.alone())
        loudest = max(float(np.abs(block.samples).max()) for block in mix.recipe.mixed())
        assert (loudest > 10 ** ((mix.true_peak + 1) / 20)) == (loud > 0.5)
        if full.shape[1] > 2:
            # As sound files of two channels have it.
            two = SoundBlock(0.0, full @ to_stereo(channel_names(mix.layout)))
            full = joined(limited([two], Limiter(DOWNMIXED_PEAK, 48000)))
        own = whole(programme_of(film, None, 48000))
        for first, end in ((0, 96000), (300_123, 440_000), (500_000, 767_000)):
            recipe = lay(programme_of(film, None, 48000), own, LINES, SPEECH, settings)
            part = Excerpt(recipe, first, end, limit_of(own, settings))
            wanted = full[first:end]
            assert part.mixed().shape == wanted.shape
            assert np.abs(part.mixed() - wanted).max() < 2e-6
            voice = part.alone()
            spread = 1.0 if voice.shape[1] == 1 else float(np.sqrt(0.5))
            if loud < 0.5 and mix.recipe.programme.channels <= 2:
                assert np.abs(voice[:, 0] - spread * alone[first:end]).max() < 2e-6


@pytest.mark.parametrize("profile", ["ebu-r128", "atsc-a85", "netflix"])
def test_the_make_up_gain_is_foreseen(tmp_path: Path, profile: str) -> None:
    settings = MixSettings(profile=profile)
    with film_of(tmp_path / "film.mov", loud=0.05, seconds=24.0) as film:
        mix = prepare_mix(film, LINES, SPEECH, settings)
        own = whole(programme_of(film, None, 48000))
        lines = [one.interval for one in LINES]
        found = foreseen_make_up(own, lines, SPEECH, settings, film.info.duration)
    assert abs(mix.report.make_up) > 0.2
    assert found == pytest.approx(mix.report.make_up, abs=0.6)
