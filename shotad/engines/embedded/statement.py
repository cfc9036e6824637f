"""What could be said: a statement, what it is worth, and when it is true."""

from __future__ import annotations

from dataclasses import dataclass

from shotad.core import Named
from shotad.engines.embedded.phrases import Clause

WORTH = {
    "title": 100.0, "sign": 80.0, "credit": 75.0, "credits": 65.0,
    "enters": 60.0, "passes": 58.0, "leaves": 55.0, "facing": 52.0, "closer": 50.0, "away": 46.0,
    "people": 46.0, "face": 44.0, "turns": 44.0, "left": 42.0, "right": 42.0, "up": 40.0, "down": 40.0,
    "looks": 38.0, "person": 34.0, "still": 26.0, "described": 6.0,
    "named": 8.0, "new": 30.0,
    "thing": 44.0, "lively": 8.0, "accompanied": 6.0, "figure": 38.0, "figure passes": 42.0, "motion": 25.0,
    "flash": 32.0, "fade-out": 36.0, "contrast": 28.0, "fade-in": 26.0, "level": 24.0,
}  # fmt: skip
"""What listeners miss most comes first (text that nobody reads, then who does what).

``named`` is added for who has a name, ``new`` besides for a name that the last lines do not have.
"""
PRESENT = frozenset({"person", "face", "people", "still"})
"""That somebody is there, and no more."""
EVENTS = frozenset(
    {"enters", "passes", "leaves", "closer", "away", "left", "right", "up", "down", "turns"}
    | {"figure", "figure passes"}
)
"""What somebody does, as against what merely is."""
START, MIDDLE, END = 0, 1, 2
"""Phases of a shot: a fade-in comes before all else, a fade-out after."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that could be said. ``heads`` is how many people it is about, 0 for none, ``names`` those
    of them who are known; ``who`` is the same number, or id, for what one person does in several shots;
    ``near``: of one person hardly more than the face is seen.

    ``shot``, ``phase`` (start, middle or end of the shot) and ``time`` put statements in order;
    ``time`` is when it holds, in film seconds, None where that was not measured. ``since`` and
    ``until`` are the seconds between which it is to be seen when told, None where they are not known.
    """

    key: str
    shot: int
    worth: float
    clauses: tuple[Clause, ...]
    heads: int = 0
    near: bool = False
    who: int | str | None = None
    names: tuple[Named, ...] = ()
    phase: int = MIDDLE
    time: tuple[float, float] | None = None
    sure: float = 1.0
    since: float | None = None
    until: float | None = None

    @property
    def order(self) -> tuple[int, int, float]:
        """Film order, as far as it was measured."""
        return self.shot, self.phase, self.time[0] if self.time else 0.0

    @property
    def named(self) -> Named | None:
        """Who a single person is; None for one that is unknown, and for several."""
        return self.names[0] if self.heads == 1 and self.names else None

    @property
    def reads(self) -> bool:
        """True where it reads words aloud."""
        return any(clause.quotes for clause in self.clauses)

    @property
    def is_figure(self) -> bool:
        """True for a mover of unknown kind."""
        return self.key in ("figure", "figure passes")

    def precedes(self, other: Statement) -> bool:
        """True where it was measured to be over before the other begins."""
        if self.shot != other.shot:
            return self.shot < other.shot
        return bool(self.time and other.time and self.time[1] <= other.time[0])

    def beside(self, other: Statement) -> bool:
        """True where both were measured to hold at one time, in one shot."""
        if self.shot != other.shot or self.time is None or other.time is None:
            return False
        return self.time[0] < other.time[1] and other.time[0] < self.time[1]
