"""Films whose engine of Stage I does what their name says: live, die, hang, fail, take memory; and one that ends its
own process, for films whose settings name it."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shotad.batch import Batch, BatchProgress, FilmRow, PlannedFilm
from shotad.batch.jobs import FilmJob, FilmResult
from shotad.core import Config, Engine, NoProgress, Progress, Reply, Request, load_config
from shotad.core.engine import Stage
from shotad.core.errors import EngineError, StorageError
from shotad.engines.fake import FakeEngine
from tests.media import FilmSpec, make_film

MARK = "SHOTAD_TEST_MARK"
"""Names the file in which each call of `Once` is counted."""
HOG = 1_500_000_000
"""Bytes that a film called hog takes."""
SHORT = FilmSpec(frames=160, cuts=(60, 110))
"""A film of one slot."""
QUICK = (
    "engine=fake", "slots.find_credits=false", "speech.source=none", "shots.detector=adaptive", "scale.method=none",
    "threads.features=none",
)  # fmt: skip


class Doing(FakeEngine):
    """Does what the note on its film says, ``PATH/NAME``: each process that it is asked in goes to ``NAME.begun``."""

    def __init__(self, config: Config, stage: Stage) -> None:
        super().__init__()
        self.stage, self.place = stage, Path(config.prompt.note.strip())

    @classmethod
    def for_stage(cls, config: Config, stage: Stage) -> Engine:
        return cls(config, stage)

    def get_ready(self, progress: Progress) -> None:
        """What goes wrong here is nobody's answer, and ends the run."""
        if self.stage == "stage1" and self.place.name == "unforeseen":
            self.act("unforeseen")

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        if self.stage == "stage1":
            self.act(self.place.name.partition("-")[0])
        return super().generate(requests)

    def act(self, action: str) -> None:
        begun = self.place.with_suffix(".begun")
        is_first = not begun.exists()
        with begun.open("a") as file:
            file.write(f"{os.getpid()}\n")
        match action:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "killonce" if is_first:
                os.kill(os.getpid(), signal.SIGKILL)
            case "exit":
                os._exit(3)
            case "crash":
                print("its last words", flush=True)
                ctypes.string_at(0)
            case "hog":
                taken = bytearray(os.urandom(1) * HOG)
                time.sleep(60)
                taken.clear()
            case "hang":
                time.sleep(60)
            case "wait":
                until = time.monotonic() + 60
                while not self.place.with_suffix(".go").exists() and time.monotonic() < until:
                    time.sleep(0.05)
            case "engine":
                raise EngineError("The key is refused.", "Get another.")
            case "unforeseen":
                raise RuntimeError("nobody has foreseen this")
            case "unreached":
                raise StorageError("The store is not reached.", again=True)


def planned(folder: Path, *names: str, **more: Any) -> list[PlannedFilm]:
    """Films by name, whose work folders are in ``folder``: ``broken`` is no film, ``absent`` is not there."""
    engine = f"stage1.engine={__name__}:Doing"
    films = []
    for name in names:
        film = folder / f"{name}.mp4"
        if name == "broken":
            film.write_text("This was to be a film.\n" * 50)
        elif name != "absent":
            shutil.copyfile(make_film(SHORT).path, film)
        config = load_config(None, (*QUICK, engine, f"prompt.note={folder / name}"))
        job = FilmJob(str(film), str(folder / f"{name}.shotad"), config, sheet=False, **more)
        films.append(PlannedFilm(job, 1000))
    return films


def quiet_board() -> BatchProgress:
    return BatchProgress(NoProgress(), False)


def batch(count: int, board: BatchProgress | None = None, **terms: Any) -> Batch:
    return Batch(board or quiet_board(), count=count, **terms)


def results(rows: Sequence[FilmRow]) -> dict[str, FilmResult]:
    """By film, without folder and ending."""
    return {Path(row.film.job.film).stem: row.result for row in rows if row.result is not None}


def begun(folder: Path, name: str) -> list[int]:
    """The processes in which a film's engine was asked."""
    return [int(line) for line in (folder / f"{name}.begun").read_text().split()]


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
