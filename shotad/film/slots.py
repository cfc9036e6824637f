"""Slots: the times in which AD lines are spoken, from free time, shots and settings. Pure.

Free time is the film less its speech, with a safety margin at each side; the roll of end credits is found by
the text on screen. Each gap is first filled with slots as densely as it can be; ``--detail`` then keeps all
of them or a part. So a sparser track is a subset of a richer one: its slots have the same ids, and what was
written for them stays valid when the detail changes.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shotad.core import (
    Box,
    Interval,
    Shot,
    Sighting,
    Slot,
    Utterance,
)
from shotad.core.config.film import SlotSettings, SpeechSettings
from shotad.core.types import (
    SpeechKind,
    clip_all,
    slot_id,
    time_range,
)

HARD_MINIMUM = 2.0
"""Seconds below which no slot is planned whatever ``slots.minimum`` says (WCAG F113)."""
FULL_LENGTH = 4.0
"""Seconds that each slot of a longer gap has at least, and that a gap needs with ``brief``. Shorter slots
inside long gaps mean more calls of a model, and hold no more of what people say (benchmarks/slots.py)."""
PREFERRED = 5.5
"""Seconds; in a long gap slots come near this (two describers: median 4 and 6, benchmarks/slots.py)."""
MAXIMUM = 9.0
"""Seconds; a longer gap becomes several slots: longer lines are hard to follow beside a film."""
BREATH = 0.5
"""Seconds between two slots of one gap: a line ends before the next begins. It is the median of one
describer's pauses, and of those under a second in CMD-AD and TV-AD (benchmarks/slots.py)."""
SNAP = 1.0
"""Seconds by which a slot may start later than its gap so as to start with a shot."""
EARLIEST = 0.2
"""Seconds of film before the first slot: players fire a cue at 0.000 before they play."""
CREDITS = 5.0
"""Seconds; the length of the one slot that a roll of end credits gets."""
SHARES = {"brief": 0.4, "normal": 0.7, "rich": 1.0}
"""Share of the slots of a long gap that each detail keeps."""
GRID = 500
"""Milliseconds between the moments at which a slot may start where no shot does."""
_NO_CUT_COST = 0.5
"""Cost of a slot that does not start with a shot: that of a length 1.7 or 0.3 times the preferred one."""
_WASTE_COST = 0.5
"""Cost of unused time in a gap, for each preferred length of it."""
_CUT_WEIGHT = 1.5
"""Slots that start with a shot are kept before others that lie as far from those already kept."""


def plan_slots(
    gaps: Sequence[Interval],
    shots: Sequence[Shot],
    settings: SlotSettings,
    *,
    credits: Interval | None = None,  # noqa: A002 - the film's word for it
    film: Interval,
) -> tuple[Slot, ...]:
    """Slots inside ``gaps`` and ``film``, sorted and apart, in whole milliseconds.

    A gap shorter than ``settings.minimum`` (never below `HARD_MINIMUM`) has none, with ``brief`` also one
    shorter than `FULL_LENGTH`. A gap too short for two slots of `FULL_LENGTH` has one. A longer one is cut
    into slots of about `PREFERRED` seconds that start with a shot where one is near, `BREATH` apart.
    The `EARLIEST` seconds of the film count as free time, but no slot lies in them. The roll of end
    ``credits`` gets one slot, at its beginning.
    """
    opening = film.start + EARLIEST
    # The film's first shot starts at no cut.
    cuts = sorted({_ceil_ms(shot.interval.start) for shot in shots if shot.interval.start > film.start})
    free = clip_all(join_intervals(gaps), film)
    if credits is None:
        usable = free
    else:
        # The roll and all after it belong to its one slot, which needs a pause before it as any other.
        roll = Interval(credits.start - BREATH, max(credits.end, film.end))
        usable = []
        for gap in free:
            usable += subtract(gap, [roll])

    slots: list[Slot] = []
    for gap in usable:
        layout = _densest_layout(gap, opening, cuts, settings)
        for start, end in _thin_out(layout, cuts, settings):
            slots.append(_slot(start, end, settings))
    if credits is not None:
        slots += _credit_slot(free, opening, credits, settings)
    return tuple(sorted(slots, key=lambda slot: slot.interval))


def words_that_fit(duration: float, seconds_per_word: float) -> int:
    """How many words can be said in ``duration`` seconds: 6 s at 0.375 s a word → 16."""
    # 1e-9: a duration of a whole number of words keeps them all, whatever floats make of the division.
    return int(duration / seconds_per_word + 1e-9)


def word_budget(duration: float, settings: SlotSettings) -> int:
    """How many words a line of ``duration`` seconds may have, at least 1: 6 s at 0.375 s a word is 16.

    ``slots.budget: paper`` and ``paper+3`` add words as the published code does, which may not fit.
    """
    if settings.budget == "fit":
        return max(1, words_that_fit(duration, settings.seconds_per_word))
    extra_words = {"paper": 1, "paper+3": 4}[settings.budget]
    return max(1, int(duration / settings.seconds_per_word + extra_words))


@dataclass(frozen=True, slots=True)
class FailedSlot:
    """A given slot that cannot be described, by its id in the file where it has one."""

    id: str
    reason: str


def fixed_slots(
    cues: Sequence[tuple[str | None, Interval]], film: Interval, settings: SlotSettings
) -> tuple[tuple[Slot, ...], list[str], list[FailedSlot]]:
    """Slots exactly where ``cues`` (id or None, interval) say; no minimum applies, and they may overlap.

    Returns the slots, sorted by start; a warning for each that was clipped; and those that cannot be
    described.

    A cue partly outside ``film`` is clipped, with a warning; one wholly outside fails. A slot's id comes
    from its (clipped) start, as that of all slots, or from the next millisecond that is free; the id in the
    file becomes its label.
    """
    slots: list[Slot] = []
    warnings: list[str] = []
    failed: list[FailedSlot] = []
    used_ids: set[str] = set()
    for cue_id, interval in sorted(cues, key=lambda cue: cue[1]):
        inside = interval.clip(film)
        label = cue_id or ""
        if inside is None:
            failed_id = label or slot_id(max(interval.start, 0.0))
            bounds = time_range(film, 3)
            failed.append(FailedSlot(failed_id, f"{time_range(interval)} lies outside the film ({bounds})"))
            continue
        start_ms = round(inside.start * 1000)
        new_id = slot_id(start_ms / 1000)
        while new_id in used_ids:
            start_ms += 1
            new_id = slot_id(start_ms / 1000)
        used_ids.add(new_id)
        if inside != interval:
            clipped = time_range(inside, 3)
            warnings.append(
                f"Slot {label or new_id} ({time_range(interval)}) reaches outside the film and is cut to "
                f"{clipped}."
            )
        slots.append(Slot(new_id, inside, word_budget(inside.duration, settings), label=label))
    return tuple(slots), warnings, failed


FEW = 60.0
"""Seconds of film for each slot, beyond which there are few: two describers had one in 10 and 14."""


def explain_few_slots(
    slots: Sequence[Slot], gaps: Sequence[Interval], part: Interval, settings: SlotSettings
) -> str | None:
    """A message that explains why few or no ``slots`` start in ``part`` of the film, and what can be done.

    None where there are enough.
    """
    count = sum(part.start <= slot.interval.start < part.end for slot in slots)
    if count * FEW >= part.duration:
        return None
    free = clip_all(gaps, part)
    speech_share = 1 - sum(gap.duration for gap in free) / part.duration
    shortest = shortest_gap(settings)
    short_gaps = sum(gap.duration < shortest for gap in free)

    if count == 0:
        slot_count = "No slots"
    elif count == 1:
        slot_count = "Only 1 slot"
    else:
        slot_count = f"Only {count} slots"
    reason = (
        f"speech fills {speech_share:.0%}, and {short_gaps} of {len(free)} gaps are shorter than "
        f"{shortest:g} s"
    )
    hint = "--extended lets the film pause for lines that do not fit, and --slots takes slots of your own."
    without_brief = shortest_gap(settings.model_copy(update={"detail": "normal"}))
    if without_brief < shortest:
        hint = f"--detail normal takes gaps from {without_brief:g} s on. {hint}"
    elif settings.minimum > HARD_MINIMUM:
        hint = f"--set slots.minimum={HARD_MINIMUM:g} takes shorter gaps. {hint}"
    return f"{slot_count} in {part.duration:.0f} s: {reason}. {hint}"


def _ceil_ms(second: float) -> int:
    """The first whole millisecond that is not before ``second``."""
    ms = round(second * 1000)
    return ms + 1 if ms / 1000 < second else ms


def _floor_ms(second: float) -> int:
    """The last whole millisecond that is not after ``second``."""
    # Not math.floor: 1.001 * 1000 is 1000.9999999999999.
    ms = round(second * 1000)
    return ms - 1 if ms / 1000 > second else ms


def _slot(start_ms: int, end_ms: int, settings: SlotSettings, *, is_credits: bool = False) -> Slot:
    interval = Interval(start_ms / 1000, end_ms / 1000)
    max_words = word_budget((end_ms - start_ms) / 1000, settings)
    return Slot(slot_id(interval.start), interval, max_words, credits=is_credits)


def shortest_gap(settings: SlotSettings) -> float:
    """Seconds of free time that a gap needs to get a slot."""
    minimum = FULL_LENGTH if settings.detail == "brief" else HARD_MINIMUM
    return max(settings.minimum, minimum)


def _credit_slot(
    free: Iterable[Interval], opening: float, roll: Interval, settings: SlotSettings
) -> list[Slot]:
    """The slot in the first gap inside the roll of credits that is long enough; empty where none is."""
    for gap in free:
        inside = gap.clip(roll)
        if inside is None:
            continue
        start, end = _ceil_ms(max(inside.start, opening)), _floor_ms(inside.end)
        if end - start < _ceil_ms(max(settings.minimum, HARD_MINIMUM)):
            continue
        end = min(end, start + _floor_ms(max(CREDITS, HARD_MINIMUM)))
        return [_slot(start, end, settings, is_credits=True)]
    return []


def _densest_layout(
    gap: Interval, opening: float, cuts: Sequence[int], settings: SlotSettings
) -> list[tuple[int, int]]:
    """The cheapest way to fill one gap with slots from second ``opening`` on: (start, end) in milliseconds.

    A slot costs the square of its relative distance from the preferred length, and more if no shot
    starts with it; unused time costs too. Found by dynamic programming from the gap's end. ``cuts`` are
    in milliseconds, sorted.
    """
    gap_start, gap_end = _ceil_ms(max(gap.start, opening)), _floor_ms(gap.end)
    # The seconds before ``opening`` count here, for they are free time too.
    is_long_enough = gap_end - _ceil_ms(gap.start) >= _ceil_ms(shortest_gap(settings))
    if not is_long_enough or gap_end - gap_start < _ceil_ms(HARD_MINIMUM):
        return []
    shortest = _ceil_ms(max(settings.minimum, FULL_LENGTH))
    if gap_end - gap_start < shortest:
        return [(gap_start, gap_end)]
    longest = max(_floor_ms(MAXIMUM), shortest)
    preferred = min(max(round(PREFERRED * 1000), shortest), longest)
    breath = _ceil_ms(BREATH)

    # A slot may start with the gap, at a cut, and on a grid between.
    latest_start = gap_end - shortest
    cuts_inside = cuts[bisect_left(cuts, gap_start) : bisect_right(cuts, latest_start)]
    starts = sorted({*range(gap_start, latest_start + 1, GRID), *cuts_inside, latest_start})
    at_cut = _starts_with_shot(starts, cuts)

    # The cheapest layout from each start on: its cost, where its first slot ends, and the number of the start
    # of the next slot (-1: there is none).
    best: list[tuple[float, int, int]] = [(0.0, gap_end, -1)] * len(starts)
    for number in reversed(range(len(starts))):
        start = starts[number]
        # Either this slot is the gap's last ...
        end = min(gap_end, start + longest)
        cost = ((end - start - preferred) / preferred) ** 2 + _WASTE_COST * (gap_end - end) / preferred
        cheapest = (cost, end, -1)
        # ... or another follows, a breath after it ends.
        first_next = bisect_left(starts, start + shortest + breath)
        last_next = bisect_right(starts, start + longest + breath)
        for next_number in range(first_next, last_next):
            end = starts[next_number] - breath
            cost = ((end - start - preferred) / preferred) ** 2 + best[next_number][0]
            if cost < cheapest[0]:
                cheapest = (cost, end, next_number)
        cost, end, next_number = cheapest
        best[number] = cost + (0.0 if at_cut[number] else _NO_CUT_COST), end, next_number

    # The first slot starts with the gap, or with a shot soon after.
    count = bisect_right(starts, gap_start + _ceil_ms(SNAP))
    first_numbers = [number for number in range(count) if number == 0 or at_cut[number]]
    number = min(
        first_numbers,
        key=lambda first: best[first][0] + _WASTE_COST * (starts[first] - gap_start) / preferred,
    )
    layout: list[tuple[int, int]] = []
    while number >= 0:
        _, end, next_number = best[number]
        layout.append((starts[number], end))
        number = next_number
    return layout


def _starts_with_shot(starts: Sequence[int], cuts: Sequence[int]) -> list[bool]:
    """For each start whether it is at a cut; the first, which speech may delay, may be soon after one."""
    all_cuts = set(cuts)
    flags = [start in all_cuts for start in starts]
    cuts_before = bisect_right(cuts, starts[0])
    flags[0] = cuts_before > 0 and starts[0] - cuts[cuts_before - 1] < GRID
    return flags


def _thin_out(
    layout: list[tuple[int, int]], cuts: Sequence[int], settings: SlotSettings
) -> list[tuple[int, int]]:
    """The share of one gap's layout that the detail asks for, spread over the gap.

    Slots are taken in one fixed order, first the gap's first and then always the one farthest from
    those taken, so a smaller share is a subset of a larger one.
    """
    # 1e-9: a whole number of slots stays one, whatever floats make of the product.
    count = math.ceil(SHARES[settings.detail] * len(layout) - 1e-9)
    if count >= len(layout):
        return layout
    starts = [start for start, _ in layout]
    weights = [_CUT_WEIGHT if at_cut else 1.0 for at_cut in _starts_with_shot(starts, cuts)]
    chosen_indices = [0]
    # From the nearest slot that is kept, in milliseconds.
    distances = [float(start - starts[0]) for start in starts]
    while len(chosen_indices) < count:
        # Of slots that are alike the earlier one, hence ``-number``.
        farthest = max(range(len(layout)), key=lambda number: (distances[number] * weights[number], -number))
        chosen_indices.append(farthest)
        for number, start in enumerate(starts):
            distances[number] = min(distances[number], abs(start - starts[farthest]))
    return [layout[number] for number in sorted(chosen_indices)]


def free_time(
    speech: Sequence[Utterance],
    duration: float,
    settings: SpeechSettings,
    holes: Sequence[Interval] = (),
) -> tuple[Interval, ...]:
    """The parts of ``[0, duration)`` seconds in which nobody speaks, sorted and apart.

    ``holes`` are the times at which the film has no picture, so nothing to describe; they are no free time
    either. Each utterance is widened by ``settings.margin`` seconds at both sides; utterances may overlap, be
    unsorted, or lie beyond the film. Sung lyrics are kept free too unless ``settings.over_lyrics``:
    guidelines let a describer speak over the instrumental part of a song and not over its words, and an
    instrumental part is no utterance. Short gaps are returned too, for only `plan_slots` knows what is too
    short for a line.
    """
    if not math.isfinite(duration) or duration <= 0:
        return ()
    margin = settings.margin
    taken = [Interval(time.start - margin, time.end + margin) for time in no_line_times(speech, settings)]
    return subtract(Interval(0.0, duration), [*taken, *holes])


def no_line_times(speech: Sequence[Utterance], settings: SpeechSettings) -> tuple[Interval, ...]:
    """The times over which no line is spoken: all speech, and sung lyrics unless ``settings.over_lyrics``."""
    if settings.over_lyrics:
        speech = [utterance for utterance in speech if utterance.kind is not SpeechKind.LYRICS]
    return tuple(utterance.interval for utterance in speech)


def join_intervals(intervals: Iterable[Interval], bridge: float = 0.0) -> tuple[Interval, ...]:
    """The intervals sorted and joined where they touch, overlap, or lie at most ``bridge`` seconds apart.

    >>> join_intervals([Interval(3, 4), Interval(0, 1), Interval(0.5, 2)])
    (Interval(start=0, end=2), Interval(start=3, end=4))
    """
    joined: list[Interval] = []
    for interval in sorted(intervals):
        if joined and interval.start <= joined[-1].end + bridge:
            joined[-1] = Interval(joined[-1].start, max(joined[-1].end, interval.end))
        else:
            joined.append(interval)
    return tuple(joined)


def subtract(whole: Interval, taken: Iterable[Interval]) -> tuple[Interval, ...]:
    """The parts of ``whole`` outside ``taken``: ``[0, 9)`` less ``[3, 5)`` is ``[0, 3)``, ``[5, 9)``."""
    parts: list[Interval] = []
    start = whole.start
    for interval in join_intervals(taken):
        if interval.start >= whole.end:
            break
        if interval.start > start:
            parts.append(Interval(start, interval.start))
        start = max(start, interval.end)
    if start < whole.end:
        parts.append(Interval(start, whole.end))
    return tuple(parts)


SHORTEST = 8.0
"""Seconds of a roll of credits at least; text that is shown for less is a title or a sign."""
SHORTEST_FULL = 5.0
"""The same where it reaches the film's end and shows many lines at once."""
MANY_LINES = 5
"""So many lines at once are no title and no sign."""
LONGEST_BLANK = 12.0
"""Seconds without text that credits may have between two cards."""
DENSITY = 0.6
"""Share of the moments of a roll that show credits, at least."""
LINES = 2
"""Lines of text at one moment; one alone is a title, a sign or a burnt-in subtitle."""
LINE_HEIGHT = 0.12
"""Height of a line of credits at most, as a fraction of the picture's: larger ones are titles, on however
many lines."""
_SUBTITLE_TOP = 0.75
"""Height below which text is taken for subtitles."""


def credits_interval(
    sightings: Sequence[Sighting], moments: Sequence[float], film: Interval
) -> Interval | None:
    """The roll of credits in the second half of ``film``, or None.

    ``sightings`` are lines of text, ``moments`` all the seconds at which text was looked for, with or
    without result. Credits are the longest time in which most moments show several small lines that are
    not all at the bottom.
    """
    moments = sorted(set(moments))
    boxes: dict[float, list[Box]] = {moment: [] for moment in moments}
    for sighting in sightings:
        boxes[sighting.seconds].append(sighting.box)

    # Opening credits are not looked for, hence the second half alone.
    credit_moments = [m for m in moments if m >= film.middle and may_be_credits(boxes[m])]
    rolls: list[Interval] = []
    for run in _runs(credit_moments):
        if not _is_dense(run, moments):
            continue
        roll = _interval_of_run(run, moments, film)
        most_lines = max(len(_small_lines(boxes[moment])) for moment in run)
        if _is_roll(roll, most_lines, film):
            rolls.append(roll)
    return max(rolls, key=lambda roll: (roll.duration, roll.start), default=None)


def may_be_credits(lines: Iterable[Box]) -> bool:
    """True for several small lines of text at one moment that are not all at the bottom."""
    small = _small_lines(lines)
    return len(small) >= LINES and any(box.centre[1] < _SUBTITLE_TOP for box in small)


def _small_lines(lines: Iterable[Box]) -> list[Box]:
    return [box for box in lines if box.height <= LINE_HEIGHT]


def _is_roll(time: Interval, most_lines: int, film: Interval) -> bool:
    """Whether text at ``time``, with at most ``most_lines`` lines at once, is long enough for credits."""
    if time.duration >= SHORTEST:
        return True
    at_end = film.end - time.end < 1
    return at_end and most_lines >= MANY_LINES and time.duration >= SHORTEST_FULL


def _runs(credit_moments: Sequence[float]) -> list[list[float]]:
    """The moments in runs that no pause longer than `LONGEST_BLANK` interrupts."""
    runs: list[list[float]] = []
    for moment in credit_moments:
        if runs and moment - runs[-1][-1] <= LONGEST_BLANK:
            runs[-1].append(moment)
        else:
            runs.append([moment])
    return runs


def _is_dense(run: Sequence[float], moments: Sequence[float]) -> bool:
    """Whether enough of all ``moments`` from the run's first to its last are in the run."""
    count = bisect_left(moments, run[-1]) - bisect_left(moments, run[0]) + 1
    return len(run) >= DENSITY * count


def _interval_of_run(run: Sequence[float], moments: Sequence[float], film: Interval) -> Interval:
    """From the run's first moment to the first moment after the run, or to the film's end."""
    after = bisect_left(moments, run[-1]) + 1
    if after < len(moments):
        return Interval(run[0], moments[after])
    # The last moment may be at the film's end or after it, and an interval must not be empty.
    return Interval(run[0], max(film.end, run[-1] + 1e-3))
