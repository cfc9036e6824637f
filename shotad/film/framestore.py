"""Frames kept during the pass that finds shots, so that dense looking does not decode the film again.

Two files in a folder: ``frames.pack`` holds JPEGs end to end, ``frames.index`` a line of JSON that says
what they are of, then a record for each tick. A store is a convenience: what it has not, or has lost, is
decoded from the film, with the same pixels. It may be read from other threads while one thread fills it.
"""

from __future__ import annotations

import bisect
import json
import math
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from shotad.film.grid import Grid, Keeper, Kept, grid_pictures
from shotad.film.reader import TOLERANCE, Film, Frame, Picture, ascending
from shotad.types import Interval

_RECORD = struct.Struct("<IdQIBB")
"""tick, second of the frame, offset and length in the pack, matrix, full range."""

_END = 0xFFFFFFFF
"""The tick of the record that closes a whole store; it is never looked up."""

_FLUSH_EVERY = 64


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a tick's frame lies in the pack."""

    seconds: float
    offset: int
    length: int
    matrix: int
    full_range: bool


@dataclass(frozen=True, slots=True)
class KeptFrame:
    """A frame as it is kept, and the ticks at which it is shown."""

    ticks: tuple[int, ...]
    seconds: float
    kept: Kept


class FrameStore:
    """The grid's frames of one film within ``zones`` (None: the whole film); a context manager.

    ``tee`` or ``filling`` fills it, ``pictures`` answers from it, while it is filled too. What an earlier
    run left is used if it is of the same film, grid and zones.
    """

    def __init__(self, folder: Path, film: Film, grid: Grid, zones: Sequence[Interval] | None = None) -> None:
        self._pack, self._index = folder / "frames.pack", folder / "frames.index"
        self._film, self.grid = film, grid
        self._wanted = _Zones(zones, grid)
        self._head = _head(film, grid, zones)
        self._places: dict[int, _Place] = {}
        self.complete = False
        self.filled_until = 0.0
        """Second up to which what is wanted can be read from the store already."""
        self.stopped: str | None = None
        """Why frames are not kept any more, if so: the disk is full, say."""
        self._load()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in (self._pack, self._index) if path.exists())

    def _load(self) -> None:
        """Take what the files hold; places are replaced at once, for readers in other threads."""
        self._places, self.complete = self._found()
        last = max(self._places, default=-1)
        self.filled_until = math.inf if self.complete else self.grid.second(last) if last >= 0 else 0.0

    def _found(self) -> tuple[dict[int, _Place], bool]:
        places: dict[int, _Place] = {}
        complete = False
        try:
            with self._index.open("rb") as file:
                if file.readline() != self._head:
                    return {}, False
                data = file.read()
            room = self._pack.stat().st_size
        except OSError:
            return {}, False
        whole = len(data) - len(data) % _RECORD.size
        for tick, seconds, offset, length, matrix, full in _RECORD.iter_unpack(data[:whole]):
            if tick == _END:
                complete = True
            elif offset + length <= room:
                places[tick] = _Place(seconds, offset, length, matrix, bool(full))
        return places, complete

    def tee(self, frames: Iterator[Frame]) -> Iterator[Frame]:
        """``frames`` unchanged, while the store keeps what the grid wants; one whole pass fills it.

        A store that is whole already keeps nothing anew. Where the disk fails, the frames go on and
        ``stopped`` says why nothing is kept.
        """
        return frames if self.complete else self._fill(frames)

    def _fill(self, frames: Iterator[Frame]) -> Iterator[Frame]:
        before: Frame | None = None
        keeper = self.keeper()
        with self.filling() as filling:
            for frame in frames:
                if before is not None:
                    filling.write(self.kept(keeper, before, frame.seconds))
                before = frame
                yield frame
            if before is not None:
                filling.write(self.kept(keeper, before, None))
                filling.finish()

    def keeper(self) -> Keeper:
        """What makes kept frames; one for each thread."""
        return Keeper(self._film.info, self.grid)

    def kept(
        self, keeper: Keeper, frame: Frame, until: float | None, *, first: bool | None = None
    ) -> KeptFrame | None:
        """``frame`` as it is kept for the ticks at which it is shown, or None where none is wanted.

        It is shown until second ``until``, None: to the film's end. ``first``: it is the film's first
        (None: it is if its index is 0). Nothing is written.
        """
        ticks = self._ticks(frame.seconds, until, first=frame.index == 0 if first is None else first)
        return KeptFrame(ticks, frame.seconds, keeper.keep(frame)) if ticks else None

    def _ticks(self, seconds: float, until: float | None, *, first: bool) -> tuple[int, ...]:
        start = 0 if first else self._first_tick_from(seconds)
        if until is None:
            after = max(self.grid.tick(self._film.info.duration), start) + 2
        else:
            after = self._first_tick_from(until)
        return tuple(tick for tick in range(start, after) if self._wanted.has(tick))

    @contextmanager
    def filling(self) -> Iterator[Filling]:
        """The store, emptied, to be filled anew in the order of the film."""
        self._places, self.complete, self.filled_until = {}, False, 0.0
        writer = _Writer(self._pack, self._index, self._head)
        try:
            yield Filling(self, writer)
        finally:
            writer.close()
            self.stopped = writer.failed
            self._load()

    def _publish(self, writer: _Writer, until: float) -> None:
        """Let readers find what has been written; nothing where the disk has failed."""
        if writer.failed is not None:
            self._places, self.filled_until = {}, 0.0
            return
        for tick, seconds, offset, length, matrix, full in _RECORD.iter_unpack(writer.taken()):
            if tick != _END:
                self._places[tick] = _Place(seconds, offset, length, matrix, bool(full))
        self.filled_until = until

    def _first_tick_from(self, seconds: float) -> int:
        """The first tick at which a frame that comes up at ``seconds`` is shown (within 1 µs)."""
        tick = max(0, int((seconds - TOLERANCE) * self.grid.rate) - 1)
        while seconds > self.grid.second(tick) + TOLERANCE:
            tick += 1
        return tick

    def has(self, second: float) -> bool:
        """Whether the frame of that moment is kept."""
        return self.grid.tick(second) in self._places

    def pictures(self, seconds: Sequence[float]) -> Iterator[Picture]:
        """For each of the ascending ``seconds`` the grid's picture; same as `grid_pictures`.

        Frames that are not kept are decoded, by one more pass over the film.
        """
        return self._answer(ascending(seconds))

    def _answer(self, moments: list[float]) -> Iterator[Picture]:
        keeper = self.keeper()
        # One look at all places: more may be there, or none any more, before the last picture is asked for.
        found = self._places
        places = [found.get(self.grid.tick(moment)) for moment in moments]
        with _Reading(self._pack if any(places) else None) as pack:
            if not pack.open:
                places = [None] * len(moments)
            missing = [moment for moment, place in zip(moments, places, strict=True) if place is None]
            decoded = grid_pictures(self._film, missing, self.grid)
            last: Picture | None = None
            for wanted, place in zip(moments, places, strict=True):
                if place is None:
                    last = next(decoded)
                elif last is not None and last.seconds == place.seconds:
                    last = Picture(place.seconds, wanted, last.image)
                else:
                    kept = Kept(pack.read(place.offset, place.length), place.matrix, place.full_range)
                    last = Picture(place.seconds, wanted, keeper.picture(kept))
                yield last

    def remove(self) -> None:
        """Delete what is kept."""
        self._places, self.complete, self.filled_until = {}, False, 0.0
        for path in (self._index, self._pack):
            path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is held open between passes."""


def _head(film: Film, grid: Grid, zones: Sequence[Interval] | None) -> bytes:
    spans = None if zones is None else [[zone.start, zone.end] for zone in zones]
    # Readers differ by a level or two, so a store is of one reader.
    reader = type(film).__name__
    told = {
        "format": 1,
        "film": film.info.fingerprint,
        "reader": reader,
        "grid": asdict(grid),
        "zones": spans,
    }
    return json.dumps(told, sort_keys=True).encode() + b"\n"


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
        before = bisect.bisect_right(self._spans, (tick, _END)) - 1
        return before >= 0 and tick <= self._reach[before]


class Filling:
    """A store that is being filled, frame by frame, by one thread."""

    def __init__(self, store: FrameStore, writer: _Writer) -> None:
        self._store, self._writer = store, writer

    def write(self, frame: KeptFrame | None) -> None:
        """Keep a frame; None keeps nothing."""
        if frame is not None and self._writer.write(frame):
            self._store._publish(self._writer, frame.seconds)

    def reached(self, seconds: float) -> None:
        """All that is wanted before ``seconds`` has been written: readers may have it."""
        self._writer.flush()
        self._store._publish(self._writer, seconds)

    def finish(self) -> None:
        """Mark the store as whole."""
        self._writer.finish()


class _Writer:
    """Writes pack and index; the pack is always flushed before the index that points into it."""

    def __init__(self, pack: Path, index: Path, head: bytes) -> None:
        self._offset, self._waiting, self._flushed = 0, b"", b""
        self._pack: IO[bytes] | None = None
        self._index: IO[bytes] | None = None
        self._files = (pack, index)
        self.failed: str | None = None
        try:
            # New files, not emptied ones: somebody may still be reading the old.
            index.unlink(missing_ok=True)
            pack.unlink(missing_ok=True)
            self._pack, self._index = pack.open("wb"), index.open("wb")
            self._index.write(head)
        except OSError as error:
            self._fail(error)

    def write(self, frame: KeptFrame) -> bool:
        """Keep one frame; True where that brought all that was waiting to the files."""
        if self._pack is None:
            return False
        kept = frame.kept
        where = (frame.seconds, self._offset, len(kept.data), kept.matrix, kept.full_range)
        self._waiting += b"".join(_RECORD.pack(tick, *where) for tick in frame.ticks)
        self._offset += len(kept.data)
        try:
            self._pack.write(kept.data)
        except OSError as error:
            self._fail(error)
        full = len(self._waiting) >= _FLUSH_EVERY * _RECORD.size
        if full:
            self.flush()
        return full

    def flush(self) -> None:
        """Bring what waits to the files."""
        try:
            self._flush()
        except OSError as error:
            self._fail(error)

    def taken(self) -> bytes:
        """The records that have come to the files since this was last asked."""
        records, self._flushed = self._flushed, b""
        return records

    def finish(self) -> None:
        """Mark the store as whole."""
        self._waiting += _RECORD.pack(_END, 0.0, 0, 0, 0, False)

    def _flush(self) -> None:
        if self._pack is not None and self._index is not None:
            self._pack.flush()
            self._index.write(self._waiting)
            self._index.flush()
            self._flushed, self._waiting = self._flushed + self._waiting, b""

    def close(self) -> None:
        """Write what waits."""
        try:
            self._flush()
            for file in (self._pack, self._index):
                if file is not None:
                    file.close()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """Keep nothing, and give the room on the disk back."""
        self.failed = error.strerror or str(error)
        pack, index, self._pack, self._index = self._pack, self._index, None, None
        self._waiting, self._flushed = b"", b""
        for file, path in ((pack, self._files[0]), (index, self._files[1])):
            try:
                if file is not None:
                    file.close()
            except OSError:
                pass  # what could not be written is not wanted any more
            try:
                path.unlink(missing_ok=True)
            except OSError:
                continue  # a folder that cannot be written holds nothing of ours


class _Reading:
    """The pack, open for reading, or nothing where nothing is read or it has gone."""

    def __init__(self, path: Path | None) -> None:
        try:
            self._file = path.open("rb") if path is not None else None
        except OSError:
            self._file = None

    @property
    def open(self) -> bool:
        """Whether there is anything to read from."""
        return self._file is not None

    def read(self, offset: int, length: int) -> bytes:
        """A stretch of the pack."""
        assert self._file is not None
        self._file.seek(offset)
        return self._file.read(length)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
