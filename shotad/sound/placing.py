"""Where lines may stand and in which forms they may be said, and the best choice of both. Pure.

Lines never stand where somebody speaks. Those of one gap are solved together and exactly, in whole
milliseconds, each within its `Window`, in their order and ``between`` milliseconds apart. A choice of forms
is possible if every line, put as early as it can be, still stands in its window, for an earlier line never
hinders a later one. So the cheapest choice is found by going through the lines once and keeping, for each
moment at which the lines so far can end, the cheapest way there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from shotad.core import FitSettings, Interval
from shotad.film import subtract
from shotad.script import (
    BREATH,
    EARLIEST,
    LEAD,
    Cue,
    Track,
    has_blanks,
    is_by_hand,
    split_sentences,
    spoken_words,
    usual_words,
    variants,
)
from shotad.sound.kinds import LineToSpeak, Take

BETWEEN = 0.3
"""Seconds of breath between two lines."""
LONGEST_WORD_RATE = 200.0
"""Words a minute that speeding up must not pass, as guidelines say (rule T3)."""
CLEAR = 0.1
"""Seconds kept free before speech begins, beyond the margin that is in the gaps already."""
NO_ROOM = 0.001
"""Seconds: the room of a line that has no free time in reach. Nothing can be said in it."""


def lines_of(
    track: Track,
    speech: Sequence[Interval],
    slots: Mapping[str, Interval],
    settings: FitSettings,
    *,
    margin: float,
) -> tuple[LineToSpeak, ...]:
    """Every line of the track that is heard, in order, with the time that it may use.

    ``speech`` are the seconds in which somebody speaks; ``margin`` is kept from it at both sides, `CLEAR`
    more before it. ``slots`` are those that lines were given, by id. A line is wanted where the track has it,
    but not trusted to be free there: a person may have put it over speech (rule T1), and then

    - its room is free time within `settings.earlier` before and `settings.later` after its start: the nearest
      that is long enough for it, else one that holds half of it or two seconds;
    - else free time later, as far as its own time reaches: a line far from what it tells of would mislead;
    - with nothing in reach its room is `NO_ROOM` long, and it will be left unspoken, with the reason.
    """
    # The film less its speech; nothing in its first `EARLIEST` seconds, for players miss it there.
    duration = track.film.duration
    taken = [Interval(one.start - margin - CLEAR, one.end + margin) for one in speech]
    free = subtract(Interval(min(EARLIEST, duration / 2), duration), taken)
    return tuple(
        LineToSpeak(
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
        for room, slot in [_room(cue, free, slots, settings)]
    )


def earliest(line: LineToSpeak, settings: FitSettings) -> float:
    """The second before which a line may not begin."""
    return max(line.room.start, line.start - settings.earlier, min(line.start, line.earliest))


def latest(line: LineToSpeak, settings: FitSettings) -> float:
    """The second by which it must have begun: `settings.later` after it is wanted, and in any case when its
    slot begins, which is later only where people speak at its own time."""
    return max(line.start + settings.later, line.slot.start, earliest(line, settings))


def _in_sight(cue: Cue) -> float:
    """The second before which a line tells of what is not seen yet; 0 where that is a person's choice."""
    return 0.0 if cue.seen_from is None or is_by_hand(cue) else cue.seen_from - LEAD


def _room(
    cue: Cue, free: Sequence[Interval], slots: Mapping[str, Interval], settings: FitSettings
) -> tuple[Interval, Interval]:
    planned = slots.get(cue.slot_id or "", cue.interval)
    # A person who moved a line out of its slot did not mean the slot.
    own = planned if planned.contains(cue.interval.start) else cue.interval
    # The best of the rooms in reach, None where there is none
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

    room = min(rooms, key=preference, default=None)
    if room is None:
        room = Interval(cue.interval.start, cue.interval.start + NO_ROOM)
    return room, own.clip(room) or cue.interval.clip(room) or room


_USABLE = 2.0
"""Seconds in which something can be said (shorter pauses are unusable by WCAG's failure F113). With less near
its place, and less than half of what it needs, a line rather waits for free time within its own."""

HOPE = 0.95
"""An unspoken form is taken to be this much shorter than the pace of its line says: one that is tried in vain
costs a call of the voice, one that is not tried costs the listener words."""


@dataclass(frozen=True, slots=True)
class Form:
    """Words in which a line may be said. ``steps`` say what became of the rest.

    ``words`` is how many English words it counts for, ``lost`` how many it has fewer than the line. Its
    ``length`` is at the voice's own pace: measured where there is a ``take``, else estimated. ``factor`` is
    how many times faster it may be spoken.
    """

    text: str
    words: int
    lost: int
    steps: tuple[str, ...]
    length: int
    factor: float
    usual: float = 1.0
    """Its letters as words of the usual length, by which its pace is told (`shotad.script.pace`)."""
    take: Take | None = None

    def at(self, factor: float) -> int:
        """Its length at this many times its pace, or at the fastest it may have."""
        return math.ceil(self.length / min(factor, self.factor) - 1e-6)

    @property
    def shortest(self) -> int:
        return self.at(self.factor)


def whole_form(line: LineToSpeak, take: Take, settings: FitSettings) -> Form:
    words = spoken_words(line.text, line.language)
    usual = usual_words(line.text, line.language)
    return spoken(Form(line.text, words, 0, (), 1, 1.0, usual), take, settings)


def shorter_forms(line: LineToSpeak, whole: Form, settings: FitSettings) -> Iterator[Form]:
    """Its ever shorter forms, with lengths by its own pace."""
    blanks = has_blanks(line.language)
    for text in (form.text for form in variants(line.text, language=line.language)):
        if text != line.text:
            told = _left_out(line.text, text) if blanks else [f"dropped sentences or clauses: {line.text}"]
            yield form_of(line, text, tuple(told), whole, settings)


def _left_out(whole: str, short: str) -> list[str]:
    """What a form leaves out, in words for people."""
    before, after = split_sentences(whole), split_sentences(short)
    told, gone, pieces = [], before[len(after) :], []
    if gone:
        number = "a sentence" if len(gone) == 1 else f"{len(gone)} sentences"
        told.append(f"dropped {number}: {' '.join(gone)}")
    for old, new in zip(before, after, strict=False):
        words = old.split()
        bare, other = (
            ["".join(char for char in word.lower() if char.isalnum()) or word for word in text.split()]
            for text in (old, new)
        )
        for kind, first, end, _, _ in SequenceMatcher(None, bare, other, autojunk=False).get_opcodes():
            if kind in ("delete", "replace"):
                pieces.append(" ".join(words[first:end]).strip(" ,;:.–—-"))
    if pieces:
        told.append(f"dropped {'a clause' if len(pieces) == 1 else 'clauses'}: {' … '.join(pieces)}")
    return told


def spoken(form: Form, take: Take, settings: FitSettings) -> Form:
    # Length of a take, its last millisecond counted whole.
    length = -(-take.size * 1000 // take.rate)
    return replace(form, take=take, length=length, factor=_factor(form.usual, length, settings))


def weight(text: str) -> int:
    """How much there is to say, for comparing texts of one voice: letters, a figure as several, a pause."""
    figures = sum(char.isdigit() for char in text)
    stops = len(_STOP.findall(text))
    return max(1, sum(char.isalpha() for char in text) + _FIGURE * figures + _PAUSE * stops)


_STOP = re.compile(r"[,;:.!?…–—](?=\s)")
_FIGURE, _PAUSE = 5, 4
"""Letters that take as long to say as a figure (four to five in English), and as a pause between phrases."""


def form_of(line: LineToSpeak, text: str, steps: tuple[str, ...], whole: Form, settings: FitSettings) -> Form:
    """A form that has not been spoken, its length after the pace of the whole line."""
    length = max(1, round(HOPE * whole.length / weight(line.text) * weight(text)))
    words = spoken_words(text, line.language)
    lost = max(0, whole.words - words)
    usual = usual_words(text, line.language)
    return Form(text, words, lost, steps, length, _factor(usual, length, settings), usual)


def _factor(usual: float, length: int, settings: FitSettings) -> float:
    """How many times faster it may be: the setting, and never over the longest word rate, as T3 counts."""
    least = 60 * usual / LONGEST_WORD_RATE - BREATH
    return max(1.0, min(settings.fastest, length / 1000 / least)) if least > 0 else settings.fastest


_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """Milliseconds: a line is wanted at ``wanted``, starts in ``[earliest, latest]``, is over by ``end``."""

    wanted: int
    earliest: int
    latest: int
    end: int

    def takes(self, start: int, length: int) -> bool:
        """Whether a line of this length may start there."""
        return self.earliest <= start <= self.latest and start + length <= self.end


Option = tuple[int, int]
"""A way of saying a line: how many milliseconds it takes, and what it costs the listener."""


def earliest_starts(
    windows: Sequence[Window], lengths: Sequence[int | None], between: int
) -> list[int | None] | None:
    """Where each line stands if all are as early as they can be; None where they cannot all be said.

    A length of None is a line that is not said; it has no start.
    """
    starts: list[int | None] = []
    free = None
    for window, length in zip(windows, lengths, strict=True):
        if length is None:
            starts.append(None)
            continue
        start = window.earliest if free is None else max(window.earliest, free)
        if not window.takes(start, length):
            return None
        starts.append(start)
        free = start + length + between
    return starts


def cheapest(
    windows: Sequence[Window], options: Sequence[Sequence[Option]], dropping: Sequence[int], between: int
) -> tuple[int | None, ...]:
    """For each line the index of its option, or None to drop it, at the least cost in all.

    ``dropping`` is what it costs to leave each line out. Of ways that cost the same, the one whose lines end
    first.
    """
    # Of all that may have been chosen so far where it ends (ascending), and what it costs (falling).
    ends, costs = np.array([-_LONG_AGO], np.int64), np.array([0], np.int64)
    # After each line the last option of each way (-1: left out), and the number of the way before.
    course: list[tuple[_Numbers, _Numbers]] = []
    for window, line, leaving in zip(windows, options, dropping, strict=True):
        every = np.arange(ends.size, dtype=np.int64)
        starts = np.maximum(ends + between, window.earliest)
        parts = [(ends, costs + leaving, np.full(every.size, -1, np.int64), every)]
        for number, (length, cost) in enumerate(line):
            fits = (starts <= window.latest) & (starts + length <= window.end)
            same = np.full(int(fits.sum()), number, np.int64)
            parts.append((starts[fits] + length, costs[fits] + cost, same, every[fits]))
        ends, costs, last, before = map(np.concatenate, zip(*parts, strict=True))
        # Those that end no earlier than a cheaper one are left out.
        order = np.lexsort((costs, ends))
        least = np.minimum.accumulate(costs[order])
        kept = order[np.concatenate(([True], least[1:] < least[:-1]))]
        ends, costs = ends[kept], costs[kept]
        course.append((last[kept], before[kept]))
    # The cheapest end last, for of ways that end later only the cheaper are kept.
    at = int(ends.size) - 1
    chosen: list[int | None] = []
    for last, before in reversed(course):
        number = int(last[at])
        chosen.append(None if number < 0 else number)
        at = int(before[at])
    return tuple(reversed(chosen))


_LONG_AGO = 10**12


def nearest_starts(windows: Sequence[Window], lengths: Sequence[int], between: int) -> list[int]:
    """Where lines stand as near to where they are wanted as can be: the sum of squares is the least.

    The lines must be possible (`earliest_starts`). Lines that press on each other become a block that moves
    as one: isotonic regression with bounds, by pooling adjacent violators; a block's best place is its mean,
    kept within the bounds of its members. Exact, for the cost of a block is convex (Best, Chakravarti and
    Ubhaya 2000, on minimising separable convex functions over isotonic functions).
    """
    offsets = [0, *accumulate(length + between for length in lengths)][: len(lengths)]
    low = [window.earliest - offset for window, offset in zip(windows, offsets, strict=True)]
    high = [
        min(window.latest, window.end - length) - offset
        for window, length, offset in zip(windows, lengths, offsets, strict=True)
    ]
    for at in range(1, len(low)):
        low[at] = max(low[at], low[at - 1])
    for at in reversed(range(len(high) - 1)):
        high[at] = min(high[at], high[at + 1])
    wanted = [window.wanted - offset for window, offset in zip(windows, offsets, strict=True)]
    before = [0, *accumulate(wanted)]

    def best(first: int, end: int) -> int:
        """The place of the lines ``[first, end)`` as one: their mean, within the bounds of them all."""
        mean = (2 * (before[end] - before[first]) + end - first) // (2 * (end - first))
        return min(max(mean, low[end - 1]), high[first])

    blocks: list[tuple[int, int]] = []
    for at, window in enumerate(windows):
        if low[at] > high[at]:
            raise ValueError(f"line {at} of {len(windows)} cannot be placed: {window}, lengths {lengths}")
        block = (at, at + 1)
        while blocks and best(*blocks[-1]) >= best(*block):
            block = (blocks.pop()[0], at + 1)
        blocks.append(block)
    return [best(first, end) + offsets[at] for first, end in blocks for at in range(first, end)]
