"""Frames kept during the pass that finds shots, so that dense looking does not decode the film again.

They are JPEGs in ``frames.pack``, found by their tick (`shotad.film.frame_cache`). A store is a convenience:
what it has not, or has lost, is decoded from the film, with the same pixels. It may be read from other
threads while one thread fills it.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from shotad.core import Interval
from shotad.film.frame_cache import Pack
from shotad.film.grid import Grid, Keeper, Kept, grid_pictures
from shotad.film.reader import TOLERANCE, Film, Frame, Picture, ascending

NAME = "frames"
"""Of the files."""


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
        self._film, self.grid = film, grid
        self._wanted = _Zones(zones, grid)
        self._pack = Pack(folder, NAME, _head(film, grid, zones))
        self.filled_until = 0.0
        """Second up to which what is wanted can be read from the store already."""
        self._take_stock()

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

    def _take_stock(self) -> None:
        last = max(self._pack.places, default=None)
        self.filled_until = math.inf if self.complete else self.grid.second(int(last)) if last else 0.0

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
        self.filled_until = 0.0
        self._pack.begin()
        try:
            yield Filling(self, self._pack)
        finally:
            self._pack.flush()
            self._take_stock()

    def _first_tick_from(self, seconds: float) -> int:
        """The first tick at which a frame that comes up at ``seconds`` is shown (within 1 µs)."""
        tick = max(0, int((seconds - TOLERANCE) * self.grid.rate) - 1)
        while seconds > self.grid.second(tick) + TOLERANCE:
            tick += 1
        return tick

    def has(self, second: float) -> bool:
        """Whether the frame of that moment is kept."""
        return self.grid.tick(second) in self._pack.places

    def pictures(self, seconds: Sequence[float]) -> Iterator[Picture]:
        """For each of the ascending ``seconds`` the grid's picture; same as `grid_pictures`.

        Frames that are not kept are decoded, by one more pass over the film.
        """
        return self._answer(ascending(seconds))

    def _answer(self, moments: list[float]) -> Iterator[Picture]:
        keeper, pack = self.keeper(), self._pack
        # One look at all places: more may be there, or none any more, before the last picture is asked for.
        found = pack.places
        places = [found.get(self.grid.tick(moment)) for moment in moments]
        decoded = self._decoded(
            moment for moment, place in zip(moments, places, strict=True) if place is None
        )
        with pack.reader() as reader:
            last: Picture | None = None
            for number, (wanted, place) in enumerate(zip(moments, places, strict=True)):
                if last is not None and place is not None and last.seconds == place.seconds:
                    last = Picture(place.seconds, wanted, last.image)
                elif place is not None and (kept := reader.read(place)) is not None:
                    last = Picture(place.seconds, wanted, keeper.picture(kept))
                else:
                    if place is not None:
                        # Where one is damaged the others may be too: the film tells all from here on.
                        places[number:] = [None] * (len(places) - number)
                        decoded = self._decoded(moments[number:])
                    last = next(decoded, None)
                    if last is None:
                        return
                yield last

    def _decoded(self, moments: Iterable[float]) -> Iterator[Picture]:
        return grid_pictures(self._film, list(moments), self.grid)

    def remove(self) -> None:
        """Delete what is kept."""
        self.filled_until = 0.0
        self._pack.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is held open between passes."""


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


class Filling:
    """A store that is being filled, frame by frame, by one thread."""

    def __init__(self, store: FrameStore, pack: Pack) -> None:
        self._store, self._pack = store, pack

    def write(self, frame: KeptFrame | None) -> None:
        """Keep a frame; None keeps nothing."""
        if frame is None:
            return
        for tick in frame.ticks:
            if self._pack.put(tick, frame.seconds, frame.kept):
                self._told(frame.seconds)

    def reached(self, seconds: float) -> None:
        """All that is wanted before ``seconds`` has been written: readers may have it."""
        self._pack.flush()
        self._told(seconds)

    def _told(self, seconds: float) -> None:
        self._store.filled_until = seconds if self._pack.stopped is None else 0.0

    def finish(self) -> None:
        """Mark the store as whole."""
        self._pack.finish()
