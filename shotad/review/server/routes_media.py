"""Film, sound and pictures, and the files that jobs have made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shotad.review.server.media import FileAnswer, inside
from shotad.review.server.remembered import remember
from shotad.review.server.routes import get, post, value
from shotad.review.server.security import Refused

if TYPE_CHECKING:
    from shotad.review.kinds import Json, Picture
    from shotad.review.server.bundle import Review

_KINDS: Mapping[str, Literal["mix", "voice", "programme"]] = {
    "mix": "mix",
    "voice": "voice",
    "programme": "programme",
}
_KEPT = "private, max-age=31536000, immutable"
"""For what has its content in its name."""


def routes(review: Review) -> list[Route]:
    """See the module."""

    def film(_: Request) -> Any:
        rooms = review.watched()
        return FileAnswer(rooms.film, str(rooms.proxy.state()["type"]).partition(";")[0] or "video/mp4")

    def proxy(_: Request) -> Any:
        path = review.watched().proxy.path
        if path is None:
            raise HTTPException(404)
        return FileAnswer(path, "video/mp4")

    def hear(request: Request) -> Any:
        kind = _KINDS.get(request.query_params.get("kind", "mix"))
        if kind is None:
            raise Refused(400, f"kind must be one of {', '.join(_KINDS)}.")
        heard = review.watched().hearing.hear(review.session.track, request.path_params["line"], kind)
        return {
            "url": f"/media/heard/{review.keep_heard(heard.path)}",
            "start": heard.start,
            "seconds": heard.seconds,
            "line": None if heard.line is None else list(heard.line),
            "warnings": list(heard.warnings),
            "text": heard.text,
            "steps": list(heard.steps),
            "settled": heard.settled,
        }

    def sound(request: Request) -> Any:
        path = review.heard(request.path_params["name"])
        return FileAnswer(path, f"audio/{path.suffix.lower().removeprefix('.')}", _KEPT)

    def voice(_: Request, body: Json) -> Any:
        hearing = review.watched().hearing
        name, speed = value(body, "name", str), float(value(body, "speed", int | float, 1.0))
        hearing.set_voice(name, speed)
        remember(review.session.folder, voice={"name": name, "speed": speed})
        view = hearing.voices()
        review.tabs.tell("voice", view)
        return dict(view)

    def frame(request: Request) -> Any:
        slot, number = request.path_params["slot"], request.path_params["number"]
        painted = request.query_params.get("painted") == "1"
        return _picture(request, review.watched().frames.picture(slot, number, painted))

    def shot(request: Request) -> Any:
        return _picture(request, review.watched().strip.picture(request.path_params["index"]))

    def person(request: Request) -> Any:
        key, number = request.path_params["key"], request.path_params["number"]
        return _picture(request, review.people.picture(key, number))

    def file(request: Request) -> Any:
        path = inside(review.session.folder, review.jobs.made(request.path_params["name"]))
        return FileAnswer(path, "application/octet-stream", download=path.name)

    def make_proxy(_: Request, __: Json) -> Any:
        proxy = review.watched().proxy
        proxy.start()
        return dict(proxy.state())

    # Sounds and pictures take seconds to make: what they may occupy never holds up a saved edit.
    sounds, pictures = _Limit(2), _Limit(3)
    return [
        get("/media/film", film),
        get("/media/proxy", proxy),
        post("/api/proxy", make_proxy),
        get("/api/hear/{line}", hear, limiter=sounds),
        get("/media/heard/{name}", sound),
        post("/api/voice", voice),
        get("/media/frames/{slot}/{number:int}.jpg", frame, limiter=pictures),
        get("/media/shots/{index:int}.jpg", shot, limiter=pictures),
        get("/media/person/{key}/{number:int}.jpg", person, limiter=pictures),
        get("/files/{name}", file),
    ]


class _Limit:
    """A number of threads; made when first asked for, for it belongs to a running loop."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._limiter: anyio.CapacityLimiter | None = None

    def __call__(self) -> anyio.CapacityLimiter:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self._threads)
        return self._limiter


def _picture(request: Request, picture: Picture) -> Response:
    headers = {"etag": f'"{picture.key}"', "cache-control": "private, no-cache"}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    return Response(picture.data, media_type=picture.media_type, headers=headers)
