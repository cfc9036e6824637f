"""An engine that writes each call to a file, and takes its worker along where it is told to.

The folder ``SHOTAD_TEST_CALLS`` holds ``calls`` (a line for each: stage, note of the film, slot, process) and
orders: a file ``kill-SLOT`` ends the process that is asked about the slot by SIGKILL, once (the file goes);
``kill-SLOT-always`` each time; ``kill-preparing`` the process that prepares the film with the note
"preparing". While ``hold`` is there, calls after the first ``HELD`` wait; ``waiting`` names their nodes.
A SLOT is written STAGE-NOTE-ID.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from shotad.core import (
    Abilities,
    Config,
    Engine,
    Identity,
    Reply,
    Request,
)
from shotad.core.engine import Stage
from shotad.engines.fake import FakeEngine

VARIABLE = "SHOTAD_TEST_CALLS"
HELD = 3


def folder() -> Path:
    return Path(os.environ[VARIABLE])


class Watched(FakeEngine):
    def __init__(self, config: Config, stage: Stage) -> None:
        super().__init__()
        self._stage, self._note = stage, config.prompt.note.strip()
        # Stage II asks with history, as the paper's does not: so its order counts.
        self.identity = Identity("watched", "watched", "1")
        self.abilities = Abilities(accepts_images=True, converses=False, uses_history=True)
        if "preparing" in self._note and (folder() / f"kill-{self._note}").exists():
            os.kill(os.getpid(), signal.SIGKILL)

    @classmethod
    def for_stage(cls, config: Config, stage: Stage) -> Engine:
        return cls(config, stage)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        return [self._watched(request) for request in requests]

    def _watched(self, request: Request) -> Reply:
        name = f"{self._stage}-{self._note}-{request.slot_id}"
        if (folder() / f"kill-{name}-always").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        if (folder() / "hold").exists() and len(calls(folder())) >= HELD:
            import ray

            note(f"{ray.get_runtime_context().get_node_id()}\n", "waiting")
            while (folder() / "hold").exists():
                time.sleep(0.05)
        if (folder() / f"kill-{name}").exists():
            (folder() / f"kill-{name}").unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        (reply,) = super().generate([request])
        note(f"{self._stage} {self._note} {request.slot_id} {os.getpid()}\n")
        return reply


def note(line: str, name: str = "calls") -> None:
    with (folder() / name).open("a") as file:
        file.write(line)


def calls(folder: Path) -> list[list[str]]:
    """Stage, note, slot and process of each call that was answered."""
    file = folder / "calls"
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []
