"""Work that is done a moment after it was last asked for, in a thread of its own, never twice at once."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

_JOIN = 10.0
"""Seconds that `WhenQuiet.close` waits for work under way."""


class WhenQuiet:
    """Calls ``work`` once ``pause`` seconds have gone by since the last `ask`, and at most ``longest`` since
    the first (None: for as long as it goes on being asked).

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
        """Whether work is asked for that has not begun."""
        with self._state:
            return self._due is not None

    def ask(self, pause: float | None = None) -> None:
        """Have the work done after ``pause`` seconds (None: as set), counted anew with each call."""
        with self._state:
            now = time.monotonic()
            if self._due is None:
                self._latest = math.inf if self._longest is None else now + self._longest
            self._due = min(now + (self._pause if pause is None else pause), self._latest)
            self._state.notify_all()

    def settle(self, timeout: float) -> bool:
        """Wait until nothing is asked for and nothing under way; False where that took too long."""
        with self._state:
            return self._state.wait_for(lambda: self._due is None and not self._busy, timeout)

    def close(self, *, finish: bool = False) -> None:
        """Take nothing more on, and wait a while for what is under way; ``finish``: until it is done, and do
        now what is asked for."""
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
                left = None if self._due is None else self._due - time.monotonic()
                if left is not None and left <= 0:
                    self._due, self._busy = None, True
                    return True
                self._state.wait(left)
            self._due = None
            self._state.notify_all()
            return False
