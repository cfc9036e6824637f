"""Is B better than A? Both on the ADs that they have in common, without each film in turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shotad.evaluation.measure.rows import Result, only
from shotad.evaluation.report.intervals import FEWEST, Span, Unit, spoken_of, spread, units_of


@dataclass(frozen=True, slots=True)
class Paired:
    """Two results of one metric on ``n`` common ADs.

    ``difference`` is B's number less A's. ``p`` is two-sided: how often chance alone sets two equal systems
    so far apart. ``not_better`` is one-sided: how often it sets B so far ahead. Both are None where there are
    too few ADs or films.
    """

    a: float | None
    b: float | None
    n: int
    interval: Span | None
    not_better: float | None
    p: float | None

    @property
    def difference(self) -> float | None:
        """None where one of the numbers is not defined."""
        return None if self.a is None or self.b is None else self.b - self.a


def paired(a: Result, b: Result, films: Mapping[str, str], *, unit: Unit, level: float) -> Paired:
    """A and B on the ADs that both have rows of. ``films`` is the film of each of these ids."""
    theirs = {row.id for row in b.rows}
    common = [row.id for row in a.rows if row.id in theirs]
    a, b = only(a, common), only(b, common)
    alone = Paired(a.value, b.value, len(common), None, None, None)
    units = units_of(spoken_of([a, b], films), unit)
    gained = alone.difference
    found = spread(gained, units.without(b) - units.without(a), units.kind)
    if gained is None or found is None or min(a.scored, b.scored) < FEWEST:
        return alone
    p = found.chance(gained)
    better = gained if a.higher_is_better else -gained
    not_better = p / 2 if better > 0 else 1 - p / 2
    return Paired(a.value, b.value, len(common), found.span(gained, level), not_better, p)
