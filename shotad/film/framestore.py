"""Frames kept on the disk, so that looking again does not decode the film again.

A `Pack` finds frames by a moment: a tick of a grid, or a second. It is two files in a folder: ``NAME.pack``
holds the frames end to end, ``NAME.index`` a line of JSON that says what they are of, then a record for each
moment. A `FrameStore` is a pack of JPEGs filled during the pass that finds shots (``frames.pack``). It may be
read from other threads while one thread fills it.

Kept frames are a convenience: what is not there, or has been lost or damaged (records carry check sums), is
decoded from the film, with the same pixels.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from shotad.core import Interval, span
from shotad.film.grid import Grid, Keeper, Kept
from shotad.film.reader import TOLERANCE, Film, Frame

NAME = "frames"
"""Of the files."""


_RECORD = struct.Struct("<ddQIIBB")
"""moment, second of the frame, offset and length in the pack, check sum, matrix, full range."""

_LAST = float("inf")
"""The moment of the record that closes a whole pack."""


class FrameEntry(NamedTuple):
    """Where a frame lies in the pack, the second at which it comes up, and what is told of it."""

    seconds: float
    offset: int
    length: int
    check: int
    matrix: int
    full_range: bool


class Pack:
    """The frames of one ``head``, which names the film and how it is read. Holds no file open.

    One thread fills it; others may read meanwhile. Where the disk fails nothing is kept any more, the room is
    given back, and ``stopped`` says why.
    """

    def __init__(self, folder: Path, name: str, head: Mapping[str, Any]) -> None:
        self._pack, self._index = folder / f"{name}.pack", folder / f"{name}.index"
        self._head = json.dumps({"format": 3, **head}, sort_keys=True).encode() + b"\n"
        self.places: dict[float, FrameEntry] = {}
        """Moment → place."""
        self.complete = False
        """Whether all that was wanted is there."""
        self.stopped: str | None = None
        self._written = 0
        self._last: FrameEntry | None = None
        self._whole: int | None = None
        """Bytes of the index that are whole; None where the files are of something else, or none."""
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
        for moment, *told, full in _RECORD.iter_unpack(data[:whole]):
            place = FrameEntry._make((*told, bool(full)))
            if moment == _LAST:
                self.complete = True
            elif place.offset + place.length <= room:
                self.places[moment] = place

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in (self._pack, self._index) if path.exists())

    def put(self, moment: float, seconds: float, kept: Kept) -> None:
        """Keep the frame for a moment, shown from ``seconds`` on; the same twice in a row is kept once."""
        if self.stopped is not None or moment in self.places:
            return
        place, data = self._last, b""
        if place is None or place.seconds != seconds:
            data = kept.data
            check = zlib.crc32(data)
            place = FrameEntry(seconds, self._written, len(data), check, kept.matrix, kept.full_range)
        # The pack always before the index that points into it.
        if self._append(data, _RECORD.pack(moment, *place)):
            self._written += len(data)
            self._last = self.places[moment] = place

    def get(self, moment: float) -> tuple[float, Kept] | None:
        """The frame kept for a moment and the second at which it came up; None where it cannot be read."""
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

    def finish(self) -> None:
        """Write that this is all."""
        if self.stopped is None:
            self.complete = self._append(b"", _RECORD.pack(_LAST, 0.0, 0, 0, 0, 0, False))

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
            self.begin()
            self.stopped = error.strerror or str(error)
            return False
        self._whole = (self._whole or 0) + len(rows)
        return True

    def begin(self) -> None:
        """Keep nothing of what there is, and start again."""
        self.stopped = None
        try:
            self.clear()
        except OSError as error:
            self.stopped = error.strerror or str(error)

    def clear(self) -> None:
        """Keep nothing of what there is."""
        self.places, self._last = {}, None
        self.complete, self._whole, self._written = False, None, 0
        self._unlink()

    def _unlink(self) -> None:
        for path in (self._index, self._pack):
            path.unlink(missing_ok=True)


def _add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


class FrameStore(Pack):
    """The grid's frames of one film within ``zones`` (None: the whole film).

    ``tee`` fills it, `shotad.film.framing.OnePass` answers from it, while it is filled too. What an earlier
    run left is used if it is of the same film, grid and zones.
    """

    def __init__(self, folder: Path, film: Film, grid: Grid, zones: Sequence[Interval] | None = None) -> None:
        self._film, self.grid = film, grid
        self._wanted: frozenset[int] | None = None
        if zones is not None:
            ticks = (range(grid.tick(zone.start), grid.tick(zone.end) + 1) for zone in zones)
            self._wanted = frozenset(tick for zone in ticks for tick in zone)
        rows = None if zones is None else [[zone.start, zone.end] for zone in zones]
        # Readers differ by a level or two, so a store is of one reader.
        head = {"film": film.info.fingerprint, "reader": type(film).__name__, "grid": asdict(grid)}
        super().__init__(folder, NAME, {**head, "zones": rows})

    def tee(self, frames: Iterator[Frame]) -> Iterator[Frame]:
        """``frames`` unchanged, while the store keeps what the grid wants; one whole pass fills it.

        A store that is whole already keeps nothing more. Where the disk fails, the frames go on and
        ``stopped`` says why nothing is kept.
        """
        if self.complete:
            yield from frames
            return
        keeper = Keeper(self._film.info, self.grid)
        self.begin()
        before: Frame | None = None
        for frame in frames:
            if before is not None:
                self._keep(keeper, before, frame.seconds)
            before = frame
            yield frame
        if before is not None:
            self._keep(keeper, before, None)
            self.finish()

    def _keep(self, keeper: Keeper, frame: Frame, until: float | None) -> None:
        """Keep ``frame`` for the ticks at which it is shown: until ``until`` s, or (None) the film's end."""
        start = 0 if frame.index == 0 else self._first_tick_from(frame.seconds)
        if until is None:
            after = max(self.grid.tick(self._film.info.duration), start) + 2
        else:
            after = self._first_tick_from(until)
        ticks = [tick for tick in range(start, after) if self._wanted is None or tick in self._wanted]
        if not ticks:
            return
        with span("keep"):
            kept = keeper.keep(frame)
            for tick in ticks:
                self.put(tick, frame.seconds, kept)

    def _first_tick_from(self, seconds: float) -> int:
        """The first tick at which a frame that comes up at ``seconds`` is shown (within 1 µs)."""
        tick = max(0, int((seconds - TOLERANCE) * self.grid.rate) - 1)
        while seconds > self.grid.second(tick) + TOLERANCE:
            tick += 1
        return tick

    def has(self, second: float) -> bool:
        """Whether the frame of that moment is kept."""
        return self.grid.tick(second) in self.places

    def kept_at(self, second: float) -> tuple[float, Kept] | None:
        """The frame kept for that moment and the second at which it came up; None where there is none."""
        return self.get(self.grid.tick(second))
