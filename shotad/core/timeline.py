"""What the threads of a process did, as pieces of time, and the table: time per room, worked and waited.

At any moment a thread is at one thing, the innermost that it has said. So a lane is flat: where a room
calls another one, its piece ends, the other's follows, and a new piece of its own after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import groupby
from time import perf_counter_ns, thread_time_ns
from typing import Any

NANO = 1e-9


@dataclass(frozen=True, slots=True)
class Row:
    """One room's time, in seconds."""

    room: str
    worked: float
    """Added up over threads."""
    lasted: float
    """In which at least one thread worked for it: the room alone could not make the run shorter than this."""
    cpu: float
    """Of the processor, by the threads that said they work for it. A library's own threads are not in it."""
    waited: tuple[tuple[str, float], ...]
    """What for, and how long; added up over threads, longest first."""
    spells: int
    """How often a thread turned to it."""

    @property
    def waiting(self) -> float:
        """Seconds waited, for whatever."""
        return sum(seconds for _, seconds in self.waited)

    @property
    def share_waiting(self) -> float:
        """Share of its time that it waited, 0 to 1."""
        whole = self.worked + self.waiting
        return self.waiting / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class Level:
    """How high a counted number stood."""

    name: str
    mean: float
    peak: float


@dataclass(frozen=True, slots=True)
class Table:
    """A run's time, ``wall`` seconds by the clock and ``cpu`` of the processor (all threads, libraries' too).

    ``at_work[n]``: seconds in which ``n`` threads worked at once; ``unmarked``: those of ``at_work[0]`` in
    which none said that it waits either.
    """

    wall: float
    cpu: float
    rows: tuple[Row, ...]
    at_work: tuple[float, ...]
    levels: tuple[Level, ...] = ()
    unmarked: float = 0.0

    @property
    def busiest(self) -> Row | None:
        """The room that lasted longest; None where no room worked."""
        return max((row for row in self.rows if row.lasted), key=lambda row: row.lasted, default=None)

    @property
    def threads_busy(self) -> float:
        """Threads at work on the average."""
        return sum(row.worked for row in self.rows) / self.wall if self.wall else 0.0

    @property
    def idle(self) -> float:
        """Seconds in which no thread said that it works: waiting, or work that nobody marked."""
        return self.at_work[0]

    def as_json(self) -> dict[str, Any]:
        """The same for programs; seconds to the millisecond."""
        busiest = self.busiest
        return {
            "wall": round(self.wall, 3),
            "cpu": round(self.cpu, 3),
            "busiest": busiest.room if busiest else None,
            "threads_busy": round(self.threads_busy, 3),
            "at_work": [round(seconds, 3) for seconds in self.at_work],
            "unmarked": round(self.unmarked, 3),
            "rooms": [
                {
                    "room": row.room,
                    "worked": round(row.worked, 3),
                    "lasted": round(row.lasted, 3),
                    "cpu": round(row.cpu, 3),
                    "waited": {what: round(seconds, 3) for what, seconds in row.waited},
                    "spells": row.spells,
                }
                for row in self.rows
            ],
            "levels": [
                {"name": one.name, "mean": round(one.mean, 3), "peak": one.peak} for one in self.levels
            ],
        }


def table_of(lanes: Sequence[Lane], counters: Sequence[Counter], start: int, now: int, cpu: int) -> Table:
    """The table of a recording that began at nanosecond ``start``, as it stands at ``now``.

    ``cpu``: nanoseconds of the processor that the process took meanwhile. Rooms that lasted longest first.
    """
    worked: dict[str, int] = defaultdict(int)
    busy: dict[str, int] = defaultdict(int)
    spells: dict[str, int] = defaultdict(int)
    waited: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for lane in lanes:
        for (room, what), one in lane.spent(now).items():
            spells[room] += one.spells if what is None else 0
            worked[room] += one.wall if what is None else 0
            busy[room] += one.cpu if what is None else 0
            if what is not None:
                waited[room][what] += one.wall
    lasted, at_work = _overlaps(lanes, start, now)
    rows = [
        Row(
            room=room,
            worked=worked[room] * NANO,
            lasted=lasted.get(room, 0) * NANO,
            cpu=busy[room] * NANO,
            waited=tuple(sorted(((what, t * NANO) for what, t in waited[room].items()), key=lambda w: -w[1])),
            spells=spells[room],
        )
        for room in worked
    ]
    rows.sort(key=lambda row: (-row.lasted, -row.waiting, row.room))
    levels = tuple(Level(one.name, one.mean(now), one.peak) for one in counters)
    unmarked = _unmarked(lanes, start, now) * NANO
    return Table((now - start) * NANO, cpu * NANO, tuple(rows), at_work, levels, unmarked)


def _unmarked(lanes: Iterable[Lane], start: int, now: int) -> int:
    """Nanoseconds in which no thread said what it does."""
    pieces = sorted((piece.start, piece.end) for lane in lanes for piece in lane.pieces(now))
    found, told_until = 0, start
    for begun, ended in pieces:
        found += max(begun - told_until, 0)
        told_until = max(told_until, ended)
    return found + max(now - told_until, 0)


def _overlaps(lanes: Iterable[Lane], start: int, now: int) -> tuple[dict[str, int], tuple[float, ...]]:
    """Nanoseconds in which at least one thread worked for each room, and seconds by number of threads."""
    turns: list[tuple[int, int, str]] = []
    for lane in lanes:
        for piece in lane.pieces(now):
            if piece.doing[1] is None and piece.end > piece.start:
                turns.append((max(piece.start, start), 1, piece.doing[0]))
                turns.append((min(piece.end, now), -1, piece.doing[0]))
    turns.sort(key=lambda turn: (turn[0], turn[1]))
    at: dict[str, int] = defaultdict(int)
    lasted: dict[str, int] = defaultdict(int)
    by_number: dict[int, int] = defaultdict(int)
    began: dict[str, int] = {}
    total, last = 0, start
    for moment, step, room in turns:
        by_number[total] += moment - last
        total, last = total + step, moment
        at[room] += step
        if step > 0 and at[room] == 1:
            began[room] = moment
        elif step < 0 and at[room] == 0:
            lasted[room] += moment - began[room]
    by_number[total] += now - last
    return dict(lasted), tuple(by_number.get(n, 0) * NANO for n in range(max(by_number) + 1))


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

    def __exit__(self, *_: object) -> None:
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


class Counter:
    """How a number stood over time: its last values for a drawing, its mean and peak exactly."""

    __slots__ = ("_at", "_first", "_grain", "_limit", "_weight", "name", "peak", "points", "value")

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.points: list[tuple[int, float]] = []
        self.peak = self.value = 0.0
        self._limit, self._grain = limit, 0
        self._first = self._at = 0
        self._weight = 0.0

    def add(self, at: int, value: float) -> None:
        """It stands at ``value`` from nanosecond ``at`` on, which comes after all before it."""
        if not self.points:
            self._first, self.peak = at, value
        else:
            self._weight += self.value * (at - self._at)
        self._at, self.value, self.peak = at, value, max(self.peak, value)
        self.points.append((at, value))
        if len(self.points) > self._limit:
            self._grain = max(self._grain * 2, (at - self._first) // self._limit * 4, 1)
            self.points = highest(self.points, self._grain)

    def mean(self, now: int) -> float:
        """Its mean over the time from its first value to ``now``."""
        lasted = now - self._first
        if lasted <= 0:
            return self.value
        # Rounding must not lift a level that never moved above its own peak.
        return min((self._weight + self.value * (now - self._at)) / lasted, self.peak)

    def copy(self) -> Counter:
        """The same as it stands now, for a reader in another thread."""
        other = copy(self)
        other.points = list(self.points)
        return other


def highest(points: Sequence[tuple[int, float]], grain: int) -> list[tuple[int, float]]:
    """Of the points within each ``grain`` nanoseconds the one with the highest value (the first of them),
    and the last point of all: a full queue stays to be seen."""
    best: dict[int, tuple[int, float]] = {}
    for at, value in points[:-1]:
        cell = at // grain
        if cell not in best or value > best[cell][1]:
            best[cell] = (at, value)
    return [*best.values(), points[-1]]


def lines(table: Table) -> list[str]:
    """The table for people: a row for each room, then the busiest room and the time that nobody marked."""
    return [
        f"Time: {_shown_seconds(table.wall)} by the clock, {_shown_seconds(table.cpu)} of the processor, "
        f"{table.threads_busy:.1f} threads at work on the average.",
        *_columns([_HEAD, *(_cells(row, table) for row in table.rows if row.worked + row.waiting >= LEAST)]),
        *_busiest(table),
        f"No room was at work for {_shown_seconds(table.idle)} ({_share(table.idle, table.wall)}): "
        f"{_shown_seconds(table.idle - table.unmarked)} of waiting, "
        f"{_shown_seconds(table.unmarked)} without a mark.",
        *(f"{one.name}: {one.mean:.1f} on the average, at most {one.peak:g}." for one in table.levels),
    ]


LEAST = 0.0005
"""Seconds that a room must have had to stand in the table: less is shown as 0.000."""

_HEAD = ("Room", "at work", "of the run", "in threads", "processor", "times", "waited")


def _cells(row: Row, table: Table) -> tuple[str, ...]:
    return (
        row.room,
        _shown_seconds(row.lasted),
        _share(row.lasted, table.wall),
        _shown_seconds(row.worked),
        _shown_seconds(row.cpu),
        f"{row.spells:,}",
        _waited(row),
    )


def _waited(row: Row) -> str:
    if not row.waiting:
        return "not"
    parts = ", ".join(f"{_shown_seconds(seconds)} for {what}" for what, seconds in row.waited)
    return f"{row.share_waiting:.0%} of its time: {parts}"


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Names to the left, figures to the right, what is last as long as it is."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        figures = (cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True))
        yield "  ".join(("", row[0].ljust(widths[0]), *figures, row[-1]))


def _busiest(table: Table) -> Iterator[str]:
    row = table.busiest
    if row is None:
        return
    told = f"Busiest: {row.room}, at work {_share(row.lasted, table.wall)} of the run"
    if row.waiting:
        told += f"; it waited {_share(row.waiting, row.worked + row.waiting)} of its time"
        told += f", most of it for {row.waited[0][0]}"
    yield f"{told}."


def _shown_seconds(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds >= 1 else f"{seconds:.3f} s"


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "0%"
