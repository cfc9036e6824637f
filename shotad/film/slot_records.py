"""What a run has left in its work folder of its slots: a person's own, and what its first act found.

A person's slots outlive every later plan. One that was removed keeps its time, so that a plan made otherwise
later on, whose slots have other ids, does not bring it back; a planned slot that shares time with one that
was added yields to it. ``slots.hand.json`` in the work folder keeps them; ``slots.json`` holds the slots of
the film with a person's in them, so that whoever reads that file needs to know of no other.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shotad.core import (
    Config,
    EditConflict,
    FilmError,
    FilmInfo,
    Interval,
    ReviewError,
    RunSettings,
    Shot,
    Slot,
    SlotSettings,
    Utterance,
    WorkFolder,
    WorkFolderError,
    interval_rows,
    parse_json,
    read_file,
    read_record,
    readable_json,
    shots_of,
    slot_id,
    slot_rows,
    slots_of,
    utterances_of,
    write_text,
)
from shotad.film.slots import EARLIEST, free_time, word_budget

FILE = "slots.hand.json"
SCHEMA = 1

_AGAIN = "Correct it, or delete it and slots.json to go back to the planned slots."
_RUN = "Run shotad describe on the film again; what is done is not asked for twice."

SHORTEST = 1.0
"""Seconds. Two or three words; what a person wants to say in less is better said in another slot."""


@dataclass(frozen=True, slots=True)
class HandSlots:
    """What a person did to the slots of a film: times of those they added, and those they removed."""

    added: tuple[Interval, ...] = ()
    removed: tuple[Slot, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the slots added."""
        return frozenset(slot_id(time.start) for time in self.added)


@dataclass(frozen=True, slots=True)
class SlotChange:
    """Slots that come and slots that go, by a person's hand."""

    added: tuple[Slot, ...] = ()
    removed: tuple[Slot, ...] = ()

    @property
    def inverse(self) -> SlotChange:
        """What takes it back."""
        return SlotChange(self.removed, self.added)


def keep_to(
    planned: Sequence[Slot], hand: HandSlots, settings: SlotSettings
) -> tuple[tuple[Slot, ...], tuple[Slot, ...]]:
    """The slots of a plan, less those that a person removed, with those that they added, sorted by start; and
    the planned ones that gave way to theirs.

    A planned slot goes where a removed one has its id, or at least half of its time.
    """
    if not hand:
        return tuple(planned), ()
    added = tuple(hand_slot(time, settings) for time in hand.added)
    left: list[Slot] = []
    yielded: list[Slot] = []
    for slot in planned:
        if any(_is_same(slot, gone) for gone in hand.removed):
            continue
        if any(slot.id == own.id or slot.interval.overlaps(own.interval) for own in added):
            yielded.append(slot)
        else:
            left.append(slot)
    return _in_order((*left, *added)), tuple(yielded)


def apply_change(hand: HandSlots, change: SlotChange) -> HandSlots:
    """What a person did, and ``change`` after it: a removed slot that comes again is no added one."""
    times = {(slot.id, slot.interval) for slot in hand.removed}
    back = {slot.id for slot in change.added if (slot.id, slot.interval) in times}
    own = hand.ids
    gone = {slot.id for slot in change.removed}
    added = [time for time in hand.added if slot_id(time.start) not in gone]
    added += [slot.interval for slot in change.added if slot.id not in back]
    removed = [slot for slot in hand.removed if slot.id not in back]
    removed += [slot for slot in change.removed if slot.id not in own]
    return HandSlots(
        tuple(sorted(dict.fromkeys(added))), _in_order({slot.id: slot for slot in removed}.values())
    )


def change_between(known: HandSlots, now: HandSlots, settings: SlotSettings) -> SlotChange:
    """What a person did to the slots between two states: those that came, or came back, and that went."""
    came = [hand_slot(time, settings) for time in now.added if time not in known.added]
    went = [hand_slot(time, settings) for time in known.added if time not in now.added]
    before, after = ({slot.id for slot in hand.removed} for hand in (known, now))
    came += [slot for slot in known.removed if slot.id not in after]
    went += [slot for slot in now.removed if slot.id not in before]
    return SlotChange(tuple(came), tuple(went))


def changed_slots(slots: Sequence[Slot], change: SlotChange) -> tuple[Slot, ...]:
    """The slots after a change, sorted by start."""
    gone = {slot.id for slot in (*change.removed, *change.added)}
    return _in_order((*(slot for slot in slots if slot.id not in gone), *change.added))


def hand_slot(time: Interval, settings: SlotSettings) -> Slot:
    """A slot where a person wants one, called as all slots are, with the words that the planner allows."""
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
    """The slot that a person adds in ``[start, end)``, to whole milliseconds within it.

    ``free`` is where nobody speaks (None: not known); ``lines`` are those that are heard and belong to no
    slot, by id and time; ``film`` is the film's end. Raises ReviewError where there is no room, and says why.
    """
    first, last = round(max(start, EARLIEST) * 1000), int(min(end, film) * 1000 + 1e-6)
    if not first < last:
        what = f"A slot cannot reach from {start:.2f} to {end:.2f} s."
        raise ReviewError(what, f"It begins at {EARLIEST:g} s at the earliest and ends with the film.")
    time = Interval(first / 1000, last / 1000)
    if time.duration < SHORTEST:
        what = f"A slot of {time.duration:.2f} s is too short for a line."
        raise ReviewError(what, f"Make it {SHORTEST:g} s or longer.")
    taken = next((slot for slot in slots if slot.interval.overlaps(time)), None)
    if taken is not None:
        what = f"There is a slot already, {_told(taken.interval)}."
        raise ReviewError(what, "Take a time before or after it, or remove that slot first.")
    free = [time] if free is None else free
    if not any(gap.start - 0.001 <= time.start and time.end <= gap.end + 0.001 for gap in free):
        parts = [part for gap in free if (part := gap.clip(time)) is not None]
        room = max(parts, key=lambda part: part.duration, default=None)
        hint = "Take a time where nobody speaks."
        if room is not None and room.duration >= SHORTEST:
            hint = f"Nobody does {_told(room)}: take that time."
        raise ReviewError(f"Somebody speaks {_told(time)}.", hint)
    spoken = next((name for name, when in lines if when.overlaps(time)), None)
    if spoken is not None:
        what = f"The line {spoken}, which a person added, is heard at that time."
        raise ReviewError(what, "Move or remove that line first.")
    return hand_slot(time, settings)


def _is_same(slot: Slot, removed: Slot) -> bool:
    shared = slot.interval.clip(removed.interval)
    half = shared is not None and shared.duration * 2 >= slot.interval.duration
    return slot.id == removed.id or half


def _told(time: Interval) -> str:
    """``from 0:12.50 to 0:15.00``."""
    return f"from {_clock(time.start)} to {_clock(time.end)}"


def _clock(second: float) -> str:
    hundredths = round(second * 100)
    minutes, rest = divmod(hundredths, 6000)
    hours, minutes = divmod(minutes, 60)
    clock = f"{minutes:02d}" if hours else f"{minutes}"
    return f"{f'{hours}:' if hours else ''}{clock}:{rest // 100:02d}.{rest % 100:02d}"


def _in_order(slots: Iterable[Slot]) -> tuple[Slot, ...]:
    return tuple(sorted(slots, key=lambda slot: (slot.interval, slot.id)))


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
    return _hand_of(record)


def hand_row(hand: HandSlots) -> dict[str, Any]:
    """What a person did, as JSON values."""
    return {"added": interval_rows(hand.added), "removed": slot_rows(hand.removed)}


def change_slots(folder: Path, change: SlotChange) -> HandSlots:
    """Write a change down, for this run's records and for all that follow; what a person did by now.

    Raises WorkFolderError where the records are missing or damaged.
    """
    before = read_hand_slots(folder)
    hand = apply_change(before, change)
    changed = _changed_record(folder, change, hand)
    left = hand_in_both(before, hand)
    if left != before:
        # Whoever is killed in between leaves nothing in the record that its file does not have.
        write_text(folder / "slots.json", _changed_record(folder, change, left))
    if hand:
        write_text(folder / FILE, readable_json({"schema_version": SCHEMA, **hand_row(hand)}))
    else:
        (folder / FILE).unlink(missing_ok=True)
    write_text(folder / "slots.json", changed)
    return hand


def hand_in_both(one: HandSlots, other: HandSlots) -> HandSlots:
    """What a person did to the slots in both of two states."""
    added = tuple(time for time in one.added if time in other.added)
    return HandSlots(added, tuple(slot for slot in one.removed if slot in other.removed))


def refuse_lost_slots(folder: Path) -> None:
    """Raise EditConflict where ``slots.hand.json`` has not all that a person did to the slots of the last
    run: it was deleted, or put back from a backup."""
    planned = _hand_of_plan(folder)
    if planned is None:
        return
    there = read_hand_slots(folder)
    added = [time for time in planned.added if time not in there.added]
    removed = [slot.interval for slot in planned.removed if slot not in there.removed]
    if not (added or removed):
        return
    told = [f"the slot added {_told(time)}" for time in added] + [
        f"that the slot {_told(time)} was removed" for time in removed
    ]
    more = ", …" if len(told) > _SHOWN else ""
    state = "lacks" if os.path.lexists(folder / FILE) else "is not there, and with it"
    raise EditConflict(
        f"{folder / FILE} {state} {', '.join(told[:_SHOWN])}{more}, by which slots.json was made. "
        "Nothing was written.",
        f"Put the newer {FILE} back; or go on without those changes: delete slots.json too, or run with "
        "--discard-edits.",
    )


_SHOWN = 3
"""Changes that are shown; more help nobody."""


def forget_lost_slots(folder: Path) -> None:
    """Have the slots planned anew by what ``slots.hand.json`` still holds."""
    if _hand_of_plan(folder) is not None:
        record = parse_json(read_file(folder / "slots.json"))
        rest = {key: value for key, value in record.items() if key not in ("key", "hand")}
        write_text(folder / "slots.json", readable_json({"key": "", **rest}))


def _hand_of_plan(folder: Path) -> HandSlots | None:
    """What a person had done to the slots when they were planned; None where nobody had, or there is no plan.

    The rest of ``slots.json`` is not looked at: another version may have written it, and it is made again.
    """
    file = folder / "slots.json"
    try:
        row = parse_json(read_file(file)).get("hand")
        return None if row is None else _hand_of(row)
    except FileNotFoundError:
        return None
    except (AttributeError, KeyError, TypeError, ValueError):
        read_record(file)  # says what is wrong
        raise


def _hand_of(row: Mapping[str, Any]) -> HandSlots:
    added = tuple(Interval(float(start), float(end)) for start, end in row["added"])
    return HandSlots(added, slots_of(row["removed"]))


def _changed_record(folder: Path, change: SlotChange, hand: HandSlots) -> str:
    record = read_record(folder / "slots.json")
    if record is None:
        raise WorkFolderError(f"{folder / 'slots.json'} is missing.", _RUN)
    slots = changed_slots(slots_of(record["slots"]), change)
    rest = {key: value for key, value in record.items() if key != "hand"}
    if hand:
        rest["hand"] = hand_row(hand)
    return readable_json({**rest, "slots": slot_rows(slots)})


def changes_since(folder: Path, known: HandSlots, settings: SlotSettings) -> SlotChange:
    """What a person did to the slots since a run read ``known`` of it, brought into the records again, for
    that run may have written over them. Who calls holds `shotad.script.track_files.track_lock`."""
    hand = read_hand_slots(folder)
    late = change_between(known, hand, settings)
    if late != SlotChange():
        write_text(folder / "slots.json", _changed_record(folder, late, hand))
    return late


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the first act found. ``slots`` are those of the whole film, which ends at second ``end``."""

    info: FilmInfo
    end: float
    shots: tuple[Shot, ...]
    speech: tuple[Utterance, ...]
    gaps: tuple[Interval, ...]
    slots: tuple[Slot, ...]
    failed: tuple[tuple[str, str], ...] = ()
    """Slots asked for that cannot be: id and reason."""
    warnings: tuple[str, ...] = ()
    hand: HandSlots = field(default_factory=HandSlots)
    """What a person did to the slots."""

    @property
    def added(self) -> tuple[Slot, ...]:
        """The slots that a person added."""
        return tuple(slot for slot in self.slots if slot.id in self.hand.ids)


def film_of(folder: Path, run: RunSettings, name: str) -> Path:
    """The film of a work folder: where the run had it, else one called ``name`` beside the folder."""
    # Its name alone: the record that holds it may have come from elsewhere and name a folder too.
    beside = folder.absolute().parent / Path(name).name
    for path in (run.film, beside):
        if path is not None and path.exists():
            return path
    if run.film is None:
        what = f"The film of {folder} is not at {beside}."
    else:
        what = f"The film of {folder} is neither at {run.film} nor at {beside}."
    raise FilmError(what, "Say where it is: --film FILM.")


def recorded(folder: WorkFolder, info: FilmInfo, config: Config, *, described: bool = True) -> Prepared:
    """What the run's first act found, as its records have it; nothing is looked for again.

    A film that was not ``described`` needs no shots and no slots. Raises WorkFolderError where a record is
    missing or damaged.
    """
    spoken = _record(folder, "speech")
    bare = {} if described else {"end": info.duration, "holes": (), "shots": (), "slots": ()}
    found, planned = ({**bare, **_record(folder, name, described)} for name in ("shots", "slots"))
    speech, end = utterances_of(spoken["speech"]), float(found["end"])
    shots, slots = shots_of(found["shots"]), slots_of(planned["slots"])
    holes = [Interval(*bounds) for bounds in found["holes"]]
    gaps = free_time(speech, end, config.speech, holes)
    return Prepared(info, end, shots, speech, tuple(gaps), slots, hand=read_hand_slots(folder.path))


def _record(folder: WorkFolder, name: str, needed: bool = True) -> dict[str, Any]:
    found = folder.read_json(f"{name}.json")
    if found is None and not needed:
        return {}
    if found is None:
        raise WorkFolderError(f"{folder.path / name}.json is missing.", _RUN)
    return found
