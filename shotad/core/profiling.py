"""Where the time goes: ``with span("decode")``; a recording adds it up.

The marks go to the one `Recording` of the process, as log lines go to the one logging; while there is
none each of them is hardly more than a test of a global, so they stay in the product.

At any moment a thread works for one room, the innermost that it has said. A recording knows how many threads
work for which room now; whenever one of them turns to another, the time since the last turn is added to all
rooms that are at work.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from time import perf_counter, process_time, thread_time
from typing import Any, TypeVar

from shotad.core.progress import aligned
from shotad.core.system import forget_peak, peak_memory

_recordings: dict[str, Recording] = {}
"""Where the marks of the process go: the recording called "now", if there is one."""
_T = TypeVar("_T")


@contextmanager
def span(room: str) -> Iterator[None]:
    """This thread works for ``room`` as long as the block lasts; as a decorator, in every call.

    Spans nest: the time of the inner room is not the outer's. In a generator mark the drawing of an
    item, never a ``yield`` (`spanned`): the block would last as long as whoever has the item takes.
    """
    found = _recordings.get("now")
    if found is None:
        yield
    else:
        with found.mark(room):
            yield


def spanned(room: str, items: Iterable[_T]) -> Iterator[_T]:
    """``items`` as they are; the time that it takes to draw each of them is ``room``'s."""
    source = iter(items)
    while True:
        with span(room):
            try:
                item = next(source)
            except StopIteration:
                return
        yield item


@contextmanager
def profiled(wanted: bool = True) -> Iterator[Recording | None]:
    """Record what all threads of the process say in the block; None where that is not ``wanted``.

    The recording can be asked for its table within the block too. Raises RuntimeError where something records
    already: the marks can go to one place only.
    """
    if not wanted:
        yield None
        return
    forget_peak()
    found = Recording()
    if _recordings.setdefault("now", found) is not found:
        raise RuntimeError("this process is recorded already, and the marks go to one recording only")
    try:
        yield found
    finally:
        del _recordings["now"]
        found.end()


@dataclass(slots=True)
class RoomTime:
    """One room's time, in seconds.

    ``lasted``: in which at least one thread worked for it; the room alone could not make the run shorter than
    this. ``cpu``: of the processor, by the threads that said so; a library's own threads are not in it.
    ``times``: how often a thread turned to it.
    """

    room: str
    lasted: float = 0.0
    cpu: float = 0.0
    times: int = 0


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in values.items()}


class Recording:
    """What was said, by room; of use while it goes on and after it has ended.

    ``cpu``: seconds of the processor (all threads, libraries' too). ``idle``: seconds in which no thread said
    that it works. Both are those of the moment at which `rows` was asked last.
    """

    def __init__(self) -> None:
        self._start = self._last = perf_counter()
        self._cpu_start, self.cpu = process_time(), 0.0
        self._ended = False
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._rooms: dict[str, RoomTime] = {}
        self._threads: Counter[str] = Counter()
        """How many are at work for each room now."""
        self.idle = 0.0

    @contextmanager
    def mark(self, room: str) -> Iterator[None]:
        """A block in which this thread works for ``room``, and afterwards for what it did before."""
        before: str | None = getattr(self._mine, "room", None)
        self._turn(before, room, begins=True)
        try:
            yield
        finally:
            self._turn(room, before)

    def _turn(self, old: str | None, new: str | None, *, begins: bool = False) -> None:
        cpu = thread_time()
        with self._lock:
            if self._ended:
                return
            self._pass()
            if old is not None:
                self._threads[old] -= 1
                self._rooms[old].cpu += cpu - self._mine.cpu
            if new is not None:
                self._threads[new] += 1
                self._rooms.setdefault(new, RoomTime(new)).times += begins
        self._mine.room, self._mine.cpu = new, cpu

    def end(self) -> None:
        """Nothing is recorded any more; what is still under way somewhere ends here."""
        with self._lock:
            self._pass()
            self._ended = True

    @property
    def wall(self) -> float:
        """Seconds by the clock."""
        return self._last - self._start

    def rows(self) -> list[RoomTime]:
        """Time per room, that which lasted longest first."""
        with self._lock:
            self._pass()
            return sorted(map(replace, self._rooms.values()), key=lambda row: (-row.lasted, row.room))

    def as_json(self) -> dict[str, Any]:
        """The same for programs; seconds to the millisecond, ``memory`` the most bytes at once."""
        rooms = [_rounded(asdict(row)) for row in self.rows()]
        own = {"wall": self.wall, "cpu": self.cpu, "idle": self.idle}
        return {**_rounded(own), "rooms": rooms, "memory": peak_memory()}

    def _pass(self) -> None:
        """Add the time since the last turn to all that was under way."""
        if self._ended:
            return
        now = perf_counter()
        step, self._last = now - self._last, now
        self.cpu = process_time() - self._cpu_start
        under_way = [self._rooms[room] for room, threads in self._threads.items() if threads]
        for one in under_way:
            one.lasted += step
        if not under_way:
            self.idle += step


_LEAST = 0.0005
"""Seconds that a room must have had to stand in the table: less is shown as 0.000."""


def lines(found: Recording) -> list[str]:
    """Time for people: a row for each room, the one that lasted longest first."""
    told = found.rows()
    rows = [
        (row.room, _seconds(row.lasted), _share(row.lasted, found.wall), _seconds(row.cpu), f"{row.times:,}")
        for row in told
        if row.lasted >= _LEAST
    ]
    return [
        f"Time: {_seconds(found.wall)} by the clock, {_seconds(found.cpu)} of the processor.",
        *(
            f"  {line}"
            for line in aligned(("Step", "at work", "of the run", "processor", "times"), rows, range(1, 5))
        ),
        f"No step was at work for {_seconds(found.idle)} ({_share(found.idle, found.wall)}).",
        f"Memory: at most {peak_memory() / 1e6:.0f} MB.",
    ]


def _seconds(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds >= 1 else f"{seconds:.3f} s"


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "0%"
