"""Prompts of both stages for a made-up clip, and questions about one, answered from a list."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    Abilities,
    Box,
    Character,
    Clip,
    Config,
    ContextShot,
    Description,
    FramePlan,
    Grammar,
    Identity,
    Interval,
    Message,
    Reply,
    Request,
    Shot,
    ShotScale,
    Sighting,
    Slot,
    Usage,
    load_config,
)
from shotad.core.cast import (
    EMPTY_PRESENCE,
    FrameMark,
    Presence,
)
from shotad.core.config.film import OverlaySettings
from shotad.core.config.words import PromptSettings
from shotad.core.types import Role
from shotad.description import SlotPlan, describe_clip
from shotad.description.prompts import stage1_messages, stage2_messages
from shotad.description.slotplan import NearbyName
from shotad.description.stage1 import stage1_as_seen
from shotad.description.templates import prompt_block
from shotad.engines import AskingPool, ClipOnDemand
from tests.describe.slot_run import ScriptedSlot, run_slots

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
ANNOTATION = SHARED / "cmd-ad" / "cmdad_anno.csv"
DEFAULT = PromptSettings()
EC, C, M, F, L = ShotScale
DESCRIBED = Description(
    "s00083120", {"Main characters": "Ann.", "Actions": "Ann runs."}, "Both alike.", "", "vlm"
)


def plans(roles: str = "pccf") -> list[FramePlan]:
    kinds = {"p": Role.PAST, "c": Role.CURRENT, "f": Role.FUTURE}
    return [FramePlan(i, kinds[r], np.array([float(i)])) for i, r in enumerate(roles)]


def plan_of(
    roles: str,
    grammar: Grammar | None = None,
    presence: Presence = EMPTY_PRESENCE,
    heard: tuple[NearbyName, ...] = (),
) -> SlotPlan:
    frames = tuple(plans(roles))
    times = [Interval(p.number, p.number + 1) for p in frames]
    shots = (ContextShot(Shot(p.number, time), p.role, time) for p, time in zip(frames, times, strict=True))
    slot = Slot("s00002000", Interval(2, 3), 9)
    return SlotPlan(slot, tuple(shots), frames, grammar or Grammar(), presence=presence, nearby_names=heard)


def config_of(
    settings: PromptSettings | None = None, label: object = "number", marks: object = "ellipses"
) -> Config:
    overlay = OverlaySettings.model_validate({"label": label, "characters": marks})
    return load_config(None).model_copy(update={"prompt": settings or PromptSettings(), "overlay": overlay})


ANN = Character("ann", "Ann", "Ann Lee", ("Annie",), pronoun="she")
BO = Character("bo", "Bo", "Bo Ek", pronoun="he")
CY = Character("cy", "Cy", "Cy Ott", pronoun="they")
NORA = Character("nora", "the woman in red", "the woman in red", (), ("Nora", "Nora Moe"), "she", named=False)
CAST = (ANN, BO, CY, NORA)
MARKS = {
    "ann": FrameMark("red"),
    "bo": FrameMark("green"),
    "cy": FrameMark("blue"),
    "nora": FrameMark("yellow"),
}


def people(current: str = "", others: str = "", marks: dict[str, FrameMark] | None = None) -> Presence:
    """Who is on the frames: ids with blanks between. Those of the current shots are seen at second 10."""
    here, there = tuple(current.split()), tuple(others.split())
    faces = [Sighting(name, Box(0.4, 0.2, 0.6, 0.5), 10.0, 0.9) for name in here]
    faces += [Sighting(name, Box(0.1, 0.2, 0.2, 0.4), 7.0, 0.9) for name in there]
    return Presence(CAST, here, there, marks or MARKS, tuple(faces))


def stage1(
    roles: str = "pccf", grammar: Grammar | None = None, presence: Presence = EMPTY_PRESENCE, **kwargs: object
) -> tuple[Message, ...]:
    painted = {name: kwargs.pop(name) for name in ("label", "marks") if name in kwargs}
    heard: tuple[NearbyName, ...] = tuple(kwargs.pop("heard", ()))  # type: ignore[arg-type]
    config = config_of(PromptSettings.model_validate(kwargs), **painted)
    return stage1_messages(plan_of(roles, grammar, presence, heard), config)[0]


def bare(text: str) -> str:
    """A prompt without the marks round text from outside, and the rule on them, which have tests of their own."""
    return re.sub(
        r"<material>\n?|\n?</material>", "", text.replace(f"{prompt_block('material', 'rule')}\n\n", "")
    )


def text_of(messages: Sequence[Message]) -> str:
    (message,) = messages
    assert message.role == "user"
    assert message.with_clip
    return bare(message.text)


def stage2_text(settings: PromptSettings = DEFAULT, **kwargs: object) -> str:
    told = {name: kwargs.pop(name) for name in ("story", "examples") if name in kwargs}
    config = config_of(settings).model_copy(update={"seed": kwargs.pop("seed", 42)})
    lines = config.stage2.model_copy(update=kwargs)
    config = config.model_copy(update={"stage2": lines})
    return bare(stage2_messages(DESCRIBED, plan_of("pc"), config, **told)[1].text)  # type: ignore[arg-type]


class Model:
    """Answers from a list, and keeps what it was asked."""

    identity = Identity("model", "m", "1")

    def __init__(self, *answers: str | Reply, **abilities: Any) -> None:
        self.abilities = Abilities(accepts_images=True, **abilities)
        self.waiting = [Reply(a, usage=Usage(10, 2)) if isinstance(a, str) else a for a in answers]
        self.asked: list[Request] = []

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        self.asked += requests
        return [self.waiting.pop(0) for _ in requests]


def human_ad(every: int) -> list[str]:
    """Every so-manieth of the 7,316 lines of human AD of CMD-AD; the test is skipped where they are not."""
    if not ANNOTATION.is_file():
        pytest.skip(f"needs {ANNOTATION}")
    with ANNOTATION.open(encoding="utf-8", newline="") as file:
        return [row["text"] for row in csv.DictReader(file)][::every]


# Questions


SLOT = Slot("s00010000", Interval(10.0, 14.0), 9)
CLIP = Clip(np.full((4, 144, 256, 3), 90, np.uint8), np.array([7.0, 8, 10, 11]), np.array([0, 0, 1, 1]))
GATE = "Ann opens a gate and walks into the garden."


def plan(presence: Presence = EMPTY_PRESENCE, *heard: NearbyName) -> SlotPlan:
    shots, frames = [], []
    for n, (role, time, seconds) in enumerate(
        ((Role.PAST, (6, 9), [7.0, 8.0]), (Role.CURRENT, (9, 15), [10.0, 11.0]))
    ):
        shots.append(ContextShot(Shot(3 + n, Interval(*time)), role, Interval(*time)))
        frames.append(FramePlan(n, role, np.array(seconds)))
    return SlotPlan(SLOT, tuple(shots), tuple(frames), Grammar(), presence=presence, nearby_names=heard)


class Talk:
    """What was asked about the slot, and the record of the answers."""

    def __init__(self, record: dict[str, Any], engine: Model) -> None:
        self.record, self.asked = record, engine.asked
        assert not engine.waiting, f"never asked for: {engine.waiting}"

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.record["candidates"])


def look(*answers: str | Reply, how: tuple[str, ...] = (), presence: Presence = EMPTY_PRESENCE) -> Talk:
    """Stage I's answer, where its engine gives these."""
    engine, config = Model(*answers), load_config(None, how)
    asked = plan(presence, NearbyName("Max", "spoken", 9.25))
    seen = stage1_as_seen(CLIP, asked, engine, config)
    with AskingPool({"stage1": engine}) as pool:
        answer = describe_clip(pool, asked, config, ClipOnDemand("clip", lambda: seen))
    return Talk(answer.to_json(), engine)


def write(
    *answers: str | Reply,
    how: tuple[str, ...] = (),
    presence: Presence = EMPTY_PRESENCE,
    text: str = GATE,
    **abilities: Any,
) -> Talk:
    """Stage II's answer about a description of this ``text``, where both stages ask one engine, which gives
    these, in turn."""
    engine = Model(f"Description:\n1. Actions: {text}", *answers, **abilities)
    run = run_slots(
        ScriptedSlot(presence=presence), how=("stage1.attempts=1", *how), looks=engine, writes=engine
    )
    assert run.stage1.description.steps == {"Actions": text}
    engine.asked = engine.asked[1:]
    return Talk(run.stage2.to_json(), engine)
