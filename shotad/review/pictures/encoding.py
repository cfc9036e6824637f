"""A film's small copy, encoded anew: at most `LINES` high, H.264 and AAC in MP4.

There are no frames that refer to later ones, so that no edit list stands between its clock and the player's,
and every second a frame from which decoding can begin, so that seeking is quick.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from shotad.film import (
    Film,
    Frame,
    Samples,
    Size,
    Turn,
    choose_track,
    light_of,
    matrix_of,
    sound_blocks,
    turn_of,
)

if TYPE_CHECKING:
    from av import VideoFrame
    from av.audio.stream import AudioStream
    from av.container import OutputContainer
    from av.video.stream import VideoStream

LINES = 480
"""Of the copy's picture, at most."""

QUALITY = 26
"""x264's constant rate factor."""

BETWEEN_KEYS = 1.0
"""Seconds from one frame at which decoding can begin to the next, at most (a frame's length aside)."""

CLOCK = Fraction(1, 90_000)
RATE, BITS = 48_000, 128_000

_BT709, _LIMITED = 1, 1
_EVERY = 0.5
"""Film seconds between two reports of progress, at least."""

Report = Callable[[float], None]
"""Told the share that is done, 0 to 1."""


class Teller:
    """Tells how far a copy is: not at every frame, and not that it is done."""

    def __init__(self, length: float, report: Report) -> None:
        self._length, self._report, self._told = max(length, 1e-3), report, 0.0

    def reached(self, second: float) -> None:
        """The copy has come to this second of the film."""
        if second - self._told >= _EVERY:
            self._told = second
            self._report(min(0.99, second / self._length))


def encode(film: Film, track: int | None, output: OutputContainer, report: Report) -> None:
    """Write picture and sound of ``film`` to an open MP4 file; ``track`` as for `sound_blocks`."""
    frames = film.frames()
    first = next(frames)
    picture, teller = _Picture(output, first, film), Teller(film.info.duration, report)
    sound = EncodedSound(output, film, track) if choose_track(film.info, track) is not None else None
    for frame, until in _with_next(first, frames):
        picture.add(frame, until)
        if sound is not None:
            sound.up_to(frame.seconds)
        teller.reached(frame.seconds)
    picture.finish()
    if sound is not None:
        sound.finish()


def _with_next(first: Frame, frames: Iterator[Frame]) -> Iterator[tuple[Frame, float | None]]:
    """Each frame and when the next comes up; None after the last."""
    before = first
    for frame in frames:
        yield before, frame.seconds
        before = frame
    yield before, None


class _Picture:
    """The picture of the copy."""

    def __init__(self, output: OutputContainer, first: Frame, film: Film) -> None:
        self._output, self._film = output, film
        self._size: Size = film.info.size_within(LINES)
        self._upright = first.raw is not None and turn_of(first.raw) == Turn()
        self._matrix = matrix_of(first.raw) if first.raw is not None and self._plain(first) else _BT709
        self._stream = self._coder(first)
        self._due, self._last = 0.0, -1
        self._shrink: Any = None

    def _coder(self, first: Frame) -> VideoStream:
        rate = self._film.info.frame_rate or Fraction(25)
        options = {"preset": "veryfast", "crf": str(QUALITY), "forced-idr": "1", "bf": "0"}
        stream: Any = self._output.add_stream("libx264", rate=rate, options=options)
        stream.width, stream.height = self._size
        stream.pix_fmt = "yuv420p"
        stream.time_base = CLOCK
        context = stream.codec_context
        context.time_base = CLOCK
        # Only forced ones: they are counted in seconds, and frames may be of any length.
        context.gop_size = 100_000
        context.colorspace, context.color_range = self._matrix, _LIMITED
        if self._plain(first) and first.raw is not None:
            context.color_primaries, context.color_trc = first.raw.color_primaries, first.raw.color_trc
        else:
            context.color_primaries = context.color_trc = _BT709
        coder: VideoStream = stream
        return coder

    def add(self, frame: Frame, until: float | None) -> None:
        """One frame. The first is shown from second 0 on; of two within one tick the first stays."""
        from av.video.frame import PictureType

        # Half a tick early: a player that is sent to the frame's own second rounds, perhaps past it.
        stamp = 0 if self._last < 0 else math.floor(frame.seconds / CLOCK - 0.5)
        if stamp <= self._last:
            return
        self._last = stamp
        small = self._small(frame)
        small.pts, small.time_base = stamp, CLOCK
        length = until - frame.seconds if until is not None else self._shown_for(frame)
        small.duration = max(1, round(length / CLOCK))
        small.pict_type = PictureType.NONE
        if frame.seconds >= self._due or stamp == 0:
            small.pict_type, self._due = PictureType.I, frame.seconds + BETWEEN_KEYS
        self._output.mux(self._stream.encode(small))

    def finish(self) -> None:
        self._output.mux(self._stream.encode(None))

    def _shown_for(self, frame: Frame) -> float:
        """Seconds that the last frame is shown."""
        raw = frame.raw
        if raw is not None and raw.duration and raw.time_base is not None:
            return float(raw.duration * raw.time_base)
        return float(1 / (self._film.info.frame_rate or 25))

    def _plain(self, frame: Frame) -> bool:
        """Whether the planes need nothing but shrinking: upright, SDR, 4:2:0 and the like, progressive."""
        raw = frame.raw
        if raw is None or not self._upright or raw.interlaced_frame or light_of(raw) != "sdr":
            return False
        return raw.format.name.startswith(("yuv", "nv12", "nv21")) and not raw.format.is_rgb

    def _small(self, frame: Frame) -> VideoFrame:
        from av import VideoFrame
        from av.video.reformatter import Interpolation, VideoReformatter

        self._shrink = self._shrink or VideoReformatter()
        scale = partial(self._shrink.reformat, format="yuv420p", dst_color_range=_LIMITED, threads=1)
        if frame.raw is not None and self._plain(frame):
            raw = frame.raw
            small: VideoFrame = scale(
                raw,
                *self._size,
                src_colorspace=matrix_of(raw),
                dst_colorspace=self._matrix,
                interpolation=Interpolation.AREA,
            )
            return small if small is not raw else VideoFrame.from_ndarray(raw.to_ndarray(), "yuv420p")
        painted = VideoFrame.from_ndarray(frame.rgb(self._size), "rgb24")
        turned: VideoFrame = scale(painted, dst_colorspace=self._matrix)
        return turned


class EncodedSound:
    """The sound of the copy, stereo, laid out from second 0 on: late beginnings and gaps are silence."""

    def __init__(self, output: OutputContainer, film: Film, track: int | None) -> None:
        self._output = output
        blocks = sound_blocks(film, track, RATE, "stereo")
        self._blocks: Iterator[Samples] = (block.samples for block in blocks)
        self._stream: AudioStream = output.add_stream("aac", rate=RATE, layout="stereo")
        self._stream.codec_context.bit_rate = BITS
        self._given, self._over = 0, False

    @property
    def end(self) -> float:
        """The second up to which it has come."""
        return self._given / RATE

    def up_to(self, second: float) -> None:
        """Write what sounds before ``second``, so that it stands beside its picture in the file."""
        while not self._over and self.end <= second:
            samples = next(self._blocks, None)
            if samples is None:
                self._over = True
            else:
                self._add(samples)

    def _add(self, samples: Samples) -> None:
        from av import AudioFrame
        from numpy import ascontiguousarray, clip

        planes = ascontiguousarray(clip(samples, -1, 1).T)
        frame = AudioFrame.from_ndarray(planes, format="fltp", layout="stereo")
        frame.sample_rate, frame.time_base, frame.pts = RATE, Fraction(1, RATE), self._given
        self._given += len(samples)
        self._output.mux(self._stream.encode(frame))

    def finish(self) -> None:
        """Write the rest."""
        self.up_to(math.inf)
        self._output.mux(self._stream.encode(None))
