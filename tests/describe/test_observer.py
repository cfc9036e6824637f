"""The embedded observer: which frames it looks at, what it reads and counts, and who of the cast comes in."""

from __future__ import annotations

import json
from collections.abc import Sequence

import cv2
import numpy as np
import pytest

from shotad.core import (
    Box,
    Character,
    Clip,
    Config,
    ContextShot,
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
    FacesFact,
    Facts,
    NamedFace,
    Scene,
    TextFact,
)
from shotad.core.types import Role
from shotad.description.answers import parse_stage1
from shotad.engines.observer import Observer, describe, entrances, is_spoken, slot_frames, spaced

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


def scene_of(roles: Sequence[Role], presence: Presence | None = None, *said: Utterance) -> Scene:
    """A slot from 10 to 12 s, with shots of a second each."""
    spans = [Interval(10.0 + number, 11.0 + number) for number in range(len(roles))]
    context = tuple(
        ContextShot(Shot(i, span), role, span)
        for i, (span, role) in enumerate(zip(spans, roles, strict=True))
    )
    return Scene(Interval(10, 12), context, speech=said, presence=presence or Presence())


def present(
    cast: Sequence[Character], seen: Sequence[tuple[str, float]], lately: tuple[str, ...] = ()
) -> Presence:
    marks = {character.id: FrameMark("red", tag=character.id) for character in cast}
    return Presence(
        cast=tuple(cast),
        current=tuple(dict.fromkeys(name for name, _ in seen)),
        marks=marks,
        sightings=tuple(Sighting(name, BOX, second, 0.9) for name, second in seen),
        lately=lately,
    )


def test_frames_are_the_slots_and_far_enough_apart() -> None:
    clip = clip_of([0] * 4 + [1] * 4 + [2] * 4)
    past_current = scene_of([Role.PAST, Role.CURRENT, Role.FUTURE])
    assert slot_frames(clip, past_current) == [4, 5, 6, 7]
    assert slot_frames(clip, None) == list(range(12))
    # Where no current shot has two frames inside the slot, all of the clip are looked at.
    assert slot_frames(clip, scene_of([Role.PAST, Role.PAST, Role.PAST])) == list(range(12))
    assert spaced(clip, range(12), 0.5) == [0, 2, 4, 6, 8, 10]
    assert spaced(clip, range(12), 5.0) == [0, 4, 8]


def test_who_comes_in_was_not_seen_lately_and_can_be_named() -> None:
    clip = clip_of([0] * 4 + [1] * 4)
    frames = {0: [0, 1, 2, 3], 1: [4, 5, 6, 7]}
    seen = [("thom", 10.0), ("celia", 11.25), ("thom", 11.5)]
    found = list(entrances(clip, frames, present([THOM, CELIA], seen)))
    assert found == [
        EntranceFact(0, (NamedFace("thom", "Thom", "he"),), 10.0, 10.0),
        EntranceFact(1, (NamedFace("celia", "Celia", "she"),), 11.25, 11.25),
    ]
    assert [fact.shot for fact in entrances(clip, frames, present([THOM, CELIA], seen, ("thom",)))] == [1]
    # Nobody is named who is called as another one of the cast.
    assert list(entrances(clip, frames, present([THOM, TWIN], [("thom", 10.0)]))) == []


def test_what_a_voice_reads_out_is_known_by_its_words() -> None:
    text = TextFact(0, "MEET ME AT SIX", "scene", 10.0, 12.0, 0.95, fills=True)
    assert is_spoken(text, [Utterance(Interval(13, 15), "It says: meet me at six!")])
    assert not is_spoken(text, [Utterance(Interval(40, 42), "Meet me at six.")])
    assert not is_spoken(text, [Utterance(Interval(13, 15), "Meet me at seven.")])
    assert not is_spoken(text, [Utterance(Interval(13, 15))])


def test_the_description_has_four_steps_that_are_read_back() -> None:
    facts = Facts(
        (0,),
        texts=(TextFact(0, "SINTEL", "title", 10.0, 12.0, 0.95),),
        faces=(FacesFact(0, 2, (NamedFace("thom", "Thom"),), 10.0, 12.0),),
        credits=True,
    )
    told = describe(facts)
    assert "In Shot 0, 2 faces: Thom." in told
    assert 'Title on the screen: "SINTEL". Credits roll.' in told
    assert set(parse_stage1(told, STEPS, "s1", "observer").steps) == set(STEPS)
    assert Facts.from_json(json.loads(json.dumps(facts.to_json()))) == facts


def test_without_a_clip_there_is_an_error() -> None:
    (reply,) = Observer(Config()).generate([Request("s1", ())])
    assert reply.error == "the observer needs a clip to look at"


def ask(clip: Clip, scene: Scene) -> Reply:
    return Observer(Config()).generate([Request("s1", (), clip=clip, scene=scene)])[0]


@pytest.mark.slow
def test_a_card_is_read_and_a_plain_board_in_the_scene_is_no_title() -> None:
    card = np.full((360, 640, 3), 10, np.uint8)
    cv2.putText(card, "THE LAST FERRY", (130, 190), cv2.FONT_HERSHEY_DUPLEX, 1.6, (240, 240, 240), 3)
    noise = np.random.default_rng(3).integers(40, 200, (36, 64, 3), np.uint8)
    street = np.repeat(np.repeat(noise, 10, 0), 10, 1)
    street[60:150, 60:420] = 200
    cv2.putText(street, "HARBOUR", (80, 125), cv2.FONT_HERSHEY_DUPLEX, 1.8, (20, 20, 20), 4)
    kinds = {}
    for name, picture in (("card", card), ("street", street)):
        reply = ask(clip_of([0] * 8, [picture] * 8), scene_of([Role.CURRENT]))
        assert reply.error is None
        facts = Facts.from_json(reply.notes)
        kinds[name] = [(text.text, text.kind) for text in facts.texts]
        assert facts.faces == ()
    assert kinds == {"card": [("THE LAST FERRY", "title")], "street": [("HARBOUR", "scene")]}
