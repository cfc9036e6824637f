"""Slots and shots that the user gives as files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from shotad.core import Interval, ScriptError
from shotad.script.cue import ScriptCue
from shotad.script.text import read_cues


def slot_cues(path: Path) -> list[tuple[str | None, Interval]]:
    """Id (None where there is none) and interval of each slot in a VTT, SRT, CSV or JSON file."""
    return [(cue.id, cue.interval) for cue in _cues(path, "slots")]


def given_shots(path: Path, end: float) -> list[dict[str, Any]]:
    """Rows of the shots in a CSV or JSON file (``shotad shots --json`` writes one), numbered anew.

    Shots ascend and do not overlap; what reaches beyond ``end`` seconds is cut off.
    """
    film = Interval(0.0, end)
    parts = [part for cue in _cues(path, "shots") if (part := cue.interval.clip(film))]
    for one, two in pairwise(parts):
        if two.start < one.end:
            what = f"{path}: the shots {one} and {two} overlap or are out of order."
            raise ScriptError(what, "Correct the times.")
    if not parts:
        what = f"{path} holds no shot inside the film {film}."
        raise ScriptError(what, "Give start and end of each shot in seconds.")
    return [{"index": i, "start": p.start, "end": p.end, "frame": None} for i, p in enumerate(parts)]


def _cues(path: Path, what: str) -> tuple[ScriptCue, ...]:
    cues = read_cues(path)
    if not cues:
        raise ScriptError(f"{path} holds no {what}.", "Give start and end of each in seconds.")
    return cues
