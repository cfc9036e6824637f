"""Joins the parts of a film that were decoded side by side, in order and only where the join is proven."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from shotad.core import span, spanned
from shotad.film.decoder import STEADY
from shotad.film.parts import PROVEN, Keeping, Part, Piece, proof, proven
from shotad.film.reader import Frame
from shotad.film.shot_scores import ContentScore

if TYPE_CHECKING:
    from shotad.film.decode_pool import Crew
    from shotad.film.decoder import Decoder
    from shotad.film.framestore import FrameStore
    from shotad.film.pass_progress import Passage
    from shotad.film.pyav_reader import PyavFilm

PATIENCE = 3
"""Joins in a row that may fail before a film is decoded through to its end."""


class Joiner:
    """Takes parts in order where joins are proven, and decodes through where they are not."""

    def __init__(self, film: PyavFilm, store: FrameStore | None, crew: Crew, passage: Passage) -> None:
        self._film, self._store, self._crew, self._passage = film, store, crew, passage
        self._errors: list[float] = []
        self._stopped: str | None = None

    def run(self) -> None:
        """Take the whole film. Raises FilmError where it has no picture."""
        left: Part | None = None
        number = 0
        while self._crew.piece(number) is not None:
            part = self._part(number)
            if part is not None and part.whole and (left is None or left.goes_on_as(part)):
                self._passage.part(part, left.after if left is not None else 0.0)
                left, number = part, number + 1
                continue
            left = self._through(left, number)
            if left is None:
                break
            number = left.piece.number + 1
        self._crew.stop()
        self._film.passed(self._passage.end, self._errors, self._stopped)
        if self._passage.filling is not None:
            self._passage.filling.finish()

    def _part(self, number: int) -> Part | None:
        passed = self._passage.last
        return self._crew.part(number, lambda under_way: self._passage.count(passed + under_way))

    def _through(self, left: Part | None, number: int) -> Part | None:
        """Decode through from where piece ``number`` begins, until a later part joins, which is taken.

        It is the decoder of ``left``, the part before, that goes on: it begins where that began. None
        where the film has come to its end.
        """
        here = self._crew.piece(number)
        assert here is not None
        since = here.start.seconds if here.start is not None else -math.inf
        # Where a key cannot be found again, only the film's start is left to begin at.
        starts = (left.piece.start, None) if left is not None else (None,)
        for start in starts:
            reel = self._film.reel(STEADY)
            try:
                if start is not None:
                    reel.stand_at(start, self._passage.last)
                found = self._until_joined(reel, since, self._crew.piece(number + 1))
            finally:
                reel.close()
            if not reel.missed:
                break
        self._errors = [*(self._errors if start is not None else ()), *reel.errors]
        self._stopped = reel.stopped if found is None else None
        return found

    def _until_joined(self, reel: Decoder, since: float, aim: Piece | None) -> Part | None:
        score, failed = ContentScore(exact=self._crew.exact), 0
        keeping = Keeping(self._store, first=since == -math.inf)
        frames = self._frames(reel)
        while (frame := next(frames, None)) is not None:
            assert frame.raw is not None
            with span("shots"):
                value = score.add(frame)
            if frame.seconds < since:
                continue
            # The film's first frame is kept for all ticks before it too, which no part but the first knows.
            begun = self._passage.end is not None
            if begun and aim is not None and aim.start is not None and frame.seconds >= aim.start.seconds:
                window = [frame, *islice(frames, PROVEN - 1)]
                part = self._joined(reel, aim, window)
                if part is not None:
                    self._passage.keep(keeping.last(frame.seconds))
                    self._passage.part(part, value)
                    return part
                frames = chain(window[1:], frames)
                failed += 1
                aim = self._next_aim(aim, failed)
            self._passage.keep(keeping.add(frame))
            self._passage.frame(frame.seconds, value, frame.seconds + reel.length(frame.raw))
        self._passage.keep(keeping.last(None))
        return None

    def _next_aim(self, aim: Piece, failed: int) -> Piece | None:
        if failed < PATIENCE:
            return self._crew.piece(aim.number + 1)
        self._crew.stop()
        return None

    def _joined(self, reel: Decoder, aim: Piece, window: list[Frame]) -> Part | None:
        """The part of ``aim``, if the frames of the window are its first."""
        part = self._part(aim.number)
        if part is None or not part.whole or aim.start is None or aim.start.place not in reel.keys:
            return None
        found = [proof(frame.seconds, frame.raw) for frame in window if frame.raw is not None]
        return part if proven(found, part.head) else None

    def _frames(self, reel: Decoder) -> Iterator[Frame]:
        painter = self._film.painter()
        for index, (seconds, raw) in enumerate(spanned("decode", reel)):
            yield Frame(seconds, index, raw, partial(painter, raw))
