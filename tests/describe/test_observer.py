"""The embedded observer: which frames it looks at, what it reads and counts, and who of the cast comes in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np
import pytest

from shotad.core import (
    Box,
    Character,
    Clip,
    Config,
    ContextShot,
    Engine,
    Interval,
    Reply,
    Request,
    Shot,
    Sighting,
    Utterance,
)
from shotad.core.cast import FrameMark, Presence
from shotad.core.engine import (
    EntranceFact,
    Facts,
    NamedFace,
    Scene,
)
from shotad.core.types import Role
from shotad.description.answers import parse_stage1
from shotad.engines import make_engine

pytestmark = pytest.mark.slow

STEPS = ("Main characters", "Actions", "Interactions", "Environment")
THOM = Character("thom", "Thom", "Thom Hoffman", pronoun="he")
CELIA = Character("celia", "Celia", "Celia Brand", pronoun="she")
TWIN = Character("twin", "Thom", "Thom Brand", pronoun="he")
BOX = Box(0.2, 0.2, 0.4, 0.5)


def clip_of(shots: Sequence[int], pictures: Sequence[np.ndarray] | None = None) -> Clip:
    """Four frames a second from second 10 on; ``shots`` are their numbers."""
    blank = np.zeros((90, 160, 3), np.uint8)
    images = np.stack(pictures if pictures is not None else [blank] * len(shots))
    return Clip(images, 10 + np.arange(len(shots)) / 4, np.array(shots, np.int64))


def scene_of(
    roles: Sequence[Role], presence: Presence | None = None, *speech: Utterance, credits_roll: bool = False
) -> Scene:
    """A slot from 10 to 12 s, with shots of a second each."""
    spans = [Interval(10.0 + number, 11.0 + number) for number in range(len(roles))]
    context = tuple(
        ContextShot(Shot(i, span), role, span)
        for i, (span, role) in enumerate(zip(spans, roles, strict=True))
    )
    return Scene(
        Interval(10, 12), context, speech=speech, presence=presence or Presence(), credits=credits_roll
    )


def present(
    cast: Sequence[Character], sightings: Sequence[tuple[str, float]], lately: tuple[str, ...] = ()
) -> Presence:
    marks = {character.id: FrameMark("red", tag=character.id) for character in cast}
    return Presence(
        cast=tuple(cast),
        current=tuple(dict.fromkeys(name for name, _ in sightings)),
        marks=marks,
        sightings=tuple(Sighting(name, BOX, second, 0.9) for name, second in sightings),
        lately=lately,
    )


def card(words: str) -> np.ndarray:
    picture = np.full((360, 640, 3), 10, np.uint8)
    cv2.putText(picture, words, (100, 190), cv2.FONT_HERSHEY_DUPLEX, 1.6, (240, 240, 240), 3)
    return picture


@cache
def observer() -> Engine:
    return make_engine("observer", Config(), "stage1")


def ask(clip: Clip | None, scene: Scene | None) -> Reply:
    return observer().generate([Request("s1", (), clip=clip, scene=scene)])[0]


def observe(clip: Clip, scene: Scene | None) -> Facts:
    """What stands in the reply's notes, as it is read back from a file."""
    reply = ask(clip, scene)
    assert reply.error is None
    return Facts.from_json(json.loads(json.dumps(reply.notes)))


def test_frames_are_the_slots_and_far_enough_apart() -> None:
    clip = clip_of([0] * 4 + [1] * 4 + [2] * 4)
    assert observe(clip, scene_of([Role.PAST, Role.CURRENT, Role.FUTURE])).current == (1,)
    assert observe(clip, None).current == (0, 1, 2)
    # Where no current shot has two frames inside the slot, all of the clip are looked at.
    assert observe(clip, scene_of([Role.PAST, Role.PAST, Role.PAST])).current == (0, 1, 2)
    # Every other frame is read, and the first of each shot.
    black, title = card(""), card("THE LAST FERRY")
    clip = clip_of([0] * 5 + [1] * 2, [black, *[title] * 5, black])
    texts = [(text.text, text.first, text.last) for text in observe(clip, None).texts]
    assert texts == [("THE LAST FERRY", 10.5, 11.25)]


def test_who_comes_in_was_not_seen_lately_and_can_be_named() -> None:
    clip = clip_of([0] * 4 + [1] * 4)
    sightings = [("thom", 10.0), ("celia", 11.25), ("thom", 11.5)]

    def entrances(cast: Sequence[Character], *lately: str) -> list[EntranceFact]:
        here = [(name, second) for name, second in sightings if name in {member.id for member in cast}]
        presence = present(cast, here, lately)
        return list(observe(clip, scene_of([Role.CURRENT, Role.CURRENT], presence)).entrances)

    assert entrances([THOM, CELIA]) == [
        EntranceFact(0, (NamedFace("thom", "Thom", "he"),), 10.0, 10.0),
        EntranceFact(1, (NamedFace("celia", "Celia", "she"),), 11.25, 11.25),
    ]
    assert [entrance.shot for entrance in entrances([THOM, CELIA], "thom")] == [1]
    # Nobody is named who is called as another one of the cast.
    assert entrances([THOM, TWIN]) == []


def test_what_a_voice_reads_out_is_known_by_its_words() -> None:
    clip = clip_of([0] * 3, [card("MEET ME AT SIX")] * 3)
    for speech, is_spoken in (
        (Utterance(Interval(13, 15), "It says: meet me at six!"), True),
        (Utterance(Interval(40, 42), "Meet me at six."), False),
        (Utterance(Interval(13, 15), "Meet me at seven."), False),
        (Utterance(Interval(13, 15)), False),
    ):
        (text,) = observe(clip, scene_of([Role.CURRENT], None, speech)).texts
        assert (text.text, text.spoken) == ("MEET ME AT SIX", is_spoken)


def test_the_description_has_four_steps_that_are_read_back() -> None:
    presence = present([THOM, CELIA], [("thom", 10.0), ("celia", 10.0)])
    clip = clip_of([0] * 3, [card("THE LAST FERRY")] * 3)
    reply = ask(clip, scene_of([Role.CURRENT], presence, credits_roll=True))
    assert "In Shot 0, 2 faces: Thom and Celia." in reply.text
    assert 'Title on the screen: "THE LAST FERRY". Credits roll.' in reply.text
    assert set(parse_stage1(reply.text, STEPS, "s1", "observer").steps) == set(STEPS)
    assert Facts.from_json(reply.notes).to_json() == reply.notes


def test_without_a_clip_there_is_an_error() -> None:
    assert ask(None, None).error == "the observer needs a clip to look at"


def test_a_card_is_read_and_a_plain_board_in_the_scene_is_no_title() -> None:
    noise = np.random.default_rng(3).integers(40, 200, (36, 64, 3), np.uint8)
    street = np.repeat(np.repeat(noise, 10, 0), 10, 1)
    street[60:150, 60:420] = 200
    cv2.putText(street, "HARBOUR", (80, 125), cv2.FONT_HERSHEY_DUPLEX, 1.8, (20, 20, 20), 4)
    kinds = {}
    for name, picture in (("card", card("THE LAST FERRY")), ("street", street)):
        facts = observe(clip_of([0] * 8, [picture] * 8), scene_of([Role.CURRENT]))
        kinds[name] = [(text.text, text.kind) for text in facts.texts]
        assert facts.faces == ()
    assert kinds == {"card": [("THE LAST FERRY", "title")], "street": [("HARBOUR", "scene")]}
