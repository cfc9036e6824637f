"""Lines taken apart: each statement can be judged alone; and the second look, of which only a clear no counts."""

from __future__ import annotations

import json
import re

import pytest

from shotad.core import PromptSettings
from shotad.description.prompts import load_examples
from shotad.description.verify import parse_verdicts, statements_of, verify_messages
from tests.describe.prompting import config_of, plan_of


@pytest.mark.parametrize(("line", "statements"), [
    # One subject, several verbs.
    ("She opens the tin, looks inside, and drops it.", "She opens the tin. She looks inside. She drops it."),
    ("He turns and slowly walks off.", "He turns. He slowly walks off."),
    ("They turn, stare, then run.", "They turn. They stare. They run."),
    ("Ann and Bo run to the gate and climb over it.", "Ann and Bo run to the gate. Ann and Bo climb over it."),
    ("She stops but looks back.", "She stops. She looks back."),
    # Another subject.
    ("He opens the door and she enters.", "He opens the door. She enters."),
    ("She waits until he leaves.", "She waits. He leaves."),
    ("As he enters, she turns and smiles.", "He enters. She turns. She smiles."),
    ("He nods to a guard, who draws a gun.", "He nods to a guard. A guard draws a gun."),
    # Participles.
    ("He enters, holding a torch and smiling.", "He enters. He is holding a torch. He is smiling."),
    ("He stands between Ann and Bo and faces Cy.", "He stands between Ann and Bo. He faces Cy."),
    # Where.
    ("In the tower, she sits and reads.", "In the tower, she sits. She reads."),
    # Several sentences, and repeats.
    ("He falls. Dr. Lee runs; she kneels!", "He falls. Dr. Lee runs. She kneels."),
])  # fmt: skip
def test_line_is_taken_apart(line: str, statements: str) -> None:
    expected = re.split(r"(?<!Dr\.)(?<=\.) ", statements)
    assert list(statements_of(line)) == expected


@pytest.mark.parametrize("line", [
    "Night.",
    "He takes bread, eggs and milk.",
    "She picks up shells and rocks.",
    "He passes chairs, a table that holds a lamp, and a bed.",
    "She sees him turn and run.",
    "He tries to open the door and escape.",
    "She catches the vase before it falls.",
    "He pulls the lever, causing the floor to open.",
    'A sign reads "Stay, and watch as he leaves."',
])  # fmt: skip
def test_line_that_is_one_statement_stays_whole(line: str) -> None:
    assert statements_of(line) == (line if line.endswith((".", '"')) else f"{line}.",)


def test_quotation_stays_with_its_clause() -> None:
    assert statements_of('She writes "Go, and run" on the wall and leaves.') == (
        'She writes "Go, and run" on the wall.',
        "She leaves.",
    )


def test_statements_use_the_lines_own_words() -> None:
    """But for the subject carried over and "is" or "are"; none of the line's words is lost."""
    joints = {"and", "as", "while", "when", "until", "then", "but", "who", "where", "after", "which"}
    several = 0
    for line in load_examples(PromptSettings()):
        found = statements_of(line)
        several += len(found) > 1
        said = re.findall(r"[\w'-]+", " ".join(found).lower())
        words = re.findall(r"[\w'-]+", line.lower())
        assert set(said) - set(words) <= {"is", "are"}, line
        assert set(words) - set(said) <= joints, line
    assert several > 250


TWO = ("She opens the tin.", "She drops it.")
Y, N, U = True, False, None


def test_question_numbers_the_statements_and_names_the_shots() -> None:
    (system, user), schema = verify_messages(TWO, plan_of("pcc"), config_of())
    assert (system.role, user.role) == ("system", "user")
    assert not system.with_clip
    assert user.with_clip
    assert "\n1. She opens the tin.\n2. She drops it.\n" in user.text
    assert user.text.count("[Shot 1, Shot 2]") == 2
    assert "clip from a movie" in user.text
    assert "top left corner" in user.text
    assert '{"1": "...", "2": "..."}' in user.text
    for word in ('"yes"', '"no"', '"cannot tell"'):
        assert word in user.text
    assert "$" not in user.text
    assert json.loads(json.dumps(schema)) == {
        "type": "object",
        "properties": {k: {"type": "string", "enum": ["yes", "no", "cannot tell"]} for k in ("1", "2")},
        "required": ["1", "2"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(("answer", "verdicts"), [
    # JSON of many shapes.
    ('{"1": "yes", "2": "no", "3": "cannot tell"}', (Y, N, U)),
    ('```json\n{"1": "Yes", "2": "No"}\n```', (Y, N)),
    ('Here is my answer: {"1": true, "2": false}', (Y, N)),
    ('{"statements": [{"number": 2, "verdict": "no"}, {"number": 1, "verdict": "yes"}]}', (U, U)),
    ('{"1": {"visible": "no", "reason": "dark"}, "2": "yes"}', (U, Y)),
    # Broken JSON.
    ('{"1": "yes", "2": "no",}', (Y, N)),
    ('{"1": "yes", "2": "no', (Y, N)),
    # Lists and sentences.
    ("1. Yes\n2. No, the door stays shut.\n3. Cannot tell.", (Y, N, U)),
    ("Statement 1: yes. Statement 2: no.", (Y, N)),
    ("1. She opens the tin: yes\n2. She drops it: no", (Y, N)),
    ("Yes.", (Y,)),
    ("No, there is no tin.", (N,)),
    ("<think>1. no</think>{\"1\": \"yes\"}", (Y,)),
    # No clear no.
    ("No way to tell.", (U,)),
    ("I cannot see it.", (U,)),
    ("1. yes\n1. no", (U,)),
    # Too few, too many, none at all.
    ('{"2": "no"}', (U, N)),
    ("yes no yes", (U, U)),
    ("", (U, U)),
    ("[" * 5000, (U, U)),
])  # fmt: skip
def test_verdicts_are_read_from_what_models_write(answer: str, verdicts: tuple[bool | None, ...]) -> None:
    assert parse_verdicts(answer, len(verdicts)) == verdicts
