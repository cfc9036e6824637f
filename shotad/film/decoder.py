"""One decode of a film's picture: frames with their seconds, seeking, and what went wrong.

A graphics device may decode, through ffmpeg's hardware decoders. What it gives is brought back to the layout
that the processors' decoders give, which changes no sample. H.264, HEVC, VP9 and AV1 leave a decoder no
freedom, so all that is made of the frames is the same; older codecs do (their inverse transforms may round
differently), and are left to the processors.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shotad.core.errors import FilmError
from shotad.core.memory_errors import is_out_of_memory
from shotad.film.container import Media, packets_of, skip_other_streams, timeline_of
from shotad.film.reader import TOLERANCE

if TYPE_CHECKING:
    from av import Packet, VideoFrame
    from av.codec.hwaccel import HWAccel
    from av.video.stream import VideoStream

    VideoPacket = Packet[VideoStream]

SEEK_GAIN = 0.5
"""Seconds of decoding that a seek must spare where the container's index shows what it would spare. A
seek itself costs as much as decoding 0.15 to 0.2 s (480p VP8 to 1080p H.264, two threads)."""

SEEK_BLIND = 2.0
"""Without an index: a gap must be this many times the longest distance of key frames seen so far."""

SEEK_BLIND_LEAST = 4.0
"""… and at least this many seconds."""

STEP_BACK = 1.0
"""Seconds by which frames may step back in time without more than these frames being left out."""

SEEKABLE = frozenset(
    {"mov", "matroska", "mpegts", "avi", "flv", "nut", "ogg", "asf", "mxf", "ivf", "yuv4mpegpipe"}
)
"""Containers in which frames bear the right times after a seek, as tested. In an MPEG programme stream
(DVD, .mpg) they do not: few frames carry a time there, and a seek makes ffmpeg guess the others. Films
in other containers are decoded through."""

INDEXED = frozenset({"mov", "matroska", "avi"})
"""Containers that carry an index of key frames; elsewhere ffmpeg's is only what it came across."""


class Decoder:
    """An open container and where its picture stands; iterating gives ``(seconds, frame)``.

    Seconds ascend strictly. ``errors`` are the seconds of the last good frame before something that
    could not be decoded; ``stopped`` says why the film could not be read to its end, if so.
    ``threads`` is how many the decoder may use, for a frame each; 0 leaves that to ffmpeg. ``hardware``
    decodes instead.
    """

    def __init__(
        self,
        media: Media,
        stream: int,
        start: Fraction,
        rate: Fraction | None,
        *,
        threads: int = 0,
        hardware: HWAccel | None = None,
    ) -> None:
        self._media, self._number, self._start, self._rate = media, stream, start, rate
        self._threads, self._hardware = threads, hardware
        self.errors: list[float] = []
        self.stopped: str | None = None
        self.key_distance = 0.0
        self._last_key: float | None = None
        self._open()

    def _open(self) -> None:
        self._container = self._media.open(self._hardware)
        self._stream = self._container.streams.video[self._number]
        # Where threads share a frame (slices), damage may go untold.
        self._stream.thread_type = {0: "AUTO", 1: "NONE"}.get(self._threads, "FRAME")
        self._stream.codec_context.thread_count = self._threads
        skip_other_streams(self._container, self._stream)
        base = self._stream.time_base or Fraction(1, 1_000_000)
        # seconds = (pts * up - zero) / down, in whole numbers until the last step
        self._down = base.denominator * self._start.denominator
        self._up = base.numerator * self._start.denominator
        self._zero = self._start.numerator * base.denominator
        kinds = self._container.format.name.split(",")
        self.seekable = not SEEKABLE.isdisjoint(kinds) and timeline_of(self._container) is None
        self._indexed = not INDEXED.isdisjoint(kinds)
        self._frames = self._decode()

    def __iter__(self) -> Iterator[tuple[float, VideoFrame]]:
        return self._frames

    def __next__(self) -> tuple[float, VideoFrame]:
        return next(self._frames)

    def close(self) -> None:
        """Let go of the container."""
        self._frames.close()
        self._container.close()

    def restart(self) -> None:
        """Stand before the first frame again."""
        self.close()
        self._open()

    def length(self, frame: VideoFrame) -> float:
        """Seconds that a frame is shown by its own account, else by the film's rate, else 1/25."""
        duration = getattr(frame, "duration", None)
        if duration:
            return float(duration * self._up / self._down)
        return float(1 / self._rate) if self._rate else 0.04

    def _decode(self) -> Generator[tuple[float, VideoFrame], None, None]:
        self._last = last = -math.inf
        # A frame that comes much later than the one before, until the next shows whether its time is right.
        held: tuple[float, VideoFrame] | None = None
        for frame in self._raw_frames():
            if frame.pts is not None:
                seconds = (frame.pts * self._up - self._zero) / self._down
            else:
                self.seekable = False
                step = float(1 / self._rate) if self._rate else 0.04
                seconds = last + step if math.isfinite(last) else 0.0
            if held is not None:
                if last < seconds < held[0] - STEP_BACK:
                    self.errors.append(last)
                else:
                    last = self._last = held[0]
                    yield self._shown(*held)
                held = None
            if seconds <= last:
                # Frames twice in the stream, or clocks that step back for a moment.
                if last - seconds > STEP_BACK:
                    self.stopped = "its clock jumps back"
                    return
                continue
            if seconds - last > STEP_BACK and math.isfinite(last):
                held = seconds, frame
                continue
            last = self._last = seconds
            yield self._shown(seconds, frame)
        if held is not None:
            self._last = held[0]
            yield self._shown(*held)

    def _shown(self, seconds: float, frame: VideoFrame) -> tuple[float, VideoFrame]:
        """A frame with its seconds as it is given, once it is sure that it is."""
        if frame.key_frame:
            if self._last_key is not None and seconds > self._last_key:
                self.key_distance = max(self.key_distance, seconds - self._last_key)
            self._last_key = seconds
        if frame.is_corrupt:
            self.errors.append(seconds)
        return seconds, frame if self._hardware is None else planes_of(frame)

    def _raw_frames(self) -> Iterator[VideoFrame]:
        import av

        packets = packets_of(self._container, self._stream)
        while True:
            packet: VideoPacket | None = None
            try:
                packet = next(packets, None)
            except (av.error.FFmpegError, OSError) as error:
                if is_out_of_memory(error):
                    raise
                self.stopped = str(getattr(error, "strerror", None) or error)
                # What is inside the decoder can still be shown.
            try:
                yield from self._stream.decode(packet)
            except av.error.EOFError:
                return
            except av.error.FFmpegError as error:
                # No damage of the film: what follows could not be decoded either, and would be missing.
                if is_out_of_memory(error):
                    raise
                self.errors.append(self._last)
            if packet is None or packet.size == 0:
                return

    def worth_seeking(self, now: float, target: float) -> bool:
        """Whether seeking from ``now`` to ``target`` costs less than decoding what lies between.

        Yes if the index has a key frame at or before ``target`` that lies more than `SEEK_GAIN`
        seconds after ``now``. Where the index does not reach that far: if the gap is longer than
        `SEEK_BLIND` times the longest distance of key frames seen, and `SEEK_BLIND_LEAST` seconds.
        """
        if not self.seekable or target - now <= SEEK_GAIN:
            return False
        entries = self._stream.index_entries
        stamp = self._stamp(target)
        if self._indexed and len(entries) and entries[-1].timestamp >= stamp:
            entry_index = entries.search_timestamp(stamp, backward=True)
            if entry_index < 0:
                return False
            key = (entries[entry_index].timestamp * self._up - self._zero) / self._down
            return key - now > SEEK_GAIN
        return target - now > max(SEEK_BLIND_LEAST, SEEK_BLIND * self.key_distance)

    def land(self, target: float) -> tuple[float, VideoFrame]:
        """Stand on a frame at or before ``target`` from which decoding is right, and give it.

        After a seek, frames before the first key frame may lack what they refer to (open GOP) and are
        passed over; where the first good frame comes too late, the seek is made again from further
        back, at last from the film's start.
        """
        import av

        back = 0.0
        while self.seekable and target - back > 0:
            try:
                self._container.seek(self._stamp(target - back), stream=self._stream)
            except (av.error.FFmpegError, OSError) as error:
                if is_out_of_memory(error):
                    raise
                break
            self._last_key = None
            self._frames = self._decode()
            keyframe = next((shown for shown in self._frames if shown[1].key_frame), None)
            if keyframe is not None and keyframe[0] <= target + TOLERANCE:
                return keyframe
            back = max(1.0, self.key_distance, 2 * back)
        self.restart()
        return next(self._frames)

    def _stamp(self, seconds: float) -> int:
        return math.floor((seconds * self._down + self._zero) / self._up)


EXACT_CODECS = frozenset({"h264", "hevc", "vp9", "av1", "libdav1d"})
"""Codecs whose decoders must agree to the last bit."""

PREFERRED = ("cuda", "videotoolbox", "vaapi", "d3d11va", "qsv")
"""Devices in the order in which ``auto`` tries them."""

_PLANES = {"nv12": "yuv420p", "p010le": "yuv420p10le", "p012le": "yuv420p12le"}


def hardware_for(media: Media, stream: int, device: str) -> tuple[HWAccel | None, str | None]:
    """The device that decodes a film's picture, if one does, and what a user should be told if not.

    ``device`` is ``cpu``, ``auto`` or a device's name. It is tried with the film's first frame.
    """
    if device == "cpu":
        return None, None
    from av.codec.hwaccel import hwdevices_available

    devices_here = hwdevices_available()
    reasons = []
    for name in PREFERRED if device == "auto" else (device,):
        reason = (
            _trouble(media, stream, name)
            if name in devices_here
            else "this build of ffmpeg has no such device"
        )
        if reason is None:
            return _device(name), None
        reasons.append(f"{name}: {reason}")
    note = f"The picture is decoded by the processors, for no device can ({'; '.join(reasons)})."
    return None, note


def planes_of(frame: VideoFrame) -> VideoFrame:
    """A device's frame with planes as the processors' decoders give them; any other frame as it is."""
    pixel_format = _PLANES.get(frame.format.name)
    return frame if pixel_format is None else frame.reformat(format=pixel_format)


def _device(name: str) -> HWAccel:
    from av.codec.hwaccel import HWAccel

    return HWAccel(device_type=name, allow_software_fallback=True)


def _trouble(media: Media, stream: int, name: str) -> str | None:
    """Why a device cannot decode the film; None where it can."""
    import av

    try:
        with media.open(_device(name)) as container:
            video: Any = container.streams.video[stream]
            if video.codec_context.name not in EXACT_CODECS:
                return f"{video.codec_context.name} is left to the processors"
            if not video.codec_context.is_hwaccel:
                return f"it does not decode {video.codec_context.name}"
            frame = next(container.decode(video), None)
            return None if frame is not None and frame.format.name in _PLANES else "it gives no frame"
    except FilmError:
        return "it cannot be opened on this machine"
    except (av.error.FFmpegError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        return str(getattr(error, "strerror", None) or error)
