"""The work folder held by a job of the page, and what the run that it belongs to was asked to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import Config, InUse, ReviewError, RunSettings, WorkFolder
from shotad.film import film_of

if TYPE_CHECKING:
    from shotad.film import Film
    from shotad.review.editing.session import Session


@contextmanager
def held(folder: Path) -> Iterator[WorkFolder]:
    """The work folder for the time of a job. Raises ReviewError where another shotad holds it."""
    place = WorkFolder(folder)
    try:
        place.__enter__()
    except InUse:
        raise ReviewError(
            "Another shotad is at work on this film, shotad describe perhaps.",
            "Wait until that is done and try again; what you edit meanwhile is kept.",
        ) from None
    try:
        yield place
    finally:
        place.__exit__(None, None, None)


@contextmanager
def opened(session: Session, run: RunSettings, config: Config) -> Iterator[Film]:
    """The film, as the run read it. Raises FilmError."""
    from shotad.film import open_film

    known = session.film.path
    place = known if known is not None and known.exists() else film_of(session.folder, run, session.film.name)
    with open_film(place, reader=config.film.reader, frame_rate=run.frame_rate) as film:
        yield film


def file_row(path: Path, folder: Path) -> dict[str, Any]:
    """A file that a job made, as the page offers it; ``path`` is told from the work folder on."""
    return {
        "name": path.name,
        "url": f"/files/{_quoted(path.name)}",
        "size": path.stat().st_size,
        "path": path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name,
    }


def _quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")
