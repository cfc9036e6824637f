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
    Description,
    FramePlan,
    Grammar,
    Identity,
    Mark,
    Presence,
    PromptSettings,
    Reply,
    Request,
    Role,
    ShotScale,
    Sighting,
    prompt_text,
)
from shotad.description.prompts import Stage1Prompt, stage1_messages, stage2_messages

DEFAULT = PromptSettings()
EC, C, M, F, L = ShotScale
DESCRIBED = Description(
    "s00083120", {"Main characters": "Ann.", "Actions": "Ann runs."}, "Both alike.", "", "vlm"
)


def plans(roles: str = "pccf") -> list[FramePlan]:
    kinds = {"p": Role.PAST, "c": Role.CURRENT, "f": Role.FUTURE}
    return [FramePlan(i, kinds[r], np.array([float(i)])) for i, r in enumerate(roles)]


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
    more = {name: kwargs.pop(name) for name in ("label", "marks", "heard") if name in kwargs}
    settings = PromptSettings.model_validate(kwargs)
    return stage1_messages(plans(roles), grammar or Grammar(), settings, presence=presence, **more)  # type: ignore[arg-type]


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
    prompt = stage2_messages(DESCRIBED, 9, settings, **{"seed": 42, **kwargs})  # type: ignore[arg-type]
    return bare(prompt.messages[1].text)


class Model:
    """Who would answer; the tests answer themselves."""

    identity = Identity("model", "m", "1")

    def __init__(self, **abilities: Any) -> None:
        self.abilities = Abilities(accepts_images=True, **abilities)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        raise AssertionError("the test answers")
