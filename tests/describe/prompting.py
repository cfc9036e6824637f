"""Prompts of both stages for a made-up clip, and inquiries about one, driven by answers from a list."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    NOBODY,
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
    Mark,
    Message,
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
    Usage,
    load_config,
)
from shotad.description import EngineCall, Inquiry, SlotPlan, prompt_block, stage2
from shotad.description.prompts import stage1_messages, stage2_messages
from shotad.description.slotplan import Heard
from shotad.description.stage1 import Stage1Question, stage1_as_seen, stage1_question

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
) -> tuple[Message, ...]:
    painted = {name: kwargs.pop(name) for name in ("label", "marks") if name in kwargs}
    heard: tuple[Heard, ...] = tuple(kwargs.pop("heard", ()))  # type: ignore[arg-type]
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
    """Who would answer; the tests answer themselves."""

    identity = Identity("model", "m", "1")

    def __init__(self, **abilities: Any) -> None:
        self.abilities = Abilities(accepts_images=True, **abilities)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        raise AssertionError("the test answers")


def human_ad(every: int) -> list[str]:
    """Every so-manieth of the 7,316 lines of human AD of CMD-AD; the test is skipped where they are not."""
    if not ANNOTATION.is_file():
        pytest.skip(f"needs {ANNOTATION}")
    with ANNOTATION.open(encoding="utf-8", newline="") as file:
        return [row["text"] for row in csv.DictReader(file)][::every]


# Inquiries


SLOT = Slot("s00010000", Interval(10.0, 14.0), 9)
CLIP = Clip(np.full((4, 144, 256, 3), 90, np.uint8), np.array([7.0, 8, 10, 11]), np.array([0, 0, 1, 1]))
ENGINE = Model()
GATE = "Ann opens a gate and walks into the garden."


def plan(presence: Presence = NOBODY, *heard: Heard) -> SlotPlan:
    shots, frames = [], []
    for n, (role, time, seconds) in enumerate(
        ((Role.PAST, (6, 9), [7.0, 8.0]), (Role.CURRENT, (9, 15), [10.0, 11.0]))
    ):
        shots.append(ContextShot(Shot(3 + n, Interval(*time)), role, Interval(*time)))
        frames.append(FramePlan(n, role, np.array(seconds)))
    return SlotPlan(SLOT, tuple(shots), tuple(frames), Grammar(), presence=presence, heard=heard)


class Talk:
    """Drives an inquiry with answers from a list; keeps what was asked."""

    def __init__(self, inquiry: Inquiry, *answers: str | Reply) -> None:
        self.turns: list[tuple[EngineCall, ...]] = []
        self.record: dict[str, Any] = {}
        waiting = [Reply(a, usage=Usage(10, 2)) if isinstance(a, str) else a for a in answers]
        try:
            turns = next(inquiry)
            while True:
                self.turns.append(turns)
                turns = inquiry.send(tuple(waiting.pop(0) for _ in turns))
        except StopIteration as end:
            self.record = end.value
        assert not waiting, f"never asked for: {waiting}"

    @property
    def asked(self) -> list[Request]:
        return [turn.request for turns in self.turns for turn in turns]

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.record["candidates"])


def asked1(presence: Presence = NOBODY, *how: str, engine: Model = ENGINE) -> Stage1Question:
    return stage1_question(
        plan(presence, Heard("Max", "spoken", 9.25)), engine, load_config(None, how), "pixels"
    )


def look(*answers: str | Reply, how: tuple[str, ...] = (), presence: Presence = NOBODY) -> Talk:
    asked = asked1(presence, *how)
    return Talk(asked.inquiry(stage1_as_seen(CLIP, asked.plan, ENGINE, asked.config)), *answers)


def asked2(
    presence: Presence = NOBODY, text: str = GATE, *how: str, engine: Model = ENGINE, **more: Any
) -> stage2.Question:
    described = Description(SLOT.id, {"Actions": text}, "", "", "model")
    more = {"looks": engine.identity, **more}
    return stage2.stage2_question(plan(presence), described, (), engine, load_config(None, how), **more)


def write(
    *answers: str | Reply, how: tuple[str, ...] = (), presence: Presence = NOBODY, text: str = GATE
) -> Talk:
    return Talk(asked2(presence, text, *how).inquiry(), *answers)


def line(*texts: str) -> str:
    """An answer of Stage II as it is asked for."""
    keys = ["summarized_AD"] if len(texts) == 1 else [f"summarized_AD_{k}" for k in range(1, len(texts) + 1)]
    return json.dumps(dict(zip(keys, texts, strict=True)))
