"""Prompts of both stages for a made-up clip."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from shotad.core import (
    NOBODY,
    Abilities,
    Box,
    Character,
    Config,
    ContextShot,
    Description,
    FramePlan,
    Grammar,
    Identity,
    Interval,
    Mark,
    OverlaySettings,
    Presence,
    PromptSettings,
    Reply,
    Request,
    Role,
    Shot,
    ShotScale,
    Sighting,
    Slot,
    load_config,
    prompt_text,
)
from shotad.description import SlotPlan
from shotad.description.prompts import Stage1Prompt, stage1_messages, stage2_messages
from shotad.description.slotplan import Heard

DEFAULT = PromptSettings()
EC, C, M, F, L = ShotScale
DESCRIBED = Description(
    "s00083120", {"Main characters": "Ann.", "Actions": "Ann runs."}, "Both alike.", "", "vlm"
)


def plans(roles: str = "pccf") -> list[FramePlan]:
    kinds = {"p": Role.PAST, "c": Role.CURRENT, "f": Role.FUTURE}
    return [FramePlan(i, kinds[r], np.array([float(i)])) for i, r in enumerate(roles)]


def plan_of(
    roles: str, grammar: Grammar | None = None, presence: Presence = NOBODY, heard: tuple[Heard, ...] = ()
) -> SlotPlan:
    frames = tuple(plans(roles))
    times = [Interval(p.number, p.number + 1) for p in frames]
    shots = (ContextShot(Shot(p.number, time), p.role, time) for p, time in zip(frames, times, strict=True))
    slot = Slot("s00002000", Interval(2, 3), 9)
    return SlotPlan(slot, tuple(shots), frames, grammar or Grammar(), presence=presence, heard=heard)


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
MARKS = {"ann": Mark("red"), "bo": Mark("green"), "cy": Mark("blue"), "nora": Mark("yellow")}


def people(current: str = "", others: str = "", marks: dict[str, Mark] | None = None) -> Presence:
    """Who is on the frames: ids with blanks between. Those of the current shots are seen at second 10."""
    here, there = tuple(current.split()), tuple(others.split())
    faces = [Sighting(name, Box(0.4, 0.2, 0.6, 0.5), 10.0, 0.9) for name in here]
    faces += [Sighting(name, Box(0.1, 0.2, 0.2, 0.4), 7.0, 0.9) for name in there]
    return Presence(CAST, here, there, marks or MARKS, tuple(faces))


def stage1(
    roles: str = "pccf", grammar: Grammar | None = None, presence: Presence = NOBODY, **kwargs: object
) -> Stage1Prompt:
    painted = {name: kwargs.pop(name) for name in ("label", "marks") if name in kwargs}
    heard: tuple[Heard, ...] = tuple(kwargs.pop("heard", ()))  # type: ignore[arg-type]
    config = config_of(PromptSettings.model_validate(kwargs), **painted)
    return stage1_messages(plan_of(roles, grammar, presence, heard), config)


def bare(text: str) -> str:
    """A prompt without the marks round text from outside, and the rule on them, which have tests of their own."""
    return re.sub(
        r"<material>\n?|\n?</material>", "", text.replace(f"{prompt_text('material/rule').strip()}\n\n", "")
    )


def text_of(prompt: Stage1Prompt) -> str:
    (message,) = prompt.messages
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
    """Who would answer; the tests answer themselves."""

    identity = Identity("model", "m", "1")

    def __init__(self, **abilities: Any) -> None:
        self.abilities = Abilities(accepts_images=True, **abilities)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        raise AssertionError("the test answers")
