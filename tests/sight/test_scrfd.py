"""SCRFD's decoding, against numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shotad.core import Image, WeightsError
from shotad.sight.faces import Scrfd
from tests.sight.face_makers import tiny_scrfd
from tests.sight.onnx_files import Node, write_onnx

RED = (255, 0, 0)


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Scrfd:
    return Scrfd(tiny_scrfd(tmp_path_factory.mktemp("scrfd") / "det.onnx"), 0.4)


def picture(height: int, width: int, *blocks: tuple[int, int, int]) -> Image:
    """Black with red squares: left, top, side."""
    image = np.zeros((height, width, 3), np.uint8)
    for left, top, side in blocks:
        image[top : top + side, left : left + side] = RED
    return image


def test_a_place_becomes_a_box_and_five_points(finder: Scrfd) -> None:
    (found,) = finder.find(picture(320, 640, (80, 40, 8)), 2.5)
    # The place is (80, 40); edges 1, 1, 2, 2 and the points are in strides of 8.
    box = found.box
    assert (box.left * 640, box.top * 320) == pytest.approx((72, 32))
    assert (box.right * 640, box.bottom * 320) == pytest.approx((96, 56))
    points = [(x * 640, y * 320) for x, y in found.landmarks]
    assert np.allclose(points, [(76, 40), (92, 40), (84, 44), (78, 48), (90, 48)])
    assert found.score == pytest.approx(127.5 / 128)
    assert found.seconds == 2.5
    assert found.yaw == pytest.approx(0)


@pytest.mark.parametrize(("height", "width", "factor"), [(640, 1280, 2), (1280, 640, 2), (160, 320, 0.5)])
def test_boxes_are_those_of_the_whole_picture(finder: Scrfd, height: int, width: int, factor: float) -> None:
    block = [round(v * factor) for v in (96, 48, 8)]
    found = finder.find(picture(height, width, (block[0], block[1], block[2])), 0.0)[0]
    assert found.box.left * width == pytest.approx(88 * factor)
    assert found.box.top * height == pytest.approx(40 * factor)
    assert found.box.bottom * height == pytest.approx(64 * factor)


def test_a_model_with_other_outputs_is_refused(tmp_path: Path) -> None:
    path = write_onnx(
        tmp_path / "one.onnx",
        [Node("Identity", ("input",), "same")],
        {},
        {"input": (1, 3, 640, 640)},
        ["same"],
    )
    with pytest.raises(WeightsError, match="no SCRFD"):
        Scrfd(path, 0.4).find(np.zeros((64, 64, 3), np.uint8), 0.0)
