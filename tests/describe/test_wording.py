"""Words without a parser: verbs where they are verbs, subjects, lemmas."""

from __future__ import annotations

import pytest

from shotad.description import head_of
from shotad.description.wording import verbs_of


@pytest.mark.parametrize(
    ("line", "head"),
    [
        ("Slowly, Ann opens the old door.", ("ann", "open")),
        ("Turning at the window, she smiles.", ("she", "smile")),
        ("In the kitchen, the old man picks up a knife.", ("man", "pick")),
        ("The pizza guy's jaw drops.", ("jaw", "drop")),
        ("The old train stops at the gate.", ("train", "stop")),
        ("Mr. Hand rips the card.", ("hand", "rip")),
        ("Cut to black.", ("", "cut")),
        ("They all stare.", ("they", "stare")),
        ("Cornered, the duo flee.", ("duo", "flee")),
        ("Near the van, they wait.", ("they", "wait")),
        ("Inside, a second pair of doors.", ("", "")),
    ],
)
def test_the_one_who_acts_and_what_is_done(line: str, head: tuple[str, str]) -> None:
    assert head_of(line) == head


def test_a_form_of_a_verb_is_a_noun_after_an_article_or_a_preposition() -> None:
    assert verbs_of("She takes a walk with her watch in hand.") == {"take"}
    assert verbs_of("He walks and watches.") == {"walk", "watch"}
