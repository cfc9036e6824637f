"""The second and the last workers: Stage I answers about slots, then a film's lines and track are written.

Each answer of Stage I is kept at once, whichever film it is of. When all slots of a film have been looked at,
the rest is done by the very code of a one-machine run, which finds Stage I's records where it would have left
them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from shotad.batch.describing import describe_film
from shotad.batch.jobs import FilmJob, FilmResult, failure
from shotad.batch.limits import Need
from shotad.batch.ray.cluster import RaySettings, error_of, halted, lost
from shotad.batch.ray.preparing import PATIENCE
from shotad.batch.ray.rows import (
    Columns,
    Parts,
    RayRow,
    Record,
    columns,
    job_of,
    laid_together,
    rows,
    unpacked,
)
from shotad.batch.ray.servers import StageEngines, ready_if_here
from shotad.core import Engine, EngineError, Preparing, Progress, Reply, Request, Usage, WorkFolder
from shotad.description import (
    Engines,
    Named,
    Stage1Question,
    converse,
    is_done,
    prompt_record,
    stage1_question,
)


class Stage1Answers:
    """Takes rows of slots, gives them without their frames when they are answered; safe in threads."""

    def __init__(self, register: Any, settings: RaySettings) -> None:
        self._register, self._settings = register, settings
        self._room = _Room()
        self._engines = StageEngines(settings.servers, settings.looking.serve)

    def __call__(self, batch: Columns) -> Iterator[Columns]:
        given = list(rows(batch))
        # What is to be asked about: no row that only holds the place of another, or whose record was good.
        asked = [
            row for row in given if (one := row.question) is not None and (one.unread or one.clip is not None)
        ]
        times = self._register.begun([_unit(row) for row in asked]) if asked else []
        begun = list(zip(asked, times, strict=True))
        with self._room.together:
            looked = list(self._look([row for row, before in begun if not before]))
        # Rows that a worker was lost over are looked at alone, so that they take no others along again.
        for row in (row for row, before in begun if before):
            with self._room.alone():
                looked += self._look([row])
        errors = {(row.film, row.name): error for row, error in looked}
        yield columns(
            [replace(row, question=None, error=errors.get((row.film, row.name), row.error)) for row in given]
        )

    def _look(self, asked: Sequence[RayRow]) -> Iterator[tuple[RayRow, dict[str, str]]]:
        """Asks about rows; what ended which film."""
        stopped = self._register.stopped() if asked else {}
        if stopped:
            yield from ((row, halted(stopped)) for row in asked)
            return
        begun = []
        for row in asked:
            attempt = int(self._register.begin(row.film, _unit(row)))
            if attempt > self._settings.attempts:
                yield row, lost(f"asking about slot {row.name}", attempt - 1)
            else:
                begun.append(row)
        for film in dict.fromkeys(row.film for row in begun):
            group = [row for row in begun if row.film == film]
            try:
                self._ask(group, job_of(group[0]))
            except EngineError as trouble:
                error = error_of(trouble)
                self._register.missed(film, error)
                yield from ((row, error) for row in group)
            except Exception as trouble:  # noqa: BLE001  one film's failure must not take the others along
                yield from ((row, error_of(trouble)) for row in group)
        for row in asked:
            self._register.end(_unit(row))

    def _ask(self, group: Sequence[RayRow], job: FilmJob) -> None:
        """Asks about slots of one film. Raises what the engine raises to stop."""
        engine, parts = self._engines.of(job.config, "stage1", is_ready=True), Parts(job.folder)
        questions: dict[str, Stage1Question] = {}
        for row in group:
            assert row.question is not None
            made = stage1_question(row.question.plan, engine, job.config, row.question.pixels)
            if made.key in row.question.known or is_done(parts.get(row.name, made.key)):
                continue
            questions[row.name] = made
            if row.question.unread:
                parts.add(row.name, made.key, made.unread())
        named: Iterator[Named] = (
            (row.name, questions[row.name].inquiry(unpacked(row.question.clip)))
            for row in group
            if row.name in questions and row.question is not None and row.question.clip is not None
        )
        for name, record in converse(named, {"looks": engine}):
            parts.add(name, questions[name].key, record)
            self._register.answered()


def _unit(row: RayRow) -> str:
    return f"slot {row.film}/{row.name}"


class _Room:
    """``together`` is for whoever works with others; `alone` waits until all have left it."""

    _MOST = 1000

    def __init__(self) -> None:
        self.together = threading.Semaphore(self._MOST)
        self._one = threading.Lock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._one:
            for _ in range(self._MOST):
                self.together.acquire()
            try:
                yield
            finally:
                self.together.release(self._MOST)


_AGAIN = 3.0


class Finishing:
    """Takes rows of slots that were looked at, gives the result of each film whose last row has come."""

    def __init__(self, register: Any, settings: RaySettings) -> None:
        self._register, self._settings = register, settings
        # Stage I's engine names the records, and looks again where lines are verified.
        self._looks = StageEngines(settings.servers)
        self._writes = StageEngines(settings.servers, settings.writing.serve)

    def __call__(self, batch: Columns) -> Iterator[Columns]:
        for row in rows(batch):
            count = row.count if row.end else None
            if self._register.arrive(row.film, row.name, count, dict(row.error), row.seconds, row.peak):
                yield columns([RayRow(row.film, "result", result=self._result(row))])
                self._register.over(row.film)

    def _result(self, row: RayRow) -> FilmResult:
        job, unit = job_of(row), f"track {row.film}"
        attempt = int(self._register.begin(row.film, unit))
        error, seconds, peak, attempts = self._register.account(row.film)
        if not error and attempt > self._settings.attempts:
            error = lost("writing its lines", attempt - 1)
        if error:
            result = failure(job, error["what"], error["hint"], kind=error["kind"])
        else:
            until = time.monotonic() + (PATIENCE if attempt > 1 else 0.0)
            result = self._described(replace(job, force=False))
            while result.kind == "InUse" and time.monotonic() < until:
                time.sleep(_AGAIN)
                result = self._described(replace(job, force=False))
        self._register.end(unit)
        return replace(
            result,
            attempts=min(attempts, self._settings.attempts) if result.state != "skipped" else result.attempts,
            wall_seconds=result.wall_seconds + seconds,
            peak=max(result.peak, peak),
        )

    def _described(self, job: FilmJob) -> FilmResult:
        parts = Parts(job.folder)
        looks = _Looked(self._looks.of(job.config, "stage1"))
        engines = Engines(looks, self._writes.of(job.config, "stage2")).with_measures(job.config)

        def lay(need: Need) -> None:
            """Lays what was told on this run where the one-machine run looks for it."""
            with WorkFolder(need.folder) as folder:
                looks.failed = {str(record["slot"]): record for record in laid_together(folder, parts)}

        result = describe_film(job, engines=engines, begin=lay)
        if result.state == "done":
            parts.remove()
        return result


class _Looked:
    """The engine of Stage I after it has looked: what failed on this run fails again in the same words.

    A one-machine run asks about a slot that failed on its next run, not twice on one.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.identity, self.abilities = engine.identity, engine.abilities
        self.failed: Mapping[str, Record] = {}
        self._said: dict[str, int] = {}

    def get_ready(self, progress: Progress) -> None:
        """As the engine's own. Raises ShotadError."""
        if isinstance(self._engine, Preparing):
            self._engine.get_ready(progress)
        self.identity = self._engine.identity

    def ready_if_here(self) -> None:
        """As the engine's own."""
        ready_if_here(self._engine)
        self.identity = self._engine.identity

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order."""
        told: list[Reply | None] = []
        for request in requests:
            # What was said to this question on this run, where no description came of it.
            record, number = self.failed.get(request.slot_id), self._said.get(request.slot_id, 0)
            is_other = number == 0 and record and prompt_record(request.messages) != record["prompt"]
            if record is None or is_other or number >= len(record["tries"]):
                told.append(None)
                continue
            self._said[request.slot_id] = number + 1
            said = record["tries"][number]
            usage, batch = Usage(**said["usage"]), tuple(said.get("batch", ()))
            calls = said.get("calls", 1)
            told.append(Reply(said["raw"], said["finish"], usage, said["error"], batch=batch, calls=calls))
        open_ = [request for request, reply in zip(requests, told, strict=True) if reply is None]
        fresh = iter(self._engine.generate(open_) if open_ else [])
        return [reply if reply is not None else next(fresh) for reply in told]
