"""``shotad transcribe FILM``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.options import PATH, Console, console_options, film_file_option, settings_options
from shotad.core.errors import UsageError


@click.command(name="transcribe")
@click.argument("path", metavar="FILM|WORKFOLDER", type=PATH)
@click.option("--language", metavar="CODE", help="Language of the dialogue (default: the one that is heard).")
@film_file_option
@settings_options
@click.option("--force", is_flag=True, help="Transcribe again.")
@console_options
def command(console: Console, path: Path, **options: Any) -> None:
    """Write down the dialogue of a film that has no subtitles.

    Words are looked for only where speech was found, and its times stay as they are; texts of subtitles stay
    too. The review page shows the words between the lines. They are in speech.json of the work folder, and
    as captions in transcript.vtt: correct those and give them to shotad describe --subtitles.

    The model that is fetched understands English. It runs on this machine, and it mishears words. For other
    languages name a Whisper model: --set transcript.recogniser=openai/whisper-small
    """
    from shotad.core import WorkFolder, load_config
    from shotad.core.records import utterance_rows
    from shotad.core.runsettings import read_settings
    from shotad.core.workfolder import SETTINGS_FILE
    from shotad.description.dialogue_transcript import CAPTIONS, transcribe_dialogue
    from shotad.film import open_film

    film_path, place = _places(path, options["film_file"])
    # A described film is read as its run read it.
    run = read_settings(place) if (place / SETTINGS_FILE).exists() else None
    config = load_config(
        [*([run.config] if run else []), *options["config"]],
        options["assignments"],
        transcript__language=options["language"],
    )
    if run and run.warning:
        console.note(run.warning)
    frame_rate = run.frame_rate if run else None
    with (
        open_film(film_path, reader=config.film.reader, frame_rate=frame_rate) as film,
        WorkFolder(place) as folder,
    ):
        done = transcribe_dialogue(film, folder, config, console, force=options["force"])
    captions = place / CAPTIONS
    lines = [done.summary]
    if done.transcribed:
        lines.append(f"Captions: {captions}")
    value = {
        "recogniser": done.recogniser,
        "speech": utterance_rows(done.transcribed),
        "without_words": done.silent,
        "new": done.is_new,
        "captions": str(captions) if done.transcribed else None,
    }
    console.result("\n".join(lines), value)


def _places(path: Path, film_file: Path | None) -> tuple[Path, Path]:
    """The film and its work folder, whichever of the two was named. Raises UsageError, FilmError."""
    from shotad.core.runsettings import read_settings
    from shotad.core.workfolder import SETTINGS_FILE, work_folder_of
    from shotad.film.slot_records import work_folder_film

    if path.is_dir() and (path / SETTINGS_FILE).is_file():
        return film_file or work_folder_film(path, read_settings(path), path.stem), path
    if film_file is not None:
        raise UsageError(
            f"{path} is no work folder, so --film has no meaning.", "Name the work folder, or the film."
        )
    return path, work_folder_of(path)
