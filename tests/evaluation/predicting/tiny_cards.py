"""The paper's engines with tiny models, on cards that this machine does not have.

Each worker is shown one card by ``CUDA_VISIBLE_DEVICES``; its models stay on the processor. The folder
``SHOTAD_TEST_CALLS`` holds ``calls``: a line for each question, with the card, the stage and the slot. A file
``kill-CARD-N`` there ends the worker of that card by SIGKILL before its Nth batch, once (the file goes).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from shotad.core import Config, Reply, Request
from shotad.core.engine import Stage
from shotad.engines.local_engines import ChatModel, VisionModel
from tests.evaluation.predicting.gpu_engine import VARIABLE

LOOKS, WRITES = f"{__name__}:Looks", f"{__name__}:Writes"

_batches = count(1)


def write_down(stage: Stage, requests: Sequence[Request]) -> None:
    number = next(_batches)
    folder, card = Path(os.environ[VARIABLE]), os.environ["CUDA_VISIBLE_DEVICES"]
    order = folder / f"kill-{card}-{number}"
    if order.exists():
        order.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    with (folder / "calls").open("a") as calls:
        calls.writelines(f"{card} {stage} {request.slot_id}\n" for request in requests)


def on_the_processor(config: Config) -> Config:
    return config.model_copy(update={"compute": config.compute.model_copy(update={"device": "cpu"})})


class Looks(VisionModel):
    def __init__(self, config: Config, stage: Stage = "stage1") -> None:
        super().__init__(on_the_processor(config), stage)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        write_down("stage1", requests)
        return super().generate(requests)


class Writes(ChatModel):
    def __init__(self, config: Config, stage: Stage = "stage2") -> None:
        super().__init__(on_the_processor(config), stage)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        write_down("stage2", requests)
        return super().generate(requests)
