"""The functions of ``import shotad`` (docs/python.md).

All times are float seconds from the film's start, and all intervals are half-open, ``[start, end)``. Every
error is a `ShotadError` that says what happened, with which value, and what to do. Problems that still leave
a result are warnings of the class `ShotadWarning`. Nothing is printed unless ``progress`` is set; the logger
``shotad`` gets notes and warnings. No function installs a signal handler or ends the process.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import (
    Progress,
    ShotadError,
    ShotadWarning,
    load_config,
)
from shotad.core.arguments import (
    check_callback,
    check_progress,
    check_token,
    flag_of,
    names_of,
    optional_path,
    optional_text,
    path_of,
    text_of,
)
from shotad.core.cancellation import CancelToken, Stoppable, cancellable
from shotad.core.config import ConfigNames, config_names
from shotad.core.errors import (
    ScriptError,
    UsageError,
    WorkFolderError,
    quoted,
)
from shotad.core.memory_errors import explain_memory_errors
from shotad.core.progress import LOG, Display, LoggedProgress, display_mode, terminal_text
from shotad.core.python_words import PythonNotes, in_python, python_messages
from shotad.core.redaction import redact_sent_secrets
from shotad.core.settings import assignments_of
from shotad.core.text_files import read_text_file
from shotad.core.types import frame_rate_of

if TYPE_CHECKING:
    from shotad.cli.cue_iterator import CueIterator
    from shotad.core import (
        Config,
        RunInputs,
        Shot,
        ShotScale,
        WorkFolder,
    )
    from shotad.core.runsettings import GivenCast
    from shotad.description import Inputs, RunContext
    from shotad.description.film_questions import FilmAnswer
    from shotad.evaluation import Report
    from shotad.film import Film
    from shotad.script import Cue, Track
    from shotad.sound import Rendered
    from shotad.sound.alignment import Alignment

PathLike = str | os.PathLike[str]
OFF = "off"
"""In place of subtitles, a cast or a note: none is used, also not what lies beside the film or inside it."""
Settings = Mapping[str, Any] | Iterable[str] | None
"""Settings by dotted key, nested ones, or ``KEY=VALUE`` as the commands take them."""


@python_messages
def describe(
    film: PathLike | Film,
    *,
    engine: str | None = None,
    existing: str | None = None,
    cast: PathLike | GivenCast | None = None,
    note: PathLike | None = None,
    subtitles: PathLike | None = None,
    slots: PathLike | None = None,
    shots: PathLike | None = None,
    start: float = 0.0,
    end: float | None = None,
    taste: PathLike | None = None,
    config: ConfigNames = None,
    settings: Settings = None,
    out: PathLike | None = None,
    force: bool = False,
    discard_edits: bool = False,
    worksheet: bool = True,
    on_cue: Callable[[Cue], object] | None = None,
    cancel: CancelToken | None = None,
    progress: bool | Progress = False,
) -> Track:
    """Describe a film and return its track, whose ``track.heard`` are the spoken lines.

    The work folder keeps the track, its scripts and the result of each step. A second call continues where
    the first stopped, and keeps the lines that a person changed.

    Args:
        film: A film file, or an open `Film` (numbered frames: see `open_film`).
        engine: The models to use: ``"auto"``, ``"embedded"``, ``"small"``, ``"paper"``, ``"openai"``,
            ``"ollama:MODEL"`` and others (docs/engines.md). None: as ``config`` says, else ``"auto"``.
        existing: What to do if the film has an audio description in this language already: ``"stop"``,
            ``"complete"`` (keep its lines, describe slots without one) or ``"ignore"``. None: as ``config``
            says, else ``"stop"``.
        cast: The people to name: a cast folder, a ``cast.yaml``, a folder of photos, or a `GivenCast`. None:
            ``movie.cast`` or ``movie.cast.yaml`` beside the film, else ``cast`` or ``cast.yaml`` there.
            ``"off"``: nobody.
        note: Text file with your note on the film. None: the setting ``prompt.note``, else ``movie.note.txt``
            beside the film. ``"off"``: as the setting says.
        subtitles: Subtitle file of the film. Lines then keep clear of its dialogue. None: the file beside the
            film, else the text track inside it, else the sound. ``"off"``: the sound.
        slots: File with the slots to describe (VTT, SRT, CSV or JSON). None: they are found.
        shots: File with the shots (CSV, JSON, EDL, a scene list of PySceneDetect). None: they are found.
        start: Second of the film. Slots that begin earlier are left out.
        end: Second of the film. Slots that begin then or later are left out. None: the film's end.
        taste: A track for a taste, ``"brief"``, ``"rich"`` or a YAML file of yours, in a work folder of its
            own: ``movie.brief.shotad``. What was found in the film before is not looked for again.
        config: A preset (``"paper"``), a YAML file, a `Config`, or a list of these.
        settings: Single settings, such as ``{"slots.minimum": 3}``. They win over ``config``.
        out: The work folder. None: ``movie.shotad`` beside ``movie.mp4``.
        force: Do everything again. People's edits stay.
        discard_edits: Throw away people's edits.
        worksheet: Draw ``worksheet.html`` too.
        on_cue: Called with each line as soon as it is written, in the order of the film and in the caller's
            thread; also with lines of earlier runs, and with those that are not spoken. People's edits are
            not in them yet: the track has the last word. What it raises stops the run and is raised.
        cancel: Stops the call from another thread; see `CancelToken`.
        progress: True shows progress on standard error. An object with the methods of `Progress` gets the
            calls instead.

    Returns:
        The track. ``track.cues`` has every line, also those that were dropped, failed or left empty.

    Raises:
        ShotadError: Every slot failed.
        Cancelled: By ``cancel``.
        FilmError: The film cannot be read.
        UsageError: An argument cannot be used. ``ConfigError`` for a setting.
        EngineError: The engine is unknown, not installed or does not answer. ``WeightsError`` for weights.
        SubtitleError: The subtitles or slots cannot be read.
        ScriptError: The track in the work folder is damaged.
        DescriptionExists: The film has a description already, and ``existing`` is ``"stop"``.
        CastError: The cast cannot be read.
        WorkFolderError: The work folder cannot be used. ``OtherFilm``: it belongs to another film.
            ``EditConflict``: one line was edited in two places. ``FolderInUse``: another process uses it.
    """
    from shotad.core import RunInputs
    from shotad.core.runsettings import GivenCast, write_settings
    from shotad.core.system import release_memory
    from shotad.description import Engines, describe as describe_film, open_engines
    from shotad.description.both_stages import ignore_cue
    from shotad.description.taste import begin_with_records, taste_config, taste_folder

    check_callback("on_cue", on_cue)
    discard_edits, worksheet = flag_of("discard_edits", discard_edits), flag_of("worksheet", worksheet)
    names = config_names(config)
    if taste is not None:
        taste = os.fspath(path_of("taste", taste))
        names = (*names, taste_config(taste))
        out = taste_folder(_film_path(film), taste) if out is None else out
    no_subtitles = is_off(subtitles)
    resolved = load_config(
        names,
        settings,
        engine=optional_text("engine", engine),
        existing=optional_text("existing", existing),
        speech__source="sound" if no_subtitles else None,
    )
    shown = shown_progress(progress)
    source = _film_or_path(film)
    film_file = source if isinstance(source, Path) else source.info.path
    resolved = with_note(resolved, optional_path("note", note), film_file, shown)
    if isinstance(cast, GivenCast):
        named: GivenCast | None = cast
    else:
        people = cast_or_beside(optional_path("cast", cast), film_file, shown)
        named = None if people is None else GivenCast(people)
    run_inputs = RunInputs(
        None if no_subtitles else optional_path("subtitles", subtitles),
        optional_path("slots", slots),
        optional_path("shots", shots),
        start,
        end,
        named,
    )
    engines = Engines.of(resolved)
    engines.check_machine(resolved)
    if taste is not None:
        begin_with_records(_work_folder(film, out), _film_path(film))
    with work_on(
        film, resolved, out, run_inputs=run_inputs, force=force, describes=True, cancel=cancel
    ) as run:
        opened, folder, inputs = run
        for line in open_engines(resolved, folder.path, engines):
            shown.note(line)
        outcome = describe_film(
            opened,
            folder,
            resolved,
            inputs,
            engines=engines,
            progress=shown,
            discard_edits=discard_edits,
            sheet=worksheet,
            on_cue=on_cue or ignore_cue,
            on_accepted=partial(
                write_settings,
                folder,
                resolved,
                opened.info.path,
                run_inputs,
                frame_rate=opened.info.frame_rate if opened.media is None else None,
                configs=[name for name in names if isinstance(name, str)],
                assignments=assignments_of(settings),
            ),
        )
    release_memory(collect=True)
    failures = outcome.failures
    total = len(outcome.cues) + len(outcome.failed_slots)
    if failures:
        first = f"{failures[0].rstrip('.')}."
        again = "Call it again: what is done is kept, and what failed is tried again."
        if outcome.only_outside:
            again = "Correct their times in the file of slots."
        if outcome.all_failed:
            may_help = not outcome.only_outside
            raise ShotadError(f"{len(failures)} of {total} slots failed: {first}", again, again=may_help)
        _warn(f"{len(failures)} of {total} slots failed; the first: {first} {again}")
    for text in outcome.warnings:
        _warn(text)
    return outcome.track


def iter_cues(
    film: PathLike | Film,
    *,
    engine: str | None = None,
    existing: str | None = None,
    cast: PathLike | GivenCast | None = None,
    note: PathLike | None = None,
    subtitles: PathLike | None = None,
    slots: PathLike | None = None,
    shots: PathLike | None = None,
    start: float = 0.0,
    end: float | None = None,
    taste: PathLike | None = None,
    config: ConfigNames = None,
    settings: Settings = None,
    out: PathLike | None = None,
    force: bool = False,
    discard_edits: bool = False,
    worksheet: bool = True,
    cancel: CancelToken | None = None,
    progress: bool | Progress = False,
) -> CueIterator:
    """Describe a film and yield each line as soon as it is written, in the order of the film.

    The film is described in a thread of its own, whether the lines are taken or not. The lines are those that
    ``on_cue`` of `describe` gets. Use it as ``with shotad.iter_cues(film) as cues``: leaving the block early
    stops the run, and a next call continues.

    Args:
        film: As in `describe`, and so are all other arguments. ``progress`` is called in the other thread.

    Returns:
        The iterator. ``cues.result()`` waits for the rest and returns the finished track.

    Raises:
        ShotadError: As in `describe`, from the iterator and from ``result``.
    """
    from shotad.cli.cue_iterator import CueIterator

    def describe_film(on_cue: Callable[[Cue], None]) -> Track:
        return describe(
            film,
            engine=engine,
            existing=existing,
            cast=cast,
            note=note,
            subtitles=subtitles,
            slots=slots,
            shots=shots,
            start=start,
            end=end,
            taste=taste,
            config=config,
            settings=settings,
            out=out,
            force=force,
            discard_edits=discard_edits,
            worksheet=worksheet,
            on_cue=on_cue,
            cancel=cancel,
            progress=progress,
        )

    return CueIterator(describe_film)


@python_messages
def render(
    film: PathLike | Film,
    track: Track | PathLike | None = None,
    file: PathLike | None = None,
    *,
    make: str | Sequence[str] = "film",
    voice: str | None = None,
    config: ConfigNames = None,
    settings: Settings = None,
    out: PathLike | None = None,
    force: bool = False,
    cancel: CancelToken | None = None,
    progress: bool | Progress = False,
) -> Rendered:
    """Speak a track and write the described film, listed in ``rendered.made``.

    Settings, speech and slots come from the work folder. It also keeps each spoken line, so that only changed
    lines are spoken again. For a film that was never described, speech is found first. Broken rules and files
    that could not be made are warnings too.

    Args:
        film: A film file, or an open `Film` (numbered frames: see `open_film`).
        track: A `Track`, or the file of one. None: the track of the work folder.
        file: The file or folder to write. None: the work folder, as ``movie.described.mp4``.
        make: What to write, one or several of ``"film"``, ``"film+text"``, ``"text"``, ``"ad"`` (the
            description alone) and ``"mix"`` (the film's sound with it). A format may follow: ``"ad:mp3"``.
        voice: A name that ``shotad voices`` lists. None: as the settings say.
        config: A preset (``"paper"``), a YAML file, a `Config`, or a list of these.
        settings: Single settings, such as ``{"slots.minimum": 3}``. They win over ``config``.
        out: The work folder. None: ``movie.shotad`` beside ``movie.mp4``.
        force: Speak every line and write every file again.
        cancel: Stops the call from another thread; see `CancelToken`.
        progress: True shows progress on standard error. An object with the methods of `Progress` gets the
            calls instead.

    Returns:
        The files (``made``), the lines that were not spoken (``unspoken``), broken rules (``findings``) and
        files that could not be made (``failures``).

    Raises:
        FilmError: The film cannot be read.
        UsageError: An argument cannot be used. ``ConfigError`` for a setting.
        ScriptError: There is no track, or it is damaged.
        Cancelled: By ``cancel``.
        OtherFilm: The track or the work folder belongs to another film.
        WorkFolderError: The work folder cannot be used.
        VoiceError: The voice is unknown, not installed, cannot speak the language, or failed.
        SoundError: The film or its sound cannot be made as asked.
    """
    from shotad.core.runsettings import (
        check_engine_known,
        read_settings,
        render_config,
    )
    from shotad.core.workfolder import SETTINGS_FILE
    from shotad.description import RunContext
    from shotad.description.preparation import film_shots, film_speech
    from shotad.description.shorter_lines import shortener
    from shotad.script import load_track
    from shotad.sound import run_render
    from shotad.sound.outputs import film_to_lie_beside, parse_wanted, wanted_files

    force, voice = flag_of("force", force), optional_text("voice", voice)
    place, shown = _work_folder(film, out), shown_progress(progress)
    run = read_settings(place) if (place / SETTINGS_FILE).is_file() else None
    names, assignments = config_names(config), assignments_of(settings)
    files = [name for name in names if isinstance(name, str)]
    if run is None or len(files) < len(names):
        resolved = load_config(config, assignments, voice__name=voice)
    else:
        resolved = render_config(run.config, files, assignments, voice__name=voice)
        if run.warning:
            _warn(run.warning)
        if resolved.fit.ask:
            check_engine_known(run, assignments)
    kinds = parse_wanted(names_of("make", make, 'Give "film", "ad:mp3" or several.'))
    target_path = optional_path("file", file)
    rate = run.frame_rate if run else None
    with work_on(film, resolved, place, frame_rate=rate, cancel=cancel) as (opened, folder, inputs):
        source = _track_file(track, folder)
        spoken = load_track(source)
        tag = spoken.language if spoken.translated_from else ""
        targets = wanted_files(
            kinds,
            spoken.film.name,
            place,
            out=target_path,
            tag=tag,
            language=spoken.language,
            beside=film_to_lie_beside(opened),
        )
        if run is None:
            context = RunContext.of(opened, folder, resolved, inputs, shown)
            film_speech(context)
            if resolved.extended.on:
                film_shots(context)
        done = run_render(
            opened, folder, resolved, targets, shown, shorten=shortener, file=source, force=force
        )
    for text in (*done.warnings, *map(str, done.findings)):
        _warn(text)
    for target, reason in done.failures.items():
        _warn(f"{target.path} was not made: {reason}")
    return done


@python_messages
def ask(
    film: PathLike | Film,
    question: str,
    *,
    at: float | None = None,
    engine: str | None = None,
    settings: Settings = None,
    out: PathLike | None = None,
    cancel: CancelToken | None = None,
    progress: bool | Progress = False,
) -> FilmAnswer:
    """Answer a question about a described film that stands still at a moment.

    The answer rests on what was described, said, read and recognised up to that moment; a model that sees
    pictures also gets the frames of the last seconds before it. Nothing of later is used.

    Args:
        film: A film file that was described, or an open `Film`.
        question: What a listener wants to know, in any language.
        at: Second of the film. None: its end.
        engine: The model that answers, as for `describe`. None: that of the run. The embedded engine reads
            no questions: then the answer is what was recorded last.
        settings: Single settings, such as ``{"language": "de"}``, the language of the answer (else that of
            the description). They win over those of the run.
        out: The work folder. None: ``movie.shotad`` beside ``movie.mp4``.
        cancel: Stops the call from another thread.
        progress: True shows progress on standard error. An object with the methods of `Progress` gets the
            calls instead.

    Returns:
        ``answer.text``, and in ``answer.moments`` what it rests on.

    Raises:
        FilmError: The film cannot be read.
        UsageError: The question is empty, or ``at`` lies outside the film.
        EngineError: The engine is unknown, not installed, or does not answer.
        WorkFolderError: The film was not described, or its records are damaged.
    """
    from shotad.core.runsettings import read_settings
    from shotad.core.workfolder import SETTINGS_FILE
    from shotad.description import Engines
    from shotad.description.film_questions import FilmQuestions, answering_engine, asking_config
    from shotad.script import load_track
    from shotad.script.track_files import TRACK

    question = text_of("question", question)
    place = _work_folder(film, out)
    if not all((place / name).is_file() for name in (SETTINGS_FILE, TRACK)):
        raise WorkFolderError(f"{place} holds no description.", "Call describe first.")
    run = read_settings(place)
    language = load_track(place / TRACK).language
    config = asking_config(
        run, language, engine=optional_text("engine", engine), assignments=assignments_of(settings)
    )
    if run.warning:
        _warn(run.warning)
    with work_on(film, config, place, frame_rate=run.frame_rate, cancel=cancel) as (opened, folder, _):
        questions = FilmQuestions(opened, folder, config, at=at)
        return questions.answer(question, answering_engine(Engines.of(config), shown_progress(progress)))


@python_messages
def align(
    film: PathLike | Film,
    recording: PathLike,
    *,
    config: ConfigNames = None,
    settings: Settings = None,
    out: PathLike | None = None,
    force: bool = False,
    cancel: CancelToken | None = None,
    progress: bool | Progress = False,
) -> Alignment:
    """Fit a described recording to a film by their sound.

    The recording holds the film's sound under a narrator. It may begin elsewhere, run at another speed, lack
    scenes or have others. The work folder keeps the result.

    Args:
        film: A film file, or an open `Film` of one.
        recording: A sound file, or a film whose sound is meant. Of several tracks the one with description.
        config: A preset (``"paper"``), a YAML file, a `Config`, or a list of these.
        settings: Single settings, such as ``{"film.audio_track": 1}``. They win over ``config``.
        out: The work folder. None: ``movie.shotad`` beside ``movie.mp4``.
        force: Fit the recording again.
        cancel: Stops the call from another thread.
        progress: True shows progress on standard error. An object with the methods of `Progress` gets the
            calls instead.

    Returns:
        The pieces that both hold, each with its seconds in film and recording, and what is missing on either
        side.

    Raises:
        FilmError: The film or the recording cannot be read, or the recording has no sound.
        SoundError: A sound is missing, silent or too short, or the recording is of another film.
        UsageError: An argument cannot be used. ``ConfigError`` for a setting.
        WorkFolderError: The work folder cannot be used. ``OtherFilm``: it belongs to another film.
    """
    return fit_recording(
        film,
        path_of("recording", recording),
        load_config(config, settings),
        shown_progress(progress),
        out=out,
        force=force,
        cancel=cancel,
    )


def fit_recording(
    film: PathLike | Film,
    recording: Path,
    config: Config,
    progress: Progress,
    *,
    out: PathLike | None = None,
    force: bool = False,
    cancel: CancelToken | None = None,
) -> Alignment:
    """As `align`, with options of commands in its messages."""
    from shotad.film import open_sound
    from shotad.sound.alignment import align_files

    sound_file = open_sound(recording)
    with work_on(film, config, out, force=force, cancel=cancel) as (opened, folder, _):
        return align_files(opened, sound_file, folder, progress, film_track=config.film.audio_track)


@python_messages
def open_film(
    film: PathLike,
    *,
    frame_rate: Fraction | float | str | None = None,
    config: ConfigNames = None,
    settings: Settings = None,
) -> Film:
    """Open a film for reading. Close it with ``with``.

    Args:
        film: A film file, or a folder or tar of numbered frames.
        frame_rate: Frames per second of numbered frames, such as 3 or ``"24000/1001"``. Not used for files.
        config: A preset (``"paper"``), a YAML file, a `Config`, or a list of these.
        settings: Single settings, such as ``{"slots.minimum": 3}``. They win over ``config``.

    Returns:
        The film. ``film.info`` has its size in pixels, its length in seconds and more.
        ``film.frames_at(seconds)`` yields frames; ``frame.rgb()`` is the picture, ``uint8[H, W, 3]``,
        upright, with square pixels.

    Raises:
        FilmError: It cannot be read as a film.
        UsageError: An argument cannot be used. ``ConfigError`` for a setting.
    """
    from shotad.film import open_film as open_film_file

    return open_film_file(
        path_of("film", film),
        reader=load_config(config, settings).film.reader,
        frame_rate=frame_rate_of(frame_rate),
    )


@python_messages
def detect_shots(
    film: PathLike | Film,
    *,
    config: ConfigNames = None,
    settings: Settings = None,
    out: PathLike | None = None,
    cancel: CancelToken | None = None,
    progress: bool | Progress = False,
) -> tuple[Shot, ...]:
    """Find the shots of a film.

    Args:
        film: A film file, or an open `Film` (numbered frames: see `open_film`).
        config: A preset (``"paper"``), a YAML file, a `Config`, or a list of these.
        settings: Single settings, such as ``{"slots.minimum": 3}``. They win over ``config``.
        out: A work folder that keeps the result and is asked first. None: nothing is kept.
        cancel: Stops the call from another thread; see `CancelToken`.
        progress: True shows progress on standard error. An object with the methods of `Progress` gets the
            calls instead.

    Returns:
        The shots in order, numbered from 0, without gaps, up to the film's end. Times are in seconds.

    Raises:
        FilmError: The film cannot be read.
        UsageError: An argument cannot be used. ``ConfigError`` for a setting.
        WorkFolderError: The work folder cannot be used.
    """
    from shotad.description.preparation import film_shots

    with _context(film, load_config(config, settings), out, cancel, progress) as context:
        film_record = film_shots(context)
    if film_record.damage:
        _warn(film_record.damage)
    return film_record.shots


@python_messages
def find_threads(
    film: PathLike | Film,
    shots: Sequence[Shot] | None = None,
    *,
    config: ConfigNames = None,
    settings: Settings = None,
    out: PathLike | None = None,
    cancel: CancelToken | None = None,
    progress: bool | Progress = False,
) -> tuple[tuple[int, ...], ...]:
    """Find which shots share a camera set-up.

    Shots are compared if they are as near to each other as shots of one clip. The method is that of
    Shot-by-Shot, section 3.1, with the features that ``threads.features`` names.

    Args:
        film: A film file, or an open `Film` (numbered frames: see `open_film`).
        shots: Shots in order that do not overlap, each with its own index. None: those of `detect_shots`.
        config: A preset (``"paper"``), a YAML file, a `Config`, or a list of these.
        settings: Single settings, such as ``{"slots.minimum": 3}``. They win over ``config``.
        out: A work folder that keeps the result and is asked first; shot scales are read for it too. None:
            nothing is kept.
        cancel: Stops the call from another thread; see `CancelToken`.
        progress: True shows progress on standard error. An object with the methods of `Progress` gets the
            calls instead.

    Returns:
        The threads: groups of two or more `Shot.index`, ascending.

    Raises:
        FilmError: The film cannot be read.
        UsageError: An argument cannot be used. ``ConfigError`` for a setting.
        WorkFolderError: The work folder cannot be used.
        WeightsError: Weights are missing, or differ from their hash.
    """
    rows = _grammar(film, shots, config, settings, out, cancel, progress, without="scale.method=none")
    threads: dict[str, list[int]] = {}
    for row in rows:
        if row["thread"]:
            threads.setdefault(row["thread"], []).append(row["index"])
    return tuple(tuple(thread) for thread in threads.values())


@python_messages
def shot_scales(
    film: PathLike | Film,
    shots: Sequence[Shot] | None = None,
    *,
    config: ConfigNames = None,
    settings: Settings = None,
    out: PathLike | None = None,
    cancel: CancelToken | None = None,
    progress: bool | Progress = False,
) -> dict[int, ShotScale]:
    """Classify how close the camera is in each shot, from extreme close-up to long shot.

    Args:
        film: A film file, or an open `Film` (numbered frames: see `open_film`).
        shots: Shots in order that do not overlap, each with its own index. None: those of `detect_shots`.
        config: A preset (``"paper"``), a YAML file, a `Config`, or a list of these.
        settings: Single settings, such as ``{"slots.minimum": 3}``. They win over ``config``.
        out: A work folder that keeps the result and is asked first; threads are found for it too. None:
            nothing is kept.
        cancel: Stops the call from another thread; see `CancelToken`.
        progress: True shows progress on standard error. An object with the methods of `Progress` gets the
            calls instead.

    Returns:
        The scale by `Shot.index`. A shot whose scale is not clear is left out.

    Raises:
        FilmError: The film cannot be read.
        UsageError: An argument cannot be used. ``ConfigError`` for a setting.
        WorkFolderError: The work folder cannot be used.
        WeightsError: Weights are missing, or differ from their hash.
    """
    from shotad.core import ShotScale

    rows = _grammar(film, shots, config, settings, out, cancel, progress, without="threads.features=none")
    return {row["index"]: ShotScale(row["scale"]) for row in rows if row["scale"]}


@python_messages
def evaluate(
    predictions: PathLike | Sequence[PathLike],
    dataset: PathLike,
    *,
    root: PathLike | None = None,
    metrics: str | Sequence[str] = "all",
    annotation: PathLike | None = None,
    actions: PathLike | None = None,
    casts: PathLike | None = None,
    descriptions: PathLike | None = None,
    id_column: str | None = None,
    text_column: str | None = None,
    judges: Sequence[str] = (),
    missing: str | None = None,
    system: str = "",
    shard: str | None = None,
    cache: PathLike | None = None,
    config: ConfigNames = None,
    settings: Settings = None,
    out: PathLike | None = None,
    force: bool = False,
    cancel: CancelToken | None = None,
    progress: bool | Progress = False,
) -> Report:
    """Score predicted ADs against human ADs.

    Args:
        predictions: A CSV or JSON Lines file, or a list of its shards. Ids match it to the dataset.
        dataset: ``"cmd-ad"``, ``"mad-eval"`` or ``"tv-ad"``, a YAML file that describes another dataset, or a
            CSV or JSON Lines file of human ADs.
        root: Folder of the dataset. None: its folder in ``$SHOTAD_DATASETS``, else the working directory.
        metrics: Names as a list or with commas (docs/evaluation.md). ``"all"``: all that can run here.
        annotation: File of the human ADs, if elsewhere.
        actions: File of the actions in the human ADs, if elsewhere.
        casts: Names of characters by film (JSON), if elsewhere.
        descriptions: File with the texts of Stage I, if not in ``predictions``.
        id_column: Column of the ids in ``predictions``.
        text_column: Column of the texts in ``predictions``.
        judges: LLM judges, such as ``["openai:gpt-4o"]``.
        missing: How ADs without a prediction count: ``"zero"`` as 0, ``"skip"`` not at all. None: as the
            settings say, else ``"zero"``.
        system: Name of the system in the report.
        shard: ``"K/N"``: only part K of N of the films.
        cache: File that keeps computed values. None: the user's own.
        config: A preset (``"paper"``), a YAML file, a `Config`, or a list of these.
        settings: Single settings, such as ``{"slots.minimum": 3}``. They win over ``config``.
        out: Folder for the report (``report.html``, ``report.json``, ``items.csv`` and others). None: none is
            written.
        force: Compute everything again.
        cancel: Stops the call from another thread; see `CancelToken`.
        progress: True shows progress on standard error. An object with the methods of `Progress` gets the
            calls instead.

    Returns:
        The report. ``report.values`` has the value of each metric; ``report.notes`` are remarks in words.

    Raises:
        DatasetError: The dataset or the predictions are missing or malformed.
        EvaluationError: A metric is unknown, or cannot be computed here.
        UsageError: An argument cannot be used. ``ConfigError`` for a setting.
    """
    from shotad.evaluation import (
        Shard,
        check_folder,
        evaluate as run_evaluation,
        read_inputs,
        read_report,
        write_report,
    )

    files = predictions if isinstance(predictions, list | tuple) else [predictions]
    tables = [path_of("predictions", file) for file in files]
    if not tables:
        raise UsageError("predictions = [] names no file.", "Give a file, or a list of its shards.")
    part = Shard.parse(optional_text("shard", shard) or "1/1")
    names = names_of("metrics", metrics, 'Give "all", a name or several.')
    judge_names = names_of("judges", judges, 'Give a list, such as ["openai:gpt-4o"].')
    force = flag_of("force", force)
    shown = shown_progress(progress)
    check_token(cancel)
    with cancellable(cancel), explain_memory_errors(), _folder(out) as folder:
        check_folder(folder)
        inputs = read_inputs(
            str(path_of("dataset", dataset)),
            tables,
            root=optional_path("root", root),
            annotation=optional_path("annotation", annotation),
            actions=optional_path("actions", actions),
            casts=optional_path("casts", casts),
            id_column=optional_text("id_column", id_column),
            text_column=optional_text("text_column", text_column),
            descriptions=optional_path("descriptions", descriptions),
            configs=config_names(config),
            assignments=assignments_of(settings),
            missing=optional_text("missing", missing),
            judges=judge_names,
            system=text_of("system", system),
            metrics=names,
        )
        run = run_evaluation(
            inputs, names, shown, shard=part, cache=optional_path("cache", cache), force=force
        )
        write_report(folder, run, plots=out is not None)
        return read_report(folder)


@contextmanager
def work_on(
    source: PathLike | Film,
    config: Config,
    out: PathLike | None = None,
    *,
    run_inputs: RunInputs | None = None,
    frame_rate: Fraction | None = None,
    force: bool = False,
    describes: bool = False,
    cancel: CancelToken | None = None,
) -> Iterator[tuple[Film, WorkFolder, Inputs]]:
    """The film, open; its work folder, held: ``out``, or the one beside it; and ``run_inputs``, read.

    The work in the block stops when ``cancel`` is cancelled.

    The film is opened first, and what is given for it is checked, so that a mistaken name leaves no folder
    behind. With ``describes`` a description that the film has is looked for. Raises DescriptionExists where
    the run stops for it; OtherFilm where the folder's track is of another film, before anything is written.
    """
    from shotad.core import RunInputs, WorkFolder
    from shotad.description import Inputs
    from shotad.description.existing import find_existing
    from shotad.description.inputs import passed_over_beside, with_subtitles_beside
    from shotad.film import open_film as open_film_file
    from shotad.script import present_track

    source, force = _film_or_path(source), flag_of("force", force)
    check_token(cancel)
    with cancellable(cancel), explain_memory_errors(), ExitStack() as stack:
        if isinstance(source, Path):
            opened = open_film_file(source, reader=config.film.reader, frame_rate=frame_rate)
            film = stack.enter_context(opened)
        else:
            film = source
        with_files = with_subtitles_beside(film.info, config, run_inputs or RunInputs())
        notes: tuple[str, ...] = ()
        place = _work_folder(source, out)
        if describes:
            with_files, notes = find_existing(film.info, config, place, with_files)
            notes = (*notes, *passed_over_beside(film.info, config, with_files))
        inputs = Inputs(film.info, config, with_files, notes)
        if run_inputs is not None:
            inputs.check()
        folder = stack.enter_context(WorkFolder(place, force=force))
        present_track(folder, film.info, with_scripts=False)
        yield film, folder, inputs


def with_note(config: Config, note: Path | None, film: Path | None, progress: Progress) -> Config:
    """``config`` with the text of the file ``note``; without one, with that of the note beside the film,
    where the settings have none. `OFF`: as it is.

    Raises UsageError for a file that cannot be read, or is empty and was named; ConfigError for a link beside
    the film that leads elsewhere.
    """
    from shotad.film.beside import note_beside

    if is_off(note):
        return config
    is_named = note is not None
    if note is None and film is not None and not config.prompt.note:
        note = note_beside(film)
    if note is None:
        return config
    error = partial(UsageError, usage=False)
    file = read_text_file(note, "note", error, hint="Name a text file.")
    text = file.text.strip()
    if file.note:
        progress.note(f"{note} {file.note}.")
    if not text and is_named:
        raise UsageError(f"The note {note} is empty.", "Write names, place and tone of the film into it.")
    if not is_named:
        state = "" if text else ", is empty"
        progress.note(f"Note: {note.name}, beside the film{state}.")
    return config.model_copy(update={"prompt": config.prompt.model_copy(update={"note": text})})


def cast_or_beside(cast: Path | None, film: Path | None, progress: Progress) -> Path | None:
    """``cast``, else the cast beside the film; None where there is none, and for `OFF`. Raises ConfigError
    for a link beside the film that leads elsewhere."""
    from shotad.film.beside import cast_beside

    if is_off(cast):
        return None
    if cast is not None or film is None:
        return cast
    cast = cast_beside(film)
    if cast is not None:
        progress.note(f"Cast: {cast.name}, beside the film.")
    return cast


def is_off(value: object) -> bool:
    """Whether `OFF` stands in place of a file."""
    return isinstance(value, str | os.PathLike) and os.fspath(value) == OFF


def shown_progress(progress: bool | Progress) -> Progress:
    """What shows progress: True as the commands do, on standard error; False in the log."""
    check_progress(progress)
    if isinstance(progress, bool):
        progress = Display(display_mode()) if progress else LoggedProgress()
    return Stoppable(PythonNotes(progress))


def _work_folder(film: PathLike | Film, out: PathLike | None) -> Path:
    from shotad.core.workfolder import work_folder_of

    named = optional_path("out", out)
    return work_folder_of(_film_path(film)) if named is None else named


def _film_path(film: PathLike | Film) -> Path:
    """The file or folder of a film."""
    source = _film_or_path(film)
    path = source if isinstance(source, Path) else source.info.path
    if path is None:
        raise UsageError("The film is of no file, so there is no folder beside it.", "Name one: out=FOLDER.")
    return path


@contextmanager
def _folder(out: PathLike | None) -> Iterator[Path]:
    """``out``, or a folder that is gone afterwards."""
    named = optional_path("out", out)
    if named is not None:
        yield named
        return
    with tempfile.TemporaryDirectory(prefix="shotad-") as place:
        yield Path(place)


@contextmanager
def _context(
    film: PathLike | Film,
    config: Config,
    out: PathLike | None,
    cancel: CancelToken | None,
    progress: bool | Progress,
) -> Iterator[RunContext]:
    from shotad.description import RunContext

    shown = shown_progress(progress)
    with (
        _folder(out) as place,
        work_on(film, config, place, cancel=cancel) as (opened, folder, inputs),
        RunContext.of(opened, folder, config, inputs, shown) as context,
    ):
        yield context


def _grammar(
    film: PathLike | Film,
    shots: Sequence[Shot] | None,
    config: ConfigNames,
    settings: Settings,
    out: PathLike | None,
    cancel: CancelToken | None,
    progress: bool | Progress,
    *,
    without: str,
) -> list[dict[str, Any]]:
    """The rows of ``grammar.json``; ``without`` is the setting that spares what nobody asked for."""
    from shotad.core import Shot
    from shotad.description import read_grammar

    if shots is not None and not (
        isinstance(shots, Sequence) and all(isinstance(shot, Shot) for shot in shots)
    ):
        raise UsageError(f"shots = {quoted(shots)} are no shots.", "Give what detect_shots gave.")
    for shot, next_shot in pairwise(shots or ()):
        if next_shot.start < shot.end or next_shot.index <= shot.index:
            second = f"{next_shot.index} {next_shot.interval}"
            raise UsageError(
                f"The shots {shot.index} {shot.interval} and {second} do not ascend.",
                "Give shots in order that do not overlap, each with an index of its own.",
            )
    spared = () if out is not None else (without,)
    resolved = load_config(config, (*assignments_of(settings), *spared))
    with _context(film, resolved, out, cancel, progress) as context:
        notes = read_grammar(context, shots)
        record = context.folder.read_json("grammar.json") or {"shots": []}
    for note in notes:
        _warn(note, 5)
    rows: list[dict[str, Any]] = record["shots"]
    return rows


def _track_file(track: Track | PathLike | None, folder: WorkFolder) -> Path:
    """The file of the track that is meant. One of other lines than the folder's gets a file of its own."""
    from shotad.core.files import write_text
    from shotad.script import Track, load_track
    from shotad.script.track import to_json
    from shotad.script.track_files import TRACK

    own = folder.path / TRACK
    if track is not None and not isinstance(track, Track):
        return path_of("track", track)
    if track is None and not own.is_file():
        raise ScriptError(
            f"There is no track to speak: {own} is not there.", "Give one, or describe the film."
        )
    if track is None:
        return own
    if own.is_file():
        track_there = load_track(own)
        if track_there.stamp == track.stamp and track_there.film.fingerprint == track.film.fingerprint:
            return own
    write_text(folder.path / GIVEN_TRACK, to_json(track))
    return folder.path / GIVEN_TRACK


GIVEN_TRACK = "given-track.json"
"""In the work folder: the track that `render` was given, where its lines are not those of ``track.json``."""


def _warn(text: str, level: int = 4) -> None:
    """Warn the caller of the public function that calls this, and write it to the log.

    Between that caller and this function are the public one and its `python_messages`.
    """
    text = in_python(redact_sent_secrets(text))
    LOG.warning("%s", terminal_text(text))
    warnings.warn(text, ShotadWarning, stacklevel=level)


def _film_or_path(film: PathLike | Film) -> Path | Film:
    """A film that is open already, or the path of one. Raises UsageError for what is neither."""
    from shotad.film import Film

    return film if isinstance(film, Film) else path_of("film", film)
