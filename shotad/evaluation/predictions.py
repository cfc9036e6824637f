"""Predictions as they come from files, and how they are joined to a dataset: by id, never by row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a system says for one AD. ``text`` None: it failed, ``failure`` says why. ``description`` is
    Stage I's text, ``candidates`` all lines that were offered, ``scale`` the effective shot scale,
    ``threaded`` whether the clip has a thread."""

    id: str
    text: str | None
    failure: str = ""
    candidates: tuple[str, ...] = ()
    description: str | None = None
    scale: float | None = None
    threaded: bool | None = None
