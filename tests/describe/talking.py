"""Inquiries of both stages about one made-up clip, driven by answers from a list."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from shotad.core import (
    NOBODY,
    Clip,
    ContextShot,
    Description,
    FramePlan,
    Grammar,
    Interval,
    Presence,
    Reply,
    Request,
    Role,
    Shot,
    Slot,
    Usage,
    load_config,
)
from shotad.description import EngineCall, Inquiry, SlotPlan, stage2
from shotad.description.slotplan import Heard
from shotad.description.stage1 import Stage1Question, stage1_as_seen, stage1_question
from tests.describe.prompting import Model

SLOT = Slot("s00010000", Interval(10.0, 14.0), 9)
CLIP = Clip(np.full((4, 144, 256, 3), 90, np.uint8), np.array([7.0, 8, 10, 11]), np.array([0, 0, 1, 1]))
ENGINE = Model()


def plan(presence: Presence = NOBODY, *heard: Heard) -> SlotPlan:
    shots = (
        ContextShot(Shot(3, Interval(6, 9)), Role.PAST, Interval(6, 9)),
        ContextShot(Shot(4, Interval(9, 15)), Role.CURRENT, Interval(9, 15)),
    )
    frames = (
        FramePlan(0, Role.PAST, np.array([7.0, 8.0])),
        FramePlan(1, Role.CURRENT, np.array([10.0, 11.0])),
    )
    return SlotPlan(SLOT, shots, frames, Grammar(), presence=presence, heard=heard)


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


def look(
    *answers: str | Reply, how: tuple[str, ...] = (), presence: Presence = NOBODY, engine: Model = ENGINE
) -> Talk:
    asked = asked1(presence, *how, engine=engine)
    seen = stage1_as_seen(CLIP, asked.plan, engine, asked.config)
    return Talk(asked.inquiry(seen), *answers)


def asked2(
    presence: Presence = NOBODY,
    text: str = "Ann opens a gate and walks into the garden.",
    *how: str,
    engine: Model = ENGINE,
    **more: Any,
) -> stage2.Question:
    described = Description(SLOT.id, {"Actions": text}, "", "", "model")
    more = {"looks": engine.identity, **more}
    return stage2.stage2_question(plan(presence), described, (), engine, load_config(None, how), **more)


def write(
    *answers: str | Reply,
    how: tuple[str, ...] = (),
    presence: Presence = NOBODY,
    text: str = "Ann opens a gate and walks into the garden.",
    engine: Model = ENGINE,
) -> Talk:
    return Talk(asked2(presence, text, *how, engine=engine).inquiry(), *answers)


def line(*texts: str) -> str:
    """An answer of Stage II as it is asked for."""
    keys = ["summarized_AD"] if len(texts) == 1 else [f"summarized_AD_{k}" for k in range(1, len(texts) + 1)]
    return json.dumps(dict(zip(keys, texts, strict=True)))
