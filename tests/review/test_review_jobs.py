"""News for tabs: in order, from any thread, and no tab can hold up the server. Jobs of the page: in order, with progress,
stopped when asked, and no fault takes the others along."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Request, RunInputs, WorkFolder, load_config
from shotad.core.errors import EngineError
from shotad.core.runsettings import write_settings
from shotad.review import OpenReview
from tests.redo.redoing import SETTINGS, film_path, fresh, run
from tests.rendering.described import write_folder
from tests.review.asgi import WAIT, Listener
from tests.review.engines import ANSWERS, BREAKS, answering
from tests.review.reviewed import Page, reviewed

ENDED = ("done", "failed", "stopped")


def test_a_tab_hears_where_it_begins_then_all_in_order_and_one_that_falls_behind_is_let_go(
    tmp_path: Path,
) -> None:
    words = "a" * 4900
    folder = write_folder(tmp_path / "film.shotad", lines={0.5 * n: f"{n} {words}" for n in range(1, 31)})
    with reviewed(folder, gone=True) as (_, page), Listener(page) as quick:
        begins_at = page.film()["revision"]
        with Listener(page, takes_at_once=False) as slow:
            for number in range(16):
                old, new = ("a", "b") if number % 2 == 0 else ("b", "a")
                page.do("replace", find=old * 4900, text=new * 4900)
                quick.until("change", number + 1)
            slow.take()
            slow.wait_for_end()
            assert [kind for kind, _ in slow.events] == ["hello", "film"], "it is told to fetch all anew"
        assert quick.events[0] == ("hello", {"revision": begins_at, "findings": 0})
        assert [event["revision"] for event in quick.of("change")] == [begins_at + n for n in range(1, 17)]


def test_at_the_end_all_are_told_and_let_go_and_new_ones_turned_away(tmp_path: Path) -> None:
    with reviewed(tmp_path / "film.shotad", gone=True) as (review, page), Listener(page) as tab:
        page.do("accept", "s00001000")
        tab.until("change")
        review.end_event_streams()
        tab.wait_for_end()
        assert [kind for kind, _ in tab.events if kind != "findings"] == ["hello", "change", "bye"]
        with Listener(page) as late:
            late.wait_for_end()


# Jobs


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("jobs") / "w"
    run(place, ANSWERS)
    return place


@pytest.fixture
def opened(described: Path, tmp_path: Path) -> Iterator[tuple[OpenReview, Page]]:
    with reviewed(Path(shutil.copytree(described, tmp_path / "w")), film=film_path()) as (review, page):
        yield review, page


@pytest.fixture
def page(opened: tuple[OpenReview, Page]) -> Page:
    return opened[1]


def set_engine(place: Path, assignment: str) -> None:
    """Has the run of a folder use another engine from now on."""
    with WorkFolder(place) as folder:
        config = load_config(None, (*SETTINGS, assignment))
        write_settings(folder, config, film_path(), RunInputs(), assignments=[assignment])


def lines_of(page: Page) -> list[str]:
    return [line["id"] for line in page.film()["lines"] if line["heard"]]


class Gate:
    """An answer that says when it is asked for, and waits until it may be given."""

    def __init__(self) -> None:
        self.asked, self.open = threading.Event(), threading.Event()

    def answer(self, request: Request) -> str:
        self.asked.set()
        assert self.open.wait(WAIT)
        return fresh(request)


def test_progress_is_shown_with_the_step_that_is_under_way(page: Page) -> None:
    views: list[Any] = []

    def answer(request: Request) -> str:
        views.append(page.get("/api/jobs").json["jobs"][0])
        return fresh(request)

    with Listener(page) as tab, answering(answer):
        job = page.job(kind="redo", lines=lines_of(page)[:3])
        told = tab.until("job", 2)
    assert views
    assert {view["state"] for view in views} == {"running"}
    assert "Writing lines" in {view["step"] for view in views}
    assert all(0 <= view["done"] <= 1 for view in views if view["done"] is not None)
    assert len({view["done"] for view in views}) > 1
    assert (job["step"], job["done"], job["state"]) == ("", None, "done")
    versions = [event["version"] for event in told]
    assert versions == sorted(set(versions)), "a newer view has a higher version"


def test_an_error_is_told_with_what_to_do_and_a_fault_logged_with_its_traceback_and_the_next_job_runs(
    opened, tmp_path, caplog
):
    _, page = opened
    line = lines_of(page)[0]

    def answer(request: Request) -> str:
        raise EngineError("The engine is not there.", "Start it.")

    with answering(answer):
        failed = page.job(kind="redo", lines=[line])
    assert (failed["state"], failed["error"]["what"]) == ("failed", "The engine is not there.")
    assert failed["error"]["hint"] == "Start it."
    set_engine(tmp_path / "w", BREAKS)
    fault = page.job(kind="redo", lines=[line])
    set_engine(tmp_path / "w", ANSWERS)
    assert page.job(kind="redo", lines=[line])["state"] == "done"
    assert fault["state"] == "failed"
    assert "KeyError" in fault["error"]["what"]
    assert "Traceback" not in str(fault)
    assert "no such key" not in str(fault)
    assert "no such key" in caplog.text


def test_a_job_stops_also_while_its_engine_does_not_answer_and_what_it_holds_is_let_go(page: Page) -> None:
    gate, line = Gate(), lines_of(page)[0]
    with answering(gate.answer):
        job = page.start(kind="redo", lines=[line])
        assert gate.asked.wait(WAIT)
        assert page.post(f"/api/jobs/{job}/stop").json["stopping"]
        view = page.ended(job)
        gate.open.set()
    assert (view["state"], view["result"], view["error"]) == ("stopped", None, None)
    assert page.job(kind="redo", lines=[line])["state"] == "done"


def test_a_job_that_waits_is_stopped_without_being_begun(opened: tuple[OpenReview, Page]) -> None:
    review, page = opened
    gate, line = Gate(), lines_of(page)[0]
    with answering(gate.answer):
        first = page.start(kind="redo", lines=[line])
        assert gate.asked.wait(WAIT)
        waiting = [page.start(kind="export", formats=["vtt"]) for _ in range(2)]
        assert page.post(f"/api/jobs/{waiting[0]}/stop").json["state"] == "stopped"
        assert review.stop_jobs() == ("Describe a line again",)
        gate.open.set()
        assert review.stop_jobs(WAIT) == ()
    assert {name: page.job_view(name)["state"] for name in (first, *waiting)} == dict.fromkeys(
        [first, *waiting], "stopped"
    )
    refused = page.post("/api/jobs", {"kind": "export", "formats": ["vtt"]})
    assert (refused.status, "being closed" in refused.json["error"]["what"]) == (400, True)


def test_old_jobs_are_forgotten_and_an_unknown_one_is_said_to_be_unknown(page: Page) -> None:
    names = [page.start(kind="export", formats=["no such format"]) for _ in range(70)]
    assert page.ended(names[-1])["state"] == "failed"
    kept = [view["id"] for view in page.get("/api/jobs").json["jobs"]]
    assert kept == names[-len(kept) :]
    assert len(kept) <= 51
    unknown = page.post(f"/api/jobs/{names[0]}/stop")
    assert (unknown.status, "no job" in unknown.json["error"]["what"]) == (400, True)


def test_no_more_jobs_wait_than_a_page_asks_for(page: Page) -> None:
    gate = Gate()
    with answering(gate.answer):
        running = page.start(kind="redo", lines=lines_of(page)[:1])
        assert gate.asked.wait(WAIT)
        answers = [page.post("/api/jobs", {"kind": "discover"}) for _ in range(110)]
        page.post(f"/api/jobs/{running}/stop")
        for job in page.get("/api/jobs").json["jobs"]:
            page.post(f"/api/jobs/{job['id']}/stop")
        gate.open.set()
    assert {answer.status for answer in answers} == {202, 400}
    assert "100 jobs wait already" in answers[-1].json["error"]["what"]
