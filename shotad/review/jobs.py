"""Work in the background: jobs that the page asked for, one after the other, and work that waits for
quiet.
"""

from __future__ import annotations

import itertools
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Literal, Protocol

from shotad.core import (
    Progress,
    ShotadError,
    Task,
)
from shotad.core.cancellation import CancelToken, StopRequested, cancellable
from shotad.core.errors import Cancelled, quoted
from shotad.core.memory_errors import memory_error_of
from shotad.review.english_sentences import notice_message
from shotad.review.events import Json, Tabs
from shotad.review.messages import Sentence, fault_view, refusal, sentence_view

State = Literal["waiting", "running", "done", "failed", "stopped"]


class JobProgress(Progress, Protocol):
    """The progress of a job. Its calls raise StopRequested where the job was asked to stop."""

    def note(self, text: Sentence) -> None:
        """Show a remark."""


Work = Callable[[JobProgress], Json]
"""What a job does; its result goes to the page. ``files`` of it may be fetched by their ``name``; ``path`` is
where they are, from the work folder on."""

_LOG = logging.getLogger(__name__)

_PAUSE = 0.2
"""Seconds between two words on how far a job is."""
_MOST_NOTES = 200
_MOST_ENDED = 50
"""Jobs that have ended and are still shown."""
_MOST_WAITING = 100
"""Jobs that may wait for their turn. No page asks for so many."""

_VERSIONS = itertools.count(time.time_ns() // 1000)
"""They go on ascending when the server is started again, and are whole numbers to a browser too."""


@dataclass
class _Job:
    """A job, and the front end for its progress."""

    jobs: Jobs
    id: str
    kind: str
    title: Sentence
    work: Work
    state: State = "waiting"
    tasks: list[_Task] = field(default_factory=list)
    notes: deque[Sentence] = field(default_factory=lambda: deque(maxlen=_MOST_NOTES))
    result: Json | None = None
    error: Json | None = None
    token: CancelToken = field(default_factory=CancelToken)
    told: float = 0.0

    @property
    def has_ended(self) -> bool:
        return self.state in ("done", "failed", "stopped")

    def view(self) -> dict[str, Any]:
        """What the page shows. Of two views the one with the higher ``version`` is the newer, however they
        came to the page."""
        task = self.tasks[-1] if self.tasks else None
        return {
            "id": self.id,
            "version": next(_VERSIONS),
            "kind": self.kind,
            "title": sentence_view(self.title),
            "state": self.state,
            "stopping": self.token.is_cancelled and not self.has_ended,
            "step": task.name if task else "",
            "done": task.fraction if task else None,
            "notes": [sentence_view(note) for note in self.notes],
            "result": self.result,
            "error": self.error,
        }

    def task(self, name: str, total: float | None, unit: str) -> Task:
        self.check()
        task = _Task(self, name, total)
        with self.jobs._lock:
            self.tasks.append(task)
        self.tell()
        return task

    def note(self, text: Sentence) -> None:
        self.check()
        with self.jobs._lock:
            self.notes.append(notice_message(text) if isinstance(text, str) else text)
        self.tell()

    def tell(self, pause: float = 0.0) -> None:
        """Tell the pages, unless that was done within the last ``pause`` seconds."""
        with self.jobs._lock:
            if time.monotonic() - self.told >= pause:
                self.told = time.monotonic()
                self.jobs._tell(self)

    def check(self) -> None:
        # Not `raise_if_cancelled`: a thread that advances a task may be in no call.
        if self.token.is_cancelled:
            raise StopRequested


class Jobs:
    """The jobs of a session. All methods may be called from any thread."""

    def __init__(self, tabs: Tabs) -> None:
        self._tabs, self._lock = tabs, threading.RLock()
        self._jobs: dict[str, _Job] = {}
        self._files: dict[str, str] = {}
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._numbers = itertools.count(1)
        self._closed = False
        self._thread: threading.Thread | None = None

    def start(self, kind: str, title: Sentence, work: Work) -> Json:
        """Queue a job; what the page shows of it. Raises ReviewError when the server is about to end."""
        with self._lock:
            if self._closed:
                raise refusal("job.closing", job=title)
            waiting = sum(1 for other in self._jobs.values() if other.state == "waiting")
            if waiting >= _MOST_WAITING:
                raise refusal("job.too_many", job=title, number=waiting)
            job = _Job(self, f"j{next(self._numbers)}", kind, title, work)
            self._jobs[job.id] = job
            self._queue.put(job)
            self._forget()
            if self._thread is None:
                # A daemon: a job that does not stop in time must not keep the program; all files are
                # replaced whole, so what it was about to write is simply not there.
                self._thread = threading.Thread(target=self._run, name="review jobs", daemon=True)
                self._thread.start()
            return self._tell(job)

    def views(self) -> list[Json]:
        with self._lock:
            return [job.view() for job in self._jobs.values()]

    def version(self) -> int:
        """What jobs begun from now on have higher versions than."""
        return next(_VERSIONS)

    @property
    def is_idle(self) -> bool:
        """Whether no job runs or waits."""
        with self._lock:
            return all(job.has_ended for job in self._jobs.values())

    def view(self, name: str) -> Json | None:
        """The job called ``name`` as it is now; None where it is not known any more."""
        with self._lock:
            job = self._jobs.get(name)
            return None if job is None else job.view()

    def stop(self, name: str) -> Json:
        """Ask a job to stop: one that waits does at once, one that runs at its next step."""
        with self._lock:
            job = self._jobs.get(name)
            if job is None:
                raise refusal("job.not_there", job=quoted(name))
            job.token.cancel()
            if job.state == "waiting":
                job.state = "stopped"
            return self._tell(job)

    def made(self, name: str) -> str:
        """Where the file of this name is that a job of this session has made, from the work folder on.

        Raises ReviewError where none has.
        """
        with self._lock:
            if name not in self._files:
                raise refusal("server.no_file")
            return self._files[name]

    def close(self, seconds: float = 0.0) -> tuple[str, ...]:
        """Ask all jobs to stop, take no more, and wait so many seconds at most; titles of what still runs."""
        with self._lock:
            self._closed = True
            for job in self._jobs.values():
                if not job.has_ended:
                    job.token.cancel()
                    job.state = "stopped" if job.state == "waiting" else job.state
            self._queue.put(None)
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
        with self._lock:
            return tuple(str(job.title) for job in self._jobs.values() if job.state == "running")

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            with self._lock:
                if job.has_ended:  # it was stopped while it waited
                    continue
                job.state = "running"
                self._tell(job)
            try:
                with cancellable(job.token):
                    result = job.work(job)
            except Cancelled:
                self._end(job, "stopped")
            except Exception as error:  # noqa: BLE001  the thread must live on for the next job
                known_error = memory_error_of(error) or error
                if isinstance(known_error, ShotadError):
                    self._end(job, "failed", error=fault_view(known_error))
                    continue
                _LOG.exception("A job of the review page failed: %s", job.title)
                fault = refusal("job.fault", kind=type(error).__name__)
                self._end(job, "failed", error=fault_view(fault))
            else:
                self._end(job, "done", result=result)

    def _end(self, job: _Job, state: State, *, result: Json | None = None, error: Json | None = None) -> None:
        with self._lock:
            job.state, job.result, job.error = state, result, error
            job.tasks.clear()
            for file in (result or {}).get("files", ()):
                self._files[str(file["name"])] = str(file.get("path", file["name"]))
            self._forget()
            self._tell(job)

    def _tell(self, job: _Job) -> Json:
        """Tell the pages of a job, in the order in which it changed: the lock is held."""
        view = job.view()
        self._tabs.send("job", view)
        return view

    def _forget(self) -> None:
        ended = [job.id for job in self._jobs.values() if job.has_ended]
        for name in ended[: max(0, len(ended) - _MOST_ENDED)]:
            del self._jobs[name]


class _Task:
    def __init__(self, job: _Job, name: str, total: float | None) -> None:
        self._job, self.name, self._total = job, name, total
        self.amount = 0.0

    @property
    def fraction(self) -> float | None:
        """How much is done, 0 to 1; None where that is not known."""
        return round(min(self.amount / self._total, 1.0), 4) if self._total else None

    def advance(self, amount: float = 1) -> None:
        self._job.check()
        self.amount += amount
        self._job.tell(_PAUSE)

    def done(self) -> None:
        with suppress(ValueError):  # it was done before
            self._job.tasks.remove(self)


_JOIN = 10.0
"""Seconds that `Debouncer.close` waits for work under way."""


class Debouncer:
    """Calls ``work`` when ``pause`` seconds have gone by since the last `schedule`, at most ``longest``
    seconds after the first (None: without a limit).

    ``work`` must not raise: what it raises ends the thread.
    """

    def __init__(
        self, work: Callable[[], None], pause: float, name: str, *, longest: float | None = None
    ) -> None:
        self._work, self._pause, self._longest = work, pause, longest
        self._latest = math.inf
        self._state = threading.Condition()
        self._due: float | None = None
        self._busy = self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_due(self) -> bool:
        with self._state:
            return self._due is not None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is scheduled and nothing under way."""
        with self._state:
            return self._due is None and not self._busy

    def schedule(self, pause: float | None = None) -> None:
        """Have the work done after ``pause`` seconds (None: as set), counted again with each call."""
        with self._state:
            now = time.monotonic()
            if self._due is None:
                self._latest = math.inf if self._longest is None else now + self._longest
            self._due = min(now + (self._pause if pause is None else pause), self._latest)
            self._state.notify_all()

    def close(self, *, finish: bool = False) -> None:
        """Take nothing more on, and wait a while for what is under way; ``finish``: until it is done, and do
        now what is scheduled."""
        with self._state:
            self._closed, is_due = True, self._due is not None
            self._state.notify_all()
        self._thread.join(None if finish else _JOIN)
        if finish and is_due:
            self._work()

    def _run(self) -> None:
        while self._is_time():
            try:
                self._work()
            finally:
                with self._state:
                    self._busy = False
                    self._state.notify_all()

    def _is_time(self) -> bool:
        """Wait until there is work; False where there will be none."""
        with self._state:
            while not self._closed:
                seconds_left = None if self._due is None else self._due - time.monotonic()
                if seconds_left is not None and seconds_left <= 0:
                    self._due, self._busy = None, True
                    return True
                self._state.wait(seconds_left)
            self._due = None
            self._state.notify_all()
            return False
