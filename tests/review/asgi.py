"""Requests to an ASGI application, byte for byte as they are written here: no client tidies them up."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

PORT = 20123
HOST = f"127.0.0.1:{PORT}"
WAIT = 30.0
"""Seconds after which what did not come never will."""


@dataclass(frozen=True)
class Answer:
    """Status, headers by name in small letters, and body of an answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


def scope_of(method: str, path: str, headers: Mapping[str, str | None]) -> dict[str, Any]:
    """A request as a server gives it to an application."""
    path, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path, "latin-1"),
        "raw_path": path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "root_path": "",
        "headers": [
            (name.encode(), value.encode("latin-1")) for name, value in headers.items() if value is not None
        ],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 20123),
        "state": {},
    }


async def ask(
    app: Any, method: str, path: str, headers: Mapping[str, str | None], body: bytes = b"", *, pieces: int = 1
) -> Answer:
    """What an application answers. ``pieces``: in how many the body comes."""
    scope = scope_of(method, path, headers)
    size = -(-len(body) // pieces) or 1
    parts = [body[i : i + size] for i in range(0, len(body), size)] or [b""]
    waiting = [
        {"type": "http.request", "body": part, "more_body": i + 1 < len(parts)}
        for i, part in enumerate(parts)
    ]
    sent: list[Any] = []
    over = asyncio.Event()

    async def receive() -> Any:
        if waiting:
            return waiting.pop(0)
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    over.set()
    start = next(message for message in sent if message["type"] == "http.response.start")
    answered = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    data = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    return Answer(start["status"], answered, data)


def cookie_of(app: Any, token: str, host: str = HOST) -> str:
    """The cookie that a browser is given which opens the address with the token, as it sends it back."""
    headers = {"host": host, "sec-fetch-site": "none"}
    answer = asyncio.run(ask(app, "GET", f"/?token={quote(token)}", headers))
    assert answer.status == 303, answer.text
    return answer.headers["set-cookie"].partition(";")[0]


@dataclass(frozen=True)
class Visitor:
    """A browser with the page open: every request is a good one, but for what a test changes of it."""

    app: Any
    cookie: str
    host: str = HOST
    headers: Mapping[str, str | None] = field(default_factory=dict)

    def get(self, path: str, *, method: str = "GET", **changed: str | None) -> Answer:
        """A GET with headers changed or, with None, left out; ``x_y`` stands for ``x-y``."""
        return asyncio.run(ask(self.app, method, path, self._headers({}, changed)))

    def get_all(self, paths: Iterable[str]) -> list[Answer]:
        """GETs that are under way at the same time."""

        async def get_together() -> list[Answer]:
            return await asyncio.gather(
                *(ask(self.app, "GET", path, self._headers({}, {})) for path in paths)
            )

        return asyncio.run(get_together())

    def scope(self, path: str) -> dict[str, Any]:
        """What the application is given of a GET, for a test that reads the answer itself."""
        return scope_of("GET", path, self._headers({}, {}))

    def post(self, path: str, body: Any = None, *, pieces: int = 1, **changed: str | None) -> Answer:
        """A POST of JSON, or of bytes as they are."""
        data = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
        more = {
            "origin": f"http://{self.host}", "content-type": "application/json",
            "content-length": str(len(data)), "x-shotad": "page",
        }  # fmt: skip
        return asyncio.run(ask(self.app, "POST", path, self._headers(more, changed), data, pieces=pieces))

    def _headers(
        self, more: Mapping[str, str | None], changed: Mapping[str, str | None]
    ) -> dict[str, str | None]:
        named = {name.replace("_", "-"): value for name, value in changed.items()}
        good = {"host": self.host, "cookie": self.cookie, "sec-fetch-site": "same-origin"}
        return {**good, **more, **self.headers, **named}


class Listener:
    """A tab that listens to the events of a review in a thread, from ``with`` on; they are (kind, data).

    ``takes_at_once``: whether it takes what is sent before `take` is called.
    """

    def __init__(self, visitor: Visitor, *, takes_at_once: bool = True) -> None:
        self.events: list[tuple[str, Any]] = []
        self.has_ended = False
        self._visitor = visitor
        self._data = b""
        self._change = threading.Condition()
        self._takes = threading.Event()
        if takes_at_once:
            self._takes.set()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._listen()), name="listener")

    def of(self, kind: str) -> list[Any]:
        """The data of all events of a kind that came so far."""
        with self._change:
            return [data for name, data in self.events if name == kind]

    def until(self, kind: str, count: int = 1) -> list[Any]:
        """As `of`, once so many came."""
        with self._change:
            came = self._change.wait_for(lambda: sum(name == kind for name, _ in self.events) >= count, WAIT)
        assert came, f"no {kind}: {self.events}"
        return self.of(kind)

    def take(self) -> None:
        """Take what is sent from now on."""
        self._takes.set()

    def wait_for_end(self) -> None:
        """Wait until the server has ended the stream."""
        self._thread.join(WAIT)
        assert self.has_ended

    def __enter__(self) -> Listener:
        self._thread.start()
        if self._takes.is_set():
            with self._change:
                assert self._change.wait_for(lambda: self.has_ended or self.events, WAIT)
        return self

    def __exit__(self, *_: object) -> None:
        self._takes.set()
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._gone.set)
        self._thread.join(WAIT)
        assert not self._thread.is_alive(), "the stream does not end"

    async def _listen(self) -> None:
        self._loop, self._gone = asyncio.get_running_loop(), asyncio.Event()
        await self._visitor.app(self._visitor.scope("/api/events"), self._receive, self._send)

    async def _receive(self) -> Any:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] != "http.response.body":
            return
        await asyncio.to_thread(self._takes.wait, WAIT)
        with self._change:
            *blocks, self._data = (self._data + message["body"]).split(b"\n\n")
            self.events.extend(event for block in blocks if (event := _event(block.decode())) is not None)
            self.has_ended = not message.get("more_body", False)
            self._change.notify_all()


def _event(block: str) -> tuple[str, Any] | None:
    """One event of a stream; None for a comment."""
    values = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
    return (values["event"], json.loads(values["data"])) if "event" in values else None
