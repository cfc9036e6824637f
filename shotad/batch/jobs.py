"""One film of many: what is asked of it, what came of it, and the mark in its work folder that it is done.

A job and its result are values: they travel to other processes and machines, and stand in reports. By
``done.json``, which says that a film is done and by which terms, a batch leaves it alone.
"""

from __future__ import annotations

import os
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from shotad.batch.downloads import read_text
from shotad.batch.places import is_address, join
from shotad.batch.store import Store
from shotad.core import Config
from shotad.core.errors import (
    DescriptionExists,
    FolderInUse,
    StorageError,
    UsageError,
)
from shotad.core.files import write_text
from shotad.core.records import parse_json
from shotad.core.types import frame_rate_of
from shotad.core.workfolder import hash_key, readable_json
from shotad.sight.castfolder import USE_LIST

State = Literal["done", "failed", "skipped", "in_use", "has_description"]

_NOT_DESCRIBED: tuple[State, ...] = ("failed", "in_use", "has_description")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FilmJob:
    """A film, its work folder, and everything that a run on it is asked to do.

    ``film`` and ``folder`` are paths, or addresses (``s3://…``); so may ``subtitles``, ``cast`` and
    ``cast_photos`` be, and ``descriptions``, those that lie beside the film. ``config`` is the resolved
    settings, note and all; ``configs`` and ``assignments`` only say how they were named. ``makes`` are what
    else is rendered (``film``, ``ad:mp3``), ``rate`` the frame rate of numbered frames, ``stamp`` what tells
    this version of a film at an address from another; ``timed``: where the time goes is told.
    """

    film: str
    folder: str
    config: Config = field(default_factory=Config)
    subtitles: str | None = None
    descriptions: tuple[str, ...] = ()
    cast: str | None = None
    cast_key: str = ""
    cast_photos: str | None = None
    start: float = 0.0
    end: float | None = None
    rate: str | None = None
    makes: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    sheet: bool = True
    force: bool = False
    discard_edits: bool = False
    timed: bool = False
    stamp: str = ""
    scratch: str | None = None
    """Where a film that is fetched is put; None: where the system keeps what is passing."""
    notes: tuple[str, ...] = ()
    """Sentences for the user on what lies beside the film."""

    def __post_init__(self) -> None:
        if not self.film or not self.folder:
            raise ValueError(f"a job needs a film and a folder, got {self.film!r} and {self.folder!r}")
        if self.end is not None and self.end <= self.start:
            raise UsageError(f"The end, {self.end:g} s, does not lie after the start, {self.start:g} s.")
        frame_rate_of(self.rate)

    @property
    def frame_rate(self) -> Fraction | None:
        """``rate`` as a number."""
        return frame_rate_of(self.rate)

    def seconds_of(self, length: float) -> float:
        """How much of a film of so many seconds to describe."""
        return max(min(length, self.end or length) - self.start, 0.0)


@dataclass(frozen=True, slots=True)
class FilmResult:
    """What came of a film. ``state`` skipped: it was done before, and nothing has changed since; in_use:
    another run is at it; has_description: the film has an audio description already.

    ``error`` is (what, hint) where it was not described; ``kind`` the name of its class, or killed, memory,
    disk, stopped; ``again`` whether a second try may go better.
    ``lines`` are heard in ``slots``; ``unsaid`` slots are silent or dropped, ``amiss`` have
    failed. ``silences`` are long stretches without speech or AD. Seconds are those of the film that are to be
    described, and of this run's work on it; ``peak`` is the most memory in bytes, ``attempts`` how often it
    was begun, ``files`` (by name, in the folder) the track, its scripts and what was rendered.
    """

    film: str
    folder: str
    state: State
    error: tuple[str, str] | None = None
    kind: str = ""
    again: bool = False
    slots: int = 0
    lines: int = 0
    unsaid: int = 0
    amiss: int = 0
    edited: int = 0
    silences: int = 0
    film_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak: int = 0
    attempts: int = 1
    files: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    spent: tuple[str, ...] = ()
    """Where the time went, in lines, where the job is timed."""
    unused: tuple[str, ...] = ()
    """Names of files beside the film that did not fit it, and were not used."""

    def __post_init__(self) -> None:
        if (self.state in _NOT_DESCRIBED) != (self.error is not None):
            raise ValueError(f"a film that was not described has an error, got {self.state}, {self.error}")

    @property
    def pace(self) -> float | None:
        """Seconds of work for each second of film; None where nothing was done or the length is unknown."""
        is_known = self.state != "skipped" and self.film_seconds > 0
        return self.wall_seconds / self.film_seconds if is_known else None

    def as_json(self) -> Json:
        """For reports."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }


def failure(
    job: FilmJob, problem: str, hint: str = "", *, kind: str, attempts: int = 1, again: bool = False
) -> FilmResult:
    """The result of a film that was not described: it failed or, by its ``kind`` of error, is in use or has a
    description."""
    states: dict[str, State] = {
        FolderInUse.__name__: "in_use",
        DescriptionExists.__name__: "has_description",
    }
    state = states.get(kind, "failed")
    return FilmResult(job.film, job.folder, state, (problem, hint), kind, again, attempts=attempts)


def error_line(error: BaseException) -> str:
    """An error that nobody has foreseen, in a line: its class and what it says."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def fault_of(error: BaseException) -> str:
    """What is said of it, with where it came from."""
    place = traceback.extract_tb(error.__traceback__)
    at = f" ({Path(place[-1].filename).name}, line {place[-1].lineno})" if place else ""
    return f"shotad failed: {error_line(error)}{at}."


DONE = "done.json"

_COUNTS = ("slots", "lines", "unsaid", "amiss", "edited", "silences", "film_seconds")


def mark_done(job: FilmJob, folder: Path, result: FilmResult) -> None:
    """Write that the film is done; it is the last file that a run writes, and holds no times of day."""
    counts = {name: getattr(result, name) for name in _COUNTS}
    record = {
        "key": run_key(job),
        "counts": counts,
        "files": list(result.files),
        "unused": list(result.unused),
    }
    write_text(folder / DONE, readable_json(record))


def earlier_result(job: FilmJob) -> FilmResult | None:
    """The result of an earlier run by the same terms on the same files, whose files are all there still.

    The film is not opened, and nothing but the mark is read.
    """
    from shotad.script.track_files import TRACK

    if job.force or job.discard_edits:
        return None
    try:
        mark = parse_json(read_text(join(job.folder, DONE)))
        files, numbers = tuple(str(name) for name in mark["files"]), mark["counts"]
        counts = {name: numbers[name] for name in _COUNTS}
        key = mark["key"]
        # Marks of earlier versions have none.
        unused = tuple(str(name) for name in mark.get("unused", ()))
    except (StorageError, ValueError, KeyError, TypeError):
        return None
    if key != run_key(job):
        return None
    if is_address(job.folder):
        # The track is sent last, after all that is told in the mark.
        is_there = Store(job.folder).find(join(job.folder, TRACK)) is not None
    else:
        is_there = all((Path(job.folder) / name).exists() for name in (TRACK, *files))
    result = FilmResult(job.film, job.folder, "skipped", files=files, attempts=0, unused=unused)
    return replace(result, **counts) if is_there else None


def run_key(job: FilmJob) -> str:
    """Hash of all that a run depends on: settings, what is made, and the files as they are now.

    Files are told by size and date, for a catalogue is looked through often and must not be read for it.
    """
    kept_descriptions = job.descriptions if job.config.existing == "complete" else ()
    companion_files = (job.subtitles, job.cast, job.cast_photos, *kept_descriptions)
    terms = (job.config, job.cast_key, job.start, job.end, job.rate, sorted(job.makes), job.sheet)
    return hash_key(
        "film/1", job.stamp or _stamp(job.film), *terms, *(path and _stamp(path) for path in companion_files)
    )


def _stamp(place: str) -> Any:
    """Name, size and date of a file, or of all files in a folder; of one elsewhere its address."""
    if is_address(place):
        return place
    path = Path(place)
    below = (Path(at) / name for at, _, names in os.walk(path) for name in names if name != USE_LIST)
    files = sorted(below) if path.is_dir() else [path]
    stamps: list[list[Any]] = []
    for file in files:
        stamps.append([file.name])
        with suppress(OSError):
            state = file.stat()
            stamps[-1] += [state.st_size, state.st_mtime_ns]
    return stamps
