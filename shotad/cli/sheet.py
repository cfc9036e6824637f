"""``shotad sheet FILM|WORKFOLDER``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options, film_options, opened, settings
from shotad.errors import UsageError, WorkFolderError

if TYPE_CHECKING:
    from shotad.film.reader import Film
    from shotad.workfolder import WorkFolder


@click.command(name="sheet")
@film_options
@click.option("--film", "film_file", type=click.Path(path_type=Path), help="The film of a WORKFOLDER.")
@console_options
def command(console: Console, **options: Any) -> None:
    """Draw what is known of a film: overview.html, and pictures in the folder sheet.

    Give the film, or its work folder: the film is then looked for beside the folder. A film that was
    never described is drawn with its shots, speech and slots.
    """
    from shotad.sheet import write_sheet

    config = settings(options)
    options = {**options, **_places(options)}
    with opened(options, config) as (film, folder, given):
        described = (folder.path / "track.json").exists()
        if described:
            from shotad.framing import Frames

            _check(film, folder)
            frames = Frames(film, folder, config, exact=_was_exact(folder))
        else:
            from shotad.prepare import Bench, prepare
            from shotad.understand import understand

            bench = Bench.of(film, folder, config, given, console)
            for warning in understand(prepare(bench), bench).warnings:
                console.note(f"Note: {warning}")
            frames = bench.frames
        files = write_sheet(folder.path, frames.pictures, config, console)
        if not described:
            frames.release()
    page, *pictures = map(str, files)
    text = f"{page}\n{len(pictures)} pictures in {files[0].parent / 'sheet'}"
    console.result(text, {"page": page, "pictures": pictures})


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
    """The film of a work folder, beside it, by the name in its records or by the folder's own."""
    from shotad.workfolder import WorkFolder

    records = WorkFolder(folder)
    names = [(records.read_json("track.json") or {}).get("film"), records.read_json("shots.json") or {}]
    known = [name["name"] if "name" in name else name.get("film") for name in names if isinstance(name, dict)]
    for name in known:
        if isinstance(name, str) and name and (folder.parent / name).exists():
            return folder.parent / name
    if folder.suffix == ".shotad":
        beside = [p for p in sorted(folder.parent.glob(f"{folder.stem}.*")) if p != folder and p.is_file()]
        films = [path for path in beside if path.suffix.lower() in _FILMS]
        if len(films) == 1:
            return films[0]
    name = next((name for name in known if name), folder.stem)
    raise WorkFolderError(
        f"The film of {folder} is not beside it: there is no {folder.parent / str(name)}.",
        f"Say where it is: shotad sheet {folder} --film FILM.",
    )


_FILMS = {".mp4", ".mkv", ".webm", ".mov", ".avi", ".m4v", ".mpg", ".mpeg", ".ts", ".m2ts", ".ogv", ".wmv"}


def _check(film: Film, folder: WorkFolder) -> None:
    """Refuse to draw one film with the track of another."""
    from shotad.script.track import load_track

    track = load_track(folder.path / "track.json")
    if track.film.fingerprint != film.info.fingerprint:
        raise WorkFolderError(
            f"{folder.path} belongs to another film: {track.film.name}, not {film.info.name}.",
            "Name that film, or the work folder of this one with --out.",
        )


def _was_exact(folder: WorkFolder) -> bool:
    """Whether the run had given slots, which are looked at frame by frame: only planned slots have gaps."""
    slots = folder.read_json("slots.json")
    return slots is not None and "gaps" not in slots
