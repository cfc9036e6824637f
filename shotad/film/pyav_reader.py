"""Opening a film, and the default reader of film files: PyAV."""

from __future__ import annotations

import os
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from shotad.core.errors import FilmError, UsageError
from shotad.core.progress import film_name_problem, is_text
from shotad.core.system import processors
from shotad.core.weight_store import is_tar
from shotad.film.colour import Painter
from shotad.film.container import Media, find_media, holds_another, last_second, probe
from shotad.film.decoder import Decoder, hardware_for
from shotad.film.reader import TOLERANCE, Film, Frame, picture_holes

if TYPE_CHECKING:
    from av import VideoFrame
    from av.codec.hwaccel import HWAccel

_TAR_NAMES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


def open_film(
    source: str | os.PathLike[str], *, reader: str = "pyav", frame_rate: Fraction | None = None
) -> Film:
    """Open a film file, or numbered frames in a folder or tar.

    ``frame_rate`` is needed for numbered frames, and means nothing elsewhere. Raises FilmError for
    what cannot be read as a film, UsageError for an unknown reader.
    """
    if reader not in ("pyav", "decord"):
        raise UsageError(f"There is no film reader {reader!r}.", "Use pyav or decord.")
    path = Path(source)
    if not is_text(str(path.absolute())):
        raise film_name_problem(str(path))
    if path.is_dir() or _is_tar(path):
        from shotad.film.stills import open_stills

        return open_stills(path, frame_rate)
    if reader == "decord":
        from shotad.film.decord_reader import DecordFilm

        return DecordFilm(path)
    return PyavFilm(find_media(path))


def _is_tar(path: Path) -> bool:
    """True for a tar archive by name, or by the mark that modern tar writes at byte 257."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(512)
    except OSError:
        return False
    named = path.name.lower().endswith(_TAR_NAMES)
    if not named and head[257:262] != b"ustar":
        return False
    return is_tar(path)


SHORT = 1.0
"""Seconds by which the picture may end before the container says so, and still be whole."""


class PyavFilm(Film):
    """A film through PyAV; keeps the contract of `shotad.film.reader.Film`.

    Each pass opens the source again, so that passes are independent of each other.
    """

    def __init__(self, media: Media) -> None:
        self.media = self._media = media
        self._probed = probe(media)
        self.info = self._probed.info
        self.clock_jumps = self._probed.clock_jumps

    def frames(self, hardware: HWAccel | None = None) -> Iterator[Frame]:
        """The whole film, see `Film.frames`; decoded by a device where one is given.

        Several threads decode until damage is told, one decodes such a film again from its start: what is
        shown where data is missing depends with several on how far another has come.
        """
        painter, next_index, end = self.painter(), 0, None
        moments = array("d")
        several = 1 if hardware or processors() == 1 else min(processors() + 1, MOST_THREADS)
        for threads in sorted({1, several}, reverse=True):
            decoder = self.decoder(threads, hardware)
            try:
                for index, (seconds, raw) in enumerate(decoder if threads == 1 else _sound(decoder)):
                    if index >= next_index:
                        next_index = index + 1
                        moments.append(seconds)
                        yield Frame(seconds, index, raw, partial(painter, raw))
                    end = seconds + decoder.length(raw)
            finally:
                decoder.close()
            if not decoder.errors:
                break
        if end is None:
            raise FilmError(f"No frame of {self.info.name} can be decoded.", "The file is damaged.")
        self.end = end
        self.holes = picture_holes(moments)
        self.damage = self._damage(end, decoder.errors, decoder.stopped)

    def _frames_at(self, moments: Iterable[float]) -> Iterator[Frame]:
        painter, decoder = self.painter(), self.decoder()
        try:
            shown: tuple[float, VideoFrame] | None = None
            ahead: tuple[float, VideoFrame] | None = None
            begun = False
            for index, moment in enumerate(moments):
                worth = decoder.worth_seeking(shown[0] if shown else 0.0, moment)
                if worth and not (begun and ahead is None):
                    shown = decoder.land(moment)
                    ahead, begun = next(decoder, None), True
                elif not begun:
                    shown, ahead, begun = next(decoder, None), next(decoder, None), True
                while ahead is not None and ahead[0] <= moment + TOLERANCE:
                    shown, ahead = ahead, next(decoder, None)
                if shown is None:
                    return
                yield Frame(shown[0], index, shown[1], partial(painter, shown[1]))
        finally:
            decoder.close()

    def painter(self) -> Painter:
        """What makes pictures of its frames; one for each thread."""
        return Painter((self.info.width, self.info.height), self._probed.turn, self._probed.light)

    def decoder(self, threads: int = 0, hardware: HWAccel | None = None) -> Decoder:
        """A decode of its picture of its own, with ``threads`` of the decoder (0: as ffmpeg likes)."""
        info = self.info
        return Decoder(
            self._media, self._probed.stream, info.start, info.frame_rate, threads=threads, hardware=hardware
        )

    def hardware(self, decoder: str) -> tuple[HWAccel | None, str | None]:
        """The device that decodes its picture, and what to tell if there is none: see `hardware_for`."""
        return hardware_for(self._media, self._probed.stream, decoder)

    def _damage(self, end: float, errors: Sequence[float], stopped: str | None) -> str | None:
        promised = self._probed.picture_end
        if promised is None and self.info.duration - end > SHORT:
            # Sound may outlast the picture: then the file is whole.
            read = last_second(self._media, self.info.start)
            promised = self.info.duration if self.info.duration - read > SHORT else None
        if promised is not None and promised - end > SHORT:
            return f"The picture ends at {end:.1f} s of {promised:.1f} s: the file is cut off or damaged."
        if stopped:
            return f"The film can be read up to {end:.1f} s: {stopped}."
        if errors:
            first = max(0.0, errors[0])
            count = len(errors)
            return f"Parts of the picture cannot be decoded ({count}, the first after {first:.1f} s)."
        if holds_another(self._media, self._probed.container):
            return (
                f"The film ends at {end:.1f} s, and another begins behind it in the same file, which is not "
                "read. Join them with a program that knows the container (ffmpeg's concat demuxer)."
            )
        return None


MOST_THREADS = 16
"""More than that ffmpeg advises against. One more than processors: none waits while frames are looked at."""

LATE = 16
"""Frames that may be shown before damage is told in which they share: those that a decoder may put in another
order."""


def _sound(decoder: Decoder) -> Iterator[tuple[float, VideoFrame]]:
    """The decoder's frames up to where damage is told, less those that may share in it."""
    held: deque[tuple[float, VideoFrame]] = deque()
    for shown in decoder:
        if decoder.errors:
            return
        held.append(shown)
        if len(held) > LATE:
            yield held.popleft()
    if not decoder.errors:
        yield from held
