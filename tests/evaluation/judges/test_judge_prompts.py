"""The prompts: complete, with no answer to copy, and with no sentence of a test set."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shotad.core import data_root, prompt_text
from shotad.description import check_templates
from shotad.evaluation import making_actions as questions
from shotad.evaluation.metrics import judge as asking, judged as prompts
from shotad.evaluation.metrics.judge import Question, Unreadable

TEMPLATES = {
    **asking.ASKED_AGAIN,
    **prompts.AD_TEMPLATES,
    **prompts.ACTION_TEMPLATES,
    **prompts.STORY_TEMPLATES,
    **questions.MAKING_TEMPLATES,
}
ODD = 'He says "$5 {now}\\" \n\n— and… 100 % ☃'
QUESTIONS: dict[str, Callable[[], Question[Any]]] = {
    "ad": lambda: prompts.ad_question(ODD, ODD, 1),
    "ad from 0": lambda: prompts.ad_question(ODD, ODD, 0),
    "action": lambda: prompts.action_question(ODD, ODD),
    "events": lambda: prompts.events_question([ODD, ODD]),
    "conveyed": lambda: prompts.conveyed_question(ODD, [ODD, ODD]),
    "names": lambda: questions.names_question(ODD),
    "split": lambda: questions.split_question(ODD),
}


def test_the_templates_are_those_that_are_there() -> None:
    check_templates(TEMPLATES)
    there = {
        f"{folder}/{path.stem}"
        for folder in ("judge", "actions")
        for path in (data_root() / "prompts" / folder).glob("*.txt")
    }
    assert there == set(TEMPLATES)


@pytest.mark.parametrize("name", QUESTIONS)
def test_any_text_is_quoted_whole_on_one_line(name: str) -> None:
    question = QUESTIONS[name]()
    text = question.messages[1].text
    assert json.dumps(" ".join(ODD.split()), ensure_ascii=False) in text
    assert "$" not in text.replace("$5", "")


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_form_of_an_answer_is_no_answer(name: str) -> None:
    """Weak models copy it."""
    question = QUESTIONS[name]()
    assert question.template in question.messages[1].text
    with pytest.raises(Unreadable):
        question.read(question.template)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_schema_asks_for_what_is_read(name: str) -> None:
    schema = QUESTIONS[name]().schema
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    for key in schema["properties"]:
        assert f'"{key}"' in QUESTIONS[name]().template


@pytest.mark.parametrize("lowest", [0, 1])
def test_the_scale_of_ads_has_a_word_for_each_score(lowest: int) -> None:
    scale = prompt_text(f"judge/ad-scale-{lowest}")
    assert re.findall(r"^(\d) - ", scale, re.MULTILINE) == [str(n) for n in range(lowest, 6)]


def examples(name: str, *labels: str) -> list[tuple[str, ...]]:
    """The examples of a template: the texts after each label, and the answer."""
    string = r'("(?:[^"\\]|\\.)*")'
    pattern = "\n".join([*(f"{label}: {string}" for label in labels), r"(\{.*\})"])
    return [tuple(found) for found in re.findall(pattern, prompt_text(name))]


def test_the_examples_of_the_action_metric() -> None:
    found = examples("judge/action", "Action", "Description")
    scores = []
    for action, described, answer in found:
        score, reason = prompts.action_question(action, described).read(answer)
        scores.append(score)
        assert reason.endswith(".")
    assert len(found) == 7
    assert set(scores) == {0, 1, 2, 3}


def test_the_examples_of_how_actions_are_made() -> None:
    for name, make in (("names", questions.names_question), ("split", questions.split_question)):
        found = examples(f"actions/{name}", "Text")
        assert len(found) == 7
        for text, answer in found:
            assert make(json.loads(text)).read(answer)  # type: ignore[operator]


CMD = Path(__file__).resolve().parents[4] / "shared" / "data" / "cmd-ad" / "cmdad_gt_action.csv"


@pytest.mark.skipif(not CMD.is_file(), reason="CMD-AD's annotation is not at ../shared/data")
def test_no_example_is_of_a_test_set() -> None:
    with CMD.open(encoding="utf-8", newline="") as file:
        known = {
            " ".join(re.findall(r"\w+", row[column].lower()))
            for row in csv.DictReader(file)
            for column in ("text_gt", "text_gt_wo_char")
        }
    for name in ("judge/action", "actions/names", "actions/split"):
        for quoted in re.findall(r'"((?:[^"\\]|\\.){20,})"', prompt_text(name)):
            assert " ".join(re.findall(r"\w+", quoted.lower())) not in known
