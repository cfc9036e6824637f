"""A part of a mix is what the whole has for the same seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Interval, MixSettings
from shotad.film import Film, SoundBlock, open_film
from shotad.sound import Excerpt, Spoken, Take, foreseen_make_up, lay, limit_of, programme_of, whole
from shotad.sound.loudness import DOWNMIXED_PEAK, Limiter, limited
from shotad.sound.mix import prepare_mix
from shotad.sound.programme import channel_names, to_stereo
from tests.sound.tones import SoundFilm, whole as joined

SECONDS = 24.0
SPEECH = (Interval(5.0, 6.0), Interval(17.0, 17.8))


def film_of(path: Path, layout: str = "stereo", loud: float = 0.1, **more: Any) -> Film:
    """A film of noise that gets louder and softer."""
    channels = len(channel_names(layout))
    time = np.arange(round(SECONDS * 48000)) / 48000
    noise = np.random.default_rng(8).standard_normal((time.size, channels))
    swell = 0.6 + 0.4 * np.sin(2 * np.pi * time / 7)
    wave = np.clip(loud * noise * swell[:, None], -0.99, 0.99).astype(np.float32)
    spec = SoundFilm(wave, layout, seconds=SECONDS, **more)
    return open_film(spec.make(path))


def said(name: str, start: float, seconds: float) -> Spoken:
    """A line of noise."""
    generator = np.random.default_rng(len(name) + int(start))
    samples = (0.2 * generator.standard_normal(round(seconds * 24000))).astype(np.float32)
    return Spoken(name, name, start, Take(samples, 24000, "noise", name))


LINES = (said("a", 2.0, 1.5), said("b", 8.0, 2.0), said("c", 11.0, 1.0), said("d", 20.0, 3.0))
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "stereo": ("stereo", {}), "mono, late": ("mono", {"start": 0.3}), "5.1": ("5.1", {}),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "loud"), [("stereo", 0.1), ("mono, late", 0.6), ("5.1", 0.6)])
def test_an_excerpt_is_what_the_whole_has(tmp_path: Path, kind: str, loud: float) -> None:
    layout, more = KINDS[kind]
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
        for first, end in ((0, 96000), (300_123, 500_000), (870_000, 1_151_000)):
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
    with film_of(tmp_path / "film.mov", loud=0.05) as film:
        mix = prepare_mix(film, LINES, SPEECH, settings)
        own = whole(programme_of(film, None, 48000))
        lines = [line.interval for line in LINES]
        found = foreseen_make_up(own, lines, SPEECH, settings, film.info.duration)
    assert abs(mix.report.make_up) > 0.2
    assert found == pytest.approx(mix.report.make_up, abs=0.6)
