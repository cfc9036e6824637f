"""Requests to an ASGI application, byte for byte as they are written here: no client tidies them up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from shotad.review.security import Keys

HOST = "127.0.0.1:20123"


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
    found = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    data = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    return Answer(start["status"], found, data)


@dataclass(frozen=True)
class Visitor:
    """A browser with the page open: every request is a good one, but for what a test changes of it."""

    app: Any
    keys: Keys
    host: str = HOST
    headers: Mapping[str, str | None] = field(default_factory=dict)

    def get(self, path: str, *, method: str = "GET", **changed: str | None) -> Answer:
        """A GET with headers changed or, with None, left out; ``x_y`` stands for ``x-y``."""
        return asyncio.run(ask(self.app, method, path, self._headers({}, changed)))

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
        good = {"host": self.host, "cookie": cookie_of(self.keys), "sec-fetch-site": "same-origin"}
        return {**good, **more, **self.headers, **named}


def cookie_of(keys: Keys) -> str:
    """What a browser sends that was given the cookie."""
    return keys.set_cookie().decode().partition(";")[0]
