"""When to call again, how long to wait before, and when all calls stop together.

Pauses grow twofold from about a second and are drawn from the request's own seed, so that requests that
failed together do not come back together. The order of the server's wishes is that of the official
client: ``retry-after-ms``, then ``Retry-After`` in seconds or as a date (RFC 9110, 10.2.3).
"""

from __future__ import annotations

import email.utils
import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from shotad.core import EngineError

Sleep = Callable[[float], object]
"""Waits so many seconds."""
Clock = Callable[[], float]
"""Seconds since 1970."""

FIRST_PAUSE = 1.0
"""Seconds, before jitter."""


def pauses(seed: int, longest: float) -> Iterator[float]:
    """Growing pauses in seconds without end, up to ``longest``, each between half and all of its step.

    >>> [step // 1 <= 2**n for n, step in zip(range(3), pauses(0, 60.0))]
    [True, True, True]
    """
    generator = random.Random(seed)
    step = FIRST_PAUSE
    while True:
        yield min(step, longest) * (0.5 + generator.random() / 2)
        step = min(step * 2, longest)


def asked_pause(headers: Mapping[str, str], now: float) -> float | None:
    """The pause in seconds that a server asks for; None where it asks for none that can be read."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "")
    seconds = _number(said)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - now)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if not math.isnan(value) else None


class RateLimiter:
    """What the threads of one engine share: places, a common pause, and the error that stops them all."""

    def __init__(
        self, places: int, longest: float, *, sleep: Sleep | None = None, clock: Clock = time.time
    ) -> None:
        """``places`` is how many may be in at once, ``longest`` the longest common pause in seconds."""
        self.clock = clock
        self._longest = longest
        self._places = threading.BoundedSemaphore(places)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._sleep = sleep or self._stopped.wait
        self._error: EngineError | None = None
        self._closed_until = -math.inf
        self._misses = 0

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place among those under way. Raises EngineError where all is stopped."""
        with self._places:
            self.check()
            yield

    def check(self) -> None:
        """Raises the error that stopped this engine, if one has."""
        error = self._error
        if error is not None:
            raise EngineError(error.what, error.hint, again=error.again)

    def stop(self, error: EngineError) -> EngineError:
        """Stops every thread, those that pause at once; returns the first error that did so."""
        with self._lock:
            self._error = self._error or error
            self._stopped.set()
            return EngineError(self._error.what, self._error.hint, again=self._error.again)

    def close_for(self, seconds: float) -> None:
        """Nobody sends anything for so long: a server that asks one to wait means all."""
        with self._lock:
            self._closed_until = max(self._closed_until, self.clock() + seconds)

    def come_back(self, seconds: float = 0.0) -> None:
        """Waits ``seconds`` and until the gate is open. Raises EngineError where all is stopped."""
        rest = max(seconds, min(self._closed_until - self.clock(), self._longest))
        if rest > 0:
            self._sleep(rest)
        self.check()

    def answered(self) -> None:
        """The server gave an answer that can be read."""
        with self._lock:
            self._misses = 0

    def missed(self) -> int:
        """A request came to nothing for the server's own reasons; how many have since it last answered."""
        with self._lock:
            self._misses += 1
            return self._misses
