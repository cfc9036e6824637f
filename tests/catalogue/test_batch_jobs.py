"""One film of many in this process: done, skipped, failed, marked."""

from __future__ import annotations

import json
import os
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.batch import done_before
from shotad.batch.describing import describe_film
from shotad.batch.jobs import DONE, FilmJob, FilmResult, failure, mark_done, run_key
from shotad.batch.limits import Need
from shotad.core import NoRoom, UsageError, WorkFolder, load_config
from shotad.description import Engines
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


def test_jobs_and_results_travel_unchanged_and_those_of_no_sense_are_refused(tmp_path: Path) -> None:
    one = job(
        tmp_path, end=5.0, makes=("film", "ad:mp3"), configs=("paper",), cast="/cast", rate="24000/1001"
    )
    assert pickle.loads(pickle.dumps(one)) == one
    result = replace(failure(one, "what", "hint", kind="FilmError"), warnings=("a",), files=("b",))
    assert pickle.loads(pickle.dumps(result)) == result
    row = json.loads(json.dumps(result.as_json()))
    assert (row["error"], row["warnings"], row["files"]) == (["what", "hint"], ["a"], ["b"])
    for wrong in ({"start": 5, "end": 5}, {"rate": "0/1"}):
        with pytest.raises(UsageError):
            job(tmp_path, **wrong)
    with pytest.raises(ValueError, match="needs a film"):
        FilmJob("", "folder")
    with pytest.raises(UsageError, match="after the start"):
        FilmJob("film", "folder", start=5, end=5)
    with pytest.raises(UsageError, match="rate"):
        FilmJob("film", "folder", rate="0/1")
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
    assert [done_before(other) for other in others] == [None] * len(others)
    assert run_key(replace(marked, timed=True, scratch="/x")) == run_key(marked)
    os.utime(marked.film, ns=(1, 1))
    assert done_before(marked) is None


@pytest.mark.parametrize("name", ["track.json", "movie.ad.vtt", DONE])
def test_a_film_whose_files_are_gone_is_not_done(marked: FilmJob, name: str) -> None:
    (Path(marked.folder) / name).unlink()
    assert done_before(marked) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"key": 1, "files": [], "counts": {}}'])
def test_a_damaged_mark_is_none(marked: FilmJob, text: str) -> None:
    (Path(marked.folder) / DONE).write_text(text)
    assert done_before(marked) is None


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
    assert (held.state, held.kind, held.again) == ("in_use", "InUse", True)
    assert "in use by another shotad" in str(held.error)
    unlooked = load_config(None, (*ASSIGNMENTS[1:], "engine=embedded", "verify.on=true"))
    found = failed(job(tmp_path / "e", config=unlooked))
    assert (found.kind, found.again) == ("EngineError", False)


def test_a_film_may_be_refused_once_it_is_known_what_it_needs(tmp_path: Path) -> None:
    asked: list[Need] = []

    def begin(need: Need) -> None:
        asked.append(need)
        raise NoRoom("There is no room.", "Make some.")

    found = describe_film(job(tmp_path / "w"), begin=begin)
    assert (found.kind, found.error) == ("NoRoom", ("There is no room.", "Make some."))
    assert asked[0].film_seconds == pytest.approx(6.4)
    assert not (tmp_path / "w").exists()


def test_an_unforeseen_error_is_a_logged_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def describe(*_: object, **__: object) -> None:
        raise RuntimeError("nobody has foreseen this")

    monkeypatch.setattr("shotad.description.describe", describe)
    found = failed(job(tmp_path / "w"))
    assert found.kind == "unexpected"
    assert "RuntimeError: nobody has foreseen this" in str(found.error)
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
def test_a_film_of_a_batch_is_to_the_byte_what_describe_makes_of_it(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from shotad.cli.describe import command

    engines = Engines.of(CONFIG)
    film, other = make_film(FILM).path, make_film(replace(FILM, cuts=(40, 90))).path
    for name, path in (("first", other), ("second", film)):  # the engines have seen another film before
        one = FilmJob(str(path), str(tmp_path / name), CONFIG, assignments=ASSIGNMENTS)
        assert describe_film(one, engines=engines).state == "done"
    words = [str(film), "--out", str(tmp_path / "alone"), "--quiet"]
    words += [word for text in ASSIGNMENTS for word in ("--set", text)]
    CliRunner().invoke(command, words, catch_exceptions=False)
    assert files(tmp_path / "second") == {**files(tmp_path / "alone"), DONE: files(tmp_path / "second")[DONE]}


def test_another_version_of_a_film_leaves_the_track_of_the_first_alone(tmp_path: Path) -> None:
    film, folder = tmp_path / "movie.mp4", tmp_path / "w"
    film.write_bytes(make_film(FILM).path.read_bytes())
    assert describe_film(job(folder, film=str(film))).state == "done"
    before = files(folder)
    film.write_bytes(make_film(replace(FILM, frames=180)).path.read_bytes())
    found = failed(job(folder, film=str(film), force=True))
    assert "another version of movie.mp4" in str(found.error)
    assert not found.again
    assert files(folder) == before
    folder.rename(tmp_path / "old")
    assert describe_film(job(folder, film=str(film))).state == "done"
    assert files(tmp_path / "old") == before
