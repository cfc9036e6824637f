"""Extended AD: where the film stands still, for which lines, and how much it matters that each is heard.

`PausePlanner` chooses the pauses. `TimeMap` turns seconds of the film into those of the copy that pauses.
Side files are for players: ``pauses.json`` holds all that is known. `pauses_vtt` is for players that pause
the original film by themselves and play the spoken lines beside it: a WebVTT track of ``kind="metadata"`` on
the film's own time, whose cues are JSON, ``{"pause": 2.5, "line": "s00012300", "starts": 11.9}``: when a cue
comes up, pause for so many seconds; the line's own sound begins at film second ``starts``.

Able Player reads no such file. It takes extended AD as a second film, named by ``data-desc-src`` beside the
original (the described copy serves there), or pauses for each cue of a descriptions track that it reads
aloud itself (``data-desc-pause-default="true"``).
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import (
    FilmInfo,
    Interval,
    Shot,
)
from shotad.core.config.sound import ExtendedSettings, FitSettings
from shotad.core.errors import VoiceError
from shotad.film.slots import subtract
from shotad.script import count_words, split_sentences
from shotad.script.cue import timecode
from shotad.script.pace import spoken_words
from shotad.script.reasons import SEPARATOR, in_english
from shotad.script.track_texts import texts_in
from shotad.sound.fitted_takes import spoken_take
from shotad.sound.kinds import Fitting, LineToSpeak, Pause, Spoken, Studio, Take
from shotad.sound.placement import BETWEEN, earliest

SHARE = 0.1
"""Share of the film's length that all pauses together may have: above, it is another film."""

MIN_POINTS = 1.0
"""Points that a line must have to be waited for: 3 for text read out, 2 for a new name, 1 for each half
minute without a line (2 at most), 1 for five cuts, 1 for twenty words."""

MAX_DISTANCE = 3.0
"""Seconds from its cue within which a line may be said between two utterances."""

MIN_FREE = 0.01
"""Seconds. Free time that is shorter is none: the line's place lies in speech."""

MIN_PAUSE = 0.5
"""Seconds. A shorter pause looks like a fault of the player."""

AROUND_CUT = 0.4
"""Seconds kept from a cut where the gap allows: many a cut is a dissolve, in the middle of which the picture
is half of either shot. What a fade leaves dark is not seen here."""


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A line that might have a pause: how much it matters, and how it would be said.

    ``between_utterances``: its place lies in speech, so it is said in the nearest gap, however short.
    """

    line: LineToSpeak
    worth: Worth
    text: str
    take: Take
    steps: tuple[str, ...]
    between_utterances: bool


@dataclass(frozen=True, slots=True, eq=False)
class _PlannedPause:
    """A line with a pause; it begins at film second ``start``."""

    candidate: _Candidate
    start: float
    pause: Pause


class PausePlanner:
    """Gives pauses to lines for which there was too little time, those first that matter most (`worth`).

    Such a line is said whole again, as the script has it, at the voice's own pace. It begins as early as the
    free time of its gap allows (at most `FitSettings.earlier` before its cue). At the end of that time,
    before anybody speaks, the film pauses for as long as the line still needs. The pause lies in no other
    line, and not at a cut where that can be avoided.

    `ExtendedSettings.most` and `longest`, and `SHARE` limit the pauses; a line that alone passes `longest`
    loses its last sentences until it does not. Lines of less than `MIN_POINTS` get none. A line that a person
    wrote, changed or accepted (`LineToSpeak.by_person`) always gets its pause, whole: the limits are for the
    machine's lines, which share what is left.

    Lines that are heard in fewer words may have a pause too; they count by the share of their words that
    would be lost, and stay shortened without one. Lines that were dropped for other reasons than time
    (``missing`` 0) get none.
    """

    def __init__(
        self,
        lines: Sequence[LineToSpeak],
        fitting: Fitting,
        studio: Studio,
        shots: Sequence[Shot],
        settings: ExtendedSettings,
        fit: FitSettings,
        duration: float,
        speech: Sequence[Interval],
    ) -> None:
        """``lines`` are all lines of the track that can be spoken, ``fitting`` their places without pauses.

        ``duration`` is the film's in seconds, ``speech`` when somebody speaks. A line that is wanted amid
        speech is said between two utterances near it, whole in the pause.
        """
        self._lines = sorted(lines, key=lambda line: (line.start, line.id))
        self._fitting, self._studio, self._shots = fitting, studio, shots
        self._settings, self._fit, self._duration = settings, fit, duration
        self._gaps = subtract(Interval(0.0, duration), speech)
        self._cuts = [shot.interval.start for shot in shots[1:]]
        self._spoken = {line.id: line for line in fitting.spoken}
        # Lines that are heard, but not with all of their words.
        self._shortened: set[str] = set()
        for line in lines:
            spoken = self._spoken.get(line.id)
            if spoken is not None and _words(spoken.text, line) < _words(line.text, line):
                self._shortened.add(line.id)
        self._planned: tuple[_PlannedPause, ...] = ()

    def fitting(self) -> Fitting:
        """All lines, with the pauses."""
        if not self._settings.on or self._settings.most == 0:
            return self._fitting
        unspoken = {line.id: line for line in self._fitting.unspoken}
        for line, value in self._lines_by_worth():
            try:
                reason = self._plan_pause(line, value)
            except VoiceError as error:
                # A pause is an extra: the other lines do not fail with it.
                reason = error.what
            if reason and line.id in unspoken:
                line_without = unspoken[line.id]
                unspoken[line.id] = replace(
                    line_without,
                    reason=SEPARATOR.join((line_without.reason, in_english("pause.none", reason=reason))),
                )
        ids_with_pause = {planned.candidate.line.id for planned in self._planned}
        spoken = [line for line in self._fitting.spoken if line.id not in ids_with_pause]
        for planned in self._planned:
            candidate, length = planned.candidate, planned.pause.length
            line_id = candidate.line.id
            earlier_steps = unspoken.pop(line_id).steps if line_id in unspoken else ()
            steps = (
                *earlier_steps,
                *candidate.steps,
                in_english("pause.made", seconds=f"{length:.2f}", worth=candidate.worth),
            )
            spoken.append(Spoken(line_id, candidate.text, planned.start, candidate.take, steps, length))
        return Fitting(
            tuple(sorted(spoken, key=lambda line: line.start)),
            tuple(unspoken.values()),
            tuple(planned.pause for planned in self._planned),
        )

    def _lines_by_worth(self) -> list[tuple[LineToSpeak, Worth]]:
        """Lines for which time was missing: people's first, then those that matter most, then in the film's
        order."""
        too_long = {line.id for line in self._fitting.unspoken if line.missing > 0}
        texts = [line.text for line in self._lines]
        may_pause = too_long | self._shortened
        names = names_of(texts, self._lines[0].language) if may_pause else frozenset[str]()
        lines: list[tuple[LineToSpeak, Worth]] = []
        last_end = 0.0
        heard_texts: list[str] = []
        for line in self._lines:
            spoken = self._spoken.get(line.id)
            if line.id in may_pause:
                value = worth(line.text, line.start, last_end, names, heard_texts, self._shots)
                if spoken is not None:
                    # Only the words that are not heard count: of half the words half the points.
                    share = 1 - _words(spoken.text, line) / max(1, _words(line.text, line))
                    value = Worth(
                        value.points * share,
                        (*value.reasons, in_english("worth.unheard", percent=f"{share:.0%}")),
                    )
                lines.append((line, value))
            if spoken is not None:
                last_end = spoken.interval.end
                heard_texts.append(spoken.text)
        return sorted(lines, key=lambda pair: (not pair[0].by_person, -pair[1].points))

    def _plan_pause(self, line: LineToSpeak, value: Worth) -> str:
        """Plan a pause for a line if the limits allow it, and arrange all pauses anew; else the reason."""
        most, longest = self._settings.most, self._settings.longest
        if not line.by_person and value.points < MIN_POINTS:
            return in_english("pause.too_little", worth=value)
        if not line.by_person and len(self._planned) >= most:
            return in_english("pause.enough", number=most, worth=value)
        between_utterances = line.free.duration < MIN_FREE
        if between_utterances:
            gap = self._nearest_gap(line)
            if gap is None:
                return in_english("pause.no_gap")
            line = replace(line, free=gap)
        heard_words = _words(self._spoken[line.id].text, line) if line.id in self._shortened else 0
        for text in _without_last_sentences(line):
            if _words(text, line) <= heard_words:
                # No gain over what is heard without a pause.
                continue
            is_whole = text == line.text
            steps = (in_english("pause.whole_line" if is_whole else "pause.without_last"),)
            take = spoken_take(self._studio, line, text)
            candidate = _Candidate(line, value, text, take, steps, between_utterances)
            arranged = self._arranged((*(planned.candidate for planned in self._planned), candidate))
            # A new pause may also make others longer.
            lengths = [planned.pause.length for planned in arranged if not planned.candidate.line.by_person]
            if line.by_person or max(lengths, default=0.0) <= longest:
                break
        else:
            return in_english("pause.too_long", seconds=f"{longest:g}")
        total = sum(planned.pause.length for planned in arranged)
        allowed = SHARE * self._duration
        if not line.by_person and total > allowed:
            return in_english("pause.too_much", needed=f"{total:.1f}", free=f"{allowed:.1f}")
        self._planned = arranged
        return ""

    def _nearest_gap(self, line: LineToSpeak) -> Interval | None:
        """The gap between two utterances nearest to a line, which may be short; None where none is near."""
        gaps = [gap for gap in self._gaps if gap.end > line.earliest]
        if not gaps:
            return None

        def distance(gap: Interval) -> float:
            return max(gap.start - line.start, line.start - gap.end, 0.0)

        nearest = min(gaps, key=lambda gap: (distance(gap), gap.start))
        if distance(nearest) > MAX_DISTANCE or nearest.duration < MIN_FREE:
            return None
        return nearest

    def _arranged(self, candidates: Sequence[_Candidate]) -> tuple[_PlannedPause, ...]:
        """A pause for every candidate, in the order of the script."""
        by_id = {candidate.line.id: candidate for candidate in candidates}
        arranged: list[_PlannedPause] = []
        spoken_until = 0.0
        for index, line in enumerate(self._lines):
            candidate, spoken = by_id.get(line.id), self._spoken.get(line.id)
            if candidate is None:
                if spoken is not None:
                    spoken_until = max(spoken_until, spoken.interval.end)
                continue
            # Where the next line begins that needs no pause.
            next_start = math.inf
            for following in self._lines[index + 1 :]:
                following_spoken = self._spoken.get(following.id)
                if following_spoken is not None and following.id not in by_id:
                    next_start = following_spoken.start
                    break
            free = candidate.line.free
            # The film pauses at ``end`` at the latest.
            end = max(free.start, min(free.end, next_start - BETWEEN, self._duration))
            # At the same moment as the next line, not a rounding after it: that one is said after the pause.
            end = min(max(end, min(spoken_until, free.end)), next_start)
            # Free time has its margins; a gap between two utterances has none.
            breath = BETWEEN if candidate.between_utterances else 0.0
            free_from = free.start + breath
            if spoken_until > 0:
                free_from = max(free_from, spoken_until + BETWEEN)
            first = max(free_from, min(earliest(candidate.line, self._fit), end))
            seconds = candidate.take.seconds
            missing = first + seconds + breath - end
            length = max(MIN_PAUSE, math.ceil(missing * 1000 - 1e-6) / 1000)  # whole milliseconds
            moment = self._away_from_cuts(max(min(first, end), min(spoken_until, end)), end)
            # Where the shortest pause is longer than needed, the line begins later and ends with it.
            start = max(first, end + length - breath - seconds)
            arranged.append(_PlannedPause(candidate, start, Pause(moment, length, line.id)))
            spoken_until = max(spoken_until, end)
        return tuple(arranged)

    def _away_from_cuts(self, low: float, high: float) -> float:
        """The latest moment from ``low`` to ``high`` that is not at a cut; else that furthest from one."""
        moments = {low, high}
        for cut in self._cuts:
            for moment in (cut - AROUND_CUT, cut + AROUND_CUT):
                if low <= moment <= high:
                    moments.add(moment)
        rounded = sorted({min(high, max(low, round(moment, 3))) for moment in moments})

        def distance(moment: float) -> float:
            """Seconds to the nearest cut; further than `AROUND_CUT` is all the same."""
            nearest = min((abs(moment - cut) for cut in self._cuts), default=math.inf)
            return min(round(nearest, 3), AROUND_CUT)

        return max(rounded, key=lambda moment: (distance(moment), moment))


def _without_last_sentences(line: LineToSpeak) -> list[str]:
    """The line, then without its last sentence, and so on: ``A. B. C.``, ``A. B.``, ``A.``."""
    sentences = split_sentences(line.text, line.language)
    shorter = [" ".join(sentences[:count]) for count in range(len(sentences) - 1, 0, -1)]
    return [line.text, *shorter]


def _words(text: str, line: LineToSpeak) -> int:
    """How many English words a text in the line's language counts for."""
    return spoken_words(text, line.language)


READ_OUT = 3.0
"""Points of a line that reads out text: whoever cannot see has no other way to it."""

NEWCOMER = 2.0
"""Points of a line that names a person or place for the first time: later lines build on the name."""

SILENCE, LONG_SILENCE = 30.0, 2.0
"""Seconds without a line that are worth one point, and the most points for it."""

CUTS, MANY_CUTS = 5.0, 1.0
"""Cuts since the last line that are worth one point, and the most points for them."""

WORDS, MANY_WORDS = 20.0, 1.0
"""Words that are worth one point, and the most points for them."""

_READS_OUT = re.compile(
    r"[\"“”„«»「『]\s*\w|(?<!\w)['‘‚]\w[^'’]*['’](?!\w)|\b[Rr]eads?\b|\b[Tt]itles?\b|\b[A-Z]{2,}(?:\s+[A-Z]{2,})+\b"
)
"""Marks of a line that reads out text: something quoted (AD quotes no speech), a word for it, capitals."""

_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_BEFORE_FIRST_WORD = re.compile(r"(?:^|[.!?…:;]|[\"“”„«»])\s*$")
"""What stands before the first word of a sentence."""
_NOUNS_HAVE_CAPITALS = ("de", "lb", "gsw")
"""Languages in which a capital does not tell a name from another noun."""


@dataclass(frozen=True, slots=True)
class Worth:
    """How much a line matters, in points, and the reasons for them in plain words."""

    points: float
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        points = f"{self.points:.1f}"
        if not self.reasons:
            return in_english("worth.points", points=points)
        return in_english("worth.because", points=points, because=", ".join(self.reasons))


def worth(
    text: str,
    start: float,
    last_end: float,
    names: Iterable[str],
    heard_texts: Iterable[str],
    shots: Sequence[Shot],
) -> Worth:
    """How much the line ``text`` at second ``start`` matters.

    ``last_end`` is the second at which the last line before it ends (0: none), ``names`` are those of the
    track (`names_of`), ``heard_texts`` the lines before.
    """
    cuts = sum(last_end < shot.interval.start <= start for shot in shots[1:])
    silence = max(0.0, start - last_end)
    unheard_names = set(names)
    for heard_text in heard_texts:
        unheard_names.difference_update(_bare_words(heard_text))
    # Each once, in the line's order.
    new_names = [word for word in dict.fromkeys(_bare_words(text)) if word in unheard_names]
    points_and_reasons = [
        (READ_OUT if _READS_OUT.search(text) else 0.0, in_english("worth.reads")),
        (
            NEWCOMER if new_names else 0.0,
            in_english("worth.introduces", names=texts_in("en").listed(new_names)),
        ),
        (min(LONG_SILENCE, silence / SILENCE), in_english("worth.silence", seconds=f"{silence:.0f}")),
        (min(MANY_CUTS, cuts / CUTS), in_english("worth.cuts", number=cuts)),
        (min(MANY_WORDS, count_words(text) / WORDS), in_english("worth.words", number=count_words(text))),
    ]
    return Worth(
        sum(points for points, _ in points_and_reasons),
        tuple(reason for points, reason in points_and_reasons if points > 0),
    )


def names_of(texts: Sequence[str], language: str) -> frozenset[str]:
    """Words that a track writes with a capital within a sentence, and never without: ``{"Emo", "Proog"}``.

    Empty where the language writes all nouns so, and where it has no capitals.
    """
    if language.lower().split("-")[0] in _NOUNS_HAVE_CAPITALS:
        return frozenset()
    lower_case, names = set[str](), set[str]()
    for text in texts:
        for match in _WORD.finditer(text):
            word = _without_possessive(match.group())
            if word.islower():
                lower_case.add(word)
            elif word.istitle() and not _BEFORE_FIRST_WORD.search(text[: match.start()]):
                names.add(word)
    return frozenset(name for name in names if len(name) > 1 and name.lower() not in lower_case)


def _bare_words(text: str) -> list[str]:
    """The words of a text, each without a possessive ``'s``."""
    return [_without_possessive(word) for word in _WORD.findall(text)]


def _without_possessive(word: str) -> str:
    return re.sub(r"[’']s$", "", word)


@dataclass(frozen=True, slots=True)
class TimeMap:
    """Turns film seconds into seconds of the copy that pauses.

    ``pauses`` ascend; several may be at one second. Each film second is one second of the copy, but that of a
    pause lasts as long as the pause: `early` is where the pause begins and `late` where it ends. With a pause
    of 2 s at 10 s: ``early(10) = 10``, ``late(10) = 12``; both turn 9 into 9 and 11 into 13.
    """

    pauses: tuple[Pause, ...] = ()

    def __post_init__(self) -> None:
        seconds = [pause.at for pause in self.pauses]
        if seconds != sorted(seconds):
            raise ValueError(f"pauses must ascend, got {seconds}")

    @property
    def total(self) -> float:
        """Seconds of all pauses together."""
        return self._waited(len(self.pauses))

    def early(self, second: float) -> float:
        """Where a film second is reached, before a pause in it: for the ends of what is shown or heard."""
        return second + self._waited(bisect_left(self.pauses, second, key=lambda pause: pause.at))

    def late(self, second: float) -> float:
        """Where the film goes on from a second, after a pause in it: for starts, and for all that the film
        itself holds."""
        return second + self._waited(bisect_right(self.pauses, second, key=lambda pause: pause.at))

    def interval(self, interval: Interval) -> Interval:
        """An interval on the copy's time. One that a pause lies in lasts through it; one that ends or begins
        at a pause does not."""
        return Interval(self.late(interval.start), self.early(interval.end))

    def pause(self, number: int) -> Interval:
        """Pause ``number`` on the copy's time."""
        start = self._pause_starts()[number]
        return Interval(start, start + self.pauses[number].length)

    def line(self, line: Spoken) -> Spoken:
        """A line on the copy's time, where it needs no pause any more.

        One with a pause of its own begins as far from the pause's beginning as it does from `Pause.at` on
        film time.
        """
        if line.pause:
            for pause, pause_start in zip(self.pauses, self._pause_starts(), strict=True):
                if pause.cue_id == line.id:
                    return replace(line, start=pause_start + (line.start - pause.at), pause=0.0)
        return replace(line, start=self.late(line.start), pause=0.0)

    def fitting(self, fitting: Fitting) -> Fitting:
        """All lines on the copy's time, where they ascend and do not overlap."""
        moved = sorted((self.line(line) for line in fitting.spoken), key=lambda line: line.start)
        return Fitting(tuple(moved), fitting.unspoken)

    def _waited(self, count: int) -> float:
        """Seconds of the first ``count`` pauses."""
        return sum(pause.length for pause in self.pauses[:count])

    def _pause_starts(self) -> list[float]:
        """The second of the copy at which each pause begins."""
        starts: list[float] = []
        waited = 0.0
        for pause in self.pauses:
            starts.append(pause.at + waited)
            waited += pause.length
        return starts


_CUE_SECONDS = 0.5
"""How long a cue stays up, so that a player that looks four times a second sees it."""


def pauses_record(info: FilmInfo, fitting: Fitting, language: str, voice: str) -> dict[str, Any]:
    """The content of ``pauses.json``: the pauses of a film, in its order, in seconds of the original film.

    ``copy_…`` are seconds of the copy. A line that ``starts`` after ``at`` begins by the difference after the
    pause does.
    """
    times = TimeMap(fitting.pauses)
    by_id = {line.id: line for line in fitting.spoken}
    pauses = []
    for number, pause in enumerate(fitting.pauses):
        line, on_copy = by_id[pause.cue_id], times.pause(number)
        seconds = {
            "at": pause.at,
            "length": pause.length,
            "starts": line.start,
            "spoken": line.take.seconds,
            "copy_start": on_copy.start,
            "copy_end": on_copy.end,
            "copy_starts": times.line(line).start,
        }
        rounded = {name: round(second, 3) for name, second in seconds.items()}
        pauses.append({"line": line.id, **rounded, "text": line.text})
    return {
        "schema_version": 1,
        "film": {"name": info.name, "fingerprint": info.fingerprint, "duration": round(info.duration, 3)},
        "copy_duration": round(info.duration + times.total, 3),
        "language": language,
        "voice": voice,
        "pauses": pauses,
    }


def pauses_vtt(record: Mapping[str, Any]) -> str:
    """A WebVTT metadata track on the original film's time, of a `pauses_record`; its form is described at the
    top of this file."""
    note = texts_in(record["language"])("script.pauses")
    blocks = ["WEBVTT", f"NOTE {note}"]
    for pause in record["pauses"]:
        data = json.dumps({"pause": pause["length"], "line": pause["line"], "starts": pause["starts"]})
        times = f"{timecode(pause['at'])} --> {timecode(pause['at'] + _CUE_SECONDS)}"
        blocks.append(f"{pause['line']}\n{times}\n{data}")
    return "\n\n".join(blocks) + "\n"
