"""Questions to engines and their answers, for all who ask: many inquiries to one or two engines at once.

What is asked of one slot is an `Inquiry`: it yields turns, gets the replies, and returns its record. It may
ask several engines in turn and ask again; a `Scheduler` puts its turns together with those of other slots, so
that no answer takes the run along.

The caller's thread puts all questions and reads all answers, so an inquiry needs no lock. Other threads call
an engine, as many as it takes calls at once, and one draws inquiries from their source, a little ahead. What
happens there comes in by one queue. How questions are put together changes but the last bits of a batch.

Threads of a `concurrent.futures` pool are joined when the program ends: after an interruption it would last
until a server has answered, or has kept silent for as long as it may. These are not.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Literal, Self

from shotad.core import (
    Clip,
    Engine,
    EngineError,
    Foreseeable,
    Identity,
    Message,
    Preparing,
    Progress,
    Reply,
    Request,
    ShotadError,
    Usage,
    is_out_of_memory,
    key_of,
    span,
    weights_file,
)

Record = Mapping[str, Any]
"""What is kept of a question and its answers."""

Who = Literal["looks", "writes"]
"""The engine of Stage I, or that of Stage II."""


@dataclass(frozen=True, slots=True)
class EngineCall:
    """One question to one of the engines. ``with_clip``: it needs the slot's clip, which is read for it."""

    who: Who
    request: Request
    with_clip: bool = False


Inquiry = Generator[tuple[EngineCall, ...], tuple[Reply, ...], dict[str, Any]]
"""Yields turns, all to the same engine; gets a reply to each; returns the slot's record."""

Named = tuple[str, Inquiry]
"""An inquiry and what its result is called."""

Told = tuple[str, dict[str, Any]]
"""A record and what it is called."""


def make_ready(engine: Engine, progress: Progress) -> None:
    """Refuse what cannot work and fetch what is wanted; the engine's identity is final afterwards."""
    if isinstance(engine, Preparing):
        engine.get_ready(progress)
    for name in engine.abilities.weights:
        weights_file(name, progress)


def ready_if_here(engine: Engine) -> None:
    """The same for an estimate, where nothing has to be fetched for it."""
    if isinstance(engine, Foreseeable):
        engine.ready_if_here()


def slot_seed(seed: int, slot_id: str) -> int:
    """The seed of one slot, 32 bits, from the run's seed and the slot's id: no AD depends on those before."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{slot_id}".encode()).digest()[:4], "big")


def ask_all(engine: Engine, requests: Sequence[Request]) -> list[Reply]:
    """One reply for each request. What an engine raises becomes failed replies, but for what stops a run.

    Where a call for several fails as a whole, each is asked alone: one bad request takes no others along.
    """
    try:
        replies = engine.generate(requests)
    except ShotadError:
        raise
    except Exception as error:
        if len(requests) > 1:
            return [reply for request in requests for reply in ask_all(engine, [request])]
        if is_out_of_memory(error):
            raise  # the next slots would fail as well
        return [Reply("", "error", error=f"{type(error).__name__}: {error}")]
    if len(replies) != len(requests):
        wrong = f"engine {engine.identity.engine} gave {len(replies)} replies to {len(requests)} requests"
        return [Reply("", "error", error=wrong) for _ in requests]
    return replies


def check_images(engine: Engine, images: int) -> None:
    """Refuse a clip that the engine cannot take, before it is called."""
    able = engine.abilities
    if not able.accepts_images:
        raise EngineError(
            f"The engine {engine.identity.engine} takes no images.",
            "Choose another one as stage1.engine.",
            again=False,
        )
    if able.max_images is not None and images > able.max_images:
        raise EngineError(
            f"The engine {engine.identity.engine} takes {able.max_images} images, the clip has {images}.",
            "Lower frames.inside and frames.outside.",
            again=False,
        )


def try_record(reply: Reply, complaints: Iterable[str] = ()) -> dict[str, Any]:
    """One answer, as it is kept in the record: what was said, what it cost, what was wrong with it."""
    together: dict[str, Any] = {"batch": list(reply.batch)} if reply.batch else {}
    if reply.calls != 1:
        together["calls"] = reply.calls
    if reply.shown:
        together["shown"] = reply.shown
    return {
        "raw": reply.text,
        "finish": reply.finish,
        "error": reply.error,
        "usage": usage_record([reply]),
        "complaints": list(complaints),
        **together,
    }


def usage_record(replies: Iterable[Reply]) -> dict[str, int]:
    """What these answers cost together."""
    used = sum((reply.usage for reply in replies), Usage())
    return {"tokens_in": used.tokens_in, "tokens_out": used.tokens_out}


def prompt_record(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    """The exact prompt, as it is kept in the record."""
    return [{"role": message.role, "text": message.text} for message in messages]


def identity_record(identity: Identity) -> dict[str, str]:
    """Who answered, as it is kept in the record."""
    return {"engine": identity.engine, "model": identity.model, "revision": identity.revision}


def request_record(request: Request, identity: Identity) -> dict[str, Any]:
    """All of a request that can change its answer, but for the pixels: the material of a record's key."""
    scene = request.scene
    return {
        "identity": identity_record(identity),
        "messages": prompt_record(request.messages),
        "slot": None
        if scene is None
        else [
            scene.slot.start,
            scene.slot.end,
            scene.credits,
            [[utterance.interval.start, utterance.interval.end] for utterance in scene.speech],
        ],
        "context": [
            [shot.shot.index, shot.role, shot.clipped.start, shot.clipped.end]
            for shot in (scene.context if scene else ())
        ],
        "budget": request.budget,
        "history": list(request.history),
        "sampling": request.sampling.model_dump(),
        "seed": request.seed,
        "schema": request.schema,
        "notes": request.notes,
        **({"timed": True} if request.timed else {}),
    }


def is_done(record: Mapping[str, Any] | None) -> bool:
    """A failed answer is asked for again on the next run, and so is a line that could not be looked for."""
    return record is not None and record["error"] is None and not record.get("unlooked")


def of_other(record: Mapping[str, Any], maker: Mapping[str, Any]) -> tuple[str, str] | None:
    """Slot and maker of another engine's answer, which may have been paid for; None for a failed one."""
    if record.get("error") is not None or record.get("maker") == maker:
        return None
    return str(record.get("slot")), key_of(record.get("maker"))


ClipOf = Callable[[Who, str], Clip]
"""The clip of a slot, by the slot's id, as one of the engines is to see it."""

AFTER_ERROR, AFTER_INTERRUPTION = 60.0, 3.0
"""Seconds for which answers that are under way are waited for when nothing more is asked: they may have been
paid for, and a model that is torn down at work can take the program along."""

_ROOMS: Mapping[Who, str] = {"looks": "stage1", "writes": "stage2"}
"""Whose time a call is, in the profile."""


@dataclass(slots=True, eq=False)
class _Running:
    """An inquiry that waits for replies to ``turns``. ``drawn``: it came from the source."""

    name: str
    inquiry: Inquiry
    drawn: bool
    turns: tuple[EngineCall, ...] = ()


@dataclass(slots=True)
class _Calls:
    """The calls of an engine, or of two that share their threads: at most ``most`` at once."""

    most: int
    queue: SimpleQueue[tuple[Who, list[_Running]] | None] = field(default_factory=SimpleQueue)
    threads: list[threading.Thread] = field(default_factory=list)
    open: int = 0
    """Calls that have been handed over and not answered."""


class Scheduler:
    """Puts the questions of inquiries to engines; iterated, it hands out their records as they come.

    ``engines``: the first is the one that inquiries from the source ask. ``clip_of`` reads the clips that
    turns want. ``share``: both stages are one server, which takes no more calls at once for that.
    ``alternate``: they are models that may not fit into memory together; one goes on while it can.

    Where an engine, the source or the user stops the run, nothing more is asked. The records under way are
    handed out, as far as they come in time; then the error is raised. What an inquiry raises comes at once.
    """

    def __init__(
        self,
        engines: Mapping[Who, Engine],
        *,
        clip_of: ClipOf | None = None,
        share: bool = False,
        alternate: bool = False,
    ) -> None:
        self._engines, self._clip_of, self._alternate = engines, clip_of, alternate
        self._first = self._speaker = next(iter(engines))
        self._waiting: dict[Who, deque[_Running]] = {who: deque() for who in engines}
        flights = {who: engine.abilities.in_flight for who, engine in engines.items()}
        together = _Calls(1 if alternate else min(flights.values()))
        self._calls = {
            who: together if share or alternate else _Calls(number) for who, number in flights.items()
        }
        self._news: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._told: deque[Told] = deque()
        self._reader: threading.Thread | None = None
        self._reading, self._drawn = False, 0
        self._leave = threading.Semaphore(self.room(self._first) - 1)
        self._film = threading.Lock()
        self._stopped, self._until = False, math.inf
        self._failure: BaseException | None = None

    def room(self, who: Who) -> int:
        """How many inquiries keep an engine busy; no more where it needs the processors that read clips."""
        able = self._engines[who].abilities
        return able.batch * (able.in_flight + able.converses)

    def read(self, source: Iterable[Named]) -> None:
        """Draw inquiries from ``source``, in a thread, a few more than are answered; to be said once."""
        self._reading = True
        self._reader = threading.Thread(
            target=self._read, args=(iter(source),), name="reading ahead", daemon=True
        )
        self._reader.start()

    def begin(self, named: Named) -> None:
        """Put the questions of this inquiry too."""
        self._add(_Running(*named, drawn=False))

    def ask(self, who: Who, request: Request) -> Reply:
        """The reply to one request; all else goes on meanwhile. Raises what stops the run."""
        found: list[Reply] = []

        def inquiry() -> Inquiry:
            found.extend((yield (EngineCall(who, request),)))
            return {}

        self.begin(("", inquiry()))
        meanwhile = []
        while (told := next(self))[0]:
            meanwhile.append(told)
        self._told.extendleft(reversed(meanwhile))
        return found[0]

    def __iter__(self) -> Iterator[Told]:
        return self

    def __next__(self) -> Told:
        while not self._told:
            self._hand_over()
            if self._is_over():
                raise self._failure or StopIteration
            try:
                left = None if self._until == math.inf else max(0.0, self._until - time.monotonic())
                news = self._news.get(timeout=left)
            except Empty:
                self._until = -math.inf
            except KeyboardInterrupt as error:
                self._stop(error)
            else:
                news()
                self._hand_over()
        return self._told.popleft()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for what is under way, as long as is due, and for whoever reads the film."""
        self._stop(error)
        with suppress(BaseException):  # the error itself comes again, and goes on after the block
            for _ in self:
                pass
        self._leave.release()
        if self._reader is not None:
            self._reader.join()
        for calls in self._calls.values():
            for _ in calls.threads:
                calls.queue.put(None)
            for thread in calls.threads if not calls.open else ():
                thread.join()

    def _is_over(self) -> bool:
        """Whether nothing more comes, or nothing more is waited for."""
        if any(calls.open for calls in self._calls.values()):
            return self._until == -math.inf
        return self._stopped or not self._reading

    def _stop(self, error: BaseException | None) -> None:
        """Nothing more is asked; those under way have some time to end."""
        self._stopped = True
        self._failure = self._failure or error
        patient = error is None or isinstance(error, Exception)
        self._until = min(self._until, time.monotonic() + (AFTER_ERROR if patient else AFTER_INTERRUPTION))

    def _add(self, one: _Running) -> None:
        if self._goes_on(one, None):
            self._waiting[one.turns[0].who].append(one)

    def _goes_on(self, one: _Running, replies: tuple[Reply, ...] | None) -> bool:
        """Tell an inquiry its replies; it asks for more, or has its record."""
        try:
            one.turns = next(one.inquiry) if replies is None else one.inquiry.send(replies)
        except StopIteration as end:
            one.turns = ()  # with their clips
            self._told.append((one.name, end.value))
            if one.drawn:
                self._drawn -= 1
                self._leave.release()
            return False
        return True

    def _hand_over(self) -> None:
        """Hand over what can be asked now, lines before looks: they are nearer to what is wanted."""
        for who in reversed(list(self._engines)):
            calls = self._calls[who]
            while self._may_ask(who):
                self._speaker = who
                calls.open += 1
                # The first inquiries, one at least, with as many questions as the engine likes in one call
                waits, batch = self._waiting[who], self._engines[who].abilities.batch
                found: list[_Running] = []
                count = 0
                for one in tuple(islice(waits, batch)):
                    if not found or count + len(one.turns) <= batch:
                        found.append(one)
                        count += len(one.turns)
                        waits.remove(one)
                calls.queue.put((who, found))
                if len(calls.threads) < calls.open:
                    thread = threading.Thread(target=self._work, args=(calls,), name="asking", daemon=True)
                    calls.threads.append(thread)
                    thread.start()

    def _may_ask(self, who: Who) -> bool:
        waits, calls, batch = self._waiting[who], self._calls[who], self._engines[who].abilities.batch
        if not waits or self._stopped or calls.open >= calls.most:
            return False
        is_other_engine = who != self._speaker
        if self._alternate and is_other_engine and (calls.open or self._waiting[self._speaker]):
            return False
        # What is drawn comes in its order: batches of it are the same in every run, and full.
        comes = self._reading and self._drawn < self.room(self._first) and all(one.drawn for one in waits)
        return not comes or len(waits) >= batch

    def _work(self, calls: _Calls) -> None:
        """Make one call after the other; in a thread of its own."""
        for who, asked in iter(calls.queue.get, None):
            try:
                requests = [self._request(turn) for one in asked for turn in one.turns]
                with span(_ROOMS[who]):
                    replies = ask_all(self._engines[who], requests)
                del requests  # with their clips, before the next are read
            except BaseException as error:  # noqa: BLE001  handed over to the caller
                self._stopped = True
                self._news.put(partial(self._failed, calls, error))
            else:
                self._news.put(partial(self._answered, calls, asked, replies))

    def _request(self, turn: EngineCall) -> Request:
        """The request with its clip; nothing is put, and no clip read, once the run has stopped."""
        clip = None
        if turn.with_clip:
            if self._clip_of is None:
                raise ValueError(f"slot {turn.request.slot_id} needs its clip, and no clips are at hand")
            with self._film:
                clip = None if self._stopped else self._clip_of(turn.who, turn.request.slot_id)
        if self._stopped:
            raise CancelledError
        return replace(turn.request, clip=clip) if turn.with_clip else turn.request

    def _answered(self, calls: _Calls, asked: list[_Running], replies: list[Reply]) -> None:
        calls.open -= 1
        rest = iter(replies)
        again = [one for one in asked if self._goes_on(one, tuple(islice(rest, len(one.turns))))]
        # What has been begun is ended first.
        for one in reversed(again):
            self._waiting[one.turns[0].who].appendleft(one)

    def _failed(self, calls: _Calls, error: BaseException) -> None:
        calls.open -= 1
        if not isinstance(error, CancelledError):
            self._stop(error)

    def _read(self, source: Iterator[Named]) -> None:
        """Draw one inquiry after the other, each when it is given leave; in a thread of its own."""
        error: BaseException | None = None
        try:
            with closing(source) if isinstance(source, Generator) else nullcontext():
                while not self._stopped:
                    with self._film:
                        named = next(source)
                    self._news.put(partial(self._drew, named))
                    self._leave.acquire()
        except StopIteration:
            pass
        except BaseException as trouble:  # noqa: BLE001  handed over to the caller
            error = trouble
        self._news.put(partial(self._drew_all, error))

    def _drew(self, named: Named) -> None:
        self._drawn += 1
        self._add(_Running(*named, drawn=True))

    def _drew_all(self, error: BaseException | None) -> None:
        self._reading = False
        if isinstance(error, Exception):
            self._failure = self._failure or error  # what has been drawn is answered first
        elif error is not None:
            self._stop(error)


def converse(
    inquiries: Iterable[Named], engines: Mapping[Who, Engine], *, clip_of: ClipOf | None = None
) -> Generator[Told, None, None]:
    """The record of each inquiry as soon as it is there, in any order; see `Scheduler`, also for errors."""
    with Scheduler(engines, clip_of=clip_of) as scheduler:
        scheduler.read(inquiries)
        yield from scheduler
