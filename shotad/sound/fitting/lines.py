"""The lines of a track and the time that each may use: never where somebody speaks. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shotad.core import FitSettings, Interval
from shotad.film import subtract
from shotad.script import EARLIEST, LEAD, Cue, Track, is_by_hand
from shotad.sound.kinds import Line

BETWEEN = 0.3
"""Seconds of breath between two lines."""
CLEAR = 0.1
"""Seconds kept free before speech begins, beyond the margin that is in the gaps already."""
NO_ROOM = 0.001
"""Seconds: the room of a line that has no free time in reach. Nothing can be said in it."""


def lines_of(
    track: Track,
    speech: Sequence[Interval] | None,
    slots: Mapping[str, Interval],
    settings: FitSettings,
    *,
    margin: float,
) -> tuple[Line, ...]:
    """Every line of the track that is heard, in order, with the time that it may use.

    ``speech`` are the seconds in which somebody speaks; None where that is not known: then each line keeps to
    the slot that it was given (``slots`` by id), or to its own time where it has none. ``margin`` is kept
    from speech at both sides, `CLEAR` more before it. A line is wanted where the track has it, but
    not trusted to be free there: a person may have put it over speech (rule T1), and then

    - its room is free time within `settings.earlier` before and `settings.later` after its start: the nearest
      that is long enough for it, else one that holds half of it or two seconds;
    - else free time later, as far as its own time reaches: a line far from what it tells of would mislead;
    - with nothing in reach its room is `NO_ROOM` long, and it will be left unspoken, with the reason.
    """
    free = () if speech is None else _free(track.film.duration, speech, margin, CLEAR)
    return tuple(
        Line(
            cue.id,
            " ".join(cue.text.split()),
            cue.interval.start,
            slot,
            room,
            cue.language,
            earliest=_in_sight(cue),
            by_person=cue.edited is not None,
        )
        for cue in track.heard
        for room, slot in [_room(cue, None if speech is None else free, slots, settings)]
    )


def earliest(line: Line, settings: FitSettings) -> float:
    """The second before which a line may not begin."""
    return max(line.room.start, line.start - settings.earlier, min(line.start, line.earliest))


def latest(line: Line, settings: FitSettings) -> float:
    """The second by which it must have begun: `settings.later` after it is wanted, and in any case when its
    slot begins, which is later only where people speak at its own time."""
    return max(line.start + settings.later, line.slot.start, earliest(line, settings))


def _in_sight(cue: Cue) -> float:
    """The second before which a line tells of what is not seen yet; 0 where that is a person's choice."""
    return 0.0 if cue.seen_from is None or is_by_hand(cue) else cue.seen_from - LEAD


def _free(duration: float, speech: Sequence[Interval], margin: float, clear: float) -> tuple[Interval, ...]:
    """The film less its speech; nothing in its first `EARLIEST` seconds, for players miss it there."""
    taken = [Interval(one.start - margin - clear, one.end + margin) for one in speech]
    return subtract(Interval(min(EARLIEST, duration / 2), duration), taken)


def _room(
    cue: Cue, free: Sequence[Interval] | None, slots: Mapping[str, Interval], settings: FitSettings
) -> tuple[Interval, Interval]:
    """Room and slot of a line."""
    planned = slots.get(cue.slot_id or "", cue.interval)
    # A person who moved a line out of its slot did not mean the slot.
    own = planned if planned.contains(cue.interval.start) else cue.interval
    if free is None:
        return own, own
    room = _nearest(cue, free, settings)
    if room is None:
        room = Interval(cue.interval.start, cue.interval.start + NO_ROOM)
    return room, own.clip(room) or cue.interval.clip(room) or room


def _nearest(cue: Cue, free: Sequence[Interval], settings: FitSettings) -> Interval | None:
    """The best of the rooms in reach, None where there is none."""
    start, need = cue.interval.start, cue.interval.duration / settings.fastest
    first = max(start - settings.earlier, min(start, _in_sight(cue)))
    near = Interval(first, start + settings.later + NO_ROOM)
    reach = Interval(near.start, max(cue.interval.end, near.end))
    rooms = [Interval(max(gap.start, reach.start), gap.end) for gap in free if gap.overlaps(reach)]

    def preference(room: Interval) -> tuple[int, float, float]:
        distance = max(room.start - start, start - room.end, 0.0)
        if room.overlaps(near) and room.duration >= min(need / 2, _USABLE):
            return (0 if room.duration >= need else 1, distance, room.start)
        if room.duration >= need:
            return (2, distance, room.start)
        return (3, -room.duration, room.start)

    return min(rooms, key=preference, default=None)


_USABLE = 2.0
"""Seconds in which something can be said (shorter pauses are unusable by WCAG's failure F113). With less near
its place, and less than half of what it needs, a line rather waits for free time within its own."""
