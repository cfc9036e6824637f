"""Answers are read strictly: what is not the object asked for is refused, and what is wrong is said."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, strategies as st

from shotad.evaluation.metrics.judge import (
    Refused,
    Unreadable,
    one_of,
    record_in,
    sentence,
    sentences,
    whole_number,
)


@pytest.mark.parametrize(
    "answer",
    [
        '{"score": 3}',
        '  {"score": 3}\n',
        '{\n  "score": 3\n}',
        '```json\n{"score": 3}\n```',
        '```\n{"score": 3}```',
        '<think>Is it {"score": 1}? No.</think>\n{"score": 3}',
    ],
)
def test_what_is_read(answer: str) -> None:
    assert record_in(answer, ["score"]) == {"score": 3}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "empty"),
        ("3", "does not begin"),
        ('Sure! {"score": 3}', "does not begin"),
        ('{"score": 3} because both open a door', "after the JSON object"),
        ('{"score": 3}{"score": 4}', "after the JSON object"),
        ('```json\n{"score": 3}\n```\nI hope this helps.', "does not begin"),
        ('{"score": 3', "not valid JSON"),
        ('{"score": <1 to 5>}', "not valid JSON"),
        ('{"score": NaN}', "NaN is no number"),
        ('{"score": 3, "score": 4}', '"score" stands in the answer twice'),
        ('{"Score": 3}', 'has no "score"'),
        ('{"score": 3, "1": "no", "2": "yes"}', 'has "1" and "2", which was not asked for'),
        ("<think>I go on thinking", "empty"),
        ('{"a":' * 5000, "not valid JSON"),
        ('{"score": ' + "9" * 5000 + "}", "not valid JSON"),
    ],
)
def test_what_is_refused(answer: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        record_in(answer, ["score"])


def test_a_refusal_is_known_as_one() -> None:
    with pytest.raises(Refused):
        record_in("I'm sorry, but I cannot help with that request.", ["score"])


@pytest.mark.parametrize("value", [0, 6, -1, 4.0, 4.5, "4", "4/5", True, False, None, [4], {"score": 4}])
def test_what_is_no_score(value: object) -> None:
    with pytest.raises(Unreadable, match="score must be a whole number from 1 to 5, and is"):
        whole_number(value, "score", 1, 5)


@pytest.mark.parametrize("value", [1, 3, 5])
def test_what_is_a_score(value: int) -> None:
    assert whole_number(value, "score", 1, 5) == value


def test_sentences() -> None:
    assert sentence("  Both \n open a door. ", "reason") == "Both open a door."
    assert sentences(["He sits.", " She stands. "], "events", 2) == ("He sits.", "She stands.")
    twice = ["He sits.", "She stands.", "he  sits."]
    assert sentences(twice, "events", 2) == ("He sits.", "She stands.")
    for value in ("", "…", None, 3, ["He sits."]):
        with pytest.raises(Unreadable, match="reason must be a sentence"):
            sentence(value, "reason")
    for value, why in (
        ([], "must be a list"),
        ("He sits.", "must be a list"),
        (["He sits.", 3], "each of events"),
        (["…", "…"], "each of events"),
        (["A.", "B.", "C."], "2 entries at most, and has 3"),
    ):
        with pytest.raises(Unreadable, match=why):
            sentences(value, "events", 2)


def test_one_of_some_words() -> None:
    assert one_of(" Partly", "conveyed", ("no", "partly", "yes")) == "partly"
    for value in ("maybe", "yes, it does", True, None, 1):
        with pytest.raises(Unreadable, match='"no", "partly" or "yes"'):
            one_of(value, "conveyed", ("no", "partly", "yes"))


@given(st.text() | st.text(alphabet='{}[]":,0123456789 \nscoretrue`\\'))
def test_whatever_is_said_is_read_or_refused(answer: str) -> None:
    with contextlib.suppress(Unreadable):
        assert list(record_in(answer, ["score"])) == ["score"]
