"""Time per room: worked, waited and for what; which room is the busiest; how many threads are at work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from shotad.core.profiling.counter import Counter
from shotad.core.profiling.lane import Lane

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
            "rooms": [_row_json(row) for row in self.rows],
            "levels": [
                {"name": one.name, "mean": round(one.mean, 3), "peak": one.peak} for one in self.levels
            ],
        }


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "room": row.room,
        "worked": round(row.worked, 3),
        "lasted": round(row.lasted, 3),
        "cpu": round(row.cpu, 3),
        "waited": {what: round(seconds, 3) for what, seconds in row.waited},
        "spells": row.spells,
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
