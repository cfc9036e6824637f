"""The first screen's application: a list of films, and below ``/films/ID/`` the review page of each."""

from __future__ import annotations

import importlib.util
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from shotad.batch import free_disk
from shotad.core import Config, ShotadError
from shotad.core.config.languages import languages
from shotad.core.progress import address_without_secrets, printable
from shotad.engines import best_preset, running_servers
from shotad.engines.table import named
from shotad.review.downloads import archive_parts, product_file, product_names
from shotad.review.events import Json, Tabs
from shotad.review.film_folder import Choices, FilmFolder, ListedFilm
from shotad.review.film_pages import FilmPages
from shotad.review.film_queue import FilmQueue
from shotad.review.jobs import Jobs
from shotad.review.messages import Message, Sentence, message, refusal, sentence_view
from shotad.review.routes import (
    get,
    look_for_changes,
    page_app,
    post,
    value,
)
from shotad.review.security import (
    FILM_PAGE,
    FILM_UPLOAD,
    Guard,
    Hosts,
    Keys,
    RequestRefused,
    error_answer,
)
from shotad.review.uploads import Upload, Uploads

_PIECE = 4_000_000
"""Bytes of a film that are written to the disk at a time."""
_REST = 10
"""After a look at the folder comes a pause of so many times its length."""


@dataclass(frozen=True, slots=True)
class Films:
    """What the first screen of one folder consists of."""

    folder: FilmFolder
    pages: FilmPages
    queue: FilmQueue
    uploads: Uploads
    jobs: Jobs
    tabs: Tabs


class FilmList:
    """The list of the films, as the page shows it. May be used by several threads."""

    def __init__(self, films: Films) -> None:
        self._folder, self._queue, self._tabs = films.folder, films.queue, films.tabs
        self._last: list[dict[str, Any]] | None = None
        self._was_looked_at = False
        self._next_look = 0.0

    def view(self) -> Json:
        """All that the page shows."""
        films = [self._film_view(film) for film in self._folder.films()]
        free = free_disk(self._folder.path)
        name = printable(self._folder.path.name or str(self._folder.path))
        return {"folder": name, "free": free, "films": films}

    def look(self) -> None:
        """Tell the tabs where films came, went or got further. What a job does it says itself.

        In a folder of very many films it looks less often.
        """
        began = time.monotonic()
        if began < self._next_look:
            return
        states: list[dict[str, Any]] | None
        try:
            states = [{**self._film_view(film), "job": None} for film in self._folder.films()]
        except (ShotadError, OSError):
            states = None  # the folder is gone for now: who loads the list is told
        ended = time.monotonic()
        self._next_look = ended + _REST * (ended - began)
        # The first time too: what changed between a page's list and this look would be missed.
        if not self._was_looked_at or states != self._last:
            self._tabs.send("films", {})
        self._last, self._was_looked_at = states, True

    def _film_view(self, film: ListedFilm) -> dict[str, Any]:
        state_view, job = self._folder.state_of(film), self._queue.job_of(film.id)
        error = state_view["error"] or self._queue.error_of(film)
        if error is None and job is not None:
            error = job["error"]  # a fault that nobody foresaw is in no report
        if error is not None and state_view["state"] in ("new", "begun"):
            state_view = {**state_view, "state": "failed"}
        is_described = state_view["state"] in ("described", "edited")
        names = product_names(film.work_folder, film.path.name) if is_described else []
        files = [
            {"name": name, "url": f"/download/{film.id}/{quote(os.fsencode(name), safe='')}"}
            for name in names
        ]
        return {
            "id": film.id,
            "name": film.label,
            "size": film.planned.size,
            "uses": [printable(name) for name in film.planned.uses],
            **state_view,
            "error": error,
            "job": job,
            "page": f"/films/{film.id}/" if is_described else None,
            "files": files,
            "archive": f"/download/{film.id}.zip" if is_described else None,
        }


_ENGINES = {
    "embedded": (
        message("engine.embedded"),
        message("engine.embedded.about"),
    ),
    "small": (
        message("engine.small"),
        message("engine.small.about"),
    ),
    "paper": (
        message("engine.paper"),
        message("engine.paper.about"),
    ),
}
"""Title and explanation of the engines that need no server."""


def choices_view() -> Json:
    """What a person may choose for a film: ``engines`` that can be tried here, and ``languages``.

    Engines are ``{"value", "title", "about"}``; the first has an empty value: what happens by itself.
    Languages are tags, without the ``default_language``.
    """
    # A server may have been started since the last look.
    running_servers.cache_clear()
    best_preset.cache_clear()
    engines: dict[str, tuple[Sentence, Sentence]] = {"embedded": _ENGINES["embedded"]}
    for models in running_servers().values():
        for model in models:
            engines[model] = _server_engine(model)
    if all(importlib.util.find_spec(module) for module in ("torch", "transformers")):
        engines |= _ENGINES
    server = os.environ.get("OPENAI_BASE_URL", "").strip()
    if server or os.environ.get("OPENAI_API_KEY", "").strip():
        place = address_without_secrets(server) if server else "OpenAI"
        engines["openai"] = (message("engine.openai"), _sends_pictures(place))
    best = best_preset()
    title, about = engines.get(best) or _server_engine(best)
    default_language = Config().language
    names = languages()
    other_languages = sorted((name, code) for code, name in names.items() if code != default_language)
    return {
        "engines": [
            _option("", message("engine.automatic", engine=title), about),
            *(_option(value, *texts) for value, texts in engines.items()),
        ],
        "languages": [code for _, code in other_languages],
        "default_language": default_language,
    }


def _sends_pictures(place: str) -> Message:
    return message("engine.server.about", server=place)


def _server_engine(word: str) -> tuple[Sentence, Sentence]:
    """Title and explanation of a model of a server, by what ``--engine`` takes."""
    server_model = named(word)
    if server_model is None:
        return word, ""
    kind, model = server_model
    place = address_without_secrets(kind.url)
    return f"{model} ({kind.title})", _sends_pictures(place)


def _option(value: str, title: Sentence, about: Sentence = "") -> dict[str, Any]:
    return {"value": value, "title": sentence_view(title), "about": sentence_view(about)}


def make_films_app(films: Films, keys: Keys, hosts: Hosts) -> ASGIApp:
    """The application, behind its guard. It watches the folder and the open films as long as it runs."""
    film_list = FilmList(films)

    async def look() -> None:
        if len(films.tabs):
            await anyio.to_thread.run_sync(film_list.look)
        for review in films.pages.reviews():
            await look_for_changes(review)
        await anyio.to_thread.run_sync(films.pages.close_idle)

    routes = (
        get("/api/films", lambda _: dict(film_list.view())),
        *_describing_routes(films),
        *_upload_routes(films),
        *_download_routes(films),
        get("/films/{film}", lambda request: RedirectResponse(f"{request.url.path}/", 308)),
    )
    list_app = page_app("films.html", routes, tabs=films.tabs, hello=dict, look=look)
    return Guard(_with_film_pages(list_app, films.pages), keys, hosts)


def _with_film_pages(list_app: ASGIApp, pages: FilmPages) -> ASGIApp:
    """The list, and below ``/films/ID/`` the page of each film."""
    # Opening a film takes seconds: it holds up no answer of the list.
    openings = anyio.CapacityLimiter(4)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        match = FILM_PAGE.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if match is None:
            await list_app(scope, receive, send)
            return
        try:
            page = await anyio.to_thread.run_sync(pages.enter, match["film"], limiter=openings)
        except ShotadError as error:
            await error_answer(scope, 404, error)(scope, receive, send)
            return
        try:
            path = match["path"]
            await page.app({**scope, "path": path, "raw_path": quote(path).encode()}, receive, send)
        finally:
            pages.leave(page)

    return app


def _describing_routes(films: Films) -> list[Route]:
    def describe(request: Request, body: Json) -> Any:
        chosen = (value(body, name, str, "").strip() for name in ("engine", "language", "existing"))
        return dict(films.queue.start(request.path_params["film"], Choices(*chosen)))

    def stop(request: Request, _: Json) -> Any:
        return dict(films.queue.stop(request.path_params["job"]))

    return [
        get("/api/choices", lambda _: dict(choices_view())),
        post("/api/films/{film}/describe", describe, status=202),
        post("/api/jobs/{job}/stop", stop),
    ]


def _upload_routes(films: Films) -> list[Route]:
    def check(_: Request, body: Json) -> Any:
        # Before the film is sent: a browser that is refused in the middle of it does not read why.
        return {"name": films.uploads.check(value(body, "name", str), value(body, "size", int))}

    async def upload(request: Request) -> Any:
        length = request.headers.get("content-length", "")
        if not length:
            raise RequestRefused(411, "The length of the film is missing.")
        name = request.query_params.get("name", "")
        arriving = await anyio.to_thread.run_sync(films.uploads.begin, name, int(length))
        try:
            path = await _received(request, arriving)
        finally:
            # Also where the sender has gone, or the server ends. It removes one file: that takes no time.
            arriving.discard()
        films.tabs.send("films", {})
        return JSONResponse({"name": path.name})

    return [post("/api/films/check", check), Route(FILM_UPLOAD, upload, methods=["POST"])]


async def _received(request: Request, arriving: Upload) -> Path:
    """Write the body of a request to the disk, piece by piece, and check it; the path of the film."""
    piece = bytearray()
    async for part in request.stream():
        piece += part
        if len(piece) >= _PIECE:
            await anyio.to_thread.run_sync(arriving.write, bytes(piece))
            piece.clear()
    await anyio.to_thread.run_sync(arriving.write, bytes(piece))
    return await anyio.to_thread.run_sync(arriving.finish)


def _download_routes(films: Films) -> list[Route]:
    def archive(request: Request) -> Any:
        film = films.folder.film(request.path_params["film"])
        work_folder = film.work_folder
        if not work_folder.is_dir() or work_folder.is_symlink():
            raise refusal("films.no_work_folder", film=film.label)
        films.pages.write_due(film.id)
        file_name = quote(os.fsencode(work_folder.name), safe="")
        headers = {"content-disposition": f"attachment; filename*=utf-8''{file_name}.zip"}
        if request.method == "HEAD":
            return Response(headers=headers, media_type="application/zip")
        return StreamingResponse(archive_parts(work_folder), headers=headers, media_type="application/zip")

    def product(request: Request) -> Any:
        film = films.folder.film(request.path_params["film"])
        films.pages.write_due(film.id)
        path = product_file(film.work_folder, film.path.name, request.path_params["name"])
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    return [get("/download/{film}.zip", archive), get("/download/{film}/{name}", product)]
