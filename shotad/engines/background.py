"""Work in other threads: calls that nobody has to wait for, and threads that hand things on to each other.

Those of `concurrent.futures` are joined when the program ends: after an interruption it would last until a
server has answered, or has kept silent for as long as it may.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from shotad.core import counted, waiting

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

AFTER_ERROR, AFTER_INTERRUPTION = 60.0, 3.0
"""Seconds for which answers that are under way are waited for when nothing more is asked: they may have been
paid for, and a model that is torn down at work can take the program along."""


class CalledOff(BaseException):
    """Raised in a thread whose work is not wanted any more.

    No Exception, so that nobody takes it for a failure of the work itself.
    """


def begun(work: Callable[..., _Result], *given: Any, name: str = "asking") -> Future[_Result]:
    """``work(*given)``, begun in a thread of its own; the program's end does not wait for it."""
    future: Future[_Result] = Future()

    def run() -> None:
        try:
            result = work(*given)
        except BaseException as error:  # noqa: BLE001  handed over to who waits
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


def in_order(
    work: Callable[[_Item], _Result], items: Sequence[_Item], number: int, *, name: str = "asking"
) -> list[_Result]:
    """The result of each item, in order; up to ``number`` are worked on at once.

    After an exception no further item is begun; it is raised when those under way have ended. After an
    interruption nothing is waited for.
    """
    left = iter(enumerate(items))
    taking, stopped = threading.Lock(), threading.Event()
    found: dict[int, _Result] = {}

    def take() -> tuple[int, _Item] | None:
        with taking:
            return None if stopped.is_set() else next(left, None)

    def work_through() -> None:
        try:
            while (one := take()) is not None:
                found[one[0]] = work(one[1])
        except BaseException:
            stopped.set()
            raise

    workers = [begun(work_through, name=name) for _ in range(min(number, len(items)))]
    try:
        wait(workers)
    finally:
        stopped.set()
    for worker in workers:
        worker.result()
    return [found[index] for index in range(len(items))]


class Belt(Generic[_Item]):
    """What one thread hands to another, in order, at most ``length`` things at a time (0: any number).

    An iterator for who takes. ``maker`` and ``taker`` are the rooms that stand at its ends, for the profile:
    who takes waits for ``of`` (the maker, unless it is named).
    """

    def __init__(self, length: int = 0, *, maker: str = "", taker: str = "", of: str = "") -> None:
        self._length, self._maker, self._taker, self._of = length, maker, taker, of or maker
        self._items: deque[_Item] = deque()
        self._changed = threading.Condition()
        self._ended = self._stopped = False
        self._error: BaseException | None = None

    def put(self, item: _Item) -> None:
        """Lay ``item`` on it, when there is room. Raises CalledOff where it was stopped."""
        with self._changed:
            if self._is_full():
                with _idle(self._maker, self._taker):
                    self._changed.wait_for(lambda: not self._is_full())
            if self._stopped:
                raise CalledOff
            self._items.append(item)
            self._changed.notify_all()
            self._count()

    def end(self, error: BaseException | None = None) -> None:
        """Nothing more comes. ``error`` is raised where all that lies on it has been taken."""
        with self._changed:
            self._ended, self._error = True, error
            self._changed.notify_all()

    def cut(self) -> None:
        """Nothing more comes, and what lies on it is let go."""
        with self._changed:
            self._items.clear()
            self.end()

    def stop(self) -> None:
        """Who waits at either end waits no more, and what lies on it is let go."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
            if self._items:
                self._items.clear()
                self._count()

    def fill(self, source: Iterable[_Item]) -> None:
        """Lay all of ``source`` on it; an error of the source's comes out at the other end."""
        error: BaseException | None = None
        try:
            for item in source:
                self.put(item)
        except BaseException as trouble:  # noqa: BLE001  handed over to who takes
            error = trouble
        try:
            if isinstance(source, Generator):
                source.close()
        except BaseException as trouble:  # noqa: BLE001  as above
            error = error or trouble
        self.end(error)

    def __iter__(self) -> Iterator[_Item]:
        return self

    def __next__(self) -> _Item:
        with self._changed:
            if not self._items and not self._ended and not self._stopped:
                with _idle(self._taker, self._of):
                    self._changed.wait_for(lambda: self._items or self._ended or self._stopped)
            if self._stopped:
                raise CalledOff
            if self._items:
                item = self._items.popleft()
                self._changed.notify_all()
                self._count()
                return item
        if self._error is not None:
            raise self._error
        raise StopIteration

    def _count(self) -> None:
        if self._length and self._maker:
            counted(f"{self._maker} ahead", len(self._items))

    def _is_full(self) -> bool:
        return bool(self._length) and len(self._items) >= self._length and not self._stopped


def _idle(room: str, what: str) -> AbstractContextManager[None]:
    """For the profile, where both have names there."""
    return waiting(room, what) if room and what else nullcontext()


class Flow:
    """Threads that hand things on to each other and end together, when the block ends, however it ends.

    Within another flow they are told to stop then, and waited for at the end of that one: they may be waiting
    for something of its.
    """

    def __init__(self, within: Flow | None = None) -> None:
        self._within = within
        self._belts: list[Belt[Any]] = []
        self._threads: list[tuple[threading.Thread, bool]] = []
        self._lock = threading.Lock()
        self._closed = False
        self._stopped = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether nothing new is to be begun."""
        return self._stopped.is_set()

    def belt(self, length: int = 0, *, maker: str = "", taker: str = "", of: str = "") -> Belt[Any]:
        """A belt that stops when the flow does."""
        belt: Belt[Any] = Belt(length, maker=maker, taker=taker, of=of)
        with self._lock:
            self._belts.append(belt)
            if self.stopped:
                belt.stop()
        return belt

    def begin(self, work: Callable[..., object], *given: Any, name: str, asks: bool = False) -> None:
        """``work(*given)`` in a thread, which the end of the block waits for; for one that ``asks`` an engine
        not for ever."""
        thread = threading.Thread(target=_quietly, args=(work, *given), name=name, daemon=True)
        with self._lock:
            if self.stopped:
                raise CalledOff
            self._threads.append((thread, asks))
            thread.start()

    def ahead(
        self,
        source: Iterable[_Item],
        number: int,
        *,
        name: str = "reading ahead",
        maker: str = "",
        taker: str = "",
        of: str = "",
    ) -> Iterator[_Item]:
        """Items of ``source``, made in a thread, ``number`` of them before they are wanted."""
        belt = self.belt(max(1, number), maker=maker, taker=taker, of=of)
        self.begin(belt.fill, source, name=name)
        return belt

    def adopt(self, threads: Iterable[tuple[threading.Thread, bool]]) -> None:
        """Wait for these threads too, where they have not ended yet."""
        with self._lock:
            self._threads += [(thread, asks) for thread, asks in threads if thread.is_alive()]

    def kept(self, keep: Callable[..., _Result], *given: Any) -> _Result:
        """``keep(*given)``, unless the block has ended: a thread that was not waited for writes nothing more.

        Raises CalledOff.
        """
        with self._lock:
            if self._closed:
                raise CalledOff
            return keep(*given)

    def stop(self) -> None:
        """Nothing more is handed on."""
        with self._lock:
            self._stopped.set()
            belts = tuple(self._belts)
        for belt in belts:
            belt.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if self._within is not None:
            self._within.adopt(self._threads)
            return
        failed = error is None or isinstance(error, Exception)
        until = time.monotonic() + (AFTER_ERROR if failed else AFTER_INTERRUPTION)
        try:
            # Threads that are waited for may leave others behind.
            for thread, asks in _growing(self._threads):
                thread.join(max(0.0, until - time.monotonic()) if asks else None)
        finally:
            with self._lock:
                self._closed = True


def _growing(items: list[_Item]) -> Iterator[_Item]:
    """The items of a list, also those that are added meanwhile."""
    place = 0
    while place < len(items):
        yield items[place]
        place += 1


def _quietly(work: Callable[..., object], *given: Any) -> None:
    """A thread that was called off has nothing to tell."""
    with suppress(CalledOff):
        work(*given)
