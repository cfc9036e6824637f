"""The lines of a film one by one, while it is being described in a thread of its own (`iter_cues`)."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from shotad.core.cancellation import POLL, CancelToken, cancellable, in_context, result_of

if TYPE_CHECKING:
    from shotad.script import Cue, Track

    Describe = Callable[[Callable[[Cue], None]], Track]
    """Describes a film and calls a function with each line."""


class CueIterator(Iterator["Cue"]):
    """Yields each line of a film as soon as it is written, in the order of the film. Made by `iter_cues`.

    Use it in a ``with`` block. Leaving the block stops the run, as `close` does, and what is done is kept.
    """

    def __init__(self, describe: Describe) -> None:
        self._lines: queue.SimpleQueue[Cue | None] = queue.SimpleQueue()
        self._token = CancelToken()
        self._outcome: Future[Track] = Future()
        self._closed = False
        # The thread refers to all these, not to this object: one that nobody holds any more is to stop it.
        work = partial(_describe, describe, self._lines, self._token, self._outcome)
        thread = threading.Thread(target=in_context(work), name="describing", daemon=True)
        thread.start()
        self._stop = weakref.finalize(self, _stop, self._token, thread)

    def __next__(self) -> Cue:
        """The next line. Raises what `describe` raises, after the lines that were written before."""
        while not self._closed:
            try:
                # With a timeout, or Ctrl-C would not end the wait on Windows.
                cue = self._lines.get(timeout=POLL)
            except queue.Empty:
                continue
            if cue is not None:
                return cue
            self._lines.put(None)  # for whoever asks once more
            if not self._closed:
                self._outcome.result()
            break
        raise StopIteration

    def result(self) -> Track:
        """The finished track, with people's edits. Waits for lines that are still to come.

        Raises what `describe` raises; after `close`, Cancelled.
        """
        return result_of(self._outcome)

    def close(self) -> None:
        """Stop the run and wait until it has stopped. May be called from any thread, and more than once."""
        self._closed = True
        self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _describe(
    describe: Describe,
    lines: queue.SimpleQueue[Cue | None],
    token: CancelToken,
    outcome: Future[Track],
) -> None:
    """Describe, and set what came of it; in a thread of its own."""
    try:
        with cancellable(token):
            outcome.set_result(describe(lines.put))
    except BaseException as error:  # noqa: BLE001  raised again where the lines are taken
        outcome.set_exception(error)
    finally:
        lines.put(None)


def _stop(token: CancelToken, thread: threading.Thread) -> None:
    token.cancel()
    if thread is not threading.current_thread():
        thread.join()
