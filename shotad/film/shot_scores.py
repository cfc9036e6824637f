"""How much one frame differs from the one before, as PySceneDetect measures it, and what that cuts.

The score is that of PySceneDetect's ContentDetector with its default weights: the mean absolute
difference of hue, saturation and value between two frames that were first reduced, linearly and
without antialiasing, so that their longer side has 256 pixels. (Antialiasing scalers lose cuts.)

Two ways lead to the reduced frame. *Exact* converts the frame to BGR and then reduces it, as the library
does. *Fast* reduces the Y, U and V planes and converts the few pixels that are left; its score was within 1.1
of the exact one on four real films. It is taken above standard definition, where it pays.

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
MOST = 100
"""Frames that it is shown at once, but for those on each side."""
DOUBTFUL = ((10.0, 1.5), (6.0, 3.0))
"""Least scores with the ratios to their neighbours' scores from which on the network is asked; the second
for letters that change on black."""
SURE = 0.25
"""Chance from which on the network is believed: of labelled cuts all but one have 0.27 or more, of other
frames that it is asked about nearly all less than 0.1 (benchmarks/cuts.py, the tuning half)."""
NEAR = 2
"""Frames within which two cuts are one."""
ALIKE = 0.9
"""Correlation from which the pictures on both sides of a cut are of one scene (labelled cuts: 0.83 at most,
flashes and a codec's key frames 0.98 at least)."""
REPEATED = 0.3
"""Score below which a frame is the one before it, shown once more."""
SLOW = 12
"""Frames on each side by which slow changes are looked for; two that lie nearer are one."""
ANOTHER = 0.2
"""Difference of two pictures, of their level, from which they are two."""
MIXED = 0.2
"""Share of that difference, squared, that a mixture of the two may have left."""
CHANGING, CHANGED = 0.1, 3.0
"""Chance from which a frame belongs to a change, and the sum of them from which a slow one is believed: of
labelled ones that it is asked about at least 3.6, of what is none at most 1.8 (the tuning half)."""
CLEAR = 0.5
"""Chance of a cut from which a slow change needs no mixed frame: it may be one to white."""
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
        if last is None:
            return 0.0
        # Sums per channel and in this order, so that the result equals the library's to the last bit.
        hue, saturation, value, _ = cv2.sumElems(cv2.absdiff(hsv, last))
        pixels = hsv.shape[0] * hsv.shape[1]
        return float((hue / pixels + saturation / pixels + value / pixels) / 3.0)

    def _reduced(self, frame: Frame) -> Image:
        """The frame as BGR at working size."""
        if frame.raw is None:
            return self._reduce(cv2.cvtColor(frame.rgb(), cv2.COLOR_RGB2BGR))
        raw = frame.raw
        # 10 bit, 4:4:4 and the rarer layouts go through swscale's filters, not pixel by pixel, with another
        # rounding: near grey that decides the hue, and scores differ by as much as 15. Bottom-up frames have
        # negative rows.
        plain = raw.format.name in _FAST_FORMATS and all(plane.line_size > 0 for plane in raw.planes)
        if not self._exact and raw.width * raw.height > PLANES_PAY_ABOVE and plain:
            return self._reduce_planes(raw)
        # BICUBIC is what OpenCV's own film reader asks of swscale; it shows where chroma is interpolated.
        bgr = self._to_bgr.reformat(
            raw,
            format="bgr24",
            src_colorspace=_known_matrix(raw),
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
        # ``uint8[h, w]`` three times → BGR ``uint8[h, w, 3]``
        matrix = _known_matrix(raw)
        luma, u_blue, u_green, v_green, v_red = _tables(matrix, full_range)
        base = cv2.LUT(y, luma)
        blue = cv2.add(base, cv2.LUT(u, u_blue), dtype=cv2.CV_8U)
        green = cv2.add(cv2.add(base, cv2.LUT(u, u_green)), cv2.LUT(v, v_green), dtype=cv2.CV_8U)
        red = cv2.add(base, cv2.LUT(v, v_red), dtype=cv2.CV_8U)
        return cast("Image", cv2.merge((blue, green, red)))

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
"""Of pictures ``uint8[n, 27, 48, 3]``, RGB, how likely a cut follows each, and how likely each belongs to a
change: ``float32[2, n]`` (`shotad.film.cut_net.CutNet`)."""


class LearnedCutFinder(CutFinder):
    """AdaptiveDetector's cuts; where they leave doubt, a network looks at the frames around.

    In doubt is a frame whose score only stands out a little, a cut with like pictures before and after, and
    what looks like a dissolve or a fade. What the network takes for a cut is one, however short the shots.
    """

    def __init__(self, settings: ShotSettings, chances: Chances) -> None:
        super().__init__(settings)
        self._width, self._times, self._chances = settings.window_width, settings.adaptive_threshold, chances
        self.delay = MOST + REACH
        self._cuts: list[int] = []
        self._scores = array("d")
        self._pictures: deque[Image] = deque(maxlen=self.delay + 1)
        self._waiting: list[int] = []

    def add(self, index: int, score: float, picture: Image) -> list[int]:
        """Frame numbers of cuts that are found now, in no order, at most ``delay`` before ``index``."""
        self._scores.append(score)
        small = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_HSV2RGB), PICTURE, interpolation=cv2.INTER_AREA)
        self._pictures.append(cast("Image", small))
        found = super().add(index, score, picture)
        alike = found and _are_alike(self._ago(2 * self._width + 1), self._ago(0))
        if alike or (found and self._is_beside_repeats(found[0])):
            found = []
        self._cuts += found
        if self._is_doubtful(index - SLOW) or _is_mixed(*(self._ago(n * SLOW) for n in (2, 1, 0))):
            self._waiting.append(index - SLOW)
        if self._waiting and (index - self._waiting[0] == MOST or index - self._waiting[-1] == SLOW + REACH):
            found += self._decide()
        return found

    def finish(self) -> list[int]:
        """Cuts among the last frames, which have fewer neighbours."""
        count = len(self._scores)
        self._waiting += [i for i in range(count - SLOW, count) if self._is_doubtful(i)]
        return self._decide() if self._waiting else []

    def _ago(self, frames: int) -> npt.NDArray[np.float32]:
        """The picture so many frames ago; the first one that is kept where there is none."""
        return self._pictures[-min(frames + 1, len(self._pictures))].astype(np.float32)

    def _is_beside_repeats(self, cut: int) -> bool:
        """True where a cut stands out only as long as frames that are shown twice count as calm ones."""
        past, new = self._scores[max(1, cut - 3 * self._width) : cut], self._scores[cut + 1 :]
        before, after = ([score for score in part if score >= REPEATED] for part in (past, new))
        near = [*before[-self._width :], *after]
        return bool(after) and self._scores[cut] * len(near) < self._times * sum(near)

    def _is_doubtful(self, index: int) -> bool:
        """True where a score stands out from its neighbours' mean (AdaptiveDetector's) and is no cut yet."""
        if index < 1 or index in self._cuts[-SLOW:]:
            return False
        score, before = self._scores[index], self._scores[max(1, index - self._width) : index]
        near = [*before, *self._scores[index + 1 : index + self._width + 1]]
        ratio = score / max(sum(near) / max(len(near), 1), 1e-5)
        return any(score >= least and ratio >= times for least, times in DOUBTFUL)

    def _decide(self) -> list[int]:
        """The cuts among those that wait. The pictures kept end at the last frame that was added."""
        waiting, self._waiting = self._waiting, []
        end = len(self._scores)
        start = max(end - len(self._pictures), waiting[0] - REACH)
        pictures = [*self._pictures][start - end :][: waiting[-1] + REACH - start]
        cut, change = self._chances(np.stack(pictures))
        found: list[int] = []
        for index in sorted(waiting, key=lambda one: -cut[one - 1 - start]):
            alone = all(abs(index - other) > NEAR for other in (*self._cuts, *found))
            if alone and cut[index - 1 - start] >= SURE and self._is_doubtful(index):
                found.append(index)
        changing = np.flatnonzero(change >= CHANGING)
        for run in np.split(changing, np.flatnonzero(np.diff(changing) > SLOW) + 1):
            if change[run].sum() < CHANGED:
                continue
            first, last = start + run[0] - SLOW, start + run[-1] + SLOW
            known = any(first <= other <= last for other in (*self._cuts, *found))
            mixed = any(i - start in run and not self._is_doubtful(i) for i in waiting)
            if not known and (mixed or cut[run].max() >= CLEAR):
                found.append(int(run[np.argmax(cut[run])]) + start + 1)
        self._cuts += found
        return found


def _are_alike(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> bool:
    """True for two pictures of one scene, whatever the light: by the correlation of their pixels."""
    one, other = one.ravel() - one.mean(), other.ravel() - other.mean()
    return bool(one @ other > ALIKE * np.sqrt((one @ one) * (other @ other)))


def _is_mixed(*pictures: npt.NDArray[np.float32]) -> bool:
    """True where the second picture is nearly the first and the third, two others, laid one over the other.

    Their light is taken out first, for it changes within a shot too.
    """
    before, now, after = (picture - picture.mean() for picture in pictures)
    change, way = after - before, now - before
    if np.abs(change).mean() < ANOTHER * ((pictures[0].mean() + pictures[2].mean()) / 2 + 20):
        return False
    whole = float(np.square(change).sum())
    share = float((way * change).sum()) / whole
    return 0.2 < share < 0.8 and float(np.square(way - share * change).sum()) < MIXED * whole


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


Size = tuple[int, int]
"""(width, height) in pixels."""


def resized(image: Any, size: Size, method: int = cv2.INTER_LINEAR) -> Any:
    """``image`` at that size; itself where it has it."""
    same = (image.shape[1], image.shape[0]) == size
    return image if same else cv2.resize(image, size, interpolation=method)
