"""All that one review consists of, put together, and what happens when its track has changed.

Findings are then looked at again and every open tab is told. Who reviews is remembered between two sessions
in ``review.json``.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import (
    FilmError,
    FilmInfo,
    ReviewError,
    RunSettings,
    ShotadError,
    parse_json,
    readable_json,
    write_text,
)
from shotad.film import open_film
from shotad.review.events import Tabs
from shotad.review.kinds import Done, Json
from shotad.review.security import Hosts, Keys
from shotad.review.session import Session
from shotad.review.views import changed_view
from shotad.script import TRACK, FilmId, load_track

if TYPE_CHECKING:
    from shotad.review.findings import Findings
    from shotad.review.frames import Frames, Strip
    from shotad.review.hearing import Hearing
    from shotad.review.jobs import Jobs
    from shotad.review.people import People
    from shotad.review.proxy import Proxy


def open_session(
    folder: Path, film: Path | None, run: RunSettings, hub: Tabs, *, reviewer: str | None = None
) -> Session:
    """The session of a work folder: all of a review that can fail.

    ``film`` is None where it is gone; ``reviewer`` None: as remembered. Raises FilmError for a film that is
    not the track's, WorkFolderError for records that are missing, ScriptError for a track that is damaged.
    """
    known = film_id(folder)
    if film is None:
        # What is known of a film that is gone. Its size is not, and nothing asks for it.
        info = FilmInfo(
            known.name, None, known.fingerprint, known.duration, 1, 1, None, None, "gone", Fraction(0)
        )
    else:
        with open_film(film, reader=run.config.film.reader, frame_rate=run.frame_rate) as opened:
            info = opened.info
    if info.fingerprint != known.fingerprint:
        raise FilmError(
            f"{film} is not the film that {folder} is of: {known.name}, or it was changed since.",
            "Name the film with --film FILM, or run shotad describe on this one.",
        )
    if reviewer is None:
        reviewer = str(remembered(folder).get("reviewer", ""))
    else:
        remember(folder, reviewer=reviewer)
    return Session(folder, info, run, reviewer=reviewer, hub=hub)


def review_of(
    session: Session, film: Path | None, tabs: Tabs, *, keys: Keys | None = None, hosts: Hosts | None = None
) -> Review:
    """A session with the rooms that show, hear and work. They are loaded here: it takes a while."""
    from shotad.review.findings import Findings
    from shotad.review.frames import Frames, Strip
    from shotad.review.hearing import Hearing
    from shotad.review.jobs import Jobs
    from shotad.review.people import People
    from shotad.review.proxy import Proxy

    findings, jobs, people, pictures = Findings(session, tabs), Jobs(tabs), People(session), None
    if film is not None:
        folder = session.folder
        config = session.config.model_copy(update={"language": session.track.language})

        def settled() -> None:
            tabs.tell("heard", {"settled": True})

        hearing = Hearing(film, folder, config, lambda: session.prepared, settled=settled)
        proxy = Proxy(film, folder, config, session.film, tabs)
        if not proxy.kind.plays:
            proxy.start()
        pictures = Pictures(film, Frames(session, film), Strip(session, film), proxy, hearing)
    review = Review(session, findings, jobs, people, tabs, pictures, keys or Keys(), hosts or Hosts())
    session.told = review._publish
    return review


def film_id(folder: Path) -> FilmId:
    """Which film the track of a folder is of. Raises ScriptError."""
    return load_track(folder / TRACK).film


_LOG = logging.getLogger(__name__)


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
    keys: Keys
    hosts: Hosts

    def watched(self) -> Pictures:
        """The rooms that need the film. Raises ReviewError where it is gone."""
        if self.pictures is None:
            raise ReviewError(
                f"The film {self.session.film.name} is not where it was.", "Start again with --film FILM."
            )
        return self.pictures

    def _publish(self, done: Done) -> Json:
        """Tell all tabs of a change; what they are told."""
        self.findings.update()
        view = changed_view(self.session, done, self.findings)
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
        self.findings.close()

        if self.pictures is not None:
            self.pictures.proxy.stop()
            self.pictures.frames.close()
            self.pictures.strip.close()
            self.pictures.hearing.close()
        self.session.close()


REMEMBERED = "review.json"


def remembered(folder: Path) -> dict[str, Any]:
    """What was remembered; nothing where that is not known or cannot be read."""
    try:
        found = parse_json((folder / REMEMBERED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def remember(folder: Path, **values: Any) -> None:
    """Remember these values and those before. Raises WorkFolderError."""
    write_text(folder / REMEMBERED, readable_json(remembered(folder) | values))
