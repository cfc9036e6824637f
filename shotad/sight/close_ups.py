"""What faces and hands do that fill the picture, by their points.

Of a face: a smile, a mouth wide open, a head lowered, raised, tilted.

`FaceMesh` (MediaPipe, Google, Apache-2.0) lays 468 points, with depth, on a face that was found. All is
measured in the face's own size and upright, so that near and far faces, straight and aslant, are judged
alike; what is told lasts, so that neither speech nor a blink is taken for it. A face from the side is not
measured. What somebody feels is not told: a smile is one whatever it means. Nor are eyes: shut ones and those
that look down are too alike.

Hands are looked for in pictures without a person to be seen: close pictures of what somebody's hands do. A
detector of palms proposes, and a model of the hand's 21 points says whether it is one (MediaPipe, Google,
Apache-2.0). Neither alone is sure: the first takes faces of animals for palms. What a hand does
cannot be measured, only that it is there and moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from shotad.core import MANY, Box, Deed, Image, ThingFact
from shotad.sight.faces import Face
from shotad.sight.people import place_at
from shotad.sight.pictures import shared
from shotad.sight.pose import Act, came_from, runs
from shotad.sight.things import LiteModel, square_around, turned_square

Points = npt.NDArray[np.float64]
"""``float64[n, 2]``, or with depth ``float64[n, 3]``."""

NEAR = 0.2
"""Height of a face, in that of the picture, from which its points are looked for."""
_SIDE = 192
"""Pixels of the square that the model sees."""
_FIRST = 3.6
"""Side of the first square, in distances from eye to eye or from eyes to mouth, the larger of both."""
_ROOM = 1.5
"""Side of the second, in that of the points found in the first: as the model was trained."""
_SURE = 2.0
"""The model's own score (a logit) from which a face is there."""
_ASIDE = 30.0
"""Degrees up to which a face is turned to the side and still measured."""
_OUTER_EYES, _CORNERS, _LIPS, _CHEEKS = (33, 263), (61, 291), (13, 14), (234, 454)
_FOREHEAD, _UNDER_NOSE = 10, 2  # not the chin, which goes with the mouth


@dataclass(frozen=True, slots=True)
class Expression:
    """One face at ``seconds``. ``size``: its height in that of the picture; ``wide``: the mouth's width in
    distances of the outer corners of the eyes (0.46 to 0.60 at rest); ``open``: how far the lips are apart,
    ``lift``: how far the corners are above their middle, both in widths of the mouth; ``down`` and ``tilt``:
    degrees by which the head bows and leans."""

    seconds: float
    size: float
    wide: float
    open: float
    lift: float
    down: float
    tilt: float


class FaceMesh:
    """Face Mesh through LiteRT: 192 x 192, twice for each face."""

    def __init__(self, path: Path) -> None:
        self._model = shared(LiteModel, path)

    def read(self, image: Image, face: Face) -> Expression | None:
        """What ``face``, found in ``image``, shows; None where it is turned away or no face."""
        marks = np.array(face.landmarks) * (image.shape[1], image.shape[0])
        eyes, mouth = marks[:2].mean(axis=0), marks[3:].mean(axis=0)
        across = marks[1] - marks[0]
        side = _FIRST * max(float(np.linalg.norm(across)), float(np.linalg.norm(mouth - eyes)))
        points, score = self._look(image, (eyes + mouth) / 2, side, across)
        low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
        across = points[_OUTER_EYES[1], :2] - points[_OUTER_EYES[0], :2]
        points, score = self._look(image, (low + high) / 2, _ROOM * float((high - low).max()), across)
        return _measured(points, face) if score >= _SURE else None

    def _look(self, image: Image, middle: Points, side: float, across: Points) -> tuple[Points, float]:
        """``float64[468, 3]`` in pixels of ``image``, and the score, from a square around ``middle`` whose
        upper edge lies along ``across``."""
        side = max(side, 1.0)
        square, back = turned_square(image, middle, side, across, _SIDE)
        score, found = sorted(self._model(square.astype(np.float32) / 255), key=np.size)
        found = np.asarray(found, np.float64).reshape(-1, 3)
        flat = found[:, :2] @ back[:, :2].T + back[:, 2]
        return np.column_stack([flat, found[:, 2] * side / _SIDE]), float(score.ravel()[0])


def _measured(points: Points, face: Face) -> Expression | None:
    def between(one: int, other: int) -> float:
        return max(float(np.linalg.norm(points[one] - points[other])), 1e-6)

    across, down = points[_CHEEKS[1]] - points[_CHEEKS[0]], points[_UNDER_NOSE] - points[_FOREHEAD]
    if abs(np.degrees(np.arctan2(across[2], across[0]))) > _ASIDE:
        return None
    width = between(*_CORNERS)
    raised = (points[list(_LIPS)].mean(axis=0) - points[list(_CORNERS)].mean(axis=0)) @ down
    return Expression(
        face.seconds,
        face.box.height,
        wide=width / between(*_OUTER_EYES),
        open=between(*_LIPS) / width,
        lift=float(raised) / between(_UNDER_NOSE, _FOREHEAD) / width,
        down=float(np.degrees(np.arctan2(down[2], down[1]))),
        tilt=float(np.degrees(np.arctan2(across[1], across[0]))),
    )


_SMILE, _LIFTED, _TEETH, _SHOUT = 0.66, 0.08, 0.12, 0.45
"""`Expression.wide`, `lift` and `open` from which a mouth smiles, and `open` up to which: who weeps draws the
closed lips just as wide and high as who smiles with them (0.02 to 0.09 open), so these are not told."""
_SMILING = 0.9
"""Seconds for which it does so without a break: who talks does not."""
_OPEN, _SHUT = 0.5, 0.25
"""`Expression.open` from which a mouth is wide open, and up to which it is not open yet."""
_QUIET = 1.1
"""Seconds before, in which it was never more open than that: who talks or sings opens it again and again."""
_HELD = 0.4
"""Seconds for which a mouth or a head is held to be told of."""
_NOD = 18.0
"""Degrees by which a head is lowered, raised or tilted."""
_CLOSE = 0.25
"""Height of a face from which its head is told of: farther off it moves with the body."""
_APART = 1.0
"""Seconds before and after what the body does within which the head moves along."""
_PAUSE = 0.6
"""Seconds between two looks beyond which nothing is known of what was between."""


def face_acts(shown: Sequence[Expression], body: Sequence[Act] = ()) -> list[Act]:
    """All that the face does in these looks (ascending seconds), by time; of the head, what it does by itself
    and not as a part of what the ``body`` does."""
    acts: list[Act] = []
    borders = [k for k in range(1, len(shown)) if shown[k].seconds - shown[k - 1].seconds > _PAUSE]
    for start, end in zip([0, *borders], [*borders, len(shown)], strict=True):
        part = shown[start:end]
        smiles = [s.wide >= _SMILE and s.lift >= _LIFTED and _TEETH <= s.open <= _SHOUT for s in part]
        acts += [Act("smiles", part[a].seconds, part[b].seconds) for a, b in runs(smiles, part, _SMILING)]
        for a, b in runs([s.open >= _OPEN for s in part], part, _HELD):
            before = [s.open for s in part[:a] if s.seconds >= part[a].seconds - _QUIET]
            if len(before) >= 3 and max(before) <= _SHUT:
                acts.append(Act("opens the mouth wide", part[a].seconds, part[b].seconds))
        acts += _moved(part, "lowers the head", lambda s: s.down)
        acts += _moved(part, "raises the head", lambda s: -s.down)
        acts += _moved(part, "tilts the head", lambda s: s.tilt)
        acts += _moved(part, "tilts the head", lambda s: -s.tilt)
    alone = (
        act
        for act in acts
        if not act.deed.endswith("the head")
        or all(act.since > b.until + _APART or act.until < b.since - _APART for b in body)
    )
    return sorted(alone, key=lambda act: (act.since, act.deed))


def _moved(shown: Sequence[Expression], deed: Deed, angle: Callable[[Expression], float]) -> Iterator[Act]:
    """Each time that the angle grows by `_NOD`, from where it was held to where it is held, and beyond what
    is usual: coming back is not told."""
    shown = [s for s in shown if s.size >= _CLOSE]
    angles = [angle(s) for s in shown]
    if not angles:
        return
    rest = min(angles)
    enough = max(rest + _NOD, median(angles) + _NOD / 2)
    for a, b in runs([value >= enough for value in angles], shown, _HELD):
        if came_from(shown, a, lambda s: angle(s) <= rest + _NOD / 2):
            yield Act(deed, shown[a].seconds, shown[b].seconds)


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
