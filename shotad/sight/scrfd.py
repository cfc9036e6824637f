"""Faces by SCRFD (Guo and others 2021), as InsightFace's buffalo_l carries it.

The network sees 640 x 640 pixels. At strides 8, 16 and 32 it gives, for two anchors at each place, a score,
the distances to the four edges of the face and the offsets of its five points, both in strides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from shotad.core import Box, Image, WeightsError
from shotad.sight.faces import Face, yaw_of
from shotad.sight.onnx import Floats, OnnxModel

SIDE = 640
"""Pixels of the square that the network sees."""
STRIDES = (8, 16, 32)
_ANCHORS = 2
_OVERLAP = 0.4
"""Overlap from which two boxes are one face."""
_MEAN, _SPREAD = 127.5, 128.0


class Scrfd:
    """The detector of InsightFace's model packs. Raises WeightsError for a file that is something else."""

    def __init__(self, path: Path, least: float, threads: int = 2) -> None:
        self._path, self._least = path, least
        self._model = _ManyOutputs(path, threads)

    def find(self, image: Image, seconds: float) -> list[Face]:
        """The faces in ``image``, ``uint8[H, W, 3]`` RGB, best first."""
        square, factor = letterboxed(image)
        levels = self._levels(self._model.all(blob_of(square)))
        found = np.concatenate([level.found(self._least) for level in levels])
        found = found[np.argsort(-found[:, 0], kind="stable")]
        height, width = image.shape[:2]
        found[:, 1:] /= factor
        kept = (found[i] for i in _apart(found[:, 1:5]))
        faces = (_face(row, width, height, seconds) for row in kept)
        return [face for face in faces if face is not None]

    def _levels(self, outputs: list[Floats]) -> Iterator[_Level]:
        """The outputs belong together by their shapes, whatever their order."""
        by_kind = {
            n: sorted((o.reshape(-1, n) for o in outputs if o.shape[-1] == n), key=len, reverse=True)
            for n in (1, 4, 10)
        }
        wanted = [_ANCHORS * (SIDE // stride) ** 2 for stride in STRIDES]
        if any([len(rows) for rows in kind] != wanted for kind in by_kind.values()):
            raise WeightsError(
                f"The model {self._path} is no SCRFD with five points: its outputs are"
                f" {[list(o.shape) for o in outputs]}.",
                "Take det_10g.onnx of buffalo_l.",
            )
        for stride, scores, edges, points in zip(STRIDES, *by_kind.values(), strict=True):
            yield _Level(stride, scores[:, 0], edges, points)


def letterboxed(image: Image) -> tuple[Image, float]:
    """The picture at the top left of a black square of `SIDE` pixels, and the factor it was scaled by."""
    ratio = image.shape[0] / image.shape[1]
    size = (max(1, int(SIDE / ratio)), SIDE) if ratio > 1 else (SIDE, max(1, int(SIDE * ratio)))
    square = np.zeros((SIDE, SIDE, 3), np.uint8)
    square[: size[1], : size[0]] = cv2.resize(image, size, interpolation=cv2.INTER_LINEAR)
    return square, size[1] / image.shape[0]


def blob_of(square: Image) -> Floats:
    """``float32[1, 3, H, W]``, about -1 to 1."""
    scaled = (square.astype(np.float32) - _MEAN) / _SPREAD
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """What the network says at one stride: ``scores`` [n], ``edges`` [n, 4], ``points`` [n, 10]."""

    stride: int
    scores: Floats
    edges: Floats
    points: Floats

    def found(self, least: float) -> Floats:
        """``float32[k, 15]``: score, left, top, right, bottom, and x and y of five points, in pixels."""
        sure = np.flatnonzero(self.scores >= least)
        row, column = np.divmod(sure // _ANCHORS, SIDE // self.stride)
        place = np.stack([column, row], axis=1).astype(np.float32) * self.stride
        near, far = self.edges[sure, :2] * self.stride, self.edges[sure, 2:] * self.stride
        points = np.tile(place, 5) + self.points[sure] * self.stride
        rows = [self.scores[sure, None], place - near, place + far, points]
        return np.concatenate(rows, axis=1).astype(np.float32)


class _ManyOutputs(OnnxModel):
    """A model of which all outputs are wanted."""

    def all(self, batch: Floats) -> list[Floats]:
        """All outputs, in the model's order."""
        outputs: list[Floats] = self._session.run(None, {self._input: batch})
        return outputs


def _apart(boxes: Floats) -> Iterator[int]:
    """The boxes, best first, that overlap none before them by much."""
    kept: list[int] = []
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for i, box in enumerate(boxes):
        others = boxes[kept]
        width = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0])
        height = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1])
        shared = np.maximum(width, 0) * np.maximum(height, 0)
        if np.all(shared <= _OVERLAP * (areas[i] + areas[kept] - shared)):
            kept.append(i)
            yield i


def _face(row: Floats, width: int, height: int, seconds: float) -> Face | None:
    """The face, cut at the edge of the picture; None where next to nothing is left."""
    score, left, top, right, bottom, *points = (float(v) for v in row)
    left, top = max(left / width, 0.0), max(top / height, 0.0)
    right, bottom = min(right / width, 1.0), min(bottom / height, 1.0)
    if right - left <= 0.005 or bottom - top <= 0.005:
        return None
    landmarks = tuple((points[i] / width, points[i + 1] / height) for i in range(0, 10, 2))
    return Face(Box(left, top, right, bottom), seconds, score, landmarks, yaw_of(landmarks, width / height))
