"""Lines that are to be translated: what they say, and how much time there is for them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shotad.core import Interval, Slot, SlotSettings
from shotad.film import word_budget
from shotad.script import Cue, EditField, Track


@dataclass(frozen=True, slots=True)
class Wanted:
    """A heard line of the track.

    ``room`` is the time in which its translation may be spoken, from the line's own start; ``words`` is how
    many English words fit into it, ``names`` are those of people that stand in the line.
    """

    cue: Cue
    room: Interval
    words: int
    names: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.cue.id

    @property
    def text(self) -> str:
        """The line as one line."""
        return " ".join(self.cue.text.split())

    @property
    def timed_by_hand(self) -> bool:
        """Whether a person set the times."""
        return is_timed(self.cue)


def wanted_lines(
    track: Track, slots: Mapping[str, Slot], settings: SlotSettings, names: Sequence[str] = ()
) -> tuple[Wanted, ...]:
    """The heard lines in order. ``slots`` are those of the film by id, as far as they are known."""
    heard = track.heard
    starts = [cue.interval.start for cue in heard[1:]]
    return tuple(
        _wanted(cue, slots.get(cue.slot_id or ""), following, settings, names)
        for cue, following in zip(heard, [*starts, track.film.duration], strict=True)
    )


def is_timed(cue: Cue) -> bool:
    """Whether the times of a line are a person's."""
    fields = cue.edited.fields if cue.edited is not None else ()
    return EditField.TIME in fields or EditField.ADDED in fields


def _wanted(
    cue: Cue, slot: Slot | None, following: float, settings: SlotSettings, names: Sequence[str]
) -> Wanted:
    """A line may be spoken up to the end of its slot, but not into the line that follows."""
    start, end = cue.interval.start, cue.interval.end
    if slot is not None and not is_timed(cue) and slot.interval.contains(start):
        end = max(end, min(slot.interval.end, max(following, end)))
    room = Interval(start, end)
    whole = slot is not None and room == slot.interval
    words = slot.max_words if slot is not None and whole else word_budget(room.duration, settings)
    return Wanted(cue, room, words, tuple(name for name in names if _stands(name, cue.text)))


def _stands(name: str, text: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
