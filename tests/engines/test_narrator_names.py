"""The narrator with names: lines read aloud, pronouns that can mean one person only, and nobody misnamed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import (
    Character,
    Deed,
    Facts,
    Interval,
    LightFact,
    Named,
    PeopleFact,
    Posture,
    Presence,
    Reply,
    Request,
    Scene,
    TextFact,
    ThingFact,
    load_config,
)
from shotad.engines import make_engine
from shotad.engines.narrator_words import spoken_words
from shotad.script import check_line

THOM, MAX, CELIA = Named("thom", "Thom", "he"), Named("max", "Max", "he"), Named("celia", "Celia", "she")
RED = Named("red", "the woman in red", "she", named=False)
BO, KIM = Named("bo", "Bo", "they"), Named("kim", "Kim")
REX = Named("rex", "Rex", "it")
BOOM = Named("shot", "Close-up", "they")
EVERYBODY = (THOM, MAX, CELIA, RED, BO, KIM, REX)
CAST = tuple(Character(n.id, n.called, n.called, pronoun=n.pronoun, named=n.named) for n in EVERYBODY)
SLOT = Interval(5, 15)
SCENE = Scene(SLOT, (), presence=Presence(CAST))
FLASHES = ["Light flashes."] * 4


def person(*names: Named, shot: int = 1, at: float = 5.0, count: int = 0, **more: Any) -> PeopleFact:
    given_: dict[str, Any] = {
        "shot": shot, "first": at, "last": at + 2, "count": count or len(names) or 1, "place": "centre",
        "size": 0.7, "face": True, "movement": None, "enters": False, "leaves": False, "sure": 0.9,
    }  # fmt: skip
    return PeopleFact(**{**given_, "names": names, **more})


def ask(people: Sequence[PeopleFact], history: Sequence[str] = (), **more: Any) -> Reply:
    others = {"current": tuple(sorted({f.shot for f in people})), **more.pop("facts", {})}
    facts = Facts(people=tuple(people), **others)
    config = load_config((), (f"narrator.always={more.pop('always', False)}",))
    engine = make_engine("narrator", config, "stage2")
    asked: dict[str, Any] = {"scene": SCENE, "budget": 15, "seed": 0, "history": tuple(history), **more}
    return engine.generate([Request("s1", (), notes=json.loads(json.dumps(facts.to_json())), **asked)])[0]


def later(*names: Named, **more: Any) -> PeopleFact:
    """Somebody in the next shot."""
    return person(*names, **{"shot": 2, "at": 8, **more})


Case = tuple[tuple[PeopleFact, ...], str, Sequence[str], dict[str, Any]]


def case(*people: PeopleFact, says: str, after: Sequence[str] = (), **more: Any) -> Case:
    """What is measured, a pattern of the line (without its end; empty: silence), and the lines before."""
    return people, says, after, more


def face(named: Named, says: str, *after: str) -> Case:
    return case(person(named, framing="face"), says=says, after=after, always=True)


def turns(named: Named, after: str, says: str) -> Case:
    return case(person(named, turns="left"), says=f"{says} to the left", after=[after])


CLOSER = "(comes closer|moves closer|draws nearer)"
TITLE = {"texts": (TextFact(1, "CELIA", "title", 5.0, 7.0, 0.95),), "current": (1,)}
SINTEL = {"texts": (TextFact(1, "SINTEL", "title", 5.0, 7.0, 0.95),)}
DOGS = {"things": (ThingFact(1, "dog", 2, "left", 0.9),)}
DARK = {"light": (LightFact(1, "dark", None, 0.9),)}
SPOKEN = Scene(SLOT, (), speech=(Interval(2, 4),), presence=Presence(CAST))
LATER = Scene(SLOT, (), speech=(Interval(9, 12),), presence=Presence(CAST))
THOM_LEFT = person(THOM, movement="left")
ANYBODY = "(A person|Someone)"

CASES = {
    "one alone": [
        case(person(CELIA), says="Celia appears"),
        case(person(RED), says="The woman in red appears"),
        case(person(THOM, place="left"), says="Thom appears on the left"),
        case(person(THOM, looks="left"), says="Thom (looks|gazes) to the left"),
        case(person(RED, turns="right"), says="The woman in red turns to the right"),
        case(person(THOM, clothes="black", movement="up"), says="Thom (rises|moves upward)"),
        case(person(THOM, enters=True, movement="right"), says="Thom (enters|comes in) from the left"),
        case(person(THOM, framing="head and shoulders"), says="Close by, Thom appears"),
        case(person(THOM, framing="face"), says="(Up close, Thom appears|Thom's face appears up close)"),
        case(
            person(RED, framing="face"),
            says="(Up close, the woman in red appears|The face of the woman in red appears up close)",
        ),
        case(person(BO, framing="face"), says="Up close, Bo appears"),
        case(person(THOM, framing="distant", size=0.1, face=False), says="In the distance, Thom appears"),
        case(person(THOM, deed="sits down"), says="Thom sits down"),
        case(person(BO, posture="lies", place="left"), says="Bo lies on the left"),
        case(person(BOOM, turns="left"), says="Close-up turns to the left"),
        # A man before a dark wall stands in no dim light.
        case(person(THOM, movement="away", face=False, size=0.3), says="Thom moves (farther )?away", facts=DARK),
    ],
    "several": [
        case(person(THOM, CELIA), says="Thom and Celia appear"),
        case(person(THOM, CELIA, facing=True), says="Thom and Celia face each other"),
        case(person(THOM, count=2, facing=True), says="Thom and another person face each other"),
        case(person(THOM, count=2), says="Thom and another person appear"),
        case(person(RED, count=3), says="The woman in red and two other people appear"),
        case(person(THOM, CELIA, count=3), says="Thom, Celia and another person appear"),
        case(person(THOM, count=6), says="Thom and several others appear"),
        case(person(THOM, count=12), says="Thom and many others appear"),
        case(person(THOM, CELIA, posture="sits"), says="Thom and Celia sit"),
        case(person(THOM, count=12, deed="stands up"), says="Thom and many others (stand|get) up"),
        case(person(THOM), says="Thom and two dogs appear", facts=DOGS),
        case(person(CELIA), says='A title (reads|appears): "SINTEL" (as|while) Celia appears', facts=SINTEL),
    ],
    "two shots": [
        case(person(THOM, movement="closer"), later(THOM, turns="left"),
             says=f"Thom {CLOSER}, then turns to the left"),
        case(person(THOM, movement="closer"), later(CELIA, turns="left"),
             says=f"Thom {CLOSER}, then Celia turns to the left"),
        case(person(THOM, movement="closer"), person(CELIA, at=6, turns="left"),
             says=f"Thom {CLOSER} (as|while) Celia turns to the left"),
        case(person(BO, movement="closer"), later(BO, turns="left"), after=["Bo looks to the right."],
             says="They (come closer|move closer|draw nearer), then turn to the left"),
        case(person(MAX, at=4), person(THOM, shot=2, at=6), person(CELIA, shot=3, at=9, turns="left"),
             says=".*then Thom appears.*"),
        case(person(MAX, at=4), person(THOM, shot=2, at=6), person(CELIA, shot=3, at=8),
             says="Max appears, then Thom, and then Celia"),
        case(person(MAX), later(THOM), says="Max appears, then Thom", always=True),
        case(person(MAX, place="left"), later(THOM, place="left"), says="Max appears on the left, then Thom"),
        case(person(MAX, place="left"), later(THOM, place="right"),
             says="Max appears on the left, then Thom appears on the right"),
        case(person(MAX), later(THOM), after=["Max and Thom leave.", *"ABC"], always=True,
             says="Max appears again, then Thom"),
        case(person(MAX), later(THOM), after=["Max leaves.", *"ABCD"], always=True,
             says="Max appears again, then Thom appears"),
        case(person(MAX, framing="face"), later(THOM, framing="face"), always=True,
             says="(Up close, Max appears, then Thom|Up close, Max appears, then Thom's face appears"
                  "|Max's face appears up close, then Thom('s face)? appears)"),
        case(person(MAX, looks="left"), later(THOM), after=["Thom leaves.", *FLASHES], budget=9,
             says="Max (looks|gazes) (to the )?left, then Thom appears again"),
        case(person(MAX, looks="left"), later(THOM), after=["Thom leaves.", *FLASHES], budget=8,
             says="Max (looks|gazes) (to the )?left, then Thom appears"),
    ],
    "one of several": [
        case(person(THOM, CELIA), person(THOM, place="left"), person(CELIA), says="Thom and Celia appear"),
        case(person(THOM, count=2), THOM_LEFT, says="Thom moves (to the )?left (as|while) another person appears"),
        case(person(THOM, CELIA, at=4), THOM_LEFT, says="Thom moves (to the )?left (as|while) Celia appears"),
        case(person(THOM, CELIA), THOM_LEFT, after=["Celia leaves."], says=".* Celia appears again"),
        case(person(THOM, CELIA), THOM_LEFT, person(CELIA, at=6, turns="left"),
             says="Thom moves .*left (as|while) Celia turns to the left"),
        case(person(THOM, CELIA), person(THOM, CELIA, at=7, deed="stands up"), THOM_LEFT,
             person(CELIA, at=6, turns="left"), says="Thom and Celia (stand|get) up"),
        case(person(THOM, count=2, facing=True), person(THOM, looks="left"),
             says="Thom and another person face each other"),
    ],
    "unknown people": [
        # The unknown one may be Thom: the face was not recognised there, that is all.
        case(person(THOM, movement="closer"), later(movement="left"), says=f"Thom {CLOSER}"),
        case(person(THOM, movement="closer"), later(count=2), says=f"Thom {CLOSER}"),
        case(person(movement="left"), later(THOM, movement="right"), says="Thom .*"),
        case(person(posture="sits"), later(CELIA), says="Celia appears"),
        case(person(), later(count=2), after=["Thom leaves."], always=True, budget=3, says="Two people appear"),
        case(person(), later(count=2), after=["Thom comes closer.", "He leaves."], always=True, budget=3,
             says="Two people appear"),
        case(person(), later(count=2), after=['A title reads: "NO," as Thom leaves.'], always=True, budget=3,
             says="Two people appear"),
        case(person(), later(count=2), after=["Thom leaves.", "Darkness falls."], always=True, budget=3,
             says=f"{ANYBODY} appears"),
        case(person(), later(count=2), after=["Thomas leaves."], always=True, budget=3, says=f"{ANYBODY} appears"),
        case(person(movement="left"), after=["Thom leaves."], says=".* left"),
        case(person(THOM, at=8), person(at=5), after=["Thom leaves.", FLASHES[0]], always=True,
             says="Thom appears again"),
        case(person(THOM, at=8), person(at=7.5), after=["Thom leaves.", FLASHES[0]], always=True,
             says=".*([Pp]erson|[Ss]omeone).*"),
        case(person(THOM, at=8), person(at=5, movement="left"), after=["Thom leaves.", FLASHES[0]], always=True,
             says=".* moves .*"),
        case(person(THOM, at=8), later(at=12, face=False), after=["Thom leaves.", FLASHES[0]], always=True,
             says="Thom appears again"),
    ],
    "told lately": [
        case(person(THOM, CELIA), after=["Thom looks to the left."], says="Celia appears with Thom"),
        case(person(THOM, count=2), after=["Thom looks to the left."], says="Another person appears with Thom"),
        case(person(THOM, BO, CELIA), after=["Thom leaves.", "Celia enters."], says="Bo appears with Thom and Celia"),
        case(person(THOM, CELIA, count=4), after=["Thom leaves."],
             says="Celia and two other people appear with Thom"),
        case(person(THOM), after=["Thom leaves.", *FLASHES], says="Thom appears again"),
        case(person(THOM, CELIA), after=["Thom leaves.", "Celia enters.", *FLASHES[:3]],
             says="Thom and Celia appear together"),
        case(person(THOM, count=2), after=["Thom and another person appear."], says=""),
        case(person(THOM, count=2), after=["Thom comes closer as another person appears."], says=""),
        case(person(THOM, count=2), after=["Thom and another person appear.", *FLASHES],
             says="Thom appears again with another person"),
        case(person(THOM, CELIA, count=5), after=["Thom, Celia and several others appear.", *"ABCD"],
             says="Thom and Celia appear again with three other people"),
        case(person(THOM), after=["Thom looks to the left."], says=""),
        case(person(THOM), after=["Thom comes closer.", "He turns to the right."], says=""),
        case(person(THOM, looks="left"), after=["Thom comes closer.", "He looks to the left."], says=""),
        case(person(BO, looks="left"), after=["Bo comes closer.", "They look to the left."], says=""),
        case(person(THOM, framing="face"), after=["Thom looks to the left."], says=""),
        case(person(THOM, framing="face"), after=["Thom comes closer.", "His face appears up close."], says=""),
    ],
    "titles that are names": [
        case(person(CELIA), after=['A title reads: "CELIA."'], says="Celia appears"),
        case(person(CELIA, THOM), after=['A title reads: "CELIA," and darkness falls.'],
             says="Celia and Thom appear"),
        case(person(posture="sits"), after=['A title reads: "CELIA."'], says=f"{ANYBODY} sits"),
        case(after=["Celia comes closer."], facts=TITLE, says='A title (reads|appears): "CELIA'),
        case(after=['A title reads: "CELIA."'], facts=TITLE, says=""),
    ],
    "faces": [
        face(THOM, "His face appears up close", "Thom looks to the left."),
        face(KIM, "Kim's face appears up close", "Kim looks to the left."),
        face(BO, "Up close, they appear again", "Bo looks to the left."),
        face(THOM, "(Thom's face appears up close|Up close, Thom appears again)", "Thom leaves.", FLASHES[0]),
        face(THOM, "(Thom's face appears up close|Up close, Thom appears)", "Up close, Max looks to the left."),
        face(THOM, "(Thom appears again|Thom's face appears again)",
             "Thom's face appears up close.", FLASHES[0], "Darkness falls."),
    ],
    "pronouns": [
        turns(THOM, "Thom comes closer.", "He turns"),
        turns(CELIA, "Celia comes closer.", "She turns"),
        turns(BO, "Bo comes closer.", "They turn"),
        turns(REX, "Rex comes closer.", "It turns"),
        turns(RED, "The woman in red comes closer.", "She turns"),
        turns(THOM, "In the distance, Thom comes closer.", "He turns"),
        turns(THOM, "Thom and Celia face each other.", "He turns"),
        turns(THOM, "Thom comes closer, then Celia leaves.", "He turns"),
        turns(THOM, "Thom's face appears up close.", "He turns"),
        turns(THOM, 'Thom appears, and a sign reads: "Max."', "He turns"),
        turns(KIM, "Kim comes closer.", "Kim turns"),
        turns(THOM, "Thom and Max face each other.", "Thom turns"),
        turns(THOM, "Thom and Kim face each other.", "Thom turns"),
        turns(THOM, "Thom and another person face each other.", "Thom turns"),
        turns(THOM, "Thom looks at Barley.", "Thom turns"),
        turns(THOM, "Celia appears with Thom.", "Thom turns"),
        turns(THOM, "Max comes closer.", "Thom turns"),
        turns(THOM, "Thomas comes closer.", "Thom turns"),
        turns(BO, "Bo and two dogs appear.", "Bo turns"),
        turns(REX, "Rex comes closer, and darkness falls.", "Rex turns"),
        case(person(THOM, turns="left"), after=["Thom comes closer.", FLASHES[0]], says="Thom turns to the left"),
        case(person(THOM, turns="left"), after=["Thom comes closer.", "He rises."], says="Thom turns to the left"),
        # Who is not in mind after speech is named.
        case(person(THOM, turns="left"), after=["Thom comes closer."], scene=SPOKEN, says="Thom turns to the left"),
        case(person(THOM, turns="left"), after=["Thom comes closer."], scene=LATER, says="He turns to the left"),
    ],
}  # fmt: skip
"""Lines read aloud and found good."""


@pytest.mark.parametrize("cases", CASES.values(), ids=CASES)
def test_lines_with_names(cases: list[Case]) -> None:
    for people, says, after, more in cases:
        found = {ask(people, after, seed=seed, **more).text for seed in range(12)}
        wrong = [line for line in found if not re.fullmatch(rf'(?:{says})\."?' if says else "", line)]
        assert not wrong, (says, wrong)


def test_who_is_named_is_noted_for_describers() -> None:
    (said,) = ask([person(THOM, CELIA, count=3)]).notes["said"]
    times = {"since": 5.0, "until": 7.0, "after": 0}
    assert said == [{"what": "people", "shot": 1, "sure": 0.9, **times, "who": ["thom", "celia"]}]


PLACES = st.sampled_from(["left", "centre", "right"])
MOVES = st.none() | st.sampled_from(["still", "left", "right", "closer", "away", "up", "down"])
LOOKS = st.none() | st.sampled_from(["left", "right"])


@st.composite
def people_facts(draw: st.DrawFn) -> PeopleFact:
    names = draw(st.lists(st.sampled_from(EVERYBODY), max_size=3, unique=True))
    unknown = draw(st.integers(0 if names else 1, 9 if len(names) != 1 else 2))
    alone = len(names) + unknown == 1
    return person(
        *names, shot=draw(st.integers(0, 3)), at=draw(st.floats(0, 9)), count=len(names) + unknown,
        place=draw(PLACES), size=draw(st.floats(0, 1)), face=draw(st.booleans()),
        movement=draw(MOVES) if alone else None, enters=alone and draw(st.booleans()),
        leaves=alone and draw(st.booleans()), looks=draw(LOOKS) if alone else None,
        turns=draw(LOOKS) if alone else None, facing=not alone and draw(st.booleans()),
        framing=draw(st.none() | st.sampled_from(["face", "head and shoulders", "distant"])) if alone else None,
        posture=draw(st.none() | st.sampled_from(get_args(Posture))),
        deed=draw(st.none() | st.sampled_from(get_args(Deed))),
    )  # fmt: skip


CALLED = re.compile(r"(?i:the woman in red)|\b(?:Thom|Max|Celia|Bo|Kim|Rex)\b")
SINGULAR = re.compile(
    r"\b(?:Thom|Max|Celia|Kim|Rex|He|She|It) (?:come|move|turn|look|gaze|leave|enter|stand|sit|lie|get|crouch|bend|raise|put)\b"
)


@given(st.lists(st.lists(people_facts(), min_size=1, max_size=3), min_size=3, max_size=6), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_lines_of_a_film_name_only_who_is_there(clips: list[list[PeopleFact]], seed: int) -> None:
    history: list[str] = []
    for people in clips:
        reply = ask(people, history[-5:], seed=seed)
        line = reply.text
        assert reply.error is None
        if not line:
            continue
        there = {name.called for fact in people for name in fact.names}
        lately = {found.lower() for found in CALLED.findall(" ".join(history[-5:]))}
        said = {found.lower() for found in CALLED.findall(line)}
        assert said <= {called.lower() for called in there}
        assert line[0].isupper()
        assert spoken_words(line) <= 15
        assert not re.search(r"\b(?:an?|the|another) (?:the|Thom|Max|Celia|Bo|Kim|Rex)\b", line)
        assert "another appears" not in line
        pronoun = re.search(r"\b(He|She|They|It|His|Her|he|she|they|it|his|her)\b", line)
        assert not pronoun or lately
        alone = len(said) == 1 and " and " not in line
        assert not (alone and SINGULAR.search(line)), line
        assert not any(f.rule == "L9" for f in check_line(line, previous=history[-5:]))
        history.append(line)
