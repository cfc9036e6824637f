"""Frames put by for who looks later: found again by the second that was asked of the film.

Two files in a folder: ``shelf.pack`` holds the frames end to end, ``shelf.index`` a line of JSON that says
what they are of, then a record for each second. What a killed run has put by is used by the next.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad.film.grid import Kept

_RECORD = struct.Struct("<ddQIIBB")
"""second asked for, second of the frame, offset and length in the pack, check sum, matrix, full range."""

WAITING = 4 << 20
"""Bytes that are held in memory before they are written."""


@dataclass(frozen=True, slots=True)
class _Place:
    seconds: float
    offset: int
    length: int
    check: int
    matrix: int
    full_range: bool


class Shelf:
    """Frames of one film, read in one way: ``head`` names both. Holds no file open. Not for several threads
    at once; where the disk fails nothing more is kept, and ``stopped`` says why."""

    def __init__(self, folder: Path, head: Mapping[str, Any]) -> None:
        self._pack, self._index = folder / "shelf.pack", folder / "shelf.index"
        self._head = json.dumps({"format": 2, **head}, sort_keys=True).encode() + b"\n"
        self._places: dict[float, _Place] = {}
        self._waiting: list[tuple[float, _Place]] = []
        self._data: list[bytes] = []
        self._held = self._written = 0
        self._last: _Place | None = None
        self.stopped: str | None = None
        self._load()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in (self._pack, self._index) if path.exists())

    def __contains__(self, second: float) -> bool:
        return second in self._places

    def put(self, second: float, came_up: float, kept: Kept) -> None:
        """Keep the frame that is on the screen at ``second``. The same frame twice in a row is kept once."""
        if self.stopped is not None or second in self._places:
            return
        place = self._last
        if place is None or place.seconds != came_up:
            where = self._written + self._held
            place = _Place(
                came_up, where, len(kept.data), zlib.crc32(kept.data), kept.matrix, kept.full_range
            )
            self._data.append(kept.data)
            self._held += len(kept.data)
        self._last = self._places[second] = place
        self._waiting.append((second, place))
        if self._held >= WAITING:
            self.flush()

    def get(self, second: float) -> tuple[float, Kept] | None:
        """The frame kept for ``second`` and the second at which it came up; None where it cannot be read."""
        place = self._places.get(second)
        if place is None:
            return None
        if place.offset >= self._written:
            data = b"".join(self._data)[place.offset - self._written :][: place.length]
        else:
            data = self._read(place)
        if len(data) != place.length or zlib.crc32(data) != place.check:
            # A run that was given up may have added to the pack meanwhile: read from the film again.
            del self._places[second]
            return None
        return place.seconds, Kept(data, place.matrix, place.full_range)

    def flush(self) -> None:
        """Write what waits; the pack always before the index that points into it."""
        data, rows = b"".join(self._data), self._waiting
        if not rows:
            return
        try:
            with self._pack.open("ab") as pack:
                pack.write(data)
            new = not self._index.exists()
            with self._index.open("ab") as index:
                index.write((self._head if new else b"") + b"".join(_row(*row) for row in rows))
        except OSError as error:
            self.stopped = error.strerror or str(error)
            for second, place in rows:
                if place.offset >= self._written:
                    self._places.pop(second, None)
        else:
            self._written += len(data)
        self._data, self._waiting, self._held = [], [], 0

    def remove(self) -> None:
        """Delete what is kept."""
        self._places, self._data, self._waiting = {}, [], []
        self._held = self._written = 0
        self._last = None
        for path in (self._index, self._pack):
            path.unlink(missing_ok=True)

    def _read(self, place: _Place) -> bytes:
        try:
            with self._pack.open("rb") as pack:
                pack.seek(place.offset)
                return pack.read(place.length)
        except OSError:
            return b""

    def _load(self) -> None:
        try:
            with self._index.open("rb") as file:
                ours, data = file.readline() == self._head, file.read()
            room = self._pack.stat().st_size
        except OSError:
            ours, data, room = False, b"", 0
        whole = len(data) - len(data) % _RECORD.size
        try:
            if not ours:
                self.remove()
                return
            if whole < len(data):
                # Cut off within a record, where the run was killed: more is added after the whole ones.
                os.truncate(self._index, len(self._head) + whole)
        except OSError as error:
            self.stopped = error.strerror or str(error)
            return
        self._written = room
        for second, seconds, offset, length, check, matrix, full in _RECORD.iter_unpack(data[:whole]):
            if offset + length <= room:
                self._places[second] = _Place(seconds, offset, length, check, matrix, bool(full))


def _row(second: float, place: _Place) -> bytes:
    return _RECORD.pack(
        second, place.seconds, place.offset, place.length, place.check, place.matrix, place.full_range
    )
