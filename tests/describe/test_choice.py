"""Which candidate is taken: near copies go, then rules, embeddings along the film, or an engine that is asked."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import Abilities, Identity, Interval, Reply, Request, ShotadError, Slot, load_config
from shotad.description.choice import (
    FittedLine,
    Situation,
    by_engine,
    by_rules,
    by_sequence,
    choice_in,
    distinct,
    is_near_copy,
    make_chooser,
    scores,
)
from shotad.engines import AskingPool
from shotad.script import Finding, Level
from shotad.script.fit import FittedText

SLOT = Slot("s00010000", Interval(10, 14), 12)
RESIDUE = Finding("L5", Level.ERROR, "speaks of the task: 'the image shows'")
ERROR = Finding("L3", Level.ERROR, "of the camera: 'close-up'")
WARNING = Finding("L4", Level.WARNING, "interprets: 'seems'")
DESCRIPTION = "1. Actions: Ann opens a drawer. She takes out a gun.\n2. Key objects: A gun."
GOOD, POOR, GUN = "Ann opens a drawer.", "Bob waits outside.", "She takes out a gun."


def line(text: str, *findings: Finding, unseen: Sequence[str] = ()) -> FittedLine:
    return FittedLine(0, FittedText(text), SLOT.interval, findings, tuple(unseen))


def situation(*said: str, description: str = DESCRIPTION) -> Situation:
    return Situation(SLOT, said, description)


# Near copies


@pytest.mark.parametrize(("one", "other", "same"), [
    ("Turning at the door, Ann smiles at Bob.", "Ann turns at the door, smiling at Bob.", True),
    ("Ann opens the heavy door of the old car.", "Eve opens the heavy door of the old car.", False),
    ("Ann opens the heavy door of the old car.", "Ann closes the heavy door of the old car.", False),
    ("Ann watches Bob leave.", "Bob watches Ann leave.", False),
    ("Rain falls.", "Snow falls.", False),
])  # fmt: skip
def test_the_same_in_another_order_is_a_near_copy_and_another_subject_or_verb_is_none(one, other, same):
    assert is_near_copy(one, other) == is_near_copy(other, one) == same
    assert distinct([one, other]) == ((0,) if same else (0, 1))


# By rules


@pytest.mark.parametrize(("better", "worse"), [
    (line(POOR, ERROR, ERROR, unseen=["Bob waits."]), line(GOOD, RESIDUE)),
    (line(POOR, ERROR, WARNING), line(GOOD, unseen=["a gun"])),
    (line(POOR, ERROR), line("Ann opens the drawer and takes out the")),
    (line(POOR, WARNING, WARNING), line(GOOD, ERROR)),
    (line(POOR), line(GOOD, WARNING)),
], ids=["residue", "unseen", "broken off", "error", "warning"])  # fmt: skip
def test_an_earlier_rule_outweighs_all_later_ones(better: FittedLine, worse: FittedLine) -> None:
    assert by_rules([worse, better], situation()) == 1
    assert by_rules([better, worse], situation()) == 0


@pytest.mark.parametrize(("lines", "said", "description", "taken"), [
    ((GOOD, POOR), ("The drawer Ann opens.", *(f"It is door number {n}." for n in range(9))), DESCRIPTION, 1),
    ((GOOD, POOR), ("The drawer Ann opens.", *(f"It is door number {n}." for n in range(10))), DESCRIPTION, 0),
    (("Ann sits at a table.", GOOD), (), DESCRIPTION, 1),
    (("Ann sits behind a table.", "Ann stumbles."), (), "1. Actions: Ann stumbles past a table.", 1),
    (("Ann opens the drawer.", "Ann takes out a gun."), ("Ann opens the door.",), DESCRIPTION, 1),
    ((POOR, POOR), (), DESCRIPTION, 0),
])  # fmt: skip
def test_the_line_that_says_more_of_the_description_and_news_is_taken(lines, said, description, taken):
    assert by_rules([*map(line, lines)], situation(*said, description=description)) == taken


# By embeddings


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Words as random directions, by hash: texts are alike as far as they share words."""
    rows = []
    for text in texts:
        words = re.findall(r"[a-z]+", text.lower()) or [""]
        seeds = [int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") for word in words]
        row = sum(np.random.default_rng(seed).normal(size=256) for seed in seeds)
        rows.append(row / np.linalg.norm(row))
    return np.stack(rows).astype(np.float32)


def test_what_was_said_is_not_said_again_and_memory_fades() -> None:
    chooser, candidates = by_sequence(embed), [line(GOOD), line(GUN)]
    assert chooser([line(POOR), line(GUN)], situation()) == 1
    assert chooser(candidates, situation("Ann opens the drawer.")) == 1
    assert chooser(candidates, situation("She takes a gun out.")) == 0
    nothing, fresh, old = (
        scores([GOOD], situation(*said), embed)[0] for said in ((), ("Bob sits.", GOOD), (GOOD, "Bob sits."))
    )
    assert fresh == pytest.approx(nothing - 0.5, abs=1e-6)
    assert old == pytest.approx(nothing - 0.5 * 0.85, abs=1e-6)


def test_a_line_that_must_not_be_is_out_however_relevant_and_a_warning_weighs_little() -> None:
    chooser = by_sequence(embed)
    for worse in (line(GOOD, ERROR), line(GOOD, unseen=("x",)), line("A drawer Ann opens.")):
        assert chooser([worse, line(POOR)], situation(GOOD)) == 1
    assert chooser([line(GOOD, WARNING), line(GOOD)], situation()) == 1
    assert chooser([line(GOOD, WARNING), line(POOR)], situation()) == 0
    alike = by_sequence(lambda texts: np.ones((len(texts), 1), np.float32))
    assert alike([line("Ann opens."), line(GOOD)], situation()) == 1, "before its own first half"


# By an engine


class Desk:
    """An engine with prepared answers."""

    identity, abilities = Identity("fake", "m", "1"), Abilities()

    def __init__(self, *answers: str | Reply) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        self.requests += requests
        answers = [self.answers.pop(0) for _ in requests]
        return [answer if isinstance(answer, Reply) else Reply(answer) for answer in answers]

    def chosen(self, at: Situation, lines: Sequence[FittedLine] = ()) -> int:
        with AskingPool({"stage2": self}) as pool:
            return by_engine(pool, load_config())(lines or CANDIDATES, at)


CANDIDATES = [line(GOOD), line(GUN), line(POOR)]


@pytest.mark.parametrize("answer", ["I like them all.", Reply("Candidate 3.", "refused")])
def test_an_answer_without_a_choice_leaves_it_to_the_rules(answer: str | Reply) -> None:
    desk, at = Desk(answer), situation("Ann opens the drawer.")
    assert desk.chosen(at) == by_rules(CANDIDATES, at) == 1


def test_only_lines_that_may_be_spoken_are_shown_and_one_is_no_question() -> None:
    desk, mixed = Desk('{"choice": 2}'), [line("A close-up of Ann.", ERROR), line(GOOD), line(POOR)]
    assert desk.chosen(situation(), mixed) == 2
    assert "close-up" not in desk.requests[0].messages[-1].text
    assert desk.chosen(situation(), mixed[:2]) == 1
    assert len(desk.requests) == 1


LINES = ["He sits.", "He stands up.", "She runs from 3 dogs.", "He sits down and stands up."]


@pytest.mark.parametrize(("answer", "index"), [
    ('{"choice": 2}', 1),
    ('```json\n{"choice": "3"}\n```', 2),
    ('{"choice": "He stands up."}', 1),
    ('{"choice": 2', 1),
    ("2", 1),
    ("I choose candidate 3 because candidate 1 repeats what was said.", None),
    ("3. She runs from 3 dogs.", 2),
    ("He sits down and stands up.", 3),
    ('{"choice": 9}', None),
    ('{"choice": true}', None),
    ('{"choice": 2} {"choice": 3}', None),
])  # fmt: skip
def test_answers_are_read_by_their_meaning(answer: str, index: int | None) -> None:
    assert choice_in(answer, LINES) == index


def test_the_setting_names_the_chooser(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Toy:
        of = staticmethod(embed)

        def __init__(self, **_: object) -> None:
            made.append(1)

    monkeypatch.setattr("shotad.description.choice.make_embedder", Toy)
    monkeypatch.setattr("shotad.description.choice.check_installed", lambda: None)
    pool = AskingPool({"stage2": Desk()})

    def chooser(select: str) -> Any:
        config = load_config(None, [f"stage2.select={select}"])
        return make_chooser(config, pool)

    assert chooser("single") is by_rules
    assert chooser("engine")([line(POOR)], situation()) == 0
    along = chooser("sequence")
    assert along([line(POOR)], situation()) == 0
    assert made == []
    candidates = [line(POOR), line(GUN)]
    assert along(candidates, situation()) == along(candidates, situation()) == 1
    assert made == [1]
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ShotadError, match=r"shotad\[language\]"):
        chooser("sequence")
