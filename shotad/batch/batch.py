"""Many films on one machine: several at a time, each in a worker process, none harmed by another.

What is at work is shown by a bar for each task of each film, or by plain lines that are not too many.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from shotad.batch.jobs import FilmResult, earlier_result
from shotad.batch.limits import Need, Room
from shotad.batch.planner import PlannedFilm
from shotad.batch.table import FilmRow, film_labels, line_of
from shotad.batch.workers import News, TaskNews, Worker, WorkerPool
from shotad.core import (
    NoProgress,
    Progress,
    Task,
)
from shotad.core.errors import DiskFull
from shotad.core.progress import (
    duration,
    single_line,
    size_text,
)

BEAT = 0.25
"""Seconds between two looks at memory, room and new films."""

OF_THE_ENGINE = frozenset({"EngineError", "WeightsError"})
SAME = 3
"""Films in a row that fail by the same fault of the engine, after which no other is begun: each would."""

More = Callable[[], Sequence[PlannedFilm]]


@dataclass(slots=True)
class Batch:
    """Works through films, ``count`` at once, each with so many further tries. ``more`` gives those that come
    later (None: none do; it ends with the last). ``keep``: bytes to keep free on disk (None: no check),
    ``memory``: bytes that a worker may take (None: no limit)."""

    board: BatchProgress
    more: More | None = None
    count: int = 1
    retries: int = 1
    keep: int | None = None
    memory: int | None = None
    on_change: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.monotonic
    halted: str | None = None
    """Why no further film is begun, if so."""
    _entries: list[FilmRow] = field(default_factory=list)
    _queue: deque[FilmRow] = field(default_factory=deque)
    _alone: deque[FilmRow] = field(default_factory=deque)
    _at_work: dict[Worker, FilmRow] = field(default_factory=dict)
    _waiting: dict[Worker, FilmRow] = field(default_factory=dict)
    _same: list[str] = field(default_factory=list)
    _room: Room = field(default_factory=lambda: Room(None))
    _start: float = 0.0
    _begun: int = 0

    @property
    def rows(self) -> list[FilmRow]:
        """All films, in the order in which they were named, and what came of them."""
        return list(self._entries)

    @property
    def seconds(self) -> float:
        """Since the batch began."""
        return self.clock() - self._start

    def run(self, films: Sequence[PlannedFilm]) -> list[FilmRow]:
        """Describe ``films`` and those that come; what became of each. A failure never raises.

        An interruption ends the workers tidily and goes on to the caller; `rows` then shows how far it came.
        """
        self._start = self.clock()
        self._room = Room(self.keep)
        self._add(films)
        self.board.start(None if self.more else len(self._entries))
        try:
            with WorkerPool(self.count, memory=self.memory) as pool:
                self._work_through(pool)
        finally:
            self.board.stop()
        return self.rows

    def _work_through(self, pool: WorkerPool) -> None:
        try:
            while self._at_work or (not self.halted and (self._queue or self._alone or self.more)):
                while self._queue and pool.has_room and not self.halted:
                    entry = self._queue.popleft()
                    before = earlier_result(entry.film.job)
                    if before is not None:
                        self._begun += 1
                        self._end(entry, before)
                    else:
                        self._begin(entry, pool.give(entry.film))
                if self._alone and not self._queue and not self._at_work and not self.halted:
                    entry = self._alone.popleft()
                    self._begin(entry, pool.give_alone(entry.film))
                for worker, news in pool.hear(BEAT):
                    self._heard(pool, worker, news)
                for worker, entry in list(self._waiting.items()):
                    self._asked_in(worker, entry)
                self.board.still(self._counts())
                self._add(self.more() if self.more else ())
        except KeyboardInterrupt:
            if self._at_work:  # it may take a while
                self.board.note("Stopping: films at work end tidily. Ctrl-C again ends them at once.")
            raise

    def _add(self, films: Sequence[PlannedFilm]) -> None:
        if not films:
            return
        again = {film.job.film for film in films}
        # A film that has changed since takes the place of what it was.
        at_work = self._at_work.values()
        kept_entries = [
            entry for entry in self._entries if entry.film.job.film not in again or entry in at_work
        ]
        names = film_labels([*(entry.film for entry in kept_entries), *films])[len(kept_entries) :]
        new = [FilmRow(label, film) for label, film in zip(names, films, strict=True)]
        self._entries = [*kept_entries, *new]
        for entry in new:
            if entry.film.trouble is not None:
                self._end(entry, entry.film.trouble)
            else:
                self._queue.append(entry)

    def _begin(self, entry: FilmRow, worker: Worker) -> None:
        entry.begun, entry.tries, entry.since, entry.need = True, entry.tries + 1, self.clock(), None
        self._at_work[worker] = entry
        self._begun += entry.tries == 1
        size = size_text(entry.film.size) if entry.film.size else ""
        films = None if self.more else len(self._entries)
        self.board.begun(entry.label, self._begun, films, size, entry.tries)

    def _heard(self, pool: WorkerPool, worker: Worker, news: News) -> None:
        entry = self._at_work.get(worker)
        if entry is None:
            return  # an idle worker that has died
        if isinstance(news, Need):
            entry.need = news
            self._waiting[worker] = entry
            if not self._asked_in(worker, entry):
                self.board.note(f"{entry.label}: waits for room on the disk until another film is done.")
        elif isinstance(news, FilmResult):
            if worker.gone:
                seconds = 0.0 if entry.need is None else entry.need.film_seconds
                news = replace(news, film_seconds=seconds, wall_seconds=self.clock() - entry.since)
            elif news.kind in ("memory", "unexpected"):
                pool.retire(worker)
            self._came(worker, entry, news)
        else:
            self.board.heard(entry.label, news)

    def _came(self, worker: Worker, entry: FilmRow, result: FilmResult) -> None:
        del self._at_work[worker]
        self._waiting.pop(worker, None)
        self._room.left(entry.label)
        self.board.forget(entry.label)
        # Begin no other film where the last ones failed by the same fault of the engine
        if result.kind not in OF_THE_ENGINE or result.error is None:
            self._same.clear()
        else:
            message, hint = result.error
            self._same = [*(earlier for earlier in self._same if earlier == message), message]
            if len(self._same) >= max(SAME, self.count + 1):
                many = f"{len(self._same)} films in a row"
                self.halted = f"{many} failed alike, so no other is begun: {message} {hint}"
                self.board.note(self.halted)
        result = replace(result, attempts=entry.tries, peak=max(result.peak, worker.peak))
        hopeless = result.kind == "memory" and worker.gone and worker.films <= 1
        if result.again and entry.tries <= self.retries and not hopeless:
            assert result.error is not None
            self.board.note(f"{entry.label}: {result.error[0]} It will be tried again, alone, at the end.")
            self._alone.append(entry)
        else:
            self._end(entry, result)

    def _end(self, entry: FilmRow, result: FilmResult) -> None:
        entry.result = result
        self.board.ended(entry)
        self.on_change()

    def _asked_in(self, worker: Worker, entry: FilmRow) -> bool:
        """Whether a film that waits for room has its answer."""
        assert entry.need is not None
        try:
            if not self._room.let_in(entry.label, entry.need):
                return False
            worker.tell(None)
        except DiskFull as error:
            worker.tell((error.what, error.hint))
        del self._waiting[worker]
        return True

    def _counts(self) -> str:
        done = [entry for entry in self._entries if entry.result is not None]
        text = f"{len(done)} of {len(self._entries)} films are done."
        worked = sum(entry.film.size for entry in done if entry.result and entry.result.state == "done")
        left = sum(entry.film.size for entry in self._entries if entry.result is None)
        if self.more or not worked:
            return text
        return f"{text} About {duration(self.seconds * left / worked)} left."


PAUSE = 60.0
"""Seconds between two lines on what is at work, where there are no bars."""
_WHOLE = 1 - 1e-9
_LABEL = 28
"""Letters of a film's name in a bar."""


@dataclass(slots=True)
class BatchProgress:
    """Shows films that are at work through a front end; ``bars`` where that draws them.

    ``is_named``: bars and notes begin with the name of their film, and one more bar counts the films. Where
    it is False they are of one film alone.
    """

    progress: Progress
    bars: bool
    clock: Callable[[], float] = time.monotonic
    is_named: bool = True
    _films: dict[str, dict[int, tuple[TaskNews, Task]]] = field(default_factory=dict)
    _whole: Task | None = None
    _last: float = 0.0
    _begun: float = 0.0

    def start(self, films: int | None) -> None:
        """``films`` will be worked on (None: nobody knows how many)."""
        self._begun = self._last = self.clock()
        if self.bars and self.is_named:
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
        if isinstance(news, str):
            self.note(f"{label}: {news}" if self.is_named else news)
        elif isinstance(news, TaskNews) and news.number not in going:
            if news.done or news.ended:
                return  # of a film that is not at work any more
            short = label if len(label) <= _LABEL else f"…{label[1 - _LABEL :]}"
            name = f"{short}: {news.name}" if self.is_named else news.name
            bar = (self.progress if self.bars else NoProgress()).task(name, news.total, news.unit)
            going[news.number] = news, bar
        elif isinstance(news, TaskNews):
            before, bar = going[news.number]
            if news.total is not None:
                # Sums of seconds go beyond the total by a hair.
                news = replace(news, done=max(min(news.done, news.total * _WHOLE), before.done))
            bar.advance(news.done - before.done)
            going[news.number] = news, bar
            if news.ended:
                del going[news.number]
                bar.done()

    def ended(self, row: FilmRow) -> None:
        """A film has ended, or was done before, of which nothing is said."""
        self.forget(row.label)
        if row.result is None or row.result.state != "skipped":
            self.note(line_of(row))
        if self._whole is not None:
            self._whole.advance(1)

    def forget(self, label: str) -> None:
        """A film is not at work any more."""
        for _, bar in self._films.pop(label, {}).values():
            bar.done()

    def still(self, counts: str) -> None:
        """Say now and then what is at work; ``counts`` is how many films are done, and the time left."""
        if self.bars or not self._films or self.clock() - self._last < PAUSE:
            return
        self._last = self.clock()
        shares = {label: [_share(news) for news, _ in tasks.values()] for label, tasks in self._films.items()}
        at_work = (f"{label}: {', '.join(tasks) or 'at work'}" for label, tasks in shares.items())
        self.progress.note(f"After {duration(self.clock() - self._begun)}: {'; '.join(at_work)}. {counts}")

    def note(self, text: str) -> None:
        """Say one line."""
        self._last = self.clock()
        self.progress.note(single_line(text))

    def stop(self) -> None:
        """Nothing is at work any more."""
        for label in list(self._films):
            self.forget(label)
        if self._whole is not None:
            self._whole.done()


def _share(news: TaskNews) -> str:
    """``fetching weights 42%``."""
    name = news.name[:1].lower() + news.name[1:] if news.name[1:2].islower() else news.name
    return f"{name} {min(news.done / news.total, 1):.0%}" if news.total else name
