"""Parts of a film that are decoded for themselves, from one key packet to the next, and what proves a join.

A part is decoded a little beyond its end. The next part's decoder began at the key packet there, so both
have decoded the frames about the join; where they are the same to the last sample, and the first decoder
took the very same key packet from the file, the next part goes on as this one's decoder would have.
"""

from __future__ import annotations

import math
import threading
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shotad.core import span, spanned
from shotad.film.decoder import Decoder, Key
from shotad.film.reader import Frame
from shotad.film.shot_scores import ContentScore

if TYPE_CHECKING:
    from av import VideoFrame

    from shotad.film.framestore import FrameStore, KeptFrame
    from shotad.film.pyav_reader import PyavFilm

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
        self._reel: Decoder | None = None
        self._painter = film.painter()

    def make(self, part: Part) -> None:
        """Decode a part's piece and fill the part.

        Raises FilmError where the film cannot be opened, Stopped where it is to stop.
        """
        piece = part.piece
        if self._reel is None or piece.start is None:
            self.close()
            self._reel = self._film.reel(self._threads)
        if piece.start is not None:
            self._reel.stand_at(piece.start)
        self._fill(part, self._reel)

    def close(self) -> None:
        """Let go of the film."""
        reel, self._reel = self._reel, None
        if reel is not None:
            reel.close()

    def _fill(self, part: Part, reel: Decoder) -> None:
        piece, score = part.piece, ContentScore(exact=self._exact)
        until = piece.until.seconds if piece.until is not None else math.inf
        keeping = Keeping(self._store, first=piece.start is None)
        for frame in self._frames(reel):
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
                part.tail = [proof(frame.seconds, frame.raw), *_drained(reel)]
                break
            if len(part.head) < PROVEN:
                part.head.append(proof(frame.seconds, frame.raw))
            part.kept += keeping.add(frame)
            part.seconds.append(frame.seconds)
            part.scores.append(value)
            part.end = frame.seconds + reel.length(frame.raw)
        else:
            part.kept += keeping.last(None)
        part.whole = self._is_whole(part, reel)

    def _frames(self, reel: Decoder) -> Iterator[Frame]:
        for index, (seconds, raw) in enumerate(spanned("decode", reel)):
            if self._stop.is_set():
                raise Stopped
            yield Frame(seconds, index, raw, partial(self._painter, raw))

    def _is_whole(self, part: Part, reel: Decoder) -> bool:
        start, until = part.piece.start, part.piece.until
        began = start is None or (bool(part.seconds) and part.seconds[0] == start.seconds)
        ended = until is None or (bool(part.tail) and until.place in reel.keys)
        clean = not (reel.errors or reel.stopped or reel.guessed or reel.missed)
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


def _drained(reel: Decoder) -> Iterator[Proof]:
    for number, (seconds, raw) in enumerate(reel.drain(), start=1):
        if number < PROVEN:
            yield proof(seconds, raw)
