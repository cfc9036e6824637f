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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from time import perf_counter_ns, process_time_ns, thread_time_ns
from typing import Any, ParamSpec, TypeVar

from shotad.core.progress import aligned
from shotad.core.system import memory_of

NANO = 1e-9


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
def recording() -> Iterator[Recording]:
    """Record what all threads of the process say, from now to the end of the block.

    Raises RuntimeError where something records already: the marks can go to one place only.
    """
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

    @property
    def share_waiting(self) -> float:
        """Share of its time that it waited, 0 to 1."""
        whole = self.worked + self.waiting
        return self.waiting / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class Level:
    """How high a number stood: the memory."""

    name: str
    mean: float
    peak: float


@dataclass(frozen=True, slots=True)
class Table:
    """A run's time, ``wall`` seconds by the clock and ``cpu`` of the processor (all threads, libraries' too).

    ``at_work[n]``: seconds in which ``n`` threads worked at once; ``unmarked``: those of ``at_work[0]`` in
    which none said that it waits either.
    """

    wall: float
    cpu: float
    rows: tuple[Row, ...]
    at_work: tuple[float, ...]
    levels: tuple[Level, ...] = ()
    unmarked: float = 0.0

    @property
    def busiest(self) -> Row | None:
        """The room that lasted longest; None where no room worked."""
        return max((row for row in self.rows if row.lasted), key=lambda row: row.lasted, default=None)

    @property
    def threads_busy(self) -> float:
        """Threads at work on the average."""
        return sum(row.worked for row in self.rows) / self.wall if self.wall else 0.0

    @property
    def idle(self) -> float:
        """Seconds in which no thread said that it works: waiting, or work that nobody marked."""
        return self.at_work[0]

    def as_json(self) -> dict[str, Any]:
        """The same for programs; seconds to the millisecond."""
        busiest = self.busiest
        rooms = [{**asdict(row), "waited": dict(row.waited)} for row in self.rows]
        found = {
            "wall": self.wall,
            "cpu": self.cpu,
            "busiest": busiest.room if busiest else None,
            "threads_busy": self.threads_busy,
            "at_work": self.at_work,
            "unmarked": self.unmarked,
            "rooms": rooms,
            "levels": [asdict(level) for level in self.levels],
        }
        rounded: dict[str, Any] = _rounded(found)
        return rounded


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return round(value, 3) if isinstance(value, float) else value


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


@dataclass(slots=True)
class _Thread:
    """What a thread has said that it is at, the innermost last; its processor time at its last turn."""

    open: list[tuple[Doing, object]] = field(default_factory=list)
    cpu: int = 0
    owner: int = field(default_factory=threading.get_ident)

    @property
    def doing(self) -> Doing | None:
        return self.open[-1][0] if self.open else None


class Recording:
    """What was said, by thing; of use while it goes on and after it has ended."""

    def __init__(self) -> None:
        self._start = self._last = perf_counter_ns()
        self._cpu_start, self._cpu = process_time_ns(), 0
        self._ended = False
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._under_way: Counter[Doing] = Counter()
        self._sums: dict[Doing, _Sum] = {}
        self._at_work: Counter[int] = Counter()
        self._unmarked = 0
        self._memory: list[tuple[int, float]] = []

    @contextmanager
    def mark(self, doing: Doing) -> Iterator[None]:
        """A block in which the thread that begins it is at ``doing``."""
        try:
            thread: _Thread = self._mine.thread
        except AttributeError:
            thread = self._mine.thread = _Thread()
        mark = doing, object()
        self._turn(thread, mark, begins=True)
        try:
            yield
        finally:
            self._turn(thread, mark, begins=False)

    def _turn(self, thread: _Thread, mark: tuple[Doing, object], *, begins: bool) -> None:
        """A thread turns to what ``mark`` says, or has done with it and is back at what it did before.

        The mark need not be the innermost, nor the caller the thread itself: a generator may be closed after
        its caller has gone on.
        """
        cpu = thread_time_ns()
        with self._lock:
            if self._ended:
                return
            self._pass()
            before = thread.doing
            if thread.owner == threading.get_ident():
                if before is not None:
                    self._sums[before].cpu += cpu - thread.cpu
                thread.cpu = cpu
            if begins:
                thread.open.append(mark)
                self._sums.setdefault(mark[0], _Sum()).spells += 1
            elif mark in thread.open:
                thread.open.remove(mark)
            after = thread.doing
            if before is not None:
                self._under_way[before] -= 1
            if after is not None:
                self._under_way[after] += 1

    def count_memory(self, megabytes: float) -> None:
        """The process holds so much memory from now on."""
        with self._lock:
            self._memory.append((perf_counter_ns(), megabytes))

    def end(self) -> None:
        """Nothing is recorded any more; what is still under way somewhere ends here."""
        with self._lock:
            self._pass()
            self._ended = True

    def table(self) -> Table:
        """Time per room, worked and waited. Rooms that lasted longest first."""
        with self._lock:
            self._pass()
            rooms = dict.fromkeys(room for room, _ in self._sums)
            rows = sorted(map(self._row, rooms), key=lambda row: (-row.lasted, -row.waiting, row.room))
            return Table(
                wall=(self._last - self._start) * NANO,
                cpu=self._cpu * NANO,
                rows=tuple(rows),
                at_work=tuple(self._at_work[n] * NANO for n in range(max(self._at_work, default=0) + 1)),
                levels=tuple(self._levels()),
                unmarked=self._unmarked * NANO,
            )

    def _levels(self) -> Iterator[Level]:
        """The memory, each value as high as it was until the next one."""
        if self._memory:
            peak, whole = max(value for _, value in self._memory), self._last - self._memory[0][0]
            steps = pairwise([*self._memory, (self._last, 0.0)])
            weight = sum(value * (until - at) for (at, value), (until, _) in steps)
            # Rounding must not lift a level that never moved above its own peak.
            yield Level(MEMORY, min(weight / whole, peak) if whole > 0 else self._memory[-1][1], peak)

    def _row(self, room: str) -> Row:
        work = self._sums.get((room, None), _Sum())
        waited = [(what, one.spent * NANO) for (of, what), one in self._sums.items() if of == room and what]
        return Row(
            room=room,
            worked=work.spent * NANO,
            lasted=work.lasted * NANO,
            cpu=work.cpu * NANO,
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
        if not step:
            return
        at_work, marked = 0, False
        for doing, threads in self._under_way.items():
            if threads:
                self._sums[doing].spent += threads * step
                self._sums[doing].lasted += step
                at_work += threads if doing[1] is None else 0
                marked = True
        self._at_work[at_work] += step
        if not marked:
            self._unmarked += step


EVERY = 0.5
"""Seconds between two looks."""

MEMORY = "memory, MB"


@contextmanager
def watched(
    found: Recording, every: float = EVERY, look: Callable[[], int | None] = memory_of
) -> Iterator[None]:
    """Count the memory every so many seconds while the block lasts, and at its beginning and end."""
    enough = threading.Event()

    def counted() -> bool:
        size = look()
        if size is not None:
            found.count_memory(round(size / 1e6, 1))
        return size is not None

    def watch() -> None:
        while counted() and not enough.wait(every):
            pass

    thread = threading.Thread(target=watch, name="memory", daemon=True)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()
        counted()


@contextmanager
def profiled(wanted: bool) -> Iterator[Recording | None]:
    """Record the block, and its memory; None where that is not wanted.

    The recording can be asked for its table within the block.
    """
    if not wanted:
        yield None
        return
    with recording() as found, watched(found):
        yield found


def lines(table: Table) -> list[str]:
    """The table for people: a row for each room, then the busiest room and the time that nobody marked."""
    rows = [_cells(row, table) for row in table.rows if row.worked + row.waiting >= LEAST]
    return [
        f"Time: {_shown_seconds(table.wall)} by the clock, {_shown_seconds(table.cpu)} of the processor, "
        f"{table.threads_busy:.1f} threads at work on the average.",
        *(f"  {line}" for line in aligned(_HEAD, rows, range(1, len(_HEAD) - 1))),
        *_busiest(table),
        f"No room was at work for {_shown_seconds(table.idle)} ({_share(table.idle, table.wall)}): "
        f"{_shown_seconds(table.idle - table.unmarked)} of waiting, "
        f"{_shown_seconds(table.unmarked)} without a mark.",
        *(f"{one.name}: {one.mean:.1f} on the average, at most {one.peak:g}." for one in table.levels),
    ]


LEAST = 0.0005
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
        f"{row.share_waiting:.0%} of its time: {parts}" if row.waiting else "not",
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
