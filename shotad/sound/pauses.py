"""Extended AD: where the film stands still, for which lines, and how much it matters that each is heard.

`TimeMap` leads from seconds of the film to those of the copy that pauses; side files tell players of the
pauses. ``pauses.json`` says all that is known. `pauses_vtt` is for players that pause the original film by
themselves and play the spoken lines beside it: a WebVTT track of ``kind="metadata"`` on the film's own time,
whose cues are JSON, ``{"pause": 2.5, "line": "s00012300", "starts": 11.9}``: when a cue comes up, pause for
so many seconds; the line's own sound begins at film second ``starts``.

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
from itertools import accumulate, pairwise
from typing import Any

from shotad.core import ExtendedSettings, FilmInfo, FitSettings, Interval, Shot, VoiceError
from shotad.film import subtract
from shotad.script import count_words, split_sentences, spoken_words, timecode
from shotad.sound.kinds import Fitting, LineToSpeak, Pause, Spoken, Studio, Take
from shotad.sound.placing import BETWEEN, earliest

SHARE = 0.1
"""Share of the film's length that all pauses together may have: above, it is another film."""

LEAST = 1.0
"""Points that a line must have to be waited for: 3 for text read out, 2 for a new name, 1 for each half
minute without a line (2 at most), 1 for five cuts, 1 for twenty words."""

NEAR = 3.0
"""Seconds from its cue within which a line may be said between two utterances."""

ROOM = 0.01
"""Seconds. A room that is shorter is none: the line's place lies in speech."""

SHORTEST = 0.5
"""Seconds. A shorter stop looks like a fault of the player."""

AROUND_CUT = 0.4
"""Seconds kept from a cut where the gap allows: many a cut is a dissolve, in the middle of which the picture
is half of either shot. What a fade leaves dark is not seen here."""


@dataclass(frozen=True, slots=True, eq=False)
class _Wish:
    """A line that might have a pause: how much it matters, and how it would be said.

    ``squeezed``: its place lies in speech, so it is said between two utterances.
    """

    line: LineToSpeak
    worth: Worth
    text: str
    take: Take
    steps: tuple[str, ...]
    squeezed: bool


_Place = tuple[_Wish, float, Pause]
"""A line with a pause, its first second, and the pause."""


class PausePlanner:
    """Gives pauses to lines for which there was too little time, those first that matter most (`worth`).

    Such a line is said whole again, as the script has it, at the voice's own pace. It begins as early as the
    free time of its gap allows (at most `FitSettings.earlier` before its cue), and the film stands still at
    that time's end, before anybody speaks, for as long as the line then lacks. The moment lies in no other
    line, and not at a cut where that can be helped. `most`, `longest` and `share` limit the pauses; a line
    that alone passes `longest` loses its last sentences until it does not. Lines of less than `least` points
    get none. A line that a person wrote, changed or accepted (`LineToSpeak.by_person`) always gets its pause,
    whole: these limits are for the machine's lines, which share what is left. Lines that are heard in fewer
    words count too, by the share of their words that would be lost; without a pause they stay as they are.
    Lines that were dropped for other reasons than time (``missing`` 0) are left alone.

    ``lines`` are all lines of the track, ``duration`` is the film's in seconds. ``speech`` are the seconds in
    which somebody speaks: a line whose room is no more than a place in a conversation is said between two
    utterances near it, whole in the pause.
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
        self._lines = sorted(lines, key=lambda line: (line.start, line.id))
        self._fitting, self._studio, self._shots = fitting, studio, shots
        self._settings, self._fit, self._duration = settings, fit, duration
        self._gaps = subtract(Interval(0.0, duration), speech)
        self._cuts = [shot.interval.start for shot in shots[1:]]
        self._spoken = {line.id: line for line in fitting.spoken}
        whole = {line.id: line for line in lines}
        # Lines that are heard, but not with all of their words.
        self._shortened = {
            said.id
            for said in fitting.spoken
            if (line := whole.get(said.id)) and _words(said.text, line) < _words(line.text, line)
        }
        self._places: tuple[_Place, ...] = ()

    def fitting(self) -> Fitting:
        """All lines, with the pauses."""
        if not self._settings.on or self._settings.most == 0:
            return self._fitting
        left = {line.id: line for line in self._fitting.unspoken}
        for line, value in self._candidates():
            try:
                reason = self._admit(line, value)
            except VoiceError as error:
                reason = error.what
            if reason and (lost := left.get(line.id)) is not None:
                left[line.id] = replace(lost, reason=f"{lost.reason}; no pause: {reason}")
        waited_for = {wish.line.id for wish, _, _ in self._places}
        spoken = [line for line in self._fitting.spoken if line.id not in waited_for]
        for wish, start, pause in self._places:
            take, waited = wish.take, f"film paused {pause.length:.2f} s ({wish.worth})"
            before = left.pop(wish.line.id, None)
            steps = (*(before.steps if before is not None else ()), *wish.steps, waited)
            spoken.append(Spoken(wish.line.id, wish.text, start, take, steps, pause.length))
        said = tuple(sorted(spoken, key=lambda said: said.start))
        return Fitting(said, tuple(left.values()), tuple(pause for _, _, pause in self._places))

    def _candidates(self) -> list[tuple[LineToSpeak, Worth]]:
        """Lines for which time was missing: people's first, then those that matter most, then in the film's
        order."""
        lost = {line.id for line in self._fitting.unspoken if line.missing > 0}
        texts = [line.text for line in self._lines]
        names = names_of(texts, self._lines[0].language) if lost else frozenset[str]()
        found = []
        last, told = 0.0, list[str]()
        for line in self._lines:
            spoken = self._spoken.get(line.id)
            if line.id in lost or line.id in self._shortened:
                value = worth(line.text, line.start, last, names, told, self._shots)
                if spoken is not None:
                    # What is lost: of half the words half the points.
                    share = 1 - _words(spoken.text, line) / max(1, _words(line.text, line))
                    value = Worth(value.points * share, (*value.reasons, f"{share:.0%} of it not heard"))
                found.append((line, value))
            if spoken is not None:
                last, told = spoken.interval.end, [*told, spoken.text]
        return sorted(found, key=lambda item: (not item[0].by_person, -item[1].points))

    def _admit(self, line: LineToSpeak, value: Worth) -> str:
        """Take a line in if the limits allow it; else the reason why not."""
        most, longest = self._settings.most, self._settings.longest
        if not line.by_person and value.points < LEAST:
            return f"it matters too little ({value})"
        if not line.by_person and len(self._places) >= most:
            return f"the film has {most} already, for lines that matter more ({value})"
        squeezed = line.room.duration < ROOM
        if squeezed:
            # The nearest stretch without speech is its room, however short.
            near = [
                (max(gap.start - line.start, line.start - gap.end, 0.0), gap.start, gap)
                for gap in self._gaps
                if gap.end > line.earliest
            ]
            distance, _, gap = min(near, default=(math.inf, 0.0, line.room))
            if distance > NEAR or gap.duration < ROOM:
                return "somebody speaks there, and stops nowhere near"
            line = replace(line, room=gap)
        heard = _words(self._spoken[line.id].text, line) if line.id in self._shortened else 0
        # The line, then without its last sentence, and so on: ``A. B. C.``, ``A. B.``, ``A.``.
        sentences = split_sentences(line.text, line.language)
        shorter = (" ".join(sentences[:number]) for number in range(len(sentences) - 1, 0, -1))
        for text in (text for text in (line.text, *shorter) if _words(text, line) > heard):
            steps = ("whole line again",) if text == line.text else ("last sentences dropped for the pause",)
            wish = _Wish(line, value, text, self._studio.say(text), steps, squeezed)
            places = self._arranged((*(wish for wish, _, _ in self._places), wish))
            lengths = (pause.length for one, _, pause in places if not one.line.by_person)
            if line.by_person or max(lengths, default=0.0) <= longest:
                break
        else:
            return f"it would be longer than {longest:g} s"
        total, allowed = sum(pause.length for _, _, pause in places), SHARE * self._duration
        if not line.by_person and total > allowed:
            return (
                f"all together would be {total:.1f} s, more than the {allowed:.1f} s that the film may wait"
            )
        self._places = places
        return ""

    def _arranged(self, wishes: Sequence[_Wish]) -> tuple[_Place, ...]:
        """All wishes in their places, in the order of the script."""
        by_id = {wish.line.id: wish for wish in wishes}
        places: list[_Place] = []
        taken_until = 0.0
        for number, line in enumerate(self._lines):
            wish, spoken = by_id.get(line.id), self._spoken.get(line.id)
            if wish is None:
                taken_until = taken_until if spoken is None else max(taken_until, spoken.interval.end)
                continue
            # Where the next line begins that needs no pause. The film goes on at ``end`` at the latest.
            after = (self._spoken.get(one.id) for one in self._lines[number + 1 :] if one.id not in by_id)
            next_start = next((one.start for one in after if one is not None), math.inf)
            room = wish.line.room
            end = max(room.start, min(room.end, next_start - BETWEEN, self._duration))
            # At the same moment as the next line, not a rounding after it: that one is said after the pause.
            end = min(max(end, min(taken_until, room.end)), next_start)
            # A room has its margins; a mere stop between two utterances has none.
            breath = BETWEEN if wish.squeezed else 0.0
            free = room.start + breath
            if taken_until > 0:
                free = max(free, taken_until + BETWEEN)
            first = max(free, min(earliest(wish.line, self._fit), end))
            lacking = first + wish.take.seconds + breath - end
            missing = max(SHORTEST, math.ceil(lacking * 1000 - 1e-6) / 1000)
            at = self._still(max(min(first, end), min(taken_until, end)), end)
            start = max(first, end + missing - breath - wish.take.seconds)
            places.append((wish, start, Pause(at, missing, line.id)))
            taken_until = max(taken_until, end)
        return tuple(places)

    def _still(self, low: float, high: float) -> float:
        """The latest moment from ``low`` to ``high`` that is not at a cut; else that furthest from one."""
        options = {low, high}
        for cut in self._cuts:
            options |= {second for second in (cut - AROUND_CUT, cut + AROUND_CUT) if low <= second <= high}
        rounded = sorted({min(high, max(low, round(option, 3))) for option in options})

        def from_cut(second: float) -> float:
            near = min((abs(second - cut) for cut in self._cuts), default=math.inf)
            return min(round(near, 3), AROUND_CUT)

        return max(rounded, key=lambda second: (from_cut(second), second))


def _words(text: str, line: LineToSpeak) -> int:
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
"""What tells a line that reads out text: something quoted (AD quotes no speech), a word for it, capitals."""

_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_OPENS = re.compile(r"(?:^|[.!?…:;]|[\"“”„«»])\s*$")
_NOUNS_HAVE_CAPITALS = ("de", "lb", "gsw")


@dataclass(frozen=True, slots=True)
class Worth:
    """Points, more for what matters more, and the words for them."""

    points: float
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.points:.1f} points" + (f": {', '.join(self.reasons)}" if self.reasons else "")


def worth(
    text: str, start: float, last: float, names: Iterable[str], told: Iterable[str], shots: Sequence[Shot]
) -> Worth:
    """How much the line ``text`` at second ``start`` matters.

    ``last`` is the end of the last line heard before (0: none), ``names`` are those of the track
    (`names_of`), ``told`` the texts of the lines before.
    """
    cuts = sum(last < after.interval.start <= start for _, after in pairwise(shots))
    silence = max(0.0, start - last)
    known = set(names) - {word for line in told for word in _plain_words(line)}
    new = [word for word in dict.fromkeys(_plain_words(text)) if word in known]
    found = [
        (READ_OUT if _READS_OUT.search(text) else 0.0, "reads out text"),
        (NEWCOMER if new else 0.0, f"introduces {', '.join(new)}"),
        (min(LONG_SILENCE, silence / SILENCE), f"{silence:.0f} s since the last line"),
        (min(MANY_CUTS, cuts / CUTS), f"{cuts} cuts since the last line"),
        (min(MANY_WORDS, count_words(text) / WORDS), f"{count_words(text)} words"),
    ]
    return Worth(sum(points for points, _ in found), tuple(said for points, said in found if points > 0))


def names_of(texts: Sequence[str], language: str) -> frozenset[str]:
    """Words that a track writes with a capital within a sentence, and never without: ``{"Emo", "Proog"}``.

    None where the language writes all nouns so; where it has no capitals there are none.
    """
    if language.lower().split("-")[0] in _NOUNS_HAVE_CAPITALS:
        return frozenset()
    small, names = set(), set()
    for text in texts:
        for match in _WORD.finditer(text):
            word = _bare(match.group())
            if word.islower():
                small.add(word)
            elif word.istitle() and not _OPENS.search(text[: match.start()]):
                names.add(word)
    return frozenset(name for name in names if len(name) > 1 and name.lower() not in small)


def _plain_words(text: str) -> list[str]:
    return [_bare(word) for word in _WORD.findall(text)]


def _bare(word: str) -> str:
    return re.sub(r"[’']s$", "", word)


@dataclass(frozen=True, slots=True)
class TimeMap:
    """Film time and the time of the copy. ``pauses`` ascend; several may be at one second.

    A second of the film is one of the copy, but for that of a pause, which is a stretch of it: `early` is
    where the stretch begins and `late` where it ends. With 2 s of pause at 10 s: ``early(10) = 10``,
    ``late(10) = 12``, both take 9 to 9 and 11 to 13; `film` takes 10, 11 and 12 to 10, and 13 to 11.
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
        """Where a film second is reached: for ends of what is shown or heard."""
        return second + self._waited(bisect_left(self.pauses, second, key=lambda pause: pause.at))

    def late(self, second: float) -> float:
        """Where the film goes on from a second: for starts, and for all that the film itself holds."""
        return second + self._waited(bisect_right(self.pauses, second, key=lambda pause: pause.at))

    def interval(self, interval: Interval) -> Interval:
        """What stretches over a pause lasts through it; what ends or begins at one does not."""
        return Interval(self.late(interval.start), self.early(interval.end))

    def pause(self, number: int) -> Interval:
        """Pause ``number`` on the copy's time."""
        start = self._begins()[number]
        return Interval(start, start + self.pauses[number].length)

    def line(self, line: Spoken) -> Spoken:
        """A line on the copy's time; it sounds there in one piece, and asks for no pause any more.

        One with a pause of its own begins as far from the pause's beginning as it does from `Pause.at` on
        film time.
        """
        number = next((i for i, pause in enumerate(self.pauses) if pause.cue_id == line.id), None)
        if number is None or not line.pause:
            return replace(line, start=self.late(line.start), pause=0.0)
        start = self._begins()[number] + (line.start - self.pauses[number].at)
        return replace(line, start=start, pause=0.0)

    def fitting(self, fitting: Fitting) -> Fitting:
        """All lines on the copy's time, where they ascend and do not overlap."""
        moved = sorted((self.line(line) for line in fitting.spoken), key=lambda line: line.start)
        return Fitting(tuple(moved), fitting.unspoken)

    def _waited(self, count: int) -> float:
        """Seconds of the first ``count`` pauses."""
        return sum(pause.length for pause in self.pauses[:count])

    def _begins(self) -> list[float]:
        waited = accumulate((pause.length for pause in self.pauses), initial=0.0)
        return [pause.at + before for pause, before in zip(self.pauses, waited, strict=False)]


_SHOWN = 0.5
"""Seconds for which a cue stays up, so that a player that looks four times a second sees it."""


def pauses_record(info: FilmInfo, fitting: Fitting, language: str, voice: str) -> dict[str, Any]:
    """What `pauses.json` holds: the pauses of a film, in its order, in seconds of the original film.

    ``copy_…`` are seconds of the copy; a line that ``starts`` after ``at`` begins so much into the pause.
    """
    times = TimeMap(fitting.pauses)
    by_id = {line.id: line for line in fitting.spoken}
    pauses = []
    for number, pause in enumerate(fitting.pauses):
        line, waits = by_id[pause.cue_id], times.pause(number)
        seconds = {
            "at": pause.at,
            "length": pause.length,
            "starts": line.start,
            "spoken": line.take.seconds,
            "copy_start": waits.start,
            "copy_end": waits.end,
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
    """A WebVTT metadata track on the original film's time; see the module's own words."""
    blocks = ["WEBVTT", "NOTE Pauses for extended audio description, one JSON object a cue."]
    for pause in record["pauses"]:
        words = json.dumps({"pause": pause["length"], "line": pause["line"], "starts": pause["starts"]})
        blocks.append(
            f"{pause['line']}\n{timecode(pause['at'])} --> {timecode(pause['at'] + _SHOWN)}\n{words}"
        )
    return "\n\n".join(blocks) + "\n"
