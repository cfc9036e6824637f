"""Worker processes that die, hang or take too much, and the others, which nothing of that reaches."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shotad.batch.batch import SAME
from tests.catalogue.batch_workers import HOG, batch, planned, quiet_board, results

ROOT = Path(__file__).resolve().parents[2]


def begun(folder: Path, name: str) -> list[int]:
    """The processes in which a film was begun."""
    return [int(line) for line in (folder / f"{name}.begun").read_text().split()]


@pytest.mark.slow
def test_workers_that_die_stop_no_other(tmp_path: Path) -> None:
    names = (
        "good-1", "kill", "good-2", "exit", "good-3", "crash", "killonce", "broken", "unforeseen", "unreached",
        "absent", "good-4",
    )  # fmt: skip
    found = batch(2, retries=1).run(planned(tmp_path, *names))
    assert [Path(row.film.job.film).stem for row in found] == list(names)
    came = results(found)
    done = {name for name, result in came.items() if result.state == "done"}
    assert done == {"good-1", "good-2", "good-3", "good-4", "killonce"}
    told = {name: " ".join(result.error) for name, result in came.items() if result.error}
    assert "SIGKILL" in told["kill"]
    assert "memory" in told["kill"]
    assert "exit code 3" in told["exit"]
    assert "SIGSEGV" in told["crash"]
    assert "Fatal Python error: Segmentation fault" in told["crash"]
    assert told["broken"] == "It is no film. Give a film."
    tries = {name: result.attempts for name, result in came.items()}
    twice = ("kill", "exit", "crash", "killonce", "unforeseen", "unreached")
    assert tries == {**dict.fromkeys(names, 1), **dict.fromkeys(twice, 2)}
    assert {name: len(begun(tmp_path, name)) for name in names} == tries
    # Good films share their worker, where none died in it.
    assert begun(tmp_path, "killonce")[0] != begun(tmp_path, "killonce")[1]


def test_a_film_whose_worker_died_is_begun_again_in_another(tmp_path: Path) -> None:
    found = results(batch(1, retries=1).run(planned(tmp_path, "good", "killonce", "kill")))
    assert {name: (one.state, one.attempts) for name, one in found.items()} == {
        "good": ("done", 1), "killonce": ("done", 2), "kill": ("failed", 2)
    }  # fmt: skip
    first, second = begun(tmp_path, "killonce")
    assert begun(tmp_path, "good") == [first] != [second]
    assert found["kill"].error is not None
    assert found["kill"].error[0] == "The process at work on it was killed (SIGKILL)."


@pytest.mark.slow
def test_a_worker_over_its_memory_is_ended_and_its_film_told(tmp_path: Path) -> None:
    # The first worker's first film is the hog: a fresh one would take as much.
    found = results(batch(1, memory=HOG // 2).run(planned(tmp_path, "hog", "good")))
    assert found["good"].state == "done"
    assert found["hog"].kind == "memory"
    assert found["hog"].error is not None
    assert "300.0 MB" in found["hog"].error[0]
    assert "--memory" in found["hog"].error[1]
    assert found["hog"].attempts == 1
    assert found["hog"].peak > HOG // 2


def test_films_refused_and_engines_that_fail_end_by_their_own_errors(tmp_path: Path) -> None:
    found = results(batch(1, keep=0).run(planned(tmp_path, "large", "good")))
    assert found["good"].state == "done"
    assert found["large"].kind == "NoRoom"
    assert found["large"].error is not None
    assert "--min-free" in found["large"].error[0]
    assert results(batch(1, keep=None).run(planned(tmp_path, "large")))["large"].state == "done"
    names = [f"engine-{n}" for n in range(SAME + 3)]
    run = batch(1, retries=0)
    rows = run.run(planned(tmp_path, "broken", *names))
    assert run.halted is not None
    assert "The key is refused. Get another." in run.halted
    assert [row.state for row in rows] == ["failed"] * (SAME + 1) + ["not begun"] * 3


def test_an_interruption_ends_workers_tidily(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = quiet_board()
    run = batch(1, board)

    def heard(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(board), "note", heard)
    with pytest.raises(KeyboardInterrupt):
        run.run(planned(tmp_path, "hang", "good"))
    assert [row.state for row in run.rows] == ["stopped", "not begun"]
    assert (tmp_path / "hang.tidy").exists()
    assert not alive(begun(tmp_path, "hang")[0])


@pytest.mark.slow
def test_workers_do_not_outlive_a_batch_that_is_killed(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from tests.catalogue.batch_workers import batch, planned\n"
        f"batch(1).run(planned(Path({str(tmp_path)!r}), 'hang'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL)
    mark = tmp_path / "hang.begun"
    wait_for(lambda: mark.exists() and mark.read_text().endswith("\n"))
    running.send_signal(signal.SIGKILL)
    running.wait()
    worker = begun(tmp_path, "hang")[0]
    wait_for(lambda: not alive(worker))


def wait_for(ready: object) -> None:
    deadline = time.monotonic() + 60
    assert callable(ready)
    while not ready():
        assert time.monotonic() < deadline, "nothing happens"
        time.sleep(0.02)


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody asked about does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
