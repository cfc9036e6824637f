"""Copied packets: put on film time, woven together by it, and named by their payload.

Each gets a decoding time that a muxer takes. A copy of a track in another container has the same name, for a
container's way of packing a coded picture is no part of it: H.264 and its like stand in MP4 and Matroska
behind their lengths and in MPEG-TS behind start codes, with parameter sets and delimiters among them that the
others keep in a header; AAC has a header of its own there for each frame (ADTS).
"""

from __future__ import annotations

import hashlib
import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shotad.core import Task
from shotad.sound.ad_tracks import Converter, Copied
from shotad.sound.containers import Container

if TYPE_CHECKING:
    from av import Packet

MICROSECOND = Fraction(1, 1_000_000)


@dataclass(slots=True, eq=False)
class Way:
    """The way of one of the film's tracks into the described film."""

    stream: Any
    clock: Clock
    payload: Payload
    converter: Converter | None
    source: int
    kind: str
    hidden: bool
    begin: float | None = None

    def send(self, packet: Packet[Any]) -> Iterator[Packet[Any]]:
        """What goes into the new track for a packet of the old one."""
        if self.converter is not None:
            yield from self.converter.convert(packet)
            return
        if is_pause(self.payload.codec, memoryview(packet)):
            return
        self.payload.add(memoryview(packet))
        if packet.pts is not None and packet.time_base:
            second = packet.pts * packet.time_base.numerator / packet.time_base.denominator
            self.begin = second if self.begin is None else min(self.begin, second)
        packet.stream = self.stream
        yield packet

    def copied(self) -> Copied:
        found = self.payload
        return Copied(self.source, self.kind, found.codec, found.packets, found.digest, self.begin)


def write_woven(output: Any, tracks: Iterable[Iterator[Packet[Any]]], duration: float, task: Task) -> None:
    """Write the packets of several tracks in the order of their time, each taken when it is wanted; at one
    moment those of the first track go first. ``task`` counts the seconds up to ``duration``."""
    done = 0.0
    for packet in heapq.merge(*tracks, key=second_of):
        moment = second_of(packet)
        output.mux(packet)
        if done < moment <= duration:
            task.advance(moment - done)
            done = moment


def second_of(packet: Packet[Any]) -> float:
    moment = packet.dts if packet.dts is not None else packet.pts
    base = packet.time_base or MICROSECOND
    return (moment or 0) * base.numerator / base.denominator


LONGEST = 64
"""Packets that are held at most until one says when it is decoded: four times as far as coders reorder."""


class Clock:
    """Puts one track's packets on film time, which is the container's less its ``start`` (exact seconds).

    Where packets do not say when to decode them (Matroska does not), that is worked out from those
    that do; a decoding time that does not ascend, which no muxer takes, is moved behind the one before.
    """

    def __init__(self, start: Fraction, time_base: Fraction, rate: Fraction | None) -> None:
        self._shift = round(start / time_base)
        self._step = max(1, round(1 / (rate * time_base))) if rate else 1
        self._held: deque[Packet[Any]] = deque()
        self._last: int | None = None

    def take(self, packet: Packet[Any]) -> Iterator[Packet[Any]]:
        """The packets that can be written after one more has come."""
        if packet.pts is not None:
            packet.pts -= self._shift
        if packet.dts is not None:
            packet.dts -= self._shift
        if self._last is None and packet.dts is None and len(self._held) < LONGEST:
            self._held.append(packet)
            return
        yield from self._released(packet.dts)
        yield self._mended(packet)

    def rest(self) -> Iterator[Packet[Any]]:
        yield from self._released(None)

    def _released(self, known: int | None) -> Iterator[Packet[Any]]:
        """Held packets, decoded just before ``known``; where that is None, as late as their display lets."""
        held = list(self._held)
        self._held.clear()
        times: list[int | None] = [None] * len(held)
        shown = [packet.pts for packet in held if packet.pts is not None]
        if known is not None:
            for number in reversed(range(len(held))):
                known -= held[number].duration or self._step
                times[number] = known
        elif len(shown) == len(held):
            ordered = sorted(shown)
            early = max((due - at for due, at in zip(ordered, shown, strict=True)), default=0)
            times = [due - early for due in ordered]
        for packet, moment in zip(held, times, strict=True):
            packet.dts = moment
            yield self._mended(packet)

    def _mended(self, packet: Packet[Any]) -> Packet[Any]:
        if packet.dts is None and self._last is None:
            # A cover, which is outside of time.
            packet.dts = packet.pts or 0
        elif packet.dts is None and self._last is not None:
            after = self._last + (packet.duration or self._step)
            packet.dts = after if packet.pts is None else min(after, packet.pts)
        if self._last is not None and packet.dts is not None and packet.dts <= self._last:
            packet.dts = self._last + 1
        if packet.pts is None or (packet.dts is not None and packet.pts < packet.dts):
            packet.pts = packet.dts
        self._last = packet.dts
        return packet


def unheard(stream: Any, packet: Packet[Any], start: Fraction, hidden: bool) -> bool:
    """Whether a packet is one of sound that ends before the film starts and could only be heard by mistake.

    MP4 and MOV hide what coders need before the first sample, and what was cut away, by a list of edits.
    ``hidden``: the new container does so too. Elsewhere such packets would put all else later by their length
    (an AAC coder's 1024 or 2112 samples), so they are left out there; no player lets them be heard.
    """
    if hidden or stream.type != "audio" or packet.pts is None or not packet.time_base:
        return False
    base, end = packet.time_base, packet.pts + (packet.duration or 0)
    return end * base.numerator * start.denominator <= start.numerator * base.denominator


def hides(stream: Any, container: Container) -> bool:
    """Whether a container can say of a copied track of sound that its beginning is not to be heard.

    Matroska can for as many samples as the coder needs, which the libraries know where the film says it.
    """
    known = stream.codec_context is not None and stream.codec_context.delay > 0
    return container.boxes or (container.hides and known)


_KINDS: dict[str, Callable[[int], int]] = {
    "h264": lambda head: head & 0x1F,
    "hevc": lambda head: head >> 1 & 0x3F,
}
_LEFT_OUT = {"h264": frozenset({7, 8, 9, 12}), "hevc": frozenset({32, 33, 34, 35, 38})}
"""Parameter sets, access unit delimiters and filler: types of NAL units (ITU-T H.264, H.265: tables 7-1)."""

_START = b"\x00\x00\x01"


class Payload:
    """Counts and names the packets of a track. ``extra`` is the track's own header (extradata)."""

    def __init__(self, codec: str, extra: bytes | None) -> None:
        self.codec, self.packets = codec, 0
        self._sum = hashlib.blake2b(digest_size=16)
        # Bytes that a unit's length has by ``avcC`` or ``hvcC``; 0 where start codes are used.
        self._lengths, at = 0, 4 if codec == "h264" else 21
        if codec in _KINDS and extra is not None and extra[:1] == b"\x01" and len(extra) > at:
            self._lengths = (extra[at] & 3) + 1
        self._whole = not codec.startswith("pcm_")

    def add(self, data: bytes | memoryview) -> None:
        """One more packet. The empty ones that MP4 has between subtitles are none, nor are those of PCM,
        which are cut again by each container."""
        if is_pause(self.codec, data):
            return
        self.packets += 1 if self._whole else 0
        if self.codec in _KINDS:
            for unit in self._units(bytes(data)):
                self._sum.update(unit)
            return
        if self.codec == "aac":
            data = bytes(data)
            if len(data) > 9 and data[0] == 0xFF and data[1] & 0xF6 == 0xF0:
                # Without its ADTS header, which is 7 bytes, or 9 with a checksum (ISO/IEC 13818-7).
                length = (data[3] & 3) << 11 | data[4] << 3 | data[5] >> 5
                data = data[7 if data[1] & 1 else 9 :] if length == len(data) else data
        self._sum.update(data)

    @property
    def digest(self) -> str:
        """The name of all packets so far, in their order: 32 hex digits."""
        return self._sum.hexdigest()

    def _units(self, data: bytes) -> Iterator[bytes]:
        units, at = data.split(_START)[1:], 0
        if self._lengths:
            units.clear()
            while at + self._lengths < len(data):
                first = at + self._lengths
                at = first + int.from_bytes(data[at:first])
                units.append(data[first:at])
        kind, out = _KINDS[self.codec], _LEFT_OUT[self.codec]
        # Bytes after a unit that are all zero belong to no unit; start codes may follow them.
        for unit in (one.rstrip(b"\x00") for one in units):
            # The coder's remark on itself, which x265 puts into the header too; from there it comes again
            # with each key frame in MPEG-TS. (Prefix SEI, user data unregistered: H.265, annex D.)
            is_remark = self.codec == "hevc" and len(unit) > 2 and unit[0] >> 1 == 39 and unit[2] == 5
            if unit and kind(unit[0]) not in out and not is_remark:
                yield unit


def is_pause(codec: str, data: bytes | memoryview) -> bool:
    """Whether a packet says that no subtitle is shown, as there must be one in MP4 between two subtitles."""
    return codec == "mov_text" and bytes(data[:2]) in (b"", b"\0\0")
