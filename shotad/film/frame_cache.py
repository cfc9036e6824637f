"""Kept frames on the disk, found by a moment: a tick of a grid, or a second.

Two files in a folder: ``NAME.pack`` holds the frames end to end, ``NAME.index`` a line of JSON that says what
they are of, then a record for each moment. Frames are a convenience: what is not there, or has been lost or
damaged (records carry check sums), is decoded from the film.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from shotad.film.grid import Kept

_RECORD = struct.Struct("<ddQIIBB")
"""moment, second of the frame, offset and length in the pack, check sum, matrix, full range."""

_LAST = float("inf")
"""The moment of the record that closes a whole pack."""

WAITING_BYTES, WAITING_RECORDS = 4 << 20, 64
"""What waits in memory at most before it is written."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a frame lies in the pack, the second at which it comes up, and what is told of it."""

    seconds: float
    offset: int
    length: int
    check: int
    matrix: int
    full_range: bool


class Pack:
    """The frames of one ``head``, which names the film and how it is read. Holds no file open.

    One thread fills it. Others may read meanwhile what ``places`` has, with a `Reader` of their own. Where
    the disk fails nothing is kept any more, the room is given back, and ``stopped`` says why.
    """

    def __init__(self, folder: Path, name: str, head: Mapping[str, Any]) -> None:
        self._pack, self._index = folder / f"{name}.pack", folder / f"{name}.index"
        self._head = json.dumps({"format": 3, **head}, sort_keys=True).encode() + b"\n"
        self.places: dict[float, Place] = {}
        """Moment → place, of what has come to the files."""
        self.complete = False
        """Whether all that was wanted is there."""
        self.stopped: str | None = None
        self._waiting: dict[float, Place] = {}
        self._data: list[bytes] = []
        self._held = self._written = 0
        self._last: Place | None = None
        self._whole: int | None = None
        """Bytes of the index that are whole; None where the files are of something else, or none."""
        self._load()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in (self._pack, self._index) if path.exists())

    @property
    def is_new(self) -> bool:
        """Whether no file is of this head."""
        return self._whole is None

    def __contains__(self, moment: float) -> bool:
        return moment in self.places or moment in self._waiting

    def put(self, moment: float, seconds: float, kept: Kept) -> bool:
        """Keep the frame for a moment; it came up at ``seconds``. The same frame twice in a row is kept once.

        True where that brought what was waiting to the files.
        """
        if self.stopped is not None or moment in self:
            return False
        place = self._last
        if place is None or place.seconds != seconds:
            where, check = self._written + self._held, zlib.crc32(kept.data)
            place = self._last = Place(seconds, where, len(kept.data), check, kept.matrix, kept.full_range)
            self._data.append(kept.data)
            self._held += len(kept.data)
        self._waiting[moment] = place
        if self._held < WAITING_BYTES and len(self._waiting) < WAITING_RECORDS:
            return False
        self.flush()
        return True

    def get(self, moment: float) -> tuple[float, Kept] | None:
        """The frame kept for a moment and the second at which it came up; None where it cannot be read."""
        if moment in self._waiting:
            self.flush()
        place = self.places.get(moment)
        if place is None:
            return None
        with self.reader() as reader:
            kept = reader.read(place)
        if kept is None:
            del self.places[moment]
            return None
        return place.seconds, kept

    def reader(self) -> Reader:
        """To read with, of the files as they are now, though they be emptied or removed meanwhile."""
        return Reader(self._pack)

    def flush(self) -> None:
        """Write what waits; the pack always before the index that points into it."""
        if not self._waiting:
            return
        data, found = b"".join(self._data), self._waiting
        self._data, self._waiting, self._held = [], {}, 0
        rows = b"".join(_row(moment, place) for moment, place in found.items())
        if self._append(data, rows):
            self._written += len(data)
            self.places.update(found)

    def finish(self) -> None:
        """Write what waits, and that this is all."""
        self.flush()
        if self.stopped is None:
            self.complete = self._append(b"", _row(_LAST, Place(0.0, 0, 0, 0, 0, full_range=False)))

    def _append(self, data: bytes, rows: bytes) -> bool:
        try:
            if self._whole is None:
                # New files, not emptied ones: somebody may still be reading the old.
                self._unlink()
                rows = self._head + rows
            elif self._index.stat().st_size > self._whole:
                # Cut off within a record, where the run was killed: more is added after the whole ones.
                os.truncate(self._index, self._whole)
            _add(self._pack, data)
            _add(self._index, rows)
        except OSError as error:
            self._fail(error)
            return False
        self._whole = (self._whole or 0) + len(rows)
        return True

    def begin(self) -> None:
        """Keep nothing of what there is, and begin anew."""
        self.stopped = None
        try:
            self.clear()
        except OSError as error:
            self.stopped = _reason(error)

    def _fail(self, error: OSError) -> None:
        self.begin()
        self.stopped = _reason(error)

    def clear(self) -> None:
        """Keep nothing of what there is."""
        self.places, self._waiting, self._data = {}, {}, []
        self.complete, self._last, self._whole = False, None, None
        self._held = self._written = 0
        self._unlink()

    def _unlink(self) -> None:
        for path in (self._index, self._pack):
            path.unlink(missing_ok=True)

    def _load(self) -> None:
        try:
            with self._index.open("rb") as file:
                if file.readline() != self._head:
                    return
                data = file.read()
            room = self._pack.stat().st_size
        except OSError:
            return
        whole = len(data) - len(data) % _RECORD.size
        self._whole, self._written = len(self._head) + whole, room
        for moment, seconds, offset, length, check, matrix, full in _RECORD.iter_unpack(data[:whole]):
            if moment == _LAST:
                self.complete = True
            elif offset + length <= room:
                self.places[moment] = Place(seconds, offset, length, check, matrix, bool(full))


def _row(moment: float, place: Place) -> bytes:
    return _RECORD.pack(
        moment, place.seconds, place.offset, place.length, place.check, place.matrix, place.full_range
    )


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


class Reader:
    """A pack, open for reading; a context manager. Reads nothing where the pack has gone."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] | None
        try:
            self._file = path.open("rb")
        except OSError:
            self._file = None

    def read(self, place: Place) -> Kept | None:
        """The frame as it was kept; None where it cannot be read or is damaged."""
        if self._file is None:
            return None
        try:
            self._file.seek(place.offset)
            data = self._file.read(place.length)
        except OSError:
            return None
        # A run that was given up may have added to the pack meanwhile.
        if len(data) != place.length or zlib.crc32(data) != place.check:
            return None
        return Kept(data, place.matrix, place.full_range)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
