"""Putting questions to an engine so that nothing it does takes the run along."""

from __future__ import annotations

import hashlib
from typing import Any

from shotad.engines.base import Engine, Identity, Reply, Request
from shotad.errors import EngineError, WeightsError
from shotad.types import Message


def slot_seed(seed: int, slot_id: str) -> int:
    """The seed of one slot, 32 bits, from the run's seed and the slot's id, never from a generator
    that runs on: an AD does not depend on the ADs before it."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{slot_id}".encode()).digest()[:4], "big")


def ask(engine: Engine, request: Request) -> Reply:
    """The engine's reply; an exception other than an interruption becomes a failed one."""
    try:
        replies = engine.generate([request])
    except (EngineError, WeightsError):
        raise
    except Exception as error:  # noqa: BLE001  whatever a model's code raises is this slot's failure
        return Reply("", "error", error=f"{type(error).__name__}: {error}")
    if len(replies) != 1:
        return Reply(
            "", "error", error=f"engine {engine.identity.engine} gave {len(replies)} replies to 1 request"
        )
    return replies[0]


def check_images(engine: Engine, images: int) -> None:
    """Refuse a clip that the engine cannot take, before it is called."""
    able = engine.abilities
    if not able.accepts_images:
        raise EngineError(
            f"The engine {engine.identity.engine} takes no images.", "Choose another one as stage1.engine."
        )
    if able.max_images is not None and images > able.max_images:
        raise EngineError(
            f"The engine {engine.identity.engine} takes {able.max_images} images, the clip has {images}.",
            "Lower frames.inside and frames.outside.",
        )


def prompt_record(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    """The exact prompt, as it is kept in the record."""
    return [{"role": message.role, "text": message.text} for message in messages]


def identity_record(identity: Identity) -> dict[str, str]:
    """Who answered, as it is kept in the record."""
    return {"engine": identity.engine, "model": identity.model, "revision": identity.revision}


def request_record(request: Request, identity: Identity) -> dict[str, Any]:
    """All of a request that can change its answer, but for the pixels: the material of a record's key."""
    scene = request.scene
    return {
        "identity": identity_record(identity),
        "messages": prompt_record(request.messages),
        "slot": None
        if scene is None
        else [scene.slot.start, scene.slot.end, scene.credits, [[s.start, s.end] for s in scene.speech]],
        "context": [
            [shot.shot.index, shot.role, shot.clipped.start, shot.clipped.end]
            for shot in (scene.context if scene else ())
        ],
        "budget": request.budget,
        "history": list(request.history),
        "sampling": request.sampling.model_dump(),
        "seed": request.seed,
        "schema": request.schema,
        "notes": request.notes,
    }
