"""What people read of a recording."""

from __future__ import annotations

import pytest

from shotad.core import in_room, lines, memory_of, profiled, span
from shotad.core.profiling import MEMORY, Level, Row, Table, recording, watched

ROWS = (
    Row("stage1", 50.0, 50.0, 49.0, (("frames", 2.5), ("shots", 0.5)), 25),
    Row("decode", 30.0, 20.0, 29.0, (), 1234),
    Row("cast", 0.0, 0.0, 0.0, (), 1),
)


def test_a_table_reads_line_by_line() -> None:
    told = lines(Table(100.0, 120.0, ROWS, (30.0, 60.0, 10.0), (Level("frames ahead", 2.5, 4.0),), 4.0))
    assert told == [
        "Time: 100.0 s by the clock, 120.0 s of the processor, 0.8 threads at work on the average.",
        "  Room    at work  of the run  in threads  processor  times  waited",
        "  stage1   50.0 s         50%      50.0 s     49.0 s     25  6% of its time: 2.5 s for frames, "
        "0.500 s for shots",
        "  decode   20.0 s         20%      30.0 s     29.0 s  1,234  not",
        "Busiest: stage1, at work 50% of the run; it waited 6% of its time, most of it for frames.",
        "No room was at work for 30.0 s (30%): 26.0 s of waiting, 4.0 s without a mark.",
        "frames ahead: 2.5 on the average, at most 4.",
    ]


def test_the_table_of_nothing_says_so() -> None:
    with recording() as found:
        pass
    told = lines(found.table())
    assert "(100%): 0.000 s of waiting, " in told[-1]
    assert len(told) == 3


def test_nothing_is_recorded_where_it_is_not_wanted() -> None:
    with profiled(False) as found, span("mix"):
        assert found is None
    with profiled(True) as found, span("mix"):
        pass
    assert found is not None
    assert found.table().as_json()["busiest"] == "mix"


def test_a_decorated_function_is_its_rooms_and_stays_what_it_is() -> None:
    @in_room("sheet")
    def draw(pages: int) -> int:
        """Draw."""
        return pages + 1

    with recording() as found:
        assert draw(pages=2) == 3
    assert draw.__doc__ == "Draw."
    assert [row.room for row in found.table().rows] == ["sheet"]


@pytest.mark.skipif(memory_of() is None, reason="this system does not tell the memory of a process")
def test_memory_is_watched_while_the_block_lasts() -> None:
    with recording() as found, watched(found, 0.001):
        held = bytearray(30_000_000)
        held[::4096] = b"x" * len(held[::4096])
    (level,) = found.table().levels
    assert level.name == MEMORY
    assert 30 < level.mean <= level.peak < 1e6


def test_a_system_that_does_not_tell_its_memory_is_not_asked_again() -> None:
    asked = []
    with recording() as found, watched(found, 0.001, lambda: asked.append(1)):
        pass
    assert found.table().levels == ()
    assert len(asked) == 2
