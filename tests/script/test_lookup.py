"""Lines by what people call them, and refusals that name the nearest."""

from __future__ import annotations

import pytest

from shotad.core import Interval, UsageError
from shotad.script import Cue, CueStatus, FilmId, Track, find_lines


def cue(start: float, end: float, status: CueStatus = CueStatus.PLACED) -> Cue:
    name = f"s{round(start * 1000):08d}"
    return Cue(name, name, Interval(start, end), "A line." if status.heard else "", status=status)


TRACK = Track(
    FilmId("film.mp4", "abc", 200.0),
    "en",
    (),
    "0.1.0",
    (
        cue(2.0, 5.0),
        cue(10.0, 14.0, CueStatus.SILENT),
        cue(83.12, 88.0),
        cue(120.2, 120.4),
        cue(120.6, 121.5),
    ),
)


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("s00083120", 83.12),
        (" s00083120 ", 83.12),
        ("1:23", 83.12),
        ("1:23.12", 83.12),
        ("0:01:25", 83.12),
        ("87.9", 83.12),
        ("2.0", 2.0),
        ("0:12", 10.0),
        ("1", 2.0),
        ("2", 83.12),
        ("120.3", 120.2),
        ("2:00.7", 120.6),
    ],
)
def test_a_line_is_found(name: str, start: float) -> None:
    assert [cue.interval.start for cue in find_lines(TRACK, [name])] == [start]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("s00083121", "no line s00083121. The nearest is s00083120, at 00:01:23.120"),
        ("s1", "The nearest is s00002000"),
        ("1:28", "no line at 1:28. The nearest is s00083120"),
        ("88.0", "no line at 88.0"),
        ("0", "no line 0: 4 lines are heard"),
        ("5", "no line 5: 4 lines are heard"),
        ("2:00", "more than one line: s00120200 (00:02:00.200) and s00120600"),
        ("first", "'first' is neither an id nor a time nor a number"),
        ("1:99", "'1:99' is neither"),
        ("-1", "'-1' is neither"),
        ("", "'' is neither"),
    ],
)
def test_what_is_no_line_is_refused_with_the_nearest(name: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_lines(TRACK, [name])
    assert words in str(caught.value)


def test_several_come_in_the_order_of_the_film_each_once() -> None:
    found = find_lines(TRACK, ["1:23", "1", "s00083120"])
    assert [line.interval.start for line in found] == [2.0, 83.12]


def test_an_empty_track_has_no_nearest() -> None:
    with pytest.raises(UsageError, match="no lines"):
        find_lines(TRACK.with_cues([]), ["s00000001"])
