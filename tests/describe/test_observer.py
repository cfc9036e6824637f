"""The embedded observer: what it sees becomes facts and text, with names of the right person and of nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    Box,
    Character,
    Clip,
    Config,
    ContextShot,
    EngineError,
    Facts,
    FigureFact,
    Image,
    Interval,
    LightFact,
    Mark,
    MotionFact,
    Named,
    PeopleFact,
    Presence,
    Reply,
    Request,
    Role,
    Scene,
    Shot,
    Sighting,
    TextFact,
    ThingFact,
    WeightsError,
)
from shotad.description import parse_stage1
from shotad.engines import observer as module
from shotad.engines.observer import Observer, describe
from shotad.engines.observer_sightings import FIRST, FrameSightings, known_faces
from shotad.sight import Expression, Face, Glimpse, Hand, Pose, Track
from tests.joints import pose

STEPS = ("Main characters", "Actions", "Interactions", "Environment")
THOM = Character("thom", "Thom", "Thom Hoffman", pronoun="he")
RED = Character("red", "the woman in red", "the woman in red", hidden=("Celia",), pronoun="she", named=False)
LEFT, RIGHT = Box(0.2, 0.25, 0.3, 0.45), Box(0.7, 0.25, 0.8, 0.45)

People = Callable[[float], list[Glimpse]]


def wall() -> np.ndarray:
    blocks = np.random.default_rng(4).integers(20, 200, (12, 20), np.uint8)
    return np.stack([np.repeat(np.repeat(blocks, 10, 0), 10, 1)] * 3, axis=-1)


def clip_of(images: np.ndarray | Sequence[np.ndarray], shots: Sequence[int] = (0,) * 16) -> Clip:
    """Eight frames a second from 10 s; one image stands for all."""
    every = [images] * len(shots) if isinstance(images, np.ndarray) else images
    return Clip(np.stack(every), 10 + np.arange(len(shots)) / 8, np.array(shots, np.int64))


WALL, LONG = clip_of(wall()), clip_of(wall(), [0] * 24)


def scene_of(clip: Clip, who: Presence) -> Scene:
    """The slot from 10 to 13 s, with each shot a current one."""
    context = []
    for number in sorted(set(clip.shot_numbers.tolist())):
        mine = clip.seconds[clip.shot_numbers == number]
        interval = Interval(float(mine[0]), float(mine[-1]) + 0.125)
        context.append(ContextShot(Shot(number + 7, interval), Role.CURRENT, interval))
    return Scene(Interval(10, 13), tuple(context), presence=who)


def one(second: float) -> list[Glimpse]:
    return [Glimpse(Box(0.1, 0.23, 0.4, 0.98), second, body=0.9)]


def two(second: float) -> list[Glimpse]:
    return [*one(second), Glimpse(Box(0.6, 0.23, 0.9, 0.98), second, body=0.9)]


def nobody(second: float) -> list[Glimpse]:
    return []


@dataclass
class FakeEyes:
    """Sees what a function of the moment says; ``clear`` is the score of every joint."""

    people: People = nobody
    clear: float = 0.9
    postures: tuple[str, str] = ("stands", "stands")
    trouble: Exception | None = None
    lake: float = 0.0
    also: Mapping[str, float] = field(default_factory=dict)
    smile: float = 0.55
    hand: bool = False
    seen: list[float] = field(default_factory=list)

    def look(self, image: np.ndarray, seconds: float) -> FrameSightings:
        if self.trouble:
            raise self.trouble
        self.seen.append(seconds)
        return FrameSightings(seconds, image, tuple(self.people(seconds)), (), ())

    def face_of(self, look: FrameSightings, glimpse: Glimpse) -> None:
        return None

    def scenes(self, images: Sequence[Image], told: Iterable[str]) -> list[dict[str, float]]:
        return [{"lake": self.lake, "bird": 0.1, **self.also} for _ in images]

    def hands(self, looks: Sequence[FrameSightings]) -> list[list[Hand]]:
        def palm(second: float) -> Hand:
            return Hand(second, Box(0.4, 0.4, 0.6, 0.7), np.full((21, 2), second) + np.eye(21, 2))

        return [[palm(look.seconds)] if self.hand else [] for look in looks[::2]]

    def expressions(self, track: Track[Glimpse], images: Mapping[float, Image]) -> list[Expression]:
        return [Expression(g.seconds, 0.4, self.smile, 0.2, 0.1, 0.0, 0.0) for g in track.seen]

    def poses(self, track: Track[Glimpse], images: Mapping[float, Image]) -> list[Pose]:
        half = len(track.seen) // 2
        return [pose(self.postures[n >= half], g.seconds, score=self.clear) for n, g in enumerate(track.seen)]


@dataclass
class Seer:
    """Shows clips to an observer that has fake eyes."""

    monkeypatch: pytest.MonkeyPatch

    def observer(self, eyes: FakeEyes) -> Observer:
        self.monkeypatch.setattr(module, "Eyes", lambda names: eyes)
        self.monkeypatch.setattr(Observer, "_read", lambda self, clip, current, scene: ((), False))
        return Observer(Config())

    def reply(self, clip: Clip, eyes: FakeEyes, who: Presence | None = None) -> Reply:
        scene, before = scene_of(clip, who or Presence()), clip.images.copy()
        (reply,) = self.observer(eyes).generate([Request("s", (), clip=clip, scene=scene)])
        assert np.array_equal(clip.images, before)
        return reply

    def __call__(self, eyes: FakeEyes | People, *sightings: Sighting, clip: Clip = WALL) -> Facts:
        ids = tuple(c.id for c in (THOM, RED) if any(s.name == c.id for s in sightings))
        who = Presence((THOM, RED), ids, (), {name: Mark("red") for name in ids}, sightings)
        reply = self.reply(clip, eyes if isinstance(eyes, FakeEyes) else FakeEyes(eyes), who)
        assert reply.error is None
        facts = Facts.from_json(json.loads(json.dumps(reply.notes)))
        assert reply.text == describe(facts)
        return facts


@pytest.fixture
def facts_of(monkeypatch: pytest.MonkeyPatch) -> Seer:
    return Seer(monkeypatch)


def test_a_person_in_the_slot_and_what_they_do_become_facts_and_text(facts_of: Seer) -> None:
    facts = facts_of(one)
    (fact,) = facts.people
    assert (fact.count, fact.place, fact.movement, fact.posture) == (1, "left", "still", "stands")
    text = describe(facts)
    assert "One person on the left" in text
    assert "The person stays in place and stands." in text
    assert list(parse_stage1(text, STEPS[:3], "s", "observer").steps)[:2] == ["Main characters", "Actions"]
    facts = facts_of(FakeEyes(one, postures=("stands", "hand up")), clip=LONG)
    told = [(f.count, f.deed, f.posture, f.since) for f in facts.people]
    assert told == [(1, None, None, 10.0), (1, "raises a hand", None, 11.5)]
    assert "raises a hand" in describe(facts)
    # What the face does, too.
    facts = facts_of(FakeEyes(one, postures=("stands", "hand up"), smile=0.7), clip=LONG)
    assert [f.deed for f in facts.people] == [None, "smiles", "raises a hand"]


def test_what_has_no_joints_of_a_person_is_none(facts_of: Seer) -> None:
    """A drawn figure, or a hand; of one too small for joints nobody can tell."""
    assert facts_of(FakeEyes(one, 0.2)).people == ()
    far = FakeEyes(lambda second: [Glimpse(Box(0.45, 0.4, 0.55, 0.5), second, body=0.9)], 0.2)
    (fact,) = facts_of(far).people
    assert (fact.count, fact.posture) == (1, None)


def test_a_plain_face_that_fills_the_picture_is_a_person_without_joints(facts_of: Seer) -> None:
    def close(height: float, score: float) -> People:
        box = Box(0.3, 0.2, 0.7, 0.2 + height)

        def people(second: float) -> list[Glimpse]:
            face = Face(box, second, score, ((0.5, 0.4),) * 5, 0.0)
            return [replace(glimpse, box=Box(0.1, 0.0, 0.9, 1.0), face=face) for glimpse in one(second)]

        return people

    def count(height: float, score: float) -> int:
        return len(facts_of(FakeEyes(close(height, score), clear=0.2)).people)

    assert (count(0.6, 0.95), count(0.6, 0.8), count(0.2, 0.95)) == (1, 0, 0)


def test_who_is_small_beside_something_unclear_is_not_told(facts_of: Seer) -> None:
    """A lone arm before guests of an inn."""

    def both(second: float) -> list[Glimpse]:
        large, small = Box(0.0, 0.0, 0.5, 1.0), Box(0.7, 0.2, 0.8, 0.5)
        return [Glimpse(box, second, body=0.9) for box in (large, small)]

    arm = FakeEyes(both)
    assert facts_of(arm).people[0].count == 2
    arm.poses = lambda track, images: [  # type: ignore[method-assign]
        pose("stands", g.seconds, score=0.9 if g.box.height < 0.5 else 0.2) for g in track.seen
    ]
    assert facts_of(arm).people == ()


def test_a_number_of_people_is_unsure_where_there_may_be_more(facts_of: Seer) -> None:
    def beside(score: float, height: float = 0.6) -> People:
        box = Box(0.75, 0.9 - height, 0.9, 0.9)
        return lambda second: [*one(second), Glimpse(box, second, body=score)]

    def sure(people: People) -> float:
        return facts_of(people).people[0].sure

    assert sure(beside(0.45)) < 0.5 < sure(one)
    assert sure(beside(0.32)) > 0.5
    assert sure(beside(0.45, height=0.1)) > 0.5
    moving = facts_of(FakeEyes(beside(0.45), postures=("stands", "hand up")), clip=LONG)
    assert [f.deed for f in moving.people if f.sure > 0.5] == ["raises a hand"]


def test_hands_and_a_place_are_told_of_where_nobody_is_seen(facts_of: Seer) -> None:
    def things(eyes: FakeEyes) -> list[tuple[str, float | None]]:
        return [(thing.name, thing.since) for thing in facts_of(eyes).things]

    assert things(FakeEyes(hand=True, lake=0.8)) == [("hand", 10.0)]
    assert things(FakeEyes(lake=0.8)) == [("lake", 10.0)]
    assert things(FakeEyes(lake=0.3)) == things(FakeEyes(one, hand=True, lake=0.8)) == []


def test_black_frames_are_not_searched_and_something_that_moves_is_a_figure(facts_of: Seer) -> None:
    eyes = FakeEyes(one)
    facts = facts_of(eyes, clip=clip_of(wall() * 0))
    assert eyes.seen == []
    assert [(f.level, f.change) for f in facts.light] == [("black", None)]
    assert parse_stage1(describe(facts), STEPS, "s", "observer").steps
    fur = np.random.default_rng(5).integers(0, 255, (10, 6, 3), np.uint8).repeat(5, 0).repeat(5, 1)
    frames = [wall() for _ in range(16)]
    for i, picture in enumerate(frames):
        picture[50:100, 10 + 9 * i : 40 + 9 * i] = fur
    assert [f.movement for f in facts_of(nobody, clip=clip_of(frames)).figures] == ["right"]


def test_what_somebody_wears_or_plays_is_told_beside_them(facts_of: Seer) -> None:
    def seen(people: People, **also: float) -> tuple[set[str | None], list[str]]:
        facts = facts_of(FakeEyes(people, also=also))
        return {fact.clothes for fact in facts.people}, [fact.name for fact in facts.things]

    assert seen(one, guitar=0.8) == ({None}, ["guitar"])
    assert seen(nobody, guitar=0.8) == (set(), ["guitar"])
    assert seen(one, **{"a suit": 0.8}) == ({"a suit"}, [])
    assert seen(one, **{"a suit": 0.4}) == ({None}, [])
    # Nobody knows who of two wears it, and a suit without anybody is none.
    assert seen(two, **{"a suit": 0.8}) == ({None}, [])
    assert seen(nobody, **{"a suit": 0.8}) == (set(), [])


def test_who_turns_round_shows_a_face_and_who_turns_away_or_is_seen_from_behind_none(facts_of: Seer) -> None:
    def deeds(before: str, after: str, people: People = one) -> list[str | None]:
        return [fact.deed for fact in facts_of(FakeEyes(people, postures=(before, after)), clip=LONG).people]

    def faced(second: float) -> list[Glimpse]:
        face = Face(Box(0.45, 0.2, 0.55, 0.3), second, 0.9, ((0.5, 0.25),) * 5, 0.0)
        return [replace(glimpse, face=face) for glimpse in one(second)]

    assert "turns away" in deeds("stands", "from behind")
    assert "turns round" not in deeds("from behind", "stands")
    assert "turns away" not in deeds("stands", "from behind", faced)
    assert "turns round" in deeds("from behind", "stands", faced)
    (fact,) = facts_of(FakeEyes(one, postures=("from behind", "from behind"))).people
    assert fact.looks == "away"
    assert "looks away from us" in describe(Facts((0,), people=(fact,)))


def test_weights_that_cannot_be_had_stop_the_run_and_another_failure_is_a_reply(facts_of: Seer) -> None:
    with pytest.raises(WeightsError, match="yunet"):
        facts_of.reply(WALL, FakeEyes(trouble=WeightsError("The weights yunet are not there.")))
    reply = facts_of.reply(WALL, FakeEyes(trouble=EngineError("The eyes are shut.")))
    assert (reply.finish, reply.error) == ("error", "The eyes are shut.")
    (reply,) = Observer(Config()).generate([Request("s00000000", ())])
    assert (reply.finish, "clip" in (reply.error or "")) == ("error", True)


def test_without_npm_the_other_models_look_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert FIRST not in Observer(Config()).abilities.weights
    assert "ssd-mobilenet-v2" in Observer(Config()).identity.model
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\n")
    npm.chmod(0o755)
    assert FIRST in Observer(Config()).abilities.weights


# With a cast


def seen(name: str, box: Box, clip: Clip = WALL, every: int = 1) -> list[Sighting]:
    return [Sighting(name, box, float(second), 0.7) for second in clip.seconds[::every]]


def names(facts: Facts) -> list[tuple[int, tuple[str, ...]]]:
    return [(fact.count, tuple(name.called for name in fact.names)) for fact in facts.people]


def test_whose_face_was_recognised_has_a_name(facts_of: Seer) -> None:
    facts = facts_of(two, *seen("thom", LEFT))
    assert names(facts) == [(2, ("Thom",)), (1, ("Thom",))]
    assert (facts.people[1].place, facts.people[1].movement) == ("left", "still")
    assert "Thom and one other person in the middle. Thom on the left" in describe(facts)
    plain = facts_of(two)
    assert names(plain) == [(2, ())]
    assert replace(facts.people[0], names=(), face=False) == plain.people[0]
    both = (*seen("red", LEFT, every=4), *seen("thom", RIGHT, every=4))
    assert names(facts_of(two, *both))[0] == (2, ("the woman in red", "Thom"))


def test_faces_are_carried_into_the_part_without_bars() -> None:
    boxes = [Box(0.2, top, 0.4, bottom) for top, bottom in ((0.5, 0.6), (0.7, 0.78), (0.73, 0.9), (0.8, 0.9))]
    found = known_faces([Sighting("thom", box, 1.0, 0.7) for box in boxes], Box(0.0, 0.25, 1.0, 0.75))
    assert [(s.box.top, s.box.bottom) for s in found] == [pytest.approx(p) for p in ((0.5, 0.7), (0.9, 1.0))]


def test_a_face_that_no_detector_follows_is_told_with_no_more_than_is_known(facts_of: Seer) -> None:
    (fact,) = facts_of(nobody, *seen("thom", LEFT)).people
    assert fact.who == Named("thom", "Thom", "he")
    assert (fact.place, fact.framing, fact.looks) == ("left", None, None)
    black = clip_of(wall() // 40)
    assert names(facts_of(two, *seen("thom", LEFT), clip=black)) == [(1, ("Thom",))]
    shots = clip_of(wall(), [0] * 8 + [1] * 8)
    known = [*seen("thom", LEFT, shots), *(s for s in seen("red", RIGHT, shots)[1:6] if s.seconds % 0.25)]
    facts = facts_of(one, *known, clip=shots)
    assert (2, ("Thom", "the woman in red")) in names(facts)
    assert [fact.again for fact in facts.people if fact.who == Named("thom", "Thom", "he")] == [None, 0]


# The text


def person(**more: Any) -> PeopleFact:
    return replace(PeopleFact(1, 1.0, 3.0, 1, "left", 0.6, True, None, False, False, 0.95), **more)


def test_the_description_has_four_numbered_steps() -> None:
    facts = Facts(
        (1, 2), (person(framing="face", looks="left"), person(shot=2, count=3, movement="right", again=None)),
        things=(ThingFact(2, "car", 2, "right", 0.9),), light=(LightFact(1, "dark", "fade-out", 0.9),),
        texts=(TextFact(2, "COMING SOON", "title", 1.0, 2.0, 0.99),),
        motion=(MotionFact(1, "left", "much", 0.9),), figures=(FigureFact(2, 1.0, 2.0, "right", 0.4, "up"),),
    )  # fmt: skip
    assert describe(facts).splitlines() == [
        "1. Main characters: In Shot 1, one person on the left, the face close up. In Shot 2, three people on the left.",
        "2. Actions: In Shot 2, they move to the right. In Shot 2, a figure on the right moves up.",
        "3. Interactions: In Shot 1, the person looks to the left.",
        '4. Environment: In Shot 2, title on the screen: "COMING SOON". In Shot 2, two cars on the right. '
        "In Shot 1, it is dark and darkens to black. In Shot 1, much moves.",
    ]


NAMED = (Named("thom", "Thom", "he"), Named("red", "the woman in red", "she", named=False))


@pytest.mark.parametrize(("fact", "sentences"), [
    (person(names=NAMED[:1], framing="head and shoulders"), "Thom on the left, head and shoulders."),
    (person(names=NAMED[1:], movement="closer"), "The woman in red comes closer."),
    (person(names=NAMED[:1], turns="left", clothes="red"), "Thom turns the head to the left."),
    (person(count=2, names=NAMED, posture="stands"), "Each of Thom and the woman in red stands."),
    (person(count=2, names=NAMED, facing=True), "Thom and the woman in red face each other."),
    (person(count=4, names=NAMED), "Thom, the woman in red and two other people on the left."),
])  # fmt: skip
def test_the_description_says_the_names(fact: PeopleFact, sentences: str) -> None:
    assert sentences in describe(Facts((1,), people=(fact,)))
    assert "the person" not in describe(Facts((1,), people=(fact,)))


def test_sightings_before_and_after_a_missed_cut_are_not_linked(facts_of: Seer) -> None:
    eyes = FakeEyes(lambda second: [Glimpse(Box(0.4, 0.2, 0.6, 0.9), second, body=0.9)])
    frames = [wall()] * 4 + [np.ascontiguousarray(wall()[::-1, ::-1])] * 4
    assert facts_of.observer(eyes).observe(clip_of(frames, [0] * 8)).people == ()
    together = facts_of.observer(eyes).observe(clip_of([wall()] * 8, [0] * 8))
    assert [p.frames for p in together.people] == [4]
