"""Records of both stages as a run keeps them, made by hand: whole, so that they are read back."""

from __future__ import annotations

from typing import Any


def asked(slot: str, **more: Any) -> dict[str, Any]:
    """What both stages keep of a question and its answer; ``more`` takes the place of what stands here."""
    maker = {"engine": "fake", "model": "fake", "revision": "1"}
    return {"key": slot, "slot": slot, "maker": maker, "prompt": [], "raw": "", "error": None, **more}


def look(slot: str, **more: Any) -> dict[str, Any]:
    """Stage I's answer on a slot without shots."""
    return asked(
        slot,
        **{
            "start": 0.0, "end": 4.0, "shots": [], "scales": {}, "threads": [], "effective_scale": 2.0, "factors": [],
            "overlay": None, "frame_size": None, "steps": {}, "explanation": "", "engine": "fake", "notes": {},
        } | more,
    )  # fmt: skip


def line(slot: str, **more: Any) -> dict[str, Any]:
    """Stage II's answer: no line, where ``candidates`` has none."""
    return asked(slot, **({"candidates": [], "notes": {}} | more))
