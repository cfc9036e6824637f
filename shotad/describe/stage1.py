"""Stage I: frames and a prompt to an engine, a dense description back (Shot-by-Shot, section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from shotad.config import Config
from shotad.describe.ask import (
    ask_all,
    check_images,
    identity_record,
    prompt_record,
    request_record,
    slot_seed,
)
from shotad.describe.parsing import parse_stage1
from shotad.describe.prompts import Stage1Prompt, stage1_messages
from shotad.describe.slotplan import SlotPlan
from shotad.engines.base import Engine, Reply, Request
from shotad.errors import ScriptError
from shotad.pictures.overlay import fit, paint, vlm_size
from shotad.records import clip_rows, description_row
from shotad.types import Clip, Description
from shotad.workfolder import key_of


@dataclass(frozen=True, slots=True)
class Question:
    """Stage I's question about one slot; its clip is read only if the answer is not there yet.

    ``label`` is how shots are marked on its frames; None where they are shown as they are.
    """

    plan: SlotPlan
    prompt: Stage1Prompt
    request: Request
    label: str | None
    key: str


def question(plan: SlotPlan, engine: Engine, config: Config, pixels: str) -> Question:
    """The question about ``plan``; ``pixels`` stands for the film and the way its frames are read."""
    prompt = stage1_messages(plan.frames, plan.grammar, config.prompt, label=config.overlay.label)
    request = Request(
        slot_id=plan.slot.id,
        messages=prompt.messages,
        scene=plan.scene,
        sampling=config.stage1.sampling,
        seed=slot_seed(config.seed, plan.slot.id),
    )
    shown = [clip_rows(plan.shots, plan.frames), _grammar_row(plan)]
    looks = [config.overlay, config.frames]
    key = key_of(pixels, shown, looks, request_record(request, engine.identity))
    label = config.overlay.label if engine.abilities.wants_overlay else None
    return Question(plan, prompt, request, label, key)


def answer(asked: Question, clip: Clip, engine: Engine, config: Config) -> dict[str, Any]:
    """The record of one slot: what was shown, asked and answered, or why it failed."""
    check_images(engine, len(clip))
    seen = clip if not engine.abilities.wants_overlay else _dressed(clip, asked.plan, config)
    return _record(asked, engine, ask_all(engine, [replace(asked.request, clip=seen)])[0], seen)


def unread(asked: Question, engine: Engine) -> dict[str, Any]:
    """The record of a slot of whose clip no frame could be decoded."""
    return _record(asked, engine, Reply("", "error", error="no frame of its clip can be decoded"), None)


def _record(asked: Question, engine: Engine, reply: Reply, seen: Clip | None) -> dict[str, Any]:
    plan = asked.plan
    return {
        "slot": plan.slot.id,
        "start": plan.slot.interval.start,
        "end": plan.slot.interval.end,
        "shots": clip_rows(plan.shots, plan.frames),
        **_grammar_row(plan),
        "effective_scale": asked.prompt.effective_scale,
        "factors": list(asked.prompt.factors),
        "maker": identity_record(engine.identity),
        "seed": asked.request.seed,
        "prompt": prompt_record(asked.prompt.messages),
        "overlay": asked.label,
        "frame_size": None if seen is None else [seen.images.shape[2], seen.images.shape[1]],
        "finish": reply.finish,
        "usage": {"tokens_in": reply.usage.tokens_in, "tokens_out": reply.usage.tokens_out},
        **_parsed(reply, asked, engine),
    }


def _grammar_row(plan: SlotPlan) -> dict[str, Any]:
    """Scales by painted number, their expected values where those count, and threads."""
    grammar = plan.grammar
    expected = {str(number): round(value, 4) for number, value in grammar.expected.items()}
    return {
        "scales": {str(number): scale.value for number, scale in grammar.scales.items()},
        **({"expected": expected} if expected else {}),
        "threads": [list(thread) for thread in grammar.threads],
    }


def failed(record: Mapping[str, Any]) -> str | None:
    """Why Stage I has no description, or None where it has one."""
    return record["error"]  # type: ignore[no-any-return]


def _parsed(reply: Reply, asked: Question, engine: Engine) -> dict[str, Any]:
    error = reply.error
    if error is None:
        try:
            found = parse_stage1(
                reply.text,
                asked.prompt.steps,
                asked.plan.slot.id,
                engine=engine.identity.engine,
                notes=reply.notes,
            )
            return {"error": None, **description_row(found)}
        except ScriptError as trouble:
            error = str(trouble)
    empty = Description(asked.plan.slot.id, {}, "", reply.text, engine.identity.engine)
    return {"error": error, **description_row(empty)}


def _dressed(clip: Clip, plan: SlotPlan, config: Config) -> Clip:
    """The clip as a VLM gets it: at the size it works on, with the shots' numbers painted on."""
    height, width = clip.images.shape[1:3]
    small = Clip(fit(clip.images, vlm_size(width, height, config.frames)), clip.seconds, clip.shot_numbers)
    return paint(small, config.overlay, current=plan.current)
