"""Doubt: what speaks against a line, of what was measured, seen again and answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from shotad.core import Character, Facts, Mark, PeopleFact, Presence, TextFact, ThingFact
from shotad.description import Evidence, doubt_of as of_evidence
from shotad.script import Doubt

Record = Mapping[str, Any]
PERSON = PeopleFact(0, 10.0, 12.0, 1, "centre", 0.8, True, "right", False, False, 0.9, posture="stands")
SEEN = Facts(
    (0,),
    people=(PERSON,),
    things=(ThingFact(0, "dog", 1, "left", 0.9),),
    texts=(TextFact(0, "HARBOUR STREET", "sign", 10.0, 12.0, 0.95),),
)


def measured(facts: Facts = SEEN, **more: Any) -> Record:
    """Stage I's record where the embedded observer looked."""
    return {"raw": "", "notes": facts.to_json(), **more}


def doubt_of(line: str, stage1: Record, stage2: Record | None = None, **more: Any) -> Doubt:
    return of_evidence(line, Evidence(stage1, stage2 or {}, **more))


def reasons(line: str, stage1: Record, stage2: Record | None = None, **more: Any) -> str:
    return "; ".join(doubt_of(line, stage1, stage2, **more).reasons)


@pytest.mark.parametrize(("right", "wrong", "why"), [
    ("A man waits.", "Three men wait.", "3 people are told, 1 measured"),
    ("A dog waits beside her.", "A cat waits beside her.", "no cat was seen by the detectors, but dog"),
    ('A sign reads: "Harbour Street."', 'A sign reads: "Market Lane."', 'not read on the screen: "Market'),
    ("She walks off to the right.", "She walks off to the left.", "left is told, to the right measured"),
    ("A woman stands.", "A woman sits.", "nobody was measured to sit"),
    ("She smiles.", "Martha smiles.", "nobody is known to be called Martha"),
    ("A man waits.", "Clouds drift.", "nothing of what was measured is told: 1 person, dog"),
])  # fmt: skip
def test_an_error_that_was_measured_is_doubted(right: str, wrong: str, why: str) -> None:
    doubted = doubt_of(wrong, measured())
    assert doubted.value > doubt_of(right, measured()).value
    assert why in "; ".join(doubted.reasons)
    assert why not in reasons(right, measured())


def test_people_of_whom_no_detector_saw_one_are_doubted() -> None:
    assert "the detectors saw nobody" in reasons("Two men wait.", measured(Facts((0,))))
    assert "the detectors saw nobody" not in reasons("Clouds drift.", measured(Facts((0,))))


def test_a_name_is_believed_where_the_face_was_recognised_or_somebody_was_called_so() -> None:
    ann, ben = (Character(name.lower(), name, name) for name in ("Ann", "Ben"))
    seen = Presence((ann, ben), current=("ann",), marks={"ann": Mark("red")})
    known, unknown = (doubt_of(f"{name} smiles.", measured(), presence=seen) for name in ("Ann", "Ben"))
    assert known.value < unknown.value
    assert "Ben was not recognised on the frames" in "; ".join(unknown.reasons)
    heard = measured(heard=[{"name": "Martha", "how": "spoken", "seconds": 3.0}])
    assert "Martha" not in reasons("Martha smiles.", heard)


def test_a_text_read_badly_says_how_badly() -> None:
    faint = Facts((0,), texts=(TextFact(0, "HARBOUR STREET", "sign", 10.0, 12.0, 0.71),))
    assert "text read at 0.71" in reasons('A sign reads: "Harbour Street."', measured(faint))


def test_the_narrators_own_lines_are_as_doubtful_as_what_they_rest_on() -> None:
    sure, unsure = ([{"what": "people", "shot": 0, "sure": value}] for value in (0.95, 0.55))
    one, other = (doubt_of("A man waits.", measured(), said=said) for said in (sure, unsure))
    assert one.value < other.value
    assert one.reasons == ()
    assert "people measured at 0.55" in other.reasons
    assert "kneeling" in reasons("She sits down.", measured(), said=[{"what": "sits down", "sure": 1}])
    assert "a page that scrolls" in reasons(
        "Credits appear.", measured(), said=[{"what": "credits", "sure": 1}]
    )


def test_what_models_answer_counts_too() -> None:
    looked: Record = {"raw": "1. Actions: A woman lights a lamp in the hall.", "notes": {}}
    line = "She lights a lamp."
    plain = doubt_of(line, looked)
    agreed = {"candidates": [line, "She lights the lamp.", "A lamp is lit by her: she lights it."]}
    torn = {"candidates": [line, "A horse gallops off.", "Rain beats on the roof."]}
    assert doubt_of(line, looked, agreed) == plain
    assert "different things" in reasons(line, looked, torn)
    assert "did not find: she lights a lamp" in reasons(line, looked, unseen=["she lights a lamp"])
    assert "Stage I does not say: horse" in reasons("A horse gallops off.", looked)
    assert "by the model alone: Nora" in reasons("Nora lights a lamp.", {**looked, "invented": ["Nora"]})
    assert "30 words" in reasons(" ".join(["She lights a lamp"] * 7 + ["at last."]), looked)
    both = doubt_of("A horse gallops off.", looked, torn, unseen=["a horse gallops off"])
    assert plain.value < doubt_of("A horse gallops off.", looked).value < both.value <= 1
