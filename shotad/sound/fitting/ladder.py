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
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from shotad.config import FitSettings
from shotad.progress import NoProgress, Progress, reported
from shotad.script.cue import count_words
from shotad.sound.fitting.asking import Answer, Shorten, Wish
from shotad.sound.fitting.forms import Form, forms_of, spoken, written
from shotad.sound.fitting.lines import NO_ROOM
from shotad.sound.fitting.placing import (
    Cost,
    Option,
    Window,
    cheapest,
    earliest_starts,
    nearest_starts,
)
from shotad.sound.fitting.speeds import factors
from shotad.sound.fitting.stretch import to_length
from shotad.sound.kinds import Fitting, Line, Spoken, Studio, Unspoken

ASKED = 2
"""Times that a writer is asked about one line at most."""

FEWEST = 3
"""Words that a line must be allowed to be worth asking for."""


def fit(
    lines: Sequence[Line],
    studio: Studio,
    settings: FitSettings,
    *,
    shorten: Shorten | None = None,
    progress: Progress | None = None,
) -> Fitting:
    """Every line in its place, or why it has none.

    Each line is spoken once as it is; of shorter forms only those that come into question, for a voice may
    cost money. Deterministic, whatever the order of ``lines``. ``shorten`` is asked only where
    ``settings.ask`` is set. Raises VoiceError.
    """
    ordered = sorted(lines, key=lambda line: (line.start, line.id))
    with reported(progress or NoProgress(), "Speaking lines", len(ordered), "lines") as task:
        desk = _Desk(studio, settings)
        for line in ordered:
            desk.add(line)
            task.advance()
    desk.settle()
    if settings.ask and shorten is not None:
        for _ in range(ASKED):
            if not desk.ask(shorten):
                break
            desk.settle()
    return desk.fitting()


@dataclass(slots=True)
class _Case:
    """A line while it is being fitted. ``chosen`` is the number of its form, None while it has no place."""

    line: Line
    window: Window
    forms: list[Form]
    chosen: int | None = None
    answer: Answer | None = None
    wishes: list[Wish] = field(default_factory=list)

    @property
    def whole(self) -> Form:
        return self.forms[0]

    @property
    def least(self) -> int:
        """Number of the form that can be said in the shortest time."""
        return min(range(len(self.forms)), key=lambda at: (self.forms[at].shortest, at))

    @property
    def dropping(self) -> Cost:
        by_hand = self.line.id.startswith("h")
        return (2 if by_hand else 1, count_words(self.line.text))

    @property
    def options(self) -> list[Option]:
        return [Option(form.shortest, (0, form.lost)) for form in self.forms]

    @property
    def length(self) -> int | None:
        """Of the form chosen, at its fastest."""
        return None if self.chosen is None else self.forms[self.chosen].shortest


class _Desk:
    """Where lines, forms and takes lie while they are fitted."""

    def __init__(self, studio: Studio, settings: FitSettings) -> None:
        self._studio, self._settings = studio, settings
        self._cases: list[_Case] = []
        self._between = math.ceil(settings.between * 1000 - 1e-6)

    def add(self, line: Line) -> None:
        """The next line, spoken as it is."""
        forms = forms_of(line, self._studio.say(line.text), self._settings)
        self._cases.append(_Case(line, _window(line, self._settings), list(forms)))

    def settle(self) -> None:
        """Chooses until all that was chosen has been spoken and still has its place.

        Of a line that is left out the shortest form is spoken, so that it is not left out on an estimate.
        """
        while True:
            windows = [case.window for case in self._cases]
            options = [case.options for case in self._cases]
            dropping = [case.dropping for case in self._cases]
            chosen = cheapest(windows, options, dropping, self._between)
            for case, number in zip(self._cases, chosen, strict=True):
                case.chosen = number
            if not sum(self._say(case) for case in self._cases):
                return

    def ask(self, shorten: Shorten) -> bool:
        """Asks for shorter forms of lines that have no place; whether anything new came of it."""
        open_ = [(case, wish) for case in self._cases if (wish := self._wish(case)) is not None]
        answers = shorten([wish for _, wish in open_]) if open_ else ()
        for (case, wish), answer in zip(open_, answers, strict=True):
            case.wishes.append(wish)
            case.answer = answer
            usable = answer is not None and not answer.complaints and count_words(answer.text) <= wish.words
            if usable and answer is not None and answer.text not in {form.text for form in case.forms}:
                case.forms.append(written(case.line, answer.text, case.whole, self._settings))
        return bool(open_)

    def fitting(self) -> Fitting:
        """What came of it."""
        placed = [(case, case.forms[case.chosen]) for case in self._cases if case.chosen is not None]
        windows = [case.window for case, _ in placed]
        speeds = factors(windows, [form for _, form in placed], self._between)
        lengths = [form.at(speed) for (_, form), speed in zip(placed, speeds, strict=True)]
        starts = nearest_starts(windows, lengths, self._between)
        said = [
            _spoken(case, form, speed, length, start)
            for (case, form), speed, length, start in zip(placed, speeds, lengths, starts, strict=True)
        ]
        left = [self._unspoken(case) for case in self._cases if case.chosen is None]
        return Fitting(tuple(said), tuple(left))

    def _say(self, case: _Case) -> bool:
        """Speaks the form that was chosen, or the shortest; whether that was new."""
        number = case.least if case.chosen is None else case.chosen
        form = case.forms[number]
        if form.take is not None:
            return False
        case.forms[number] = spoken(form, self._studio.say(form.text), self._settings)
        return True

    def _wish(self, case: _Case) -> Wish | None:
        """What to ask for: as many words as this voice can say of this line in the time there is."""
        given_up = bool(case.wishes) and case.answer is None
        if case.chosen is not None or given_up or len(case.wishes) >= ASKED:
            return None
        answered = case.forms[-1] if case.wishes and case.forms[-1].text == self._last(case) else case.whole
        pace = count_words(answered.text) / answered.length
        free = self._free(case)
        words = int(free * pace * self._settings.fastest + 1e-9)
        words = min(words, int(free * self._settings.longest_word_rate / 60_000 + 1e-9))
        words = min(words, count_words(case.line.text) - 1)
        if case.answer is not None and not case.answer.complaints:
            words = min(words, count_words(case.answer.text) - 1)
        if words < FEWEST:
            return None
        return Wish(case.line.id, case.line.text, words, case.line.language, case.answer)

    def _last(self, case: _Case) -> str:
        return case.answer.text if case.answer is not None else ""

    def _free(self, case: _Case) -> int:
        """Milliseconds that a line without a place could have, its neighbours being as they are."""
        windows = [one.window for one in self._cases]
        lengths = [one.length for one in self._cases]
        at = self._cases.index(case)
        low, high = 0, case.window.end - case.window.earliest
        while low < high:
            middle = (low + high + 1) // 2
            lengths[at] = middle
            if earliest_starts(windows, lengths, self._between) is None:
                high = middle - 1
            else:
                low = middle
        return max(low, 0)

    def _unspoken(self, case: _Case) -> Unspoken:
        least = case.forms[case.least]
        free = self._free(case)
        steps = []
        if least.factor > 1:
            steps.append(f"tried {least.factor:.2f} times faster")
        if len(case.forms) > 1:
            steps.append(f"tried shorter: {least.text}")
        steps += [f"asked for at most {wish.words} words" for wish in case.wishes]
        needed, room = f"{least.shortest / 1000:.2f}", f"{free / 1000:.2f}"
        reason = f"it takes {needed} s at least, and {room} s are free between speech and other lines"
        if case.line.room.duration <= 2 * NO_ROOM:
            reason = "people speak at its time, and no free time is in reach"
        missing = (least.shortest - free) / 1000
        return Unspoken(case.line.id, case.line.text, reason, tuple(steps), missing)


def _window(line: Line, settings: FitSettings) -> Window:
    """Where a line may stand, in whole milliseconds inside its room.

    It may begin `settings.later` after it is wanted, and in any case when its slot begins: that is later only
    where people speak at its own time.
    """
    earliest = max(line.room.start, line.start - settings.earlier)
    latest = max(line.start + settings.later, line.slot.start, earliest)
    return Window(
        round(line.start * 1000),
        math.ceil(earliest * 1000 - 1e-6),
        max(math.floor(latest * 1000 + 1e-6), math.ceil(earliest * 1000 - 1e-6)),
        math.floor(line.room.end * 1000 + 1e-6),
    )


def _spoken(case: _Case, form: Form, speed: float, length: int, start: int) -> Spoken:
    take = form.take
    assert take is not None  # settle() has spoken all that is chosen
    steps = list(form.steps)
    if length < form.length:
        take = to_length(take, length / 1000)
        steps.append(f"spoken {speed:.2f} times faster")
    shift = start - case.window.wanted
    if abs(shift) >= _NOTICED:
        steps.append(f"moved {abs(shift) / 1000:.2f} s {'later' if shift > 0 else 'earlier'}")
    return Spoken(case.line.id, form.text, start / 1000, take, tuple(steps))


_NOTICED = 10
"""Milliseconds of a shift worth a word."""
