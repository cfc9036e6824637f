"""Shot scale without training: from how high the closest face in the picture is.

One measure carries the rule, the *stature*: how high a whole standing body would be at the distance of the
face, in heights of the picture. Body proportions, and so which part of a body fits into the picture, then
give the borders of the scales, as in Cherif, Solachidis and Pitas (2007). Of several people the closest
decides, as in the rule on faces and poses of Fu and others (2019, Rekall).

Where no face is seen the scale is unknown: an insert of a thing, a back and a landscape look alike to this
rule. Detectors of bodies and a classifier of places were tried: they answer for more pictures, and are
right less often (benchmarks/LOG.md).

The borders are proportions, not fitted. The width of the picture and the scores of faces were chosen on
the labelled stills for tuning (tests/labels/scales.json; figures: `benchmarks/scales.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import cv2
import numpy as np

from shotad.core import Image, Progress
from shotad.core.model_loading import silence_native_output
from shotad.core.onnx import model_buffers, unloadable_model_error
from shotad.core.weight_store import weights_file
from shotad.film.sampling import Moment
from shotad.grammar.features import ScaleGuess
from shotad.sight import crop
from shotad.sight.motion import active_area

REVISION = "5"
"""Raise it with every change that changes an answer: records depend on it."""
WEIGHTS = ("yunet",)
"""Names in the manifest of the weights that it needs."""

BORDERS = (9.5, 3.6, 1.05, 0.5)
"""Statures at which extreme close-up, close-up, medium, full and long meet.

A face as high as 0.95 of the picture is an extreme close-up in Fu and others. A close-up ends at the
middle of the chest, a quarter of the body from the crown, with a tenth of the picture above the head:
0.9 / 0.25. Medium reaches to the knees, full to the soles; between them, at 0.85 of the body, 0.9 / 0.85.
A figure of less than half the picture's height is long, again as in Fu and others.
"""
_SPREAD = 0.22
"""How soft a border is, as the scale of a logistic curve over the logarithm of the stature."""
_FACES_IN_BODY = 10.0
"""Faces, from the chin to the roots of the hair, in a standing body (Vitruvius, De architectura III, 1)."""
_EYES_TO_MOUTH = 0.4
"""Of the face's height; it gives the height of a face that the picture cuts off."""
_EDGE = 0.02
"""A face that ends this near to the upper or lower edge of the picture is cut off there."""
_NOBODY = (0.0, 0.1, 0.15, 0.2, 0.55)
"""How often pictures have each scale in which nobody is found: of 60 stills 0, 5, 9, 12 and 34. It stands for
what is left where a face is likely but not sure."""

_SIDE = 320
"""Pixels of the longer side that the detector sees. At 640 it answers for a fifth more of the stills, and of
those answers a third are right; it takes five times as long."""
_FAINT, _CLEAR = 0.6, 0.85
"""Scores of a face at which it is certainly none, and certainly one."""
_BAR_LINES = 160
"""Lines of the picture, at least, by which black bars are looked for."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A ``stature`` in heights of the picture, and the chance (0 to 1) that the face is one."""

    stature: float
    chance: float


@dataclass(frozen=True, slots=True)
class SmallFace:
    """A face in parts of the picture's height: its edges, clipped to the picture, and how far the mouth lies
    below the eyes. ``score`` is the detector's, 0 to 1."""

    top: float
    bottom: float
    eyes_to_mouth: float
    score: float


def guess_from(people: Sequence[Measure]) -> ScaleGuess | None:
    """The scale by the closest person who is really there.

    None where it is more likely than not that nobody is: the scale is unknown. One who comes closer never
    makes the expected scale longer.
    """
    left, total = 1.0, np.zeros(len(_NOBODY))
    for measure in sorted(people, key=lambda m: (-m.stature, -m.chance)):
        total += left * measure.chance * np.array(scales_at(measure.stature))
        left *= 1 - measure.chance
    if left > 0.5:
        return None
    a, b, c, d, e = (total + left * np.array(_NOBODY)).tolist()
    return ScaleGuess((a, b, c, d, e))


def scales_at(stature: float) -> tuple[float, ...]:
    """Chances of the five scales at a stature: a logistic curve at each border.

    >>> [round(p, 2) for p in scales_at(2.0)]
    [0.0, 0.06, 0.88, 0.05, 0.0]
    """
    beyond = [1 / (1 + (border / stature) ** (1 / _SPREAD)) for border in BORDERS]
    return tuple(np.diff([0.0, *beyond, 1.0]).tolist())


def measure_face(face: SmallFace) -> Measure:
    """Stature by the height of a face; by its eyes and mouth where the picture cuts it off."""
    height = face.bottom - face.top
    if face.top <= _EDGE or face.bottom >= 1 - _EDGE:
        height = max(height, face.eyes_to_mouth / _EYES_TO_MOUTH)
    chance = (face.score - _FAINT) / (_CLEAR - _FAINT)
    return Measure(_FACES_IN_BODY * height, min(max(chance, 0.0), 1.0))


class ByFace:
    """Reads the scale off the faces in a picture, from that picture alone.

    Three frames of a shot are better than one that leaves doubt, for one is often blurred by motion, and
    somebody may have turned away.
    """

    moments: tuple[Moment, ...] = ("middle", "quarter", "three_quarters")

    def __init__(self, progress: Progress | None = None) -> None:
        self.identity = f"by-face-{REVISION} {'+'.join(WEIGHTS)}"
        self._faces = _SmallFaceFinder(weights_file(WEIGHTS[0], progress))

    def of(self, images: Sequence[Image]) -> list[ScaleGuess | None]:
        """One guess for each image (RGB ``uint8[H, W, 3]``); None where no face shows it."""
        return [guess_from([measure_face(face) for face in self._faces.find(image)]) for image in images]


class _SmallFaceFinder:
    """YuNet on a small picture, once: what it does not see there tells little of the scale.

    `shotad.sight.FaceFinder` looks at four times as many pixels, and twice, for the names of people.
    """

    def __init__(self, path: Path) -> None:
        self._turn = Lock()
        try:
            with silence_native_output():
                self._model: Any = cv2.FaceDetectorYN.create(
                    *model_buffers(path), (_SIDE, _SIDE), _FAINT, 0.3, 50
                )
        except (cv2.error, OSError) as error:
            raise unloadable_model_error(path, error) from None

    def find(self, image: Image) -> list[SmallFace]:
        """The faces in ``image``, black bars cut off."""
        step = max(1, min(image.shape[:2]) // _BAR_LINES)
        picture = crop(image, active_area(image[None, ::step, ::step]))
        height, width = picture.shape[:2]
        scale = _SIDE / max(height, width)
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        bgr = np.ascontiguousarray(small[:, :, ::-1])
        with silence_native_output(), self._turn:
            self._model.setInputSize(size)
            rows = self._model.detect(bgr)[1]
        return [_face_of(row, size[1]) for row in (() if rows is None else rows)]


def _face_of(row: Sequence[float], height: int) -> SmallFace:
    """A face from the detector's row: left, top, width, height, x and y of the two eyes, the tip of the nose
    and the corners of the mouth, all in pixels, and the score."""
    _, top, _, high, _, eye, _, other_eye, _, _, _, corner, _, other_corner, score = (float(v) for v in row)
    return SmallFace(
        top=min(max(top / height, 0.0), 1.0),
        bottom=min(max((top + high) / height, 0.0), 1.0),
        eyes_to_mouth=abs(corner + other_corner - eye - other_eye) / 2 / height,
        score=score,
    )
