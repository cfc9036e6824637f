"""Many conversations with few engines: questions of several slots go to an engine together.

What is asked of one slot is an `Inquiry`: it yields turns, gets the replies, and returns its record.
It may ask several engines in turn and ask again; how its turns are put together with those of other
slots is decided here, and changes no answer but for the last bits of a model's batch.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from shotad.describe.ask import ask_all
from shotad.engines.background import begun
from shotad.engines.base import Engine, Reply, Request
from shotad.types import Clip

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

ClipOf = Callable[[str], Clip]
"""The clip of a slot, by the slot's id, as the engine of Stage I is to see it."""

_Item = TypeVar("_Item")


def converse(
    inquiries: Iterable[Named], engines: Mapping[Who, Engine], *, window: int | None = None,
    clip_of: ClipOf | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:  # fmt: skip
    """The record of each inquiry as soon as it is there, in any order.

    Inquiries are taken from their source while others are answered, at most ``window`` ahead (None: as
    many as an engine takes at once). Raises what an engine raises to stop the run, after the records of
    what was under way have been handed out.
    """
    flights = max(engine.abilities.in_flight for engine in engines.values())
    if flights > 1:
        yield from _in_threads(inquiries, engines, flights, clip_of)
        return
    batch = max(engine.abilities.batch for engine in engines.values())
    with ahead(inquiries, batch) as source:
        yield from _in_batches(source, engines, window or batch, clip_of)


def _in_batches(
    source: Iterator[Named], engines: Mapping[Who, Engine], window: int, clip_of: ClipOf | None
) -> Iterator[tuple[str, dict[str, Any]]]:
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
        replies = iter(ask_all(engine, [_request(turn, clip_of) for turn in turns]))
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


def _begun(named: Named, running: deque[_Running]) -> Iterator[tuple[str, dict[str, Any]]]:
    name, inquiry = named
    try:
        running.append(_Running(name, inquiry, next(inquiry)))
    except StopIteration as end:
        yield name, end.value


def _went_on(
    one: _Running, replies: tuple[Reply, ...], running: deque[_Running]
) -> Iterator[tuple[str, dict[str, Any]]]:
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
    inquiries: Iterable[Named], engines: Mapping[Who, Engine], flights: int, clip_of: ClipOf | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each inquiry in a thread of its own. The source is read here, so that one thread reads the film."""
    talks = _Talks(iter(inquiries), engines, clip_of)
    failure: BaseException | None = None
    try:
        while talks.under_way or (talks.more and failure is None):
            try:
                while talks.more and failure is None and len(talks.under_way) < flights:
                    talks.begin()
                done = talks.ended(wait(talks.under_way, return_when=FIRST_COMPLETED).done)
            except Exception as error:  # noqa: BLE001  the source's: what is under way is still handed out
                failure = error
                continue
            except KeyboardInterrupt as error:
                # No answer is waited for now; those that have come are kept.
                failure, done = error, talks.ended({one for one in talks.under_way if one.done()})
                talks.under_way.clear()
            for future in done:
                error_within = future.exception()
                if error_within is None:
                    yield future.result()
                else:
                    failure = failure or error_within
    finally:
        talks.stop()
    if failure is not None:
        raise failure


class _Talks:
    """Inquiries that are under way, each in a thread of its own. ``more``: the source may have others."""

    def __init__(
        self, source: Iterator[Named], engines: Mapping[Who, Engine], clip_of: ClipOf | None
    ) -> None:
        self.more = True
        self.under_way: set[Future[tuple[str, dict[str, Any]]]] = set()
        self._source, self._engines, self._clip_of = source, engines, clip_of
        self._reading = threading.Lock()
        self._stopped = False
        # The other engine may take fewer calls at once.
        self._seats = {who: threading.Semaphore(one.abilities.in_flight) for who, one in engines.items()}

    def begin(self) -> None:
        """Begins the source's next inquiry."""
        with self._reading:
            named = next(self._source, None)
        self.more = named is not None
        if named is not None:
            self.under_way.add(begun(self._to_end, named))

    def ended(self, done: set[Future[tuple[str, dict[str, Any]]]]) -> set[Future[tuple[str, dict[str, Any]]]]:
        """``done``, which are no longer under way."""
        self.under_way -= done
        return done

    def stop(self) -> None:
        """Nothing more is asked, and no clip read: who reads the film may close it."""
        with self._reading:
            self._stopped = True

    def _to_end(self, named: Named) -> tuple[str, dict[str, Any]]:
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


class ahead(Generic[_Item]):  # noqa: N801  used as a verb, like `open`
    """Items of a source, read in a thread, ``number`` of them before they are wanted."""

    def __init__(self, source: Iterable[_Item], number: int) -> None:
        self._source = source
        self._items: queue.Queue[tuple[_Item | None, BaseException | None]] = queue.Queue(max(1, number))
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._read, name="reading ahead", daemon=True)

    def __enter__(self) -> Iterator[_Item]:
        self._thread.start()
        return self._handed_out()

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join()

    def _handed_out(self) -> Iterator[_Item]:
        while True:
            item, error = self._items.get()
            if error is not None:
                if isinstance(error, StopIteration):
                    return
                raise error
            assert item is not None
            yield item

    def _read(self) -> None:
        source = iter(self._source)
        while not self._closed.is_set():
            try:
                item = next(source)
            except BaseException as error:  # noqa: BLE001  handed over to who reads
                self._put((None, error))
                return
            self._put((item, None))

    def _put(self, item: tuple[_Item | None, BaseException | None]) -> None:
        while not self._closed.is_set():
            try:
                self._items.put(item, timeout=0.1)
                return
            except queue.Full:
                continue
