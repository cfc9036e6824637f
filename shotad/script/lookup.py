"""Lines of a track by what people call them: an id, a time, or the number that SRT gives them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shotad.core import UsageError
from shotad.script.cue import Cue, milliseconds
from shotad.script.timecodes import parse_time, timecode
from shotad.script.track import Track

_ID = re.compile(r"[sh]\d+")
_NUMBER = re.compile(r"\d+")


def find_lines(track: Track, names: Sequence[str]) -> tuple[Cue, ...]:
    """The lines called ``names``, each once, in the order of the film.

    ``s00083120`` is an id; ``1:23`` or ``83.5`` a time within a line or the second in which it starts; ``12``
    the twelfth line that is heard. Raises UsageError for what is no line, with the nearest.
    """
    found = {cue.id: cue for cue in (find_line(track, name) for name in names)}
    return tuple(cue for cue in track.cues if cue.id in found)


def find_line(track: Track, name: str) -> Cue:
    """As `find_lines`, for one."""
    name = name.strip()
    if _ID.fullmatch(name):
        return _by_id(track, name)
    if _NUMBER.fullmatch(name):
        return _by_number(track, int(name))
    return _by_time(track, name)


def _by_id(track: Track, name: str) -> Cue:
    for cue in track.cues:
        if cue.id == name:
            return cue
    raise UsageError(f"There is no line {name}.", _nearest(track, int(name[1:]) / 1000))


def _by_number(track: Track, number: int) -> Cue:
    if 1 <= number <= len(track.heard):
        return track.heard[number - 1]
    raise UsageError(
        f"There is no line {number}: {len(track.heard)} lines are heard.",
        "Give a time as 1:23 or 83.0, or an id as s00083120.",
    )


def _by_time(track: Track, name: str) -> Cue:
    try:
        second = parse_time(name)
    except ValueError:
        raise UsageError(
            f"{name!r} is neither an id nor a time nor a number of a line.", "Write s00083120, 1:23 or 12."
        ) from None
    now = milliseconds(second)
    within = [c for c in track.cues if milliseconds(c.interval.start) <= now < milliseconds(c.interval.end)]
    begun = [c for c in track.cues if now <= milliseconds(c.interval.start) < now + 1000]
    found = within or begun
    if not found:
        raise UsageError(f"There is no line at {name}.", _nearest(track, second))
    if len(found) > 1:
        told = " and ".join(f"{cue.id} ({timecode(cue.interval.start)})" for cue in found)
        raise UsageError(f"At {name} there is more than one line: {told}.", "Give the id of the one meant.")
    return found[0]


def _nearest(track: Track, second: float) -> str:
    if not track.cues:
        return "The track has no lines."
    near = min(track.cues, key=lambda cue: (abs(cue.interval.start - second), cue.id))
    return f"The nearest is {near.id}, at {timecode(near.interval.start)}."
