"""How much memory the process holds, looked at now and then while it is recorded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shotad.core.profiling.marks import counted
from shotad.core.system import memory_of

EVERY = 0.5
"""Seconds between two looks."""

MEMORY = "memory, MB"


@contextmanager
def watched(every: float = EVERY, look: Callable[[], int | None] = memory_of) -> Iterator[None]:
    """Count the memory every so many seconds while the block lasts, and at its beginning and end."""
    enough = threading.Event()

    def watch() -> None:
        while _counted(look()) and not enough.wait(every):
            pass

    thread = threading.Thread(target=watch, name="memory", daemon=True)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()
        _counted(look())


def _counted(size: int | None) -> bool:
    if size is not None:
        counted(MEMORY, round(size / 1e6, 1))
    return size is not None
