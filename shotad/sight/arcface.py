"""Whose face it is, by ArcFace (Deng and others 2019), as InsightFace's buffalo_l carries it.

The face is turned, scaled and shifted so that its five points lie where they lay in training: at the standard
points of the field for 112 x 112 pixels, published with ArcFace.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from shotad.core import Image, WeightsError
from shotad.sight.faces import Embedding, Face
from shotad.sight.onnx import Floats, OnnxModel

SIDE = 112
"""Pixels of the square that the network sees."""
STANDARD = (
    (38.2946, 51.6963),
    (73.5318, 51.5014),
    (56.0252, 71.7366),
    (41.5493, 92.3655),
    (70.7299, 92.2041),
)
"""x and y of the eyes, the tip of the nose and the corners of the mouth in that square."""
_MIDDLE = 127.5

Points = npt.NDArray[np.float64]
"""``float64[n, 2]``, x and y in pixels."""


class ArcFace:
    """The recogniser of InsightFace's model packs. Raises WeightsError for a file that is something else."""

    def __init__(self, path: Path, threads: int = 2) -> None:
        self._path = path
        self._model = OnnxModel(path, threads)

    def read(self, image: Image, face: Face) -> Embedding:
        """The embedding of ``face``, which was found in ``image``."""
        vector = self._model(blob_of(aligned(image, face)))
        if vector.ndim != 2 or len(vector) != 1:
            raise WeightsError(
                f"The model {self._path} is no recogniser of faces: its output is {list(vector.shape)}.",
                "Take w600k_r50.onnx of buffalo_l.",
            )
        unit: Embedding = vector[0] / max(float(np.linalg.norm(vector[0])), 1e-6)
        return unit


def aligned(image: Image, face: Face) -> Image:
    """The face as the network wants it, ``uint8[112, 112, 3]``; black where the picture ends."""
    height, width = image.shape[:2]
    matrix = similarity(np.array(face.landmarks) * (width, height), np.array(STANDARD))
    return np.asarray(cv2.warpAffine(image, matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR), np.uint8)


def similarity(points: Points, wanted: Points) -> npt.NDArray[np.float64]:
    """``float64[2, 3]``: the turn, scale and shift that brings ``points`` nearest to ``wanted``, by least
    squares (Umeyama 1991, without mirroring).

    As complex numbers ``wanted = a * points + b``, and ``a`` is a common regression.
    """
    source, target = (p[:, 0] + 1j * p[:, 1] for p in (points, wanted))
    away, there = source - source.mean(), target - target.mean()
    a = np.vdot(away, there) / max(float(np.vdot(away, away).real), 1e-12)
    b = target.mean() - a * source.mean()
    return np.array([[a.real, -a.imag, b.real], [a.imag, a.real, b.imag]])


def blob_of(square: Image) -> Floats:
    """``float32[1, 3, H, W]``, -1 to 1."""
    scaled = (square.astype(np.float32) - _MIDDLE) / _MIDDLE
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])
