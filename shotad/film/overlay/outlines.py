"""Antialiased outlines, ellipses and rectangles, as how much of each pixel they cover.

Every pixel gets its distance from the outline and its place along it; a line, a double line and dashes
are bands of these two, so that all styles share their edges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Plane = npt.NDArray[np.float64]
"""``float64[H, W]``."""

_TABLE = 720
"""Points along an ellipse at which its length is summed."""


@dataclass(frozen=True, slots=True)
class Window:
    """A rectangle of whole pixels; ``right`` and ``bottom`` are open ends."""

    left: int
    top: int
    right: int
    bottom: int

    def shared(self, other: Window) -> int:
        """Pixels that lie in both."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(across, 0) * max(down, 0)

    def of(self, picture: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A view of the window's pixels."""
        return picture[self.top : self.bottom, self.left : self.right]


@dataclass(frozen=True, slots=True)
class Oval:
    """Centre and half-axes in pixels, of an ellipse or of the rectangle around it."""

    x: float
    y: float
    across: float
    down: float

    def window(self, room: float, width: int, height: int) -> Window | None:
        """The part of a picture of ``width`` x ``height`` within ``room`` pixels, or None: it lies beside."""
        left, right = math.floor(self.x - self.across - room), math.ceil(self.x + self.across + room)
        top, bottom = math.floor(self.y - self.down - room), math.ceil(self.y + self.down + room)
        window = Window(max(left, 0), max(top, 0), min(right, width), min(bottom, height))
        return window if window.left < window.right and window.top < window.bottom else None


@dataclass(frozen=True, slots=True)
class Outline:
    """For each pixel of a window: ``distance`` from the outline in pixels, below 0 inside, and the place
    ``along`` it in pixels, 0 to ``length``.
    """

    distance: Plane
    along: Plane
    length: float


@dataclass(frozen=True, slots=True)
class Stroke:
    """``bands`` are the lines, each from and to a distance in pixels; without ``dash`` they are whole."""

    bands: tuple[tuple[float, float], ...]
    dash: float = 0.0
    gap: float = 0.0

    @property
    def reach(self) -> float:
        """The largest distance that is painted, in pixels."""
        return max(abs(end) for band in self.bands for end in band)


def ellipse(oval: Oval, window: Window) -> Outline:
    """The ellipse; its distances are of first order, good near it."""
    x, y = _offsets(oval, window)
    a, b = oval.across, oval.down
    ratio = np.hypot(x / a, y / b)
    slope = np.hypot(x / a**2, y / b**2)
    distance = np.where(slope > 0, (ratio - 1) * ratio / np.maximum(slope, 1e-12), -min(a, b))
    turns = np.linspace(0, 2 * math.pi, _TABLE + 1)
    steps = np.hypot(np.diff(a * np.cos(turns)), np.diff(b * np.sin(turns)))
    sums = np.concatenate(([0.0], np.cumsum(steps)))
    angle = np.arctan2(y / b, x / a) % (2 * math.pi)
    return Outline(distance, np.interp(angle, turns, sums), float(sums[-1]))


def rectangle(oval: Oval, window: Window) -> Outline:
    """The rectangle, its places clockwise from the top left corner."""
    x, y = _offsets(oval, window)
    a, b = oval.across, oval.down
    beyond_x, beyond_y = np.abs(x) - a, np.abs(y) - b
    distance = np.maximum(beyond_x, beyond_y)
    near_x, near_y = np.clip(x, -a, a), np.clip(y, -b, b)
    level = beyond_y >= beyond_x
    along = np.where(
        level,
        np.where(y < 0, near_x + a, 2 * a + 2 * b + (a - near_x)),
        np.where(x > 0, 2 * a + near_y + b, 4 * a + 2 * b + (b - near_y)),
    )
    return Outline(distance, along, 4 * (a + b))


def cover(outline: Outline, stroke: Stroke, wider: float = 0.0) -> Plane:
    """How much of each pixel the stroke covers, 0 to 1; ``wider`` by so many pixels on every side."""
    covered = np.zeros_like(outline.distance)
    for start, end in stroke.bands:
        depth = np.minimum(outline.distance - start, end - outline.distance) + wider
        covered = np.maximum(covered, np.clip(depth + 0.5, 0, 1))
    if stroke.dash:
        covered *= _dashes(outline, stroke, wider)
    return covered


_FEWEST_DASHES = 4
"""Fewer no longer look like dashes."""


def _dashes(outline: Outline, stroke: Stroke, wider: float) -> Plane:
    """Whole dashes all round, the gaps as long as asked, or shorter where the outline is short."""
    number = max(_FEWEST_DASHES, round(outline.length / (stroke.dash + stroke.gap)))
    period = outline.length / number
    dash = period * stroke.dash / (stroke.dash + stroke.gap)
    place = outline.along % period
    from_middle = np.minimum(place, period - place)
    return np.clip(dash / 2 + wider - from_middle + 0.5, 0, 1)


def _offsets(oval: Oval, window: Window) -> tuple[Plane, Plane]:
    """Of each pixel's middle from the centre."""
    y, x = np.mgrid[window.top : window.bottom, window.left : window.right].astype(np.float64)
    return x + 0.5 - oval.x, y + 0.5 - oval.y
