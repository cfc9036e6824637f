"""Story questions that the description leaves open, as the review page answers them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Interval, load_config
from shotad.evaluation import (
    MetricContext,
    Store,
    evaluate_story,
)
from shotad.evaluation.story import write_story
from shotad.evaluation.story_questions import read_film, read_questions
from shotad.script import CueStatus
from tests.cli.program import invoke
from tests.evaluation.story.storyfilms import READER, options_of, vtt
from tests.rendering.described import film_with, retrack, write_folder
from tests.review.reviewed import Page, reviewed

FACTS = {"letter": (2, 10.0), "cat": (3, 21.0), "drum": (6, 31.0), "lamp": (4, 50.0)}
"""The number of each fact's place, and when the film shows it: in a silent slot, in one with a line, while
somebody speaks, and where there is neither slot nor speech."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder in whose second slot nothing is said."""
    lines = {1.0: "A cat sleeps by the window.", 9.0: "Silent.", 20.0: "Rain falls on the street."}
    film, settings = film_with(frames=1500, sounds=()), ("lint.parse=words",)
    place = write_folder(tmp_path / "film.shotad", film, lines, (Interval(30, 33),), settings=settings)
    silent = {"text": "", "status": CueStatus.SILENT}
    return retrack(place, lambda cue: replace(cue, **silent) if cue.text == "Silent." else cue)


def ask(place: Path) -> tuple[Path, ...]:
    """Ask the questions, with a human AD that tells all facts; what was written."""
    human, questions = place.parent / "human.vtt", place.parent / "questions.jsonl"
    lines = [(at, at + 1, f"Anna finds the {fact} in place {n}.") for fact, (n, at) in FACTS.items()]
    human.write_text(vtt(lines), encoding="utf-8")
    rows = [
        {"film": "Anna", "id": fact, "question": f"Where does Anna find the {fact}?", "answer": f"place {n}",
         "options": options_of(n)}
        for fact, (n, _) in FACTS.items()
    ]  # fmt: skip
    questions.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    context = MetricContext(load_config(None, ()), Store())
    film = read_film("Anna", place, human=human)
    story = evaluate_story([film], read_questions([questions]), READER, context, tries=1, anyway=True)
    return write_story(place.parent / "report", story)


def shown(page: Page) -> dict[str, list[str]]:
    """What the page says of the story, by line."""
    return {
        line["id"]: texts
        for line in page.checked()["lines"]
        if (texts := [finding["text"] for finding in line["findings"] if finding["rule"] == "S1"])
    }


LETTER = "at 00:00:10 (free slot): Where does Anna find the letter? Answer: place 2"
CAT = "at 00:00:21 (slot with a line): Where does Anna find the cat? Answer: place 3"
DRUM = "at 00:00:31 (no slot: dialogue runs here): Where does Anna find the drum? Answer: place 6"
LAMP = "at 00:00:50 (no slot): Where does Anna find the lamp? Answer: place 4"
CHANGED = ". The lines here have changed since this was asked"


def test_each_question_stands_at_its_silent_slot_else_at_the_nearest_line(place: Path) -> None:
    assert place / "missing.json" in ask(place)
    with reviewed(place, gone=True) as (_, page):
        assert shown(page) == {"s00009000": [LETTER], "s00020000": [CAT, DRUM, LAMP]}
        (finding,) = page.line("s00009000")["findings"]
        assert page.act("remove_slot", "s00020000").status == 200
        assert shown(page) == {"s00009000": [LETTER, CAT + CHANGED, DRUM, LAMP]}
    assert (finding["title"], finding["level"]) == ("story question left open", "warning")
    assert "run shotad evaluate story again" in finding["hint"]


def test_where_the_lines_have_changed_it_says_so_until_it_is_asked_again(place: Path) -> None:
    ask(place)
    with reviewed(place, gone=True) as (_, page):
        assert page.act("write", "s00020000", {"text": "Anna finds the cat in place 3."}).status == 200
        assert shown(page) == {"s00009000": [LETTER], "s00020000": [CAT + CHANGED, DRUM, LAMP]}
        page.act("add", "", {"start": 9.5, "text": "Anna finds the letter in place 2."})
        assert [LETTER + CHANGED] in shown(page).values()
    ask(place)
    with reviewed(place, gone=True) as (_, page):
        assert shown(page) == {"s00020000": [DRUM, LAMP]}


@pytest.mark.parametrize("content", ["{", '{"missing": [{}]}'])
def test_a_damaged_list_is_a_finding_and_hides_no_other(place: Path, content: str) -> None:
    (place / "missing.json").write_text(content, encoding="utf-8")
    with reviewed(place, gone=True) as (_, page):
        page.act("write", "s00020000", {"text": "We see rain."})
        by_line = shown(page)
        assert [finding["rule"] for finding in page.line("s00020000")["findings"]] == ["L2"]
    assert list(by_line) == ["s00001000"]
    assert "missing.json is damaged" in by_line["s00001000"][0]


def test_lint_says_the_same_and_what_was_accepted_is_gone_from_the_page(place: Path) -> None:
    ask(place)
    linted = invoke("lint", place, "--accept", "S1:s00009000", "--json")
    report = json.loads(linted.stdout)
    assert [row["message"] for row in report["findings"] if row["rule"] == "S1"] == [CAT, DRUM, LAMP]
    with reviewed(place, gone=True) as (_, page):
        assert shown(page) == {"s00020000": [CAT, DRUM, LAMP]}
