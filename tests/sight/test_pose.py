"""What people do, by their joints, faces and hands: made ones, and the models on the sample film."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from shotad.core import MANY, Box, Image, Named, WeightsError, weights_file
from shotad.sight import (
    Act,
    EfficientDet,
    Expression,
    FaceFinder,
    FaceMesh,
    Glimpse,
    Hand,
    HandReader,
    Person,
    Stretch,
    Track,
    acts_of,
    deed_facts,
    face_acts,
    hands_of,
    is_turned_away,
    posture_of,
)
from tests.joints import FEET, HANDS, LEGS, moments

SAMPLE = Path(__file__).resolve().parents[1] / "sample" / "sample.mp4"

SEEN = pytest.mark.parametrize(
    "seen",
    [{}, {"mirrored": True}, {"size": 0.05}, {"size": 0.25, "noise": 0.02}, {"noise": 0.03, "seed": 1}],
    ids=["plain", "mirrored", "small", "large", "noisy"],
)


@SEEN
@pytest.mark.parametrize("posture", ["stands", "sits", "lies"])
def test_who_keeps_a_posture_has_it(posture: str, seen: dict[str, Any]) -> None:
    poses = moments((posture, 2.0), **seen)
    assert posture_of(poses) == posture
    assert acts_of(poses) == []


def test_what_is_not_clear_is_no_posture() -> None:
    unclear: dict[str, tuple[list[tuple[str, float]], dict[str, Any]]] = {
        "bends": ([("bends", 2.0)], {}),
        "changes": ([("stands", 2.0), ("sits", 2.0)], {}),
        "short": ([("stands", 0.5)], {}),
        "no legs": ([("stands", 2.0)], {"hidden": LEGS}),
        "no feet": ([("sits", 2.0)], {"hidden": FEET}),
        "moves a hand": ([("stands", 1.0), ("hand up", 1.0)], {}),
        "nearer": ([("stands", 2.0)], {"sizes": (0.1, 0.2)}),
        "guessed": ([("stands", 2.0)], {"score": 0.2}),
    }
    for name, (course, seen) in unclear.items():
        assert posture_of(moments(*course, **seen)) is None, name


DEEDS = [
    ([("stands", 1.0), ("hand up", 1.0)], (), "raises a hand"),
    ([("stands", 1.0), ("arms up", 1.0)], (), "raises both arms"),
    ([("stands", 1.0), ("arms out", 1.0)], (), "spreads the arms"),
    ([("stands", 1.0), ("hand at face", 1.0)], (), "puts a hand to the face"),
    ([("stands", 1.0), ("crouches", 1.0)], (), "crouches"),
    ([("stands", 1.0), ("bends", 1.0)], (), "bends forward"),
    ([("stands", 1.5), ("sits", 1.5)], FEET, "sits down"),
    ([("sits", 1.5), ("stands", 1.5)], FEET, "stands up"),
]


@SEEN
@pytest.mark.parametrize(("course", "hidden", "deed"), DEEDS, ids=lambda v: v if isinstance(v, str) else "")
def test_a_deed_is_seen_and_no_other(
    course: list[tuple[str, float]], hidden: tuple[int, ...], deed: str, seen: dict[str, Any]
) -> None:
    (act,) = acts_of(moments(*course, hidden=hidden, **seen))
    assert act.deed == deed
    before, after = course[0][1], sum(seconds for _, seconds in course)
    assert before - 1.0 <= act.since <= before + 0.5
    assert act.since < act.until <= after + 0.25


def test_nothing_is_seen_where_nothing_is_sure() -> None:
    hips: dict[str, Any] = {"hidden": (*LEGS, 11, 12)}
    unsure: dict[str, tuple[list[tuple[str, float]], dict[str, Any]]] = {
        "trembles": ([("stands", 3.0)], {"noise": 0.05}),
        "hand is up": ([("hand up", 3.0)], {}),
        "hand is there": ([("hand at face", 3.0)], {}),
        "is low": ([("crouches", 3.0)], {}),
        "hands hidden": ([("stands", 1.0), ("hand up", 1.0)], {"hidden": HANDS}),
        "arms hidden": ([("stands", 1.0), ("arms out", 1.0)], {"hidden": HANDS}),
        "hips hidden": ([("stands", 1.0), ("crouches", 1.0)], hips),
        "only shoulders": ([("sits", 1.5), ("stands", 1.5)], hips),
        "comes nearer": ([("stands", 3.0)], {"hidden": FEET, "sizes": (0.1, 0.6)}),
        "goes away": ([("stands", 4.0)], {"sizes": (0.3, 0.1), "hidden": FEET}),
        "guessed": ([("stands", 1.0), ("arms up", 1.0)], {"score": 0.2}),
        "leans": ([("stands", 1.5), ("leans closer", 1.5)], {"hidden": FEET}),
        "leant": ([("leans closer", 1.5), ("stands", 1.5)], {"hidden": FEET}),
        "kneels": ([("stands", 1.5), ("kneels", 1.5)], {"hidden": FEET}),
        "knees hidden": ([("stands", 1.5), ("sits", 1.5)], {"hidden": LEGS}),
        "bows over the hand": ([("stands", 1.0), ("bows over the hand", 1.0)], {}),
        "rocks on the floor": (
            [("sits on the floor", 1.0), ("sits low on the floor", 1.0), ("sits on the floor", 1.0)], {},
        ),
    }  # fmt: skip
    for name, (course, seen) in unsure.items():
        assert acts_of(moments(*course, **seen)) == [], name


def test_deeds_that_are_others() -> None:
    poses = moments(("stands", 1.0), ("hand up", 1.0), ("hand at face", 1.0))
    assert [act.deed for act in acts_of(poses)] == ["raises a hand"]
    # Who goes back to where they rose from sits down.
    poses = moments(("sits", 1.5), ("stands", 1.5), ("sits", 1.5), hidden=LEGS)
    assert [act.deed for act in acts_of(poses)] == ["stands up", "sits down"]
    # Who rises from a crouch stands up.
    poses = moments(("stands", 1.0), ("crouches", 1.0), ("stands", 1.0))
    assert [act.deed for act in acts_of(poses)] == ["crouches", "stands up"]
    poses = moments(("stands", 1.0), ("crouches", 2.0))
    assert [act.deed for act in acts_of(poses)] == ["crouches"]
    # A back is told where it is all that is seen.
    assert is_turned_away(moments(("from behind", 2.0), noise=0.03))
    assert not is_turned_away(moments(("from behind", 0.5)))
    assert not is_turned_away(moments(("from behind", 2.0), ("stands", 1.0)))
    assert not is_turned_away(moments(("from the side", 2.0)))
    assert not is_turned_away(moments(("from behind", 2.0), hidden=(11, 12)))


def test_who_turns_shows_both_sides() -> None:
    for course, expected in (
        (("from behind", "stands"), ["turns round"]),
        (("stands", "from behind"), ["turns away"]),
        (("from behind", "from the side", "stands"), ["turns round"]),
        (("from the side", "stands"), []),
        (("stands", "from the side", "stands"), []),
    ):
        poses = moments(*((posture, 1.0) for posture in course), noise=0.02)
        assert [act.deed for act in acts_of(poses)] == expected
        hidden = moments(*((posture, 1.0) for posture in course), hidden=(*LEGS, 11, 12))
        assert acts_of(hidden) == []


def somebody(x: float, first: float = 0.0, last: float = 4.0, who: str = "") -> Person:
    seconds = np.arange(first, last + 1e-9, 0.5)
    seen = tuple(Glimpse(Box(x - 0.08, 0.2, x + 0.08, 0.9), float(s)) for s in seconds)
    return Person(Track(seen, tuple(range(len(seen)))), 0.9, who)


def deeds(*done: tuple[Person, Sequence[Act]]) -> list[tuple[str | None, int, str, int]]:
    stretch = Stretch(3, tuple(np.arange(0, 4.01, 0.5).tolist()), (), 1.8)
    facts = list(deed_facts(dict(done), stretch, {"thom": Named("thom", "Thom", "he")}))
    assert all(fact.shot == 3 and fact.since == fact.first for fact in facts)
    return [(fact.deed, fact.count, fact.place, fact.among) for fact in facts]


UP = Act("stands up", 1.0, 1.5)


def test_one_of_two_is_told_by_side() -> None:
    for xs, side, among in (((0.4, 0.6), "left", 1), ((0.6, 0.4), "right", 1), ((0.1, 0.5, 0.9), "left", 2)):
        one, *others = [somebody(x) for x in xs]
        assert deeds((one, [UP]), *((other, []) for other in others)) == [("stands up", 1, side, among)]
    for xs in ((0.5, 0.1, 0.9), (0.4, 0.45)):
        one, *others = [somebody(x) for x in xs]
        assert deeds((one, [UP]), *((other, []) for other in others)) == []


def test_what_all_do_together_is_one_fact() -> None:
    soon, late = Act("stands up", 1.8, 2.3), Act("stands up", 3.5, 4.0)
    one, other = somebody(0.3), somebody(0.7)
    assert deeds((one, [UP]), (other, [soon])) == [("stands up", 2, "centre", 0)]
    assert deeds((one, [UP]), (other, [late])) == [("stands up", 1, "left", 1), ("stands up", 1, "right", 1)]
    gone = somebody(0.7, 2.5, 4.0)
    assert deeds((somebody(0.2), [UP]), (gone, [])) == [("stands up", 1, "left", 0)]


# What faces do, by their points
REST = Expression(0.0, size=0.4, wide=0.55, open=0.03, lift=-0.03, down=8.0, tilt=0.0)
SMILE = replace(REST, wide=0.72, lift=0.1, open=0.2)
SHOUT = replace(REST, open=0.6, wide=0.68, lift=0.1)
BOWED, RAISED, TILTED = replace(REST, down=30.0), replace(REST, down=-14.0), replace(REST, tilt=-21.0)


def looks(*course: tuple[Expression, float], every: float = 0.25) -> list[Expression]:
    """One look after the other, each expression for its seconds."""
    shown = [expression for expression, seconds in course for _ in range(round(seconds / every))]
    return [replace(expression, seconds=i * every) for i, expression in enumerate(shown)]


FACES: dict[str, tuple[list[tuple[Expression, float]], list[Act]]] = {
    "rest": ([(REST, 4.0)], []),
    "smiles": ([(REST, 1.0), (SMILE, 2.0), (REST, 1.0)], [Act("smiles", 1.0, 2.75)]),
    "smiles all the time": ([(SMILE, 2.0)], [Act("smiles", 0.0, 1.75)]),
    "talks": ([(SMILE, 0.5), (REST, 0.5)] * 4, []),
    "grimaces": ([(replace(SMILE, lift=0.0), 2.0)], []),
    "weeps": ([(replace(SMILE, open=0.05), 2.0)], []),
    "shouts all the time": ([(SHOUT, 2.0)], []),
    "opens the mouth": ([(REST, 1.5), (SHOUT, 1.0)], [Act("opens the mouth wide", 1.5, 2.25)]),
    "sings": ([(REST, 0.5), (SHOUT, 1.0)] * 2, []),
    "bows": ([(REST, 1.5), (BOWED, 1.0)], [Act("lowers the head", 1.5, 2.25)]),
    "looks up": ([(REST, 1.5), (RAISED, 1.0)], [Act("raises the head", 1.5, 2.25)]),
    "leans": ([(REST, 1.5), (TILTED, 1.0)], [Act("tilts the head", 1.5, 2.25)]),
    "far off": ([(replace(REST, size=0.2), 1.0), (replace(BOWED, size=0.2), 1.0)], []),
    "bowed all the time": ([(BOWED, 4.0)], []),
    "comes back": ([(RAISED, 1.0), (REST, 3.0)], []),
}


@pytest.mark.parametrize(("course", "acts"), FACES.values(), ids=FACES)
def test_a_face_is_told_of_by_what_lasts(course: list[tuple[Expression, float]], acts: list[Act]) -> None:
    assert face_acts(looks(*course)) == acts


def test_nothing_is_known_of_what_was_between_two_distant_looks() -> None:
    before, after = looks((REST, 1.5)), looks((BOWED, 1.0))
    assert face_acts([*before, *(replace(look, seconds=look.seconds + 2.5) for look in after)]) == []
    assert face_acts([*before, *(replace(look, seconds=look.seconds + 1.5) for look in after)]) != []


def test_a_head_that_moves_with_the_body_is_not_told_of() -> None:
    shown = looks((REST, 4.0), (BOWED, 1.0), (replace(SMILE, down=30.0), 2.0))
    head, smile = Act("lowers the head", 4.0, 6.75), Act("smiles", 5.0, 6.75)
    assert face_acts(shown, [Act("raises a hand", 1.0, 2.5)]) == [head, smile]
    assert face_acts(shown, [Act("sits down", 2.0, 3.5)]) == [smile]
    assert face_acts(shown, [Act("bends forward", 7.0, 8.0)]) == [smile]


# Hands: how the two models' answers become places in the picture, and which are told of
def hand(seconds: float, x: float = 0.5, y: float = 0.5, size: float = 0.2, spread: float = 0.0) -> Hand:
    """A hand whose palm is ``size`` high, its fingers up, bent by ``spread`` sizes to the side."""
    points = np.full((21, 2), (x * 16 / 9, y))
    points[1:, 1] -= size
    points[[4, 8, 12, 16, 20], 0] += spread * size
    return Hand(seconds, Box(x - size / 3, y - size / 2, x + size / 3, y + size / 2), points)


def shown(*looks: Sequence[Hand]) -> Any:
    return hands_of(looks, 7)


def test_a_hand_that_moves_is_told_of_from_when_it_is_seen() -> None:
    fact = shown([], [hand(1.0, x=0.2)], [], [hand(2.0, x=0.3)], [hand(2.5, x=0.25)])
    assert (fact.shot, fact.name, fact.count, fact.place, fact.since) == (7, "hand", 1, "left", 1.0)
    assert fact.area == pytest.approx(0.2 * 0.4 / 3, abs=1e-3)
    # Fingers that move are enough, and a hand that keeps still is not told of.
    assert shown([hand(0.0)], [hand(0.5, spread=0.8)], [hand(1.0)]) is not None
    assert shown([hand(0.0)], [hand(0.5, spread=0.1)], [hand(1.0)], [hand(1.5)]) is None
    # One seen in two looks is no hand yet.
    assert shown([hand(0.0, x=0.2)], [hand(0.5, x=0.6)], [], []) is None
    assert shown() is None
    # Several at once are not counted.
    pair = [hand(0.0, x=0.2), hand(0.0, x=0.7)]
    assert shown(pair, pair, [hand(1.0, x=0.4)]).count == MANY
    assert shown(pair, [hand(0.5, x=0.4)], [hand(1.0, x=0.2)]).count == 1


class Scripted:
    """A model of LiteRT that answers always the same, whatever it is shown."""

    def __init__(self, pixels: int, answers: dict[str, np.ndarray]) -> None:
        self.pixels, self._answers = pixels, list(answers.values())
        self.outputs = [{"name": name} for name in answers]

    def __call__(self, square: np.ndarray) -> list[np.ndarray]:
        assert square.shape == (self.pixels, self.pixels, 3)
        return self._answers


def reader(monkeypatch: pytest.MonkeyPatch, upright: tuple[float, float], sure: float = 0.99) -> Any:
    """A reader whose palm lies in the middle of the first quarter of a square, the wrist against ``upright``."""
    rows, scores = np.zeros((1, 2016, 18), np.float32), np.full((1, 2016, 1), -9.0, np.float32)
    place = (6 * 24 + 6) * 2  # the anchor at 6.5 / 24 of width and height
    scores[0, place] = 3.0
    rows[0, place, 2:4] = 48  # a quarter of the side
    rows[0, place, 8:10] = (
        np.array(upright) * 20
    )  # the base of the middle finger, from the wrist in the middle
    points = np.tile([112.0, 112.0, 0.0], (21, 1)).astype(np.float32)
    points[12, 1] = 12  # one finger's tip up
    models = {
        "palms": Scripted(192, {"a": rows, "b": scores}),
        "points": Scripted(224, {"Identity": points.reshape(1, 63), "Identity_1": np.array([[sure]])}),
    }
    monkeypatch.setattr("shotad.sight.close_ups.shared", lambda make, path: models[path.name])
    return HandReader(Path("palms"), Path("points"))


@pytest.mark.parametrize("upright", [(0, -1), (1, 0), (0, 1), (-1, 0)])
def test_the_points_lie_where_the_hand_does_however_it_is_turned(
    monkeypatch: pytest.MonkeyPatch, upright: tuple[float, float]
) -> None:
    image = np.zeros((180, 320, 3), np.uint8)
    (found,) = reader(monkeypatch, upright).find(image, 3.5)
    middle, size = np.array([6.5 / 24 * 320, 6.5 / 24 * 320 - 70]), 80.0
    assert found.seconds == 3.5
    low, high = (middle - 40) / (320, 180), (middle + 40) / (320, 180)
    sides = [found.box.left, found.box.top, found.box.right, found.box.bottom]
    assert sides == pytest.approx(np.clip([*low, *high], 0, 1), abs=1e-6)
    ahead = middle + 0.5 * size * np.array(upright)
    assert found.points[0] * 180 == pytest.approx(ahead, abs=1e-3)
    tip = ahead + 100 / 224 * 2.6 * size * np.array(upright)
    assert found.points[12] * 180 == pytest.approx(tip, abs=1e-3)
    # A palm that the second model takes for something else is no hand.
    assert reader(monkeypatch, upright, sure=0.5).find(image, 0.0) == []


# The models
def weights_of(name: str) -> Path:
    try:
        return weights_file(name)
    except WeightsError as error:
        pytest.skip(f"the weights {name} are not here: {error}")


def frames(*seconds: float) -> Iterator[Image]:
    with av.open(str(SAMPLE)) as film:
        due = list(seconds)
        for frame in film.decode(video=0):
            if due and frame.time + 1e-6 >= due[0]:
                due.pop(0)
                yield frame.to_ndarray(format="rgb24")


@pytest.mark.slow
def test_tiles_are_looked_at_where_nobody_is_plain_by_a_face() -> None:
    """At 24 s of the sample somebody stands whose body alone is not plain."""
    bodies, finder = EfficientDet(weights_of("efficientdet-lite2")), FaceFinder(weights_of("yunet"))
    (image,) = frames(24.0)
    (face,) = (face.box for face in finder.find(image, 24.0) if face.score >= 0.75)
    whole, parts = bodies.find_all(image, 24.0)
    assert "person" in {sighting.name for sighting in parts}
    assert bodies.find_all(image, 24.0, faces=[face]) == (whole, [])
    assert bodies.find_all(image, 24.0, faces=[Box(0.0, 0.0, 0.05, 0.05)]) == (whole, parts)


@pytest.mark.slow
def test_a_smile_is_seen_and_neither_a_face_nor_a_cat_nor_a_cup_is_a_hand() -> None:
    mesh, finder = FaceMesh(weights_of("face-mesh")), FaceFinder(weights_of("yunet"))
    palms = HandReader(weights_of("palms"), weights_of("hand-points"))
    shown, faced = [], []
    for image in frames(*(k / 2 for k in range(70))):
        faced += [(image, face) for face in finder.find(image, 0.0) if face.score > 0.85]
        shown += palms.find(image, 0.0)
    assert shown == []
    found = [mesh.read(image, face) for image, face in faced]
    assert any(e is not None and e.wide > 0.66 and e.lift > 0.08 and e.open > 0.12 for e in found)
    image, face = faced[0]
    assert mesh.read(image * 0 + 90, face) is None
