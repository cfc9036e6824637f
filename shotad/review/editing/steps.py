"""Changes as steps of undo, and steps as changes."""

from __future__ import annotations

from collections.abc import Sequence

from shotad.core import OutOfDate, Slot, slot_rows, slots_of
from shotad.film import SlotChange
from shotad.review.editing.acts_slots import SlotsChanged
from shotad.review.editing.history import LineStep, Step, Way
from shotad.review.kinds import Change, Json
from shotad.script import Track

_UNDONE = {"undo": "undone", "redo": "done again"}


def step_of(track: Track, change: Change, group: str = "") -> Step:
    """What ``change`` does to ``track``, so that it can be taken back."""
    before = {cue.id: cue for cue in track.cues}
    lines = [LineStep.of(cue.id, before.get(cue.id), cue) for cue in change.cues]
    lines += [LineStep.of(name, before[name], None) for name in change.gone if name in before]
    return Step(change.said, tuple(lines), _slots_json(slots_in(change)), group)


def changed_track(track: Track, change: Change) -> Track:
    """The track after a change of its lines."""
    cues = {cue.id: cue for cue in track.cues} | {cue.id: cue for cue in change.cues}
    return track.with_cues(cue for name, cue in cues.items() if name not in change.gone)


def slots_in(change: Change) -> SlotChange:
    """The slots that come and go with a change."""
    return change.slots if isinstance(change, SlotsChanged) else SlotChange()


def walked(step: Step, way: Way, track: Track, slots: Sequence[Slot]) -> Change:
    """What takes a step back, or does it again.

    Raises OutOfDate where one of its lines, or one of ``slots``, has changed otherwise since.
    """
    cues = {cue.id: cue for cue in track.cues}
    lines = [line.backwards() if way == "undo" else line for line in step.lines]
    moved = _slots_of(step.slots)
    moved = moved.inverse if way == "undo" else moved
    there = {slot.id for slot in slots}
    changed = [line.id for line in lines if not line.fits(cues.get(line.id))]
    changed += [slot.id for slot in moved.removed if slot.id not in there]
    changed += [slot.id for slot in moved.added if slot.id in there]
    if changed:
        said, names = step.said.rstrip("."), ", ".join(dict.fromkeys(changed))
        raise OutOfDate(
            f"“{said}” cannot be {_UNDONE[way]}: {names} has changed otherwise since.",
            "It is passed over and nothing is lost; the step before it comes next.",
        )
    after = {line.id: line.applied(cues.get(line.id), track.language) for line in lines}
    present = tuple(cue for cue in after.values() if cue is not None)
    gone = tuple(name for name, cue in after.items() if cue is None)
    said = f"{_UNDONE[way].capitalize()}: {step.said}"
    focus = present[0].id if present else None
    if moved != SlotChange():
        return SlotsChanged(said, present, gone, focus, slots=moved)
    return Change(said, present, gone, focus)


def _slots_json(slots: SlotChange) -> Json | None:
    if slots == SlotChange():
        return None
    return {"added": slot_rows(slots.added), "removed": slot_rows(slots.removed)}


def _slots_of(row: Json | None) -> SlotChange:
    if row is None:
        return SlotChange()
    return SlotChange(tuple(slots_of(row["added"])), tuple(slots_of(row["removed"])))
