"""``shotad review FILM|WORKFOLDER|FOLDER``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.options import PATH, Console, console_options, film_file_option, track_folder
from shotad.core.errors import FilmError, UsageError, WorkFolderError
from shotad.core.installation import install_command
from shotad.core.workfolder import SETTINGS_FILE

if TYPE_CHECKING:
    from shotad.core import RunSettings

LOOPBACK = "127.0.0.1"


@click.command(name="review")
@click.argument("path", metavar="FILM|WORKFOLDER|FOLDER", type=PATH)
@click.option("--no-open", "closed", is_flag=True, help="Print the address; do not open a browser.")
@click.option("--host", default=LOOPBACK, metavar="ADDRESS", help="Let other machines in, at this address.")
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="Port (default: any free one).")
@click.option("--reviewer", metavar="NAME", help="Your name, for the log of edits (the page asks too).")
@film_file_option
@console_options
def command(console: Console, path: Path, closed: bool, film_file: Path | None, **options: Any) -> None:
    """Choose, edit and hear the lines of a described film in your browser.

    With a FOLDER of films, the page lists them: describe, upload and download films there, and open each for
    review.

    Every change is saved in track.json at once, and a later shotad describe keeps it. Only this machine can
    open the page; to let others in, give --host and send them the address that is printed. Ctrl-C stops it.
    """
    if closed and console.mode == "quiet":
        message = "With --no-open and --quiet you would not see the address."
        raise UsageError(message, "Leave one of them out.")
    has_films = is_folder_of_films(path)
    if has_films and film_file is not None:
        message = f"--film says where the film of a work folder is, but {path} is a folder of films."
        raise UsageError(message, "Leave --film out, or name the work folder.")
    folder = path if has_films else track_folder(path)
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
    from shotad.review import serve, serve_films

    if has_films:
        serve_films(folder, open_browser=not closed, console=console, **options)
        return
    run = read_settings(folder)
    if run.warning:
        console.note(run.warning)
    film = _film(folder, run, path, film_file)
    serve(folder, film, run, open_browser=not closed, console=console, **options)


def is_folder_of_films(path: Path) -> bool:
    """Whether a path is a folder whose films are to be listed: no film and no work folder, which have a track
    or, with its ending or its settings, may get one."""
    if not path.is_dir() or path.suffix == ".shotad" or (path / SETTINGS_FILE).exists():
        return False
    try:
        track_folder(path)
    except WorkFolderError:
        return True
    return False


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
