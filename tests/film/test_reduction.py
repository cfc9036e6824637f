"""Frames reduced from the rows that matter are those that were reduced whole, to the bit."""

from __future__ import annotations

import av
import cv2
import numpy as np
import pytest
from av.video.reformatter import ColorRange, Interpolation

from shotad.film import shot_scores as reduction
from shotad.film.shot_scores import Reducer, Size, working_size

BT709, BT601 = 1, 5


def noise(size: Size, pixels: str, seed: int = 3, full: bool = False) -> av.VideoFrame:
    frame = av.VideoFrame(*size, pixels)
    random = np.random.default_rng(seed)
    for plane in frame.planes:
        plane.update(random.bytes(plane.buffer_size))
    frame.colorspace = BT709
    frame.color_range = ColorRange.JPEG if full else ColorRange.MPEG
    return frame


def whole(frame: av.VideoFrame, size: Size, matrix: int) -> object:
    bgr = frame.reformat(format="bgr24", src_colorspace=matrix, interpolation=Interpolation.BICUBIC)
    return cv2.resize(bgr.to_ndarray(), size).tolist()


def rows_taken(reducer: Reducer) -> bool:
    return reducer._picked is not None


SIZES = [(1280, 720), (1920, 1080), (1920, 800), (1278, 718), (1100, 640), (720, 1280), (2048, 858)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("pixels", ["yuv420p", "yuvj422p"])
def test_rows_that_matter_give_what_the_whole_gives(size: Size, pixels: str) -> None:
    reducer, small = Reducer(), working_size(*size)
    for seed in (4, 5):
        frame = noise(size, pixels, seed)
        assert reducer.reduced(frame, small, BT709).tolist() == whole(frame, small, BT709)
    assert rows_taken(reducer)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("matrix", [BT709, BT601])
def test_matrix_and_range_are_those_of_the_frame(matrix: int, full: bool) -> None:
    reducer, small = Reducer(), (256, 144)
    frame = noise((1280, 720), "yuv420p", full=full)
    assert reducer.reduced(frame, small, matrix).tolist() == whole(frame, small, matrix)
    assert rows_taken(reducer)


@pytest.mark.parametrize(
    ("size", "pixels"),
    [((480, 270), "yuv420p"), ((1280, 721), "yuv420p"), ((1280, 720), "yuv420p10le"), ((900, 720), "nv12")],
)
def test_others_are_converted_whole(size: Size, pixels: str) -> None:
    reducer, small = Reducer(), working_size(*size)
    frame = noise(size, pixels)
    assert reducer.reduced(frame, small, BT709).tolist() == whole(frame, small, BT709)
    assert not rows_taken(reducer)


def test_frames_of_several_kinds_in_turn() -> None:
    reducer = Reducer()
    frames = [
        noise((1280, 720), "yuv420p"),
        noise((1280, 720), "yuv420p", full=True),
        noise((640, 360), "nv12"),
    ]
    for frame in [*frames, *frames]:
        assert reducer.reduced(frame, (256, 144), BT709).tolist() == whole(frame, (256, 144), BT709)


def test_where_rows_give_something_else_frames_are_converted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(reduction._ROW_BY_ROW, "yuv420p", ("yuv422p", 1))  # another row's chroma
    reduction._by_rows.cache_clear()
    try:
        reducer, frame = Reducer(), noise((1280, 720), "yuv420p")
        assert reducer.reduced(frame, (256, 144), BT709).tolist() == whole(frame, (256, 144), BT709)
        assert not rows_taken(reducer)
    finally:
        reduction._by_rows.cache_clear()
