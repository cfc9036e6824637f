"""The first workers: from a film to its slots, each with what Stage I is to be shown.

A worker that dies is handed the same film again, and Ray counts rows: those that were taken already are left
out by their number. So a film has the same rows in the same order however often it is begun.

Of a forced run what earlier runs were told and made is taken away before the first act. A one-machine run
passes over it as it goes; here the acts are in several processes, each of which opens the work folder as the
one before has left it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from shotad.batch.describing import given_of
from shotad.batch.jobs import DONE, FilmJob, done_before
from shotad.batch.places import is_local, join
from shotad.batch.ray.cluster import RaySettings, error_of, halted, lost
from shotad.batch.ray.rows import Columns, Parts, Question, RayRow, columns, job_of, packed, rows
from shotad.batch.ray.servers import ready_if_here, stage_engine
from shotad.batch.staging import Placed, placed
from shotad.batch.store import Store
from shotad.core import Engine, InUse, NoProgress, RecordLog, WorkFolder, forget_peak, key_of, peak_memory
from shotad.description import (
    LOG,
    RunContext,
    SlotPlan,
    get_ready,
    is_done,
    prepare,
    stage1_as_seen,
    stage1_question,
    understand,
)
from shotad.film import ClipPlan, clips, open_film
from shotad.script import present_track
from shotad.sound import RECORD, VOICES

PATIENCE = 150.0
"""Seconds for which a work folder on object storage is waited for that a killed worker has held."""
_AGAIN = 3.0


class Preparing:
    """Takes films, gives the rows of their slots and, last, of their ends. ``register`` is the run's."""

    def __init__(self, register: Any, settings: RaySettings) -> None:
        self._register, self._settings = register, settings

    def __call__(self, batch: Columns) -> Iterator[Columns]:
        for given in rows(batch):
            yield from (columns([row]) for row in self.rows(given.film, job_of(given)))

    def rows(self, film: int, job: FilmJob) -> Iterator[RayRow]:
        """The rows of one film: one for each slot, then its end."""
        unit, clock, count = f"film {film}", time.monotonic(), 0
        forget_peak()
        told = int(self._register.told(unit))
        error: dict[str, str] = {}
        try:
            stopped = self._register.stopped()
            if stopped:
                raise _Refused(halted(stopped))
            attempt = int(self._register.begin(film, unit))
            if attempt > self._settings.attempts:
                raise _Refused(lost("preparing the film", attempt - 1))
            for question in self._prepared(film, job, attempt) if done_before(job) is None else ():
                count += 1
                self._register.tell(unit, count)
                yield RayRow(film, question.plan.slot.id, job, question)
        except GeneratorExit:
            raise
        except Exception as trouble:  # noqa: BLE001  one film's failure must not take the others along
            error = trouble.error if isinstance(trouble, _Refused) else error_of(trouble)
        for number in range(count, told - 1):
            # As many rows as an earlier attempt has handed on, before the one that must arrive.
            count += 1
            yield RayRow(film, f"left out {number}", job)
        self._register.tell(unit, count + 1)
        lasted = time.monotonic() - clock
        yield RayRow(film, "end", job, end=True, count=count, error=error, seconds=lasted, peak=peak_memory())
        self._register.end(unit)

    def _prepared(self, film: int, job: FilmJob, attempt: int) -> Iterator[Question]:
        """Both first acts, and the question of each slot as it comes, in the order of the film."""
        config, parts = job.config, Parts(job.folder)
        engine = stage_engine(config, "stage1", self._settings.servers)
        with (
            held(job, again=attempt > 1) as place,
            open_film(place.film, reader=config.film.reader, frame_rate=job.frame_rate) as opened,
            WorkFolder(place.folder, force=job.force) as folder,
        ):
            present_track(folder, opened.info, with_scripts=False)
            unit = f"anew {film}"
            if job.force and not self._register.told(unit):
                # Once: an attempt that follows a lost one keeps what this run was told.
                begin_anew(job, folder.path)
                self._register.tell(unit, 1)
            context = RunContext.of(opened, folder, config, given_of(job, place), NoProgress())
            get_ready(context)
            prepared = prepare(context)
            plans, _ = understand(prepared, context, engine.abilities.frames_per_second)
            ready_if_here(engine)
            # The keys of good records by slot: of this run and of earlier ones.
            log = RecordLog(folder.path / "stage1.jsonl")
            known: dict[str, tuple[str, ...]] = {}
            for record in (*log.records(), *parts.records()):
                if is_done(record):
                    slot = str(record["slot"])
                    known[slot] = (*known.get(slot, ()), str(record["key"]))
            yield from _asked(context, engine, known, plans)


class _Refused(Exception):  # noqa: N818  not begun, for a reason that is known
    def __init__(self, error: dict[str, str]) -> None:
        super().__init__(error["what"])
        self.error = error


@contextmanager
def held(job: FilmJob, *, again: bool) -> Iterator[Placed]:
    """The job's files on this machine. ``again``: a killed worker may hold the folder for a while yet."""
    until = time.monotonic() + (PATIENCE if again else 0.0)
    while True:
        with ExitStack() as stack:
            try:
                place = stack.enter_context(placed(job, NoProgress()))
            except InUse:
                if time.monotonic() >= until:
                    raise
                time.sleep(_AGAIN)
                continue
            yield place
            return


def _asked(
    context: RunContext, engine: Engine, known: dict[str, tuple[str, ...]], plans: Sequence[SlotPlan]
) -> Iterator[Question]:
    """The question of each plan, in order; the clips that are wanted are read in one pass. ``known`` are keys
    of good records."""
    # What stands for the film and the way its frames are read, in keys.
    pixels = key_of(context.film_key, context.frames.key)

    # Whose record is good already, as far as can be told before the engine is ready.
    answered = {
        plan.slot.id
        for plan in plans
        if (keys := known.get(plan.slot.id, ()))
        and stage1_question(plan, engine, context.config, pixels).key in keys
    }
    wants = [ClipPlan(plan.slot.id, plan.frames) for plan in plans if plan.slot.id not in answered]
    reading = clips(wants, context.frames.pictures) if wants else iter(())
    following = next(reading, None)
    for plan in plans:
        slot = plan.slot.id
        bare = Question(plan, pixels, known.get(slot, ()))
        if slot in answered:
            yield bare
        elif following is None or following[0] != slot:
            yield replace(bare, unread=True)
        else:
            yield replace(bare, clip=packed(stage1_as_seen(following[1], plan, engine, context.config)))
            following = next(reading, None)


TOLD = ("stage1", "stage2", "choices", "story")
"""Records that come one by one."""


def begin_anew(job: FilmJob, folder: Path) -> None:
    """Take it away from the job's work folder and from ``folder``, its copy on this machine (or itself).

    What was spoken goes only where something is rendered: else nothing would be put in its place.
    """
    logs = (*TOLD, LOG) if job.makes else TOLD
    names = [DONE, *([RECORD] if job.makes else []), *(f"{log}{end}" for log in logs for end in _ENDINGS)]
    Parts(job.folder).remove()
    for name in names:
        (folder / name).unlink(missing_ok=True)
    if job.makes:
        shutil.rmtree(folder / VOICES, ignore_errors=True)
    if is_local(job.folder):
        return
    store = Store(job.folder)
    for name in names:
        store.remove(join(job.folder, name))
    for entry in store.entries(join(job.folder, VOICES)) if job.makes else []:
        store.remove(entry.place)


_ENDINGS = (".jsonl", ".aside.jsonl")
