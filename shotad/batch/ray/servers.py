"""Who answers: one engine out of several servers of one model, or a server that a worker starts for itself.

Each call goes to the server with the least to do. One that fails as a whole (it is gone, or refuses the key)
rests for a while, and what it was asked goes to the others. Whose answer it is makes no difference, for the
model is the same: ``identity`` is that of one.

A worker's own server is made for ``vllm serve MODEL --port PORT`` on the GPU that Ray gave the worker; any
server of OpenAI's protocol will do. It is a process group by itself, so that its own workers go with it.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from shotad.batch.ray.cluster import ServeSettings
from shotad.core import (
    Config,
    Engine,
    NoProgress,
    Progress,
    Reply,
    Request,
)
from shotad.core.engine import Stage
from shotad.core.errors import EngineError
from shotad.core.files import remove_file
from shotad.core.system import end_apart, split_command, start_apart
from shotad.description.engine_pair import prepare_engine
from shotad.engines import make_engine, stage_engines
from shotad.engines.openai_engine import map_in_order

REST = 60.0
"""Seconds for which a server that failed is left alone; one that is started again takes about as long."""

Make = Callable[[], Engine]


@dataclass(slots=True, eq=False)
class _Server:
    """``engine`` is made again when it has failed: one that was stopped stays so."""

    make: Make
    engine: Engine
    busy: int = 0
    until: float = 0.0


class Pool:
    """An engine that shares its calls among engines made by ``makes``; safe in threads."""

    def __init__(
        self, makes: Sequence[Make], *, rest: float = REST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._servers = [_Server(make, make()) for make in makes]
        self._rest, self._clock = rest, clock
        self._lock = threading.Lock()
        self._progress: Progress = NoProgress()
        able = [server.engine.abilities for server in self._servers]
        hosts = sorted({abilities.sends_to for abilities in able if abilities.sends_to})
        self.identity = self._servers[0].engine.identity
        self.abilities = replace(
            able[0], in_flight=sum(abilities.in_flight for abilities in able), sends_to=", ".join(hosts)
        )

    def get_ready(self, progress: Progress) -> None:
        """As `Preparing.get_ready`, for each. Raises what they raise."""
        self._progress = progress
        for server in self._servers:
            prepare_engine(server.engine, progress)
        self.identity = self._servers[0].engine.identity

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order. Raises EngineError where no server is left."""
        if len(requests) == 1:
            return [self._reply(requests[0])]
        return map_in_order(self._reply, requests, self.abilities.in_flight)

    def _reply(self, request: Request) -> Reply:
        """The reply of the server that is well and has the least to do; where it failed, of one other, for
        the failure may be the server's own."""
        tried: list[_Server] = []
        failed: list[Reply] = []
        error = EngineError("No server is well.", "Start them again; what is done is kept.")
        while len(failed) < 2:
            with self._lock:
                now = self._clock()
                well = [
                    candidate
                    for candidate in self._servers
                    if candidate.until <= now and candidate not in tried
                ]
                if not well:
                    break
                server = min(well, key=lambda candidate: candidate.busy)
                server.busy += 1
            tried.append(server)
            try:
                (reply,) = server.engine.generate([request])
            except EngineError as trouble:
                error = trouble
                with self._lock:
                    server.until = self._clock() + self._rest
                    server.engine = server.make()
                prepare_engine(server.engine, self._progress)
            else:
                if reply.error is None:
                    return reply
                failed.append(reply)
            finally:
                with self._lock:
                    server.busy -= 1
        if failed:
            return failed[0]
        raise error


def stage_engine(config: Config, stage: Stage, urls: Sequence[str] = ()) -> Engine:
    """The engine of a stage. ``urls`` are servers that take the place of ``openai.base_url``; an engine that
    asks no server, and a stage that has a server of its own, are as they would be without."""
    name = getattr(stage_engines(config), stage)
    engine = make_engine(name, config, stage)
    if not urls or not _asks_usual_server(engine, config, stage):
        return engine
    settings_of_servers = (config.openai.model_copy(update={"base_url": url}) for url in urls)
    makes = [
        partial(make_engine, name, config.model_copy(update={"openai": settings}), stage)
        for settings in settings_of_servers
    ]
    return Pool(makes) if len(makes) > 1 else makes[0]()


def asks_server(engine: Engine) -> bool:
    """Whether an engine's answers come from a server, here or elsewhere."""
    return hasattr(engine, "address")


def _asks_usual_server(engine: Engine, config: Config, stage: Stage) -> bool:
    """Whether an engine asks the server at ``openai.base_url``, which others may take the place of."""
    own = config.stage1 if stage == "stage1" else config.stage2
    return asks_server(engine) and not own.base_url


def asks_own_server(config: Config, stage: Stage, serve: ServeSettings) -> bool:
    """Whether a stage is answered by servers that its workers start by ``serve``. Raises as `make_engine`."""
    if serve.command is None:
        return False
    engine = make_engine(getattr(stage_engines(config), stage), config, stage)
    return _asks_usual_server(engine, config, stage)


_GUARD = Path(__file__).with_name("guard.py")
_HOST = "127.0.0.1"
OWN_ADDRESS = f"http://{_HOST}/v1"
"""Stands for the server that a worker starts for itself, for whoever does not ask it."""
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
        descriptor, log = tempfile.mkstemp(prefix="shotad-serve-", suffix=".log")
        os.close(descriptor)
        self._log = Path(log)

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
            end_apart(process, _END)
        remove_file(self._log)

    def _start(self) -> None:
        with socket.socket() as sock:
            sock.bind((_HOST, 0))
            port = int(sock.getsockname()[1])
        command = split_command(self._settings.command or "")
        if not command:
            raise EngineError(
                "serve.command is empty.", "Write, for example, vllm serve {model} --port {port}."
            )
        filled = [part.replace("{port}", str(port)).replace("{model}", self._model) for part in command]
        guard = [sys.executable, "-I", str(_GUARD), str(os.getpid())]
        with self._log.open("wb") as log:
            self._process = start_apart([*guard, *filled], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        atexit.register(self.close)
        self._url = f"http://{_HOST}:{port}/v1"
        self._wait(self._process)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + self._settings.ready
        # No proxy is asked: it is this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while True:
            with (
                suppress(urllib.error.URLError, OSError),
                opener.open(f"{self._url}/models", timeout=_LISTING) as answer,
            ):
                if answer.status == 200:
                    return
            ended, late = process.poll() is not None, time.monotonic() > until
            if ended or late:
                text = self._log.read_text(encoding="utf-8", errors="replace")
                words = " ".join(text[-_TOLD:].split()) or "it said nothing."
            if ended:
                raise EngineError(
                    f"The model server ended with {process.returncode} before it answered: {words}",
                    "Run its command on such a node by hand.",
                )
            if late:
                self.close()
                raise EngineError(
                    f"The model server did not answer within {self._settings.ready:g} s: {words}",
                    "Raise serve.ready, or fetch the weights to the nodes beforehand.",
                )
            time.sleep(_LOOK)


class StageEngines:
    """Engines of stages, each made once for the same settings and kept; safe in threads.

    They ask ``servers``, or a server of their own where ``serve`` has a command.
    """

    def __init__(self, servers: Sequence[str], serve: ServeSettings | None = None) -> None:
        self._servers, self._serve = tuple(servers), serve
        self._lock = threading.Lock()
        self._made: dict[Stage, tuple[str, Engine]] = {}
        self._server: OwnServer | None = None

    def of(self, config: Config, stage: Stage, *, is_ready: bool = False) -> Engine:
        """The engine of a stage for these settings; with ``is_ready`` it has all it wants. Raises
        ShotadError."""
        with self._lock:
            urls = self._servers
            if self._serve is not None and self._serve.command is not None:
                if self._server is None:
                    own = config.stage1 if stage == "stage1" else config.stage2
                    self._server = OwnServer(self._serve, own.model or config.openai.model or "")
                urls = (self._server.url,)
            key = config.model_dump_json() + " ".join(urls)
            if stage not in self._made or self._made[stage][0] != key:
                self._made.pop(stage, None)
                engine = stage_engine(config, stage, urls)
                if is_ready:
                    prepare_engine(engine, NoProgress())
                self._made[stage] = (key, engine)
            return self._made[stage][1]
