"""The one way to ask an engine: a plain function asks and waits, and many such functions run side by side.

`AskingPool.ask` blocks until the reply is there. So whoever asks is read from top to bottom, and an engine's
error passes through the function that asked. `AskingPool.map` runs a function for many items in threads and
gives the results in the order of the items. Only the pool knows memory, batches, how many calls run at once,
turns between two models, what stops a run, and usage.

Threads that wait for a reply are what makes a batch: their requests go to the engine together. The pool
therefore knows the threads that may still ask (`_running`). A thread leaves them when it begins to wait, and
is back among them at the moment its reply is given, not when it wakes up: so batches are the same in every
run.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar, cast

from shotad.core import (
    Clip,
    Engine,
    Identity,
    Message,
    RecordLog,
    Reply,
    Request,
    ShotadError,
    Stage,
    Usage,
    is_out_of_memory,
    key_of,
    span,
)

Item = TypeVar("Item")
Result = TypeVar("Result")

AFTER_ERROR, AFTER_INTERRUPTION = 60.0, 3.0
"""Seconds for which calls that are under way are waited for when nothing more is asked: they may have been
paid for, and a model that is torn down at work can take the program along."""

_POLL = 0.2
"""Seconds after which a thread that waits for a result looks whether the run has been stopped."""

NO_FRAMES = "no frame of its clip can be decoded"
"""The error of a reply about a clip that cannot be read."""


@dataclass(frozen=True, slots=True)
class ClipOnDemand:
    """A clip that is read only when its question is really put to an engine.

    ``key`` stands for its pixels: the same key, the same clip. ``read`` gives None where no frame can be had.
    """

    key: str
    read: Callable[[], Clip | None]


class Memory(Protocol):
    """Keeps replies by key, for this run and later ones. May be called by several threads."""

    def get(self, key: str) -> Reply | None:
        """The reply that was kept, or None. A failed one is asked for again."""
        ...

    def add(self, key: str, stage: Stage, request: Request, identity: Identity, reply: Reply) -> Reply:
        """Keep a reply at once. Returns it as a later run gets it, so that both see the same.

        Raises WorkFolderError for a full disk.
        """
        ...

    def forget(self, keys: Iterable[str]) -> None:
        """Let later runs ask again for the replies with these keys: nothing that can be used came of them."""
        ...


class NoMemory:
    """Keeps nothing: every question is put."""

    def get(self, key: str) -> Reply | None:
        return None

    def add(self, key: str, stage: Stage, request: Request, identity: Identity, reply: Reply) -> Reply:
        return reply

    def forget(self, keys: Iterable[str]) -> None:
        pass


ANSWERS = "answers"
"""Of ``answers.jsonl`` in the work folder: every question that an engine was asked, with its reply."""


def _place(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Where an answer stands in the log: by slot, the stages in turn, first questions before later ones."""
    prompt = record.get("prompt", ())
    parts = (record.get("slot"), record.get("purpose"), record.get("stage"), f"{len(prompt):03}")
    return *map(str, parts), str(record["key"])


DESCRIPTION = "description"
"""The purpose of the questions by which a film is described."""


class AnswerLog:
    """Replies in a log of records, a line each, with the question as people read it.

    ``purpose`` says what the questions are for (``description``, ``translate.de``): those of several purposes
    share the log, and `tidy` drops replies of its own alone. ``anew``: replies of earlier runs are not used;
    they stay until a new one takes their place.
    """

    def __init__(self, log: RecordLog, purpose: str = DESCRIPTION, *, anew: bool = False) -> None:
        self._log = log
        self._purpose = purpose
        self._anew = anew
        self._used: dict[str, None] = {}

    def get(self, key: str) -> Reply | None:
        record = self._log.get(key)
        if record is None or record.get("error") is not None:
            return None
        if (self._anew or record.get("again")) and key not in self._used:
            return None
        try:
            reply = reply_of(record)
        except (KeyError, TypeError, ValueError):
            return None  # a person has changed it
        self._used[key] = None
        return reply

    def add(self, key: str, stage: Stage, request: Request, identity: Identity, reply: Reply) -> Reply:
        self._used[key] = None
        record = answer_record(self._purpose, stage, request, identity, reply)
        return reply_of(self._log.add(key, record))

    def forget(self, keys: Iterable[str]) -> None:
        for key in keys:
            record = self._log.get(key)
            if record is not None and not record.get("again"):
                # It stays for people to read.
                self._log.add(key, {**record, "again": True})

    def _is_wanted(self, record: Mapping[str, Any]) -> bool:
        return record["key"] in self._used or record.get("purpose") != self._purpose

    def tidy(self) -> None:
        """Lay aside the replies of this purpose that this run did not use: they may have been paid for, and
        serve when the settings or the engine of an earlier run are chosen again. Of those to a question of
        the same slot, engine and seed the last one is kept.

        No other `AnswerLog` may be in use on the same file: what it has added since would be lost.
        """

        def question_of(record: Mapping[str, Any]) -> tuple[str, str, str, int] | None:
            if record.get("error") is not None or record.get("again"):
                return None
            slot, stage = str(record.get("slot")), str(record.get("stage"))
            return slot, stage, key_of(record.get("maker")), record.get("seed", 0)

        kept = [record for record in self._log.records() if self._is_wanted(record)]
        kept.sort(key=_place)
        self._log.keep([record["key"] for record in kept], question_of)


def answer_record(
    purpose: str, stage: Stage, request: Request, identity: Identity, reply: Reply
) -> dict[str, Any]:
    """A question and its reply, as they stand in ``answers.jsonl``; `reply_of` reads the reply back."""
    return {
        "purpose": purpose,
        "stage": stage,
        "slot": request.slot_id,
        "maker": identity_record(identity),
        "seed": request.seed,
        "prompt": prompt_record(request.messages),
        **reply_record(reply),
    }


def reply_record(reply: Reply) -> dict[str, Any]:
    """A reply as it stands in a record; see `reply_of`."""
    record: dict[str, Any] = {
        "raw": reply.text,
        "finish": reply.finish,
        "error": reply.error,
        "usage": {"tokens_in": reply.usage.tokens_in, "tokens_out": reply.usage.tokens_out},
    }
    if reply.notes:
        record["notes"] = dict(reply.notes)
    if reply.batch:
        record["batch"] = list(reply.batch)
    if reply.calls != 1:
        record["calls"] = reply.calls
    if reply.shown:
        record["shown"] = reply.shown
    return record


def reply_of(record: Mapping[str, Any]) -> Reply:
    """The reply that `reply_record` wrote."""
    return Reply(
        record["raw"],
        record["finish"],
        Usage(**record["usage"]),
        record["error"],
        notes=record.get("notes", {}),
        batch=tuple(record.get("batch", ())),
        calls=record.get("calls", 1),
        shown=record.get("shown", ""),
    )


def prompt_record(messages: Iterable[Message]) -> list[dict[str, str]]:
    """The exact prompt, as it is kept in a record."""
    return [{"role": message.role, "text": message.text} for message in messages]


def identity_record(identity: Identity) -> dict[str, str]:
    """Who answered, as it is kept in a record."""
    return {"engine": identity.engine, "model": identity.model, "revision": identity.revision}


def answer_key(request: Request, identity: Identity, clip_key: str = "") -> str:
    """The key of a reply: a hash of all that can change it. ``clip_key`` stands for the pixels."""
    scene = request.scene
    shown = None
    if scene is not None:
        shown = [
            scene.slot.start,
            scene.slot.end,
            scene.credits,
            [[speech.interval.start, speech.interval.end] for speech in scene.speech],
            [[s.shot.index, s.role, s.clipped.start, s.clipped.end] for s in scene.context],
        ]
    return key_of(
        "ask/1",
        request.slot_id,
        identity_record(identity),
        prompt_record(request.messages),
        clip_key,
        shown,
        request.budget,
        list(request.history),
        request.sampling.model_dump(),
        request.seed,
        request.schema,
        request.notes,
        request.timed,
    )


@dataclass(frozen=True, slots=True)
class StageUsage:
    """What one engine was asked in this run: calls, and their tokens. Replies from memory are not counted."""

    calls: int = 0
    tokens: Usage = field(default_factory=Usage)

    def __add__(self, other: StageUsage) -> StageUsage:
        return StageUsage(self.calls + other.calls, self.tokens + other.tokens)


class RunStopped(Exception):  # noqa: N818  it is no error of whoever gets it
    """Raised in the threads of `AskingPool.map` when the run has been stopped: nothing more is asked."""


Order = tuple[int, int, int]
"""Whose questions go first: those nearest to what is wanted."""

_OF_CALLER: Order = (-1_000_000, 0, 0)


@dataclass(eq=False, slots=True)
class _Thread:
    """A thread that asks: the place of the item it works on, and in which `map` that is (0: in none)."""

    order: Order = _OF_CALLER
    map_number: int = 0


@dataclass(eq=False, slots=True)
class _Awaited:
    """A value that one thread waits for."""

    is_given: threading.Event = field(default_factory=threading.Event)
    waiter: _Thread | None = None
    value: Any = None
    error: BaseException | None = None


@dataclass(eq=False, slots=True)
class _Ticket:
    """A question in the queue, and all who wait for its reply."""

    key: str
    request: Request
    order: Order
    awaited: list[_Awaited]


@dataclass(eq=False, slots=True)
class _Lane:
    """The calls of an engine, or of two that share their threads: at most ``most`` at once."""

    most: int
    queue: SimpleQueue[tuple[_Stage, list[_Ticket]] | None] = field(default_factory=SimpleQueue)
    threads: list[threading.Thread] = field(default_factory=list)
    open_calls: int = 0


@dataclass(eq=False, slots=True)
class _Stage:
    """One engine, the questions that wait for it, and how many of their clips may be in memory."""

    name: Stage
    engine: Engine
    lane: _Lane
    clip_places: _Turnstile
    waiting: list[_Ticket] = field(default_factory=list)
    usage: StageUsage = field(default_factory=StageUsage)

    def put(self, ticket: _Ticket) -> None:
        """Let a question wait behind those that go first."""
        place = len(self.waiting)
        while place and self.waiting[place - 1].order > ticket.order:
            place -= 1
        self.waiting.insert(place, ticket)


_END = object()
"""Stands after the last result of a `map`."""


class AskingPool:
    """Asks engines for many plain functions at once; use it in a ``with`` block.

    ``engines`` are those of the stages that ask. ``shared``: all are one server, which takes no more calls at
    once for that. ``take_turns``: they are models of this machine that may not fit into memory together; one
    goes on as long as anybody may ask it.

    Where an engine, a function or the user stops the run, nothing more is asked. Calls that are under way
    have `AFTER_ERROR` seconds to end (`AFTER_INTERRUPTION` after Ctrl-C); their replies are kept. Then the
    error is raised from whatever the caller waits for.
    """

    def __init__(
        self,
        engines: Mapping[Stage, Engine],
        memory: Memory | None = None,
        *,
        shared: bool = False,
        take_turns: bool = False,
    ) -> None:
        self._memory = memory or NoMemory()
        self._take_turns = take_turns
        self._lock = threading.RLock()
        self._local = threading.local()
        self._local.thread = caller = _Thread()
        self._running: set[_Thread] = {caller}
        self._maps: list[_Map] = []
        self._pending: dict[str, _Ticket] = {}
        self._reading = _Turnstile(self, 1)
        self._stopped: BaseException | None = None
        self._until = 0.0
        self._is_closed = False
        self._map_threads: list[threading.Thread] = []
        flights = {name: engine.abilities.in_flight for name, engine in engines.items()}
        one_lane = _Lane(1 if take_turns else min(flights.values()))
        self._stages: dict[Stage, _Stage] = {}
        for name, engine in engines.items():
            lane = one_lane if shared or take_turns else _Lane(flights[name])
            places = _Turnstile(self, workers_of(engine))
            self._stages[name] = _Stage(name, engine, lane, places)
        self._speaking = next(iter(self._stages))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for calls that are under way, as long as is due."""
        if error is not None or self._has_open_calls():
            self.stop(error or RunStopped())
        while self._has_open_calls() and time.monotonic() < self._until:
            time.sleep(0.01)
        with self._lock:
            self._stopped = self._stopped or RunStopped()
        # Whoever reads the film is waited for: it is closed next.
        for thread in self._map_threads:
            thread.join()
        for running in self._maps:
            running.close()
        self._is_closed = True
        for lane in {id(stage.lane): stage.lane for stage in self._stages.values()}.values():
            for _ in lane.threads:
                lane.queue.put(None)
            if not lane.open_calls:
                for thread in lane.threads:
                    thread.join()

    def workers(self, stage: Stage) -> int:
        """How many threads keep the engine of a stage busy; see `workers_of`."""
        return workers_of(self._stages[stage].engine)

    @property
    def usage(self) -> dict[Stage, StageUsage]:
        """What the engine of each stage was asked in this run."""
        with self._lock:
            return {name: stage.usage for name, stage in self._stages.items()}

    def engine(self, stage: Stage) -> Engine:
        """The engine of a stage."""
        return self._stages[stage].engine

    def ask(self, stage: Stage, request: Request, clip: ClipOnDemand | None = None) -> Reply:
        """The reply to one question. Blocks; the same question is never put twice.

        ``clip`` is what the question is about, for the turn of the request that is marked with it. Raises
        what the engine raises to stop the run.
        """
        return self.ask_together(stage, [request], clip)[0]

    def ask_together(
        self, stage: Stage, requests: Sequence[Request], clip: ClipOnDemand | None = None
    ) -> list[Reply]:
        """The replies to several questions, which may go to the engine in one call."""
        asked = self._stages[stage]
        identity = asked.engine.identity
        clip_key = clip.key if clip is not None else ""
        replies: list[Reply | _Awaited] = []
        keys = [answer_key(request, identity, clip_key) for request in requests]
        known_replies = [self._memory.get(key) for key in keys]
        if clip is not None and None in known_replies:
            return self._ask_about_clip(asked, requests, keys, known_replies, clip)
        for request, key, reply in zip(requests, keys, known_replies, strict=True):
            replies.append(self._enqueue(asked, request, key) if reply is None else reply)
        return self._replies(replies)

    def forget(self, stage: Stage, requests: Iterable[Request], clip: ClipOnDemand | None = None) -> None:
        """Let a later run put these questions again: nothing that can be used came of them. This run does
        not."""
        identity = self._stages[stage].engine.identity
        clip_key = clip.key if clip is not None else ""
        self._memory.forget([answer_key(request, identity, clip_key) for request in requests])

    def _ask_about_clip(
        self,
        asked: _Stage,
        requests: Sequence[Request],
        keys: Sequence[str],
        known_replies: Sequence[Reply | None],
        clip: ClipOnDemand,
    ) -> list[Reply]:
        # No more clips are read than the engine needs to stay busy, and one at a time: the film is one.
        with asked.clip_places:
            with self._reading:
                self._raise_if_stopped()
                with span("frames"):
                    pixels = clip.read()
            replies: list[Reply | _Awaited] = []
            for request, key, reply in zip(requests, keys, known_replies, strict=True):
                if reply is not None:
                    replies.append(reply)
                elif pixels is None:
                    replies.append(Reply("", "error", error=NO_FRAMES))
                else:
                    replies.append(self._enqueue(asked, replace(request, clip=pixels), key))
            del pixels
            return self._replies(replies)

    def _enqueue(self, asked: _Stage, request: Request, key: str) -> Reply | _Awaited:
        """Put a question into the queue of its engine; who asks the same meanwhile gets the same reply."""
        awaited = _Awaited()
        with self._lock:
            self._raise_if_stopped()
            known = self._memory.get(key)  # the same question may have been answered since
            if known is not None:
                return known
            order = self._thread().order
            ticket = self._pending.get(key)
            if ticket is None:
                ticket = self._pending[key] = _Ticket(key, request, order, [awaited])
                asked.put(ticket)
                return awaited
            ticket.awaited.append(awaited)
            if order < ticket.order and ticket in asked.waiting:
                # Its place follows from who asks, not from which of them came first.
                asked.waiting.remove(ticket)
                ticket.order = order
                asked.put(ticket)
        return awaited

    def _replies(self, replies: Sequence[Reply | _Awaited]) -> list[Reply]:
        return [cast(Reply, self._wait(r)) if isinstance(r, _Awaited) else r for r in replies]

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        workers: int,
        advance: Callable[[], None] | None = None,
    ) -> Iterator[Result]:
        """``function`` of every item, ``workers`` of them at a time; the results in the order of the items.

        Items are drawn one by one, as threads get free, so that they may be made meanwhile. ``advance`` is
        called after each. Where drawing an item fails, the results before it are handed out first; where
        ``function`` fails, the run stops at once.
        """
        with self._lock:
            running = _Map(self, function, iter(items), len(self._maps) + 1, advance)
            self._maps.append(running)
            for _ in range(workers):
                state = _Thread(map_number=running.number)
                self._running.add(state)
                thread = threading.Thread(target=running.work, args=(state,), name="one item", daemon=True)
                self._map_threads.append(thread)
                thread.start()
        return self._results(running)

    def _results(self, running: _Map) -> Iterator[Any]:
        number = 0
        while (result := self._wait(running.result(number))) is not _END:
            running.forget(number)
            yield result
            number += 1

    def stop(self, error: BaseException) -> None:
        """Ask nothing more; who waits in the queue gets `RunStopped`."""
        with self._lock:
            if self._stopped is None or isinstance(self._stopped, RunStopped):
                self._stopped = error
            patience = AFTER_ERROR if isinstance(error, Exception) else AFTER_INTERRUPTION
            until = time.monotonic() + patience
            self._until = min(self._until, until) if self._until else until
            for stage in self._stages.values():
                for ticket in stage.waiting:
                    self._give_all(ticket, error=RunStopped())
                stage.waiting.clear()

    # Threads

    def _thread(self) -> _Thread:
        """The thread that calls."""
        thread: _Thread = self._local.thread
        return thread

    def _raise_if_stopped(self) -> None:
        if self._stopped is None:
            return
        if self._thread().map_number:
            raise RunStopped from None
        raise self._stopped

    def _wait(self, awaited: _Awaited) -> Any:
        """The value, as soon as it is given. While a thread waits, others' batches need not wait for it."""
        with self._lock:
            if not awaited.is_given.is_set():
                awaited.waiter = self._thread()
                self._running.discard(awaited.waiter)
                self._call_engines()
        while not awaited.is_given.wait(_POLL):
            if self._stopped is not None and not self._comes_in_time():
                self._raise_if_stopped()
        if isinstance(awaited.error, RunStopped):
            self._raise_if_stopped()
        if awaited.error is not None:
            raise awaited.error
        return awaited.value

    def _comes_in_time(self) -> bool:
        """Whether a call is under way that is still waited for after a stop."""
        return self._has_open_calls() and time.monotonic() < self._until

    def _has_open_calls(self) -> bool:
        return any(stage.lane.open_calls for stage in self._stages.values())

    def _give(self, awaited: _Awaited, value: Any = None, error: BaseException | None = None) -> None:
        """Give a value to whoever waits for it, who is back among those that may ask; the lock is held."""
        awaited.value, awaited.error = value, error
        if awaited.waiter is not None:
            self._running.add(awaited.waiter)
        awaited.is_given.set()

    def _give_all(
        self, ticket: _Ticket, reply: Reply | None = None, error: BaseException | None = None
    ) -> None:
        del self._pending[ticket.key]
        for awaited in ticket.awaited:
            self._give(awaited, reply, error)

    # Calls

    def _call_engines(self) -> None:
        """Hand over every call that can be made now, lines before looks; the lock is held."""
        for stage in reversed(self._stages.values()):
            while self._may_call(stage):
                self._speaking = stage.name
                batch = stage.waiting[: stage.engine.abilities.batch]
                del stage.waiting[: len(batch)]
                lane = stage.lane
                lane.open_calls += 1
                lane.queue.put((stage, batch))
                if len(lane.threads) < lane.open_calls:
                    thread = threading.Thread(target=self._work, args=(lane,), name="asking", daemon=True)
                    lane.threads.append(thread)
                    thread.start()

    def _may_call(self, stage: _Stage) -> bool:
        if not stage.waiting or self._stopped is not None or stage.lane.open_calls >= stage.lane.most:
            return False
        # The model that is loaded goes on as long as anybody may ask it: loading takes a minute.
        speaks_on = stage.lane.open_calls or self._stages[self._speaking].waiting or self._running
        if self._take_turns and stage.name != self._speaking and speaks_on:
            return False
        batch = stage.engine.abilities.batch
        if batch == 1 and stage.lane.most > 1:
            return True
        if len(stage.waiting) < batch:
            return not self._running  # nobody is left who could fill the batch
        # Who works on an earlier item may ask before these do: calls are the same in every run.
        last = stage.waiting[batch - 1].order
        return all(thread.order > last for thread in self._running if thread.map_number)

    def _work(self, lane: _Lane) -> None:
        """Make one call after the other; in a thread of its own."""
        while (call := lane.queue.get()) is not None:
            stage, batch = call
            replies: list[Reply] = []
            error: BaseException | None = None
            try:
                with span(stage.name):
                    replies = generate(stage.engine, [ticket.request for ticket in batch])
                replies = self._remember(stage, batch, replies)
            except BaseException as failure:  # noqa: BLE001  raised again in the threads that asked
                error = failure
            with self._lock:
                lane.open_calls -= 1
                stage.usage += usage_of(replies)
                for place, ticket in enumerate(batch):
                    if error is not None:
                        self._give_all(ticket, error=error)
                    else:
                        self._give_all(ticket, replies[place])
                # After an error whoever asked goes first: it stops the run, or asks on.
                if error is None:
                    self._call_engines()
            del call, batch, replies  # with their clips, before the next are read

    def _remember(self, stage: _Stage, batch: Sequence[_Ticket], replies: Sequence[Reply]) -> list[Reply]:
        """Keep the replies, also after a stop; not where the run has gone on without them."""
        if self._is_closed:
            return list(replies)
        identity = stage.engine.identity
        return [
            self._memory.add(ticket.key, stage.name, ticket.request, identity, reply)
            for ticket, reply in zip(batch, replies, strict=True)
        ]


class _Map:
    """One `AskingPool.map`: its threads draw items in turn, and put results where the caller finds them."""

    def __init__(
        self,
        pool: AskingPool,
        function: Callable[[Any], Any],
        source: Iterator[Any],
        number: int,
        advance: Callable[[], None] | None,
    ) -> None:
        self.number = number
        self._pool, self._function, self._source, self._advance = pool, function, source, advance
        self._drawing = _Turnstile(pool, 1)
        self._drawn = 0
        self._has_more = True
        self._results: dict[int, _Awaited] = {}

    def result(self, number: int) -> _Awaited:
        """Where the result of an item is given, whether that has been drawn or not."""
        with self._pool._lock:
            return self._results.setdefault(number, _Awaited())

    def forget(self, number: int) -> None:
        with self._pool._lock:
            del self._results[number]

    def close(self) -> None:
        """Let the source of items end, where it is a generator that was not drawn to its end."""
        if isinstance(self._source, Generator):
            self._source.close()

    def work(self, thread: _Thread) -> None:
        """Draw items and work on them until there are none; in a thread of its own."""
        pool = self._pool
        pool._local.thread = thread
        try:
            while (drawn := self._draw(thread)) is not None:
                item, result = drawn
                try:
                    value = self._function(item)
                except BaseException as error:  # noqa: BLE001  raised again for whoever takes the result
                    if not isinstance(error, RunStopped):
                        pool.stop(error)
                    with pool._lock:
                        pool._give(result, error=error)
                else:
                    with pool._lock:
                        if self._advance is not None:
                            self._advance()
                        pool._give(result, value)
                del item, drawn, result
        except RunStopped:
            pass  # it waited for its turn to draw
        finally:
            with pool._lock:
                pool._running.discard(thread)
                pool._call_engines()

    def _draw(self, thread: _Thread) -> tuple[Any, _Awaited] | None:
        """The next item, and where its result goes; None where there is none, or the run has been stopped."""
        # A thread that has no item is behind all that have.
        thread.order = (-self.number, self._drawn + 1_000_000_000, 0)
        with self._drawing:
            if not self._has_more or self._pool._stopped is not None:
                self._end(RunStopped() if self._has_more else None)
                return None
            try:
                item = next(self._source)
            except StopIteration:
                self._end(None)
                return None
            except BaseException as error:  # noqa: BLE001  raised again after the results before it
                self._end(error)
                return None
            number = self._drawn
            self._drawn += 1
            thread.order = (-self.number, number, 0)
            return item, self.result(number)

    def _end(self, error: BaseException | None) -> None:
        """Say after the last result that it was the last, or why there are no more."""
        if not self._has_more:
            return
        self._has_more = False
        with self._pool._lock:
            self._pool._give(self.result(self._drawn), None if error else _END, error)


class _Turnstile:
    """Lets ``places`` threads of a pool through at once, in the order in which they came: a ``with`` block.

    A thread that waits here may not ask, and batches need not wait for it. It is counted again when it is let
    through, not when it wakes up.
    """

    def __init__(self, pool: AskingPool, places: int) -> None:
        self._pool, self._free = pool, places
        self._waiting: deque[_Awaited] = deque()

    def __enter__(self) -> None:
        with self._pool._lock:
            if self._free:
                self._free -= 1
                return
            awaited = _Awaited()
            self._waiting.append(awaited)
        try:
            self._pool._wait(awaited)
        except BaseException:
            with self._pool._lock:
                if awaited in self._waiting:
                    self._waiting.remove(awaited)
                else:
                    self._leave()
            raise

    def __exit__(self, *error: object) -> None:
        with self._pool._lock:
            self._leave()

    def _leave(self) -> None:
        if self._waiting:
            self._pool._give(self._waiting.popleft())
        else:
            self._free += 1


def workers_of(engine: Engine) -> int:
    """How many questions keep an engine busy: those it answers, and as many as one call takes that are made
    meanwhile; none ahead where it needs the processors that read clips."""
    able = engine.abilities
    return able.batch * (able.in_flight + able.converses)


def are_local_models(engines: Sequence[Engine]) -> bool:
    """Whether these are several models in this process that read prompts: they may not fit into memory
    together, and take turns."""
    abilities = [engine.abilities for engine in engines]
    all_here = all(able.converses and not able.sends_to and able.in_flight == 1 for able in abilities)
    return len(engines) > 1 and all_here


def usage_of(replies: Iterable[Reply]) -> StageUsage:
    """What these replies took together."""
    return sum((StageUsage(reply.calls, reply.usage) for reply in replies), StageUsage())


def generate(engine: Engine, requests: Sequence[Request]) -> list[Reply]:
    """One reply for each request. What an engine raises becomes failed replies, but for what stops a run.

    Where a call for several fails as a whole, each is asked alone: one bad request takes no others along.
    """
    try:
        replies = engine.generate(requests)
    except ShotadError:
        raise
    except Exception as error:
        if len(requests) > 1:
            return [reply for request in requests for reply in generate(engine, [request])]
        if is_out_of_memory(error):
            raise  # the next slots would fail as well
        return [Reply("", "error", error=f"{type(error).__name__}: {error}")]
    if len(replies) != len(requests):
        wrong = f"engine {engine.identity.engine} gave {len(replies)} replies to {len(requests)} requests"
        return [Reply("", "error", error=wrong) for _ in requests]
    return replies
