"""The film's own sound for hearing: opened once, anew when the file is replaced, silence if it is gone."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from shotad.core.config import Config
from shotad.core.errors import FilmError
from shotad.film.opening import open_film
from shotad.film.reader import Film
from shotad.sound.mixing.programme import Programme, no_programme, programme_of


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The film's sound, and what is to be said of it. ``state`` tells whether the file was replaced."""

    film: Film | None
    programme: Programme
    state: object
    warnings: tuple[str, ...] = ()


class FilmSound:
    """The sound of one film file. May be used by several threads."""

    def __init__(self, path: Path, config: Config) -> None:
        self._path, self._config = path, config
        self._lock = threading.Lock()
        self._source: Source | None = None

    def open(self, duration: float) -> Source:
        """The film's sound; silence where the film is gone or has none. A replaced one is opened again."""
        state = _state(self._path)
        with self._lock:
            source = self._source
            if source is not None and source.state == state:
                return source
            if source is not None and source.film is not None:
                source.film.close()
            self._source = self._opened(duration, state)
            return self._source

    def _opened(self, duration: float, state: object) -> Source:
        rate, name = self._config.mix.rate, self._path.name
        silence = no_programme(duration, rate)
        if state is None:
            return Source(None, silence, state, (f"The film {name} is gone: only the voice is heard.",))
        if self._path.is_dir():
            return Source(None, silence, state, (f"{name} has no sound: only the voice is heard.",))
        try:
            film = open_film(self._path, reader=self._config.film.reader)
            programme = programme_of(film, self._config.film.audio_track, rate)
        except FilmError as error:
            return Source(None, silence, state, (f"{error.what} Only the voice is heard.",))
        if programme.track is None:
            return Source(film, programme, state, (f"{name} has no sound: only the voice is heard.",))
        return Source(film, programme, state)

    def close(self) -> None:
        """Let go of the film."""
        with self._lock:
            source, self._source = self._source, None
        if source is not None and source.film is not None:
            source.film.close()


def _state(path: Path) -> object:
    """By which a replaced film is known; None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns)
