"""Films that the first screen has described: one after the other, by what ``shotad batch`` runs.

The films that wait or are at work are kept on the disk with what was chosen for them, so that a server that
was killed goes on with them when it is started again. Files in a folder of films may have come with it: a
list of films counts only with the seal of this user (`shotad.core.trust`), since an engine that it names may
send them somewhere.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from shotad.batch import (
    Batch,
    BatchProgress,
    BatchReport,
    FilmRow,
    PlannedFilm,
    PrivacyNotices,
    parse_size,
    read_report,
)
from shotad.core import ShotadError
from shotad.core.cancellation import StopRequested, pause, raise_if_cancelled
from shotad.core.config.languages import language_name
from shotad.core.errors import EngineError, ReviewError, UsageError, WorkFolderError
from shotad.core.files import read_file, write_text
from shotad.core.progress import printable
from shotad.core.records import parse_json
from shotad.core.trust import bears_seal, sealed
from shotad.core.workfolder import readable_json
from shotad.engines import stage_engines
from shotad.review.events import Json, Tabs
from shotad.review.film_folder import Choices, FilmFolder, ListedFilm
from shotad.review.jobs import JobProgress, Jobs
from shotad.review.messages import fault_view, message, refusal, with_texts
from shotad.script.track_texts import has_texts

QUEUE_FILE, REPORT_FILE = "queue.json", "report.json"

KEEP_FREE = parse_size("2GB")
"""Bytes that stay free on the disk, as ``shotad batch --min-free`` has it by default."""

_IN_USE_SECONDS = 30.0
"""How long a film waits whose work folder is in use: workers of a killed server have 15 s to end."""
_LOOK_AGAIN_SECONDS = 1.0


@dataclass(slots=True)
class _JobBoard(BatchProgress):
    """Shows the batch of one film as the progress of a job, and ends it when the job was asked to stop.

    Tasks and notes would notice it too, but a film that loads a model may have none for minutes.
    """

    def still(self, counts: str) -> None:
        raise_if_cancelled()


class FilmQueue:
    """The films that are described from the page. May be used by several threads."""

    def __init__(self, folder: FilmFolder, jobs: Jobs, tabs: Tabs) -> None:
        self._folder, self._jobs, self._tabs = folder, jobs, tabs
        self._queue_file = folder.own_folder / QUEUE_FILE
        self._report_file = folder.own_folder / REPORT_FILE
        self._lock = threading.RLock()
        self._queue: dict[str, Choices] = {}
        """What was chosen for the films that wait or are at work, by id, in order."""
        self._job_ids: dict[str, str] = {}
        """The last job of each film, by the film's id."""
        self._errors = _errors_of(self._report_rows())

    def start(self, film_id: str, choices: Choices) -> Json:
        """Have a film described; the job as the page shows it.

        Raises ReviewError for a film that is gone or waits already, EngineError and ConfigError for choices
        that cannot be, also where they do not go together.
        """
        film = self._folder.film(film_id)
        stage_engines(choices.config())  # refuses an engine that is not known
        # With what lies beside the film: that may name an engine, or a language
        config = self._folder.plan(film_id, choices).job.config
        if stage_engines(config).stage2 == "narrator" and not has_texts(config.language):
            raise with_texts(EngineError, "films.no_worksheet", language=language_name(config.language))
        with self._lock:
            if film_id in self._queue:
                raise refusal("films.already", film=film.label)
            self._queue[film_id] = choices
            try:
                job = self._begin(film, choices)
            except ShotadError:
                del self._queue[film_id]
                raise
            self._write_queue()
        self._tabs.send("films", {})
        return job

    def stop(self, job_id: str) -> Json:
        """Ask a job to stop; its film is not gone on with when the server is started again.

        Raises ReviewError where there is no such job.
        """
        job = self._jobs.stop(job_id)
        with self._lock:
            film_ids = [film_id for film_id, known_id in self._job_ids.items() if known_id == job_id]
            for film_id in film_ids:
                self._forget(film_id)
        return job

    def go_on(self) -> int:
        """Begin again with the films that an earlier server left; how many there are."""
        films = {film.id: film for film in self._folder.films()}
        with self._lock:
            for film_id, choices in self._read_queue().items():
                if film_id not in films:
                    continue
                with suppress(ReviewError):  # more films wait than there may be
                    self._begin(films[film_id], choices)
                    self._queue[film_id] = choices
            self._write_queue()
            return len(self._queue)

    def job_of(self, film_id: str) -> Json | None:
        """The job of a film that waits, runs or has ended in this server; None where there was none."""
        with self._lock:
            job_id = self._job_ids.get(film_id)
        return None if job_id is None else self._jobs.view(job_id)

    def error_of(self, film: ListedFilm) -> Json | None:
        """Why a film failed the last time; None where it did not."""
        with self._lock:
            error = self._errors.get(film.planned.job.film)
        return None if error is None else fault_view(error)

    def _begin(self, film: ListedFilm, choices: Choices) -> Json:
        job = self._jobs.start(
            "describe",
            message("job.describe", film=film.label),
            lambda progress: self._describe(film, choices, progress),
        )
        self._job_ids[film.id] = str(job["id"])
        return job

    def _describe(self, film: ListedFilm, choices: Choices, progress: JobProgress) -> Json:
        """The work of a job. Raises ReviewError where the film could not be described."""
        try:
            row = self._run(self._folder.plan(film.id, choices), progress)
        except StopRequested:
            # By the end of the server: then the film stays in the queue. Who stops a job takes it out.
            raise
        except BaseException:
            self._forget(film.id)
            raise
        result = row.result
        assert result is not None
        self._note_result(row)
        self._forget(film.id)
        if result.error is not None:
            raise _failure(result.kind, *result.error)
        lines = message("job.describe.lines", count=result.lines)
        slots = message("job.describe.slots", count=result.slots)
        if result.state == "skipped":
            said = message("job.describe.before", film=film.label, lines=lines, slots=slots)
            return {"said": said.view(), "files": []}
        said = message("job.describe.done", film=film.label, lines=lines, slots=slots)
        if result.amiss:
            said = message(
                "job.describe.failed",
                film=film.label,
                lines=lines,
                slots=slots,
                count=result.amiss,
            )
        return {
            "said": said.view(),
            "warnings": list(result.warnings),
            "files": [],
        }

    def _run(self, planned: PlannedFilm, progress: JobProgress) -> FilmRow:
        """Describe a film in a process of its own, and once more where it crashes. Waits a while where its
        work folder is in use."""
        notices = PrivacyNotices()
        for line in (*notices.engines_of([planned]), *notices.of([planned])):
            progress.note(line)
        deadline, is_waiting = time.monotonic() + _IN_USE_SECONDS, False
        while True:
            board = _JobBoard(progress, bars=True, is_named=False)
            (row,) = Batch(board, keep=KEEP_FREE).run([planned])
            is_in_use = row.result is not None and row.result.state == "in_use"
            if not is_in_use or time.monotonic() > deadline:
                return row
            if not is_waiting:
                progress.note(message("films.in_use"))
            is_waiting = True
            pause(_LOOK_AGAIN_SECONDS)

    def _forget(self, film_id: str) -> None:
        with self._lock:
            self._queue.pop(film_id, None)
            self._write_queue()

    def _note_result(self, row: FilmRow) -> None:
        """Keep why a film failed, so that the list says it after a restart too."""
        report = BatchReport(self._report_file)
        report.write(lambda: [row], 0.0, ended=True)
        with self._lock:
            self._errors = _errors_of(self._report_rows())

    def _report_rows(self) -> list[Mapping[str, Any]]:
        try:
            return list(read_report(self._report_file))
        except UsageError:
            return []

    def _write_queue(self) -> None:
        """Keep the queue. Where that cannot be done, its films are described all the same."""
        entries = {film_id: asdict(choices) for film_id, choices in self._queue.items()}
        record = {"films": entries, "seal": sealed(_SEAL, self._sealed(entries))}
        with suppress(WorkFolderError, OSError):
            write_text(self._queue_file, readable_json(record))

    def _read_queue(self) -> dict[str, Choices]:
        """The films that an earlier server left; none where this user has not sealed the list."""
        try:
            record = parse_json(read_file(self._queue_file))
            entries = {str(film_id): dict(entry) for film_id, entry in record["films"].items()}
            choices = {
                film_id: Choices(str(entry["engine"]), str(entry["language"]), str(entry["existing"]))
                for film_id, entry in entries.items()
            }
            seal = record["seal"]
        except (OSError, WorkFolderError, ValueError, KeyError, TypeError, AttributeError):
            return {}
        return choices if bears_seal(seal, _SEAL, self._sealed(entries)) else {}

    def _sealed(self, entries: Mapping[str, Any]) -> dict[str, Any]:
        # The folder belongs to it: the list of one folder says nothing in another.
        return {"folder": os.fsdecode(self._folder.path), "films": entries}


_FAILURES = {
    "DescriptionExists": "films.failed.description",
    "DiskFull": "films.failed.disk",
    "FilmChanged": "films.failed.changed",
    "OtherFilm": "films.failed.other",
    "memory": "films.failed.memory",
    "killed": "films.failed.killed",
}
"""Texts of failures whose own hints name options of a command, by their kind."""


def _errors_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, ReviewError]:
    """What went wrong with each film that failed, by its path, from the rows of a report."""
    errors: dict[str, ReviewError] = {}
    for row in rows:
        error = row.get("error")
        if row.get("state") == "failed" and isinstance(error, list) and len(error) == 2:
            errors[str(row["film"])] = _failure(str(row.get("kind")), str(error[0]), str(error[1]))
    return errors


def _failure(kind: str, problem: str, hint: str) -> ReviewError:
    """What went wrong with a film, for somebody without a command line."""
    if kind in _FAILURES:
        return refusal(_FAILURES[kind], problem=printable(problem))
    return ReviewError(printable(problem), printable(hint))


_SEAL = "films"
"""What the seal of a queue is for."""
