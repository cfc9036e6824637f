"""A folder of films that is open for review, with its first screen's browser, all in this process."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shotad.review import OpenFilms, ReviewServer, open_films
from tests.rendering.described import film_with
from tests.review.asgi import HOST, PORT, WAIT, Answer, Visitor, cookie_of


class FilmsPage(Visitor):
    """The first screen as a program."""

    def films(self) -> dict[str, Any]:
        """The films of the list, by name."""
        answer = self.get("/api/films")
        assert answer.status == 200, answer.text
        return {film["name"]: film for film in answer.json["films"]}

    def film(self, name: str) -> Any:
        return self.films()[name]

    def describe(self, name: str, engine: str = "fake", language: str = "", existing: str = "") -> Answer:
        """Ask to have a film described; the job."""
        place = f"/api/films/{self.film(name)['id']}/describe"
        return self.post(place, {"engine": engine, "language": language, "existing": existing})

    def ended(self, name: str) -> Any:
        """The film once its job has ended."""
        until = time.monotonic() + 4 * WAIT
        while time.monotonic() < until:
            film = self.film(name)
            if film["job"] is not None and film["job"]["state"] in ("done", "failed", "stopped"):
                return film
            time.sleep(0.1)
        raise AssertionError(f"the job never ended: {film}")

    def described(self, name: str, **choices: str) -> Any:
        """The film when it has been described."""
        answer = self.describe(name, **choices)
        assert answer.status == 202, answer.text
        film = self.ended(name)
        assert film["job"]["state"] == "done", film
        return film

    def check(self, name: str, size: int = 1000) -> Answer:
        return self.post("/api/films/check", {"name": name, "size": size})

    def upload(self, name: str, data: bytes, **changed: str | None) -> Answer:
        """Send a film. ``name`` as it stands in the address."""
        changed = {"content_type": "application/octet-stream", **changed}
        return self.post(f"/api/films?name={name}", data, pieces=3, **changed)


@contextmanager
def films_open(folder: Path, **options: Any) -> Iterator[tuple[OpenFilms, FilmsPage]]:
    """A folder of films, open; at the end no job may run on."""
    with open_films(folder, port=PORT, **options) as films:
        try:
            yield films, FilmsPage(films.app, cookie_of(films.app, films.token), HOST)
        finally:
            running = films.stop_jobs(WAIT)
    assert not running, "a job does not end"


def copied_film(folder: Path, name: str = "film.mp4") -> Path:
    """The test film in a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(film_with(), folder / name))


@contextmanager
def films_served(folder: Path, *, request_seconds: float = 20.0, **options: Any) -> Iterator[str]:
    """The address of a folder of films, with the token, served by a thread of this process."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with open_films(folder, port=port, **options) as films:
            server = ReviewServer(films, request_seconds=request_seconds)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="page")
            thread.start()
            try:
                yield f"http://127.0.0.1:{port}/?token={films.token}"
            finally:
                server.should_exit = True
                thread.join(WAIT)
                running = films.stop_jobs(WAIT)
    assert not running, "a job does not end"
    assert not thread.is_alive(), "the server does not end"
