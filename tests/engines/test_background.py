"""Threads that nobody has to wait for."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from shotad.core import Recording
from shotad.core.profiling import recording
from shotad.engines import Belt, CalledOff, Flow, begun, in_order


def test_results_stand_in_the_order_of_the_items() -> None:
    others = threading.Barrier(3)

    def work(item: int) -> int:
        others.wait(20)
        return 2 * item

    assert in_order(work, range(9), 3) == [0, 2, 4, 6, 8, 10, 12, 14, 16]
    assert in_order(work, [], 3) == []


def test_no_more_are_worked_on_at_once_than_may_be() -> None:
    lock = threading.Lock()
    now, most = 0, 0

    def work(item: int) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        threading.Event().wait(0.005)
        with lock:
            now -= 1

    in_order(work, range(12), 2)
    assert most == 2


def test_after_an_exception_nothing_is_begun_and_it_is_raised() -> None:
    begun_items: list[int] = []

    def work(item: int) -> None:
        begun_items.append(item)
        if item == 2:
            raise ValueError("number two")

    with pytest.raises(ValueError, match="number two"):
        in_order(work, range(50), 1)
    assert begun_items == [0, 1, 2]


def test_an_exception_stands_in_the_future() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        begun(fail).result(20)


def test_the_end_of_the_program_waits_for_no_thread() -> None:
    script = "import threading; from shotad.engines.background import begun; begun(threading.Event().wait)"
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0


def test_a_belt_hands_on_in_order_and_then_the_error() -> None:
    belt: Belt[int] = Belt(2)

    def items() -> Iterator[int]:
        yield from range(5)
        raise ValueError("the sixth")

    threading.Thread(target=belt.fill, args=(items(),)).start()
    assert [next(belt) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="sixth"):
        next(belt)


def test_the_profile_is_told_how_much_lies_on_a_belt_until_it_is_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stood: dict[str, list[float]] = {}
    monkeypatch.setattr(Recording, "count", lambda _, name, value: stood.setdefault(name, []).append(value))
    with recording():
        belt: Belt[int] = Belt(3, maker="grammar", taker="frames")
        belt.fill(range(3))
        assert list(belt) == [0, 1, 2]
        left: Belt[int] = Belt(3, maker="frames", taker="stage1")
        left.put(0)
        left.stop()
    assert stood == {"grammar ahead": [1, 2, 3, 2, 1, 0], "frames ahead": [1, 0]}


def test_who_makes_is_held_up_when_the_belt_is_full() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for number in range(10):
            made.append(number)
            yield number

    with Flow() as flow:
        found = flow.ahead(items(), 2)
        assert next(found) == 0
        deadline = threading.Event()
        while len(made) < 4:
            assert not deadline.wait(0.01)
        assert not deadline.wait(0.05)
        assert len(made) == 4
        assert list(found) == list(range(1, 10))


def test_the_end_of_a_flow_wakes_all_who_wait_and_closes_what_they_read() -> None:
    closed = threading.Event()

    def endless(source: Iterator[int]) -> Iterator[int]:
        try:
            yield from source
        finally:
            closed.set()

    before = threading.active_count()
    with Flow() as flow:
        nothing = flow.belt()
        flow.ahead(endless(nothing), 1)
        full = flow.ahead(iter(range(100)), 1)
        assert next(full) == 0
    assert closed.is_set()
    assert threading.active_count() == before


def test_threads_of_an_inner_flow_are_waited_for_by_the_outer_one() -> None:
    before = threading.active_count()
    with Flow() as outer:
        never = outer.belt()
        with Flow(outer) as inner:
            inner.ahead(never, 1)
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_after_the_end_nothing_is_kept() -> None:
    kept: list[int] = []
    with Flow() as flow:
        flow.kept(kept.append, 1)
    with pytest.raises(CalledOff):
        flow.kept(kept.append, 2)
    with pytest.raises(CalledOff):
        flow.begin(print, name="late")
    assert kept == [1]
