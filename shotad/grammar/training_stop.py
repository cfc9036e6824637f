"""Being asked to stop: by Ctrl-C, or as a machine does that shuts down."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Stop:
    """Whether somebody asked this process to end."""

    is_asked = False
    """Whether the first request has come."""

    @contextmanager
    def listening(self) -> Iterator[Stop]:
        """The first request is noted, so that the step at hand is finished and the state saved; the second
        interrupts at once. Signals reach the main thread only; elsewhere nothing is listened to."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = {kind: signal.signal(kind, self._ask) for kind in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield self
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def _ask(self, kind: int, frame: object) -> None:
        if self.is_asked:
            raise KeyboardInterrupt
        self.is_asked = True
