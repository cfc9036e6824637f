"""Prompts of both stages for a made-up clip."""

from __future__ import annotations

import numpy as np

from shotad.config import PromptSettings
from shotad.describe.prompts import (
    Stage1Prompt,
    stage1_messages,
    stage2_messages,
)
from shotad.types import Description, FramePlan, Grammar, Role, ShotScale

DEFAULT = PromptSettings()
EC, C, M, F, L = ShotScale
DESCRIBED = Description(
    "s00083120", {"Main characters": "Ann.", "Actions": "Ann runs."}, "Both alike.", "", "vlm"
)


def plans(roles: str = "pccf") -> list[FramePlan]:
    kinds = {"p": Role.PAST, "c": Role.CURRENT, "f": Role.FUTURE}
    return [FramePlan(i, kinds[r], np.array([float(i)])) for i, r in enumerate(roles)]


def stage1(roles: str = "pccf", grammar: Grammar | None = None, **kwargs: object) -> Stage1Prompt:
    characters = kwargs.pop("characters", ())
    label = kwargs.pop("label", "number")
    settings = PromptSettings.model_validate(kwargs)
    return stage1_messages(
        plans(roles), grammar or Grammar(), settings, characters=characters, label=label  # type: ignore[arg-type]
    )  # fmt: skip


def text_of(prompt: Stage1Prompt) -> str:
    (message,) = prompt.messages
    assert message.role == "user"
    assert message.with_clip
    return message.text


def stage2_text(settings: PromptSettings = DEFAULT, **kwargs: object) -> str:
    return stage2_messages(DESCRIBED, 9, settings, **{"seed": 42, **kwargs}).messages[1].text  # type: ignore[arg-type]
