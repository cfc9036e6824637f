"""What the jobs of the page do: lines described again, scripts exported, the film rendered.

Each takes the session and a progress, holds the work folder only while it runs where it has to, and returns
what the page shows of it. Edits that are made meanwhile stay. Where the cast of the film lies is found here,
too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from shotad.core import (
    Config,
    Progress,
    RunSettings,
    ShotadError,
    Utterance,
    WorkFolder,
)
from shotad.core.errors import (
    CastError,
    FilmError,
    FolderInUse,
    WorkFolderError,
)
from shotad.core.runsettings import (
    check_engine_known,
    read_settings,
    record_cast,
    render_config,
    with_cast,
)
from shotad.description.worksheet.people import find_cast
from shotad.film import Film, open_film
from shotad.film.slot_records import work_folder_film
from shotad.film.transcript import make_recogniser, wordless
from shotad.review.english_sentences import finding_message, notice_message, reason_message
from shotad.review.jobs import JobProgress
from shotad.review.messages import Message, Sentence, both, message, refusal, sentence_view, with_texts
from shotad.review.session import Session
from shotad.review.session_files import signatures
from shotad.script import (
    FORMATS,
    Finding,
    script_format,
    write_format,
)
from shotad.script.formats import script_file
from shotad.script.guidelines import finding_row

if TYPE_CHECKING:
    from shotad.description import Engines, RedoneSlot
    from shotad.description.dialogue_transcript import Transcript

SAME = message("job.redo.same")
SAME_AGAIN = message("job.redo.same_again")

Row = dict[str, Any]


@lru_cache(maxsize=1)
def engines_of(settings: str) -> Engines:
    """The engines that the settings, as JSON, name. They stay loaded until others are asked for: the next
    line that is described again need not wait for a model."""
    from shotad.description import Engines

    return Engines.of(Config.model_validate_json(settings))


def redo_line(
    session: Session,
    progress: Progress,
    ids: Sequence[str],
    note: str = "",
    *,
    over_edits: bool = False,
    engines: Engines | None = None,
) -> Row:
    """Describe the lines or slots called ``ids`` again, with a hint. What is new can be undone in one step.

    ``over_edits``: also lines that a person wrote or accepted; their text stays among the candidates. Raises
    EditConflict for such lines otherwise, ReviewError where another shotad holds the folder, EngineError.
    """
    from shotad.description import redo
    from shotad.engines import privacy_notice

    if not ids:
        raise refusal("job.redo.no_line")
    run = run_with_cast(session)
    if engines is None:
        check_engine_known(run)
        engines = engines_of(run.config.model_dump_json())
    for line in privacy_notice(engines.stage1, engines.stage2):  # what leaves this machine, as every run says
        progress.note(line)
    step_title: Sentence = message("job.redo.title")
    with held(session.folder) as folder, opened(session, run, run.config) as film:
        session.begin_job()
        try:
            done = redo(
                film,
                folder,
                run,
                list(ids),
                note=note,
                over_edits=over_edits,
                engines=engines,
                progress=progress,
                sheet=False,
            )
            folder.note(f"described again on the review page: {', '.join(ids)}")
            same = SAME if engines.stage2.abilities.converses else SAME_AGAIN
            step_title = _redo_text(done.results, same)
        finally:
            # What was written before a stop or an error is in the track too.
            session.end_job(step_title)
    lines = [
        {
            "id": (result.after or result.before).id,
            "changed": result.after is not None,
            "old": result.before.text,
            "new": None if result.after is None else result.after.text,
            "reason": sentence_view(same if result.same else reason_message(result.reason)),
        }
        for result in done.results
    ]
    return {
        "said": sentence_view(step_title),
        "lines": lines,
        "warnings": [sentence_view(notice_message(warning)) for warning in done.warnings],
        "files": [],
    }


def _redo_text(results: Sequence[RedoneSlot], same: Message) -> Message:
    """What came of it."""
    new = [result for result in results if result.after is not None]
    if len(results) == 1 and new and new[0].after is not None:
        return message("job.redo.line", text=new[0].after.text)
    if len(results) == 1:
        return message("job.redo.nothing", reason=reason_message(results[0].reason) or same)
    number, total = len(new), len(results)
    if number == total:
        return message("job.redo.all", number=number, total=total)
    return message("job.redo.some", number=number, total=total)


def export(session: Session, progress: Progress, formats: Sequence[str]) -> Row:
    """Write the track in these formats (none named: those that every export writes) beside it.

    One that cannot be written is left out and told; raises the error where none could be written, and
    ScriptError for a format that is unknown.
    """
    place, forms = session.folder, [(name, script_format(name)) for name in formats or FORMATS]
    if any(form.needs_frames for _, form in forms):
        from shotad.description.film_frames import frames_of_film

        frames = frames_of_film(session.film)
        forms = [(name, form.counting(frames)) for name, form in forms]
    files: list[Row] = []
    failures: list[Row] = []
    worksheet = None
    if any(form.has_material for _, form in forms):
        from shotad.description.worksheet.page import worksheet_with_pictures

        worksheet = worksheet_with_pictures(place, session.track.language)
        if worksheet.no_pictures:
            progress.note(worksheet.no_pictures)
    task = progress.task("Writing scripts", len(forms), "files")
    # Those that stand beside the track anyway must be noted as written: else they would be somebody's edits.
    with session.written() as track:
        for name, form in forms:
            try:
                path = write_format(track, form, script_file(track, form, place), worksheet=worksheet)
            except ShotadError as error:
                failures.append({"name": name, "reason": f"{error.what} {error.hint}".strip()})
                if len(failures) == len(forms):
                    raise
            else:
                files.append(file_row(path, session.folder))
            task.advance()
    task.done()
    said = message("job.export.done", count=len(files), folder=str(place))
    return {"said": said.view(), "files": files, "failures": failures}


def render_film(
    session: Session,
    progress: Progress,
    makes: Sequence[str],
    voice: str | None = None,
    profile: str | None = None,
    extended: bool | None = None,
    *,
    speak_subtitles: bool = False,
    subtitle_voice: str | None = None,
) -> Row:
    """Speak the lines and make what ``makes`` names (``film:mkv``, ``ad:mp3`` …), beside the track.

    Without ``voice``, ``profile`` and ``extended`` those of the settings are taken. ``speak_subtitles`` has
    the film's forced subtitles spoken too, by ``subtitle_voice``. Edits made
    meanwhile are heard or, if they come too late for that, kept. Raises ReviewError where another shotad
    holds the folder, and what `shotad.sound.render.run_render` raises.
    """
    from shotad.description.shorter_lines import shortener
    from shotad.sound import run_render
    from shotad.sound.outputs import parse_wanted, subtitle_lines, wanted_files
    from shotad.sound.voice_engines import AUTO

    run = run_with_cast(session)
    flags: Row = {"voice__name": voice or None, "mix__profile": profile or None, "extended__on": extended}
    if speak_subtitles:
        source = session.config.voice.subtitles or AUTO
        flags |= {"voice__subtitles": source, "voice__subtitle_voice": subtitle_voice or None}
    config = render_config(session.config, **flags)
    if config.fit.ask:
        check_engine_known(run)
    track = session.track
    outputs = wanted_files(parse_wanted(makes), track.film.name, session.folder, language=track.language)
    with held(session.folder) as folder, opened(session, run, config) as film:
        try:
            done = run_render(film, folder, config, outputs, progress, shorten=shortener)
        finally:
            # How each line was spoken now stands in the track; that is nothing to undo.
            session.end_job(message("job.render.title"))
    spoken, heard = len(done.spoken), len(done.track.heard)
    voice_text = message("job.render.no_voice")
    if done.voice:
        voice_text = message("job.render.voice", spoken=spoken, total=heard, voice=done.voice)
    file_rows = [
        {
            **file_row(made_file.output.path, session.folder),
            "kind": made_file.output.kind.value,
            "fresh": made_file.fresh,
        }
        for made_file in done.made
    ]
    return {
        "said": sentence_view(both(message("job.render.done", count=len(file_rows)), voice_text)),
        "files": file_rows,
        "told": [
            *(subtitle_lines(done.subtitles) if done.subtitles else ()),
            *(line for made_file in done.made for line in made_file.lines),
            *(done.sound.lines if done.sound else ()),
        ],
        "findings": [_finding_view(finding) for finding in done.findings],
        "warnings": [sentence_view(notice_message(warning)) for warning in done.warnings],
        "failures": [
            {"name": made_file.path.name, "reason": why} for made_file, why in done.failures.items()
        ],
        "unspoken": [cue.id for cue in done.unspoken],
    }


def transcribe_film(session: Session, progress: Progress) -> Row:
    """Write down the dialogue that has no words; the page then shows them. Lines and slots stay.

    Raises ReviewError where another shotad holds the folder, UsageError where the recogniser is not
    installed, and what it raises.
    """
    from shotad.description.dialogue_transcript import transcribe_dialogue

    run = run_with_cast(session)
    with held(session.folder) as folder, opened(session, run, session.config) as film:
        done = transcribe_dialogue(film, folder, session.config, progress)
    session.refresh()  # the tabs get the words at once
    return {"said": sentence_view(_transcript_text(done)), "files": []}


def ask_film(session: Session, progress: JobProgress, question: str, at: float) -> Row:
    """Answer a question about the film as it stands at second ``at``, as ``shotad ask`` does. Lines stay.

    Without the film the answer rests on the records alone; one after the film's end is about its end. Raises
    ReviewError where another shotad holds the folder, UsageError for a question without words and for a
    moment before which nothing is seen, EngineError where the engine fails or will not answer.
    """
    from shotad.description.film_questions import (
        FilmQuestions,
        answer_json,
        answering_engine,
        asking_config,
    )
    from shotad.engines import privacy_notice

    run = read_settings(session.folder)
    config = asking_config(run, session.track.language)
    with held(session.folder) as folder, ExitStack() as stack:
        film = None
        try:
            film = stack.enter_context(opened(session, run, config))
        except FilmError:
            progress.note(message("ask.without_film"))
        questions = FilmQuestions(film, folder, config, at=min(at, session.prepared.end))
        engine = answering_engine(engines_of(config.model_dump_json()), progress)
        if engine is not None:
            for line in privacy_notice(engine, engine):
                progress.note(line)
        answer = questions.answer(question, engine)
    sentence: Sentence = answer.text if answer.engine else message("ask.recorded")
    return {"said": sentence_view(sentence), "answer": answer_json(answer), "files": []}


def _finding_view(finding: Finding) -> Row:
    """A finding of a render as the page shows it, and as its record has it."""
    return {**finding_row(finding), "text": sentence_view(finding_message(finding.message))}


def _transcript_text(done: Transcript) -> Sentence:
    """What came of a transcription, as `Transcript.summary`."""
    if not done.transcribed and not done.silent:
        return message("transcribe.nothing")
    number_of_words = sum(len(utterance.text.split()) for utterance in done.transcribed)
    words = message("transcribe.words", count=number_of_words)
    summary: Sentence = message(
        "transcribe.done", count=len(done.transcribed), words=words, recogniser=done.recogniser
    )
    if done.silent:
        summary = both(summary, message("transcribe.silent", count=done.silent))
    return summary if done.is_new else message("transcribe.before", summary=summary)


def transcript_view(session: Session) -> Row:
    """In how many places dialogue lacks words, what has to be installed before it can be transcribed, and
    whose words a machine wrote down (``written``: numbers of utterances, from 0)."""
    from shotad.description.dialogue_transcript import transcribed_utterances

    try:
        missing = make_recogniser(session.config.transcript).missing()
    except ShotadError as error:
        missing = f"{error.what} {error.hint}".strip()
    speech = session.prepared.speech
    by_machine: frozenset[Utterance] = frozenset()
    with suppress(WorkFolderError):  # a record that is damaged says nothing of the words
        by_machine = transcribed_utterances(WorkFolder(session.folder), session.film.fingerprint, speech)
    written = [number for number, utterance in enumerate(speech) if utterance in by_machine]
    return {"wordless": len(wordless(speech)), "missing": missing, "written": written}


@contextmanager
def held(folder: Path) -> Iterator[WorkFolder]:
    """The work folder for the time of a job. Raises ReviewError where another shotad holds it."""
    with ExitStack() as stack:
        try:
            place = stack.enter_context(WorkFolder(folder))
        except FolderInUse:
            raise refusal("job.in_use") from None
        yield place


@contextmanager
def opened(session: Session, run: RunSettings, config: Config) -> Iterator[Film]:
    """The film, as the run read it. Raises FilmError."""
    session_path = session.film.path
    place = (
        session_path
        if session_path is not None and session_path.exists()
        else work_folder_film(session.folder, run, session.film.name)
    )
    with open_film(place, reader=config.film.reader, frame_rate=run.frame_rate) as film:
        yield film


def file_row(path: Path, folder: Path) -> dict[str, Any]:
    """A file that a job made, as the page offers it; ``path`` is told from the work folder on."""
    return {
        "name": path.name,
        "url": f"/files/{quote(path.name, safe='')}",
        "size": path.stat().st_size,
        "path": path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name,
    }


def run_with_cast(session: Session) -> RunSettings:
    """The run as its settings have it now. Raises CastError where its cast is not there any more."""
    run = read_settings(session.folder)
    run_cast = run.given.cast
    if run_cast is None or run_cast.path.exists():
        return run
    place = find_cast(session.folder, session.film.path)
    if place is None:
        raise with_texts(CastError, "cast.gone", path=str(run_cast.path))
    return with_cast(run, place)


def remember_cast(session: Session, folder: WorkFolder, place: Path) -> None:
    """Have the run know its cast, so that whatever is described again says its names."""
    run = read_settings(session.folder)
    run_cast = run.given.cast
    if run_cast is not None and run_cast.path.absolute() == place.absolute():
        return
    record_cast(folder, run, place)


def folder_of(place: Path) -> Path:
    """The folder of a cast, of which ``place`` is that or the file in it."""
    return place if place.is_dir() or not place.suffix else place.parent


def why_not(place: Path | None) -> Message | None:
    """Why a cast cannot be changed; None where it can."""
    if place is not None and place.suffix.lower() == ".json":
        return message("cast.bank", file=place.name)
    return None


def state_of_cast(folder: Path, place: Path | None) -> object:
    """Changes whenever a file from which the cast is read does."""
    names = [folder / name for name in ("settings.json", "characters.json", "discovered.jsonl")]
    if place is not None:
        base = folder_of(place)
        names += [place, base / "cast.yaml", base / "cast.yml", base / "discovered.json"]
    return (*names, *signatures(names))
