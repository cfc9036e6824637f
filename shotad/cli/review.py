"""``shotad review FILM|WORKFOLDER``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.options import PATH, Console, console_options, film_file_option, track_folder
from shotad.core.errors import FilmError, UsageError
from shotad.core.installation import install_command

if TYPE_CHECKING:
    from shotad.core import RunSettings

LOOPBACK = "127.0.0.1"


@click.command(name="review")
@click.argument("path", metavar="FILM|WORKFOLDER", type=PATH)
@click.option("--no-open", "closed", is_flag=True, help="Print the address; do not open a browser.")
@click.option("--host", default=LOOPBACK, metavar="ADDRESS", help="Let other machines in, at this address.")
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="Port (default: any free one).")
@click.option("--reviewer", metavar="NAME", help="Your name, for the log of edits (the page asks too).")
@film_file_option
@console_options
def command(console: Console, path: Path, closed: bool, film_file: Path | None, **options: Any) -> None:
    """Choose, edit and hear the lines of a described film in your browser.

    Every change is saved in track.json at once, and a later shotad describe keeps it. Only this machine can
    open the page; to let others in, give --host and send them the address that is printed. Ctrl-C stops it.
    """
    if closed and console.mode == "quiet":
        message = "With --no-open and --quiet you would not see the address."
        raise UsageError(message, "Leave one of them out.")
    folder = track_folder(path)
    try:
        import starlette
        import uvicorn  # noqa: F401
    except ImportError as missing:
        raise UsageError(
            f"The review page needs {missing.name}, which is not installed.",
            install_command("shotad[review]"),
        ) from None
    del starlette
    from shotad.core.runsettings import read_settings
    from shotad.review import serve

    run = read_settings(folder)
    if run.warning:
        console.note(run.warning)
    film = _film(folder, run, path, film_file)
    serve(folder, film, run, open_browser=not closed, console=console, **options)


def _film(folder: Path, run: RunSettings, path: Path, given_film: Path | None) -> Path | None:
    """The film; None where it is gone and nobody says where it is."""
    from shotad.film.slot_records import work_folder_film
    from shotad.review import track_film

    if given_film is not None:
        if not given_film.exists():
            raise FilmError(f"There is no film {given_film}.")
        return given_film
    if path.is_file():
        return path
    try:
        return work_folder_film(folder, run, track_film(folder).name)
    except FilmError:
        return None
