"""Slots in the work folder: those a person added or removed, and the results of a run's analysis.

A person's changes outlive every later plan. A removed slot keeps its time, so that a later plan with other
settings, whose slots have other ids, does not bring it back; a planned slot that overlaps an added one
yields to it. ``slots.hand.json`` in the work folder keeps these changes; ``slots.json`` holds the slots of
the film with the changes applied, so that a reader of that file needs no other.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shotad.core import (
    Config,
    FilmInfo,
    Interval,
    RunSettings,
    Shot,
    Slot,
    Utterance,
    WorkFolder,
)
from shotad.core.config.film import SlotSettings
from shotad.core.errors import (
    EditConflict,
    FilmError,
    ReviewError,
    WorkFolderError,
)
from shotad.core.files import read_file, remove_file, write_text
from shotad.core.records import (
    interval_rows,
    parse_json,
    shots_of,
    slot_rows,
    slots_of,
    utterances_of,
)
from shotad.core.types import clip_all, slot_id
from shotad.core.workfolder import read_record, readable_json
from shotad.film.slots import EARLIEST, FailedSlot, free_time, word_budget

FILE = "slots.hand.json"
SCHEMA = 1

_DAMAGED_HINT = "Correct it, or delete it and slots.json to go back to the planned slots."
_MISSING_HINT = "Run shotad describe on the film again; what is done is not asked for twice."

SHORTEST = 1.0
"""Seconds that an added slot has at least. One second holds two or three words; less is no line."""

_ROUNDING = 0.001
"""Seconds by which an added slot may reach out of a gap: its times are whole milliseconds, those of gaps are
not."""


@dataclass(frozen=True, slots=True)
class HandSlots:
    """A person's changes to the slots of a film: the times of added slots, and the slots removed."""

    added: tuple[Interval, ...] = ()
    removed: tuple[Slot, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the added slots."""
        return frozenset(slot_id(time.start) for time in self.added)


@dataclass(frozen=True, slots=True)
class SlotChange:
    """One change by a person: the slots that it adds, and those that it removes."""

    added: tuple[Slot, ...] = ()
    removed: tuple[Slot, ...] = ()

    @property
    def inverse(self) -> SlotChange:
        """The change that undoes this one."""
        return SlotChange(added=self.removed, removed=self.added)


def apply_hand_slots(
    planned: Sequence[Slot], hand: HandSlots, settings: SlotSettings
) -> tuple[tuple[Slot, ...], tuple[Slot, ...]]:
    """Apply a person's changes to a plan.

    Returns the planned slots without those removed and with those added, sorted by start; and the planned
    slots that yielded to an added one. A planned slot counts as removed where a removed one has its id or
    covers at least half of its time.
    """
    if not hand:
        return tuple(planned), ()
    added = tuple(hand_slot(time, settings) for time in hand.added)
    planned_slots: list[Slot] = []
    yielded: list[Slot] = []
    for slot in planned:
        if any(_is_same(slot, removed) for removed in hand.removed):
            continue
        if any(slot.id == new.id or slot.interval.overlaps(new.interval) for new in added):
            yielded.append(slot)
        else:
            planned_slots.append(slot)
    return _in_order((*planned_slots, *added)), tuple(yielded)


def apply_change(hand: HandSlots, change: SlotChange) -> HandSlots:
    """A person's changes to the plan, with one more ``change`` after them."""
    removed_before = {(slot.id, slot.interval) for slot in hand.removed}
    # A planned slot that was removed and comes back is a planned slot again, not an added one.
    restored_ids = {slot.id for slot in change.added if (slot.id, slot.interval) in removed_before}
    removed_ids = {slot.id for slot in change.removed}
    added_ids = hand.ids

    added = [time for time in hand.added if slot_id(time.start) not in removed_ids]
    added += [slot.interval for slot in change.added if slot.id not in restored_ids]
    removed = [slot for slot in hand.removed if slot.id not in restored_ids]
    # An added slot that is removed again leaves nothing: the plan never had it.
    removed += [slot for slot in change.removed if slot.id not in added_ids]

    unique_times = dict.fromkeys(added)
    unique_removed = {slot.id: slot for slot in removed}
    return HandSlots(tuple(sorted(unique_times)), _in_order(unique_removed.values()))


def change_between(before: HandSlots, after: HandSlots, settings: SlotSettings) -> SlotChange:
    """The change that leads from one state of a person's changes to a later one."""
    appeared = [hand_slot(time, settings) for time in after.added if time not in before.added]
    disappeared = [hand_slot(time, settings) for time in before.added if time not in after.added]
    removed_before = {slot.id for slot in before.removed}
    removed_after = {slot.id for slot in after.removed}
    appeared += [slot for slot in before.removed if slot.id not in removed_after]
    disappeared += [slot for slot in after.removed if slot.id not in removed_before]
    return SlotChange(added=tuple(appeared), removed=tuple(disappeared))


def changed_slots(slots: Sequence[Slot], change: SlotChange) -> tuple[Slot, ...]:
    """The slots after a change, sorted by start."""
    # Added ids are taken out too: the slot may be there already, and must not be there twice.
    changed_ids = {slot.id for slot in (*change.removed, *change.added)}
    unchanged = [slot for slot in slots if slot.id not in changed_ids]
    return _in_order((*unchanged, *change.added))


def hand_slot(time: Interval, settings: SlotSettings) -> Slot:
    """The slot that a person adds at ``time``, with the id and the word budget that the planner gives."""
    return Slot(slot_id(time.start), time, word_budget(time.duration, settings))


def new_slot(
    start: float,
    end: float,
    *,
    free: Sequence[Interval] | None,
    slots: Iterable[Slot],
    lines: Iterable[tuple[str, Interval]],
    film: float,
    settings: SlotSettings,
) -> Slot:
    """The slot that a person adds in ``[start, end)`` seconds, in whole milliseconds within it.

    ``free`` are the times in which nobody speaks (None: not known), ``slots`` those already there, ``lines``
    the id and time of the lines that belong to no slot, ``film`` the second at which the film ends. Raises
    ReviewError, with the reason, where no slot fits.
    """
    first_ms = round(max(start, EARLIEST) * 1000)
    # 1e-6: an end that is whole milliseconds but for the rounding of floats keeps them all.
    last_ms = int(min(end, film) * 1000 + 1e-6)
    if not first_ms < last_ms:
        raise ReviewError(
            f"A slot cannot reach from {start:.2f} to {end:.2f} s.",
            f"It begins at {EARLIEST:g} s at the earliest and ends with the film.",
        )
    time = Interval(first_ms / 1000, last_ms / 1000)
    if time.duration < SHORTEST:
        raise ReviewError(
            f"A slot of {time.duration:.2f} s is too short for a line.", f"Make it {SHORTEST:g} s or longer."
        )
    for slot in slots:
        if slot.interval.overlaps(time):
            raise ReviewError(
                f"There is a slot already, {_span_text(slot.interval)}.",
                "Take a time before or after it, or remove that slot first.",
            )
    if free is not None:
        _refuse_speech(time, free)
    for line_id, line_time in lines:
        if line_time.overlaps(time):
            raise ReviewError(
                f"The line {line_id}, which a person added, is heard at that time.",
                "Move or remove that line first.",
            )
    return hand_slot(time, settings)


def _refuse_speech(time: Interval, free: Sequence[Interval]) -> None:
    """Raise ReviewError where ``time`` lies in no single gap of ``free``; its hint names the longest part
    that does."""
    for gap in free:
        if gap.start - _ROUNDING <= time.start and time.end <= gap.end + _ROUNDING:
            return
    longest = max(clip_all(free, time), key=lambda part: part.duration, default=None)
    hint = "Take a time where nobody speaks."
    if longest is not None and longest.duration >= SHORTEST:
        hint = f"Nobody does {_span_text(longest)}: take that time."
    raise ReviewError(f"Somebody speaks {_span_text(time)}.", hint)


def _is_same(slot: Slot, removed: Slot) -> bool:
    """Whether a planned slot is the removed one: by its id, or by half of its time."""
    if slot.id == removed.id:
        return True
    shared = slot.interval.clip(removed.interval)
    return shared is not None and shared.duration * 2 >= slot.interval.duration


def _span_text(time: Interval) -> str:
    """``from 0:12.50 to 0:15.00``."""
    return f"from {_clock(time.start)} to {_clock(time.end)}"


def _clock(second: float) -> str:
    """``0:12.50``, and ``1:02:05.30`` from one hour on."""
    hundredths = round(second * 100)
    minutes, hundredths = divmod(hundredths, 6000)
    hours, minutes = divmod(minutes, 60)
    hours_and_minutes = f"{hours}:{minutes:02d}" if hours else f"{minutes}"
    return f"{hours_and_minutes}:{hundredths // 100:02d}.{hundredths % 100:02d}"


def _in_order(slots: Iterable[Slot]) -> tuple[Slot, ...]:
    return tuple(sorted(slots, key=lambda slot: (slot.interval, slot.id)))


def read_hand_slots(folder: Path) -> HandSlots:
    """A person's changes, from ``slots.hand.json`` in ``folder``; empty where there is no such file.

    Raises WorkFolderError where the file is damaged. It is not replaced then: it holds a person's work.
    """
    record = read_record(folder / FILE, _DAMAGED_HINT)
    if record is None:
        return HandSlots()
    if record["schema_version"] > SCHEMA:
        problem = f"schema_version {record['schema_version']} is that of a newer shotad"
        raise WorkFolderError(f"{folder / FILE} is damaged: {problem}.", _DAMAGED_HINT)
    return _hand_from_row(record)


def hand_row(hand: HandSlots) -> dict[str, Any]:
    """A person's changes as JSON values."""
    return {"added": interval_rows(hand.added), "removed": slot_rows(hand.removed)}


def change_slots(folder: Path, change: SlotChange) -> HandSlots:
    """Write a change into ``slots.hand.json`` and ``slots.json``; returns all changes of the person by now.

    Raises WorkFolderError where the records are missing or damaged.
    """
    before = read_hand_slots(folder)
    after = apply_change(before, change)
    new_record = _changed_record(folder, change, after)
    in_both = hand_in_both(before, after)
    if in_both != before:
        # slots.json is written twice, so that a process killed in between never leaves a change in it that
        # slots.hand.json lacks: `refuse_lost_slots` would take that for a lost edit.
        write_text(folder / "slots.json", _changed_record(folder, change, in_both))
    if after:
        write_text(folder / FILE, readable_json({"schema_version": SCHEMA, **hand_row(after)}))
    else:
        remove_file(folder / FILE)
    write_text(folder / "slots.json", new_record)
    return after


def hand_in_both(first: HandSlots, second: HandSlots) -> HandSlots:
    """The changes that both of two states contain."""
    added = tuple(time for time in first.added if time in second.added)
    removed = tuple(slot for slot in first.removed if slot in second.removed)
    return HandSlots(added, removed)


def refuse_lost_slots(folder: Path) -> None:
    """Raise EditConflict where ``slots.hand.json`` lacks a change by which ``slots.json`` was made.

    So it is when the file was deleted, or an older one put back from a backup.
    """
    in_plan = _hand_of_plan(folder)
    if in_plan is None:
        return
    in_file = read_hand_slots(folder)
    lost_additions = [time for time in in_plan.added if time not in in_file.added]
    lost_removals = [slot.interval for slot in in_plan.removed if slot not in in_file.removed]
    if not (lost_additions or lost_removals):
        return
    changes = [f"the slot added {_span_text(time)}" for time in lost_additions]
    changes += [f"that the slot {_span_text(time)} was removed" for time in lost_removals]
    shown = ", ".join(changes[:_SHOWN])
    more = ", …" if len(changes) > _SHOWN else ""
    state = "lacks" if os.path.lexists(folder / FILE) else "is not there, and with it"
    raise EditConflict(
        f"{folder / FILE} {state} {shown}{more}, by which slots.json was made. Nothing was written.",
        f"Put the newer {FILE} back; or go on without those changes: delete slots.json too, or run with "
        "--discard-edits.",
    )


_SHOWN = 3
"""Lost changes that the message lists; more would not help."""


def forget_lost_slots(folder: Path) -> None:
    """Mark ``slots.json`` as out of date, so that slots are planned again with what ``slots.hand.json`` still
    holds."""
    if _hand_of_plan(folder) is None:
        return
    record = parse_json(read_file(folder / "slots.json"))
    rest = {key: value for key, value in record.items() if key not in ("key", "hand")}
    # No plan has an empty key, so the next run does not take this one for its own.
    write_text(folder / "slots.json", readable_json({"key": "", **rest}))


def _hand_of_plan(folder: Path) -> HandSlots | None:
    """The person's changes by which ``slots.json`` was made; None where there were none, or no such file.

    The rest of ``slots.json`` is not checked: another version may have written it, and it is made again.
    """
    file = folder / "slots.json"
    try:
        row = parse_json(read_file(file)).get("hand")
        return None if row is None else _hand_from_row(row)
    except FileNotFoundError:
        return None
    except (AttributeError, KeyError, TypeError, ValueError):
        read_record(file)  # raises an error that says what is wrong with the file
        raise


def _hand_from_row(row: Mapping[str, Any]) -> HandSlots:
    added = tuple(Interval(float(start), float(end)) for start, end in row["added"])
    return HandSlots(added, slots_of(row["removed"]))


def _changed_record(folder: Path, change: SlotChange, hand: HandSlots) -> str:
    """The text of ``slots.json`` after ``change``; ``hand`` are all changes that it then names."""
    record = read_record(folder / "slots.json")
    if record is None:
        raise WorkFolderError(f"{folder / 'slots.json'} is missing.", _MISSING_HINT)
    slots = changed_slots(slots_of(record["slots"]), change)
    rest = {key: value for key, value in record.items() if key != "hand"}
    if hand:
        rest["hand"] = hand_row(hand)
    return readable_json({**rest, "slots": slot_rows(slots)})


def changes_since(folder: Path, known_to_run: HandSlots, settings: SlotSettings) -> SlotChange:
    """The change that a person made since a run read ``known_to_run`` from ``slots.hand.json``.

    It is written into ``slots.json`` again, for that run may have written over it. The caller holds
    `shotad.script.track_files.track_lock`.
    """
    current = read_hand_slots(folder)
    change = change_between(known_to_run, current, settings)
    if change != SlotChange():
        write_text(folder / "slots.json", _changed_record(folder, change, current))
    return change


@dataclass(frozen=True, slots=True)
class Prepared:
    """The results of a run's analysis. ``slots`` are those of the whole film, which ends at second ``end``;
    ``gaps`` are the times in which nobody speaks."""

    info: FilmInfo
    end: float
    shots: tuple[Shot, ...]
    speech: tuple[Utterance, ...]
    gaps: tuple[Interval, ...]
    slots: tuple[Slot, ...]
    failed: tuple[FailedSlot, ...] = ()
    """Given slots that cannot be described."""
    warnings: tuple[str, ...] = ()
    unused_subtitles: str = ""
    """The name of subtitles beside the film that were not used."""
    hand: HandSlots = field(default_factory=HandSlots)
    """A person's changes to the slots, which ``slots`` already contain."""

    @property
    def added(self) -> tuple[Slot, ...]:
        """The slots that a person added."""
        return tuple(slot for slot in self.slots if slot.id in self.hand.ids)


def work_folder_film(folder: Path, run: RunSettings, name: str) -> Path:
    """The path of a work folder's film: where the run had it, else a file called ``name`` beside the folder.

    Raises FilmError where there is none.
    """
    # Only the last part of the name: the record that holds it may come from elsewhere and name a folder too.
    beside = folder.absolute().parent / Path(name).name
    for path in (run.film, beside):
        if path is not None and path.exists():
            return path
    if run.film is None:
        problem = f"The film of {folder} is not at {beside}."
    else:
        problem = f"The film of {folder} is neither at {run.film} nor at {beside}."
    raise FilmError(problem, "Say where it is: --film FILM.")


def read_prepared(folder: WorkFolder, info: FilmInfo, config: Config, *, described: bool = True) -> Prepared:
    """The results of the run's analysis, read from its records; nothing is computed but the gaps.

    A film that was not ``described`` needs no shots and no slots. Raises WorkFolderError where a record is
    missing or damaged.
    """
    speech_record = _record(folder, "speech")
    shot_record = _record(folder, "shots", described)
    slot_record = _record(folder, "slots", described)
    if not described:
        shot_record = {"end": info.duration, "holes": (), "shots": (), **shot_record}
        slot_record = {"slots": (), **slot_record}

    speech = utterances_of(speech_record["speech"])
    end = float(shot_record["end"])
    shots = shots_of(shot_record["shots"])
    slots = slots_of(slot_record["slots"])
    holes = [Interval(*bounds) for bounds in shot_record["holes"]]
    gaps = free_time(speech, end, config.speech, holes)
    return Prepared(info, end, shots, speech, gaps, slots, hand=read_hand_slots(folder.path))


def _record(folder: WorkFolder, name: str, needed: bool = True) -> dict[str, Any]:
    """The content of ``name.json``; empty where it is missing and not ``needed``."""
    record = folder.read_json(f"{name}.json")
    if record is None and not needed:
        return {}
    if record is None:
        raise WorkFolderError(f"{folder.path / name}.json is missing.", _MISSING_HINT)
    return record
