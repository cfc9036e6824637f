"""The film strip: a small picture of each shot's middle, for the time line.

Made when asked for and kept in the work folder (``review/strip``). What is asked for at about the same time
is made in one pass in the order of the film, which runs on a little beyond: a page that is scrolled asks for
the neighbours next.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

from shotad.core import (
    FilmError,
    ReviewError,
    Shot,
    WorkFolderError,
    key_of,
    read_record,
    write_bytes,
    write_text,
)
from shotad.film import STILLS, Film, jpeg, open_film
from shotad.review.kinds import Picture, jpeg_picture
from shotad.review.session import Session

WIDTH = 160
"""Pixels, at most."""

QUALITY = 75
"""Of JPEGs: about 4 KB each."""

AHEAD = 24
"""Shots that are made unasked behind those that were asked for."""

GATHER = 0.015
"""Seconds to wait for what else is asked for."""

IDLE = 5.0
"""Seconds without a question after which the film is let go."""

IN_MEMORY = 256
"""Pictures that are held in memory besides: enough where nothing can be written."""

Moment = int
"""Film time in whole milliseconds, by which a picture is named."""


class Strip:
    """The pictures of all shots of one film; thread-safe."""

    def __init__(self, session: Session, film: Path) -> None:
        self._session, self._path = session, film
        self._folder = session.folder / "review" / "strip"
        self._middles = _Middles(session.folder / "grammar.json")
        self._change = threading.Condition()
        self._wanted: set[Moment] = set()
        self._made: OrderedDict[Moment, Picture | str] = OrderedDict()
        self._worker: threading.Thread | None = None
        self._closed = self._swept = False

    def picture(self, index: int) -> Picture:
        """The middle of a shot, at most 160 pixels wide, JPEG.

        Raises ReviewError for a shot that is not there, or whose middle cannot be decoded.
        """
        shots = self._session.prepared.shots
        shot = next((shot for shot in shots if shot.index == index), None)
        if shot is None:
            raise ReviewError(f"There is no shot {index}: the film has {len(shots)}.", "Load the page again.")
        self._sweep()
        self._middles.refresh()
        moment = self._middles.of(shot)
        try:
            return jpeg_picture(self._file(moment).read_bytes())
        except OSError:
            return self._asked(moment)

    def close(self) -> None:
        """End the work; who still waits is told so."""
        with self._change:
            self._closed, worker = True, self._worker
            self._change.notify_all()
        if worker is not None:
            worker.join()

    def _file(self, moment: Moment) -> Path:
        return self._folder / f"{moment:08d}.jpg"

    def _asked(self, moment: Moment) -> Picture:
        with self._change:
            if moment not in self._made:
                self._wanted.add(moment)
                if self._worker is None and not self._closed:
                    self._worker = threading.Thread(target=self._work, name="strip", daemon=True)
                    self._worker.start()
                self._change.notify_all()
                self._change.wait_for(lambda: self._closed or moment in self._made)
            found = self._made.get(moment, "The review has ended.")
        if isinstance(found, str):
            raise ReviewError(found, "Look whether the film is still where it was.")
        return found

    def _work(self) -> None:
        """Make what is wanted until nothing has been for a while."""
        film: Film | None = None
        try:
            while self._has_work():
                try:
                    film = film or self._open()
                    self._pass(film)
                except (FilmError, OSError) as trouble:
                    what = getattr(trouble, "what", None)
                    self._give_up(what or f"The film cannot be read: {trouble}.")
        finally:
            if film is not None:
                film.close()

    def _has_work(self) -> bool:
        """Wait for a question; False where none has come, and the worker is then no more."""
        with self._change:
            self._change.wait_for(lambda: self._closed or self._wanted, IDLE)
            if self._closed or not self._wanted:
                self._worker = None
                return False
            self._change.wait_for(lambda: self._closed, GATHER)
            return True

    def _open(self) -> Film:
        info, reader = self._session.film, self._session.config.film.reader
        rate = info.frame_rate if info.video_codec == STILLS else None
        return open_film(self._path, reader=reader, frame_rate=rate)

    def _pass(self, film: Film) -> None:
        """One pass over what is wanted and what lies behind it; cut short where only other moments are."""
        with self._change:
            asked = set(self._wanted)
            last = max(asked)
            later = sorted(m for m in map(self._middles.of, self._session.prepared.shots) if m > last)
            behind = islice((m for m in later if not self._file(m).exists()), AHEAD)
            left = [*sorted(asked), *behind]
        width, height = film.info.size_within()
        size = (width, height) if width <= WIDTH else (WIDTH, max(2, round(WIDTH * height / width)))
        frames = film.frames_at([moment / 1000 for moment in left])
        with closing(frames):  # type: ignore[type-var]
            for frame in frames:
                self._keep(left.pop(0), jpeg(frame.rgb(size), QUALITY))
                with self._change:
                    if self._closed or (self._wanted and not self._wanted.intersection(left)):
                        return
        self._give_up("The film ends before this shot, or cannot be decoded there.", left)

    def _keep(self, moment: Moment, data: bytes) -> None:
        with suppress(WorkFolderError):  # then it is made again the next time
            write_bytes(self._file(moment), [data])
        self._answer(moment, jpeg_picture(data))

    def _give_up(self, why: str, moments: Sequence[Moment] | None = None) -> None:
        with self._change:
            wanted = self._wanted if moments is None else self._wanted.intersection(moments)
            failed = list(wanted)
        for moment in failed:
            self._answer(moment, why)

    def _answer(self, moment: Moment, found: Picture | str) -> None:
        with self._change:
            self._wanted.discard(moment)
            self._made[moment] = found
            while len(self._made) > IN_MEMORY:
                self._made.popitem(last=False)
            self._change.notify_all()

    def _sweep(self) -> None:
        """Once: throw away what was made of another film or in another way."""
        with self._change:
            if self._swept:
                return
            self._swept = True
            key = key_of("strip/1", self._session.film.fingerprint, self._session.config.film.reader, WIDTH)
            mark = self._folder / "key"
            try:
                if mark.exists() and mark.read_text(encoding="utf-8") == key:
                    return
                if self._folder.is_symlink():
                    return  # somebody else's folder
                for old in self._folder.glob("*.jpg"):
                    old.unlink(missing_ok=True)
                write_text(mark, key)
            except (OSError, WorkFolderError):
                return  # where nothing can be written, nothing can be wrong there


class _Middles:
    """The second that stands for each shot: that of its middle frame, where its grammar was read."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._read_at: tuple[int, int] | None = None
        self._known: dict[int, float] = {}

    def of(self, shot: Shot) -> Moment:
        """The moment of a shot, inside of it."""
        with self._lock:
            known = self._known.get(shot.index)
        inside = known is not None and shot.interval.contains(known)
        return round(1000 * (known if known is not None and inside else shot.interval.middle))

    def refresh(self) -> None:
        """Read the file again if it has changed."""
        with self._lock:
            self._read()

    def _read(self) -> None:
        try:
            found = self._path.stat()
            stamp = found.st_mtime_ns, found.st_size
            if stamp == self._read_at:
                return
            rows = (read_record(self._path) or {"shots": []})["shots"]
            self._known = {row["index"]: float(row["middle"]) for row in rows}
            self._read_at = stamp
        except (OSError, WorkFolderError):
            self._known = {}
