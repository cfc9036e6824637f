"""The review page's application: which address answers what.

Everything that an answer says comes from elsewhere; here a request is read, the right object is asked, and
what it says is sent. All that may touch a disk or wait for a lock runs in a thread.
"""

from __future__ import annotations

import asyncio
import logging
import mimetypes
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from types import UnionType
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from shotad.core import ShotadError
from shotad.core.errors import (
    CastError,
    OutdatedLine,
    ReviewError,
    WorkFolderError,
)
from shotad.review.details import line_detail
from shotad.review.events import Json, Tabs, event_stream
from shotad.review.imports import ScriptImports
from shotad.review.jobs import Work
from shotad.review.line_preview import WavStream
from shotad.review.messages import Sentence, fault_view, message, refusal, sentence_view, with_texts
from shotad.review.parts import Review, remember
from shotad.review.security import (
    MOST_BYTES,
    Guard,
    Hosts,
    Keys,
    RequestRefused,
    error_answer,
    fault_answer,
    read_body,
    too_large,
    upload_limit,
)
from shotad.review.timeline import Change, RequestId
from shotad.review.views import FIRST_CHECK_DELAY, conflict_view, film_view
from shotad.review.waveform import PEAKS_A_SECOND
from shotad.review.work import ask_film, export, redo_line, render_film, transcribe_film, transcript_view
from shotad.script.cue import MAX_TEXT_LENGTH
from shotad.sound import read_lexicon
from shotad.sound.film_lexicon import film_lexicon, set_saying
from shotad.sound.recordings import keep_recording, read_recording, recording_file
from shotad.sound.spoken_lines import pronunciations

_LOG = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""Seconds between two looks at whether another program has changed the track."""


def make_app(review: Review, keys: Keys, hosts: Hosts) -> ASGIApp:
    """The application of one review, behind its guard."""
    return Guard(review_app(review), keys, hosts)


async def look_for_changes(review: Review) -> None:
    """Take in what other programs have changed of a review that somebody looks at."""
    if len(review.tabs):
        await anyio.to_thread.run_sync(review.look)
        if review.pictures is not None:
            await anyio.to_thread.run_sync(review.pictures.proxy.look)


def review_app(review: Review) -> ASGIApp:
    """The application of one review, without a guard. It watches the disk as long as it runs."""

    async def look() -> None:
        await look_for_changes(review)

    def hello() -> Json:
        return {"revision": review.session.revision, "findings": review.findings.version}

    routes = (
        *acts_routes(review),
        *media_routes(review),
        *import_routes(review),
        *work_routes(review),
        *voice_routes(review),
    )
    return page_app("index.html", routes, tabs=review.tabs, hello=hello, look=look)


def page_app(
    html: str,
    routes: Iterable[BaseRoute],
    *,
    tabs: Tabs,
    hello: Callable[[], Json],
    look: Callable[[], Awaitable[None]],
) -> ASGIApp:
    """A page of the folder ``web`` with what it loads, its stream of events (`event_stream`) and ``routes``.

    ``look`` is awaited every `LOOK_SECONDS` as long as the application runs. There is no guard.
    """

    @asynccontextmanager
    async def alive(_: Starlette) -> AsyncIterator[None]:
        async def watch() -> None:
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                await look()

        watching = asyncio.ensure_future(watch())
        try:
            yield
        finally:
            watching.cancel()

    async def events(request: Request) -> Any:
        if request.method == "HEAD":  # an answer without a body has an end
            return Response(media_type="text/event-stream")
        return event_stream(tabs, hello)

    app = Starlette(
        routes=[
            get("/", lambda _: FileResponse(WEB / html)),
            Mount("/web", StaticFiles(directory=WEB)),
            get("/favicon.ico", lambda _: Response(status_code=204)),
            Route("/api/events", events, methods=["GET"]),
            *routes,
        ],
        exception_handlers=EXCEPTION_HANDLERS,
        lifespan=alive,
    )
    app.router.redirect_slashes = False
    return app


async def _refuse(request: Request, error: Exception) -> Response:
    """What cannot be done, and why; also addresses and methods that there are not."""
    status = 400 if request.url.path.startswith("/api/") else 404
    if isinstance(error, HTTPException):
        status = error.status_code
        keys = {404: "server.no_page", 405: "server.wrong_method"}
        error = with_texts(ShotadError, keys.get(status, "server.not_understood"))
    elif isinstance(error, RequestRefused):
        status = error.status
    elif isinstance(error, WorkFolderError):
        status = 500
    assert isinstance(error, ShotadError)
    return error_answer(request.scope, status, error)


async def _failed(request: Request, error: Exception) -> Response:
    """What Starlette answers to a fault, which it raises again for the guard to log."""
    return fault_answer(request.scope, error)


EXCEPTION_HANDLERS: Mapping[Any, Any] = {
    HTTPException: _refuse,
    ShotadError: _refuse,
    Exception: _failed,
}
"""What an application answers where something is raised."""


Handler = Callable[..., Any]


def get(path: str, handler: Handler, *, limiter: anyio.CapacityLimiter | None = None) -> Route:
    """A route that answers what ``handler(request)`` returns: JSON, or an answer as it is."""

    async def answer(request: Request) -> Any:
        return _answered(await anyio.to_thread.run_sync(handler, request, limiter=limiter))

    return Route(path, answer, methods=["GET"])


async def _body(request: Request, limit: int, problem: str) -> bytes:
    """The body of a request. Raises RequestRefused with ``problem`` for more than ``limit`` bytes."""
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > limit:  # no more is read than a page may send
            raise RequestRefused(413, problem)
    return bytes(data)


def post(
    path: str, handler: Handler, *, status: int = 200, limiter: anyio.CapacityLimiter | None = None
) -> Route:
    """A route that reads a JSON object and answers what ``handler(request, body)`` returns."""

    async def answer(request: Request) -> Any:
        body = read_body(await _body(request, MOST_BYTES, "That is more than a page ever sends."))
        result = await anyio.to_thread.run_sync(handler, request, body, limiter=limiter)
        return _answered(result, status)

    return Route(path, answer, methods=["POST"])


def upload(path: str, handler: Handler, *, limiter: anyio.CapacityLimiter | None = None) -> Route:
    """A route that reads a file, one of `UPLOADS`, and answers what ``handler(request, data)`` returns."""

    async def answer(request: Request) -> Any:
        limit = upload_limit(request.url.path)
        assert limit is not None
        data = await _body(request, limit, too_large(limit))
        return _answered(await anyio.to_thread.run_sync(handler, request, data, limiter=limiter))

    return Route(path, answer, methods=["POST"])


_LARGEST_COUNT = 2**53
"""Whole numbers that a browser can count to."""
_LONGEST_ITEM = 200
"""Characters of one text in a list: an id, a format."""


def value(body: Mapping[str, Any], name: str, kind: type | UnionType, default: Any = None) -> Any:
    """A value of a request. Raises Refused where it is missing and there is no default, is no ``kind``, or is
    longer or larger than the page ever sends."""
    field_value = body.get(name, default)
    # To Python True is a whole number, to the page it is none.
    is_odd = isinstance(field_value, bool) and kind is not bool
    if is_odd or not isinstance(field_value, kind):
        raise RequestRefused(400, f"{name} is missing, or is not what the page sends.")
    if isinstance(field_value, str) and len(field_value) > MAX_TEXT_LENGTH:
        raise RequestRefused(
            400, f"{name} has {len(field_value)} characters; the page sends {MAX_TEXT_LENGTH} at most."
        )
    if isinstance(field_value, int) and abs(field_value) > _LARGEST_COUNT:
        raise RequestRefused(400, f"{name} is a larger number than the page ever sends.")
    return field_value


def texts(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts in a request. Raises Refused."""
    items = value(body, name, list)
    if not all(isinstance(item, str) and len(item) <= _LONGEST_ITEM for item in items):
        raise RequestRefused(400, f"{name} must be a list of texts of {_LONGEST_ITEM} characters at most.")
    return tuple(items)


class _PlaceConvertor(Convertor[int]):
    """A number in an address: Starlette's own takes so many digits that Python refuses to read them."""

    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("place", _PlaceConvertor())


def _answered(result: Any, status: int = 200) -> Any:
    return JSONResponse(result, status) if isinstance(result, dict | list) else result


WEB = Path(__file__).parent / "web"

mimetypes.add_type("text/javascript", ".js")  # on some systems it is said to be plain text


_LONGEST_NAME = 100
_BREATH = 1.5
"""Seconds before the voice is loaded that will be asked for."""

_GONE = message("film.gone")
_NO_FILM: Json = {"state": "none", "url": None, "done": 0.0, "why": _GONE.view()}
_NO_VOICE: Json = {"name": "", "notice": "", "choices": [], "subtitles": False}


def acts_routes(review: Review) -> list[Route]:
    session, shown = review.session, threading.Event()

    def warm() -> None:
        review.watched().preview.warm()
        if review.are_subtitles_wanted:
            with suppress(ReviewError):  # the review is being closed
                review.hear_subtitles()

    def film(_: Request) -> Any:
        review.look()
        pictures = review.pictures
        if pictures is not None and not shown.is_set():
            shown.set()
            review.findings.update(FIRST_CHECK_DELAY)  # counted from now: this answer goes first
            # Not at once: the page is being drawn, and the voice takes a moment of both cores.
            waiting = threading.Timer(_BREATH, warm)
            waiting.daemon = True
            waiting.start()
        # Before what they tell of: what changes in between makes them too old, and the page asks again.
        jobs_version, revision, findings = review.jobs.version(), session.revision, review.findings.summary()
        return film_view(
            session,
            revision=revision,
            findings=findings,
            lines=review.lines.all(),
            playable=pictures.proxy.state() if pictures else _NO_FILM,
            voice=pictures.preview.voices() if pictures else _NO_VOICE,
            jobs=review.jobs.views(),
            jobs_version=jobs_version,
            transcript=transcript_view(session),
        )

    def line(request: Request) -> Any:
        name, frames = request.path_params["line"], []
        cue = session.cue(name)
        detail, slot = line_detail(session, name), cue.slot_id
        if review.pictures is not None and slot is not None:
            for note in review.pictures.frames.notes(slot):
                url = f"/media/frames/{slot}/{note.number}.jpg"
                frames.append({**asdict(note), "url": url, "painted_url": f"{url}?painted=1"})
        return {**detail, "frames": frames, "material": review.material.view(cue)}

    def acts(_: Request, body: Json) -> Any:
        """What came of each act, in order: ``changed``, or ``refused`` with the reason and, for a conflict,
        the ``lines`` as they are now. With an ``error`` the rest was not tried: nothing can be written."""
        tab = value(body, "tab", str, "")
        answers: list[dict[str, Any]] = []
        for act in value(body, "acts", list):
            try:
                answers.append({"changed": apply_act(act if isinstance(act, dict) else {}, tab).view})
            except WorkFolderError as error:
                return {"answers": answers, "error": fault_view(error)}
            except ShotadError as error:
                lines = None
                if isinstance(error, OutdatedLine):
                    lines = conflict_view(session, value(act, "line", str, ""), review.findings)
                answers.append({"refused": fault_view(error), "lines": lines})
        return {"answers": answers}

    def apply_act(act: Json, tab: str) -> Change:
        name, line = value(act, "act", str), value(act, "line", str, "")
        by, number = value(act, "tab", str, tab), value(act, "number", int | None)
        request_id = None if number is None else RequestId(by, number)
        if name in ("undo", "redo"):
            return (session.undo if name == "undo" else session.redo)(tab, request_id)
        return session.act(
            name,
            line,
            value(act, "args", dict, {}),
            seen_stamp=value(act, "seen", str | None),
            origin=tab,
            group=value(act, "group", str, ""),
            request_id=request_id,
        )

    def reviewer(_: Request, body: Json) -> Any:
        name = " ".join(value(body, "name", str).split())
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise refusal("server.no_name", number=_LONGEST_NAME)
        session.reviewer = name
        remember(session.folder, reviewer=name)
        review.tabs.send("reviewer", {"reviewer": name})
        return {"reviewer": name}

    # Threads of their own: whatever else is asked for meanwhile, an edit does not wait for one.
    edits = anyio.CapacityLimiter(8)
    return [
        get("/api/film", film),
        get("/api/lines/{line}", line),
        post("/api/acts", acts, limiter=edits),
        post("/api/reviewer", reviewer),
    ]


_REVALIDATED, _IMMUTABLE = "private, no-cache", "private, max-age=31536000, immutable"
"""What browsers may keep: nothing without asking again, or, of what has its content in its name, all."""


def media_routes(review: Review) -> list[Route]:

    def film(_: Request) -> Any:
        pictures = review.watched()
        return _file(pictures.film, pictures.proxy.media_type or "video/mp4", _REVALIDATED)

    def proxy(_: Request) -> Any:
        path = review.watched().proxy.path
        if path is None:
            raise HTTPException(404)
        return _file(path, "video/mp4", _REVALIDATED)

    def hear(request: Request) -> Any:
        kind = request.query_params.get("kind", "mix")
        line_sound = review.watched().preview.hear(review.session.track, request.path_params["line"], kind)
        view = asdict(line_sound)
        view["warnings"] = [sentence_view(warning) for warning in line_sound.warnings]
        path = view.pop("path")
        return view if path is None else {"url": f"/media/heard/{path.name}", **view}

    def spoken(request: Request) -> Any:
        start, end = _second(request, "from"), _second(request, "to")
        end = min(end, start + _LONGEST_LOOK)
        return review.watched().preview.spoken_between(review.session.track, start, max(start, end))

    async def soundtrack(request: Request) -> Response:
        def stream() -> WavStream:
            preview = review.watched().preview
            return preview.stream(review.session.track, request.path_params["kind"], _second(request, "from"))

        return sent_wav(request, await anyio.to_thread.run_sync(stream, limiter=sounds), streams)

    def sound(request: Request) -> Any:
        path = inside(review.watched().preview.folder, request.path_params["name"])
        return _file(path, "audio/wav", _IMMUTABLE)

    def waveform(_: Request) -> Any:
        peaks = review.watched().waveform.peaks()
        if peaks is None:
            return Response(status_code=204)  # the tabs are told when they are there
        headers = {"x-peaks-a-second": str(PEAKS_A_SECOND), "cache-control": _REVALIDATED}
        return Response(peaks, media_type="application/octet-stream", headers=headers)

    def frame(request: Request) -> Any:
        slot, number = request.path_params["slot"], request.path_params["number"]
        painted = request.query_params.get("painted") == "1"
        return _picture(request, review.watched().frames.picture(slot, number, painted))

    def moment(request: Request) -> Any:
        second = review.material.moment(request.path_params["milliseconds"])
        kept_picture = review.material.kept_picture(second)
        return _picture(
            request, kept_picture if kept_picture is not None else review.watched().frames.at(second)
        )

    def person(request: Request) -> Any:
        key, number = request.path_params["key"], request.path_params["number"]
        return _picture(request, review.people.picture(key, number))

    def file(request: Request) -> Any:
        path = inside(review.session.folder, review.jobs.made(request.path_params["name"]))
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    def make_proxy(_: Request, __: Json) -> Any:
        proxy = review.watched().proxy
        proxy.start()
        return dict(proxy.state())

    # Sounds and pictures take seconds to make: what they may occupy never holds up a saved edit.
    sounds, pictures = anyio.CapacityLimiter(2), anyio.CapacityLimiter(3)
    streams = anyio.CapacityLimiter(3)
    return [
        get("/media/film", film),
        get("/media/proxy", proxy),
        post("/api/proxy", make_proxy),
        get("/api/hear/{line}", hear, limiter=sounds),
        get("/api/spoken", spoken, limiter=sounds),
        Route("/media/sound/{kind}.wav", soundtrack, methods=["GET"]),
        get("/media/heard/{name}", sound),
        get("/media/waveform", waveform),
        get("/media/frames/{slot}/{number:place}.jpg", frame, limiter=pictures),
        get("/media/moments/{milliseconds:place}.jpg", moment, limiter=pictures),
        get("/media/person/{key}/{number:place}.jpg", person, limiter=pictures),
        get("/files/{name}", file),
    ]


_LONGEST_LOOK = 120.0
"""Seconds of film for which captions are asked for at once, at most: each may have to be spoken first."""


def _second(request: Request, name: str) -> float:
    """A film second in an address; 0 where there is none. Raises RequestRefused."""
    text = request.query_params.get(name, "0")
    try:
        second = float(text)
    except ValueError:
        second = -1.0
    if not 0 <= second < _LARGEST_COUNT:
        raise RequestRefused(400, f"{name} is {text[:40]!r}, which is no second of a film.")
    return second


def sent_wav(request: Request, stream: WavStream, limiter: anyio.CapacityLimiter) -> Response:
    """A WAV file that is made while it is sent, or the part of it that a player asks for.

    Nothing more is made when whoever asked has gone, and no more than the connection takes.
    """
    headers = {
        "accept-ranges": "bytes",
        "cache-control": "no-store",
        "etag": f'"{stream.version}"',
    }
    begin, end, status = 0, stream.size, 200
    requested_range = byte_range(request.headers.get("range", ""), stream.size)
    if requested_range is not None:
        begin, end = requested_range
        status = 206
        if begin >= end:
            headers["content-range"] = f"bytes */{stream.size}"
            return Response(status_code=416, headers=headers)
        headers["content-range"] = f"bytes {begin}-{end - 1}/{stream.size}"
    headers["content-length"] = str(end - begin)
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type="audio/wav")

    async def parts() -> AsyncIterator[bytes]:
        body = stream.parts(begin, end)
        try:
            while True:
                part = await anyio.to_thread.run_sync(next, body, None, limiter=limiter)
                if part is None:
                    return
                yield part
        except ShotadError as error:
            # Its beginning is sent: all that is left is to break off, as a player understands it.
            _LOG.warning("The sound breaks off: %s", error)
            raise ConnectionAbortedError(str(error)) from error
        finally:
            body.close()

    return StreamingResponse(parts(), status_code=status, headers=headers, media_type="audio/wav")


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """The bytes ``[begin, end)`` that a Range header asks for of ``size``; empty where there are none such.

    None: all of it is sent, also where several parts are asked for, as RFC 9110 allows.
    ``bytes=0-99 → (0, 100)``, ``bytes=-5 → (size - 5, size)``
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None or not (match["first"] or match["last"]):
        return None
    if not match["first"]:
        return max(0, size - int(match["last"])), size
    first = int(match["first"])
    end = size if not match["last"] else min(size, int(match["last"]) + 1)
    if match["last"] and int(match["last"]) < first:
        return None
    return first, max(end, 0)


_RANGE = re.compile(r"bytes=(?P<first>[0-9]{0,18})-(?P<last>[0-9]{0,18})")


def inside(folder: Path, name: str) -> Path:
    """The file called ``name`` in ``folder``. Raises ReviewError where that leads to another place by name
    or by link, and where there is none."""
    try:
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()) and path.is_file():
            return path
    except (OSError, ValueError):
        pass
    raise refusal("server.no_file")


def _file(path: Path, kind: str, cache: str) -> FileResponse:
    """A file, or the part of it that a player asks for."""
    if not path.is_file():
        raise refusal("server.file_gone", file=path.name)
    return FileResponse(path, media_type=kind, headers={"cache-control": cache})


def _picture(request: Request, jpeg: bytes) -> Response:
    headers = {"etag": f'"{sha256(jpeg).hexdigest()[:16]}"', "cache-control": "private, no-cache"}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    return Response(jpeg, media_type="image/jpeg", headers=headers)


def voice_routes(review: Review) -> list[Route]:
    """How lines are spoken: people's own recordings."""
    session = review.session

    def record(request: Request, data: bytes) -> Any:
        """Keep a recording as that of a line: one step that can be undone."""
        line = request.path_params["line"]
        query = request.query_params
        cue = session.cue(line)
        sound = read_recording(data)
        recording = keep_recording(session.folder, cue, sound)
        change = session.act(
            "record", line, asdict(recording), seen_stamp=query.get("seen"), origin=query.get("tab", "")
        )
        return {
            "changed": change.view,
            "seconds": recording.seconds,
            "warnings": list(sound.warnings),
        }

    def recording(request: Request) -> Any:
        stored = session.cue(request.path_params["line"]).stored_recording
        path = None if stored is None else recording_file(session.folder, stored)
        if path is None:
            raise HTTPException(404)
        return _file(path, "audio/flac", _REVALIDATED)

    def sayings(_: Request) -> Any:
        own = film_lexicon(session.folder).sayings
        with suppress(CastError, OSError):  # told where the cast is shown
            return _sayings_view(pronunciations(session.folder).sayings, own)
        return _sayings_view(own, own)

    def set_word(_: Request, body: Json) -> Any:
        """Keep how a word is said in this film; an empty ``saying`` forgets it."""
        word, saying = value(body, "word", str), value(body, "saying", str)
        set_saying(session.folder, word, saying)
        review.findings.update()
        sayings_of_run = read_lexicon(session.config.voice.lexicon).sayings
        if not saying.strip():
            said = message("say_as.as_written", word=word)
        elif word in sayings_of_run:
            said = message("say_as.by_run", word=word, saying=sayings_of_run[word])
        else:
            said = message("say_as.said", word=word, saying=saying)
        return {"said": said.view()}

    def subtitles(_: Request, body: Json) -> Any:
        """Whether subtitles of foreign dialogue are spoken too; the job that does it, where one is begun."""
        if value(body, "on", bool):
            return dict(review.hear_subtitles())
        review.leave_subtitles()
        return {}

    return [
        post("/api/subtitles", subtitles),
        get("/api/sayings", sayings),
        post("/api/sayings", set_word),
        upload("/api/lines/{line}/recording", record, limiter=anyio.CapacityLimiter(1)),
        get("/media/recordings/{line}", recording),
    ]


def _sayings_view(all_sayings: Mapping[str, str], own: Mapping[str, str]) -> Json:
    """How words are said, by word; ``own``: it is the film's own saying, which the page may change."""
    rows = [
        {"word": word, "saying": saying, "own": word in own} for word, saying in sorted(all_sayings.items())
    ]
    return {"sayings": rows}


def import_routes(review: Review) -> list[Route]:
    imports = ScriptImports(review.session)

    def plan(request: Request, data: bytes) -> Any:
        return imports.plan(request.query_params.get("name", ""), data)

    def apply(_: Request, body: Json) -> Any:
        line_ids = texts(body, "lines")
        return imports.apply(value(body, "token", str), line_ids, value(body, "tab", str, "")).view

    # One at a time: a document may take much memory while it is read.
    uploads = anyio.CapacityLimiter(1)
    return [upload("/api/import", plan, limiter=uploads), post("/api/import/apply", apply)]


def work_routes(review: Review) -> list[Route]:

    def start(_: Request, body: Json) -> Any:
        kind = value(body, "kind", str)
        title, work = _work_of(kind, review, body)
        return dict(review.jobs.start(kind, title, work))

    def stop(request: Request, _: Json) -> Any:
        return dict(review.jobs.stop(request.path_params["job"]))

    return [
        post("/api/jobs", start, status=202),
        get("/api/jobs", lambda _: {"jobs": review.jobs.views()}),
        post("/api/jobs/{job}/stop", stop),
        get("/api/cast", lambda _: review.people.view()),
    ]


def _work_of(kind: str, review: Review, body: Json) -> tuple[Sentence, Work]:
    """What a job of a kind is called and does. Raises Refused for a kind that there is not."""
    session = review.session
    match kind:
        case "redo":
            lines, note = texts(body, "lines"), value(body, "note", str, "")
            over = value(body, "over_edits", bool, False)
            title = message("job.redo", count=len(lines))
            return title, lambda progress: redo_line(session, progress, lines, note, over_edits=over)
        case "export":
            formats = texts(body, "formats")
            title = message("job.export", formats=", ".join(formats))
            return title, lambda progress: export(session, progress, formats)
        case "render":
            makes = texts(body, "makes")
            voice, profile = (value(body, name, str, "") for name in ("voice", "profile"))
            extended = None if body.get("extended") is None else value(body, "extended", bool)
            subtitles, second = value(body, "subtitles", bool, False), value(body, "subtitle_voice", str, "")
            title = message("job.render", files=", ".join(makes))
            return title, lambda progress: render_film(
                session,
                progress,
                makes,
                voice,
                profile,
                extended,
                speak_subtitles=subtitles,
                subtitle_voice=second,
            )
        case "name":
            person, name = value(body, "person", str), value(body, "name", str, "")
            arguments = {
                key: None if body.get(key) is None else value(body, key, kind)
                for key, kind in (("descriptor", str), ("pronoun", str), ("nameless", bool))
            }
            title = message("job.name", person=name or person)
            return title, lambda progress: review.people.name(progress, person, name, **arguments)
        case "merge":
            person, into = value(body, "person", str), value(body, "into", str)
            return message("job.merge"), lambda progress: review.people.merge(progress, person, into)
        case "discover":
            return message("job.discover"), review.people.discover
        case "ask":
            question, at = value(body, "question", str), float(value(body, "at", float | int))
            return message("job.ask"), lambda progress: ask_film(session, progress, question, at)
        case "transcribe":
            return message("job.transcribe"), lambda progress: transcribe_film(session, progress)
    kinds = "redo, export, render, name, merge, discover, ask, transcribe"
    raise RequestRefused(400, f"There is no kind of job {kind[:40]!r}. There is {kinds}.")
