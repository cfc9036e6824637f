"""``shotad sheet FILM|WORKFOLDER``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.options import PATH, Console, console_options, film_options, opened, settings
from shotad.core import UsageError

if TYPE_CHECKING:
    from shotad.core import WorkFolder


@click.command(name="sheet")
@film_options
@click.option("--film", "film_file", type=PATH, help="The film of a WORKFOLDER.")
@click.option(
    "--single-file", is_flag=True, help="Put the pictures into the page, which grows by 3 kB for each."
)
@console_options
def command(console: Console, **options: Any) -> None:
    """Draw what is known of a film on one page: overview.html, with its pictures in the folder overview.

    Give the film, or its work folder: the film is then looked for beside the folder. A film that was
    never described is drawn with its shots, speech and slots.
    """
    from shotad.description import Bench, get_ready, prepare, study, write_sheet
    from shotad.film import Frames
    from shotad.script import FilmId, present_track

    config = settings(options)
    alone = options.pop("single_file")
    options = {**options, **_places(options)}
    with opened(options, config) as (film, folder, given):
        drawn = FilmId(film.info.name, film.info.fingerprint, film.info.duration)
        if present_track(folder, drawn):
            frames = Frames(film, folder, config, exact=_was_exact(folder))
            page = write_sheet(folder.path, frames.pictures, config, console, single_file=alone)
        else:
            bench = Bench.of(film, folder, config, given, console)
            get_ready(bench)
            prepare(bench)
            for warning in study(bench):
                console.note(f"Note: {warning}")
            page = write_sheet(folder.path, bench.frames.pictures, config, console, single_file=alone)
            bench.frames.release()
    console.result(str(page), {"page": str(page)})


for _parameter in command.params:
    if _parameter.name == "film":
        _parameter.metavar = "FILM|WORKFOLDER"


def _places(options: dict[str, Any]) -> dict[str, Path]:
    """The film and its work folder, whichever of the two was named."""
    named: Path = options["film"]
    if not _is_work_folder(named):
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


def _is_work_folder(path: Path) -> bool:
    return path.is_dir() and (path.suffix == ".shotad" or (path / "shots.json").is_file())


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


def _was_exact(folder: WorkFolder) -> bool:
    """Whether the run had given slots, which are looked at frame by frame: only planned slots have gaps."""
    slots = folder.read_json("slots.json")
    return slots is not None and "gaps" not in slots
