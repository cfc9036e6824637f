"""Everything that the threads of a process say of their time, from one moment to another."""

from __future__ import annotations

import threading
from time import perf_counter_ns, process_time_ns
from typing import Any

from shotad.core.profiling.counter import Counter
from shotad.core.profiling.lane import Lane
from shotad.core.profiling.table import Table, table_of
from shotad.core.profiling.trace import trace_of

LIMIT = 20_000
"""Pieces that a lane keeps apart. A lane that has more of them draws short ones together (`lane.coarser`):
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
        """The same for a trace viewer; see `shotad.core.profiling.trace`."""
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
