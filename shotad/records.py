"""What the work folder's records look like: to JSON and back, times to the microsecond."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shotad.types import ContextShot, Description, FramePlan, Interval, Shot, Slot, SpeechKind, Utterance

Json = dict[str, Any]


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
