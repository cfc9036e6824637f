"""Stage II: a description and a word budget to an engine, one AD sentence back, or five."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shotad.config import Config
from shotad.describe.ask import ask_all, identity_record, prompt_record, request_record, slot_seed
from shotad.describe.parsing import parse_stage2
from shotad.describe.prompts import Stage2Prompt, stage2_messages
from shotad.describe.slotplan import SlotPlan
from shotad.engines.base import Engine, Reply, Request
from shotad.errors import ScriptError
from shotad.types import Description
from shotad.workfolder import key_of


@dataclass(frozen=True, slots=True)
class Question:
    """Stage II's question about one slot."""

    plan: SlotPlan
    prompt: Stage2Prompt
    request: Request
    key: str


def question(
    plan: SlotPlan, description: Description, history: Sequence[str], engine: Engine, config: Config
) -> Question:
    """The question; ``history`` are the last lines, given only to an engine that uses them."""
    prompt = stage2_messages(
        description, plan.slot.max_words, config.prompt, seed=config.seed, candidates=config.stage2.candidates
    )
    request = Request(
        slot_id=plan.slot.id,
        messages=prompt.messages,
        scene=plan.scene,
        budget=plan.slot.max_words,
        history=tuple(history)[-config.stage2.history :] if config.stage2.history else (),
        sampling=config.stage2.sampling,
        seed=slot_seed(config.seed, plan.slot.id),
        schema=prompt.schema,
        notes=description.notes,
    )
    return Question(plan, prompt, request, key_of(request_record(request, engine.identity)))


def answer(asked: Question, engine: Engine, config: Config) -> dict[str, Any]:
    """The record of one slot: what was asked and answered, or why it failed or is silent."""
    reply = ask_all(engine, [asked.request])[0]
    candidates, error = _candidates(reply, config.stage2.candidates)
    return {
        "slot": asked.plan.slot.id,
        "budget": asked.request.budget,
        "history": list(asked.request.history),
        "maker": identity_record(engine.identity),
        "seed": asked.request.seed,
        "prompt": prompt_record(asked.prompt.messages),
        "raw": reply.text,
        "finish": "error" if error else reply.finish,
        "usage": {"tokens_in": reply.usage.tokens_in, "tokens_out": reply.usage.tokens_out},
        "error": error,
        "candidates": candidates,
        "notes": dict(reply.notes),
    }


def failed(record: Mapping[str, Any]) -> str | None:
    """Why Stage II has no line, or None where it answered (also with silence)."""
    return record["error"]  # type: ignore[no-any-return]


def _candidates(reply: Reply, number: int) -> tuple[list[str], str | None]:
    if reply.error is not None or reply.finish == "silent":
        return [], reply.error
    try:
        return list(parse_stage2(reply.text, number)), None
    except ScriptError as trouble:
        return [], str(trouble)
