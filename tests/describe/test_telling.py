"""The story as it is told from line to line: what the note on it is made of."""

from __future__ import annotations

from typing import Any

import pytest

from shotad.core import Identity, Interval, Reply, Request, Slot, Utterance, load_config
from shotad.description.story import Telling
from shotad.script import Cue, CueStatus
from tests.describe.prompting import bare, people

SLOT = Slot("s00020000", Interval(20, 24), 8)
CONFIG = load_config(None, ("story.on=true",))


def told(*replies: Reply, log: dict[str, Any] | None = None) -> str:
    """What is told after as many notes as there are replies."""
    waiting, kept = list(replies), {} if log is None else log

    def ask(request: Request) -> Reply:
        return waiting.pop(0)

    telling = Telling((), CONFIG, Identity("model"), ask, kept.get, kept.__setitem__)
    for number in range(8 * len(replies)):
        start = Interval(float(number), number + 1.0)
        name = f"s{1000 * number:08d}"
        cue = Cue(name, name, start, "Ann sits.", language="en", status=CueStatus.PLACED)
        telling.heard(cue)
    return telling.text(SLOT)


def test_the_note_on_the_story_is_told() -> None:
    assert "Ann waits for Bob." in told(Reply("Ann waits for Bob."))


@pytest.mark.parametrize(
    "bad",
    [
        Reply("", "error", error="timed out"),
        Reply("I'm sorry, I can't help with that."),
        Reply("The response was filtered by the content policy.", "refused"),
    ],
)
def test_where_there_is_no_note_the_old_one_stays(bad: Reply) -> None:
    after = told(Reply("Ann waits for Bob."), bad)
    assert "Ann waits for Bob." in after
    assert "filtered" not in after
    assert "sorry" not in after


def test_a_note_that_was_made_is_not_asked_for_again() -> None:
    log: dict[str, Any] = {}
    first = told(Reply("Ann waits for Bob."), log=log)
    assert told(Reply("Something else."), log=log) == first


def test_names_of_who_is_in_the_clip_come_first() -> None:
    telling = Telling((), CONFIG, Identity("model"), lambda _: Reply(""), lambda _: None, lambda *_: None)
    second, text = Interval(1, 2), "He sees Max and Nora."
    telling.heard(Cue("s00001000", "s00001000", second, text, language="en", status=CueStatus.PLACED))
    assert "Names in use: Bo, Max. " in bare(telling.text(SLOT, people("bo nora")))
    assert "Names in use: Max, Nora. " in bare(telling.text(SLOT))


def test_names_that_the_film_has_not_told_are_not_told_of_the_dialogue() -> None:
    said = [
        Utterance(Interval(18, 19), text="COME HERE NORA NOW"),
        Utterance(Interval(25, 26), text="Nora, run!"),
    ]
    telling = Telling(said, CONFIG, Identity("model"), lambda _: Reply(""), lambda _: None, lambda *_: None)
    line = Cue(
        "s00001000", "s00001000", Interval(1, 2), "Nora waits.", language="en", status=CueStatus.PLACED
    )
    telling.heard(line)
    text = telling.text(SLOT, people("nora"))
    assert "nora" not in text.lower()
    assert "come here the woman in red now" in text
    assert "Nora" in telling.text(SLOT)


def test_the_note_is_made_of_dialogue_without_names_that_are_not_told() -> None:
    said = [Utterance(Interval(1.2, 1.8), text="Nora, run!")]
    asked: list[str] = []

    def ask(request: Request) -> Reply:
        asked.append(request.messages[-1].text)
        return Reply("Somebody runs.")

    telling = Telling(said, CONFIG, Identity("model"), ask, lambda _: None, lambda *_: None)
    telling.text(SLOT, people("nora"))
    cue = Cue("s00001000", "s00001000", Interval(1, 2), "She waits.", language="en", status=CueStatus.PLACED)
    for _ in range(8):
        telling.heard(cue)
    assert len(asked) == 1
    assert "The woman in red, run!" in asked[0]
    assert "Nora" not in asked[0]
