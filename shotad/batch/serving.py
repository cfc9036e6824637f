"""The worker's side: a process that describes one film after the other and keeps its engines loaded."""

from __future__ import annotations

import faulthandler
import itertools
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from shotad.batch.limits import Need
from shotad.batch.messages import Advanced, Begun, Came, Ended, News, Order, Refuse, Said, Take, Wants
from shotad.core import NoRoom, Task, interruptible, leave

if TYPE_CHECKING:
    from shotad.core import Config
    from shotad.description import Engines

_EVERY = 0.2
"""Seconds between two messages of how far a task is."""
_LAST_WORDS = 15.0
"""Seconds that a worker has to end tidily once the batch is gone."""


def serve(line: Connection, log: str) -> None:
    """Describe films until the batch has no more, or is gone. ``log`` takes what would be printed.

    SIGTERM ends it tidily, as Ctrl-C ends ``shotad describe``; Ctrl-C itself is the batch's to hear.
    """
    settle(log)
    engines = _Engines()
    with suppress(KeyboardInterrupt, EOFError, OSError):
        while isinstance(order := _heard(line), Take):
            _describe(order, line, engines)
    if multiprocessing.parent_process() is not None:
        leave(0)


def _describe(order: Take, line: Connection, engines: _Engines) -> None:
    from shotad.batch.describing import describe_film

    told = _Told(line)

    def begin(need: Need) -> None:
        told.send(Wants(need))
        answer = _heard(line)
        if isinstance(answer, Refuse):
            raise NoRoom(answer.what, answer.hint)

    result = describe_film(order.job, told, engines=engines.of(order.job.config), begin=begin)
    told.send(Came(result))


def _heard(line: Connection) -> Order:
    order: Order = line.recv()
    return order


class _Engines:
    """The engines of the last film, for the next one by the same settings."""

    def __init__(self) -> None:
        self._config: Config | None = None
        self._engines: Engines | None = None

    def of(self, config: Config) -> Engines | None:
        """Engines for these settings; None where they cannot be had: the film's own run says why."""
        if self._engines is None or self._config != config:
            self._config, self._engines = config, None
            from shotad.description import Engines

            with suppress(Exception):
                self._engines = Engines.of(config)
        return self._engines


class _Told:
    """A front end for progress at the other end of the line. Threads may share it."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def task(self, name: str, total: float | None, unit: str) -> Task:
        number = next(self._numbers)
        self.send(Begun(number, name, total, unit))
        return _Counted(number, self.send)

    def note(self, text: str) -> None:
        self.send(Said(text))

    def send(self, news: News) -> None:
        """Tell the batch; where it is gone, `_follow` ends this process."""
        with self._lock, suppress(OSError):
            self._line.send(news)


class _Counted:
    def __init__(self, number: int, send: Callable[[News], None]) -> None:
        self._number, self._send = number, send
        self._amount = 0.0
        self._last = time.monotonic()

    def advance(self, amount: float = 1) -> None:
        self._amount += amount
        if time.monotonic() - self._last >= _EVERY:
            self._tell()

    def done(self) -> None:
        self._tell()
        self._send(Ended(self._number))

    def _tell(self) -> None:
        amount, self._amount, self._last = self._amount, 0.0, time.monotonic()
        if amount:
            self._send(Advanced(self._number, amount))


def settle(log: str) -> None:
    """Make this process a worker: who ends it, where its words go, and that it outlives nobody."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interruptible()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)
    faulthandler.enable(sys.__stderr__ or 2)
    threading.Thread(target=_follow, name="batch", daemon=True).start()


def _follow() -> None:
    """End this process once the batch that began it is gone, however it went."""
    if (batch := multiprocessing.parent_process()) is not None:
        batch.join()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_LAST_WORDS)
        os._exit(1)
