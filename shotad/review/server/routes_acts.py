"""What the page shows of the film and its lines, and what a person does to them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shotad.core import OutOfDate, ReviewError, ShotadError, WorkFolderError
from shotad.review.kinds import Done, Json
from shotad.review.server.remembered import remember
from shotad.review.server.routes import get, post, value
from shotad.review.showing.details import line_detail
from shotad.review.showing.filmview import film_text

if TYPE_CHECKING:
    from shotad.review.server.bundle import Review

_LONGEST_NAME = 100
_BREATH = 1.5
"""Seconds before the voice is loaded that will be asked for."""

_GONE = "The film is not where it was. Start again with --film FILM to see and hear it."
_NO_FILM: Json = {"state": "none", "url": None, "type": "", "done": 0.0, "why": _GONE}
_NO_VOICE: Json = {"name": "", "title": "", "speed": 1.0, "choices": []}


def routes(review: Review) -> list[Route]:
    """See the module."""
    session, shown = review.session, threading.Event()

    def film(_: Request) -> Any:
        review.look()
        rooms = review.pictures
        if rooms is not None and not shown.is_set():
            shown.set()
            # Not at once: the page is being drawn, and the voice takes a moment of both cores.
            waiting = threading.Timer(_BREATH, rooms.hearing.warm)
            waiting.daemon = True
            waiting.start()
        jobs_version = review.jobs.version()
        text = film_text(
            session,
            findings=review.findings,
            playable=rooms.proxy.state() if rooms else _NO_FILM,
            voice=rooms.hearing.voices() if rooms else _NO_VOICE,
            jobs=review.jobs.views(),
            jobs_version=jobs_version,
            cast=review.people.view()["people"],
        )
        return Response(text.encode(), media_type="application/json")

    def line(request: Request) -> Any:
        name = request.path_params["line"]
        return with_frames(review, line_detail(session, name), session.cue(name).slot_id)

    def acts(_: Request, body: Json) -> Any:
        """What came of each act, in order: ``changed``, or ``refused`` with the reason and, for a conflict,
        the ``lines`` as they are now. With an ``error`` the rest was not tried: nothing can be written."""
        tab = value(body, "tab", str, "")
        answers: list[dict[str, Any]] = []
        for one in value(body, "acts", list):
            try:
                answers.append({"changed": review.publish(done(one if isinstance(one, dict) else {}, tab))})
            except WorkFolderError as error:
                return {"answers": answers, "error": _said(error)}
            except ShotadError as error:
                lines = None
                if isinstance(error, OutOfDate):
                    lines = review.lines_now((value(one, "line", str, ""),))
                answers.append({"refused": _said(error), "lines": lines})
        return {"answers": answers}

    def done(one: Json, tab: str) -> Done:
        name, line = value(one, "act", str), value(one, "line", str, "")
        by, number = value(one, "tab", str, tab), value(one, "number", int | None)
        asked = None if number is None else (by, number)
        if name in ("undo", "redo"):
            return (session.undo if name == "undo" else session.redo)(tab, asked)
        return session.act(
            name,
            line,
            value(one, "args", dict, {}),
            seen=value(one, "seen", str | None),
            origin=tab,
            group=value(one, "group", str, ""),
            asked=asked,
        )

    def reviewer(_: Request, body: Json) -> Any:
        name = " ".join(value(body, "name", str).split())
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise ReviewError("That is no name.", f"Write at most {_LONGEST_NAME} letters.")
        session.reviewer = name
        remember(session.folder, reviewer=name)
        review.tabs.tell("reviewer", {"reviewer": name})
        return {"reviewer": name}

    def accept_finding(_: Request, body: Json) -> Any:
        return {"accepted": review.findings.accept(value(body, "line", str), value(body, "rule", str))}

    return [
        get("/api/film", film),
        get("/api/lines/{line}", line),
        post("/api/acts", acts),
        post("/api/reviewer", reviewer),
        post("/api/findings/accept", accept_finding),
    ]


def with_frames(review: Review, detail: Json, slot: str | None) -> Json:
    """What is known of a line, with the frames that the model saw of its slot, where the film is there."""
    if review.pictures is None or slot is None:
        return {**detail, "frames": []}
    frames = [
        {
            "number": note.number,
            "seconds": note.seconds,
            "shot": note.shot,
            **note.extra,
            "url": f"/media/frames/{slot}/{note.number}.jpg",
            "painted_url": f"/media/frames/{slot}/{note.number}.jpg?painted=1",
        }
        for note in review.pictures.frames.notes(slot)
    ]
    return {**detail, "frames": frames}


def _said(error: ShotadError) -> Json:
    return {"what": error.what, "hint": error.hint}
