"""``shotad batch FILMS…``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from shotad.cli import describe as describing
from shotad.cli.batch_limits import AUTO
from shotad.cli.batch_local import on_this_machine
from shotad.cli.batch_options import Asked
from shotad.cli.batch_output import foresee, open_with
from shotad.cli.batch_ray import check_cluster, on_ray, supervised
from shotad.cli.console import Console
from shotad.cli.options import console_options, strict_option
from shotad.core.errors import FilmError

OF_DESCRIBE = (
    *("engine", "detail", "language", "note", "cast", "cast_photos", "config", "assignments", "start", "end"),
    *("candidates", "sampling", "select", "context", "verify", "audio_track", "frame_rate"),
    *("voice", "makes", "loudness", "extended", "no_sheet", "force", "discard_edits", "timed"),
)
"""Options of ``shotad describe`` that hold for many films."""


@click.command(name="batch")
@click.argument("films", nargs=-1, metavar="FILMS...")
@click.option(
    "--list", "lists", multiple=True, metavar="FILE", help="More films, one a line; - is standard input."
)
@click.option("--out", metavar="DIR", help="Where the work folders go; else each goes beside its film.")
@click.option(
    "--jobs",
    default=AUTO,
    metavar="N",
    show_default=True,
    help="Films at once; auto: as many as the machine carries.",
)
@click.option("--watch", is_flag=True, help="Go on: take new films when they have settled, until Ctrl-C.")
@click.option(
    "--settle",
    default=10.0,
    type=click.FloatRange(min=0),
    metavar="S",
    show_default=True,
    help="Seconds for which a new film must stay as it is.",
)
@click.option(
    "--retries",
    default=1,
    type=click.IntRange(min=0),
    metavar="N",
    show_default=True,
    help="Further tries of a film that may have failed by chance: killed, or no server.",
)
@click.option(
    "--min-free",
    default="2GB",
    metavar="SIZE",
    show_default=True,
    help="What is to stay free on the disk; off: nobody looks.",
)
@click.option("--memory", metavar="SIZE", help="What one film may take of memory (4GB); beyond, it is ended.")
@click.option(
    "--report",
    "report_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where the report goes; else shotad-batch.json in --out, or here.",
)
@click.option("--only-failed", is_flag=True, help="Only films that failed by the report of the last batch.")
@click.option("--dry-run", is_flag=True, help="Say which films, into which folders, with what; do nothing.")
@click.option("--no-beside", is_flag=True, help="Use no settings, subtitles or cast that lie beside films.")
@click.option(
    "--scratch", metavar="DIR", help="Where films from elsewhere are put for the time of their run."
)
@click.option(
    "--ray",
    "address",
    is_flag=False,
    flag_value="",
    metavar="[ADDRESS]",
    help="On a Ray cluster: auto, host:6379, or (no address) processes of this machine.",
)
@click.option("--ray-config", "ray_files", multiple=True, metavar="FILE", help="Settings of a cluster run.")
@strict_option
@console_options
def command(console: Console, films: tuple[str, ...], **options: Any) -> None:
    """Describe many films: files, folders with all below them, patterns, addresses (s3://bucket/films).

    Each film gets a work folder of its own. A film that fails, even one that kills its process, never stops
    the others; at the end a table tells what became of each. The same command again leaves alone what is
    done, and goes on with the rest.

    What lies beside a film is used for it: movie.srt, movie.cast, movie.yaml (settings), movie.note.txt; for
    all films of a folder: shotad.yaml, cast. It goes before what the command line says of all films.
    """
    from shotad.batch.privacy_notice import Leaving

    check_cluster(options)
    if options["address"] is not None and not options["dry_run"] and supervised():
        return
    asked, leaving = Asked.of(films, options), Leaving()
    if asked.before and not asked.is_something:
        console.result("No film has failed.", {"films": []})
        return
    _check_films(films, asked)
    open_with(console, asked)
    if options["dry_run"]:
        foresee(console, asked, leaving)
    elif options["address"] is not None:
        on_ray(console, asked, leaving)
    else:
        on_this_machine(console, asked, leaving)


def _check_films(films: Sequence[str], asked: Asked) -> None:
    if not asked.is_something:
        raise FilmError(
            f"There are no films in {', '.join(films) or 'the list'}.",
            "shotad batch --help says what is taken for a film.",
        )


command.params[-3:-3] = [param for param in describing.command.params if param.name in OF_DESCRIBE]
