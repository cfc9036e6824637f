"""The ladder by which spoken lines are made to fit, after what listeners prefer.

1. as it is;
2. moved, within its gap, by no more than the settings allow: a shift of a part of a second in silence takes
   nothing from anybody, so it comes before all that is heard as a change;
3. spoken a little faster, only as much as is needed;
4. sentences dropped, then clauses, each form tried up to the fastest before more is given up;
5. a shorter line from a writer, where one may be asked;
6. not spoken.

Steps 1 to 4 are one choice for all lines that share a gap: the fewest lines are left out, then the fewest
words, then the least speed, then the least way from where the lines are wanted. A line that a person added
counts for two of the machine's. A line left out leaves its time to its neighbours.

`fit` takes a whole track, or one line with the neighbours that press on it (`neighbourhood`): it comes to the
same for that line.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shotad.core import FitSettings, Interval
from shotad.script import Answer, Shorten, Track, Wish, spoken_words, timecode
from shotad.sound.kinds import PACE, Fitting, LineToSpeak, Spoken, Studio, Unspoken
from shotad.sound.placing import (
    BETWEEN,
    LONGEST_WORD_RATE,
    NO_ROOM,
    Form,
    Window,
    cheapest,
    earliest,
    earliest_starts,
    form_of,
    latest,
    lines_of,
    nearest_starts,
    shorter_forms,
    spoken,
    whole_form,
)
from shotad.sound.takes import to_length

ASKED = 2
"""Times that a writer is asked about one line at most."""

A_LINE = 10**6
"""Words that a line counts for when one must be left out: all its neighbours are shortened first."""

FEWEST = 3
"""Words that a line must be allowed to be worth asking for."""


def fit(
    lines: Sequence[LineToSpeak],
    studio: Studio,
    settings: FitSettings,
    *,
    shorten: Shorten | None = None,
) -> Fitting:
    """Every line in its place, or why it has none.

    Each line is spoken once as it is; of shorter forms only those that come into question, for a voice may
    cost money. ``shorten`` is asked for lines without a place. Deterministic, whatever the order of
    ``lines``. Raises VoiceError.
    """
    ordered = sorted(lines, key=lambda line: (line.start, line.id))
    fitter = _Fitter(ordered, studio, settings)
    fitter.settle()
    if shorten is not None:
        for _ in range(ASKED):
            if not fitter.ask(shorten):
                break
            fitter.settle()
    return fitter.fitting()


@dataclass(slots=True, eq=False)
class _Case:
    """A line while it is being fitted. ``chosen`` is the number of its form, None while it has no place.

    ``wishes`` is what a writer was asked for, ``answer`` the last thing that came of it, ``anew`` the number
    of the form that was made of that.
    """

    line: LineToSpeak
    window: Window
    forms: list[Form]
    chosen: int | None = None
    answer: Answer | None = None
    anew: int | None = None
    wishes: list[Wish] = field(default_factory=list)

    @property
    def whole(self) -> Form:
        return self.forms[0]

    @property
    def least(self) -> int:
        """Number of the form that can be said in the shortest time."""
        return min(range(len(self.forms)), key=lambda at: (self.forms[at].shortest, at))


class _Fitter:
    """The lines, forms and takes of one fitting."""

    def __init__(self, lines: Sequence[LineToSpeak], studio: Studio, settings: FitSettings) -> None:
        """The lines, in order, each spoken as it is."""
        self._studio, self._settings = studio, settings
        self._cases: list[_Case] = []
        self._between = math.ceil(BETWEEN * 1000 - 1e-6)
        for line in lines:
            whole = whole_form(line, studio.say(line.text), settings)
            first = math.ceil(earliest(line, settings) * 1000 - 1e-6)
            last = max(math.floor(latest(line, settings) * 1000 + 1e-6), first)
            window = Window(round(line.start * 1000), first, last, math.floor(line.room.end * 1000 + 1e-6))
            self._cases.append(_Case(line, window, [whole]))
        self._windows = [case.window for case in self._cases]
        # Looks for shorter forms of lines that do not find place as they are, and of their neighbours.
        wholes = [case.whole for case in self._cases]
        for start, end in companies(self._windows, wholes, self._between):
            lengths = [form.shortest for form in wholes[start:end]]
            if earliest_starts(self._windows[start:end], lengths, self._between) is None:
                for case in self._cases[start:end]:
                    case.forms += shorter_forms(case.line, case.whole, settings)

    def settle(self) -> None:
        """Chooses until all that was chosen has been spoken and still has its place.

        Of a line that is left out the shortest form is spoken, so that it is not left out on an estimate.
        """
        while True:
            options = [[(form.shortest, form.lost) for form in case.forms] for case in self._cases]
            dropping = [
                (2 if case.line.id.startswith("h") else 1) * A_LINE + case.whole.words for case in self._cases
            ]
            chosen = cheapest(self._windows, options, dropping, self._between)
            new: list[tuple[_Case, int]] = []
            for case, place in zip(self._cases, chosen, strict=True):
                case.chosen = place
                number = case.least if place is None else place
                if case.forms[number].take is None:
                    new.append((case, number))
            if not new:
                return
            # Several at once, where the studio can.
            if (say_all := getattr(self._studio, "say_all", None)) is not None:
                say_all([case.forms[number].text for case, number in new])
            for case, number in new:
                form = case.forms[number]
                case.forms[number] = spoken(form, self._studio.say(form.text), self._settings)

    def ask(self, shorten: Shorten) -> bool:
        """Asks for shorter forms of lines that have no place; whether anything new came of it."""
        open_: list[tuple[_Case, Wish]] = []
        for case in self._cases:
            in_vain = bool(case.wishes) and case.answer is None
            if case.chosen is not None or in_vain or len(case.wishes) >= ASKED:
                continue
            # As many words as this voice can say of this line in the time there is.
            form = case.whole if case.anew is None else case.forms[case.anew]
            free = self._free(case)
            by_pace = free * form.words / form.length * self._settings.fastest
            words = int(min(by_pace, free * LONGEST_WORD_RATE / 60_000) + 1e-9)
            words = min(words, form.words - 1)
            if words >= FEWEST:
                line = case.line
                open_.append((case, Wish(line.id, line.text, words, line.language, case.answer)))
        answers = shorten([wish for _, wish in open_]) if open_ else ()
        for (case, wish), answer in zip(open_, answers, strict=True):
            case.wishes.append(wish)
            case.answer, case.anew = answer, None
            if answer is None or answer.complaints or answer.text in [form.text for form in case.forms]:
                continue
            if 0 < spoken_words(answer.text, wish.language) <= wish.words:
                case.anew = len(case.forms)
                steps = (f"written anew, shorter: {case.line.text}",)
                case.forms.append(form_of(case.line, answer.text, steps, case.whole, self._settings))
        return bool(open_)

    def fitting(self) -> Fitting:
        placed = [(case, case.forms[case.chosen]) for case in self._cases if case.chosen is not None]
        windows = [case.window for case, _ in placed]
        speeds = factors(windows, [form for _, form in placed], self._between)
        lengths = [form.at(speed) for (_, form), speed in zip(placed, speeds, strict=True)]
        starts = nearest_starts(windows, lengths, self._between)
        said = []
        for (case, form), speed, length, start in zip(placed, speeds, lengths, starts, strict=True):
            take, steps = form.take, list(form.steps)
            assert take is not None  # settle() has spoken all that is chosen
            if length < form.length:
                take = to_length(take, length / 1000)
                steps.append(f"spoken {speed:.2f} times faster")
            shift = start - case.window.wanted
            if abs(shift) >= _NOTICED:
                steps.append(f"moved {abs(shift) / 1000:.2f} s {'later' if shift > 0 else 'earlier'}")
            said.append(Spoken(case.line.id, form.text, start / 1000, take, tuple(steps)))
        left = []
        for case in (case for case in self._cases if case.chosen is None):
            least, free = case.forms[case.least], self._free(case)
            tried = [f"tried {least.factor:.2f} times faster"] if least.factor > 1 else []
            tried += [f"tried shorter: {least.text}"] if len(case.forms) > 1 else []
            tried += [f"asked for at most {wish.words} words" for wish in case.wishes]
            needed, room = f"{least.shortest / 1000:.2f}", f"{free / 1000:.2f}"
            reason = f"it takes {needed} s at least, and {room} s are free between speech and other lines"
            if case.line.room.duration <= 2 * NO_ROOM:
                reason = "people speak at its time or the film is over, and no free time is in reach"
            missing = (least.shortest - free) / 1000
            takers = self._takers(case)
            if takers:
                moments = " or ".join(timecode(taker.line.start) for taker in takers)
                reason += f"; without the line at {moments} it would fit"
            taken_by = tuple(taker.line.id for taker in takers)
            left.append(Unspoken(case.line.id, reason, tuple(tried), missing, taken_by))
        return Fitting(tuple(said), tuple(left))

    def _takers(self, case: _Case) -> list[_Case]:
        """The lines that have a place and leave a line without one no time: each of them alone, if it went,
        would let the line be spoken.

        Of those only the ones that run beyond the time that was planned for them, if any do: a line that
        such a one has pushed aside is not to blame.
        """
        at = self._cases.index(case)
        wholes = [one.whole for one in self._cases]
        runs = companies(self._windows, wholes, self._between)
        first, end = next((first, end) for first, end in runs if first <= at < end)
        windows = self._windows[first:end]
        lengths = [one.forms[one.chosen].shortest if one.chosen is not None else None for one in self._cases]
        lengths[at] = case.forms[case.least].shortest
        takers: list[_Case] = []
        for number in range(first, end):
            if self._cases[number].chosen is None:
                continue
            without = [*lengths[first:number], None, *lengths[number + 1 : end]]
            if earliest_starts(windows, without, self._between) is not None:
                takers.append(self._cases[number])
        too_long = [one for one in takers if one.whole.shortest > round(one.line.slot.duration * 1000)]
        return too_long or takers

    def _free(self, case: _Case) -> int:
        """Milliseconds that a line without a place could have, its neighbours being as they are."""
        lengths = [None if c.chosen is None else c.forms[c.chosen].shortest for c in self._cases]
        at = self._cases.index(case)

        def is_too_long(length: int) -> bool:
            lengths[at] = length
            return earliest_starts(self._windows, lengths, self._between) is None

        room = range(case.window.end - case.window.earliest + 1)
        return max(bisect_left(room, True, key=is_too_long) - 1, 0)


_NOTICED = 10
"""Milliseconds of a shift worth a word."""

STEP = 0.01
"""Speeds are raised in steps that nobody can hear."""


def factors(windows: Sequence[Window], forms: Sequence[Form], between: int) -> list[float]:
    """How many times faster each line is spoken, 1 where it need not be.

    Lines that press on each other are sped up alike, as far as each may be; then each is given back, from the
    first to the last, what the others leave. The lines must be possible at their fastest.
    """

    def possible(part: slice, speeds: Sequence[float]) -> bool:
        lengths = [form.at(speed) for form, speed in zip(forms[part], speeds, strict=True)]
        return earliest_starts(windows[part], lengths, between) is not None

    found: list[float] = []
    for start, end in companies(windows, forms, between):
        part = slice(start, end)
        most = max(form.factor for form in forms[part])
        steps = [round(1 + STEP * k, 4) for k in range(int((most - 1) / STEP + 1e-9) + 1)]
        if steps[-1] < most:
            steps.append(most)
        alike = next((speed for speed in steps if possible(part, [speed] * (end - start))), steps[-1])
        speeds = [min(alike, form.factor) for form in forms[part]]
        for at, own in enumerate(speeds):
            slower = [speed for speed in steps if speed < own]
            tried = ([*speeds[:at], speed, *speeds[at + 1 :]] for speed in slower)
            speeds = next((one for one in tried if possible(part, one)), speeds)
        found += speeds
    return found


def companies(windows: Sequence[Window], forms: Sequence[Form], between: int) -> list[tuple[int, int]]:
    """Runs of lines, ``[first, after the last)``, that can press on each other; nothing joins two runs."""
    starts = []
    reach: int | None = None
    for at, (window, form) in enumerate(zip(windows, forms, strict=True)):
        if reach is None or reach + between <= window.earliest:
            starts.append(at)
        latest = min(window.end, window.latest + form.length)
        reach = latest if reach is None else max(reach, latest)
    return list(zip(starts, [*starts[1:], len(windows)], strict=True)) if starts else []


MOST = 12
"""Neighbours to each side that are fitted along at most: a shift of one line dies away much sooner."""

LONGER = 1.3
"""Times that a line not spoken yet may be longer than its words let expect."""


def neighbourhood(
    track: Track,
    line_id: str,
    speech: Sequence[Interval],
    slots: Mapping[str, Interval],
    settings: FitSettings,
    *,
    margin: float,
    before: float,
    after: float,
) -> tuple[LineToSpeak, ...]:
    """A line with those that may press on it, heard ``before`` and ``after`` seconds beside it at most.

    ``speech``, ``slots``, ``margin`` as for `lines_of`; the line is one that is heard.
    """
    lines = lines_of(track, speech, slots, settings, margin=margin)
    place = next(i for i, line in enumerate(lines) if line.id == line_id)
    lines = lines[max(0, place - MOST) : place + MOST + 1]
    first = last = at = min(place, MOST)
    while first > 0 and _together(lines[first - 1], lines[first], lines[at], settings, before):
        first -= 1
    while last + 1 < len(lines) and _together(lines[last], lines[last + 1], lines[at], settings, after):
        last += 1
    return lines[first : last + 1]


def _together(
    one: LineToSpeak, other: LineToSpeak, middle: LineToSpeak, settings: FitSettings, beside: float
) -> bool:
    """Whether two lines in a row may press on each other, or the outer one is heard beside the middle one."""
    reach = min(one.room.end, latest(one, settings) + _expected(one))
    if reach + BETWEEN > earliest(other, settings):
        return True
    if other is middle or other.start <= middle.start:
        return reach > earliest(middle, settings) - beside
    end = min(middle.room.end, latest(middle, settings) + _expected(middle))
    return earliest(other, settings) < end + beside


def _expected(line: LineToSpeak) -> float:
    return LONGER * spoken_words(line.text, line.language) * 60 / PACE
