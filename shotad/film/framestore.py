"""Frames kept on the disk, so that looking again does not decode the film again.

A `Pack` finds frames by a moment: a tick of a grid, or a second. It is two files in a folder: ``NAME.pack``
holds the frames end to end, ``NAME.index`` a line of JSON that says what they are of, then a record for each
moment. A `FrameStore` is a pack of JPEGs filled during the pass that finds shots (``frames.pack``). It may be
read from other threads while one thread fills it.

Kept frames are a convenience: what is not there, or has been lost or damaged (records carry check sums), is
decoded from the film, with the same pixels.
"""

from __future__ import annotations

import bisect
import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from shotad.core import Interval, span
from shotad.film.grid import Grid, Keeper, Kept
from shotad.film.reader import TOLERANCE, Film, Frame

NAME = "frames"
"""Of the files."""


class FrameStore:
    """The grid's frames of one film within ``zones`` (None: the whole film).

    ``tee`` fills it, `shotad.film.framing.OnePass` answers from it, while it is filled too. What an earlier
    run left is used if it is of the same film, grid and zones.
    """

    def __init__(self, folder: Path, film: Film, grid: Grid, zones: Sequence[Interval] | None = None) -> None:
        self._film, self.grid = film, grid
        self._wanted = _Zones(zones, grid)
        self._pack = Pack(folder, NAME, _head(film, grid, zones))

    @property
    def complete(self) -> bool:
        """Whether one whole pass has filled it."""
        return self._pack.complete

    @property
    def stopped(self) -> str | None:
        """Why frames are not kept any more, if so: the disk is full, say."""
        return self._pack.stopped

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self._pack.size

    def tee(self, frames: Iterator[Frame]) -> Iterator[Frame]:
        """``frames`` unchanged, while the store keeps what the grid wants; one whole pass fills it.

        A store that is whole already keeps nothing anew. Where the disk fails, the frames go on and
        ``stopped`` says why nothing is kept.
        """
        return frames if self.complete else self._fill(frames)

    def _fill(self, frames: Iterator[Frame]) -> Iterator[Frame]:
        keeper = Keeper(self._film.info, self.grid)
        self._pack.begin()
        before: Frame | None = None
        try:
            for frame in frames:
                if before is not None:
                    self._keep(keeper, before, frame.seconds)
                before = frame
                yield frame
            if before is not None:
                self._keep(keeper, before, None)
                self._pack.finish()
        finally:
            self._pack.flush()

    def _keep(self, keeper: Keeper, frame: Frame, until: float | None) -> None:
        """Keep ``frame`` for the ticks at which it is shown: until ``until`` s, or (None) the film's end."""
        ticks = self._ticks(frame, until)
        if not ticks:
            return
        with span("keep"):
            kept = keeper.keep(frame)
            for tick in ticks:
                self._pack.put(tick, frame.seconds, kept)

    def _ticks(self, frame: Frame, until: float | None) -> list[int]:
        start = 0 if frame.index == 0 else self._first_tick_from(frame.seconds)
        if until is None:
            after = max(self.grid.tick(self._film.info.duration), start) + 2
        else:
            after = self._first_tick_from(until)
        return [tick for tick in range(start, after) if self._wanted.has(tick)]

    def _first_tick_from(self, seconds: float) -> int:
        """The first tick at which a frame that comes up at ``seconds`` is shown (within 1 µs)."""
        tick = max(0, int((seconds - TOLERANCE) * self.grid.rate) - 1)
        while seconds > self.grid.second(tick) + TOLERANCE:
            tick += 1
        return tick

    def has(self, second: float) -> bool:
        """Whether the frame of that moment is kept."""
        return self.grid.tick(second) in self._pack.places

    def get(self, second: float) -> tuple[float, Kept] | None:
        """The frame kept for that moment and the second at which it came up; None where there is none."""
        return self._pack.read(self.grid.tick(second))

    def remove(self) -> None:
        """Delete what is kept."""
        self._pack.clear()


def _head(film: Film, grid: Grid, zones: Sequence[Interval] | None) -> dict[str, Any]:
    return {
        "film": film.info.fingerprint,
        # Readers differ by a level or two, so a store is of one reader.
        "reader": type(film).__name__,
        "grid": asdict(grid),
        "zones": None if zones is None else [[zone.start, zone.end] for zone in zones],
    }


class _Zones:
    """Which ticks are wanted: all that are nearest to some second within a zone."""

    def __init__(self, zones: Sequence[Interval] | None, grid: Grid) -> None:
        self._spans: list[tuple[int, int]] | None = None
        if zones is not None:
            self._spans = sorted((grid.tick(zone.start), grid.tick(zone.end)) for zone in zones)
            self._reach = [max(last for _, last in self._spans[: i + 1]) for i in range(len(self._spans))]

    def has(self, tick: int) -> bool:
        """True where the tick is wanted."""
        if self._spans is None:
            return True
        before = bisect.bisect_right(self._spans, tick, key=lambda span: span[0]) - 1
        return before >= 0 and tick <= self._reach[before]


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

    One thread fills it. Others may ``read`` meanwhile what ``places`` has. Where the disk fails nothing is
    kept any more, the room is given back, and ``stopped`` says why.
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

    def __contains__(self, moment: float) -> bool:
        return moment in self.places or moment in self._waiting

    def put(self, moment: float, seconds: float, kept: Kept) -> None:
        """Keep the frame for a moment, shown from ``seconds`` on; the same twice in a row is kept once."""
        if self.stopped is not None or moment in self:
            return
        place = self._last
        if place is None or place.seconds != seconds:
            where, check = self._written + self._held, zlib.crc32(kept.data)
            place = self._last = Place(seconds, where, len(kept.data), check, kept.matrix, kept.full_range)
            self._data.append(kept.data)
            self._held += len(kept.data)
        self._waiting[moment] = place
        if self._held >= WAITING_BYTES or len(self._waiting) >= WAITING_RECORDS:
            self.flush()

    def get(self, moment: float) -> tuple[float, Kept] | None:
        """The frame kept for a moment and the second at which it came up; None where it cannot be read. For
        who fills it; others ``read``."""
        if moment in self._waiting:
            self.flush()
        return self.read(moment)

    def read(self, moment: float) -> tuple[float, Kept] | None:
        """The same, of what has come to the files."""
        place = self.places.get(moment)
        if place is None:
            return None
        try:
            with self._pack.open("rb") as file:
                file.seek(place.offset)
                data = file.read(place.length)
        except OSError:
            data = b""
        # A run that was given up may have added to the pack meanwhile.
        if len(data) != place.length or zlib.crc32(data) != place.check:
            self.places.pop(moment, None)
            return None
        return place.seconds, Kept(data, place.matrix, place.full_range)

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
