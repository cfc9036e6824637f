"""A render: lines → takes → their places → mix → files. Engines are asked only for shorter lines.

`run_render` is what every command calls. It raises for a file that cannot be made before any line is spoken
or mixed. Only changed lines are spoken again, and a file whose parts are all unchanged is not written again.
What leaves the machine is noted before it is sent, and the render is noted in the film's log.
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
    FilmInfo,
    Progress,
    WorkFolder,
)
from shotad.core.errors import (
    FilmError,
    SoundError,
    UsageError,
    WorkFolderError,
)
from shotad.core.files import remove_leftovers_beside, write_text
from shotad.core.profiling import time_step
from shotad.core.progress import plural
from shotad.core.workfolder import file_stem
from shotad.film import Film, open_film
from shotad.film.audio import choose_track
from shotad.script import load_track
from shotad.script.dapt import write_dapt
from shotad.script.fit import Shorten
from shotad.script.track_files import TRACK, outdated_note
from shotad.sound.ad_tracks import AdSound
from shotad.sound.file_maker import MONO, FileMaker, RenderRecord
from shotad.sound.files import sound_kind
from shotad.sound.mix import mix_result
from shotad.sound.mux_film import Assembly
from shotad.sound.outputs import OTHERWISE, Kind, OutputFile, Rendered
from shotad.sound.pauses import pauses_record, pauses_vtt
from shotad.sound.programme import RATE, programme_of
from shotad.sound.recordings import recording_notes
from shotad.sound.spoken_lines import Materials, cast_is_gone, gather, pronunciations, speak
from shotad.sound.spoken_subtitles import (
    SpokenSubtitles,
    find_subtitles,
    speak_subtitles,
    subtitle_voice,
)
from shotad.sound.voice_engines import AUTO, Speaker, make_voice, plain_language, privacy_notes

MAX_READS = 5
"""How often a track is read at most while people go on editing it. Each read speaks only changed lines, but
somebody who edits without a break must not keep a render from ending."""

STILL_EDITED = (
    "Lines were edited until after they were spoken: the files hold them as they were then. Render again "
    "when the editing is done; only changed lines are spoken again."
)


@time_step("mix")
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
    privacy_noted: bool = False,
) -> Rendered:
    """Make the ``wanted`` files of a described film, and write into its track how each line was spoken.

    Arguments:
        file: the track (None: the film's own).
        shorten: returns the function that writes shorter lines, None where no engine may be asked.
        voice: None for the voice that the settings name. None is needed for files without a voice.
        force: speak every line and make every file again.
        privacy_noted: the user already knows what leaves this machine, so it is not noted again.

    A file that cannot be made raises before any line is spoken. Where one of several files fails later, the
    others are made, and the reason stands in `Rendered.failures`.

    Raises UsageError, VoiceError, SoundError, FilmError, WorkFolderError, ScriptError, EditConflict, and what
    ``shorten`` raises.
    """
    is_heard = any(output.kind.is_heard for output in wanted)
    if voice is None and is_heard:
        voice = make_voice(config.voice, load_track(file or folder.path / TRACK).language)
    if voice is not None and not privacy_noted:
        for line in privacy_notes(voice):
            progress.note(line)
    write_shorter = shorten(folder, config, progress)
    materials = gather(film, folder, config, file)
    check_wanted(film, wanted, config, materials.track.language)
    _need_lines(materials)
    if voice is not None and is_heard and config.voice.subtitles:
        language = materials.track.language
        subtitles = speak_film_subtitles(film.info, folder, config, language, voice, progress)
        materials = replace(materials, subtitles=subtitles)
    if voice is not None and is_heard:
        materials = _speak_newest(materials, voice, progress, write_shorter, force=force)
        if not materials.fitting.pauses:
            # With extended AD on, `check_wanted` left these to the copy with pauses, which is not made now.
            check_containers(film, wanted, config, materials.track.language)
    record = RenderRecord(materials, force=force)
    materials.save()
    if materials.voice and not materials.fitting.spoken:
        raise SoundError(
            f"None of the {len(materials.fitting.unspoken)} lines of {materials.file} found a place.",
            "Under voiced each of them says why. Shorten them, or let the film pause: --extended.",
        )
    # Where the film pauses, sound files take their sound from a copy. One that a film needs anyway will do.
    film_endings = [output.ending for output in wanted if output.kind.is_film and output.kind.is_heard]
    copy_ending = film_endings[0] if film_endings else OTHERWISE
    with ExitStack() as stack:
        maker = FileMaker(materials, progress, stack, copy_ending)
        failures: dict[OutputFile, str] = {}
        for output in wanted:
            if record.has(output):
                continue
            try:
                record.add(maker.make(output))
            except (SoundError, FilmError, WorkFolderError) as error:
                failures[output] = str(error)
                # Nothing at all could be made: that is an error of the whole render.
                if len(failures) == len(wanted):
                    raise
        present = [output for output in wanted if output not in failures]
        if materials.voice and record.sound is None:
            record.sound = mix_result(maker.report())
        with_voice = [output for output in present if output.kind.is_heard]
        side_files = tuple(_side_files(maker, record, with_voice))
    rendered = record.rendered(present, side_files, failures, notes_on(materials))
    names = ", ".join(file.output.path.name for file in rendered.made)
    folder.note(f"rendered {names}: {len(rendered.spoken)} lines by {rendered.voice or 'no voice'}")
    return rendered


def speak_film_subtitles(
    info: FilmInfo, folder: WorkFolder, config: Config, language: str, voice: Speaker, progress: Progress
) -> SpokenSubtitles:
    """Speak the subtitles that the settings ask for, else the film's forced ones, in their places.

    ``language`` and ``voice`` are those of the description. Raises SubtitleError where there are none,
    VoiceError.
    """
    source = config.voice.subtitles or AUTO
    subtitles = find_subtitles(info, source, language, encoding=config.speech.encoding)
    second_voice = subtitle_voice(config, subtitles.language, voice.name)
    for line in privacy_notes(second_voice):
        progress.note(line)
    lexicon = pronunciations(folder.path)
    return speak_subtitles(
        subtitles,
        second_voice,
        folder,
        config,
        info.duration,
        lexicon,
        progress,
        description_voice=voice.name,
    )


def _speak_newest(
    materials: Materials, voice: Speaker, progress: Progress, shorten: Shorten | None, *, force: bool
) -> Materials:
    """Speak the lines, and read the track and speak again where somebody saved it meanwhile.

    After `MAX_READS` the lines are those that were read last, and `Materials.edited_meanwhile` is set.
    """
    takes_spoken = reads = 0
    while True:
        _need_lines(materials)
        voiced = speak(materials, voice, progress, shorten=shorten, force=force)
        takes_spoken += voiced.takes_spoken
        reads += 1
        is_current = materials.is_current
        if is_current or reads == MAX_READS:
            # The last reading counts takes of the readings before among those that were kept.
            takes_kept = max(0, voiced.takes_spoken + voiced.takes_kept - takes_spoken)
            return replace(
                voiced, takes_spoken=takes_spoken, takes_kept=takes_kept, edited_meanwhile=not is_current
            )
        progress.note(f"{materials.file.name} or a script was changed meanwhile: it is read again.")
        newest = gather(materials.film, materials.folder, materials.config, materials.file)
        materials = replace(newest, subtitles=materials.subtitles)
        # The first reading has spoken every line again; now only changed lines are new.
        force = False


def _need_lines(materials: Materials) -> None:
    """Raise SoundError for a track without a line to speak."""
    if not materials.track.heard:
        raise SoundError(
            f"{materials.file} has no line to speak.",
            "Write some in shotad review, or describe with --detail rich or --extended; nothing was made.",
        )


def _side_files(maker: FileMaker, record: RenderRecord, with_voice: list[OutputFile]) -> Iterator[Path]:
    """Write the side files of the files ``with_voice``, and yield the path of each.

    Beside the description alone: its DAPT script ``asRecorded``, which names that file and holds the ducking.
    In the work folder of a film that pauses: its pauses, for players.
    """
    materials = maker.materials
    description = next((output.path for output in with_voice if output.kind is Kind.AD), None)
    # Where the film pauses, the mix stands on the copy's time, which the script does not know.
    if description is not None and not materials.fitting.pauses:
        script_file = description.with_name(f"{description.stem}.recorded.dapt.xml")

        def script() -> str:
            return write_dapt(materials.track, description.name, maker.mix(maker.copy_ending).gains)

        record.put_beside(script_file, description, script)
        yield script_file
    if materials.fitting.pauses:
        language, voice = materials.track.language, materials.voice
        pauses = pauses_record(materials.film.info, materials.fitting, language, voice)
        stem = file_stem(materials.track.film.name)
        texts = {
            f"{stem}.pauses.json": json.dumps(pauses, ensure_ascii=False, indent=1) + "\n",
            f"{stem}.pauses.vtt": pauses_vtt(pauses),
        }
        for name, text in texts.items():
            side_file = materials.folder.path / name
            write_text(side_file, text)
            yield side_file


def notes_on(materials: Materials) -> tuple[str, ...]:
    """Plain sentences on sound that is itself a description, on lines in another language than the voice's,
    on a translation whose source was changed, on a missing cast, on edits that came too late."""
    if not materials.voice:
        return ()
    notes: list[str] = []
    track = materials.track
    programme = choose_track(materials.film.info, materials.config.film.audio_track)
    if programme is not None and programme.descriptive:
        notes.append(f"The film's sound under the lines is itself an audio description: track {programme}.")
    lines_in: Counter[str] = Counter()
    for cue in track.heard:
        if plain_language(cue.language) != plain_language(track.language):
            lines_in[cue.language] += 1
    for language, count in sorted(lines_in.items()):
        lines = plural(count, "line is", "lines are")
        speaks = f"{materials.voice} speaks all in the track's language, {track.language!r}."
        notes.append(f"{lines} in {language!r}; {speaks}")
    notes += recording_notes(materials.folder.path, track)
    outdated = outdated_note(track, materials.folder)
    if outdated is not None:
        notes.append(outdated)
    if materials.subtitles is not None:
        notes += materials.subtitles.notes
    if cast_is_gone(materials.folder.path):
        notes.append("The cast of this run is gone, and with it how its names are said.")
    if materials.edited_meanwhile:
        notes.append(STILL_EDITED)
    return tuple(notes)


def check_wanted(film: Film, wanted: Sequence[OutputFile], config: Config, language: str) -> None:
    """Check that every file can be made of this film, and make the folders of all.

    Raises UsageError for a path that is a folder, lies below a file, or is the film itself; SoundError for
    what a container cannot hold; FilmError for an audio track that the film does not have; WorkFolderError
    for folders that cannot be made.
    """
    for output in wanted:
        path = output.path
        if path.is_dir():
            raise UsageError(f"{path} is a folder.", "Give the name of a file, or another folder.")
        if not _nearest(path).is_dir():
            message = f"{path} cannot be: {_nearest(path)} is a file, not a folder."
            raise UsageError(message, "Name another folder with --out.")
        if film.info.path is not None and path.exists():
            is_film = path.samefile(film.info.path)
            # A copy of the film is as dear as the film. What is no film (an older sound file) may go.
            with suppress(FilmError), open_film(path) as present:
                is_film = is_film or present.info.fingerprint == film.info.fingerprint
            if is_film:
                message = f"{path} is the film itself."
                raise UsageError(message, "Give the described film another name or folder.")
        if not output.kind.is_film and output.kind is not Kind.SIDECAR:
            sound_kind(path)  # raises SoundError for an ending that is not written
    # The copy with pauses is another film; its streams are known only when it is made.
    without_pauses = [output for output in wanted if not (config.extended.on and output.kind.is_heard)]
    check_containers(film, without_pauses, config, language)
    for output in wanted:
        folder = output.path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WorkFolderError(
                f"The folder {folder} cannot be made: {error.strerror}.", "Name another folder with --out."
            ) from None
        remove_leftovers_beside(output.path)


def check_containers(film: Film, wanted: Sequence[OutputFile], config: Config, language: str) -> None:
    """Raise SoundError for films that their containers cannot hold, FilmError for an audio track that is
    not there."""
    ad_sound = None
    if any(output.kind.is_heard for output in wanted):
        # The right channels without samples: whether a container holds the track depends on no sample.
        is_alone = config.container.sound == "alone"
        layout = programme_of(film, config.film.audio_track).layout
        ad_sound = AdSound((), MONO if is_alone else layout, RATE)
    for output in wanted:
        if not output.kind.is_film:
            continue
        if film.media is None:
            raise SoundError(
                f"{film.info.name} is a series of pictures, and no film can be made of it.",
                "The sound can: --make ad or --make mix.",
            )
        sound = ad_sound if output.kind.is_heard else None
        text = None if output.kind is Kind.FILM else ()
        with film.media.open() as source:
            # Planning the streams raises what writing them would; nothing is written.
            Assembly(film, output.path, source, sound, text, language, config.container)


def _nearest(path: Path) -> Path:
    """The nearest parent of ``path`` that exists."""
    return next(parent for parent in path.absolute().parents if parent.exists())
