"""The review pages of the films of a folder: each is opened when it is asked for, and closed when nobody has
needed it for a while.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from starlette.types import ASGIApp

from shotad.core import ShotadError, WorkFolder
from shotad.core.errors import FilmChanged, FolderInUse, ReviewError
from shotad.core.runsettings import read_settings
from shotad.review.events import Tabs
from shotad.review.film_folder import FilmFolder, ListedFilm
from shotad.review.lock import folder_lock
from shotad.review.messages import refusal
from shotad.review.parts import Review, open_session, review_of
from shotad.review.routes import review_app
from shotad.script.track_files import TRACK

IDLE_SECONDS = 600.0
"""After which a page that nobody asks for anything is closed. Asked for again, it is opened again."""


@dataclass(slots=True, eq=False)
class FilmPage:
    """The review of one film, open; ``requests`` are those that are being answered."""

    review: Review
    app: ASGIApp
    closing: ExitStack
    requests: int = 0
    last_use: float = field(default_factory=time.monotonic)

    def close(self, seconds: float = 0.0) -> None:
        """Write what is due, and give the work folder back."""
        self.review.tabs.close()
        self.review.jobs.close(seconds)
        self.review.close()
        self.closing.close()


class FilmPages:
    """All pages that are open. May be used by several threads; `enter` may take seconds."""

    def __init__(
        self,
        films: FilmFolder,
        url: str = "",
        *,
        reviewer: str | None = None,
        on_note: Callable[[str], None] = lambda text: None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """``url``: where people reach the server; it stands in each work folder that is open. ``on_note``
        gets what a terminal should say."""
        self._films, self._reviewer, self._on_note = films, reviewer, on_note
        self._idle_seconds = idle_seconds
        self._url = url
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._open: dict[str, FilmPage] = {}
        self._is_closed = False

    def reviews(self) -> list[Review]:
        """The reviews that are open."""
        with self._lock:
            return [page.review for page in self._open.values()]

    def enter(self, film_id: str) -> FilmPage:
        """The page of a film, opened if need be, for one request; `leave` it afterwards.

        Raises ReviewError for a film that is gone or not described yet, and what `open_session` raises.
        """
        with self._lock:
            opening = self._opening.setdefault(film_id, threading.Lock())
        # Of requests that come together one opens the page, and the others wait for it.
        with opening:
            with self._lock:
                page = self._open.get(film_id)
                if page is not None:
                    page.requests += 1
                    return page
            page = self._opened(self._films.film(film_id))
            with self._lock:
                if not self._is_closed:
                    page.requests += 1
                    self._open[film_id] = page
                    return page
            page.close()
            raise ReviewError("The server is about to end.")

    def leave(self, page: FilmPage) -> None:
        """A request to the page is answered."""
        with self._lock:
            page.requests -= 1
            page.last_use = time.monotonic()

    def write_due(self, film_id: str) -> None:
        """Have the scripts of a film hold the edits of the last seconds, before they are sent."""
        with self._lock:
            page = self._open.get(film_id)
        # A track that cannot be read just now is sent as it is; its page says what is wrong.
        if page is not None:
            with suppress(ShotadError), page.review.session.written():
                pass

    def close_idle(self) -> None:
        """Close the pages that nobody has needed for a while. An open tab waits for news all the time."""
        before = time.monotonic() - self._idle_seconds
        with self._lock:
            idle_ids = [
                film_id
                for film_id, page in self._open.items()
                if not page.requests and page.last_use < before and page.review.jobs.is_idle
            ]
            openings = {film_id: self._opening[film_id] for film_id in idle_ids}
        for film_id, opening in openings.items():
            with opening:
                with self._lock:
                    page = self._open[film_id]
                    if page.requests:
                        continue
                    del self._open[film_id]
                page.close()

    def end_event_streams(self) -> None:
        """Tell all tabs that the server ends, and end their streams of events."""
        for review in self.reviews():
            review.tabs.close()

    def stop_jobs(self, seconds: float = 0.0) -> tuple[str, ...]:
        """Ask all jobs to stop, and wait so many seconds at most for each page; titles of what still runs."""
        return tuple(title for review in self.reviews() for title in review.jobs.close(seconds))

    def close(self) -> None:
        """Close all pages; no other is opened any more."""
        with self._lock:
            self._is_closed = True
            pages, self._open = list(self._open.values()), {}
        for page in pages:
            page.close()

    def _opened(self, film: ListedFilm) -> FilmPage:
        folder = film.work_folder
        if not (folder / TRACK).is_file():
            raise refusal("films.not_described", film=film.label)
        with ExitStack() as stack:
            write_address = stack.enter_context(folder_lock(folder))
            # Removes what a killed server left half-written. A run that holds the folder has done so itself.
            with suppress(FolderInUse), WorkFolder(folder):
                pass
            run = read_settings(folder)
            if run.warning:
                self._on_note(run.warning)
            tabs = Tabs()
            try:
                session = open_session(folder, film.path, run, tabs, reviewer=self._reviewer)
            except FilmChanged:
                raise refusal("films.replaced", film=film.label) from None
            review = review_of(session, film.path, tabs)
            write_address(self._url)
            return FilmPage(review, review_app(review), stack.pop_all())
