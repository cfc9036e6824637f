"""Spoken lines made to fit their gaps, by the steps that listeners prefer, in this order:

1. as it is;
2. moved, within its gap, by no more than the settings allow: a shift of a part of a second in silence takes
   nothing from anybody, so it comes before all that is heard as a change;
3. spoken a little faster, only as much as is needed;
4. sentences dropped, then clauses, each wording tried up to the fastest before more is dropped;
5. a shorter line by an engine, where one may be asked;
6. not spoken.

Of a line that a person recorded there is one take. It is moved and, as all others, spoken a little faster if
need be; its words stay.

Steps 1 to 4 are one choice for all lines that share a gap: the fewest lines are left out, then the fewest
words, then the least speed, then the least distance from where the lines are wanted. A line that a person
wrote, changed or accepted counts for two of the machine's. A line left out leaves its time to its neighbours.

`fit` takes a whole track, or one line with the neighbours that press on it (`neighbourhood`); for that line
the result is the same.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from shotad.core import Interval
from shotad.core.config.sound import FitSettings
from shotad.script import Track
from shotad.script.cue import timecode
from shotad.script.fit import (
    Shorten,
    ShortenedLine,
    ShortenRequest,
)
from shotad.script.pace import spoken_words
from shotad.script.reasons import SEPARATOR, in_english
from shotad.script.track_texts import texts_in
from shotad.sound.kinds import (
    AS_THE_FILM,
    OWN_VOICE,
    PACE,
    Fitting,
    LineToSpeak,
    Spoken,
    Studio,
    Take,
    Unspoken,
)
from shotad.sound.placement import (
    BETWEEN,
    MAX_WORD_RATE,
    NO_FREE_TIME,
    Form,
    Option,
    Window,
    cheapest,
    earliest,
    earliest_starts,
    estimated_form,
    latest,
    lines_of,
    nearest_starts,
    shorter_forms,
    whole_form,
    with_take,
)
from shotad.sound.takes import to_length

MAX_REQUESTS = 2
"""Times that a shorter line is asked for in place of one line."""

WORDS_OF_A_LINE = 10**6
"""Words that a line counts for when one must be left out: all its neighbours are shortened first."""

MIN_REQUESTED_WORDS = 3
"""A line of fewer words is not worth asking for."""


def fit(
    lines: Sequence[LineToSpeak],
    studio: Studio,
    settings: FitSettings,
    *,
    shorten: Shorten | None = None,
) -> Fitting:
    """Place every line, or say why it has no place.

    Each line is spoken once as it is; of shorter wordings only those that may be chosen, for a voice may cost
    money. ``shorten`` is asked for shorter lines in place of those without a place. Deterministic, whatever
    the order of ``lines``. Raises VoiceError.
    """
    ordered = sorted(lines, key=lambda line: (line.start, line.id))
    fitter = _Fitter(ordered, studio, settings)
    fitter.choose_and_speak()
    if shorten is not None:
        for _ in range(MAX_REQUESTS):
            if not fitter.request_shorter(shorten):
                break
            fitter.choose_and_speak()
    return fitter.fitting()


@dataclass(slots=True, eq=False)
class _Candidate:
    """A line while it is fitted.

    ``chosen`` is the index of its form, None while it has no place. ``wishes`` are the requests for a shorter
    line, ``answer`` is the last reply, and ``rewritten`` the index of the form that was made of it.
    """

    line: LineToSpeak
    window: Window
    forms: list[Form]
    chosen: int | None = None
    answer: ShortenedLine | None = None
    rewritten: int | None = None
    wishes: list[ShortenRequest] = field(default_factory=list)

    @property
    def whole(self) -> Form:
        """The line as it is."""
        return self.forms[0]

    @property
    def chosen_form(self) -> Form | None:
        """The form with which it has a place; None while it has none."""
        return None if self.chosen is None else self.forms[self.chosen]

    @property
    def chosen_length(self) -> int | None:
        """Milliseconds of the chosen form at its fastest; None while it has no place."""
        return None if self.chosen is None else self.forms[self.chosen].shortest

    @property
    def is_recorded(self) -> bool:
        """Whether a person recorded the line: nobody can say it in other words."""
        take = self.whole.take
        return take is not None and take.voice == OWN_VOICE

    @property
    def shortest(self) -> int:
        """Index of the form that can be said in the shortest time; the first of equals."""
        lengths = [form.shortest for form in self.forms]
        return lengths.index(min(lengths))


class _Fitter:
    """The lines, forms and takes of one fitting."""

    def __init__(self, lines: Sequence[LineToSpeak], studio: Studio, settings: FitSettings) -> None:
        """Have each line spoken as it is, and find shorter forms where needed; ``lines`` are in order."""
        self._studio, self._settings = studio, settings
        self._candidates: list[_Candidate] = []
        # Milliseconds are rounded so that no line comes nearer to speech than its time allows.
        self._between = math.ceil(BETWEEN * 1000 - 1e-6)
        for line in lines:
            whole = whole_form(line, spoken_take(studio, line, line.text), settings)
            first = math.ceil(earliest(line, settings) * 1000 - 1e-6)
            last = max(math.floor(latest(line, settings) * 1000 + 1e-6), first)
            end = math.floor(line.free.end * 1000 + 1e-6)
            window = Window(round(line.start * 1000), first, last, end)
            self._candidates.append(_Candidate(line, window, [whole]))
        self._windows = [candidate.window for candidate in self._candidates]
        wholes = [candidate.whole for candidate in self._candidates]
        for first, end in neighbour_groups(self._windows, wholes, self._between):
            lengths = [form.shortest for form in wholes[first:end]]
            if earliest_starts(self._windows[first:end], lengths, self._between) is None:
                # Not all fit as they are: any of the group may have to be shorter.
                for candidate in self._candidates[first:end]:
                    if candidate.is_recorded:
                        continue
                    candidate.forms += shorter_forms(candidate.line, candidate.whole, settings)

    def choose_and_speak(self) -> None:
        """Choose forms and have them spoken, again and again until every chosen form is spoken and fits.

        Of a line that is left out the shortest form is spoken, so that it is not left out by an estimate.
        """
        while True:
            options: list[list[Option]] = []
            drop_costs: list[int] = []
            for candidate in self._candidates:
                options.append([(form.shortest, form.lost) for form in candidate.forms])
                lines_worth = 2 if candidate.line.by_person else 1
                drop_costs.append(lines_worth * WORDS_OF_A_LINE + candidate.whole.words)
            choices = cheapest(self._windows, options, drop_costs, self._between)
            unspoken: list[tuple[_Candidate, int]] = []
            for candidate, choice in zip(self._candidates, choices, strict=True):
                candidate.chosen = choice
                index = candidate.shortest if choice is None else choice
                if candidate.forms[index].take is None:
                    unspoken.append((candidate, index))
            if not unspoken:
                return
            # Several at once, where the studio can; `say` then finds them.
            say_all = getattr(self._studio, "say_all", None)
            if say_all is not None:
                as_the_film = [pair for pair in unspoken if pair[0].line.delivery == AS_THE_FILM]
                say_all([candidate.forms[index].text for candidate, index in as_the_film])
            for candidate, index in unspoken:
                form = candidate.forms[index]
                take = spoken_take(self._studio, candidate.line, form.text)
                candidate.forms[index] = with_take(form, take, self._settings)

    def request_shorter(self, shorten: Shorten) -> bool:
        """Ask for shorter lines in place of those that have no place; whether anything was asked."""
        requests: list[tuple[_Candidate, ShortenRequest]] = []
        for candidate in self._candidates:
            is_in_vain = bool(candidate.wishes) and candidate.answer is None
            if (
                candidate.is_recorded
                or candidate.chosen is not None
                or is_in_vain
                or len(candidate.wishes) >= MAX_REQUESTS
            ):
                continue
            words = self._words_that_fit(candidate)
            if words >= MIN_REQUESTED_WORDS:
                line = candidate.line
                wish = ShortenRequest(line.id, line.text, words, line.language, candidate.answer)
                requests.append((candidate, wish))
        if not requests:
            return False
        answers = shorten([wish for _, wish in requests])
        for (candidate, wish), answer in zip(requests, answers, strict=True):
            candidate.wishes.append(wish)
            candidate.answer, candidate.rewritten = answer, None
            if answer is None or answer.complaints:
                continue
            if answer.text in [form.text for form in candidate.forms]:
                continue
            if 0 < spoken_words(answer.text, wish.language) <= wish.words:
                candidate.rewritten = len(candidate.forms)
                steps = (in_english("reason.shorter", text=candidate.line.text),)
                form = estimated_form(candidate.line, answer.text, steps, candidate.whole, self._settings)
                candidate.forms.append(form)
        return True

    def _words_that_fit(self, candidate: _Candidate) -> int:
        """Words that can be said in the time that a line without a place could have; fewer than its own.

        `shotad.film.word_budget` plans for a usual pace before any voice is known. Here the voice has spoken
        the line, so its own pace on it counts, at the highest speed and within `MAX_WORD_RATE`.
        """
        form = candidate.whole if candidate.rewritten is None else candidate.forms[candidate.rewritten]
        free = self._free_milliseconds(candidate)
        by_pace = free * form.words / form.length * self._settings.fastest
        by_rate = free * MAX_WORD_RATE / 60_000
        words = int(min(by_pace, by_rate) + 1e-9)
        return min(words, form.words - 1)

    def fitting(self) -> Fitting:
        """The lines as they were chosen, each at its speed and its place, and why the others have none."""
        placed: list[tuple[_Candidate, Form]] = []
        for candidate in self._candidates:
            if candidate.chosen_form is not None:
                placed.append((candidate, candidate.chosen_form))
        windows = [candidate.window for candidate, _ in placed]
        forms = [form for _, form in placed]
        speeds = lowest_speeds(windows, forms, self._between)
        lengths = [form.length_at(speed) for form, speed in zip(forms, speeds, strict=True)]
        starts = nearest_starts(windows, lengths, self._between)
        spoken: list[Spoken] = []
        for (candidate, form), speed, length, start in zip(placed, speeds, lengths, starts, strict=True):
            take, steps = form.take, list(form.steps)
            assert take is not None  # choose_and_speak() has spoken all that is chosen
            if length < form.length:
                take = to_length(take, length / 1000)
                steps.append(in_english("reason.faster", times=f"{speed:.2f}"))
            shift = start - candidate.window.wanted
            if abs(shift) >= _MIN_SHIFT:
                seconds = f"{abs(shift) / 1000:.2f}"
                is_later = shift > 0
                steps.append(in_english("reason.later" if is_later else "reason.earlier", seconds=seconds))
            spoken.append(Spoken(candidate.line.id, form.text, start / 1000, take, tuple(steps)))
        unspoken = [
            self._unspoken(candidate) for candidate in self._candidates if candidate.chosen_form is None
        ]
        return Fitting(tuple(spoken), tuple(unspoken))

    def _unspoken(self, candidate: _Candidate) -> Unspoken:
        """Why a line has no place, and what was tried."""
        form, free = candidate.forms[candidate.shortest], self._free_milliseconds(candidate)
        steps: list[str] = []
        if form.max_speed > 1:
            steps.append(in_english("reason.tried_faster", times=f"{form.max_speed:.2f}"))
        if len(candidate.forms) > 1:
            steps.append(in_english("reason.tried_shorter", text=form.text))
        steps += [in_english("reason.asked", number=wish.words) for wish in candidate.wishes]
        if candidate.line.free.duration <= 2 * NO_FREE_TIME:
            reason = in_english("reason.no_free_time")
        else:
            needed_seconds, free_seconds = f"{form.shortest / 1000:.2f}", f"{free / 1000:.2f}"
            reason = in_english("reason.takes", needed=needed_seconds, free=free_seconds)
            if candidate.is_recorded:
                reason = in_english("reason.recording", reason=reason)
                reason += SEPARATOR + in_english("reason.record_again")
        blocking = self._blocking(candidate)
        if blocking:
            moments = [timecode(blocker.line.start) for blocker in blocking]
            without_one = in_english("reason.without", time=moments[0])
            without_any = in_english("reason.without_any", moments=texts_in("en").listed(moments))
            reason += SEPARATOR + (without_one if len(moments) == 1 else without_any)
        return Unspoken(
            candidate.line.id,
            reason,
            tuple(steps),
            missing=(form.shortest - free) / 1000,
            taken_by=tuple(blocker.line.id for blocker in blocking),
        )

    def _blocking(self, candidate: _Candidate) -> list[_Candidate]:
        """The lines with a place each of which, if it alone were left out, would leave ``candidate`` time.

        Where some of them last longer than the time that was planned for them, only those: a line that such a
        one has pushed aside is not to blame.
        """
        index = self._candidates.index(candidate)
        wholes = [other.whole for other in self._candidates]
        groups = neighbour_groups(self._windows, wholes, self._between)
        first, end = next((first, end) for first, end in groups if first <= index < end)
        lengths = [other.chosen_length for other in self._candidates]
        lengths[index] = candidate.forms[candidate.shortest].shortest
        blocking: list[_Candidate] = []
        for other_index in range(first, end):
            other = self._candidates[other_index]
            if other.chosen is None:
                continue
            lengths_without = lengths.copy()
            lengths_without[other_index] = None
            fits = earliest_starts(self._windows[first:end], lengths_without[first:end], self._between)
            if fits is not None:
                blocking.append(other)
        too_long = [
            other for other in blocking if other.whole.shortest > round(other.line.slot.duration * 1000)
        ]
        return too_long or blocking

    def _free_milliseconds(self, candidate: _Candidate) -> int:
        """The longest that a line without a place could last, with the others as they were chosen."""
        lengths = [other.chosen_length for other in self._candidates]
        index = self._candidates.index(candidate)

        def is_too_long(length: int) -> bool:
            lengths[index] = length
            return earliest_starts(self._windows, lengths, self._between) is None

        all_lengths = range(candidate.window.end - candidate.window.earliest + 1)
        shortest_too_long = bisect_left(all_lengths, True, key=is_too_long)
        return max(shortest_too_long - 1, 0)


def spoken_take(studio: Studio, line: LineToSpeak, text: str) -> Take:
    """The take of a line in these words, by its own voice where it has one. Raises VoiceError."""
    if line.delivery == AS_THE_FILM:
        return studio.say(text)
    # A recording is of the line's own words.
    delivery = line.delivery if text == line.text else replace(line.delivery, recording="")
    return studio.say(text, delivery)


_MIN_SHIFT = 10
"""Milliseconds by which a line must have moved for a step to say so."""

SPEED_STEP = 0.01
"""Speeds are raised in steps that nobody can hear."""


def lowest_speeds(windows: Sequence[Window], forms: Sequence[Form], between: int) -> list[float]:
    """How many times faster each line is spoken, 1 where it need not be.

    Lines that press on each other are all sped up by the same factor, as far as each may be. Then each, from
    the first to the last, is slowed down as far as the others leave it time. All lines must fit at their
    highest speeds.
    """
    all_speeds: list[float] = []
    for first, end in neighbour_groups(windows, forms, between):
        all_speeds += _group_speeds(windows[first:end], forms[first:end], between)
    return all_speeds


def _group_speeds(windows: Sequence[Window], forms: Sequence[Form], between: int) -> list[float]:
    """`lowest_speeds` for the lines of one group."""

    def fit_at(speeds: Sequence[float]) -> bool:
        lengths = [form.length_at(speed) for form, speed in zip(forms, speeds, strict=True)]
        return earliest_starts(windows, lengths, between) is not None

    highest = max(form.max_speed for form in forms)
    step_count = int((highest - 1) / SPEED_STEP + 1e-9)
    possible_speeds = [round(1 + SPEED_STEP * step, 4) for step in range(step_count + 1)]
    if possible_speeds[-1] < highest:
        possible_speeds.append(highest)
    common_speed = possible_speeds[-1]
    for speed in possible_speeds:
        if fit_at([speed] * len(forms)):
            common_speed = speed
            break
    speeds = [min(common_speed, form.max_speed) for form in forms]
    for index, own_speed in enumerate(speeds):
        for speed in possible_speeds:
            if speed >= own_speed:
                break
            slower = [*speeds[:index], speed, *speeds[index + 1 :]]
            if fit_at(slower):
                speeds[index] = speed
                break
    return speeds


def neighbour_groups(windows: Sequence[Window], forms: Sequence[Form], between: int) -> list[tuple[int, int]]:
    """Lines that can press on each other, as ranges of indices ``[first, end)``; groups never press on each
    other."""
    firsts: list[int] = []
    latest_end: int | None = None
    for index, (window, form) in enumerate(zip(windows, forms, strict=True)):
        if latest_end is None or latest_end + between <= window.earliest:
            firsts.append(index)
        line_end = min(window.end, window.latest + form.length)
        latest_end = line_end if latest_end is None else max(latest_end, line_end)
    ends = [*firsts[1:], len(windows)]
    return list(zip(firsts, ends, strict=True)) if firsts else []


MAX_NEIGHBOURS = 12
"""Neighbours to each side that are fitted along at most: a shift of one line dies away much sooner."""

LONGER = 1.3
"""Times that a line which is not spoken yet may be longer than its words suggest."""


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
    """The line ``line_id`` with the lines that may press on it, and those that are heard in the ``before``
    seconds before it and the ``after`` seconds after it; `MAX_NEIGHBOURS` to each side.

    ``speech``, ``slots``, ``margin`` as for `lines_of`; the line is one that is heard.
    """
    lines = lines_of(track, speech, slots, settings, margin=margin)
    index = next(index for index, line in enumerate(lines) if line.id == line_id)
    lines = lines[max(0, index - MAX_NEIGHBOURS) : index + MAX_NEIGHBOURS + 1]
    middle = min(index, MAX_NEIGHBOURS)
    first = last = middle
    while first > 0 and _belong_together(lines[first - 1], lines[first], lines[middle], settings, before):
        first -= 1
    while last + 1 < len(lines) and _belong_together(
        lines[last], lines[last + 1], lines[middle], settings, after
    ):
        last += 1
    return lines[first : last + 1]


def _belong_together(
    line: LineToSpeak,
    following: LineToSpeak,
    middle: LineToSpeak,
    settings: FitSettings,
    seconds: float,
) -> bool:
    """Whether a line and the ``following`` one may press on each other, or whether the outer of the two may
    be heard within ``seconds`` of the ``middle`` line."""
    line_end = _latest_end(line, settings)
    if line_end + BETWEEN > earliest(following, settings):
        return True
    if following is middle or following.start <= middle.start:
        return line_end > earliest(middle, settings) - seconds
    return earliest(following, settings) < _latest_end(middle, settings) + seconds


def _latest_end(line: LineToSpeak, settings: FitSettings) -> float:
    """The second by which a line is over, though it may be longer than its words suggest."""
    longest = LONGER * spoken_words(line.text, line.language) * 60 / PACE
    return min(line.free.end, latest(line, settings) + longest)
