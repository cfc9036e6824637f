"""One film of many in this process: done, skipped, failed, marked; what became of the films, in lines, in a table and for
programs; and what is said while they are at work."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.batch import (
    BatchProgress,
    BatchReport,
    FilmRow,
    PlannedFilm,
    as_lines,
    as_table,
    describe_film,
    earlier_result,
    failed_in,
    film_labels,
    read_report,
)
from shotad.batch.jobs import DONE, FilmJob, FilmResult, failure, mark_done, run_key
from shotad.core import Progress, WorkFolder, load_config
from shotad.core.errors import DiskFull, UsageError
from shotad.description import Engines
from shotad.engines.fake import FakeEngine
from tests import runs
from tests.cli.program import Shotad
from tests.media import FilmSpec, make_film

ASSIGNMENTS = (
    "engine=fake", "slots.find_credits=false", "speech.source=none", "shots.detector=adaptive", "scale.method=none", "threads.features=none",
)  # fmt: skip
CONFIG = load_config(None, ASSIGNMENTS)
FILM = FilmSpec(frames=160, cuts=(60, 110))


def job(folder: Path, **more: object) -> FilmJob:
    known: dict[str, object] = {"film": str(make_film(FILM).path), "config": CONFIG, "sheet": False}
    return FilmJob(folder=str(folder), **{**known, **more})  # type: ignore[arg-type]


def failed(one: FilmJob) -> FilmResult:
    """The result of a film that cannot be described; it says why."""
    found = describe_film(one)
    assert found.error is not None
    return found


def test_results_become_rows_and_jobs_of_no_sense_are_refused(tmp_path: Path) -> None:
    result = replace(failure(job(tmp_path), "what", "hint", kind="FilmError"), warnings=("a",), files=("b",))
    row = json.loads(json.dumps(result.as_json()))
    assert (row["error"], row["warnings"], row["files"]) == (["what", "hint"], ["a"], ["b"])
    for more, error in (
        ({"start": 5, "end": 5}, "after the start"),
        ({"rate": "0/1"}, "rate"),
        ({"film": ""}, "needs a film"),
    ):
        with pytest.raises((UsageError, ValueError), match=error):
            job(tmp_path, **more)
    with pytest.raises(ValueError, match="error"):
        FilmResult("film", "folder", "failed")


# Done before
@pytest.fixture
def marked(tmp_path: Path) -> FilmJob:
    """A film that is marked as done, without having been described."""
    film = tmp_path / "movie.mp4"
    film.write_bytes(b"film")
    one = FilmJob(str(film), str(tmp_path / "movie.shotad"), CONFIG)
    work, files = Path(one.folder), ("track.json", "movie.ad.vtt")
    work.mkdir()
    for name in files:
        (work / name).write_text("{}")
    mark_done(one, work, FilmResult(one.film, one.folder, "done", slots=3, lines=2, files=files))
    return one


def test_what_changes_a_run_makes_a_film_undone(marked: FilmJob, tmp_path: Path) -> None:
    found = describe_film(marked)  # it is not even opened
    assert (found.state, found.slots, found.lines, found.attempts) == ("skipped", 3, 2, 0)
    assert found.files == ("track.json", "movie.ad.vtt")
    (tmp_path / "movie.srt").write_text("")
    others = (
        replace(marked, config=load_config(None, ["seed=7"])), replace(marked, makes=("film",)),
        replace(marked, end=5.0), replace(marked, subtitles=str(tmp_path / "movie.srt")),
        replace(marked, sheet=False), replace(marked, force=True), replace(marked, discard_edits=True),
    )  # fmt: skip
    assert [earlier_result(other) for other in others] == [None] * len(others)
    assert run_key(replace(marked, timed=True, scratch="/x")) == run_key(marked)
    os.utime(marked.film, ns=(1, 1))
    assert earlier_result(marked) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [("track.json", None), ("movie.ad.vtt", None), (DONE, None), (DONE, ""), (DONE, "[]"), (DONE, "{}"),
     (DONE, '{"key": 1, "files": [], "counts": {}}')],
)  # fmt: skip
def test_a_film_whose_files_are_gone_or_whose_mark_is_damaged_is_not_done(
    marked: FilmJob, name: str, text: str | None
) -> None:
    file = Path(marked.folder) / name
    file.unlink()
    if text is not None:
        file.write_text(text)
    assert earlier_result(marked) is None


# What fails
def test_a_failure_says_whether_another_try_may_go_better(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "broken.mp4").write_bytes(b"\0\1\2" * 1000)
    broken = failed(job(tmp_path / "w", film=str(tmp_path / "broken.mp4")))
    assert (broken.state, broken.kind, "broken.mp4" in str(broken.error)) == ("failed", "FilmError", True)
    assert not (tmp_path / "w").exists()
    others = failed(job(tmp_path / "w", film="none.mp4")), failed(job(tmp_path / "file" / "w"))
    assert [one.again for one in (broken, *others)] == [False] * 3
    with WorkFolder(tmp_path / "held"):
        held = failed(job(tmp_path / "held"))
    assert (held.state, held.kind, held.again) == ("in_use", "FolderInUse", True)
    assert "in use by another shotad" in str(held.error)
    unlooked = load_config(None, (*ASSIGNMENTS[1:], "engine=embedded", "verify.on=true"))
    found = failed(job(tmp_path / "e", config=unlooked))
    assert (found.kind, found.again) == ("EngineError", False)


def test_a_film_may_be_refused_once_it_is_known_what_it_needs(tmp_path: Path) -> None:
    asked: list[Any] = []

    def begin(need: Any) -> None:
        asked.append(need)
        raise DiskFull("There is no room.", "Make some.")

    found = describe_film(job(tmp_path / "w"), begin=begin)
    assert (found.kind, found.error) == ("DiskFull", ("There is no room.", "Make some."))
    assert asked[0].film_seconds == pytest.approx(6.4)
    assert not (tmp_path / "w").exists()


class Broken(FakeEngine):
    """An engine with a fault of its own."""

    def get_ready(self, progress: Progress) -> None:
        raise RuntimeError("nobody has foreseen this")


def test_an_unforeseen_error_is_a_logged_result(tmp_path: Path) -> None:
    result = describe_film(job(tmp_path / "w"), engines=Engines(Broken(), FakeEngine()))
    assert result.kind == "unexpected"
    assert "RuntimeError: nobody has foreseen this" in str(result.error)
    assert "Traceback" in (tmp_path / "w" / "log.txt").read_text()
    assert not (tmp_path / "w" / DONE).exists()


# Described
def files(folder: Path) -> dict[str, bytes]:
    """All files that hold no times of day, by name."""
    apart = ("log.txt", ".lock", ".track.lock")
    found = (path for path in folder.rglob("*") if path.is_file() and path.name not in apart)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_a_film_is_described_marked_and_then_left_alone(tmp_path: Path) -> None:
    found = describe_film(job(tmp_path / "a", timed=True))
    assert (found.state, found.slots, found.lines, found.amiss) == ("done", 1, 1, 0)
    assert found.peak > 1e7
    assert found.spent
    assert found.film_seconds == pytest.approx(6.4, abs=0.1)
    before = files(tmp_path / "a")
    assert set(found.files) <= set(before)
    assert describe_film(job(tmp_path / "a")).state == "skipped"
    assert files(tmp_path / "a") == before
    # The pace is that of what is described.
    part, again = (describe_film(job(tmp_path / "b", start=1.0, end=4.0)) for _ in range(2))
    assert part.film_seconds == pytest.approx(3.0)
    assert part.pace == pytest.approx(part.wall_seconds / 3.0)
    assert (again.state, again.film_seconds) == ("skipped", part.film_seconds)


@pytest.mark.slow
def test_a_film_of_a_batch_is_to_the_byte_what_describe_makes_of_it(shotad: Shotad, tmp_path: Path) -> None:
    engines = Engines.of(CONFIG)
    film, other = make_film(FILM).path, make_film(replace(FILM, cuts=(40, 90))).path
    for name, path in (("first", other), ("second", film)):  # the engines have seen another film before
        one = FilmJob(str(path), str(tmp_path / name), CONFIG, assignments=ASSIGNMENTS)
        assert describe_film(one, engines=engines).state == "done"
    settings = [word for text in ASSIGNMENTS for word in ("--set", text)]
    assert shotad("describe", film, "--out", tmp_path / "alone", "--quiet", *settings).code == 0
    assert files(tmp_path / "second") == {**files(tmp_path / "alone"), DONE: files(tmp_path / "second")[DONE]}


def film(place: str, *uses: str) -> PlannedFilm:
    return PlannedFilm(FilmJob(place, place.replace(".mp4", ".shotad")), 5_000_000, uses)


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


def test_a_row_does_not_name_what_did_not_fit() -> None:
    b = film("/f/b.mp4", "b.srt", "b.cast")
    row = FilmRow("b.mp4", b, result("/f/b.mp4", unused=("b.srt",), warnings=("b.srt is not used",)))
    lines = as_lines([row], 300)
    assert "With b.cast." in lines
    assert "Note: b.srt is not used" in lines


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
    found = film_labels([film(place) for place in places])
    assert found == ["a/m.mp4", "x/b/m.mp4", "n.mp4", "y/b/m.mp4", "a.mp4"]
    assert film_labels([film("/m.mp4"), film("/m.mp4")]) == ["/m.mp4", "/m.mp4"]


def test_without_bars_a_line_says_what_begins_and_what_came_of_it() -> None:
    progress = runs.Heard()
    board = BatchProgress(progress, False)
    board.start(3)
    board.begun("a.mp4", 1, 3, "5.0 MB")
    board.begun("b.mp4", 2, 3, "")
    board.heard("b.mp4", "Fetching weights")
    board.ended(rows()[0])
    board.begun("c.mp4", 3, 3, "5.0 MB", tries=2)
    assert progress.notes == [
        "a.mp4: begun, film 1 of 3, 5.0 MB.", "b.mp4: begun, film 2 of 3.", "b.mp4: Fetching weights",
        "a.mp4: done, 14 lines in 15 slots, 2 long silences, in 4 min 12 s (0.42 times its length).",
        "c.mp4: begun again, try 2.",
    ]  # fmt: skip
    assert progress.steps == []


def test_a_report_is_whole_at_any_time_and_adds_to_that_of_earlier_runs(tmp_path: Path) -> None:
    now = [0.0]
    earlier_states = {"old": "done", "c": "done", "d": "failed", "e": "failed"}
    earlier = [{"film": f"/f/{name}.mp4", "state": state} for name, state in earlier_states.items()]
    (tmp_path / "r.json").write_text(json.dumps({"films": earlier}))

    def slow_rows() -> list[FilmRow]:
        now[0] += 0.1
        return rows()

    report = BatchReport(tmp_path / "r.json", lambda: now[0])
    report.write(lambda: slow_rows()[:1], 1)
    names = ["old", "c", "d", "e", "a"]
    assert [row["film"] for row in read_report(report.path)] == [f"/f/{name}.mp4" for name in names]
    report.write(rows, 2)  # too soon for another writing
    assert len(read_report(report.path)) == 5
    report.write(rows, 3, ended=True)
    states = {Path(row["film"]).stem: row["state"] for row in read_report(report.path)}
    assert list(states) == ["old", "c", "d", "e", "a", "b"]
    assert states["old"] == "done"
    # One that was stopped, or not begun, has failed still.
    assert failed_in(read_report(report.path)) == ["/f/c.mp4", "/f/d.mp4", "/f/e.mp4"]


def test_two_batches_may_report_to_one_file(tmp_path: Path) -> None:
    reports = [BatchReport(tmp_path / "r.json") for _ in range(2)]
    reports[0].write(lambda: rows()[:1], 1)
    reports[1].write(lambda: rows()[1:2], 1, ended=True)
    reports[0].write(lambda: rows()[:1], 2, ended=True)
    assert [Path(row["film"]).stem for row in read_report(tmp_path / "r.json")] == ["a", "b"]


def test_a_report_that_cannot_be_written_is_told_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[str] = []
    report = BatchReport(tmp_path / "file" / "r.json", on_note=told.append)
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
