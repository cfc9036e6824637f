"""Questions to engines: many conversations with few engines, so that no answer takes the run along.

What is asked of one slot is an `Inquiry`: it yields turns, gets the replies, and returns its record.
It may ask several engines in turn and ask again; how its turns are put together with those of other
slots is decided here, and changes no answer but for the last bits of a model's batch.
"""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

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
    key_of,
    span,
    waiting,
    weights_file,
)
from shotad.engines import Belt, CalledOff, Flow, begun

Who = Literal["looks", "writes"]
"""The engine of Stage I, or that of Stage II."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One question to one of the engines. ``with_clip``: it needs the slot's clip, which is read for it."""

    who: Who
    request: Request
    with_clip: bool = False


Inquiry = Generator[tuple[Turn, ...], tuple[Reply, ...], dict[str, Any]]
"""Yields turns, all to the same engine; gets a reply to each; returns the slot's record."""

Named = tuple[str, Inquiry]
"""An inquiry and what its result is called."""

Told = tuple[str, dict[str, Any]]
"""A record and what it is called."""

ClipOf = Callable[[str], Clip]
"""The clip of a slot, by the slot's id, as the engine of Stage I is to see it."""

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class ProfileNames:
    """Whose time it is, in the profile: ``asks`` is at work while an engine answers, and waits for ``awaits``
    where there is nothing to ask. ``feeds`` makes what is asked, and waits where it is too far ahead."""

    asks: str = ""
    awaits: str = ""
    feeds: str = ""

    def at_work(self) -> AbstractContextManager[None]:
        """While an engine answers."""
        return span(self.asks) if self.asks else nullcontext()

    def idle(self) -> AbstractContextManager[None]:
        """While there is nothing to ask."""
        return waiting(self.asks, self.awaits) if self.asks else nullcontext()


def converse(
    inquiries: Iterable[Named], engines: Mapping[Who, Engine], *, window: int | None = None,
    clip_of: ClipOf | None = None, profile: ProfileNames = ProfileNames(), flow: Flow | None = None,
) -> Generator[Told, None, None]:  # fmt: skip
    """The record of each inquiry as soon as it is there, in any order.

    Inquiries are taken from their source while others are answered, at most ``window`` ahead (None: as
    many as an engine takes at once). Raises what an engine raises to stop the run, after the records of
    what was under way have been handed out. ``flow``: the one that the source's own threads belong to.
    """
    flights = max(engine.abilities.in_flight for engine in engines.values())
    if flights > 1:
        yield from _in_threads(inquiries, engines, flights, clip_of, profile, flow)
        return
    batch = max(engine.abilities.batch for engine in engines.values())
    with ahead(inquiries, batch, profile, flow) as source:
        yield from _in_batches(source, engines, window or batch, clip_of, profile)


def _in_batches(
    source: Iterator[Named],
    engines: Mapping[Who, Engine],
    window: int,
    clip_of: ClipOf | None,
    profile: ProfileNames,
) -> Iterator[Told]:
    running: deque[_Running] = deque()
    speaker: Who | None = None
    while True:
        while len(running) < window and (named := next(source, None)) is not None:
            yield from _begun(named, running)
        if not running:
            return
        # The engine that spoke last goes on while there is anything for it: its model is loaded.
        if speaker is None or all(one.who != speaker for one in running):
            speaker = running[0].who
        engine = engines[speaker]
        asked = _gathered(running, speaker, engine.abilities.batch)
        turns = [turn for one in asked for turn in one.turns]
        requests = [_request(turn, clip_of) for turn in turns]
        with profile.at_work():
            replies = iter(ask_all(engine, requests))
        for one in asked:
            running.remove(one)
            answered = tuple(next(replies) for _ in one.turns)
            yield from _went_on(one, answered, running)


@dataclass(slots=True, eq=False)
class _Running:
    """An inquiry that waits for replies to ``turns``."""

    name: str
    inquiry: Inquiry
    turns: tuple[Turn, ...]

    @property
    def who(self) -> Who:
        return self.turns[0].who


def _begun(named: Named, running: deque[_Running]) -> Iterator[Told]:
    name, inquiry = named
    try:
        running.append(_Running(name, inquiry, next(inquiry)))
    except StopIteration as end:
        yield name, end.value


def _went_on(one: _Running, replies: tuple[Reply, ...], running: deque[_Running]) -> Iterator[Told]:
    try:
        one.turns = one.inquiry.send(replies)
        running.append(one)
    except StopIteration as end:
        yield one.name, end.value


def _gathered(running: Iterable[_Running], speaker: Who, batch: int) -> list[_Running]:
    """The first inquiries that ask ``speaker``, one at least, with up to ``batch`` questions in all."""
    found: list[_Running] = []
    count = 0
    for one in running:
        if one.who == speaker and (not found or count + len(one.turns) <= batch):
            found.append(one)
            count += len(one.turns)
    return found


def _in_threads(
    inquiries: Iterable[Named],
    engines: Mapping[Who, Engine],
    flights: int,
    clip_of: ClipOf | None,
    profile: ProfileNames,
    within: Flow | None,
) -> Iterator[Told]:
    """Each inquiry in a thread of its own. One thread reads the source, one inquiry ahead."""
    with Flow(within) as flow:
        talks = _Talks(engines, flights, clip_of, profile, flow)
        flow.begin(talks.read, inquiries, name="reading ahead")
        try:
            while talks.go_on:
                try:
                    done = talks.next_done()
                except KeyboardInterrupt as error:
                    # No answer is waited for now; those that have come are kept.
                    yield from talks.called_off(error)
                    break
                for future in done:
                    yield from talks.told(future)
        finally:
            talks.stop()
    if talks.failure is not None:
        raise talks.failure


@dataclass(frozen=True, slots=True)
class _Over:
    """The source has nothing more; or it failed, or was called off."""

    error: BaseException | None


class _Talks:
    """Inquiries that are under way, each in a thread of its own, and those that wait for a seat.

    All that happens comes in by one belt, so that nobody is kept waiting: an inquiry from the source, an
    answer, the source's end.
    """

    def __init__(
        self,
        engines: Mapping[Who, Engine],
        flights: int,
        clip_of: ClipOf | None,
        profile: ProfileNames,
        flow: Flow,
    ) -> None:
        self.failure: BaseException | None = None
        self._engines, self._flights, self._clip_of, self._profile = engines, flights, clip_of, profile
        self._under_way: set[Future[Told]] = set()
        self._waiting: deque[Named] = deque()
        self._more = True
        self._mail: Belt[Named | Future[Told] | _Over] = flow.belt()
        self._leave: Belt[None] = flow.belt()
        for _ in range(flights + 1):
            self._leave.put(None)
        self._reading = threading.Lock()
        self._stopped = False
        # The other engine may take fewer calls at once.
        self._seats = {who: threading.Semaphore(one.abilities.in_flight) for who, one in engines.items()}

    def read(self, inquiries: Iterable[Named]) -> None:
        """In a thread of its own: lays inquiries on the belt, each when it is given leave."""
        source, error = iter(inquiries), None
        try:
            for _ in self._leave:
                named = next(source, None)
                if named is None:
                    break
                self._mail.put(named)
        except BaseException as trouble:  # noqa: BLE001  handed over to who asks
            error = trouble
        if isinstance(source, Generator):
            with suppress(CalledOff):
                source.close()
        with suppress(CalledOff):
            self._mail.put(_Over(error))

    @property
    def go_on(self) -> bool:
        """Whether anything is to come: after a failure only what is under way."""
        return bool(self._under_way) or (self.failure is None and (self._more or bool(self._waiting)))

    def next_done(self) -> list[Future[Told]]:
        """What has been answered when the next thing happens; begins what can be begun."""
        with nullcontext() if self._under_way else self._profile.idle():
            news = next(self._mail)
        if isinstance(news, Future):
            self._under_way.discard(news)
            self._leave.put(None)
            found = [news]
        else:
            found = []
            if isinstance(news, _Over):
                self._more, self.failure = False, self.failure or news.error
                if isinstance(news.error, KeyboardInterrupt):
                    raise news.error
            else:
                self._waiting.append(news)
        while self._waiting and self.failure is None and len(self._under_way) < self._flights:
            self._begin(self._waiting.popleft())
        return found

    def told(self, future: Future[Told]) -> Iterator[Told]:
        """Its record; or its failure is kept, after which nothing is begun."""
        error = future.exception()
        if error is None:
            yield future.result()
        else:
            self.failure = self.failure or error

    def called_off(self, error: BaseException) -> Iterator[Told]:
        """The records that have come, in any order; the others are given up."""
        self.failure = error
        done = [one for one in self._under_way if one.done()]
        self._under_way.clear()
        for future in done:
            yield from self.told(future)

    def stop(self) -> None:
        """Nothing more is asked, and no clip read: who reads the film may close it."""
        with self._reading:
            self._stopped = True

    def _begin(self, named: Named) -> None:
        future = begun(self._to_end, named)
        self._under_way.add(future)
        future.add_done_callback(self._post)

    def _post(self, future: Future[Told]) -> None:
        with suppress(CalledOff):
            self._mail.put(future)

    def _to_end(self, named: Named) -> Told:
        name, inquiry = named
        clip_of = self._locked if self._clip_of is not None else None
        try:
            turns = next(inquiry)
            while True:
                requests = [_request(turn, clip_of) for turn in turns]
                turns = inquiry.send(self._asked(turns[0].who, requests))
        except StopIteration as end:
            return name, end.value

    def _asked(self, who: Who, requests: Sequence[Request]) -> tuple[Reply, ...]:
        with self._seats[who]:
            if self._stopped:
                raise CancelledError
            with self._profile.at_work():
                return tuple(ask_all(self._engines[who], requests))

    def _locked(self, slot_id: str) -> Clip:
        assert self._clip_of is not None
        with self._reading:
            if self._stopped:
                raise CancelledError
            return self._clip_of(slot_id)


def _request(turn: Turn, clip_of: ClipOf | None) -> Request:
    if not turn.with_clip:
        return turn.request
    if clip_of is None:
        raise ValueError(f"a turn about slot {turn.request.slot_id} needs its clip, and no clips are at hand")
    return replace(turn.request, clip=clip_of(turn.request.slot_id))


@contextmanager
def ahead(
    source: Iterable[_Item], number: int, profile: ProfileNames = ProfileNames(), within: Flow | None = None
) -> Iterator[Iterator[_Item]]:
    """Items of a source, read in a thread, ``number`` of them before they are wanted."""
    with Flow(within) as flow:
        yield flow.ahead(source, number, maker=profile.feeds, taker=profile.asks, of=profile.awaits)


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
    """The seed of one slot, 32 bits, from the run's seed and the slot's id, never from a generator
    that runs on: an AD does not depend on the ADs before it."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{slot_id}".encode()).digest()[:4], "big")


def ask_all(engine: Engine, requests: Sequence[Request]) -> list[Reply]:
    """One reply for each request. What an engine raises becomes failed replies, but for what stops a run.

    Where several were asked together and the call failed as a whole, each is asked alone, so that one bad
    request does not take others along.
    """
    try:
        replies = engine.generate(requests)
    except ShotadError:
        raise
    except Exception as error:  # noqa: BLE001  whatever a model's code raises is these slots' failure
        if len(requests) > 1:
            return [reply for request in requests for reply in ask_all(engine, [request])]
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
        else [scene.slot.start, scene.slot.end, scene.credits, [[s.start, s.end] for s in scene.speech]],
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
    }


def of_other(record: Mapping[str, Any], maker: Mapping[str, Any]) -> tuple[str, str] | None:
    """Slot and maker of an answer by another engine, which may have been paid for; None for one of ``maker``
    and for a failed one."""
    if record.get("error") is not None or record.get("maker") == maker:
        return None
    return str(record.get("slot")), key_of(record.get("maker"))
