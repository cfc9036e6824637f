"""Whether a sentence can be spoken while what it tells is on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from shotad.core import Interval
from shotad.engines.embedded.sentence import Line
from shotad.engines.embedded.statement import Statement
from shotad.engines.embedded.words import spoken_words
from shotad.script import LEAD, Sight, in_sight, spoken_interval

_LATE = 1.0
"""Seconds after something is gone within which it is still told beside something else."""


@dataclass(frozen=True, slots=True)
class Timing:
    """A slot, the pace at which is spoken in it (seconds a word), and when each of its shots begins."""

    slot: Interval
    pace: float
    shots: Mapping[int, float]

    def words_from(self, second: float) -> int:
        """How many words can be said in the slot of something that is seen from ``second`` on."""
        room = in_sight(self.slot, second)
        return 0 if room is None else int(room.duration / self.pace + 1e-9)

    def placed(self, statement: Statement) -> Statement:
        """The statement with the second from which it is true: that of its shot where none was measured."""
        if statement.since is not None:
            return statement
        return replace(statement, since=self.shots.get(statement.shot, self.slot.start))

    def allows(self, line: Line) -> bool:
        """True where each thing is told when it is seen, at most `LEAD` before, and the line ends in time."""
        parts = ((words, s.since, s.until) for s, words in line.told if s.since is not None)
        sight = Sight.of(parts, self.pace)
        if sight is None:
            return True
        words = spoken_words(line.text)
        if sight.since - LEAD > self.slot.start and words > self.words_from(sight.since):
            return False
        begins = spoken_interval(self.slot, words, self.pace, sight).start
        return len(line.told) == 1 or sight.until is None or begins <= sight.until + _LATE
