"""``shotad ask FILM QUESTION``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.options import (
    PATH,
    Console,
    console_options,
    film_file_option,
    parse_time_option,
    set_option,
    track_folder,
)
from shotad.core import Config
from shotad.core.errors import FilmError, UsageError
from shotad.script.cue import timecode

if TYPE_CHECKING:
    from shotad.description.film_questions import FilmAnswer

WITHOUT_MODEL = (
    "No model reads your question, so this is what was recorded last. A model answers it: --engine paper on "
    "a GPU, or --engine openai with a server (docs/engines.md)."
)


@click.command(name="ask")
@click.argument("path", metavar="FILM|WORKFOLDER", type=PATH)
@click.argument("question", required=False)
@click.option("--at", "moment", metavar="T", help="Where the film stands: 90 or 12:30 (default: its end).")
@click.option("--engine", metavar="NAME", help="Model that answers: paper, ollama:MODEL, openai or gpt-4o.")
@click.option("--language", metavar="CODE", help="Language of the answer (default: that of the description).")
@click.option("--play", is_flag=True, help="Speak the answer, too.")
@click.option("--voice", metavar="NAME", help="Voice for --play, as shotad voices lists them.")
@film_file_option
@set_option
@console_options
def command(console: Console, path: Path, question: str | None, **options: Any) -> None:
    """Ask something about a described film, at the moment where it stands.

    The answer rests on what was described, said, read and recognised up to that moment, and with a model that
    sees pictures also on the last seconds before it. Nothing of later is used. The moments on which it rests
    are listed with their times.

    Without QUESTION each line of standard input is one.

    Exit code 1 if a question could not be answered.
    """
    from shotad.core import WorkFolder
    from shotad.core.runsettings import read_settings
    from shotad.description import Engines
    from shotad.description.film_questions import FilmQuestions, answer_json, answering_engine, asking_config
    from shotad.engines import privacy_notice
    from shotad.film import open_film
    from shotad.film.slot_records import work_folder_film
    from shotad.script import load_track
    from shotad.script.track_files import TRACK

    at = None if options["moment"] is None else parse_time_option(options["moment"])
    if options["voice"] is not None and not options["play"]:
        raise UsageError("--voice is the voice for --play.", "Add --play.")
    place = track_folder(path)
    run = read_settings(place)
    track = load_track(place / TRACK)
    flags = [f"language={options['language']}"] if options["language"] is not None else []
    if options["voice"] is not None:
        flags.append(f"voice.name={options['voice']}")
    config = asking_config(
        run, track.language, engine=options["engine"], assignments=(*options["assignments"], *flags)
    )
    if run.warning:
        console.note(run.warning)
    with ExitStack() as stack:
        film = None
        try:
            source = options["film_file"] or work_folder_film(place, run, track.film.name)
            film = stack.enter_context(
                open_film(source, reader=config.film.reader, frame_rate=run.frame_rate)
            )
        except FilmError as error:
            if options["film_file"] is not None:
                raise
            console.note(f"{error.what} The answer rests on the records alone.")
        folder = stack.enter_context(WorkFolder(place))
        questions = FilmQuestions(film, folder, config, at=at)
        engine = answering_engine(Engines.of(config), console)
        if engine is None:
            console.note(WITHOUT_MODEL)
        else:
            for line in privacy_notice(engine, engine):
                console.note(line)
        answers: list[FilmAnswer] = []
        for asked in [question] if question is not None else _lines_of_input():
            answer = questions.answer(asked, engine)
            answers.append(answer)
            if console.mode != "json":
                console.result(answer_text(answer), None)
            if options["play"]:
                _speak(answer.text, config)
    if console.mode == "json":
        records = [answer_json(answer) for answer in answers]
        console.result("", records[0] if question is not None else records)


def _lines_of_input() -> Iterator[str]:
    """The questions on standard input, until it ends."""
    if sys.stdin.isatty():
        click.echo("Ask, one question a line; Ctrl-D ends.", err=True)
    for line in sys.stdin:
        if line.strip():
            yield line.strip()


def answer_text(answer: FilmAnswer) -> str:
    """An answer and the moments on which it rests, for people."""
    lines = [answer.text]
    if answer.saw_frames:
        lines.append(f"Shown to the model: the last seconds before {timecode(answer.at)}.")
    if answer.moments:
        lines.append("It rests on:")
        lines += [f"  {moment.when}  {moment.what}: {moment.text}" for moment in answer.moments]
    return "\n".join(lines)


def _speak(text: str, config: Config) -> None:
    from shotad.sound import Checker, make_voice, read_lexicon, speak_checked
    from shotad.sound.player import play_take
    from shotad.sound.pronunciation import spoken_text

    voice = make_voice(config.voice, config.language)
    words = spoken_text(text, config.language, read_lexicon(config.voice.lexicon), voice.reads)
    play_take(speak_checked(voice, words, config.voice.speed, Checker(voice.name, config.language)))
