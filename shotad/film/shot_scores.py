"""How much one frame differs from the one before, as PySceneDetect measures it, and what that cuts.

The score is that of PySceneDetect's ContentDetector with its default weights: the mean absolute
difference of hue, saturation and value between two frames that were first reduced, linearly and
without antialiasing, so that their longer side has 256 pixels. (Antialiasing scalers lose cuts.)

Two ways lead to the reduced frame. *Exact* converts the frame to BGR and then reduces it, as the library
does. *Fast* reduces the Y, U and V planes and converts the few pixels that are left; its score was within 1.1
of the exact one on four real films. It pays above standard definition only; at 848x480 it costs as much as
the exact way, which is therefore taken there.

This module loads cv2, av and scenedetect: import it where frames are really read.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import av
import cv2
import numpy as np
import numpy.typing as npt
from av.video.reformatter import ColorRange, Interpolation, VideoReformatter
from scenedetect.common import FrameTimecode
from scenedetect.detectors import AdaptiveDetector

from shotad.core import Image

if TYPE_CHECKING:
    from shotad.core import ShotSettings
    from shotad.film.reader import Frame

LEAST_CONTENT = 15.0
"""Least score of a cut, 0 to 255: the library's own, which the published code leaves as it is."""
WORKING_WIDTH = 256
"""Pixels of the longer side after reduction (scenedetect.scene_manager.DEFAULT_MIN_WIDTH)."""

REACH = 15
"""Frames on each side of a doubtful one that the network sees; its cost goes with them."""
TOGETHER = 10
"""Doubtful frames that lie nearer than this are looked at together."""
DOUBTFUL = ((10.0, 1.5), (6.0, 3.0))
"""Least scores with the ratios to their neighbours' scores from which on the network is asked; the second
for letters that change on black."""
SURE = 0.25
"""Chance from which on the network is believed: of labelled cuts all but one have 0.27 or more, of other
frames that it is asked about nearly all less than 0.1 (benchmarks/cuts.py, the tuning half)."""
NEAR = 2
"""Frames within which two cuts are one."""
PICTURE = (48, 27)
"""(width, height) of the network's pictures."""

PLANES_PAY_ABOVE = 500_000
"""Pixels of a frame above which reducing the planes first is the cheaper way (measured, CPU time)."""

_BT601 = 5
_LUMA_SHARES = {
    0: (0.299, 0.114),  # RGB, which has no matrix
    1: (0.2126, 0.0722),  # BT.709
    2: (0.299, 0.114),  # untagged
    4: (0.30, 0.11),  # FCC
    5: (0.299, 0.114),  # BT.601
    6: (0.299, 0.114),  # SMPTE 170M
    7: (0.212, 0.087),  # SMPTE 240M
    9: (0.2627, 0.0593),  # BT.2020
}
"""Shares of red and blue in luma, by code point of ITU-T H.273: the matrices that swscale knows."""

_FAST_FORMATS = frozenset(("yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuva420p"))


_Plane = npt.NDArray[np.uint8]
_Table = npt.NDArray[np.int16]


def working_size(width: int, height: int) -> Size:
    """Size at which frames are compared: 1920x1080 → 256x144; smaller than 256 stays as it is.

    The rule is SceneManager's: divide by ``max(width, height) / 256`` and round.
    """
    factor = max(width, height) / WORKING_WIDTH
    if factor <= 1:
        return width, height
    return max(1, round(width / factor)), max(1, round(height / factor))


class ContentScore:
    """Score of each frame against the one before it; the frames themselves are let go."""

    def __init__(self, *, exact: bool) -> None:
        self._exact = exact
        self._to_bgr = VideoReformatter()
        self._size: Size | None = None
        self._last: Image | None = None

    @property
    def picture(self) -> Image:
        """The last frame at working size, in HSV."""
        if self._last is None:
            raise ValueError("no frame was added yet")
        return self._last

    def add(self, frame: Frame) -> float:
        """Mean difference from the last frame, 0 to 255; 0.0 for the first frame.

        A frame whose size differs from the first one's is compared at the first one's working size.
        """
        hsv = cast("Image", cv2.cvtColor(self._reduced(frame), cv2.COLOR_BGR2HSV))
        last, self._last = self._last, hsv
        return 0.0 if last is None else _mean_difference(hsv, last)

    def _reduced(self, frame: Frame) -> Image:
        """The frame as BGR at working size."""
        if frame.raw is None:
            return self._reduce(cv2.cvtColor(frame.rgb(), cv2.COLOR_RGB2BGR))
        width, height = frame.raw.width, frame.raw.height
        if not self._exact and width * height > PLANES_PAY_ABOVE and _has_planes(frame.raw):
            return self._reduce_planes(frame.raw)
        # BICUBIC is what OpenCV's own film reader asks of swscale; it shows where chroma is interpolated.
        bgr = self._to_bgr.reformat(
            frame.raw,
            format="bgr24",
            src_colorspace=_known_matrix(frame.raw),
            interpolation=Interpolation.BICUBIC,
            threads=1,
        )
        return self._reduce(bgr.to_ndarray())

    def _reduce(self, bgr: Any) -> Image:
        return cast("Image", resized(bgr, self._working_size(bgr.shape[1], bgr.shape[0])))

    def _reduce_planes(self, raw: av.VideoFrame) -> Image:
        size = self._working_size(raw.width, raw.height)
        y = resized(_plane(raw, 0), size)
        # swscale repeats chroma, it does not interpolate it; and the nearest sample is cheaper to fetch.
        # INTER_NEAREST would take a corner of each cell: it moved a cut of real film.
        u, v = (resized(_plane(raw, i), size, cv2.INTER_NEAREST_EXACT) for i in (1, 2))
        full_range = raw.format.name.startswith("yuvj") or raw.color_range == ColorRange.JPEG
        return _bgr_from_yuv(y, u, v, matrix=_known_matrix(raw), full_range=full_range)

    def _working_size(self, width: int, height: int) -> Size:
        if self._size is None:
            self._size = working_size(width, height)
        return self._size


class CutFinder:
    """PySceneDetect's AdaptiveDetector, fed with scores that were measured elsewhere."""

    def __init__(self, settings: ShotSettings) -> None:
        self.delay = settings.window_width
        self._detector = _ScoredDetector(
            adaptive_threshold=settings.adaptive_threshold,
            min_scene_len=settings.min_scene_len,
            window_width=settings.window_width,
            min_content_val=LEAST_CONTENT,
        )

    def add(self, index: int, score: float, picture: Image) -> list[int]:
        """Frame numbers of cuts that are found now: one at most, ``delay`` frames before ``index``."""
        # The rate is never used: the detector counts in frames here.
        return [cut.frame_num for cut in self._detector.process_frame(FrameTimecode(index, fps=1.0), score)]

    def finish(self) -> list[int]:
        """Cuts among the last frames: none."""
        return []


class _ScoredDetector(AdaptiveDetector):  # type: ignore[misc]  # scenedetect has no types
    def _calculate_frame_score(self, timecode: Any, frame_img: float) -> float:
        return frame_img


Chances = Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.float32]]
"""How likely a cut follows each of the pictures ``uint8[n, 27, 48, 3]``, RGB: ``float32[n]``
(`shotad.film.cut_net.CutNet`)."""


class LearnedCutFinder:
    """AdaptiveDetector's cuts, and more: where a score only stands out a little, a network looks.

    It looks at the frames around, and what it takes for a cut is one, however short the shots.
    """

    delay = REACH + TOGETHER

    def __init__(self, settings: ShotSettings, chances: Chances) -> None:
        self._width, self._chances = settings.window_width, chances
        self._adaptive = CutFinder(settings)
        self._cuts: list[int] = []
        self._scores = array("d")
        self._pictures: deque[Image] = deque(maxlen=2 * REACH + TOGETHER)
        self._waiting: list[int] = []

    def add(self, index: int, score: float, picture: Image) -> list[int]:
        """Frame numbers of cuts that are found now, in no order, at most ``delay`` before ``index``."""
        self._scores.append(score)
        small = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_HSV2RGB), PICTURE, interpolation=cv2.INTER_AREA)
        self._pictures.append(cast("Image", small))
        found = self._adaptive.add(index, score, picture)
        self._cuts += found
        if self._waiting and index - self._waiting[0] == self.delay - 1:
            found += self._decide()
        self._consider(index - self._width)
        return found

    def finish(self) -> list[int]:
        """Cuts among the last frames, which have fewer neighbours."""
        count = len(self._scores)
        for index in range(max(1, count - self._width), count):
            self._consider(index)
        return self._decide() if self._waiting else []

    def _consider(self, index: int) -> None:
        if index < 1 or index in self._cuts[-1:]:
            return
        score, ratio = self._scores[index], self._ratio(index)
        if any(score >= least and ratio >= times for least, times in DOUBTFUL):
            self._waiting.append(index)

    def _ratio(self, index: int) -> float:
        """A score against its neighbours' mean, as AdaptiveDetector's; the first frame has no score."""
        before = self._scores[max(1, index - self._width) : index]
        near = [*before, *self._scores[index + 1 : index + self._width + 1]]
        return self._scores[index] / max(sum(near) / max(len(near), 1), 1e-5)

    def _decide(self) -> list[int]:
        """The cuts among those that wait. The pictures kept end at the last frame that was added."""
        waiting, self._waiting = self._waiting, []
        end = len(self._scores)
        start = max(end - len(self._pictures), waiting[0] - REACH)
        pictures = [*self._pictures][start - end :][: waiting[-1] + REACH - start]
        chances = self._chances(np.stack(pictures))
        found: list[int] = []
        for index in sorted(waiting, key=lambda one: -chances[one - 1 - start]):
            alone = all(abs(index - other) > NEAR for other in (*self._cuts, *found))
            if alone and chances[index - 1 - start] >= SURE:
                found.append(index)
        self._cuts += found
        return found


def _mean_difference(one: Image, other: Image) -> float:
    # Sums per channel and in this order, so that the result equals the library's to the last bit.
    hue, saturation, value, _ = cv2.sumElems(cv2.absdiff(one, other))
    pixels = one.shape[0] * one.shape[1]
    return float((hue / pixels + saturation / pixels + value / pixels) / 3.0)


def _has_planes(raw: av.VideoFrame) -> bool:
    """True where swscale converts pixel by pixel, and so can be followed on planes that were reduced.

    10 bit, 4:4:4 and the rarer layouts go through its filters, with another rounding: near grey that
    decides the hue, and scores differ by as much as 15. Bottom-up frames have negative rows.
    """
    return raw.format.name in _FAST_FORMATS and all(plane.line_size > 0 for plane in raw.planes)


def _plane(raw: av.VideoFrame, number: int) -> _Plane:
    """One plane without the padding of its rows, as a view, ``uint8[h, w]``."""
    plane = raw.planes[number]
    rows = np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, plane.line_size)
    return rows[:, : plane.width]


def _known_matrix(raw: av.VideoFrame) -> int:
    """The matrix that a frame is tagged with; BT.601, swscale's own default, for what it does not know."""
    return raw.colorspace if raw.colorspace in _LUMA_SHARES else _BT601


@lru_cache(maxsize=4)
def _tables(matrix: int, full_range: bool) -> tuple[_Table, _Table, _Table, _Table, _Table]:
    """What Y, U → blue, U → green, V → green, V → red add, each ``int16[256]``.

    Rounded down term by term as swscale does: near black, rounding decides hue and saturation.
    """
    red, blue = _LUMA_SHARES[matrix]
    green = 1 - red - blue
    luma, chroma, black = (1.0, 2.0, 0) if full_range else (255 / 219, 2 * 255 / 224, 16)
    code = np.arange(256)

    def table(factor: float, zero: int) -> _Table:
        return cast("_Table", np.floor((code - zero) * factor).astype(np.int16))

    return (
        table(luma, black),
        table((1 - blue) * chroma, 128),
        table(-(1 - blue) * blue / green * chroma, 128),
        table(-(1 - red) * red / green * chroma, 128),
        table((1 - red) * chroma, 128),
    )


def _bgr_from_yuv(y: _Plane, u: _Plane, v: _Plane, *, matrix: int, full_range: bool) -> Image:
    """``uint8[h, w]`` three times → BGR ``uint8[h, w, 3]``."""
    luma, u_blue, u_green, v_green, v_red = _tables(matrix, full_range)
    base = cv2.LUT(y, luma)
    blue = cv2.add(base, cv2.LUT(u, u_blue), dtype=cv2.CV_8U)
    green = cv2.add(cv2.add(base, cv2.LUT(u, u_green)), cv2.LUT(v, v_green), dtype=cv2.CV_8U)
    red = cv2.add(base, cv2.LUT(v, v_red), dtype=cv2.CV_8U)
    return cast("Image", cv2.merge((blue, green, red)))


Size = tuple[int, int]
"""(width, height) in pixels."""


def resized(image: Any, size: Size, method: int = cv2.INTER_LINEAR) -> Any:
    """``image`` at that size; itself where it has it."""
    same = (image.shape[1], image.shape[0]) == size
    return image if same else cv2.resize(image, size, interpolation=method)
