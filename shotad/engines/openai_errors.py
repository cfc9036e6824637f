"""What went wrong with a call, what that means for the run, and when to call again.

Pauses grow twofold from about a second and are drawn from the request's own seed, so that requests that
failed together do not come back together. The order of the server's wishes is that of the official
client: ``retry-after-ms``, then ``Retry-After`` in seconds or as a date (RFC 9110, 10.2.3).
"""

from __future__ import annotations

import email.utils
import json
import math
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from shotad.core import EngineError

_LONGEST = 300
_MARKUP = re.compile(r"<(script|style)\b(?:[^<]|<(?!/?\1\b))*+</\1>|<[^<>]*>", re.DOTALL | re.IGNORECASE)

Meaning = Literal["again", "slot", "refused", "too long", "quota", "key", "missing", "blind", "moved"]
"""``again``: it may pass; ``slot``: this request cannot be answered; ``refused``: its content is not
wanted; the others, but for ``too long``, mean that no request can."""

_QUOTA = {
    "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance",
    "insufficient_credits", "insufficient_funds",
}  # fmt: skip
"""A limit of requests per minute has other codes, and passes."""
_UNWANTED = {
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "moderation_blocked",
}
_UNKNOWN_MODEL = {"model_not_found", "model_not_exist", "unknown_model", "model_not_available"}
_TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
_TOO_LONG = re.compile(
    r"context (?:length|size|window)|maximum context|max_model_len|prompt is too long|too many tokens"
    r"|reduce the length|input is too long|longer than the maximum"
    r"|must be at least 1, got -|too many images|at most \d+ image"
)
_BLIND = re.compile(
    r"not a multimodal model"
    r"|(?:image|vision|multimodal)[a-z_ ]{0,20}(?:is|are) not (?:support|enabled|available)"
    r"|(?:not|n't) support (?:image|vision|multimodal)|support image input|mmproj"
)
_FLAGGED = re.compile(r"\bflagged\b|requires moderation|content (?:policy|filter)")
"""How gateways word a 403 that is about what was sent, not about who sends it."""
_NO_SUCH_MODEL = re.compile(r"model\b.{0,120}?(?:not found|does not exist|not exist|is not available)")


@dataclass(frozen=True, slots=True)
class Raw:
    """A server's answer as it came. Names of ``headers`` are in small letters."""

    status: int
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def document(self) -> Any:
        """The body read as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error as the server words it, in whatever of the usual forms. ``words`` are in small letters."""

    status: int
    message: str
    code: str = ""
    param: str = ""

    @property
    def words(self) -> str:
        """What it says, to be searched."""
        return self.message.lower()

    @property
    def meaning(self) -> Meaning:
        """What follows from it."""
        if self.status == 402 or self.code in _QUOTA:
            return "quota"
        if self.code in _UNWANTED or (self.status == 403 and _FLAGGED.search(self.words)):
            return "refused"
        if self.code in _TOO_LONG_CODES or self.status == 413:
            return "too long"
        if _BLIND.search(self.words):
            return "blind"
        return self._by_status()

    def _by_status(self) -> Meaning:
        if self.status in (408, 409, 425, 429) or self.status >= 500:
            return "again"
        if self.status in (401, 403):
            return "key"
        if self.status < 400:
            return "moved"
        if self.status in (404, 405, 410) or self.code in _UNKNOWN_MODEL or _NO_SUCH_MODEL.search(self.words):
            return "missing"
        return "too long" if _TOO_LONG.search(self.words) else "slot"


def trouble_in(raw: Raw) -> ServerError | None:
    """The error in an answer; also in one with status 200 that holds nothing but an error."""
    document = raw.document
    if isinstance(document, list) and len(document) == 1:
        document = document[0]
    held = document if isinstance(document, Mapping) else {}
    status = raw.status
    if status == 200 and (held.get("choices") or not held.get("error")):
        return None
    name = next((name for name in ("error", "detail", "errors", "message") if held.get(name)), None)
    if name is None:
        return ServerError(status, shortened(raw.body.decode("utf-8", "replace")))
    error = held if name == "message" else held[name]
    told = error.get("code") if isinstance(error, Mapping) else None
    if status == 200:  # gateways answer so with the true one in the body
        status = int(told) if isinstance(told, int) and 400 <= told < 600 else 500
    if not isinstance(error, Mapping):
        return ServerError(status, shortened(error if isinstance(error, str) else json.dumps(error)))
    message = error.get("message") or error.get("detail") or json.dumps(error, ensure_ascii=False)
    codes = [str(error[name]).lower() for name in ("code", "type") if error.get(name)]
    notable = _QUOTA | _UNWANTED | _UNKNOWN_MODEL | _TOO_LONG_CODES
    code = next((code for code in codes if code in notable), codes[0] if codes else "")
    return ServerError(status, shortened(str(message)), code, str(error.get("param") or ""))


def shortened(text: str) -> str:
    """A server's words on one line, without markup, 300 characters at most.

    >>> shortened("<h1>Bad\\n gateway</h1>")
    'Bad gateway'
    """
    line = " ".join(_MARKUP.sub(" ", text).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


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
        self, places: int, longest: float, *, sleep: Sleep | None = None, clock: Clock | None = None
    ) -> None:
        """``places`` is how many may be in at once, ``longest`` the longest common pause in seconds."""
        self.clock = clock or time.time
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
