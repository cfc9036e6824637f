"""Where a film's files are for the time of its run: they lie on this machine, or are brought here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shotad.batch.jobs import FilmJob
from shotad.batch.storage.fetching import brought
from shotad.batch.storage.places import is_address
from shotad.batch.storage.staging import staged
from shotad.core import Progress


@dataclass(frozen=True, slots=True)
class Placed:
    """Film, work folder and given files as paths of this machine."""

    film: Path
    folder: Path
    subtitles: Path | None = None
    cast: Path | None = None
    cast_photos: Path | None = None


def is_elsewhere(place: str) -> bool:
    """Whether a place is an address (``s3://…``) and no path."""
    return is_address(place)


@contextmanager
def placed(job: FilmJob, progress: Progress) -> Iterator[Placed]:
    """The job's files here; what lies elsewhere is brought here first, and its results are sent back.

    Raises StorageError for what cannot be brought.
    """
    scratch = None if job.scratch is None else Path(job.scratch)
    with staged(job.film, job.folder, scratch, progress=progress, media=bool(job.makes)) as here:
        room = here.beside or here.folder
        given = (job.subtitles, job.cast, job.cast_photos)
        yield Placed(
            here.film,
            here.folder,
            *(None if one is None else brought(one, room, progress=progress) for one in given),
        )
