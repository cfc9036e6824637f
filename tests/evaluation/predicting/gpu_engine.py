"""An engine that writes down on which card it was asked what, and takes its worker along where it is told to.

The folder ``SHOTAD_TEST_CALLS`` holds ``calls``: a line for each question, with the card, the process and the
slot. A file ``kill-CARD`` there ends the worker of that card by SIGKILL at its third question, once (the file
goes). ``fail`` makes every worker say that the engine is gone. While ``hold`` is there, calls wait.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from shotad.core import Config, Reply, Request
from shotad.core.errors import EngineError
from shotad.engines.fake import FakeEngine

VARIABLE = "SHOTAD_TEST_CALLS"
NAME = f"{__name__}:Recording"
KILLED_AT = 3


class Recording(FakeEngine):
    def __init__(self, settings: Config) -> None:
        super().__init__(settings)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        folder = Path(os.environ[VARIABLE])
        card = os.environ.get("CUDA_VISIBLE_DEVICES", "none")
        if (folder / "fail").exists():
            raise EngineError("The engine is gone.", "Wait.")
        order = folder / f"kill-{card}"
        if order.exists() and self.calls == KILLED_AT:
            order.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        with (folder / "calls").open("a") as calls:
            for request in requests:
                calls.write(f"{card} {os.getpid()} {request.slot_id}\n")
        while (folder / "hold").exists():
            time.sleep(0.02)
        return super().generate(requests)
