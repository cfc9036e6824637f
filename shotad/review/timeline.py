"""The lines of a film in time, the time that is free around each, and the change that an act makes.

Acts (`shotad.review.acts`) read a `LineTimeline` and return a `Change`.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, islice
from typing import NamedTuple

from shotad.core import Interval, Slot
from shotad.core.config.film import SlotSettings
from shotad.core.errors import ReviewError, quoted
from shotad.film import SlotChange
from shotad.review.events import Json
from shotad.review.messages import Sentence, refusal
from shotad.script import (
    Cue,
    CueStatus,
    EditField,
    Track,
)
from shotad.script.cue import (
    EARLIEST_CUE,
    MAX_TEXT_LENGTH,
    milliseconds,
    unaccept,
)
from shotad.script.edits import with_spoken_end
from shotad.script.pace import spoken_words
from shotad.script.reasons import in_english


class Span(NamedTuple):
    """Time in whole milliseconds, half-open; tracks are written to the millisecond."""

    start: int
    end: int


class HeardLine(NamedTuple):
    """The time of a heard line, in whole milliseconds, and its id."""

    start: int
    end: int
    id: str


class RequestId(NamedTuple):
    """Identifies an act of a page: the name of its tab, and its number among the acts of that tab."""

    tab: str
    number: int


SOURCE = in_english("source.review")
"""Source of edits that are made on the page."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an act does to a track.

    message: what happened, for a person; its English text may be empty.
    cues: lines that are new, or replace those with the same ids.
    removed_ids: lines that leave the track.
    focus: id of the line to select afterwards.
    slots: slots that come or go with the lines; they must be saved together
        (`shotad.film.slot_records.change_slots`).
    view: what was sent to all tabs, once the change is saved; empty before.
    """

    message: Sentence
    cues: tuple[Cue, ...] = ()
    removed_ids: tuple[str, ...] = ()
    focus: str | None = None
    slots: SlotChange = field(default_factory=SlotChange)
    view: Json = field(default_factory=dict)


_FIRST_REACH = 5000
"""Milliseconds on either side of a line in which `free_interval_of` looks first."""


@dataclass(frozen=True)
class LineTimeline:
    """A film's lines and the time that is free for them, at one moment of a review.

    free: the gaps between speech, ascending.
    slots: by id.
    frame: length of a frame, seconds.
    reviewer: name of the person at the page.
    end: end of the film, seconds.
    settings: how slots are planned, with the pace of the voice.
    take_seconds: how long the voice takes for a text, in seconds, where it has spoken it; else None.
    """

    track: Track
    free: tuple[Interval, ...]
    slots: Mapping[str, Slot]
    frame: float
    reviewer: str
    end: float
    settings: SlotSettings
    take_seconds: Callable[[str], float | None]

    @cached_property
    def cues(self) -> Mapping[str, Cue]:
        """The lines of the track by id."""
        return {cue.id: cue for cue in self.track.cues}

    def cue(self, line_id: str) -> Cue:
        """The line with this id. Raises ReviewError where there is none."""
        cue = self.cues.get(line_id)
        if cue is None:
            raise refusal("act.no_such_line", line=quoted(line_id))
        return cue

    @property
    def shortest(self) -> int:
        """The shortest time that a line may last: one frame, in milliseconds."""
        return max(1, math.ceil(self.frame * 1000 - 1e-6))

    def spoken_seconds(self, text: str, language: str) -> float:
        """Seconds that a text takes to say, to 1 ms: as the voice said it, else by its words."""
        seconds = self.take_seconds(text)
        if seconds is None:
            seconds = spoken_words(text, language) * self.settings.seconds_per_word
        return round(seconds, 3)

    @cached_property
    def heard(self) -> tuple[HeardLine, ...]:
        """The lines that are heard, ascending by start."""
        return tuple(HeardLine(*span_of(cue.interval), cue.id) for cue in self.track.cues if cue.heard)

    def heard_in(self, span: Span) -> Iterator[HeardLine]:
        """The heard lines that overlap ``span``, the last first."""
        start, end = span
        index = bisect_left(self._starts, end)
        # Lines may overlap, so an early long one may reach into the span although later ones do not.
        while index > 0 and self._latest_ends[index - 1] > start:
            index -= 1
            if self.heard[index].end > start:
                yield self.heard[index]

    def neighbours(self, line_id: str, span: Span) -> tuple[int | None, int | None]:
        """The latest end of the heard lines that start before ``span`` ends, and the start of the next one,
        in milliseconds; None where there is no such line. The line called ``line_id`` does not count."""
        index = bisect_left(self._starts, span.end)
        after = self._starts[index] if index < len(self._starts) else None
        if index > 0 and self.heard[index - 1].id == line_id:
            index -= 1
        return (self._latest_ends[index - 1] if index > 0 else None), after

    def following(self, cue: Cue) -> Cue | None:
        """The heard line after ``cue``; None after the last, or where ``cue`` is not heard itself."""
        index = self._heard_indices.get(cue.id, len(self.heard)) + 1
        if index >= len(self.heard):
            return None
        return self.cues[self.heard[index].id]

    def are_free(self, start: int, end: int) -> bool:
        """Whether nobody speaks between two milliseconds."""
        gap = self.gap_of(Span(start, max(end, start + 1)))
        return start >= end or (gap is not None and gap.start <= start and end <= gap.end)

    def next_start(self, cue: Cue) -> float | None:
        """The second at which the heard line after ``cue`` starts; None after the last."""
        index = bisect_right(self._starts, milliseconds(cue.interval.start))
        return self._starts[index] / 1000 if index < len(self._starts) else None

    def gap_of(self, span: Span) -> Span | None:
        """The gap between speech that shares most time with ``span``; None where there is none."""
        film_start, film_end = milliseconds(EARLIEST_CUE), milliseconds(self.track.film.duration)
        first = max(0, bisect_right(self._gap_starts, span.start) - 1)
        best: Span | None = None
        most_shared = 0
        for gap in islice(self.free, first, None):
            # Rounded inwards, but not where a float is a hair off its millisecond.
            gap_span = Span(math.ceil(gap.start * 1000 - 1e-6), math.floor(gap.end * 1000 + 1e-6))
            if gap_span.start >= span.end:
                break
            shared = _shared(gap_span, span)
            if shared > most_shared:
                best, most_shared = gap_span, shared
        if best is None:
            return None
        return Span(max(best.start, film_start), min(best.end, film_end))

    @cached_property
    def _heard_indices(self) -> Mapping[str, int]:
        """The index in `heard` of each line, by id."""
        return {line.id: index for index, line in enumerate(self.heard)}

    @cached_property
    def _starts(self) -> list[int]:
        return [line.start for line in self.heard]

    @cached_property
    def _latest_ends(self) -> list[int]:
        """For each line of `heard`, the latest end of that line and all before it."""
        return list(accumulate((line.end for line in self.heard), max))

    @cached_property
    def _gap_starts(self) -> list[int]:
        return [math.ceil(gap.start * 1000 - 1e-6) for gap in self.free]


def free_interval_of(timeline: LineTimeline, cue: Cue) -> Interval | None:
    """The time, seconds, within which a line's start and end may be moved; None where there is none.

    It is free of speech and of other heard lines. The line's own time and its slot count as free, even where
    somebody speaks in them: that is how they were planned. Of several free intervals, the one that overlaps
    the line most, or is nearest to it.
    """
    span = span_of(cue.interval)
    # Bounds without regard to other lines: the gap around the line, its slot where that overlaps it, and its
    # own time.
    low, high = timeline.gap_of(span) or span
    slot = timeline.slots.get(cue.slot_id or "")
    if slot is not None:
        slot_span = span_of(slot.interval)
        if _shared(slot_span, span):
            low, high = min(low, slot_span.start), max(high, slot_span.end)
    film_start, film_end = milliseconds(EARLIEST_CUE), milliseconds(timeline.track.film.duration)
    bounds = Span(
        max(min(low, span.start), min(film_start, span.start)),
        min(max(high, span.end), max(film_end, span.end)),
    )

    beside = _time_between_neighbours(timeline, cue, bounds)
    if beside is not None:
        return interval_of(beside)

    def rank(piece: Span) -> tuple[int, int, int]:
        return _shared(piece, span), -_distance(piece, span), -piece.start

    # Only the lines near this one are looked at first, then more: a gap may last hours and hold a thousand
    # lines.
    reach = max(_FIRST_REACH, 2 * timeline.shortest)
    while True:
        window = Span(max(bounds.start, span.start - reach), min(bounds.end, span.end + reach))
        pieces: list[Span] = []
        piece_start = window.start
        for line in reversed(list(timeline.heard_in(window))):
            if line.id != cue.id:
                pieces.append(Span(piece_start, line.start))
                piece_start = max(piece_start, line.end)
        pieces.append(Span(piece_start, window.end))
        long_enough = [piece for piece in pieces if piece.end - piece.start >= timeline.shortest]
        best = max(long_enough, key=rank, default=None)
        if window == bounds:
            return None if best is None else interval_of(best)
        if best is not None:
            # A piece that a line or the bounds end, not the window, would be the same in a larger window.
            starts_by_itself = best.start != window.start or window.start == bounds.start
            ends_by_itself = best.end != window.end or window.end == bounds.end
            # What is outside the window is farther away than ``reach``.
            is_nearest = _shared(best, span) > 0 or 2 * _distance(best, span) <= reach
            if starts_by_itself and ends_by_itself and is_nearest:
                return interval_of(best)
        reach *= 2


def _time_between_neighbours(timeline: LineTimeline, cue: Cue, bounds: Span) -> Span | None:
    """The time between the heard lines before and after a line, within ``bounds``; None where one of them
    overlaps the line, or it is too short to tell.

    It holds all of the line's own time, so no other free time shares more with it.
    """
    span = span_of(cue.interval)
    before, after = timeline.neighbours(cue.id, span)
    start = max(bounds.start, before) if before is not None else bounds.start
    end = min(bounds.end, after) if after is not None else bounds.end
    if start > span.start or end < span.end or end - start < timeline.shortest:
        return None
    return Span(start, end)


def require_free_span(timeline: LineTimeline, cue: Cue, *, shared: bool = False) -> Span:
    """As `free_interval_of`, in milliseconds. ``shared``: it must overlap the line's own time.

    Raises ReviewError, naming the line in the way, where there is none.
    """
    free_interval, span = free_interval_of(timeline, cue), span_of(cue.interval)
    if free_interval is None or (shared and _shared(span_of(free_interval), span) == 0):
        lines_in_the_way = [line.id for line in timeline.heard_in(span) if line.id != cue.id]
        if lines_in_the_way:
            raise refusal("act.line_in_the_way", line=lines_in_the_way[-1])
        raise refusal("act.lines_in_the_way")
    return span_of(free_interval)


def cut_to_free_time(timeline: LineTimeline, cue: Cue) -> Cue:
    """The line with its times cut to the free time around it. Raises ReviewError if nothing is free.

    For a line that was not heard and will be: others may have taken its time meanwhile.
    """
    low, high = require_free_span(timeline, cue, shared=True)
    start, end = span_of(cue.interval)
    if low <= start and end <= high and end - start >= timeline.shortest:
        return with_span(cue, Span(start, end))
    start = min(max(start, low), high - timeline.shortest)
    end = max(start + timeline.shortest, min(end, high))
    return with_span(cue, Span(start, end))


def with_words(timeline: LineTimeline, cue: Cue, text: str) -> Cue:
    """The line with another text, placed, as if nothing had been done yet to make it fit; times unchanged."""
    return replace(
        cue,
        text=text,
        chosen=cue.candidates.index(text) if text in cue.candidates else None,
        status=CueStatus.PLACED,
        reason="",
        fit_steps=(),
        spoken_length=timeline.spoken_seconds(text, cue.language),
    )


def with_line_end(timeline: LineTimeline, cue: Cue) -> Cue:
    """The line with the end that its text takes to speak, in whole milliseconds.

    Where a person set its times, they stay.
    """
    slot = timeline.slots.get(cue.slot_id or "")
    slot_intervals = {} if slot is None else {slot.id: slot.interval}
    seconds_per_word = timeline.settings.seconds_per_word
    spoken = with_spoken_end(cue, slot_intervals, seconds_per_word, until=timeline.next_start(cue))
    start, end = span_of(spoken.interval)
    return with_span(spoken, Span(start, max(end, start + 1)))


def as_saved(cue: Cue) -> Cue:
    """The line as it is read back from the track's file.

    An acceptance or a take that belongs to an older text is gone, and lengths are rounded to 1 ms.
    """
    review, length = cue.review, cue.spoken_length
    if review is None:
        cue = unaccept(cue)
    spoken_length = None if length is None else round(length, 3)
    return replace(cue, accepted=review, stored_take=cue.spoken, spoken_length=spoken_length)


def is_added(cue: Cue) -> bool:
    """Whether a person added the line, where no machine had written one."""
    return cue.edited is not None and cue.machine is None and EditField.ADDED in cue.edited.fields


def with_span(cue: Cue, span: Span) -> Cue:
    """The line with other times."""
    return replace(cue, interval=interval_of(span))


def span_of(interval: Interval) -> Span:
    """Seconds as whole milliseconds, at least one long: ``[1.0004, 2)`` → ``Span(1000, 2000)``."""
    start, end = milliseconds(interval.start), milliseconds(interval.end)
    return Span(start, max(end, start + 1))


def interval_of(span: Span) -> Interval:
    """Milliseconds as seconds, which a file gives back unchanged."""
    return Interval(span.start / 1000, span.end / 1000)


LARGEST_NUMBER = 1e9
"""Largest number that an act takes. As seconds it is thirty years, which no film lasts; far above it a float
holds no milliseconds."""


def number_in(args: Json, key: str) -> float:
    """The number ``args[key]``. Raises ReviewError where it is none, or too large."""
    value = args.get(key)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # NaN is in no range; and unlike math.isfinite this takes whole numbers that no float can hold.
    if value is None or not is_number or not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        allowed = f"a number from -{LARGEST_NUMBER:,.0f} to {LARGEST_NUMBER:,.0f}"
        raise ReviewError(f"{key} must be {allowed}, got {quoted(value)}.")
    return float(value)


def text_in(args: Json) -> str:
    """The text ``args["text"]``. Raises ReviewError where it is none, or longer than a line may be."""
    value = args.get("text")
    if not isinstance(value, str):
        raise ReviewError(f"text must be a text, got {quoted(value)}.")
    if len(value) > MAX_TEXT_LENGTH:
        raise refusal("act.text_too_long", number=len(value), most=MAX_TEXT_LENGTH)
    return value


def _shared(a: Span, b: Span) -> int:
    """Milliseconds that two spans have in common."""
    return max(0, min(a.end, b.end) - max(a.start, b.start))


def _distance(a: Span, b: Span) -> int:
    """Milliseconds between two spans; 0 where they touch or overlap."""
    return max(0, a.start - b.end, b.start - a.end)
