"""Where the time goes: nested steps, threads, errors within a span, and nothing while none records."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from shotad.core.profiling import (
    Recording,
    lines,
    profile_steps,
    time_step,
)


class Clock:
    """Time by hand: seconds by the clock; the processor takes half of them."""

    def __init__(self) -> None:
        self.now = 1.0

    def clock(self) -> float:
        return self.now

    def cpu(self) -> float:
        return self.now / 2

    def pass_(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr("shotad.core.profiling.thread_time", one.cpu)
    monkeypatch.setattr("shotad.core.profiling.perf_counter", one.clock)
    monkeypatch.setattr("shotad.core.profiling.process_time", one.cpu)
    monkeypatch.setattr("shotad.core.profiling.peak_memory", lambda: 12_300_000)
    return one


@contextmanager
def recording() -> Iterator[Recording]:
    with profile_steps() as found:
        assert found is not None
        yield found


def worked(found: Recording) -> dict[str, float]:
    return {row.step: round(row.lasted, 6) for row in found.rows()}


def test_a_table_reads_line_by_line(clock: Clock) -> None:
    with recording() as found:
        clock.pass_(2)
        with time_step("stage1"):
            clock.pass_(10)
            with time_step("decode"):
                clock.pass_(3)
            clock.pass_(9)
        with time_step("cast"):
            pass
    assert lines(found) == [
        "Time: 24.0 s by the clock, 12.0 s of the processor.",
        "  Step    at work  of the run  processor  times", "  stage1   19.0 s         79%      9.5 s      1",
        "  decode    3.0 s         12%      1.5 s      1", "No step was at work for 2.0 s (8%).",
        "Memory: at most 12 MB.",
    ]  # fmt: skip
    assert found.as_json() == {
        "wall": 24.0, "cpu": 12.0, "idle": 2.0, "memory": 12_300_000,
        "steps": [
            {"step": "stage1", "lasted": 19.0, "cpu": 9.5, "times": 1},
            {"step": "decode", "lasted": 3.0, "cpu": 1.5, "times": 1},
            {"step": "cast", "lasted": 0.0, "cpu": 0.0, "times": 1},
        ],
    }  # fmt: skip


def test_an_error_ends_its_spans_and_the_recording_and_the_next_one_is_new(clock: Clock) -> None:
    with suppress(KeyError), recording() as kept, time_step("cast"), time_step("sheet"):
        clock.pass_(1)
        raise KeyError("nobody")
    clock.pass_(5)
    with recording() as other, time_step("mix"):
        clock.pass_(2)
        assert worked(other) == {"mix": 2.0}, "what is under way counts up to now"
        clock.pass_(1)
    assert worked(other) == {"mix": 3.0}
    assert worked(kept) == {"sheet": 1.0, "cast": 0.0}
    assert kept.wall == pytest.approx(1.0)


def test_threads_are_told_apart_and_their_overlap_is_counted_once(clock: Clock) -> None:
    def work(inside: threading.Event, enough: threading.Event) -> None:
        with time_step("decode"):
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
    assert (found.rows()[0].lasted, found.idle) == pytest.approx((3.0, 0.0))


def test_nothing_is_kept_while_nothing_records_and_two_at_once_are_refused(clock: Clock) -> None:
    with time_step("decode"), recording() as found:
        late = time_step("shots")
        late.__enter__()
        clock.pass_(1)
    with time_step("shots"):
        clock.pass_(5)
    late.__exit__(None, None, None)
    assert worked(found) == {"shots": 1.0}, "a mark that outlives its recording changes nothing"
    with recording(), pytest.raises(RuntimeError, match="recorded already"), recording():
        pass


def test_time_and_memory_are_those_of_the_machine() -> None:
    with recording() as found, time_step("mix"):
        held = b"x" * 30_000_000
        time.sleep(0.02)
    (mix,) = found.rows()
    assert found.as_json()["memory"] > len(held)
    assert 0.015 <= mix.lasted <= found.wall
    assert mix.cpu < mix.lasted
