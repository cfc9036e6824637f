"""Where the cast of a film lies, and the run with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shotad.core import (
    CastError,
    GivenCast,
    RunSettings,
    WorkFolder,
    key_of,
    read_settings,
    with_cast,
    write_settings,
)

if TYPE_CHECKING:
    from shotad.review.editing.session import Session

OWN = "cast"
"""The cast folder within the work folder, which the page makes where there is no other."""


def cast_place(session: Session) -> Path | None:
    """The cast of the film: what the run was given, else what was found beside the film or by the page."""
    given = read_settings(session.folder).given.cast
    if given is not None and given.path.exists():
        return given.path
    film = session.film.path
    beside = film.with_name((film.stem if film.suffix else film.name) + ".cast") if film is not None else None
    return next(
        (place for place in (beside, session.folder / OWN) if place is not None and place.is_dir()), None
    )


def run_with_cast(session: Session) -> RunSettings:
    """The run as its settings have it now. Raises CastError where its cast is not there any more."""
    run = read_settings(session.folder)
    given = run.given.cast
    if given is None or given.path.exists():
        return run
    place = cast_place(session)
    if place is None:
        raise CastError(
            f"The cast of this run is no longer at {given.path}.",
            "Bring it back there, or run shotad describe with --cast.",
        )
    return with_cast(run, place)


def remember_cast(session: Session, folder: WorkFolder, place: Path) -> None:
    """Have the run know its cast, so that whatever is described anew says its names."""
    run = read_settings(session.folder)
    given = run.given.cast
    if given is not None and given.path.absolute() == place.absolute():
        return
    write_settings(
        folder,
        run.config,
        run.film,
        replace(run.given, cast=GivenCast(place)),
        frame_rate=run.frame_rate,
        configs=run.configs,
        assignments=run.assignments,
    )


def folder_of(place: Path) -> Path:
    """The folder of a cast, of which ``place`` is that or the file in it."""
    return place if place.is_dir() or not place.suffix else place.parent


def why_not(place: Path | None) -> str:
    """Why a cast cannot be changed; empty where it can."""
    if place is not None and place.suffix.lower() == ".json":
        return f"{place.name} is a character bank, which is only read."
    return ""


def stamp_of_cast(folder: Path, place: Path | None) -> str:
    """Changes whenever a file from which the cast is read does."""
    names = [folder / name for name in ("settings.json", "characters.json", "discovered.jsonl")]
    if place is not None:
        base = folder_of(place)
        names += [place, base / "cast.yaml", base / "cast.yml", base / "discovered.json"]
    facts = []
    for path in names:
        try:
            state = path.stat()
            facts.append([str(path), state.st_mtime_ns, state.st_size])
        except OSError:
            facts.append([str(path), 0, 0])
    return key_of(facts)
