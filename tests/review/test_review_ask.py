"""The film asked from the page: what the job answers, and the dialog by keys alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Request
from shotad.core.errors import EngineError
from tests.cli.program import Shotad
from tests.rendering.described import film_with, write_folder
from tests.review.engines import ANSWERS, answering
from tests.review.pages import has_focus, press, served, tabs, until, violations
from tests.review.reviewed import reviewed

SAID = "Where is the key to the garden?"
QUESTION = "What was said?"


def model_answer(request: Request) -> str:
    """What a model says that read the question: it rests on the first and the last moment that it was shown."""
    prompt = "\n".join(message.text for message in request.messages)
    assert QUESTION in prompt
    numbers = [1, 2] if SAID in prompt else [1]
    return json.dumps({"answer": "Somebody looks for a key.", "moments": numbers})


def kinds(job: Any) -> list[tuple[str, float]]:
    return [(moment["kind"], moment["start"]) for moment in job["result"]["answer"]["moments"]]


def test_a_model_answers_as_it_does_on_the_command_line(tmp_path: Path, shotad: Shotad) -> None:
    place = write_folder(tmp_path / "w", settings=(ANSWERS,))
    with reviewed(place) as (_, page), answering(model_answer):
        before = page.film()
        assert before["engines"]["answers"]
        job = page.job(kind="ask", question=QUESTION, at=8.5)
        early = page.job(kind="ask", question=QUESTION, at=4)
        after = page.film()
    assert job["state"] == "done", job
    assert job["result"]["said"] == "Somebody looks for a key."
    assert kinds(job) == [("line", 1.0), ("dialogue", 6.0)]
    assert kinds(early) == [("line", 1.0)], "nothing of later"
    assert job["result"]["answer"]["saw_frames"]
    assert after["history"] == before["history"], "there is nothing to undo"
    # The command is answered from what the page has asked: it is the same question.
    with answering(lambda request: pytest.fail("the same question is asked twice")):
        command = json.loads(shotad("ask", place, QUESTION, "--at", "8.5", "--json").out)
    assert command == job["result"]["answer"]


def test_without_a_model_the_page_gets_what_was_recorded_last(tmp_path: Path) -> None:
    with reviewed(tmp_path / "w") as (_, page):
        assert not page.film()["engines"]["answers"]
        job = page.job(kind="ask", question=QUESTION, at=1000)
        nothing = page.job(kind="ask", question=QUESTION, at=0.5)
    assert kinds(job) == [("dialogue", 6.0), ("line", 14.0)], "a moment after the end is the end"
    assert job["result"]["answer"]["engine"] == ""
    assert job["result"]["said"]["text"].startswith("No model read the question.")
    assert kinds(nothing) == []


def test_without_the_film_the_answer_rests_on_the_records_and_says_so(tmp_path: Path) -> None:
    place = write_folder(tmp_path / "w", film_with(), settings=(ANSWERS,))
    record = json.loads((place / "settings.json").read_text(encoding="utf-8"))
    record["film"]["path"] = str(tmp_path / "gone.mp4")
    (place / "settings.json").write_text(json.dumps(record), encoding="utf-8")
    with reviewed(place, gone=True) as (_, page), answering(model_answer):
        job = page.job(kind="ask", question=QUESTION, at=8.5)
    assert not job["result"]["answer"]["saw_frames"]
    assert "The film is not there" in job["notes"][0]["text"]


def test_an_engine_that_fails_is_told_with_what_to_do(tmp_path: Path) -> None:
    def broken(request: Request) -> str:
        raise EngineError("The server is not there.", "Start it.")

    place = write_folder(tmp_path / "w", settings=(ANSWERS,))
    with reviewed(place) as (_, page):
        with answering(broken):
            failed = page.job(kind="ask", question=QUESTION, at=8.5)
        with answering(lambda request: "I'm sorry, but I can't help with that."):
            refused = page.job(kind="ask", question=QUESTION, at=8.5)
        without = page.post("/api/jobs", {"kind": "ask", "question": QUESTION})
    assert failed["error"] == {"what": "The server is not there.", "hint": "Start it."}
    assert "did not answer" in refused["error"]["what"]
    assert "other words" in refused["error"]["hint"]
    assert without.status == 400


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "w", settings=("voice.name=fake", ANSWERS))


@pytest.mark.slow
def test_a_question_is_asked_and_its_moments_are_gone_to_by_keys_alone(opened: Callable[..., Any]) -> None:
    with answering(model_answer):
        page = opened()
        dialog = page.locator("#ask-dialog")
        status = "document.querySelector('#ask-dialog .dialog-status').textContent"
        page.evaluate("import('/web/player.js').then((player) => player.seek(8.5))")
        until(page, "import('/web/player.js').then((player) => Math.abs(player.now() - 8.5) < 0.1)")
        press(page, "Alt+q", "Enter")
        until(page, f"{status} === 'Write a question first.'")
        assert has_focus(page) == "ask-question"
        page.keyboard.type(QUESTION)
        press(page, "Enter")
        until(page, f"{status} === 'Somebody looks for a key. It rests on 2 moments, listed below.'")
        assert "The film stands at 0:08.5" in dialog.inner_text()
        assert has_focus(page) == "ask-question", "one asks on"
        for width in (1440, 320):
            page.set_viewport_size({"width": width, "height": 640})
            assert violations(page) == []
            assert dialog.locator(".dialog-body").evaluate("d => d.scrollWidth <= d.clientWidth")
        press(page, "Tab", "Tab", "Tab")
        assert page.evaluate("document.activeElement.textContent") == f"0:06, said: {SAID}"
        press(page, "Enter")
        until(page, "import('/web/player.js').then((player) => Math.abs(player.now() - 6) < 0.1)")
        # The answer is still there, and the way back to where it was asked.
        press(page, "Alt+q")
        dialog.get_by_role("button", name="Back to 0:08.5").press("Enter")
        until(page, "import('/web/player.js').then((player) => Math.abs(player.now() - 8.5) < 0.1)")


@pytest.mark.slow
def test_the_page_says_that_no_model_reads_questions_and_reads_out_what_was_recorded(
    browser: Any, tmp_path: Path
) -> None:
    with served(write_folder(tmp_path / "w")) as address, tabs(browser, address) as made:
        page = made.open()
        until(page, "document.getElementById('line-text') !== null")
        page.evaluate("import('/web/player.js').then((player) => player.seek(8.5))")
        page.get_by_role("button", name="Ask").first.press("Enter")
        assert "reads no questions" in page.locator("#ask-hint").inner_text()
        page.keyboard.type("Who?")
        press(page, "Enter")
        until(page, "document.querySelector('#ask-dialog .dialog-status').textContent.startsWith('No model')")
        status = page.locator("#ask-dialog .dialog-status").text_content() or ""
        assert status.endswith(f"0:01, described: A cat sleeps by the window. 0:06, said: {SAID}")
