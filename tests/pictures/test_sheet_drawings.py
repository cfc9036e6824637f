"""The time line and the scores of a sheet: what stands where, and how it is told apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from shotad.core import Interval
from shotad.description.overview import thumbnail
from shotad.description.overview_data import Subject, read_subject
from shotad.description.overview_page import score_table
from shotad.description.overview_timeline import Span, row_times, timeline
from shotad.script import CueStatus
from tests.sheetfolder import Made, make_folder


def subject_of(folder: Path, made: Made) -> Subject:
    return read_subject(make_folder(folder, made))


@pytest.mark.parametrize(
    ("end", "shots", "length", "rows"),
    [
        (3.0, 1, 15, 1), (44.5, 10, 15, 3), (70.5, 17, 15, 5), (1200.0, 300, 120, 10), (600.0, 4, 120, 5),
        (7200.0, 1500, 120, 60), (7200.0, 7000, 120, 60), (7200.0, 30, 600, 12), (90_000.0, 9000, 600, 150),
    ],
)  # fmt: skip
def test_rows_of_the_time_line(end: float, shots: int, length: int, rows: int) -> None:
    found = row_times(end, shots)
    assert (found[0].duration, len(found)) == (length, rows)
    assert found[0].start == 0
    assert found[-1].start < end <= found[-1].end


def spans(parts: tuple[Span, ...]) -> list[tuple[str, float, float]]:
    """Kind, start and end in seconds of a row of 15 s."""
    return [(p.kind, round(p.left * 0.15, 6), round((p.left + p.width) * 0.15, 6)) for p in parts]


def test_the_time_line_shows_what_happens_when(tmp_path: Path) -> None:
    (row,) = timeline(subject_of(tmp_path, Made(shots=3, length=5, threads=2)))
    assert spans(row.shots) == [("shot", 0, 5), ("shot", 5, 10), ("shot", 10, 15)]
    assert [(p.words, p.thread) for p in row.shots] == [("0 A", "A"), ("1 B", "B"), ("2 A", "A")]
    assert spans(row.speech) == [("speech", 2.5, 3.5), ("lyrics", 7.5, 8.5), ("speech", 12.5, 13.5)]
    assert spans(row.slots) == [("slot", 0.2, 2.2), ("slot", 10.2, 12.2)]
    assert spans(row.lines) == [("heard", 0.2, 1.7), ("heard", 10.2, 11.7)]
    assert [(round(place * 0.15, 6), words) for place, words in row.ticks[:2]] == [(0, "00:00"), (1, "00:01")]
    assert row.end == 100


def test_the_last_row_ends_with_the_film(tmp_path: Path) -> None:
    rows = timeline(subject_of(tmp_path, Made(shots=5, every=5)))
    assert [row.end for row in rows] == pytest.approx([400 / 3, 100 / 3])
    assert max(p.left + p.width for p in rows[1].shots) == pytest.approx(rows[1].end)
    assert [words for _, words in rows[1].ticks] == ["00:15", "00:16", "00:17", "00:18", "00:19", "00:20"]


def test_a_shot_without_room_loses_its_number_first(tmp_path: Path) -> None:
    for length, words in ((1.0, {"0 A", "1 B", "2 A"}), (0.3, {"A", "B"}), (0.1, {""})):
        made = Made(shots=3, length=length, every=20, threads=2)
        assert {p.words for p in timeline(subject_of(tmp_path / f"{length}", made))[0].shots} == words


def test_the_text_of_a_line_stands_where_it_has_room(tmp_path: Path) -> None:
    subject = subject_of(tmp_path, Made(shots=7, every=1))
    crossing = replace(subject.lines[3].cue, interval=Interval(14.8, 16.3))
    lines = (*subject.lines[:3], replace(subject.lines[3], cue=crossing))
    one, two = timeline(replace(subject, lines=lines))
    assert spans(one.texts) == [("heard", 0.2, 4.2), ("heard", 4.2, 8.2), ("heard", 8.2, 14.8)]
    assert spans(two.texts) == [("heard", 0, 15)]
    assert two.texts[0].words == crossing.text


def test_lines_that_are_not_spoken_look_different(tmp_path: Path) -> None:
    heard, silent = (
        timeline(subject_of(tmp_path / status, Made(status=status, threads=0)))[0]
        for status in (CueStatus.PLACED, CueStatus.SILENT)
    )
    assert {p.kind for p in (*heard.lines, *heard.texts)} == {"heard"}
    assert {p.kind for p in (*silent.lines, *silent.texts)} == {"unheard"}
    assert {p.words for p in silent.texts} == {"silent"}


def test_scores_as_a_table(tmp_path: Path) -> None:
    subject = subject_of(tmp_path, Made(shots=6))
    table = score_table(subject.lines[1], subject)
    assert table is not None
    assert table.names == ("Shot 0 B", "Shot 1 A", "Shot 2 B", "Shot 3 A")
    assert [score.words for score in table.cells[0]] == ["", "0.12", "0.51", "0.12"]
    assert [score.joined for score in table.cells[1]] == [False, False, False, True]
    assert table.cells[0][2] == table.cells[2][0]
    assert score_table(subject.lines[1], replace(subject, scores={})) is None


def test_thumbnails_keep_their_shape_and_never_grow() -> None:
    sizes = {(1920, 1080): (192, 108), (108, 192): (108, 192), (100, 50): (100, 50), (30_000, 1): (24_942, 1)}
    for size, expected in sizes.items():
        assert thumbnail(Image.new("RGB", size), 20736).size == expected
