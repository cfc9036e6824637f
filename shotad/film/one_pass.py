"""The one pass over a film's picture: it finds the shots, and keeps the frames that will be looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from shotad.core import ShotSettings, span, spanned
from shotad.film.reader import Film
from shotad.film.shots import ShotFinder, ShotList

if TYPE_CHECKING:
    from shotad.film.framestore import FrameStore


def survey(
    film: Film,
    settings: ShotSettings,
    *,
    store: FrameStore | None = None,
    advance: Callable[[float], None] | None = None,
    decoder: str = "cpu",
    tell: Callable[[str], None] | None = None,
) -> ShotList:
    """The shots of the whole film, by one pass that fills ``store`` on its way.

    ``advance`` is told the seconds of film that have gone by since it was last told. ``decoder`` is a
    device as in `shotad.core.config.FilmSettings`; where it cannot be had, the processors decode and
    ``tell`` is told. Raises FilmError where no picture can be decoded.
    """
    from shotad.film.pyav_reader import PyavFilm

    source = film.frames()
    if isinstance(film, PyavFilm) and decoder != "cpu":
        hardware, trouble = film.hardware(decoder)
        if hardware is not None:
            source = film.frames(hardware)
        elif trouble and tell:
            tell(trouble)
    finder = ShotFinder(settings)
    counted = 0.0
    frames = spanned("decode", source)
    for frame in frames if store is None else store.tee(frames):
        with span("shots"):
            finder.add(frame)
        if advance is not None and frame.seconds - counted >= 1:
            advance(frame.seconds - counted)
            counted = frame.seconds
    return finder.finish(film.end if film.end is not None else film.info.duration)
