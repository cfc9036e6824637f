"""The payload of a track, named so that a copy of it in another container has the same name.

A container's way of packing a coded picture is no part of it: H.264 and its like stand in MP4 and Matroska
behind their lengths and in MPEG-TS behind start codes, with parameter sets and delimiters among them that the
others keep in a header; AAC has a header of its own there for each frame (ADTS).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

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
        self._lengths = _length_size(codec, extra or b"")
        self._whole = not codec.startswith("pcm_")

    def add(self, data: bytes | memoryview) -> None:
        """One more packet. The empty ones that MP4 has between subtitles are none, nor are those of PCM,
        which are cut anew by each container."""
        if is_pause(self.codec, data):
            return
        self.packets += 1 if self._whole else 0
        if self.codec in _KINDS:
            for unit in self._units(bytes(data)):
                self._sum.update(unit)
        elif self.codec == "aac":
            self._sum.update(_without_adts(bytes(data)))
        else:
            self._sum.update(data)

    @property
    def digest(self) -> str:
        """The name of all packets so far, in their order: 32 hex digits."""
        return self._sum.hexdigest()

    def _units(self, data: bytes) -> Iterator[bytes]:
        units = _counted(data, self._lengths) if self._lengths else _started(data)
        kind, out = _KINDS[self.codec], _LEFT_OUT[self.codec]
        return (
            unit
            for unit in units
            if unit and kind(unit[0]) not in out and not _is_signature(self.codec, unit)
        )


def is_pause(codec: str, data: bytes | memoryview) -> bool:
    """Whether a packet says that no subtitle is shown, as there must be one in MP4 between two subtitles."""
    return codec == "mov_text" and bytes(data[:2]) in (b"", b"\0\0")


def _is_signature(codec: str, unit: bytes) -> bool:
    """Whether a unit is the coder's remark on itself, which x265 puts into the header too; from there it
    comes again with each key frame in MPEG-TS. (Prefix SEI, user data unregistered: H.265, annex D.)"""
    return codec == "hevc" and len(unit) > 2 and unit[0] >> 1 == 39 and unit[2] == 5


def _length_size(codec: str, extra: bytes) -> int:
    """How many bytes a unit's length has by ``avcC`` or ``hvcC``; 0 where start codes are used."""
    if codec not in _KINDS or extra[:1] != b"\x01":
        return 0
    at = 4 if codec == "h264" else 21
    return (extra[at] & 3) + 1 if len(extra) > at else 0


def _counted(data: bytes, size: int) -> Iterator[bytes]:
    at = 0
    while at + size < len(data):
        length = int.from_bytes(data[at : at + size])
        at += size
        # Bytes after a unit that are all zero belong to no unit; start codes may follow them.
        yield data[at : at + length].rstrip(b"\x00")
        at += length


def _started(data: bytes) -> Iterator[bytes]:
    for unit in data.split(_START)[1:]:
        yield unit.rstrip(b"\x00")


def _without_adts(data: bytes) -> bytes:
    """An AAC frame without its ADTS header, which is 7 bytes, or 9 with a checksum (ISO/IEC 13818-7)."""
    if len(data) > 9 and data[0] == 0xFF and data[1] & 0xF6 == 0xF0:
        length = (data[3] & 3) << 11 | data[4] << 3 | data[5] >> 5
        if length == len(data):
            return data[7 if data[1] & 1 else 9 :]
    return data
