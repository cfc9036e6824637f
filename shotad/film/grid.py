"""A fixed grid of moments, and what stands for the frame at each of them on the disk.

For the grid it is a small JPEG. A kept frame and one decoded later give the same pixels, because both go the
same way: shrunk planes, JPEG, planes, RGB. The planes of an ordinary film are stored as they are, in its own
matrix and range, so that keeping a frame costs no colour conversion; only what is looked at is converted.

Frames that are read exactly are kept without loss: RGB as QOI (ffmpeg's), each for itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import FilmInfo, Image
from shotad.film.colour import Orientation, light_of, matrix_of, turn_of
from shotad.film.reader import Frame, Size

if TYPE_CHECKING:
    from av import VideoFrame
    from av.video.codeccontext import VideoCodecContext

_BT709, _FULL, _LIMITED = 1, 2, 1


@dataclass(frozen=True, slots=True)
class Grid:
    """``rate`` moments to a second from second 0 on (8: dense looking); frames of at most ``height`` lines.

    ``quality`` is ffmpeg's scale for JPEG, 2 is best. Tick ``k`` is second ``k / rate``. The picture for a
    second is that of the frame on the screen at the nearest tick (the later of two as near).
    """

    rate: int = 8
    height: int = 480
    quality: int = 3

    def tick(self, second: float) -> int:
        """The nearest tick, 0 or more: at 8 a second, 0.06 → 0, 0.0625 → 1, 1.0 → 8."""
        return max(0, math.floor(second * self.rate + 0.5))

    def second(self, tick: int) -> float:
        """The moment of a tick."""
        return tick / self.rate


@dataclass(frozen=True, slots=True)
class Kept:
    """A frame as it is kept: JPEG of its planes, which are BT.``matrix`` (H.273) and full range or not."""

    data: bytes
    matrix: int
    full_range: bool


class Keeper:
    """Makes `Kept` from frames and pictures from `Kept`, for one film and one grid."""

    def __init__(self, info: FilmInfo, grid: Grid) -> None:
        self.size: Size = info.size_within(grid.height)
        self._quality = grid.quality
        self._upright: bool | None = None
        self._encoder: VideoCodecContext | None = None
        self._decoder: Any = None
        self._shrink: Any = None
        self._to_rgb: Any = None

    def keep(self, frame: Frame) -> Kept:
        """The frame, shrunk and compressed."""
        planes, matrix, full = self._planes(frame)
        if (encoder := self._encoder) is None:
            encoder = self._encoder = _encoder("mjpeg", self.size, "yuv420p")
            encoder.color_range, encoder.qmin, encoder.qmax = _FULL, self._quality, self._quality
            encoder.options = {"huffman": "default"}
        planes.pts, planes.time_base, planes.color_range = frame.index, Fraction(1, 1000), _FULL
        return Kept(b"".join(bytes(packet) for packet in encoder.encode(planes)), matrix, full)

    def image(self, frame: Frame, kept: Kept | None = None) -> Image:
        """The grid's picture of a frame, ``uint8[H, W, 3]``; ``kept``: of it, where it is at hand."""
        return self.picture(kept or self.keep(frame))

    def picture(self, kept: Kept) -> Image:
        """``uint8[H, W, 3]`` RGB of what was kept."""
        from av import CodecContext, Packet, VideoFrame
        from av.video.reformatter import Interpolation, VideoReformatter

        if self._decoder is None:
            self._decoder, self._to_rgb = CodecContext.create("mjpeg", "r"), VideoReformatter()
            self._decoder.thread_count = 1
        (decoded,) = self._decoder.decode(Packet(kept.data))
        planes = VideoFrame.from_ndarray(decoded.to_ndarray(format="yuvj420p"), "yuv420p")
        planes.colorspace = kept.matrix
        planes.color_range = _FULL if kept.full_range else _LIMITED
        image: Image = self._to_rgb.reformat(
            planes, format="rgb24", interpolation=Interpolation.BICUBIC, threads=1
        ).to_ndarray()
        return image

    def _planes(self, frame: Frame) -> tuple[VideoFrame, int, bool]:
        """4:2:0 planes of the upright picture, their matrix, and whether they are full range."""
        from av import VideoFrame
        from av.video.reformatter import Interpolation, VideoReformatter

        raw = frame.raw
        self._shrink = self._shrink or VideoReformatter()
        if self._upright is None and raw is not None:
            # Whether the film is shown as it is stored, which its first frame shows for all: asking every
            # frame would keep it alive until the collector of cycles comes by (PyAV 18.1: ``side_data``
            # refers back to its frame), 700 MB at 1080p.
            self._upright = turn_of(raw) == Orientation()
        # Planes may need nothing but shrinking to be the picture.
        if (
            raw is not None
            and self._upright
            and raw.format.name.startswith(("yuv", "nv12", "nv21"))
            and not (raw.format.is_rgb or raw.interlaced_frame)
            and light_of(raw) == "sdr"
        ):
            full = raw.color_range == _FULL or raw.format.name.startswith("yuvj")
            small = self._shrink.reformat(
                raw,
                *self.size,
                "yuv420p",
                dst_color_range=_FULL if full else _LIMITED,
                interpolation=Interpolation.AREA,
                threads=1,
            )
            if small is raw:  # as swscale gives it back where there is nothing to do; it will be written on
                small = VideoFrame.from_ndarray(small.to_ndarray(), "yuv420p")
            return small, matrix_of(raw), full
        painted = VideoFrame.from_ndarray(frame.rgb(self.size), "rgb24")
        small = self._shrink.reformat(
            painted, format="yuv420p", dst_colorspace=_BT709, dst_color_range=_FULL, threads=1
        )
        return small, _BT709, True


class LosslessKeeper:
    """Makes `Kept` from frames and pictures from `Kept`, at one size; the same interface as `Keeper`."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self._encoder: VideoCodecContext | None = None
        self._decoder: Any = None
        self._last: tuple[float, Image] | None = None

    def image(self, frame: Frame, kept: Kept | None = None) -> Image:
        """The picture of a frame at this size, ``uint8[H, W, 3]``."""
        if self._last is None or self._last[0] != frame.seconds:
            self._last = frame.seconds, frame.rgb(self.size)
        return self._last[1]

    def keep(self, frame: Frame) -> Kept:
        """The same, compressed."""
        from av import VideoFrame

        self._encoder = encoder = self._encoder or _encoder("qoi", self.size, "rgb24")
        picture = VideoFrame.from_ndarray(np.ascontiguousarray(self.image(frame)), "rgb24")
        return Kept(b"".join(bytes(packet) for packet in encoder.encode(picture)), 0, True)

    def picture(self, kept: Kept) -> Image:
        """``uint8[H, W, 3]`` RGB of what was kept."""
        from av import CodecContext, Packet

        if self._decoder is None:
            self._decoder = CodecContext.create("qoi", "r")
            self._decoder.thread_count = 1
        (decoded,) = self._decoder.decode(Packet(kept.data))
        image: Image = decoded.to_ndarray(format="rgb24")
        return image


def _encoder(name: str, size: Size, pixels: str) -> Any:
    """ffmpeg's encoder of that name, in one thread."""
    from av import CodecContext

    encoder: Any = CodecContext.create(name, "w")
    (encoder.width, encoder.height), encoder.pix_fmt = size, pixels
    encoder.time_base, encoder.thread_count = Fraction(1, 1000), 1
    return encoder
