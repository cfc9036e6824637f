"""The lexicon: each form has its verb, each verb its forms, and the sets keep their promises."""

from __future__ import annotations

import pytest

from shotad.script import (
    BASES,
    GERUNDS,
    LEMMAS,
    PARTICIPLES,
    PERFECTS,
    PLAIN,
    THIRD,
    forms,
    gerunds,
    lemma,
    pasts,
    singular,
    third,
)
from shotad.script.english_words import participles

FORMS = [
    ("be", "is", "being", "been"),
    ("carry", "carries", "carrying", "carried"),
    ("go", "goes", "going", "gone"),
    ("lie", "lies", "lying", "lain"),
    ("flee", "flees", "fleeing", "fled"),
    ("dye", "dyes", "dyeing", "dyed"),
    ("watch", "watches", "watching", "watched"),
    ("grab", "grabs", "grabbing", "grabbed"),
    ("squat", "squats", "squatting", "squatted"),
    ("reset", "resets", "resetting", "resetted"),
    ("unwrap", "unwraps", "unwrapping", "unwrapped"),
    ("play", "plays", "playing", "played"),
    ("open", "opens", "opening", "opened"),
    ("reveal", "reveals", "revealing", "revealed"),
    ("travel", "travels", "travelling", "travelled"),
    ("boo", "boos", "booing", "booed"),
    ("taxi", "taxis", "taxiing", "taxied"),
    ("take", "takes", "taking", "taken"),
]


@pytest.mark.parametrize(("base", "present", "gerund", "participle"), FORMS)
def test_a_verb_has_its_forms(base: str, present: str, gerund: str, participle: str) -> None:
    assert third(base) == present
    assert gerunds(base)[0] == gerund
    assert participle in participles(base)


def test_both_spellings_are_known() -> None:
    assert gerunds("travel") == ("travelling", "traveling")
    assert pasts("duel") == ("duelled", "dueled")
    assert pasts("burn") == ("burnt", "burned")
    assert gerunds("peel") == ("peeling",)


@pytest.mark.parametrize(
    ("form", "base"),
    [("grabbing", "grab"), ("took", "take"), ("saw", "see"), ("lay", "lay"), ("bound", "bound"), ("was", "be"),
     ("shone", "shine"), ("patrolling", "patrol"), ("traveled", "travel"), ("teapot", "teapot")],
)  # fmt: skip
def test_a_form_leads_to_its_verb(form: str, base: str) -> None:
    assert lemma(form) == base


def test_every_form_of_every_verb_has_a_verb_of_the_list() -> None:
    assert set(LEMMAS) >= THIRD | PLAIN | GERUNDS
    assert set(LEMMAS.values()) <= BASES
    assert {base for base in BASES if lemma(base) != base} == {"saw"}


def test_made_up_forms_are_none() -> None:
    wrong = [
        "runned",
        "teared",
        "bended",
        "goed",
        "haved",
        "runing",
        "takeing",
        "squating",
        "bes",
        "gos",
        "reseting",
        "unwraping",
        "begining",
    ]
    assert not set(wrong) & (set(LEMMAS) | PARTICIPLES)


def test_participles_tell_a_state() -> None:
    assert {"opened", "torn", "shut", "strewn", "hidden"} <= PARTICIPLES
    assert not {"run", "come", "put", "fell", "took", "ran"} & PARTICIPLES
    assert {"taken", "grown"} <= PERFECTS
    assert not {"held", "run", "opened"} & PERFECTS


def test_forms_are_those_of_the_present_tense() -> None:
    assert forms({"keep", "be"}) == {"keep", "keeps", "are", "is"}


@pytest.mark.parametrize(
    ("noun", "one"),
    [
        ("boxes", "box"),
        ("ladies", "lady"),
        ("glass", "glass"),
        ("gas", "gas"),
        ("bus", "bus"),
        ("gulls", "gull"),
    ],
)
def test_nouns_in_the_singular(noun: str, one: str) -> None:
    assert singular(noun) == one
