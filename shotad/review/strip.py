"""The film strip: a small picture of each shot's middle, for the time line.

Made when asked for, and kept in the work folder (``review/strip``). The page asks for a few at a time, of
those in view.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

from shotad.core import ReviewError, WorkFolderError, write_bytes
from shotad.film import STILLS, Film, jpeg, open_film
from shotad.review.kinds import Picture, jpeg_picture
from shotad.review.session import Session

WIDTH = 160
"""Pixels, at most."""

QUALITY = 75
"""Of JPEGs: about 4 KB each."""


class Strip:
    """The pictures of all shots of one film; thread-safe."""

    def __init__(self, session: Session, film: Path) -> None:
        self._session, self._path = session, film

        self._film: Film | None = None
        self._lock = threading.Lock()

    def picture(self, index: int) -> Picture:
        """The middle of a shot, at most 160 pixels wide, JPEG.

        Raises ReviewError for a shot that is not there, or whose middle cannot be decoded, FilmError.
        """
        shots = self._session.prepared.shots
        shot = next((shot for shot in shots if shot.index == index), None)
        if shot is None:
            raise ReviewError(f"There is no shot {index}: the film has {len(shots)}.", "Load the page again.")
        with self._lock:
            second = shot.interval.middle
            name = f"{self._session.film.fingerprint[:8]}-{round(1000 * second):08d}.jpg"
            path = self._session.folder / "review" / "strip" / name
            with suppress(OSError):
                return jpeg_picture(path.read_bytes())
            self._film = film = self._film or film_of_session(self._session, self._path)
            width, height = film.info.size_within()
            size = (width, height) if width <= WIDTH else (WIDTH, max(2, round(WIDTH * height / width)))
            for frame in film.frames_at([second]):
                data = jpeg(frame.rgb(size), QUALITY)
                with suppress(WorkFolderError):  # then it is made again the next time
                    write_bytes(path, [data])
                return jpeg_picture(data)
        raise ReviewError("The film ends before this shot, or cannot be decoded there.")

    def close(self) -> None:
        with self._lock:
            if self._film is not None:
                self._film.close()


def film_of_session(session: Session, path: Path) -> Film:
    """The film at ``path`` as the session's run read it. Raises FilmError."""
    info = session.film
    rate = info.frame_rate if info.video_codec == STILLS else None
    return open_film(path, reader=session.config.film.reader, frame_rate=rate)
