"""What ffmpeg's libraries leave out of a described film's tracks, put there in place once the file is
written.

To MP4 and MOV they write a track's title as ``name``, which few players read, no roles of tracks to MOV,
nothing of what Apple's players know audio description by, and they switch on the first text track, so that
players show it unasked. So a title is given to them with as many bytes behind it as the other boxes need
(`TrackBoxes.title_with_room`), and those bytes become the boxes: no box changes its size or place.

In MPEG-TS they mark the language as that of a commentary for people who do not see (ISO/IEC 13818-1,
``ISO_639_language_descriptor``), by which a receiver may play the track over the film's own sound. Whether
the film is in it is said by DVB's ``supplementary_audio_descriptor`` (ETSI EN 300 468), which they do not
write. The table that holds it, the PMT, is followed by filler in its packet, so nothing moves.

Sources: ISO/IEC 14496-12 (``udta``, ``kind``, ``tkhd``, ``mdhd``), Apple's QuickTime File Format (``tagc``,
tagged media characteristics; ``©nam`` and ``©cmt``, user data text).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

_FILLER = "\x01"
_ENABLED_FLAG = 1
_DESCRIPTION_ROLE = b"urn:mpeg:dash:role:2011\0description\0"
_DESCRIBES_VIDEO = b"public.accessibility.describes-video"


@dataclass(frozen=True, slots=True)
class TrackBoxes:
    """What one track is to say of itself.

    ``describes``: it is the sound of audio description; ``role``: it is to have the role of a description,
    which the libraries do not write themselves; ``shown``: whether players start with it (None: as it is).
    ``language``: three letters, for which the libraries know no more than the Macintosh's numbers in MOV.
    ``remark``: what else to know of it.
    """

    title: str
    describes: bool = False
    role: bool = False
    shown: bool | None = None
    language: str = ""
    remark: str = ""

    @property
    def title_with_room(self) -> str:
        return self.title + _FILLER * len(self._more()) if self.title else ""

    def boxes(self) -> bytes:
        """All boxes that stand where ``name`` stood with the title that has room."""
        return _box(b"name", self.title.encode()) + self._more()

    def _more(self) -> bytes:
        more = _box(b"kind", b"\0\0\0\0" + _DESCRIPTION_ROLE) if self.role else b""
        if self.describes:
            more += _box(b"tagc", _DESCRIBES_VIDEO)
        # Last, for there are readers that stop at a name with such a sign in it.
        more += _text_box(b"\xa9nam", self.title)
        return more + _text_box(b"\xa9cmt", self.remark) if self.remark else more


def mark_tracks(path: Path, tracks: Mapping[int, TrackBoxes]) -> None:
    """Put the boxes into a finished file; tracks are counted from 0 in the order of their ``trak``.

    Raises ValueError where the file is not laid out as it must be.
    """
    with path.open("r+b") as file:
        at, start, end, size = 0, 0, 0, path.stat().st_size
        while not start and at + 8 <= size:
            file.seek(at)
            head = file.read(16)
            length, header = int.from_bytes(head[:4]), 8
            if length == 1:  # sizes may have 64 bits
                length, header = int.from_bytes(head[8:16]), 16
            if head[4:8] == b"moov":
                start, end = at + header, at + length
            at += length if length >= header else size
        if not start:
            raise ValueError("there is no moov")
        file.seek(start)
        movie = bytearray(file.read(end - start))
        traks = [place for kind, place in _boxes_within(movie, 0, len(movie)) if kind == b"trak"]
        for number, boxes in tracks.items():
            _mark_track(movie, traks[number], boxes)
        file.seek(start)
        file.write(movie)


_Span = tuple[int, int]
"""From and to which byte a box's content stands, half-open."""


def _mark_track(movie: bytearray, trak: _Span, boxes: TrackBoxes) -> None:
    if boxes.shown is not None:
        flags = _child(movie, trak, b"tkhd")[0] + 3
        movie[flags] = movie[flags] | _ENABLED_FLAG if boxes.shown else movie[flags] & ~_ENABLED_FLAG
    if len(boxes.language) == 3 and boxes.language.isascii() and boxes.language.islower():
        start, _ = _child(movie, _child(movie, trak, b"mdia"), b"mdhd")
        # After version and flags: three times and a duration, of 32 bits or in version 1 of 64 but the third.
        at = start + (32 if movie[start] == 1 else 20)
        movie[at : at + 2] = sum(
            (ord(c) - 0x60) << 5 * (2 - i) for i, c in enumerate(boxes.language)
        ).to_bytes(2)
    if boxes.title:
        start, end = _child(movie, _child(movie, trak, b"udta"), b"name")
        content = boxes.boxes()
        if bytes(movie[start:end]) != boxes.title_with_room.encode() or len(content) != end - start + 8:
            raise ValueError(f"a track's name is not what was written: {bytes(movie[start:end])!r}")
        movie[start - 8 : end] = content


def _child(data: bytearray, inside: _Span, kind: bytes) -> _Span:
    for child_kind, place in _boxes_within(data, *inside):
        if child_kind == kind:
            return place
    raise ValueError(f"a track has no {kind.decode()}")


def _boxes_within(data: bytearray, start: int, end: int) -> Iterator[tuple[bytes, _Span]]:
    while start + 8 <= end:
        size = int.from_bytes(data[start : start + 4])
        if size < 8:
            return
        yield bytes(data[start + 4 : start + 8]), (start + 8, start + size)
        start += size


def _text_box(kind: bytes, words: str) -> bytes:
    """A box of words; the language that they are in is "und", five bits a letter."""
    return _box(kind, len(words.encode()).to_bytes(2) + b"\x55\xc4" + words.encode())


def _box(kind: bytes, content: bytes) -> bytes:
    return (len(content) + 8).to_bytes(4) + kind + content


_PACKET_SIZE = 188
_PACKETS_A_READ = 1 << 16
"""Packets that are looked at together: 12 MiB."""

_EXTENSION_TAG, _SUPPLEMENTARY_AUDIO = 0x7F, 0x06


def mark_programme(path: Path, language: str, mixed: bool, timed: bool = False) -> int:
    """Say of the AD in a transport stream whether it has the film's sound in it; how many tables were marked.

    ``language`` has three letters; ``timed``: packets have a time before them, as in M2TS. The AD is the last
    track of the table. Tables without room for the mark, those of films with very many tracks, are left as
    they are.
    """
    added = supplementary_descriptor(language, mixed)
    marked, table = 0, -1
    with path.open("r+b") as file:
        size = _PACKET_SIZE + 4 if timed else _PACKET_SIZE
        at = 0
        while data := file.read(size * _PACKETS_A_READ):
            packets = np.frombuffer(data[: len(data) // size * size], np.uint8).reshape(-1, size)
            packets = packets[:, size - _PACKET_SIZE :]
            pids = (packets[:, 1].astype(np.uint16) & 0x1F) << 8 | packets[:, 2]
            # The PID of the PMT of the first programme, by the PAT.
            for packet in (row.tobytes() for row in packets[pids == 0] if table < 0):
                start = _section_start(packet)
                if start is not None and packet[start] == 0:
                    table = (packet[start + 10] & 0x1F) << 8 | packet[start + 11]
                    break
            for row in np.flatnonzero(pids == table) if table > 0 else ():
                changed = with_descriptor(packets[row].tobytes(), added)
                if changed is not None:
                    file.seek(at + int(row) * size + size - _PACKET_SIZE)
                    file.write(changed)
                    marked += 1
            at += len(data)
            file.seek(at)
    return marked


def supplementary_descriptor(language: str, mixed: bool) -> bytes:
    """The descriptor: audio description, complete by itself or to be heard with the film's sound."""
    kinds = (0x80 if mixed else 0) | 1 << 2 | 2 | 1
    code = language.encode("ascii", "replace")[:3].ljust(3)
    return bytes((_EXTENSION_TAG, 5, _SUPPLEMENTARY_AUDIO, kinds)) + code


def with_descriptor(packet: bytes, added: bytes) -> bytes | None:
    """A packet with a PMT whose last track has one more descriptor; None where that cannot be."""
    start = _section_start(packet)
    if start is None:
        return None
    length = 3 + _twelve_bits(packet, start + 1)
    section, filler = packet[start : start + length], packet[start + length :]
    if len(section) < length or len(filler) < len(added) or filler[: len(added)].strip(b"\xff"):
        return None
    longer = _extended_section(section, added)
    return None if longer is None else packet[:start] + longer + filler[len(added) :]


@cache
def _extended_section(section: bytes, added: bytes) -> bytes | None:
    # Where the last track's entry begins in the PMT.
    last, at = 0, 12 + _twelve_bits(section, 10)
    while at + 5 <= len(section) - 4:
        last, at = at, at + 5 + _twelve_bits(section, at + 3)
    if not last:
        return None
    body = bytearray(section[:-4] + added)
    for place in (1, last + 3):
        number = _twelve_bits(section, place) + len(added)
        body[place : place + 2] = (section[place] & 0xF0 | number >> 8, number & 0xFF)
    return bytes(body) + crc(bytes(body)).to_bytes(4)


def _section_start(packet: bytes) -> int | None:
    """Where a table begins in a packet; None where none does."""
    begins, filled, has_payload = packet[1] & 0x40, packet[3] & 0x20, packet[3] & 0x10
    at = 4 + (1 + packet[4] if filled else 0)
    if not (begins and has_payload) or at >= _PACKET_SIZE:
        return None
    start = at + 1 + packet[at]
    return start if start + 12 <= _PACKET_SIZE else None


def _twelve_bits(data: bytes, at: int) -> int:
    return (data[at] & 0x0F) << 8 | data[at + 1]


def crc(data: bytes) -> int:
    """The checksum of a table: CRC-32 of ISO/IEC 13818-1, annex A."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ (0x04C11DB7 if value & 0x80000000 else 0)) & 0xFFFFFFFF
    return value
