"""Where the time goes: nested rooms, waiting, threads, errors within a span, and nothing while none records."""

from __future__ import annotations

import threading
import time
import tracemalloc
from collections.abc import Generator, Iterator

import pytest

from shotad.core import Recording, span, spanned, waiting
from shotad.core.profiling import MEMORY, recording


class Clock:
    """Time by hand: nanoseconds by the clock; the processor takes half of them."""

    def __init__(self) -> None:
        self.now = 10**9

    def clock(self) -> int:
        return self.now

    def cpu(self) -> int:
        return self.now // 2

    def pass_(self, seconds: float) -> None:
        self.now += round(seconds * 1e9)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr("shotad.core.profiling.thread_time_ns", one.cpu)
    monkeypatch.setattr("shotad.core.profiling.perf_counter_ns", one.clock)
    monkeypatch.setattr("shotad.core.profiling.process_time_ns", one.cpu)
    return one


def worked(found: Recording) -> dict[str, float]:
    return {row.room: round(row.worked, 6) for row in found.table().rows}


def test_the_time_of_an_inner_room_is_not_the_outers(clock: Clock) -> None:
    with recording() as found:
        with span("shots"):
            clock.pass_(1)
            with span("decode"):
                clock.pass_(3)
            clock.pass_(0.5)
        clock.pass_(0.5)
    table = found.table()
    assert worked(found) == {"decode": 3.0, "shots": 1.5}
    assert table.wall == pytest.approx(5.0)
    assert table.idle == pytest.approx(0.5)
    assert table.busiest == table.rows[0]
    assert table.rows[0].room == "decode"
    assert {row.room: row.cpu for row in table.rows} == {
        "decode": pytest.approx(1.5),
        "shots": pytest.approx(0.75),
    }
    assert {row.room: row.spells for row in table.rows} == {"decode": 1, "shots": 1}


def test_waiting_is_never_work(clock: Clock) -> None:
    with recording() as found, span("stage1"):
        clock.pass_(1)
        with waiting("stage1", "frames"):
            clock.pass_(2)
            with span("frames"):
                clock.pass_(4)
        with waiting("stage1", "the server"):
            clock.pass_(3)
    stage1 = next(row for row in found.table().rows if row.room == "stage1")
    assert stage1.worked == pytest.approx(1.0)
    assert [what for what, _ in stage1.waited] == ["the server", "frames"]
    assert [seconds for _, seconds in stage1.waited] == pytest.approx([3.0, 2.0])
    assert stage1.share_waiting == pytest.approx(5 / 6)
    assert worked(found)["frames"] == 4.0
    assert found.table().idle == pytest.approx(5.0)
    assert found.table().unmarked == 0


def test_time_without_any_mark_is_told_apart_from_waiting(clock: Clock) -> None:
    with recording() as found:
        clock.pass_(1)
        with span("load"):
            clock.pass_(2)
        clock.pass_(4)
        with waiting("stage1", "frames"):
            clock.pass_(8)
        with span("track"):
            clock.pass_(16)
        clock.pass_(32)
    table = found.table()
    assert table.idle == pytest.approx(45.0)
    assert table.unmarked == pytest.approx(37.0)
    assert table.as_json()["unmarked"] == 37.0


def test_a_room_within_itself_is_counted_once(clock: Clock) -> None:
    with recording() as found, span("decode"):
        clock.pass_(1)
        with span("decode"):
            clock.pass_(1)
    assert worked(found) == {"decode": 2.0}
    assert found.table().rows[0].lasted == pytest.approx(2.0)


def test_an_error_ends_its_spans(clock: Clock) -> None:
    def fail() -> None:
        with span("cast"), span("sheet"):
            clock.pass_(1)
            raise KeyError("nobody")

    with recording() as found:
        with pytest.raises(KeyError):
            fail()
        clock.pass_(7)
        with span("mix"):
            clock.pass_(2)
    assert worked(found) == {"sheet": 1.0, "cast": 0.0, "mix": 2.0}


def test_an_error_ends_the_recording_and_the_next_one_is_new(clock: Clock) -> None:
    kept = []

    def fail() -> None:
        with recording() as found, span("cast"):
            kept.append(found)
            clock.pass_(1)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    found = kept[0]
    clock.pass_(5)
    assert found.table().wall == pytest.approx(1.0)
    with recording() as other, span("mix"):
        clock.pass_(1)
    assert worked(other) == {"mix": 1.0}
    assert worked(found) == {"cast": 1.0}


def test_two_recordings_at_once_are_refused() -> None:
    with recording(), pytest.raises(RuntimeError, match="recorded already"), recording():
        pass
    with recording() as found:
        assert found.table().rows == ()


def test_what_is_under_way_counts_up_to_now(clock: Clock) -> None:
    with recording() as found, span("stage1"):
        clock.pass_(2)
        assert worked(found) == {"stage1": 2.0}
        assert found.table().rows[0].lasted == pytest.approx(2.0)
        clock.pass_(1)
    assert worked(found) == {"stage1": 3.0}


def test_threads_are_told_apart_and_their_overlap_is_counted_once(clock: Clock) -> None:
    def work(inside: threading.Event, enough: threading.Event) -> None:
        with span("decode"):
            inside.set()
            enough.wait(60)

    events = {name: (threading.Event(), threading.Event()) for name in ("one", "other")}
    threads = {name: threading.Thread(target=work, args=pair, name=name) for name, pair in events.items()}
    with recording() as found:
        for name, thread in threads.items():
            thread.start()
            assert events[name][0].wait(60)
        for name, seconds in (("one", 2.0), ("other", 1.0)):
            clock.pass_(seconds)
            events[name][1].set()
            threads[name].join()
    table = found.table()
    assert table.rows[0].worked == pytest.approx(5.0)
    assert table.rows[0].lasted == pytest.approx(3.0)
    assert table.at_work == pytest.approx((0.0, 1.0, 2.0))
    assert table.threads_busy == pytest.approx(5 / 3)


def test_a_generator_closed_late_spoils_nothing(clock: Clock) -> None:
    def frames() -> Generator[int, None, None]:
        with span("decode"):
            yield 1

    with recording() as found:
        drawn = frames()
        next(drawn)
        with span("shots"):
            clock.pass_(1)
            drawn.close()
            clock.pass_(1)
        clock.pass_(4)
    assert worked(found) == {"shots": 2.0, "decode": 0.0}


def test_spanned_marks_the_drawing_only(clock: Clock) -> None:
    def frames() -> Iterator[int]:
        for number in range(3):
            clock.pass_(1)
            yield number

    got = []
    with recording() as found:
        for frame in spanned("decode", frames()):
            got.append(frame)
            clock.pass_(10)
    assert got == [0, 1, 2]
    assert worked(found) == {"decode": 3.0}


def test_a_generator_closed_by_another_thread_ends_where_it_was_drawn(clock: Clock) -> None:
    def frames() -> Generator[int, None, None]:
        with span("decode"):
            yield 1

    with recording() as found:
        drawn = frames()
        next(drawn)
        clock.pass_(1)
        thread = threading.Thread(target=drawn.close)
        thread.start()
        thread.join()
        clock.pass_(1)
        with span("shots"):
            clock.pass_(2)
    assert worked(found) == {"decode": 1.0, "shots": 2.0}
    assert found.table().at_work == pytest.approx((1.0, 3.0))
    assert {row.room: row.cpu for row in found.table().rows} == {"shots": pytest.approx(1.0), "decode": 0.0}


def test_a_mark_that_outlives_its_recording_changes_nothing(clock: Clock) -> None:
    with recording() as found:
        late = span("decode")
        late.__enter__()
        clock.pass_(1)
    before = found.table()
    clock.pass_(5)
    late.__exit__(None, None, None)
    assert found.table() == before
    assert worked(found) == {"decode": 1.0}


def test_memory_has_a_mean_over_time_and_a_peak(clock: Clock) -> None:
    with recording() as found:
        clock.pass_(7)
        for value, seconds in ((4.0, 10), (0.0, 30), (2.0, 40)):
            found.count_memory(value)
            clock.pass_(seconds)
    with recording() as even:
        for _ in range(100):
            even.count_memory(0.1)
            clock.pass_(0.3)
    (level,) = found.table().levels
    assert (level.name, level.peak) == (MEMORY, 4.0)
    assert level.mean == pytest.approx((4 * 10 + 2 * 40) / 80)
    (level,) = even.table().levels
    assert (level.mean, level.peak) == (pytest.approx(0.1), 0.1)
    assert level.mean <= level.peak


def test_nothing_is_kept_while_nothing_records() -> None:
    """The same object each time, and no memory taken, whatever the wall says."""
    assert span("decode") is span("shots") is waiting("stage1", "frames")

    def mark() -> None:
        for _ in range(1000):
            with span("decode"):
                pass
            with waiting("stage1", "frames"):
                pass

    def taken() -> int:
        tracemalloc.start()
        mark()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    # Of several, for whatever else the process does meanwhile takes memory too.
    assert min(taken() for _ in range(5)) < 1000


def test_time_passes_by_the_real_clock() -> None:
    with recording() as found, span("mix"):
        time.sleep(0.02)
    row = found.table().rows[0]
    assert row.worked >= 0.015
    assert row.worked <= found.table().wall
    assert row.cpu < row.worked
