"""Candidates: near copies go, whoever acts or does something else stays; the pool of several attempts."""

from __future__ import annotations

import pytest

from shotad.description.choice import distinct, is_near_copy, merged

SAME = [
    ("He opens the heavy door of the old car.", "The heavy door of the old car he opens."),
    ("Slowly, Ann opens the old door.", "Ann slowly opens the old door."),
    ("At the door, Ann turns and smiles at Bob.", "Ann turns at the door and smiles at Bob."),
    ("Turning at the door, Ann smiles at Bob.", "Ann turns at the door, smiling at Bob."),
    ("Ann walks down the street with her dog.", "Ann, with her dog, walks down the street."),
    ("Ann runs to the window and looks out.", "Ann looks out and runs to the window."),
    ("Ann walks down the long dark street.", "Ann walks down the long dark road."),
]
OTHER = [
    ("Ann opens the heavy door of the old car.", "Eve opens the heavy door of the old car."),
    ("Ann opens the heavy door of the old car.", "Ann closes the heavy door of the old car."),
    ("Ann watches Bob leave.", "Bob watches Ann leave."),
    ("He opens the door.", "She opens the door."),
    ("He looks at her.", "She looks at him."),
    ("Rain falls.", "Snow falls."),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_another_order_is_a_near_copy(one: str, other: str) -> None:
    assert is_near_copy(one, other)
    assert is_near_copy(other, one)
    assert distinct([one, other]) == (0,)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_subject_or_verb_is_another_line(one: str, other: str) -> None:
    assert not is_near_copy(one, other)
    assert not is_near_copy(other, one)
    assert distinct([one, other]) == (0, 1)


def test_distinct_keeps_the_first_of_each_in_order() -> None:
    lines = [
        "Ann sits down at the table.",
        "Bob leaves.",
        "At the table Ann sits down.",
        "Bob leaves.",
        "It rains.",
    ]
    assert distinct(lines) == (0, 1, 4)
    assert distinct([]) == ()


def test_the_limit_decides_how_near_a_copy_is() -> None:
    lines = ["Ann runs across the wet street.", "Ann runs across the dark street."]
    assert distinct(lines) == (0,)
    assert distinct(lines, limit=0.9) == (0, 1)


def faults_in(line: str) -> int:
    return line.count("!")


def test_attempts_are_merged_in_the_order_in_which_they_came() -> None:
    attempts = [["Ann sits down.", "Bob leaves!"], ["Eve laughs.", "Ann sits down."]]
    assert merged(attempts, faults_in, 5) == ("Ann sits down.", "Bob leaves!", "Eve laughs.")


def test_where_too_many_are_left_those_with_most_faults_go() -> None:
    attempts = [["Ann sits down!!", "Bob leaves!"], ["Eve laughs.", "It rains!"]]
    assert merged(attempts, faults_in, 3) == ("Bob leaves!", "Eve laughs.", "It rains!")
    assert merged(attempts, faults_in, 2) == ("Bob leaves!", "Eve laughs.")
    assert merged(attempts, faults_in, 1) == ("Eve laughs.",)


def test_of_near_copies_the_one_with_fewer_faults_stands() -> None:
    attempts = [["Ann opens the old door!", "Bob leaves."], ["The old door Ann opens."]]
    assert merged(attempts, faults_in, 5) == ("Bob leaves.", "The old door Ann opens.")


def test_no_attempt_or_no_line_gives_none() -> None:
    assert merged([], faults_in, 5) == ()
    assert merged([[], []], faults_in, 5) == ()
    with pytest.raises(ValueError, match="number = 0"):
        merged([["Ann sits."]], faults_in, 0)
