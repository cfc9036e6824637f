"""The fourth act: lines → takes → their places → mix → files. No engine is asked.

Only what has changed is spoken again, and a file whose every part is as it was is left as it is.

What a user should know of what went into a render, and would otherwise wonder at.

Files beside the sound: the script as it was recorded, and where the film waits.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from shotad.core import (
    Config,
    FilmError,
    NoProgress,
    Progress,
    SoundError,
    WorkFolder,
    WorkFolderError,
    in_room,
    stem_of,
    write_text,
)
from shotad.film import Film, choose_track
from shotad.script import Recording, Shorten, outdated_note, write_dapt
from shotad.sound.extended.kinds import Extension
from shotad.sound.extended.players import pauses_file, pauses_json, pauses_vtt
from shotad.sound.rendering.ledger import Ledger
from shotad.sound.rendering.making import Workshop
from shotad.sound.rendering.materials import Materials, gather
from shotad.sound.rendering.outputs import OTHERWISE, Kind, Wanted, checked_apart
from shotad.sound.rendering.proof import heard
from shotad.sound.rendering.rendered import Failure, Rendered
from shotad.sound.rendering.validate import check_containers, check_wanted
from shotad.sound.rendering.voicing import Voicing, cast_is_gone, speak
from shotad.sound.voice_engines import make_voice
from shotad.sound.voice_engines.base import Speaker, plain_language


def write_side_files(workshop: Workshop, ledger: Ledger, made: list[Wanted]) -> tuple[Path, ...]:
    """What goes with the files ``made``: beside the description alone its DAPT script ``asRecorded``, which
    names that file and holds the ducking; beside a film that pauses, its pauses for players."""
    return tuple(_files(workshop, ledger, made))


def _files(workshop: Workshop, ledger: Ledger, made: list[Wanted]) -> Iterator[Path]:
    voicing, materials = workshop.voicing, workshop.materials
    if voicing is None:
        return
    alone = next((one.path for one in made if one.kind is Kind.AD), None)
    if alone is not None and not voicing.pauses:
        place = alone.with_name(f"{alone.stem}.recorded.dapt.xml")
        if not ledger.has_beside(place, alone):
            recording = Recording(os.path.basename(alone), workshop.mix(workshop.sounds_as).gains)
            write_text(place, write_dapt(materials.track, recording))
            ledger.add_beside(place, alone)
        yield place
    if voicing.pauses:
        extension = Extension(voicing.fitting, voicing.pauses)
        told = pauses_file(materials.film.info, extension, materials.track.language, voicing.voice)
        stem = stem_of(materials.track.film.name)
        for name, text in (
            (f"{stem}.pauses.json", pauses_json(told)),
            (f"{stem}.pauses.vtt", pauses_vtt(told)),
        ):
            place = materials.folder.path / name
            write_text(place, text)
            yield place


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


ROUNDS = 5
"""Times that a track is read which people change while its lines are spoken."""

STILL_EDITED = (
    "Lines were edited until after they were spoken: the files hold them as they were then. Render again "
    "when the editing is done; only what was changed is spoken anew."
)


@in_room("mix")
def render(
    film: Film,
    folder: WorkFolder,
    config: Config,
    wanted: Sequence[Wanted],
    *,
    file: Path | None = None,
    voice: Speaker | None = None,
    shorten: Shorten | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Rendered:
    """Make the ``wanted`` files of a described film; ``file`` is its track (None: the film's own).

    ``voice`` None is the one that the settings name; none is needed where no file is heard. ``shorten`` is
    asked for shorter lines where that was wished. How each line was spoken goes into the track. ``force``
    speaks every line and makes every file again. What cannot be made is refused before anything is spoken;
    where one of several files fails later, the others are made, and it is told (`Rendered.failures`).

    Raises UsageError, VoiceError, SoundError, FilmError, WorkFolderError, ScriptError, EditConflict.
    """
    wanted, progress = checked_apart(wanted), progress or NoProgress()
    materials = gather(film, folder, config, file)
    check_wanted(film, wanted, config, materials.track.language)
    _check_lines(materials)
    voicing = None
    if any(one.kind.is_heard for one in wanted):
        voice = voice or make_voice(config.voice, materials.track.language)
        materials, voicing = _spoken(materials, voice, progress, shorten, force=force)
        if not voicing.pauses:
            check_containers(film, wanted, config, materials.track.language)
    ledger = Ledger(materials, voicing, force=force)
    materials.keep(materials.track)
    if voicing is not None and not voicing.fitting.spoken:
        raise SoundError(
            f"None of the {len(voicing.fitting.unspoken)} lines of {materials.file} found a place.",
            "Under voiced each of them says why. Shorten them, or let the film pause: --extended.",
        )
    films = (one.ending for one in wanted if one.kind.is_film and one.kind.is_heard)
    with Workshop(materials, voicing, progress, next(films, OTHERWISE)) as workshop:
        failures = _make(workshop, ledger, wanted)
        made = [one for one in wanted if one not in [failed.wanted for failed in failures]]
        if voicing is not None and ledger.sound is None:
            ledger.heard(heard(workshop.report(), config))
        sides = write_side_files(workshop, ledger, [one for one in made if one.kind.is_heard])
    return ledger.rendered(made, sides, failures, notes_on(materials, voicing))


def _make(workshop: Workshop, ledger: Ledger, wanted: Sequence[Wanted]) -> list[Failure]:
    """Make what is not there already; what went wrong. Raises the first error where nothing could be made."""
    failures: list[Failure] = []
    for one in wanted:
        if ledger.has(one):
            continue
        try:
            ledger.add(workshop.make(one))
        except (SoundError, FilmError, WorkFolderError) as error:
            failures.append(Failure(one, str(error)))
            if len(failures) == len(wanted):
                raise
    return failures


def _spoken(
    materials: Materials, voice: Speaker, progress: Progress, shorten: Shorten | None, *, force: bool
) -> tuple[Materials, Voicing]:
    """The lines as they stand when the last of them is spoken: whoever saves the track meanwhile is heard.

    Where somebody goes on editing for `ROUNDS` it is the lines as they were read last; it is told.
    """
    anew = rounds = 0
    while True:
        _check_lines(materials)
        voicing = speak(materials, voice, progress, shorten=shorten, force=force)
        anew += voicing.anew
        rounds += 1
        is_current = materials.is_current
        if is_current or rounds == ROUNDS:
            late = "" if is_current else STILL_EDITED
            kept = max(0, voicing.anew + voicing.kept - anew)
            return materials.of(voicing.track), replace(voicing, anew=anew, kept=kept, late=late)
        progress.note(f"{materials.file.name} or a script was changed meanwhile: it is read again.")
        materials, force = gather(materials.film, materials.folder, materials.config, materials.file), False


def _check_lines(materials: Materials) -> None:
    if not materials.track.heard:
        raise SoundError(
            f"{materials.file} has no line that is to be heard.",
            "Write some, or describe more of the film; nothing was made.",
        )
