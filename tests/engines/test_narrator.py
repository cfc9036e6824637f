"""The narrator's lines: golden examples, and what holds of every line whatever was measured."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import (
    MANY,
    Deed,
    Engine,
    EngineError,
    Facts,
    FigureFact,
    Interval,
    LightFact,
    Look,
    MotionFact,
    PeopleFact,
    Posture,
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

BANNED = re.compile(
    r"\b(camera|shot|frame|screen|scene|view|viewer|zoom\w*|pan|pans|close-up|cut|fade\w*|we|us|our|I|you|he|she|"
    r"him|her|his|man|woman|suddenly|seem\w*|appear to|sad\w*|happ\w+|run|runs|running|nobody|no one)\b"
)
BASE = r"(come|move|draw|keep|stay|enter|leave|pass|cross|go|turn|look|gaze|appear|face|rush|fall|lift|give|flash|flare|be|stand|sit|lie|get|crouch|squat|bend|raise|spread|hold|put|bring|fill|walk)"
SINGULAR = (
    r"(someone|something|everything|darkness|light|another|a person|a figure|a face|a crowd|a dog|a car)"
)
PLURAL = (
    r"(two people|three people|several people|a few people|two figures|three figures|words|credits|two dogs)"
)


def narrator(*settings: str) -> Engine:
    return make_engine("narrator", load_config((), settings), "stage2")


def person(shot: int = 1, *, at: float = 0.0, count: int = 1, **more: Any) -> PeopleFact:
    given_: dict[str, Any] = {
        "shot": shot, "first": at, "last": at + 2, "count": count, "place": "centre", "size": 0.7,
        "face": False, "movement": None, "enters": False, "leaves": False, "sure": 0.9,
    }  # fmt: skip
    return PeopleFact(**{**given_, **more})


def text(words: str, kind: Any = "title", *, shot: int = 1, at: float = 1.0, sure: float = 0.95) -> TextFact:
    return TextFact(shot, words, kind, at, at + 2, sure)


def light(shot: int = 1, level: Any = "middling", change: Any = None) -> LightFact:
    return LightFact(shot, level, change, 0.9)


def ask(
    facts: Facts | None, *, budget: int | None = 15, seed: int = 0, always: bool = False, **more: Any
) -> Reply:
    notes = facts.to_json() if facts else {}
    request = Request("s1", more.pop("messages", ()), notes=notes, budget=budget, seed=seed, **more)
    return narrator(f"narrator.always={always}").generate([request])[0]


def told(facts: Facts, **more: Any) -> str:
    reply = ask(facts, **more)
    assert reply.error is None
    return reply.text


GOLDEN = [
    (Facts((1,), texts=(text("THE BLENDER FOUNDATION"),)), {'Words appear: "THE BLENDER FOUNDATION."', 'A title reads: "THE BLENDER FOUNDATION."'}),
    (Facts((1,), texts=(text("SINTEL"),)), {'A title reads: "SINTEL."', 'A title appears: "SINTEL."'}),
    (Facts((1,), texts=(text("EXIT", "sign"),)), {'Text reads: "EXIT."'}),
    (Facts((1,), texts=(text("DIRECTED BY COLIN LEVY", "credit"),)), {'A credit reads: "DIRECTED BY COLIN LEVY."'}),
    (Facts((1,), texts=(text("Who are you?"),)), {'Words appear: "Who are you?"', 'A title reads: "Who are you?"'}),
    (Facts((1, 2), texts=(text("SINTEL", at=1), text("COMING SOON", shot=2, at=5))), {'Words appear: "SINTEL," then "COMING SOON."', 'Titles read: "SINTEL," then "COMING SOON."'}),
    (Facts((1,), texts=(text("SINTEL"), text("COMING SOON", at=1.5))), {'Words appear: "SINTEL" and "COMING SOON."', 'Titles read: "SINTEL" and "COMING SOON."'}),
    (Facts((1,), credits=True, texts=(text("a film by Colin Levy", "credit"),)), {'Credits appear: "a film by Colin Levy."'}),
    (Facts((1,), credits=True), {"Credits appear."}),
    (Facts((1,), people=(person(count=2, facing=True),)), {"Two people face each other."}),
    (Facts((1,), people=(person(enters=True, movement="right"),)), {"A person enters from the left.", "Someone enters from the left.", "A person comes in from the left.", "Someone comes in from the left."}),
    (Facts((1,), people=(person(movement="left", quick=True, clothes="red"),)), {"A person in red rushes to the left.", "Someone in red rushes to the left.", "A person in red moves quickly to the left.", "Someone in red moves quickly to the left."}),
    *(
        (Facts((1,), people=(person(**how),)), {f"{who} {does}." for who in ("A person", "Someone") for does in ways})
        for how, ways in (
            ({"movement": "left", "enters": True, "leaves": True}, ("passes from right to left", "crosses from right to left", "passes by")),
            ({"movement": "left", "enters": True, "leaves": True, "quick": True}, ("rushes past from right to left",)),
            ({"movement": "left", "enters": True, "leaves": True, "walks": True}, ("walks past from right to left",)),
            ({"movement": "left", "enters": True, "walks": True}, ("walks in from the right",)),
            ({"movement": "left", "leaves": True, "walks": True}, ("walks off to the left",)),
            ({"movement": "closer", "enters": True}, ("enters and comes closer", "enters and moves closer")),
            ({"movement": "closer", "leaves": True}, ("comes closer, then leaves", "comes near, then leaves")),
            ({"movement": "away", "leaves": True}, ("goes away", "moves away and leaves")),
        )
    ),
    (Facts((1,), people=(person(turns="left", clothes="blue"),)), {"A person in blue turns to the left.", "Someone in blue turns to the left."}),
    (Facts((1,), people=(person(),), things=(ThingFact(1, "dog", 2, "left", 0.9),)), {"A person and two dogs appear.", "There are a person and two dogs.", "There is a person and two dogs."}),
    (Facts((1,), things=(ThingFact(1, "umbrella", 1, "left", 0.9),)), {"An umbrella appears on the left.", "There is an umbrella on the left."}),
    (Facts((1,), light=(light(1, "dark"),), people=(person(size=0.3, movement="away"),)), {"A figure moves away.", "A figure moves farther away."}),
    (Facts((1,), texts=(text("Total 5 Euro", "text"),)), {'Text reads: "Total 5 Euro."'}),
    (Facts((1,), texts=(text("Total 5 Euro", "text"), text("Thank you", "text", at=5))), {'Text reads: "Total 5 Euro," then "Thank you."'}),
    (Facts((1,), texts=(text("Total 5 Euro", "text"), text("EXIT", "sign", at=5))), {'Text reads: "Total 5 Euro," then "EXIT."'}),
    (Facts((1,), people=(person(deed="crouches", clothes="red"),)), {f"{who} in red {does}." for who in ("A person", "Someone") for does in ("crouches", "squats down")}),
    (Facts((1,), people=(person(count=2, deed="stands up"),)), {"Two people get up.", "Two people stand up."}),
    (Facts((1,), people=(person(count=12, deed="raises both arms"),)), {"A crowd raises both arms.", "A crowd lifts both arms."}),
    (Facts((1,), people=(person(), person(at=0.2, deed="sits down"), person(at=3, deed="raises a hand"))), {f"{who} sits down, then {does} a hand." for who in ("A person", "Someone") for does in ("raises", "lifts")}),
    (Facts((1,), people=(person(movement="closer"), person(at=4, deed="spreads the arms"))), {f"{who} {comes} closer, then {does} both arms." for who in ("A person", "Someone") for comes in ("comes", "moves") for does in ("spreads", "holds out")} | {f"{who} draws nearer, then {does} both arms." for who in ("A person", "Someone") for does in ("spreads", "holds out")}),
    (Facts((1,), people=(person(count=3), person(deed="stands up", place="left", among=2))), {f"{who} {does} up." for who in ("A person on the left", "Someone") for does in ("stands", "gets")}),
    (Facts((1,), people=(person(count=3), person(deed="bends forward", place="left", among=2), person(at=3, deed="puts a hand to the face", place="left", among=2))), {f"{who} bends forward, then {does} a hand to the face." for who in ("A person on the left", "Someone") for does in ("puts", "brings")}),
    (Facts((1,), people=(person(posture="sits", place="left"),)), {"A person sits on the left.", "Someone sits on the left."}),
    (Facts((1,), people=(person(count=3, posture="stands"),)), {"Three people stand."}),
    (Facts((1,), people=(person(count=2, at=1, deed="stands up"), person(count=2, at=4, deed="sits down"))), {f"Two people {does} up, then sit down." for does in ("stand", "get")}),
    (Facts((1,), people=(person(count=2, at=1, deed="stands up"), person(at=4, deed="raises a hand", place="left", among=1))), {f"Two people {does} up, then the person on the left {lifts} a hand." for does in ("stand", "get") for lifts in ("raises", "lifts")}),
    (Facts((1,), people=(person(face=False, looks="away"),)), {"A person faces away.", "Someone faces away."}),
    (Facts((1,), people=(person(face=False, looks="away", posture="stands"),)), {"A person stands, facing away.", "Someone stands, facing away."}),
    (Facts((1,), people=(person(count=2),), things=(ThingFact(1, "laptop", MANY, "left", 0.9),)), {"Two people with laptops appear.", "There are two people with laptops."}),
    (Facts((1,), people=(person(),), things=(ThingFact(1, "guitar", 1, "centre", 0.9),)), {"A person with a guitar appears.", "There is a person with a guitar."}),
    (Facts((1,), people=(person(),), things=(ThingFact(1, "bookshelf", MANY, "centre", 0.9),)), {"There is a person before bookshelves."}),
    (Facts((1,), people=(person(clothes="a suit"),)), {"A person in a suit appears.", "Someone in a suit appears."}),
    (Facts((1,), people=(person(),), things=(ThingFact(1, "bicycle", 1, "left", 0.9, area=0.6),)), {"A person with a bicycle appears.", "There is a person with a bicycle."}),
    (Facts((1,), things=(ThingFact(1, "mountain", MANY, "centre", 0.9),)), {"There are mountains."}),
    (Facts((1,), people=(person(count=12, posture="sits"),)), {"A crowd sits."}),
    (Facts((1,), people=(person(posture="lies", size=0.2),), light=(light(1, "dark"),)), {"In the distance, a figure lies."}),
    (Facts((1,), things=(ThingFact(1, "car", 1, "left", 0.9, area=0.5),)), {"A car fills the picture."}),
    # What is gone when the other comes does not appear with it.
    (Facts((1,), things=(ThingFact(1, "car", 1, "left", 0.9, 4.5, last=9.0), ThingFact(1, "cat", 1, "centre", 0.8, 1.0, last=4.0))), {f"{cat}, then {car}." for cat in ("A cat appears", "There is a cat") for car in ("a car appears on the left", "there is a car on the left")}),
    (Facts((1,), things=(ThingFact(1, "car", 1, "left", 0.8), ThingFact(1, "car", 1, "left", 0.9))), {"A car appears on the left.", "There is a car on the left."}),
    (Facts((1,), things=(ThingFact(1, "car", 1, "left", 0.9, movement="left"),)), {"A car drives to the left."}),
    (Facts((1,), things=(ThingFact(1, "dog", 1, "centre", 0.9, movement="down"),)), {"A dog moves down."}),
    (Facts((1,), things=(ThingFact(1, "hand", 1, "left", 0.9, area=0.1),)), {"A hand moves close up.", "Close up, a hand moves."}),
    (Facts((1,), things=(ThingFact(1, "hand", MANY, "left", 0.9, area=0.01),)), {"Hands move."}),
    (Facts((1,), people=(person(deed="smiles"),)), {"A person smiles.", "Someone smiles."}),
    (Facts((1,), people=(person(deed="lowers the head"),)), {"A person lowers the head.", "Someone lowers the head."}),
    (Facts((1,), things=(ThingFact(1, "car", 2, "left", 0.9, area=0.5),)), {"Two cars appear.", "There are two cars."}),
]  # fmt: skip
"""Lines read aloud and found good; any of the wordings may be chosen."""


@pytest.mark.parametrize(("facts", "lines"), GOLDEN, ids=lambda v: min(v) if isinstance(v, set) else "")
def test_golden_lines(facts: Facts, lines: set[str]) -> None:
    assert {told(facts, seed=seed) for seed in range(8)} <= lines


BARE = [
    (Facts((1,), people=(person(),)), {"A person appears.", "Someone appears."}),
    (Facts((1,), people=(person(count=2),)), {"Two people appear."}),
    (Facts((1,), people=(person(count=3, movement="closer"),)), {"Three people appear, one coming closer."}),
    (Facts((1,), people=(person(count=12),)), {"A crowd appears."}),
    (Facts((1,), people=(person(framing="distant", size=0.1),)), {"In the distance, a figure appears."}),
    (Facts((1,), people=(person(framing="distant", size=0.1, place="left"),)), {"In the distance, a figure appears on the left."}),
    (Facts((1,), people=(person(face=True, framing="face", clothes="black"),)), {"The face of a person in black appears up close."}),
    (Facts((1,), people=(person(count=2),), light=(light(1, "middling", "fade-in"),)), {"Out of the dark, two people appear."}),
    (Facts((1,), people=(person(movement="still"),)), {"A person appears.", "Someone appears."}),
    (Facts((1,), people=(person(movement="up"),)), {"A person rises.", "Someone rises.", "A person moves upward.", "Someone moves upward."}),
    (Facts((1,), people=(person(),), things=(ThingFact(1, "umbrella", 1, "left", 0.9),)), {"A person and an umbrella appear.", "There are a person and an umbrella.", "There is a person and an umbrella."}),
]  # fmt: skip
"""What tells nothing by which a listener could follow the film."""


@pytest.mark.parametrize(("facts", "lines"), BARE, ids=lambda v: min(v) if isinstance(v, set) else "")
def test_what_is_bare_is_no_line_unless_one_is_asked_for(facts: Facts, lines: set[str]) -> None:
    reply = ask(facts)
    assert (reply.text, reply.notes["reason"]) == ("", "nothing was measured that is worth a line")
    assert {told(facts, seed=seed, always=True) for seed in range(8)} <= lines


FACE_OF_ANYBODY = "(Someone|A person) .*, then a face (looks|gazes) to the left up close"
CLOSER_RED = "(Someone|A person) in red (.* closer|draws nearer)"
RED = {"clothes": "red", "face": True}
COMES = person(1, movement="closer")
VALLEY = "For thousands of years the people of the valley have guarded the secret of the mountain"
CARD = text(
    "THE DURIAN OPEN MOVIE PROJECT HALINA REIJN - THOM HOFFMAN WITH THE SUPPORT OF CINEGRID", "credit"
)

TOGETHER: list[tuple[Facts, dict[str, Any], str]] = [
    (Facts((1,), people=(person(count=3), person(deed="crouches", place="left", among=2),
                         person(at=0.5, deed="raises both arms", place="right", among=2))), {},
     "A person on the left (crouches|squats down) (as|while) a person on the right (raises|lifts) both arms"),
    # What one person does at once has one subject.
    (Facts((1,), people=(person(), person(at=1, deed="turns round"), person(at=1.2, deed="puts a hand to the face"))), {},
     "(Someone|A person) turns (a)?round and .* a hand to the face"),
    # The same face: one person. Another face in the same shot: nobody knows whose deed it is.
    (Facts((1, 2), people=(person(movement="closer", **RED), person(2, at=4, again=1), person(2, at=4, deed="sits down"))),
     {}, f"{CLOSER_RED}, then sits down"),
    (Facts((1, 2), people=(person(movement="closer", **RED), person(2, at=4), person(2, at=4, deed="sits down"))),
     {}, "((?!then).)*"),
    (Facts((1, 2), people=(person(2, at=5, enters=True),), texts=(text("COMING SOON", at=1),)), {},
     '(Words appear|A title reads): "COMING SOON," then (someone|a person) (enters|comes into sight)'),
    (Facts((1,), people=(COMES, person(movement="away", at=0.5, place="left"))), {},
     "(Someone|A person) .* (as|while) another .*"),
    (Facts((1, 2), people=(person(movement="closer", **RED), person(2, at=4, face=True, turns="left", again=1))), {},
     f"{CLOSER_RED}, then turns to the left"),
    # Nobody measured whose it is, and "a face" leaves it open.
    (Facts((1, 2), people=(COMES, person(2, at=4, face=True, framing="face", looks="left"))), {}, FACE_OF_ANYBODY),
    # A listener would take "someone, then someone" for two people, which nobody measured.
    (Facts((1, 2), people=(COMES, person(2, at=4, movement="left"))), {},
     "(Someone|A person) ((?!someone|person).)*"),
    # An event that was over before the slot gives way.
    (Facts((1, 2), people=(COMES, person(2, at=6, movement="left"))), {"scene": Scene(Interval(5, 9), ())}, ".*left.*"),
    # What was read is not read again, and a wording of the last lines is not taken.
    (Facts((1,), texts=(text("SINTEI"),), people=(person(enters=True),)),
     {"history": ('Words appear: "SINTEL."', "A person appears.")}, "(A person|Someone) (enters|comes into sight)"),
    (Facts((1,), people=(COMES,)), {"history": ("A person comes closer.", "Light flashes.", 'A sign reads: "EXIT."')},
     "((?!comes closer).)*"),
    (Facts((1,), texts=(text(VALLEY),), people=(person(enters=True),)), {"budget": 8},
     "(A person|Someone) (enters|comes into sight)"),
    (Facts((1,), texts=(text("COMING SOON", at=0), CARD)), {},
     '(Words appear|A title reads): "COMING SOON," and credits appear'),
    (Facts((1,), people=(person(),)), {"history": ("Someone appears.", "A person appears."), "always": True},
     ".* appears"),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "more", "says"), TOGETHER)
def test_what_belongs_together_is_told_so(facts: Facts, more: dict[str, Any], says: str) -> None:
    for seed in range(8):
        assert re.fullmatch(rf"{says}\.", told(facts, seed=seed, **more))


SILENT: list[tuple[Facts, dict[str, Any], str]] = [
    (Facts((2,), people=(person(1),)), {}, "nothing was measured that is worth a line"),
    (Facts((1,), people=(person(sure=0.3),)), {"always": True}, "nothing was measured that is worth a line"),
    (Facts((1,), texts=(text("I have been alone", "subtitle"),)), {}, "nothing was measured that is worth a line"),
    (Facts((1,), texts=(text("動画を投稿してください"),)), {}, "nothing was measured that is worth a line"),
    (Facts((1,), texts=(CARD,)), {"history": ("Credits appear.",)}, "more credits"),
    (Facts((1,), texts=(text("THE BLENDER FOUNDATION"),)), {"budget": 4}, "does not fit into 4 words"),
    (Facts((1,), people=(person(posture="sits"),)), {"history": ("Someone sits.",)},
     "what can be said was said in the last lines"),
    (Facts((1,), light=(light(1, "black", "fade-out"),), motion=(MotionFact(1, "still", "much", 0.9),),
           figures=(FigureFact(1, 0, 2, "left", 0.5, "right"),)), {"always": True},
     "nothing was measured that is worth a line"),
    (Facts((1,), people=(person(),)), {"budget": 1, "always": True, "history": ("Someone appears.",)},
     "nothing that is new fits into 1 words"),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "more", "why"), SILENT)
def test_silence_has_its_reason(facts: Facts, more: dict[str, Any], why: str) -> None:
    reply = ask(facts, **more)
    assert (reply.text, reply.finish) == ("", "silent")
    assert why in reply.notes["reason"]


FIVE = {"properties": {f"summarized_AD_{i}": {"type": "string"} for i in range(1, 6)}}
FACING = Facts((1,), people=(person(count=2, facing=True),))


def test_candidates_are_answered_as_json_and_stress_different_facts() -> None:
    one = {"properties": {"summarized_AD": {"type": "string"}}}
    assert json.loads(ask(FACING, schema=one).text) == {"summarized_AD": "Two people face each other."}
    assert list(json.loads(ask(FACING, schema=FIVE).text).values()) == [
        "Two people face each other.", "", "", "", ""
    ]  # fmt: skip
    facts = Facts(
        (1, 2),
        people=(person(1, enters=True), person(2, at=4, count=2, posture="sits")),
        texts=(text("EXIT", "sign", shot=2, at=4), text("SINTEL", shot=2, at=6)),
    )
    answer = json.loads(ask(facts, schema=FIVE).text)
    assert list(answer) == list(FIVE["properties"])
    assert len({line for line in answer.values() if line}) == 5


def test_what_it_cannot_read_is_told() -> None:
    good = Request("s2", (), notes=FACING.to_json(), budget=9)
    bad = Request("s1", (), notes={"current": [1], "people": [{"shoe": 1}]}, budget=9)
    replies = narrator().generate([bad, good])
    assert replies[0].finish == "error"
    assert "facts cannot be read" in (replies[0].error or "")
    assert replies[1].text == "Two people face each other."
    # It speaks English and of what the observer measured alone.
    with pytest.raises(EngineError, match="language = 'de'"):
        narrator("language=de")
    with pytest.raises(EngineError, match=r"not of the words of openai.*stage2\.engine"):
        narrator("stage1.engine=openai")


PLACES = st.sampled_from(["left", "centre", "right"])
MOVES = st.sampled_from(["still", "left", "right", "closer", "away", "up", "down"])
SURE = st.floats(0, 1)
LOOKS = st.none() | st.sampled_from(get_args(Look))
COLOURS = st.none() | st.sampled_from(["black", "red", "yellow", "orange", "grey", "blue"])
SHOTS = st.integers(0, 4)
SECONDS = st.floats(0, 30)
WORDS = st.sampled_from(
    ["SINTEL", "COMING SOON", "www.sintel.org", "Who are you?", "London, 1940", "THE BLENDER FOUNDATION", "--",
     "In the year 2045, the world is ruled by machines. Nobody remembers how it began.", "DIRECTED BY COLIN LEVY"]
)  # fmt: skip


@st.composite
def people_facts(draw: st.DrawFn) -> PeopleFact:
    first = draw(SECONDS)
    count, deed = draw(st.integers(0, 12)), draw(st.none() | st.sampled_from(get_args(Deed)))
    return PeopleFact(
        shot=draw(SHOTS), first=first, last=first + draw(st.floats(0, 5)), count=count,
        place=draw(PLACES), size=draw(st.floats(0, 1)), face=draw(st.booleans()),
        movement=draw(st.none() | MOVES), enters=draw(st.booleans()), leaves=draw(st.booleans()),
        sure=draw(SURE),
        framing=draw(st.none() | st.sampled_from(["face", "upper body", "full figure", "distant"])),
        looks=draw(LOOKS), turns=draw(LOOKS), quick=draw(st.none() | st.booleans()), facing=draw(st.booleans()),
        again=draw(st.none() | SHOTS), clothes=draw(COLOURS),
        posture=draw(st.none() | st.sampled_from(get_args(Posture))),
        deed=deed, among=draw(st.integers(0, 3)) if deed and count == 1 else 0,
    )  # fmt: skip


FACTS = st.builds(
    Facts,
    current=st.lists(SHOTS, min_size=1, max_size=4, unique=True).map(sorted).map(tuple),
    people=st.lists(people_facts(), max_size=4).map(tuple),
    things=st.lists(
        st.builds(ThingFact, SHOTS, st.sampled_from(["dog", "car", "laptop", "skis", "lake"]), st.integers(1, 5), PLACES, SURE,
                  movement=st.none() | MOVES),
        max_size=2,
    ).map(tuple),
    texts=st.lists(
        st.builds(lambda s, w, k, t, d, p: TextFact(s, w, k, t, t + d, p),
                  SHOTS, WORDS, st.sampled_from(["title", "credit", "sign", "text", "subtitle"]), SECONDS, st.floats(0, 5), SURE),
        max_size=3,
    ).map(tuple),
    light=st.lists(
        st.builds(LightFact, SHOTS, st.sampled_from(["black", "dark", "middling", "bright", "white"]),
                  st.none() | st.sampled_from(["fade-out", "fade-in", "flash"]), SURE),
        max_size=3, unique_by=lambda fact: fact.shot,
    ).map(tuple),
    motion=st.lists(st.builds(MotionFact, SHOTS, st.just("left"), st.sampled_from(["none", "much"]), SURE), max_size=2).map(tuple),
    figures=st.lists(
        st.builds(FigureFact, SHOTS, SECONDS, SECONDS, PLACES, st.floats(0, 1), MOVES),
        max_size=1,
    ).map(tuple),
    credits=st.booleans(),
)  # fmt: skip


@given(FACTS, st.none() | st.integers(1, 25), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_every_line_is_a_sound_sentence(facts: Facts, budget: int | None, seed: int) -> None:
    reply = ask(facts, budget=budget, seed=seed)
    assert reply.error is None
    json.dumps(dict(reply.notes))
    if reply.finish == "silent":
        assert reply.text == ""
        assert reply.notes["reason"]
        return
    line = reply.text
    assert budget is None or spoken_words(line) <= budget
    assert line[0].isupper()
    assert re.search(r"""[^\s,;:.]\.$|[.?!…]"$""", line)
    assert not re.search(r"\s\s|\s[,.;:]|,,|\.\.", line)
    own = re.sub(r'"[^"]*"', '""', line)
    assert not BANNED.search(own), own
    steps = [fact for fact in facts.people if fact.walks or (fact.deed or "").startswith("walks")]
    assert steps or not re.search(r"\bwalk", own), own
    assert not re.search(rf"\b{SINGULAR} {BASE}\b", own, re.IGNORECASE)
    assert not re.search(rf"\b{PLURAL} {BASE}(s|es)\b", own, re.IGNORECASE)
    subtitles = [fact.text for fact in facts.texts if fact.kind == "subtitle"]
    others = " ".join(fact.text for fact in facts.texts if fact.kind != "subtitle")
    assert not any(words in line for words in subtitles if words not in others)
    assert not check_line(line)
    assert ask(facts, budget=budget, seed=seed) == reply


@given(st.lists(FACTS, min_size=4, max_size=8), st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_no_line_repeats_one_of_the_last(clips: list[Facts], seed: int) -> None:
    history: list[str] = []
    for facts in clips:
        line = ask(facts, seed=seed, history=tuple(history[-5:])).text
        assert not check_line(line, previous=history[-5:])
        history += [line] if line else []


@given(FACTS, st.integers(1, 25))
@settings(max_examples=50, deadline=None)
def test_candidates_are_distinct_lines_within_the_budget(facts: Facts, budget: int) -> None:
    reply = ask(facts, budget=budget, schema=FIVE)
    if reply.finish == "silent":
        return
    lines = [line for line in json.loads(reply.text).values() if line]
    assert len(lines) == len(set(lines)) >= 1
    assert all(spoken_words(line) <= budget for line in lines)


def test_faces_are_near_and_nothing_is_invented_for_benchmarks() -> None:
    for seed in range(20):
        shoulders = person(face=True, framing="head and shoulders")
        near = told(Facts((1,), people=(shoulders,)), seed=seed, always=True).lower()
        assert "face" not in near
        assert "close by" in near
        whole = Facts((1,), people=(person(face=True, framing="face"),))
        assert "face" in told(whole, seed=seed, always=True).lower()
    assert always(Facts((1,))).finish == "silent"
    assert always(Facts((1,), people=(person(sure=0.3),))).finish == "silent"
    assert (
        always(Facts((1,), texts=(text("THE BLENDER FOUNDATION, WHICH HAS MADE MANY A FILM BEFORE"),))).finish
        == "silent"
    )


def always(facts: Facts, **request: Any) -> Reply:
    return ask(facts, budget=9, always=True, **request)
