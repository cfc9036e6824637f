"""Acts on slots: a person adds one where nobody speaks, or removes one with its line."""

from __future__ import annotations

from dataclasses import dataclass, field

from shotad.core import Interval, ReviewError, Slot, SlotSettings
from shotad.description import empty_line
from shotad.film import SlotChange, new_slot
from shotad.review.editing.scene import clock
from shotad.review.kinds import Change, Json
from shotad.script import Track


@dataclass(frozen=True, slots=True)
class SlotsChanged(Change):
    """A change that adds or removes slots too: who keeps the change keeps these with it
    (`shotad.film.slot_records.change_slots`), and takes them back with it (`SlotChange.inverse`)."""

    slots: SlotChange = field(default_factory=SlotChange)


@dataclass(frozen=True, slots=True)
class SlotScene:
    """What an act on slots may know: the track, where nobody speaks (None: not known), the slots, the film's
    end in seconds, and how slots are planned."""

    track: Track
    free: tuple[Interval, ...] | None
    slots: tuple[Slot, ...]
    end: float
    settings: SlotSettings


def add_slot(scene: SlotScene, _: str, args: Json) -> SlotsChanged:
    """A slot from ``start`` to ``end`` with an empty line. Raises ReviewError where it cannot be."""
    loose = [(cue.id, cue.interval) for cue in scene.track.heard if cue.slot_id is None]
    slot = new_slot(
        _seconds(args, "start"),
        _seconds(args, "end"),
        free=scene.free,
        slots=scene.slots,
        lines=loose,
        film=scene.end,
        settings=scene.settings,
    )
    known = next((cue for cue in scene.track.cues if cue.id == slot.id), None)
    if known is not None and (known.heard or known.edited is not None):
        what = f"The line {known.id} begins at that very moment and belongs to a slot that is gone."
        raise ReviewError(what, "Begin a little later.")
    words = f"{slot.max_words} word{'' if slot.max_words == 1 else 's'}"
    said = f"Slot added at {clock(slot.interval.start)}: {words} fit into {slot.interval.duration:.1f} s."
    return SlotsChanged(
        said, (empty_line(slot, scene.track.language),), focus=slot.id, slots=SlotChange((slot,))
    )


def remove_slot(scene: SlotScene, line: str, _: Json) -> SlotsChanged:
    """The slot ``line`` goes, and so does its line. Raises ReviewError where there is none."""
    slot = next((slot for slot in scene.slots if slot.id == line), None)
    if slot is None:
        raise ReviewError(f"There is no slot {line}.", "A line that belongs to no slot is removed by itself.")
    own = tuple(cue.id for cue in scene.track.cues if cue.slot_id == slot.id)
    others = [cue for cue in scene.track.cues if cue.id not in own]
    after = next((cue for cue in others if cue.interval.start >= slot.interval.start), None)
    focus = after or (others[-1] if others else None)
    with_line = " and its line" if own else ""
    said = f"Slot at {clock(slot.interval.start)}{with_line} removed."
    return SlotsChanged(
        said, gone=own, focus=None if focus is None else focus.id, slots=SlotChange((), (slot,))
    )


def _seconds(args: Json, name: str) -> float:
    value = args.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ReviewError(f"{name} is no time in seconds: {value!r}.", "Give its start and its end.")
    return float(value)
