"""``shotad cast discover FILM``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.options import PATH, Console, console_options, film_options, opened, settings

if TYPE_CHECKING:
    from shotad.description import Discovery, Known


@click.command(name="discover")
@film_options
@click.option(
    "--cast",
    "cast_folder",
    type=PATH,
    metavar="DIR",
    help="The cast folder to make or to add to; else FILM.cast beside the film.",
)
@click.option("--from", "start", metavar="TIME", help="Look from this time of the film on.")
@click.option("--to", "end", metavar="TIME", help="Look up to this time.")
@click.option("--shots", type=PATH, help="Shots, from a file instead of the picture.")
@click.option("--force", is_flag=True, help="Look at the film again, also where that was done before.")
@console_options
def command(console: Console, cast_folder: Path | None, **options: Any) -> None:
    """Find the people of FILM by their faces and make a cast folder to fill in their names.

    The folder gets a few pictures of each person, cast.yaml for the names, and overview.html to look at.
    Run it again, or on the next episode with the same --cast: names and all that you changed stay, people
    who are known are found again, new ones are added.
    """
    from shotad.description import Bench, discover
    from shotad.sight import get_face_models

    config = settings(options)
    place = cast_folder or cast_folder_of(options["film"])
    with opened(options, config) as (film, folder, given):
        get_face_models(config.cast, console)
        found = discover(Bench.of(film, folder, config, given, console), place)
    more = {"--frame-rate": options["frame_rate"], "--out": options["out"]}
    console.result(told(found, options["film"], more), as_json(found))


def cast_folder_of(film: Path) -> Path:
    """The folder beside the film: ``movie.mp4 → movie.cast``."""
    return film.with_name((film.stem if film.suffix and not film.is_dir() else film.name) + ".cast")


def told(found: Discovery, film: Path, options: Mapping[str, object] | None = None) -> str:
    """What a run found and what to do next, in words; ``options`` are those that describe needs too."""
    if not found.people:
        return "\n".join([_nobody(found), *_left_out(found), *_gone(found)])
    width = max(len(one.id) for one in found.people)
    lines = [f"{'person':<{width}}  {'shots':>5}  {'in view':>8}  {'first at':>8}  pictures"]
    lines += [_row(one, width) for one in found.people]
    new = sum(one.way == "new" for one in found.people)
    known = f"{len(found.people) - new} known before, {new} new" if len(found.people) > new else f"{new}"
    lines += [
        f"People in {found.film}: {known}.",
        *_left_out(found),
        *_gone(found),
        *_next(found, film, options or {}),
    ]
    return "\n".join(lines)


def _row(one: Known, width: int) -> str:
    from shotad.script import timecode

    seen = f"{one.found.shots:>5}  {one.found.seconds:>6.1f} s  {timecode(one.found.first)[:8]:>8}"
    like = f"; looks like {one.like}" if one.like else ""
    name = f"; {one.name}" if one.name else ""
    return f"{one.id:<{width}}  {seen}  {_pictures(one)}{name}{like}"


def _pictures(one: Known) -> str:
    if one.way == "new":
        return f"{one.added} new"
    if one.way == "leave":
        return "left as you changed them"
    parts = [f"{one.added} new" if one.added else "", f"{one.removed} taken away" if one.removed else ""]
    return ", ".join(part for part in parts if part) or "as before"


def _nobody(found: Discovery) -> str:
    if not found.faces:
        return f"No faces were found in {found.film}, so there is nobody to name."
    return f"Faces were found in {found.film}, but of nobody for long or clearly enough to be known again."


def _left_out(found: Discovery) -> list[str]:
    parts = [
        (found.brief, "seen too briefly"),
        (found.unclear, "without a picture clear enough to know them again by"),
        (found.dismissed, "whom you took out of the cast before"),
    ]
    said = [f"{number} {words}" for number, words in parts if number]
    return [f"Left out: {'; '.join(said)}."] if said else []


def _gone(found: Discovery) -> list[str]:
    if not found.gone:
        return []
    return [f"Taken out, for the film does not show them as one person any more: {', '.join(found.gone)}."]


def _next(found: Discovery, film: Path, options: Mapping[str, object]) -> list[str]:
    folder = shlex.quote(str(found.folder))
    unnamed = next((one.id for one in found.people if not one.name), None)
    naming = f'Next: shotad cast name {folder} {unnamed} "NAME"'
    describing = f"shotad describe {shlex.quote(str(film))} --cast {folder}"
    describing += "".join(f" {key} {shlex.quote(str(value))}" for key, value in options.items() if value)
    return [
        f"The pictures are in {found.folder}; look at {found.folder / 'overview.html'}.",
        *([naming, f"Then: {describing}"] if unnamed else [f"Next: {describing}"]),
    ]


def as_json(found: Discovery) -> dict[str, Any]:
    """What a run found, for programs."""
    people = [
        {
            "id": one.id,
            "name": one.name,
            "pictures": one.way,
            "added": one.added,
            "removed": one.removed,
            "like": one.like,
            "shots": one.found.shots,
            "seconds": one.found.seconds,
            "first": one.found.first,
        }
        for one in found.people
    ]
    left_out = {"brief": found.brief, "unclear": found.unclear, "dismissed": found.dismissed}
    return {
        "cast": str(found.folder),
        "film": found.film,
        "faces": found.faces,
        "people": people,
        "gone": list(found.gone),
        "left_out": left_out,
    }
