"""What a user should know of what went into a render, and would otherwise wonder at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from shotad.film.audio import choose_track
from shotad.script.translations import outdated_note
from shotad.sound.rendering.materials import Materials
from shotad.sound.rendering.voicing import Voicing, cast_is_gone
from shotad.sound.voices.base import plain_language


def notes_on(materials: Materials, voicing: Voicing | None) -> tuple[str, ...]:
    """Plain sentences on sound that is itself a description, on lines in another language than the voice's,
    on a translation whose source was changed, on a cast that is gone, on edits that came too late."""
    if voicing is None:
        return ()
    notes = [*_programme(materials), *_languages(materials, voicing)]
    if (stale := outdated_note(materials.track, materials.folder)) is not None:
        notes.append(stale)
    if cast_is_gone(materials.folder.path):
        notes.append("The cast of this run is gone, and with it how its names are said.")
    if voicing.late:
        notes.append(voicing.late)
    return tuple(notes)


def _programme(materials: Materials) -> Iterator[str]:
    track = choose_track(materials.film.info, materials.config.film.audio_track)
    if track is not None and track.descriptive:
        yield f"The film's sound under the lines is itself an audio description: track {track}."


def _languages(materials: Materials, voicing: Voicing) -> Iterator[str]:
    own = materials.track.language
    others = Counter(
        cue.language for cue in materials.track.heard if plain_language(cue.language) != plain_language(own)
    )
    for language, count in sorted(others.items()):
        lines = "1 line is" if count == 1 else f"{count} lines are"
        yield f"{lines} in {language!r}; {voicing.voice} speaks all in the track's language, {own!r}."
