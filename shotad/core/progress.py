"""How long work is reported: a room announces a task and counts it up; a front end shows it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol, TextIO

from tqdm import tqdm

from shotad.core.printing import on_terminal

Mode = Literal["bars", "plain", "quiet", "json"]
"""How progress is shown; with the last two it is not."""


class Task(Protocol):
    """One piece of long work that is under way."""

    def advance(self, amount: float = 1) -> None:
        """Count ``amount`` more units as done."""

    def done(self) -> None:
        """The work has ended, whether finished or not."""


class Progress(Protocol):
    """A front end for progress."""

    def task(self, name: str, total: float | None, unit: str) -> Task:
        """Announce work of ``total`` units (None: unknown), such as ``("Finding shots", 70.5, "s")``."""

    def note(self, text: str) -> None:
        """Say one plain line, at once."""


class _Silent:
    def advance(self, amount: float = 1) -> None: ...

    def done(self) -> None: ...


class NoProgress:
    """Says nothing; the default for library use."""

    def task(self, name: str, total: float | None, unit: str) -> Task:
        return _Silent()

    def note(self, text: str) -> None: ...


@contextmanager
def reported(progress: Progress, name: str, total: float, unit: str) -> Iterator[Task]:
    """A task for the time of a block; none is announced where there is nothing to do."""
    task = progress.task(name, total, unit) if total else _Silent()
    try:
        yield task
    finally:
        task.done()


def display_mode() -> Mode:
    """``bars`` where standard error is a terminal, else ``plain`` lines, which a screen reader can follow."""
    return "bars" if sys.stderr.isatty() else "plain"


@dataclass(frozen=True, slots=True)
class Display:
    """Shows progress on standard error: bars, or plain lines."""

    mode: Mode

    def task(self, name: str, total: float | None, unit: str) -> Task:
        """Announce a task; see `Progress`."""
        if self.mode == "bars":
            return _Bar(name, total, unit)
        if self.mode == "plain":
            return _Lines(name, total, unit)
        return NoProgress().task(name, total, unit)

    def note(self, text: str) -> None:
        """Say one line, unless told to be quiet."""
        if self.mode == "bars":
            tqdm.write(on_terminal(text), file=sys.stderr)
        elif self.mode == "plain":
            _say(text)


_STEP = 0.1
"""A plain task says a line for each tenth of its way."""
_PAUSE = 10.0
"""Seconds between two lines of a plain task of unknown length."""
_BREATH = 3.0
"""Seconds that a plain task is silent at least after each line, so that a screen reader can keep up."""


class _Bar:
    def __init__(self, name: str, total: float | None, unit: str, stream: TextIO | None = None) -> None:
        self._bar = tqdm(
            desc=on_terminal(name),
            total=total,
            unit=unit,
            unit_scale=unit == "B",
            leave=False,
            file=stream or sys.stderr,
            dynamic_ncols=True,
            bar_format=None if total is None or unit == "B" else _BAR,
        )

    def advance(self, amount: float = 1) -> None:
        self._bar.update(amount)

    def done(self) -> None:
        self._bar.close()


_BAR = "{desc}: {percentage:3.0f}% |{bar}| {n:.0f}/{total:.0f} {unit}, {rate_fmt}, {remaining} left"


class _Lines:
    def __init__(
        self, name: str, total: float | None, unit: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name, self._total, self._unit, self._clock = name, total, unit, clock
        self._done = 0.0
        self._start = self._last = clock()
        self._next = _STEP
        self._said = 0
        self._say(f"{name}.")

    def advance(self, amount: float = 1) -> None:
        self._done += amount
        if self._total is None:
            if self._clock() - self._last >= _PAUSE:
                self._say(f"{self._name}: {self._amount(self._done)}.")
        elif self._total * self._next <= self._done < self._total and self._clock() - self._last >= _BREATH:
            self._next = int(self._done / self._total / _STEP + 1) * _STEP
            self._say(self._state(self._total))

    def done(self) -> None:
        seconds = self._clock() - self._start
        # While an exception passes, the work has ended without being done; what it was is told as an error.
        if seconds >= 1 and sys.exception() is None:
            self._say(f"{self._name}: done in {duration(seconds)}.")

    def _state(self, total: float) -> str:
        elapsed = self._clock() - self._start
        left = elapsed / self._done * (total - self._done)
        return (
            f"{self._name}: {self._amount(self._done, bare=True)} of {self._amount(total)}, "
            f"{self._done / total:.0%}, about {duration(left)} left."
        )

    def _amount(self, number: float, *, bare: bool = False) -> str:
        unit = "MB" if self._unit == "B" else self._unit
        text = f"{number / 1e6:.1f}" if self._unit == "B" else f"{number:.0f}"
        return text if bare else f"{text} {unit}"

    def _say(self, text: str) -> None:
        self._last = self._clock()
        _say(text)


def duration(seconds: float) -> str:
    """A length of time in words: ``74 → 1 min 14 s``."""
    whole = max(round(seconds), 0)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _say(text: str) -> None:
    sys.stderr.write(f"{on_terminal(text)}\n")
    sys.stderr.flush()
