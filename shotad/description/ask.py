"""Putting questions to an engine so that nothing it does takes the run along."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from shotad.core import Engine, EngineError, Identity, Message, Reply, Request, ShotadError, Usage


def slot_seed(seed: int, slot_id: str) -> int:
    """The seed of one slot, 32 bits, from the run's seed and the slot's id, never from a generator
    that runs on: an AD does not depend on the ADs before it."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{slot_id}".encode()).digest()[:4], "big")


def ask_all(engine: Engine, requests: Sequence[Request]) -> list[Reply]:
    """One reply for each request. What an engine raises becomes failed replies, but for what stops a run.

    Where several were asked together and the call failed as a whole, each is asked alone, so that one bad
    request does not take others along.
    """
    try:
        replies = engine.generate(requests)
    except ShotadError:
        raise
    except Exception as error:  # noqa: BLE001  whatever a model's code raises is these slots' failure
        if len(requests) > 1:
            return [reply for request in requests for reply in ask_all(engine, [request])]
        return [Reply("", "error", error=f"{type(error).__name__}: {error}")]
    if len(replies) != len(requests):
        wrong = f"engine {engine.identity.engine} gave {len(replies)} replies to {len(requests)} requests"
        return [Reply("", "error", error=wrong) for _ in requests]
    return replies


def check_images(engine: Engine, images: int) -> None:
    """Refuse a clip that the engine cannot take, before it is called."""
    able = engine.abilities
    if not able.accepts_images:
        raise EngineError(
            f"The engine {engine.identity.engine} takes no images.",
            "Choose another one as stage1.engine.",
            again=False,
        )
    if able.max_images is not None and images > able.max_images:
        raise EngineError(
            f"The engine {engine.identity.engine} takes {able.max_images} images, the clip has {images}.",
            "Lower frames.inside and frames.outside.",
            again=False,
        )


def try_record(reply: Reply, complaints: Iterable[str] = ()) -> dict[str, Any]:
    """One answer, as it is kept in the record: what was said, what it cost, what was wrong with it."""
    together: dict[str, Any] = {"batch": list(reply.batch)} if reply.batch else {}
    if reply.calls != 1:
        together["calls"] = reply.calls
    return {
        "raw": reply.text,
        "finish": reply.finish,
        "error": reply.error,
        "usage": usage_record([reply]),
        "complaints": list(complaints),
        **together,
    }


def usage_record(replies: Iterable[Reply]) -> dict[str, int]:
    """What these answers cost together."""
    used = sum((reply.usage for reply in replies), Usage())
    return {"tokens_in": used.tokens_in, "tokens_out": used.tokens_out}


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
