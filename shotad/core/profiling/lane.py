"""What one thread did: pieces of time one after the other, each worked or waited for one room.

At any moment a thread is at one thing, the innermost that it has said. So a lane is flat: where a room
calls another one, its piece ends, the other's follows, and a new piece of its own after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from time import perf_counter_ns, thread_time_ns
from types import TracebackType

Doing = tuple[str, str | None]
"""A room, and what it waits for; None where it works."""


@dataclass(frozen=True, slots=True)
class Piece:
    """``[start, end)`` in nanoseconds of the clock, spent on one thing, in so many spells of it."""

    start: int
    end: int
    doing: Doing
    spells: int = 1


@dataclass(slots=True)
class Sum:
    """All that a lane spent on one thing: nanoseconds by the clock and of the processor, and spells."""

    wall: int = 0
    cpu: int = 0
    spells: int = 0


class Lane:
    """One thread's pieces and sums. Only its own thread writes to it; any may read a copy."""

    __slots__ = ("_cpu", "_grain", "_limit", "_open", "_pieces", "_since", "name", "sums")

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.sums: dict[Doing, Sum] = {}
        self._limit = limit
        self._grain = 0
        self._pieces: list[Piece] = []
        self._open: list[Mark] = []
        self._since = self._cpu = 0

    @property
    def grain(self) -> int:
        """Nanoseconds below which pieces of one thing are drawn as one; 0: every piece stands."""
        return self._grain

    def begin(self, mark: Mark) -> None:
        """The thread turns to what ``mark`` says."""
        self._close()
        self._open.append(mark)
        self._sum(mark.doing).spells += 1

    def finish(self, mark: Mark) -> None:
        """It has done with it, and is back at what it did before.

        The mark need not be the innermost: a generator may be closed after its caller has gone on.
        """
        self._close()
        if mark in self._open:
            self._open.remove(mark)

    def pieces(self, now: int) -> tuple[Piece, ...]:
        """All pieces so far, in order of time; what is under way goes up to ``now``."""
        found, under_way = tuple(self._pieces), self._open[-1:]
        if under_way and now > self._since:
            found += (Piece(self._since, now, under_way[0].doing),)
        return found

    def spent(self, now: int) -> dict[Doing, Sum]:
        """The sums so far, with what is under way (whose processor time only its own thread could tell)."""
        found = {doing: Sum(one.wall, one.cpu, one.spells) for doing, one in list(self.sums.items())}
        for mark in self._open[-1:]:
            found.setdefault(mark.doing, Sum(spells=1)).wall += max(now - self._since, 0)
        return found

    def _sum(self, doing: Doing) -> Sum:
        found = self.sums.get(doing)
        if found is None:
            found = self.sums[doing] = Sum()
        return found

    def _close(self) -> None:
        """End the piece under way, now."""
        now, cpu = perf_counter_ns(), thread_time_ns()
        if self._open:
            doing = self._open[-1].doing
            one = self._sum(doing)
            one.wall += now - self._since
            # Another thread may close a generator whose mark is open; its own clock says nothing of this one.
            one.cpu += max(cpu - self._cpu, 0)
            self._keep(Piece(self._since, now, doing))
        self._since, self._cpu = now, cpu

    def _keep(self, piece: Piece) -> None:
        last = self._pieces[-1] if self._pieces else None
        if last and last.doing == piece.doing and piece.start - last.end <= TOUCHING:
            self._pieces[-1] = Piece(last.start, piece.end, piece.doing, last.spells + 1)
            return
        self._pieces.append(piece)
        if len(self._pieces) > self._limit:
            self._draw_together(piece.end - self._pieces[0].start)

    def _draw_together(self, lasted: int) -> None:
        """Down to half of the limit, so that it is not to be done again soon."""
        while len(self._pieces) > self._limit // 2 and self._grain <= lasted:
            self._grain = max(self._grain * 2, FIRST_GRAIN)
            self._pieces = coarser(self._pieces, self._grain)


class Mark:
    """One thing that a thread does, for the time of a block."""

    __slots__ = ("_lane", "doing")

    def __init__(self, lane: Lane, doing: Doing) -> None:
        self._lane = lane
        self.doing = doing

    def __enter__(self) -> None:
        self._lane.begin(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lane.finish(self)


TOUCHING = 20_000
"""Nanoseconds between two pieces of one thing that count as none: less than any eye sees in a trace."""

FIRST_GRAIN = 10_000_000
"""Nanoseconds of the first grain: a hundredth of a second."""


def coarser(pieces: Sequence[Piece], grain: int) -> list[Piece]:
    """Pieces shorter than ``grain`` nanoseconds that begin within one grain, gathered by what was done.

    What was done in turns is drawn as done in a row, in the order in which it was first done, so that the
    time of each thing stays what it was. Longer pieces stay. In time's order, without overlap.
    """
    out: list[Piece] = []
    for _, group in groupby(pieces, _cell(grain)):
        out += _gathered(list(group))
    return out


def _cell(grain: int) -> Callable[[Piece], tuple[int, int]]:
    """Which pieces are gathered: a long one is alone, by its own start; others share a grain."""

    def cell(piece: Piece) -> tuple[int, int]:
        long = piece.end - piece.start >= grain
        return (1, piece.start) if long else (0, piece.start // grain)

    return cell


def _gathered(pieces: Sequence[Piece]) -> Iterator[Piece]:
    sums: dict[Doing, Sum] = {}
    for piece in pieces:
        one = sums.setdefault(piece.doing, Sum())
        one.wall += piece.end - piece.start
        one.spells += piece.spells
    at = pieces[0].start
    for doing, one in sums.items():
        yield Piece(at, at + one.wall, doing, one.spells)
        at += one.wall
