"""All that a review consists of, put together."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.errors import FilmError
from shotad.film.info import FilmInfo
from shotad.film.reader import open_film
from shotad.review.editing.session import Session
from shotad.review.hearing.hearing import Hearing
from shotad.review.kinds import Done
from shotad.review.pictures.frames import Frames
from shotad.review.pictures.proxy import Proxy
from shotad.review.pictures.strip import Strip
from shotad.review.server.bundle import Pictures, Review
from shotad.review.server.events import Tabs
from shotad.review.server.remembered import remember, remembered
from shotad.review.server.security import Hosts, Keys
from shotad.review.showing.findings import Findings
from shotad.review.working.jobs import Jobs
from shotad.review.working.people import People
from shotad.runsettings import RunSettings
from shotad.script.track import Track, load_track
from shotad.tracking import TRACK
from shotad.workfolder import WorkFolder


class ToldSession(Session):
    """A session of which whatever changes is told, whoever asked for it: a tab, a job, or the disk."""

    told: Callable[[Done], object] | None = None

    def change(self, *args: Any, **options: Any) -> Done:
        return self._tell_all(super().change(*args, **options))

    def undo(self, origin: str = "") -> Done:
        return self._tell_all(super().undo(origin))

    def redo(self, origin: str = "") -> Done:
        return self._tell_all(super().redo(origin))

    def refresh(self) -> Done | None:
        done = super().refresh()
        return done if done is None else self._tell_all(done)

    def absorb(self, said: str, origin: str = "job") -> Done | None:
        done = super().absorb(said, origin)
        return done if done is None else self._tell_all(done)

    def _tell_all(self, done: Done) -> Done:
        if self.told is not None:
            self.told(done)
        return done


def open_review(
    folder: Path,
    film: Path | None,
    run: RunSettings,
    *,
    reviewer: str | None = None,
    keys: Keys | None = None,
    hosts: Hosts | None = None,
) -> Review:
    """The review of a work folder. ``film`` is None where it is gone; ``reviewer`` None: as remembered.

    Raises FilmError for a film that is not the track's, WorkFolderError for records that are missing.
    """
    info = _info(folder, film, run, load_track(folder / TRACK))
    tabs = Tabs()
    session = ToldSession(folder, info, run, reviewer=_reviewer(folder, reviewer), hub=tabs)
    pictures = None if film is None else _pictures(film, session, tabs)
    review = Review(
        session=session,
        findings=Findings(session, tabs),
        jobs=Jobs(tabs),
        people=People(session),
        tabs=tabs,
        pictures=pictures,
        keys=keys or Keys(),
        hosts=hosts or Hosts(),
    )
    session.told = review.publish
    return review


def _info(folder: Path, film: Path | None, run: RunSettings, track: Track) -> FilmInfo:
    if film is None:
        return _recalled(folder, track)
    with open_film(film, reader=run.config.film.reader, frame_rate=run.frame_rate) as opened:
        info = opened.info
    if info.fingerprint != track.film.fingerprint:
        raise FilmError(
            f"{film} is not the film that {folder} is of: {track.film.name}, or it was changed since.",
            "Name the film with --film FILM, or run shotad describe on this one.",
        )
    return info


def _recalled(folder: Path, track: Track) -> FilmInfo:
    """What is known of a film that is gone. Its size is not, and nothing asks for it."""
    shots = WorkFolder(folder).read_json("shots.json") or {}
    rate = known_rate(shots.get("frames"), shots.get("end"))
    name, fingerprint, duration = track.film.name, track.film.fingerprint, track.film.duration
    return FilmInfo(name, None, fingerprint, duration, 1, 1, rate, None, "gone", Fraction(0))


def known_rate(frames: Any, end: Any) -> Fraction | None:
    """Frames a second, from how many a film has and where it ends; None where that is not known."""
    if not isinstance(frames, int) or not isinstance(end, int | float) or frames <= 0 or end <= 0:
        return None
    return Fraction(frames / end).limit_denominator(1001)


def _reviewer(folder: Path, given: str | None) -> str:
    if given is None:
        return str(remembered(folder).get("reviewer", ""))
    remember(folder, reviewer=given)
    return given


def _pictures(film: Path, session: Session, tabs: Tabs) -> Pictures:
    folder, config = session.folder, session.config

    def settled() -> None:
        tabs.tell("heard", {"settled": True})

    hearing = Hearing(film, folder, config, lambda: session.prepared, settled=settled)
    voice = remembered(folder).get("voice")
    if isinstance(voice, dict):
        hearing.set_voice(str(voice.get("name", "")), float(voice.get("speed", 1.0)))
    proxy = Proxy(film, folder, config, tabs, info=session.film)
    if proxy.kind.plays is False:
        proxy.start()
    return Pictures(film, Frames(session, film), Strip(session, film), proxy, hearing)
