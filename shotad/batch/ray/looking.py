"""The second workers: Stage I is asked about slots, of any film, and each record is kept at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from shotad.batch.jobs import FilmJob
from shotad.batch.ray.carrying import Columns, Row, columns, rows, unpacked
from shotad.batch.ray.parts import Parts, parts_of
from shotad.batch.ray.pool import ready, stage_engine
from shotad.batch.ray.serving import OwnServer
from shotad.batch.ray.settings import RaySettings
from shotad.batch.ray.trouble import error_of, halted, lost
from shotad.core import Config, Engine, EngineError
from shotad.description import (
    Named,
    Stage1Question,
    converse,
    is_done,
    stage1_inquiry,
    stage1_question,
    stage1_unread,
)


class Looking:
    """Takes rows of slots, gives them without their frames when they are answered; safe in threads."""

    def __init__(self, register: Any, settings: RaySettings) -> None:
        self._register, self._settings = register, settings
        self._room = _Room()
        self._desk = _Desk(settings)

    def __call__(self, batch: Columns) -> Iterator[Columns]:
        given = list(rows(batch))
        errors = {(row.film, row.name): error for row, error in self._looked(given)}
        yield columns(
            [replace(row, question=None, error=errors.get((row.film, row.name), row.error)) for row in given]
        )

    def _looked(self, given: Sequence[Row]) -> Iterator[tuple[Row, dict[str, str]]]:
        """Asks about all of ``given`` that are to be asked about; what ended which film.

        Rows that a worker was lost over are looked at alone, so that they take no others along again.
        """
        asked = [row for row in given if not _is_known(row)]
        times = self._register.begun([_unit(row) for row in asked]) if asked else []
        begun = list(zip(asked, times, strict=True))
        with self._room.together():
            yield from self._look([row for row, before in begun if not before])
        for row in (row for row, before in begun if before):
            with self._room.alone():
                yield from self._look([row])

    def _look(self, asked: Sequence[Row]) -> Iterator[tuple[Row, dict[str, str]]]:
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
        for text in dict.fromkeys(row.job for row in begun):
            group = [row for row in begun if row.job == text]
            try:
                self._ask(group, FilmJob.of(json.loads(text)))
            except EngineError as trouble:
                error = error_of(trouble)
                self._register.missed(group[0].film, error)
                yield from ((row, error) for row in group)
            except Exception as trouble:  # noqa: BLE001  one film's failure must not take the others along
                yield from ((row, error_of(trouble)) for row in group)
        for row in asked:
            self._register.end(_unit(row))

    def _ask(self, group: Sequence[Row], job: FilmJob) -> None:
        """Asks about slots of one film. Raises what the engine raises to stop."""
        engine, parts = self._desk.engine(job.config), parts_of(job.folder)
        questions: dict[str, Stage1Question] = {}
        for row in group:
            assert row.question is not None
            made = stage1_question(row.question.plan, engine, job.config, row.question.pixels)
            if made.key in row.question.known or is_done(parts.get(row.name, made.key)):
                continue
            questions[row.name] = made
            if row.question.unread:
                parts.add(row.name, made.key, stage1_unread(made, engine))
        named = _inquiries(group, questions, engine, job.config)
        self._keep(converse(named, {"looks": engine}), questions, parts)

    def _keep(
        self, told: Iterator[tuple[str, dict[str, Any]]], questions: dict[str, Stage1Question], parts: Parts
    ) -> None:
        for name, record in told:
            parts.add(name, questions[name].key, record)
            self._register.answered()


def _inquiries(
    group: Sequence[Row], questions: dict[str, Stage1Question], engine: Engine, config: Config
) -> Iterator[Named]:
    for row in group:
        if row.name in questions and row.question is not None and row.question.clip is not None:
            yield row.name, stage1_inquiry(questions[row.name], unpacked(row.question.clip), engine, config)


def _is_known(row: Row) -> bool:
    """Whether nothing is to be asked: the row holds the place of another, or its record was good before."""
    asked = row.question
    return asked is None or (asked.clip is None and not asked.unread)


def _unit(row: Row) -> str:
    return f"slot {row.film}/{row.name}"


class _Desk:
    """The engine of Stage I, made once for the same settings and kept."""

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._server: OwnServer | None = None
        self._key = ""
        self._engine: Engine | None = None

    def engine(self, config: Config) -> Engine:
        """The engine for these settings, ready. Raises ShotadError."""
        key = config.model_dump_json()
        with self._lock:
            if self._engine is None or self._key != key:
                self._engine = None
                engine = stage_engine(config, "stage1", self._urls(config))
                ready(engine)
                self._engine, self._key = engine, key
            return self._engine

    def _urls(self, config: Config) -> tuple[str, ...]:
        serve = self._settings.looking.serve
        if serve.command is None:
            return self._settings.servers
        if self._server is None:
            self._server = OwnServer(serve, config.stage1.model or config.openai.model or "")
        return (self._server.url,)


class _Room:
    """Who is in it together, or alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._closed = False

    @contextmanager
    def together(self) -> Iterator[None]:
        """With others, while nobody is in it alone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._closed)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """When all others have left."""
        with self._changed:
            self._changed.wait_for(lambda: not self._closed)
            self._closed = True
            self._changed.wait_for(lambda: not self._inside)
        try:
            yield
        finally:
            with self._changed:
                self._closed = False
                self._changed.notify_all()
