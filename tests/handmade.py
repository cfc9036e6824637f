"""Records as a run keeps them, made by hand: whole, so that they are read back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from shotad.core import (
    Shot,
    Slot,
    Utterance,
)
from shotad.core.records import (
    shot_rows,
    slot_rows,
    utterance_rows,
)


def asked(slot: str, **more: Any) -> dict[str, Any]:
    """What both stages keep of a question and its answer; ``more`` takes the place of what stands here."""
    maker = {"engine": "fake", "model": "fake", "revision": "1"}
    return {
        "key": slot, "slot": slot, "maker": maker, "seed": 0, "prompt": [], "raw": "", "finish": "stop", "tries": [],
        "error": None,
    } | more  # fmt: skip


def look(slot: str, **more: Any) -> dict[str, Any]:
    """Stage I's answer on a slot without shots."""
    return asked(
        slot,
        **{
            "start": 0.0, "end": 4.0, "shots": [], "scales": {}, "threads": [], "effective_scale": 2.0, "factors": [],
            "overlay": None, "characters": [], "heard": [], "leaks": [], "invented": [], "steps": {}, "explanation": "", "engine": "fake", "notes": {},
        } | more,
    )  # fmt: skip


def line(slot: str, **more: Any) -> dict[str, Any]:
    """Stage II's answer: no line, where ``candidates`` has none."""
    kept = {"budget": None, "history": [], "candidates": [], "complaints": {}, "unseen": {}, "notes": {}}
    return asked(slot, **(kept | more))


def shots_record(shots: Sequence[Shot], cuts: Sequence[int], end: float) -> dict[str, Any]:
    """The content of ``shots.json``."""
    rows = shot_rows(shots, cuts)
    return {"key": "k", "film": "movie.mp4", "end": end, "damage": None, "holes": [], "shots": rows}


def speech_record(*said: Utterance) -> dict[str, Any]:
    """The content of ``speech.json``."""
    about: dict[str, Any] = {"key": "k", "source": "sound", "detail": "", "warnings": [], "misfit": ""}
    return {**about, "speech": utterance_rows(said), "singing": [], "shouts": []}


def slots_record(slots: Iterable[Slot]) -> dict[str, Any]:
    """The content of ``slots.json``."""
    return {"key": "k", "failed": [], "warnings": [], "slots": slot_rows(slots)}
