"""A work folder as a run leaves it, made by hand: a track, speech, shots, threads, people and slots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shotad.core import Interval
from shotad.core.types import slot_id
from shotad.script import Cue, Track
from shotad.script.track import FilmId
from tests.handmade import slots_record, speech_record

Lines = Sequence[tuple[float, float, str]]
"""Start, end and text of each line; of dialogue ``Ann: text`` names who speaks."""


def make_folder(place: Path, film: str, lines: Lines, said: Lines = (), **records: Mapping[str, Any]) -> Path:
    """The folder, with one slot under each line; ``records`` replace those that are made."""
    place.mkdir(parents=True, exist_ok=True)
    cues = (Cue(slot_id(start), slot_id(start), Interval(start, end), text) for start, end, text in lines)
    Track(FilmId(f"{film}.mp4", "f00d", 3600.0), "en", (), "0.1.0", ()).with_cues(cues).save(
        place / "track.json"
    )
    made: dict[str, Mapping[str, Any]] = {
        "speech": speech_record() | {"speech": [utterance(*one) for one in said]},
        "slots": slots_record(()) | {"slots": [slot(start, end) for start, end, _ in lines]},
        **records,
    }
    for name, content in made.items():
        (place / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return place


def utterance(start: float, end: float, text: str) -> dict[str, Any]:
    speaker, named, words = text.partition(": ")
    who = {"speaker": speaker} if named else {}
    return {"start": start, "end": end, "kind": "speech", "text": words if named else text, **who}


def slot(start: float, end: float) -> dict[str, Any]:
    return {"id": slot_id(start), "start": start, "end": end, "max_words": 9, "credits": False}
