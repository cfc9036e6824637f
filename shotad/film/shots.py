"""Shots: the frames between two cuts, found by the one pass over a film's picture, which keeps frames too.

By ``adaptive`` the cut frame numbers are those of PySceneDetect's own ``detect()`` with its AdaptiveDetector;
by ``learned`` breaks of motion are cuts, and a network decides where they leave doubt. Seconds are those of
the frames' timestamps (the library derives them from a frame rate, which is wrong on film that starts late or
has a variable rate). Where there is no cut the film is one shot.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from shotad.core import FilmError, Image, Interval, Shot, ShotSettings, span, spanned
from shotad.film.reader import Film, Frame

if TYPE_CHECKING:
    import numpy.typing as npt

    from shotad.film.adaptive_cuts import AdaptiveCutFinder
    from shotad.film.shot_scores import LearnedCutFinder


LEAST_LEFT = 0.1
"""Seconds that are looked at of a shot at least: two frames."""


@dataclass(frozen=True, slots=True)
class ShotList:
    """All shots of a film, half-open and touching: the first starts at 0.0, the last ends at the film's end.

    ``cuts`` are the numbers of the frames that begin a new shot, counted from 0, so there is one shot
    more than there are cuts.
    """

    shots: tuple[Shot, ...]
    cuts: tuple[int, ...]
    frame_count: int

    @property
    def end(self) -> float:
        """Where the last shot and the film end, in seconds."""
        return self.shots[-1].interval.end


MOST_WAITING = 128
"""Scored frames that may wait for the search for cuts: as many as are decoded while the network looks."""


class ShotFinder:
    """Finds the shots of a film from its frames, one after the other; keeps a score per frame, no frame.

    Frames are scored in the caller's thread. Cuts are searched for in a thread of the finder's, so that
    decoding goes on while the network of ``learned`` looks. A context manager, which ends that thread.
    """

    def __init__(self, settings: ShotSettings) -> None:
        from shotad.film.shot_scores import ContentScore

        self._score = ContentScore(exact=settings.path == "exact")
        self._cut_finder = make_cut_finder(settings)
        self._scores = array("d")
        self._seconds = array("d")
        self._cuts: list[int] = []
        self._thread = ThreadPoolExecutor(1, "searching cuts")
        self._searches: deque[Future[list[int]]] = deque()

    def add(self, frame: Frame) -> None:
        """Take the next frame of the whole film."""
        index, score = len(self._scores), self._score.add(frame)
        self._scores.append(score)
        self._seconds.append(frame.seconds)
        self._searches.append(self._thread.submit(self._search, index, score, self._score.picture))
        if len(self._searches) > MOST_WAITING:
            self._cuts += self._searches.popleft().result()

    def finish(self, end: float) -> ShotList:
        """The shots of all frames taken; ``end`` is the end of the film in seconds.

        Raises FilmError where there was no frame.
        """
        if not self._scores:
            raise FilmError("The film has no picture that can be decoded.", "Check that it plays at all.")
        self._searches.append(self._thread.submit(self._cut_finder.finish))
        for search in self._searches:
            self._cuts += search.result()
        self._thread.shutdown()
        cuts = sorted(self._cuts)
        bounds = [0.0, *(self._seconds[cut] for cut in cuts), end]
        newest = len(self._seconds) - 1
        changes = [
            (self._seconds[min(first, newest)], self._seconds[min(last, newest)])
            for first, last in self._cut_finder.changes
        ]
        shots = tuple(
            Shot(index, Interval(*pair), unmixed_part(Interval(*pair), changes))
            for index, pair in enumerate(pairwise(bounds))
        )
        return ShotList(shots, tuple(cuts), len(self._scores))

    def _search(self, index: int, score: float, picture: Image) -> list[int]:
        """The cuts that are found with this frame."""
        with span("cuts"):
            return self._cut_finder.add(index, score, picture)

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """Content score of every frame taken, ``float64[n]``, 0 to 255; the first is 0.0."""
        return np.array(self._scores, dtype=np.float64)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown(cancel_futures=True)


def make_cut_finder(settings: ShotSettings) -> AdaptiveCutFinder | LearnedCutFinder:
    """What finds the cuts in the scores, by ``settings.detector``."""
    if settings.detector == "adaptive":
        from shotad.film.adaptive_cuts import AdaptiveCutFinder

        return AdaptiveCutFinder(settings)
    from shotad.film.cut_net import cut_net
    from shotad.film.shot_scores import LearnedCutFinder

    return LearnedCutFinder(settings, cut_net)


def unmixed_part(shot: Interval, changes: Iterable[tuple[float, float]]) -> Interval | None:
    """The part of a shot outside of the slow changes at its ends, in seconds; None where that is all of it.

    Where they meet, what is left is about the place where they do.

    >>> unmixed_part(Interval(2.0, 8.0), [(1.5, 2.5), (7.5, 8.5)])
    Interval(start=2.5, end=7.5)
    """
    start, end = shot.start, shot.end
    for begin, until in changes:
        if begin <= shot.start <= until:
            start = max(start, until)
        if begin <= shot.end <= until:
            end = min(end, begin)
    if (start, end) == (shot.start, shot.end):
        return None
    if end - start < LEAST_LEFT:
        middle = min(max((start + end) / 2, shot.start), shot.end)
        start, end = middle - LEAST_LEFT / 2, middle + LEAST_LEFT / 2
    return Interval(start, end).clip(shot)


def survey(
    film: Film,
    settings: ShotSettings,
    *,
    keeping: Callable[[Iterator[Frame]], Iterator[Frame]] | None = None,
    advance: Callable[[float], None] | None = None,
    decoder: str = "cpu",
    tell: Callable[[str], None] | None = None,
) -> ShotList:
    """The shots of the whole film, by one pass.

    ``keeping`` is given the frames of the pass and gives them back as they are (`Frames.keeping`).
    ``advance`` is told the seconds of film that have gone by since it was last told. ``decoder`` is a device
    as in `shotad.core.config.FilmSettings`; where it cannot be had, the processors decode and ``tell`` is
    told. Raises FilmError where no picture can be decoded.
    """
    from shotad.film.pyav_reader import PyavFilm

    source = film.frames()
    if isinstance(film, PyavFilm) and decoder != "cpu":
        hardware, trouble = film.hardware(decoder)
        if hardware is not None:
            source = film.frames(hardware)
        elif trouble and tell:
            tell(trouble)
    counted = 0.0
    frames = spanned("decode", source)
    with ShotFinder(settings) as finder:
        for frame in frames if keeping is None else keeping(frames):
            with span("shots"):
                finder.add(frame)
            if advance is not None and frame.seconds - counted >= 1:
                advance(frame.seconds - counted)
                counted = frame.seconds
        return finder.finish(film.end if film.end is not None else film.info.duration)
