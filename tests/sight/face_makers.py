"""Faces, people and models of faces for tests: a person is a direction, a face an image knows by its second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from shotad.core import Box, Image
from shotad.core.onnx import OnnxGraph
from shotad.sight import Embedding, Face
from shotad.sight.faces import FACE_MODEL_PAIRS, TrackingRules

Seen = tuple[Face, Embedding]

EDGES = (1.0, 1.0, 2.0, 2.0)
"""Distances of the tiny detector's box to its place, in strides."""
POINTS = (-0.5, 0.0, 1.5, 0.0, 0.5, 0.5, -0.25, 1.0, 1.25, 1.0)
LATER = 0.3
"""By how much the tiny detector's second anchor is less sure."""


def face(
    x: float = 0.5, *, second: float = 0.0, height: float = 0.4, score: float = 0.9, yaw: float = 0.0
) -> Face:
    """A face in the middle of the picture's height."""
    width = height / 2
    box = Box(x - width / 2, 0.5 - height / 2, x + width / 2, 0.5 + height / 2)
    eyes, mouth = 0.5 - height / 8, 0.5 + height / 5
    a, b = x - width / 5, x + width / 5
    return Face(box, second, score, ((a, eyes), (b, eyes), (x, 0.5), (a, mouth), (b, mouth)), yaw)


def person(number: int, like: float = 1.0, of: int = 100) -> Embedding:
    """Somebody's embedding; with ``like`` below 1 the rest is in direction ``of``, which is nobody else's."""
    vector = np.zeros(128, np.float32)
    vector[number] = like
    vector[of] += np.sqrt(1 - like**2)
    return vector


def scene(number: int, height: int = 180, width: int = 320) -> Image:
    """A picture full of blocks, unlike that of any other number."""
    blocks = np.random.default_rng(number).integers(0, 255, (height // 20, width // 20, 3), np.uint8)
    return np.ascontiguousarray(np.kron(blocks, np.ones((20, 20, 1), np.uint8)))


class KnownFaces:
    """Models that know what is to be found at each second."""

    identity = "known"
    threshold, margin, join, same = 0.4, 0.06, 0.45, 0.6

    def __init__(self, seen: Mapping[float, Sequence[Seen]], tracking: TrackingRules | None = None) -> None:
        self._seen = {round(second, 6): list(faces) for second, faces in seen.items()}
        self.tracking = tracking or FACE_MODEL_PAIRS["sface"].tracking

    def find(self, image: Image, seconds: float) -> list[Face]:
        return [replace(f, seconds=seconds) for f, _ in self._seen.get(round(seconds, 6), ())]

    def read(self, image: Image, face: Face) -> Embedding:
        place = face.box.centre
        return min(
            self._seen[face.seconds],
            key=lambda s: abs(s[0].box.centre[0] - place[0]) + abs(s[0].box.height - face.box.height),
        )[1]


def tiny_scrfd(path: Path) -> Path:
    """A detector with SCRFD's inputs and outputs, for which red is a face.

    The score of a place is the mean of the red channel over one stride.
    """
    graph, gives = OnnxGraph(), {}
    for stride in (8, 16, 32):
        weights = np.zeros((1, 3, stride, stride), np.float32)
        weights[0, 0] = 1 / stride**2
        graph.add("Conv", f"mean{stride}", ["input"], [weights], strides=[stride, stride])
        graph.add("Sub", f"second{stride}", [f"mean{stride}"], [np.array([LATER], np.float32)])
        graph.add("Concat", f"both{stride}", [f"mean{stride}", f"second{stride}"], axis=1)
        graph.add("Transpose", f"last{stride}", [f"both{stride}"], perm=[0, 2, 3, 1])
        gives[graph.add("Flatten", f"score{stride}", [f"last{stride}"], axis=4)] = ("n", 1)
        for name, values in (("edge", EDGES), ("point", POINTS)):
            rows = np.tile(np.array(values, np.float32), (2 * (640 // stride) ** 2, 1))
            gives[graph.add("Identity", f"{name}{stride}", [], [rows])] = ("n", len(values))
    path.write_bytes(graph.model({"input": (1, 3, 640, 640)}, gives))
    return path


def tiny_arcface(path: Path) -> Path:
    """A recogniser with ArcFace's input, whose embedding is the face in 4 x 4 pixels."""
    graph = OnnxGraph()
    graph.add("AveragePool", "small", ["input"], kernel_shape=[28, 28], strides=[28, 28])
    graph.add("Flatten", "vector", ["small"])
    path.write_bytes(graph.model({"input": (1, 3, 112, 112)}, {"vector": (1, 48)}))
    return path


def unfit(path: Path, side: int) -> Path:
    """A model that gives back what it is given."""
    graph, shape = OnnxGraph(), (1, 3, side, side)
    graph.add("Identity", "same", ["input"])
    path.write_bytes(graph.model({"input": shape}, {"same": shape}))
    return path
