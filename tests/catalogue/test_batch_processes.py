"""``shotad batch`` as a person runs it; worker processes that die, hang or take too much, and the others, which nothing of
that reaches."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import psutil
import pytest

from shotad.batch import BatchProgress, PlannedFilm
from shotad.core import WorkFolder
from shotad.core.trust import trust
from shotad.script import load_track
from tests.catalogue.batch_workers import HOG, MARK, SHORT, batch, begun, planned, results
from tests.cli.program import FAKE, Said, Shotad
from tests.media import FilmSpec, make_film
from tests.python_path import python_path
from tests.runs import Heard

LONGER = FilmSpec(frames=500, cuts=(60, 110, 200, 260, 330, 420))
OPTIONS = (*FAKE, "--no-sheet", "--plain", "--min-free", "10MB")


def start(*words: object) -> subprocess.Popen[str]:
    """Starts ``shotad batch``; the caller waits for it."""
    return python("-m", "shotad", "batch", *words)


def python(*words: object) -> subprocess.Popen[str]:
    """A process of Python with these arguments; the caller waits for it."""
    known = {**os.environ, "PYTHONPATH": python_path(), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *map(str, words)]
    return subprocess.Popen(command, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def said(shotad: Shotad) -> Shotad:
    """A run to its end, in this process."""

    def call(*words: object) -> Said:
        done = shotad("batch", *words)
        assert "Traceback" not in done.out + done.err, done.err[-3000:]
        return done

    return call


def found(text: str) -> dict[str, dict[str, Any]]:
    return {Path(row["film"]).name: row for row in json.loads(text)["films"]}


def films(folder: Path, *names: str, spec: FilmSpec = SHORT) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copyfile(make_film(spec).path, folder / name)


@pytest.mark.slow
def test_films_two_broken_one_killing_its_worker_give_tracks_and_two_errors(
    said: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "films"
    films(place, *(good := [f"good-{n}.mp4" for n in range(3)]))
    films(place, "killer.mp4", spec=LONGER)
    (place / "killer.yaml").write_text('stage1: {engine: "tests.catalogue.batch_workers:Once"}\n')
    (place / "none.mp4").write_text("This was to be a film.\n" * 50)
    whole = make_film(SHORT).path.read_bytes()
    (place / "cut.mp4").write_bytes(whole[: len(whole) // 3])
    mark = tmp_path / "asked.txt"
    # An engine that is named as an option is that of all films: here a file names it.
    base = tmp_path / "base.yaml"
    base.write_text("engine: fake\n")
    trust(str(place))
    without_engine = OPTIONS[OPTIONS.index("fake") + 1 :]
    words = (place, "--out", tmp_path / "out", "--jobs", 2, "--config", base, *without_engine)
    monkeypatch.setenv(MARK, str(mark))
    code, out, err = said(*words)
    assert code == 1
    rows = found((tmp_path / "out" / "shotad-batch.json").read_text())
    done = {name for name, row in rows.items() if row["state"] == "done"}
    assert done == {*good, "killer.mp4"}
    for name in done:
        track = load_track(tmp_path / "out" / f"{Path(name).stem}.shotad" / "track.json")
        assert track.film.name == name
        assert track.heard
    # The film that killed its worker was begun again and asked for nothing that was there.
    assert rows["killer.mp4"]["attempts"] == 2
    asked = mark.read_text().split()
    assert len(asked) == len(set(asked)) + 1 == rows["killer.mp4"]["slots"] + 1
    assert "killer.mp4: The process at work on it was killed (SIGKILL)." in err
    lines = [line for line in out.splitlines() if "failed" in line]
    assert len(lines) == 3  # two films and the sum
    assert "none.mp4 is a text file, not a film. Give the film itself." in lines[1]
    assert "cut.mp4 cannot be read as a film" in lines[0]
    assert "6 films: 4 done, 2 failed." in out

    # Only those that failed would be done.
    out = said("--only-failed", *words[1:-2], "--dry-run").out
    assert "1. cut.mp4: to be described" in out
    assert "2. none.mp4: to be described" in out

    # One is put right; the same command does nothing twice.
    films(place, "cut.mp4")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*/*")}
    code, out, _ = said(*words)
    assert code == 1
    assert "6 films: 1 done, 4 done before, 1 failed." in out
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.slow
def test_a_batch_that_is_stopped_tells_what_is_done_and_goes_on(said: Shotad, tmp_path: Path) -> None:
    films(tmp_path, "a.mp4")
    films(tmp_path, "b.mp4", "c.mp4", spec=LONGER)
    report = tmp_path / "report.json"
    words = (tmp_path, "--jobs", 1, "--report", report, *OPTIONS)
    running = start(*words)
    wait_for((tmp_path / "b.shotad" / "settings.json").exists, running)
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "Traceback" not in err
    assert "a.mp4: done" in out
    assert "c.mp4: not begun" in out
    assert "Stopping: films at work end tidily." in err
    assert "run the same command again" in err
    states = {name: row["state"] for name, row in found(report.read_text()).items()}
    assert states == {"a.mp4": "done", "b.mp4": "stopped", "c.mp4": "not_begun"}
    code, out, _ = said(*words)
    assert code == 0
    assert "3 films: 2 done, 1 done before." in out


@pytest.mark.slow
def test_new_films_are_taken_when_they_have_settled(tmp_path: Path) -> None:
    place = tmp_path / "films"
    films(place, "first.mp4")
    (tmp_path / "list.txt").write_text("films\nlater.mp4\n")
    words = ("--list", tmp_path / "list.txt", "--watch", "--settle", 2, "--report", tmp_path / "r.json")
    running = start(*words, "--jobs", 1, *OPTIONS)
    films(tmp_path, "whole.mp4")
    data = (tmp_path / "whole.mp4").read_bytes()
    wait_for((place / "first.shotad" / "done.json").exists, running)
    with (place / "late.mp4").open("wb") as file:
        for part in (data[:2000], data[2000:5000], data[5000:]):
            file.write(part)
            file.flush()
            time.sleep(1)
            assert not (place / "late.shotad").exists()
    wait_for((place / "late.shotad" / "done.json").exists, running)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert "2 films: 2 done." in out
    assert f"There is no {tmp_path / 'later.mp4'}. It will be taken when it is there." in err
    assert "Waiting for new films." in err


@pytest.mark.slow
def test_a_film_that_is_held_and_a_place_that_takes_nothing_are_told(said: Shotad, tmp_path: Path) -> None:
    films(tmp_path, "free.mp4", "held.mp4")
    quiet = [word for word in OPTIONS if word != "--plain"]
    words = (tmp_path, "--report", tmp_path / "no" / "where" / "r.json", "--jobs", 1)
    with WorkFolder(tmp_path / "held.shotad"):
        # What another run is at is no failure.
        code, out, err = said(*words, *OPTIONS)
        assert code == 0
        assert "2 films: 1 done, 1 skipped: being described elsewhere." in out
        assert "held.mp4: skipped: being described elsewhere" in out
        films(tmp_path, "barred.mp4")
        (tmp_path / "barred.shotad").write_text("a file in its way")
        code, out, err = said(*words, "--json", *quiet, "--retries", 0)
    assert code == 1
    rows = found(out)
    assert {name: row["state"] for name, row in rows.items()} == {
        "free.mp4": "skipped", "held.mp4": "in_use", "barred.mp4": "failed",
    }  # fmt: skip
    assert "in use by another shotad" in rows["held.mp4"]["error"][0]
    assert "barred.shotad" in rows["barred.mp4"]["error"][0]
    assert err == ""


def wait_for(ready: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not ready():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline, "nothing happens"
        time.sleep(0.02)


@pytest.mark.slow
def test_workers_that_die_stop_no_other(tmp_path: Path) -> None:
    names = (
        "good-1", "kill", "exit", "crash", "killonce", "broken", "unforeseen", "unreached", "absent", "good-2",
    )  # fmt: skip
    rows = batch(2, retries=1).run(planned(tmp_path, *names))
    assert [Path(row.film.job.film).stem for row in rows] == list(names)
    by_name = results(rows)
    done = {name for name, result in by_name.items() if result.state == "done"}
    assert done == {"good-1", "good-2", "killonce"}
    errors = {name: " ".join(result.error) for name, result in by_name.items() if result.error}
    assert "SIGKILL" in errors["kill"]
    assert "memory" in errors["kill"]
    assert "exit code 3" in errors["exit"]
    assert "SIGSEGV" in errors["crash"]
    assert "It said last: Fatal Python error: Segmentation fault" in errors["crash"]
    assert "broken.mp4 is a text file, not a film." in errors["broken"]
    assert by_name["unforeseen"].kind == "unexpected"
    tries = {name: result.attempts for name, result in by_name.items()}
    twice = ("kill", "exit", "crash", "killonce", "unforeseen", "unreached")
    assert tries == {**dict.fromkeys(names, 1), **dict.fromkeys(twice, 2)}
    asked = set(names) - {"broken", "absent"}
    assert {name: len(begun(tmp_path, name)) for name in asked} == {name: tries[name] for name in asked}
    # Good films share their worker, where none died in it.
    assert begun(tmp_path, "killonce")[0] != begun(tmp_path, "killonce")[1]


@pytest.mark.slow
def test_a_worker_over_its_memory_is_ended_and_its_film_told(tmp_path: Path) -> None:
    # The first worker's first film is the hog: a fresh one would take as much.
    by_name = results(batch(1, memory=HOG // 2).run(planned(tmp_path, "hog", "good")))
    assert by_name["good"].state == "done"
    hog = by_name["hog"]
    assert (hog.kind, hog.attempts) == ("memory", 1)
    assert hog.error is not None
    assert "750.0 MB" in hog.error[0]
    assert "--memory" in hog.error[1]
    assert hog.peak > HOG // 2


def long_film(folder: Path, seconds: int) -> Path:
    """A film of numbered frames, a thousand seconds for each, that takes no room: all are one file."""
    frames = folder / f"film-{seconds}"
    frames.mkdir()
    cv2.imwrite(str(frames / "00000.jpg"), np.zeros((1080, 1920, 3), np.uint8))
    for number in range(1, seconds // 1000):
        os.link(frames / "00000.jpg", frames / f"{number:05d}.jpg")
    return frames


def with_long_film(film: PlannedFilm, frames: Path, rate: str = "1/1000") -> PlannedFilm:
    """The same, of which the first seconds of another film are described: room is kept for all of its frames."""
    return replace(film, job=replace(film.job, film=str(frames), rate=rate, end=5.0))


@pytest.mark.slow
def test_a_film_that_has_no_room_is_refused_and_an_engine_that_fails_alike_ends_the_batch(
    tmp_path: Path,
) -> None:
    large, good = planned(tmp_path, "large", "good")
    large = with_long_film(large, long_film(tmp_path, 5_000_000))
    refused, done = batch(1, keep=0).run([large, good])
    assert refused.result is not None
    assert (refused.result.kind, done.state) == ("DiskFull", "done")
    assert "--min-free" in str(refused.result.error)
    same = 3
    names = [f"engine-{number}" for number in range(same + 3)]
    run = batch(1, retries=0)
    rows = run.run(planned(tmp_path, "broken", *names))
    assert run.halted is not None
    assert "The key is refused. Get another." in run.halted
    assert [row.state for row in rows] == ["failed"] * (same + 1) + ["not begun"] * 3


@pytest.mark.slow
def test_films_wait_for_room_until_another_has_what_it_needs(tmp_path: Path) -> None:
    progress = Heard()
    films = planned(tmp_path, "wait-1", "wait-2")
    films = [
        with_long_film(film, long_film(tmp_path, seconds))
        for film, seconds in zip(films, (9_000, 9_001), strict=True)
    ]

    def go_on() -> tuple[PlannedFilm, ...]:
        """Let both end once one of them waits; no more films come."""
        if any("waits for room" in note for note in progress.notes):
            for name in ("wait-1", "wait-2"):
                (tmp_path / f"{name}.go").touch()
            run.more = None
        return ()

    needed = 4.5e9  # bytes of each, more or less
    run = batch(2, BatchProgress(progress, False), keep=int(shutil.disk_usage(tmp_path).free - 1.5 * needed))
    run.more = go_on
    rows = run.run(films)
    assert [row.state for row in rows] == ["done", "done"]
    waits = [
        note for note in progress.notes if "waits for room on the disk until another film is done" in note
    ]
    assert len(waits) == 1


def test_an_interruption_ends_workers_tidily(tmp_path: Path) -> None:
    def interrupt() -> tuple[PlannedFilm, ...]:
        if (tmp_path / "hang.begun").exists():
            raise KeyboardInterrupt
        return ()

    progress = Heard()
    run = batch(1, BatchProgress(progress, False), more=interrupt)
    with pytest.raises(KeyboardInterrupt):
        run.run(planned(tmp_path, "hang", "good"))
    assert [row.state for row in run.rows] == ["stopped", "not begun"]
    assert not alive(begun(tmp_path, "hang")[0])
    with WorkFolder(tmp_path / "hang.shotad"):
        """Nobody holds it any more."""
    assert any("end tidily" in note for note in progress.notes)


class Bars(Heard):
    """A front end that knows which of its bars are open, and which there were."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def task(self, name: str, total: float | None, unit: str) -> Any:
        self.steps.append(name)
        self.open.append(name)
        return SimpleNamespace(advance=lambda amount=1: None, done=lambda: self.open.remove(name))


@pytest.mark.slow
def test_bars_and_lines_tell_of_films_at_work(tmp_path: Path) -> None:
    bars = Bars()
    states = [row.state for row in batch(1, BatchProgress(bars, True)).run(planned(tmp_path, "good"))]
    assert states == ["done"]
    assert bars.steps[0] == "All films"
    assert {"good.mp4: Finding shots", "good.mp4: Looking at the film", "good.mp4: Writing lines"} <= set(
        bars.steps
    )
    assert bars.open == []
    # Without bars, a line a minute says what is at work.
    progress, now = Heard(), [0.0]

    def pass_time() -> tuple[PlannedFilm, ...]:
        if (tmp_path / "wait.begun").exists():
            now[0] += 61
            if now[0] > 200:
                (tmp_path / "wait.go").touch()
                run.more = None
        return ()

    clock = now.__getitem__
    run = batch(1, BatchProgress(progress, False, lambda: clock(0)), more=pass_time)
    assert [row.state for row in run.run(planned(tmp_path, "wait"))] == ["done"]
    assert progress.notes[0] == "wait.mp4: begun, film 1, 1 kB."
    assert any(note.startswith("After 2 min 2 s: wait.mp4: ") for note in progress.notes)
    assert progress.notes[-1].startswith("wait.mp4: done, 1 line in 1 slot")


@pytest.mark.slow
def test_workers_do_not_outlive_a_batch_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.catalogue.batch_workers import batch, planned\n"
        "batch(1).run(planned(Path(sys.argv[1]), 'hang'))\n"
    )
    mark = tmp_path / "hang.begun"
    with python("-c", code, tmp_path) as running:
        wait_for(lambda: mark.exists() and mark.read_text().endswith("\n"), running)
        running.kill()
    worker, until = begun(tmp_path, "hang")[0], time.monotonic() + 60
    while alive(worker):
        assert time.monotonic() < until
        time.sleep(0.02)


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody asked about does not."""
    return any(p.pid == process and p.info["status"] != "zombie" for p in psutil.process_iter(["status"]))
