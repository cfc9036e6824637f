"""News for all open tabs, as Server-Sent Events. Any thread may tell; no tab can hold up another.

Each tab has a bounded queue. A newer word on the same thing (how far a job is) takes the place of one that
was not sent yet. A tab that falls behind loses what waited: it is told to fetch the film again and its
connection ends; browsers connect again by themselves.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from starlette.responses import StreamingResponse

Json = Mapping[str, Any]
"""Values of JSON by name."""

MOST_BYTES = 4_000_000
"""What may wait for one tab."""

BEAT = 15.0
"""Seconds after which a silent connection carries a comment, so that one that broke is noticed."""

_LATEST = {"job": "id", "playable": None, "film": None}
"""Events of which the newest says all: those of the same kind, or of the same value of this key."""

_AGAIN = b"retry: 1000\n"


class Tab:
    """One open connection: what waits for it, in the order in which it came."""

    def __init__(self, size: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._lock = threading.Lock()
        self._waiting: dict[object, bytes] = {}
        self._size, self._most = 0, size
        self._closed = False

    def put(self, key: object, text: bytes) -> None:
        """Let an event wait, in place of an older one with the same key."""
        with self._lock:
            if self._closed:
                return
            self._size += len(text) - len(self._waiting.pop(key, b""))
            self._waiting[key] = text
            if self._size > self._most:
                self._waiting = {"film": message("film", {})}
                self._closed = True
        self._wake()

    def close(self) -> None:
        """Let the connection end when what waits has been sent."""
        with self._lock:
            self._closed = True
        self._wake()

    async def take(self, seconds: float) -> bytes | None:
        """All that waits, as soon as something does; a comment after ``seconds`` of silence; None where
        nothing will come any more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        with self._lock:
            self._woken.clear()
            found, self._waiting, self._size = b"".join(self._waiting.values()), {}, 0
            if self._closed:
                self._woken.set()
                return found or None
        return found or b": here\n\n"

    def _wake(self) -> None:
        with suppress(RuntimeError):  # its loop has ended, and the connection with it
            self._loop.call_soon_threadsafe(self._woken.set)


class Tabs:
    """All open tabs. May be called from any thread."""

    def __init__(self, size: int = MOST_BYTES) -> None:
        self._lock = threading.Lock()
        self._tabs: set[Tab] = set()
        self._count, self._most = 0, size
        self._closed = False

    def __len__(self) -> int:
        return len(self._tabs)

    def tell(self, kind: str, data: Json) -> None:
        """Send one event to every open page."""
        with self._lock:
            tabs, self._count = tuple(self._tabs), self._count + 1
            if not tabs:
                return
            key = (kind, data.get(_LATEST[kind] or "")) if kind in _LATEST else self._count
            text = message(kind, data)
            for tab in tabs:
                tab.put(key, text)

    def close(self) -> None:
        self.tell("bye", {})
        with self._lock:
            self._closed = True
            for tab in self._tabs:
                tab.close()

    @contextmanager
    def opened(self) -> Iterator[Tab]:
        tab = Tab(self._most)
        with self._lock:
            self._tabs.add(tab)
            if self._closed:
                tab.close()
        try:
            yield tab
        finally:
            with self._lock:
                self._tabs.discard(tab)


def message(kind: str, data: Json) -> bytes:
    """One event as it is sent; its id is the revision, where it has one."""
    lines = [f"id: {data['revision']}"] if "revision" in data else []
    lines += [f"event: {kind}", f"data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}"]
    return ("\n".join(lines) + "\n\n").encode()


def event_stream(tabs: Tabs, hello: Callable[[], Json], *, beat: float = BEAT) -> StreamingResponse:
    """The answer of a connection that stays open. ``hello`` is told first: at which revision this tab begins,
    so that it knows whether it missed something."""

    async def news() -> AsyncIterator[bytes]:
        with tabs.opened() as tab:
            yield _AGAIN + message("hello", hello())
            while (found := await tab.take(beat)) is not None:
                yield found

    return StreamingResponse(news(), media_type="text/event-stream", headers={"cache-control": "no-store"})
