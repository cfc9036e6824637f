"""What became of the films, in lines, in a table and for programs; and what is said while they are at work."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shotad.batch import (
    BatchProgress,
    FilmRow,
    Planned,
    Report,
    as_lines,
    as_table,
    failed_in,
    labels,
    read_report,
)
from shotad.batch.batch import PAUSE
from shotad.batch.jobs import FilmJob, FilmResult, failure
from shotad.batch.workers import TaskNews
from shotad.core import UsageError


def film(place: str, *uses: str) -> Planned:
    return Planned(FilmJob(place, place.replace(".mp4", ".shotad")), 5_000_000, uses)


def result(place: str, **more: object) -> FilmResult:
    known = {"slots": 15, "lines": 14, "silences": 2, "film_seconds": 600.0, "wall_seconds": 252.0, **more}
    return FilmResult(place, "w", "done", **known)  # type: ignore[arg-type]


def rows() -> list[FilmRow]:
    a, b, c, d, e = (film(f"/f/{name}.mp4", *(["b.srt"] * (name == "b"))) for name in "abcde")
    broken = failure(c.job, "c.mp4 is no film.", "Give the film itself.", kind="FilmError")
    return [
        FilmRow("a.mp4", a, result("/f/a.mp4")),
        FilmRow("b.mp4", b, FilmResult("/f/b.mp4", "w", "skipped", slots=1, lines=1)),
        FilmRow("c.mp4", c, broken), FilmRow("d.mp4", d, None, begun=True), FilmRow("e.mp4", e),
    ]  # fmt: skip


def told(**more: object) -> FilmRow:
    """A film of which there is more to tell."""
    return FilmRow("a.mp4", film("/f/a.mp4"), result("/f/a.mp4", amiss=2, attempts=2, **more))


def test_labels_and_rows_tell_films_apart_with_errors_below() -> None:
    lines = as_table(rows(), 300, 100).splitlines()
    assert lines[0].split() == ["Film", "State", "Lines", "Silences", "Time", "×", "length", "With"]
    assert lines[1].split() == ["a.mp4", "done", "14", "of", "15", "2", "4", "min", "12", "s", "0.42"]
    assert lines[2].endswith("b.srt")
    assert "c.mp4: c.mp4 is no film. Give the film itself." in lines
    assert max(map(len, lines[:6])) <= 100
    assert as_table(rows(), 300, 40) == as_lines(rows(), 300)
    more = [told(warnings=("Review again.",), spent=("decode 3 s",))]
    assert (
        "2 lines could not be written, 2 long silences, in 4 min 12 s (0.42 times its length) at try 2."
        in as_lines(more, 1)
    )
    for lines in (as_lines(more, 300).splitlines()[1:3], as_table(more, 300, 100).splitlines()[4:6]):
        assert lines == ["  Note: Review again.", "  decode 3 s"]
    # Labels tell films of one name apart.
    places = ["/x/a/m.mp4", "/x/b/m.mp4", "/x/b/n.mp4", "/y/b/m.mp4", "s3://me:secret@bucket/a.mp4"]
    found = labels([film(place) for place in places])
    assert found == ["a/m.mp4", "x/b/m.mp4", "n.mp4", "y/b/m.mp4", "a.mp4"]
    assert labels([film("/m.mp4"), film("/m.mp4")]) == ["/m.mp4", "/m.mp4"]


class Heard:
    """A front end that keeps what it is told, and its own bars."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.open: list[str] = []

    def task(self, name: str, total: float | None, unit: str) -> Any:
        self.open.append(name)
        return SimpleNamespace(advance=lambda amount=1: None, done=lambda: self.open.remove(name))

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_without_bars_few_lines_tell_of_several_films() -> None:
    heard, now = Heard(), [0.0]
    board = BatchProgress(heard, False, lambda: now[0])
    board.start(3)
    board.begun("a.mp4", 1, 3, "5.0 MB")
    board.begun("b.mp4", 2, 3, "")
    board.heard("a.mp4", TaskNews(0, "Finding shots", 200.0, "s"))
    board.heard("a.mp4", TaskNews(0, "Finding shots", 200.0, "s", 50))
    board.heard("b.mp4", "Fetching weights")
    for second in range(0, int(PAUSE) + 1, 5):
        now[0] = second
        board.still("0 of 3 films are done.")
    board.ended(rows()[0])
    board.begun("c.mp4", 3, 3, "5.0 MB", tries=2)
    assert heard.notes == [
        "a.mp4: begun, film 1 of 3, 5.0 MB.", "b.mp4: begun, film 2 of 3.", "b.mp4: Fetching weights",
        "After 1 min 0 s: a.mp4: finding shots 25%; b.mp4: at work. 0 of 3 films are done.",
        "a.mp4: done, 14 lines in 15 slots, 2 long silences, in 4 min 12 s (0.42 times its length).",
        "c.mp4: begun again, try 2.",
    ]  # fmt: skip
    assert heard.open == []


def test_bars_go_with_their_film() -> None:
    heard = Heard()
    board = BatchProgress(heard, True)
    board.start(2)
    board.begun("a.mp4", 1, 2, "")
    for news in (
        TaskNews(0, "Finding shots", 200.0, "s"),
        TaskNews(1, "Stage I", None, "slots"),
        TaskNews(0, "Finding shots", 200.0, "s", 9),
        TaskNews(0, "Finding shots", 200.0, "s", 9, ended=True),
    ):
        board.heard("a.mp4", news)
    assert heard.open == ["All films", "a.mp4: Stage I"]
    board.ended(rows()[0])
    assert heard.open == ["All films"]
    board.begun("b.mp4", 2, 2, "")
    board.heard("b.mp4", TaskNews(0, "Finding shots", 200.0, "s"))
    board.stop()
    assert heard.open == []


def test_a_report_is_whole_at_any_time_and_read_again(tmp_path: Path) -> None:
    now = [0.0]
    report = Report(
        tmp_path / "r.json",
        [{"film": "/f/old.mp4", "state": "done"}, {"film": "/f/c.mp4", "state": "done"}],
        lambda: now[0],
    )
    report.write(lambda: rows()[:1], 1)
    assert [row["film"] for row in read_report(report.path)] == ["/f/old.mp4", "/f/c.mp4", "/f/a.mp4"]
    report.write(rows, 2)  # too soon for another writing
    assert len(read_report(report.path)) == 3
    report.write(rows, 3, ended=True)
    found = read_report(report.path)
    assert [row["film"] for row in found] == [f"/f/{name}.mp4" for name in ("old", *"abcde")]
    assert failed_in(found) == ["/f/c.mp4"]


def test_a_report_that_cannot_be_written_is_told_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[str] = []
    report = Report(tmp_path / "file" / "r.json", told=told.append)
    report.write(rows, 1)
    report.write(rows, 2, ended=True)
    assert report.trouble is not None
    assert told == [f"No report: {report.trouble}"]
    assert "--report" in told[0]
    (tmp_path / "file").unlink()
    report.write(rows, 3, ended=True)
    assert report.trouble is None


@pytest.mark.parametrize("text", [None, "", "[]", '{"films": [{"state": "done"}]}', '{"films": 3}'])
def test_what_is_no_report_is_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "r.json").write_text(text)
    with pytest.raises(UsageError, match=r"r\.json"):
        read_report(tmp_path / "r.json")
