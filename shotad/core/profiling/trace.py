"""A recording as trace events, which Perfetto (ui.perfetto.dev) and Chrome's tracing page open.

The format is the Trace Event Format, JSON Object Format: complete events (``X``) for time worked and
waited, one track per thread; counter events (``C``); metadata events (``M``) with the names of threads.
Times are whole microseconds from the beginning of the recording: with fractions, rounding lets a piece end
a hair after the next begins, and viewers that look for nesting (speedscope) put the one into the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from shotad.core.profiling.counter import Counter
from shotad.core.profiling.lane import Lane, Piece

PROCESS = 1
"""The only process of a trace; its real number would make every trace differ and tell nothing."""

Event = dict[str, Any]


def trace_of(lanes: Sequence[Lane], counters: Sequence[Counter], start: int, now: int) -> dict[str, Any]:
    """The trace of a recording that began at nanosecond ``start``, as it stands at ``now``."""
    events = [_meta("process_name", 0, {"name": "shotad"})]
    for tid, lane in enumerate(lanes, 1):
        events += [
            _meta("thread_name", tid, {"name": lane.name}),
            _meta("thread_sort_index", tid, {"sort_index": tid}),
        ]
    timed = [
        event
        for tid, lane in enumerate(lanes, 1)
        for piece in lane.pieces(now)
        for event in _worked(piece, tid, start, now)
    ]
    timed += [event for counter in counters for event in _levels(counter, start, now)]
    timed.sort(key=lambda event: event["ts"])
    grains = {lane.name: lane.grain / 1e9 for lane in lanes if lane.grain}
    return {
        "traceEvents": events + timed,
        "displayTimeUnit": "ms",
        "otherData": {"note": COALESCED if grains else "Every piece of time stands by itself.", **grains},
    }


COALESCED = (
    "In the threads named here, pieces shorter than so many seconds are drawn together, one room after the "
    "other: args.spells tells of how many a piece is made. The time of each room is what it was."
)


def _meta(name: str, tid: int, args: dict[str, Any]) -> Event:
    return {"name": name, "ph": "M", "pid": PROCESS, "tid": tid, "ts": 0, "args": args}


def _worked(piece: Piece, tid: int, start: int, now: int) -> Iterator[Event]:
    begun, ended = _micro(max(piece.start, start), start), _micro(min(piece.end, now), start)
    if ended <= begun:
        return
    room, what = piece.doing
    event: Event = {
        "name": room if what is None else f"{room} waits for {what}",
        "cat": "work" if what is None else "wait",
        "ph": "X",
        "pid": PROCESS,
        "tid": tid,
        "ts": begun,
        "dur": ended - begun,
    }
    if what is not None:
        event["cname"] = "grey"
    if piece.spells > 1:
        event["args"] = {"spells": piece.spells}
    yield event


def _levels(counter: Counter, start: int, now: int) -> Iterator[Event]:
    for at, value in counter.points:
        if start <= at <= now:
            yield {
                "name": counter.name,
                "ph": "C",
                "pid": PROCESS,
                "tid": 0,
                "ts": _micro(at, start),
                "args": {"value": value},
            }


def _micro(at: int, start: int) -> int:
    return (at - start) // 1000
