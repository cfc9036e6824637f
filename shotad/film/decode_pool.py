"""Threads that decode the pieces of a film side by side, never further ahead than is asked for."""

from __future__ import annotations

import threading
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count, islice
from types import TracebackType
from typing import TYPE_CHECKING, Self

from shotad.core import FilmError, counted, processors, waiting
from shotad.film.parts import Part, PartMaker, Piece, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable

    from shotad.film.framestore import FrameStore
    from shotad.film.pyav_reader import PyavFilm

LONGEST, SHORTEST = 12.0, 2.0
"""Seconds of film that a piece is aimed at: long enough that its ends cost little (1 %), short enough
at the film's end that all threads are done at about the same time."""

PIECES_LEFT = 3
"""Pieces that each thread would get of what is left, were they all as long as the next one."""

AHEAD = 6
"""Pieces beyond those in work that may wait to be joined."""

MOST_WORKERS = 8
"""More threads than that hinder each other in Python; further processors serve the decoders."""

MEMORY = 768_000_000
"""Bytes that all decoders together may take for frames, by `FRAMES_HELD`."""

FRAMES_HELD = 20
"""Frames that a decoder holds: 16 to refer to at most, and those under way."""

_PATIENCE = 0.5


def workers_for(width: int, height: int, wanted: int | None = None) -> int:
    """How many parts are decoded side by side for frames of that size."""
    if wanted is not None:
        return max(1, wanted)
    room = MEMORY // (FRAMES_HELD * max(1, width * height * 3 // 2))
    return max(1, min(processors(), MOST_WORKERS, room))


def pieces(film: PyavFilm, workers: int) -> Generator[Piece, None, None]:
    """The film cut at key packets into pieces that grow shorter to its end, as far as keys are found."""
    duration = film.info.duration
    reel = film.reel(threads=1)
    try:
        if not reel.seekable:
            yield Piece(0, None, None)
            return
        start, at = None, 0.0
        for number in count():
            length = min(LONGEST, max(SHORTEST, (duration - at) / (workers * PIECES_LEFT)))
            until, target = None, at + length
            while until is None and target < duration - length / 4:
                until = reel.next_key(target)
                if until is None:
                    break
                target += length
                if until.seconds <= at + length / 4:
                    until = None
            yield Piece(number, start, until)
            if until is None:
                return
            start, at = until, until.seconds
    finally:
        reel.close()


class Crew:
    """Parts by number, each made by one of the threads; a context manager that ends its threads."""

    def __init__(
        self,
        film: PyavFilm,
        planned: Generator[Piece, None, None],
        *,
        workers: int,
        exact: bool,
        store: FrameStore | None,
    ) -> None:
        self._planned, self.exact = planned, exact
        self._first = list(islice(planned, workers))
        self._workers = min(workers, len(self._first))
        threads = max(1, processors() // max(1, self._workers))
        self._pieces = list(self._first)
        self._stop = threading.Event()
        self._own = threading.local()
        self._makers: list[PartMaker] = []

        def new() -> PartMaker:
            return PartMaker(film, exact=exact, store=store, threads=threads, stop=self._stop)

        self._new = new
        self._made: dict[int, Future[Part | None]] = {}
        self._going: dict[int, Part] = {}
        self._pool: ThreadPoolExecutor | None = None

    @property
    def pays(self) -> bool:
        """Whether there is anything to do side by side."""
        return self._workers > 1

    def piece(self, number: int) -> Piece | None:
        """A piece by number; None beyond the film's end."""
        while len(self._pieces) <= number:
            found = next(self._planned, None)
            if found is None:
                return None
            self._pieces.append(found)
        return self._pieces[number]

    def part(self, number: int, tell: Callable[[float], None]) -> Part | None:
        """The part of a piece, waited for; None where it could not be made.

        Earlier ones are let go. ``tell`` is told, while waiting, how many seconds of film the parts
        from this one on have come to.
        """
        for old in [other for other in self._made if other < number]:
            del self._made[old]
            self._going.pop(old, None)
        self._hand_out(number)
        counted("film parts ahead", sum(made.done() for made in self._made.values()))
        made = self._made[number]
        with waiting("shots", "decode"):
            while True:
                try:
                    return made.result(timeout=_PATIENCE)
                except TimeoutError:
                    tell(sum(part.end - part.seconds[0] for part in self._under_way()))

    def _under_way(self) -> list[Part]:
        return [part for part in list(self._going.values()) if part.seconds]

    def _hand_out(self, number: int) -> None:
        self._pool = self._pool or ThreadPoolExecutor(self._workers, thread_name_prefix="film part")
        for ahead in range(number, number + self._workers + AHEAD):
            piece = self.piece(ahead)
            if piece is None:
                return
            if ahead not in self._made:
                self._made[ahead] = self._pool.submit(self._make, piece)

    def _make(self, piece: Piece) -> Part | None:
        maker: PartMaker | None = getattr(self._own, "maker", None)
        if maker is None:
            maker = self._own.maker = self._new()
            self._makers.append(maker)
        part = self._going[piece.number] = Part(piece)
        try:
            maker.make(part)
        except (FilmError, Stopped):
            return None
        return part

    def stop(self) -> None:
        """End what is under way; nothing more can be asked for."""
        self._stop.set()
        self._planned.close()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        if self._made:
            counted("film parts ahead", 0)
        self._made.clear()
        self._going.clear()
        while self._makers:
            self._makers.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
