"""Lines taken apart: each statement can be judged alone, and nothing is said that the line does not say."""

from __future__ import annotations

import re

import pytest

from shotad.core import PromptSettings
from shotad.description.prompts import load_examples
from shotad.description.verify import statements_of


@pytest.mark.parametrize(
    ("line", "statements"),
    [
        # One subject, several verbs.
        ("She opens the tin, looks inside, and drops it.", "She opens the tin. She looks inside. She drops it."),
        ("He turns and slowly walks off.", "He turns. He slowly walks off."),
        ("He draws a gun and fires.", "He draws a gun. He fires."),
        ("They turn, stare, then run.", "They turn. They stare. They run."),
        ("A ball bounces and rolls away", "A ball bounces. A ball rolls away."),
        ("Ann and Bo run to the gate and climb over it.", "Ann and Bo run to the gate. Ann and Bo climb over it."),
        ("She stops but looks back.", "She stops. She looks back."),
        # Another subject.
        ("He opens the door and she enters.", "He opens the door. She enters."),
        ("She waits until he leaves.", "She waits. He leaves."),
        ("As he enters, she turns and smiles.", "He enters. She turns. She smiles."),
        ("He nods to a guard, who draws a gun.", "He nods to a guard. A guard draws a gun."),
        # Participles.
        ("He enters, holding a torch and smiling.", "He enters. He is holding a torch. He is smiling."),
        ("They sit down while eating.", "They sit down. They are eating."),
        ("He throws the toy, then plops down and leaves.", "He throws the toy. He plops down. He leaves."),
        ("He stands between Ann and Bo and faces Cy.", "He stands between Ann and Bo. He faces Cy."),
        ("Ann and Don shoot at him, urging the dogs on.", "Ann and Don shoot at him. Ann and Don are urging the dogs on."),
        # Where.
        ("In the tower, she sits and reads.", "In the tower, she sits. She reads."),
        ("At night, she pours tea and drinks it.", "At night, she pours tea. She drinks it."),
        ("Slowly, he gets up and goes.", "Slowly, he gets up. He goes."),
        # Several sentences, and repeats.
        ("He falls. Dr. Lee runs; she kneels!", "He falls. Dr. Lee runs. She kneels."),
        ("She runs. She runs.", "She runs."),
    ],
)  # fmt: skip
def test_line_is_taken_apart(line: str, statements: str) -> None:
    expected = re.split(r"(?<!Dr\.)(?<=\.) ", statements)
    assert list(statements_of(line)) == expected


@pytest.mark.parametrize(
    "line",
    [
        "Night.",
        "She nods.",
        "He takes bread, eggs and milk.",
        "She packs plates, cups and rings.",
        "She picks up shells and rocks.",
        "They see smoke and fire.",
        "He passes chairs, a table that holds a lamp, and a bed.",
        "She sees him turn and run.",
        "They watch him turn and run.",
        "He tries to open the door and escape.",
        "He works as a nurse.",
        "She catches the vase before it falls.",
        "He pulls the lever, causing the floor to open.",
        'A sign reads "Stay, and watch as he leaves."',
        "Rain, snow and hail.",
        "The old watch and the ring on the desk",
    ],
)
def test_line_that_is_one_statement_stays_whole(line: str) -> None:
    assert statements_of(line) == (line if line.endswith((".", '"')) else f"{line}.",)


def test_quotation_stays_with_its_clause() -> None:
    assert statements_of('She writes "Go, and run" on the wall and leaves.') == (
        'She writes "Go, and run" on the wall.',
        "She leaves.",
    )


def test_quotations_come_back_where_they_stood() -> None:
    line = 'He writes "no", paints "no", and writes "no" ⟦0⟧ again.'
    assert statements_of(line) == ('He writes "no".', 'He paints "no".', 'He writes "no" 0 again.')


@pytest.mark.parametrize("line", ["", "   ", "...", "—"])
def test_nothing_states_nothing(line: str) -> None:
    assert statements_of(line) == ()


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


def test_each_statement_is_a_sentence() -> None:
    for line in load_examples(PromptSettings()):
        for statement in statements_of(line):
            assert re.match(r"[A-Z]", statement), line
            assert statement.endswith("."), line
            assert len(statement.split()) > 1, line
