"""A recording that is kept: ``profile.json`` in the work folder, for a trace viewer.

How much memory the process holds, looked at now and then while it is recorded.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shotad.core.profiling.marks import counted, recording
from shotad.core.profiling.recorder import Recording
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


FILE = "profile.json"


@contextmanager
def profiled(write: Callable[[str, str], None] | None) -> Iterator[Recording | None]:
    """Record the block and have ``write(name, text)`` keep the trace, however the block ends.

    `shotad.core.workfolder.WorkFolder.write_text` is such a writer. None: nothing is recorded. The recording
    can be asked for its table within the block.
    """
    if write is None:
        yield None
        return
    with recording() as found:
        try:
            with watched():
                yield found
        finally:
            found.end()
            write(FILE, as_text(found))


def as_text(found: Recording) -> str:
    """The trace, with the table beside its events, an event on a line."""
    trace = found.trace()
    events = ",\n".join(json.dumps(event, ensure_ascii=False) for event in trace.pop("traceEvents"))
    rest = json.dumps({**trace, "table": found.table().as_json()}, ensure_ascii=False, indent=1)
    return f'{{"traceEvents": [\n{events}\n],\n{rest[2:]}\n'
