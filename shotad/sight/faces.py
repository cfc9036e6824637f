"""Face detection and face embeddings: the faces in one picture, and how alike two of them are.

Two pairs of models can be chosen (`FACE_MODEL_PAIRS`), each with thresholds for its own scores and cosines:

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
    Image,
    NoProgress,
    Progress,
)
from shotad.core.config.sight import CastSettings
from shotad.core.errors import WeightsError
from shotad.core.model_loading import silence_native_output
from shotad.core.onnx import (
    Floats,
    OnnxModel,
    model_buffers,
    unloadable_model_error,
)
from shotad.core.weight_store import weights, weights_file

Landmarks = tuple[tuple[float, float], ...]
"""x and y as fractions of the picture: eye, eye, nose tip, corner, corner of the mouth; the left of the
picture first where the face looks ahead."""
Embedding = npt.NDArray[np.float32]
"""``float32[d]`` of length 1 (d = 128 of SFace, 512 of ArcFace); the product of two is their cosine, the
likeness of the faces, -1 to 1."""
Embeddings = npt.NDArray[np.float32]
"""``float32[n, d]``, rows of length 1."""

_WIDTH = 640
"""Width in pixels of the picture that YuNet gets: larger finds smaller faces, and faces in machine parts."""


@dataclass(frozen=True, slots=True)
class Face:
    """One face in a picture.

    ``yaw``: how far the nose stands right (+) or left (-) of the eyes' middle, in eye distances. ``score``:
    the detector's, 0 to 1; of YuNet the mean of two detections, one in the mirrored picture.
    """

    box: Box
    seconds: float
    score: float
    landmarks: Landmarks
    yaw: float


TRACKING_VERSION = 1
"""Version of the tracking rules: counted up when they link the same faces in another way; part of every
identity."""


@dataclass(frozen=True, slots=True)
class TrackingRules:
    """How faces are linked to tracks, in the cosines and scores of one pair of models."""

    min_cosine_nearby: float
    """Cosine from which a face at the same place a moment later is the same one."""
    min_cosine_elsewhere: float
    """The same at another place, or after a pause."""
    min_cosine_anywhere: float
    """The same anywhere in the shot, however long no face was detected."""
    min_score: float
    """Score that the best view of a track must have."""
    min_score_once: float
    """The same for a face that was detected at one moment only."""
    reads_every_view: bool = False
    """Every view gets an embedding, not the best alone: where each frame is identified by itself."""


_MAX_ASPECT = 10
"""Longer side of a picture over its shorter one, at most. In a strip there is no whole face, and at the width
of the model it would have hundreds of thousands of lines."""


class FaceFinder:
    """YuNet at a fixed width, on the picture and on its mirror image."""

    def __init__(self, path: Path, min_score: float = 0.4) -> None:
        """The detector in the ONNX file ``path``. Raises WeightsError where OpenCV cannot load it."""
        # OpenCV's detector keeps the size of its input: two threads must not set it at once.
        self._lock = Lock()
        try:
            with silence_native_output():
                size = (_WIDTH, 320)
                self._model: Any = cv2.FaceDetectorYN.create(*model_buffers(path), size, min_score, 0.3, 50)
        except (cv2.error, OSError) as error:
            raise unloadable_model_error(path, error) from None

    def find(self, image: Image, seconds: float) -> list[Face]:
        """The faces of ``image`` (RGB ``uint8[H, W, 3]``, at ``seconds`` of the film), best first.

        A face counts if it is detected in the picture and in its mirror image: this drops most machine parts.
        """
        height, width = image.shape[:2]
        if max(height, width) > _MAX_ASPECT * min(height, width):
            return []
        size = (_WIDTH, max(1, round(height * _WIDTH / width)))
        interpolation = cv2.INTER_AREA if width > _WIDTH else cv2.INTER_LINEAR
        small = np.asarray(cv2.resize(image, size, interpolation=interpolation), np.uint8)
        straight = self._detect(small[:, :, ::-1], seconds)
        if not straight:
            return []
        mirrored = [_mirror(face) for face in self._detect(small[:, ::-1, ::-1], seconds)]
        confirmed = []
        for face in straight:
            twins = [other for other in mirrored if other.box.iou(face.box) > 0.3]
            if twins:
                twin = max(twins, key=lambda other: (other.score, -other.box.left))
                score, yaw = (face.score + twin.score) / 2, (face.yaw + twin.yaw) / 2
                confirmed.append(replace(face, score=score, yaw=yaw))
        return sorted(confirmed, key=lambda face: (-face.score, face.box.left))

    def _detect(self, bgr: Image, seconds: float) -> list[Face]:
        """The faces of a picture ``uint8[H, W, 3]`` in OpenCV's order of colours, by one pass."""
        size = (bgr.shape[1], bgr.shape[0])
        with silence_native_output(), self._lock:
            self._model.setInputSize(size)
            rows = self._model.detect(np.ascontiguousarray(bgr))[1]
        if rows is None:
            return []
        faces = []
        for row in rows:
            left, top, width, height, *points, score = (float(value) for value in row[:15])
            edges = (left, top, left + width, top + height)
            face = _face_from_pixels(score, edges, points, size, seconds)
            if face is not None:
                faces.append(face)
        return faces


def _mirror(face: Face) -> Face:
    """The face as it stands in the mirror image of its picture."""
    box = Box(1 - face.box.right, face.box.top, 1 - face.box.left, face.box.bottom)
    # Left and right eye change places, and so do the corners of the mouth.
    landmarks = tuple((1 - face.landmarks[i][0], face.landmarks[i][1]) for i in (1, 0, 2, 4, 3))
    return replace(face, box=box, landmarks=landmarks, yaw=-face.yaw)


class FaceReader:
    """SFace: turns a face into 128 numbers that stay alike for one person."""

    def __init__(self, path: Path) -> None:
        """The recogniser in the ONNX file ``path``. Raises WeightsError where OpenCV cannot load it."""
        try:
            with silence_native_output():
                self._model: Any = cv2.FaceRecognizerSF.create(*model_buffers(path))
        except (cv2.error, OSError) as error:
            raise unloadable_model_error(path, error) from None

    def read(self, image: Image, face: Face) -> Embedding:
        """The embedding of ``face``, ``float32[128]`` of length 1; ``image`` is the RGB picture it is in."""
        height, width = image.shape[:2]
        box = face.box
        # The row in which YuNet gives a face, in pixels: OpenCV aligns by it.
        row = [box.left * width, box.top * height, box.width * width, box.height * height]
        for x, y in face.landmarks:
            row += [x * width, y * height]
        row.append(face.score)
        with silence_native_output():
            crop = self._model.alignCrop(np.ascontiguousarray(image[:, :, ::-1]), np.array(row, np.float32))
            vector = np.array(self._model.feature(crop), np.float32)[0]
        unit: Embedding = vector / max(float(np.linalg.norm(vector)), 1e-6)
        return unit


def _face_from_pixels(
    score: float,
    edges: tuple[float, float, float, float],
    points: Sequence[float],
    size: tuple[int, int],
    seconds: float,
) -> Face | None:
    """The face at ``edges`` (left, top, right, bottom) with ``points`` (x and y of the five landmarks).

    Both are in pixels of a picture of ``size`` (width, height). The face is cut at the edge of the picture;
    None where next to nothing is left.
    """
    width, height = size
    left, top = max(edges[0] / width, 0.0), max(edges[1] / height, 0.0)
    right, bottom = min(edges[2] / width, 1.0), min(edges[3] / height, 1.0)
    if right - left <= 0.005 or bottom - top <= 0.005:
        return None
    landmarks = tuple((points[i] / width, points[i + 1] / height) for i in range(0, 10, 2))
    (eye1_x, eye1_y), (eye2_x, eye2_y), (nose_x, _), (mouth1_x, mouth1_y), (mouth2_x, mouth2_y) = landmarks
    aspect = width / height
    eye_distance = float(np.hypot((eye2_x - eye1_x) * aspect, eye2_y - eye1_y))
    # A face from the side has its eyes close together; the distance from eyes to mouth then stands in for
    # theirs, so that the value stays finite.
    eyes_to_mouth_x = (mouth1_x + mouth2_x - eye1_x - eye2_x) / 2 * aspect
    eyes_to_mouth_y = (mouth1_y + mouth2_y - eye1_y - eye2_y) / 2
    eyes_to_mouth = float(np.hypot(eyes_to_mouth_x, eyes_to_mouth_y))
    yaw = (nose_x - (eye1_x + eye2_x) / 2) * aspect / max(eye_distance, 0.6 * eyes_to_mouth, 1e-6)
    return Face(Box(left, top, right, bottom), seconds, score, landmarks, yaw)


SCRFD_SIDE = 640
"""Pixels of the square that the network sees."""
STRIDES = (8, 16, 32)
"""Pixels between neighbouring cells of the network's three grids."""
_ANCHORS = 2
"""Boxes that the network gives for each cell of a grid."""
_MAX_OVERLAP = 0.4
"""Intersection over union from which two boxes are one face."""
_SCRFD_SCALE = 128.0
"""What grey values are divided by before SCRFD gets them, as in its training."""


class Scrfd:
    """The detector of InsightFace's model packs. Raises WeightsError for a file that is something else."""

    def __init__(self, path: Path, min_score: float) -> None:
        self._path, self._min_score = path, min_score
        self._model = OnnxModel(path, threads=2)

    def find(self, image: Image, seconds: float) -> list[Face]:
        """The faces of ``image`` (RGB ``uint8[H, W, 3]``, at ``seconds`` of the film), best first."""
        height, width = image.shape[:2]
        # The network's input: the picture at the top left of a black square, as in InsightFace
        ratio = height / width
        size = (SCRFD_SIDE, max(1, int(SCRFD_SIDE * ratio)))
        if ratio > 1:
            size = (max(1, int(SCRFD_SIDE / ratio)), SCRFD_SIDE)
        square = np.zeros((SCRFD_SIDE, SCRFD_SIDE, 3), np.uint8)
        square[: size[1], : size[0]] = cv2.resize(image, size, interpolation=cv2.INTER_LINEAR)
        detections = self._detections(self._model.all(blob_of(square, _SCRFD_SCALE)))
        detections[:, 1:] /= size[1] / height
        scores, corners = detections[:, 0], detections[:, 1:5]
        boxes = np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1)
        faces = []
        for index in cv2.dnn.NMSBoxes(boxes.tolist(), scores.tolist(), 0.0, _MAX_OVERLAP):
            score, left, top, right, bottom, *points = (float(value) for value in detections[index])
            face = _face_from_pixels(score, (left, top, right, bottom), points, (width, height), seconds)
            if face is not None:
                faces.append(face)
        return faces

    def _detections(self, outputs: list[Floats]) -> Floats:
        """``float32[k, 15]``: score, left, top, right, bottom, and x and y of five points, in pixels.

        The outputs belong together by their shapes, whatever their order. Raises WeightsError for other
        shapes than SCRFD's.
        """
        # By the numbers that each box has: its score, its four edges, its five points; the finest grid first
        by_columns: dict[int, list[Floats]] = {}
        for columns in (1, 4, 10):
            tables = [output.reshape(-1, columns) for output in outputs if output.shape[-1] == columns]
            by_columns[columns] = sorted(tables, key=len, reverse=True)
        expected = [_ANCHORS * (SCRFD_SIDE // stride) ** 2 for stride in STRIDES]
        if any([len(table) for table in tables] != expected for tables in by_columns.values()):
            raise WeightsError(
                f"The model {self._path} is no SCRFD with five points: its outputs are"
                f" {[list(o.shape) for o in outputs]}.",
                "Take det_10g.onnx of buffalo_l.",
            )
        by_stride = []
        for stride, scores, edges, points in zip(STRIDES, *by_columns.values(), strict=True):
            likely = np.flatnonzero(scores[:, 0] >= self._min_score)
            row, column = np.divmod(likely // _ANCHORS, SCRFD_SIDE // stride)
            cells = np.stack([column, row], axis=1).astype(np.float32) * stride
            top_left = cells - edges[likely, :2] * stride
            bottom_right = cells + edges[likely, 2:] * stride
            landmarks = np.tile(cells, 5) + points[likely] * stride
            detections = np.concatenate([scores[likely], top_left, bottom_right, landmarks], axis=1)
            by_stride.append(detections.astype(np.float32))
        return np.concatenate(by_stride)


def blob_of(square: Image, scale: float) -> Floats:
    """``float32[1, 3, H, W]``, about -1 to 1: grey values less their middle, over ``scale``."""
    scaled = (square.astype(np.float32) - _MIDDLE_GREY) / scale
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
_MIDDLE_GREY = 127.5
"""Half of white; ArcFace has it as its scale, too."""

Points = npt.NDArray[np.float64]
"""``float64[n, 2]``, x and y in pixels."""


class ArcFace:
    """The recogniser of InsightFace's model packs. Raises WeightsError for a file that is something else."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._model = OnnxModel(path, threads=2)

    def read(self, image: Image, face: Face) -> Embedding:
        """The embedding of ``face``, ``float32[512]`` of length 1; ``image`` is the RGB picture it is in.

        Raises WeightsError where the model gives something else than one vector.
        """
        vector = self._model(blob_of(aligned(image, face), _MIDDLE_GREY))
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
    crop = cv2.warpAffine(image, matrix, (ARCFACE_SIDE, ARCFACE_SIDE), flags=cv2.INTER_LINEAR)
    return np.asarray(crop, np.uint8)


def similarity(points: Points, targets: Points) -> npt.NDArray[np.float64]:
    """``float64[2, 3]``: the turn, scale and shift that brings ``points`` nearest to ``targets``, by least
    squares (Umeyama 1991, without mirroring).
    """
    # As complex numbers targets = a * points + b, and a is a common regression.
    source = points[:, 0] + 1j * points[:, 1]
    target = targets[:, 0] + 1j * targets[:, 1]
    source_offsets, target_offsets = source - source.mean(), target - target.mean()
    variance = float(np.vdot(source_offsets, source_offsets).real)
    a = np.vdot(source_offsets, target_offsets) / max(variance, 1e-12)
    b = target.mean() - a * source.mean()
    return np.array([[a.real, -a.imag, b.real], [a.imag, a.real, b.imag]])


@dataclass(frozen=True, slots=True)
class Pair:
    """A detector and a recogniser that can be chosen together, and what their scores and cosines mean.

    ``weights``: names in the manifest of weights; ``finder`` and ``reader`` load these files. ``detection``:
    least score of a face. In cosines of embeddings, -1 to 1: ``threshold``, from which a face is a cast
    member's; ``margin``, by which the second best must be less alike; ``join``, above which two groups of
    faces are one person; ``same``, beyond doubt, so that such a face may stand for a photo. ``terms``: the
    licence that whoever chooses the pair has to know.
    """

    weights: tuple[str, str]
    finder: Callable[[Path, float], FaceFinder | Scrfd]
    reader: Callable[[Path], FaceReader | ArcFace]
    detection: float
    threshold: float
    margin: float
    join: float
    same: float
    tracking: TrackingRules
    terms: str = ""


_MIN_SCORE_OF_ONE_PASS = 0.4
"""Least score of one of YuNet's two detections of a face, whose mean is what counts."""


FACE_MODEL_PAIRS = {
    # Detection and tracking: chosen on Tears of Steel and Sintel; the mean of two detections (mirrored and
    # straight) parts faces from machines and shoulders, which reach 0.8 in one. Threshold, margin and
    # same: benchmarks/characters.py and benchmarks/LOG.md, for less than 1 stranger in 100 in every
    # measurement there. Join: average linkage.
    "sface": Pair(
        ("yunet", "sface"),
        lambda path, min_score: FaceFinder(path, min(_MIN_SCORE_OF_ONE_PASS, min_score)),
        FaceReader,
        detection=0.6,
        threshold=0.46,
        margin=0.05,
        join=0.45,
        same=0.65,
        tracking=TrackingRules(
            min_cosine_nearby=0.25,
            min_cosine_elsewhere=0.45,
            min_cosine_anywhere=0.6,
            min_score=0.8,
            min_score_once=0.85,
        ),
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
        tracking=TrackingRules(
            min_cosine_nearby=0.15,
            min_cosine_elsewhere=0.35,
            min_cosine_anywhere=0.5,
            min_score=0.6,
            min_score_once=0.7,
        ),
        terms="The face models buffalo_l are InsightFace's, for non-commercial research only. For anything"
        " else set cast.faces to sface.",
    ),
}


_FREE_PAIR = "sface"
"""The models that come from the package index, on free terms."""


class FaceModels:
    """The detector and the recogniser that ``settings.faces`` names, with the settings' thresholds or theirs.

    Each is fetched and loaded when it is first used, which can raise WeightsError; `get_face_models` fetches
    at once.

    ``identity``: names, revision and the settings that change the detected faces and tracks; part of the keys
    of records. ``threshold``, ``margin``, ``join``, ``same`` (cosines) and ``tracking`` as in `Pair`.
    """

    def __init__(self, settings: CastSettings, progress: Progress | None = None) -> None:
        self._pair = pair = FACE_MODEL_PAIRS[settings.faces]
        # A value that the user or the rules set comes before that of the models.
        rules = settings.by_rules
        self._detection = pair.detection if rules.detection is None else rules.detection
        self.threshold = pair.threshold if settings.threshold is None else settings.threshold
        self.margin = pair.margin if rules.margin is None else rules.margin
        self.join, self.same, self.tracking = pair.join, pair.same, pair.tracking
        if rules.decide == "frame":
            self.tracking = replace(pair.tracking, min_score=0.0, min_score_once=0.0, reads_every_view=True)
        # Threshold and margin are no part of it: they judge tracks, they do not change them.
        files = [f"{name}:{weights(name).sha256[:12]}" for name in self._pair.weights]
        tracking = "/".join(f"{value:g}" for value in astuple(self.tracking))
        self.identity = " ".join(
            [*files, f"detection={self._detection:g}", f"following={TRACKING_VERSION}/{tracking}"]
        )
        self._progress = progress or NoProgress()

    @cached_property
    def _finder(self) -> FaceFinder | Scrfd:
        return self._pair.finder(weights_file(self._pair.weights[0], self._progress), self._detection)

    @cached_property
    def _reader(self) -> FaceReader | ArcFace:
        return self._pair.reader(weights_file(self._pair.weights[1], self._progress))

    def find(self, image: Image, seconds: float) -> list[Face]:
        """The faces of ``image`` (RGB ``uint8[H, W, 3]``, at ``seconds`` of the film), best first."""
        return [face for face in self._finder.find(image, seconds) if face.score >= self._detection]

    def read(self, image: Image, face: Face) -> Embedding:
        """The embedding of ``face``, ``float32[d]`` of length 1; ``image`` is the RGB picture it is in."""
        return self._reader.read(image, face)


def get_face_models(settings: CastSettings, progress: Progress) -> None:
    """Download the models that ``settings.faces`` names, and note their terms, if any, in ``progress``.

    Called before any work goes into the film. Raises WeightsError where they cannot be had.
    """
    pair = FACE_MODEL_PAIRS[settings.faces]
    if pair.terms:
        progress.note(pair.terms)
    try:
        for name in pair.weights:
            weights_file(name, progress)
    except WeightsError as error:
        if settings.faces == _FREE_PAIR:
            raise
        hint = f"{error.hint} Or do without: --set cast.faces={_FREE_PAIR}."
        raise WeightsError(error.what, hint) from None
