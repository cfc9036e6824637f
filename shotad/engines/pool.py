"""The one way to ask an engine: a plain function asks and waits, and many such functions run side by side.

`AskingPool.ask` blocks until the reply is there. So code that asks reads from top to bottom, and an engine's
error passes through the function that asked. `AskingPool.map` runs a function for many items in threads and
gives the results in the order of the items. Only the pool knows memory, batches, how many calls run at once,
turns between two models, what stops a run, and usage.

The requests of threads that wait for a reply make a batch: they go to the engine together. The pool
therefore keeps the set of threads that may still ask (`_Dispatcher.running`). A thread is taken out of it
when it begins to wait, and put back at the moment its reply is set, not when it wakes up: so batches are the
same in every run.

A function that `map` runs may itself map over parts of its item, in a pool of its own (`AskingPool.nested`):
its questions go to the same engines, in the same batches as those of the functions beside it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from shotad.core import (
    Clip,
    Engine,
    Reply,
    Request,
    ShotadError,
    Usage,
)
from shotad.core.cancellation import StopRequested, in_context, raise_if_cancelled
from shotad.core.engine import Stage
from shotad.core.memory_errors import is_out_of_memory
from shotad.core.profiling import time_step
from shotad.engines.answer_log import Memory, NoMemory, answer_key
from shotad.script.reasons import in_english

Item = TypeVar("Item")
Result = TypeVar("Result")

AFTER_ERROR, AFTER_INTERRUPTION = 60.0, 3.0
"""Seconds to wait for calls under way after the run has stopped: they may have been paid for, and a model
that is torn down at work can crash the program."""

_POLL = 0.5
"""Seconds between two checks of a waiting thread whether the run has been stopped: a thousand may wait."""

NO_FRAMES = in_english("failure.no_frames")
"""The error of a reply about a clip that cannot be read."""


@dataclass(frozen=True, slots=True)
class ClipOnDemand:
    """A clip that is read only when its question goes to an engine, not when the reply is in memory.

    ``key`` stands for its pixels: the same key, the same clip. ``read`` returns None where no frame can be
    decoded.
    """

    key: str
    read: Callable[[], Clip | None]


@dataclass(frozen=True, slots=True)
class StageUsage:
    """Calls to one engine in this run, and their tokens. Replies from memory are not counted."""

    calls: int = 0
    tokens: Usage = field(default_factory=Usage)

    def __add__(self, other: StageUsage) -> StageUsage:
        return StageUsage(self.calls + other.calls, self.tokens + other.tokens)


class RunStopped(Exception):  # noqa: N818  not an error of the thread that gets it
    """Raised in the threads of `AskingPool.map` when the run has been stopped: nothing more is asked."""


Order = tuple[int, ...]
"""Rank of a thread and of its questions, the smallest first.

For each map that the thread is in, from the outermost on, it has two numbers: minus the number of the map, so
that later maps of a function go first, and the number of the item. A function goes before the threads of the
maps that it has begun, since its rank is the beginning of theirs. The rank of the caller of the outermost
pool is empty.
"""

_NO_ITEM = 1_000_000_000
"""Number of the item of a thread that has none yet: it comes after all that have one."""


@dataclass(eq=False, slots=True)
class _AskingThread:
    """A thread that may ask, and the rank of its questions."""

    order: Order = ()


@dataclass(eq=False, slots=True)
class _Future:
    """A value or an error that one thread waits for; ``waiter`` is that thread, once it waits and cannot
    ask."""

    ready: threading.Event = field(default_factory=threading.Event)
    waiter: _AskingThread | None = None
    value: Any = None
    error: BaseException | None = None


@dataclass(eq=False, slots=True)
class _Question:
    """A question of a pool in the queue, and one future for each thread that asked it."""

    pool: AskingPool
    key: str
    request: Request
    order: Order
    futures: list[_Future]


@dataclass(eq=False, slots=True)
class _Lane:
    """The threads that call one engine, or two that share them: at most ``limit`` calls at once."""

    limit: int
    calls: SimpleQueue[tuple[_StageQueue, list[_Question]] | None] = field(default_factory=SimpleQueue)
    threads: list[threading.Thread] = field(default_factory=list)
    calls_under_way: int = 0


@dataclass(eq=False, slots=True)
class _StageQueue:
    """One engine, the questions that wait for it, and a limit of clips in memory for them."""

    name: Stage
    engine: Engine
    lane: _Lane
    clip_readers: _OrderedSemaphore
    waiting: list[_Question] = field(default_factory=list)

    @property
    def takes_any_order(self) -> bool:
        """Whether each question is a call of its own, and several are under way: then their order changes
        nothing."""
        return self.engine.abilities.batch == 1 and self.lane.limit > 1

    def put(self, question: _Question) -> None:
        """Insert a question by its order, behind those of the same order."""
        index = len(self.waiting)
        while index and self.waiting[index - 1].order > question.order:
            index -= 1
        self.waiting.insert(index, question)


_END = object()
"""Stands after the last result of a `map`."""


class _Dispatcher:
    """Hands the questions of a pool, and of the pools nested in it, to the engines.

    ``running`` are the threads that may ask now. Methods are called while ``lock`` is held, but for
    `make_calls` and `close`.
    """

    def __init__(self, engines: Mapping[Stage, Engine], *, shared: bool, take_turns: bool) -> None:
        self.lock = threading.RLock()
        self.local = threading.local()
        self.local.thread = caller = _AskingThread()
        self.running: set[_AskingThread] = {caller}
        self._take_turns = take_turns
        limits = {name: engine.abilities.in_flight for name, engine in engines.items()}
        shared_lane = _Lane(1 if take_turns else min(limits.values()))
        self.queues: dict[Stage, _StageQueue] = {}
        for name, engine in engines.items():
            lane = shared_lane if shared or take_turns else _Lane(limits[name])
            queue = _StageQueue(name, engine, lane, _OrderedSemaphore(self, workers_of(engine)))
            queue.clip_readers.is_strict = not queue.takes_any_order
            self.queues[name] = queue
        self._active_stage = next(iter(self.queues))

    def calling_thread(self) -> _AskingThread:
        """What is known of the thread that runs this line."""
        thread: _AskingThread = self.local.thread
        return thread

    def resolve(self, future: _Future, value: Any = None, error: BaseException | None = None) -> None:
        """Set a value or an error; the thread that waits for it may ask again."""
        future.value, future.error = value, error
        if future.waiter is not None:
            self.running.add(future.waiter)
        future.ready.set()

    def is_next(self, order: Order, besides: Set[_AskingThread] = frozenset()) -> bool:
        """Whether no thread may still ask that goes before ``order``, those of ``besides`` left out.

        The caller of the pool is not waited for: it works on results, for as long as it likes.
        """
        return all(thread.order > order for thread in self.running if thread.order and thread not in besides)

    def call_engines(self) -> None:
        """Hand over every call that can be made now, those of later stages first."""
        # Who waits to read a clip may ask next: it counts before another model is loaded.
        for queue in self.queues.values():
            queue.clip_readers.let_in()
        # Stage II first: it brings items that are under way to their end.
        for queue in reversed(self.queues.values()):
            while self._may_call(queue):
                self._active_stage = queue.name
                batch = queue.waiting[: queue.engine.abilities.batch]
                del queue.waiting[: len(batch)]
                for question in batch:
                    question.pool._under_way += 1
                lane = queue.lane
                lane.calls_under_way += 1
                lane.calls.put((queue, batch))
                if len(lane.threads) < lane.calls_under_way:
                    work = in_context(partial(self.make_calls, lane))
                    thread = threading.Thread(target=work, name="asking", daemon=True)
                    lane.threads.append(thread)
                    thread.start()

    def _may_call(self, queue: _StageQueue) -> bool:
        """Whether the next batch of an engine can go out now."""
        lane = queue.lane
        if not queue.waiting or lane.calls_under_way >= lane.limit:
            return False
        # The model that is loaded stays as long as any thread may ask it: loading takes a minute.
        active_is_needed = lane.calls_under_way or self.queues[self._active_stage].waiting or self.running
        if self._take_turns and queue.name != self._active_stage and active_is_needed:
            return False
        if queue.takes_any_order:
            return True
        batch_size = queue.engine.abilities.batch
        if len(queue.waiting) < batch_size:
            return not self.running  # no thread is left that could fill the batch
        # A thread that works on an earlier item may ask before these: it is waited for, so that calls are the
        # same in every run.
        return self.is_next(queue.waiting[batch_size - 1].order)

    def make_calls(self, lane: _Lane) -> None:
        """Make one call after the other; in a thread of its own."""
        while (call := lane.calls.get()) is not None:
            queue, batch = call
            outcomes: list[Reply | BaseException] = []
            try:
                with time_step(queue.name):
                    outcomes += replies_or_errors(queue.engine, [question.request for question in batch])
            except BaseException as error:  # noqa: BLE001  raised again in the threads that asked
                outcomes = [error for _ in batch]
            for index, question in enumerate(batch):
                outcomes[index] = question.pool._remember(queue, question, outcomes[index])
            with self.lock:
                lane.calls_under_way -= 1
                for question, outcome in zip(batch, outcomes, strict=True):
                    question.pool._finish(queue, question, outcome)
                # After an error the threads that asked decide first: they stop the run, or ask on.
                if all(isinstance(outcome, Reply) for outcome in outcomes):
                    self.call_engines()
            del call, batch, question, outcomes  # with their clips, before the next are read

    def close(self) -> None:
        """End the threads that call engines. A call that did not end in time is left alone: its thread is a
        daemon."""
        # Two stages may share a lane; each lane is ended once.
        lanes = {id(queue.lane): queue.lane for queue in self.queues.values()}
        for lane in lanes.values():
            for _ in lane.threads:
                lane.calls.put(None)
            if not lane.calls_under_way:
                for thread in lane.threads:
                    thread.join()


class AskingPool:
    """Asks engines for many plain functions at once; use it in a ``with`` block.

    ``engines`` are those of the stages that ask. ``shared``: all are one server, which takes no more calls at
    once for that. ``take_turns``: they are models of this machine that may not fit into memory together; one
    stays loaded as long as any thread may ask it.

    Where an engine, a function or the user stops the run, nothing more is asked. Calls that are under way
    have `AFTER_ERROR` seconds to end (`AFTER_INTERRUPTION` after Ctrl-C, or a cancelled token); their replies
    are kept. Then the
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
        self._begin(_Dispatcher(engines, shared=shared, take_turns=take_turns), memory, None)

    def nested(self, memory: Memory | None = None) -> AskingPool:
        """A pool for a function that this one's `map` runs: the same engines, with a memory of its own.

        Questions of all pools nested in this one fill the batches together. What stops the nested pool is
        raised in the function that uses it and stops nothing else; what stops this one stops it too.
        """
        pool = AskingPool.__new__(AskingPool)
        pool._begin(self._dispatcher, memory, self)
        return pool

    def _begin(self, dispatcher: _Dispatcher, memory: Memory | None, outer: AskingPool | None) -> None:
        self._dispatcher, self._lock = dispatcher, dispatcher.lock
        self._memory = memory or NoMemory()
        self._outer = outer
        self._caller = dispatcher.calling_thread()
        self._map_runs: list[_MapRun] = []
        self._map_threads: list[threading.Thread] = []
        self._questions: dict[str, _Question] = {}
        self._under_way = 0
        """How many questions of this pool an engine is at."""
        self._clip_reading = self.limit(1)
        self._stopped: BaseException | None = None
        self._deadline = 0.0
        """Until when calls under way are waited for after a stop, by the monotonic clock; 0 before a stop."""
        self._is_closed = False
        self._usage = {name: StageUsage() for name in dispatcher.queues}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop where calls are under way, wait for them until the deadline, and end all threads."""
        if error is not None or self._under_way:
            self.stop(error or RunStopped())
        while self._may_still_answer():
            time.sleep(0.01)
        with self._lock:
            self._stopped = self._stopped or RunStopped()
        # The caller closes the film next, and these threads may be reading it.
        for thread in self._map_threads:
            thread.join()
        for map_run in self._map_runs:
            map_run.close()
        self._is_closed = True
        if self._outer is None:
            self._dispatcher.close()

    def workers(self, stage: Stage) -> int:
        """How many threads keep the engine of a stage busy; see `workers_of`."""
        return workers_of(self.engine(stage))

    @property
    def usage(self) -> dict[Stage, StageUsage]:
        """Calls and tokens of each stage in this run, those of nested pools too."""
        with self._lock:
            return dict(self._usage)

    @property
    def is_stopped(self) -> bool:
        """Whether this pool or one around it has been stopped: long work of its functions is in vain."""
        return self._stopped_pool() is not None

    def engine(self, stage: Stage) -> Engine:
        """The engine of a stage."""
        return self._dispatcher.queues[stage].engine

    def limit(self, number: int) -> AbstractContextManager[None]:
        """Lets at most ``number`` threads at once into its ``with`` blocks, those of earlier items first.

        For work that waits for no reply, such as decoding. Whoever waits here may still ask, so batches wait.
        """
        return _OrderedSemaphore(self._dispatcher, number, pool=self)

    def ask(self, stage: Stage, request: Request, clip: ClipOnDemand | None = None) -> Reply:
        """The reply to one question. Blocks; the same question goes to the engine only once.

        ``clip`` is what the question is about, for the turn of the request that is marked with it. Raises
        what the engine raises to stop the run, and RunStopped in a thread of `map` after a stop.
        """
        return self.ask_together(stage, [request], clip)[0]

    def ask_together(
        self, stage: Stage, requests: Sequence[Request], clip: ClipOnDemand | None = None
    ) -> list[Reply]:
        """The replies to several questions, which may go to the engine in one call."""
        queue = self._dispatcher.queues[stage]
        identity = queue.engine.identity
        clip_key = clip.key if clip is not None else ""
        keys = [answer_key(request, identity, clip_key) for request in requests]
        remembered = [self._memory.get(key) for key in keys]
        if clip is not None and None in remembered:
            return self._ask_about_clip(queue, requests, keys, remembered, clip)
        replies: list[Reply | _Future] = []
        for request, key, reply in zip(requests, keys, remembered, strict=True):
            replies.append(self._enqueue(queue, request, key) if reply is None else reply)
        return self._wait_for_replies(replies)

    def forget(self, stage: Stage, requests: Iterable[Request], clip: ClipOnDemand | None = None) -> None:
        """Let a later run ask these questions again: their replies could not be used. This run does not."""
        identity = self.engine(stage).identity
        clip_key = clip.key if clip is not None else ""
        self._memory.forget([answer_key(request, identity, clip_key) for request in requests])

    def _ask_about_clip(
        self,
        queue: _StageQueue,
        requests: Sequence[Request],
        keys: Sequence[str],
        remembered: Sequence[Reply | None],
        clip: ClipOnDemand,
    ) -> list[Reply]:
        """The replies, those ``remembered`` as they are; the others after reading the clip."""
        # No more clips are in memory than keep the engine busy, whatever number of pools is nested. Of one
        # pool they are read one at a time: there is one decoder of the film.
        with queue.clip_readers.of(self):
            with self._clip_reading:
                self._raise_if_stopped()
                with time_step("frames"):
                    pixels = clip.read()
            replies: list[Reply | _Future] = []
            for request, key, reply in zip(requests, keys, remembered, strict=True):
                if reply is not None:
                    replies.append(reply)
                elif pixels is None:
                    replies.append(Reply("", "error", error=NO_FRAMES))
                else:
                    replies.append(self._enqueue(queue, replace(request, clip=pixels), key))
            # The question holds the clip now, and lets it go once it is answered.
            del pixels
            return self._wait_for_replies(replies)

    def _enqueue(self, queue: _StageQueue, request: Request, key: str) -> Reply | _Future:
        """Put a question into the queue of its engine; threads that ask the same meanwhile share its
        reply."""
        future = _Future()
        with self._lock:
            self._raise_if_stopped()
            reply = self._memory.get(key)  # the same question may have been answered since
            if reply is not None:
                return reply
            order = self._dispatcher.calling_thread().order
            question = self._questions.get(key)
            if question is None:
                question = self._questions[key] = _Question(self, key, request, order, [future])
                queue.put(question)
                return future
            question.futures.append(future)
            if order < question.order and question in queue.waiting:
                # The smallest order of all who ask counts, not that of whoever came first: it would differ
                # from run to run.
                queue.waiting.remove(question)
                question.order = order
                queue.put(question)
        return future

    def _wait_for_replies(self, replies: Sequence[Reply | _Future]) -> list[Reply]:
        return [cast(Reply, self._wait(r)) if isinstance(r, _Future) else r for r in replies]

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
        ``function`` fails, the run stops at once. Raises ValueError for less than one worker.
        """
        if workers < 1:
            raise ValueError(f"a map needs a worker, got {workers}")
        dispatcher = self._dispatcher
        with self._lock:
            rank = (*dispatcher.calling_thread().order, -1 - len(self._map_runs))
            map_run = _MapRun(self, dispatcher, function, iter(items), rank, advance)
            self._map_runs.append(map_run)
            for _ in range(workers):
                asking_thread = _AskingThread((*rank, _NO_ITEM))
                # Counted before it starts: else a batch might go out without its question.
                dispatcher.running.add(asking_thread)
                work = in_context(partial(map_run.work, asking_thread))
                thread = threading.Thread(target=work, name="one item", daemon=True)
                self._map_threads.append(thread)
                thread.start()
        return self._results(map_run)

    def _results(self, map_run: _MapRun) -> Iterator[Any]:
        number = 0
        while (result := self._wait(map_run.result(number))) is not _END:
            map_run.forget(number)
            yield result
            number += 1

    def stop(self, error: BaseException, patience: float | None = None) -> None:
        """Ask nothing more; threads whose question still waits in a queue get `RunStopped`.

        ``patience``: seconds for calls under way to end. None: by the kind of ``error``.
        """
        with self._lock:
            if self._stopped is None or isinstance(self._stopped, RunStopped):
                self._stopped = error
            if patience is None:
                patience = AFTER_ERROR if isinstance(error, Exception) else AFTER_INTERRUPTION
            deadline = time.monotonic() + patience
            # Ctrl-C after an error shortens the wait; an error after Ctrl-C does not lengthen it.
            self._deadline = min(self._deadline, deadline) if self._deadline else deadline
            for queue in self._dispatcher.queues.values():
                of_this_run = [q for q in queue.waiting if self in q.pool._chain()]
                for question in of_this_run:
                    queue.waiting.remove(question)
                    question.pool._answer(question, error=RunStopped())

    @contextmanager
    def stopped_soon_by_errors(self) -> Iterator[None]:
        """An error in the block stops the run; calls under way have `AFTER_INTERRUPTION` seconds to end."""
        try:
            yield
        except BaseException as error:
            self.stop(error, AFTER_INTERRUPTION)
            raise

    def _chain(self) -> Iterator[AskingPool]:
        """This pool, and those in which it is nested, the innermost first."""
        pool: AskingPool | None = self
        while pool is not None:
            yield pool
            pool = pool._outer

    # Threads

    def _stopped_pool(self) -> AskingPool | None:
        """The innermost pool that has been stopped, of this one and those around it."""
        return next((pool for pool in self._chain() if pool._stopped is not None), None)

    def _raise_if_stopped(self) -> None:
        """Raise what stopped the run in the thread that uses the stopped pool, RunStopped in all others."""
        pool = self._stopped_pool()
        if pool is None:
            return
        if pool._stopped is not None and pool._caller is self._dispatcher.calling_thread():
            raise pool._stopped
        raise RunStopped from None

    def _wait(self, future: _Future, *, may_ask: bool = False) -> Any:
        """The value of ``future``, as soon as it is set. Raises its error.

        Meanwhile this thread cannot ask, so batches do not wait for it; with ``may_ask`` they do.
        """
        if not may_ask:
            with self._lock:
                if not future.ready.is_set():
                    future.waiter = self._dispatcher.calling_thread()
                    self._dispatcher.running.discard(future.waiter)
                    self._dispatcher.call_engines()
        while not future.ready.wait(_POLL):
            raise_if_cancelled()
            if self.is_stopped and not self._may_still_answer():
                self._raise_if_stopped()
        if isinstance(future.error, RunStopped):
            self._raise_if_stopped()  # the caller of the pool is to see why
        if future.error is not None:
            raise future.error
        return future.value

    def _may_still_answer(self) -> bool:
        """Whether calls are under way and, after a stop, no deadline has passed."""
        deadlines = [pool._deadline for pool in self._chain() if pool._deadline]
        return self._under_way > 0 and time.monotonic() < min(deadlines, default=0.0)

    # Calls

    def _answer(
        self, question: _Question, reply: Reply | None = None, error: BaseException | None = None
    ) -> None:
        """Set the reply or the error for all threads that asked the question. The lock is held."""
        del self._questions[question.key]
        for future in question.futures:
            self._dispatcher.resolve(future, reply, error)

    def _finish(self, queue: _StageQueue, question: _Question, outcome: Reply | BaseException) -> None:
        """Set what came of a call, and count it. The lock is held."""
        self._under_way -= 1
        if not isinstance(outcome, Reply):
            self._answer(question, error=outcome)
            return
        for pool in self._chain():
            pool._usage[queue.name] += StageUsage(outcome.calls, outcome.usage)
        self._answer(question, outcome)

    def _remember(
        self, queue: _StageQueue, question: _Question, outcome: Reply | BaseException
    ) -> Reply | BaseException:
        """A reply as memory returns it, or why it cannot be kept. It is kept after a stop too, but not once
        the pool is closed: its caller has gone on without it."""
        if self._is_closed or not isinstance(outcome, Reply):
            return outcome
        try:
            return self._memory.add(
                question.key, queue.name, question.request, queue.engine.identity, outcome
            )
        except BaseException as error:  # noqa: BLE001  raised again in the threads that asked
            return error


class _MapRun:
    """One call of `AskingPool.map`: its threads draw items in turn, and set a future for each result.

    ``rank`` is the beginning of the order of each of its threads; the number of the item follows.
    """

    def __init__(
        self,
        pool: AskingPool,
        dispatcher: _Dispatcher,
        function: Callable[[Any], Any],
        source: Iterator[Any],
        rank: Order,
        advance: Callable[[], None] | None,
    ) -> None:
        self._pool, self._dispatcher, self._rank = pool, dispatcher, rank
        self._function, self._source, self._advance = function, source, advance
        self._drawing = _OrderedSemaphore(dispatcher, 1)
        self._drawn = 0
        self._has_more = True
        self._results: dict[int, _Future] = {}

    def result(self, number: int) -> _Future:
        """The future of the result of an item, whether the item has been drawn or not."""
        with self._dispatcher.lock:
            return self._results.setdefault(number, _Future())

    def forget(self, number: int) -> None:
        """Drop a result that the caller has taken."""
        with self._dispatcher.lock:
            del self._results[number]

    def close(self) -> None:
        """Let the source of items end, where it is a generator that was not drawn to its end."""
        if isinstance(self._source, Generator):
            self._source.close()

    def work(self, thread: _AskingThread) -> None:
        """Draw items and work on them until there are none; in a thread of its own."""
        pool, dispatcher = self._pool, self._dispatcher
        dispatcher.local.thread = thread
        try:
            while (drawn := self._draw(thread)) is not None:
                item, result = drawn
                try:
                    value = self._function(item)
                    if self._advance is not None:
                        # It may raise: whoever shows the progress was asked to stop.
                        with dispatcher.lock:
                            self._advance()
                except BaseException as error:  # noqa: BLE001  raised again where the result is taken
                    if not isinstance(error, RunStopped):
                        pool.stop(error)
                    with dispatcher.lock:
                        dispatcher.resolve(result, error=error)
                else:
                    with dispatcher.lock:
                        dispatcher.resolve(result, value)
                del item, drawn, result  # an item may be large; it must not stay while the next is drawn
        except (RunStopped, StopRequested):
            pass  # it waited for its turn to draw
        finally:
            with dispatcher.lock:
                dispatcher.running.discard(thread)
                dispatcher.call_engines()

    def _draw(self, thread: _AskingThread) -> tuple[Any, _Future] | None:
        """The next item, and the future of its result; None where there is none, or after a stop."""
        thread.order = (*self._rank, _NO_ITEM)
        with self._drawing.of(self._pool):
            if not self._has_more or self._pool.is_stopped:
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
            thread.order = (*self._rank, number)
            return item, self.result(number)

    def _end(self, error: BaseException | None) -> None:
        """Set, after the last result, the mark of the end, or the error why there are no more. Only once."""
        if not self._has_more:
            return
        self._has_more = False
        with self._dispatcher.lock:
            self._dispatcher.resolve(self.result(self._drawn), None if error else _END, error)


class _OrderedSemaphore:
    """A semaphore for the threads of a dispatcher: ``limit`` of them may be in its ``with`` block, and of
    those that wait the one that goes first by its order is let in next.

    With ``pool``, the pool of its threads, those inside wait for no reply: so who waits may still ask, and
    batches wait for it. Without one they do not, and `of` names the pool. A thread counts again from the
    moment it gets its turn, not from when it wakes up. ``is_strict``: nobody is let in before a thread that
    is still on its way and goes before, so that who is inside is the same in every run.
    """

    def __init__(self, dispatcher: _Dispatcher, limit: int, *, pool: AskingPool | None = None) -> None:
        self._dispatcher, self._limit, self._pool = dispatcher, limit, pool
        self._waiting: list[tuple[_AskingThread, _Future]] = []
        self._inside: set[_AskingThread] = set()
        self.is_strict = False

    def __enter__(self) -> None:
        assert self._pool is not None
        self._acquire(self._pool, may_ask=True)

    def __exit__(self, *error: object) -> None:
        self._release()

    @contextmanager
    def of(self, pool: AskingPool) -> Iterator[None]:
        """The ``with`` block for a thread of ``pool``, which cannot ask while it waits for its turn."""
        self._acquire(pool, may_ask=False)
        try:
            yield
        finally:
            self._release()

    def _acquire(self, pool: AskingPool, *, may_ask: bool) -> None:
        entry = (self._dispatcher.calling_thread(), _Future())
        with self._dispatcher.lock:
            self._waiting.append(entry)
            if not self.is_strict:
                self.let_in()
        try:
            pool._wait(entry[1], may_ask=may_ask)
        except BaseException:
            with self._dispatcher.lock:
                if entry in self._waiting:
                    self._waiting.remove(entry)
                else:
                    self._release()  # the turn came at the same moment: the next thread gets it
            raise

    def _release(self) -> None:
        with self._dispatcher.lock:
            self._inside.discard(self._dispatcher.calling_thread())
            self.let_in()

    def let_in(self) -> None:
        """Give turns to those that go first; the lock is held."""
        while self._waiting and len(self._inside) < self._limit:
            entry = min(self._waiting, key=lambda waiting: waiting[0].order)
            thread, turn = entry
            # Those inside do not come again before they have been answered.
            if self.is_strict and not self._dispatcher.is_next(thread.order, besides=self._inside):
                return
            self._waiting.remove(entry)
            self._inside.add(thread)
            self._dispatcher.resolve(turn)


def workers_of(engine: Engine) -> int:
    """How many questions keep an engine busy: those of its calls under way, and those of one call more.

    An engine that does not converse measures on the processors that read clips: nothing is read ahead for it.
    """
    abilities = engine.abilities
    calls_ahead = 1 if abilities.converses else 0
    return abilities.batch * (abilities.in_flight + calls_ahead)


def are_local_models(engines: Sequence[Engine]) -> bool:
    """Whether these are several models in this process that read prompts, and have to take turns.

    They may not fit into memory together. Where they do, as on two GPUs, they still take turns: to read a
    model changes torch's default precision for all threads, and batches would depend on which is faster.
    """
    if len(engines) < 2:
        return False
    for engine in engines:
        abilities = engine.abilities
        if not abilities.converses or abilities.sends_to or abilities.in_flight != 1:
            return False
    return True


def usage_of(replies: Iterable[Reply]) -> StageUsage:
    """Calls and tokens of all these replies together."""
    return sum((StageUsage(reply.calls, reply.usage) for reply in replies), StageUsage())


def replies_or_errors(engine: Engine, requests: Sequence[Request]) -> list[Reply | Exception]:
    """One reply for each request, in order, or the error that whoever asked is to get.

    Those are ShotadErrors, which stop a run, and errors of memory; other exceptions become failed replies. A
    call with several requests that fails is repeated with each request alone: one bad request must not fail
    the others, which may be about other films.
    """
    try:
        replies = engine.generate(requests)
    except ShotadError as error:
        return [error for _ in requests]
    except Exception as error:  # noqa: BLE001  an engine may raise anything
        if len(requests) == 1:
            if is_out_of_memory(error):
                return [error]  # whoever asked stops: its next requests would fail as well
            return [Reply("", "error", error=f"{type(error).__name__}: {error}")]
    else:
        if len(replies) == len(requests):
            return list(replies)
        name = engine.identity.engine
        message = f"engine {name} gave {len(replies)} replies to {len(requests)} requests"
        return [Reply("", "error", error=message) for _ in requests]
    # Outside the except block: a caught error keeps its frames, and with them the memory of the batch.
    outcomes: list[Reply | Exception] = []
    for request in requests:
        outcomes += replies_or_errors(engine, [request])
        error_of_engine = outcomes[-1]
        if isinstance(error_of_engine, ShotadError):  # it would fail the others too
            outcomes += [error_of_engine] * (len(requests) - len(outcomes))
            break
    return outcomes
