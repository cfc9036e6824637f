"""The frame that shots are compared by, exactly as PySceneDetect makes it, from the rows that matter alone.

The library converts a whole frame to BGR and reduces it linearly, which looks at one or two rows of the
frame for each row that is left: at 1080 lines at 288 of them. swscale converts 8-bit 4:2:0 and 4:2:2
pixel by pixel and row by row, so the other rows need not be converted. They are laid out where they were
in a whole frame, and OpenCV reduces that, so its arithmetic is the same by construction.

Whether swscale does so depends on its build and on size and format. It is tried once for each, on noise.

This module loads cv2 and av: import it where frames are really read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import av
import cv2
import numpy as np
import numpy.typing as npt
from av.video.reformatter import Interpolation, VideoReformatter

from shotad.core import Image

Size = tuple[int, int]
"""(width, height) in pixels."""

PAYS = 0.5
"""Share of a frame's rows up to which copying them costs less than converting the others (measured)."""

_ROW_BY_ROW = {
    "yuv420p": ("yuv422p", 2),
    "yuvj420p": ("yuvj422p", 2),
    "yuv422p": ("yuv422p", 1),
    "yuvj422p": ("yuvj422p", 1),
}
"""Formats that can be converted by rows: the format in which each row has its own chroma, and how many
rows share one at first."""

_Rows = npt.NDArray[np.intp]
_Plane = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Kind:
    """All that decides how a frame is converted; ``matrix`` is what swscale is told."""

    width: int
    height: int
    pixels: str
    colorspace: int
    range: int
    matrix: int


class Reducer:
    """Makes BGR pictures of some size from decoded frames; for one thread."""

    def __init__(self) -> None:
        self._whole, self._rows = VideoReformatter(), VideoReformatter()
        self._for: tuple[_Kind, int] | None = None
        self._picked: _Picked | None = None

    def reduced(self, raw: av.VideoFrame, size: Size, matrix: int) -> Image:
        """The frame as BGR, ``uint8[h, w, 3]``, read by ``matrix`` (H.273)."""
        kind = _Kind(raw.width, raw.height, raw.format.name, raw.colorspace, raw.color_range, matrix)
        if self._for != (kind, size[1]):
            self._for = kind, size[1]
            self._picked = _Picked(kind, _looked_at(kind.height, size[1])) if _by_rows(kind, size) else None
        if self._picked is None or any(plane.line_size < 0 for plane in raw.planes):
            return cast("Image", resized(_as_bgr(self._whole, raw, matrix), size))
        return cast("Image", resized(self._picked.bgr(self._rows, raw), size))


def resized(image: Any, size: Size, method: int = cv2.INTER_LINEAR) -> Any:
    """``image`` at that size; itself where it has it."""
    same = (image.shape[1], image.shape[0]) == size
    return image if same else cv2.resize(image, size, interpolation=method)


def rows_of(plane: av.video.plane.VideoPlane) -> _Plane:
    """A plane with the padding of its rows, as a view, ``uint8[h, bytes of a row]``."""
    return np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, plane.line_size)


class _Picked:
    """Some rows of frames of one kind: where they are got from, and where they lie in a whole picture."""

    def __init__(self, kind: _Kind, rows: _Rows) -> None:
        pixels, shared = _ROW_BY_ROW[kind.pixels]
        self._rows, self._matrix = rows, kind.matrix
        self._from = (rows, rows // shared, rows // shared)
        self._few = _frame(kind, len(rows), pixels)
        self._into = [rows_of(plane) for plane in self._few.planes]
        self._picture = np.zeros((kind.height, kind.width, 3), np.uint8)

    def bgr(self, reformatter: VideoReformatter, raw: av.VideoFrame) -> Image:
        """A picture of the whole frame's size in which only those rows are right, until the next call."""
        for plane, rows, into in zip(raw.planes, self._from, self._into, strict=True):
            source = rows_of(plane)
            if source.shape[1] == into.shape[1]:
                source.take(rows, 0, out=into, mode="clip")  # "raise" would copy once more
            else:
                into[:, : plane.width] = source.take(rows, 0)[:, : plane.width]
        self._picture[self._rows] = _as_bgr(reformatter, self._few, self._matrix)
        return self._picture


def _as_bgr(reformatter: VideoReformatter, raw: av.VideoFrame, matrix: int) -> Image:
    # BICUBIC is what OpenCV's own film reader asks of swscale; it shows where chroma is interpolated.
    bgr = reformatter.reformat(
        raw, format="bgr24", src_colorspace=matrix, interpolation=Interpolation.BICUBIC, threads=1
    )
    return cast("Image", bgr.to_ndarray())


def _looked_at(height: int, reduced: int) -> _Rows:
    """The rows that linear reduction looks at; an even number of them, which swscale's way needs."""
    at = (np.arange(reduced) + 0.5) * (height / reduced) - 0.5
    rows = np.unique(np.clip(np.concatenate((np.floor(at), np.ceil(at))), 0, height - 1)).astype(np.intp)
    return np.append(rows, rows[-1:]) if len(rows) % 2 else rows


@lru_cache(maxsize=32)
def _by_rows(kind: _Kind, size: Size) -> bool:
    """Whether rows alone pay, and give what the whole frame gives, as noise shows."""
    if kind.pixels not in _ROW_BY_ROW or (kind.width, kind.height) == size:
        return False
    rows = _looked_at(kind.height, size[1])
    if len(rows) > PAYS * kind.height:
        return False
    noise = _frame(kind, kind.height, kind.pixels)
    random = np.random.default_rng(1)
    for plane in noise.planes:
        plane.update(random.bytes(plane.buffer_size))
    whole = resized(_as_bgr(VideoReformatter(), noise, kind.matrix), size)
    picked = resized(_Picked(kind, rows).bgr(VideoReformatter(), noise), size)
    return np.array_equal(whole, picked)


def _frame(kind: _Kind, rows: int, pixels: str) -> av.VideoFrame:
    frame = av.VideoFrame(kind.width, rows, pixels)
    frame.colorspace, frame.color_range = kind.colorspace, kind.range
    return frame
