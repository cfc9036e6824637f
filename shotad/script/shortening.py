"""What whoever fits lines may ask a writer for: a shorter line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """A writer's line, and what is wrong with it (nothing: it may be spoken)."""

    text: str
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """A line that is to be said in at most ``words`` words.

    Words are English ones, or as many as take as long in ``language`` (`shotad.script.pace`). ``before`` is
    the last answer, if it was no use.
    """

    id: str
    text: str
    words: int
    language: str = "en"
    before: Answer | None = None

    def __post_init__(self) -> None:
        if self.words < 1:
            raise ValueError(f"a line must be allowed at least one word, got words = {self.words}")


Shorten = Callable[[Sequence[Wish]], Sequence[Answer | None]]
"""One answer for each wish, in order; None where there is none. Never raises for a line that failed."""
