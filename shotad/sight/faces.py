"""Faces in one picture, where they look, and whether two of them are the same person's.

Two pairs of models can be chosen (`PAIRS`), each with the borders of its own likenesses:

- YuNet (Wu, Peng and Yu 2023, MIT) and SFace (Zhong and others 2021, Apache-2.0), both from OpenCV Zoo,
  through OpenCV.
- SCRFD (Guo and others 2021) and ArcFace (Deng and others 2019), as InsightFace's buffalo_l carries them.
  SCRFD sees 640 x 640 pixels: at strides 8, 16 and 32 it gives, for two anchors at each place, a score, the
  distances to the four edges of the face and the offsets of its five points, both in strides. For ArcFace the
  face is turned, scaled and shifted so that its five points lie where they lay in training: at the standard
  points of the field for 112 x 112 pixels, published with ArcFace.

Gender, age and feelings are not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from shotad.core import (
    Box,
    CastSettings,
    Floats,
    Image,
    NoProgress,
    OnnxModel,
    Progress,
    WeightsError,
    native_quiet,
    unloadable,
    weights,
    weights_file,
)

Landmarks = tuple[tuple[float, float], ...]
"""x and y as fractions of the picture: eye, eye, nose tip, corner, corner of the mouth; the left of the
picture first where the face looks ahead."""
Embedding = npt.NDArray[np.float32]
"""``float32[128]`` of length 1; the product of two is their likeness."""
Embeddings = npt.NDArray[np.float32]
"""``float32[n, d]``, rows of length 1."""

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


RULES = 1
"""Counted up when the same faces are followed otherwise than before; part of every identity."""


@dataclass(frozen=True, slots=True)
class Following:
    """What holds a track of faces together, in the likenesses and scores of one pair of models."""

    near: float
    """Likeness from which a face at the same place a moment later is the same one."""
    far: float
    """The same at another place, or after a pause."""
    again: float
    """The same anywhere in the shot, however long nobody was seen."""
    believed: float
    """Score that the best look of a track must have."""
    alone: float
    """Score of a face that was seen at one moment only."""
    every: bool = False
    """Every look is read, not the best alone: where each frame is decided for itself."""


_NARROWEST = 10
"""Times that a picture may be longer than wide, or wider than long. In a strip there is no whole face, and at
the width of the model it would have hundreds of thousands of lines."""


class FaceFinder:
    """YuNet at a fixed width, on the picture and on its mirror image."""

    def __init__(self, path: Path, least: float = 0.4) -> None:
        self._turn = Lock()
        try:
            with native_quiet():
                self._model: Any = cv2.FaceDetectorYN.create(str(path), "", (_WIDTH, 320), least, 0.3, 50)
        except cv2.error as error:
            raise unloadable(path, error) from None

    def find(self, image: Image, seconds: float) -> list[Face]:
        """The faces that are seen in the picture and in its mirror image, best first."""
        height, width = image.shape[:2]
        if max(height, width) > _NARROWEST * min(height, width):
            return []
        size = (_WIDTH, max(1, round(height * _WIDTH / width)))
        way = cv2.INTER_AREA if width > _WIDTH else cv2.INTER_LINEAR
        small = np.asarray(cv2.resize(image, size, interpolation=way), np.uint8)
        straight = self._faces(small[:, :, ::-1], seconds)
        if not straight:
            return []
        mirrored = []
        for face in self._faces(small[:, ::-1, ::-1], seconds):
            box = Box(1 - face.box.right, face.box.top, 1 - face.box.left, face.box.bottom)
            points = tuple((1 - face.landmarks[i][0], face.landmarks[i][1]) for i in (1, 0, 2, 4, 3))
            mirrored.append(replace(face, box=box, landmarks=points, yaw=-face.yaw))
        found = []
        for face in straight:
            twins = [other for other in mirrored if other.box.iou(face.box) > 0.3]
            if twins:
                twin = max(twins, key=lambda other: (other.score, -other.box.left))
                score, yaw = (face.score + twin.score) / 2, (face.yaw + twin.yaw) / 2
                found.append(replace(face, score=score, yaw=yaw))
        return sorted(found, key=lambda f: (-f.score, f.box.left))

    def _faces(self, bgr: Image, seconds: float) -> list[Face]:
        size = (bgr.shape[1], bgr.shape[0])
        with native_quiet(), self._turn:
            self._model.setInputSize(size)
            rows = self._model.detect(np.ascontiguousarray(bgr))[1]
        faces = []
        for row in () if rows is None else rows:
            x, y, w, h, *points, score = (float(v) for v in row[:15])
            faces.append(_placed(score, (x, y, x + w, y + h), points, size, seconds))
        return [face for face in faces if face is not None]


class FaceReader:
    """SFace: turns a face into 128 numbers that stay alike for one person."""

    def __init__(self, path: Path) -> None:
        try:
            with native_quiet():
                self._model: Any = cv2.FaceRecognizerSF.create(str(path), "")
        except cv2.error as error:
            raise unloadable(path, error) from None

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


def _placed(
    score: float,
    edges: tuple[float, float, float, float],
    points: Sequence[float],
    size: tuple[int, int],
    seconds: float,
) -> Face | None:
    """The face of these pixels, cut at the edge of the picture; None where next to nothing is left."""
    width, height = size
    left, top = max(edges[0] / width, 0.0), max(edges[1] / height, 0.0)
    right, bottom = min(edges[2] / width, 1.0), min(edges[3] / height, 1.0)
    if right - left <= 0.005 or bottom - top <= 0.005:
        return None
    landmarks = tuple((points[i] / width, points[i + 1] / height) for i in range(0, 10, 2))
    (ax, ay), (bx, by), (nx, _), (cx, cy), (dx, dy) = landmarks
    aspect = width / height
    eyes = float(np.hypot((bx - ax) * aspect, by - ay))
    # A face from the side has its eyes close together; the distance from eyes to mouth then stands in for
    # theirs, so that the value stays finite.
    depth = float(np.hypot((cx + dx - ax - bx) / 2 * aspect, (cy + dy - ay - by) / 2))
    yaw = (nx - (ax + bx) / 2) * aspect / max(eyes, 0.6 * depth, 1e-6)
    return Face(Box(left, top, right, bottom), seconds, score, landmarks, yaw)


SCRFD_SIDE = 640
"""Pixels of the square that the network sees."""
STRIDES = (8, 16, 32)
_ANCHORS = 2
_OVERLAP = 0.4
"""Overlap from which two boxes are one face."""
_SPREAD = 128.0


class Scrfd:
    """The detector of InsightFace's model packs. Raises WeightsError for a file that is something else."""

    def __init__(self, path: Path, least: float) -> None:
        self._path, self._least = path, least
        self._model = OnnxModel(path, threads=2)

    def find(self, image: Image, seconds: float) -> list[Face]:
        """The faces in ``image``, ``uint8[H, W, 3]`` RGB, best first."""
        height, width = image.shape[:2]
        # At the top left of a black square
        ratio = height / width
        size = (SCRFD_SIDE, max(1, int(SCRFD_SIDE * ratio)))
        if ratio > 1:
            size = (max(1, int(SCRFD_SIDE / ratio)), SCRFD_SIDE)
        square = np.zeros((SCRFD_SIDE, SCRFD_SIDE, 3), np.uint8)
        square[: size[1], : size[0]] = cv2.resize(image, size, interpolation=cv2.INTER_LINEAR)
        found = self._found(self._model.all(blob_of(square, _SPREAD)))
        found[:, 1:] /= size[1] / height
        boxes = np.concatenate([found[:, 1:3], found[:, 3:5] - found[:, 1:3]], axis=1)
        kept = cv2.dnn.NMSBoxes(boxes.tolist(), found[:, 0].tolist(), 0.0, _OVERLAP)
        rows = ([float(v) for v in found[i]] for i in kept)
        faces = (_placed(r[0], (r[1], r[2], r[3], r[4]), r[5:], (width, height), seconds) for r in rows)
        return [face for face in faces if face is not None]

    def _found(self, outputs: list[Floats]) -> Floats:
        """``float32[k, 15]``: score, left, top, right, bottom, and x and y of five points, in pixels.

        The outputs belong together by their shapes, whatever their order.
        """
        by_kind = {
            n: sorted((o.reshape(-1, n) for o in outputs if o.shape[-1] == n), key=len, reverse=True)
            for n in (1, 4, 10)
        }
        wanted = [_ANCHORS * (SCRFD_SIDE // stride) ** 2 for stride in STRIDES]
        if any([len(rows) for rows in kind] != wanted for kind in by_kind.values()):
            raise WeightsError(
                f"The model {self._path} is no SCRFD with five points: its outputs are"
                f" {[list(o.shape) for o in outputs]}.",
                "Take det_10g.onnx of buffalo_l.",
            )
        found = []
        for stride, scores, edges, points in zip(STRIDES, *by_kind.values(), strict=True):
            sure = np.flatnonzero(scores[:, 0] >= self._least)
            row, column = np.divmod(sure // _ANCHORS, SCRFD_SIDE // stride)
            place = np.stack([column, row], axis=1).astype(np.float32) * stride
            near, far = edges[sure, :2] * stride, edges[sure, 2:] * stride
            spots = np.tile(place, 5) + points[sure] * stride
            rows = [scores[sure], place - near, place + far, spots]
            found.append(np.concatenate(rows, axis=1).astype(np.float32))
        return np.concatenate(found)


def blob_of(square: Image, spread: float) -> Floats:
    """``float32[1, 3, H, W]``, about -1 to 1: as far from the middle as the network's training had it."""
    scaled = (square.astype(np.float32) - _MIDDLE) / spread
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])


ARCFACE_SIDE = 112
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

    def __init__(self, path: Path) -> None:
        self._path = path
        self._model = OnnxModel(path, threads=2)

    def read(self, image: Image, face: Face) -> Embedding:
        """The embedding of ``face``, which was found in ``image``."""
        vector = self._model(blob_of(aligned(image, face), _MIDDLE))
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
    return np.asarray(
        cv2.warpAffine(image, matrix, (ARCFACE_SIDE, ARCFACE_SIDE), flags=cv2.INTER_LINEAR), np.uint8
    )


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


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of models that can be chosen: names in the manifest of weights, what they are made by, and what
    their scores and likenesses mean.

    ``threshold``: likeness from which a face is somebody's of the cast; ``margin``: how much less the second
    best must be alike; ``join``: above which two groups of faces are one person; ``same``: beyond doubt, so
    that such a face may stand for a photo. ``terms`` is what somebody who chooses the pair has to know.
    """

    weights: tuple[str, str]
    finder: Callable[[Path, float], FaceFinder | Scrfd]
    reader: Callable[[Path], FaceReader | ArcFace]
    detection: float
    threshold: float
    margin: float
    join: float
    same: float
    following: Following
    terms: str = ""


_ONE_LOOK = 0.4
"""Least score of one of YuNet's two looks, whose mean is what counts."""


PAIRS = {
    # Detection and following: looked at on Tears of Steel and Sintel; the mean of two looks (mirrored and
    # straight) parts faces from machines and shoulders, which reach 0.8 in one look. Threshold, margin and
    # same: benchmarks/characters.py and docs/experiments.md, for less than 1 stranger in 100 in every
    # measurement there. Join: average linkage.
    "sface": Pair(
        ("yunet", "sface"),
        lambda path, least: FaceFinder(path, min(_ONE_LOOK, least)),
        FaceReader,
        detection=0.6,
        threshold=0.46,
        margin=0.05,
        join=0.45,
        same=0.65,
        following=Following(near=0.25, far=0.45, again=0.6, believed=0.8, alone=0.85),
    ),
    # Detection, threshold and margin are those of AutoAD-Zero's published code; the others were not measured.
    "buffalo_l": Pair(
        ("buffalo-l-det", "buffalo-l-rec"),
        Scrfd,
        ArcFace,
        detection=0.4,
        threshold=0.20,
        margin=0.0,
        join=0.35,
        same=0.5,
        following=Following(near=0.15, far=0.35, again=0.5, believed=0.6, alone=0.7),
        terms="The face models buffalo_l are InsightFace's, for non-commercial research only. For anything"
        " else set cast.faces to sface.",
    ),
}


_FREE = "sface"
"""The models that come from the package index, on free terms."""


class FaceModels:
    """The detector and the recogniser that ``settings.faces`` names, with the settings' borders or their own.

    Each is fetched and loaded when it is first used, which can raise WeightsError; `get_face_models` fetches
    at once.

    ``identity``: names, revision and the settings that change what is found; part of the keys of records.
    ``following`` and likenesses (cosines) as in `Pair`.
    """

    def __init__(self, settings: CastSettings, progress: Progress | None = None) -> None:
        self._pair = pair = PAIRS[settings.faces]
        # Detection, threshold and margin: those that are set or of the rules, else the models' own
        rules = settings.by_rules
        self._detection = pair.detection if rules.detection is None else rules.detection
        self.threshold = pair.threshold if settings.threshold is None else settings.threshold
        self.margin = pair.margin if rules.margin is None else rules.margin
        self.join, self.same, self.following = pair.join, pair.same, pair.following
        if rules.decide == "frame":
            self.following = replace(pair.following, believed=0.0, alone=0.0, every=True)
        # Threshold and margin are no part of it: they judge what was found, they do not change it
        files = (f"{name}:{weights(name).sha256[:12]}" for name in self._pair.weights)
        followed = "/".join(f"{value:g}" for value in astuple(self.following))
        self.identity = " ".join([*files, f"detection={self._detection:g}", f"following={RULES}/{followed}"])
        self._progress = progress or NoProgress()

    @cached_property
    def _finder(self) -> FaceFinder | Scrfd:
        return self._pair.finder(weights_file(self._pair.weights[0], self._progress), self._detection)

    @cached_property
    def _reader(self) -> FaceReader | ArcFace:
        return self._pair.reader(weights_file(self._pair.weights[1], self._progress))

    def find(self, image: Image, seconds: float) -> list[Face]:
        """The faces in ``image``, ``uint8[H, W, 3]`` RGB, best first."""
        return [face for face in self._finder.find(image, seconds) if face.score >= self._detection]

    def read(self, image: Image, face: Face) -> Embedding:
        """The embedding of ``face``, which was found in ``image``: ``float32[d]`` of length 1."""
        return self._reader.read(image, face)


def get_face_models(settings: CastSettings, progress: Progress) -> None:
    """Fetch what ``settings.faces`` names, before any work goes into the film, and say on what terms it may
    be used. Raises WeightsError."""
    pair = PAIRS[settings.faces]
    if pair.terms:
        progress.note(pair.terms)
    try:
        for name in pair.weights:
            weights_file(name, progress)
    except WeightsError as error:
        if settings.faces == _FREE:
            raise
        raise WeightsError(error.what, f"{error.hint} Or do without: --set cast.faces={_FREE}.") from None
