"""What the jobs of the page do, with the fake engines and the fake voice."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Request
from shotad.core.errors import EngineError
from shotad.engines.fake import FakeEngine
from shotad.script import load_track
from tests.redo.redoing import film_path, fresh, run
from tests.rendering.described import fake_voice, write_folder
from tests.review.asgi import WAIT, Listener
from tests.review.engines import ANSWERS, COUNTED, LOOKS_FAR_AWAY, Counted, answering
from tests.review.reviewed import Page, in_english, reviewed


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("work") / "w"
    run(place, ANSWERS)
    return place


@pytest.fixture
def place(described: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(described, tmp_path / "w"))


@pytest.fixture
def page(place: Path) -> Iterator[Page]:
    with reviewed(place, film=film_path(), reviewer="Ann") as (_, page):
        yield page


@pytest.fixture
def spoken_place(tmp_path: Path) -> Path:
    """A film with sound and three lines, which the fake voice speaks."""
    return fake_voice(write_folder(tmp_path / "s"))


@pytest.fixture
def spoken(spoken_place: Path) -> Iterator[Page]:
    with reviewed(spoken_place) as (_, page):
        yield page


def heard(page: Page) -> list[str]:
    return [line["id"] for line in page.film()["lines"] if line["heard"]]


def texts(place: Path) -> dict[str, str]:
    return {cue.id: cue.text for cue in load_track(place / "track.json").cues}


def redo(page: Page, *lines: str, answer: Callable[[Request], str] = fresh, **more: Any) -> Any:
    """What came of a job that describes lines again."""
    with answering(answer):
        job = page.job(kind="redo", lines=list(lines), **more)
    assert job["state"] == "done", job["error"]
    return job["result"]


def writing(page: Page, line: str) -> Callable[[Request], str]:
    """An engine while which a person writes a line on the page."""

    def answer(request: Request) -> str:
        page.do("write", line, text="Written meanwhile.")
        return fresh(request)

    return answer


def test_what_is_written_while_lines_are_described_anew_stays_the_persons(page: Page, place: Path) -> None:
    line, other = heard(page)[:2]
    candidates = page.line(line)["candidates"]
    redo(page, line, answer=writing(page, other))
    shown = {row["id"]: row["text"] for row in page.film()["lines"]}
    for by_line in (shown, texts(place)):
        assert by_line[other] == "Written meanwhile."
        assert by_line[line].startswith("A cat sits")
    page.do("undo")
    assert page.line(other)["text"] == "Written meanwhile.", "the job's step is undone, not the person's"
    (row,) = redo(page, line, answer=writing(page, line))["lines"]
    assert row["changed"] is False
    assert "meanwhile" in row["reason"]
    assert texts(place)[line] == "Written meanwhile."
    assert len(page.line(line)["candidates"]) > len(candidates)


def test_describe_keeps_what_is_written_while_it_runs(page: Page, place: Path) -> None:
    line, *others = heard(page)
    before = texts(place)
    run(place, "seed=7", writes=FakeEngine(answer=writing(page, line)))
    page.do("accept", others[0])
    now = texts(place)
    assert now[line] == "Written meanwhile."
    assert any(now[other] != before[other] for other in others)
    run(place, "seed=8", writes=FakeEngine(answer=fresh))
    assert texts(place)[others[0]] == now[others[0]]


def test_what_was_written_before_a_stop_stays_and_can_be_undone(page: Page, place: Path) -> None:
    """The job is stopped while the second of its lines is being written."""
    lines, before = heard(page)[:3], texts(place)
    is_asked, may_go_on = threading.Event(), threading.Event()

    def answer(request: Request) -> str:
        if request.schema is not None and request.slot_id == lines[1]:
            is_asked.set()
            assert may_go_on.wait(WAIT)
        return fresh(request)

    with answering(answer):
        job = page.start(kind="redo", lines=lines)
        assert is_asked.wait(WAIT)
        page.post(f"/api/jobs/{job}/stop")
        may_go_on.set()
        assert page.ended(job)["state"] == "stopped"
    changed = [line for line in lines if page.line(line)["text"].startswith("A cat sits")]
    assert changed
    assert lines[2] not in changed
    page.do("undo")
    assert {row["id"]: row["text"] for row in page.film()["lines"]} == before
    assert redo(page, lines[1])["lines"][0]["changed"], "the folder was let go"


def test_what_a_job_wrote_is_told_once_and_by_itself(page: Page, place: Path) -> None:
    """Also where a page looked at the disk while it was at work."""
    first, second, third = heard(page)[:3]

    def answer(request: Request) -> str:
        page.film()
        page.do("accept", third)
        return fresh(request)

    with Listener(page) as tab:
        redo(page, first, second, answer=answer)
        page.film()
        told = {in_english(event["said"]) for event in tab.of("change")}
    assert told == {"", "Accepted by Ann.", "Accepted already by Ann.", "2 of 2 lines described again."}
    assert in_english(page.film()["history"]["undo"]) == "2 of 2 lines described again."
    page.do("undo")
    now = texts(place)
    assert not any(now[line].startswith("A cat sits") for line in (first, second))
    assert page.line(third)["state"] == "accepted"


def test_an_engine_that_is_gone_and_lines_that_are_not_there_change_nothing(page: Page, place: Path) -> None:
    before = load_track(place / "track.json")

    def fail(request: Request) -> str:
        raise EngineError("The server at localhost does not answer.", "Start it.")

    with answering(fail):
        job = page.job(kind="redo", lines=heard(page)[:1])
    assert (job["state"], "does not answer" in job["error"]["what"]) == ("failed", True)
    for lines in ([], ["s99999999"]):
        assert page.job(kind="redo", lines=lines)["state"] == "failed"
    assert load_track(place / "track.json") == before


def test_a_note_reaches_the_engines_and_what_leaves_the_machine_is_told(tmp_path: Path) -> None:
    place = tmp_path / "w"
    line = run(place, ANSWERS, LOOKS_FAR_AWAY).heard[0].id
    prompts: list[str] = []

    def answer(request: Request) -> str:
        prompts.append(" ".join(message.text for message in request.messages))
        return fresh(request)

    with reviewed(place, film=film_path()) as (_, page), answering(answer):
        job = page.job(kind="redo", lines=[line], note="The cat is called Tom.")
    assert any("api.example.org" in note for note in in_english(job["notes"]))
    assert prompts
    assert all("The cat is called Tom." in prompt for prompt in prompts)


def test_a_script_that_cannot_be_written_is_told_and_the_others_are(page: Page, place: Path) -> None:
    (row,) = page.job(kind="export", formats=["docx"])["result"]["files"]
    blocked = place / row["path"]
    blocked.unlink()
    blocked.mkdir()
    result = page.job(kind="export", formats=["docx", "edl", "fcpxml"])["result"]
    assert [Path(row["name"]).suffix for row in result["files"]] == [".edl", ".fcpxml"]
    assert [row["name"] for row in result["failures"]] == ["docx"]
    edl = next(place.glob("*.edl")).read_text(encoding="utf-8")
    assert "3 lines at 25 fps from 00:00:00:00" in edl
    failed = page.job(kind="export", formats=["docx"])
    assert (failed["state"], "docx" in failed["error"]["what"]) == ("failed", True)


def test_the_film_is_made_and_what_was_made_is_offered(spoken: Page, spoken_place: Path) -> None:
    with Listener(spoken) as tab:
        job = spoken.job(kind="render", makes=["film:mkv", "ad:wav"], profile="netflix")
        steps = {event["step"] for event in tab.of("job")}
    result = job["result"]
    assert any("netflix" in line.lower() for line in result["told"])
    assert {"findings", "warnings", "unspoken"} <= result.keys()
    assert all(row["rule"].startswith("A") for row in result["findings"])
    assert [row["kind"] for row in result["files"]] == ["film", "ad"]
    assert all((spoken_place / row["path"]).is_file() and row["fresh"] for row in result["files"])
    assert (
        spoken.get(result["files"][1]["url"]).body == (spoken_place / result["files"][1]["path"]).read_bytes()
    )
    assert result["failures"] == []
    assert "3 of 3 lines spoken" in result["said"]["text"]
    assert len(steps) > 2, "steps are told"
    film = spoken.film()
    assert all(line["spoken"] for line in film["lines"]), "the page knows how lines were spoken"
    assert film["history"]["undo"] is None, "how a line was spoken is nothing to undo"
    again = spoken.job(kind="render", makes=["film:mkv"], profile="netflix")["result"]
    assert again["files"][0]["fresh"] is False


def test_an_edit_made_while_the_film_is_made_stays(spoken: Page, spoken_place: Path) -> None:
    line = heard(spoken)[2]
    job = spoken.start(kind="render", makes=["ad:wav"])
    while spoken.job_view(job)["state"] == "waiting":
        pass
    spoken.do("write", line, text="Rain falls.")
    assert spoken.ended(job)["state"] == "done"
    assert spoken.line(line)["text"] == "Rain falls."
    assert texts(spoken_place)[line] == "Rain falls."


def test_engines_stay_loaded_until_others_are_asked_for(tmp_path: Path) -> None:
    place = tmp_path / "w"
    line = run(place, COUNTED).heard[0].id
    with reviewed(place, film=film_path()) as (_, page):
        made = Counted.made
        for _ in range(2):
            page.job(kind="redo", lines=[line], over_edits=True)
        assert Counted.made == made + 1
    other = tmp_path / "other"
    line = run(other, COUNTED, "seed=7").heard[0].id
    with reviewed(other, film=film_path()) as (_, page):
        page.job(kind="redo", lines=[line])
    assert Counted.made == made + 2
