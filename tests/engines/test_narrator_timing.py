"""The narrator tells what is seen when it is seen."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import (
    Config,
    ContextShot,
    Facts,
    Interval,
    LightFact,
    PeopleFact,
    Reply,
    Request,
    Role,
    Scene,
    Shot,
    TextFact,
    ThingFact,
)
from shotad.engines import make_engine
from shotad.engines.narrator_words import spoken_words
from shotad.script import LEAD

PACE = Config().slots.seconds_per_word


def person(first: float, last: float, *, shot: int = 0, **more: Any) -> PeopleFact:
    given_: dict[str, Any] = {
        "count": 1, "place": "centre", "size": 0.7, "face": True, "movement": None, "enters": False,
        "leaves": False, "sure": 0.95,
    }  # fmt: skip
    return PeopleFact(shot, first, last, **{**given_, **more})


def text(words: str, first: float, last: float, since: float | None = None) -> TextFact:
    return TextFact(0, words, "title", first, last, 0.98, since)


def piece(number: int, span: Interval) -> ContextShot:
    return ContextShot(shot=Shot(number, span), role=Role.CURRENT, clipped=span)


def ask(slot: Interval, *, budget: int | None = None, **facts: Any) -> Reply:
    shots = sorted({fact.shot for group in facts.values() for fact in group})
    spans = [Interval(10.0 + 3 * n, 13.0 + 3 * n) for n in range(max(shots) + 1)]
    pieces = tuple(piece(n, span) for n, span in enumerate(spans))
    notes = json.loads(json.dumps(Facts(tuple(shots), **facts).to_json()))
    room = int(slot.duration / PACE) if budget is None else budget
    request = Request("s1", (), notes=notes, budget=room, scene=Scene(slot, pieces))
    return make_engine("narrator", Config(), "stage2").generate([request])[0]


def test_what_comes_late_has_the_time_that_is_left() -> None:
    words = "The war is over. Nobody came home to the old town by the river"
    assert "river" in ask(Interval(10, 18), texts=(text(words, 10, 18),)).text
    late = ask(Interval(10, 18), texts=(text(words, 15, 18),))
    assert late.text == 'A text begins: "The war is over."'
    # What comes too late for any line is not told and says why.
    reply = ask(Interval(10, 16), texts=(text("SEVEN LONG YEARS AGO IN SPAIN", 15.5, 16),))
    assert (reply.text, reply.finish) == ("", "silent")
    assert reply.notes["unread"]
    reply = ask(Interval(10, 12), people=(person(11.9, 12, count=4, deed="stands up"),))
    assert reply.notes["reason"] == "what there is to tell comes too late in the slot for a line"
    # Two things far apart are not told in one line.
    slot = Interval(10, 20)
    title = text("ONE DAY", 10, 12)
    near = ask(slot, texts=(title,), people=(person(12, 15, movement="closer"),))
    assert [said["what"] for said in near.notes["said"][0]] == ["title", "closer"]
    far = ask(slot, texts=(title,), people=(person(17, 20, movement="closer"),))
    assert [said["what"] for said in far.notes["said"][0]] == ["title"]


def test_facts_are_true_from_their_times_on() -> None:
    fact = person(10, 16, leaves=True, movement="left", since=15.0)
    (said,) = ask(Interval(10, 18), people=(fact,)).notes["said"][0]
    assert (said["since"], said["until"]) == (15.0, 16)
    # Facts of an older run are true from their shots on.
    car = ThingFact(1, "car", 1, "left", 0.95)
    (said,) = ask(Interval(10, 18), light=(LightFact(0, "dark", None, 0.95),), things=(car,)).notes["said"][0]
    assert (said["what"], said["since"]) == ("thing", 13.0)


MOMENTS = st.integers(0, 40).map(lambda n: 10 + n / 4)
DEEDS = st.sampled_from([None, "stands up", "raises a hand"])


@settings(max_examples=150, deadline=None)
@given(
    people=st.lists(
        st.tuples(MOMENTS, st.integers(1, 12), st.sampled_from([None, "left", "closer"]), DEEDS), max_size=3
    ),
    texts=st.lists(st.tuples(MOMENTS, st.integers(1, 12)), max_size=2),
    end=st.integers(24, 48),
)
def test_no_line_is_told_more_than_a_second_before_it_is_seen(
    people: list[tuple[float, int, Any, Any]], texts: list[tuple[float, int]], end: int
) -> None:
    slot = Interval(10, 10 + end / 4)
    shown = [
        person(a, a + n / 4, shot=i, movement=m, deed=d)
        for i, (a, n, m, d) in enumerate(people)
        if a < slot.end
    ]
    read = [
        text(w, a, a + n / 4)
        for w, (a, n) in zip(("ONE DAY", "THE END"), texts, strict=False)
        if a < slot.end
    ]
    if not shown and not read:
        return
    reply = ask(slot, people=tuple(shown), texts=tuple(read))
    if not reply.text:
        return
    length = spoken_words(reply.text) * PACE
    for said in reply.notes["said"][0]:
        # The latest second at which its words can be begun, the line ending with its slot.
        begun = slot.end - length + said["after"] * PACE
        assert begun >= min(said["since"], slot.end) - LEAD - 1e-6


@pytest.mark.parametrize("number", [1, 5])
def test_each_candidate_has_its_own_times(number: int) -> None:
    names = [f"AD_{n}" for n in range(1, number + 1)]
    schema = {"properties": {name: {"type": "string"} for name in names}}
    facts = Facts((0,), people=(person(10, 14, deed="stands up"),), texts=(text("ONE DAY", 12, 14),))
    slot = Interval(10, 20)
    request = Request(
        "s1", (), notes=facts.to_json(), budget=20, scene=Scene(slot, (piece(0, slot),)), schema=schema
    )
    reply = make_engine("narrator", Config(), "stage2").generate([request])[0]
    lines = [line for line in json.loads(reply.text).values() if line]
    assert len(reply.notes["said"]) == len(lines)
    for line, said in zip(lines, reply.notes["said"], strict=True):
        assert ("ONE DAY" in line) == any(row["since"] >= 11.5 for row in said)
