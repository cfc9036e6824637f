"""News for tabs: in order, from any thread, and no tab can hold up the server. Jobs of the page: in order, with progress,
stopped when asked, and no fault takes the others along."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from shotad.core import Progress
from shotad.core.errors import EngineError, ReviewError
from shotad.core.progress import progress_task
from shotad.review.events import Json, Tabs, event_stream
from shotad.review.jobs import Jobs

WAIT = 20.0


class Browser:
    """The other end of one connection: what it has got, and whether it is still there."""

    def __init__(self, tabs: Tabs, *, takes: bool = True) -> None:
        self.got, self.ended = "", False
        self.gone, self.changed, self.free = asyncio.Event(), asyncio.Event(), asyncio.Event()
        if takes:
            self.free.set()
        stream = event_stream(tabs, lambda: {"revision": 7})
        self.task = asyncio.create_task(stream({"type": "http"}, self.receive, self.send))

    async def receive(self) -> Any:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, data: Any) -> None:
        if data["type"] == "http.response.body":
            await self.free.wait()
            self.got += data["body"].decode()
            self.ended = not data["more_body"]
            self.changed.set()

    async def until(self, text: str) -> None:
        async with asyncio.timeout(WAIT):
            while text not in self.got:
                self.changed.clear()
                await self.changed.wait()

    def events(self) -> list[tuple[str, Any]]:
        blocks = [block.splitlines() for block in self.got.split("\n\n") if "event: " in block]
        rows = [dict(line.split(": ", 1) for line in block if line[0] != ":") for block in blocks]
        return [(row["event"], json.loads(row["data"]).get("revision")) for row in rows]


def test_a_tab_hears_where_it_begins_then_all_in_order_and_one_that_falls_behind_is_let_go() -> None:
    async def play() -> None:
        tabs = Tabs(5000)
        slow, quick = Browser(tabs, takes=False), Browser(tabs)
        await quick.until("hello")
        for i in range(100):
            tabs.send("change", {"revision": i, "text": "x" * 400})
            await quick.until(f'"revision":{i},')
        slow.free.set()
        async with asyncio.timeout(WAIT):
            await slow.task
        assert [kind for kind, _ in slow.events()] == ["hello", "film"], "it is told to fetch all anew"
        assert slow.ended
        assert quick.events() == [("hello", 7), *(("change", i) for i in range(100))]
        assert len(tabs) == 1
        quick.gone.set()
        await quick.task
        assert len(tabs) == 0

    asyncio.run(play())


def test_at_the_end_all_are_told_and_let_go_and_new_ones_turned_away() -> None:
    async def play() -> None:
        tabs = Tabs()
        browser = Browser(tabs)
        await browser.until("hello")
        tabs.send("change", {"revision": 1})
        tabs.close()
        late = Browser(tabs)
        async with asyncio.timeout(WAIT):
            await browser.task
            await late.task
        assert [kind for kind, _ in browser.events()] == ["hello", "change", "bye"]
        assert browser.ended
        assert late.ended

    asyncio.run(play())


# Jobs


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
    jobs, seen = Jobs(Tabs()), []

    def look() -> None:
        view = jobs.views()[0]
        seen.append((view["step"], view["done"]))

    def work(progress: Progress) -> Json:
        with progress_task(progress, "Writing lines", 4, "lines") as task:
            task.advance()
            look()
            with progress_task(progress, "Loading a model", 10, "MB") as inner:
                inner.advance(5)
                look()
            task.advance(7)
            look()
        progress.task("Looking", None, "s")
        look()
        progress.note("One thing.")
        progress.note("Another thing.")
        return {}

    view = ended(jobs, start(jobs, work))
    assert seen == [
        ("Writing lines", 0.25),
        ("Loading a model", 0.5),
        ("Writing lines", 1.0),
        ("Looking", None),
    ]
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
            with progress_task(progress, "Frames", 1e9, "frames") as task:
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
