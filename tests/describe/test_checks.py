"""What is wrong with a line, said so that a model can do something about it."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Description, Message, load_config
from shotad.description.checks import complaints_about, original, repeats_question, sentences_of
from shotad.description.prompts import stage2_messages
from shotad.description.templates import material, question
from tests.describe.prompting import plan_of

SHARED = Path(__file__).parents[3] / "shared" / "data"

GOOD = (
    "She opens the gate.", "He pockets the key and walks off.", "Ann's hand is covered in blood.",
    "The door is closed, the blinds are drawn.", "Bill hands Ann a gun.", "A woman's hand opens the door.",
    'A sign reads "I will be back. We were here".', "Small talk show hosts laugh.",
    "Will runs to the gate.", "He sees them dressed in rags.", "He talks into a radio.",
    "She leaves without speaking.", "A chat window opens.",
)  # fmt: skip


@pytest.mark.parametrize(("line", "rule", "said"), [
    ("Ann opened the gate.", "L1", "Ann opened the"),
    ("She quickly took the knife.", "L1", "She quickly took"),
    ("He will take the knife.", "L1", "He will"),
    ("He is hit by a car.", "L1", "is hit"),
    ("They are surrounded by wolves.", "L1", "are surrounded by"),
    ("We see Ann run.", "L2", "We"),
    ("The camera pans to Ann.", "L3", "The camera pans"),
    ("Ann smiles, suggesting that she knows.", "L4", "suggesting"),
    ("The image shows Ann.", "L5", "The image shows"),
    ("**Ann** runs.", "L5", "**"),
    ("Mrs. Jones kneels.", "L13", "Mrs"),
    ("A man kneels.", "pronoun", '"he" instead of "A man"'),
    ("She turns while a boy runs.", "pronoun", '"he" instead of "a boy"'),
    ("The person kneels.", "pronoun", '"they"'),
    ("Ann is speaking to Bo.", "talk", "speaking"),
    ("He has a conversation with her.", "talk", "has a conversation"),
    ("She says that it rains.", "talk", "says"),
])  # fmt: skip
def test_each_fault_is_named_with_its_words(line: str, rule: str, said: str) -> None:
    found = complaints_about(line, 20)
    assert [c.rule for c in found if c.rule == rule] == [rule]
    (complaint,) = (c for c in found if c.rule == rule)
    assert said in complaint.text
    assert complaint.text.endswith(".")


def test_good_lines_have_no_fault() -> None:
    assert [line for line in GOOD if complaints_about(line, 20)] == []


@pytest.mark.skipif(not (SHARED / "cmd-ad").is_dir(), reason="needs ../shared/data/cmd-ad")
def test_human_ad_seldom_breaks_the_rules_on_tense() -> None:
    with (SHARED / "cmd-ad/cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)][::2]
    hits = Counter(c.rule for text in texts for c in complaints_about(text, 99))
    # Measured on all 7,316 lines: 50 on tense and passive, nearly all of them rightly; and 89 titles.
    assert 0 < hits["L1"] <= 30
    assert 0 < hits["L13"] <= 60
    assert hits["talk"] <= 30


def test_what_a_question_quotes_is_no_part_of_it() -> None:
    seen = "Ann opens the gate and walks away."
    note = material("The man in the long coat is Bo.\nShe runs after the yellow bus.")
    messages = (
        Message("system", "You write audio description for a film."),
        question(f"Condense this clip into one sentence.\n{seen}\n{note}\nStay within nine words."),
        Message("assistant", "The gate opens with a loud creak."),
        Message("user", 'You wrote: "The gate opens with a loud creak."\nLeave out what cannot be seen.'),
    )
    asked = sentences_of(messages, seen)
    for line in (seen, "She runs after the yellow bus.", "The gate opens with a loud creak."):
        assert not repeats_question(line, asked)
    for line in ("You write audio description for a film.", "Leave out what cannot be seen."):
        assert repeats_question(line, asked)


@pytest.mark.skipif(not (SHARED / "cmd-ad").is_dir(), reason="needs ../shared/data/cmd-ad")
@pytest.mark.parametrize("candidates", [1, 5])
def test_no_line_of_human_ad_is_taken_for_a_part_of_the_question(candidates: int) -> None:
    with (SHARED / "cmd-ad/cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)][:: 20 if candidates == 1 else 30]
    described = Description("s00001000", {"Actions": "A cat walks over a table."}, "", "", "model")
    for number, text in enumerate(texts):
        words = max(3, len(text.split()))
        plan, config = plan_of("pc"), load_config(None, (f"seed={number}", f"stage2.candidates={candidates}"))
        slot = replace(plan.slot, max_words=words)
        messages = stage2_messages(described, replace(plan, slot=slot), config)
        assert original([text], text, messages, described.text) == (text,)
