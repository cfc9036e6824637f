"""The observer with a cast: names in its facts, of the right person and of nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    Box,
    Character,
    Clip,
    Config,
    ContextShot,
    Facts,
    Image,
    Interval,
    Mark,
    Named,
    PeopleFact,
    Presence,
    Request,
    Role,
    Scene,
    Shot,
    Sighting,
)
from shotad.engines import observer as module
from shotad.engines.observer import Observer, describe
from shotad.engines.observer_sightings import Look, cast_of, known_faces
from shotad.sight import Glimpse, Pose, Track
from tests.joints import pose

THOM = Character("thom", "Thom", "Thom Hoffman", pronoun="he")
RED = Character("red", "the woman in red", "the woman in red", hidden=("Celia",), pronoun="she", named=False)
LEFT, RIGHT = Box(0.2, 0.25, 0.3, 0.45), Box(0.7, 0.25, 0.8, 0.45)
SLOT = Interval(10, 12)


def wall(bars: int = 0) -> np.ndarray:
    blocks = np.random.default_rng(4).integers(20, 200, (12, 20), np.uint8)
    picture = np.stack([np.repeat(np.repeat(blocks, 10, 0), 10, 1)] * 3, axis=-1)
    if bars:
        picture[:bars] = picture[-bars:] = 0
    return picture


def clip_of(image: np.ndarray, shots: Sequence[int] = (0,) * 16) -> Clip:
    return Clip(np.stack([image] * len(shots)), 10 + np.arange(len(shots)) / 8, np.array(shots, np.int64))


def body(head: Box) -> Box:
    return Box(head.left - 0.1, head.top - 0.02, head.right + 0.1, 0.98)


def presence(*sightings: Sighting) -> Presence:
    ids = tuple(c.id for c in (THOM, RED) if any(s.name == c.id for s in sightings))
    return Presence((THOM, RED), ids, (), {name: Mark("red") for name in ids}, sightings)


def seen(name: str, box: Box, clip: Clip, every: int = 1) -> list[Sighting]:
    return [Sighting(name, box, float(second), 0.7) for second in clip.seconds[::every]]


def scene_of(clip: Clip, who: Presence) -> Scene:
    numbers = sorted(set(clip.shot_numbers.tolist()))
    context = tuple(ContextShot(Shot(n, SLOT), Role.CURRENT, SLOT) for n in numbers)
    return Scene(SLOT, context, presence=who)


@dataclass
class FakeEyes:
    people: Callable[[float], list[Glimpse]]

    def look(self, image: np.ndarray, seconds: float) -> Look:
        return Look(seconds, image, tuple(self.people(seconds)), (), ())

    def face_of(self, look: Look, glimpse: Glimpse) -> None:
        return None

    def poses(self, track: Track[Glimpse], images: Mapping[float, Image]) -> list[Pose]:
        return [pose("stands", glimpse.seconds) for glimpse in track.seen]


def two(second: float) -> list[Glimpse]:
    return [Glimpse(body(head), second, body=0.9) for head in (LEFT, RIGHT)]


def one(second: float) -> list[Glimpse]:
    return two(second)[:1]


def observe(
    monkeypatch: pytest.MonkeyPatch,
    clip: Clip,
    who: Presence,
    people: Callable[[float], list[Glimpse]] = two,
) -> Facts:
    monkeypatch.setattr(module, "Eyes", lambda names: FakeEyes(people))
    monkeypatch.setattr(Observer, "_read", lambda self, clip, current, scene: ((), False))
    (reply,) = Observer(Config()).generate([Request("s", (), clip=clip, scene=scene_of(clip, who))])
    assert reply.error is None
    facts = Facts.from_json(json.loads(json.dumps(reply.notes)))
    assert reply.text == describe(facts)
    return facts


def names(facts: Facts) -> list[tuple[int, tuple[str, ...]]]:
    return [(fact.count, tuple(name.called for name in fact.names)) for fact in facts.people]


def test_one_of_two_tracks_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = clip_of(wall())
    facts = observe(monkeypatch, clip, presence(*seen("thom", LEFT, clip)))
    assert names(facts) == [(2, ("Thom",)), (1, ("Thom",))]
    assert (facts.people[1].place, facts.people[1].movement) == ("left", "still")
    assert "Thom and one other person in the middle. Thom on the left" in describe(facts)


def test_both_are_recognised_even_where_not_every_frame_was_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clip = clip_of(wall())
    known = presence(*seen("red", LEFT, clip, every=4), *seen("thom", RIGHT, clip, every=4))
    assert names(observe(monkeypatch, clip, known))[0] == (2, ("the woman in red", "Thom"))


def test_faces_elsewhere_and_at_other_times_name_nobody_here(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = clip_of(wall())
    late = [replace(s, seconds=s.seconds + 0.06) for s in seen("thom", LEFT, clip)]
    assert names(observe(monkeypatch, clip, presence(*late), one)) == [(1, ())]
    once = seen("thom", LEFT, clip)[:1]
    assert names(observe(monkeypatch, clip, presence(*once), one)) == [(1, ())]


def test_without_a_cast_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = clip_of(wall())
    plain = observe(monkeypatch, clip, Presence())
    assert names(plain) == [(2, ())]
    named = observe(monkeypatch, clip, presence(*seen("thom", LEFT, clip)))
    assert replace(named.people[0], names=(), face=False) == plain.people[0]


@pytest.mark.parametrize("bars", [0, 20])
def test_black_bars_are_reckoned_with(monkeypatch: pytest.MonkeyPatch, bars: int) -> None:
    """The bars cut off, the same face lies elsewhere and is larger; without that it would miss the body."""
    clip = clip_of(wall(bars))
    inside = 1 - 2 * bars / 120
    head = Box(0.2, 0.05, 0.3, 0.2)
    whole = Box(0.2, bars / 120 + head.top * inside, 0.3, bars / 120 + head.bottom * inside)

    def standing(second: float) -> list[Glimpse]:
        return [Glimpse(Box(0.1, 0.04, 0.4, 0.98), second, body=0.9)]

    facts = observe(monkeypatch, clip, presence(*seen("thom", whole, clip)), standing)
    assert names(facts) == [(1, ("Thom",))]
    assert facts.people[0].size == 0.94


def test_faces_are_carried_into_the_part_without_bars() -> None:
    area = Box(0.0, 0.25, 1.0, 0.75)
    (face,) = known_faces([Sighting("thom", Box(0.2, 0.5, 0.4, 0.6), 1.0, 0.7)], area)
    assert (face.box.left, face.box.right) == (0.2, 0.4)
    assert (face.box.top, face.box.bottom) == pytest.approx((0.5, 0.7))
    cut = known_faces([Sighting("thom", Box(0.2, 0.7, 0.4, 0.78), 1.0, 0.7)], area)
    assert [s.box.bottom for s in cut] == [1.0]
    assert known_faces([Sighting("thom", Box(0.2, 0.73, 0.4, 0.9), 1.0, 0.7)], area) == ()
    assert known_faces([Sighting("thom", Box(0.2, 0.8, 0.4, 0.9), 1.0, 0.7)], area) == ()


def test_a_face_that_no_detector_saw_is_told_with_no_more_than_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clip = clip_of(wall())
    facts = observe(monkeypatch, clip, presence(*seen("thom", LEFT, clip)), lambda second: [])
    (fact,) = facts.people
    assert (fact.who, fact.place, fact.framing, fact.looks) == (
        Named("thom", "Thom", "he"),
        "left",
        None,
        None,
    )


def test_one_whom_no_detector_follows_is_told_beside_one_who_is_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clip = clip_of(wall(), [0] * 8 + [1] * 8)
    known = [*seen("thom", LEFT, clip), *(s for s in seen("red", RIGHT, clip)[1:6])]
    facts = observe(
        monkeypatch, clip, presence(*(s for s in known if s.name == "thom" or s.seconds % 0.25)), one
    )
    assert (2, ("Thom", "the woman in red")) in names(facts)
    assert [fact.again for fact in facts.people if fact.who == Named("thom", "Thom", "he")] == [None, 0]


def test_in_black_pictures_those_are_told_whose_faces_were_recognised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clip = clip_of(wall() // 40)
    facts = observe(monkeypatch, clip, presence(*seen("thom", LEFT, clip)), two)
    assert facts.light[0].level == "black"
    assert names(facts) == [(1, ("Thom",))]
    assert observe(monkeypatch, clip, Presence(), two).people == ()


def test_the_same_person_in_the_next_shot_is_known_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = clip_of(wall(), [0] * 8 + [1] * 8)
    facts = observe(monkeypatch, clip, presence(*seen("thom", LEFT, clip)), one)
    assert [(fact.shot, fact.again) for fact in facts.people] == [(0, None), (1, 0)]
    assert "In Shot 1, Thom on the left" in describe(facts)
    assert "the same as in Shot 0" in describe(facts)


def test_two_who_are_called_the_same_have_no_names() -> None:
    twin = replace(THOM, id="twin")
    both = Presence(
        (THOM, twin, RED), ("thom", "twin", "red"), (), dict.fromkeys(("thom", "twin", "red"), Mark("red"))
    )
    assert list(cast_of(both)) == ["red"]


def person(**more: Any) -> PeopleFact:
    basics: dict[str, Any] = {"shot": 1, "first": 1.0, "last": 3.0, "count": 1, "place": "left", "size": 0.6}
    basics |= {"face": True, "movement": None, "enters": False, "leaves": False, "sure": 0.95}
    return PeopleFact(**(basics | more))


NAMED = (Named("thom", "Thom", "he"), Named("red", "the woman in red", "she", named=False))


@pytest.mark.parametrize(
    ("fact", "sentences"),
    [
        (person(names=NAMED[:1], framing="head and shoulders"), "Thom on the left, head and shoulders."),
        (person(names=NAMED[1:], movement="closer"), "The woman in red comes closer."),
        (person(names=NAMED[:1], looks="right"), "Thom looks to the right."),
        (person(count=2, names=NAMED), "Thom and the woman in red on the left."),
        (person(count=2, names=NAMED, facing=True), "Thom and the woman in red face each other."),
        (person(count=2, names=NAMED[:1], facing=True), "Thom and one other person face each other."),
        (person(count=4, names=NAMED), "Thom, the woman in red and two other people on the left."),
        (person(count=3, names=NAMED, movement="left"), "Thom, the woman in red and one other person move to the left."),
    ],
)  # fmt: skip
def test_the_description_says_the_names(fact: PeopleFact, sentences: str) -> None:
    assert sentences in describe(Facts((1,), people=(fact,)))
    assert "the person" not in describe(Facts((1,), people=(fact,)))


def test_a_short_sight_of_somebody_named_is_kept_beside_unknown_people() -> None:
    group, thom = person(count=2), person(names=NAMED[:1], frames=3)
    assert module._without_echoes([group, thom]) == (group, thom)
    with_thom = person(count=2, names=NAMED[:1])
    assert module._without_echoes([with_thom, thom]) == (with_thom,)
