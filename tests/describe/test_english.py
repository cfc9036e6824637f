"""The lexicon and words without a parser: each form has its verb, each verb its forms; verbs where they are verbs, subjects."""

from __future__ import annotations

import pytest

from shotad.description import head_of
from shotad.description.wording import verbs_of
from shotad.script import LEMMAS, PARTICIPLES, gerunds, lemma, singular, third
from shotad.script.english_words import participles

FORMS = [
    ("be", "is", "being", "been"),
    ("carry", "carries", "carrying", "carried"),
    ("go", "goes", "going", "gone"),
    ("lie", "lies", "lying", "lain"),
    ("flee", "flees", "fleeing", "fled"),
    ("grab", "grabs", "grabbing", "grabbed"),
    ("reset", "resets", "resetting", "resetted"),
    ("play", "plays", "playing", "played"),
    ("reveal", "reveals", "revealing", "revealed"),
    ("travel", "travels", "travelling", "travelled"),
    ("taxi", "taxis", "taxiing", "taxied"),
    ("take", "takes", "taking", "taken"),
]


@pytest.mark.parametrize(("base", "present", "gerund", "participle"), FORMS)
def test_a_verb_has_its_forms(base: str, present: str, gerund: str, participle: str) -> None:
    assert third(base) == present
    assert gerunds(base)[0] == gerund
    assert participle in participles(base)


@pytest.mark.parametrize(
    ("form", "base"),
    [("grabbing", "grab"), ("took", "take"), ("saw", "see"), ("lay", "lay"), ("bound", "bound"), ("was", "be"),
     ("shone", "shine"), ("patrolling", "patrol"), ("traveled", "travel"), ("teapot", "teapot")],
)  # fmt: skip
def test_a_form_leads_to_its_verb(form: str, base: str) -> None:
    assert lemma(form) == base


def test_made_up_forms_are_none() -> None:
    wrong = [
        "runned", "teared", "bended", "goed", "haved", "runing", "takeing", "squating", "bes", "gos",
        "reseting", "unwraping", "begining",
    ]  # fmt: skip
    assert not set(wrong) & (set(LEMMAS) | PARTICIPLES)


def test_nouns_in_the_singular() -> None:
    nouns = {"boxes": "box", "ladies": "lady", "glass": "glass", "gas": "gas", "gulls": "gull"}
    assert {noun: singular(noun) for noun in nouns} == nouns


@pytest.mark.parametrize(("line", "head"), [
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
])  # fmt: skip
def test_the_one_who_acts_and_what_is_done(line: str, head: tuple[str, str]) -> None:
    assert head_of(line) == head


def test_a_form_of_a_verb_is_a_noun_after_an_article_or_a_preposition() -> None:
    assert verbs_of("She takes a walk with her watch in hand.") == {"take"}
    assert verbs_of("He walks and watches.") == {"walk", "watch"}
