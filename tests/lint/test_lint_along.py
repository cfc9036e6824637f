"""What lies near a time."""

from __future__ import annotations

from hypothesis import given, strategies as st

from shotad.core import Interval
from shotad.script import IntervalIndex

INTERVALS = st.builds(
    lambda start, length: Interval(start / 4, (start + length) / 4), st.integers(0, 80), st.integers(1, 40)
)


@given(st.lists(INTERVALS, max_size=12), INTERVALS, st.integers(0, 8))
def test_nothing_near_is_left_out(items: list[Interval], time: Interval, window: int) -> None:
    found = IntervalIndex.of(items, lambda item: item).near(time, window)
    wide = Interval(max(0, time.start - window), time.end + window)
    assert [item for item in found if item.overlaps(wide)] == sorted(
        (item for item in items if item.overlaps(wide)), key=lambda item: item.start
    )


def test_what_is_far_is_not_looked_at() -> None:
    items = [Interval(10.0 * i, 10.0 * i + 5) for i in range(1000)]
    assert IntervalIndex.of(items, lambda item: item).near(Interval(502, 503)) == (Interval(500, 505),)
    assert IntervalIndex[Interval].of([], lambda item: item).near(Interval(0, 1), 9) == ()
