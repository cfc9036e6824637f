"""An engine of Stage I that ends its own process, for films whose settings name it."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from shotad.core import Config, Reply, Request
from shotad.engines.fake import FakeEngine

MARK = "SHOTAD_TEST_MARK"
"""Names the file in which each call is counted."""


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
