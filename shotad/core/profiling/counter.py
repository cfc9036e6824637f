"""A number that goes up and down, such as the length of a queue."""

from __future__ import annotations

from collections.abc import Sequence


class Counter:
    """How a number stood over time: its last values for a drawing, its mean and peak exactly."""

    __slots__ = ("_at", "_first", "_grain", "_limit", "_weight", "name", "peak", "points", "value")

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.points: list[tuple[int, float]] = []
        self.peak = self.value = 0.0
        self._limit, self._grain = limit, 0
        self._first = self._at = 0
        self._weight = 0.0

    def add(self, at: int, value: float) -> None:
        """It stands at ``value`` from nanosecond ``at`` on, which comes after all before it."""
        if not self.points:
            self._first, self.peak = at, value
        else:
            self._weight += self.value * (at - self._at)
        self._at, self.value, self.peak = at, value, max(self.peak, value)
        self.points.append((at, value))
        if len(self.points) > self._limit:
            self._grain = max(self._grain * 2, (at - self._first) // self._limit * 4, 1)
            self.points = highest(self.points, self._grain)

    def mean(self, now: int) -> float:
        """Its mean over the time from its first value to ``now``."""
        lasted = now - self._first
        if lasted <= 0:
            return self.value
        # Rounding must not lift a level that never moved above its own peak.
        return min((self._weight + self.value * (now - self._at)) / lasted, self.peak)

    def copy(self) -> Counter:
        """The same as it stands now, for a reader in another thread."""
        other = Counter(self.name, self._limit)
        other.points, other.peak, other.value = list(self.points), self.peak, self.value
        other._grain, other._first, other._at, other._weight = (
            self._grain,
            self._first,
            self._at,
            self._weight,
        )
        return other


def highest(points: Sequence[tuple[int, float]], grain: int) -> list[tuple[int, float]]:
    """Of the points within each ``grain`` nanoseconds the one with the highest value (the first of them),
    and the last point of all: a full queue stays to be seen."""
    best: dict[int, tuple[int, float]] = {}
    for at, value in points[:-1]:
        cell = at // grain
        if cell not in best or value > best[cell][1]:
            best[cell] = (at, value)
    return [*best.values(), points[-1]]
