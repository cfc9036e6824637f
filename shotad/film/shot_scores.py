"""How much one frame differs from the one before, as PySceneDetect measures it, and what that cuts.

The score is that of PySceneDetect's ContentDetector with its default weights: the mean absolute
difference of hue, saturation and value between two frames that were first reduced, linearly and
without antialiasing, so that their longer side has 256 pixels. (Antialiasing scalers lose cuts.)

Two ways lead to the reduced frame. *Exact* converts the frame to BGR and then reduces it, as the library
does. *Fast* reduces the Y, U and V planes and converts the few pixels that are left; its score was within 1.1
of the exact one on four real films. It is taken above standard definition, where it pays.

This module loads cv2 and av: import it where frames are really read.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import av
import cv2
import numpy as np
import numpy.typing as npt
from av.video.reformatter import ColorRange, Interpolation, VideoReformatter

from shotad.core import Image

if TYPE_CHECKING:
    from shotad.core.config.film import ShotSettings
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
"""Least scores with the ratios to their neighbours' scores from which on a frame may be a cut; the second
for letters that change on black."""
AROUND = 6
"""Frames on each side with whose motion that of a doubtful one is compared."""
BROKEN, ASKED, FAINT, WILD = 1.5, 0.8, 3.0, 20.0
"""What motion leaves unexplained, in levels, over the most of the frames around and 3 for noise: from 1.5 on
it is a cut; where they have 20, the scores must say so too (explosions). Over the second most, for a cut may
have a frame between: from 0.8 on the network is asked, about 76 of 220 doubtful frames that are no cut."""
SURE = 0.25
"""Chance from which on the network is believed: of labelled cuts all but one have 0.27 or more, of other
frames that it is asked about nearly all less than 0.1 (benchmarks/cuts.py, the tuning half)."""
NEAR = 2
"""Frames within which two cuts are one."""
REACHES = (8, 20)
"""Frames on each side by which slow changes are looked for: over few of them a dissolve of two seconds
changes too little, over many both shots move too much."""
LAG = max(REACHES)
"""Frames by which a frame is judged late."""
SLOW = 12
"""Frames from one slow change to the next; two that lie nearer are one."""
CONTEXT = 25
"""Frames on each side of what may be a slow change that the network sees: with `REACH` it is less sure."""
ANOTHER = 0.2
"""Difference of two pictures, of their level, from which they are two."""
MIXED = 0.2
"""Share of that difference, squared, that a mixture of the two may have left."""
CHANGING, CHANGED, MIXES = 0.1, 2.0, 3
"""Chance from which a frame belongs to a change; the sum of them, and the mixed frames among them, from which
a slow one is believed. Labelled and made ones of the tuning half that it is asked about have 2.8 and more,
what is none and has any mixed frame 1.4 at most."""
BLURRED = 3
"""Frames that a change lasts at least for a cut in it to be no clean one."""
STEP = 4
"""Frames from one mixed frame to the next of the same change, at most."""
EDGE = 2, 8
"""Frames, and parts of its length, that a change lasts at either end beyond what is seen of it."""
CLEAR = 0.5
"""Chance of a cut from which a slow change needs no mixed frame: it may be one to white."""
BLACK = 10
"""Level below which all of a picture is black: what fades out ends there."""
PICTURE, MOVING = (48, 27), (128, 72)
"""(width, height) of the network's pictures, and of those in which motion is looked for."""

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


Chances = Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.float32]]
"""Of pictures ``uint8[n, 27, 48, 3]``, RGB, how likely a cut follows each, and how likely each belongs to a
change: ``float32[2, n]`` (`shotad.film.cut_net.CutNet`)."""


class LearnedCutFinder:
    """Cuts where the picture breaks with the motion around; where that leaves doubt, a network looks.

    Looked at is a frame whose score stands out from its neighbours', and what looks like a dissolve or a
    fade. Shots may be short. ``changes`` are the dissolves and fades that were found so far: the first frame
    of each that is mixed, and the first that is not any more, `delay` frames late at most.
    """

    def __init__(self, settings: ShotSettings, network: Callable[[], Chances]) -> None:
        self._width, self._network = settings.window_width, network
        self._clear = (LEAST_CONTENT, settings.adaptive_threshold)
        self.delay = MOST + CONTEXT
        self.changes: list[tuple[int, int]] = []
        self._cuts: list[int] = []
        self._scores = array("d")
        self._pictures: deque[Image] = deque(maxlen=self.delay + 1)
        self._greys: deque[Image] = deque(maxlen=LAG + AROUND + 2)
        self._plain: deque[tuple[float, npt.NDArray[np.float32]]] = deque(maxlen=2 * LAG + 1)
        self._waiting: list[int] = []

    def add(self, index: int, score: float, picture: Image) -> list[int]:
        """Frame numbers of cuts that are found now, in no order, at most ``delay`` before ``index``."""
        self._scores.append(score)
        rgb = cv2.cvtColor(picture, cv2.COLOR_HSV2RGB)
        small = cast("Image", cv2.resize(rgb, PICTURE, interpolation=cv2.INTER_AREA))
        light = float(small.mean())
        self._pictures.append(small)
        self._plain.append((light, small - np.float32(light)))
        self._greys.append(_grey(rgb))
        judged = index - LAG
        cuts = self._judge(judged)
        if self._waiting[-1:] != [judged] and self._is_mixed():
            self._waiting.append(judged)
        # What overlaps is seen at once
        late = self._waiting and index - self._waiting[-1] == LAG + 2 * REACH
        if late or (self._waiting and index - self._waiting[0] == MOST):
            cuts += self._decide()
        return cuts

    def finish(self) -> list[int]:
        """Cuts among the last frames, which have fewer neighbours."""
        count = len(self._scores)
        cuts = [cut for index in range(count - LAG, count) for cut in self._judge(index)]
        return cuts + (self._decide() if self._waiting else [])

    def _is_mixed(self) -> bool:
        """True where the frame that is judged now looks like two others, one laid over the other."""
        return any(
            _is_mixed(self._ago(LAG + reach), self._ago(LAG), self._ago(LAG - reach)) for reach in REACHES
        )

    def _judge(self, index: int) -> list[int]:
        """The frame, where it is a cut by the motion around; it waits for the network where it may be one."""
        if not self._stands_out(index):
            return []
        first, last = max(0, index - AROUND - 1), min(len(self._scores), index + AROUND + 1)
        near = [*self._greys][first - len(self._scores) :][: last - first]
        left = [_unexplained(*pair) for pair in pairwise(near)]
        here, (second, most) = left.pop(index - first - 1), sorted([0.0, 0.0, *left])[-2:]
        clear = self._stands_out(index, [self._clear])
        if here >= BROKEN * (most + FAINT) and (clear or most < WILD) and self._is_alone(index):
            self._cuts.append(index)
            return [index]
        if clear or here >= ASKED * (second + FAINT):
            self._waiting.append(index)
        return []

    def _is_alone(self, index: int) -> bool:
        return all(abs(index - other) > NEAR for other in self._cuts)

    def _ago(self, frames: int) -> tuple[float, npt.NDArray[np.float32]]:
        """The light of the picture so many frames ago, and the picture without it; of the first where there
        is none."""
        return self._plain[-min(frames + 1, len(self._plain))]

    def _stands_out(self, index: int, by: Iterable[tuple[float, float]] = DOUBTFUL) -> bool:
        """True where a score stands out from its neighbours' mean (AdaptiveDetector's)."""
        if index < 1:
            return False
        score, before = self._scores[index], self._scores[max(1, index - self._width) : index]
        near = [*before, *self._scores[index + 1 : index + self._width + 1]]
        ratio = score / max(sum(near) / max(len(near), 1), 1e-5)
        return any(score >= least and ratio >= times for least, times in by)

    @cached_property
    def _chances(self) -> Chances:
        """Loaded when it is first asked, and let go with this: it takes a tenth of a gigabyte."""
        return self._network()

    def _decide(self) -> list[int]:
        """The cuts among those that wait. The pictures kept end at the last frame that was added."""
        waiting, self._waiting = self._waiting, []
        mixes = [index for index in waiting if not self._stands_out(index)]
        reach = CONTEXT if len(mixes) >= MIXES else REACH
        end = len(self._scores)
        start = max(end - len(self._pictures), waiting[0] - reach)
        pictures = [*self._pictures][start - end :][: waiting[-1] + reach - start]
        cut, change = self._chances(np.stack(pictures))
        new_cuts: list[int] = []
        for index in sorted(waiting, key=lambda one: -cut[one - 1 - start]):
            if self._is_alone(index) and cut[index - 1 - start] >= SURE and self._stands_out(index):
                new_cuts.append(index)
                self._cuts.append(index)
        changing = np.flatnonzero(change >= CHANGING)
        for run in np.split(changing, np.flatnonzero(np.diff(changing) > SLOW) + 1):
            if not len(run) or start + run[0] < SLOW:  # out of black: no shot was before
                continue
            slow = change[run].sum() >= CHANGED
            # What begins before the first picture may have been found with those before.
            first = start + run[0] - (SLOW if run[0] else SLOW + REACH)
            last = start + run[-1] + SLOW
            was_found_before = any(first <= earlier_cut <= last for earlier_cut in self._cuts)
            mixed = sum(index - start in run for index in mixes) >= MIXES
            if slow and not was_found_before and (mixed or cut[run].max() >= CLEAR):
                black = [i for i in run if pictures[i].max() < BLACK]
                new_cuts.append(int(black[0] if black else run[np.argmax(cut[run])] + 1) + start)
                self._cuts.append(new_cuts[-1])
            if slow and mixed:
                # What changes without a pause is one cut, however jerky it is.
                for part in np.split(run, np.flatnonzero(np.diff(run) > STEP) + 1):
                    inside = [index for index in new_cuts if index - 1 - start in part]
                    for less in sorted(inside, key=lambda index: -cut[index - 1 - start])[1:]:
                        new_cuts.remove(less)
                        self._cuts.remove(less)
            if slow or len(run) >= BLURRED:
                self.changes.append(_extent([int(place) + start for place in run], mixes))
        return new_cuts


def _extent(run: Sequence[int], mixed: Iterable[int]) -> tuple[int, int]:
    """The first frame of a slow change and the first after it, from the frames at which it is seen: a ``run``
    of the network's, and ``mixed`` ones that go on from it.

    >>> _extent([100, 101, 115], [40, 94, 97, 104, 118, 140])
    (91, 122)
    """
    first, last = run[0], run[-1]
    ascending = sorted(mixed)
    for frame in ascending[::-1]:
        if first - STEP <= frame < first:
            first = frame
    for frame in ascending:
        if last < frame <= last + STEP:
            last = frame
    least, part = EDGE
    more = max(least, (last - first) // part)
    return first - more, last + 1 + more


def _grey(rgb: Any) -> Image:
    """``uint8[h, w, 3]`` → its light as ``uint8[72, 128]``, at one mean and spread unless it has none."""
    grey = cv2.cvtColor(cv2.resize(rgb, MOVING, interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY)
    (mean,), (spread,) = (statistic.ravel() for statistic in cv2.meanStdDev(grey))
    share, factor = min(spread / 20, 1.0), 48 / max(spread, 20.0)
    contrast = share * factor + 1 - share
    return cast("Image", cv2.addWeighted(grey, contrast, grey, 0.0, share * (128 - factor * mean)))


def _unexplained(before: Image, after: Image) -> float:
    """What motion leaves of two pictures' difference, in levels: nine in ten of their blocks have less."""
    flow = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST).calc(
        before, after, cast("Any", None)
    )
    places = flow + np.stack(np.meshgrid(*(np.arange(side, dtype=np.float32) for side in MOVING)), axis=-1)
    moved = cv2.remap(after, places, cast("Any", None), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    blocks = cv2.resize(cv2.absdiff(before, moved).astype(np.float32), (16, 9), interpolation=cv2.INTER_AREA)
    return float(np.percentile(blocks, 90))


def _is_mixed(*pictures: tuple[float, npt.NDArray[np.float32]]) -> bool:
    """True where the second picture is nearly the first and the third, two others, laid one over the other.

    Their light stands apart, for it changes within a shot too.
    """
    (first, before), (_, now), (last, after) = pictures
    change = after - before
    if np.abs(change).mean() < ANOTHER * ((first + last) / 2 + 20):
        return False
    way = now - before
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
