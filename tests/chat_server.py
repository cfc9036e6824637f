"""A real chat server with a real small model: ``transformers serve``, in a process of its own.

::

    with ChatServer(saved_model(model, tokenizer, folder)) as server:
        ...  # server.settings are what shotad is to be told

What came in is read from the server's own log, so that nothing stands between it and who asks.
"""

from __future__ import annotations

import copy
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import torch

_WAIT = 240.0
"""Seconds after which a server that does not come up is given up; machines that run tests may be busy."""

LAYERS = 2
"""Of the model's thirty, which are enough to answer: nothing is asked about what it answers."""


def saved_model(unpacked: Any, tokenizer: Any, target: Path) -> Path:
    """``target`` with a text model of transformers that came out of a GGUF, as the server can load it."""
    for module in ("gguf", "fastapi", "uvicorn", "openai"):
        pytest.importorskip(module, reason=f"the chat server of the tests needs {module}: pip install .[dev]")
    config = copy.deepcopy(unpacked.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    config.num_hidden_layers = LAYERS
    model = type(unpacked)(config)
    model.load_state_dict(unpacked.state_dict(), strict=False)
    model.generation_config = copy.deepcopy(unpacked.generation_config)
    model.generation_config.do_sample = True  # else the server leaves the temperature aside
    model.to(torch.float16).save_pretrained(target)
    tokenizer.save_pretrained(target)
    return target


class ChatServer:
    """The server process."""

    def __init__(self, model: Path) -> None:
        self.model = str(model)
        self._folder = Path(tempfile.mkdtemp(prefix="shotad-chat-"))
        self._port = _free_port()

    @property
    def settings(self) -> tuple[str, ...]:
        """What `shotad` is to be told."""
        url = f"http://127.0.0.1:{self._port}/v1"
        return (f"openai.base_url={url}", f"openai.model={self.model}", "openai.timeout=200")

    @property
    def log(self) -> str:
        path = self._folder / "log.txt"
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def received(self) -> int:
        return self.log.count("[Request received]")

    @property
    def answered(self) -> int:
        return self.log.count('"POST /v1/chat/completions HTTP/1.1" 200')

    def __enter__(self) -> ChatServer:
        command = [sys.executable, "-c", "from transformers.cli.transformers import main; main()", "serve"]
        command += [self.model, "--host", "127.0.0.1", "--port", str(self._port), "--device", "cpu"]
        command += ["--dtype", "float32", "--log-level", "info"]
        with (self._folder / "log.txt").open("ab") as log:
            self._process = subprocess.Popen(command, env=_environment(), stdout=log, stderr=log)
        deadline = time.monotonic() + _WAIT
        while not self._listens():
            assert self._process.poll() is None, f"the server ended at its start:\n{self.log[-2000:]}"
            assert time.monotonic() < deadline, f"the server did not come up:\n{self.log[-2000:]}"
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _listens(self) -> bool:
        address = f"http://127.0.0.1:{self._port}/health"
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                return bool(reply.status == 200)
        except (urllib.error.URLError, OSError):
            return False


def _environment() -> dict[str, str]:
    """That of the tests, without network, with two threads at most, and without their secrets."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "SHOTAD_"))}
    quiet = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    return {**kept, **quiet, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE", "PYTHONUNBUFFERED": "1"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
