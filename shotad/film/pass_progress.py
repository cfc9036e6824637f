"""How far the pass over a film has come: shots, kept frames, and who is told of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from shotad.core import Shot, span
from shotad.film.shots import ShotFinder

if TYPE_CHECKING:
    from shotad.film.framestore import Filling, KeptFrame
    from shotad.film.parts import Part

OnShots = Callable[[tuple[Shot, ...], float], None]
"""Told now and then, from the thread that surveys: the shots whose both ends are final, from the film's
start on, and the second up to which no further cut can be found."""

TELL_EVERY = 2.0
"""Seconds of film between two calls of `OnShots`, at least."""


class Passage:
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
