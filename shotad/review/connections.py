"""The connections of the review page's server: how many there may be, who has to go when there are too many,
and how long a request may take to arrive.

uvicorn by itself takes any number of connections and waits without end for the rest of a request. Its
``limit_concurrency`` is no help: it answers 503 to everybody, the person at the page included. Here a new
connection is always taken, and another one closed for it: one that has not shown the page's cookie before one
that has, and of each kind the one that has been of least use. So whoever opens thousands of connections only
closes his own, and the person at the page goes on.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from shotad.core.files import is_busy
from shotad.core.system import most_open_files

_LOG = logging.getLogger(__name__)

REQUEST_SECONDS = 20.0
"""For a whole request to arrive, head and body, from its first byte or from when the connection was opened.
The page sends a megabyte at most, except for a film: of that each piece has so long."""

_MOST, _FEWEST = 128, 16
"""Connections at once. A browser has six for all tabs of a page."""
_FILES_EACH = 8
"""Open files that the system must allow for each connection: its socket and the file that is sent. The rest
are for connections that are being opened and closed, and for films, voices and models."""

_SHARE_OF_STRANGERS = 2
"""One in so many connections may be one on which nobody has shown the cookie, whoever holds the others."""
_SHARE_AT_ONCE = 16
"""One in so many is accepted at once. The loop accepts some more before it has read what the first ones ask,
and those must not be closed as strangers meanwhile."""

LET_IN = "shotad.let_in"
"""Extension of an ASGI scope: called for a request that comes from the page, with ``is_long=True`` where its
body is a film."""


def most_connections() -> int:
    """How many connections a server may have at once, by the number of files that it may open."""
    files = most_open_files()
    if files is None:
        return _MOST
    return max(_FEWEST, min(_MOST, files // _FILES_EACH))


class Seldom:
    """Says whether something should be logged: each thing once, and then no more than once in ``seconds``.

    For faults that whoever asks can bring about as often as he likes. May be used by several threads.
    """

    def __init__(self, seconds: float = 60.0, most: int = 200) -> None:
        """``most`` is how many things are kept apart; beyond that they count as one."""
        self._seconds, self._most = seconds, most
        self._last: dict[object, float] = {}
        self._lock = threading.Lock()

    def allows(self, thing: object) -> bool:
        now = time.monotonic()
        with self._lock:
            if thing not in self._last and len(self._last) >= self._most:
                thing = None
            last = self._last.get(thing)
            if last is not None and now - last < self._seconds:
                return False
            self._last[thing] = now
            return True


class Connections:
    """All open connections of a server. For the event loop's thread alone.

    ``protocol`` is what uvicorn makes of each connection (``uvicorn.Config.http``). Somebody has to call
    `close_overdue` every second or so.
    """

    def __init__(self, most: int | None = None, *, request_seconds: float = REQUEST_SECONDS) -> None:
        """``most``: how many there may be at once (None: as `most_connections`)."""
        self.most = most_connections() if most is None else most
        self.protocol: Callable[..., asyncio.Protocol] = partial(_Connection, self)
        self._request_seconds = request_seconds
        self._open: set[_Connection] = set()
        self._told = Seldom()

    @property
    def accepted_at_once(self) -> int:
        """How many connections may be taken before the first of them is looked at (uvicorn's ``backlog``)."""
        return max(1, self.most // _SHARE_AT_ONCE)

    def add(self, new: _Connection) -> None:
        """Take in a new connection, and close another where there are too many."""
        self._open.add(new)
        if len(self._open) > self.most:
            self._first_to_go(spared=new).abort()

    def remove(self, connection: _Connection) -> None:
        self._open.discard(connection)

    def close_overdue(self) -> None:
        """Close the connections on which a request has taken too long to arrive."""
        before = time.monotonic() - self._request_seconds
        for connection in tuple(self._open):
            if connection.owes_since is not None and connection.owes_since < before:
                connection.abort()

    def abort_all(self) -> None:
        """Close every connection at once."""
        for connection in tuple(self._open):
            connection.abort()

    def handle_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An exception handler for the event loop.

        asyncio tells of each connection that it cannot take since no file may be opened any more, with a
        traceback, and tries again at once. Here that is logged once a minute, and connections of strangers
        are closed, so that there are files again.
        """
        error = context.get("exception")
        if not isinstance(error, OSError) or not is_busy(error):
            loop.default_exception_handler(context)
            return
        strangers = [connection for connection in self._open if not connection.let_in]
        for connection in strangers:
            connection.abort()
        if self._told.allows(error.args[:1]):
            _LOG.warning(
                "No connection can be taken just now: %s. Edits wait in the browser until one can.",
                error.strerror,
            )

    def _first_to_go(self, spared: _Connection) -> _Connection:
        closable = [connection for connection in self._open if connection is not spared]
        strangers = [connection for connection in closable if not connection.let_in]
        visitors = [connection for connection in closable if connection.let_in]
        # A few places are for strangers: everybody is one until his first request is read.
        is_for_strangers = len(strangers) <= self.most // _SHARE_OF_STRANGERS and bool(visitors)
        candidates = visitors if is_for_strangers else strangers
        return min(candidates, key=lambda connection: (connection.need, connection.last_use))


class _Connection(H11Protocol):
    """One connection, as uvicorn has it, with what `Connections` has to know of it.

    ``let_in``: a request on it came from the page. ``last_use`` is when something last went over it, for a
    stranger when it was opened: whoever sends a byte each second is not preferred. ``owes_since`` is since
    when the rest of a request is waited for, None where none is.
    """

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._all = connections
        self._inner, self.app = self.app, self._answer
        self.let_in = self._has_begun = self._is_long = False
        self.last_use = time.monotonic()
        self.owes_since: float | None = self.last_use

    @property
    def need(self) -> int:
        """How much somebody needs the connection, from 0: nobody reads what is sent; nobody asks anything; it
        sends, or is being asked something; the whole of a request waits for its answer."""
        cycle = self.cycle
        if self.flow is not None and self.flow.write_paused:
            return 0
        if cycle is None or cycle.response_complete:
            return 1
        return 2 if cycle.response_started or cycle.more_body else 3

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._all.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._has_begun:
            # Browsers open connections before they have anything to ask: its first request begins here.
            self._has_begun, self.owes_since = True, None
        super().data_received(data)
        self._used()
        if self._is_long:
            self.owes_since = None  # counted anew from this piece on
        self._see_what_is_owed()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._is_long = False
        # The next request may have begun behind the one that was answered.
        self._see_what_is_owed()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._used()

    def abort(self) -> None:
        """Close it at once, whatever was still to be sent: whoever does not read would keep it open."""
        self._all.remove(self)
        self.transport.abort()

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        def welcome(*, is_long: bool = False) -> None:
            self.let_in, self._is_long = True, is_long
            self._used()

        async def send_and_note(message: Any) -> None:
            await send(message)
            self._used()

        extensions = {**scope.get("extensions", {}), LET_IN: welcome}
        await self._inner({**scope, "extensions": extensions}, receive, send_and_note)

    def _used(self) -> None:
        if self.let_in:
            self.last_use = time.monotonic()

    def _see_what_is_owed(self) -> None:
        state = self.conn.their_state
        # Between two requests nothing is owed: uvicorn closes what is idle for too long.
        is_in_head = state is h11.IDLE and (self.cycle is None or bool(self.conn.trailing_data[0]))
        if not is_in_head and state is not h11.SEND_BODY:
            self.owes_since = None
        elif self.owes_since is None:
            self.owes_since = time.monotonic()
