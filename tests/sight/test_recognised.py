"""Recognised faces go to the right people, and names to tracks only where there is no doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from shotad.core import Box, Named, Sighting
from shotad.sight import (
    Face,
    Glimpse,
    Person,
    Shift,
    Stretch,
    Track,
    companies,
    people_fact,
    people_of,
    recognised,
)
from shotad.sight.people import around, identities

LEFT, RIGHT = Box(0.2, 0.2, 0.3, 0.4), Box(0.7, 0.2, 0.8, 0.4)
"""Two faces."""
CAST = {"thom": Named("thom", "Thom", "he"), "celia": Named("celia", "Celia", "she")}
STILL = Shift(0, 0, 1, 0.9, 0.05)


def face(box: Box) -> Face:
    return Face(box, 0.0, 0.9, (box.centre,) * 5, 0.0)


def body(head: Box, above: float = 0.02) -> Box:
    return Box(head.left - 0.1, head.top - above, head.right + 0.1, 0.95)


def known(name: str, box: Box, score: float = 0.7) -> Sighting:
    return Sighting(name, box, 0.0, score)


def glimpse(head: Box, who: str = "", *, score: float = 0.9, seen: bool = True) -> Glimpse:
    return Glimpse(body(head), 0.0, body=score, face=face(head) if seen else None, who=who)


def track(*glimpses: Glimpse, first: int = 0) -> Track[Glimpse]:
    frames = tuple(range(first, first + len(glimpses)))
    return Track(tuple(replace(g, seconds=i / 4) for i, g in zip(frames, glimpses, strict=True)), frames)


def stretch(frames: int) -> Stretch:
    return Stretch(2, tuple(i / 4 for i in range(frames)), (STILL,) * (frames - 1), 2.0)


def who(people: Sequence[Glimpse]) -> list[str]:
    return [g.who for g in people]


def test_a_face_goes_to_its_own_person() -> None:
    two = [glimpse(LEFT), glimpse(RIGHT)]
    assert who(recognised(two, [known("celia", RIGHT), known("thom", LEFT)])) == ["thom", "celia"]
    assert who(recognised(two, [known("celia", RIGHT)])) == ["", "celia"]
    # A body whose face was missed is known by where its head is.
    (found,) = recognised([glimpse(LEFT, seen=False)], [known("thom", LEFT)])
    assert found == replace(glimpse(LEFT, seen=False), who="thom")
    # Another face in the same body is not its own.
    # The face of a body is seen beside the recognised one, which must be somebody else's.
    beside = Box(0.24, 0.5, 0.34, 0.7)
    found = recognised([glimpse(LEFT)], [known("thom", beside)])
    assert sorted(who(found)) == ["", "thom"]
    # A face far below the top of a body is of another person.
    # Over a shoulder: the face in the middle of somebody's back is not theirs, even where it was given to it.
    back = Glimpse(Box(0.1, 0.0, 0.5, 1.0), 0.0, body=0.9, face=face(Box(0.2, 0.3, 0.3, 0.45)))
    found = recognised([back], [known("thom", Box(0.2, 0.3, 0.3, 0.45))])
    assert sorted((g.who, g.face is not None, g.body) for g in found) == [
        ("", False, 0.9), ("thom", True, 0.0),
    ]  # fmt: skip
    # A face that is nobody's is a person with head and shoulders.
    (found,) = recognised([], [known("thom", LEFT)])
    assert (found.who, found.box, found.face) == ("thom", around(LEFT), None)
    # One person is in one place at a time.
    found = recognised([glimpse(LEFT), glimpse(RIGHT)], [known("thom", LEFT, 0.6), known("thom", RIGHT, 0.8)])
    assert who(found) == ["", "thom"]


@pytest.mark.parametrize(
    ("marks", "name"),
    [
        (["thom"] * 4, "thom"),
        (["thom", "", "", "thom"], "thom"),
        (["thom", "", "", ""], ""),
        (["thom", "thom", "celia", ""], ""),
        (["thom"] * 5 + ["celia"] * 2, "thom"),
        ([""] * 4, ""),
    ],
)
def test_a_track_is_somebodys_by_a_clear_majority(marks: list[str], name: str) -> None:
    assert identities([track(*(glimpse(LEFT, mark) for mark in marks))]) == (name,)


def test_tracks_are_of_one_person_where_times_allow() -> None:
    early, late = track(*[glimpse(LEFT, "thom")] * 3), track(*[glimpse(RIGHT, "thom")] * 4, first=6)
    assert identities([early, late]) == ("thom", "thom")
    one = track(*(glimpse(LEFT, mark) for mark in ["thom", "thom", "", "", ""]))
    other = track(*(glimpse(RIGHT, mark) for mark in ["", "", "thom", "thom", "thom"]))
    assert identities([one, other]) == ("", "")
    rarely = track(*(glimpse(RIGHT, mark) for mark in ["", "", "thom", "", ""]))
    surely = track(*(glimpse(LEFT, mark) for mark in ["thom", "thom", "", "thom", "thom"]))
    assert identities([surely, rarely]) == ("thom", "")
    # An unsure track is no person without a name.
    faint = [replace(glimpse(LEFT, seen=False), body=0.3)] * 4
    assert people_of([track(*faint)]) == []
    assert [p.who for p in people_of([track(*(replace(g, who="thom") for g in faint))])] == ["thom"]


def test_named_people_are_told_together_and_each_alone() -> None:
    tracks = [track(*[glimpse(RIGHT, "celia")] * 4), track(*[glimpse(LEFT, "thom")] * 4)]
    fact = people_fact(people_of(tracks), stretch(4), CAST)
    assert fact is not None
    assert [name.called for name in fact.names] == ["Thom", "Celia"]
    assert told([one(LEFT, "thom", 4), one(RIGHT, "celia", 4)]) == [["thom", "celia"], ["celia"], ["thom"]]
    assert told([one(LEFT, "thom", 4), one(RIGHT, "", 4)]) == [["thom", ""], ["thom"]]
    # One of two is named.
    tracks = [track(*[glimpse(LEFT, "thom")] * 4), track(*[glimpse(RIGHT)] * 4)]
    people = people_of(tracks)
    fact = people_fact(people, stretch(4), CAST)
    assert fact is not None
    assert (fact.count, fact.names, fact.unknown) == (2, (CAST["thom"],), 1)
    unknown = people_fact(people, stretch(4))
    assert unknown == replace(fact, names=())
    # An unknown one at another time may be the same person.
    ((thom,),) = companies([one(LEFT, "thom", 4, first=4), one(RIGHT, "", 3)])
    assert thom.who == "thom"
    assert [part.first for part in thom.parts] == [0.0]


def test_a_face_recognised_often_enough_proves_a_person() -> None:
    alone = recognised([], [known("thom", LEFT)])[0]
    assert people_of([track(alone, alone)]) == []
    (person,) = people_of([track(alone, alone, alone)])
    fact = people_fact([person], stretch(3), CAST)
    assert fact is not None
    assert (fact.who, fact.place, fact.size) == (CAST["thom"], "left", pytest.approx(0.52))
    assert (fact.framing, fact.looks, fact.movement) == (None, None, None)
    # The known face wins over a body in the same place.
    back = [Glimpse(Box(0.1, 0.0, 0.5, 1.0), 0.0, body=0.95)] * 4
    front = [recognised([], [known("thom", Box(0.2, 0.3, 0.3, 0.45))])[0]] * 4
    assert [p.who for p in people_of([track(*back), track(*front)])] == ["thom"]


def one(head: Box, name: str, frames: int, first: int = 0) -> Person:
    return Person(track(*[glimpse(head, name)] * frames, first=first), 0.9, name)


def told(people: Sequence[Person]) -> list[list[str]]:
    return [[person.who for person in company] for company in companies(people)]


def walking(first: int, frames: int) -> Track[Glimpse]:
    heads = [Box(0.1 + 0.04 * i, 0.2, 0.2 + 0.04 * i, 0.4) for i in range(frames)]
    return track(*(glimpse(head, "thom") for head in heads), first=first)


def test_two_who_are_recognised_are_no_doubles_and_nobody_enters_who_was_there() -> None:
    """One of them is seen from behind, and fills the place of the other."""
    wide = Box(0.0, 0.1, 0.9, 0.95)
    back = [replace(glimpse(LEFT, "thom"), box=wide)] * 2 + [replace(glimpse(LEFT, seen=False), box=wide)] * 4
    front = [glimpse(RIGHT)] + [glimpse(RIGHT, "celia")] * 3
    people = people_of([track(*back), track(*front, first=2)])
    assert {p.who for p in people} == {"thom", "celia"}
    unknown = [glimpse(RIGHT, seen=False)] * 4
    assert [p.who for p in people_of([track(*back), track(*unknown, first=2)])] == ["thom"]
    late = Person(walking(8, 8), 0.9, "thom")
    entering = people_fact([late], stretch(16), CAST)
    assert entering is not None
    assert (entering.movement, entering.enters) == ("right", True)
    seen_before = replace(late, parts=(walking(0, 3),))
    there = people_fact([seen_before], stretch(16), CAST)
    assert there == replace(entering, enters=False)
