"""What Stage I was shown of a slot, as the records tell: which frames, and what was painted on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from shotad.review.kinds import FrameNote
from shotad.review.showing.recordindex import RecordIndex

SHOWN = 24
"""Frames of a slot that are marked as worth showing, where the model saw more: at most about so many."""

Label = Literal["number", "box", "none"]
_LABELS: tuple[Label, ...] = ("number", "box", "none")

_BROKEN = (KeyError, ValueError, TypeError, AttributeError, IndexError)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one slot's record tells. ``record`` is its key; ``overlay`` None: its frames were seen as they
    are; ``marks`` are those of the people on them, by id, in words."""

    record: str
    notes: tuple[FrameNote, ...]
    current: frozenset[int]
    overlay: Label | None
    size: tuple[int, int] | None
    marks: Mapping[str, str]
    redone: bool = False


class Looks:
    """Stage I's records by slot, those of the run and those of later redos; read again when they change."""

    def __init__(self, folder: Path) -> None:
        self._run, self._redo = RecordIndex(folder / "stage1.jsonl"), RecordIndex(folder / "redo.jsonl")

    def of(self, slot_id: str) -> Seen | None:
        """What was seen of that slot: by the run; where only a redo has looked, by the last that did."""
        for record in reversed(self._run.all(slot_id)):
            if (seen := _read(record, redone=False)) is not None:
                return seen
        for record in reversed(self._redo.all(slot_id)):
            if (seen := _read(record.get("stage1"), redone=True)) is not None:
                return seen
        return None


def _read(record: Any, *, redone: bool) -> Seen | None:
    """None for a record of another shotad, or none at all."""
    try:
        return _seen(record, redone=redone)
    except _BROKEN:
        return None


def _seen(record: Mapping[str, Any], *, redone: bool) -> Seen:
    overlay, size = record.get("overlay"), record.get("frame_size")
    notes = []
    for row in record["shots"]:
        scale = record["scales"].get(str(row["number"]))
        extra = {"index": int(row["shot"]), "role": str(row["role"]), "scale": scale}
        notes += [FrameNote(0, float(second), int(row["number"]), extra) for second in row["seconds"]]
    shown = spread([str(note.extra["role"]) for note in notes], [note.shot for note in notes], SHOWN)
    return Seen(
        record=str(record["key"]),
        notes=tuple(
            replace(
                note, number=i + 1, extra={**note.extra, "shown": i in shown, "painted": overlay is not None}
            )
            for i, note in enumerate(notes)
        ),
        current=frozenset(int(row["number"]) for row in record["shots"] if row["role"] == "current"),
        overlay=_LABELS[_LABELS.index(overlay)] if overlay is not None else None,
        size=(int(size[0]), int(size[1])) if size else None,
        marks={str(row["id"]): str(row["mark"]) for row in record.get("characters", ()) if row["mark"]},
        redone=redone,
    )


def spread(roles: Sequence[str], shots: Sequence[int | None], most: int) -> Collection[int]:
    """Which of the frames, by place from 0, to show where there is room for about ``most``.

    At least one of each shot, then evenly in each; a shot that is described counts three times.

    >>> sorted(spread(["past"] * 4 + ["current"] * 8, [0] * 4 + [1] * 8, 4))
    [2, 4, 8, 11]
    """
    if len(roles) <= most:
        return range(len(roles))
    places: dict[int | None, list[int]] = {}
    for place, shot in enumerate(shots):
        places.setdefault(shot, []).append(place)
    weight = {s: len(p) * (3 if roles[p[0]] == "current" else 1) for s, p in places.items()}
    whole = sum(weight.values())
    chosen: set[int] = set()
    for shot, here in places.items():
        count = min(len(here), max(1, round(most * weight[shot] / whole)))
        steps = (
            [len(here) // 2]
            if count == 1
            else [round(k * (len(here) - 1) / (count - 1)) for k in range(count)]
        )
        chosen |= {here[step] for step in steps}
    return chosen
