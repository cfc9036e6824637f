"""Choosing along the film: by embeddings, by asking an engine, and what its answers mean."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import Identity, Interval, Reply, Request, ShotadError, Slot, Usage, load_config
from shotad.description import check_templates, choice
from shotad.description.choice import (
    CHOICE_TEMPLATES,
    Around,
    ByEngine,
    ByRules,
    BySequence,
    Line,
    Situation,
    body_of,
    choice_in,
    make_chooser,
)
from shotad.script import Finding, Fitted, Level

SLOT = Slot("s00010000", Interval(10, 14), 12)
CONFIG = load_config()
ERROR = Finding("L3", Level.ERROR, "of the camera: 'close-up'")
WARNING = Finding("L4", Level.WARNING, "interprets: 'seems'")
DESCRIPTION = "1. Actions: Ann opens a drawer. She takes out a gun.\n2. Key objects: A gun."


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Words as random directions, by hash: texts are alike as far as they share words."""
    rows = []
    for text in texts:
        words = re.findall(r"[a-z]+", text.lower()) or [""]
        seeds = [int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") for word in words]
        row = sum(np.random.default_rng(seed).normal(size=256) for seed in seeds)
        rows.append(row / np.linalg.norm(row))
    return np.stack(rows).astype(np.float32)


def line(text: str, *findings: Finding, unseen: tuple[str, ...] = ()) -> Line:
    return Line(0, Fitted(text), SLOT.interval, findings, unseen)


def lines(*texts: str) -> list[Line]:
    return [line(text) for text in texts]


def situation(*said: str, description: str = DESCRIPTION) -> Situation:
    return Situation(SLOT, said, description, Around())


# By embeddings


def test_the_relevant_line_is_taken() -> None:
    assert BySequence(embed).choose(lines("Bob waits outside.", "Ann takes out a gun."), situation()) == 1


def test_what_was_said_is_not_said_again() -> None:
    candidates = lines("Ann opens a drawer.", "She takes out a gun.")
    chooser = BySequence(embed)
    assert chooser.choose(candidates, situation("Ann opens the drawer.")) == 1
    assert chooser.choose(candidates, situation("She takes a gun out.")) == 0


def test_memory_fades() -> None:
    chooser = BySequence(embed)
    text = ["Ann opens a drawer."]
    fresh, old = (
        chooser.worths(text, situation(*said))[0]
        for said in (["Bob sits.", "Ann opens a drawer."], ["Ann opens a drawer.", "Bob sits."])
    )
    nothing = chooser.worths(text, situation())[0]
    assert fresh == pytest.approx(nothing - 0.5, abs=1e-6)
    assert old == pytest.approx(nothing - 0.5 * 0.85, abs=1e-6)


def test_a_choice_changes_the_next_one() -> None:
    candidates = lines("Ann opens a drawer.", "She takes out a gun.")
    said: list[str] = []
    for _ in range(2):
        said.append(candidates[BySequence(embed).choose(candidates, situation(*said))].text)
    assert sorted(said) == ["Ann opens a drawer.", "She takes out a gun."]


@pytest.mark.parametrize(
    "worse", [line("Ann opens a drawer.", ERROR), line("Ann opens a drawer.", unseen=("x",))]
)
def test_a_line_that_must_not_be_is_out_however_relevant(worse: Line) -> None:
    assert BySequence(embed).choose([worse, line("Bob waits.")], situation()) == 1


def test_a_warning_weighs_little() -> None:
    chooser = BySequence(embed)
    assert (
        chooser.choose([line("Ann opens a drawer.", WARNING), line("Ann opens a drawer.")], situation()) == 1
    )
    assert (
        chooser.choose([line("Ann opens a drawer.", WARNING), line("Bob waits outside.")], situation()) == 0
    )


def test_a_near_copy_of_what_was_said_is_out_where_another_line_is_there() -> None:
    candidates = lines("A drawer Ann opens.", "Bob waits outside.")
    assert BySequence(embed, redundancy=0).choose(candidates, situation("Ann opens a drawer.")) == 1
    assert BySequence(embed, redundancy=0).choose(candidates[:1], situation("Ann opens a drawer.")) == 0


def test_of_equals_the_first_is_taken_and_no_description_is_no_trouble() -> None:
    assert BySequence(embed).choose(lines("Bob waits.", "Bob waits."), situation(description="")) == 0


def test_the_body_of_a_description_has_no_headings() -> None:
    assert body_of(DESCRIPTION) == "Ann opens a drawer. She takes out a gun. A gun."
    assert body_of("Ann: sits.\n") == "Ann: sits."
    assert body_of("") == ""


def test_a_line_is_taken_before_its_own_first_half() -> None:
    description = "1. Actions: Ann opens a drawer. Bob shouts."
    halves = lines("Ann opens.", "Ann opens a drawer.")
    alike = BySequence(lambda texts: np.ones((len(texts), 1), np.float32))
    assert alike.choose(halves, situation(description=description)) == 1


# By an engine


class Desk:
    """An engine with prepared answers, and a log."""

    def __init__(self, *answers: str | Reply) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []
        self.log: dict[str, Mapping[str, Any]] = {}

    def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        answer = self.answers.pop(0)
        return answer if isinstance(answer, Reply) else Reply(answer, usage=Usage(100, 5))

    def keep(self, key: str, record: Mapping[str, Any]) -> None:
        self.log[key] = json.loads(json.dumps(record))

    def chooser(self, revision: str = "1") -> ByEngine:
        return ByEngine(self.ask, self.log.get, self.keep, CONFIG, Identity("fake", "m", revision))


CANDIDATES = lines("Ann opens a drawer.", "She takes out a gun.", "Bob waits outside.")


def test_the_engine_is_shown_what_it_needs_and_obeyed() -> None:
    desk = Desk('{"choice": 3}')
    assert desk.chooser().choose(CANDIDATES, situation("It rains.")) == 2
    (request,) = desk.requests
    text = request.messages[-1].text
    assert DESCRIPTION in text
    assert "- It rains." in text
    assert "2. She takes out a gun." in text
    assert request.schema is not None
    assert request.schema["properties"]["choice"]["maximum"] == 3
    assert (request.sampling.temperature, request.clip) == (0.0, None)
    (record,) = desk.log.values()
    assert (record["chosen"], record["raw"], record["note"]) == (2, '{"choice": 3}', "")
    assert record["usage"] == {"tokens_in": 100, "tokens_out": 5}


def test_a_second_run_asks_nothing_again() -> None:
    desk = Desk('{"choice": 2}')
    assert desk.chooser().choose(CANDIDATES, situation()) == 1
    assert desk.chooser().choose(CANDIDATES, situation()) == 1
    assert len(desk.requests) == 1


@pytest.mark.parametrize("what", ["said", "lines", "description", "engine"])
def test_another_question_is_asked_anew(what: str) -> None:
    desk = Desk('{"choice": 2}', '{"choice": 1}')
    desk.chooser().choose(CANDIDATES, situation())
    shown = CANDIDATES[::-1] if what == "lines" else CANDIDATES
    asked = situation(
        *["It rains."] * (what == "said"), description="A gun." * (what == "description") or DESCRIPTION
    )
    desk.chooser("2" if what == "engine" else "1").choose(shown, asked)
    assert len(desk.requests) == len(desk.log) == 2


def test_an_answer_without_a_choice_leaves_it_to_the_rules_with_a_note() -> None:
    desk = Desk("I like them all.")
    situation_ = situation("Ann opens the drawer.")
    assert desk.chooser().choose(CANDIDATES, situation_) == ByRules().choose(CANDIDATES, situation_) == 1
    (record,) = desk.log.values()
    assert record["chosen"] is None
    assert "rules" in record["note"]
    assert desk.chooser().choose(CANDIDATES, situation_) == 1
    assert len(desk.requests) == 1


def test_a_failed_call_is_repeated_on_the_next_run() -> None:
    desk = Desk(Reply("", "error", error="timed out"), '{"choice": 3}')
    assert desk.chooser().choose(CANDIDATES, situation()) in range(3)
    assert [record["error"] for record in desk.log.values()] == ["timed out"]
    assert desk.chooser().choose(CANDIDATES, situation()) == 2
    assert [record["error"] for record in desk.log.values()] == [None]


def test_the_words_of_a_refusal_choose_nothing() -> None:
    desk = Desk(Reply("Candidate 3.", "refused"))
    chosen = desk.chooser().choose(CANDIDATES, situation("It rains."))
    assert chosen == ByRules().choose(CANDIDATES, situation("It rains."))
    assert [record["chosen"] for record in desk.log.values()] == [None]


def test_only_lines_that_may_be_spoken_are_shown_and_one_is_no_question() -> None:
    desk = Desk('{"choice": 2}')
    mixed = [line("A close-up of Ann.", ERROR), *lines("Ann opens a drawer.", "Bob waits.")]
    assert desk.chooser().choose(mixed, situation()) == 2
    assert "close-up" not in desk.requests[0].messages[-1].text
    assert desk.chooser().choose(mixed[:2], situation()) == 1
    assert len(desk.requests) == 1


LINES = ["He sits.", "He stands up.", "She runs from 3 dogs.", "He sits down and stands up."]


@pytest.mark.parametrize(
    ("answer", "index"),
    [
        ('{"choice": 2}', 1),
        ('```json\n{"choice": "3"}\n```', 2),
        ('{"choice": 1, "reason": "2 is dull"}', 0),
        ('{"choice": "He stands up."}', 1),
        ("{'choice': 3}", 2),
        ('{"choice": 2', 1),
        ("2", 1),
        ("Candidate 2.", 1),
        ("Answer: #2", 1),
        ("I choose candidate 3 because candidate 1 repeats what was said.", None),
        ('<think>1? No, 2.</think>{"choice": 1}', 0),
        ("3. She runs from 3 dogs.", 2),
        ("He sits down and stands up.", 3),
        ('{"choice": 9}', None),
        ('{"choice": true}', None),
        ('{"choice": null}', None),
        ("[1, 2]", None),
        ("", None),
        ("I'm sorry, I can't help with that.", None),
        ("Candidates 1 and 2 are equal.", None),
        ('{"choice": 2} {"choice": 3}', None),
        ("None of them.", None),
    ],
)
def test_answers_are_read_by_their_meaning(answer: str, index: int | None) -> None:
    assert choice_in(answer, LINES) == index


# Which chooser


def test_the_setting_names_the_chooser(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Toy:
        def of(self, texts: Sequence[str], *, prompt: str = "") -> npt.NDArray[np.float32]:
            return embed(texts)

    def make(**_: object) -> Toy:
        made.append(1)
        return Toy()

    monkeypatch.setattr(choice, "make_embedder", make)
    monkeypatch.setattr(choice, "check_installed", lambda: None)
    desk = Desk()

    def chooser(select: str) -> Any:
        config = load_config(None, [f"stage2.select={select}"])
        return make_chooser(config, desk.ask, desk.log.get, desk.keep, Identity("fake"))

    assert isinstance(chooser("single"), ByRules)
    assert isinstance(chooser("engine"), ByEngine)
    along = chooser("sequence")
    assert isinstance(along, BySequence)
    assert along.choose(lines("Bob waits."), situation()) == 0
    assert made == []
    candidates = lines("Bob waits outside.", "Ann takes out a gun.")
    assert along.choose(candidates, situation()) == along.choose(candidates, situation()) == 1
    assert made == [1]


def test_a_missing_library_is_told_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    desk = Desk()
    config = load_config(None, ["stage2.select=sequence"])
    with pytest.raises(ShotadError, match=r"shotad\[language\]"):
        make_chooser(config, desk.ask, desk.log.get, desk.keep, Identity("fake"))


def test_the_prompts_are_whole() -> None:
    check_templates(CHOICE_TEMPLATES)
