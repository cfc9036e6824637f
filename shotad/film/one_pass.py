"""The one pass over a film's picture: it finds the shots, and keeps the frames that will be looked at.

The film is decoded in parts side by side where that is the same (`shotad.film.parts`); where it is not, or
where anything is amiss in a part, it is decoded through from the last sure place as if there were no parts,
until one joins again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from shotad.core import ShotSettings, span, spanned
from shotad.film.parts import OnShots, PassProgress
from shotad.film.reader import Film, Frame
from shotad.film.shots import ShotFinder, ShotList

if TYPE_CHECKING:
    from shotad.film.framestore import FrameStore
    from shotad.film.parts import DecodePool
    from shotad.film.pyav_reader import PyavFilm


WORTH_SPLITTING = 6.0
"""Seconds of film under which one decoder is as fast."""


def survey(
    film: Film,
    settings: ShotSettings,
    *,
    store: FrameStore | None = None,
    on_shots: OnShots | None = None,
    workers: int | None = None,
    advance: Callable[[float], None] | None = None,
    decoder: str = "cpu",
    tell: Callable[[str], None] | None = None,
) -> ShotList:
    """The shots of the whole film, by one pass that fills ``store`` on its way.

    ``workers`` is how many parts of the film are decoded side by side (None: as the machine has
    processors and memory for); the outcome is the same to the bit whatever it is, but for pictures of which
    data is missing: what is shown there depends on where their decoder began. ``advance`` is told
    the seconds of film that have gone by since it was last told. ``decoder`` is a device as in
    `shotad.core.config.FilmSettings`; where it cannot be had, the processors decode and ``tell`` is told.
    Raises FilmError where no picture can be decoded.
    """
    from shotad.film.pyav_reader import PyavFilm

    if store is not None and store.complete:
        store = None
    progress = PassProgress(ShotFinder(settings), on_shots, advance)
    if isinstance(film, PyavFilm) and decoder != "cpu":
        hardware, trouble = film.hardware(decoder)
        if hardware is not None:
            # A device is one queue: parts side by side would only wait for each other.
            return _in_one(film, film.frames(hardware), progress, store)
        if trouble and tell:
            tell(trouble)
    with ExitStack() as stack:
        if isinstance(film, PyavFilm) and (number := _workers(film, workers)) > 1:
            pool = stack.enter_context(_pool(film, settings, store, number))
            if pool.pays:
                return _side_by_side(film, progress, store, pool)
    return _in_one(film, film.frames(), progress, store)


def _workers(film: PyavFilm, wanted: int | None) -> int:
    """How many parts of a film are decoded side by side: 1 unless it is a file of some length."""
    from shotad.film.parts import workers_for

    if film.info.path is None or film.info.duration < WORTH_SPLITTING:
        return 1
    return workers_for(film.info.width, film.info.height, wanted)


def _pool(film: PyavFilm, settings: ShotSettings, store: FrameStore | None, workers: int) -> DecodePool:
    from shotad.film.parts import DecodePool, pieces

    exact = settings.path == "exact"
    return DecodePool(film, pieces(film, workers), workers=workers, exact=exact, store=store)


def _side_by_side(
    film: PyavFilm, progress: PassProgress, store: FrameStore | None, pool: DecodePool
) -> ShotList:
    from shotad.film.parts import Joiner

    with ExitStack() as stack:
        if store is not None:
            progress.filling = stack.enter_context(store.filling())
        Joiner(film, store, pool, progress).run()
    return _finished(film, progress)


def _in_one(
    film: Film, source: Iterator[Frame], progress: PassProgress, store: FrameStore | None
) -> ShotList:
    """The shots by one decoder, frame after frame."""
    frames = spanned("decode", source)
    for frame in frames if store is None else store.tee(frames):
        with span("shots"):
            progress.finder.add(frame)
        progress.tell(frame.seconds)
    return _finished(film, progress)


def _finished(film: Film, progress: PassProgress) -> ShotList:
    return progress.finder.finish(film.end if film.end is not None else film.info.duration)
