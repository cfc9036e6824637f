"""The run's register: what was begun how often, what has arrived, and whether the run goes on.

One for a run, in a process of its own on the machine that started it, so that no worker's death takes it
along. It holds counts and names, no records: those lie in the films' work folders.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

Error = dict[str, str]
"""Kind, what and hint."""

ENDS_ALL = 3
"""Films in a row, with no answer between, whose engine failed as a whole: so will it with all others."""


@dataclass(slots=True)
class _Film:
    """What has arrived of a film."""

    names: set[str] = field(default_factory=set)
    wanted: int | None = None
    last: str = ""
    error: Error = field(default_factory=dict)
    seconds: float = 0.0
    peak: int = 0
    attempts: int = 0
    over: bool = False


class Register:
    """See the module. Every method may be called again for the same thing by a worker that was restarted."""

    def __init__(self) -> None:
        self._begun: dict[str, int] = defaultdict(int)
        self._told: dict[str, int] = defaultdict(int)
        self._films: dict[int, _Film] = defaultdict(_Film)
        self._missed: dict[int, Error] = {}
        self._stopped: Error = {}

    def begin(self, film: int, unit: str) -> int:
        """A piece of work on a film begins; which time that is, from 1."""
        self._begun[unit] += 1
        known = self._films[film]
        known.attempts = max(known.attempts, self._begun[unit])
        return self._begun[unit]

    def begun(self, units: Sequence[str]) -> list[int]:
        """How often each was begun and not ended."""
        return [self._begun.get(unit, 0) for unit in units]

    def end(self, unit: str) -> None:
        """A piece of work has ended, well or not, and its worker lives."""
        self._begun.pop(unit, None)

    def tell(self, unit: str, count: int) -> None:
        """So many rows of a piece of work have been handed on."""
        self._told[unit] = max(self._told[unit], count)

    def told(self, unit: str) -> int:
        """How many rows its attempts have handed on at most."""
        return self._told[unit]

    def arrive(
        self, film: int, name: str, wanted: int | None, error: Error, seconds: float = 0.0, peak: int = 0
    ) -> bool:
        """A row of a film has gone all the way; whether it is the last one that was missing.

        ``wanted`` (of the film's end) is how many there are besides. The row that was the last stays it: a
        worker that dies over it is handed the same row again. ``seconds`` and ``peak``: what its worker took.
        """
        known = self._films[film]
        if known.over:
            return False
        known.names.add(name)
        known.error = known.error or error
        known.seconds, known.peak = max(known.seconds, seconds), max(known.peak, peak)
        if wanted is not None:
            known.wanted = wanted + 1
        if not known.last and known.wanted is not None and len(known.names) >= known.wanted:
            known.last = name
        return known.last == name

    def account(self, film: int) -> tuple[Error, float, int, int]:
        """What ended a film, if anything has; the seconds and the most bytes that preparing it took; how
        often the part of it that was begun most often was begun."""
        known = self._films[film]
        return known.error, known.seconds, known.peak, known.attempts

    def over(self, film: int) -> None:
        """The film has its result; the names of its rows are forgotten, for a run may have millions."""
        self._films[film].over = True
        self._films[film].names.clear()

    def answered(self) -> None:
        """An engine gave answers."""
        self._missed.clear()

    def missed(self, film: int, error: Error) -> None:
        """An engine failed as a whole on behalf of a film."""
        self._missed[film] = error
        if len(self._missed) >= ENDS_ALL:
            self._stopped = self._stopped or error

    def stopped(self) -> Error:
        """Why nothing more is begun; empty as long as the run goes on."""
        return self._stopped
