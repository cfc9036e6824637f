"""Shots: the frames between two cuts, found by the one pass over a film's picture, which keeps frames too.

By ``adaptive`` the cut frame numbers are those of PySceneDetect's own ``detect()`` with its AdaptiveDetector;
by ``learned`` breaks of motion are cuts, and a network decides where they leave doubt. Seconds are those of
the frames' timestamps (the library derives them from a frame rate, which is wrong on film that starts late or
has a variable rate). Where there is no cut the film is one shot.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shotad.core import FilmError, Interval, Shot, ShotSettings, span, spanned
from shotad.film.reader import Film, Frame

if TYPE_CHECKING:
    import numpy.typing as npt

    from shotad.film.framestore import FrameStore


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


class ShotFinder:
    """Finds the shots of a film from its frames, one after the other; keeps a score per frame, no frame."""

    def __init__(self, settings: ShotSettings) -> None:
        from shotad.film.shot_scores import ContentScore, CutFinder, LearnedCutFinder

        self._score = ContentScore(exact=settings.path == "exact")
        self._finder: CutFinder | LearnedCutFinder = CutFinder(settings)
        if settings.detector == "learned":
            from shotad.film.cut_net import cut_net

            self._finder = LearnedCutFinder(settings, cut_net)
        self._scores = array("d")
        # A cut is found some frames late, so its moment must be remembered that long.
        self._recent: deque[float] = deque(maxlen=self._finder.delay + 1)
        self._cuts: list[tuple[int, float]] = []
        self._changes: list[tuple[float, float]] = []

    def add(self, frame: Frame) -> None:
        """Take the next frame of the whole film."""
        index, score = len(self._scores), self._score.add(frame)
        self._scores.append(score)
        self._recent.append(frame.seconds)
        self._note(self._finder.add(index, score, self._score.picture))

    def finish(self, end: float) -> ShotList:
        """The shots of all frames taken; ``end`` is the end of the film in seconds.

        Raises FilmError where there was no frame.
        """
        if not self._recent:
            raise FilmError("The film has no picture that can be decoded.", "Check that it plays at all.")
        self._note(self._finder.finish())
        self._cuts.sort()
        bounds = [0.0, *(second for _, second in self._cuts), end]
        shots = tuple(
            Shot(index, Interval(*pair), unmixed_part(Interval(*pair), self._changes))
            for index, pair in enumerate(pairwise(bounds))
        )
        return ShotList(shots, tuple(cut for cut, _ in self._cuts), len(self._scores))

    def _note(self, cuts: Iterable[int]) -> None:
        count = len(self._scores)
        self._cuts += [(cut, self._recent[cut - count]) for cut in cuts]
        for first, last in self._finder.changes:
            oldest, newest = count - len(self._recent), count - 1
            begin, end = (self._recent[min(max(at, oldest), newest) - count] for at in (first, last))
            self._changes.append((begin, end))
        self._finder.changes.clear()

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """Content score of every frame taken, ``float64[n]``, 0 to 255; the first is 0.0."""
        return np.array(self._scores, dtype=np.float64)


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
