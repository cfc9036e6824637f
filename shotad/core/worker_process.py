"""A worker process: started, heard, and ended by the process that gives it work.

Pools of the standard library, loky and pebble share queues and locks among their workers: one that is killed
while it holds a lock stops them all, and the first two give up all work where one process dies. Here each
worker has a pipe of its own, which ends with it, so that one that dies while it speaks silences nobody else.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shotad.core.system import (
    BINARY,
    PipeEnd,
    become_worker,
    interrupt_self,
    own_modules_only,
    use_one_heap,
    withheld_signals,
)

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

PATIENCE = 20.0
"""Seconds that a worker has to end tidily when it is asked to."""

_LAST_WORDS = 64_000
"""Bytes of what a worker wrote last that are looked at: after the line that says what has happened Python
lists the stack of each thread and all extension modules."""


@dataclass(slots=True, eq=False)
class WorkerProcess:
    """A worker as the process that started it sees it: ``line`` is the pipe to it, ``log`` the file of what
    it prints. The worker ends tidily when ``leash``, another pipe to it, is closed."""

    process: SpawnProcess
    line: PipeEnd
    leash: PipeEnd
    log: Path
    _said: int = field(default=0)
    """Bytes of the log that are older than its work."""

    @classmethod
    def start(cls, work: Callable[..., None], log: Path, *arguments: Any, name: str) -> Self:
        """Start a process that runs ``work(line, *arguments)``."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        leash_end, leash = context.Pipe(duplex=False)
        begin_arguments = (leash_end, str(log), work, theirs, *arguments)
        process = context.Process(target=_begin, args=begin_arguments, name=name)
        with withheld_signals(), own_modules_only():
            process.start()
        theirs.close()
        leash_end.close()
        return cls(process, ours, leash, log, file_size(log))

    def tell(self, order: object) -> None:
        """Send an order; a worker that has died is noticed when it is heard."""
        with suppress(OSError):
            self.line.send(order)

    def exit_code(self) -> int | None:
        """The exit code of a worker whose line has ended, negative for a signal."""
        self.process.join(PATIENCE)
        return self.process.exitcode

    def interrupt(self) -> None:
        """Have it end tidily, whatever it is at."""
        self.leash.close()

    def end(self, patience: float = PATIENCE, *, is_idle: bool) -> None:
        """End it: an idle one by the order None, another by an interruption, and by force where that takes
        too long."""
        if is_idle:
            self.tell(None)
        else:
            self.interrupt()
        self.process.join(max(patience, 0))
        self.kill()
        self.line.close()
        self.leash.close()

    def kill(self) -> None:
        """End it by force, if it is still there."""
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def last_words(self) -> str:
        """The last line that it printed at its work."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(self._said, file_size(self.log) - _LAST_WORDS))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return ""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        fatal = [line for line in lines if line.startswith("Fatal Python error")]
        return (fatal or lines or [""])[-1][:300]


def file_size(path: Path) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _begin(
    leash_end: Connection, log: str, work: Callable[..., None], line: Connection, *arguments: object
) -> None:
    """Run ``work`` as a worker: its words go to the file ``log``, it ends tidily as Ctrl-C ends a command,
    and it outlives nobody. Ctrl-C itself is for the process that started it."""
    become_worker()
    use_one_heap()
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)
    faulthandler.enable(sys.__stderr__ or 2)
    threading.Thread(target=_follow, args=(leash_end,), name="parent", daemon=True).start()
    work(line, *arguments)


def _follow(leash_end: Connection) -> None:
    """End this process once the one that started it is gone, however it went, or lets go of the leash."""
    # The pipe alone would do, but for copies of its other end that processes forked meanwhile may have.
    if (parent := multiprocessing.parent_process()) is not None:
        wait([leash_end, parent.sentinel])
        interrupt_self()
        time.sleep(PATIENCE)
        os._exit(1)
