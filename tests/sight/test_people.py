"""People: bodies and faces become facts, recognised faces go to the right ones, and nobody is told twice or misnamed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from shotad.core import Box, Named, PeopleFact, Sighting
from shotad.sight import (
    Face,
    Glimpse,
    Person,
    Shift,
    Stretch,
    Track,
    companies,
    glimpses_of,
    people_fact,
    people_of,
    recognised,
    with_missed,
)
from shotad.sight.people import around, identities
from shotad.sight.persons import framing_of, movement_of, sure_of, turn_of

BODY = Box(0.4, 0.1, 0.6, 0.9)
STILL = Shift(0, 0, 1, 0.9, 0.05)
LEFT, MIDDLE, RIGHT = Box(0.2, 0.2, 0.3, 0.4), Box(0.45, 0.2, 0.55, 0.4), Box(0.7, 0.2, 0.8, 0.4)
"""Three faces."""
THOM, BARLEY, CELIA = (
    Named("thom", "Thom", "he"),
    Named("barley", "Barley", "he"),
    Named("celia", "Celia", "she"),
)
CAST = {named.id: named for named in (THOM, BARLEY, CELIA)}


def face(
    score: float = 0.9, *, x: float = 0.5, height: float = 0.2, yaw: float = 0.0, second: float = 0.0
) -> Face:
    box = Box(x - 0.03, 0.15, x + 0.03, 0.15 + height)
    return Face(box, second, score, ((x, 0.2),) * 5, yaw)


def person(score: float = 0.8, box: Box = BODY, name: str = "person") -> Sighting:
    return Sighting(name, box, 0.0, score)


def track(*glimpses: Glimpse, first: int = 0) -> Track[Glimpse]:
    frames = tuple(range(first, first + len(glimpses)))
    timed = tuple(
        replace(g, seconds=i / 4, face=replace(g.face, seconds=i / 4) if g.face else None)
        for i, g in zip(frames, glimpses, strict=True)
    )
    return Track(timed, frames)


def stretch(frames: int, shift: Shift | None = STILL) -> Stretch:
    return Stretch(2, tuple(i / 4 for i in range(frames)), (shift,) * (frames - 1), 2.0)


def fact_of(people: Sequence[Person], frames: int, cast: dict[str, Named] | None = None) -> PeopleFact:
    fact = people_fact(people, stretch(frames), cast or {})
    assert fact is not None
    return fact


def walker(frames: int = 8, step: float = 0.03, start: float = 0.1) -> Track[Glimpse]:
    boxes = [Box(start + step * i, 0.3, start + 0.2 + step * i, 0.9) for i in range(frames)]
    return track(*(Glimpse(box, 0, body=0.85) for box in boxes))


def test_bodies_faces_and_signs_of_one_person_come_together() -> None:
    found = glimpses_of([person(0.7)], [person(0.8)], [person(0.6)], [face()])
    assert [(g.body, g.part, g.second, g.face_score) for g in found] == [(0.7, 0.8, 0.6, 0.9)]
    (found,) = glimpses_of([], [], [], [face()])
    assert found.box == around(face().box)
    assert found.body == 0
    assert glimpses_of([], [], [], [face(0.5)]) == []
    # A face goes to the body whose head it is.
    other = Box(0.35, 0.1, 0.55, 0.9)
    found = glimpses_of([person(0.7), person(0.6, other)], [], [], [face(x=0.5)])
    assert [(g.box == BODY, g.face is not None) for g in found] == [(False, False), (True, True)]
    # Two faces in overlapping bodies are two people.
    near = Glimpse(Box(0.3, 0.1, 0.7, 1), 0, body=0.8, face=face(x=0.4))
    behind = Glimpse(Box(0.45, 0.1, 0.75, 1), 0, body=0.8, face=face(x=0.65))
    assert len(people_of([track(*[near] * 4), track(*[behind] * 4)])) == 2
    # One person seen as two boxes counts once.
    inner = Box(0.42, 0.3, 0.58, 0.9)
    whole, part = [Glimpse(BODY, 0, body=0.9)] * 4, [Glimpse(inner, 0, body=0.8)] * 4
    assert len(people_of([track(*whole), track(*part)])) == 1


def test_what_is_no_person_is_not_counted() -> None:
    assert sure_of(track(*[Glimpse(BODY, 0, body=0.8)] * 4)) > 0.9
    assert sure_of(track(*[Glimpse(BODY, 0, body=0.64, part=0.85)] * 20)) == 0
    assert sure_of(track(*[Glimpse(BODY, 0, body=0.8)] * 2)) == 0
    # What is as much an animal is no person.
    assert sure_of(track(*[Glimpse(BODY, 0, body=0.8, face=face(), rival=0.7)] * 6)) == 0
    # An animal in the same place speaks against.
    (found,) = glimpses_of([person(0.7)], [], [person(0.9, name="bird")], [])
    assert found.rival == 0.9
    (found,) = glimpses_of([person(0.7)], [], [person(0.9, Box(0, 0, 0.2, 1), "bird")], [])
    assert found.rival == 0
    # A statue beside a person is not counted.
    statue = track(
        *[Glimpse(Box(0.7, 0.2, 0.9, 0.95), 0, body=score) for score in (0.3, 0.3, 0.75, 0.7, 0.65)]
    )
    assert sure_of(statue) > 0
    sure = track(*[Glimpse(BODY, 0, body=0.9, face=face())] * 5)
    assert [p.track for p in people_of([statue, sure])] == [sure]


def kneeling(x: float, *, frames: int = 10, height: float = 0.3, score: float = 0.45) -> Track[Glimpse]:
    box = Box(x - 0.03, 0.6, x + 0.03, 0.6 + height)
    return track(*[Glimpse(box, 0, body=score)] * frames)


def test_three_small_people_are_a_group_and_one_after_the_other_is_one_at_a_time() -> None:
    fact = fact_of(people_of([kneeling(0.3), kneeling(0.4), kneeling(0.6)]), 10)
    assert (fact.count, fact.movement, fact.framing) == (3, None, None)
    assert people_of([kneeling(0.3), kneeling(0.4)]) == []
    assert people_of([kneeling(0.3), kneeling(0.3), kneeling(0.3)]) == []
    assert people_of([kneeling(x, frames=6) for x in (0.3, 0.4, 0.6)]) == []
    assert people_of([kneeling(x, score=0.35) for x in (0.3, 0.4, 0.6)]) == []
    first = walker(4)
    later = Track(tuple(replace(g, seconds=g.seconds + 2) for g in first.seen), tuple(range(8, 12)))
    assert fact_of(people_of([first, later]), 12).count == 1


def test_heads_and_bodies_tell_framing_and_turns() -> None:
    assert framing_of(track(*[Glimpse(Box(0.4, 0.1, 0.5, 0.8), 0, body=0.9)] * 4)) == "full figure"
    assert framing_of(track(*[Glimpse(Box(0.4, 0.5, 0.45, 0.65), 0, body=0.9)] * 4)) == "distant"
    assert framing_of(track(*[Glimpse(Box(0.2, 0.1, 0.8, 1), 0, body=0.9)] * 4)) is None
    # A head that turns.
    assert turn_of(looking(-0.5, -0.5, 0.2, 0.5, 0.5)) == "right"
    assert turn_of(looking(0.5, 0.5, 0.0, -0.5, -0.5)) == "left"
    assert turn_of(looking(0.5, 0.5, -0.5, 0.0, -0.5, -0.5)) is None
    assert turn_of(looking(-0.5, 0.5, -0.5, 0.5)) is None
    assert turn_of(looking(0.5, 0.5, 0.5, 0.5)) is None


def looking(*yaws: float) -> tuple[Glimpse, ...]:
    return track(*(Glimpse(BODY, 0, body=0.8, face=face(yaw=yaw)) for yaw in yaws)).seen


def test_two_who_face_each_other() -> None:
    left = track(*[Glimpse(Box(0.1, 0.1, 0.4, 1), 0, body=0.8, face=face(x=0.25, yaw=0.5))] * 4)
    right = track(*[Glimpse(Box(0.6, 0.1, 0.9, 1), 0, body=0.8, face=face(x=0.75, yaw=-0.5))] * 4)
    fact = fact_of(people_of([left, right]), 4)
    assert (fact.count, fact.facing, fact.looks, fact.place) == (2, True, None, "centre")
    assert not fact_of([Person(left, 0.9), Person(left, 0.9)], 4).facing


def test_facts_begin_and_end_when_they_are_seen() -> None:
    early, late = walker(12, step=0.0, start=0.1), walker(12, step=0.0, start=0.6)
    late = Track(late.seen[6:], late.frames[6:])
    fact = fact_of([Person(early, 0.9), Person(late, 0.9)], 12)
    assert (fact.count, fact.first, fact.since, fact.last) == (2, 0.0, 1.5, 2.75)
    # A movement is told from when it begins.
    boxes = [Box(0.1, 0.3, 0.3, 0.9)] * 20
    boxes += [Box(0.1 + 0.04 * i, 0.3, 0.3 + 0.04 * i, 0.9) for i in range(1, 13)]
    fact = fact_of([Person(track(*(Glimpse(box, 0, body=0.85) for box in boxes)), 0.9)], 32)
    assert fact.movement == "right"
    assert fact.first == 0
    # The last frame before the first that shows it: what is told stands from 5 s on.
    assert fact.since == pytest.approx(4.75, abs=0.26)
    # A look aside is told from when it begins.
    yaws = [0.0] * 8 + [0.6] * 6
    glimpses = [Glimpse(BODY, 0, body=0.85, face=face(yaw=yaw)) for yaw in yaws]
    fact = fact_of([Person(track(*glimpses), 0.9)], 14)
    assert (fact.turns, fact.looks, fact.since) == ("right", "right", 2.0)
    # Who stands and then comes closer is told from when they come.
    growths = [1.0] * 8 + [1.0 + 0.1 * i for i in range(1, 8)]
    boxes = [Box(0.5 - 0.1 * g, 0.6 - 0.3 * g, 0.5 + 0.1 * g, min(1.0, 0.6 + 0.3 * g)) for g in growths]
    glimpses = [
        Glimpse(box, 0, 0.8, face=face(height=0.1 * g)) for box, g in zip(boxes, growths, strict=True)
    ]
    fact = fact_of([Person(track(*glimpses), 0.9)], 15)
    assert fact.movement == "closer"
    assert fact.since == pytest.approx(1.75, abs=0.26)
    # Who leaves is told to when they go.
    fact = fact_of([Person(walker(30, step=-0.026, start=0.76), 0.9)], 36)
    assert fact.leaves
    assert fact.since == fact.last - 1.0


def test_who_walks_moves_and_who_is_carried_by_the_camera_does_not() -> None:
    fact = fact_of(people_of([walker()]), 8)
    assert (fact.count, fact.movement, fact.shot, fact.frames) == (1, "right", 2, 8)
    assert (fact.first, fact.last) == (0.0, 1.75)
    carried = walker(step=-0.03, start=0.5)
    assert movement_of(carried, stretch(8)) == "left"
    assert movement_of(carried, stretch(8, Shift(-0.03, 0, 1, 0.9, 0))) is None
    assert movement_of(carried, stretch(8, None)) is None
    # Who walks out of the picture leaves.
    boxes = [Box(0.5 + 0.05 * i, 0.3, min(1.0, 0.7 + 0.05 * i), 0.9) for i in range(9)]
    seen = track(*(Glimpse(b, 0, body=0.9) for b in boxes[:7]))
    fact = fact_of(people_of([seen]), 12)
    assert (fact.movement, fact.leaves, fact.enters) == ("right", True, False)
    assert not fact_of(people_of([seen]), 7).leaves


# Recognised faces go to the right people, names to tracks only where there is no doubt
def body(head: Box, above: float = 0.02) -> Box:
    return Box(head.left - 0.1, head.top - above, head.right + 0.1, 0.95)


def known(name: str, box: Box, score: float = 0.7) -> Sighting:
    return Sighting(name, box, 0.0, score)


def seen_face(box: Box) -> Face:
    return Face(box, 0.0, 0.9, (box.centre,) * 5, 0.0)


def glimpse(head: Box, who: str = "", *, score: float = 0.9, seen: bool = True) -> Glimpse:
    return Glimpse(body(head), 0.0, body=score, face=seen_face(head) if seen else None, who=who)


def whom(people: Sequence[Glimpse]) -> list[str]:
    return [g.who for g in people]


def test_a_face_goes_to_its_own_person() -> None:
    two = [glimpse(LEFT), glimpse(RIGHT)]
    assert whom(recognised(two, [known("celia", RIGHT), known("thom", LEFT)])) == ["thom", "celia"]
    assert whom(recognised(two, [known("celia", RIGHT)])) == ["", "celia"]
    # A body whose face was missed is known by where its head is.
    (found,) = recognised([glimpse(LEFT, seen=False)], [known("thom", LEFT)])
    assert found == replace(glimpse(LEFT, seen=False), who="thom")
    # Another face in the same body is not its own.
    beside = Box(0.24, 0.5, 0.34, 0.7)
    found = recognised([glimpse(LEFT)], [known("thom", beside)])
    assert sorted(whom(found)) == ["", "thom"]
    # A face far below the top of a body is of another person.
    # Over a shoulder: the face in the middle of somebody's back is not theirs, even where it was given to it.
    back = Glimpse(Box(0.1, 0.0, 0.5, 1.0), 0.0, body=0.9, face=seen_face(Box(0.2, 0.3, 0.3, 0.45)))
    found = recognised([back], [known("thom", Box(0.2, 0.3, 0.3, 0.45))])
    assert sorted((g.who, g.face is not None, g.body) for g in found) == [
        ("", False, 0.9), ("thom", True, 0.0),
    ]  # fmt: skip
    # A face that is nobody's is a person with head and shoulders.
    (found,) = recognised([], [known("thom", LEFT)])
    assert (found.who, found.box, found.face) == ("thom", around(LEFT), None)
    # One person is in one place at a time.
    found = recognised([glimpse(LEFT), glimpse(RIGHT)], [known("thom", LEFT, 0.6), known("thom", RIGHT, 0.8)])
    assert whom(found) == ["", "thom"]


def test_a_track_is_somebodys_by_a_clear_majority() -> None:
    for marks, name in (
        (["thom"] * 4, "thom"),
        (["thom", "", "", "thom"], "thom"),
        (["thom", "", "", ""], ""),
        (["thom", "thom", "celia", ""], ""),
        (["thom"] * 5 + ["celia"] * 2, "thom"),
        ([""] * 4, ""),
    ):
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
    fact = fact_of(people_of(tracks), 4, CAST)
    assert [name.called for name in fact.names] == ["Thom", "Celia"]
    assert companies_of([one(LEFT, "thom", 4), one(RIGHT, "celia", 4)]) == [
        ["thom", "celia"],
        ["celia"],
        ["thom"],
    ]
    assert companies_of([one(LEFT, "thom", 4), one(RIGHT, "", 4)]) == [["thom", ""], ["thom"]]
    # One of two is named.
    tracks = [track(*[glimpse(LEFT, "thom")] * 4), track(*[glimpse(RIGHT)] * 4)]
    people = people_of(tracks)
    fact = fact_of(people, 4, CAST)
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
    fact = fact_of([person], 3, CAST)
    assert (fact.who, fact.place, fact.size) == (CAST["thom"], "left", pytest.approx(0.52))
    assert (fact.framing, fact.looks, fact.movement) == (None, None, None)
    # The known face wins over a body in the same place.
    back = [Glimpse(Box(0.1, 0.0, 0.5, 1.0), 0.0, body=0.95)] * 4
    front = [recognised([], [known("thom", Box(0.2, 0.3, 0.3, 0.45))])[0]] * 4
    assert [p.who for p in people_of([track(*back), track(*front)])] == ["thom"]


def one(head: Box, name: str, frames: int, first: int = 0) -> Person:
    return Person(track(*[glimpse(head, name)] * frames, first=first), 0.9, name)


def companies_of(people: Sequence[Person]) -> list[list[str]]:
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
    entering = fact_of([late], 16, CAST)
    assert (entering.movement, entering.enters) == ("right", True)
    seen_before = replace(late, parts=(walking(0, 3),))
    there = people_fact([seen_before], stretch(16), CAST)
    assert there == replace(entering, enters=False)


# Who is there by a recognised face alone
def faces(name: str, box: Box, *frames: int) -> list[Sighting]:
    return [Sighting(name, box, frame / 8, 0.8) for frame in frames]


def fact(*names: Named, count: int = 0, first: float = 0.0, last: float = 1.0, **more: Any) -> PeopleFact:
    basics: dict[str, Any] = {"shot": 2, "first": first, "last": last, "count": count or len(names) or 1}
    basics |= {
        "place": "centre", "size": 0.9, "face": True, "movement": None, "enters": False, "leaves": False,
    }  # fmt: skip
    return PeopleFact(**(basics | {"sure": 0.95, "names": names} | more))


def told(facts: Sequence[PeopleFact], *seen: Sequence[Sighting]) -> list[PeopleFact]:
    return with_missed(facts, 2, [s for sightings in seen for s in sightings], CAST)


def who(facts: Sequence[PeopleFact]) -> list[tuple[int, str]]:
    return [(f.count, " ".join(name.called for name in f.names)) for f in facts]


def test_one_whom_no_track_shows() -> None:
    (found,) = told([], faces("thom", LEFT, 3, 4, 5))
    assert found == fact(THOM, first=0.375, last=0.625, place="left", size=0.52, sure=0.9, frames=3)
    # Two frames are no proof and strangers to the cast are nobody.
    assert told([], faces("thom", LEFT, 0, 1), faces("max", RIGHT, 0, 1, 2)) == []
    assert told([fact()], []) == [fact()]
    # Who is told already is not told again.
    thom = fact(THOM, movement="left")
    assert told([thom], faces("thom", LEFT, 0, 1, 2)) == [thom]
    both = fact(THOM, BARLEY)
    assert told([both], faces("thom", LEFT, 0, 1, 2), faces("barley", RIGHT, 0, 1, 2)) == [both]
    # One missed beside one who was followed.
    thom = fact(THOM, movement="left")
    found = told([thom], faces("thom", RIGHT, 0, 1, 2, 3, 4), faces("barley", LEFT, 2, 3, 4))
    assert found[0] == thom
    assert who(found) == [(1, "Thom"), (2, "Barley Thom")]
    assert (found[1].first, found[1].last, found[1].frames, found[1].framing) == (0.25, 0.5, 3, None)
    # One moment together is no pair.
    found = told([], faces("thom", LEFT, 0, 1, 2), faces("barley", RIGHT, 2, 3, 4))
    assert who(found) == [(1, "Thom"), (1, "Barley")]


def test_how_near_is_known_by_the_face() -> None:
    for height, framing in ((0.2, None), (0.4, "head and shoulders"), (0.7, "face")):
        (found,) = told([], faces("thom", Box(0.4, 0.1, 0.6, 0.1 + height), 0, 1, 2))
        assert (found.framing, found.place) == (framing, "centre")


def test_somebody_counted_without_a_name_gets_it() -> None:
    seen = faces("thom", LEFT, 0, 1, 2), faces("barley", RIGHT, 0, 1, 2)
    pair = fact(THOM, count=2)
    assert told([pair], *seen) == [replace(pair, names=(THOM, BARLEY))]
    crowd = fact(BARLEY, count=5)
    assert told([crowd], *seen) == [replace(crowd, names=(THOM, BARLEY))]
    later = fact(THOM, count=2, first=2, last=3)
    assert who(told([later], *seen)) == [(2, "Thom"), (2, "Thom Barley")]
    both = fact(THOM, BARLEY, first=0.2)
    assert told([pair, both], *seen) == [replace(pair, names=(THOM, BARLEY)), both]
    others = fact(CELIA, count=2)
    assert who(told([others], *seen)) == [(2, "Celia"), (2, "Thom Barley")]
    # Beside somebody unknown nobody is told who may be the same.
    unknown = fact(movement="left")
    assert told([unknown], faces("thom", LEFT, 0, 1, 2)) == [unknown]
    early = fact(first=-2, last=-1)
    assert who(told([early], faces("thom", LEFT, 0, 1, 2))) == [(1, ""), (1, "Thom")]
    # The surest of two faces with one name at one moment counts.
    sure = [replace(s, score=0.9) for s in faces("thom", RIGHT, 0, 1, 2)]
    (found,) = told([], faces("thom", LEFT, 0, 1, 2), sure)
    assert found.place == "right"
