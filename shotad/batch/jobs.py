"""One film of many: what is asked of it, and what came of it.

A job and its result are values: they travel to other processes and machines, and stand in reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from fractions import Fraction
from typing import Any, Literal

from shotad.core import Config, InUse, UsageError, build_settings

State = Literal["done", "failed", "skipped", "in_use"]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FilmJob:
    """A film, its work folder, and everything that a run on it is asked to do.

    ``film`` and ``folder`` are paths, or addresses (``s3://…``); so may ``subtitles``, ``cast`` and
    ``cast_photos`` be. ``config`` is the resolved settings, note and all; ``configs`` and ``assignments``
    only say how they were named. ``makes`` are what is rendered besides (``film``, ``ad:mp3``), ``rate`` the
    frame rate of numbered frames, ``stamp`` what tells this version of a film at an address from another;
    ``timed``: a profile of the run is kept.
    """

    film: str
    folder: str
    config: Config = field(default_factory=Config)
    subtitles: str | None = None
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

    def __post_init__(self) -> None:
        if not self.film or not self.folder:
            raise ValueError(f"a job needs a film and a folder, got {self.film!r} and {self.folder!r}")
        if self.end is not None and self.end <= self.start:
            raise UsageError(f"The end, {self.end:g} s, does not lie after the start, {self.start:g} s.")
        if self.rate is not None and not _is_rate(self.rate):
            raise UsageError(f"{self.rate!r} is no frame rate.", "Write 3, 25 or 24000/1001.")

    @property
    def frame_rate(self) -> Fraction | None:
        """``rate`` as a number."""
        return None if self.rate is None else Fraction(self.rate)

    def seconds_of(self, length: float) -> float:
        """How much of a film of so many seconds is to be described."""
        return max(min(length, self.end or length) - self.start, 0.0)

    def as_json(self) -> Json:
        """For `of`."""
        row = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**row, "config": self.config.model_dump(mode="json"), **_lists(row)}

    @staticmethod
    def of(row: Mapping[str, Any]) -> FilmJob:
        """What `as_json` gave. Raises ConfigError for settings of another shotad."""
        tuples = {name: tuple(row[name]) for name in _TUPLES}
        return FilmJob(**{**row, "config": build_settings(Config, row["config"]), **tuples})


def _is_rate(text: str) -> bool:
    try:
        return Fraction(text) > 0
    except (ValueError, ZeroDivisionError):
        return False


_TUPLES = ("makes", "configs", "assignments")


def _lists(row: Mapping[str, Any]) -> Json:
    return {name: list(row[name]) for name in _TUPLES}


@dataclass(frozen=True, slots=True)
class FilmResult:
    """What came of a film. ``state`` skipped: it was done before, and nothing has changed since; in_use:
    another run is at it.

    ``error`` is (what, hint) where it failed or is in use; ``kind`` the name of its class, or killed, memory,
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

    def __post_init__(self) -> None:
        if (self.state in ("failed", "in_use")) != (self.error is not None):
            raise ValueError(f"a film that was not described has an error, got {self.state}, {self.error}")

    @property
    def pace(self) -> float | None:
        """Seconds of work for each second of film; None where nothing was done or the length is unknown."""
        known = self.state != "skipped" and self.film_seconds > 0
        return self.wall_seconds / self.film_seconds if known else None

    def as_json(self) -> Json:
        """For `of`, and for reports."""
        row = asdict(self)
        error = None if self.error is None else list(self.error)
        return {**row, "error": error, **{name: list(row[name]) for name in _LISTED}}

    @staticmethod
    def of(row: Mapping[str, Any]) -> FilmResult:
        """What `as_json` gave."""
        error = None if row["error"] is None else (str(row["error"][0]), str(row["error"][1]))
        return FilmResult(**{**row, "error": error, **{name: tuple(row[name]) for name in _LISTED}})


_LISTED = ("files", "warnings", "spent")


def failure(
    job: FilmJob, what: str, hint: str = "", *, kind: str, attempts: int = 1, again: bool = False
) -> FilmResult:
    """The result of a film that was not described: it failed or, by its ``kind`` of error, is in use."""
    state: State = "in_use" if kind == InUse.__name__ else "failed"
    return FilmResult(job.film, job.folder, state, (what, hint), kind, again, attempts=attempts)
