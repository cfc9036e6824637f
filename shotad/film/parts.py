"""A film decoded in parts, side by side, and joined in order, only where the join is proven.

The film is cut at key packets into pieces (`pieces`). Threads decode them, never further ahead than is asked
for (`DecodePool`), each a little beyond its end. The next part's decoder began at the key packet there, so
both have decoded the frames about the join; where they are the same to the last sample, and the first decoder
took the very same key packet from the file, the next part goes on as this one's decoder would have
(`Joiner`).
"""

from __future__ import annotations

import math
import threading
import zlib
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count, islice
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from shotad.core import FilmError, Shot, counted, processors, span, spanned, waiting
from shotad.film.decoder import STEADY, Decoder, Key
from shotad.film.reader import Frame
from shotad.film.shot_scores import ContentScore
from shotad.film.shots import ShotFinder

if TYPE_CHECKING:
    from av import VideoFrame

    from shotad.film.framestore import Filling, FrameStore, KeptFrame
    from shotad.film.pyav_reader import PyavFilm

PATIENCE = 3
"""Joins in a row that may fail before a film is decoded through to its end."""


class Joiner:
    """Takes parts in order where joins are proven, and decodes through where they are not."""

    def __init__(
        self, film: PyavFilm, store: FrameStore | None, pool: DecodePool, progress: PassProgress
    ) -> None:
        self._film, self._store, self._decoders, self._progress = film, store, pool, progress
        self._errors: list[float] = []
        self._stopped: str | None = None

    def run(self) -> None:
        """Take the whole film. Raises FilmError where it has no picture."""
        left: Part | None = None
        number = 0
        while self._decoders.piece(number) is not None:
            part = self._part(number)
            if part is not None and part.whole and (left is None or left.goes_on_as(part)):
                self._progress.part(part, left.after if left is not None else 0.0)
                left, number = part, number + 1
                continue
            left = self._through(left, number)
            if left is None:
                break
            number = left.piece.number + 1
        self._decoders.stop()
        self._film.passed(self._progress.end, self._errors, self._stopped)
        if self._progress.filling is not None:
            self._progress.filling.finish()

    def _part(self, number: int) -> Part | None:
        passed = self._progress.last
        return self._decoders.part(number, lambda under_way: self._progress.count(passed + under_way))

    def _through(self, left: Part | None, number: int) -> Part | None:
        """Decode through from where piece ``number`` begins, until a later part joins, which is taken.

        It is the decoder of ``left``, the part before, that goes on: it begins where that began. None
        where the film has come to its end.
        """
        here = self._decoders.piece(number)
        assert here is not None
        since = here.start.seconds if here.start is not None else -math.inf
        # Where a key cannot be found again, only the film's start is left to begin at.
        starts = (left.piece.start, None) if left is not None else (None,)
        for start in starts:
            decoder = self._film.decoder(STEADY)
            try:
                if start is not None:
                    decoder.stand_at(start, self._progress.last)
                found = self._until_joined(decoder, since, self._decoders.piece(number + 1))
            finally:
                decoder.close()
            if not decoder.missed:
                break
        self._errors = [*(self._errors if start is not None else ()), *decoder.errors]
        self._stopped = decoder.stopped if found is None else None
        return found

    def _until_joined(self, decoder: Decoder, since: float, aim: Piece | None) -> Part | None:
        score, failed = ContentScore(exact=self._decoders.exact), 0
        keeping = Keeping(self._store, first=since == -math.inf)
        frames = self._frames(decoder)
        while (frame := next(frames, None)) is not None:
            assert frame.raw is not None
            with span("shots"):
                value = score.add(frame)
            if frame.seconds < since:
                continue
            # The film's first frame is kept for all ticks before it too, which no part but the first knows.
            begun = self._progress.end is not None
            if begun and aim is not None and aim.start is not None and frame.seconds >= aim.start.seconds:
                window = [frame, *islice(frames, PROVEN - 1)]
                part = self._joined(decoder, aim, window)
                if part is not None:
                    self._progress.keep(keeping.last(frame.seconds))
                    self._progress.part(part, value)
                    return part
                frames = chain(window[1:], frames)
                failed += 1
                aim = self._next_aim(aim, failed)
            self._progress.keep(keeping.add(frame))
            self._progress.frame(frame.seconds, value, frame.seconds + decoder.length(frame.raw))
        self._progress.keep(keeping.last(None))
        return None

    def _next_aim(self, aim: Piece, failed: int) -> Piece | None:
        if failed < PATIENCE:
            return self._decoders.piece(aim.number + 1)
        self._decoders.stop()
        return None

    def _joined(self, decoder: Decoder, aim: Piece, window: list[Frame]) -> Part | None:
        """The part of ``aim``, if the frames of the window are its first."""
        part = self._part(aim.number)
        if part is None or not part.whole or aim.start is None or aim.start.place not in decoder.keys:
            return None
        found = [proof(frame.seconds, frame.raw) for frame in window if frame.raw is not None]
        return part if proven(found, part.head) else None

    def _frames(self, decoder: Decoder) -> Iterator[Frame]:
        painter = self._film.painter()
        for index, (seconds, raw) in enumerate(spanned("decode", decoder)):
            yield Frame(seconds, index, raw, partial(painter, raw))


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
    decoder = film.decoder(threads=1)
    try:
        if not decoder.seekable:
            yield Piece(0, None, None)
            return
        start, at = None, 0.0
        for number in count():
            length = min(LONGEST, max(SHORTEST, (duration - at) / (workers * PIECES_LEFT)))
            until, target = None, at + length
            while until is None and target < duration - length / 4:
                until = decoder.next_key(target)
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
        decoder.close()


class DecodePool:
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


PROVEN = 4
"""Frames about a join that are compared, at most."""

Proof = tuple[float, int]
"""A frame's second and the check sum of its samples."""


class Stopped(Exception):  # noqa: N818  # no error: somebody asked for it
    """The work is not wanted any more."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What a part is to be: from a key (None: the film's start) up to the next (None: the film's end)."""

    number: int
    start: Key | None
    until: Key | None


@dataclass(slots=True)
class Part:
    """What was found in a piece: a second and a score for each frame, and what is kept.

    The first score is worth nothing, for there was no frame before; ``after`` is that of the frame of
    the next key, against this part's last. ``head`` and ``tail`` prove the joins before and behind.
    """

    piece: Piece
    seconds: array[float] = field(default_factory=lambda: array("d"))
    scores: array[float] = field(default_factory=lambda: array("d"))
    kept: list[KeptFrame] = field(default_factory=list)
    head: list[Proof] = field(default_factory=list)
    tail: list[Proof] = field(default_factory=list)
    after: float = 0.0
    end: float = 0.0
    shape: tuple[int, int] = (0, 0)
    whole: bool = False
    """Nothing was amiss, and it reached the frame of the next key, or the film's end if there is none."""

    def goes_on_as(self, other: Part) -> bool:
        """Whether ``other`` is what this part's decoder would have found next."""
        return bool(self.tail) and other.whole and proven(self.tail, other.head) and self.shape == other.shape


def proven(tail: list[Proof], head: list[Proof]) -> bool:
    """Whether the frames that one decoder found from a key on are those of another that began there.

    ``tail`` may lack frames that the decoder had not come to yet, but must begin with the key's own.
    """
    if not tail or not head or tail[0] != head[0]:
        return False
    last = head[-1][0]
    return {proof for proof in tail if proof[0] <= last} <= set(head)


def proof(seconds: float, raw: VideoFrame) -> Proof:
    """What tells a frame from others."""
    total = 0
    for plane in raw.planes:
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, plane.line_size)
        used = min(rows.shape[1], math.ceil(plane.width * _bytes_a_sample(raw)))
        total = zlib.crc32(np.ascontiguousarray(rows[:, :used]).data, total)
    return seconds, total


def _bytes_a_sample(raw: VideoFrame) -> float:
    """Bytes of a row for each of a plane's samples: the most that any plane of the format has."""
    parts = raw.format.components
    packed = max(sum(other.plane == part.plane for other in parts) for part in parts)
    return packed * math.ceil(max(part.bits for part in parts) / 8)


class PartMaker:
    """Decodes parts, one after the other, in one thread; keeps the film open between them."""

    def __init__(
        self, film: PyavFilm, *, exact: bool, store: FrameStore | None, threads: int, stop: threading.Event
    ) -> None:
        self._film, self._exact, self._store, self._threads = film, exact, store, threads
        self._stop = stop
        self._decoder: Decoder | None = None
        self._painter = film.painter()

    def make(self, part: Part) -> None:
        """Decode a part's piece and fill the part.

        Raises FilmError where the film cannot be opened, Stopped where it is to stop.
        """
        piece = part.piece
        if self._decoder is None or piece.start is None:
            self.close()
            self._decoder = self._film.decoder(self._threads)
        if piece.start is not None:
            self._decoder.stand_at(piece.start)
        self._fill(part, self._decoder)

    def close(self) -> None:
        """Let go of the film."""
        decoder, self._decoder = self._decoder, None
        if decoder is not None:
            decoder.close()

    def _fill(self, part: Part, decoder: Decoder) -> None:
        piece, score = part.piece, ContentScore(exact=self._exact)
        until = piece.until.seconds if piece.until is not None else math.inf
        keeping = Keeping(self._store, first=piece.start is None)
        for frame in self._frames(decoder):
            assert frame.raw is not None
            with span("shots"):
                value = score.add(frame)
            if not part.seconds:
                part.shape = frame.raw.width, frame.raw.height
                if any(plane.line_size < 0 for plane in frame.raw.planes):
                    return  # stored from the bottom up: its samples cannot be got at
            if frame.seconds >= until:
                part.after = value
                part.kept += keeping.last(frame.seconds)
                part.tail = [proof(frame.seconds, frame.raw), *_drained(decoder)]
                break
            if len(part.head) < PROVEN:
                part.head.append(proof(frame.seconds, frame.raw))
            part.kept += keeping.add(frame)
            part.seconds.append(frame.seconds)
            part.scores.append(value)
            part.end = frame.seconds + decoder.length(frame.raw)
        else:
            part.kept += keeping.last(None)
        part.whole = self._is_whole(part, decoder)

    def _frames(self, decoder: Decoder) -> Iterator[Frame]:
        for index, (seconds, raw) in enumerate(spanned("decode", decoder)):
            if self._stop.is_set():
                raise Stopped
            yield Frame(seconds, index, raw, partial(self._painter, raw))

    def _is_whole(self, part: Part, decoder: Decoder) -> bool:
        start, until = part.piece.start, part.piece.until
        began = start is None or (bool(part.seconds) and part.seconds[0] == start.seconds)
        ended = until is None or (bool(part.tail) and until.place in decoder.keys)
        clean = not (decoder.errors or decoder.stopped or decoder.guessed or decoder.missed)
        return bool(part.seconds) and began and ended and clean


class Keeping:
    """Makes kept frames, each when the next is there and tells how long it was shown."""

    def __init__(self, store: FrameStore | None, *, first: bool) -> None:
        self._store, self._first = store, first
        self._keeper = store.keeper() if store is not None else None
        self._before: Frame | None = None

    def add(self, frame: Frame) -> list[KeptFrame]:
        """Take the next frame; what is to be kept of the one before."""
        kept = self.last(frame.seconds)
        self._before = frame if self._store is not None else None
        return kept

    def last(self, until: float | None) -> list[KeptFrame]:
        """What is to be kept of the last frame taken, which is shown until that second (None: the end)."""
        before, self._before = self._before, None
        if before is None or self._store is None or self._keeper is None:
            return []
        with span("keep"):
            kept = self._store.kept(self._keeper, before, until, first=self._first)
        self._first = False
        return [] if kept is None else [kept]


def _drained(decoder: Decoder) -> Iterator[Proof]:
    for number, (seconds, raw) in enumerate(decoder.drain(), start=1):
        if number < PROVEN:
            yield proof(seconds, raw)


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
