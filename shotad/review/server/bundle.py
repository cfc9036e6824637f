"""All that one review consists of, and what happens when the track has changed: findings are looked at anew
and every open tab is told."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import ReviewError, ShotadError
from shotad.review.kinds import Done, Json
from shotad.review.server.events import Tabs
from shotad.review.server.security import Hosts, Keys
from shotad.review.showing.board import changed_view, conflict_view
from shotad.review.showing.filmview import lines_text

if TYPE_CHECKING:
    from shotad.review.editing.session import Session
    from shotad.review.hearing.hearing import Hearing
    from shotad.review.pictures.frames import Frames
    from shotad.review.pictures.proxy import Proxy
    from shotad.review.pictures.strip import Strip
    from shotad.review.showing.findings import Findings
    from shotad.review.working.jobs import Jobs
    from shotad.review.working.people import People

_LOG = logging.getLogger(__name__)

_MOST_TOLD = 32
_LAST_WORK = 5.0
"""Seconds that what runs beside has to end."""
_MOST_HEARD = 500
"""Sounds that can be fetched; the page asks anew for older ones."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """The rooms that need the film itself."""

    film: Path
    frames: Frames
    strip: Strip
    proxy: Proxy
    hearing: Hearing


@dataclass(frozen=True)
class Review:
    """One review of one work folder. ``pictures`` is None where the film is gone: its lines can be read and
    changed all the same."""

    session: Session
    findings: Findings
    jobs: Jobs
    people: People
    tabs: Tabs
    pictures: Pictures | None
    keys: Keys = field(default_factory=Keys)
    hosts: Hosts = field(default_factory=Hosts)
    _told: deque[tuple[Done, Json]] = field(default_factory=lambda: deque(maxlen=_MOST_TOLD))
    _heard: OrderedDict[str, Path] = field(default_factory=OrderedDict)
    _begun: list[threading.Thread] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def watched(self) -> Pictures:
        """The rooms that need the film. Raises ReviewError where it is gone."""
        if self.pictures is None:
            raise ReviewError(
                f"The film {self.session.film.name} is not where it was.", "Start again with --film FILM."
            )
        return self.pictures

    def warm(self) -> None:
        """Make ready, in the background, what the first page would wait for."""
        if self.pictures is not None:
            self._begin(self.pictures.hearing.voices, "looking for voices")
        self._begin(self.people.view, "reading the cast")
        self._begin(lambda: lines_text(self.session, self.findings), "writing the lines")

    def _begin(self, work: Callable[[], object], name: str) -> None:
        def run() -> None:
            with suppress(ShotadError):  # who asks for it is told
                work()

        thread = threading.Thread(target=run, name=name, daemon=True)
        self._begun.append(thread)
        thread.start()

    def publish(self, done: Done) -> Json:
        """Tell all tabs of a change, once; what the tab that asked for it gets as its answer."""
        for known, view in tuple(self._told):
            if known is done:
                return view
        ids = (*(cue.id for cue in done.change.cues), *done.change.gone)
        self.findings.update(ids)
        view = changed_view(self.session, done, self.findings)
        self._told.append((done, view))
        self.tabs.tell("change", view)
        return view

    def look(self) -> None:
        """Take in what other programs have changed, and tell. A track that cannot be read just now, for
        somebody is in the middle of editing it say, is looked at again later."""
        try:
            self.session.refresh()
        except ShotadError as error:
            _LOG.debug("The track cannot be read just now: %s", error)

    def close(self) -> None:
        """End what runs beside, and write what is due."""
        self.findings.close()
        for thread in self._begun:  # one that is still at work when Python ends may bring it down
            thread.join(_LAST_WORK)
        if self.pictures is not None:
            self.pictures.proxy.stop()
            self.pictures.frames.close()
            self.pictures.strip.close()
            self.pictures.hearing.close()
        self.session.close()

    def lines_now(self, ids: Iterable[str]) -> list[dict[str, Any]]:
        """These lines as they are now."""
        return conflict_view(self.session, ids, self.findings)

    def keep_heard(self, path: Path) -> str:
        """A name by which a sound that was made can be fetched."""
        name = path.name
        with self._lock:
            self._heard[name] = path
            self._heard.move_to_end(name)
            while len(self._heard) > _MOST_HEARD:
                self._heard.popitem(last=False)
        return name

    def heard(self, name: str) -> Path:
        """The sound of this name. Raises ReviewError."""
        with self._lock:
            path = self._heard.get(name)
        if path is None:
            raise ReviewError("There is no such sound any more.", "Play the line again.")
        return path
