"""Events for all open tabs, as Server-Sent Events. Any thread may send; a slow tab delays no other.

Each tab has a bounded queue. Of events about the same thing, such as the progress of a job, only the newest
is kept there. A tab that falls behind loses its queue: it gets one event that makes it fetch the film again,
and its connection ends. Browsers connect again by themselves.

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
"""A JSON object."""

MAX_QUEUED_BYTES = 4_000_000
"""Size of the events that may wait for one tab."""

HEARTBEAT_SECONDS = 15.0
"""Silence after which a connection carries a comment, so that a broken one is noticed."""

_SUPERSEDED_BY_NEWER = {"job": "id", "playable": None, "film": None}
"""Kinds of which a newer event replaces an older one in the queue, and the key whose value must be the same;
None: any two of that kind."""

_RECONNECT_AFTER = b"retry: 1000\n"
"""Milliseconds that a browser waits before it connects again."""


class Tab:
    """One open connection and the events that wait to be sent on it, in order, ``max_bytes`` at most.

    Must be made in a running event loop; `put` and `close` may be called from any thread.
    """

    def __init__(self, max_bytes: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._lock = threading.Lock()
        self._queue: dict[object, bytes] = {}
        self._queued_bytes, self._max_bytes = 0, max_bytes
        self._closed = False

    def put(self, key: object, event: bytes) -> None:
        """Queue an event; one with the same key that still waits is dropped."""
        with self._lock:
            if self._closed:
                return
            self._queued_bytes += len(event) - len(self._queue.pop(key, b""))
            self._queue[key] = event
            if self._queued_bytes > self._max_bytes:
                self._queue = {"film": message("film", {})}
                self._closed = True
        self._wake()

    def close(self) -> None:
        """End the connection once the queue has been sent."""
        with self._lock:
            self._closed = True
        self._wake()

    async def next_bytes(self, seconds: float) -> bytes | None:
        """All queued events, as soon as there is one; a comment after ``seconds`` of silence; None when the
        tab is closed and its queue empty."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        with self._lock:
            self._woken.clear()
            events = b"".join(self._queue.values())
            self._queue, self._queued_bytes = {}, 0
            if self._closed:
                # The next call must not wait: it returns None.
                self._woken.set()
                return events or None
        return events or b": here\n\n"

    def _wake(self) -> None:
        with suppress(RuntimeError):  # its loop has ended, and the connection with it
            self._loop.call_soon_threadsafe(self._woken.set)


class Tabs:
    """All open tabs. May be called from any thread."""

    def __init__(self, max_bytes: int = MAX_QUEUED_BYTES) -> None:
        self._lock = threading.Lock()
        self._tabs: set[Tab] = set()
        self._event_count, self._max_bytes = 0, max_bytes
        self._closed = False

    def __len__(self) -> int:
        return len(self._tabs)

    def send(self, kind: str, data: Json) -> None:
        """Send one event to every open tab."""
        with self._lock:
            self._event_count += 1
            if not self._tabs:
                return
            # A key that no other event has replaces nothing in a tab's queue.
            key: object = self._event_count
            if kind in _SUPERSEDED_BY_NEWER:
                key = (kind, data.get(_SUPERSEDED_BY_NEWER[kind] or ""))
            event = message(kind, data)
            for tab in self._tabs:
                tab.put(key, event)

    def close(self) -> None:
        """Say ``bye`` to every tab and end the connections; one that opens later ends at once."""
        self.send("bye", {})
        with self._lock:
            self._closed = True
            for tab in self._tabs:
                tab.close()

    @contextmanager
    def opened(self) -> Iterator[Tab]:
        """A new tab that gets all events sent within the block."""
        tab = Tab(self._max_bytes)
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
    """One event in the format of the stream; its id is the ``revision`` in ``data``, where there is one."""
    payload = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    lines = [f"event: {kind}", f"data: {payload}"]
    if "revision" in data:
        lines.insert(0, f"id: {data['revision']}")
    return ("\n".join(lines) + "\n\n").encode()


def event_stream(
    tabs: Tabs, hello: Callable[[], Json], *, heartbeat: float = HEARTBEAT_SECONDS
) -> StreamingResponse:
    """A response that stays open and sends the events of one new tab.

    The first event is ``hello()``: the revision at which the tab begins, by which the page knows whether it
    missed something. ``heartbeat``: seconds of silence after which a comment is sent.
    """

    async def stream() -> AsyncIterator[bytes]:
        with tabs.opened() as tab:
            # Only now, so that no change falls between the hello and the first event.
            yield _RECONNECT_AFTER + message("hello", hello())
            while (events := await tab.next_bytes(heartbeat)) is not None:
                yield events

    return StreamingResponse(stream(), media_type="text/event-stream", headers={"cache-control": "no-store"})
