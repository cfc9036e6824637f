"""``shotad render WORKFOLDER``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from shotad.cli.options import (
    PATH,
    Console,
    SectionedCommand,
    combine_options,
    console_options,
    film_file_option,
    settings_options,
    track_folder,
)
from shotad.core.config.sound import LOUDNESS_PROFILES
from shotad.core.errors import UsageError
from shotad.sound.outputs import parse_wanted, wanted_files

_MAKES = "Write film, film+text, text, ad, mix or sidecar, as in film:mkv or ad:mp3; repeatable."
sound_options = combine_options(
    click.option("--loudness", type=click.Choice(LOUDNESS_PROFILES), help="Loudness standard of the result."),
    click.option("--voice", metavar="NAME", help="Voice: auto, or a name that shotad voices lists."),
    click.option("--make", "makes", multiple=True, metavar="KIND[:ENDING]", help=_MAKES),
    click.option("--extended", is_flag=True, default=None, help="Pause the film for lines that do not fit."),
    click.option(
        "--speak-subtitles",
        "subtitles_spoken",
        metavar="auto|FILE",
        help="Speak subtitles of foreign dialogue too: the film's forced ones, or a file.",
    ),
    click.option("--subtitle-voice", metavar="NAME", help="Voice of spoken subtitles (default: another)."),
)


def sound_flags(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that the flags of `sound_options` stand for."""
    return {
        "voice__name": options["voice"],
        "voice__subtitles": options.get("subtitles_spoken"),
        "voice__subtitle_voice": options.get("subtitle_voice"),
        "mix__profile": options["loudness"],
        "extended__on": options["extended"],
    }


@click.command(name="render", cls=SectionedCommand)
@click.argument("path", metavar="FILM|WORKFOLDER", type=PATH)
@sound_options
@click.option("--track", "track_file", type=PATH, help="Another track to speak, such as a translation.")
@click.option("--out", type=PATH, help="Output folder, or output file if there is only one.")
@click.option(
    "--say-as",
    "sayings",
    multiple=True,
    metavar="WORD=SAYING",
    help="How a word is spoken in this film, kept for later renders; repeatable.",
)
@film_file_option
@click.option("--default", "default_track", is_flag=True, default=None, help="Players start with AD.")
@click.option("--ask", is_flag=True, default=None, help="Ask the engine to shorten lines that do not fit.")
@settings_options
@click.option("--force", is_flag=True, help="Speak every line and write every file again.")
@console_options
def command(console: Console, path: Path, **options: Any) -> None:
    """Speak the lines of a described film, and write it with its audio description.

    It asks no model. Change track.json, or one of the scripts next to it, and render again: only lines that
    changed are spoken again. Without --make, it adds AD to the film as another audio track, and copies the
    picture and the film's own tracks unchanged.

    Exit code 1 if the result breaks a rule that must hold.
    """
    from shotad.core import WorkFolder
    from shotad.core.runsettings import (
        check_engine_known,
        read_settings,
        render_config,
    )
    from shotad.description.shorter_lines import shortener
    from shotad.film import open_film
    from shotad.film.slot_records import work_folder_film
    from shotad.script import load_track
    from shotad.script.track_files import TRACK
    from shotad.sound import run_render
    from shotad.sound.film_lexicon import set_saying
    from shotad.sound.outputs import film_to_lie_beside, summary

    place = track_folder(path)
    run = read_settings(place)
    config = render_config(
        run.config,
        options["config"],
        options["assignments"],
        **sound_flags(options),
        container__default_track=options["default_track"],
        fit__ask=options["ask"],
    )
    if run.warning:
        console.note(run.warning)
    if config.fit.ask:
        check_engine_known(run, options["assignments"])
    file = options["track_file"] or place / TRACK
    track = load_track(file)
    source = options["film_file"] or work_folder_film(place, run, track.film.name)
    with (
        open_film(source, reader=config.film.reader, frame_rate=run.frame_rate) as film,
        WorkFolder(place) as folder,
    ):
        for text in options["sayings"]:
            word, equals, saying = text.partition("=")
            if not equals:
                raise UsageError(f"--say-as {text}: there is no '='.", "Write --say-as Siobhan=shiv-awn")
            set_saying(place, word, saying)
        tag = track.language if file.name != TRACK else ""
        files = wanted_files(
            parse_wanted(options["makes"]),
            track.film.name,
            place,
            out=options["out"],
            tag=tag,
            language=track.language,
            beside=film_to_lie_beside(film),
        )
        done = run_render(
            film, folder, config, files, console, shorten=shortener, file=file, force=options["force"]
        )
    console.result(summary(done), done.as_json())
    if done.failed:
        click.get_current_context().exit(1)
