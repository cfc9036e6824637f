"""The page itself, its files, and the news for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shotad.core import ReviewError
from shotad.review.server.events import EventStream
from shotad.review.server.media import FileAnswer, inside
from shotad.review.server.routes import get

if TYPE_CHECKING:
    from shotad.review.server.bundle import Review

WEB = Path(__file__).parents[1] / "web"

MEDIA_TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
"""Of the page's own files; what is none of these is not served."""


def routes(review: Review) -> list[Route]:
    """See the module."""

    def page(_: Request) -> Any:
        return _file("index.html")

    def file(request: Request) -> Any:
        return _file(request.path_params["name"])

    def icon(_: Request) -> Any:
        return Response(status_code=204)

    async def events(_: Request) -> Any:
        return EventStream(
            review.tabs,
            lambda: {"revision": review.session.revision, "findings": review.findings.version},
        )

    return [
        get("/", page),
        get("/web/{name}", file),
        get("/favicon.ico", icon),
        Route("/api/events", events, methods=["GET"]),
    ]


def _file(name: str) -> FileAnswer:
    kind = MEDIA_TYPES.get(Path(name).suffix)
    try:
        path = inside(WEB, name)
    except ReviewError:
        raise HTTPException(404) from None
    if kind is None:
        raise HTTPException(404)
    return FileAnswer(path, kind)
