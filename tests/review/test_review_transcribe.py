"""Dialogue that is transcribed from the page: the job, and the words between the lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_transcribe_command import HERE, NotInstalled, Rehearsed
from tests.rendering.described import write_folder
from tests.review.pages import press, said, served, tabs, until, violations
from tests.review.reviewed import reviewed

SENTENCE = "Where is the key? I hid it under the stone."


def wordless_folder(place: Path, kind: type[Rehearsed] = Rehearsed) -> Path:
    """A described folder in whose film somebody speaks from 6 to 8 s, nobody knows what."""
    write_folder(place, settings=(f"transcript.recogniser={HERE}:{kind.__name__}",))
    record = json.loads((place / "speech.json").read_text(encoding="utf-8"))
    for row in record["speech"]:
        row["text"] = ""
    (place / "speech.json").write_text(json.dumps(record), encoding="utf-8")
    return place


def test_the_job_gives_words_to_the_dialogue_and_leaves_lines_and_slots(tmp_path: Path) -> None:
    with reviewed(wordless_folder(tmp_path / "w")) as (_, page):
        before = page.film()
        assert before["transcript"] == {"wordless": 1, "missing": "", "written": []}
        job = page.job(kind="transcribe")
        assert job["state"] == "done", job
        assert job["result"]["said"]["text"] == "10 words of dialogue in 1 place, by rehearsed."
        after = page.film()
        assert [row["text"] for row in after["speech"]] == [SENTENCE]
        assert after["transcript"] == {"wordless": 0, "missing": "", "written": [0]}
        for name in ("slots", "free", "history"):
            assert after[name] == before[name]
        assert [line["text"] for line in after["lines"]] == [line["text"] for line in before["lines"]]
        assert page.job(kind="transcribe")["result"]["said"]["text"].startswith(
            "Transcribed before: 10 words"
        )


def test_what_has_to_be_installed_is_said(tmp_path: Path) -> None:
    with reviewed(wordless_folder(tmp_path / "w", NotInstalled)) as (_, page):
        assert 'pip install "shotad[transcript]"' in page.film()["transcript"]["missing"]
        job = page.job(kind="transcribe")
        assert job["state"] == "failed"
        assert "shotad[transcript]" in job["error"]["what"]


def choose(page: Any) -> None:
    press(page, "F10")
    page.get_by_role("menuitem", name="Transcribe the dialogue").press("Enter")


@pytest.mark.slow
def test_the_words_come_to_stand_between_the_lines(browser: Any, tmp_path: Path) -> None:
    place = wordless_folder(tmp_path / "w")
    with served(place) as address, tabs(browser, address) as made:
        page = made.open()
        until(page, "document.querySelectorAll('#list .row').length === 3")
        row = page.locator("#list .speech")
        assert "Dialogue, no words yet" in row.inner_text()
        assert violations(page) == []
        row.get_by_role("button", name="Transcribe the dialogue").press("Enter")
        said(page, "10 words of dialogue in 1 place, by rehearsed.")
        page.get_by_text(SENTENCE).wait_for()
        assert row.count() == 1
        assert row.get_by_role("button").count() == 0
        assert row.locator(".signs").inner_text() == "○ machine"
        assert violations(page) == []
        # It has its words now: the menu offers it no more.
        press(page, "F10")
        assert page.get_by_role("menuitem", name="Transcribe the dialogue").count() == 0


@pytest.mark.slow
def test_transcribing_is_offered_once(browser: Any, tmp_path: Path) -> None:
    place = wordless_folder(tmp_path / "w")
    record = json.loads((place / "speech.json").read_text(encoding="utf-8"))
    (row,) = record["speech"]
    record["speech"] = [{**row, "start": second, "end": second + 0.5} for second in (5.0, 6.0, 7.0)]
    (place / "speech.json").write_text(json.dumps(record), encoding="utf-8")
    with served(place) as address, tabs(browser, address) as made:
        page = made.open()
        until(page, "document.querySelectorAll('#list .speech').length === 3")
        assert page.locator("#list .speech button").count() == 1


@pytest.mark.slow
def test_the_page_says_what_to_install(browser: Any, tmp_path: Path) -> None:
    place = wordless_folder(tmp_path / "w", NotInstalled)
    with served(place) as address, tabs(browser, address) as made:
        page = made.open()
        until(page, "document.querySelectorAll('#list .row').length === 3")
        row = page.locator("#list .speech")
        assert "Dialogue, no words yet" in row.inner_text()
        assert row.get_by_role("button").count() == 0, "nothing is offered that cannot be done"
        choose(page)
        said(page, 'pip install "shotad[transcript]"')
