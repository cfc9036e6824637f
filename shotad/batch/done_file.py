"""``done.json`` in a work folder: that a film is done, by which terms, so that a batch leaves it alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from shotad.batch.jobs import FilmJob, FilmResult
from shotad.batch.places import is_elsewhere
from shotad.core import StorageError, key_of, parse_json, readable_json, write_text
from shotad.sight import USED

DONE = "done.json"

_COUNTS = ("slots", "lines", "unsaid", "amiss", "edited", "silences", "film_seconds")


def mark_done(job: FilmJob, folder: Path, result: FilmResult) -> None:
    """Write that the film is done; it is the last file that a run writes, and holds no times of day."""
    counts = {name: getattr(result, name) for name in _COUNTS}
    record = {"key": run_key(job), "counts": counts, "files": list(result.files)}
    write_text(folder / DONE, readable_json(record))


def done_before(job: FilmJob) -> FilmResult | None:
    """The result of an earlier run by the same terms on the same files, whose files are all there still.

    The film is not opened, and nothing but the mark is read.
    """
    found = None if job.force or job.discard_edits else _read(job.folder)
    if found is None or found["key"] != run_key(job):
        return None
    files = tuple(str(name) for name in found["files"])
    if not _are_there(job.folder, files):
        return None
    result = FilmResult(job.film, job.folder, "skipped", files=files, attempts=0)
    return replace(result, **{name: found["counts"][name] for name in _COUNTS})


def run_key(job: FilmJob) -> str:
    """Hash of all that a run depends on: settings, what is made, and the files as they are now.

    Files are told by size and date, for a catalogue is looked through often and must not be read for it.
    """
    given = (job.subtitles, job.cast, job.cast_photos)
    terms = (job.config, job.cast_key, job.start, job.end, job.rate, sorted(job.makes), job.sheet)
    return key_of(job.stamp or _stamp(job.film), *terms, *(one and _stamp(one) for one in given))


def _stamp(place: str) -> Any:
    """Name, size and date of a file, or of all files in a folder; of one elsewhere its address."""
    if is_elsewhere(place):
        return place
    path = Path(place)
    files = sorted(_files_in(path)) if path.is_dir() else [path]
    return [[file.name, *_size_and_date(file)] for file in files]


def _files_in(folder: Path) -> Iterator[Path]:
    for at, _, names in os.walk(folder):
        yield from (Path(at) / name for name in names if name != USED)


def _size_and_date(file: Path) -> Iterable[int]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return (found.st_size, found.st_mtime_ns)


def _are_there(folder: str, files: Iterable[str]) -> bool:
    from shotad.script import TRACK

    if not is_elsewhere(folder):
        return all((Path(folder) / name).exists() for name in (TRACK, *files))
    from shotad.batch.storage.places import join
    from shotad.batch.storage.store import Store

    # The track is sent last, after all that is told in the mark.
    return Store(folder).find(join(folder, TRACK)) is not None


def _read(folder: str) -> dict[str, Any] | None:
    """A mark, or None where there is none that can be read."""
    from shotad.batch.storage.fetching import read_text
    from shotad.batch.storage.places import join

    try:
        value = parse_json(read_text(join(folder, DONE)))
    except (StorageError, ValueError):
        return None
    whole = isinstance(value, dict) and isinstance(value.get("files"), list) and "key" in value
    counts = value.get("counts") if whole else None
    return value if isinstance(counts, dict) and all(name in counts for name in _COUNTS) else None
