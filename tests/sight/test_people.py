from __future__ import annotations

from dataclasses import replace

import pytest

from shotad.core import Box, Sighting
from shotad.sight import Face, Glimpse, Person, Shift, Stretch, Track, glimpses_of, people_fact, people_of
from shotad.sight.people import around
from shotad.sight.persons import framing_of, movement_of, sure_of, turn_of

BODY = Box(0.4, 0.1, 0.6, 0.9)
STILL = Shift(0, 0, 1, 0.9, 0.05)


def face(
    score: float = 0.9, *, x: float = 0.5, height: float = 0.2, yaw: float = 0.0, second: float = 0.0
) -> Face:
    box = Box(x - 0.03, 0.15, x + 0.03, 0.15 + height)
    return Face(box, second, score, ((x, 0.2),) * 5, yaw)


def person(score: float = 0.8, box: Box = BODY, name: str = "person") -> Sighting:
    return Sighting(name, box, 0.0, score)


def track(*glimpses: Glimpse) -> Track[Glimpse]:
    timed = tuple(
        replace(g, seconds=i / 4, face=replace(g.face, seconds=i / 4) if g.face else None)
        for i, g in enumerate(glimpses)
    )
    return Track(timed, tuple(range(len(timed))))


def stretch(frames: int, shift: Shift | None = STILL) -> Stretch:
    return Stretch(2, tuple(i / 4 for i in range(frames)), (shift,) * (frames - 1), 2.0)


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
    people = people_of([kneeling(0.3), kneeling(0.4), kneeling(0.6)])
    fact = people_fact(people, stretch(10))
    assert fact is not None
    assert (fact.count, fact.movement, fact.framing) == (3, None, None)
    assert people_of([kneeling(0.3), kneeling(0.4)]) == []
    assert people_of([kneeling(0.3), kneeling(0.3), kneeling(0.3)]) == []
    assert people_of([kneeling(x, frames=6) for x in (0.3, 0.4, 0.6)]) == []
    assert people_of([kneeling(x, score=0.35) for x in (0.3, 0.4, 0.6)]) == []
    first = walker(4)
    later = Track(tuple(replace(g, seconds=g.seconds + 2) for g in first.seen), tuple(range(8, 12)))
    fact = people_fact(people_of([first, later]), stretch(12))
    assert fact is not None
    assert fact.count == 1


def test_heads_and_bodies_tell_framing_and_turns() -> None:
    assert framing_of(track(*[Glimpse(Box(0.4, 0.1, 0.5, 0.8), 0, body=0.9)] * 4)) == "full figure"
    assert framing_of(track(*[Glimpse(Box(0.4, 0.5, 0.45, 0.65), 0, body=0.9)] * 4)) == "distant"
    assert framing_of(track(*[Glimpse(Box(0.2, 0.1, 0.8, 1), 0, body=0.9)] * 4)) is None
    # A head that turns.
    assert turn_of(looking(-0.5, -0.5, 0.2, 0.5, 0.5)) == "right"
    assert turn_of(looking(0.0, 0.0, 0.5, 0.5)) == "right"
    assert turn_of(looking(0.5, 0.5, 0.0, -0.5, -0.5)) == "left"
    assert turn_of(looking(0.5, 0.5, -0.5, 0.0, -0.5, -0.5)) is None
    assert turn_of(looking(0.5, 0.5, 0.0, 0.0)) is None
    assert turn_of(looking(-0.5, 0.5, -0.5, 0.5)) is None
    assert turn_of(looking(0.5, 0.5, 0.5, 0.5)) is None


def looking(*yaws: float) -> tuple[Glimpse, ...]:
    return track(*(Glimpse(BODY, 0, body=0.8, face=face(yaw=yaw)) for yaw in yaws)).seen


def test_two_who_face_each_other() -> None:
    left = track(*[Glimpse(Box(0.1, 0.1, 0.4, 1), 0, body=0.8, face=face(x=0.25, yaw=0.5))] * 4)
    right = track(*[Glimpse(Box(0.6, 0.1, 0.9, 1), 0, body=0.8, face=face(x=0.75, yaw=-0.5))] * 4)
    fact = people_fact(people_of([left, right]), stretch(4))
    assert fact is not None
    assert (fact.count, fact.facing, fact.looks, fact.place) == (2, True, None, "centre")
    away = people_fact([Person(left, 0.9), Person(left, 0.9)], stretch(4))
    assert away is not None
    assert not away.facing


def test_facts_begin_and_end_when_they_are_seen() -> None:
    early, late = walker(12, step=0.0, start=0.1), walker(12, step=0.0, start=0.6)
    late = Track(late.seen[6:], late.frames[6:])
    fact = people_fact([Person(early, 0.9), Person(late, 0.9)], stretch(12))
    assert fact is not None
    assert (fact.count, fact.first, fact.since, fact.last) == (2, 0.0, 1.5, 2.75)
    # A movement is told from when it begins.
    boxes = [Box(0.1, 0.3, 0.3, 0.9)] * 20
    boxes += [Box(0.1 + 0.04 * i, 0.3, 0.3 + 0.04 * i, 0.9) for i in range(1, 13)]
    fact = people_fact([Person(track(*(Glimpse(box, 0, body=0.85) for box in boxes)), 0.9)], stretch(32))
    assert fact is not None
    assert fact.movement == "right"
    assert fact.first == 0
    # The last frame before the first that shows it: what is told stands from 5 s on.
    assert fact.since == pytest.approx(4.75, abs=0.26)
    # A look aside is told from when it begins.
    yaws = [0.0] * 8 + [0.6] * 6
    glimpses = [Glimpse(BODY, 0, body=0.85, face=face(yaw=yaw)) for yaw in yaws]
    fact = people_fact([Person(track(*glimpses), 0.9)], stretch(14))
    assert fact is not None
    assert (fact.turns, fact.looks, fact.since) == ("right", "right", 2.0)
    # Who stands and then comes closer is told from when they come.
    growths = [1.0] * 8 + [1.0 + 0.1 * i for i in range(1, 8)]
    glimpses = [
        Glimpse(
            Box(0.5 - 0.1 * g, 0.6 - 0.3 * g, 0.5 + 0.1 * g, min(1.0, 0.6 + 0.3 * g)),
            0,
            0.8,
            face=face(height=0.1 * g),
        )
        for g in growths
    ]
    fact = people_fact([Person(track(*glimpses), 0.9)], stretch(15))
    assert fact is not None
    assert fact.movement == "closer"
    assert fact.since == pytest.approx(1.75, abs=0.26)
    # Who leaves is told to when they go.
    fact = people_fact([Person(walker(30, step=-0.026, start=0.76), 0.9)], stretch(36))
    assert fact is not None
    assert fact.leaves
    assert fact.since == fact.last - 1.0


def test_who_walks_moves_and_who_is_carried_by_the_camera_does_not() -> None:
    fact = people_fact(people_of([walker()]), stretch(8))
    assert fact is not None
    assert (fact.count, fact.movement, fact.shot, fact.frames) == (1, "right", 2, 8)
    assert (fact.first, fact.last) == (0.0, 1.75)
    carried = walker(step=-0.03, start=0.5)
    assert movement_of(carried, stretch(8)) == "left"
    assert movement_of(carried, stretch(8, Shift(-0.03, 0, 1, 0.9, 0))) is None
    assert movement_of(carried, stretch(8, None)) is None
    # Who walks out of the picture leaves.
    boxes = [Box(0.5 + 0.05 * i, 0.3, min(1.0, 0.7 + 0.05 * i), 0.9) for i in range(9)]
    seen = track(*(Glimpse(b, 0, body=0.9) for b in boxes[:7]))
    fact = people_fact(people_of([seen]), stretch(12))
    assert fact is not None
    assert (fact.movement, fact.leaves, fact.enters) == ("right", True, False)
    short = people_fact(people_of([seen]), stretch(7))
    assert short is not None
    assert not short.leaves
