"""All that a review consists of, put together."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import (
    Config,
    ConfigError,
    FilmError,
    FilmInfo,
    RunSettings,
    VoiceSettings,
    WorkFolder,
    build_settings,
)
from shotad.film import open_film
from shotad.review.editing.session import Session
from shotad.review.kinds import Asked, Done, Hub
from shotad.review.server.remembered import remember, remembered
from shotad.script import TRACK, FilmId, load_track

if TYPE_CHECKING:
    from shotad.review.server.bundle import Pictures, Review
    from shotad.review.server.events import Tabs
    from shotad.review.server.security import Hosts, Keys

_HEAD = 1 << 14
"""Characters at the beginning of a track within which its film stands."""


class ToldSession(Session):
    """A session of which whatever changes is told, whoever asked for it: a tab, a job, or the disk."""

    told: Callable[[Done], object] | None = None

    def change(self, *args: Any, **options: Any) -> Done:
        return self._tell_all(super().change(*args, **options))

    def undo(self, origin: str = "", asked: Asked | None = None) -> Done:
        return self._tell_all(super().undo(origin, asked))

    def redo(self, origin: str = "", asked: Asked | None = None) -> Done:
        return self._tell_all(super().redo(origin, asked))

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
    """The review of a work folder: `open_session`, and all that goes with it (`review_of`)."""
    from shotad.review.server.events import Tabs

    tabs = Tabs()
    session = open_session(folder, film, run, tabs, reviewer=reviewer)
    return review_of(session, film, tabs, keys=keys, hosts=hosts)


def open_session(
    folder: Path, film: Path | None, run: RunSettings, hub: Hub, *, reviewer: str | None = None
) -> ToldSession:
    """The session of a work folder: all of a review that can fail.

    ``film`` is None where it is gone; ``reviewer`` None: as remembered. Raises FilmError for a film that is
    not the track's, WorkFolderError for records that are missing, ScriptError for a track that is damaged.
    """
    info = _info(folder, film, run, film_id(folder))
    return ToldSession(folder, info, run, reviewer=_reviewer(folder, reviewer), hub=hub)


def review_of(
    session: ToldSession,
    film: Path | None,
    tabs: Tabs,
    *,
    keys: Keys | None = None,
    hosts: Hosts | None = None,
) -> Review:
    """A session with the rooms that show, hear and work. They are loaded here: it takes a while."""
    from shotad.review.server.bundle import Review
    from shotad.review.server.security import Hosts, Keys
    from shotad.review.showing.findings import Findings
    from shotad.review.working.jobs import Jobs
    from shotad.review.working.people import People

    review = Review(
        session=session,
        findings=Findings(session, tabs),
        jobs=Jobs(tabs),
        people=People(session),
        tabs=tabs,
        pictures=None if film is None else _pictures(film, session, tabs),
        keys=keys or Keys(),
        hosts=hosts or Hosts(),
    )
    session.told = review.publish
    return review


def film_id(folder: Path) -> FilmId:
    """Which film the track of a folder is of; its lines are not read. Raises ScriptError."""
    path = folder / TRACK
    try:
        with path.open(encoding="utf-8-sig") as file:
            _, _, rest = file.read(_HEAD).partition('"film":')
        found, _ = json.JSONDecoder().raw_decode(rest.lstrip())
        return FilmId(str(found["name"]), str(found["fingerprint"]), float(found["duration"]))
    except (OSError, ValueError, LookupError, TypeError):
        return load_track(path).film  # as a person may have arranged it, or it tells what is wrong


def _info(folder: Path, film: Path | None, run: RunSettings, known: FilmId) -> FilmInfo:
    if film is None:
        return _recalled(folder, known)
    with open_film(film, reader=run.config.film.reader, frame_rate=run.frame_rate) as opened:
        info = opened.info
    if info.fingerprint != known.fingerprint:
        raise FilmError(
            f"{film} is not the film that {folder} is of: {known.name}, or it was changed since.",
            "Name the film with --film FILM, or run shotad describe on this one.",
        )
    return info


def _recalled(folder: Path, known: FilmId) -> FilmInfo:
    """What is known of a film that is gone. Its size is not, and nothing asks for it."""
    shots = WorkFolder(folder).read_json("shots.json") or {}
    rate = known_rate(shots.get("frames"), shots.get("end"))
    return FilmInfo(
        known.name, None, known.fingerprint, known.duration, 1, 1, rate, None, "gone", Fraction(0)
    )


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
    from shotad.review.hearing.hearing import Hearing
    from shotad.review.pictures.frames import Frames
    from shotad.review.pictures.proxy import Proxy
    from shotad.review.pictures.strip import Strip
    from shotad.review.server.bundle import Pictures

    folder, config = session.folder, session.config

    def settled() -> None:
        tabs.tell("heard", {"settled": True})

    hearing = Hearing(film, folder, _with_voice(config, folder), lambda: session.prepared, settled=settled)
    proxy = Proxy(film, folder, config, tabs, info=session.film)
    if proxy.kind.plays is False:
        proxy.start()
    return Pictures(film, Frames(session, film), Strip(session, film), proxy, hearing)


def _with_voice(config: Config, folder: Path) -> Config:
    """The settings with the voice that was chosen on the page. One that is not there any more is told of
    where it is to speak: it must not keep the page from opening."""
    from shotad.sound import AUTO

    voice = remembered(folder).get("voice")
    if not isinstance(voice, dict):
        return config
    tree = config.voice.model_dump(mode="json") | {
        "name": voice.get("name") or AUTO,
        "speed": voice.get("speed", 1.0),
    }
    try:
        return config.model_copy(update={"voice": build_settings(VoiceSettings, tree)})
    except ConfigError:
        return config
