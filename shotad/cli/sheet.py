"""``shotad sheet FILM|WORKFOLDER``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.options import Console, console_options, film_file_option, film_options, opened, settings
from shotad.core import UsageError

if TYPE_CHECKING:
    pass


@click.command(name="sheet")
@film_options
@film_file_option
@click.option("--single-file", is_flag=True, help="Put the pictures into the page (3 kB each).")
@console_options
def command(console: Console, **options: Any) -> None:
    """Draw a film on one page: overview.html, with its pictures in the folder overview.

    Name the film, or its work folder if the film is next to it. For a film that was not described yet, the
    page shows shots, speech and slots.
    """
    from shotad.description import RunContext, get_ready, prepare, study, write_sheet
    from shotad.film import Frames
    from shotad.script import FilmId, present_track

    config = settings(options)
    alone = options.pop("single_file")
    options = {**options, **_places(options)}
    with opened(options, config) as (film, folder, given):
        drawn = FilmId(film.info.name, film.info.fingerprint, film.info.duration)
        if present_track(folder, drawn):
            # Whether the run had given slots, which are looked at frame by frame: only planned slots have
            # gaps
            slots = folder.read_json("slots.json")
            frames = Frames(film, folder, config, exact=(slots is not None and "gaps" not in slots))
            page = write_sheet(folder.path, frames.pictures, config, console, single_file=alone)
        else:
            context = RunContext.of(film, folder, config, given, console)
            get_ready(context)
            prepare(context)
            for warning in study(context):
                console.note(f"Note: {warning}")
            page = write_sheet(folder.path, context.frames.pictures, config, console, single_file=alone)
            context.frames.release()
    console.result(str(page), {"page": str(page)})


for _parameter in command.params:
    if _parameter.name == "film":
        _parameter.metavar = "FILM|WORKFOLDER"


def _places(options: dict[str, Any]) -> dict[str, Path]:
    """The film and its work folder, whichever of the two was named."""
    named: Path = options["film"]
    if not (named.is_dir() and (named.suffix == ".shotad" or (named / "shots.json").is_file())):
        if options["film_file"] is not None:
            raise UsageError(
                f"{named} is no work folder, so --film has no meaning.", "Name the work folder, or the film."
            )
        return {}
    if options["out"] is not None:
        raise UsageError(
            "--out has no meaning with a work folder.", "Leave it out, or name the film instead."
        )
    return {"film": options["film_file"] or _film_of(named), "out": named}


def _film_of(folder: Path) -> Path:
    """The film of a work folder: where its run had it, else beside the folder by the name in its records."""
    from shotad.core import SETTINGS, read_settings
    from shotad.film import film_of

    if not (folder / SETTINGS).exists():
        return folder.absolute().parent / _film_name(folder)
    return film_of(folder, read_settings(folder), _film_name(folder))


def _film_name(folder: Path) -> str:
    """What the track calls the film, else what the shots do, else the folder's name without its ending."""
    from shotad.core import WorkFolder

    records = WorkFolder(folder)
    track, shots = (records.read_json(f"{name}.json") or {} for name in ("track", "shots"))
    film = track.get("film")
    name = film.get("name") if isinstance(film, dict) else shots.get("film")
    return name if isinstance(name, str) and name else folder.stem
