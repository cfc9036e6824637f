"""Lines taken apart: each statement can be judged alone; the second look, of which only a clear no counts; and example
sentences."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path

import pytest

from shotad.core.config.words import PromptSettings
from shotad.core.errors import ConfigError
from shotad.description.prompts import COLUMNS, draw, load_examples
from shotad.description.verify import parse_verdicts, statements_of, verify_messages
from shotad.script import count_words
from tests.describe.prompting import config_of, plan_of


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
    assert list(statements_of(line)) == expected


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
    assert statements_of(line) == (line if line.endswith((".", '"')) else f"{line}.",)


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
    assert [(one.role, one.with_clip) for one in (system, user)] == [("system", False), ("user", True)]
    assert user.text.count("[Shot 1, Shot 2]") == 2
    for words in ("\n1. She opens the tin.\n2. She drops it.\n", "clip from a movie", "top left corner",
                  '{"1": "...", "2": "..."}', '"yes"', '"no"', '"cannot tell"'):  # fmt: skip
        assert words in user.text
    assert "$" not in user.text
    answer = {"type": "string", "enum": ["yes", "no", "cannot tell"]}
    assert json.loads(json.dumps(schema["properties"])) == {"1": answer, "2": answer}
    assert schema["required"] == ["1", "2"]


@pytest.mark.parametrize(("answer", "verdicts"), [
    # JSON of many shapes.
    ('{"1": "yes", "2": "no", "3": "cannot tell"}', (Y, N, U)),
    ('Here is my answer: {"1": true, "2": false}', (Y, N)),
    ('{"statements": [{"number": 2, "verdict": "no"}, {"number": 1, "verdict": "yes"}]}', (U, U)),
    ('{"1": {"visible": "no", "reason": "dark"}, "2": "yes"}', (U, Y)),
    # Broken JSON.
    ('{"1": "yes", "2": "no', (Y, N)),
    # Lists and sentences.
    ("1. Yes\n2. No, the door stays shut.\n3. Cannot tell.", (Y, N, U)),
    ("No, there is no tin.", (N,)),
    # No clear no.
    ("No way to tell.", (U,)),
    ("1. yes\n1. no", (U,)),
    # Too few, too many, none at all.
    ('{"2": "no"}', (U, N)),
    ("[" * 5000, (U, U)),
])  # fmt: skip
def test_verdicts_are_read_from_what_models_write(answer: str, verdicts: tuple[bool | None, ...]) -> None:
    assert parse_verdicts(answer, len(verdicts)) == verdicts


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
