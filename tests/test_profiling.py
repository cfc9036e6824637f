"""Where the time goes: nested steps, threads, errors within a span, and nothing while none records."""

from __future__ import annotations

import re
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


@contextmanager
def recording() -> Iterator[Recording]:
    with profile_steps() as record:
        assert record is not None
        yield record


def lasted(record: Recording) -> dict[str, float]:
    """Seconds of each step."""
    return {row.step: row.lasted for row in record.rows()}


def test_a_table_reads_line_by_line() -> None:
    with recording() as record:
        time.sleep(0.02)
        with time_step("stage1"):
            time.sleep(1.0)
            with time_step("decode"):
                time.sleep(0.03)
        with time_step("decode"):
            pass
    rows = {row.step: row for row in record.rows()}
    assert rows["stage1"].lasted >= 1
    assert rows["decode"].lasted >= 0.03
    assert record.idle >= 0.02
    # A moment belongs to one step, the innermost, or to none.
    assert rows["stage1"].lasted + rows["decode"].lasted + record.idle == pytest.approx(record.wall)
    total, heads, stage1, decode, idle, memory = lines(record)
    assert re.fullmatch(r"Time: [\d.]+ s by the clock, 0\.\d{3} s of the processor\.", total)
    assert heads.split() == ["Step", "at", "work", "of", "the", "run", "processor", "times"]
    for line, row, seconds in (
        (stage1, rows["stage1"], f"{rows['stage1'].lasted:.1f}"),
        (decode, rows["decode"], f"{rows['decode'].lasted:.3f}"),
    ):
        share = f"{row.lasted / record.wall:.0%}"
        assert line.split() == [row.step, seconds, "s", share, f"{row.cpu:.3f}", "s", str(row.times)]
    assert idle == f"No step was at work for {record.idle:.3f} s ({record.idle / record.wall:.0%})."
    assert re.fullmatch(r"Memory: at most \d+ MB\.", memory)
    row = rows["decode"]
    assert record.as_json()["steps"][1] == {
        "step": "decode", "lasted": round(row.lasted, 3), "cpu": round(row.cpu, 3), "times": 2,
    }  # fmt: skip
    assert (record.as_json()["wall"], record.as_json()["idle"]) == (
        round(record.wall, 3),
        round(record.idle, 3),
    )


def test_an_error_ends_its_spans_and_the_recording_and_the_next_one_is_new() -> None:
    with suppress(KeyError), recording() as first, time_step("cast"), time_step("sheet"):
        time.sleep(0.02)
        raise KeyError("nobody")
    before = lasted(first), first.wall
    time.sleep(0.02)
    with recording() as second, time_step("mix"):
        time.sleep(0.02)
        under_way = lasted(second)
        assert [*under_way] == ["mix"]
        assert under_way["mix"] >= 0.02, "what is under way counts up to now"
        time.sleep(0.02)
    assert lasted(second)["mix"] >= under_way["mix"] + 0.02
    assert (lasted(first), first.wall) == before
    assert [*lasted(first)] == ["sheet", "cast"]
    assert lasted(first)["sheet"] >= 0.02


def test_threads_are_told_apart_and_their_overlap_is_counted_once() -> None:
    def work(inside: threading.Event, enough: threading.Event) -> None:
        with time_step("decode"):
            inside.set()
            enough.wait(60)

    events = [(threading.Event(), threading.Event()) for _ in range(2)]
    threads = [threading.Thread(target=work, args=pair) for pair in events]
    with recording() as record:
        for (inside, _), thread in zip(events, threads, strict=True):
            thread.start()
            assert inside.wait(60)
        for (_, enough), thread in zip(events, threads, strict=True):
            time.sleep(0.05)
            enough.set()
            thread.join()
    (decode,) = record.rows()
    assert decode.times == 2
    assert decode.lasted >= 0.1
    assert decode.lasted + record.idle == pytest.approx(record.wall)


def test_nothing_is_kept_while_nothing_records_and_two_at_once_are_refused() -> None:
    with time_step("decode"), recording() as record:
        late = time_step("shots")
        late.__enter__()
        time.sleep(0.02)
    before = lasted(record)
    with time_step("shots"):
        time.sleep(0.02)
    late.__exit__(None, None, None)
    assert [*before] == ["shots"]
    assert lasted(record) == before, "a mark that outlives its recording changes nothing"
    with recording(), pytest.raises(RuntimeError, match="recorded already"), recording():
        pass


def test_time_and_memory_are_those_of_the_machine() -> None:
    with recording() as record, time_step("mix"):
        held = b"x" * 30_000_000
        time.sleep(0.02)
    (mix,) = record.rows()
    assert record.as_json()["memory"] > len(held)
    assert 0.015 <= mix.lasted <= record.wall
    assert mix.cpu < mix.lasted
