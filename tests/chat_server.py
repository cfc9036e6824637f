"""Real chat servers, each in a process of its own: ``transformers serve``, llama.cpp's by llama-cpp-python,
and LiteLLM as a gateway before them.

::

    with ChatServer(saved_model(model, tokenizer, folder)) as server:
        ...  # server.settings are what shotad is to be told

What came in is read from the server's own log, so that nothing stands between it and who asks.
llama-cpp-python and LiteLLM have pins of their own and stand in environments of their own, which
``CONTRIBUTING.md`` tells how to make; `LLAMA` and `LITELLM` name their programs.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pytest
import torch

_WAIT = 240.0
"""Seconds after which a server that does not come up is given up; machines that run tests may be busy."""

LLAMA = "SHOTAD_LLAMA_SERVER"
"""Environment variable with the command of llama-cpp-python's server: ``PYTHON -m llama_cpp.server``."""
LITELLM = "SHOTAD_LITELLM"
"""Environment variable with the command of LiteLLM's gateway."""

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


class Server:
    """A server process at a free port of this machine. ``model`` is the name by which it knows its model."""

    def __init__(self, model: str, alive: str = "health") -> None:
        """``alive``: the page that answers once the server is there."""
        self.model = model
        self.folder = Path(tempfile.mkdtemp(prefix="shotad-chat-"))
        self.port = _free_port()
        self._alive = f"http://127.0.0.1:{self.port}/{alive}"

    def command(self) -> Sequence[str]:
        """The command line that starts it at `port`."""
        raise NotImplementedError

    @property
    def url(self) -> str:
        """The base URL, which ends in /v1."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def settings(self) -> tuple[str, ...]:
        """What `shotad` is to be told."""
        return (f"openai.base_url={self.url}", f"openai.model={self.model}", "openai.timeout=200")

    @property
    def log(self) -> str:
        path = self.folder / "log.txt"
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def answered(self) -> int:
        """How many requests it has answered."""
        return self.log.count('"POST /v1/chat/completions HTTP/1.1" 200')

    def __enter__(self) -> Self:
        with (self.folder / "log.txt").open("ab") as log:
            self._process = subprocess.Popen(self.command(), env=_environment(), stdout=log, stderr=log)
        deadline = time.monotonic() + _WAIT
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > deadline:
                log_end = self.log[-2000:]
                self.__exit__()
                pytest.fail(f"the server did not come up:\n{log_end}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _listens(self) -> bool:
        try:
            with urllib.request.urlopen(self._alive, timeout=5) as reply:
                return bool(reply.status == 200)
        except (urllib.error.URLError, OSError):
            return False


class ChatServer(Server):
    """``transformers serve`` with the model in a folder."""

    def __init__(self, model: Path) -> None:
        super().__init__(str(model))

    def command(self) -> Sequence[str]:
        program = (sys.executable, "-c", "from transformers.cli.transformers import main; main()", "serve")
        options = ("--device", "cpu", "--dtype", "float32", "--log-level", "info")
        return (*program, self.model, "--host", "127.0.0.1", "--port", str(self.port), *options)

    @property
    def received(self) -> int:
        """How many requests came in, answered or not."""
        return self.log.count("[Request received]")


class LlamaServer(Server):
    """llama-cpp-python's server with a GGUF, under the name ``0``."""

    def __init__(self, gguf: Path, context: int) -> None:
        """``context`` in tokens."""
        super().__init__("0", alive="v1/models")
        self._options = ("--model", str(gguf), "--model_alias", self.model, "--n_ctx", str(context))

    @staticmethod
    def program() -> list[str]:
        """The command that starts it, without options. Skips where it is not installed."""
        given = os.environ.get(LLAMA)
        if not given and importlib.util.find_spec("llama_cpp") is None:
            pytest.skip(f"llama-cpp-python's server is not installed: name its command in {LLAMA}")
        return shlex.split(given) if given else [sys.executable, "-m", "llama_cpp.server"]

    def command(self) -> Sequence[str]:
        return (*self.program(), *self._options, "--host", "127.0.0.1", "--port", str(self.port))


class Gateway(Server):
    """LiteLLM before other servers, with the key `KEY`. Skips where it is not installed.

    It asks each server once for a request, and goes on asking one that has failed, so that what comes is the
    server's word.
    """

    KEY = "sk-gateway-of-the-tests"

    def __init__(self, servers: Mapping[str, Server]) -> None:
        """``servers`` by the names under which the gateway offers their models."""
        super().__init__(next(iter(servers)), alive="health/liveliness")
        given = os.environ.get(LITELLM) or shutil.which("litellm")
        if not given:
            pytest.skip(f"LiteLLM is not installed: name its command in {LITELLM}")
        self._program = shlex.split(given)
        models = [
            {
                "model_name": name,
                "litellm_params": {
                    "model": f"openai/{server.model}",
                    "api_base": server.url,
                    "api_key": "none",
                },
            }
            for name, server in servers.items()
        ]
        config = {
            "model_list": models,
            "general_settings": {"master_key": self.KEY},
            "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        }
        # JSON is YAML too.
        (self.folder / "config.yaml").write_text(json.dumps(config), encoding="utf-8")

    def command(self) -> Sequence[str]:
        config = str(self.folder / "config.yaml")
        return (*self._program, "--config", config, "--host", "127.0.0.1", "--port", str(self.port))


def _environment() -> dict[str, str]:
    """That of the tests, without network, with two threads at most, and without their secrets."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "SHOTAD_"))}
    # The servers of other environments are not to find the packages of this one.
    kept.pop("PYTHONPATH", None)
    quiet = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    quiet |= {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True"
    }  # the prices of all models otherwise come from the network
    return {**kept, **quiet, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE", "PYTHONUNBUFFERED": "1"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
