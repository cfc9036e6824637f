"""Frames kept on the disk, so that looking again does not decode the film again.

A `Pack` finds frames by a moment. It is two files in a folder: ``frames.pack`` holds the frames end to end,
``frames.index`` a line of JSON that says what they are of, then a record for each moment. Kept frames are a
convenience: what is not there, or has been lost or damaged (records carry check sums), is decoded from the
film, with the same pixels (`shotad.film.frame_cache.Frames`).

For the fixed grid of moments a frame is a small JPEG. A kept frame and one decoded later give the same
pixels, because both go the same way: shrunk planes, JPEG, planes, RGB. The planes of an ordinary film are
stored as they are, in its own matrix and range, so that keeping a frame costs no colour conversion; only what
is looked at is converted. Frames that are read exactly are kept as their RGB is: QOI, a third as large, takes
ten times as long.
"""

from __future__ import annotations

import json
import math
import struct
import threading
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shotad.core import FilmInfo, Image
from shotad.core.errors import WorkFolderError
from shotad.core.files import (
    append_to_file,
    check_held_folder,
    open_file,
    refuse_special,
    remove_file,
    truncate_file,
)
from shotad.film.colour import Orientation, frame_light, frame_matrix, frame_orientation
from shotad.film.reader import Frame, Size

if TYPE_CHECKING:
    from av import VideoFrame
    from av.video.codeccontext import VideoCodecContext

_BT709, _FULL, _LIMITED = 1, 2, 1


TICKS = 8
"""Moments of the grid to a second, from second 0 on: dense looking. The picture for a second is that of the
frame on the screen at the nearest of them (the later of two as near)."""
QUALITY = 3
"""By ffmpeg's scale for JPEG, on which 2 is best."""


def nearest_tick(second: float) -> int:
    """The nearest tick, 0 or more: 0.06 → 0, 0.0625 → 1, 1.0 → 8."""
    return max(0, math.floor(second * TICKS + 0.5))


def tick_second(tick: int) -> float:
    """The moment of a tick."""
    return tick / TICKS


@dataclass(frozen=True, slots=True)
class KeptFrames:
    """A frame as it is kept: its RGB, or JPEG of its planes, which are BT.``matrix`` (H.273), full range or
    not."""

    data: bytes
    matrix: int
    full_range: bool


class FrameKeeper:
    """Makes `KeptFrames` from frames and pictures from `KeptFrames`, for one film, at most ``height`` lines
    high.
    """

    def __init__(self, info: FilmInfo, height: int) -> None:
        self.size: Size = info.size_within(height)
        self._upright: bool | None = None
        self._encoder: VideoCodecContext | None = None
        self._decoder: Any = None
        self._shrink: Any = None
        self._to_rgb: Any = None

    def keep(self, frame: Frame) -> KeptFrames:
        """The frame, shrunk and compressed."""
        planes, matrix, full = self._planes(frame)
        if (encoder := self._encoder) is None:
            encoder = self._encoder = _encoder(self.size)
            encoder.color_range, encoder.qmin, encoder.qmax = _FULL, QUALITY, QUALITY
            encoder.options = {"huffman": "default"}
        planes.pts, planes.time_base, planes.color_range = frame.index, Fraction(1, 1000), _FULL
        return KeptFrames(b"".join(bytes(packet) for packet in encoder.encode(planes)), matrix, full)

    def image(self, frame: Frame, kept_frame: KeptFrames | None = None) -> Image:
        """The grid's picture of a frame, ``uint8[H, W, 3]``, from ``kept_frame`` if it is kept already."""
        return self.picture(kept_frame or self.keep(frame))

    def picture(self, kept_frame: KeptFrames) -> Image:
        """``uint8[H, W, 3]`` RGB of what was kept."""
        from av import CodecContext, Packet, VideoFrame
        from av.video.reformatter import Interpolation, VideoReformatter

        if self._decoder is None:
            self._decoder, self._to_rgb = CodecContext.create("mjpeg", "r"), VideoReformatter()
            self._decoder.thread_count = 1
        (decoded,) = self._decoder.decode(Packet(kept_frame.data))
        planes = VideoFrame.from_ndarray(decoded.to_ndarray(format="yuvj420p"), "yuv420p")
        planes.colorspace = kept_frame.matrix
        planes.color_range = _FULL if kept_frame.full_range else _LIMITED
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
            self._upright = frame_orientation(raw) == Orientation()
        # Planes may need nothing but shrinking to be the picture.
        if (
            raw is not None
            and self._upright
            and raw.format.name.startswith(("yuv", "nv12", "nv21"))
            and not (raw.format.is_rgb or raw.interlaced_frame)
            and frame_light(raw) == "sdr"
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
            return small, frame_matrix(raw), full
        painted = VideoFrame.from_ndarray(frame.rgb(self.size), "rgb24")
        small = self._shrink.reformat(
            painted, format="yuv420p", dst_colorspace=_BT709, dst_color_range=_FULL, threads=1
        )
        return small, _BT709, True


class RawKeeper:
    """Makes `KeptFrames` from frames and pictures from `KeptFrames`, at one size; the same interface as
    `FrameKeeper`.
    """

    def __init__(self, size: Size) -> None:
        self.size = size

    def keep(self, frame: Frame) -> KeptFrames:
        """The picture of a frame at this size, as it is."""
        return KeptFrames(frame.rgb(self.size).tobytes(), 0, True)

    def picture(self, kept_frame: KeptFrames) -> Image:
        """``uint8[H, W, 3]`` RGB of what was kept."""
        width, height = self.size
        return np.frombuffer(kept_frame.data, np.uint8).reshape(height, width, 3).copy()


def _encoder(size: Size) -> Any:
    """ffmpeg's encoder of JPEG, in one thread."""
    from av import CodecContext

    encoder: Any = CodecContext.create("mjpeg", "w")
    (encoder.width, encoder.height), encoder.pix_fmt = size, "yuv420p"
    encoder.time_base, encoder.thread_count = Fraction(1, 1000), 1
    return encoder


NAME = "frames"
"""Of the files."""


_RECORD = struct.Struct("<ddQIIBB")
"""moment, second of the frame, offset and length in the pack, check sum, matrix, full range."""


class FrameEntry(NamedTuple):
    """Where a frame lies in the pack, the second at which it comes up, and what is told of it."""

    seconds: float
    offset: int
    length: int
    check: int
    matrix: int
    full_range: bool


class Pack:
    """The frames of one ``head``, which names the film and how it is read. Holds no file open.

    Several threads may fill and read it. Where the disk fails nothing is kept any more, the room is given
    back, and ``stopped`` says why. Beyond ``limit`` bytes (None: none) it begins again with the next frame,
    so that it holds those kept last.
    """

    def __init__(self, folder: Path, head: Mapping[str, Any], limit: int | None = None) -> None:
        self._pack, self._index = folder / f"{NAME}.pack", folder / f"{NAME}.index"
        self._head = json.dumps({"format": 4, **head}, sort_keys=True).encode() + b"\n"
        self._limit = limit
        self.places: dict[float, FrameEntry] = {}
        """Moment → place."""
        self.stopped: str | None = None
        self._written = 0
        self._last: FrameEntry | None = None
        self._whole: int | None = None
        """Bytes of the index that are whole; None where the files are of something else, or none."""
        self._lock = threading.RLock()
        """Held while the files change."""
        try:
            with open_file(self._index) as file:
                if file.readline() != self._head:
                    return
                data = file.read()
            refuse_special(self._pack)
            pack_size = self._pack.stat().st_size
        except (OSError, WorkFolderError):
            return
        whole = len(data) - len(data) % _RECORD.size
        for row, (moment, *fields, full) in enumerate(_RECORD.iter_unpack(data[:whole])):
            place = FrameEntry._make((*fields, bool(full)))
            if place.length == 0:
                # No frame is empty: a power cut may leave zeros where the disk had not written yet.
                whole = row * _RECORD.size
                break
            if place.offset + place.length <= pack_size:
                self.places[moment] = place
        self._whole, self._written = len(self._head) + whole, pack_size

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in (self._pack, self._index) if path.exists())

    def put(self, moment: float, seconds: float, kept_frame: KeptFrames) -> None:
        """Keep the frame for a moment, shown from ``seconds`` on; the same twice in a row is kept once."""
        with self._lock:
            if self.stopped is not None or moment in self.places:
                return
            if self._limit is not None and self._written + len(kept_frame.data) > self._limit:
                self.begin()
            place, data = self._last, b""
            if place is None or place.seconds != seconds:
                data = kept_frame.data
                check = zlib.crc32(data)
                place = FrameEntry(
                    seconds, self._written, len(data), check, kept_frame.matrix, kept_frame.full_range
                )
            # The pack always before the index that points into it.
            if self._append(data, _RECORD.pack(moment, *place)):
                self._written += len(data)
                self._last = self.places[moment] = place

    def get(self, moment: float) -> tuple[float, KeptFrames] | None:
        """The frame kept for a moment and the second at which it came up; None where it cannot be read."""
        place = self.places.get(moment)
        if place is None:
            return None
        try:
            with open_file(self._pack) as file:
                file.seek(place.offset)
                data = file.read(place.length)
        except (OSError, WorkFolderError):
            data = b""
        # A run that was given up may have added to the pack meanwhile, or the pack began again.
        if len(data) != place.length or zlib.crc32(data) != place.check:
            self._forget(moment, place)
            return None
        return place.seconds, KeptFrames(data, place.matrix, place.full_range)

    def _forget(self, moment: float, place: FrameEntry) -> None:
        with self._lock:
            if self.places.get(moment) is place:
                del self.places[moment]
            if self._last is place:
                self._last = None

    def _append(self, data: bytes, rows: bytes) -> bool:
        try:
            if self._whole is None:
                # New files, not emptied ones: somebody may still be reading the old.
                self._unlink()
                rows = self._head + rows
            elif self._index.stat().st_size > self._whole:
                # Cut off within a record, where the run was killed: more is added after the whole ones.
                truncate_file(self._index, self._whole)
            _add(self._pack, data)
            _add(self._index, rows)
        except (OSError, WorkFolderError) as error:
            check_held_folder(self._pack)
            self.begin()
            self.stopped = getattr(error, "what", None) or getattr(error, "strerror", None) or str(error)
            return False
        self._whole = (self._whole or 0) + len(rows)
        return True

    def begin(self) -> None:
        """Keep nothing of what there is, and start again."""
        with self._lock:
            self.stopped = None
            try:
                self.clear()
            except OSError as error:
                self.stopped = error.strerror or str(error)

    def clear(self) -> None:
        """Keep nothing of what there is."""
        with self._lock:
            self.places, self._last = {}, None
            self._whole, self._written = None, 0
            self._unlink()

    def _unlink(self) -> None:
        for path in (self._index, self._pack):
            remove_file(path)


class NoPack(Pack):
    """A pack that keeps nothing, for who only reads and does not hold the work folder."""

    def __init__(self) -> None:
        self.places, self.stopped = {}, "nothing is kept"

    def put(self, moment: float, seconds: float, kept_frame: KeptFrames) -> None:
        """Keep nothing."""

    def clear(self) -> None:
        """There is nothing to delete."""


def _add(path: Path, data: bytes) -> None:
    append_to_file(path, data)
