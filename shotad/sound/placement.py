"""When lines may be spoken and in which wordings, and the best choice of both. Pure functions.

Lines are never placed where somebody speaks. Those of one gap are placed together and exactly, in whole
milliseconds: each within its `Window`, in their order and ``between`` milliseconds apart. Wordings can be
chosen together if every line, put as early as it can be, is still in its window, for an earlier line never
hinders a later one. So the cheapest choice is found by going through the lines once and keeping, for each
moment at which the lines so far can end, the cheapest choice that ends there.
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

from shotad.core import Interval
from shotad.core.config.sound import FitSettings
from shotad.film.slots import subtract
from shotad.script import (
    Cue,
    Track,
    split_sentences,
)
from shotad.script.cue import EARLIEST_CUE, MAX_LEAD
from shotad.script.edits import is_by_hand
from shotad.script.fit import variants
from shotad.script.pace import (
    BREATH_BEFORE_LINE,
    has_blanks,
    spoken_words,
    usual_words,
)
from shotad.script.reasons import in_english
from shotad.script.track_texts import texts_in
from shotad.sound.kinds import LineToSpeak, Take, delivery_of

BETWEEN = 0.3
"""Seconds of breath between two lines."""
MAX_WORD_RATE = 200.0
"""Words a minute that speeding up must not pass, as guidelines say (rule T3)."""
CLEAR = 0.1
"""Seconds kept free before speech begins, beyond the margin that is in the gaps already."""
NO_FREE_TIME = 0.001
"""Seconds: the length of `LineToSpeak.free` where no free time is in reach. Nothing can be said in it."""


def lines_of(
    track: Track,
    speech: Sequence[Interval],
    slots: Mapping[str, Interval],
    settings: FitSettings,
    *,
    margin: float,
) -> tuple[LineToSpeak, ...]:
    """Every line of the track that is heard, in order, with the time that it may use.

    ``speech`` is when somebody speaks (film seconds); ``margin`` seconds are kept from it at both sides, and
    `CLEAR` more before it. ``slots`` are those that lines were given, by id. A line is wanted where the track
    has it, but a person may have put it over speech there (rule T1). So its free time is

    - within `settings.earlier` before and `settings.later` after its start: the nearest that is long enough
      for it, else one that holds half of it or two seconds;
    - else later, as far as the line's own time reaches: a line far from what it describes would mislead;
    - with nothing in reach `NO_FREE_TIME` long, and the line will be left unspoken, with the reason.
    """
    # The film less its speech; nothing in its first `EARLIEST_CUE` seconds, for players miss it there.
    duration = track.film.duration
    occupied = [Interval(talk.start - margin - CLEAR, talk.end + margin) for talk in speech]
    gaps = subtract(Interval(min(EARLIEST_CUE, duration / 2), duration), occupied)
    lines: list[LineToSpeak] = []
    for cue in track.heard:
        free = _free_time(cue, gaps, settings)
        planned = slots.get(cue.slot_id or "", cue.interval)
        if not planned.contains(cue.interval.start):
            # A person who moved a line out of its slot did not mean the slot.
            planned = cue.interval
        line = LineToSpeak(
            cue.id,
            " ".join(cue.text.split()),
            cue.interval.start,
            planned.clip(free) or cue.interval.clip(free) or free,
            free,
            cue.language,
            earliest=_in_sight(cue),
            by_person=is_by_hand(cue),
            delivery=delivery_of(cue),
        )
        lines.append(line)
    return tuple(lines)


def earliest(line: LineToSpeak, settings: FitSettings) -> float:
    """The second before which a line may not begin."""
    return max(line.free.start, line.start - settings.earlier, min(line.start, line.earliest))


def latest(line: LineToSpeak, settings: FitSettings) -> float:
    """The second by which a line must have begun: `settings.later` after it is wanted, or where its slot
    begins, which is later only where people speak at its own time."""
    return max(line.start + settings.later, line.slot.start, earliest(line, settings))


def _in_sight(cue: Cue) -> float:
    """The second before which what a line describes is not seen yet; 0 where a person chose the time."""
    return 0.0 if cue.seen_from is None or is_by_hand(cue) else cue.seen_from - MAX_LEAD


def _free_time(cue: Cue, gaps: Sequence[Interval], settings: FitSettings) -> Interval:
    """The time that a line may use in the ``gaps`` without speech; `NO_FREE_TIME` long where none is near."""
    start = cue.interval.start
    needed = cue.interval.duration / settings.fastest
    first = max(start - settings.earlier, min(start, _in_sight(cue)))
    near = Interval(first, start + settings.later + NO_FREE_TIME)
    reach = Interval(near.start, max(cue.interval.end, near.end))
    candidates = [Interval(max(gap.start, reach.start), gap.end) for gap in gaps if gap.overlaps(reach)]

    def preference(free: Interval) -> tuple[int, float, float]:
        distance = max(free.start - start, start - free.end, 0.0)
        if free.overlaps(near) and free.duration >= min(needed / 2, _USABLE):
            return (0 if free.duration >= needed else 1, distance, free.start)
        if free.duration >= needed:
            return (2, distance, free.start)
        return (3, -free.duration, free.start)

    if not candidates:
        return Interval(start, start + NO_FREE_TIME)
    return min(candidates, key=preference)


_USABLE = 2.0
"""Seconds in which something can be said (shorter pauses are unusable by WCAG's failure F113). With less near
its place, and less than half of what it needs, a line rather waits for free time within its own."""

OPTIMISM = 0.95
"""The length of an unspoken form, as a share of what the pace of its line says: a form that is tried in vain
costs a call of the voice, one that is not tried costs the listener words."""


@dataclass(frozen=True, slots=True)
class Form:
    """A wording of a line: the whole line, or a shorter one.

    ``words`` is how many English words it counts for, ``lost`` how many it has fewer than the line, and
    ``steps`` say which. ``length`` is in milliseconds at the voice's own pace: measured where there is a
    ``take``, else estimated. ``max_speed`` is how many times faster it may be spoken. ``usual_words`` are its
    letters as words of the usual length, by which its pace is measured (`shotad.script.pace`).
    """

    text: str
    words: int
    lost: int
    steps: tuple[str, ...]
    length: int
    max_speed: float
    usual_words: float = 1.0
    take: Take | None = None

    def length_at(self, speed: float) -> int:
        """Its length in milliseconds at so many times its pace, `max_speed` at most."""
        return math.ceil(self.length / min(speed, self.max_speed) - 1e-6)

    @property
    def shortest(self) -> int:
        """Its length in milliseconds at its highest speed."""
        return self.length_at(self.max_speed)


def whole_form(line: LineToSpeak, take: Take, settings: FitSettings) -> Form:
    """The line as it is, which was spoken as ``take``."""
    form = Form(
        text=line.text,
        words=spoken_words(line.text, line.language),
        lost=0,
        steps=(),
        length=1,  # that of the take, below
        max_speed=1.0,
        usual_words=usual_words(line.text, line.language),
    )
    return with_take(form, take, settings)


def shorter_forms(line: LineToSpeak, whole: Form, settings: FitSettings) -> Iterator[Form]:
    """Shorter and shorter wordings of a line, their lengths estimated by the pace of the ``whole`` one."""
    # By blanks it is seen which words are gone; Chinese and Japanese have none.
    has_words = has_blanks(line.language)
    for variant in variants(line.text, language=line.language):
        text = variant.text
        if text == line.text:
            continue
        steps = _dropped(line.text, text) if has_words else [in_english("reason.parts", text=line.text)]
        yield estimated_form(line, text, tuple(steps), whole, settings)


def _dropped(whole: str, short: str) -> list[str]:
    """Plain sentences on what ``short`` leaves out of the text ``whole``."""
    whole_sentences, short_sentences = split_sentences(whole), split_sentences(short)
    steps: list[str] = []
    # Sentences are dropped from the end.
    dropped_sentences = whole_sentences[len(short_sentences) :]
    if dropped_sentences:
        text = " ".join(dropped_sentences)
        steps.append(texts_in("en").count("reason.sentences", len(dropped_sentences), text=text))
    clauses: list[str] = []
    for sentence, short_sentence in zip(whole_sentences, short_sentences, strict=False):
        words = sentence.split()
        # Compared without case and marks, which change where a clause is cut out.
        matcher = SequenceMatcher(None, _bare_words(sentence), _bare_words(short_sentence), autojunk=False)
        for operation, first, end, _, _ in matcher.get_opcodes():
            if operation in ("delete", "replace"):
                clauses.append(" ".join(words[first:end]).strip(" ,;:.–—-"))
    if clauses:
        steps.append(texts_in("en").count("reason.clauses", len(clauses), text=" … ".join(clauses)))
    return steps


def _bare_words(sentence: str) -> list[str]:
    """The words in lower case, without anything but letters and digits; a word of marks alone stays."""
    bare: list[str] = []
    for word in sentence.split():
        characters = "".join(character for character in word.lower() if character.isalnum())
        bare.append(characters or word)
    return bare


def with_take(form: Form, take: Take, settings: FitSettings) -> Form:
    """The form with its take, and with the length and the highest speed that follow from that."""
    length = -(-take.size * 1000 // take.rate)  # rounded up to a millisecond
    return replace(form, take=take, length=length, max_speed=_max_speed(form.usual_words, length, settings))


def spoken_letters(text: str) -> int:
    """How much there is to say, in letters: a digit counts as several, a pause too. 1 at least.

    For comparing texts that one voice speaks.
    """
    letters = sum(character.isalpha() for character in text)
    digits = sum(character.isdigit() for character in text)
    pauses = len(_PAUSE_MARK.findall(text))
    return max(1, letters + _LETTERS_PER_DIGIT * digits + _LETTERS_PER_PAUSE * pauses)


_PAUSE_MARK = re.compile(r"[,;:.!?…–—](?=\s)")
_LETTERS_PER_DIGIT, _LETTERS_PER_PAUSE = 5, 4
"""Letters that take as long to say as a digit (four to five in English), and as a pause between phrases."""


def estimated_form(
    line: LineToSpeak, text: str, steps: tuple[str, ...], whole: Form, settings: FitSettings
) -> Form:
    """A form that has not been spoken, its length estimated by the pace of the ``whole`` line."""
    line_letters, letters = spoken_letters(line.text), spoken_letters(text)
    length = max(1, round(OPTIMISM * whole.length / line_letters * letters))
    words = spoken_words(text, line.language)
    usual = usual_words(text, line.language)
    return Form(
        text=text,
        words=words,
        lost=max(0, whole.words - words),
        steps=steps,
        length=length,
        max_speed=_max_speed(usual, length, settings),
        usual_words=usual,
    )


def _max_speed(usual: float, length: int, settings: FitSettings) -> float:
    """How many times faster ``usual`` words that last ``length`` milliseconds may be spoken: as the settings
    allow, and not over `MAX_WORD_RATE`, counted as rule T3 does."""
    shortest_seconds = 60 * usual / MAX_WORD_RATE - BREATH_BEFORE_LINE
    if shortest_seconds <= 0:
        return settings.fastest
    return max(1.0, min(settings.fastest, length / 1000 / shortest_seconds))


_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """When a line may be spoken, in milliseconds: it is wanted at ``wanted``, starts in
    ``[earliest, latest]``, and is over by ``end``."""

    wanted: int
    earliest: int
    latest: int
    end: int

    def takes(self, start: int, length: int) -> bool:
        """Whether a line of ``length`` may start at ``start``."""
        return self.earliest <= start <= self.latest and start + length <= self.end


Option = tuple[int, int]
"""A way of saying a line: how many milliseconds it takes, and what it costs the listener."""


def earliest_starts(
    windows: Sequence[Window], lengths: Sequence[int | None], between: int
) -> list[int | None] | None:
    """The start of each line if all are as early as they can be, ``between`` milliseconds after each other;
    None where they cannot all be said.

    A length of None is a line that is not said; its start is None.
    """
    starts: list[int | None] = []
    free_from: int | None = None
    for window, length in zip(windows, lengths, strict=True):
        if length is None:
            starts.append(None)
            continue
        start = window.earliest if free_from is None else max(window.earliest, free_from)
        if not window.takes(start, length):
            return None
        starts.append(start)
        free_from = start + length + between
    return starts


def cheapest(
    windows: Sequence[Window], options: Sequence[Sequence[Option]], dropping: Sequence[int], between: int
) -> tuple[int | None, ...]:
    """For each line the index of its option, or None to drop it, at the least total cost.

    ``dropping`` is what it costs to leave out each line, ``between`` the milliseconds between two lines. Of
    choices that cost the same it is the one whose lines end first. Dynamic programming over the lines: of all
    choices for the lines so far only those are kept that no other beats in both end and cost.
    """
    # Of each choice so far: where its last line ends (ascending), and what it costs (falling).
    ends, costs = np.array([-_LONG_AGO], np.int64), np.array([0], np.int64)
    # For each line: the option that each choice took last (-1: dropped), and which choice it extends.
    history: list[tuple[_Numbers, _Numbers]] = []
    for window, line_options, drop_cost in zip(windows, options, dropping, strict=True):
        numbers = np.arange(ends.size, dtype=np.int64)
        starts = np.maximum(ends + between, window.earliest)
        extended = [(ends, costs + drop_cost, np.full(numbers.size, -1, np.int64), numbers)]
        for option, (length, cost) in enumerate(line_options):
            fits = (starts <= window.latest) & (starts + length <= window.end)
            option_column = np.full(int(fits.sum()), option, np.int64)
            extended.append((starts[fits] + length, costs[fits] + cost, option_column, numbers[fits]))
        ends, costs, last_options, previous = map(np.concatenate, zip(*extended, strict=True))
        # By end, and at one end by cost; then each is kept that is cheaper than all that end before it.
        order = np.lexsort((costs, ends))
        lowest = np.minimum.accumulate(costs[order])
        unbeaten = order[np.concatenate(([True], lowest[1:] < lowest[:-1]))]
        ends, costs = ends[unbeaten], costs[unbeaten]
        history.append((last_options[unbeaten], previous[unbeaten]))
    # The cheapest choice is the last: of those that end later only cheaper ones were kept.
    choice = int(ends.size) - 1
    chosen: list[int | None] = []
    for last_options, previous in reversed(history):
        option = int(last_options[choice])
        chosen.append(None if option < 0 else option)
        choice = int(previous[choice])
    return tuple(reversed(chosen))


_LONG_AGO = 10**12
"""Milliseconds: the end of a line before all lines, which presses on none of them."""


def nearest_starts(windows: Sequence[Window], lengths: Sequence[int], between: int) -> list[int]:
    """The start of each line, as near as possible to where it is wanted: least squares, in milliseconds.

    Raises ValueError for lines that cannot all be said (`earliest_starts`). Lines that press on each other
    become a block that moves as one: isotonic regression with bounds, by pooling adjacent violators. A
    block's best place is its mean, kept within the bounds of its lines. Exact, for the cost of a block is
    convex (Best, Chakravarti and Ubhaya 2000, on minimising separable convex functions over isotonic
    functions).
    """
    # Less the time that the lines before take, places must only not descend.
    offsets = [0, *accumulate(length + between for length in lengths)][: len(lengths)]
    lowest: list[int] = []
    highest: list[int] = []
    wanted_starts: list[int] = []
    for window, length, offset in zip(windows, lengths, offsets, strict=True):
        lowest.append(window.earliest - offset)
        highest.append(min(window.latest, window.end - length) - offset)
        wanted_starts.append(window.wanted - offset)
    # No line may stand before the one before it, so bounds are passed on along the lines.
    for index in range(1, len(lowest)):
        lowest[index] = max(lowest[index], lowest[index - 1])
    for index in reversed(range(len(highest) - 1)):
        highest[index] = min(highest[index], highest[index + 1])
    wanted_sums = [0, *accumulate(wanted_starts)]

    def best_place(first: int, end: int) -> int:
        """The place of the lines ``[first, end)`` as one: their mean, within the bounds of them all."""
        count, total = end - first, wanted_sums[end] - wanted_sums[first]
        mean = (2 * total + count) // (2 * count)  # rounded to a whole millisecond
        return min(max(mean, lowest[end - 1]), highest[first])

    blocks: list[tuple[int, int]] = []
    for index, window in enumerate(windows):
        if lowest[index] > highest[index]:
            raise ValueError(f"line {index} of {len(windows)} cannot be placed: {window}, lengths {lengths}")
        block = (index, index + 1)
        while blocks and best_place(*blocks[-1]) >= best_place(*block):
            first_of_previous, _ = blocks.pop()
            block = (first_of_previous, index + 1)
        blocks.append(block)
    starts: list[int] = []
    for first, end in blocks:
        place = best_place(first, end)
        starts += [place + offset for offset in offsets[first:end]]
    return starts
