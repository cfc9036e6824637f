"""What ffmpeg's libraries leave out of a track of MP4 and MOV, put there in place once the file is written.

They write a track's title as ``name``, which few players read, no roles of tracks to MOV, nothing of what
Apple's players know audio description by, and they switch on the first text track of a file, so that players
show it unasked. So a title is given to them with as many bytes behind it as the boxes besides will need
(`TrackBoxes.title_with_room`), and those bytes become the boxes: no box changes its size or place.

Sources: ISO/IEC 14496-12 (``udta``, ``kind``, ``tkhd``, ``mdhd``), Apple's QuickTime File Format (``tagc``,
tagged media characteristics; ``©nam`` and ``©cmt``, user data text). 3GPP's ``titl`` is read neither by
ffmpeg's libraries nor by MediaInfo.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_ROOM = "\x01"
_ENABLED = 1
_ROLE = b"urn:mpeg:dash:role:2011\0description\0"
_DESCRIBES = b"public.accessibility.describes-video"


@dataclass(frozen=True, slots=True)
class TrackBoxes:
    """What one track is to say of itself.

    ``describes``: it is the sound of audio description; ``role``: it is to have the role of a description,
    which the libraries do not write themselves; ``shown``: whether players start with it (None: as it is).
    ``language``: three letters, for which the libraries know no more than the Macintosh's numbers in MOV.
    ``remark``: what else is to be known of it.
    """

    title: str
    describes: bool = False
    role: bool = False
    shown: bool | None = None
    language: str = ""
    remark: str = ""

    @property
    def title_with_room(self) -> str:
        """The title to give to the libraries."""
        return self.title + _ROOM * len(self._more()) if self.title else ""

    def boxes(self) -> bytes:
        """All boxes that stand where ``name`` stood with the title that has room."""
        return _box(b"name", self.title.encode()) + self._more()

    def _more(self) -> bytes:
        more = _box(b"kind", b"\0\0\0\0" + _ROLE) if self.role else b""
        if self.describes:
            more += _box(b"tagc", _DESCRIBES)
        # Last, for there are readers that stop at a name with such a sign in it.
        more += _said(b"\xa9nam", self.title)
        return more + _said(b"\xa9cmt", self.remark) if self.remark else more


def mark_tracks(path: Path, tracks: Mapping[int, TrackBoxes]) -> None:
    """Put the boxes into a finished file; tracks are counted from 0 in the order of their ``trak``.

    Raises ValueError where the file is not laid out as it must be.
    """
    with path.open("r+b") as file:
        start, end = _only(file, b"moov", 0, path.stat().st_size)
        file.seek(start)
        movie = bytearray(file.read(end - start))
        traks = [place for kind, place in _within(movie, 0, len(movie)) if kind == b"trak"]
        for number, boxes in tracks.items():
            _mark(movie, traks[number], boxes)
        file.seek(start)
        file.write(movie)


_Place = tuple[int, int]
"""From and to which byte a box's content stands, half-open."""


def _mark(movie: bytearray, trak: _Place, boxes: TrackBoxes) -> None:
    if boxes.shown is not None:
        flags = _child(movie, trak, b"tkhd")[0] + 3
        movie[flags] = movie[flags] | _ENABLED if boxes.shown else movie[flags] & ~_ENABLED
    if len(boxes.language) == 3 and boxes.language.isascii() and boxes.language.islower():
        start, _ = _child(movie, _child(movie, trak, b"mdia"), b"mdhd")
        # After version and flags: three times and a duration, of 32 bits or in version 1 of 64 but the third.
        at = start + (32 if movie[start] == 1 else 20)
        movie[at : at + 2] = sum(
            (ord(c) - 0x60) << 5 * (2 - i) for i, c in enumerate(boxes.language)
        ).to_bytes(2)
    if boxes.title:
        start, end = _child(movie, _child(movie, trak, b"udta"), b"name")
        made = boxes.boxes()
        if bytes(movie[start:end]) != boxes.title_with_room.encode() or len(made) != end - start + 8:
            raise ValueError(f"a track's name is not what was written: {bytes(movie[start:end])!r}")
        movie[start - 8 : end] = made


def _child(data: bytearray, inside: _Place, kind: bytes) -> _Place:
    for found, place in _within(data, *inside):
        if found == kind:
            return place
    raise ValueError(f"a track has no {kind.decode()}")


def _within(data: bytearray, start: int, end: int) -> Iterator[tuple[bytes, _Place]]:
    while start + 8 <= end:
        size = int.from_bytes(data[start : start + 4])
        if size < 8:
            return
        yield bytes(data[start + 4 : start + 8]), (start + 8, start + size)
        start += size


def _only(file: BinaryIO, kind: bytes, start: int, end: int) -> _Place:
    """The content of a file's own box of that kind; sizes may have 64 bits."""
    while start + 8 <= end:
        file.seek(start)
        head = file.read(16)
        size, header = int.from_bytes(head[:4]), 8
        if size == 1:
            size, header = int.from_bytes(head[8:16]), 16
        if head[4:8] == kind:
            return start + header, start + size
        start += size if size >= header else end
    raise ValueError(f"there is no {kind.decode()}")


def _said(kind: bytes, words: str) -> bytes:
    """A box of words; the language that they are in is "und", five bits a letter."""
    return _box(kind, len(words.encode()).to_bytes(2) + b"\x55\xc4" + words.encode())


def _box(kind: bytes, content: bytes) -> bytes:
    return (len(content) + 8).to_bytes(4) + kind + content
