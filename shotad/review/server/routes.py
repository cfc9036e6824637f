"""What all routes share: a handler in a thread that reads JSON and answers JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shotad.review.server.security import MOST_BYTES, Refused, read_body

Handler = Callable[..., Any]
_NAMES: Mapping[object, str] = {
    str: "text",
    dict: "an object",
    list: "a list",
    bool: "true or false",
    int | float: "a number",
    str | None: "text",
    int | None: "a number",
}


def get(path: str, handler: Handler, *, limiter: Callable[[], anyio.CapacityLimiter] | None = None) -> Route:
    """A route that answers what ``handler(request)`` returns: JSON, or an answer as it is."""

    async def answer(request: Request) -> Any:
        limit = None if limiter is None else limiter()
        return _answered(await anyio.to_thread.run_sync(handler, request, limiter=limit))

    return Route(path, answer, methods=["GET"])


def post(path: str, handler: Handler, *, status: int = 200) -> Route:
    """A route that reads a JSON object and answers what ``handler(request, body)`` returns."""

    async def answer(request: Request) -> Any:
        body = read_body(await _read(request))
        return _answered(await anyio.to_thread.run_sync(handler, request, body), status)

    return Route(path, answer, methods=["POST"])


def value(body: Mapping[str, Any], name: str, kind: type | UnionType, default: Any = None) -> Any:
    """A value of a request. Raises Refused where it is missing and there is no default, or is no ``kind``."""
    found = body.get(name, default)
    if not isinstance(found, kind):
        raise Refused(400, f"{name} must be {_NAMES.get(kind, str(kind))}.")
    return found


def texts(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts in a request. Raises Refused."""
    found = value(body, name, list)
    if not all(isinstance(one, str) for one in found):
        raise Refused(400, f"{name} must be a list of texts.")
    return tuple(found)


def _answered(found: Any, status: int = 200) -> Any:
    if not isinstance(found, dict | list):
        return found
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode(), status, media_type="application/json")


async def _read(request: Request) -> bytes:
    """The body of a request, of which no more is read than a page may send."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise Refused(413, "That is more than a page ever sends.")
        parts.append(part)
    return b"".join(parts)
