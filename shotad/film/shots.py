"""Shots: the frames between two cuts, detected in the one pass over a film's picture, which keeps frames too.

With ``adaptive`` the cut frame numbers are those of PySceneDetect's own ``detect()`` with its
AdaptiveDetector; with ``learned`` breaks of motion are cuts, and a network decides where they leave doubt.
Seconds are those of the frames' timestamps (the library derives them from a frame rate, which is wrong on
film that starts late or has a variable rate). Where there is no cut the film is one shot.
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

from shotad.core import (
    Image,
    Interval,
    Shot,
)
from shotad.core.cancellation import raise_if_cancelled
from shotad.core.config.film import ShotSettings
from shotad.core.errors import FilmError
from shotad.core.profiling import time_items, time_step
from shotad.film.reader import Film, Frame

if TYPE_CHECKING:
    import numpy.typing as npt

    from shotad.film.adaptive_cuts import AdaptiveCutFinder
    from shotad.film.shot_scores import Chances, LearnedCutFinder


LEAST_LEFT = 0.1
"""Seconds that `unmixed_part` keeps of a shot at least: two frames."""


@dataclass(frozen=True, slots=True)
class ShotList:
    """All shots of a film, half-open and touching: the first starts at 0.0, the last ends at the film's end.

    ``cuts`` are the numbers of the frames that begin a new shot, counted from 0, so there is one more shot
    than there are cuts.
    """

    shots: tuple[Shot, ...]
    cuts: tuple[int, ...]
    frame_count: int

    @property
    def end(self) -> float:
        """Second at which the last shot and the film end."""
        return self.shots[-1].interval.end


MOST_WAITING = 128
"""Scored frames that may wait for the search for cuts: as many as are decoded while the network runs."""


class ShotFinder:
    """Detects the shots of a film from its frames, added one by one; keeps a score per frame, no frame.

    Frames are scored in the caller's thread. Cuts are searched for in a second thread, so that decoding
    goes on while the network of ``learned`` runs. A context manager, which ends that thread.

    ``network`` is as in `detect_shots_in_pass`.
    """

    def __init__(self, settings: ShotSettings, network: Callable[[], Chances] | None = None) -> None:
        from shotad.film.shot_scores import ContentScore

        self._score = ContentScore(exact=settings.path == "exact")
        self._cut_finder = make_cut_finder(settings, network)
        self._scores = array("d")
        self._seconds = array("d")
        self._cuts: list[int] = []
        self._thread = ThreadPoolExecutor(1, "searching cuts")
        self._searches: deque[Future[list[int]]] = deque()

    def add(self, frame: Frame) -> None:
        """Add the next frame of the whole film."""
        number = len(self._scores)
        score = self._score.add(frame)
        self._scores.append(score)
        self._seconds.append(frame.seconds)
        self._searches.append(self._thread.submit(self._search, number, score, self._score.picture))
        # Wait for the oldest search, so that frames do not pile up in memory where searching is slower.
        if len(self._searches) > MOST_WAITING:
            self._cuts += self._searches.popleft().result()

    def finish(self, end: float) -> ShotList:
        """The shots of all frames added; ``end`` is the second at which the film ends.

        Raises FilmError where there was no frame.
        """
        if not self._scores:
            raise FilmError("The film has no picture that can be decoded.", "Check that it plays at all.")
        self._searches.append(self._thread.submit(self._cut_finder.finish))
        for search in self._searches:
            self._cuts += search.result()
        self._thread.shutdown()

        # A change may be reported to end after the film's last frame.
        last_frame = len(self._seconds) - 1
        changes = [
            (self._seconds[min(first, last_frame)], self._seconds[min(last, last_frame)])
            for first, last in self._cut_finder.changes
        ]
        cuts = sorted(self._cuts)
        bounds = [0.0, *(self._seconds[cut] for cut in cuts), end]
        shots: list[Shot] = []
        for index, (start, stop) in enumerate(pairwise(bounds)):
            interval = Interval(start, stop)
            shots.append(Shot(index, interval, unmixed_part(interval, changes)))
        return ShotList(tuple(shots), tuple(cuts), len(self._scores))

    def _search(self, number: int, score: float, picture: Image) -> list[int]:
        """The numbers of the cuts that this frame reveals."""
        with time_step("cuts"):
            return self._cut_finder.add(number, score, picture)

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """Content score of every frame added, ``float64[n]``, 0 to 255; the first is 0.0."""
        return np.array(self._scores, dtype=np.float64)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown(cancel_futures=True)


def make_cut_finder(
    settings: ShotSettings, network: Callable[[], Chances] | None = None
) -> AdaptiveCutFinder | LearnedCutFinder:
    """The cut detector that ``settings.detector`` names; ``network`` is as in `detect_shots_in_pass`."""
    if settings.detector == "adaptive":
        from shotad.film.adaptive_cuts import AdaptiveCutFinder

        return AdaptiveCutFinder(settings)
    from shotad.film.cut_net import cut_net
    from shotad.film.shot_scores import LearnedCutFinder

    return LearnedCutFinder(settings, network or cut_net)


def unmixed_part(shot: Interval, changes: Iterable[tuple[float, float]]) -> Interval | None:
    """The part of a shot outside the fades and dissolves at its ends; None where that is all of it.

    ``changes`` are their first and last second. Where two of them meet, a short part around that moment
    remains.

    >>> unmixed_part(Interval(2.0, 8.0), [(1.5, 2.5), (7.5, 8.5)])
    Interval(start=2.5, end=7.5)
    """
    start, end = shot.start, shot.end
    for change_start, change_end in changes:
        if change_start <= shot.start <= change_end:
            start = max(start, change_end)
        if change_start <= shot.end <= change_end:
            end = min(end, change_start)
    if (start, end) == (shot.start, shot.end):
        return None
    if end - start < LEAST_LEFT:
        middle = min(max((start + end) / 2, shot.start), shot.end)
        start, end = middle - LEAST_LEFT / 2, middle + LEAST_LEFT / 2
    return Interval(start, end).clip(shot)


def detect_shots_in_pass(
    film: Film,
    settings: ShotSettings,
    *,
    keeping: Callable[[Iterator[Frame]], Iterator[Frame]] | None = None,
    advance: Callable[[float], None] | None = None,
    decoder: str = "cpu",
    tell: Callable[[str], None] | None = None,
    network: Callable[[], Chances] | None = None,
) -> ShotList:
    """The shots of the whole film, detected in one pass.

    ``keeping`` wraps the pass: it gets the frames and yields them unchanged (`Frames.keeping`). ``advance``
    is called with the seconds of film since its last call. ``decoder`` is a device as in
    `shotad.core.config.FilmSettings`; where it is not available, the processors decode and ``tell`` is called
    with the reason. ``network`` makes what decides for ``learned`` where cuts are in doubt, at its first use;
    None: TransNet V2. Raises FilmError where no picture can be decoded.
    """
    from shotad.film.pyav_reader import PyavFilm

    source = film.frames()
    if isinstance(film, PyavFilm) and decoder != "cpu":
        hardware, problem = film.hardware(decoder)
        if hardware is not None:
            source = film.frames(hardware)
        elif problem and tell:
            tell(problem)
    frames = time_items("decode", source)
    if keeping is not None:
        frames = keeping(frames)
    last_advance = 0.0
    with ShotFinder(settings, network) as finder:
        for frame in frames:
            raise_if_cancelled()
            with time_step("shots"):
                finder.add(frame)
            # Once a second of film: a call per frame would cost more than it shows.
            if advance is not None and frame.seconds - last_advance >= 1:
                advance(frame.seconds - last_advance)
                last_advance = frame.seconds
        return finder.finish(film.end if film.end is not None else film.info.duration)
