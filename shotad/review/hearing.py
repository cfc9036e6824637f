"""A line as the audience will hear it: from two seconds before it until the film is back at its level.

Fitted, spoken, levelled, placed and ducked by the same rules and from the same takes as `shotad render`, but
only the line with its neighbours and only the seconds around it. What that cannot know at once, the level of
the whole film, it says. Sounds are WAV files called by what is in them, of which the newest are kept.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from shotad.core import (
    Config,
    FilmError,
    Interval,
    ReviewError,
    ShotadError,
    write_bytes,
)
from shotad.film import Film, Prepared, Samples, open_film
from shotad.review.kinds import Json
from shotad.review.listening import Listening
from shotad.review.speaking import KINDS, Kind, Placing, Speaking
from shotad.script import Cue, Track
from shotad.sound import (
    RATE,
    Excerpt,
    Programme,
    Take,
    foreseen_make_up,
    lay,
    limit_of,
    loudness_of,
    no_programme,
    plain_language,
    programme_of,
    wav,
)


class FilmSound:
    """The sound of one film file. May be used by several threads."""

    def __init__(self, path: Path, config: Config) -> None:
        self._path, self._config = path, config
        self._lock = threading.Lock()
        self._film: Film | None = None
        self._programme: Programme | None = None
        self.warnings: tuple[str, ...] = ()

    def open(self, duration: float) -> Programme:
        """The film's sound; silence, with ``warnings``, where the film is gone or has none."""
        with self._lock:
            self._programme = self._programme or self._opened(duration)
            return self._programme

    def _opened(self, duration: float) -> Programme:
        why = f"{self._path.name} has no sound."
        try:
            self._film = open_film(self._path, reader=self._config.film.reader)
            programme = programme_of(self._film, self._config.film.audio_track, RATE)
        except FilmError as error:
            programme = no_programme(duration, RATE)
            why = why if self._path.is_dir() else error.what
        if programme.track is None:
            self.warnings = (f"{why} Only the voice is heard.",)
        return programme

    def close(self) -> None:
        with self._lock:
            if self._film is not None:
                self._film.close()


REVIEW = "review"
HEARD = "heard"
LOUDNESS = "loudness.json"
"""In the work folder: ``review/heard/KEY.wav`` and ``review/loudness.json``."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A sound for the page. ``start`` is the film second of its first sample; ``line`` when the voice is
    heard, in film seconds, None: it is not."""

    path: Path
    start: float
    seconds: float
    line: tuple[float, float] | None
    warnings: tuple[str, ...] = ()
    settled: bool = True


_LAST_WORK = 20.0
"""Seconds that a voice may take to be loaded after the review was closed."""


class Hearing:
    """All sounds of one film's lines. May be used by several threads."""

    def __init__(
        self,
        film: Path,
        folder: Path,
        config: Config,
        prepared: Callable[[], Prepared],
        *,
        settled: Callable[[], None] = lambda: None,
    ) -> None:
        """``config`` has the language of the track; ``prepared`` gives speech and slots as they are now;
        ``settled`` is called from a thread when the level of the whole film gets known. Nothing is loaded
        before it is needed."""
        self._config, self._prepared = config, prepared
        self._speaking = Speaking(folder, config.voice, config.language)
        self.folder = folder / REVIEW / HEARD
        self._files = HeardFiles(self.folder)
        self._listening = Listening(folder / REVIEW / LOUDNESS, settled)
        self._sound = FilmSound(film, config)
        self._placing = Placing(config, prepared, self._speaking)
        self._lock, self._loud = threading.Lock(), dict[str, float | None]()
        self._warming: threading.Thread | None = None
        self._closed = False

    def hear(self, track: Track, line_id: str, kind: str) -> Heard:
        """One line: ``mix`` as the audience hears it, ``voice`` its take alone, as loud, ``programme`` the
        film alone for the same seconds.

        A line that a render would leave unspoken has no voice in its mix, and the reason is among the
        warnings; its voice can be heard all the same. Raises ReviewError for a line or kind that there is
        not, VoiceError where it cannot be spoken, FilmError and WorkFolderError.
        """
        wanted = next((one for one in KINDS if one == kind), None)
        if wanted is None:
            raise ReviewError(f"{kind!r} is nothing that can be heard.", f"There are {', '.join(KINDS)}.")
        cue = next((cue for cue in track.cues if cue.id == line_id), None)
        if cue is None:
            raise ReviewError(f"There is no line {line_id}.", "It may have been removed: look at the list.")
        self._speaking.speak_in(track.language)
        return self._made(track, cue, wanted)

    def warm(self) -> None:
        """Load the voice and listen to the film in the background, so that the first line is heard soon."""
        with self._lock:
            if self._closed or self._warming is not None:
                return
            self._warming = threading.Thread(target=self._warm, name="warming voice", daemon=True)
            self._warming.start()

    def voices(self) -> Json:
        return self._speaking.view()

    def wait(self, seconds: float | None = None) -> None:
        """Until the whole film was listened to."""
        self._listening.wait(seconds)

    def close(self) -> None:
        """Stop what runs in the background, and let go of the film."""
        with self._lock:
            self._closed, warming = True, self._warming
        if warming is not None:
            warming.join(_LAST_WORK)  # a model that is being loaded when Python ends may bring it down
        self._listening.close()
        self._sound.close()

    def _made(self, track: Track, cue: Cue, kind: Kind) -> Heard:
        programme = self._sound.open(track.film.duration)
        place = self._placing.placed(track, cue, kind)
        stretch = place.stretch
        own, settled = self._listening.of(programme, track.film.fingerprint, stretch)
        make_up = foreseen_make_up(own, _times(track), place.speech, self._config.mix, track.film.duration)
        if kind == "voice":
            stretch = place.alone
            programme = replace(
                programme, total=max(programme.total, round(stretch.end * programme.rate) + 1)
            )
        recipe = lay(programme, own, place.heard(kind), place.speech, self._config.mix, self._loudness)
        rate = programme.rate
        first, end = round(stretch.start * rate), round(stretch.end * rate)
        if kind != "voice":
            end = max(first + 1, min(end, programme.total))
        excerpt = Excerpt(recipe, first, end, make_up, limit_of(own, self._config.mix))
        path = self._files.keep(wav(_samples(excerpt, kind), excerpt.rate))
        warnings = (*self._sound.warnings, *place.warnings(kind))
        if kind != "programme" and plain_language(cue.language) != plain_language(track.language):
            warnings += (f"The line is in {cue.language!r}; the voice speaks {track.language!r}.",)
        if not settled and kind != "programme":
            warnings += ("The film's loudness is still being measured: levels may change a little.",)
        if self._config.mix.profile != "source" and kind == "mix":
            warnings += (f"The loudness of {self._config.mix.profile} is foreseen, not measured.",)
        line = place.interval if kind != "programme" else None
        return Heard(
            path,
            first / rate,
            (end - first) / rate,
            None if line is None else (line.start, line.end),
            warnings,
            settled,
        )

    def _loudness(self, take: Take) -> float | None:
        """How loud a take is; measured once."""
        if take.key not in self._loud:
            self._loud[take.key] = loudness_of(take)
        return self._loud[take.key]

    def _warm(self) -> None:
        # What goes wrong is told when a line is heard.
        with suppress(ShotadError):
            self._speaking.voice()
        if self._closed:
            return
        with suppress(ShotadError):
            info = self._prepared().info
            self._listening.begin(self._sound.open(info.duration), info.fingerprint)


def _times(track: Track) -> list[Interval]:
    """When each line is heard, as far as that is known."""
    spoken = ((cue.spoken, cue.interval) for cue in track.heard)
    times = (at if made is None else made.interval for made, at in spoken)
    return [at for at in times if at is not None]


def _samples(excerpt: Excerpt, kind: Kind) -> Samples:
    return {"mix": excerpt.mixed, "voice": excerpt.alone, "programme": excerpt.film}[kind]()


FILES = 200
"""Sounds that are kept at most: about a megabyte each."""

_ENDING = ".wav"
_OWN = re.compile(rf"[0-9a-f]{{16}}\{_ENDING}")
"""Names of sounds: what is in them."""


class HeardFiles:
    """The folder of sounds, bounded. May be used by several threads and processes."""

    def __init__(self, folder: Path, files: int = FILES) -> None:
        self._folder, self._files = folder, files

    def keep(self, data: bytes) -> Path:
        """Write a sound, whole or not at all; one that is there is the newest now. Raises WorkFolderError."""
        path = self._folder / f"{hashlib.sha256(data).hexdigest()[:16]}{_ENDING}"
        if path.is_file():
            os.utime(path)
            return path
        write_bytes(path, [data])
        own = (one for one in self._folder.glob(f"*{_ENDING}") if _OWN.fullmatch(one.name))
        for old in sorted(own, key=lambda one: one.stat().st_mtime_ns)[: -self._files]:
            with suppress(OSError):  # one that is being played cannot be removed on some systems
                old.unlink()
        return path
