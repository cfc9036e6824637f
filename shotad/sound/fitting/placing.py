"""Where lines of one gap stand, solved together and exactly, in whole milliseconds. Pure.

Each line has a `Window`; lines keep their order and `between` milliseconds of breath. A choice of forms is
possible if every line, put as early as it can be, still stands in its window, for an earlier line never
hinders a later one. So the cheapest choice is found by going through the lines once and keeping, for each
moment at which the lines so far can end, the cheapest way there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

Cost = tuple[int, ...]
"""Compared from its first number on; costs add up number by number."""


@dataclass(frozen=True, slots=True)
class Window:
    """Milliseconds: a line is wanted at ``wanted``, starts in ``[earliest, latest]``, is over by ``end``."""

    wanted: int
    earliest: int
    latest: int
    end: int

    def takes(self, start: int, length: int) -> bool:
        """Whether a line of this length may start there."""
        return self.earliest <= start <= self.latest and start + length <= self.end


@dataclass(frozen=True, slots=True)
class Option:
    """A way of saying a line: how many milliseconds it takes, and what it costs the listener."""

    length: int
    cost: Cost


@dataclass(frozen=True, slots=True)
class _Way:
    """What was chosen so far: where it ends, what it costs, and how it was come by."""

    end: int
    cost: Cost
    chosen: int | None = None
    before: _Way | None = None


def earliest_starts(
    windows: Sequence[Window], lengths: Sequence[int | None], between: int
) -> list[int | None] | None:
    """Where each line stands if all are as early as they can be; None where they cannot all be said.

    A length of None is a line that is not said; it has no start.
    """
    starts: list[int | None] = []
    free = None
    for window, length in zip(windows, lengths, strict=True):
        if length is None:
            starts.append(None)
            continue
        start = window.earliest if free is None else max(window.earliest, free)
        if not window.takes(start, length):
            return None
        starts.append(start)
        free = start + length + between
    return starts


def cheapest(
    windows: Sequence[Window], options: Sequence[Sequence[Option]], dropping: Sequence[Cost], between: int
) -> tuple[int | None, ...]:
    """For each line the index of its option, or None to drop it, at the least cost in all.

    ``dropping`` is what it costs to leave each line out. Of ways that cost the same, the one whose lines end
    first.
    """
    ways = [_Way(-(10**12), tuple(0 for _ in dropping[0]))] if dropping else []
    for window, line, leaving in zip(windows, options, dropping, strict=True):
        longer = [_Way(way.end, _sum(way.cost, leaving), None, way) for way in ways]
        for way in ways:
            start = max(window.earliest, way.end + between)
            longer += [
                _Way(start + option.length, _sum(way.cost, option.cost), number, way)
                for number, option in enumerate(line)
                if window.takes(start, option.length)
            ]
        ways = _undominated(longer)
    return _choices(min(ways, key=lambda way: (way.cost, way.end))) if ways else ()


def nearest_starts(windows: Sequence[Window], lengths: Sequence[int], between: int) -> list[int]:
    """Where lines stand as near to where they are wanted as can be: the sum of squares is the least.

    The lines must be possible (`earliest_starts`). Lines that press on each other become a block that moves
    as one: isotonic regression with bounds, by pooling adjacent violators; a block's best place is its mean,
    kept within the bounds of its members. Exact, for the cost of a block is convex (Best, Chakravarti and
    Ubhaya 2000, on minimising separable convex functions over isotonic functions).
    """
    offsets = [0, *accumulate(length + between for length in lengths)][: len(lengths)]
    low = [window.earliest - offset for window, offset in zip(windows, offsets, strict=True)]
    high = [
        min(window.latest, window.end - length) - offset
        for window, length, offset in zip(windows, lengths, offsets, strict=True)
    ]
    for at in range(1, len(low)):
        low[at] = max(low[at], low[at - 1])
    for at in reversed(range(len(high) - 1)):
        high[at] = min(high[at], high[at + 1])
    blocks: list[_Block] = []
    for at, (window, offset) in enumerate(zip(windows, offsets, strict=True)):
        if low[at] > high[at]:
            raise ValueError(f"line {at} of {len(windows)} cannot be placed: {window}, lengths {lengths}")
        block = _Block(window.wanted - offset, 1, low[at], high[at])
        while blocks and blocks[-1].best >= block.best:
            block = blocks.pop().joined(block)
        blocks.append(block)
    places = [block.best for block in blocks for _ in range(block.members)]
    return [place + offset for place, offset in zip(places, offsets, strict=True)]


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that move as one: the sum of their wanted places, how many they are, and their bounds."""

    wanted: int
    members: int
    low: int
    high: int

    @property
    def best(self) -> int:
        mean = (2 * self.wanted + self.members) // (2 * self.members)
        return min(max(mean, self.low), self.high)

    def joined(self, other: _Block) -> _Block:
        return _Block(
            self.wanted + other.wanted,
            self.members + other.members,
            max(self.low, other.low),
            min(self.high, other.high),
        )


def _sum(one: Cost, other: Cost) -> Cost:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _undominated(ways: list[_Way]) -> list[_Way]:
    """Without those that end no earlier than a cheaper one."""
    kept: list[_Way] = []
    for way in sorted(ways, key=lambda way: (way.end, way.cost)):
        if not kept or way.cost < kept[-1].cost:
            kept.append(way)
    return kept


def _choices(way: _Way) -> tuple[int | None, ...]:
    found: list[int | None] = []
    while way.before is not None:
        found.append(way.chosen)
        way = way.before
    return tuple(reversed(found))
