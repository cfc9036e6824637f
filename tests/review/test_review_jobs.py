"""Long work of the page: in order, with progress, stopped when asked, and no fault takes the others along."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import pytest

from shotad.core import EngineError, Progress, ReviewError, reported
from shotad.review.events import Json
from shotad.review.jobs import Jobs
from tests.review.boardfilm import Tabs

WAIT = 20.0


def ended(jobs: Jobs, name: str) -> Json:
    """The job when it has ended."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        view = next(view for view in jobs.views() if view["id"] == name)
        if view["state"] in ("done", "failed", "stopped"):
            return view
        time.sleep(0.005)
    raise AssertionError(f"{name} never ended")


def start(jobs: Jobs, work: Callable[[Progress], Json], title: str = "Work") -> str:
    return str(jobs.start("test", title, work)["id"])


def test_progress_is_shown_with_the_step_that_is_under_way() -> None:
    hub, seen = Tabs(), []
    jobs = Jobs(hub)

    def work(progress: Progress) -> Json:
        with reported(progress, "Writing lines", 4, "lines") as task:
            task.advance()
            seen.append(jobs.views()[0])
            with reported(progress, "Loading a model", 10, "MB") as inner:
                inner.advance(5)
                seen.append(jobs.views()[0])
            task.advance(7)
            seen.append(jobs.views()[0])
        progress.task("Looking", None, "s")
        seen.append(jobs.views()[0])
        progress.note("One thing.")
        progress.note("Another thing.")
        return {}

    view = ended(jobs, start(jobs, work))
    steps = [("Writing lines", 0.25), ("Loading a model", 0.5), ("Writing lines", 1.0), ("Looking", None)]
    assert [(one["step"], one["done"]) for one in seen] == steps
    assert view["notes"] == ["One thing.", "Another thing."]
    assert (view["step"], view["done"], view["state"]) == ("", None, "done")


def test_an_error_is_told_with_what_to_do_and_a_fault_logged_with_its_traceback_and_the_next_job_runs(caplog):
    jobs = Jobs(Tabs())

    def fails(_: Progress) -> Json:
        raise EngineError("The engine is not there.", "Start it.")

    def fault(_: Progress) -> Json:
        return {"x": {}["no such key"]}

    with caplog.at_level(logging.ERROR):
        first, second, third = start(jobs, fails), start(jobs, fault), start(jobs, lambda _: {"said": "fine"})
        assert ended(jobs, third)["result"] == {"said": "fine"}
    assert ended(jobs, first)["error"] == {"what": "The engine is not there.", "hint": "Start it."}
    view = ended(jobs, second)
    assert view["state"] == "failed"
    assert "KeyError" in view["error"]["what"]
    assert "Traceback" not in str(view)
    assert "no such key" not in str(view)
    assert "no such key" in caplog.text


def test_a_job_that_runs_stops_at_its_next_step_and_what_it_holds_is_let_go() -> None:
    jobs, running, let_go = Jobs(Tabs()), threading.Event(), []

    def work(progress: Progress) -> Json:
        try:
            with reported(progress, "Frames", 1e9, "frames") as task:
                while True:
                    running.set()
                    task.advance()
        except Exception:  # noqa: BLE001  as those do that keep the rest of a batch
            return {"said": "went on all the same"}
        finally:
            let_go.append("lock")

    name = start(jobs, work)
    assert running.wait(WAIT)
    assert jobs.stop(name)["stopping"] or jobs.views()[0]["state"] == "stopped"
    view = ended(jobs, name)
    assert (view["state"], view["result"], view["error"]) == ("stopped", None, None)
    assert let_go == ["lock"]
    assert ended(jobs, start(jobs, lambda _: {"said": "after"}))["result"] == {"said": "after"}


def test_a_job_that_waits_is_stopped_without_being_begun() -> None:
    jobs, go, begun = Jobs(Tabs()), threading.Event(), []

    def long(progress: Progress) -> Json:
        go.wait(WAIT)
        task = progress.task("Frames", None, "frames")
        while True:
            task.advance()
            time.sleep(0.001)

    first = start(jobs, long, "The first")
    waiting = [start(jobs, lambda _: {"begun": begun.append(1)}) for _ in range(2)]
    assert jobs.stop(waiting[0])["state"] == "stopped"
    go.set()
    assert jobs.close(WAIT) == ()
    assert {view["id"]: view["state"] for view in jobs.views()} == dict.fromkeys([first, *waiting], "stopped")
    assert begun == []
    with pytest.raises(ReviewError, match="being closed"):
        start(jobs, lambda _: {})


def test_old_jobs_are_forgotten_and_an_unknown_one_is_said_to_be_unknown() -> None:
    jobs = Jobs(Tabs())
    names = [start(jobs, lambda _: {}) for _ in range(70)]
    ended(jobs, names[-1])
    kept = [view["id"] for view in jobs.views()]
    assert kept == names[-len(kept) :]
    assert len(kept) <= 50
    with pytest.raises(ReviewError, match="no job"):
        jobs.stop(names[0])
