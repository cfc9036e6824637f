"""Asking a writer for a shorter line: the question, the answer's checks, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from shotad.core import Abilities, Config, EngineError, Identity, RecordLog, Reply, Request
from shotad.description.stage2 import Shortener
from shotad.script import Answer, Wish

LINE = "Emo, breathing hard, hurries along the narrow bridge and looks back at the swarming birds."
WISH = Wish("s00010000", LINE, 7)


class Scripted:
    """Answers what it is told to, and keeps the requests."""

    def __init__(self, *answers: str | Reply | EngineError, batch: int = 8) -> None:
        self.identity = Identity("scripted", "model", "1")
        self.abilities = Abilities(batch=batch)
        self.requests: list[Request] = []
        self.calls = 0
        self._answers = list(answers)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        self.calls += 1
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, EngineError):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(json.dumps({"ad": answer}))


def shortener(engine: Scripted, log: RecordLog | None = None) -> Shortener:
    return Shortener(engine, Config(), log)


def one(*answers: str | Reply | EngineError, wish: Wish = WISH) -> Answer | None:
    (answer,) = shortener(Scripted(*answers))([wish])
    return answer


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("Emo hurries along the narrow bridge and looks back.", "at most 7 may be used"),
        ("Proog hurries along the narrow bridge.", "Keep who acts"),
        ("Hurries along the narrow bridge, looking back.", "Keep who acts"),
        ("Emo and Proog hurry along the bridge.", '"Proog"'),
        ("Emo drinks coffee in a sunny garden.", "something else"),
        ("We see Emo on the narrow bridge.", "Nobody watches"),
        ('Emo hurries past "Exit" on the bridge.', '"Exit"'),
    ],
)
def test_what_is_wrong_with_an_answer_is_told(answer: str, wrong: str) -> None:
    found = one(answer)
    assert found is not None
    assert wrong in " ".join(found.complaints)


def test_a_rule_that_the_line_itself_breaks_is_not_held_against_the_answer() -> None:
    wish = Wish("s1", "A man walks slowly along the long, dark corridor of the school.", 6)
    assert one("A man walks along the corridor.", wish=wish) == Answer("A man walks along the corridor.")


def test_the_second_question_goes_on_from_the_first() -> None:
    engine = Scripted("Emo hurries.")
    before = Answer("Emo runs along the bridge.", ("Leave that out.",))
    shortener(engine)([Wish(WISH.id, LINE, 4, before=before)])
    system, user, said, again = engine.requests[0].messages
    assert [m.role for m in (system, user, said, again)] == ["system", "user", "assistant", "user"]
    assert before.text in said.text
    assert "Leave that out." in again.text
    engine = Scripted("Emo hurries.")
    shortener(engine)([Wish(WISH.id, LINE, 4, before=Answer("Emo runs along the bridge."))])
    assert "takes too long to say. At most 4 words" in engine.requests[0].messages[-1].text


@pytest.mark.parametrize(
    "bad",
    [
        Reply("", "error", error="timed out"),
        Reply("I'm sorry, I can't help with that."),
        Reply("", "silent"),
        Reply("{}"),
    ],
)
def test_no_line_is_no_answer(bad: Reply) -> None:
    assert one(bad) is None


def test_a_failed_call_is_made_again_on_the_next_run(tmp_path: Path) -> None:
    failed = Scripted(Reply("", "error", error="timed out"))
    assert shortener(failed, RecordLog(tmp_path / "shorter.jsonl"))([WISH]) == [None]
    well = Scripted("Emo hurries on.")
    assert shortener(well, RecordLog(tmp_path / "shorter.jsonl"))([WISH]) == [Answer("Emo hurries on.")]


def test_an_engine_that_stops_is_no_exception_and_is_left_alone() -> None:
    engine = Scripted(EngineError("The key is refused.", "Set another."), batch=1)
    asked = shortener(engine)
    assert asked([WISH]) == [None]
    assert "The key is refused." in asked.trouble
    assert asked([WISH]) == [None]
    assert engine.calls == 1


def test_other_languages_are_asked_in_their_own_words() -> None:
    german = Wish("s1", "Emo läuft keuchend über die schmale Brücke und blickt sich um.", 8, "de")
    engine = Scripted("Emo läuft über die Brücke.")
    (answer,) = shortener(engine)([german])
    assert answer == Answer("Emo läuft über die Brücke.")
    assert "at most 6 words" in engine.requests[0].messages[1].text
