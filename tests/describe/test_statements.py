"""Lines taken apart: each statement can be judged alone, and nothing is said that the line does not say."""

from __future__ import annotations

import re

import pytest

from shotad.core import PromptSettings
from shotad.description.prompts import load_examples
from shotad.description.verify import statements_of


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


@pytest.mark.parametrize(
    "line",
    [
        "Night.",
        "He takes bread, eggs and milk.",
        "She picks up shells and rocks.",
        "He passes chairs, a table that holds a lamp, and a bed.",
        "She sees him turn and run.",
        "He tries to open the door and escape.",
        "She catches the vase before it falls.",
        "He pulls the lever, causing the floor to open.",
        'A sign reads "Stay, and watch as he leaves."',
    ],
)
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
