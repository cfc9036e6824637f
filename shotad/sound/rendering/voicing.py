"""Lines → takes → their places: who speaks, what fits, and where the film waits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from shotad.core import SETTINGS, Progress, in_room, read_settings
from shotad.script import Shorten, Track
from shotad.sight import load_cast
from shotad.sound.extended.kinds import Extension, Pause
from shotad.sound.extended.planning import plan_pauses
from shotad.sound.fitting.ladder import fit
from shotad.sound.fitting.lines import lines_of
from shotad.sound.fitting.voiced import apply
from shotad.sound.kinds import Fitting, Unspoken
from shotad.sound.pronunciation import NOTHING, Lexicon, lexicon_of
from shotad.sound.rendering.materials import Materials
from shotad.sound.studio import Keeping
from shotad.sound.voice_engines.base import Speaker

WORDLESS = "there is no word in it"
"""Why a line of marks alone is not spoken."""

VOICES = "voice"
"""The folder of takes in the work folder."""


@dataclass(frozen=True, slots=True, eq=False)
class Voicing:
    """All lines spoken and placed. ``track`` says of each line how it was spoken; ``late`` that some of them
    were edited since, empty where none was."""

    track: Track
    fitting: Fitting
    pauses: tuple[Pause, ...]
    voice: str
    anew: int
    kept: int
    late: str = ""


@in_room("voice")
def speak(
    materials: Materials,
    voice: Speaker,
    progress: Progress,
    *,
    shorten: Shorten | None = None,
    force: bool = False,
) -> Voicing:
    """Every line of the track, spoken and in its place, or without one and why. Raises VoiceError."""
    config, track = materials.config, materials.track
    studio = Keeping(
        voice,
        materials.folder.path / (f"{VOICES}.{track.language}" if materials.is_translation else VOICES),
        config.voice,
        track.language,
        pronunciations(materials.folder.path),
        force=force,
    )
    speech = materials.speech
    given = lines_of(track, speech, materials.slots, config.fit, margin=config.speech.margin)
    lines = [line for line in given if has_words(studio.sent(line.text))]
    studio.say_all([line.text for line in lines], progress=progress)
    fitting = fit(lines, studio, config.fit, shorten=shorten)
    mute = [Unspoken(line.id, line.text, WORDLESS) for line in given if not has_words(studio.sent(line.text))]
    fitting = replace(fitting, unspoken=(*fitting.unspoken, *mute))
    extended = Extension(fitting)
    if config.extended.on:
        shots, end = materials.prepared.shots, materials.prepared.end
        extended = plan_pauses(lines, fitting, studio, shots, config.extended, config.fit, end, speech)
    if force:
        # Otherwise takes of older lines and other voices stay: they may have cost money.
        studio.keep(studio.used)
    spoken = apply(track, extended.fitting, voice.name)
    return Voicing(spoken, extended.fitting, extended.pauses, voice.name, studio.spoken, studio.taken)


def has_words(text: str) -> bool:
    """Whether a voice could say it."""
    return any(character.isalnum() for character in text)


def cast_is_gone(folder: Path) -> bool:
    """Whether the run had a cast that is not where it was."""
    if not (folder / SETTINGS).is_file():
        return False
    given = read_settings(folder).given.cast
    return given is not None and not given.path.exists()


def pronunciations(folder: Path) -> Lexicon:
    """How the names of the run's cast are said; nothing where it has none, or where that is gone."""
    if not (folder / SETTINGS).is_file():
        return NOTHING
    given = read_settings(folder).given.cast
    if given is None or not given.path.exists():
        return NOTHING
    return lexicon_of(load_cast(given.path, key=given.key, photos=given.photos).members)
