"""What one review of one work folder consists of, how it is opened and how it is closed.

When the track has changed, findings are looked at again and every open tab is told. Who reviews is remembered
between two sessions in ``review.json``.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.core import (
    FilmInfo,
    Progress,
    RunSettings,
    ShotadError,
)
from shotad.core.errors import FilmChanged, WorkFolderError
from shotad.core.files import read_file, write_text
from shotad.core.records import parse_record
from shotad.core.workfolder import readable_json
from shotad.film import open_film
from shotad.review.events import Json, Tabs
from shotad.review.frames import ShownFrames
from shotad.review.jobs import Jobs
from shotad.review.line_preview import LinePreview
from shotad.review.material import MaterialViews
from shotad.review.messages import message, refusal
from shotad.review.people import CastEditor
from shotad.review.proxy import Proxy
from shotad.review.session import Session
from shotad.review.timeline import Change
from shotad.review.views import Findings, LineViews, changed_view
from shotad.review.waveform import Waveform
from shotad.review.work import Row
from shotad.script import load_track
from shotad.script.track import FilmId
from shotad.script.track_files import TRACK
from shotad.sound.outputs import subtitle_lines

_LOG = logging.getLogger(__name__)

SUBTITLES = "subtitles"
"""Kind of the job that speaks them, name of the event, and key in ``review.json``."""


@dataclass(frozen=True, slots=True)
class PictureServices:
    """The parts that need the film itself."""

    film: Path
    frames: ShownFrames
    proxy: Proxy
    preview: LinePreview
    waveform: Waveform


@dataclass(frozen=True)
class Review:
    """One review of one work folder. ``pictures`` is None where the film is gone: its lines can be read and
    changed all the same."""

    session: Session
    findings: Findings
    lines: LineViews
    jobs: Jobs
    people: CastEditor
    material: MaterialViews
    tabs: Tabs
    pictures: PictureServices | None

    def watched(self) -> PictureServices:
        """The parts that need the film. Raises ReviewError where it is gone."""
        if self.pictures is None:
            raise refusal("film.not_there", film=self.session.film.name)
        return self.pictures

    @property
    def are_subtitles_wanted(self) -> bool:
        """Whether subtitles of foreign dialogue are to be heard: as the page was told last, else by the
        settings."""
        by_settings = self.session.config.voice.subtitles is not None
        return bool(remembered(self.session.folder).get(SUBTITLES, by_settings))

    def hear_subtitles(self) -> Json:
        """Begin the job that speaks the film's subtitles; they are heard from its end on.

        Raises ReviewError where the film is gone.
        """
        preview, folder = self.watched().preview, self.session.folder

        def speak(progress: Progress) -> Row:
            spoken = preview.speak_subtitles(progress)
            remember(folder, **{SUBTITLES: True})
            self.tabs.send(SUBTITLES, {"on": True})
            said = message(
                "job.subtitles.done",
                count=len(spoken.spoken),
                voice=spoken.voice,
                source=spoken.source,
            )
            return {
                "said": said.view(),
                "told": subtitle_lines(spoken),
                "warnings": list(spoken.notes),
                "files": [],
            }

        return self.jobs.start(SUBTITLES, message("job.subtitles"), speak)

    def leave_subtitles(self) -> None:
        """Let subtitles not be heard any more."""
        self.watched().preview.leave_subtitles()
        remember(self.session.folder, **{SUBTITLES: False})
        self.tabs.send(SUBTITLES, {"on": False})

    def _publish(self, change: Change, origin: str) -> Json:
        """Tell all tabs of a change; what they are told."""
        self.findings.update()
        view = changed_view(self.session, change, origin, self.findings)
        self.tabs.send("change", view)
        return view

    def look(self) -> None:
        """Take in what other programs have changed, and tell. A track that cannot be read just now, for
        somebody is in the middle of editing it say or no file can be opened, is looked at again later."""
        try:
            self.session.refresh()
        except (ShotadError, OSError) as error:
            _LOG.debug("The track cannot be read just now: %s", error)

    def close(self) -> None:
        self.findings.close()
        if self.pictures is not None:
            self.pictures.proxy.stop()
            self.pictures.frames.close()
            self.pictures.preview.close()
            self.pictures.waveform.close()
        self.session.close()


def open_session(
    folder: Path, film: Path | None, run: RunSettings, tabs: Tabs, *, reviewer: str | None = None
) -> Session:
    """The session of a work folder: all of a review that can fail.

    ``film`` is None where it is gone; ``reviewer`` None: as remembered. Raises FilmChanged for a film that is
    not the track's, WorkFolderError for records that are missing, ScriptError for a track that is damaged.
    """
    recorded_film = track_film(folder)
    if film is None:
        # What is known of a film that is gone. Its size is not, and nothing asks for it.
        info = FilmInfo(
            recorded_film.name,
            None,
            recorded_film.fingerprint,
            recorded_film.duration,
            1,
            1,
            None,
            None,
            "gone",
            Fraction(0),
        )
    else:
        with open_film(film, reader=run.config.film.reader, frame_rate=run.frame_rate) as opened:
            info = opened.info
    if info.fingerprint != recorded_film.fingerprint:
        raise FilmChanged(
            f"{film} is not the film that {folder} is of: {recorded_film.name}, or it was changed since.",
            "Name the film with --film FILM, or run shotad describe on this one.",
        )
    if reviewer is None:
        reviewer = str(remembered(folder).get("reviewer", ""))
    else:
        remember(folder, reviewer=reviewer)
    return Session(folder, info, run, reviewer=reviewer, tabs=tabs)


def review_of(session: Session, film: Path | None, tabs: Tabs) -> Review:
    """A session with the parts that show, hear and work."""
    findings, jobs, people, pictures = Findings(session, tabs), Jobs(tabs), CastEditor(session), None
    if film is not None:
        folder = session.folder
        config = session.config.model_copy(update={"language": session.track.language})

        def settled() -> None:
            tabs.send("heard", {"settled": True})

        preview = LinePreview(
            film, folder, config, lambda: session.prepared, settled=settled, spoken=findings.update
        )
        findings.foresee = preview.foresee
        session.take_seconds = preview.take_seconds
        session.seconds_per_word = lambda: preview.lengths.seconds_per_word
        proxy = Proxy(film, folder, config, session.film, tabs)
        if proxy.why:
            proxy.start()
        waveform = Waveform(film, folder, config, session.film.fingerprint, tabs)
        pictures = PictureServices(film, ShownFrames(session, film), proxy, preview, waveform)
    lines = LineViews(session, findings, lambda: None if pictures is None else pictures.preview.lengths)
    review = Review(session, findings, lines, jobs, people, MaterialViews(session), tabs, pictures)
    session.publish = review._publish
    # While the browser is on its way here.
    threading.Thread(target=lines.all, name="lines", daemon=True).start()
    return review


def track_film(folder: Path) -> FilmId:
    """Which film the track of a folder is of. Raises ScriptError."""
    return load_track(folder / TRACK).film


REMEMBERED = "review.json"


def remembered(folder: Path) -> dict[str, Any]:
    """What was remembered; nothing where that is not known or cannot be read."""
    try:
        return dict(parse_record(REMEMBERED, read_file(folder / REMEMBERED)) or {})
    except (OSError, WorkFolderError):
        return {}


def remember(folder: Path, **values: Any) -> None:
    """Remember these values and those before. Raises WorkFolderError."""
    write_text(folder / REMEMBERED, readable_json(remembered(folder) | values))
