"""Workers that are at once ready and do what the name of their film says: live, die, hang, take memory; and an engine
of Stage I that ends its own process, for films whose settings name it."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from shotad.batch import Batch, BatchProgress, FilmRow, PlannedFilm
from shotad.batch.jobs import FilmJob, FilmResult, failure
from shotad.batch.limits import Need
from shotad.batch.workers import TaskNews, settle
from shotad.core import Config, NoProgress, Reply, Request
from shotad.engines.fake import FakeEngine

MARK = "SHOTAD_TEST_MARK"
"""Names the file in which each call of `Once` is counted."""
HOG = 600_000_000
"""Bytes that a film called hog takes."""

FAILURES = {
    "engine": ("EngineError", True, "The key is refused.", "Get another."),
    "unforeseen": ("unexpected", True, "shotad failed."),
    "broken": ("FilmError", False, "It is no film.", "Give a film."),
    "unreached": ("StorageError", True, "The store is not reached."),
    "absent": ("StorageError", False, "The store has no such film."),
}
"""Of films that fail, by name: kind, whether another try may go better, what and hint."""


def work(line: Connection, log: str) -> None:
    """As `shotad.batch.workers.serve`, with films that are no films."""
    settle(log)
    order: object = None
    try:
        while isinstance(order := line.recv(), FilmJob):
            line.send(_do(order, line))
    except KeyboardInterrupt:
        if isinstance(order, FilmJob):
            Path(order.folder).with_suffix(".tidy").touch()
    except (EOFError, OSError):
        return


def _do(job: FilmJob, line: Connection) -> FilmResult:
    name = Path(job.film).stem.partition("-")[0]
    before = Path(job.folder).with_suffix(".begun")
    first = not before.exists()
    with before.open("a") as file:
        file.write(f"{os.getpid()}\n")
    if name == "kill" or (name == "killonce" and first):
        os.kill(os.getpid(), signal.SIGKILL)
    elif name == "exit":
        os._exit(3)
    elif name == "crash":
        print("the last that was heard of it", flush=True)
        ctypes.string_at(0)
    elif name == "hog":
        line.send(TaskNews(0, "Taking memory", None, "B"))
        _held = bytearray(os.urandom(1) * HOG)
        time.sleep(60)
    elif name == "hang":
        line.send("hangs")
        time.sleep(60)
    elif name in FAILURES:
        kind, again, *error = FAILURES[name]
        return failure(job, *error, kind=kind, again=again)
    elif name == "large":
        line.send(Need(10.0, 1 << 60, Path(job.folder)))
        answer = line.recv()
        if answer is not None:
            return failure(job, *answer, kind="DiskFull")
    return FilmResult(job.film, job.folder, "done", slots=2, lines=2, film_seconds=10.0, wall_seconds=0.5)


def planned(folder: Path, *names: str) -> list[PlannedFilm]:
    """Films by name; what they do goes to their work folders in ``folder``."""
    return [
        PlannedFilm(FilmJob(str(folder / f"{name}.mp4"), str(folder / f"{name}.shotad")), 1000)
        for name in names
    ]


def quiet_board() -> BatchProgress:
    return BatchProgress(NoProgress(), False)


def batch(count: int, board: BatchProgress | None = None, **terms: int | None) -> Batch:
    return Batch(board or quiet_board(), count=count, work=work, **terms)  # type: ignore[arg-type]


def results(rows: Sequence[FilmRow]) -> dict[str, FilmResult]:
    """By film, without folder and ending."""
    return {Path(row.film.job.film).stem: row.result for row in rows if row.result is not None}


class Once(FakeEngine):
    """Kills its process at its second request; after a restart it goes on."""

    def __init__(self, settings: Config | None = None) -> None:
        super().__init__(settings)
        self.identity = FakeEngine(settings).identity

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        mark = Path(os.environ[MARK])
        with mark.open("a") as file:
            file.writelines(f"{request.slot_id}\n" for request in requests)
        if len(mark.read_text().splitlines()) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().generate(requests)
