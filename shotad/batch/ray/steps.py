"""The workers of a run: from a film to its slots, Stage I on slots, then a film's lines and its track.

A worker that dies is handed the same film again, and Ray counts rows: those that were taken already are left
out by their number. So a film has the same rows in the same order however often it is begun.

A forced run first removes what engines answered and steps made in earlier runs. A one-machine run passes over
it as it goes; here the parts of a run are in several processes, each of which opens the work folder as the
one before has left it.

Each answer of Stage I is kept at once, whichever film it is of. When all slots of a film have been looked at,
the rest is done by the very code of a one-machine run, which finds Stage I's answers where it would have left
them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shotad.batch.film_run import describe_film
from shotad.batch.jobs import DONE, FilmJob, FilmResult, earlier_result
from shotad.batch.limits import Need
from shotad.batch.places import is_local, join
from shotad.batch.ray.cluster import Arrival, RaySettings, failed_by, halted, lost
from shotad.batch.ray.rows import (
    Columns,
    Parts,
    PartsMemory,
    Question,
    RayRow,
    Record,
    columns,
    job_of,
    laid_together,
    packed,
    rows,
    unpacked,
)
from shotad.batch.ray.servers import OWN_ADDRESS, StageEngines, stage_engine
from shotad.batch.staging import Placed, placed
from shotad.batch.store import Store
from shotad.core import (
    Clip,
    Engine,
    NoProgress,
    Progress,
    RecordLog,
    Reply,
    Request,
    WorkFolder,
)
from shotad.core.errors import (
    EngineError,
    FolderInUse,
    WorkFolderError,
)
from shotad.core.files import remove_file
from shotad.core.system import forget_peak, peak_memory
from shotad.core.workfolder import SETTINGS_FILE, check_format
from shotad.description import (
    Engines,
    RunContext,
    SlotPlan,
    describe_clip,
    plan_clips,
    prepare,
)
from shotad.description.clip_builder import prepare_grammar
from shotad.description.engine_pair import prepare_engine, prepare_local_engines
from shotad.description.pipeline import check_edits
from shotad.description.stage1 import (
    clip_key,
    known_description,
    stage1_as_seen,
)
from shotad.engines import (
    AnswerLog,
    AskingPool,
    ClipOnDemand,
    Memory,
)
from shotad.engines.answer_log import ANSWERS_RECORD, prompt_record, reply_of
from shotad.film import clips, open_film
from shotad.sound.file_maker import RECORD
from shotad.sound.spoken_lines import VOICES
from shotad.sound.takes import forget_takes

PATIENCE = 150.0
"""Seconds for which a work folder on object storage is waited for that a killed worker has held."""
_AGAIN = 3.0
ROWS_AHEAD = 31
"""Rows of a film that are announced to the register together with the next."""


class PreparedSlots:
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
        rows_before = rows_told = int(self._register.told(unit))
        failed: FilmResult | None = None
        try:
            attempt, stopped = 0, self._register.stopped()
            if stopped is not None:
                failed = halted(job, stopped)
            elif (attempt := int(self._register.begin(film, unit))) > self._settings.attempts:
                failed = lost(job, "preparing the film", attempt - 1)
            is_open = failed is None and earlier_result(job) is None
            for question in self._prepared(film, job, attempt) if is_open else ():
                count += 1
                if count > rows_told:
                    # Ahead of the rows, so that the register is not asked for each. A later attempt fills up
                    # with rows that hold a place.
                    rows_told = count + ROWS_AHEAD
                    self._register.tell(unit, rows_told)
                yield RayRow(film, question.plan.slot.id, job, question)
        except GeneratorExit:
            raise
        except Exception as trouble:  # noqa: BLE001  one film's failure must not take the others along
            failed = failed_by(job, trouble)
        for number in range(count, rows_before - 1):
            # As many rows as an earlier attempt may have handed on, before the one that must arrive.
            count += 1
            yield RayRow(film, f"left out {number}", job)
        self._register.tell(unit, count + 1)
        lasted = time.monotonic() - clock
        end = RayRow(film, "end", job, end=True, count=count, seconds=lasted, peak=peak_memory())
        yield replace(end, result=failed)
        self._register.end(unit)

    def _prepared(self, film: int, job: FilmJob, attempt: int) -> Iterator[Question]:
        """Prepare the film and plan its clips; then yield the question of each slot, in their order."""
        config, parts = job.config, Parts(job.folder)
        engine = stage_engine(config, "stage1", self._settings.servers)
        with (
            held(job, again=attempt > 1) as place,
            open_film(place.film, reader=config.film.reader, frame_rate=job.frame_rate) as opened,
            WorkFolder(place.folder, force=job.force) as folder,
        ):
            check_edits(
                folder, opened.info, config.language, place.run_inputs, discard_edits=job.discard_edits
            )
            unit = f"anew {film}"
            if job.force and not self._register.told(unit):
                # Once: an attempt that follows a lost one keeps what this run was told.
                begin_anew(job, folder.path)
                self._register.tell(unit, 1)
            context = RunContext.of(opened, folder, config, place.run_inputs, NoProgress())
            prepare_grammar(context)
            prepared = prepare(context)
            plans, _ = plan_clips(prepared, context, engine.abilities)
            prepare_local_engines(engine)
            of_earlier_runs = AnswerLog(RecordLog(folder.path / f"{ANSWERS_RECORD}.jsonl"))
            memory = PartsMemory(parts, [plan.slot.id for plan in plans], of_earlier_runs)
            yield from _questions(context, engine, memory, plans)


@contextmanager
def held(job: FilmJob, *, again: bool) -> Iterator[Placed]:
    """The job's files on this machine. ``again``: a killed worker may hold the folder for a while yet."""
    until = time.monotonic() + (PATIENCE if again else 0.0)
    while True:
        with ExitStack() as stack:
            try:
                place = stack.enter_context(placed(job, NoProgress()))
            except FolderInUse:
                if time.monotonic() >= until:
                    raise
                time.sleep(_AGAIN)
                continue
            yield place
            return


def _questions(
    context: RunContext, engine: Engine, memory: Memory, plans: Sequence[SlotPlan]
) -> Iterator[Question]:
    """The question of each plan, in order; the clips that are wanted are read in one pass. ``memory`` knows
    what was answered before."""
    # What is answered already, as far as can be told before the engine is ready
    described = {
        plan.slot.id for plan in plans if known_description(plan, context, engine, memory=memory) is not None
    }
    clips_to_read = [
        (plan.slot.id, plan.frames_for(engine.abilities)) for plan in plans if plan.slot.id not in described
    ]
    reading = clips(clips_to_read, context.frames.pictures) if clips_to_read else iter(())
    following = next(reading, None)
    for plan in plans:
        slot = plan.slot.id
        question = Question(plan, clip_key(plan, context, engine), is_described=slot in described)
        if not question.is_described and following is not None and following[0] == slot:
            pixels = stage1_as_seen(following[1], plan, engine, context.config)
            question = replace(question, clip=packed(pixels))
            following = next(reading, None)
        yield question


TOLD = (ANSWERS_RECORD, "stage1", "stage2", "story")
"""Records that come one by one."""


def begin_anew(job: FilmJob, folder: Path) -> None:
    """Take it away from the job's work folder and from ``folder``, its copy on this machine (or itself).

    What was spoken goes only where something is rendered: else nothing would be put in its place.
    """
    names = [DONE, *([RECORD] if job.makes else []), *(f"{log}{end}" for log in TOLD for end in _ENDINGS)]
    try:
        check_format(folder)
    except WorkFolderError:
        # Another version of shotad wrote it; the settings of this run are written when it is described.
        names.append(SETTINGS_FILE)
    Parts(job.folder).remove()
    for name in names:
        remove_file(folder / name)
    if job.makes:
        forget_takes(folder / VOICES)
    if is_local(job.folder):
        return
    store = Store(job.folder)
    for name in names:
        store.remove(join(job.folder, name))
    for entry in store.entries(join(job.folder, VOICES)) if job.makes else []:
        store.remove(entry.place)


_ENDINGS = (".jsonl", ".aside.jsonl")


@dataclass(slots=True)
class _Outcome:
    """What came of a batch of slots: what ended which film (by film and row, and by film where its engine
    failed as a whole), and whether an engine gave answers."""

    failures: dict[tuple[int, str], FilmResult] = field(default_factory=dict)
    engine_failures: dict[int, FilmResult] = field(default_factory=dict)
    is_answered: bool = False


class Stage1Answers:
    """Takes rows of slots and asks about them; gives the last row of each film, without frames, when all
    others were looked at. Safe in threads."""

    def __init__(self, register: Any, settings: RaySettings) -> None:
        self._register, self._settings = register, settings
        self._room = _Room()
        self._engines = StageEngines(settings.servers, settings.looking.serve)

    def __call__(self, batch: Columns) -> Iterator[Columns]:
        given = list(rows(batch))
        # What is to be asked about: no row that only holds the place of another, or that was answered before
        rows_to_ask = [row for row in given if row.question is not None and not row.question.is_described]
        outcome = _Outcome()
        if rows_to_ask:
            self._look(rows_to_ask, outcome)
        asked_names = {(row.film, row.name) for row in rows_to_ask}
        arrivals = [
            Arrival(
                row.film,
                row.name,
                unit=_unit(row) if (row.film, row.name) in asked_names else "",
                number_of_others=row.count if row.end else None,
                failed=outcome.failures.get((row.film, row.name), row.result),
                seconds=row.seconds,
                peak=row.peak,
            )
            for row in given
        ]
        is_last = self._register.arrive(arrivals, outcome.is_answered, outcome.engine_failures)
        last_rows = [replace(row, question=None) for row, last in zip(given, is_last, strict=True) if last]
        if last_rows:
            yield columns(last_rows)

    def _look(self, rows_to_ask: Sequence[RayRow], outcome: _Outcome) -> None:
        """Ask about rows."""
        units = [(row.film, _unit(row)) for row in rows_to_ask]
        with self._room.together:
            stopped, earlier_attempts = self._register.begin_fresh(units)
            if stopped is not None:
                for row in rows_to_ask:
                    outcome.failures[row.film, row.name] = halted(job_of(row), stopped)
                return
            begun = list(zip(rows_to_ask, earlier_attempts, strict=True))
            self._ask_films([row for row, attempts in begun if not attempts], outcome)
        # Rows that a worker was lost over are looked at alone, so that they take no others along again.
        for row in (row for row, attempts in begun if attempts):
            with self._room.alone():
                attempt = int(self._register.begin(row.film, _unit(row)))
                if attempt > self._settings.attempts:
                    failed = lost(job_of(row), f"asking about slot {row.name}", attempt - 1)
                    outcome.failures[row.film, row.name] = failed
                else:
                    self._ask_films([row], outcome)

    def _ask_films(self, begun: Sequence[RayRow], outcome: _Outcome) -> None:
        """Ask about rows that were begun, film by film."""
        for film in dict.fromkeys(row.film for row in begun):
            group = [row for row in begun if row.film == film]
            job = job_of(group[0])
            try:
                self._ask(group, job, outcome)
            except Exception as trouble:  # noqa: BLE001  one film's failure must not take the others along
                failed = failed_by(job, trouble)
                if isinstance(trouble, EngineError):
                    outcome.engine_failures[film] = failed
                for row in group:
                    outcome.failures[row.film, row.name] = failed

    def _ask(self, group: Sequence[RayRow], job: FilmJob, outcome: _Outcome) -> None:
        """Asks about slots of one film. Raises what the engine raises to stop."""
        engine = self._engines.of(job.config, "stage1", is_ready=True)
        memory = PartsMemory(Parts(job.folder), [row.name for row in group])
        with AskingPool({"stage1": engine}, memory) as pool:

            def describe(row: RayRow) -> str:
                question = row.question
                assert question is not None
                packed_clip = question.clip

                def read() -> Clip | None:
                    return None if packed_clip is None else unpacked(packed_clip)

                describe_clip(pool, question.plan, job.config, ClipOnDemand(question.clip_key, read))
                return row.name

            try:
                for _ in pool.map(describe, group, workers=pool.workers("stage1")):
                    pass
            finally:
                outcome.is_answered = outcome.is_answered or bool(memory.asked)


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


class Finishing:
    """Takes the last row of each film, gives the film's result."""

    def __init__(self, register: Any, settings: RaySettings) -> None:
        self._register, self._settings = register, settings
        # Stage I's engine names the records, and looks again where lines are verified.
        # A server that looking workers start for themselves is not reached from here; the usual one, which
        # may be on another machine, was not asked and must not be.
        has_own = settings.looking.serve.command is not None
        self._stage1_engines = StageEngines((OWN_ADDRESS,) if has_own else settings.servers)
        self._stage2_engines = StageEngines(settings.servers, settings.writing.serve)

    def __call__(self, batch: Columns) -> Iterator[Columns]:
        for row in rows(batch):
            yield columns([RayRow(row.film, "result", result=self._result(row))])
            self._register.over(row.film)

    def _result(self, row: RayRow) -> FilmResult:
        job, unit = job_of(row), f"track {row.film}"
        attempt = int(self._register.begin(row.film, unit))
        result: FilmResult | None
        result, seconds, peak, attempts = self._register.account(row.film)
        if result is None and attempt > self._settings.attempts:
            result = lost(job, "writing its lines", attempt - 1)
        if result is None:
            until = time.monotonic() + (PATIENCE if attempt > 1 else 0.0)
            result = self._described(replace(job, force=False))
            while result.kind == "FolderInUse" and time.monotonic() < until:
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
        stage1 = _FinishedStage1(self._stage1_engines.of(job.config, "stage1"))
        engines = Engines(stage1, self._stage2_engines.of(job.config, "stage2"))

        def lay(need: Need) -> None:
            """Lays what was told on this run where the one-machine run looks for it."""
            with WorkFolder(need.folder) as folder:
                failed = laid_together(folder, parts)
                stage1.failed = {(record["slot"], record["seed"]): record for record in failed}

        result = describe_film(job, engines=engines, begin=lay)
        if result.state == "done":
            parts.remove()
        return result


class _FinishedStage1:
    """The engine of Stage I after it was asked about all slots: what failed then fails again, word for word.

    A one-machine run asks about a slot that failed on its next run, not twice on one. ``failed`` are the
    records of such answers, by slot and seed.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.identity, self.abilities = engine.identity, engine.abilities
        self.failed: Mapping[tuple[str, int], Record] = {}

    def get_ready(self, progress: Progress) -> None:
        """As the engine's own. Raises ShotadError."""
        prepare_engine(self._engine, progress)
        self.identity = self._engine.identity

    def ready_if_here(self) -> None:
        """As the engine's own."""
        prepare_local_engines(self._engine)
        self.identity = self._engine.identity

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order."""
        replies = [self._failed_reply(request) for request in requests]
        unanswered = [request for request, reply in zip(requests, replies, strict=True) if reply is None]
        fresh = iter(self._engine.generate(unanswered) if unanswered else [])
        return [reply if reply is not None else next(fresh) for reply in replies]

    def _failed_reply(self, request: Request) -> Reply | None:
        """What came of this very question on this run, where it failed."""
        record = self.failed.get((request.slot_id, request.seed))
        if record is None or record["prompt"] != prompt_record(request.messages):
            return None
        return reply_of(record)
