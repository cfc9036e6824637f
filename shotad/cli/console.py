"""What the user sees while work goes on and when it is done.

A terminal gets bars; where output is no terminal, or with ``--plain``, plain lines that a screen
reader can follow. Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TextIO

import click
from tqdm import tqdm

from shotad.errors import UsageError
from shotad.printable import on_terminal
from shotad.progress import NoProgress, Task
from shotad.script.timecode import parse_time

Mode = Literal["bars", "plain", "quiet", "json"]

_STEP = 0.1
"""A plain task says a line for each tenth of its way."""
_PAUSE = 10.0
"""Seconds between two lines of a plain task of unknown length."""
_BREATH = 3.0
"""Seconds that a plain task is silent at least after each line, so that a screen reader can keep up."""


def mode_of(*, plain: bool, as_json: bool, quiet: bool) -> Mode:
    """How to speak, from the flags and from whether a person's terminal listens."""
    if sum((plain, as_json, quiet)) > 1:
        raise UsageError("--plain, --json and --quiet exclude each other.", "Give one of them.")
    if as_json:
        return "json"
    if quiet:
        return "quiet"
    return "bars" if sys.stderr.isatty() and not plain else "plain"


@dataclass(frozen=True, slots=True)
class Console:
    """A front end for progress and results."""

    mode: Mode

    def task(self, name: str, total: float | None, unit: str) -> Task:
        """Announce a task; see `shotad.progress.Progress`."""
        if self.mode == "bars":
            return _Bar(name, total, unit)
        if self.mode == "plain":
            return _Lines(name, total, unit)
        return NoProgress().task(name, total, unit)

    def note(self, text: str) -> None:
        """Say one line on standard error, unless told to be quiet."""
        if self.mode == "bars":
            tqdm.write(on_terminal(text), file=sys.stderr)
        elif self.mode == "plain":
            click.echo(on_terminal(text), err=True)

    def result(self, text: str, value: Any) -> None:
        """The command's result: text for people, or JSON; with ``--quiet`` nothing."""
        if self.mode == "json":
            text = json.dumps(value, ensure_ascii=False, indent=2)
            # JSON has a way of its own to write what is not seen, and programs read the same.
            click.echo(text if on_terminal(text) == text else json.dumps(value, indent=2))
        elif self.mode != "quiet":
            click.echo(on_terminal(text))


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
        click.echo(on_terminal(text), err=True)


def duration(seconds: float) -> str:
    """A length of time in words: ``74 → 1 min 14 s``."""
    whole = max(round(seconds), 0)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def asked_time(text: str) -> float:
    """Seconds from ``83.5``, ``1:23.5`` or ``0:01:23,5``. Raises UsageError."""
    try:
        return parse_time(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no time: {error}.", "Write seconds (83.5), 1:23.5 or 0:01:23.5."
        ) from None
