"""What lies near a time, of much that lies along a film."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

from shotad.core import Interval

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class IntervalIndex(Generic[Item]):
    """Items in order of their starts, which are kept beside them with the latest end so far."""

    items: tuple[Item, ...]
    starts: tuple[float, ...]
    ends: tuple[float, ...]

    @staticmethod
    def of(items: Iterable[Item], when: Callable[[Item], Interval]) -> IntervalIndex[Item]:
        """The items, by when each is; those that begin together stay in order."""
        ordered = sorted(((when(item), item) for item in items), key=lambda pair: pair[0].start)
        ends = accumulate((time.end for time, _ in ordered), max)
        return IntervalIndex(
            tuple(item for _, item in ordered), tuple(time.start for time, _ in ordered), tuple(ends)
        )

    def near(self, time: Interval, window: float = 0.0) -> tuple[Item, ...]:
        """All items that lie within ``window`` seconds of ``time`` or touch that, and perhaps shorter ones
        between them that do not."""
        first = bisect_left(self.ends, time.start - window)
        return self.items[first : bisect_right(self.starts, time.end + window)]
