"""Shots: the frames between two cuts, found by the one pass over a film's picture.

The cut frame numbers are those of PySceneDetect's own ``detect()`` with its AdaptiveDetector; the seconds
are always those of the frames' timestamps (the library derives them from a frame rate, which is wrong on
film that starts late or has a variable rate). Where there is no cut the film is one shot.

The pass (`survey`) also keeps the frames that will be looked at. The film is decoded in parts side by side
where that is the same (`shotad.film.parts`); where it is not, or where anything is amiss in a part, it is
decoded through from the last sure place as if there were no parts, until one joins again.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shotad.core import FilmError, Interval, Shot, ShotSettings, span, spanned
from shotad.film.reader import Film, Frame

if TYPE_CHECKING:
    import numpy.typing as npt

    from shotad.film.framestore import Filling, FrameStore, KeptFrame
    from shotad.film.parts import DecodePool, Part
    from shotad.film.pyav_reader import PyavFilm
    from shotad.film.reader import Frame

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


OnShots = Callable[[tuple[Shot, ...], float], None]
"""Told now and then, from the thread that surveys: the shots whose both ends are final, from the film's
start on, and the second up to which no further cut can be found."""

TELL_EVERY = 2.0
"""Seconds of film between two calls of `OnShots`, at least."""


class PassProgress:
    """Takes a film's frames in order, by their seconds and scores; ``filling`` is the store for what is kept.

    ``last`` is the second of the last frame, ``end`` when it stops being shown.
    """

    def __init__(
        self, finder: ShotFinder, on_shots: OnShots | None, advance: Callable[[float], None] | None
    ) -> None:
        self.finder, self._on_shots, self._advance = finder, on_shots, advance
        self.filling: Filling | None = None
        self.end: float | None = None
        self.last = 0.0
        self._told = self._counted = 0.0

    def part(self, part: Part, first_score: float) -> None:
        """Take a whole part whose first frame has that score against the frame before it."""
        with span("shots"):
            for number, seconds in enumerate(part.seconds):
                self.finder.take(seconds, part.scores[number] if number else first_score)
        self.keep(part.kept)
        self.end = part.end
        self.tell(part.seconds[-1], part.piece.until.seconds if part.piece.until else None)

    def frame(self, seconds: float, score: float, end: float) -> None:
        """Take one frame, which is shown until second ``end`` if it is the last."""
        self.finder.take(seconds, score)
        self.end = end
        self.tell(seconds, seconds)

    def keep(self, frames: Iterable[KeptFrame]) -> None:
        """Write what is kept."""
        if self.filling is not None:
            with span("keep"):
                for frame in frames:
                    self.filling.write(frame)

    def tell(self, seconds: float, kept_until: float | None = None) -> None:
        """The film has come to that second; all that is to be kept before ``kept_until`` has been."""
        self.last = seconds
        self.count(seconds)
        if seconds - self._told >= TELL_EVERY:
            self._told = seconds
            if self.filling is not None and kept_until is not None:
                self.filling.reached(kept_until)
            if self._on_shots is not None:
                self._on_shots(*self.finder.final())

    def count(self, seconds: float) -> None:
        """Tell how far the work has come, never back."""
        if self._advance is not None and seconds - self._counted >= 1:
            self._advance(seconds - self._counted)
            self._counted = seconds


@dataclass(frozen=True, slots=True)
class ShotList:
    """All shots of a film, half-open and touching: the first starts at 0.0, the last ends at the film's end.

    ``cuts`` are the numbers of the frames that begin a new shot, counted from 0, so there is one shot
    more than there are cuts. ``last_frame`` is the moment of the last frame, in seconds.
    """

    shots: tuple[Shot, ...]
    cuts: tuple[int, ...]
    frame_count: int
    last_frame: float

    def __post_init__(self) -> None:
        if len(self.shots) != len(self.cuts) + 1:
            raise ValueError(f"{len(self.cuts)} cuts make {len(self.cuts) + 1} shots, got {len(self.shots)}")
        if [shot.index for shot in self.shots] != list(range(len(self.shots))):
            raise ValueError(f"shots must be numbered from 0, got {[shot.index for shot in self.shots]}")
        if self.shots[0].interval.start != 0.0:
            raise ValueError(f"the first shot must start at 0.0, got {self.shots[0].interval}")
        for one, two in pairwise(self.shots):
            if one.interval.end != two.interval.start:
                raise ValueError(f"shots must touch, got {one.interval} and {two.interval}")
        if list(self.cuts) != sorted({cut for cut in self.cuts if 0 < cut < self.frame_count}):
            raise ValueError(f"cuts must ascend within 1 to {self.frame_count - 1}, got {self.cuts}")
        if not self.last_frame < self.end:
            raise ValueError(f"the film must end after its last frame, got {self.last_frame} and {self.end}")

    @property
    def end(self) -> float:
        """Where the last shot and the film end, in seconds."""
        return self.shots[-1].interval.end


class ShotFinder:
    """Finds the shots of a film from its frames, one after the other; keeps a score per frame, no frame.

    >>> finder = ShotFinder(ShotSettings())  # doctest: +SKIP
    >>> for frame in frames:
    ...     finder.add(frame)
    >>> finder.finish(end=70.5).shots
    """

    def __init__(self, settings: ShotSettings) -> None:
        from shotad.film.shot_scores import ContentScore, CutFinder

        self._score = ContentScore(exact=settings.path == "exact")
        self._finder = CutFinder(settings)
        self._scores = array("d")
        # A cut is found window_width frames late, so its moment must be remembered that long.
        self._recent: deque[float] = deque(maxlen=settings.window_width + 1)
        self._cuts: list[tuple[int, float]] = []

    def add(self, frame: Frame) -> None:
        """Take the next frame of the whole film. Raises ValueError where seconds do not ascend."""
        self.take(frame.seconds, self._score.add(frame))

    def take(self, seconds: float, score: float) -> None:
        """Take the next frame's second and its score, measured elsewhere. Errors as in `add`."""
        if self._recent and not seconds > self._recent[-1]:
            raise ValueError(f"frames must ascend, got {seconds} s after {self._recent[-1]} s")
        index = len(self._scores)
        self._scores.append(score)
        self._recent.append(seconds)
        cut = self._finder.add(index, score)
        if cut is not None:
            self._cuts.append((cut, self._recent[cut - index - 1]))

    def finish(self, end: float) -> ShotList:
        """The shots of all frames taken; ``end`` is the end of the film in seconds.

        Raises FilmError where there was no frame, ValueError where a frame lies at or after ``end``.
        """
        if not self._recent:
            raise FilmError("The film has no picture that can be decoded.", "Check that it plays at all.")
        bounds = [0.0, *(second for _, second in self._cuts), end]
        shots = tuple(Shot(i, Interval(*pair)) for i, pair in enumerate(pairwise(bounds)))
        return ShotList(shots, tuple(cut for cut, _ in self._cuts), len(self._scores), self._recent[-1])

    def final(self) -> tuple[tuple[Shot, ...], float]:
        """The shots whose both ends are known, and the second up to which no further cut can be found."""
        bounds = [0.0, *(second for _, second in self._cuts)]
        shots = tuple(Shot(i, Interval(*pair)) for i, pair in enumerate(pairwise(bounds)))
        # The frame before the newest ``window_width`` has been judged; the next one has not.
        sure = self._recent[0] if len(self._recent) == self._recent.maxlen else 0.0
        return shots, max(sure, bounds[-1])

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """Content score of every frame taken, ``float64[n]``, 0 to 255; the first is 0.0."""
        return np.array(self._scores, dtype=np.float64)


def detect_shots(frames: Iterable[Frame], settings: ShotSettings, *, end: float) -> ShotList:
    """The shots of a film that ends at ``end`` seconds, from all of its frames in order.

    One pass; each frame is let go before the next is asked for. Errors as in `ShotFinder`.
    """
    finder = ShotFinder(settings)
    for frame in frames:
        finder.add(frame)
    return finder.finish(end)
