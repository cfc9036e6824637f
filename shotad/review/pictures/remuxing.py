"""A film's copy with the picture as it is: packets move from one container into another, nothing is decoded.

That is a matter of seconds, not of the film's length, and right for most films that browsers do not play:
H.264 and AAC in Matroska, or in MP4 with a clock that does not begin at 0. Sound is copied too where it runs
from about second 0 on without a gap, and encoded anew otherwise. Whatever turns out on the way not to fit is
`Uncopyable`, and the picture is then encoded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from shotad.film import Film, choose_track, exact, is_cover
from shotad.review.pictures.encoding import CLOCK, EncodedSound, Report, Teller
from shotad.review.pictures.playable import plays_picture

if TYPE_CHECKING:
    from av import Packet
    from av.container import OutputContainer

MOST_BYTES = 8 << 30
"""A film that is larger is encoded small: 8 GiB are two hours at 9 Mbit/s."""

MOST_OF_DISK = 0.5
"""Of the free space, at most so much is taken by a copy that is as large as the film."""

CONTAINERS = frozenset({"mov", "matroska"})
"""Whose times can be trusted packet by packet (``matroska`` is WebM as well)."""

USUAL = 3600
"""Ticks from one frame to the next where the film does not say."""

MOST_LATE = 0.04
"""Seconds after which sound may begin and still be copied."""

SLACK = 0.012
"""Seconds by which a packet of sound may stand beside where the count of samples has it."""

SHORT = 1.0
"""Seconds by which both tracks may end before the container says so, and the film still be whole."""


class Uncopyable(Exception):  # noqa: N818  no error: the film is encoded instead
    """The packets of a track cannot be taken as they are; ``sound``: only those of the sound."""

    def __init__(self, why: str, *, sound: bool = False) -> None:
        super().__init__(why)
        self.sound = sound


def copies_picture(film: Film, free: int) -> bool:
    """Whether the film's picture may be copied, where ``free`` bytes are left on the disk."""
    info, media = film.info, film.media
    if media is None or media.size > min(MOST_BYTES, MOST_OF_DISK * free):
        return False
    if info.rotation or info.interlaced or info.hdr or info.pixel_aspect != 1:
        return False
    container = media.open()
    try:
        known = not CONTAINERS.isdisjoint(container.format.name.split(","))
        return known and plays_picture(container)
    finally:
        container.close()


def copies_sound(film: Film, track: int | None) -> bool:
    """Whether the film's sound may be copied: AAC, with what a decoder must know at hand."""
    chosen = choose_track(film.info, track)
    if chosen is None or chosen.codec != "aac" or film.media is None:
        return False
    container = film.media.open()
    try:
        context: Any = container.streams.audio[chosen.number].codec_context
        return context is not None and len(bytes(context.extradata or b"")) >= 2 and context.frame_size > 0
    finally:
        container.close()


def remux(
    film: Film, track: int | None, output: OutputContainer, report: Report, *, with_sound: bool
) -> str | None:
    """Copy the picture into an open MP4 file, and the sound as well or (``with_sound`` False) encode that;
    what is damaged, if anything. Raises Uncopyable."""
    assert film.media is not None
    chosen = choose_track(film.info, track)
    source = film.media.open()
    try:
        video: Any = next(s for s in source.streams.video if not is_cover(s))
        audio: Any = source.streams.audio[chosen.number] if chosen is not None and with_sound else None
        _only(source, video, audio)
        tracks: dict[int, _Track] = {video.index: CopiedPicture(output, video, film.info.start)}
        if audio is not None:
            tracks[audio.index] = CopiedSound(output, audio, film.info.start)
        encoded = EncodedSound(output, film, track) if chosen is not None and audio is None else None
        _copy(source, tracks, encoded, Teller(film.info.duration, report))
    finally:
        source.close()
    end = max(*(one.end for one in tracks.values()), encoded.end if encoded is not None else 0.0)
    if film.info.duration - end > SHORT:
        return f"The film ends at {end:.1f} s of {film.info.duration:.1f} s: it is cut off or damaged."
    return None


def _copy(source: Any, tracks: dict[int, _Track], encoded: EncodedSound | None, teller: Teller) -> None:
    for packet in _packets(source):
        track = tracks.get(packet.stream_index)
        if track is None or packet.size == 0:
            continue
        if packet.is_corrupt:
            raise Uncopyable("a packet is damaged")
        track.add(packet)
        if isinstance(track, CopiedPicture):
            if encoded is not None:
                encoded.up_to(track.end)
            teller.reached(track.end)
    for track in tracks.values():
        track.finish()
    if encoded is not None:
        encoded.finish()


def _only(source: Any, *wanted: Any) -> None:
    from av.stream import Discard

    for stream in source.streams:
        if stream not in wanted:
            stream.discard = Discard.all


def _mux(output: OutputContainer, packet: Packet[Any], *, sound: bool = False) -> None:
    import av

    try:
        output.mux(packet)
    except (av.error.ArgumentError, av.error.InvalidDataError) as error:
        raise Uncopyable(str(error), sound=sound) from None


def _packets(source: Any) -> Iterator[Packet[Any]]:
    """All packets up to where the film can no more be read."""
    import av

    packets = source.demux()
    while True:
        try:
            packet = next(packets, None)
        except (av.error.FFmpegError, OSError):
            return
        if packet is None:
            return
        yield packet


class _Track(Protocol):
    """A track on its way. ``end`` is the second up to which it has come."""

    end: float

    def add(self, packet: Packet[Any]) -> None: ...

    def finish(self) -> None: ...


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
        base = exact(packet.time_base)
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
            _mux(self._output, packet)
        self._waiting.clear()


class CopiedSound:
    """The sound of the copy, its times counted in samples."""

    def __init__(self, output: OutputContainer, source: Any, start: Fraction) -> None:
        self._output, self._start = output, start
        context = source.codec_context
        self._base, self._size = Fraction(1, context.sample_rate), context.frame_size
        self._stream: Any = output.add_stream_from_template(source, opaque=True)
        self._stream.time_base = self._base
        self._first: int | None = None
        self._count = 0
        self.end = 0.0

    def add(self, packet: Packet[Any]) -> None:
        """One more packet."""
        base = exact(packet.time_base)
        if packet.pts is None or base is None:
            raise Uncopyable("a packet of the sound has no time", sound=True)
        seconds = packet.pts * base - self._start
        if self._first is None:
            if not -MOST_LATE <= seconds <= MOST_LATE:
                raise Uncopyable("the sound begins late", sound=True)
            self._first = round(seconds / self._base)
        at = self._first + self._count * self._size
        if abs(seconds - at * self._base) > SLACK:
            raise Uncopyable("the sound has a gap", sound=True)
        self._count += 1
        self.end = float((at + self._size) * self._base)
        packet.pts = packet.dts = at
        packet.duration, packet.time_base, packet.stream = self._size, self._base, self._stream
        _mux(self._output, packet, sound=True)

    def finish(self) -> None:
        """Nothing is left. Raises Uncopyable where there was nothing."""
        if self._first is None:
            raise Uncopyable("the sound cannot be read", sound=True)
