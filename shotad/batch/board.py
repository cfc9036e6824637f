"""How several films at once are shown: a bar for each task of each, or plain lines that are not too many."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from shotad.batch.messages import Advanced, Begun, Ended, News, Said
from shotad.batch.table import Row, line_of, spell
from shotad.core import Progress, Task, sentence

PAUSE = 60.0
"""Seconds between two lines on what is at work, where there are no bars."""
_WHOLE = 1 - 1e-9
_LABEL = 28
"""Letters of a film's name in a bar."""


@dataclass(slots=True)
class _Going:
    """A task that is under way, and its bar where there are bars."""

    name: str
    total: float | None
    bar: Task | None
    done: float = 0.0

    def within(self, amount: float) -> float:
        """So much of ``amount`` as does not go beyond the total: sums of seconds do, by a hair."""
        return amount if self.total is None else max(min(amount, self.total * _WHOLE - self.done), 0.0)

    def __str__(self) -> str:
        name = self.name[:1].lower() + self.name[1:] if self.name[1:2].islower() else self.name
        return f"{name} {min(self.done / self.total, 1):.0%}" if self.total else name


@dataclass(slots=True)
class Board:
    """Shows films that are at work through a front end; ``bars`` where that draws them."""

    progress: Progress
    bars: bool
    clock: Callable[[], float] = time.monotonic
    _films: dict[str, dict[int, _Going]] = field(default_factory=dict)
    _whole: Task | None = None
    _last: float = 0.0
    _begun: float = 0.0

    def start(self, films: int | None) -> None:
        """``films`` will be worked on (None: nobody knows how many)."""
        self._begun = self._last = self.clock()
        if self.bars:
            self._whole = self.progress.task("All films", films, "films")

    def begun(self, label: str, number: int, films: int | None, size: str, tries: int = 1) -> None:
        """A film has begun, the ``number``th of so many; ``tries``: how often it was."""
        self._films[label] = {}
        if self.bars:
            return
        if tries > 1:
            self.progress.note(f"{label}: begun again, try {tries}.")
        else:
            of = "" if films is None else f" of {films}"
            self.progress.note(f"{label}: begun, film {number}{of}{size and ', '}{size}.")

    def heard(self, label: str, news: News) -> None:
        """What a film's worker says of its work."""
        going = self._films.setdefault(label, {})
        if isinstance(news, Begun):
            name = f"{_cut(label)}: {news.name}"
            bar = self.progress.task(name, news.total, news.unit) if self.bars else None
            going[news.number] = _Going(news.name, news.total, bar)
        elif isinstance(news, Advanced) and (task := going.get(news.number)) is not None:
            amount = task.within(news.amount)
            task.done += amount
            if task.bar is not None:
                task.bar.advance(amount)
        elif isinstance(news, Ended):
            _close(going.pop(news.number, None))
        elif isinstance(news, Said):
            self.note(f"{label}: {news.text}")

    def ended(self, row: Row) -> None:
        """A film has ended."""
        self.forget(row.label)
        self.note(line_of(row))
        if self._whole is not None:
            self._whole.advance(1)

    def skipped(self) -> None:
        """A film was done before."""
        if self._whole is not None:
            self._whole.advance(1)

    def forget(self, label: str) -> None:
        """A film is not at work any more."""
        for task in self._films.pop(label, {}).values():
            _close(task)

    def still(self, counts: str) -> None:
        """Say now and then what is at work; ``counts`` is how many films are done, and the time left."""
        if self.bars or not self._films or self.clock() - self._last < PAUSE:
            return
        self._last = self.clock()
        at_work = (f"{label}: {_told(tasks)}" for label, tasks in self._films.items())
        self.progress.note(f"After {spell(self.clock() - self._begun)}: {'; '.join(at_work)}. {counts}")

    def note(self, text: str) -> None:
        """Say one line."""
        self._last = self.clock()
        self.progress.note(sentence(text))

    def stop(self) -> None:
        """Nothing is at work any more."""
        for label in list(self._films):
            self.forget(label)
        if self._whole is not None:
            self._whole.done()


def _told(tasks: Mapping[int, _Going]) -> str:
    return ", ".join(map(str, tasks.values())) or "at work"


def _close(task: _Going | None) -> None:
    if task is not None and task.bar is not None:
        task.bar.done()


def _cut(label: str) -> str:
    return label if len(label) <= _LABEL else f"…{label[1 - _LABEL :]}"
