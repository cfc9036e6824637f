"""A trace is what the Trace Event Format asks for; counters keep mean and peak."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from itertools import pairwise
from typing import Any

import pytest

from shotad.core import counted, span, waiting
from shotad.core.profiling import recording, trace_of
from shotad.core.timeline import Counter, Lane, Piece, highest


def checked(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a trace, after all that the format asks of them."""
    again: dict[str, Any] = json.loads(json.dumps(trace, allow_nan=False))
    assert again == trace
    events: list[dict[str, Any]] = trace["traceEvents"]
    assert trace["displayTimeUnit"] in ("ms", "ns")
    named: dict[int, str] = {}
    ends: dict[int, int] = defaultdict(int)
    last = 0
    for event in events:
        assert {"name", "ph", "pid", "tid", "ts"} <= event.keys()
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name", "thread_sort_index")
            named.setdefault(event["tid"], event["args"].get("name", ""))
            continue
        assert isinstance(event["ts"], int), "a whole microsecond: fractions are rounded"
        assert event["ts"] >= last, "events come in the order of time"
        last = event["ts"]
        if event["ph"] == "X":
            assert isinstance(event["dur"], int)
            assert event["dur"] > 0
            assert event["cat"] in ("work", "wait")
            assert event["tid"] in named, "each track has its thread's name"
            assert event["ts"] >= ends[event["tid"]], "pieces of a thread do not overlap, not by a hair"
            ends[event["tid"]] = event["ts"] + event["dur"]
        else:
            assert event["ph"] == "C"
            assert all(isinstance(value, (int, float)) for value in event["args"].values())
    return events


def test_a_trace_holds_to_the_format() -> None:
    def other() -> None:
        with span("decode"):
            counted("frames ahead", 2)

    with recording() as found:
        with span("stage1"), waiting("stage1", "frames"):
            thread = threading.Thread(target=other, name="read_0")
            thread.start()
            thread.join()
        counted("frames ahead", 1)
    events = checked(found.trace())
    names = {event["name"] for event in events}
    assert {"decode", "stage1", "stage1 waits for frames", "frames ahead"} <= names
    assert [e["args"]["value"] for e in events if e["ph"] == "C"] == [2, 1]
    assert [e["args"]["name"] for e in events if e["name"] == "thread_name"][1] == "read_0"


def test_a_trace_can_be_had_while_it_goes_on() -> None:
    with recording() as found, span("stage1"):
        threading.Event().wait(0.001)
        assert [e["name"] for e in checked(found.trace()) if e["ph"] == "X"] == ["stage1"]


def test_pieces_that_touch_do_not_overlap_when_their_times_are_rounded() -> None:
    lane = Lane("MainThread", 10_000)
    start, at = 123_456_789, 123_456_789
    pieces = []
    for number in range(3000):
        end = at + 1_000 + 7_919 * (number % 131)
        pieces.append(Piece(at, end, (("decode", "shots")[number % 2], None)))
        at = end
    lane._pieces = pieces
    events = [e for e in checked(trace_of([lane], [], start, at)) if e["ph"] == "X"]
    assert len(events) == 3000
    assert sum(e["dur"] for e in events) == (at - start) // 1000
    assert all(one["ts"] + one["dur"] == other["ts"] for one, other in pairwise(events))


def test_what_is_shorter_than_a_microsecond_is_not_drawn() -> None:
    lane = Lane("MainThread", 10)
    lane._pieces = [
        Piece(0, 300, ("decode", None)),
        Piece(300, 999, ("shots", None)),
        Piece(999, 5000, ("keep", None)),
    ]
    assert [e["name"] for e in checked(trace_of([lane], [], 0, 5000)) if e["ph"] == "X"] == ["keep"]


def test_an_empty_trace_is_one() -> None:
    with recording() as found:
        pass
    assert [e["ph"] for e in checked(found.trace())] == ["M", "M", "M"]


def test_a_counter_knows_its_mean_and_peak() -> None:
    counter = Counter("queue", 100)
    for at, value in ((10, 4.0), (20, 0.0), (50, 2.0)):
        counter.add(at, value)
    assert counter.mean(60) == pytest.approx((4 * 10 + 0 * 30 + 2 * 10) / 50)
    assert counter.peak == 4.0
    assert counter.copy().mean(60) == counter.mean(60)


def test_a_busy_counter_stays_small_and_keeps_its_peak() -> None:
    counter = Counter("queue", 100)
    for at in range(10_000):
        counter.add(at, 50.0 if at == 4321 else float(at % 7))
    assert len(counter.points) <= 100
    assert counter.peak == 50.0
    assert max(value for _, value in counter.points) == 50.0
    assert counter.points == sorted(counter.points)
    assert counter.mean(10_000) == pytest.approx(
        (sum(at % 7 for at in range(10_000)) + 50 - 4321 % 7) / 10_000
    )


def test_the_highest_of_a_grain_and_the_last_stay() -> None:
    assert highest([(0, 1.0), (3, 5.0), (7, 5.0), (12, 2.0), (13, 0.0)], 10) == [
        (3, 5.0),
        (12, 2.0),
        (13, 0.0),
    ]


def test_a_level_that_never_moves_has_itself_as_its_mean() -> None:
    for value in (0.1, 90.7, 617.3, 1234.1):
        counter = Counter("memory", 100)
        for at in range(0, 1000, 7):
            counter.add(at, value)
        assert counter.mean(999) <= counter.peak == value
        assert counter.mean(999) == pytest.approx(value)
