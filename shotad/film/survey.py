"""The one pass over a film's picture: its shots are found, and the frames that will be looked at are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from shotad.config import ShotSettings
from shotad.film.shots import ShotFinder, ShotList
from shotad.types import Shot

if TYPE_CHECKING:
    from shotad.film.framestore import FrameStore
    from shotad.film.reader import Film, Frame

OnShots = Callable[[tuple[Shot, ...], float], None]
"""Told now and then, from the thread that surveys: the shots whose both ends are final, from the film's
start on, and the second up to which no further cut can be found."""

TELL_EVERY = 2.0
"""Seconds of film between two calls of `OnShots`, at least."""


def survey(
    film: Film,
    settings: ShotSettings,
    *,
    store: FrameStore | None = None,
    on_shots: OnShots | None = None,
    workers: int | None = None,
    advance: Callable[[float], None] | None = None,
) -> ShotList:
    """The shots of the whole film, by one pass that fills ``store`` on its way.

    ``workers`` is how many parts of the film are decoded side by side (None: as many as the machine has
    processors for); the outcome is the same to the bit whatever it is. ``advance`` is told the seconds
    of film that have gone by since it was last told. Raises FilmError where no picture can be decoded.
    """
    frames = film.frames() if advance is None else _counted(film.frames(), advance)
    finder = ShotFinder(settings)
    told = 0.0
    for frame in frames if store is None else store.tee(frames):
        finder.add(frame)
        if on_shots is not None and frame.seconds - told >= TELL_EVERY:
            on_shots(*finder.final())
            told = frame.seconds
    return finder.finish(film.end if film.end is not None else film.info.duration)


def _counted(frames: Iterator[Frame], advance: Callable[[float], None]) -> Iterator[Frame]:
    """Frames as they are, with the film seconds that have gone by told to ``advance``."""
    told = 0.0
    for frame in frames:
        yield frame
        if frame.seconds - told >= 1:
            advance(frame.seconds - told)
            told = frame.seconds
