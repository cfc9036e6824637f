"""Long work, and the cast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import Route

from shotad.review.kinds import Json
from shotad.review.server.routes import get, post, texts, value
from shotad.review.server.security import Refused
from shotad.review.working import work

if TYPE_CHECKING:
    from shotad.review.server.bundle import Review
    from shotad.review.working.jobs import Work


def routes(review: Review) -> list[Route]:
    """See the module."""

    def start(_: Request, body: Json) -> Any:
        kind = value(body, "kind", str)
        if kind not in _KINDS:
            raise Refused(400, f"There is no kind of job {kind[:40]!r}. There is {', '.join(_KINDS)}.")
        title, asked = _KINDS[kind](review, body)
        return dict(review.jobs.start(kind, title, asked))

    def listed(_: Request) -> Any:
        return {"jobs": review.jobs.views()}

    def stop(request: Request, _: Json) -> Any:
        return dict(review.jobs.stop(request.path_params["job"]))

    def cast(_: Request) -> Any:
        return review.people.view()

    return [
        post("/api/jobs", start, status=202),
        get("/api/jobs", listed),
        post("/api/jobs/{job}/stop", stop),
        get("/api/cast", cast),
    ]


def _redo(review: Review, body: Json) -> tuple[str, Work]:
    lines, note = texts(body, "lines"), value(body, "note", str, "")
    over = value(body, "over_edits", bool, False)
    title = "Describe a line anew" if len(lines) == 1 else f"Describe {len(lines)} lines anew"
    return title, lambda progress: work.redo_line(review.session, progress, lines, note, over_edits=over)


def _export(review: Review, body: Json) -> tuple[str, Work]:
    formats = texts(body, "formats")
    return f"Export {', '.join(formats)}", lambda progress: work.export(review.session, progress, formats)


def _render(review: Review, body: Json) -> tuple[str, Work]:
    makes = texts(body, "makes")
    voice, profile = (value(body, name, str, "") for name in ("voice", "profile"))
    extended = None if body.get("extended") is None else value(body, "extended", bool)
    return f"Make {', '.join(makes)}", lambda progress: work.render_film(
        review.session, progress, makes, voice, profile, extended, speed=_speed(review, voice)
    )


def _speed(review: Review, voice: str) -> float | None:
    """The speed that was chosen with the voice; None: that of the settings."""
    if review.pictures is None:
        return None
    chosen = review.pictures.hearing.voices()
    return float(chosen["speed"]) if voice in ("", chosen["name"]) else None


def _name(review: Review, body: Json) -> tuple[str, Work]:
    person, name = value(body, "person", str), value(body, "name", str, "")
    said = {
        key: None if body.get(key) is None else value(body, key, kind)
        for key, kind in (("descriptor", str), ("pronoun", str), ("nameless", bool))
    }
    return f"Name {name or person}", lambda progress: review.people.name(progress, person, name, **said)


def _merge(review: Review, body: Json) -> tuple[str, Work]:
    person, into = value(body, "person", str), value(body, "into", str)
    return "Make two people one", lambda progress: review.people.merge(progress, person, into)


def _discover(review: Review, _: Json) -> tuple[str, Work]:
    return "Look for people", review.people.discover


_KINDS: Mapping[str, Callable[[Review, Json], tuple[str, Work]]] = {
    "redo": _redo,
    "export": _export,
    "render": _render,
    "name": _name,
    "merge": _merge,
    "discover": _discover,
}
