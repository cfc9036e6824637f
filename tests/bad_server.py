"""A chat server for tests that misbehaves on purpose, on this machine and in this process.

::

    with BadServer([status(500), answer("A cat sleeps.")]) as server:
        ...  # server.url is the base URL (it ends in /v1), server.requests what came in

The script is a list of acts, one for each chat request in the order in which they come, after which the
last goes on for ever; or a function that is given the `Seen` request and returns its act.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

_ENDLESS = 1 << 30
"""Bytes at which an answer without end does end, so that a test fails rather than the machine."""
HTML = "<!DOCTYPE html><html><body><h1>Bad gateway</h1></body></html>"


@dataclass(frozen=True)
class Seen:
    """A request that came in; ``number`` counts chat requests from 0."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def question(self) -> str:
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else " ".join(p.get("text", "") for p in content).strip()

    @property
    def pictures(self) -> list[str]:
        turns = [m["content"] for m in self.body["messages"] if isinstance(m["content"], list)]
        return [part["image_url"]["url"] for parts in turns for part in parts if part["type"] == "image_url"]


@dataclass(frozen=True)
class Act:
    """What the server does with one request.

    ``end``: ``whole`` sends all; ``cut`` announces all, sends half of it and hangs up; ``drop`` hangs up without a
    word; ``hang`` says nothing until the server closes; ``drip`` sends a blank every ``pause`` seconds for ever,
    ``drip head`` a header; ``endless`` sends the body again and again; ``short`` announces half of what it sends;
    ``die`` hangs up and closes the server. ``wait`` is called before anything is sent.
    """

    status: int = 200
    body: str | bytes = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    end: Literal["whole", "cut", "drop", "hang", "drip", "drip head", "endless", "short", "die"] = "whole"
    kind: str = "application/json"
    pause: float = 0.02
    wait: Callable[[], object] | None = None


Script = Sequence[Act] | Callable[[Seen], Act]
Pages = Callable[[str, Mapping[str, Any]], tuple[int, Any]]


def completion(text: str | None, *, finish: str = "stop", message: Mapping[str, Any] | None = None,
               usage: Mapping[str, Any] | None = None) -> dict[str, Any]:  # fmt: skip
    """The body of a chat completion; ``message`` adds to the assistant's message."""
    said = {"role": "assistant", "content": text, **(message or {})}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "tiny",
        "choices": [{"index": 0, "finish_reason": finish, "message": said}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16} if usage is None else usage,
    }  # fmt: skip


def answer(text: str | None = "A cat sleeps.", *, finish: str = "stop", message: Mapping[str, Any] | None = None,
           usage: Mapping[str, Any] | None = None) -> Act:  # fmt: skip
    return Act(
        body=json.dumps(completion(text, finish=finish, message=message, usage=usage), ensure_ascii=False)
    )


def echo(seen: Seen) -> Act:
    """Answers with the question, so that a reply tells which request it belongs to."""
    return answer(seen.question)


def status(code: int, message: str = "", /, *, headers: Mapping[str, str] | None = None, **error: Any) -> Act:
    """An error as OpenAI words it; ``error`` adds ``code``, ``param`` and ``type``."""
    body = json.dumps({"error": {"message": message or f"error {code}", **error}})
    return Act(status=code, body=body, headers=headers or {})


def plain(body: str, code: int = 200, kind: str = "application/json") -> Act:
    """Any body as it is: JSON that is none, JSON of something else, nothing at all."""
    return Act(status=code, body=body, kind=kind)


def html(code: int = 200) -> Act:
    return plain(HTML, code, "text/html")


def cut_off(text: str = "A cat sleeps.") -> Act:
    return replace(answer(text), end="cut")


def drop() -> Act:
    return Act(end="drop")


def hang() -> Act:
    return Act(end="hang")


def drip(pause: float = 0.02, code: int = 200) -> Act:
    """A blank every ``pause`` seconds, for ever: never silent, never done."""
    return Act(code, end="drip", pause=pause)


def drip_head(pause: float = 0.02) -> Act:
    return Act(end="drip head", pause=pause)


def endless(code: int) -> Act:
    return Act(code, b"x" * (1 << 16), end="endless")


def packed(body: bytes, code: int = 200, packing: str = "gzip") -> Act:
    """A body that is packed by gzip, though nobody asked for that."""
    return Act(code, gzip.compress(body), {"Content-Encoding": packing})


def die() -> Act:
    """The server is gone, in the middle of a request; further connections are refused."""
    return Act(end="die")


# What real servers answered, word for word but for names and paths (tests/test_real_servers.py).

# llama-cpp-python 0.3.36
LLAMA_REFUSES_SCHEMA = status(
    500,
    "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': "
    "\"Input should be 'text' or 'json_object'\", 'input': 'json_schema', 'ctx': {'expected': "
    "\"'text' or 'json_object'\"}}\n\n  File \"app.py\", line 376, in create_chat_completion\n"
    "    POST /v1/chat/completions",
    type="internal_server_error",
)
LLAMA_SEES_NOTHING = status(500, 'can only concatenate str (not "list") to str', type="internal_server_error")
LLAMA_TOO_LONG = status(
    400,
    "This model's maximum context length is 2048 tokens. However, you requested 4147 tokens (4099 in the "
    "messages, 48 in the completion). Please reduce the length of the messages or completion.",
    type="invalid_request_error",
    param="messages",
    code="context_length_exceeded",
)

# transformers 5.23, serve
SERVE_REFUSES_VIDEO = plain('{"detail":"Unexpected fields in the request: {\'media_io_kwargs\'}"}', 422)
SERVE_HAS_ANOTHER_MODEL = plain("{\"detail\":\"Server is pinned to 'llava'; requested 'tiny'.\"}", 400)

# LiteLLM 1.108.7
GATEWAY_REFUSES_KEY = status(400, "No connected db.", type="no_db_connection", code="400")
GATEWAY_HAS_ANOTHER_MODEL = status(
    400,
    "/chat/completions: Invalid model name passed in model=tiny. Call `/v1/models` to view available models "
    "for your key.",
    type="invalid_request_error",
    code="400",
)
GATEWAY_WAITS = status(
    429,
    "No deployments available for selected model, Try again in 5 seconds. All deployments for selected model "
    "are in cooldown. Passed model=tiny. pre-call-checks=False, cooldown_list=['ca58']",
    type="all_deployments_in_cooldown",
    code="429",
    headers={"retry-after": "5"},
)


def through_gateway(act: Act, kind: str = "BadRequestError") -> Act:
    """An error of OpenAI's form as LiteLLM passes it on: the parameter stays, the code and the headers do not."""
    error = json.loads(act.body)["error"]
    message = (
        f"litellm.{kind}: OpenAIException - {error['message']}\n\n"
        "LiteLLM: model group 'tiny' failed with the error above. No fallback was attempted."
    )
    return status(act.status, message, param=error.get("param"), code=str(act.status))


class Backwards:
    """A script that lets ``count`` requests come in and answers the last first."""

    def __init__(self, count: int, act: Callable[[Seen], Act] = echo) -> None:
        self._act = act
        self._all_in = threading.Barrier(count)
        self._turn = threading.Condition()
        self._waiting: list[int] = []

    def __call__(self, seen: Seen) -> Act:
        self._waiting.append(seen.number)
        return replace(self._act(seen), wait=lambda: self._wait(seen.number))

    def _wait(self, number: int) -> None:
        self._all_in.wait(timeout=20)
        with self._turn:
            assert self._turn.wait_for(lambda: max(self._waiting) == number, timeout=20)
            self._waiting.remove(number)
            self._turn.notify_all()


class BadServer:
    """Plays a script to whoever asks. ``models`` is what ``/v1/models`` lists, None: it knows no such page.

    ``pages`` gives status and JSON for a path and a request's body, and there is nothing else on the server.
    """

    def __init__(
        self, script: Script = echo, *, models: Sequence[str] | None = ("tiny",), pages: Pages | None = None
    ) -> None:
        self.requests: list[Seen] = []
        """All chat requests, in the order in which they came."""
        self.listings: list[Seen] = []
        """All requests for the list of models."""
        self.most_at_once = 0
        self.sent = 0
        """Bytes of all bodies that were taken from it, or lie in the buffers between."""
        self.models = models
        self._script, self._pages = script, pages
        self._lock = threading.Lock()
        self._under_way = 0
        self._open: set[socket.socket] = set()
        self._closing = threading.Event()
        server = self

        class Handler(_Handler):
            owner = server

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Broken connections are the point of this server."""

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self._port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> BadServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops listening and breaks every connection; also in the middle of a request."""
        if self._closing.is_set():
            return
        self._closing.set()
        # First of all nobody gets in any more; only then does its thread end, which takes a moment.
        _break(self._http.socket)
        self._break_all()
        self._http.shutdown()
        self._http.server_close()
        self._break_all()

    def _break_all(self) -> None:
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            _break(connection)

    def act_for(self, method: str, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Act:
        """Notes a request and finds what to do with it."""
        if self._pages is not None:
            code, page = self._pages(path, body)
            return plain(json.dumps(page), code)
        if path.split("?", maxsplit=1)[0].endswith("/models"):
            self.listings.append(Seen(len(self.listings), method, path, headers, body))
            if self.models is None:
                return status(404, "no such page")
            rows = [{"id": name, "object": "model"} for name in self.models]
            return plain(json.dumps({"object": "list", "data": rows}))
        if not path.split("?", maxsplit=1)[0].endswith(("/chat/completions", "/v1/audio/speech")):
            return status(404, f"no such page: {path}")
        with self._lock:
            seen = Seen(len(self.requests), method, path, headers, body)
            self.requests.append(seen)
        if callable(self._script):
            return self._script(seen)
        return self._script[min(seen.number, len(self._script) - 1)]

    @contextlib.contextmanager
    def _busy(self) -> Any:
        with self._lock:
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1


class _Handler(BaseHTTPRequestHandler):
    owner: BadServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        with self.owner._lock:
            self.owner._open.add(self.connection)

    def finish(self) -> None:
        with self.owner._lock:
            self.owner._open.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def do_GET(self) -> None:
        self._handle({})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self._handle(json.loads(self.rfile.read(length) or "{}"))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Says nothing."""

    def _handle(self, body: dict[str, Any]) -> None:
        with self.owner._busy():
            if self.owner._closing.is_set():
                _break(self.connection)
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            act = self.owner.act_for(self.command, self.path, headers, body)
            if act.wait is not None:
                act.wait()
            self.close_connection = act.end != "whole"
            if act.end == "hang":
                self.owner._closing.wait()
            elif act.end == "die":
                self.owner.close()
            elif act.end != "drop":
                self._send(act)
            if act.end in ("cut", "drop"):
                _break(self.connection)

    def _send(self, act: Act) -> None:
        body = act.body.encode() if isinstance(act.body, str) else act.body
        self.send_response(act.status)
        for name, value in {"Content-Type": act.kind, **act.headers}.items():
            self.send_header(name, value)
        if act.end == "drip head":
            self._drip(act.pause, b"X-More: yes\r\n")
        if act.end == "short":
            self.send_header("Content-Length", str(len(body) // 2))
        elif act.end != "endless":
            self.send_header("Content-Length", str(10**6 if act.end == "drip" else len(body)))
        self.end_headers()
        if act.end == "drip":
            self._drip(act.pause, b" ")
        while act.end == "endless" and self.owner.sent < _ENDLESS:
            self._give(body)
        self._give(body[: len(body) // 2] if act.end == "cut" else body)

    def _drip(self, pause: float, drop: bytes) -> None:
        self.flush_headers()
        while not self.owner._closing.wait(pause):
            self.wfile.write(drop)

    def _give(self, data: bytes) -> None:
        self.wfile.write(data)
        self.owner.sent += len(data)


def _break(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
