"""How long each step of a run takes: ``with span("decode")`` marks a step, a `Recording` adds the times up.

The spans go to the one `Recording` of the process, as log lines go to the one logging. While there is none, a
span costs little more than a look-up in a dict, so the spans stay in released code.

At any moment a thread works on one step, its innermost span. A recording counts the threads at work on each
step. Whenever a thread changes its step, the time since the last change is added to all steps that had a
thread.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from time import perf_counter, process_time, thread_time
from typing import Any, TypeVar

from shotad.core.progress import table_lines
from shotad.core.system import forget_peak, peak_memory

_recordings: dict[str, Recording] = {}
"""The recording of this process under the key "now", if there is one. A dict, for `setdefault` is atomic."""
_T = TypeVar("_T")


@contextmanager
def time_step(step: str) -> Iterator[None]:
    """Count the time of the block for the step ``step``; as a decorator, the time of every call.

    Spans nest: the time of the inner step does not count for the outer one. In a generator put the span
    around the making of an item, never around a ``yield`` (see `time_items`): it would count the time of the
    consumer.
    """
    recording = _recordings.get("now")
    if recording is None:
        yield
    else:
        with recording.mark(step):
            yield


def time_items(step: str, items: Iterable[_T]) -> Iterator[_T]:
    """Yield ``items`` unchanged; the time to make each of them counts for the step ``step``."""
    source = iter(items)
    while True:
        with time_step(step):
            try:
                item = next(source)
            except StopIteration:
                return
        yield item


@contextmanager
def profile_steps(enabled: bool = True) -> Iterator[Recording | None]:
    """Record the spans of all threads of the process within the block; None unless ``enabled``.

    The recording can be read within the block too. Raises RuntimeError where another recording goes on: the
    spans go to one only.
    """
    if not enabled:
        yield None
        return
    forget_peak()
    recording = Recording()
    if _recordings.setdefault("now", recording) is not recording:
        raise RuntimeError("this process is recorded already, and the marks go to one recording only")
    try:
        yield recording
    finally:
        del _recordings["now"]
        recording.end()


@dataclass(slots=True)
class StepTime:
    """The time of one step, called ``step``. Its fields are the keys of the JSON output.

    ``lasted``: seconds by the clock in which at least one thread worked on it. ``cpu``: processor seconds of
    those threads; threads of a library's own are not counted. ``times``: how many spans it had.
    """

    step: str
    lasted: float = 0.0
    cpu: float = 0.0
    times: int = 0


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    """The values with numbers rounded to milliseconds."""
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in values.items()}


class Recording:
    """The times of the steps; it can be read while it goes on and after it has ended.

    ``cpu``: processor seconds of the whole process, with the threads of libraries. ``idle``: seconds in which
    no thread was in a span. Both are of the moment of the last change of a step or call of `rows`.
    """

    def __init__(self) -> None:
        self._start = self._last = perf_counter()
        self._cpu_start, self.cpu = process_time(), 0.0
        self._ended = False
        self._this_thread = threading.local()
        """``step``: the step that the thread works on; ``cpu``: its processor seconds when it began that."""
        self._lock = threading.Lock()
        self._steps: dict[str, StepTime] = {}
        self._threads: Counter[str] = Counter()
        """How many threads work on each step now."""
        self.idle = 0.0

    @contextmanager
    def mark(self, step: str) -> Iterator[None]:
        """A block in which this thread works on the step ``step``; then it goes back to the step before."""
        outer: str | None = getattr(self._this_thread, "step", None)
        self._change_step(outer, step, begins=True)
        try:
            yield
        finally:
            self._change_step(step, outer)

    def _change_step(self, old: str | None, new: str | None, *, begins: bool = False) -> None:
        """Move this thread from one step to another; None is no step. ``begins``: the new one is entered, not
        gone back to."""
        cpu = thread_time()
        with self._lock:
            if self._ended:
                return
            self._add_time()
            if old is not None:
                self._threads[old] -= 1
                self._steps[old].cpu += cpu - self._this_thread.cpu
            if new is not None:
                self._threads[new] += 1
                step = self._steps.setdefault(new, StepTime(new))
                if begins:
                    step.times += 1
        self._this_thread.step, self._this_thread.cpu = new, cpu

    def end(self) -> None:
        """Stop recording; spans that other threads are still in end here."""
        with self._lock:
            self._add_time()
            self._ended = True

    @property
    def wall(self) -> float:
        """Seconds by the clock from the start to the last update."""
        return self._last - self._start

    def rows(self) -> list[StepTime]:
        """A copy of the time of each step, the one that lasted longest first."""
        with self._lock:
            self._add_time()
            copies = [replace(step) for step in self._steps.values()]
        return sorted(copies, key=lambda row: (-row.lasted, row.step))

    def as_json(self) -> dict[str, Any]:
        """All times as JSON values: seconds to the millisecond, ``memory`` the most bytes at once."""
        steps = [_rounded(asdict(row)) for row in self.rows()]
        totals = {"wall": self.wall, "cpu": self.cpu, "idle": self.idle}
        return {**_rounded(totals), "steps": steps, "memory": peak_memory()}

    def _add_time(self) -> None:
        """Add the time since the last change to every step that a thread works on; the lock is held."""
        if self._ended:
            return
        now = perf_counter()
        elapsed = now - self._last
        self._last = now
        self.cpu = process_time() - self._cpu_start
        active_steps = [self._steps[step] for step, threads in self._threads.items() if threads]
        for step in active_steps:
            step.lasted += elapsed
        if not active_steps:
            self.idle += elapsed


_SHORTEST_SHOWN = 0.0005
"""Seconds from which a step has a row in the table: less would be shown as 0.000."""


def lines(recording: Recording) -> list[str]:
    """The times as lines of text: totals, and a table of the steps, the one that lasted longest first."""
    # First, for it brings the totals up to date.
    steps = recording.rows()
    rows = []
    for step in steps:
        if step.lasted >= _SHORTEST_SHOWN:
            share = _percent(step.lasted, recording.wall)
            rows.append(
                (step.step, _in_seconds(step.lasted), share, _in_seconds(step.cpu), f"{step.times:,}")
            )
    idle_share = _percent(recording.idle, recording.wall)
    table = table_lines(("Step", "at work", "of the run", "processor", "times"), rows, range(1, 5))
    return [
        f"Time: {_in_seconds(recording.wall)} by the clock, {_in_seconds(recording.cpu)} of the processor.",
        *[f"  {line}" for line in table],
        f"No step was at work for {_in_seconds(recording.idle)} ({idle_share}).",
        f"Memory: at most {peak_memory() / 1e6:.0f} MB.",
    ]


def _in_seconds(seconds: float) -> str:
    """``12.0 s``, below a second ``0.250 s``."""
    return f"{seconds:,.1f} s" if seconds >= 1 else f"{seconds:.3f} s"


def _percent(part: float, whole: float) -> str:
    """``part`` of ``whole``, as ``12%``."""
    return f"{part / whole:.0%}" if whole else "0%"
