from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    Box,
    Clip,
    Config,
    ContextShot,
    EngineError,
    Facts,
    FigureFact,
    Image,
    Interval,
    LightFact,
    MotionFact,
    PeopleFact,
    Request,
    Role,
    Scene,
    Shot,
    TextFact,
    ThingFact,
    WeightsError,
)
from shotad.description import parse_stage1
from shotad.engines import observer as module
from shotad.engines.observer import Observer, describe
from shotad.engines.observer_sightings import FIRST, Look
from shotad.sight import Glimpse, Pose, Track
from tests.joints import pose

SAMPLE = Path(__file__).parent.parent / "sample" / "sample.mp4"
STEPS = ("Main characters", "Actions", "Interactions", "Environment")


def wall(level: int = 200) -> np.ndarray:
    blocks = np.random.default_rng(4).integers(20, level, (12, 20), np.uint8)
    picture = np.repeat(np.repeat(blocks, 10, 0), 10, 1)
    return np.stack([picture] * 3, axis=-1)


def clip_of(images: Sequence[np.ndarray], shots: Sequence[int], start: float = 10.0) -> Clip:
    seconds = start + np.arange(len(images)) / 8
    return Clip(np.stack(images), seconds, np.array(shots, np.int64))


def scene_of(clip: Clip, roles: Sequence[Role], slot: Interval) -> Scene:
    context = []
    for number, role in zip(sorted(set(clip.shot_numbers.tolist())), roles, strict=True):
        mine = clip.seconds[clip.shot_numbers == number]
        interval = Interval(float(mine[0]), float(mine[-1]) + 0.125)
        context.append(ContextShot(Shot(number + 7, interval), role, interval))
    return Scene(slot, tuple(context))


@dataclass
class FakeEyes:
    """Sees what a function of the moment says."""

    people: Callable[[float], list[Glimpse]] = lambda second: []
    clear: float = 0.9
    """Score of every joint."""

    def look(self, image: np.ndarray, seconds: float) -> Look:
        self.seen = (*getattr(self, "seen", ()), seconds)
        return Look(seconds, image, tuple(self.people(seconds)), (), ())

    def face_of(self, look: Look, glimpse: Glimpse) -> None:
        return None

    def poses(self, track: Track[Glimpse], images: Mapping[float, Image]) -> list[Pose]:
        return [pose("stands", glimpse.seconds, score=self.clear) for glimpse in track.seen]


def observer_with(eyes: FakeEyes, monkeypatch: pytest.MonkeyPatch) -> Observer:
    monkeypatch.setattr(module, "Eyes", lambda names: eyes)
    monkeypatch.setattr(Observer, "_read", lambda self, clip, current, scene: ((), False))
    return Observer(Config())


def standing(second: float) -> list[Glimpse]:
    return [Glimpse(Box(0.4, 0.2, 0.6, 0.9), second, body=0.9)]


def test_the_engine_says_what_it_takes() -> None:
    engine = Observer(Config())
    assert engine.abilities.accepts_images
    assert not engine.abilities.wants_overlay
    assert engine.identity.engine == "observer"


def test_without_a_clip_it_answers_with_an_error() -> None:
    (reply,) = Observer(Config()).generate([Request("s00000000", ())])
    assert reply.finish == "error"
    assert "clip" in (reply.error or "")


def test_a_person_in_the_slot_becomes_fact_and_text(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = clip_of([wall()] * 16, [0] * 16)
    engine = observer_with(FakeEyes(standing), monkeypatch)
    scene = scene_of(clip, [Role.CURRENT], Interval(10, 12))
    (reply,) = engine.generate([Request("s00010000", (), clip=clip, scene=scene)])
    facts = Facts.from_json(json.loads(json.dumps(reply.notes)))
    assert [(p.count, p.place, p.movement) for p in facts.people] == [(1, "centre", "still")]
    assert facts.people[0].posture == "stands"
    assert "One person in the middle" in reply.text
    assert "The person stays in place and stands." in reply.text
    steps = parse_stage1(reply.text, STEPS[:3], "s00010000", "observer").steps
    assert list(steps)[:2] == ["Main characters", "Actions"]


def test_what_has_no_joints_of_a_person_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drawn figure, or a hand; of one too small for joints nobody can tell."""
    clip = clip_of([wall()] * 16, [0] * 16)
    assert observer_with(FakeEyes(standing, 0.2), monkeypatch).observe(clip).people == ()

    def far(second: float) -> list[Glimpse]:
        return [Glimpse(Box(0.45, 0.4, 0.55, 0.5), second, body=0.9)]

    (fact,) = observer_with(FakeEyes(far, 0.2), monkeypatch).observe(clip).people
    assert (fact.count, fact.posture) == (1, None)


def test_what_somebody_does_is_a_fact_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Watching(FakeEyes):
        def poses(self, track: Track[Glimpse], images: Mapping[float, Image]) -> list[Pose]:
            assert set(images) >= {glimpse.seconds for glimpse in track.seen}
            half = len(track.seen) // 2
            postures = ["stands"] * half + ["hand up"] * (len(track.seen) - half)
            return [pose(p, g.seconds) for p, g in zip(postures, track.seen, strict=True)]

    clip = clip_of([wall()] * 24, [0] * 24)
    engine = observer_with(Watching(standing), monkeypatch)
    facts = engine.observe(clip, scene_of(clip, [Role.CURRENT], Interval(10, 13)))
    assert [(f.count, f.deed, f.posture, f.since) for f in facts.people] == [
        (1, None, None, 10.0),
        (1, "raises a hand", None, 11.5),
    ]
    assert "raises a hand" in describe(facts)


def test_only_the_frames_of_the_slot_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = clip_of([wall()] * 40, [0] * 8 + [1] * 24 + [2] * 8)
    eyes = FakeEyes(standing)
    engine = observer_with(eyes, monkeypatch)
    scene = scene_of(clip, [Role.PAST, Role.CURRENT, Role.FUTURE], Interval(11.5, 13.5))
    facts = engine.observe(clip, scene)
    assert facts.current == (1,)
    assert min(eyes.seen) >= 11.5
    assert max(eyes.seen) < 13.5


def test_the_detectors_look_four_times_a_second_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    eyes = FakeEyes()
    observer_with(eyes, monkeypatch).observe(clip_of([wall()] * 17, [0] * 17))
    assert eyes.seen == (10.0, 10.25, 10.5, 10.75, 11.0, 11.25, 11.5, 11.75, 12.0)


def test_black_frames_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    eyes = FakeEyes(standing)
    facts = observer_with(eyes, monkeypatch).observe(clip_of([wall() * 0] * 8, [0] * 8))
    assert not hasattr(eyes, "seen")
    assert [(f.level, f.change) for f in facts.light] == [("black", None)]
    assert parse_stage1(describe(facts), STEPS, "s", "observer").steps


def test_sightings_before_and_after_a_missed_cut_are_not_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    other = np.ascontiguousarray(wall()[::-1, ::-1])
    frames = [wall()] * 4 + [other] * 4
    facts = observer_with(FakeEyes(standing), monkeypatch).observe(clip_of(frames, [0] * 8))
    assert facts.people == ()
    together = observer_with(FakeEyes(standing), monkeypatch).observe(clip_of([wall()] * 8, [0] * 8))
    assert [p.frames for p in together.people] == [4]


def test_something_that_moves_is_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    fur = np.random.default_rng(5).integers(0, 255, (10, 6, 3), np.uint8).repeat(5, 0).repeat(5, 1)
    frames = []
    for i in range(16):
        picture = wall()
        picture[50:100, 10 + 9 * i : 40 + 9 * i] = fur
        frames.append(picture)
    facts = observer_with(FakeEyes(), monkeypatch).observe(clip_of(frames, [0] * 16))
    assert [f.movement for f in facts.figures] == ["right"]


def test_the_clip_is_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = clip_of([wall()] * 8, [0] * 8)
    before = clip.images.copy()
    observer_with(FakeEyes(standing), monkeypatch).observe(clip)
    assert np.array_equal(clip.images, before)


def test_weights_that_cannot_be_had_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoEyes(FakeEyes):
        def look(self, image: np.ndarray, seconds: float) -> Look:
            raise WeightsError("The weights yunet could not be fetched.")

    engine = observer_with(NoEyes(), monkeypatch)
    with pytest.raises(WeightsError, match="yunet"):
        engine.generate([Request("s", (), clip=clip_of([wall()] * 4, [0] * 4))])


def test_another_failure_is_an_error_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    class Blind(FakeEyes):
        def look(self, image: np.ndarray, seconds: float) -> Look:
            raise EngineError("The eyes are shut.")

    engine = observer_with(Blind(), monkeypatch)
    (reply,) = engine.generate([Request("s", (), clip=clip_of([wall()] * 4, [0] * 4))])
    assert (reply.finish, reply.error) == ("error", "The eyes are shut.")


def person(**more: Any) -> PeopleFact:
    basics: dict[str, Any] = {"shot": 1, "first": 1.0, "last": 3.0, "count": 1, "place": "left", "size": 0.6}
    basics |= {"face": True, "movement": None, "enters": False, "leaves": False, "sure": 0.95}
    return PeopleFact(**(basics | more))


def test_a_glimpse_of_one_gives_way_to_a_longer_sight_of_two() -> None:
    two, one = person(count=2, frames=3), person(frames=2)
    assert module._without_echoes([two, one]) == (two,)
    assert module._without_echoes([two, person(frames=9)]) == (two, person(frames=9))
    assert module._without_echoes([two, person(shot=2, frames=2)]) == (two, person(shot=2, frames=2))


def test_the_description_has_four_numbered_steps() -> None:
    facts = Facts(
        current=(1, 2),
        people=(person(framing="face", looks="left"), person(shot=2, count=3, movement="right", again=None)),
        things=(ThingFact(2, "car", 2, "right", 0.9),),
        texts=(TextFact(2, "COMING SOON", "title", 1.0, 2.0, 0.99),),
        light=(LightFact(1, "dark", "fade-out", 0.9),),
        motion=(MotionFact(1, "left", "much", 0.9),),
        figures=(FigureFact(2, 1.0, 2.0, "right", 0.4, "up", False, False, 0.9),),
    )
    assert describe(facts).splitlines() == [
        "1. Main characters: In Shot 1, one person on the left, the face close up. In Shot 2, three people on the left.",
        "2. Actions: In Shot 2, they move to the right. In Shot 2, a figure on the right moves up.",
        "3. Interactions: In Shot 1, the person looks to the left.",
        '4. Environment: In Shot 2, title on the screen: "COMING SOON". In Shot 2, two cars on the right. '
        "In Shot 1, it is dark and darkens to black. In Shot 1, much moves.",
    ]


def test_empty_steps_say_so() -> None:
    text = describe(Facts(current=(0,), light=(LightFact(0, "bright", None, 0.9),)))
    assert text.splitlines()[1] == "2. Actions: None measured."
    assert text.endswith("4. Environment: It is bright.")


def test_no_word_of_the_camera_and_none_of_mood_is_used() -> None:
    facts = Facts(current=(0,), people=(person(turns="left", quick=True, movement="left", hair="red"),))
    words = set(describe(facts).lower().replace(".", " ").split())
    assert not words & {
        "camera",
        "pan",
        "zoom",
        "close-up",
        "frame",
        "man",
        "woman",
        "happy",
        "sad",
        "he",
        "she",
    }


@pytest.mark.long
@pytest.mark.slow
def test_the_sample_film_is_seen_twice_alike() -> None:
    av = pytest.importorskip("av")
    if not SAMPLE.exists():
        pytest.skip(f"{SAMPLE} is not there")
    with av.open(str(SAMPLE)) as film:
        frames = [f.to_ndarray(format="rgb24") for i, f in enumerate(film.decode(video=0)) if i % 6 == 0][:24]
    clip = Clip(np.stack(frames), np.arange(len(frames)) / 4, np.zeros(len(frames), np.int64))
    one, two = (Observer(Config()).generate([Request("s", (), clip=clip)])[0] for _ in range(2))
    assert one.error is None
    assert json.dumps(one.notes) == json.dumps(two.notes)
    assert one.text == two.text


def test_without_npm_the_other_models_look_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert FIRST not in Observer(Config()).abilities.weights
    assert "ssd-mobilenet-v2" in Observer(Config()).identity.model
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\n")
    npm.chmod(0o755)
    assert FIRST in Observer(Config()).abilities.weights
