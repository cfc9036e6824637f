"""A model server that a worker starts for itself, and takes down when it ends.

Made for ``vllm serve MODEL --port PORT`` on the GPU that Ray gave the worker; any server of OpenAI's protocol
will do. It is a process group of its own, so that its own workers go with it.
"""

from __future__ import annotations

import atexit
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from shotad.batch.ray.settings import ServeSettings
from shotad.core import EngineError

_GUARD = Path(__file__).with_name("guard.py")
_HOST = "127.0.0.1"
_LOOK = 0.5
"""Seconds between two looks whether it answers."""
_LISTING = 5.0
_END = 10.0
"""Seconds that it may take to end when it is asked to."""
_TOLD = 2000
"""Characters of its last words that an error repeats."""


class OwnServer:
    """A server on this machine, started with the first ``url`` and ended with this process.

    ``model`` fills ``{model}`` of the command, a free port ``{port}``.
    """

    def __init__(self, settings: ServeSettings, model: str) -> None:
        self._settings, self._model = settings, model
        self._process: subprocess.Popen[bytes] | None = None
        self._url = ""
        self._log = Path(tempfile.mkstemp(prefix="shotad-serve-", suffix=".log")[1])

    @property
    def url(self) -> str:
        """The base URL of the server, which runs. Raises EngineError where it does not come up."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        return self._url

    def close(self) -> None:
        """End the server and all that it started."""
        process, self._process = self._process, None
        if process is not None:
            _end_group(process)
        self._log.unlink(missing_ok=True)

    def _start(self) -> None:
        port = _free_port()
        command = shlex.split(self._settings.command or "")
        if not command:
            raise EngineError(
                "serve.command is empty.", "Write, for example, vllm serve {model} --port {port}."
            )
        filled = [part.replace("{port}", str(port)).replace("{model}", self._model) for part in command]
        guard = [sys.executable, "-I", str(_GUARD), str(os.getpid())]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*guard, *filled],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        atexit.register(self.close)
        self._url = f"http://{_HOST}:{port}/v1"
        self._wait(self._process)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + self._settings.ready
        while not _answers(f"{self._url}/models"):
            if process.poll() is not None:
                words = self._last_words()
                raise EngineError(
                    f"The model server ended with {process.returncode} before it answered: {words}",
                    "Run its command on such a node by hand.",
                )
            if time.monotonic() > until:
                words = self._last_words()
                self.close()
                raise EngineError(
                    f"The model server did not answer within {self._settings.ready:g} s: {words}",
                    "Raise serve.ready, or fetch the weights to the nodes beforehand.",
                )
            time.sleep(_LOOK)

    def _last_words(self) -> str:
        text = self._log.read_text(encoding="utf-8", errors="replace")
        return " ".join(text[-_TOLD:].split()) or "it said nothing."


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((_HOST, 0))
        return int(found.getsockname()[1])


def _answers(url: str) -> bool:
    """Whether anything answers there. No proxy is asked: it is this machine."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_LISTING) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _end_group(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END)
            break
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
