"""Faces in one picture, where they look, and whether two of them are the same person's.

Detection: YuNet (Wu, Peng and Yu 2023, MIT). Recognition: SFace (Zhong and others 2021, Apache-2.0).
Both from OpenCV Zoo, through OpenCV. Gender, age and feelings are not measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from shotad.core import Box, Image, WeightsError, native_quiet

Landmarks = tuple[tuple[float, float], ...]
"""x and y as fractions of the picture: eye, eye, nose tip, corner, corner of the mouth; the left of the
picture first where the face looks ahead."""
Embedding = npt.NDArray[np.float32]
"""``float32[128]`` of length 1; the product of two is their likeness."""

_WIDTH = 640
"""Pixels of width that the detector sees: larger finds smaller faces, and faces in machine parts."""


@dataclass(frozen=True, slots=True)
class Face:
    """One face. ``yaw``: how far the nose stands right (+) or left (-) of the eyes' middle, in eye distances.

    ``score`` is the mean of two looks, one at the mirrored picture.
    """

    box: Box
    seconds: float
    score: float
    landmarks: Landmarks
    yaw: float


class FaceFinder:
    """YuNet at a fixed width, on the picture and on its mirror image."""

    def __init__(self, path: Path, least: float = 0.4) -> None:
        self._least = least
        try:
            with native_quiet():
                self._model: Any = cv2.FaceDetectorYN.create(str(path), "", (_WIDTH, 320), least, 0.3, 50)
        except cv2.error as error:
            raise _unloadable(path, error) from None

    def find(self, image: Image, seconds: float) -> list[Face]:
        """The faces that are seen in the picture and in its mirror image, best first."""
        height, width = image.shape[:2]
        size = (_WIDTH, max(1, round(height * _WIDTH / width)))
        way = cv2.INTER_AREA if width > _WIDTH else cv2.INTER_LINEAR
        small = np.asarray(cv2.resize(image, size, interpolation=way), np.uint8)
        straight = [_face(row, size, seconds) for row in self._rows(small[:, :, ::-1])]
        if not straight:
            return []
        mirrored = [_mirrored(_face(row, size, seconds)) for row in self._rows(small[:, ::-1, ::-1])]
        both = [_agreed(face, mirrored) for face in straight if face is not None]
        return sorted((face for face in both if face is not None), key=lambda f: (-f.score, f.box.left))

    def _rows(self, bgr: Image) -> npt.NDArray[np.float32]:
        with native_quiet():
            self._model.setInputSize((bgr.shape[1], bgr.shape[0]))
            rows = self._model.detect(np.ascontiguousarray(bgr))[1]
        return np.zeros((0, 15), np.float32) if rows is None else rows


class FaceReader:
    """SFace: turns a face into 128 numbers that stay alike for one person."""

    def __init__(self, path: Path) -> None:
        try:
            with native_quiet():
                self._model: Any = cv2.FaceRecognizerSF.create(str(path), "")
        except cv2.error as error:
            raise _unloadable(path, error) from None

    def read(self, image: Image, face: Face) -> Embedding:
        """The embedding of ``face``, which was found in ``image``."""
        height, width = image.shape[:2]
        box = face.box
        row = [box.left * width, box.top * height, box.width * width, box.height * height]
        row += [v for x, y in face.landmarks for v in (x * width, y * height)] + [face.score]
        with native_quiet():
            crop = self._model.alignCrop(np.ascontiguousarray(image[:, :, ::-1]), np.array(row, np.float32))
            vector = np.array(self._model.feature(crop), np.float32)[0]
        unit: Embedding = vector / max(float(np.linalg.norm(vector)), 1e-6)
        return unit


def yaw_of(landmarks: Landmarks, aspect: float = 1.0) -> float:
    """How far the nose stands right (+) or left (-) of the eyes' middle, in distances of the eyes.

    ``aspect`` is width over height of the picture. A face from the side has its eyes close together;
    the distance from eyes to mouth then stands in for theirs, so that the value stays finite.
    """
    (ax, ay), (bx, by), (nx, _), (cx, cy), (dx, dy) = landmarks
    eyes = float(np.hypot((bx - ax) * aspect, by - ay))
    depth = float(np.hypot((cx + dx - ax - bx) / 2 * aspect, (cy + dy - ay - by) / 2))
    return (nx - (ax + bx) / 2) * aspect / max(eyes, 0.6 * depth, 1e-6)


def _face(row: npt.NDArray[np.float32], size: tuple[int, int], seconds: float) -> Face | None:
    width, height = size
    x, y, w, h = (float(v) for v in row[:4])
    left, top = max(x / width, 0.0), max(y / height, 0.0)
    right, bottom = min((x + w) / width, 1.0), min((y + h) / height, 1.0)
    if right - left <= 0.005 or bottom - top <= 0.005:
        return None
    points = tuple((float(row[i]) / width, float(row[i + 1]) / height) for i in range(4, 14, 2))
    return Face(
        Box(left, top, right, bottom), seconds, float(row[14]), points, yaw_of(points, width / height)
    )


def _mirrored(face: Face | None) -> Face | None:
    if face is None:
        return None
    box = Box(1 - face.box.right, face.box.top, 1 - face.box.left, face.box.bottom)
    points = tuple((1 - face.landmarks[i][0], face.landmarks[i][1]) for i in (1, 0, 2, 4, 3))
    return Face(box, face.seconds, face.score, points, -face.yaw)


def _agreed(face: Face, others: list[Face | None]) -> Face | None:
    """The face with what its mirror image adds; None where the mirror shows none there."""
    twins = [o for o in others if o is not None and o.box.iou(face.box) > 0.3]
    if not twins:
        return None
    twin = max(twins, key=lambda o: (o.score, -o.box.left))
    score, yaw = (face.score + twin.score) / 2, (face.yaw + twin.yaw) / 2
    return Face(face.box, face.seconds, score, face.landmarks, yaw)


def _unloadable(path: Path, error: Exception) -> WeightsError:
    return WeightsError(
        f"The model {path} cannot be loaded: {error}.", "Fetch it again with `shotad models pull`."
    )
