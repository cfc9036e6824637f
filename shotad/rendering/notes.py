"""What a user should know of what went into a render, and would otherwise wonder at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from shotad.film.audio import choose_track
from shotad.rendering.materials import Materials
from shotad.rendering.voicing import Voicing, cast_is_gone
from shotad.sound.voices.base import plain_language


def notes_on(materials: Materials, voicing: Voicing | None) -> tuple[str, ...]:
    """Plain sentences on the film's own descriptions, on lines in another language than the voice's, on a
    cast that is gone."""
    notes = list(_own_descriptions(materials))
    if voicing is not None:
        notes += [*_programme(materials), *_languages(materials, voicing)]
        if cast_is_gone(materials.folder.path):
            notes.append("The cast of this run is gone, and with it how its names are said.")
    return tuple(notes)


def _own_descriptions(materials: Materials) -> Iterator[str]:
    own = [str(track) for track in materials.film.info.audio if track.descriptive]
    if own:
        tracks = "track" if len(own) == 1 else "tracks"
        yield f"The film has a description already, {tracks} {', '.join(own)}: it stays beside this one."


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
