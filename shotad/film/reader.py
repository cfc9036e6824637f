"""What every reader of film does, and what readers share.

Time zero is the container's start time; a frame's second comes from its own timestamp, never from
``index / rate`` (numbered stills excepted, which have nothing else).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from shotad.core import FilmInfo, Image, Interval

if TYPE_CHECKING:
    from av import VideoFrame

    from shotad.film.container import Media

Size = tuple[int, int]
"""``(width, height)`` in pixels."""

TOLERANCE = 1e-6
"""Seconds by which a wanted moment may lie before a frame and still mean it: records round."""


HOLE = 3.0
"""Seconds without a new frame that are a hole in the picture, in a film whose frames come regularly. No slot
is planned that is much shorter."""

REGULAR = 0.95
"""Share of frames that come at most twice as late as usual, in a film with a steady rate. Slides and recorded
screens have fewer; there a frame that stands for long is meant to."""


def picture_holes(seconds: Sequence[float]) -> tuple[Interval, ...]:
    """Where a film has no picture, from the ascending ``seconds`` of all its frames.

    That is before the first of them, and where a recording lost some. A frame that lasts long in a film
    without a steady rate is no hole.
    """
    holes: list[Interval] = []
    if len(seconds) and seconds[0] >= HOLE:
        holes.append(Interval(0.0, seconds[0]))
    distances = np.diff(seconds)
    if len(distances) == 0:
        return tuple(holes)
    usual = float(np.median(distances))
    regular = float(np.mean(distances <= 2 * usual)) >= REGULAR
    if regular:
        for number in np.flatnonzero(distances >= max(HOLE, 25 * usual)).tolist():
            holes.append(Interval(seconds[number] + usual, seconds[number + 1]))
    return tuple(holes)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One frame as it comes out of the film, not yet converted to a picture.

    ``seconds`` is when it begins to be shown, ``index`` its place in the pass from 0, ``raw``
    is the decoder's own frame (None where there is none, as with stills).
    """

    seconds: float
    index: int
    raw: VideoFrame | None
    paint: Callable[[Size | None], Image]

    def rgb(self, size: Size | None = None) -> Image:
        """The picture as it is meant to be seen, ``uint8[H, W, 3]``, at ``(width, height)``.

        Upright, square pixels, progressive, SDR BT.709, 8 bit. ``None`` is the film's displayed size.
        """
        return self.paint(size)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """The picture that is on the screen at second ``wanted``; it came up at ``seconds``.

    ``seconds <= wanted``, except before the film's first frame.
    """

    seconds: float
    wanted: float
    image: Image


class Film:
    """A film that is open for reading; a context manager. Readers give ``info``, ``frames`` and
    ``_frames_at``.

    Attributes:
        info: Size in pixels, length in seconds, frame rate, audio tracks and more.
        media: The file, for readers of its sound and subtitles. None for numbered frames.
        damage: What the last whole pass of `frames` found broken, in one sentence. None: nothing.
        end: Second at which the last frame ends, once a pass has reached it.
        holes: Where that pass found no picture, in seconds.
        clock_jumps: How often the film's clock jumps. Its seconds count on.
    """

    info: FilmInfo
    media: Media | None = None
    damage: str | None = None
    end: float | None = None
    holes: tuple[Interval, ...] = ()
    clock_jumps: int = 0

    def frames(self) -> Iterator[Frame]:
        """The whole film once, in display order, seconds strictly ascending.

        What cannot be decoded is left out and noted in `damage`.
        """
        raise NotImplementedError

    def _frames_at(self, moments: Iterable[float]) -> Iterator[Frame]:
        raise NotImplementedError

    def frames_at(self, seconds: Iterable[float]) -> Iterator[Frame]:
        """The frame on the screen at each of the ascending ``seconds``, in order, by one decode.

        That is the last frame that begins at that moment or before it (within 1 µs), or else the first frame.
        `Frame.index` is its place in this pass. Short gaps are decoded through, long ones sought. From an
        iterator, a second is taken when its frame is asked for. Raises ValueError for seconds that do not
        ascend or are not finite.
        """
        return self._frames_at(_checked(seconds) if isinstance(seconds, Iterator) else ascending(seconds))

    def pictures(
        self, seconds: Sequence[float], height: int | None = None, max_pixels: int | None = None
    ) -> Iterator[Picture]:
        """The pictures of `frames_at`, at the size that `FilmInfo.size_within` gives; a frame that is wanted
        twice is painted once."""
        moments = ascending(seconds)
        return self._painted(moments, self.info.size_within(height, max_pixels))

    def _painted(self, moments: list[float], size: Size) -> Iterator[Picture]:
        last: Picture | None = None
        for frame, moment in zip(self._frames_at(moments), moments, strict=False):
            same = last is not None and last.seconds == frame.seconds
            image = last.image if last is not None and same else frame.rgb(size)
            last = Picture(frame.seconds, moment, image)
            yield last

    def _sized(self, image: Image, size: Size | None) -> Image:
        """``uint8[H, W, 3]`` at that ``(width, height)``; None: the film's displayed size."""
        return at_size(image, size or (self.info.width, self.info.height))

    def close(self) -> None:
        """Let go of the source."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def at_size(image: Image, size: Size) -> Image:
    """``uint8[H, W, 3]`` at that ``(width, height)``: means of areas where it shrinks, else bicubic; itself
    where it has that size."""
    import cv2

    height, width = image.shape[:2]
    if (width, height) == size:
        return image
    smaller = size[0] < width or size[1] < height
    method = cv2.INTER_AREA if smaller else cv2.INTER_CUBIC
    return cast(Image, cv2.resize(image, size, interpolation=method))


def ascending(seconds: Iterable[float]) -> list[float]:
    """``seconds`` as a list of floats. Raises ValueError unless they are finite and ascend."""
    moments = [float(second) for second in seconds]
    if not all(math.isfinite(moment) for moment in moments):
        raise ValueError(f"seconds must be finite, got {moments}")
    return list(_checked(moments))


def _checked(seconds: Iterable[float]) -> Iterator[float]:
    """The same seconds as they are drawn. Raises ValueError at one that is not finite or does not ascend."""
    before = -math.inf
    for second in seconds:
        if not math.isfinite(second):
            raise ValueError(f"seconds must be finite, got {second}")
        if second < before:
            raise ValueError(f"seconds must ascend, got {before} before {second}")
        before = second
        yield second
