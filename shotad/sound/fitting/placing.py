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

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[np.int64]


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
    cost: int


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
    windows: Sequence[Window], options: Sequence[Sequence[Option]], dropping: Sequence[int], between: int
) -> tuple[int | None, ...]:
    """For each line the index of its option, or None to drop it, at the least cost in all.

    ``dropping`` is what it costs to leave each line out. Of ways that cost the same, the one whose lines end
    first.
    """
    ways = _Ways(*(np.array([value], np.int64) for value in (-_LONG_AGO, 0, -1, -1)))
    course = [ways]
    for window, line, leaving in zip(windows, options, dropping, strict=True):
        ways = _continued(ways, window, line, leaving, between)
        course.append(ways)
    # The cheapest end last, for of ways that end later only the cheaper are kept.
    at = int(course[-1].ends.size) - 1
    chosen: list[int | None] = []
    for ways in reversed(course[1:]):
        number = int(ways.options[at])
        chosen.append(None if number < 0 else number)
        at = int(ways.before[at])
    return tuple(reversed(chosen))


_LONG_AGO = 10**12


@dataclass(frozen=True, slots=True, eq=False)
class _Ways:
    """What may have been chosen so far, ``int64[n]`` each: where it ends (ascending), what it costs
    (falling), the last option (-1: left out), and the number of the way before."""

    ends: _Numbers
    costs: _Numbers
    options: _Numbers
    before: _Numbers


def _continued(ways: _Ways, window: Window, line: Sequence[Option], leaving: int, between: int) -> _Ways:
    """The ways with one line more, without those that end no earlier than a cheaper one."""
    every = np.arange(ways.ends.size, dtype=np.int64)
    starts = np.maximum(ways.ends + between, window.earliest)
    parts = [(ways.ends, ways.costs + leaving, np.full(every.size, -1, np.int64), every)]
    for number, option in enumerate(line):
        fits = (starts <= window.latest) & (starts + option.length <= window.end)
        parts.append(
            (
                starts[fits] + option.length,
                ways.costs[fits] + option.cost,
                np.full(int(fits.sum()), number, np.int64),
                every[fits],
            )
        )
    ends, costs, options, before = map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((costs, ends))
    least = np.minimum.accumulate(costs[order])
    cheaper = np.concatenate(([True], least[1:] < least[:-1]))
    kept = order[cheaper]
    return _Ways(ends[kept], costs[kept], options[kept], before[kept])


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
