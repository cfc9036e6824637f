"""The time line and the scores of a sheet: what stands where, and how it is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.description.overview_data import read_subject
from shotad.description.overview_page import Span, row_times, timeline
from tests.sheetfolder import Made, make_folder


@pytest.mark.parametrize(("end", "shots", "length", "rows"), [
    (3.0, 1, 15, 1), (44.5, 10, 15, 3), (70.5, 17, 15, 5), (1200.0, 300, 120, 10), (600.0, 4, 120, 5),
    (7200.0, 1500, 120, 60), (7200.0, 7000, 120, 60), (7200.0, 30, 600, 12), (90_000.0, 9000, 600, 150),
])  # fmt: skip
def test_rows_of_the_time_line(end: float, shots: int, length: int, rows: int) -> None:
    found = row_times(end, shots)
    assert (found[0].duration, len(found)) == (length, rows)
    assert found[0].start == 0
    assert found[-1].start < end <= found[-1].end


def spans(parts: tuple[Span, ...]) -> list[tuple[str, float, float]]:
    """Kind, start and end in seconds of a row of 15 s."""
    return [(p.kind, round(p.left * 0.15, 6), round((p.left + p.width) * 0.15, 6)) for p in parts]


def test_the_time_line_shows_what_happens_when(tmp_path: Path) -> None:
    (row,) = timeline(read_subject(make_folder(tmp_path, Made(shots=3, length=5, threads=2))))
    assert spans(row.shots) == [("shot", 0, 5), ("shot", 5, 10), ("shot", 10, 15)]
    assert [(p.words, p.thread) for p in row.shots] == [("0 A", "A"), ("1 B", "B"), ("2 A", "A")]
    assert spans(row.speech) == [("speech", 2.5, 3.5), ("lyrics", 7.5, 8.5), ("speech", 12.5, 13.5)]
    assert spans(row.slots) == [("slot", 0.2, 2.2), ("slot", 10.2, 12.2)]
    assert spans(row.lines) == [("heard", 0.2, 1.7), ("heard", 10.2, 11.7)]
    assert [(round(place * 0.15, 6), words) for place, words in row.ticks[:2]] == [(0, "00:00"), (1, "00:01")]
    assert row.end == 100
