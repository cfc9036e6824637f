"""One line of audio description: what is said, when, why so, who made it, and what a person changed.

Here too: a line as a script file carries it (`ScriptCue`), and times as script files spell them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from shotad.core import Interval, ScriptError, plural, quoted, seen

REDO = "redo"
"""Source of edits that a person made by having a slot described again."""

EARLIEST = 0.1
"""Seconds. No cue starts before: players fire a cue at 0.000 before they play (rule T6)."""

LEAD = 1.0
"""Seconds by which a machine's line may begin before what it tells is seen (rule T7)."""

_ID = re.compile(r"[sh]\d{8,}")
_NO_CHARACTERS = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")

LONGEST = 5_000
"""Characters of a line, five minutes of talk. What is longer is no line, and nothing reads it."""

MOST_LINES = 50_000
"""Lines of a script. A film of three hours has 1,500; times of its shots have 10,000."""

_CLOCK_IN_TEXT = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
_ARROW = "(?:-{1,3}\\s?>|[–—=]>|[→⇒])"
_TIMING_IN_TEXT = re.compile(rf"{_CLOCK_IN_TEXT}\s*+{_ARROW}\s*+{_CLOCK_IN_TEXT}")


class CueKind(StrEnum):
    """What a line describes: what is seen to happen, or text that is read out."""

    ACTION = "action"
    TEXT = "text"


class CueStatus(StrEnum):
    """What became of a slot's line. Only placed and shortened lines are heard."""

    PLACED = "placed"
    SHORTENED = "shortened"
    DROPPED = "dropped"
    FAILED = "failed"
    SILENT = "silent"

    @property
    def heard(self) -> bool:
        """True for lines that scripts and voices carry."""
        return self in (CueStatus.PLACED, CueStatus.SHORTENED)


class EditField(StrEnum):
    """What a person did to a line."""

    TEXT = "text"
    TIME = "time"
    STATUS = "status"
    ADDED = "added"
    REMOVED = "removed"
    ACCEPTED = "accepted"


class LineState(StrEnum):
    """Whose a line is: as the machine wrote it, changed by a person, or read and accepted by one."""

    MACHINE = "machine"
    EDITED = "edited"
    ACCEPTED = "accepted"


def milliseconds(seconds: float) -> int:
    """The resolution in which tracks are written and compared: ``83.1204 → 83120``."""
    return round(seconds * 1000)


def short_hash(text: str) -> str:
    """Eight hex digits that tell texts apart."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


_BREAK_WITHOUT_BLANK = re.compile(
    # Chinese, Japanese, Thai, Lao, Burmese and Khmer part no words by blanks.
    "(?<=[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\n"
    "(?=[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])"
)


def one_line(text: str) -> str:
    """The text without line breaks. A line with its breaks moved says the same: editors do that.

    >>> one_line("A dog\\nruns."), one_line("一只狗\\n在跑。")
    ('A dog runs.', '一只狗在跑。')
    """
    return _BREAK_WITHOUT_BLANK.sub("", text).replace("\n", " ") if "\n" in text else text


def line_stamp(interval: Interval, text: str) -> str:
    """Short names of what a script shows of a line, its times to 1 ms and its text, wherever its lines break:
    ``1a2b3c4d-5e6f7a8b``."""
    times = f"{milliseconds(interval.start)} {milliseconds(interval.end)}"
    return f"{short_hash(times)}-{short_hash(one_line(text))}"


def track_stamp(line_stamps: Iterable[tuple[str, str]]) -> str:
    """Short name of all lines of a script, from the id and the `line_stamp` of each, in order."""
    return short_hash(" ".join(f"{cue_id} {stamp}" for cue_id, stamp in line_stamps))


def review_stamp(cue: Cue) -> str:
    """Short name of what a person accepts of a line: its times, its text, and whether it is heard."""
    return f"{line_stamp(cue.interval, cue.text)}-{'heard' if cue.status.heard else 'unheard'}"


def clean_text(text: str) -> str:
    """Text that every script format can carry and give back: nothing that is not seen, no blank lines.

    Lines and the whole are stripped of surrounding space; other characters stay as they are.
    """
    lines = (line.strip() for line in _NO_CHARACTERS.sub("", seen(text)).split("\n"))
    return "\n".join(line for line in lines if line)


def count_words(text: str) -> int:
    """Words as they are budgeted, each with a letter or digit in it: ``- yes, well-known`` has 2."""
    return sum(any(c.isalnum() for c in word) for word in text.split())


@dataclass(frozen=True, slots=True)
class Maker:
    """An engine that took part: at which stage, its name, model and revision."""

    stage: str
    engine: str
    model: str = ""
    revision: str = ""

    def __str__(self) -> str:
        model = " ".join(part for part in (self.model, self.revision) if part)
        return f"{self.stage}: {self.engine}" + (f" ({model})" if model else "")

    @property
    def name(self) -> str:
        """The engine in the words of scripts: without revisions and lists of small models."""
        model = f" ({self.model})" if self.model and "+" not in self.model else ""
        return f"{self.stage}: {self.engine}{model}"


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a machine came to a line: its makers, the hash of its prompts, the seed."""

    makers: tuple[Maker, ...]
    prompt_hash: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Derived:
    """What the machine itself wrote for a line; a person's edit stands beside it."""

    interval: Interval
    text: str
    status: CueStatus
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """A person's hold on a line: what was changed, through which file, and the machine's own version.

    ``machine`` is None where no machine wrote the line.
    """

    fields: tuple[EditField, ...]
    source: str
    machine: Derived | None

    def __post_init__(self) -> None:
        if not self.fields:
            raise ValueError(f"an edit must say what was changed, got fields = () from {quoted(self.source)}")


@dataclass(frozen=True, slots=True)
class Voiced:
    """How a line was last spoken, by which ``voice`` and at which ``speed`` (1: its own pace).

    ``text`` is what was said and ``interval`` when, from the first to the last sound; empty and None where
    the line found no place. ``steps`` say how it was made to fit. ``pause`` are the seconds for which the
    film waits for it (extended AD). ``stamp`` is the `line_stamp` of the cue's own times and text: where they
    have changed since, this is out of date (`Cue.spoken`).
    """

    voice: str
    text: str
    interval: Interval | None
    stamp: str
    speed: float = 1.0
    steps: tuple[str, ...] = ()
    pause: float = 0.0

    def __post_init__(self) -> None:
        if bool(self.text) != (self.interval is not None):
            raise ValueError(
                f"what is spoken has a text and a time, got {quoted(self.text)} at {self.interval}"
            )


@dataclass(frozen=True, slots=True)
class Accepted:
    """Who has read a line and accepted it (``by``: a name, empty where they gave none).

    ``stamp`` is the `review_stamp` of the line that they read: where that has changed since, it is not what
    was accepted (`Cue.state`).
    """

    by: str
    stamp: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """How likely it is that a machine's line says something wrong, from 0 to 1, and what speaks for that, in
    words, the weightiest first. ``stamp`` is the `short_hash` of the text: another text has another doubt
    (`Cue.doubt`)."""

    value: float
    reasons: tuple[str, ...]
    stamp: str

    def __post_init__(self) -> None:
        if not 0 <= self.value <= 1:
            raise ValueError(f"doubt must be a number from 0 to 1, got {self.value}")


@dataclass(frozen=True, slots=True)
class Translation:
    """Which line a cue is the translation of, and what an engine made of it.

    ``line`` is that line, ``text`` its whole translation, before it was cut to fit; empty where none could be
    used. ``terms`` is a hash of all else that can change it: its time, names, settings, the engine.
    ``failures`` is how many runs one after the other found none.
    """

    line: str
    text: str
    terms: str
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Cue:
    """A line with all that is known of it.

    ``interval`` reaches from the start to the spoken end. ``slot_id`` is None for a line that a person
    added; both halves of a split line keep its slot. ``chosen`` counts ``candidates`` from 0. ``edited`` is
    None while the line is the machine's. ``spoken_length`` is in seconds, estimated or measured.
    ``fit_steps`` say how it was made to fit. ``seen_from`` is the second from which the machine's line may
    start so that nothing in it is told before it is seen; None where that is not known. ``doubted`` is
    how sure the machine was of its words. ``translation`` is None for a line of a track in its own language.
    """

    id: str
    slot_id: str | None
    interval: Interval
    text: str
    kind: CueKind = CueKind.ACTION
    language: str = "en"
    status: CueStatus = CueStatus.PLACED
    reason: str = ""
    candidates: tuple[str, ...] = ()
    chosen: int | None = None
    edited: Edit | None = None
    spoken_length: float | None = None
    fit_steps: tuple[str, ...] = ()
    provenance: Provenance | None = None
    voiced: Voiced | None = None
    accepted: Accepted | None = None
    seen_from: float | None = None
    doubted: Doubt | None = None
    translation: Translation | None = None

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ValueError(f"cue id must be s or h and 8 or more digits, got {quoted(self.id)}")
        if not 0 <= milliseconds(self.interval.start) < milliseconds(self.interval.end):
            raise ValueError(
                f"cue {self.id} must last 1 ms or more and not start before 0, got {self.interval}"
            )
        if self.text != clean_text(self.text):
            raise ValueError(f"cue {self.id} text has control characters or blank lines: {quoted(self.text)}")
        if len(self.text) > LONGEST:
            raise ValueError(f"cue {self.id} text has {len(self.text)} characters; {LONGEST} are the most")
        if self.status.heard and not self.text:
            raise ValueError(f"cue {self.id} is {self.status} but has no text")
        if self.seen_from is not None and not abs(self.seen_from) < float("inf"):
            raise ValueError(f"cue {self.id} must be seen from a second of the film, got {self.seen_from}")
        if self.chosen is not None and not 0 <= self.chosen < len(self.candidates):
            raise ValueError(f"cue {self.id} chose {self.chosen} of {len(self.candidates)} candidates")

    @property
    def start(self) -> float:
        """Second at which the line begins."""
        return self.interval.start

    @property
    def end(self) -> float:
        """Second at which its time ends; the line is over by then."""
        return self.interval.end

    @property
    def machine(self) -> Derived | None:
        """The machine's own version: this line itself until a person changes it."""
        if self.edited is not None:
            return self.edited.machine
        return Derived(self.interval, self.text, self.status, self.reason)

    @property
    def heard(self) -> bool:
        """True where the line is spoken."""
        return self.status.heard

    @property
    def doubt(self) -> Doubt | None:
        """How doubtful the line is; None where it is not heard, where a person wrote or accepted it, and
        where no doubt is known."""
        known = self.doubted
        if known is None or known.stamp != short_hash(self.text) or not self.heard:
            return None
        return None if self.state is LineState.ACCEPTED else known

    @property
    def spoken(self) -> Voiced | None:
        """How it was last spoken, if it is still the line that was spoken then."""
        made = self.voiced
        return made if made is not None and made.stamp == line_stamp(self.interval, self.text) else None

    @property
    def review(self) -> Accepted | None:
        """Who accepted the line, if it is still what they read."""
        given = self.accepted
        return given if given is not None and given.stamp == review_stamp(self) else None

    @property
    def state(self) -> LineState:
        """Whose the line is now."""
        if self.review is not None:
            return LineState.ACCEPTED
        return LineState.EDITED if is_changed(self) else LineState.MACHINE


def looks_like_timing(text: str) -> bool:
    """Whether the times of a cue stand in ``text``: ``00:01:02,500 --> 00:01:05,000``, also with an arrow as
    word processors write it. Nobody says that; a reader took the next cue for text."""
    return _TIMING_IN_TEXT.search(text) is not None


def incomplete(name: str, reason: str, if_whole: str = "") -> ScriptError:
    """The error for a script of which the end is missing. ``if_whole``: what to do where it is not."""
    other_way = f" {if_whole}, and try again." if if_whole else ""
    return ScriptError(
        f"{name} is not complete: {reason}. The file was cut off, or its last line was deleted.",
        f"Take the whole file, or export the script again.{other_way}",
    )


def check_count(lines: Sequence[object], name: str) -> None:
    """Raise ScriptError for more than `MOST_LINES` lines."""
    if len(lines) > MOST_LINES:
        raise ScriptError(f"{name} has over {plural(MOST_LINES, 'line')}.", "Is it a script of one film?")


@dataclass(frozen=True, slots=True)
class ScriptCue:
    """A line as a script file carries it. ``id`` is None where the file names none.

    Raises ScriptError for a text of more than `LONGEST` characters, or in which the times of a cue stand.
    """

    id: str | None
    interval: Interval
    text: str

    def __post_init__(self) -> None:
        if len(self.text) > LONGEST:
            raise ScriptError(
                f"The line at {self.interval.start:.3f} s has {len(self.text)} characters; "
                f"at most {LONGEST} are read.",
                "Make several lines of it.",
            )
        if looks_like_timing(self.text):
            raise ScriptError(
                f"The text of the line at {self.interval.start:.3f} s holds what looks like the times of "
                f"another line: {quoted(self.text)}.",
                "Make two lines of it, or take the times out of the text.",
            )


@dataclass(frozen=True, slots=True)
class Sight:
    """When a line may start so that each part of it is told while it is seen: from ``since`` on, and best by
    ``until`` (None: not known), after which something in it is gone before it is told."""

    since: float
    until: float | None = None

    @staticmethod
    def of(parts: Iterable[tuple[int, float, float | None]], seconds_per_word: float) -> Sight | None:
        """That of a line by its parts: for each the words of the line before it, and the seconds from and
        until which it is seen. None without any.

        ``[(0, 12.0, 13.0), (4, 14.0, None)]`` at 0.375 s a word → from 12.5, until 13.0.
        """
        moved = [
            (since - words * seconds_per_word, None if until is None else until - words * seconds_per_word)
            for words, since, until in parts
        ]
        ends = [until for _, until in moved if until is not None]
        return Sight(max(since for since, _ in moved), min(ends, default=None)) if moved else None

    @property
    def best(self) -> float:
        """The second at which the line starts best: at ``since``, or up to `LEAD` before where ``until`` is
        earlier."""
        return self.since if self.until is None else max(self.since - LEAD, min(self.since, self.until))


def spoken_interval(
    slot: Interval, words: int, seconds_per_word: float, sight: Sight | None = None
) -> Interval:
    """From the slot's start to the spoken end, within the slot: 8 words at 0.375 s in [10, 20) → [10, 13).

    With ``sight`` it starts when that is best, or, where the slot ends too soon, up to `LEAD` before:
    → [12, 15) seen from 12 on, [17, 20) from 17.5 on.
    """
    start = slot.start if slot.start >= EARLIEST or slot.end <= 2 * EARLIEST else EARLIEST
    length = max(1, words) * seconds_per_word
    if sight is not None:
        start = max(start, min(sight.best, max(slot.end - length, sight.since - LEAD)))
    return Interval(start, min(slot.end, start + length))


def in_sight(slot: Interval, since: float | None) -> Interval | None:
    """The part of a slot in which a line may be spoken that may start ``since`` then; None where there is
    none."""
    start = slot.start if since is None else max(slot.start, since - LEAD)
    return Interval(start, slot.end) if start < slot.end else None


def hand_id(start: float, taken: Iterable[str] = ()) -> str:
    """An id for a line that a person added: ``83.12 → h00083120``, or the next number that is free."""
    return hand_ids([start], taken)[0]


def hand_ids(starts: Iterable[float], taken: Iterable[str] = ()) -> list[str]:
    """As `hand_id`, for many lines at once, in their order."""
    used = taken if isinstance(taken, set) else set(taken)
    ids: list[str] = []
    # A number that is taken → one behind it from which to look on: thousands of lines may start together.
    following: dict[int, int] = {}
    given: set[int] = set()
    for start in starts:
        number = milliseconds(start)
        passed: list[int] = []
        while number in given or f"h{number:08d}" in used:
            passed.append(number)
            number = following.get(number, number + 1)
        following.update(dict.fromkeys(passed, number + 1))
        given.add(number)
        ids.append(f"h{number:08d}")
    return ids


def is_changed(cue: Cue) -> bool:
    """Whether a person changed the line, and did not only accept it as it was."""
    return cue.edited is not None and set(cue.edited.fields) != {EditField.ACCEPTED}


def mark_edit(cue: Cue, before: Cue | None, fields: tuple[EditField, ...], source: str) -> Cue:
    """``cue`` as a person's, through ``source``; the machine's version is taken over from ``before``."""
    machine = before.machine if before is not None else None
    held = before.edited.fields if before is not None and before.edited is not None else ()
    together = tuple(field for field in EditField if field in (*held, *fields))
    return replace(cue, edited=Edit(together, source, machine))


def accept(cue: Cue, by: str, source: str) -> Cue:
    """The line as read and accepted by a person, through ``source``; from now on it is theirs to keep."""
    # Who changed a line is not forgotten for who accepted it.
    origin = cue.edited.source if cue.edited is not None else source
    held = mark_edit(cue, cue, (EditField.ACCEPTED,), origin)
    return replace(held, accepted=Accepted(by, review_stamp(cue)))


def unaccept(cue: Cue) -> Cue:
    """The line without anybody's acceptance; what a person changed in it stays."""
    if cue.edited is None:
        return replace(cue, accepted=None)
    left = tuple(field for field in cue.edited.fields if field is not EditField.ACCEPTED)
    return replace(cue, accepted=None, edited=replace(cue.edited, fields=left) if left else None)


@dataclass(frozen=True, slots=True)
class Script:
    """What a script file holds.

    ``stamp`` is that of the track it was written from, ``line_stamps`` are those of the lines as they were
    written, by id; both only where the file says so. Import finds by them what a person changed.
    ``frame_rate``: its times stand on frames, so many a second. ``is_proven``: the file shows by itself that
    nothing is missing at its end.
    """

    cues: tuple[ScriptCue, ...]
    stamp: str | None = None
    line_stamps: Mapping[str, str] = field(default_factory=dict)
    frame_rate: Fraction | None = None
    is_proven: bool = False


_CLOCK = re.compile(r"(?:(?P<h>\d+):)?(?P<m>\d{1,2}):(?P<s>\d{1,2})(?:[.,](?P<f>\d+))?")
_SECONDS = re.compile(r"\d+(?:[.,]\d+)?")


def timecode(seconds: float, mark: str = ".") -> str:
    """``83.12 → 00:01:23.120``; ``mark`` parts the milliseconds, a comma in SRT."""
    whole, milli = divmod(milliseconds(seconds), 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{mark}{milli:03d}"


def parse_interval(start: str, end: str, where: str) -> Interval:
    """The time that a script spells out. Raises ScriptError that begins with ``where``."""
    try:
        return Interval(parse_time(start), parse_time(end))
    except ValueError as error:
        raise ScriptError(f"{where}: {error}.", "Correct the times.") from None


def parse_time(text: str) -> float:
    """Seconds from ``00:01:23.120``, ``1:23,12``, ``83.12`` or ``83,12``. Raises ValueError with the text."""
    text = text.strip()
    if match := _CLOCK.fullmatch(text):
        if int(match["s"]) > 59 or (match["h"] is not None and int(match["m"]) > 59):
            raise ValueError(f"{quoted(text)} has over 59 seconds or minutes")
        whole = int(match["h"] or 0) * 3600 + int(match["m"]) * 60 + int(match["s"])
        return float(f"{whole}.{match['f'] or 0}")
    if _SECONDS.fullmatch(text):
        return float(text.replace(",", "."))
    raise ValueError(f"{quoted(text)} is no time such as 00:01:23.120 or 83.12")


_LANGUAGE = re.compile(
    r"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4}|[a-z]{5,8})"
    r"(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?P<variants>(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*)"
    r"(?P<extensions>(?:-[a-wyz\d](?:-[a-z\d]{2,8})+)*)(?:-x(?:-[a-z\d]{1,8})+)?"
    r"|x(?:-[a-z\d]{1,8})+",
    re.IGNORECASE,
)

_OLD_LANGUAGES = re.compile(
    "en-gb-oed|i-(?:ami|bnn|default|enochian|hak|klingon|lux|mingo|navajo|pwn|tao|tay|tsu)|sgn-be-(?:fr|nl)"
    "|sgn-ch-de|art-lojban|cel-gaulish|no-(?:bok|nyn)|zh-(?:guoyu|hakka|min|min-nan|xiang)",
    re.IGNORECASE,
)


def is_language(value: str) -> bool:
    """A well-formed language tag (RFC 5646, 2.1), no variant or singleton twice; case does not matter."""
    match = _LANGUAGE.fullmatch(value)
    if match is None:
        return _OLD_LANGUAGES.fullmatch(value) is not None
    variants = (match["variants"] or "").lower().split("-")[1:]
    singles = [part for part in (match["extensions"] or "").lower().split("-") if len(part) == 1]
    return len(variants) == len(set(variants)) and len(singles) == len(set(singles))


FRAME_RATE: Fraction = Fraction(25)


def nearest_frame(second: float, frame_rate: Fraction) -> int:
    """The number, from 0, of the frame that begins nearest to ``second``."""
    return round(Fraction(second).limit_denominator(1_000_000) * frame_rate)


def on_frames(interval: Interval, frame_rate: Fraction) -> Interval:
    """The interval as a file in frames shows it, a frame long at least: at 25, [1.019, 1.03) is [1, 1.04)."""
    start, end = (nearest_frame(second, frame_rate) for second in (interval.start, interval.end))
    return Interval(float(start / frame_rate), float(max(end, start + 1) / frame_rate))
