"""What the work folder's records look like: to JSON and back, times to the microsecond.

The records are readable, so people edit them. Whoever reads one back does so by `read_record`, or, of the
lines of a ``.jsonl`` file, by `whole_record`: both hold it against its shape in `recordshapes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from shotad.core.errors import WorkFolderError
from shotad.core.recordshapes import shape_of
from shotad.core.types import ContextShot, Description, FramePlan, Interval, Shot, Slot, SpeechKind, Utterance
from shotad.core.wholefiles import explained

Json = dict[str, Any]

_MEND = "Correct it there, or delete the file: shotad describe makes it again."


def parse_json(text: str | bytes) -> Any:
    """The value in a JSON text. Raises ValueError, also where it is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_record(path: Path, hint: str = _MEND) -> Json | None:
    """The content of a JSON file of a work folder; None where there is no such file.

    Raises WorkFolderError, with the place, where it is damaged: it may hold a person's work.
    """
    try:
        with explained(path, "cannot be read"):
            data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return _read(path.name, data)
    except ValueError as trouble:
        raise WorkFolderError(f"{path} is damaged: {trouble}.", hint) from None


def whole_record(name: str, line: bytes) -> Json | None:
    """The record in a line of the file ``name``; None where it is damaged: it can be made again."""
    try:
        return _read(name, line)
    except ValueError:
        return None


def _read(name: str, data: bytes) -> Json:
    """The object in ``data``. Raises ValueError where it has not the shape of a record called ``name``."""
    try:
        text = data.decode("utf-8-sig")
        value = parse_json(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} is no UTF-8") from None
    if not isinstance(value, dict):
        raise ValueError(f"it must be an object in braces, got {_short(value)}")
    shape = shape_of(name)
    if shape is not None:
        try:
            shape.validate_json(text, strict=True)
        except ValidationError as error:
            raise ValueError(_explained(error)) from None
    return value


def _explained(error: ValidationError) -> str:
    """The first thing that is wrong: ``shots, entry 4, start: Input should be a valid number, got 'x'``."""
    first = error.errors(include_url=False)[0]
    place = ", ".join(f"entry {part + 1}" if isinstance(part, int) else str(part) for part in first["loc"])
    what = first["msg"].removeprefix("Value error, ")
    got = "" if first["type"] in ("value_error", "missing") else f", got {_short(first['input'])}"
    return f"{place}: {what}{got}" if place else f"{what}{got}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def seconds(value: float) -> float:
    """Film time as it is written: to the microsecond, so that a record reads back as it was."""
    return round(float(value), 6)


def shot_rows(shots: Sequence[Shot], cuts: Sequence[int]) -> list[Json]:
    """One row for each shot; ``frame`` is the number of its first frame."""
    frames = (0, *cuts)
    return [
        {"index": s.index, "start": seconds(s.interval.start), "end": seconds(s.interval.end), "frame": frame}
        for s, frame in zip(shots, frames, strict=True)
    ]


def shots_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Shot, ...]:
    """The shots that `shot_rows` wrote."""
    return tuple(Shot(row["index"], Interval(row["start"], row["end"])) for row in rows)


def utterance_rows(utterances: Iterable[Utterance]) -> list[Json]:
    """One row for each stretch of speech."""
    return [
        {
            "start": seconds(u.interval.start),
            "end": seconds(u.interval.end),
            "kind": u.kind.value,
            "text": u.text,
            **({"speaker": u.speaker} if u.speaker else {}),
        }
        for u in utterances
    ]


def utterances_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Utterance, ...]:
    """The utterances that `utterance_rows` wrote."""
    return tuple(
        Utterance(
            Interval(row["start"], row["end"]), row["text"], SpeechKind(row["kind"]), row.get("speaker", "")
        )
        for row in rows
    )


def slot_rows(slots: Iterable[Slot]) -> list[Json]:
    """One row for each slot."""
    return [
        {
            "id": slot.id,
            "start": seconds(slot.interval.start),
            "end": seconds(slot.interval.end),
            "max_words": slot.max_words,
            "credits": slot.credits,
            **({"label": slot.label} if slot.label else {}),
        }
        for slot in slots
    ]


def slots_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Slot, ...]:
    """The slots that `slot_rows` wrote."""
    return tuple(
        Slot(
            row["id"],
            Interval(row["start"], row["end"]),
            row["max_words"],
            row["credits"],
            row.get("label", ""),
        )
        for row in rows
    )


def interval_rows(intervals: Iterable[Interval]) -> list[list[float]]:
    """Start and end of each interval."""
    return [[seconds(i.start), seconds(i.end)] for i in intervals]


def clip_rows(shots: Sequence[ContextShot], plans: Sequence[FramePlan]) -> list[Json]:
    """What a slot's clip shows: for each painted number its shot, its role, its part and its moments."""
    return [
        {
            "number": plan.number,
            "shot": piece.shot.index,
            "role": piece.role.value,
            "start": seconds(piece.clipped.start),
            "end": seconds(piece.clipped.end),
            "seconds": [seconds(s) for s in plan.seconds],
        }
        for piece, plan in zip(shots, plans, strict=True)
    ]


def description_row(description: Description) -> Json:
    """Stage I's answer as it stands in ``stage1.jsonl``."""
    return {
        "steps": dict(description.steps),
        "explanation": description.explanation,
        "raw": description.raw,
        "engine": description.engine,
        "notes": dict(description.notes),
    }


def description_of(slot_id: str, row: Mapping[str, Any]) -> Description:
    """The description that `description_row` wrote."""
    return Description(slot_id, row["steps"], row["explanation"], row["raw"], row["engine"], row["notes"])
