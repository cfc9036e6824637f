"""Lines taken apart: each statement can be judged alone; the second look, of which only a clear no counts; and example
sentences."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path

import pytest

from shotad.core import Interval
from shotad.core.config.words import PromptSettings
from shotad.core.errors import ConfigError
from shotad.core.types import Role
from shotad.description.prompts import COLUMNS, draw, load_examples
from shotad.script import count_words
from tests.describe.prompting import bare
from tests.describe.slot_run import AS_THEY_COME, SEEN, ScriptedSlot, SlotRun, lines_json, run_slots

SECOND_LOOK = (*AS_THEY_COME, "verify.on=true", "stage1.attempts=1")


def look_again(*lines: str, answer: str = "{}", how: tuple[str, ...] = ()) -> SlotRun:
    """A run with a slot for each line; ``answer`` is Stage I's when it is shown the statements of a line."""
    slots = [
        ScriptedSlot([lines_json(line)], (SEEN, answer), Interval(5 * n, 5 * n + 4), 60)
        for n, line in enumerate(lines)
    ]
    return run_slots(*slots, how=(*SECOND_LOOK, "stage2.fit=none", *how))


def statements_of(*lines: str) -> list[list[str]]:
    """The statements of each line, as they are put to Stage I."""
    questions = [
        bare(request.messages[-1].text) for request in look_again(*lines).looks.requests if request.schema
    ]
    return [re.findall(r"^\d+\. (.*)$", question, re.MULTILINE) for question in questions]


@pytest.mark.parametrize(("line", "statements"), [
    # One subject, several verbs.
    ("She opens the tin, looks inside, and drops it.", "She opens the tin. She looks inside. She drops it."),
    ("He turns and slowly walks off.", "He turns. He slowly walks off."),
    ("They turn, stare, then run.", "They turn. They stare. They run."),
    ("Ann and Bo run to the gate and climb over it.", "Ann and Bo run to the gate. Ann and Bo climb over it."),
    # Another subject.
    ("As he enters, she turns and smiles.", "He enters. She turns. She smiles."),
    ("He nods to a guard, who draws a gun.", "He nods to a guard. A guard draws a gun."),
    # Participles.
    ("He enters, holding a torch and smiling.", "He enters. He is holding a torch. He is smiling."),
    ("He stands between Ann and Bo and faces Cy.", "He stands between Ann and Bo. He faces Cy."),
    # Where.
    ('She writes "Go, and run" on the wall and leaves.', 'She writes "Go, and run" on the wall. She leaves.'),
    # Several sentences, and repeats.
    ("He falls. Dr. Lee runs; she kneels!", "He falls. Dr. Lee runs. She kneels."),
])  # fmt: skip
def test_line_is_taken_apart(line: str, statements: str) -> None:
    expected = re.split(r"(?<!Dr\.)(?<=\.) ", statements)
    assert statements_of(line) == [expected]


@pytest.mark.parametrize("line", [
    "Night.",
    "He takes bread, eggs and milk.",
    "He passes chairs, a table that holds a lamp, and a bed.",
    "She picks up shells and rocks.",
    "He tries to open the door and escape.",
    "He pulls the lever, causing the floor to open.",
    'A sign reads "Stay, and watch as he leaves."',
])  # fmt: skip
def test_line_that_is_one_statement_stays_whole(line: str) -> None:
    assert statements_of(line) == [[line]]


def test_statements_use_the_lines_own_words() -> None:
    """But for the subject carried over and "is" or "are"; none of the line's words is lost."""
    joints = {"and", "as", "while", "when", "until", "then", "but", "who", "where", "after", "which"}
    lines = load_examples(PromptSettings())[::3]
    several = 0
    for line, statements in zip(lines, statements_of(*lines), strict=True):
        several += len(statements) > 1
        words_of_statements = set(re.findall(r"[\w'-]+", " ".join(statements).lower()))
        words_of_line = set(re.findall(r"[\w'-]+", line.lower()))
        assert words_of_statements - words_of_line <= {"is", "are"}, line
        assert words_of_line - words_of_statements <= joints, line
    assert several > 80


def test_in_other_languages_each_sentence_is_a_statement() -> None:
    line = "Ann läuft, sieht in das Zimmer und lacht. Bo winkt."
    run = look_again(line, answer='{"2": "no"}', how=("language=de",))
    assert run.stage2.candidates[0].unseen == ("Bo winkt.",)


ONE, TWO = "She opens the tin.", "She opens the tin and drops it."
THREE = "She opens the tin, looks inside, and drops it."


def test_question_numbers_the_statements_and_names_the_shots() -> None:
    shots = [
        (Role.PAST, Interval(5, 8)),
        *((Role.CURRENT, Interval(second, second + 3)) for second in (8, 11)),
    ]
    slot = ScriptedSlot([lines_json(TWO)], (SEEN, "{}"), Interval(9, 13), 60, shots)
    request = run_slots(slot, how=SECOND_LOOK).looks.requests[-1]
    system, user = request.messages
    assert [(message.role, message.with_clip) for message in (system, user)] == [
        ("system", False),
        ("user", True),
    ]
    text = bare(user.text)
    assert text.count("[Shot 1, Shot 2]") == 2
    for words in ("\n1. She opens the tin.\n2. She drops it.\n", "clip from a movie", "top left corner",
                  '{"1": "...", "2": "..."}', '"yes"', '"no"', '"cannot tell"'):  # fmt: skip
        assert words in text
    answer = {"type": "string", "enum": ["yes", "no", "cannot tell"]}
    assert json.loads(json.dumps(request.schema["properties"])) == {"1": answer, "2": answer}
    assert request.schema["required"] == ["1", "2"]


@pytest.mark.parametrize(("line", "answer", "unseen"), [
    # JSON of many shapes.
    (THREE, '{"1": "yes", "2": "no", "3": "cannot tell"}', [2]),
    (TWO, 'Here is my answer: {"1": true, "2": false}', [2]),
    (TWO, '{"statements": [{"number": 2, "verdict": "no"}, {"number": 1, "verdict": "yes"}]}', []),
    (TWO, '{"1": {"visible": "no", "reason": "dark"}, "2": "yes"}', []),
    # Broken JSON.
    (TWO, '{"1": "yes", "2": "no', [2]),
    # Lists and sentences.
    (THREE, "1. Yes\n2. No, the door stays shut.\n3. Cannot tell.", [2]),
    (TWO, "1. She opens the tin: yes\n2. She drops it: no", [2]),
    (THREE, "Yes, no, cannot tell.", [2]),
    (TWO, "Two of 3: yes, no.", []),
    (ONE, "No, there is no tin.", [1]),
    # No clear no.
    (ONE, "No way to tell.", []),
    (TWO, "1. yes\n1. no", []),
    # Too few, too many, none at all.
    (TWO, '{"2": "no"}', [2]),
    (TWO, "[" * 5000, []),
    (THREE, '{"1": NaN, "2": "&quot;no&quot;", "3": "y\u200bes"}', [2]),
    *((ONE, json.dumps({"1": value}), []) for value in ("N/A", "n.a.", "NaN", "null", "undefined", "yes/no", "no | yes", "no data", "No answer", "...", "[object Object]", "string")),
])  # fmt: skip
def test_only_a_clear_no_counts_in_what_models_write(line: str, answer: str, unseen: list[int]) -> None:
    run = look_again(line, answer=answer)
    (statements,) = statements_of(line)
    assert run.stage2.candidates[0].unseen == tuple(statements[number - 1] for number in unseen)


POOL = [" ".join(["go"] * n) + f" {n}{k}." for n in range(1, 20) for k in "abcd"]
"""Four lines of each length from 2 to 20 words."""


def settings(choice: str, count: int = 10, **more: object) -> PromptSettings:
    rules = {"length": "ours", "random": "paper", "published": "code"}[choice]
    return PromptSettings.model_validate({"rules": rules, "example_count": count, **more})


def lengths(lines: list[str]) -> list[int]:
    return sorted(count_words(line) for line in lines)


# Drawn


@pytest.mark.parametrize(("words", "count", "expected"), [
    (10, 12, {9, 10, 11}),
    (10, 13, {8, 9, 10, 11, 12}),
    (1, 4, {2}),
    (30, 6, {19, 20}),
])  # fmt: skip
def test_lengths_are_widened_a_word_at_a_time(words: int, count: int, expected: set[int]) -> None:
    """12 lines lie within a word of 10; of those of 2 words (1 to 3) there are 8."""
    seen: set[int] = set()
    for seed in range(40):
        drawn = draw(POOL, settings("length", count), words, random.Random(seed))
        assert len(set(drawn)) == count
        seen |= set(lengths(drawn))
    assert seen == expected


def test_published_draws_with_replacement_and_from_all_where_few_qualify() -> None:
    near = draw(POOL, settings("published", 12), 10, random.Random(1))
    assert set(lengths(near)) <= {9, 10, 11}
    assert len(set(near)) < len(near) == 12
    far = draw(POOL, settings("published", 13), 10, random.Random(1))
    assert not set(lengths(far)) <= {8, 9, 10, 11, 12}, "12 qualify, 13 are wanted"


# A user's own


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("column", COLUMNS)
def test_csv_file_has_a_column_of_lines(tmp_path: Path, column: str, separator: str) -> None:
    path = tmp_path / "ads.CSV"
    rows = [["id", column], ["1", "She runs, he falls; all\nsee it."], ["2", ""], ["3", "Rain."]]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    found = load_examples(PromptSettings(example_file=str(path)))
    assert found == ("She runs, he falls; all see it.", "Rain.")


@pytest.mark.parametrize(("name", "content", "complaint"), [
    ("ads.txt", b"\n# nothing\n", "holds no line"),
    ("ads.csv", b"text\n", "holds no line"),
    ("ads.csv", b"id,line\n1,She runs.\n", "no column of ADs, only: id, line"),
    ("ads.txt", "Der Mann läuft.".encode("latin-1"), "line 1: the text is not UTF-8"),
    ("ads.txt", None, r"ads\.txt cannot be read"),
])  # fmt: skip
def test_file_without_lines_is_refused(tmp_path, name, content, complaint):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=complaint) as caught:
        load_examples(PromptSettings(example_file=str(tmp_path / name)))
    assert str(tmp_path / name) in caught.value.what
    assert "text" in caught.value.hint
