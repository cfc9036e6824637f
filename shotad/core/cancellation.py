"""Stopping long work from another thread: a token, and the places where work looks at it.

A public function puts its caller's token in place (`cancellable`). Work looks at it with each step of its
progress (`Stoppable`) and wherever it waits for long (`result_of`, `pause`, `run_process`, the pool that asks
engines). It then raises StopRequested, which passes through everything as KeyboardInterrupt does after
Ctrl-C: what is done is kept, calls under way get a moment to end, and the next call continues.

No exception is thrown into a running thread from outside. It could strike in the middle of an import or
between taking a lock and noting it, and the process lives on.
"""

from __future__ import annotations

import contextvars
import math
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from shotad.core.errors import Cancelled, UsageError
from shotad.core.progress import Progress, Task

Result = TypeVar("Result")

POLL = 0.1
"""Seconds between two looks at the token while something is waited for."""


class CancelToken:
    """Cancels calls that were given it as ``cancel=``, from any thread and for good.

    Like `threading.Event`: one token may be given to several calls, and one that was cancelled stays so. It
    belongs to its process: a pool of processes needs one in each.
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask all calls with this token to stop. Returns at once; they raise `Cancelled` soon after."""
        self._event.set()

    def __reduce__(self) -> str | tuple[Any, ...]:
        """A token cannot be copied, nor sent to another process: raises UsageError."""
        raise UsageError(
            "A CancelToken cannot be copied or sent to another process: it stops calls in its own.",
            "Make it in the process that calls the function, and cancel it there; or end that process: what "
            "is done is kept.",
        )

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()


class StopRequested(BaseException):
    """The work in this thread was asked to stop. No Exception: nothing that saves the rest of a batch may
    take it for a failure of one item, as with KeyboardInterrupt. Callers of public functions get `Cancelled`.
    """


_tokens: contextvars.ContextVar[tuple[CancelToken, ...]] = contextvars.ContextVar("tokens", default=())
"""The tokens of the calls that this thread is in, the outermost first."""


@contextmanager
def cancellable(token: CancelToken | None) -> Iterator[None]:
    """The work in the block stops when ``token`` is cancelled (None: never), and Cancelled is raised."""
    if token is None:
        yield
        return
    before = _tokens.set((*_tokens.get(), token))
    try:
        raise_if_cancelled()
        yield
    except StopRequested:
        if not token.is_cancelled:
            raise  # the call around this one is to stop
        again = "Call it again to continue: what is done is kept."
        raise Cancelled("The call was cancelled.", again) from None
    finally:
        _tokens.reset(before)


def raise_if_cancelled() -> None:
    """Raise StopRequested where a call that this thread is in was cancelled."""
    _raise_if_any(_tokens.get())


def _raise_if_any(tokens: Sequence[CancelToken]) -> None:
    if any(token.is_cancelled for token in tokens):
        raise StopRequested


def in_context(function: Callable[[], Result]) -> Callable[[], Result]:
    """``function``, to be run in another thread: it stops where the calling thread would."""
    return partial(contextvars.copy_context().run, function)


@dataclass(frozen=True, slots=True)
class Stoppable:
    """A front end for progress that hands all calls on to ``progress``; each may raise StopRequested."""

    progress: Progress

    def task(self, name: str, total: float | None, unit: str) -> Task:
        """Announce a task; see `Progress`."""
        raise_if_cancelled()
        # The threads that advance the task may be in no call.
        return _StoppableTask(self.progress.task(name, total, unit), _tokens.get())

    def note(self, text: str) -> None:
        """Say one line; see `Progress`."""
        raise_if_cancelled()
        self.progress.note(text)


@dataclass(frozen=True, slots=True)
class _StoppableTask:
    task: Task
    tokens: tuple[CancelToken, ...]

    def advance(self, amount: float = 1) -> None:
        _raise_if_any(self.tokens)
        self.task.advance(amount)

    def done(self) -> None:
        self.task.done()


def pause(seconds: float) -> None:
    """Sleep for so many seconds. Raises StopRequested."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        raise_if_cancelled()
        time.sleep(min(left, POLL) if _tokens.get() else left)


def result_of(future: Future[Result], *, patience: float = 0.0, timeout: float = math.inf) -> Result:
    """The result of ``future``. Raises its error, TimeoutError where it has none after ``timeout`` seconds,
    and StopRequested where it has none ``patience`` seconds after that was asked."""
    tokens = _tokens.get()
    until = time.monotonic() + timeout
    stop_at = math.inf
    while not wait([future], POLL).done:
        now = time.monotonic()
        if any(token.is_cancelled for token in tokens):
            stop_at = min(stop_at, now + patience)
        if now >= stop_at:
            raise StopRequested
        if now >= until:
            raise TimeoutError
    return future.result()


def run_process(
    command: Sequence[str | Path], *, data: bytes | None = None, timeout: float = math.inf, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, as `subprocess.run` with ``capture_output``; it is killed at a stop.

    ``data`` is what it reads (None: what this process would), ``timeout`` is in seconds. Raises OSError,
    subprocess.TimeoutExpired, StopRequested.
    """
    until = time.monotonic() + timeout
    with ExitStack() as stack:
        if data is not None:
            # A file and no pipe: `communicate` does not go on writing into a pipe after a timeout.
            options["stdin"] = file = stack.enter_context(tempfile.TemporaryFile())
            file.write(data)
            file.seek(0)
        pipe = subprocess.PIPE
        process = stack.enter_context(subprocess.Popen([*command], stdout=pipe, stderr=pipe, **options))
        try:
            while True:
                raise_if_cancelled()
                try:
                    output, errors = process.communicate(timeout=POLL)
                    break
                except subprocess.TimeoutExpired:
                    if time.monotonic() >= until:
                        raise
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)
