"""How long work is reported: a room announces a task and counts it up; a front end shows it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


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
