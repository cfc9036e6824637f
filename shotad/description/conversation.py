"""Questions to engines and their answers: what both stages, and all others who ask, have in common.

What is asked of one slot is an `Inquiry`: it yields turns, gets the replies, and returns its record. It may
ask several engines in turn and ask again; `shotad.description.scheduler` puts its turns together with those
of other slots.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from shotad.core import (
    Engine,
    EngineError,
    Foreseeable,
    Identity,
    Message,
    Preparing,
    Progress,
    Reply,
    Request,
    ShotadError,
    Usage,
    key_of,
    weights_file,
)

Who = Literal["looks", "writes", "measures"]
"""The engine of Stage I, that of Stage II, or the observer that measures for a second look."""


@dataclass(frozen=True, slots=True)
class EngineCall:
    """One question to one of the engines. ``with_clip``: it needs the slot's clip, which is read for it."""

    who: Who
    request: Request
    with_clip: bool = False


Inquiry = Generator[tuple[EngineCall, ...], tuple[Reply, ...], dict[str, Any]]
"""Yields turns, all to the same engine; gets a reply to each; returns the slot's record."""

Named = tuple[str, Inquiry]
"""An inquiry and what its result is called."""

Told = tuple[str, dict[str, Any]]
"""A record and what it is called."""


def make_ready(engine: Engine, progress: Progress) -> None:
    """Refuse what cannot work and fetch what is wanted; the engine's identity is final afterwards."""
    if isinstance(engine, Preparing):
        engine.get_ready(progress)
    for name in engine.abilities.weights:
        weights_file(name, progress)


def ready_if_here(engine: Engine) -> None:
    """The same for an estimate, where nothing has to be fetched for it."""
    if isinstance(engine, Foreseeable):
        engine.ready_if_here()


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
    if reply.shown:
        together["shown"] = reply.shown
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
        **({"timed": True} if request.timed else {}),
    }


def is_done(record: Mapping[str, Any] | None) -> bool:
    """A failed answer is asked for again on the next run, and so is a line that could not be looked for."""
    return record is not None and record["error"] is None and not record.get("unlooked")


def of_other(record: Mapping[str, Any], maker: Mapping[str, Any]) -> tuple[str, str] | None:
    """Slot and maker of an answer by another engine, which may have been paid for; None for one of ``maker``
    and for a failed one."""
    if record.get("error") is not None or record.get("maker") == maker:
        return None
    return str(record.get("slot")), key_of(record.get("maker"))
