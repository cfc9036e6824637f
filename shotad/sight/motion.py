"""What changes from one picture to the next: whether a cut lies between, and how alike two face boxes are.

The camera's own movement is a shift with scale, fitted with RANSAC to sparse optical flow
(Shi-Tomasi corners, pyramidal Lucas-Kanade, checked backwards).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import cv2
import numpy as np
import numpy.typing as npt

from shotad.core import Box, Image

Gray = npt.NDArray[np.uint8]
"""``uint8[h, w]``, luma of a small picture."""
Points = npt.NDArray[np.float32]
"""``float32[n, 1, 2]``, x and y in pixels."""

_WIDTH = 320
"""Pixels of a small picture's width."""
_MAX_CORNERS = 240
_MIN_CORNERS = 14
"""Corners that must agree before a movement of the whole picture is believed."""
_MIN_CORRELATION = 0.4
"""Correlation of two thumbnails below which they show different pictures."""
_MIN_CONTRAST = 1e3
"""Contrast of two thumbnails, multiplied, below which at least one is plain, as in a fade to black."""
_MAX_BRIGHTNESS_CHANGE = 25.0
"""Grey levels by which two plain pictures of one scene may differ."""
_MAX_RETURN_ERROR = 1.0
"""Pixels by which a corner may miss its start when it is followed back."""


def is_break(before: Gray, after: Gray, moved_on: bool) -> bool:
    """True where ``after`` shows another scene than ``before``: a cut that the shot detector has passed over,
    as after a dissolve.

    ``moved_on``: the corners of both agree that the second is the first, moved on. Wild movement within a
    picture looks the same as a break; faces before and after are then not linked.
    """
    if moved_on:
        return False
    size = (32, 18)
    first = cv2.resize(before, size, interpolation=cv2.INTER_AREA).astype(np.float64)
    second = cv2.resize(after, size, interpolation=cv2.INTER_AREA).astype(np.float64)
    brightness_change = abs(float(first.mean() - second.mean()))
    first, second = first - first.mean(), second - second.mean()
    contrast = float(np.sqrt((first**2).sum() * (second**2).sum()))
    if contrast < _MIN_CONTRAST:
        # Plain pictures have no pattern to compare, so that brightness decides.
        return brightness_change > _MAX_BRIGHTNESS_CHANGE
    correlation = float((first * second).sum()) / contrast
    return correlation < _MIN_CORRELATION


def small_gray(image: Image) -> Gray:
    """``image`` (RGB ``uint8[H, W, 3]``) as luma, 320 pixels wide."""
    height, width = image.shape[:2]
    size = (_WIDTH, max(2, round(height * _WIDTH / width)))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), np.uint8)


def agreement(before: Gray, after: Gray) -> float | None:
    """Share of the picture's corners, 0 to 1, that agree on how the whole picture moved from one frame to the
    next; None where too few can be followed to say."""
    corners = cv2.goodFeaturesToTrack(before, _MAX_CORNERS, 0.01, 6)
    if corners is None or len(corners) < _MIN_CORNERS:
        return None
    start = np.asarray(corners, np.float32)
    end, is_followed = _follow(before, after, start)
    returned, is_followed_back = _follow(after, before, end)
    return_error = np.abs(returned - start).max(axis=(1, 2))
    is_reliable = is_followed & is_followed_back & (return_error < _MAX_RETURN_ERROR)
    if np.count_nonzero(is_reliable) < _MIN_CORNERS:
        return None
    matrix, inliers = cv2.estimateAffinePartial2D(
        start[is_reliable], end[is_reliable], method=cv2.RANSAC, ransacReprojThreshold=1.5
    )
    if matrix is None or np.count_nonzero(inliers) < _MIN_CORNERS:
        return None
    return float(np.count_nonzero(inliers)) / len(start)


def _follow(before: Gray, after: Gray, points: Points) -> tuple[Points, npt.NDArray[np.bool_]]:
    """Where the points of ``before`` are in ``after``, and ``bool[n]``: which of them were found."""
    moved, status, _ = cv2.calcOpticalFlowPyrLK(
        before, after, points, points.copy(), winSize=(15, 15), maxLevel=4
    )
    return np.asarray(moved, np.float32), np.asarray(status)[:, 0] == 1


def best_pairs(pairs: Iterable[tuple[float, int, int]]) -> dict[int, int]:
    """The second number of each first one, from ``pairs`` of (likeness, first, second).

    The most alike pair is taken first, and each number once.

    >>> best_pairs([(0.5, 0, 0), (0.9, 1, 0), (0.2, 0, 1)])
    {1: 0, 0: 1}
    """
    second_of: dict[int, int] = {}
    for _, first, second in sorted(pairs, key=lambda pair: (-pair[0], pair[2], pair[1])):
        if first not in second_of and second not in second_of.values():
            second_of[first] = second
    return second_of


def likeness(a: Box, b: Box) -> float:
    """How alike two boxes are in place and size: 1 for equal ones, 0 where they do not overlap enough to be
    of one face."""
    mean_width, mean_height = (a.width + b.width) / 2, (a.height + b.height) / 2
    # In parts of a box, so that a large face may move farther than a small one
    distance_x = (a.centre[0] - b.centre[0]) / mean_width
    distance_y = (a.centre[1] - b.centre[1]) / mean_height
    distance = math.hypot(distance_x, distance_y)
    size_ratio = min(a.width * a.height, b.area) / max(a.width * a.height, b.area)
    return max(0.0, 1 - distance) * math.sqrt(size_ratio)


def active_area(images: npt.NDArray[np.uint8], black: int = 28) -> Box:
    """The part of the frames ``uint8[n, H, W, 3]`` that is not a black bar in all of them.

    The whole picture where very little or more than half of it would be cut off, where the bars are not of
    one size, and where the frames are too dark to tell. ``black``: the brightest grey of a bar, 0 to 255.
    """
    # One axis after the other, whole rows first: a fourteenth of the time of both at once.
    brightest = images[:, ::2].max(axis=0)[:, ::2].max(axis=2)
    rows = np.flatnonzero(np.percentile(brightest, 98, axis=1) > black)
    columns = np.flatnonzero(np.percentile(brightest, 98, axis=0) > black)
    if len(rows) == 0 or len(columns) == 0:
        return Box(0, 0, 1, 1)
    height, width = brightest.shape
    box = Box(
        float(columns[0] / width),
        float(rows[0] / height),
        float((columns[-1] + 1) / width),
        float((rows[-1] + 1) / height),
    )
    # Bars are of one size on both sides; a dark floor or ceiling is on one side only.
    is_symmetric = abs(box.top - (1 - box.bottom)) < 0.05 and abs(box.left - (1 - box.right)) < 0.05
    return box if is_symmetric and 0.5 <= box.area <= 0.97 else Box(0, 0, 1, 1)
