"""Slots: the times in which AD lines are spoken, from free time, shots and settings. Pure.

Free time is the film less its speech, with a safety margin at each side; the roll of end credits is found by
the text that was seen. The densest layout of each gap is laid first; ``--detail`` then keeps all of it or a
part. So a sparser track is a subset of a richer one: its slots have the same ids, and what was written for
them stays valid when the detail changes.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from shotad.core import (
    Box,
    Interval,
    Shot,
    Sighting,
    Slot,
    SlotSettings,
    SpeechKind,
    SpeechSettings,
    Utterance,
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
_WASTE_COST = 0.5
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
    free = [piece for gap in union(gaps) if (piece := gap.clip(film))]
    cuts = sorted({_ceil_ms(shot.interval.start) for shot in shots if shot.interval.start > film.start})
    before = free
    if credits is not None:
        shut = Interval(credits.start - BREATH, max(credits.end, film.end))
        before = [piece for gap in free for piece in subtract(gap, [shut])]
    layouts = [_lay_out(piece, opening, cuts, settings) for piece in before]
    planned = [span for layout in layouts for span in _keep(layout, cuts, settings)]
    slots = [_slot(start, end, settings) for start, end in planned]
    if credits is not None:
        slots += _credit_slot(free, opening, credits, settings)
    return tuple(sorted(slots, key=lambda slot: slot.interval))


def word_budget(duration: float, settings: SlotSettings) -> int:
    """How many words a line of ``duration`` seconds may have, at least 1: 6 s at 0.375 s a word is 16."""
    more = {"fit": 1e-9, "paper": 1, "paper+3": 4}[settings.budget]
    return max(1, int(duration / settings.seconds_per_word + more))


def fixed_slots(
    cues: Sequence[tuple[str | None, Interval]], film: Interval, settings: SlotSettings
) -> tuple[tuple[Slot, ...], list[str], list[tuple[str, str]]]:
    """Slots exactly where ``cues`` (id or None, interval) say; no minimum applies, and they may overlap.

    Returns the slots, sorted by start; a sentence on each that was changed; why the others cannot be
    described, as (id, reason).

    A cue partly outside ``film`` is clipped, with a warning; one wholly outside fails. A slot is called
    by its (clipped) start, as all slots are, or by the next millisecond that is free; the id that the
    file gives it is its label.
    """
    slots: list[Slot] = []
    warnings: list[str] = []
    failed: list[tuple[str, str]] = []
    taken: set[str] = set()
    for given, interval in sorted(cues, key=lambda cue: cue[1]):
        inside = interval.clip(film)
        label = given or ""
        if inside is None:
            name = label or slot_id(max(interval.start, 0.0))
            bounds = time_range(film, 3)
            failed.append((name, f"{time_range(interval)} lies outside the film ({bounds})"))
            continue
        number = round(inside.start * 1000)
        while (name := slot_id(number / 1000)) in taken:
            number += 1
        taken.add(name)
        if inside != interval:
            cut = time_range(inside, 3)
            warnings.append(
                f"Slot {label or name} ({time_range(interval)}) reaches outside the film and is cut to {cut}."
            )
        slots.append(Slot(name, inside, word_budget(inside.duration, settings), label=label))
    return tuple(slots), warnings, failed


FEW = 60.0
"""Seconds of film for each slot, beyond which there are few: two describers had one in 10 and 14."""


def why_few(
    slots: Sequence[Slot], gaps: Sequence[Interval], part: Interval, settings: SlotSettings
) -> str | None:
    """Why few of the planned ``slots`` lie in this part of the film, or none, and what can be done.

    None where there are enough.
    """
    number = sum(part.start <= slot.interval.start < part.end for slot in slots)
    if number * FEW >= part.duration:
        return None
    free = [piece for gap in gaps if (piece := gap.clip(part))]
    speech = 1 - sum(piece.duration for piece in free) / part.duration
    shortest = shortest_gap(settings)
    short = sum(piece.duration < shortest for piece in free)
    what = f"{'Only ' if number else ''}{number or 'No'} slot{'' if number == 1 else 's'}"
    why = f"speech fills {speech:.0%}, and {short} of {len(free)} gaps are shorter than {shortest:g} s"
    more = "--extended lets the film pause for lines that do not fit, and --slots takes slots of your own."
    without_brief = shortest_gap(settings.model_copy(update={"detail": "normal"}))
    if without_brief < shortest:
        more = f"--detail normal takes gaps from {without_brief:g} s on. {more}"
    elif settings.minimum > HARD_MINIMUM:
        more = f"--set slots.minimum={HARD_MINIMUM:g} takes shorter gaps. {more}"
    return f"{what} in {part.duration:.0f} s: {why}. {more}"


def _ceil_ms(second: float) -> int:
    ms = round(second * 1000)
    return ms + 1 if ms / 1000 < second else ms


def _floor_ms(second: float) -> int:
    ms = round(second * 1000)
    return ms - 1 if ms / 1000 > second else ms


def _slot(start: int, end: int, settings: SlotSettings, *, credit: bool = False) -> Slot:
    interval = Interval(start / 1000, end / 1000)
    return Slot(
        slot_id(interval.start), interval, word_budget((end - start) / 1000, settings), credits=credit
    )


def shortest_gap(settings: SlotSettings) -> float:
    """Seconds of free time that a gap needs to get a slot."""
    least = FULL_LENGTH if settings.detail == "brief" else HARD_MINIMUM
    return max(settings.minimum, least)


def _credit_slot(
    free: Iterable[Interval], opening: float, roll: Interval, settings: SlotSettings
) -> list[Slot]:
    for gap in free:
        if (piece := gap.clip(roll)) is None:
            continue
        start, end = _ceil_ms(max(piece.start, opening)), _floor_ms(piece.end)
        if end - start < _ceil_ms(max(settings.minimum, HARD_MINIMUM)):
            continue
        end = min(end, start + _floor_ms(max(CREDITS, HARD_MINIMUM)))
        return [_slot(start, end, settings, credit=True)]
    return []


def _lay_out(
    gap: Interval, opening: float, cuts: Sequence[int], settings: SlotSettings
) -> list[tuple[int, int]]:
    """The densest layout of one gap from ``opening`` on as (start, end) in milliseconds: the cheapest way.

    A slot costs the square of its relative distance from the preferred length, and more if no shot
    starts with it; unused time costs too. Found by dynamic programming from the gap's end.
    """
    first, end = _ceil_ms(max(gap.start, opening)), _floor_ms(gap.end)
    enough = end - _ceil_ms(gap.start) >= _ceil_ms(shortest_gap(settings))
    if not enough or end - first < _ceil_ms(HARD_MINIMUM):
        return []
    least = _ceil_ms(max(settings.minimum, FULL_LENGTH))  # of a slot inside a longer gap
    if end - first < least:
        return [(first, end)]
    most, breath = max(_floor_ms(MAXIMUM), least), _ceil_ms(BREATH)
    preferred = min(max(round(PREFERRED * 1000), least), most)
    # A slot may start with the gap, at a cut, and on a grid between.
    inside = cuts[bisect_left(cuts, first) : bisect_right(cuts, end - least)]
    starts = sorted({*range(first, end - least + 1, GRID), *inside, end - least})
    at_cut = _starts_with_shot(starts, cuts)
    # The cheapest way from each start on: its cost, where its slot ends, and the next start (-1: none).
    best: list[tuple[float, int, int]] = [(0.0, end, -1)] * len(starts)
    for i, start in reversed(list(enumerate(starts))):
        final = min(end, start + most)
        last = ((final - start - preferred) / preferred) ** 2 + _WASTE_COST * (end - final) / preferred
        ways = [(last, final, -1)]
        low = bisect_left(starts, start + least + breath)
        for j in range(low, bisect_right(starts, start + most + breath)):
            stop = starts[j] - breath
            ways.append((((stop - start - preferred) / preferred) ** 2 + best[j][0], stop, j))
        cost, stop, following = min(ways, key=lambda way: way[0])
        best[i] = cost + (0.0 if at_cut[i] else _NO_CUT_COST), stop, following
    firsts = [k for k in range(bisect_right(starts, first + _ceil_ms(SNAP))) if k == 0 or at_cut[k]]
    at = min(firsts, key=lambda k: best[k][0] + _WASTE_COST * (starts[k] - first) / preferred)
    spans: list[tuple[int, int]] = []
    while at >= 0:
        _, stop, following = best[at]
        spans.append((starts[at], stop))
        at = following
    return spans


def _starts_with_shot(starts: Sequence[int], cuts: Sequence[int]) -> list[bool]:
    """True for each start at a cut, and for the first, which speech may bind, soon after one."""
    latest = bisect_right(cuts, starts[0])
    exact = set(cuts)
    flags = [start in exact for start in starts]
    flags[0] = latest > 0 and starts[0] - cuts[latest - 1] < GRID
    return flags


def _keep(spans: list[tuple[int, int]], cuts: Sequence[int], settings: SlotSettings) -> list[tuple[int, int]]:
    """The part of one gap's layout that the detail asks for, spread over the gap.

    Slots are taken in one fixed order, first the gap's first and then always the one farthest from
    those taken, so a smaller share is a subset of a larger one.
    """
    share = SHARES[settings.detail]
    count = math.ceil(share * len(spans) - 1e-9)
    if count >= len(spans):
        return spans
    starts = [start for start, _ in spans]
    weights = [_CUT_WEIGHT if flag else 1.0 for flag in _starts_with_shot(starts, cuts)]
    kept = [0]
    distance = [float(start - starts[0]) for start in starts]
    while len(kept) < count:
        farthest = max(range(len(spans)), key=lambda k: (distance[k] * weights[k], -k))
        kept.append(farthest)
        distance = [min(d, abs(s - starts[farthest])) for d, s in zip(distance, starts, strict=True)]
    return [spans[k] for k in sorted(kept)]


def free_time(
    speech: Sequence[Utterance],
    duration: float,
    settings: SpeechSettings,
    holes: Sequence[Interval] = (),
) -> tuple[Interval, ...]:
    """The parts of ``[0, duration)`` in which nobody speaks, sorted and apart.

    ``holes`` are where the film has no picture, so nothing to describe; they are no free time either.
    Each utterance is widened by ``settings.margin`` seconds at both sides; utterances may overlap, be
    unsorted, or lie beyond the film. Sung lyrics are kept free too unless ``settings.over_lyrics``:
    guidelines let a describer speak over the instrumental part of a song and not over its words, and an
    instrumental part is no utterance. Pieces are not filtered by length here, for only `plan_slots` knows
    what is too short for a line.
    """
    if not math.isfinite(duration) or duration <= 0:
        return ()
    margin = settings.margin
    taken = [Interval(said.start - margin, said.end + margin) for said in kept_free(speech, settings)]
    return subtract(Interval(0.0, duration), [*taken, *holes])


def kept_free(speech: Sequence[Utterance], settings: SpeechSettings) -> tuple[Interval, ...]:
    """When nothing is spoken over: all speech, and sung lyrics unless ``settings.over_lyrics``."""
    over = settings.over_lyrics
    return tuple(said.interval for said in speech if not (over and said.kind is SpeechKind.LYRICS))


def union(intervals: Iterable[Interval], bridge: float = 0.0) -> tuple[Interval, ...]:
    """The intervals sorted and joined where they touch, overlap, or lie at most ``bridge`` seconds apart.

    >>> union([Interval(3, 4), Interval(0, 1), Interval(0.5, 2)])
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
    """What is left of ``whole`` without ``taken``: ``[0, 9)`` less ``[3, 5)`` is ``[0, 3)``, ``[5, 9)``."""
    left: list[Interval] = []
    start = whole.start
    for interval in union(taken):
        if interval.start >= whole.end:
            break
        if interval.start > start:
            left.append(Interval(start, interval.start))
        start = max(start, interval.end)
    if start < whole.end:
        left.append(Interval(start, whole.end))
    return tuple(left)


SHORTEST = 8.0
"""Seconds; a shorter stretch of text is a title or a sign."""
SHORTEST_FULL = 5.0
"""The same where it reaches the film's end and shows many lines at once."""
MANY_LINES = 5
"""So many lines at once are no title and no sign."""
LONGEST_BLANK = 12.0
"""Seconds without text that credits may have between two cards."""
DENSITY = 0.6
"""Share of the moments of the stretch that show text."""
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

    ``sightings`` are lines of text, ``moments`` all the seconds at which text was looked for, those
    without any included. Credits are the longest stretch in which most moments show several small
    lines that are not all at the bottom.
    """
    looked = sorted(set(moments))
    boxes: dict[float, list[Box]] = {moment: [] for moment in looked}
    for sighting in sightings:
        boxes[sighting.seconds].append(sighting.box)
    lines = {moment: sum(box.height <= LINE_HEIGHT for box in boxes[moment]) for moment in looked}
    full = [m for m in looked if m >= film.middle and may_be_credits(boxes[m])]
    runs = [run for run in _runs(full) if _dense(run, looked)]
    stretches = [(_stretch(run, looked, film), max(lines[m] for m in run)) for run in runs]
    long = [stretch for stretch, most in stretches if _is_roll(stretch, most, film)]
    return max(long, key=lambda stretch: (stretch.duration, stretch.start), default=None)


def may_be_credits(lines: Iterable[Box]) -> bool:
    """True for several small lines of text at one moment that are not all at the bottom."""
    small = [box for box in lines if box.height <= LINE_HEIGHT]
    return len(small) >= LINES and any(box.centre[1] < _SUBTITLE_TOP for box in small)


def _is_roll(stretch: Interval, most_lines: int, film: Interval) -> bool:
    if stretch.duration >= SHORTEST:
        return True
    at_end = film.end - stretch.end < 1
    return at_end and most_lines >= MANY_LINES and stretch.duration >= SHORTEST_FULL


def _runs(moments: Sequence[float]) -> list[list[float]]:
    runs: list[list[float]] = []
    for moment in moments:
        if runs and moment - runs[-1][-1] <= LONGEST_BLANK:
            runs[-1].append(moment)
        else:
            runs.append([moment])
    return runs


def _dense(run: Sequence[float], looked: Sequence[float]) -> bool:
    inside = bisect_left(looked, run[-1]) - bisect_left(looked, run[0]) + 1
    return len(run) >= DENSITY * inside


def _stretch(run: Sequence[float], looked: Sequence[float], film: Interval) -> Interval:
    """From the first moment to the first after the run that showed none, or the film's end."""
    after = bisect_left(looked, run[-1]) + 1
    return Interval(run[0], looked[after] if after < len(looked) else max(film.end, run[-1] + 1e-3))
