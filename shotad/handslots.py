"""Slots by hand as they are kept: ``slots.hand.json`` in the work folder.

``slots.json`` holds the slots of the film with a person's in them, so that whoever reads that file needs to
know of no other. A change is written to both: the next run plans anew and keeps to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shotad.config import SlotSettings
from shotad.errors import WorkFolderError
from shotad.plan.handslots import HandSlots, SlotChange, apply_change, change_between, changed_slots
from shotad.records import interval_rows, read_record, slot_rows, slots_of
from shotad.script.cue import Cue, CueStatus
from shotad.script.track import Track
from shotad.types import Interval, Slot
from shotad.wholefiles import readable_json, write_text

FILE = "slots.hand.json"
SCHEMA = 1

ADDED = "added by a person"
"""The reason of a line that nobody has written yet, in a slot that a person added."""

_AGAIN = "Correct it, or delete it to go back to the slots as they are planned."


def read_hand_slots(folder: Path) -> HandSlots:
    """What a person did to the slots; nothing where there is no such file.

    Raises WorkFolderError for one that is damaged: it holds a person's work.
    """
    record = read_record(folder / FILE, _AGAIN)
    if record is None:
        return HandSlots()
    if record["schema_version"] > SCHEMA:
        newer = f"schema_version {record['schema_version']} is that of a newer shotad"
        raise WorkFolderError(f"{folder / FILE} is damaged: {newer}.", _AGAIN)
    added = tuple(Interval(float(start), float(end)) for start, end in record["added"])
    return HandSlots(added, slots_of(record["removed"]))


def empty_line(slot: Slot, language: str) -> Cue:
    """The line of a slot that a person added and that nobody has described yet."""
    return Cue(slot.id, slot.id, slot.interval, "", language=language, status=CueStatus.SILENT, reason=ADDED)


def hand_row(hand: HandSlots) -> dict[str, Any]:
    """What a person did, as JSON values."""
    return {"added": interval_rows(hand.added), "removed": slot_rows(hand.removed)}


def change_slots(folder: Path, change: SlotChange) -> HandSlots:
    """Write a change down, for this run's records and for all that follow; what a person did by now.

    Raises WorkFolderError where the records are missing or damaged.
    """
    hand = apply_change(read_hand_slots(folder), change)
    _slots_record(folder / "slots.json")
    if hand:
        write_text(folder / FILE, readable_json({"schema_version": SCHEMA, **hand_row(hand)}))
    else:
        (folder / FILE).unlink(missing_ok=True)
    _change_record(folder, change)
    return hand


def _change_record(folder: Path, change: SlotChange) -> None:
    path = folder / "slots.json"
    record = _slots_record(path)
    slots = changed_slots(slots_of(record["slots"]), change)
    write_text(path, readable_json({**record, "slots": slot_rows(slots)}))


def changes_since(folder: Path, known: HandSlots, settings: SlotSettings) -> SlotChange:
    """What a person did to the slots since a run read ``known`` of it, brought into the records anew, for
    that run may have written over them. Who calls holds `shotad.tracking.track_lock`."""
    hand = read_hand_slots(folder)
    late = change_between(known, hand, settings)
    if late != SlotChange():
        _change_record(folder, late)
    return late


def with_slots(track: Track, change: SlotChange) -> Track:
    """The track with an empty line for each slot that came and has none, and without those of slots that
    went."""
    gone, known = {slot.id for slot in change.removed}, {cue.id for cue in track.cues}
    new = [empty_line(slot, track.language) for slot in change.added if slot.id not in known]
    return track.with_cues([*(cue for cue in track.cues if cue.slot_id not in gone), *new])


_RUN = "Run shotad describe on the film again; what is done is not asked for twice."


def _slots_record(path: Path) -> Mapping[str, Any]:
    record = read_record(path)
    if record is None:
        raise WorkFolderError(f"{path} is missing.", _RUN)
    return record
