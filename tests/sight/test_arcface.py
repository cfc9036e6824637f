"""ArcFace's alignment, against known points, and what the network is given."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from shotad.core import Box, Image, WeightsError
from shotad.sight import Face
from shotad.sight.faces import STANDARD, ArcFace, aligned, similarity
from tests.sight.face_makers import tiny_arcface
from tests.sight.onnx_files import Node, write_onnx

RNG = np.random.default_rng(7)


def turned(
    angle: float, scale: float, x: float, y: float
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    c, s = scale * np.cos(angle), scale * np.sin(angle)
    return np.array([[c, -s, x], [s, c, y]])


def moved(
    points: object, matrix: np.ndarray[tuple[int, int], np.dtype[np.float64]]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    points = np.asarray(points, float)
    return points @ matrix[:, :2].T + matrix[:, 2]


def face_of(points: np.ndarray[tuple[int, int], np.dtype[np.float64]], image: Image) -> Face:
    height, width = image.shape[:2]
    return Face(Box(0.1, 0.1, 0.9, 0.9), 0.0, 0.9, tuple((x / width, y / height) for x, y in points), 0.0)


def pattern() -> Image:
    small = RNG.integers(0, 255, (7, 7, 3), np.uint8)
    return np.asarray(cv2.resize(small, (112, 112), interpolation=cv2.INTER_CUBIC), np.uint8)


def test_points_that_fit_no_movement_are_met_by_least_squares() -> None:
    points, wanted = RNG.uniform(0, 100, (5, 2)), np.array(STANDARD)
    # x' = a x - b y + c, y' = b x + a y + d, solved as one linear system.
    x, y = points.T
    one, none = np.ones(5), np.zeros(5)
    system = np.concatenate([np.stack([x, -y, one, none], 1), np.stack([y, x, none, one], 1)])
    a, b, c, d = np.linalg.lstsq(system, wanted.T.ravel(), rcond=None)[0]
    assert np.allclose(similarity(points, wanted), [[a, -b, c], [b, a, d]])


@pytest.mark.parametrize(("angle", "scale"), [(0.0, 1.0), (0.5, 2.0), (-1.0, 1.3)])
def test_a_face_anywhere_comes_out_as_in_training(angle: float, scale: float) -> None:
    wanted = pattern()
    matrix = turned(angle, scale, 200, 160)
    image = np.asarray(cv2.warpAffine(wanted, matrix, (640, 480), flags=cv2.INTER_LINEAR), np.uint8)
    found = aligned(image, face_of(moved(STANDARD, matrix), image))
    assert found.shape == (112, 112, 3)
    inner = slice(6, -6)
    assert np.abs(found[inner, inner].astype(int) - wanted[inner, inner]).mean() < 4


def test_one_face_gives_one_embedding_and_other_models_are_refused(tmp_path: Path) -> None:
    reader = ArcFace(tiny_arcface(tmp_path / "rec.onnx"))
    wanted, other = pattern(), pattern()
    matrix = turned(0.3, 2.0, 100, 60)
    images = [np.asarray(cv2.warpAffine(p, matrix, (640, 480)), np.uint8) for p in (wanted, other)]
    for image in images:
        image.flags.writeable = False
    one, two = (reader.read(image, face_of(moved(STANDARD, matrix), image)) for image in images)
    assert one.shape == (48,)
    assert np.linalg.norm(one) == pytest.approx(1)
    small = cv2.resize(wanted, (4, 4), interpolation=cv2.INTER_AREA).astype(float).transpose(2, 0, 1)
    direct = (small / 127.5 - 1).ravel()
    assert one @ direct / np.linalg.norm(direct) > 0.999
    assert one @ two < 0.9
    path = write_onnx(
        tmp_path / "same.onnx",
        [Node("Identity", ("input",), "same")],
        {},
        {"input": (1, 3, 112, 112)},
        ["same"],
    )
    image = pattern()
    with pytest.raises(WeightsError, match="no recogniser"):
        ArcFace(path).read(image, face_of(np.array(STANDARD), image))
