"""What a face does, by the points of Face Mesh: a smile, a mouth wide open, a head lowered, raised, tilted.

`FaceMesh` (MediaPipe, Google, Apache-2.0) lays 468 points, with depth, on a face that was found. All is
measured in the face's own size and upright, so that near and far faces, straight and aslant, are judged
alike; what is told lasts, so that neither speech nor a blink is taken for it. A face from the side is not
measured. What somebody feels is not told: a smile is one whatever it means. Nor are eyes: shut ones and those
that look down are too alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from shotad.core import Deed, Image
from shotad.sight.faces import Face
from shotad.sight.pose import Act, came_from, runs
from shotad.sight.things import LiteModel, shared, turned_square

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

    def _look(
        self, image: Image, middle: npt.NDArray[np.float64], side: float, across: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], float]:
        """``float64[468, 3]`` in pixels of ``image``, and the score, from a square around ``middle`` whose
        upper edge lies along ``across``."""
        side = max(side, 1.0)
        square, back = turned_square(image, middle, side, across, _SIDE)
        score, found = sorted(self._model(square.astype(np.float32) / 255), key=np.size)
        found = np.asarray(found, np.float64).reshape(-1, 3)
        flat = found[:, :2] @ back[:, :2].T + back[:, 2]
        return np.column_stack([flat, found[:, 2] * side / _SIDE]), float(score.ravel()[0])


def _measured(points: npt.NDArray[np.float64], face: Face) -> Expression | None:
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
