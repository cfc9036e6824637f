"""A render: lines → takes → their places → mix → files. No engine is asked but for shorter lines.

What cannot be made is refused before anything is spoken or mixed. Only what has changed is spoken again, and
a file whose every part is as it was is left as it is. `run_render` is what every command does: what leaves
the machine is said before, and the film's log notes it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from shotad.core import (
    Config,
    FilmError,
    Progress,
    SoundError,
    UsageError,
    WorkFolder,
    WorkFolderError,
    plural,
    span,
    stem_of,
    sweep_beside,
    write_text,
)
from shotad.film import Film, choose_track, open_film
from shotad.script import TRACK, Shorten, load_track, outdated_note, write_dapt
from shotad.sound.ad_tracks import AdSound
from shotad.sound.files import kind_of
from shotad.sound.making import MONO, FileMaker, RenderRecord
from shotad.sound.mix import heard
from shotad.sound.mux_film import Assembly
from shotad.sound.outputs import OTHERWISE, Kind, OutputFile, Rendered
from shotad.sound.pauses import pauses_record, pauses_vtt
from shotad.sound.programme import RATE, programme_of
from shotad.sound.voice_engines import Speaker, make_voice, notice, plain_language
from shotad.sound.voicing import Materials, cast_is_gone, gather, speak

ROUNDS = 5
"""Times that a track is read which people change while its lines are spoken."""

STILL_EDITED = (
    "Lines were edited until after they were spoken: the files hold them as they were then. Render again "
    "when the editing is done; only changed lines are spoken again."
)


@span("mix")
def run_render(
    film: Film,
    folder: WorkFolder,
    config: Config,
    wanted: Sequence[OutputFile],
    progress: Progress,
    *,
    shorten: Callable[[WorkFolder, Config, Progress], Shorten | None] = lambda *_: None,
    file: Path | None = None,
    voice: Speaker | None = None,
    force: bool = False,
    told: bool = False,
) -> Rendered:
    """Make the ``wanted`` files of a described film; ``file`` is its track (None: the film's own).

    ``shorten`` finds who is asked for shorter lines, None where nobody is. ``voice`` None is the one that the
    settings name; none is needed where no file is heard. ``told``: what leaves this machine is said already.
    How each line was spoken goes into the track. ``force`` speaks every line and makes every file again. What
    cannot be made is refused before anything is spoken; where one of several files fails later, the others
    are made, and it is told (`Rendered.failures`).

    Raises UsageError, VoiceError, SoundError, FilmError, WorkFolderError, ScriptError, EditConflict, and what
    ``shorten`` raises.
    """
    is_heard = any(one.kind.is_heard for one in wanted)
    if voice is None and is_heard:
        voice = make_voice(config.voice, load_track(file or folder.path / TRACK).language)
    if voice is not None and not told:
        for line in notice(voice):
            progress.note(line)
    writer = shorten(folder, config, progress)
    materials = gather(film, folder, config, file)
    check_wanted(film, wanted, config, materials.track.language)
    _check_lines(materials)
    if voice is not None and is_heard:
        materials = _spoken(materials, voice, progress, writer, force=force)
        if not materials.fitting.pauses:
            check_containers(film, wanted, config, materials.track.language)
    record = RenderRecord(materials, force=force)
    materials.keep()
    if materials.voice and not materials.fitting.spoken:
        raise SoundError(
            f"None of the {len(materials.fitting.unspoken)} lines of {materials.file} found a place.",
            "Under voiced each of them says why. Shorten them, or let the film pause: --extended.",
        )
    films = (one.ending for one in wanted if one.kind.is_film and one.kind.is_heard)
    with ExitStack() as stack:
        maker = FileMaker(materials, progress, stack, next(films, OTHERWISE))
        # Make what is not there already. The first error is raised where nothing could be made.
        failures: dict[OutputFile, str] = {}
        for one in (one for one in wanted if not record.has(one)):
            try:
                record.add(maker.make(one))
            except (SoundError, FilmError, WorkFolderError) as error:
                failures[one] = str(error)
                if len(failures) == len(wanted):
                    raise
        made = [one for one in wanted if one not in failures]
        if materials.voice and record.sound is None:
            record.sound = heard(maker.report())
        sides = tuple(_side_files(maker, record, [one for one in made if one.kind.is_heard]))
    done = record.rendered(made, sides, failures, notes_on(materials))
    names = ", ".join(one.wanted.path.name for one in done.made)
    folder.note(f"rendered {names}: {len(done.spoken)} lines by {done.voice or 'no voice'}")
    return done


def _spoken(
    materials: Materials, voice: Speaker, progress: Progress, shorten: Shorten | None, *, force: bool
) -> Materials:
    """The lines as they stand when the last of them is spoken: whoever saves the track meanwhile is heard.

    Where somebody goes on editing for `ROUNDS` it is the lines as they were read last; it is told.
    """
    anew = rounds = 0
    while True:
        _check_lines(materials)
        done = speak(materials, voice, progress, shorten=shorten, force=force)
        anew += done.anew
        rounds += 1
        if (is_current := materials.is_current) or rounds == ROUNDS:
            kept = max(0, done.anew + done.kept - anew)
            return replace(done, anew=anew, kept=kept, late=not is_current)
        progress.note(f"{materials.file.name} or a script was changed meanwhile: it is read again.")
        materials, force = gather(materials.film, materials.folder, materials.config, materials.file), False


def _check_lines(materials: Materials) -> None:
    if not materials.track.heard:
        raise SoundError(
            f"{materials.file} has no line to speak.",
            "Write some in shotad review, or describe with --detail rich or --extended; nothing was made.",
        )


def _side_files(maker: FileMaker, record: RenderRecord, made: list[OutputFile]) -> Iterator[Path]:
    """Write what goes with the files ``made``: beside the description alone its DAPT script ``asRecorded``,
    which names that file and holds the ducking; beside a film that pauses, its pauses for players."""
    materials = maker.materials
    alone = next((one.path for one in made if one.kind is Kind.AD), None)
    if alone is not None and not materials.fitting.pauses:
        place = alone.with_name(f"{alone.stem}.recorded.dapt.xml")

        def script() -> str:
            return write_dapt(materials.track, alone.name, maker.mix(maker.sounds_as).gains)

        record.put_beside(place, alone, script)
        yield place
    if materials.fitting.pauses:
        language, voice = materials.track.language, materials.voice
        told = pauses_record(materials.film.info, materials.fitting, language, voice)
        stem = stem_of(materials.track.film.name)
        for name, text in (
            (f"{stem}.pauses.json", json.dumps(told, ensure_ascii=False, indent=1) + "\n"),
            (f"{stem}.pauses.vtt", pauses_vtt(told)),
        ):
            place = materials.folder.path / name
            write_text(place, text)
            yield place


def notes_on(materials: Materials) -> tuple[str, ...]:
    """Plain sentences on sound that is itself a description, on lines in another language than the voice's,
    on a translation whose source was changed, on a cast that is gone, on edits that came too late."""
    if not materials.voice:
        return ()
    notes = []
    track, own = materials.track, materials.track.language
    programme = choose_track(materials.film.info, materials.config.film.audio_track)
    if programme is not None and programme.descriptive:
        notes.append(f"The film's sound under the lines is itself an audio description: track {programme}.")
    others = Counter(
        cue.language for cue in track.heard if plain_language(cue.language) != plain_language(own)
    )
    for language, count in sorted(others.items()):
        lines = plural(count, "line is", "lines are")
        speaks = f"{materials.voice} speaks all in the track's language, {own!r}."
        notes.append(f"{lines} in {language!r}; {speaks}")
    if (stale := outdated_note(track, materials.folder)) is not None:
        notes.append(stale)
    if cast_is_gone(materials.folder.path):
        notes.append("The cast of this run is gone, and with it how its names are said.")
    if materials.late:
        notes.append(STILL_EDITED)
    return tuple(notes)


def check_wanted(film: Film, wanted: Sequence[OutputFile], config: Config, language: str) -> None:
    """Refuse files that cannot be made of this film, and make the folders of those that can.

    Raises UsageError for a place that is none, or that of the film itself; SoundError for what a container
    cannot hold; FilmError for a track of sound that the film does not have; WorkFolderError for folders that
    cannot be made.
    """
    for one in wanted:
        path = one.path
        if path.is_dir():
            raise UsageError(f"{path} is a folder.", "Give the name of a file, or another folder.")
        if not _nearest(path).is_dir():
            what = f"{path} cannot be: {_nearest(path)} is a file, not a folder."
            raise UsageError(what, "Name another folder with --out.")
        if film.info.path is not None and path.exists():
            is_film = path.samefile(film.info.path)
            with suppress(FilmError), open_film(path) as other:
                is_film = is_film or other.info.fingerprint == film.info.fingerprint
            if is_film:
                what = f"{path} is the film itself."
                raise UsageError(what, "Give the described film another name or folder.")
        if not one.kind.is_film:
            kind_of(path)
    # A copy with pauses is another film: what is in it is known when it is there.
    check_containers(
        film, [one for one in wanted if not (config.extended.on and one.kind.is_heard)], config, language
    )
    for one in wanted:
        folder = one.path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WorkFolderError(
                f"The folder {folder} cannot be made: {error.strerror}.", "Name another folder with --out."
            ) from None
        sweep_beside(one.path)


def check_containers(film: Film, wanted: Sequence[OutputFile], config: Config, language: str) -> None:
    """Raises SoundError for films that their containers cannot hold, FilmError for a track of sound that is
    not there."""
    sound = None
    if any(one.kind.is_heard for one in wanted):
        # What the track of sound will be, less its sound.
        alone = config.container.sound == "alone"
        layout = programme_of(film, config.film.audio_track).layout
        sound = AdSound((), MONO if alone else layout, RATE)
    for one in wanted:
        if one.kind.is_film:
            if film.media is None:
                raise SoundError(
                    f"{film.info.name} is a series of pictures, and no film can be made of it.",
                    "The sound can: --make ad or --make mix.",
                )
            own, text = sound if one.kind.is_heard else None, None if one.kind is Kind.FILM else ()
            with film.media.open() as source:
                Assembly(film, one.path, source, own, text, language, config.container)


def _nearest(path: Path) -> Path:
    return next(folder for folder in path.absolute().parents if folder.exists())
