"""Where the time goes: ``with span("decode")``, ``with waiting("stage1", "frames")``; a recording adds it up.

The marks go to the one `Recording` of the process, as log lines go to the one logging; while there is
none each of them is a test of a global and a shared object that does nothing, so they stay in the product.

At any moment a thread is at one thing, the innermost that it has said. A recording knows how many threads are
at which thing now; whenever one of them turns to something else, the time since the last turn is added to all
that were under way.
"""

from __future__ import annotations

import functools
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from time import perf_counter_ns, process_time_ns, thread_time_ns
from typing import Any, ParamSpec, TypeVar

from shotad.core.progress import aligned
from shotad.core.system import forget_peak, peak_memory

_NANO = 1e-9
_NOTHING = nullcontext()
_recordings: dict[str, Recording] = {}
"""Where the marks of the process go: the recording called "now", if there is one."""
_T = TypeVar("_T")
_R = TypeVar("_R")
_P = ParamSpec("_P")


def span(room: str) -> AbstractContextManager[None]:
    """This thread works for ``room`` as long as the block lasts.

    Spans nest: the time of the inner room is not the outer's. In a generator mark the drawing of an
    item, never a ``yield`` (`spanned`): the block would last as long as whoever has the item takes.
    """
    found = _recordings.get("now")
    return _NOTHING if found is None else found.mark((room, None))


def waiting(room: str, what: str) -> AbstractContextManager[None]:
    """This thread stands idle for ``room`` and waits for ``what``: never counted as work.

    A span within it is work again, as where a room draws what it needs itself.
    """
    found = _recordings.get("now")
    return _NOTHING if found is None else found.mark((room, what))


def in_room(room: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Every call of the function that is decorated is work for ``room``. Not for generators (`spanned`)."""

    def marked(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def working(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            with span(room):
                return function(*args, **kwargs)

        return working

    return marked


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


@dataclass(frozen=True, slots=True)
class Row:
    """One room's time, in seconds."""

    room: str
    worked: float
    """Added up over threads."""
    lasted: float
    """In which at least one thread worked for it: the room alone could not make the run shorter than this."""
    cpu: float
    """Of the processor, by the threads that said they work for it. A library's own threads are not in it."""
    waited: tuple[tuple[str, float], ...]
    """What for, and how long; added up over threads, longest first."""
    spells: int
    """How often a thread turned to it."""

    @property
    def waiting(self) -> float:
        """Seconds waited, for whatever."""
        return sum(seconds for _, seconds in self.waited)


@dataclass(frozen=True, slots=True)
class Table:
    """A run's time, ``wall`` seconds by the clock and ``cpu`` of the processor (all threads, libraries' too).

    ``rows`` begin with the room that lasted longest. ``idle``: seconds in which no thread said that it works;
    ``unmarked``: those of them in which none said that it waits either. ``memory``: the most bytes at once.
    """

    wall: float
    cpu: float
    rows: tuple[Row, ...]
    idle: float = 0.0
    unmarked: float = 0.0
    memory: int = 0

    @property
    def busiest(self) -> Row | None:
        """The room that lasted longest; None where no room worked."""
        return next((row for row in self.rows if row.lasted), None)

    @property
    def threads_busy(self) -> float:
        """Threads at work on the average."""
        return sum(row.worked for row in self.rows) / self.wall if self.wall else 0.0

    def as_json(self) -> dict[str, Any]:
        """The same for programs; seconds to the millisecond."""
        busiest = self.busiest
        rooms = [{**_rounded(asdict(row)), "waited": _rounded(dict(row.waited))} for row in self.rows]
        seconds = {name: getattr(self, name) for name in ("wall", "cpu", "threads_busy", "idle", "unmarked")}
        return {
            **_rounded(seconds),
            "busiest": busiest.room if busiest else None,
            "rooms": rooms,
            "memory": self.memory,
        }


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in values.items()}


Doing = tuple[str, str | None]
"""A room, and what it waits for; None where it works."""


@dataclass(slots=True)
class _Sum:
    """What was spent on one thing: nanoseconds of all threads together, those in which at least one thread
    was at it, those of the processor; and how often a thread turned to it."""

    spent: int = 0
    lasted: int = 0
    cpu: int = 0
    spells: int = 0


class Recording:
    """What was said, by thing; of use while it goes on and after it has ended."""

    def __init__(self) -> None:
        self._start = self._last = perf_counter_ns()
        self._cpu_start, self._cpu = process_time_ns(), 0
        self._ended = False
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._under_way: Counter[Doing] = Counter()
        self._sums: defaultdict[Doing, _Sum] = defaultdict(_Sum)
        self._idle = self._unmarked = 0

    @contextmanager
    def mark(self, doing: Doing) -> Iterator[None]:
        """A block in which this thread is at ``doing``, and afterwards at what it did before."""
        before: Doing | None = getattr(self._mine, "doing", None)
        self._turn(before, doing, begins=True)
        try:
            yield
        finally:
            self._turn(doing, before)

    def _turn(self, old: Doing | None, new: Doing | None, *, begins: bool = False) -> None:
        cpu = thread_time_ns()
        with self._lock:
            if self._ended:
                return
            self._pass()
            if old is not None:
                self._under_way[old] -= 1
                self._sums[old].cpu += cpu - self._mine.cpu
            if new is not None:
                self._under_way[new] += 1
                self._sums[new].spells += begins
        self._mine.doing, self._mine.cpu = new, cpu

    def end(self) -> None:
        """Nothing is recorded any more; what is still under way somewhere ends here."""
        with self._lock:
            self._pass()
            self._ended = True

    def table(self) -> Table:
        """Time per room, worked and waited."""
        with self._lock:
            self._pass()
            rooms = dict.fromkeys(room for room, _ in self._sums)
            rows = sorted(map(self._row, rooms), key=lambda row: (-row.lasted, -row.waiting, row.room))
            return Table(
                wall=(self._last - self._start) * _NANO,
                cpu=self._cpu * _NANO,
                rows=tuple(rows),
                idle=self._idle * _NANO,
                unmarked=self._unmarked * _NANO,
                memory=peak_memory(),
            )

    def _row(self, room: str) -> Row:
        work = self._sums.get((room, None), _Sum())
        waited = [(what, one.spent * _NANO) for (of, what), one in self._sums.items() if of == room and what]
        return Row(
            room=room,
            worked=work.spent * _NANO,
            lasted=work.lasted * _NANO,
            cpu=work.cpu * _NANO,
            waited=tuple(sorted(waited, key=lambda one: -one[1])),
            spells=work.spells,
        )

    def _pass(self) -> None:
        """Add the time since the last turn to all that was under way."""
        if self._ended:
            return
        now = perf_counter_ns()
        step, self._last = now - self._last, now
        self._cpu = process_time_ns() - self._cpu_start
        under_way = [(doing, threads) for doing, threads in self._under_way.items() if threads]
        for doing, threads in under_way:
            self._sums[doing].spent += threads * step
            self._sums[doing].lasted += step
        if all(what is not None for (_, what), _ in under_way):
            self._idle += step
        if not under_way:
            self._unmarked += step


def lines(table: Table) -> list[str]:
    """The table for people: a row for each room, then the busiest room and the time that nobody marked."""
    rows = [_cells(row, table) for row in table.rows if row.worked + row.waiting >= _LEAST]
    return [
        f"Time: {_shown_seconds(table.wall)} by the clock, {_shown_seconds(table.cpu)} of the processor, "
        f"{table.threads_busy:.1f} threads at work on the average.",
        *(f"  {line}" for line in aligned(_HEAD, rows, range(1, len(_HEAD) - 1))),
        *_busiest(table),
        f"No room was at work for {_shown_seconds(table.idle)} ({_share(table.idle, table.wall)}): "
        f"{_shown_seconds(table.idle - table.unmarked)} of waiting, "
        f"{_shown_seconds(table.unmarked)} without a mark.",
        f"Memory: at most {table.memory / 1e6:.0f} MB.",
    ]


_LEAST = 0.0005
"""Seconds that a room must have had to stand in the table: less is shown as 0.000."""

_HEAD = ("Room", "at work", "of the run", "in threads", "processor", "times", "waited")


def _cells(row: Row, table: Table) -> tuple[str, ...]:
    parts = ", ".join(f"{_shown_seconds(seconds)} for {what}" for what, seconds in row.waited)
    return (
        row.room,
        _shown_seconds(row.lasted),
        _share(row.lasted, table.wall),
        _shown_seconds(row.worked),
        _shown_seconds(row.cpu),
        f"{row.spells:,}",
        f"{_share(row.waiting, row.worked + row.waiting)} of its time: {parts}" if row.waiting else "not",
    )


def _busiest(table: Table) -> Iterator[str]:
    row = table.busiest
    if row is None:
        return
    told = f"Busiest: {row.room}, at work {_share(row.lasted, table.wall)} of the run"
    if row.waiting:
        told += f"; it waited {_share(row.waiting, row.worked + row.waiting)} of its time"
        told += f", most of it for {row.waited[0][0]}"
    yield f"{told}."


def _shown_seconds(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds >= 1 else f"{seconds:.3f} s"


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "0%"
