"""Worker processes: heard, watched, replaced where one dies; each describes film after film."""

from __future__ import annotations

import itertools
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING

from shotad.batch.jobs import FilmJob, FilmResult, failure
from shotad.batch.limits import Need
from shotad.core import Task
from shotad.core.errors import DiskFull
from shotad.core.files import remove_file
from shotad.core.progress import size_text
from shotad.core.system import exit_process, how_it_ended, process_memory, was_killed
from shotad.core.worker_process import PATIENCE, WorkerProcess, file_size

if TYPE_CHECKING:
    from shotad.batch.planner import PlannedFilm
    from shotad.core import Config
    from shotad.description import Engines


@dataclass(slots=True, eq=False)
class Worker(WorkerProcess):
    """A worker process as the batch sees it. ``film`` is what it is at (None: it is idle)."""

    film: PlannedFilm | None = None
    films: int = 0
    """How many it has been given."""
    gone: bool = False
    """Whether it has died."""
    over: int | None = None
    """Bytes of memory for which it was ended."""
    peak: int = 0

    def give(self, film: PlannedFilm) -> None:
        """Begin a film."""
        self.film, self.films, self.peak = film, self.films + 1, 0
        self._said = file_size(self.log)
        self.tell(film.job)

    def news(self) -> Iterator[News]:
        """What it has said since; of one that has died, at last the failure of the film that it was at."""
        try:
            while self.line.poll():
                news: News = self.line.recv()
                if isinstance(news, FilmResult):
                    self.film = None
                yield news
        except (EOFError, OSError):
            self.gone = True
            if self.film is None:
                return
            code, kind = self.exit_code(), "killed"
            message = f"The process at work on it {how_it_ended(code)}."
            hint = "Please report it."
            if self.over is not None:
                kind, message = "memory", f"It took more than {size_text(self.over)} of memory and was ended."
                hint = "Give it more with --memory, or describe it at a smaller size (film.grid_height)."
            elif was_killed(code):
                hint = "Most often that is for want of memory: fewer at once (--jobs), or more memory."
            elif code is not None and code < 0:
                hint = "Its film may be damaged; please report it."
            if last := self.last_words():
                message = f"{message} It said last: {last}"
            yield failure(self.film.job, message, hint, kind=kind, again=True)

    def stop(self, patience: float = PATIENCE) -> None:
        """End it, and forget what it printed."""
        self.end(patience, is_idle=self.film is None)
        remove_file(self.log)


class WorkerPool:
    """Up to ``count`` workers; a context manager that leaves none behind. ``memory``: bytes that each may
    take (None: no limit)."""

    def __init__(self, count: int, *, memory: int | None = None) -> None:
        if count < 1:
            raise ValueError(f"a pool needs a worker, got {count}")
        self.count, self._memory = count, memory
        self._workers: list[Worker] = []
        self._folder = tempfile.TemporaryDirectory(prefix="shotad-batch-")
        self._numbers = itertools.count()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._folder.cleanup()

    @property
    def busy(self) -> Sequence[Worker]:
        """Those at work."""
        return [worker for worker in self._workers if worker.film is not None]

    @property
    def has_room(self) -> bool:
        """Whether one is free for a film."""
        return len(self.busy) < self.count

    def give(self, film: PlannedFilm) -> Worker:
        """Begin a film, in a worker that is idle or new."""
        worker = next((worker for worker in self._workers if worker.film is None), None)
        if worker is None:
            log = Path(self._folder.name, f"{next(self._numbers)}.log")
            worker = Worker.start(serve, log, name="shotad batch")
            self._workers.append(worker)
        worker.give(film)
        return worker

    def give_alone(self, film: PlannedFilm) -> Worker:
        """Begin a film in a new worker while there is no other."""
        for worker in [worker for worker in self._workers if worker.film is None]:
            worker.stop()
            self._workers.remove(worker)
        return self.give(film)

    def retire(self, worker: Worker) -> None:
        """End a worker that is idle and had better not go on."""
        self._workers.remove(worker)
        worker.stop()

    def hear(self, seconds: float) -> Iterator[tuple[Worker, News]]:
        """What the workers say within ``seconds``; it ends as soon as some has been heard."""
        for worker in self.busy:
            used = process_memory(worker.process.pid or 0) or 0
            worker.peak = max(worker.peak, used)
            if self._memory is not None and used > self._memory and worker.over is None:
                worker.over = self._memory
                worker.process.kill()
        lines = [worker.line for worker in self._workers]
        ready = wait(lines, seconds)
        for worker in [at_hand for at_hand in self._workers if at_hand.line in ready]:
            for news in worker.news():
                yield worker, news
                if worker not in self._workers:
                    break  # it was ended on what it said
            if worker.gone:
                self._workers.remove(worker)
                worker.stop(0)

    def stop(self, patience: float = PATIENCE) -> None:
        """End all, those at work tidily. A second interruption ends them at once."""
        workers, self._workers = self._workers, []
        try:
            for worker in workers:
                if worker.film is not None:
                    worker.interrupt()
            until = time.monotonic() + patience
            for worker in workers:
                worker.stop(until - time.monotonic())
        finally:
            for worker in workers:
                worker.kill()


_EVERY = 0.2
"""Seconds between two messages of how far a task is."""


def serve(line: Connection) -> None:
    """Describe films until the batch has no more, or is gone."""
    progress = _WorkerProgress(line)
    config: Config | None = None
    engines: Engines | None = None

    def begin(need: Need) -> None:
        progress.send(need)
        answer: Order = line.recv()
        if isinstance(answer, tuple):
            raise DiskFull(*answer)

    with suppress(KeyboardInterrupt, EOFError, OSError):
        while isinstance(job := line.recv(), FilmJob):
            from shotad.batch.film_run import describe_film
            from shotad.description import Engines

            # The engines of the last film serve the next one by the same settings. Where they cannot be had
            # the film's own run says why.
            if engines is None or config != job.config:
                config, engines = job.config, None
                with suppress(Exception):
                    engines = Engines.of(config)
            progress.send(describe_film(job, progress, engines=engines, begin=begin))
    if multiprocessing.parent_process() is not None:
        exit_process(0)


class _WorkerProgress:
    """A front end for progress at the other end of the line. Threads may share it."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def task(self, name: str, total: float | None, unit: str) -> Task:
        news = TaskNews(next(self._numbers), name, total, unit)
        self.send(news)
        return _Counted(news, self.send)

    def note(self, text: str) -> None:
        self.send(text)

    def send(self, news: News) -> None:
        """Tell the batch; where it is gone, this process ends too."""
        with self._lock, suppress(OSError):
            self._line.send(news)


class _Counted:
    def __init__(self, news: TaskNews, send: Callable[[News], None]) -> None:
        self._news, self._send = news, send
        self._last = time.monotonic()

    def advance(self, amount: float = 1) -> None:
        self._news = replace(self._news, done=self._news.done + amount)
        if time.monotonic() - self._last >= _EVERY:
            self._send(self._news)
            self._last = time.monotonic()

    def done(self) -> None:
        self._send(replace(self._news, ended=True))


Order = FilmJob | tuple[str, str] | None
"""To an idle worker a film to describe, or None: there are no more. To one that waits for room None: begin,
or what and hint of why there will be none."""


@dataclass(frozen=True, slots=True)
class TaskNews:
    """How far a task of the film is, from its beginning on; see `shotad.core.progress.Progress.task`."""

    number: int
    name: str
    total: float | None
    unit: str
    done: float = 0.0
    ended: bool = False


News = Need | TaskNews | str | FilmResult
"""A `Need`: the film is open, and its worker waits for room. A text: a line for people. A `FilmResult`: the
film has ended, well or not."""
