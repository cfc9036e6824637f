"""What people do, by their joints: made people, and the models on the sample film."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from shotad.core import Box, Image, Named, WeightsError, weights_file
from shotad.sight import (
    KINDS,
    Act,
    Classifier,
    EfficientDet,
    FaceFinder,
    Glimpse,
    Person,
    Stretch,
    Track,
    acts_of,
    deed_facts,
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


@pytest.mark.parametrize(
    ("course", "seen"),
    [
        ([("bends", 2.0)], {}),
        ([("stands", 2.0), ("sits", 2.0)], {}),
        ([("stands", 0.5)], {}),
        ([("stands", 2.0)], {"hidden": LEGS}),
        ([("sits", 2.0)], {"hidden": FEET}),
        ([("stands", 1.0), ("hand up", 1.0)], {}),
        ([("stands", 2.0)], {"sizes": (0.1, 0.2)}),
        ([("stands", 2.0)], {"score": 0.2}),
    ],
    ids=["bends", "changes", "short", "no legs", "no feet", "moves a hand", "nearer", "guessed"],
)
def test_what_is_not_clear_is_no_posture(course: list[tuple[str, float]], seen: dict[str, Any]) -> None:
    assert posture_of(moments(*course, **seen)) is None


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


@pytest.mark.parametrize(
    ("course", "seen"),
    [
        ([("stands", 3.0)], {"noise": 0.05}),
        ([("hand up", 3.0)], {}),
        ([("hand at face", 3.0)], {}),
        ([("crouches", 3.0)], {}),
        ([("stands", 1.0), ("hand up", 1.0)], {"hidden": HANDS}),
        ([("stands", 1.0), ("arms out", 1.0)], {"hidden": HANDS}),
        ([("stands", 1.0), ("crouches", 1.0)], {"hidden": (*LEGS, 11, 12)}),
        ([("sits", 1.5), ("stands", 1.5)], {"hidden": (*LEGS, 11, 12)}),
        ([("stands", 3.0)], {"hidden": FEET, "sizes": (0.1, 0.6)}),
        ([("stands", 4.0)], {"sizes": (0.3, 0.1), "hidden": FEET}),
        ([("stands", 1.0), ("arms up", 1.0)], {"score": 0.2}),
        ([("stands", 1.5), ("leans closer", 1.5)], {"hidden": FEET}),
        ([("leans closer", 1.5), ("stands", 1.5)], {"hidden": FEET}),
        ([("stands", 1.5), ("kneels", 1.5)], {"hidden": FEET}),
        ([("stands", 1.5), ("sits", 1.5)], {"hidden": LEGS}),
        ([("stands", 1.0), ("bows over the hand", 1.0)], {}),
        ([("sits on the floor", 1.0), ("sits low on the floor", 1.0), ("sits on the floor", 1.0)], {}),
    ],
    ids=[
        *("trembles", "hand is up", "hand is there", "is low", "hands hidden", "arms hidden", "hips hidden"),
        *("only shoulders", "comes nearer", "goes away", "guessed", "leans", "leant"),
        *("kneels", "knees hidden", "bows over the hand", "rocks on the floor"),
    ],
)  # fmt: skip
def test_nothing_is_seen_where_nothing_is_sure(course: list[tuple[str, float]], seen: dict[str, Any]) -> None:
    assert acts_of(moments(*course, **seen)) == []


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


@pytest.mark.parametrize(
    ("course", "expected"),
    [
        (("from behind", "stands"), ["turns round"]),
        (("stands", "from behind"), ["turns away"]),
        (("from behind", "from the side", "stands"), ["turns round"]),
        (("from the side", "stands"), []),
        (("stands", "from the side", "stands"), []),
    ],
)
def test_who_turns_shows_both_sides(course: tuple[str, ...], expected: list[str]) -> None:
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


UP, HAND = Act("stands up", 1.0, 1.5), Act("raises a hand", 2.0, 3.0)


@pytest.mark.parametrize(
    ("xs", "expected"),
    [
        ((0.4, 0.6), [("stands up", 1, "left", 1)]),
        ((0.6, 0.4), [("stands up", 1, "right", 1)]),
        ((0.1, 0.5, 0.9), [("stands up", 1, "left", 2)]),
        ((0.5, 0.1, 0.9), []),
        ((0.4, 0.45), []),
    ],
)
def test_one_of_two_is_told_by_side(xs: tuple[float, ...], expected: list[tuple[str, int, str, int]]) -> None:
    people = [somebody(x) for x in xs]
    assert deeds((people[0], [UP]), *((other, []) for other in people[1:])) == expected


def test_what_all_do_together_is_one_fact() -> None:
    soon, late = Act("stands up", 1.8, 2.3), Act("stands up", 3.5, 4.0)
    one, other = somebody(0.3), somebody(0.7)
    assert deeds((one, [UP]), (other, [soon])) == [("stands up", 2, "centre", 0)]
    assert deeds((one, [UP]), (other, [late])) == [("stands up", 1, "left", 1), ("stands up", 1, "right", 1)]
    gone = somebody(0.7, 2.5, 4.0)
    assert deeds((somebody(0.2), [UP]), (gone, [])) == [("stands up", 1, "left", 0)]


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
def test_the_classifier_knows_the_sample_films_cat_and_cup() -> None:
    model = Classifier(weights_of("efficientnet-lite3"))
    for image, name in zip(frames(15.0, 21.0), ("cat", "cup"), strict=True):
        shares = model.shares(image, Box(0, 0, 1, 1))
        assert set(shares) == set(KINDS)
        assert max(shares, key=shares.__getitem__) == name
        assert shares[name] > 0.2
        assert sum(shares.values()) <= 1.01


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
