"""The review page's server as an application: which address answers what.

Everything that an answer says comes from the other rooms; here a request is read, the right one is asked, and
what it says is sent. All that may touch a disk or wait for a lock runs in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request

from shotad.core import ShotadError, WorkFolderError
from shotad.review.server import routes_acts, routes_media, routes_page, routes_work
from shotad.review.server.security import Guard, Refused, answer_error

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from shotad.review.server.bundle import Review

_LOOK = 1.0
"""Seconds between two looks at whether another program has changed the track."""


def make_app(review: Review) -> ASGIApp:
    """The application, behind its guard. It watches the disk as long as it runs."""

    @asynccontextmanager
    async def alive(_: Starlette) -> AsyncIterator[None]:
        watching = asyncio.ensure_future(_watch(review))
        try:
            yield
        finally:
            watching.cancel()

    rooms = (routes_page, routes_acts, routes_media, routes_work)
    app = Starlette(
        routes=[route for room in rooms for route in room.routes(review)],
        exception_handlers={HTTPException: _refuse, ShotadError: _say},
        lifespan=alive,
    )
    app.router.redirect_slashes = False
    return Guard(app, review.keys, review.hosts)


async def _watch(review: Review) -> None:
    while True:
        await asyncio.sleep(_LOOK)
        if len(review.tabs):
            await anyio.to_thread.run_sync(review.look)


class _Answer:
    """An error as an answer; an ASGI application."""

    def __init__(self, status: int, error: ShotadError) -> None:
        self._status, self._error = status, error

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await answer_error(scope, send, self._status, self._error)


def _refuse(_: Request, error: Exception) -> Any:
    """Addresses and methods that there are not."""
    assert isinstance(error, HTTPException)
    texts = {404: "There is no such page.", 405: "That cannot be done with this address."}
    return _Answer(error.status_code, ShotadError(texts.get(error.status_code, "That is not understood.")))


async def _say(request: Request, error: Exception) -> Any:
    """What cannot be done, and why."""
    assert isinstance(error, ShotadError)
    if isinstance(error, Refused):
        return _Answer(error.status, error)
    if isinstance(error, WorkFolderError):
        return _Answer(500, error)
    return _Answer(400 if request.url.path.startswith("/api/") else 404, error)
