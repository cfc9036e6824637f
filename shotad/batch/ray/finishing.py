"""The last workers: when all slots of a film have been looked at, its lines, track and scripts are written.

By the very code of a one-machine run, which finds Stage I's records where it would have left them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shotad.batch.describing import describe_film
from shotad.batch.jobs import FilmJob, FilmResult, failure
from shotad.batch.limits import Need
from shotad.batch.ray.carrying import Columns, Row, as_text, columns, rows
from shotad.batch.ray.parts import Parts, Record, laid_together, parts_of
from shotad.batch.ray.pool import ready_if_here, stage_engine
from shotad.batch.ray.preparing import PATIENCE
from shotad.batch.ray.serving import OwnServer
from shotad.batch.ray.settings import RaySettings
from shotad.batch.ray.trouble import lost
from shotad.core import Config, Engine, Preparing, Progress, Reply, Request, Usage, WorkFolder
from shotad.description import Engines, prompt_record

_AGAIN = 3.0


class Finishing:
    """Takes rows of slots that were looked at, gives the result of each film whose last row has come."""

    def __init__(self, register: Any, settings: RaySettings) -> None:
        self._register, self._settings = register, settings
        self._desk = _Desk(settings)

    def __call__(self, batch: Columns) -> Iterator[Columns]:
        for row in rows(batch):
            count = row.count if row.end else None
            if self._register.arrive(row.film, row.name, count, dict(row.error), row.seconds, row.peak):
                yield columns([Row(row.film, "result", result=as_text(self._result(row).as_json()))])
                self._register.over(row.film)

    def _result(self, row: Row) -> FilmResult:
        job, unit = FilmJob.of(json.loads(row.job)), f"track {row.film}"
        attempt = int(self._register.begin(row.film, unit))
        error, seconds, peak, attempts = self._register.account(row.film)
        if not error and attempt > self._settings.attempts:
            error = lost("writing its lines", attempt - 1)
        if error:
            result = failure(job, error["what"], error["hint"], kind=error["kind"])
        else:
            result = self._finished(replace(job, force=False), again=attempt > 1)
        self._register.end(unit)
        return replace(
            result,
            attempts=min(attempts, self._settings.attempts) if result.state != "skipped" else result.attempts,
            wall_seconds=result.wall_seconds + seconds,
            peak=max(result.peak, peak),
        )

    def _finished(self, job: FilmJob, *, again: bool) -> FilmResult:
        until = time.monotonic() + (PATIENCE if again else 0.0)
        while (result := self._described(job)).kind == "InUse" and time.monotonic() < until:
            time.sleep(_AGAIN)
        return result

    def _described(self, job: FilmJob) -> FilmResult:
        parts = parts_of(job.folder)
        looks = _Looked(self._desk.looks(job.config))
        engines = Engines(looks, self._desk.writes(job.config))
        result = describe_film(job, engines=engines, begin=lambda need: _lay(need, parts, looks))
        if result.state == "done":
            parts.remove()
        return result


def _lay(need: Need, parts: Parts, looks: _Looked) -> None:
    """Lays what was told on this run where the one-machine run looks for it."""
    with WorkFolder(need.folder) as folder:
        looks.failed = {str(record["slot"]): record for record in laid_together(folder, parts)}


class _Desk:
    """The engines of both stages, made once for the same settings and kept."""

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings
        self._made: dict[str, tuple[str, Engine]] = {}
        self._server: OwnServer | None = None

    def looks(self, config: Config) -> Engine:
        """The engine of Stage I, which names the records, and looks again where lines are verified."""
        return self._kept("stage1", config, self._settings.servers)

    def writes(self, config: Config) -> Engine:
        """The engine of Stage II."""
        serve = self._settings.writing.serve
        if serve.command is None:
            return self._kept("stage2", config, self._settings.servers)
        if self._server is None:
            self._server = OwnServer(serve, config.stage2.model or config.openai.model or "")
        return self._kept("stage2", config, (self._server.url,))

    def _kept(self, stage: Any, config: Config, urls: Sequence[str]) -> Engine:
        key = config.model_dump_json() + " ".join(urls)
        if stage not in self._made or self._made[stage][0] != key:
            self._made.pop(stage, None)
            self._made[stage] = (key, stage_engine(config, stage, urls))
        return self._made[stage][1]


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
        told = [self._told(request) for request in requests]
        open_ = [request for request, reply in zip(requests, told, strict=True) if reply is None]
        fresh = iter(self._engine.generate(open_) if open_ else [])
        return [reply if reply is not None else next(fresh) for reply in told]

    def _told(self, request: Request) -> Reply | None:
        """What the engine said to this question of Stage I on this run, where no description came of it."""
        record, slot = self.failed.get(request.slot_id), request.slot_id
        if record is None:
            return None
        number = self._said.get(slot, 0)
        if number == 0 and prompt_record(request.messages) != record["prompt"]:
            return None
        if number >= len(record["tries"]):
            return None
        self._said[slot] = number + 1
        said = record["tries"][number]
        return Reply(
            said["raw"],
            said["finish"],
            Usage(**said["usage"]),
            said["error"],
            batch=tuple(said.get("batch", ())),
            calls=said.get("calls", 1),
        )
