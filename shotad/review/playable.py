"""What today's browsers play, by container, codecs and clock of the film, and how a copy for them is made.

Said to be played is what Chromium and Firefox play; a browser that does not (Safari plays AV1 on new devices
only) reports an error of the video element, and gets a copy. Not said to be is also what would only *seem* to
play: Chromium plays a film whose sound it cannot decode without sound, and one whose picture it cannot decode
as sound alone, and reports no error; and films whose second 0 browsers put elsewhere than `shotad` does, so
that lines would stand beside their pictures.

A copy is H.264 and AAC in MP4. Encoded, its picture is at most `LINES` high. There are no frames that refer
to later ones, so that no edit list stands between its clock and the player's, and every second a frame from
which decoding can begin, so that seeking is quick.

With the picture as it is, packets move from one container into another. That is a matter of seconds, not of
the film's length, and right for most films that browsers do not play: H.264 in Matroska, or in MP4 with a
clock that does not begin at 0. Sound is re-encoded, sixty times as fast as it is heard. Whatever turns out
on the way not to fit is `Uncopyable`, and the picture is encoded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import chain, pairwise
from typing import Any

import av
import numpy as np
from av import AudioFrame, Packet, VideoFrame
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.stream import Discard
from av.video.frame import PictureType
from av.video.reformatter import Interpolation, VideoReformatter
from av.video.stream import VideoStream

from shotad.core import Config, FilmInfo
from shotad.core.errors import FilmError
from shotad.film import (
    Film,
    Frame,
    Samples,
    find_media,
    sound_blocks,
)
from shotad.film.audio import choose_track
from shotad.film.colour import (
    Orientation,
    frame_light,
    frame_matrix,
    frame_orientation,
)
from shotad.film.container import (
    as_fraction,
    is_cover,
    packets_of,
    timeline_of,
)
from shotad.film.reader import Size
from shotad.review.messages import Sentence, message, said_by

MOST_OFF = 0.02
"""Seconds by which the browser's second 0 may lie beside the film's: half a frame of 25 a second."""

_MP4, _WEBM = "video/mp4", "video/webm"

_PICTURES = {
    _MP4: ("h264", "vp9", "libvpx-vp9", "av1", "libdav1d", "libaom-av1"),
    _WEBM: ("vp8", "libvpx", "vp9", "libvpx-vp9", "av1", "libdav1d", "libaom-av1"),
}
_SOUNDS = {_MP4: ("aac", "mp3", "mp3float"), _WEBM: ("vorbis", "libvorbis", "opus", "libopus")}
_PROFILES = (66, 77, 88, 100)
"""Of H.264 (``avcC``, ISO/IEC 14496-15): baseline, main, extended, high."""


def browser_kind(info: FilmInfo, config: Config | None = None) -> tuple[str, Sentence]:
    """The media type of the film that ``info`` is of, and why browsers do not play it with the run's audio
    track; that is empty where they do.

    Reads the head of the film. A film that cannot be read any more is not played.
    """
    if info.path is None or info.video_codec == "stills":
        return "", message("browser.pictures")
    try:
        media = find_media(info.path)
        head = media.read_at(0, 64)
        container = media.open()
    except (FilmError, OSError) as trouble:
        return "", said_by(trouble) if isinstance(trouble, FilmError) else str(trouble)
    try:
        name, names = container.format.long_name, container.format.name.split(",")
        # WebM and Matroska differ by what their head says
        if "mp4" in names:
            kind = _MP4
        elif "webm" in names and b"\x42\x82\x84webm" in head:
            kind = _WEBM
        else:
            name = "Matroska" if "matroska" in container.format.name else name
            return "", message("browser.container", kind=name)
        why = _picture(container, kind)
    finally:
        container.close()
    if not why:
        track = choose_track(info, config.film.audio_track if config is not None else None)
        if track is not None and track.number != 0:
            why = message("browser.track", track=str(track))
        elif track is not None and track.codec not in _SOUNDS[kind]:
            why = message("browser.sound", codec=track.codec)
        elif timeline_of(container) is not None:
            why = message("browser.clock_jumps")
        elif abs(info.start) > MOST_OFF:
            why = message("browser.clock_begins", seconds=round(float(info.start), 2))
    return kind, why


def _picture(container: InputContainer, kind: str) -> Sentence:
    """Why browsers do not play the picture; empty where they do."""
    streams = [s for s in container.streams.video if not is_cover(s)]
    if len(streams) != 1:
        return message("browser.picture_tracks", count=len(streams))
    context: Any = streams[0].codec_context
    name = context.name if context is not None else "unknown"
    if name not in _PICTURES[kind]:
        return message("browser.picture", codec=name)
    extra = bytes(context.extradata or b"")
    if name == "h264" and context.pix_fmt not in ("yuv420p", "yuvj420p"):
        return message("browser.pixels", format=str(context.pix_fmt))
    if name == "h264" and len(extra) >= 4 and extra[0] == 1 and extra[1] not in _PROFILES:
        return message("browser.profile", profile=str(extra[1]))
    return ""


LINES = 480
"""Of the copy's picture, at most."""

QUALITY = 26
"""x264's constant rate factor."""

BETWEEN_KEYS = 1.0
"""Seconds from one frame at which decoding can begin to the next, at most (a frame's length aside)."""

CLOCK = Fraction(1, 90_000)
RATE, BITS = 48_000, 128_000

_BT709, _LIMITED = 1, 1
PlaybackReport = Callable[[float], None]
"""Told the share that is done, 0 to 1."""


class Teller:
    """Tells how far a copy is at each hundredth, and not that it is done."""

    def __init__(self, length: float, report: PlaybackReport) -> None:
        self._length, self._report, self._told = max(length, 1e-3), report, 0.0

    def reached(self, second: float) -> None:
        share = min(0.99, second / self._length)
        if share - self._told >= 0.01:
            self._told = share
            self._report(share)


def encode(film: Film, track: int | None, output: OutputContainer, report: PlaybackReport) -> None:
    """Write picture and sound of ``film`` to an open MP4 file; ``track`` as for `sound_blocks`."""
    frames = film.frames()
    first = next(frames)
    picture, teller = _Picture(output, first, film), Teller(film.info.duration, report)
    sound = EncodedSound(output, film, track)
    for frame, after in pairwise(chain([first], frames, [None])):
        if frame is not None:
            picture.add(frame, None if after is None else after.seconds)
            sound.up_to(frame.seconds)
            teller.reached(frame.seconds)
    picture.finish()
    sound.finish()


class _Picture:
    """The picture of the copy."""

    def __init__(self, output: OutputContainer, first: Frame, film: Film) -> None:
        self._output, self._film = output, film
        self._size: Size = film.info.size_within(LINES)
        self._upright = first.raw is not None and frame_orientation(first.raw) == Orientation()
        self._matrix = frame_matrix(first.raw) if first.raw is not None and self._plain(first) else _BT709
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
        self._stream = coder
        self._due, self._last = 0.0, -1
        self._shrink = VideoReformatter()

    def add(self, frame: Frame, until: float | None) -> None:
        """One frame. The first is shown from second 0 on; of two within one tick the first stays."""
        # Half a tick early: a player that is sent to the frame's own second rounds, perhaps past it.
        stamp = 0 if self._last < 0 else math.floor(frame.seconds / CLOCK - 0.5)
        if stamp <= self._last:
            return
        self._last = stamp
        small = self._small(frame)
        small.pts, small.time_base = stamp, CLOCK
        raw, rate = frame.raw, self._film.info.frame_rate
        if until is not None:
            length = until - frame.seconds
        elif raw is not None and raw.duration and raw.time_base is not None:
            length = float(raw.duration * raw.time_base)
        else:
            length = float(1 / (rate or 25))
        small.duration = max(1, round(length / CLOCK))
        small.pict_type = PictureType.NONE
        if frame.seconds >= self._due or stamp == 0:
            small.pict_type, self._due = PictureType.I, frame.seconds + BETWEEN_KEYS
        self._output.mux(self._stream.encode(small))

    def finish(self) -> None:
        self._output.mux(self._stream.encode(None))

    def _plain(self, frame: Frame) -> bool:
        """Whether the planes need nothing but shrinking: upright, SDR, 4:2:0 and the like, progressive."""
        raw = frame.raw
        if raw is None or not self._upright or raw.interlaced_frame or frame_light(raw) != "sdr":
            return False
        return raw.format.name.startswith(("yuv", "nv12", "nv21")) and not raw.format.is_rgb

    def _small(self, frame: Frame) -> VideoFrame:
        scale = partial(self._shrink.reformat, format="yuv420p", dst_color_range=_LIMITED, threads=1)
        if frame.raw is not None and self._plain(frame):
            raw = frame.raw
            small: VideoFrame = scale(
                raw,
                *self._size,
                src_colorspace=frame_matrix(raw),
                dst_colorspace=self._matrix,
                interpolation=Interpolation.AREA,
            )
            return small if small is not raw else VideoFrame.from_ndarray(raw.to_ndarray(), "yuv420p")
        painted = VideoFrame.from_ndarray(frame.rgb(self._size), "rgb24")
        turned: VideoFrame = scale(painted, dst_colorspace=self._matrix)
        return turned


class EncodedSound:
    """The sound of the copy, stereo, laid out from second 0 on: late beginnings and gaps are silence. A film
    without sound gets none."""

    def __init__(self, output: OutputContainer, film: Film, track: int | None) -> None:
        self._output, self._given = output, 0
        self._stream: AudioStream | None = None
        if choose_track(film.info, track) is not None:
            blocks = sound_blocks(film, track, RATE, "stereo")
            self._blocks: Iterator[Samples] = (block.samples for block in blocks)
            self._stream = output.add_stream("aac", rate=RATE, layout="stereo")
            self._stream.codec_context.bit_rate = BITS

    @property
    def end(self) -> float:
        """The second up to which it has come."""
        return self._given / RATE

    def up_to(self, second: float) -> None:
        """Write what sounds before ``second``, so that it stands beside its picture in the file."""
        while self._stream is not None and self.end <= second:
            if (samples := next(self._blocks, None)) is None:
                return
            planes = np.ascontiguousarray(np.clip(samples, -1, 1).T)
            frame = AudioFrame.from_ndarray(planes, format="fltp", layout="stereo")
            frame.sample_rate, frame.time_base, frame.pts = RATE, Fraction(1, RATE), self._given
            self._given += len(samples)
            self._output.mux(self._stream.encode(frame))

    def finish(self) -> None:
        self.up_to(math.inf)
        if self._stream is not None:
            self._output.mux(self._stream.encode(None))


MOST_BYTES = 8 << 30
"""A film that is larger is encoded small: 8 GiB are two hours at 9 Mbit/s."""

MOST_OF_DISK = 0.5
"""Of the free space, at most so much is taken by a copy that is as large as the film."""

COPIED = ("h264", "vp9")
"""Codecs whose packets may be copied: what all browsers play."""

CONTAINERS = frozenset({"mov", "matroska"})
"""Whose times can be trusted packet by packet (``matroska`` is WebM as well)."""

USUAL = 3600
"""Ticks from one frame to the next where the film does not say."""

SHORT = 1.0
"""Seconds by which both tracks may end before the container says so, and the film still be whole."""


class Uncopyable(Exception):  # noqa: N818  no error: the film is encoded instead
    """The packets of the picture cannot be taken as they are."""


def copies_picture(film: Film, free: int) -> bool:
    """Whether the film's picture may be copied, where ``free`` bytes are left on the disk."""
    info, media = film.info, film.media
    if media is None or media.size > min(MOST_BYTES, MOST_OF_DISK * free):
        return False
    if info.rotation or info.interlaced or info.hdr or info.pixel_aspect != 1:
        return False
    if info.video_codec not in COPIED:
        return False
    container = media.open()
    try:
        is_copyable_container = not CONTAINERS.isdisjoint(container.format.name.split(","))
        return is_copyable_container and not _picture(container, _MP4)
    finally:
        container.close()


def remux(film: Film, track: int | None, output: OutputContainer, report: PlaybackReport) -> str | None:
    """Copy the picture into an open MP4 file, and encode the sound; what is damaged, if anything. Raises
    Uncopyable."""
    assert film.media is not None
    source = film.media.open()
    try:
        video: Any = next(s for s in source.streams.video if not is_cover(s))
        for stream in source.streams:
            if stream is not video:
                stream.discard = Discard.all
        picture = CopiedPicture(output, video, film.info.start)
        sound, teller = EncodedSound(output, film, track), Teller(film.info.duration, report)
        for packet in _packets(source):
            if packet.stream_index != video.index or packet.size == 0:
                continue
            if packet.is_corrupt:
                raise Uncopyable("a packet is damaged")
            picture.add(packet)
            sound.up_to(picture.end)
            teller.reached(picture.end)
        picture.finish()
        sound.finish()
    finally:
        source.close()
    end = max(picture.end, sound.end)
    if film.info.duration - end > SHORT:
        return f"The film ends at {end:.1f} s of {film.info.duration:.1f} s: it is cut off or damaged."
    return None


def _packets(source: Any) -> Iterator[Packet[Any]]:
    """All packets up to where the film can no more be read."""
    with suppress(av.error.FFmpegError, OSError):
        yield from packets_of(source)


class CopiedPicture:
    """The picture of the copy, each frame at its own second."""

    def __init__(self, output: OutputContainer, source: Any, start: Fraction) -> None:
        self._output, self._start = output, start
        self._stream: Any = output.add_stream_from_template(source, opaque=True)
        self._stream.time_base = CLOCK
        self._waiting: list[tuple[Packet[Any], int]] = []
        self._first: int | None = None
        self._last: int | None = None
        self.end = 0.0

    def add(self, packet: Packet[Any]) -> None:
        """One more packet, in the order of decoding."""
        base = as_fraction(packet.time_base)
        if packet.pts is None or base is None:
            raise Uncopyable("a frame of the picture has no time")
        shown = self._stamp(packet.pts, base)
        if self._first is None:
            if not packet.is_keyframe:
                return
            self._first = shown
        elif shown <= self._first:
            # Before the first frame that can be decoded nothing can be shown.
            return
        length = (packet.duration or 0) * base
        self.end = max(self.end, float(shown * CLOCK + length))
        packet.duration = round(length / CLOCK)
        self._waiting.append((packet, shown))
        if packet.dts is not None:
            self._write(self._stamp(packet.dts, base))

    def finish(self) -> None:
        """Write what is left. Raises Uncopyable where there is nothing."""
        if self._last is None or self._waiting:
            raise Uncopyable("the picture cannot be read, or has no times of decoding")

    def _stamp(self, time: int, base: Fraction) -> int:
        # Half a tick early: a player that is sent to the frame's own second rounds, perhaps past it.
        return math.floor((time * base - self._start) / CLOCK - Fraction(1, 2))

    def _write(self, decoded: int) -> None:
        """Write all that waits, the last of which is decoded at that time, those before a frame before."""
        for packet, shown in reversed(self._waiting):
            packet.dts, packet.pts = decoded, 0 if shown == self._first else shown
            decoded -= max(1, packet.duration or USUAL)
        for packet, _ in self._waiting:
            dts, pts = packet.dts or 0, packet.pts or 0
            if self._last is None:
                # The first is shown from second 0 on, and as long before decoded as it was: players take the
                # distance for that of all, and would else show a key frame for those just before it.
                dts = min(dts - (self._first or 0), pts)
            elif dts <= self._last:
                dts = self._last + 1
            if dts > pts:
                raise Uncopyable("a frame of the picture is shown before it is decoded")
            packet.dts = self._last = dts
            packet.time_base, packet.stream = CLOCK, self._stream
            try:
                self._output.mux(packet)
            except (av.error.ArgumentError, av.error.InvalidDataError) as error:
                raise Uncopyable(str(error)) from None
        self._waiting.clear()
