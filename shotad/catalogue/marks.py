"""``done.json`` in a work folder: that a film is done, by which terms, so that a batch leaves it alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from shotad.catalogue.jobs import FilmJob, FilmResult
from shotad.catalogue.places import Placed
from shotad.tracking import TRACK
from shotad.workfolder import key_of, readable_json, write_text

DONE = "done.json"

_COUNTS = ("slots", "lines", "unsaid", "amiss", "edited", "silences", "film_seconds")


def mark_done(job: FilmJob, place: Placed, result: FilmResult) -> None:
    """Write that the film is done; it is the last file that a run writes, and holds no times of day."""
    counts = {name: getattr(result, name) for name in _COUNTS}
    record = {"key": run_key(job, place), "counts": counts, "files": list(result.files)}
    write_text(place.folder / DONE, readable_json(record))


def done_before(job: FilmJob, place: Placed) -> FilmResult | None:
    """The result of an earlier run by the same terms on the same files, whose files are all there still."""
    found = _read(place.folder / DONE)
    if found is None or found.get("key") != run_key(job, place):
        return None
    files = [str(name) for name in found["files"]]
    if not all((place.folder / name).exists() for name in (TRACK, *files)):
        return None
    result = FilmResult(job.film, job.folder, "skipped", files=tuple(files))
    return replace(result, **{name: found["counts"][name] for name in _COUNTS})


def run_key(job: FilmJob, place: Placed) -> str:
    """Hash of all that a run depends on: settings, what is made, and the files as they are now.

    Files are told by size and date, for a catalogue is looked through often and must not be read for it.
    """
    given = (place.subtitles, place.cast, place.cast_photos)
    film = job.stamp or _stamp(place.film)
    terms = (job.config, job.cast_key, job.start, job.end, job.rate, sorted(job.makes), job.sheet)
    return key_of(film, *terms, *(path and _stamp(path) for path in given))


def _stamp(path: Path) -> list[list[Any]]:
    """Name, size and date of a file, or of all files in a folder."""
    files = sorted(_files_in(path)) if path.is_dir() else [path]
    return [[file.name, *_size_and_date(file)] for file in files]


def _files_in(folder: Path) -> Iterator[Path]:
    for at, _, names in os.walk(folder):
        yield from (Path(at) / name for name in names)


def _size_and_date(file: Path) -> Iterable[int]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return (found.st_size, found.st_mtime_ns)


def _read(path: Path) -> dict[str, Any] | None:
    """A mark, or None where there is none that can be read."""
    import json

    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(value, dict) and isinstance(value.get("files"), list)
    counts = value.get("counts") if whole else None
    return value if isinstance(counts, dict) and all(name in counts for name in _COUNTS) else None
