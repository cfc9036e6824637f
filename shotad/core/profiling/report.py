"""A table of time, in lines that can be read one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shotad.core.profiling.table import Row, Table


def lines(table: Table) -> list[str]:
    """The table for people: a row for each room, then the busiest room and the time that nobody marked."""
    return [
        f"Time: {_seconds(table.wall)} by the clock, {_seconds(table.cpu)} of the processor, "
        f"{table.threads_busy:.1f} threads at work on the average.",
        *_columns([_HEAD, *(_cells(row, table) for row in table.rows if _is_worth_telling(row))]),
        *_busiest(table),
        f"No room was at work for {_seconds(table.idle)} ({_share(table.idle, table.wall)}): "
        f"{_seconds(table.idle - table.unmarked)} of waiting, {_seconds(table.unmarked)} without a mark.",
        *(f"{one.name}: {one.mean:.1f} on the average, at most {one.peak:g}." for one in table.levels),
    ]


LEAST = 0.0005
"""Seconds that a room must have had to stand in the table: less is shown as 0.000."""

_HEAD = ("Room", "at work", "of the run", "in threads", "processor", "times", "waited")


def _is_worth_telling(row: Row) -> bool:
    return row.worked + row.waiting >= LEAST


def _cells(row: Row, table: Table) -> tuple[str, ...]:
    return (
        row.room,
        _seconds(row.lasted),
        _share(row.lasted, table.wall),
        _seconds(row.worked),
        _seconds(row.cpu),
        f"{row.spells:,}",
        _waited(row),
    )


def _waited(row: Row) -> str:
    if not row.waiting:
        return "not"
    parts = ", ".join(f"{_seconds(seconds)} for {what}" for what, seconds in row.waited)
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


def _seconds(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds >= 1 else f"{seconds:.3f} s"


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "0%"
