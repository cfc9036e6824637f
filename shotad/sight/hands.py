"""Hands in pictures without a person to be seen: close pictures of what somebody's hands do.

A detector of palms proposes, and a model of the hand's 21 points says whether it is one (MediaPipe, Google,
Apache-2.0). Neither alone is sure: the first takes faces of animals for palms. What a hand does
cannot be measured, only that it is there and moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shotad.core import MANY, Box, Image, ThingFact
from shotad.sight.people import place_at
from shotad.sight.things import LiteModel, shared, square_around, turned_square

_PALM, _HAND = 0.6, 0.8
"""Scores of the two models from which a hand is one."""
_LEAST = 0.08
"""Height of a palm, in that of the picture, from which it is near enough to be told of."""
_SAME = 0.6
"""Distance of two palms, in widths of one, up to which they are the same."""
_REACH, _AHEAD = 2.6, 0.5
"""Side of the square around all of a hand, in sizes of its palm, and how far it lies before the palm."""
_LOOKS = 3
"""Looks at a shot in which a hand must be seen."""
_MOVES = 0.5
"""Way of a palm or a finger's tip between two looks, in sizes of the palm, from which it moves."""
_TIPS = (4, 8, 12, 16, 20)
_WRIST, _MIDDLE = 0, 2  # of the seven points of a palm

Points = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Hand:
    """A hand at ``seconds``: the ``box`` of its palm; its ``points``, ``float64[21, 2]``: x and y in heights
    of the picture."""

    seconds: float
    box: Box
    points: Points


def _anchors() -> Points:
    """``float64[2016, 2]``: the middles of the places that the detector looks at, 0 to 1."""
    grids = []
    for n, each in ((24, 2), (12, 6)):
        y, x = np.divmod(np.arange(n * n), n)
        grids.append(np.repeat((np.stack([x, y], axis=1) + 0.5) / n, each, axis=0))
    return np.concatenate(grids)


class HandReader:
    """Palm detector and hand points through LiteRT: 192 x 192, and 224 x 224 for each palm."""

    def __init__(self, palms: Path, points: Path) -> None:
        self._palms, self._hands = shared(LiteModel, palms), shared(LiteModel, points)
        names = [output["name"] for output in self._hands.outputs]
        self._points, self._sure, *_ = sorted(range(len(names)), key=lambda i: names[i])
        self._places = _anchors()

    def find(self, image: Image, seconds: float) -> list[Hand]:
        """The hands in ``image``, ``uint8[H, W, 3]`` RGB, surest first."""
        height, width = image.shape[:2]
        pixels = self._palms.pixels
        square, left, top, side = square_around(image, Box(0.0, 0.0, 1.0, 1.0), 1.0, pixels)
        logits, rows = sorted(self._palms(square.astype(np.float32) / 255), key=np.size)
        scores = 1 / (1 + np.exp(-np.clip(logits[0, :, 0], -50, 50)))
        rows = np.asarray(rows[0], np.float64) / pixels
        found: list[Hand] = []
        tried: list[tuple[Points, float]] = []
        for i in np.argsort(-scores, kind="stable"):
            if scores[i] < _PALM:
                break
            middle = (rows[i, :2] + self._places[i]) * side + (left, top)
            size = float(rows[i, 2:4].max()) * side
            if any(float(np.linalg.norm(middle - other)) < _SAME * wide for other, wide in tried):
                continue
            tried.append((middle, size))
            marks = (rows[i, 4:].reshape(-1, 2) + self._places[i]) * side + (left, top)
            low, high = (middle - size / 2) / (width, height), (middle + size / 2) / (width, height)
            low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
            points = self._look(image, middle, size, marks[_MIDDLE] - marks[_WRIST])
            if points is not None and size >= _LEAST * height and (high - low).min() > 0:
                found.append(Hand(seconds, Box(*map(float, (*low, *high))), points / height))
        return found

    def _look(self, image: Image, middle: Points, size: float, upright: Points) -> Points | None:
        """The points in pixels, from a square in which the fingers point up; None where it is no hand."""
        pixels = self._hands.pixels
        length = max(float(np.linalg.norm(upright)), 1e-6)
        middle = middle + upright / length * _AHEAD * size
        across = np.array([-upright[1], upright[0]])
        square, back = turned_square(image, middle, _REACH * size, across, pixels)
        outputs = self._hands(square.astype(np.float32) / 255)
        if float(outputs[self._sure].ravel()[0]) < _HAND:
            return None
        points = np.asarray(outputs[self._points], np.float64).reshape(21, -1)[:, :2]
        return np.asarray(points @ back[:, :2].T + back[:, 2], np.float64)


def hands_of(seen: Sequence[Sequence[Hand]], shot: int) -> ThingFact | None:
    """The hand, or the hands, that move in a shot; ``seen`` are those of each look, in order.

    None where they are seen in too few looks, or keep still. Several, of which nobody has counted how many,
    where two are seen at once in two looks.
    """
    shown = [hands for hands in seen if hands]
    if len(shown) < _LOOKS:
        return None
    moves = (_way(a[0], b) for a, b in pairwise(shown))
    if max(moves) < _MOVES:
        return None
    count = MANY if sum(len(hands) > 1 for hands in shown) > 1 else 1
    boxes = [hands[0].box for hands in shown]
    place = place_at(float(np.mean([box.centre[0] for box in boxes])))
    area = round(float(np.median([box.area for box in boxes])), 3)
    return ThingFact(shot, "hand", count, place, 0.95, round(shown[0][0].seconds, 3), area)


def _way(hand: Hand, after: Sequence[Hand]) -> float:
    """How far palm or tips have moved to the nearest hand of the next look, in sizes of the palm."""
    size = float(np.linalg.norm(hand.points[9] - hand.points[0]))
    ways = [np.linalg.norm(other.points - hand.points, axis=1)[[0, *_TIPS]].max() for other in after]
    return float(min(ways)) / max(size, 1e-6)
