"""The choice for a slot by stated rules, each rule decided by a pair that differs in it alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from shotad.core import Interval, Slot
from shotad.description.choice import Around, ByRules, Line, Situation, coverage, distance, soundest
from shotad.script import Finding, Fitted, Level

SLOT = Slot("s00010000", Interval(10, 14), 12)
RESIDUE = Finding("L5", Level.ERROR, "speaks of the task: 'the image shows'")
ERROR = Finding("L3", Level.ERROR, "of the camera: 'close-up'")
WARNING = Finding("L4", Level.WARNING, "interprets: 'seems'")
DESCRIPTION = (
    "1. Main characters: Ann, Bob\n2. Actions: Ann opens the drawer and takes out a gun.\n"
    "3. Key objects: a drawer, a gun"
)


def line(text: str, *findings: Finding, number: int = 0, unseen: Sequence[str] = ()) -> Line:
    return Line(number, Fitted(text), SLOT.interval, findings, tuple(unseen))


def situation(*said: str, description: str = DESCRIPTION) -> Situation:
    return Situation(SLOT, said, description, Around(before=said[-5:]))


def chosen(lines: Sequence[Line], *said: str, description: str = DESCRIPTION) -> str:
    return lines[ByRules().choose(lines, situation(*said, description=description))].text


GOOD = "Ann opens the drawer and takes out a gun."
POOR = "Bob waits."


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (line(POOR, ERROR, ERROR, unseen=["Bob waits."]), line(GOOD, RESIDUE)),
        (line(POOR, ERROR, WARNING), line(GOOD, unseen=["a gun"])),
        (line(POOR, ERROR), line("Ann opens the drawer and takes out the")),
        (line(POOR, WARNING, WARNING), line(GOOD, ERROR)),
        (line(POOR, ERROR), line(GOOD, ERROR, ERROR)),
        (line(POOR), line(GOOD, WARNING)),
        (line(POOR, WARNING), line(GOOD, WARNING, WARNING)),
    ],
    ids=["residue", "unseen", "broken off", "error", "errors", "warning", "warnings"],
)
def test_an_earlier_rule_outweighs_all_later_ones(better: Line, worse: Line) -> None:
    assert chosen([worse, better]) == better.text
    assert chosen([better, worse]) == better.text


def test_a_near_copy_of_one_of_the_last_ten_lines_comes_after_another_line() -> None:
    said = ["The drawer Ann opens and takes out a gun.", *(f"It is door number {n}." for n in range(9))]
    assert chosen([line(GOOD), line(POOR)], *said) == POOR
    assert chosen([line(GOOD), line(POOR)], *said, "The door shuts.") == GOOD


def test_the_line_that_says_more_of_the_description_is_taken() -> None:
    assert chosen([line("Ann sits at a table."), line(GOOD)]) == GOOD


def test_a_verb_of_the_description_counts_more_than_a_noun() -> None:
    description = "1. Actions: Ann stumbles past a table."
    lines = [line("Ann sits behind a table."), line("Ann stumbles.")]
    assert chosen(lines, description=description) == "Ann stumbles."
    assert coverage([item.text for item in lines], description) == pytest.approx((2 / 3, 1.0))


def test_what_was_just_said_counts_less() -> None:
    lines = [line("Ann opens the drawer."), line("Ann takes out a gun.")]
    assert chosen(lines, "Ann opens the door.") == "Ann takes out a gun."
    assert chosen(lines, "Ann takes off a glove.") == "Ann opens the drawer."


def test_of_equals_the_first_is_taken() -> None:
    lines = [line("Bob waits.", number=0), line("Bob waits.", number=1)]
    assert ByRules().choose(lines, situation()) == 0
    assert ByRules().choose(lines, situation(description="")) == 0


def test_distance_fades_with_age() -> None:
    assert distance("Ann opens the door.", []) == 1.0
    assert distance("Ann opens the door.", ["Ann opens the door."]) == 0.0
    assert distance("Ann opens the door.", ["Ann opens the door.", "It rains."]) == pytest.approx(0.15)


def test_coverage_of_nothing_is_nothing() -> None:
    assert coverage(["Bob waits."], "") == (0.0,)
    assert coverage([], DESCRIPTION) == ()


def test_soundest_are_those_with_the_fewest_broken_rules() -> None:
    lines = [line(GOOD, ERROR), line(POOR, WARNING), line(GOOD, unseen=["x"]), line("Bob sits.")]
    assert soundest(lines) == (1, 3)
    assert soundest(lines[:1]) == (0,)
