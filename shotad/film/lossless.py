"""Pictures kept without loss, for frames that are read exactly: RGB as QOI (ffmpeg's), each for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import Image
from shotad.film.grid import Kept
from shotad.film.reader import Frame, Size

if TYPE_CHECKING:
    from av.video.codeccontext import VideoCodecContext


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

        encoder = self._encoder or self._new_encoder()
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

    def _new_encoder(self) -> VideoCodecContext:
        from fractions import Fraction

        from av import CodecContext

        encoder: Any = CodecContext.create("qoi", "w")
        encoder.width, encoder.height = self.size
        encoder.pix_fmt, encoder.time_base, encoder.thread_count = "rgb24", Fraction(1, 1000), 1
        self._encoder = encoder
        return self._encoder
