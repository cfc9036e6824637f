"""What an act may know of a film, the free time around a line, and what an act changes."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, islice

from shotad.core import Interval, ReviewError, Slot, SlotSettings, quoted
from shotad.film import SlotChange
from shotad.review.events import Json
from shotad.script import (
    EARLIEST,
    LONGEST,
    Cue,
    CueStatus,
    EditField,
    Track,
    milliseconds,
    respoken,
    spoken_words,
    unaccept,
)

Span = tuple[int, int]
"""Half-open time in whole milliseconds, the resolution in which tracks are written."""

Asked = tuple[str, int]
"""By what an act of a page is known: the tab that asked for it, and its number among the acts of that tab."""

SOURCE = "review page"
"""Source of edits that are made on the page."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an act does to a track: ``cues`` replace those with the same ids or are new, ``gone`` ids leave
    it.

    ``said`` is one sentence for a person on what happened; ``focus`` the line to go to afterwards;
    ``slots`` come and go with it: who keeps the change keeps these too (`shotad.film.change_slots`).
    ``view``, of one that is in the track and on the disk: what all tabs were told of it.
    """

    said: str
    cues: tuple[Cue, ...] = ()
    gone: tuple[str, ...] = ()
    focus: str | None = None
    slots: SlotChange = field(default_factory=SlotChange)
    view: Json = field(default_factory=dict)


_NEAR = 5000
"""Milliseconds on either side of a line that are looked at first: of a gap of hours with a thousand lines
in it, only the few around one bound its room."""


@dataclass(frozen=True)
class Scene:
    """A film's lines and the time that is free for them.

    ``free`` are the gaps between speech, ascending; None where it is not known when somebody speaks.
    ``frame`` is the length of a frame in seconds, ``reviewer`` the name of the person at the page, ``end``
    where the film ends, ``settings`` how slots are planned.
    """

    track: Track
    free: tuple[Interval, ...] | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)
    frame: float = 0.04
    reviewer: str = ""
    end: float = math.inf
    settings: SlotSettings = field(default_factory=SlotSettings)

    @cached_property
    def cues(self) -> Mapping[str, Cue]:
        return {cue.id: cue for cue in self.track.cues}

    def cue(self, name: str) -> Cue:
        """The line called ``name``. Raises ReviewError where there is none."""
        if (found := self.cues.get(name)) is None:
            raise ReviewError(f"There is no line {quoted(name)}.", "It may have been removed meanwhile.")
        return found

    @property
    def shortest(self) -> int:
        """Milliseconds that a line lasts at least: a frame."""
        return max(1, math.ceil(self.frame * 1000 - 1e-6))

    def spoken_seconds(self, text: str, language: str) -> float:
        """How long a text takes to say, estimated; to 1 ms."""
        return round(spoken_words(text, language) * self.settings.seconds_per_word, 3)

    @cached_property
    def heard(self) -> tuple[tuple[int, int, str], ...]:
        """Start and end in milliseconds and id of the lines that are heard, ascending by start."""
        return tuple((*span_of(cue.interval), cue.id) for cue in self.track.cues if cue.heard)

    def heard_in(self, span: Span) -> Iterator[tuple[int, int, str]]:
        """The heard lines that share time with ``span``, the last first."""
        at = bisect_left(self._starts, span[1])
        while at > 0 and self._reach[at - 1] > span[0]:
            at -= 1
            if self.heard[at][1] > span[0]:
                yield self.heard[at]

    def following(self, cue: Cue) -> Cue | None:
        """The next line that is heard, of one that is heard itself; None after the last."""
        at = self._places.get(cue.id, len(self.heard)) + 1
        return self.cues[self.heard[at][2]] if at < len(self.heard) else None

    def are_free(self, start: int, end: int) -> bool:
        """Whether nobody speaks between two milliseconds, as far as that is known."""
        gap = self.gap_of((start, max(end, start + 1)))
        return start >= end or (gap is not None and gap[0] <= start and end <= gap[1])

    def next_start(self, cue: Cue) -> float | None:
        """The second at which the heard line after ``cue`` starts; None after the last."""
        at = bisect_right(self._starts, milliseconds(cue.interval.start))
        return self._starts[at] / 1000 if at < len(self._starts) else None

    def gap_of(self, span: Span) -> Span | None:
        """The gap between speech that shares most time with ``span``; None where there is none.

        Where it is not known when somebody speaks it is the whole film.
        """
        end = milliseconds(self.track.film.duration)
        whole = (milliseconds(EARLIEST), end)
        if self.free is None:
            return whole
        first = max(0, bisect_right(self._gap_starts, span[0]) - 1)
        best: Span | None = None
        for gap in islice(self.free, first, None):
            low, high = math.ceil(gap.start * 1000 - 1e-6), math.floor(gap.end * 1000 + 1e-6)
            if low >= span[1]:
                break
            if _shared((low, high), span) > (0 if best is None else _shared(best, span)):
                best = (low, high)
        return best and (max(best[0], whole[0]), min(best[1], whole[1]))

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """The place of each heard line among them."""
        return {name: place for place, (_, _, name) in enumerate(self.heard)}

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _, _ in self.heard]

    @cached_property
    def _reach(self) -> list[int]:
        """The latest end of all heard lines up to each."""
        return list(accumulate((end for _, end, _ in self.heard), max))

    @cached_property
    def _gap_starts(self) -> list[int]:
        return [math.ceil(gap.start * 1000 - 1e-6) for gap in self.free or ()]


def room_of(scene: Scene, cue: Cue) -> Interval | None:
    """The time in which a line's start and end may go: free of speech and of other lines that are heard.

    What its slot and the line itself have is free to it, also where somebody speaks there: that is how it
    was planned. None where other lines leave no room.
    """
    span = span_of(cue.interval)
    # The gap around a line, its slot where it lies in that, and its own time, as one
    low, high = scene.gap_of(span) or span
    slot = scene.slots.get(cue.slot_id or "")
    if slot is not None and _shared(planned := span_of(slot.interval), span):
        low, high = min(low, planned[0]), max(high, planned[1])
    earliest, end = milliseconds(EARLIEST), milliseconds(scene.track.film.duration)
    hull = max(min(low, span[0]), min(earliest, span[0])), min(max(high, span[1]), max(end, span[1]))
    reach = max(_NEAR, 2 * scene.shortest)

    def rank(piece: Span) -> tuple[int, int, int]:
        return _shared(piece, span), -_distance(piece, span), -piece[0]

    while True:
        around = max(hull[0], span[0] - reach), min(hull[1], span[1] + reach)
        # What other heard lines leave of it; of that what shares most time with the line, or lies nearest
        pieces, at = [], around[0]
        for before, after, other in reversed(list(scene.heard_in(around))):
            if other != cue.id:
                pieces.append((at, before))
                at = max(at, after)
        pieces.append((at, around[1]))
        best = max((one for one in pieces if one[1] - one[0] >= scene.shortest), key=rank, default=None)
        if around == hull:
            return None if best is None else interval_of(best)
        if best is not None:
            # It is that of the whole hull where it ends by itself, and nothing farther can be better.
            ends = all(best[side] != around[side] or around[side] == hull[side] for side in (0, 1))
            if ends and (_shared(best, span) > 0 or 2 * _distance(best, span) <= reach):
                return interval_of(best)
        reach *= 2


def room_or_refuse(scene: Scene, cue: Cue, *, shared: bool = False) -> Span:
    """As `room_of`, in milliseconds. Raises ReviewError, naming the line in the way, where there is none, or
    none that is ``shared`` with the line's own time."""
    room, span = room_of(scene, cue), span_of(cue.interval)
    if room is None or (shared and _shared(span_of(room), span) == 0):
        others = [name for _, _, name in scene.heard_in(span) if name != cue.id]
        who = f"{others[-1]} is spoken" if others else "other lines are spoken"
        raise ReviewError(f"There is no time for this line: {who} there.", "Move or drop that line first.")
    return span_of(room)


def fitted(scene: Scene, cue: Cue) -> Cue:
    """A line that comes to be heard, cut to what is free of its time. Raises ReviewError if nothing is."""
    low, high = room_or_refuse(scene, cue, shared=True)
    start, end = span_of(cue.interval)
    if low <= start and end <= high and end - start >= scene.shortest:
        return timed(cue, (start, end))
    start = min(max(start, low), high - scene.shortest)
    return timed(cue, (start, max(start + scene.shortest, min(end, high))))


def with_words(scene: Scene, cue: Cue, text: str) -> Cue:
    return replace(
        cue,
        text=text,
        chosen=cue.candidates.index(text) if text in cue.candidates else None,
        status=CueStatus.PLACED,
        reason="",
        fit_steps=(),
        spoken_length=scene.spoken_seconds(text, cue.language),
    )


def at_own_pace(scene: Scene, cue: Cue) -> Cue:
    """The line with the spoken end of its text, unless a person set its times; on whole milliseconds."""
    slots = {slot.id: slot.interval for slot in (scene.slots.get(cue.slot_id or ""),) if slot is not None}
    spoken = respoken(cue, slots, scene.settings.seconds_per_word, until=scene.next_start(cue))
    start, end = span_of(spoken.interval)
    return timed(spoken, (start, max(end, start + 1)))


def settled(cue: Cue) -> Cue:
    """The line as its file gives it back: what is out of date of it is gone, lengths are rounded."""
    review, length = cue.review, cue.spoken_length
    if review is None:
        cue = unaccept(cue)
    return replace(
        cue, accepted=review, voiced=cue.spoken, spoken_length=None if length is None else round(length, 3)
    )


def is_added(cue: Cue) -> bool:
    """Whether a person added the line: no machine wrote one in its place."""
    return cue.edited is not None and cue.machine is None and EditField.ADDED in cue.edited.fields


def timed(cue: Cue, span: Span) -> Cue:
    return replace(cue, interval=interval_of(span))


def span_of(interval: Interval) -> Span:
    """Whole milliseconds, at least one: ``[1.0004, 2)`` → ``(1000, 2000)``."""
    start, end = milliseconds(interval.start), milliseconds(interval.end)
    return start, max(end, start + 1)


def interval_of(span: Span) -> Interval:
    """Seconds that come back the same from a file."""
    return Interval(span[0] / 1000, span[1] / 1000)


def clock(seconds: float) -> str:
    whole, ms = divmod(milliseconds(seconds), 1000)
    minutes, secs = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{secs:02d}.{ms:03d}" if hours else f"{minutes}:{secs:02d}.{ms:03d}"


LARGEST_NUMBER = 1e9
"""What an act takes at most, as seconds or as a place: thirty years. No film has such a second, and far above
it a float holds no milliseconds."""


def number_in(args: Json, key: str) -> float:
    """A number among an act's arguments. Raises ReviewError."""
    value = args.get(key)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # NaN is in no range; and unlike math.isfinite this takes whole numbers that no float can hold.
    if value is None or not is_number or not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        wanted = f"a number from -{LARGEST_NUMBER:,.0f} to {LARGEST_NUMBER:,.0f}"
        raise ReviewError(f"{key} must be {wanted}, got {quoted(value)}.")
    return float(value)


def text_in(args: Json) -> str:
    """The ``text`` among an act's arguments. Raises ReviewError."""
    value = args.get("text")
    if not isinstance(value, str):
        raise ReviewError(f"text must be a text, got {quoted(value)}.")
    if len(value) > LONGEST:
        raise ReviewError(
            f"The text has {len(value)} characters; a line takes {LONGEST} at most.",
            "Make several lines of it.",
        )
    return value


def _shared(one: Span, other: Span) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def _distance(one: Span, other: Span) -> int:
    return max(0, one[0] - other[1], other[0] - one[1])
