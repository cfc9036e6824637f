"""Where the time goes: ``with span("decode")``, ``with waiting("stage1", "frames")``; a recording adds it up.

The marks go to the one `Recording` of the process, as log lines go to the one logging; while there is
none each of them is a test of a global and a shared object that does nothing, so they stay in the product.

A recording is kept as ``profile.json`` in the Trace Event Format, JSON Object Format, which Perfetto
(ui.perfetto.dev) and Chrome's tracing page open: complete events (``X``) for time worked and waited, one
track per thread; counter events (``C``); metadata events (``M``) with the names of threads. Times are whole
microseconds from the beginning of the recording: with fractions, rounding lets a piece end a hair after the
next begins, and viewers that look for nesting (speedscope) put the one into the other.
"""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter_ns, process_time_ns
from typing import Any, ParamSpec, TypeVar

from shotad.core.system import memory_of
from shotad.core.timeline import Counter, Lane, Mark, Piece, Table, table_of


class _Place:
    """Where the marks of the process go."""

    def __init__(self) -> None:
        self.found: Recording | None = None
        self.lock = threading.Lock()


_NOTHING = nullcontext()
_place = _Place()
_T = TypeVar("_T")
_R = TypeVar("_R")
_P = ParamSpec("_P")


def span(room: str) -> AbstractContextManager[None]:
    """This thread works for ``room`` as long as the block lasts.

    Spans nest: the time of the inner room is not the outer's. In a generator mark the drawing of an
    item, never a ``yield`` (`spanned`): the block would last as long as whoever has the item takes.
    """
    found = _place.found
    return _NOTHING if found is None else Mark(found.lane(), (room, None))


def waiting(room: str, what: str) -> AbstractContextManager[None]:
    """This thread stands idle for ``room`` and waits for ``what``: never counted as work.

    A span within it is work again, as where a room draws what it needs itself.
    """
    found = _place.found
    return _NOTHING if found is None else Mark(found.lane(), (room, what))


def counted(name: str, value: float) -> None:
    """``name`` stands at ``value`` now, such as the number of frames in a queue."""
    found = _place.found
    if found is not None:
        found.count(name, value)


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
    with _place.lock:
        if _place.found is not None:
            raise RuntimeError("this process is recorded already, and the marks go to one recording only")
        _place.found = found
    try:
        yield found
    finally:
        _place.found = None
        found.end()


PROCESS = 1
"""The only process of a trace; its real number would make every trace differ and tell nothing."""

Event = dict[str, Any]


def trace_of(lanes: Sequence[Lane], counters: Sequence[Counter], start: int, now: int) -> dict[str, Any]:
    """The trace of a recording that began at nanosecond ``start``, as it stands at ``now``."""
    events = [_meta("process_name", 0, {"name": "shotad"})]
    for tid, lane in enumerate(lanes, 1):
        events += [
            _meta("thread_name", tid, {"name": lane.name}),
            _meta("thread_sort_index", tid, {"sort_index": tid}),
        ]
    timed = [
        event
        for tid, lane in enumerate(lanes, 1)
        for piece in lane.pieces(now)
        for event in _worked(piece, tid, start, now)
    ]
    timed += [event for counter in counters for event in _levels(counter, start, now)]
    timed.sort(key=lambda event: event["ts"])
    grains = {lane.name: lane.grain / 1e9 for lane in lanes if lane.grain}
    return {
        "traceEvents": events + timed,
        "displayTimeUnit": "ms",
        "otherData": {"note": COALESCED if grains else "Every piece of time stands by itself.", **grains},
    }


COALESCED = (
    "In the threads named here, pieces shorter than so many seconds are drawn together, one room after the "
    "other: args.spells tells of how many a piece is made. The time of each room is what it was."
)


def _meta(name: str, tid: int, args: dict[str, Any]) -> Event:
    return {"name": name, "ph": "M", "pid": PROCESS, "tid": tid, "ts": 0, "args": args}


def _worked(piece: Piece, tid: int, start: int, now: int) -> Iterator[Event]:
    begun, ended = _micro(max(piece.start, start), start), _micro(min(piece.end, now), start)
    if ended <= begun:
        return
    room, what = piece.doing
    event: Event = {
        "name": room if what is None else f"{room} waits for {what}",
        "cat": "work" if what is None else "wait",
        "ph": "X",
        "pid": PROCESS,
        "tid": tid,
        "ts": begun,
        "dur": ended - begun,
    }
    if what is not None:
        event["cname"] = "grey"
    if piece.spells > 1:
        event["args"] = {"spells": piece.spells}
    yield event


def _levels(counter: Counter, start: int, now: int) -> Iterator[Event]:
    for at, value in counter.points:
        if start <= at <= now:
            yield {
                "name": counter.name,
                "ph": "C",
                "pid": PROCESS,
                "tid": 0,
                "ts": _micro(at, start),
                "args": {"value": value},
            }


def _micro(at: int, start: int) -> int:
    return (at - start) // 1000


LIMIT = 20_000
"""Pieces that a lane keeps apart. A lane that has more of them draws short ones together (`coarser`):
about 2 MB of trace for a thread, whatever the film's length. The table's sums stay exact."""


class Recording:
    """What was said, by thread; of use while it goes on and after it has ended."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._start = perf_counter_ns()
        self._end: int | None = None
        self._cpu_start = process_time_ns()
        self._cpu = 0
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._lanes: list[tuple[Lane, threading.Thread]] = []
        self._counters: dict[str, Counter] = {}
        self.lane()

    def lane(self) -> Lane:
        """The lane of the thread that asks."""
        try:
            found: Lane = self._mine.lane
        except AttributeError:
            found = self._mine.lane = self._new_lane(threading.current_thread())
        return found

    def count(self, name: str, value: float) -> None:
        """``name`` stands at ``value`` from now on."""
        with self._lock:
            counter = self._counters.get(name)
            if counter is None:
                counter = self._counters[name] = Counter(name, self._limit)
            counter.add(perf_counter_ns(), value)

    def end(self) -> None:
        """Nothing is recorded any more; what is still under way somewhere ends here."""
        if self._end is not None:
            return
        self._end = perf_counter_ns()
        self._cpu = process_time_ns() - self._cpu_start

    def table(self) -> Table:
        """Time per room, worked and waited."""
        now = self._now()
        cpu = self._cpu if self._end is not None else process_time_ns() - self._cpu_start
        return table_of(self._lanes_now(), self._counters_now(), self._start, now, cpu)

    def trace(self) -> dict[str, Any]:
        """The same for a trace viewer; see this module."""
        return trace_of(self._lanes_now(), self._counters_now(), self._start, self._now())

    def _now(self) -> int:
        return self._end if self._end is not None else perf_counter_ns()

    def _lanes_now(self) -> list[Lane]:
        with self._lock:
            return [lane for lane, _ in self._lanes]

    def _counters_now(self) -> list[Counter]:
        with self._lock:
            return [self._counters[name].copy() for name in sorted(self._counters)]

    def _new_lane(self, thread: threading.Thread) -> Lane:
        """A lane of its own, or that of a thread of its kind that has ended: a pool that is made anew for
        each part of a film goes on in the lanes of the one before."""
        kind = _kind(thread.name)
        with self._lock:
            for place, (lane, owner) in enumerate(self._lanes):
                if not owner.is_alive() and _kind(owner.name) == kind:
                    self._lanes[place] = (lane, thread)
                    return lane
            lane = Lane(thread.name, self._limit)
            self._lanes.append((lane, thread))
            return lane


def _kind(name: str) -> str:
    """A thread's name without its number: ``decode_3 → decode``, ``Thread-7 (run) → Thread (run)``."""
    return "".join(letter for letter in name if not letter.isdigit()).replace("-", "").rstrip("_ ")


EVERY = 0.5
"""Seconds between two looks."""

MEMORY = "memory, MB"


@contextmanager
def watched(every: float = EVERY, look: Callable[[], int | None] = memory_of) -> Iterator[None]:
    """Count the memory every so many seconds while the block lasts, and at its beginning and end."""
    enough = threading.Event()

    def watch() -> None:
        while _counted(look()) and not enough.wait(every):
            pass

    thread = threading.Thread(target=watch, name="memory", daemon=True)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()
        _counted(look())


def _counted(size: int | None) -> bool:
    if size is not None:
        counted(MEMORY, round(size / 1e6, 1))
    return size is not None


FILE = "profile.json"


@contextmanager
def profiled(write: Callable[[str, str], None] | None) -> Iterator[Recording | None]:
    """Record the block and have ``write(name, text)`` keep the trace, however the block ends.

    `shotad.core.workfolder.WorkFolder.write_text` is such a writer. None: nothing is recorded. The recording
    can be asked for its table within the block.
    """
    if write is None:
        yield None
        return
    with recording() as found:
        try:
            with watched():
                yield found
        finally:
            found.end()
            write(FILE, as_text(found))


def as_text(found: Recording) -> str:
    """The trace, with the table beside its events, an event on a line."""
    trace = found.trace()
    events = ",\n".join(json.dumps(event, ensure_ascii=False) for event in trace.pop("traceEvents"))
    rest = json.dumps({**trace, "table": found.table().as_json()}, ensure_ascii=False, indent=1)
    return f'{{"traceEvents": [\n{events}\n],\n{rest[2:]}\n'
