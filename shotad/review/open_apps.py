"""What a server serves, open in this process: the page of one film, or the films of a folder, as an ASGI
application, and what lets a browser in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.types import ASGIApp

from shotad.core import RunSettings
from shotad.core.files import inner_folder
from shotad.core.runsettings import read_settings
from shotad.review.events import Tabs
from shotad.review.film_folder import FilmFolder, check_films_folder
from shotad.review.film_pages import IDLE_SECONDS, FilmPages
from shotad.review.film_queue import FilmQueue
from shotad.review.films_app import Films, make_films_app
from shotad.review.jobs import Jobs
from shotad.review.lock import folder_lock
from shotad.review.parts import Review, open_session, review_of
from shotad.review.routes import make_app
from shotad.review.security import Hosts, Keys
from shotad.review.uploads import Uploads

SECRETS = "page-secret"
"""In the folder ``review`` of the work folder: what lets a browser in, mode 0600."""


class OpenReview:
    """A review that is open.

    app: the page and all its addresses, behind the guard that refuses every other visitor.
    token: ``/?token=TOKEN`` lets a browser in; it is the same the next time that the folder is opened.
    token_for_once: does so once, within two minutes, for the user who opened the review.
    open_to_others: whether other machines may ask.
    """

    def __init__(self, review: Review, keys: Keys, hosts: Hosts) -> None:
        self.app: ASGIApp = make_app(review, keys, hosts)
        self.token, self.token_for_once = keys.token, keys.once
        self.open_to_others = hosts.open_to_others
        self._review, self._is_closed = review, False

    def end_event_streams(self) -> None:
        """Tell all tabs that the review ends, and end their streams of events; new ones end at once."""
        self._review.tabs.close()

    def stop_jobs(self, seconds: float = 0.0) -> tuple[str, ...]:
        """Ask all jobs to stop, take no more, and wait so many seconds at most; titles of what still runs."""
        return self._review.jobs.close(seconds)

    def close(self) -> None:
        """Write what is still due. Jobs that run are asked to stop and not waited for."""
        if not self._is_closed:
            self._is_closed = True
            self.stop_jobs()
            self._review.close()


@contextmanager
def open_review(
    folder: Path,
    film: Path | None,
    run: RunSettings | None = None,
    *,
    reviewer: str | None = None,
    address: str = "127.0.0.1",
    port: int = 0,
) -> Iterator[OpenReview]:
    """Open a work folder for review until the end of the block, which closes it.

    film: None where it is gone: its lines can be read and changed all the same.
    run: None: as the folder has it. reviewer: None: the name that was given last.
    address, port: where a server of the application will listen, the address in digits.

    Raises FilmError for a film that is not the track's, WorkFolderError for records that are missing,
    ScriptError for a track that is damaged.
    """
    tabs = Tabs()
    keys = Keys(port, inner_folder(folder, "review") / SECRETS)
    session = open_session(folder, film, run or read_settings(folder), tabs, reviewer=reviewer)
    review = OpenReview(review_of(session, film, tabs), keys, Hosts(address))
    try:
        yield review
    finally:
        review.close()


class OpenFilms:
    """The films of a folder, open. ``app``, ``token``, ``token_for_once`` and ``open_to_others`` are those of
    `OpenReview`."""

    def __init__(self, films: Films, keys: Keys, hosts: Hosts) -> None:
        self._films = films
        self.app: ASGIApp = make_films_app(films, keys, hosts)
        self.token, self.token_for_once = keys.token, keys.once
        self.open_to_others = hosts.open_to_others
        self.resumed = films.queue.go_on()
        """How many films an earlier server left, with which this one goes on."""

    def end_event_streams(self) -> None:
        """Tell all tabs that the server ends, and end their streams of events; new ones end at once."""
        self._films.tabs.close()
        self._films.pages.end_event_streams()

    def stop_jobs(self, seconds: float = 0.0) -> tuple[str, ...]:
        """Ask all jobs to stop, take no more, and wait so many seconds at most; titles of what still runs."""
        return (*self._films.jobs.close(seconds), *self._films.pages.stop_jobs(seconds))

    def close(self) -> None:
        """Write what is still due. Jobs that run are asked to stop and not waited for."""
        self.stop_jobs()
        self._films.pages.close()


@contextmanager
def open_films(
    path: Path,
    *,
    reviewer: str | None = None,
    address: str = "127.0.0.1",
    port: int = 0,
    url: str = "",
    on_note: Callable[[str], None] = lambda text: None,
    idle_seconds: float = IDLE_SECONDS,
) -> Iterator[OpenFilms]:
    """Open a folder of films until the end of the block, which closes it.

    reviewer: None: the name that was given last for each film.
    address, port: where a server of the application will listen, the address in digits.
    url: how people call it.
    on_note: gets what a terminal should say.
    idle_seconds: after which the review of a film that nobody uses is closed.

    Raises ReviewError where another server has the folder open, WorkFolderError for a folder in which nothing
    can be written.
    """
    check_films_folder(path)
    folder = FilmFolder(path)
    with folder_lock(folder.own_folder, folder.path) as write_address:
        write_address(url)
        tabs = Tabs()
        jobs = Jobs(tabs)
        films = Films(
            folder,
            FilmPages(folder, url, reviewer=reviewer, on_note=on_note, idle_seconds=idle_seconds),
            FilmQueue(folder, jobs, tabs),
            Uploads(folder),
            jobs,
            tabs,
        )
        opened = OpenFilms(films, Keys(port, folder.own_folder / SECRETS), Hosts(address))
        try:
            yield opened
        finally:
            opened.close()
