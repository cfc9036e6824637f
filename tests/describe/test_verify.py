"""The second look: the question is complete, and only a clear no counts."""

from __future__ import annotations

import json

import pytest

from shotad.description.verify import parse_verdicts, verify_messages
from tests.describe.prompting import config_of, plan_of

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
