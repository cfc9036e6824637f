"""How much memory the process holds, looked at now and then while it is recorded."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from shotad.profiling.marks import counted

EVERY = 0.5
"""Seconds between two looks."""

MEMORY = "memory, MB"

_STATM = Path("/proc/self/statm")


def resident() -> float | None:
    """Megabytes (of 10^6) in memory now; None where the system does not tell by ``/proc``."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def watched(every: float = EVERY, look: Callable[[], float | None] = resident) -> Iterator[None]:
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


def _counted(megabytes: float | None) -> bool:
    if megabytes is not None:
        counted(MEMORY, round(megabytes, 1))
    return megabytes is not None
