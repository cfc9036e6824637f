"""A cue: one line of audio description, with its times, its origin, and what a person changed.

Also here: a line as a script file has it (`ScriptCue`), and the times of script files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from shotad.core import Interval
from shotad.core.config.sound import LOCAL_VOICES
from shotad.core.errors import ScriptError, quoted
from shotad.core.progress import plural, visible_text

REDO = "redo"
"""Source of edits that a person made by having a slot described again."""

EARLIEST_CUE = 0.1
"""Seconds. No cue starts earlier: players show a cue at 0.000 before they play (rule T6)."""

MAX_LEAD = 1.0
"""Seconds by which a machine's line may begin before what it describes is seen (rule T7)."""

_ID = re.compile(r"[sh]\d{8,}")
"""``s`` for a line of a slot, ``h`` for one added by hand; then its first start in milliseconds."""
_NONCHARACTERS = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")

MAX_TEXT_LENGTH = 5_000
"""Characters of a line at most, five minutes of speech; a longer text is not a line."""

MAX_SCRIPT_LINES = 50_000
"""Lines of a script at most. A film of three hours has 1,500 lines; a list of its shots may have 10,000."""

_CLOCK_IN_TEXT = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
_ARROW = "(?:-{1,3}\\s?>|[–—=]>|[→⇒])"
_TIMING_IN_TEXT = re.compile(rf"{_CLOCK_IN_TEXT}\s*+{_ARROW}\s*+{_CLOCK_IN_TEXT}")


class CueKind(StrEnum):
    """What a line describes: action on the screen, or text on the screen."""

    ACTION = "action"
    TEXT = "text"


class CueStatus(StrEnum):
    """The result for a slot's line. Only placed and shortened lines are spoken."""

    PLACED = "placed"
    SHORTENED = "shortened"
    DROPPED = "dropped"
    FAILED = "failed"
    SILENT = "silent"

    @property
    def heard(self) -> bool:
        """Whether the line is spoken, and so stands in scripts."""
        return self in (CueStatus.PLACED, CueStatus.SHORTENED)


class EditField(StrEnum):
    """What a person did to a line."""

    TEXT = "text"
    TIME = "time"
    STATUS = "status"
    VOICE = "voice"
    ADDED = "added"
    REMOVED = "removed"
    ACCEPTED = "accepted"


class LineState(StrEnum):
    """As the machine wrote it, at first or again; edited by a person; or accepted by one."""

    MACHINE = "machine"
    EDITED = "edited"
    ACCEPTED = "accepted"


def milliseconds(seconds: float) -> int:
    """Seconds as whole milliseconds, in which tracks are written and compared: ``83.1204 → 83120``."""
    return round(seconds * 1000)


def short_hash(text: str) -> str:
    """Eight hex digits that identify a text."""
    # A text may hold half of a surrogate pair, which plain UTF-8 refuses.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


_BREAK_WITHOUT_BLANK = re.compile(
    # Chinese, Japanese, Thai, Lao, Burmese and Khmer separate no words by blanks.
    "(?<=[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\n"
    "(?=[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])"
)


def one_line(text: str) -> str:
    """The text without line breaks, which editors move without changing the line.

    >>> one_line("A dog\\nruns."), one_line("一只狗\\n在跑。")
    ('A dog runs.', '一只狗在跑。')
    """
    return _BREAK_WITHOUT_BLANK.sub("", text).replace("\n", " ") if "\n" in text else text


def line_stamp(interval: Interval, text: str) -> str:
    """Hashes of a line's times (to 1 ms) and of its text (without line breaks): ``1a2b3c4d-5e6f7a8b``."""
    times = f"{milliseconds(interval.start)} {milliseconds(interval.end)}"
    return f"{short_hash(times)}-{short_hash(one_line(text))}"


def track_stamp(line_stamps: Iterable[tuple[str, str]]) -> str:
    """Hash of all lines of a script, from the id and the `line_stamp` of each, in order."""
    return short_hash(" ".join(f"{cue_id} {stamp}" for cue_id, stamp in line_stamps))


def review_stamp(cue: Cue) -> str:
    """Hash of what a person accepts of a line: its times, its text, and whether it is spoken."""
    return f"{line_stamp(cue.interval, cue.text)}-{'heard' if cue.status.heard else 'unheard'}"


def clean_text(text: str) -> str:
    """Text that every script format can write and read back: no invisible characters, no blank lines.

    Each line is stripped of surrounding blanks; other characters stay as they are.
    """
    visible = _NONCHARACTERS.sub("", visible_text(text))
    lines = [line.strip() for line in visible.split("\n")]
    return "\n".join(line for line in lines if line)


def spoken_stamp(text: str) -> str:
    """Hash of the words of a text, without signs and capitals: what a recording of it says.

    >>> spoken_stamp("She runs, fast.") == spoken_stamp("she runs fast")
    True
    """
    words = re.findall(r"\w+(?:['’]\w+)*", text.casefold())
    return short_hash(" ".join(words).replace("’", "'"))


def count_words(text: str) -> int:
    """How many words of a text have a letter or digit: ``- yes, well-known`` has 2."""
    return sum(1 for word in text.split() if _LETTER_OR_DIGIT.search(word))


_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Maker:
    """An engine that took part in a track: the stage, and the engine's name, model and revision."""

    stage: str
    engine: str
    model: str = ""
    revision: str = ""

    def __str__(self) -> str:
        model = " ".join(part for part in (self.model, self.revision) if part)
        return f"{self.stage}: {self.engine}" + (f" ({model})" if model else "")

    @property
    def name(self) -> str:
        """The engine as scripts name it: without revisions and lists of small models."""
        return self.name_with(self.stage)

    def name_with(self, stage: str) -> str:
        """As `name`, with what another language calls the ``stage``."""
        # A model with a plus is a list of several.
        model = f" ({self.model})" if self.model and "+" not in self.model else ""
        return f"{stage}: {self.engine}{model}"


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a machine made a line: its engines, the hash of its prompts, the seed."""

    makers: tuple[Maker, ...]
    prompt_hash: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Derived:
    """The machine's version of a line, kept beside a person's edit."""

    interval: Interval
    text: str
    status: CueStatus
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """A person's edit of a line: what was changed, through which file, and the machine's version.

    ``machine`` is None where no machine wrote the line.
    """

    fields: tuple[EditField, ...]
    source: str
    machine: Derived | None

    def __post_init__(self) -> None:
        if not self.fields:
            raise ValueError(f"an edit must say what was changed, got fields = () from {quoted(self.source)}")


@dataclass(frozen=True, slots=True)
class SpokenTake:
    """How a line was last spoken, by which ``voice`` and at which ``speed`` (1: unchanged).

    ``text`` is the spoken text and ``interval`` its time, from the first to the last sound; empty and None
    where the line did not fit. ``steps`` say how it was made to fit. ``pause`` are the seconds for which the
    film stops for it (extended AD). ``stamp`` is the `line_stamp` of the cue at that time: where the cue has
    changed since, this is out of date (`Cue.spoken`).
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


_RECORDING_FILE = re.compile(r"[sh]\d{8,}-[0-9a-f]{8}-[0-9a-f]{16}\.flac")
"""Line, `spoken_stamp` of its text, and hash of the sound."""

MIN_PACE, MAX_PACE = 0.5, 2.0
"""Times the film's pace at which one line may be spoken."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A person's own recording of a line.

    ``file`` is its name in the folder of recordings, ``seconds`` its length. ``stamp`` is the `spoken_stamp`
    of the text that was read: where the line has other words now, the recording is not used
    (`Cue.recording`).
    """

    file: str
    stamp: str
    seconds: float

    def __post_init__(self) -> None:
        # Files are opened by this name: a track from elsewhere must not lead to another folder.
        if not _RECORDING_FILE.fullmatch(self.file):
            raise ValueError(f"a recording has a name like s00083120-…-….flac, got {quoted(self.file)}")
        if not 0 < self.seconds < float("inf"):
            raise ValueError(f"a recording must last, got {self.seconds} s")


@dataclass(frozen=True, slots=True)
class Accepted:
    """A person's acceptance of a line (``by``: their name, empty where they gave none).

    ``stamp`` is the `review_stamp` of the line that they read: where the line has changed since, it counts
    as not accepted (`Cue.state`).
    """

    by: str
    stamp: str


MAX_NOTE_LENGTH = 2_000
"""Characters of a note at most."""


@dataclass(frozen=True, slots=True)
class LineNote:
    """What a person wants a colleague to know of a line. It is never spoken.

    ``by`` is the name of the person, empty where it is not known. Raises ValueError for a note without words,
    or of more than `MAX_NOTE_LENGTH` characters.
    """

    text: str
    by: str = ""

    def __post_init__(self) -> None:
        if not self.text or self.text != clean_text(self.text):
            raise ValueError(f"a note must be words without control characters, got {quoted(self.text)}")
        if len(self.text) > MAX_NOTE_LENGTH:
            raise ValueError(f"a note has {len(self.text)} characters; {MAX_NOTE_LENGTH} are the most")

    @staticmethod
    def of(text: str, by: str = "") -> LineNote | None:
        """The note with this text, cleaned; None where it has no words."""
        cleaned = clean_text(text)
        return LineNote(cleaned, clean_text(by).replace("\n", " ")) if cleaned else None

    def joined(self, other: LineNote) -> LineNote:
        """Both notes as one; the other alone where it contains this one already."""
        if self.text in other.text:
            return replace(other, by=other.by or self.by)
        names = dict.fromkeys(name for name in (self.by, other.by) if name)
        return LineNote(f"{self.text}\n{other.text}"[:MAX_NOTE_LENGTH].strip(), ", ".join(names))


@dataclass(frozen=True, slots=True)
class Doubt:
    """How likely it is that a machine's line is wrong, from 0 to 1.

    ``reasons`` are sentences, the most important first. ``stamp`` is the `short_hash` of the text: where the
    text has changed since, the doubt does not apply (`Cue.doubt`).
    """

    value: float
    reasons: tuple[str, ...]
    stamp: str

    def __post_init__(self) -> None:
        if not 0 <= self.value <= 1:
            raise ValueError(f"doubt must be a number from 0 to 1, got {self.value}")


@dataclass(frozen=True, slots=True)
class Translation:
    """The source line of a translated cue, and the engine's translation.

    ``line`` is the source line, ``text`` its whole translation before it was shortened to fit; empty where no
    answer could be used. ``terms`` is a hash of all else that the translation depends on: time, names,
    settings, the engine. ``failures`` counts the runs in a row without a usable answer.
    """

    line: str
    text: str
    terms: str
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Cue:
    """One line of audio description. Raises ValueError for values that contradict each other.

    Attributes:
        id: ``s`` (of a slot) or ``h`` (added by hand), then the first start in milliseconds: ``s00083120``.
        slot_id: The slot. None for a line that a person added; both halves of a split line keep its slot.
        interval: From the start to the spoken end, in seconds of the film.
        text: The words. Empty where nothing is spoken.
        kind: ``action``, or ``text`` for text on the screen.
        language: Language tag, such as ``en``.
        status: ``placed``, ``shortened``, ``dropped``, ``failed`` or ``silent``. The first two are spoken.
        reason: Why the line has this status, in words.
        candidates: The texts to choose from.
        chosen: Position of ``text`` in ``candidates``, from 0. None: it is none of them.
        edited: A person's edit. None while the line is the machine's.
        spoken_length: Length of the spoken line in seconds, estimated or measured.
        fit_steps: How the line was made to fit, in words.
        provenance: The engines, prompts and seed that made the line.
        stored_take: How the line was last spoken, as it was then. `spoken` is None where it no longer holds.
        accepted: Who accepted the line. `review` is None where that is out of date.
        seen_from: Earliest second at which the line may start, so that it describes nothing before it is
            seen. None: not known.
        stored_doubt: The machine's doubt, as it was then. `doubt` is None where it does not apply any more.
        translation: The source line. None for a line of a track that is no translation.
        voice: The voice that speaks this line, as ``shotad voices`` names it. Empty: the film's.
        pace: How many times the film's pace this line is spoken at.
        stored_recording: A person's recording of the line. `recording` is None where it is of other words.
        note: A note to a colleague. None: there is none.
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
    stored_take: SpokenTake | None = None
    accepted: Accepted | None = None
    seen_from: float | None = None
    stored_doubt: Doubt | None = None
    translation: Translation | None = None
    voice: str = ""
    pace: float = 1.0
    stored_recording: Recording | None = None
    note: LineNote | None = None

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ValueError(f"cue id must be s or h and 8 or more digits, got {quoted(self.id)}")
        if not 0 <= milliseconds(self.interval.start) < milliseconds(self.interval.end):
            raise ValueError(
                f"cue {self.id} must last 1 ms or more and not start before 0, got {self.interval}"
            )
        if self.text != clean_text(self.text):
            raise ValueError(f"cue {self.id} text has control characters or blank lines: {quoted(self.text)}")
        if len(self.text) > MAX_TEXT_LENGTH:
            length = len(self.text)
            raise ValueError(f"cue {self.id} text has {length} characters; {MAX_TEXT_LENGTH} are the most")
        if self.status.heard and not self.text:
            raise ValueError(f"cue {self.id} is {self.status} but has no text")
        if self.seen_from is not None and not abs(self.seen_from) < float("inf"):
            raise ValueError(f"cue {self.id} must be seen from a second of the film, got {self.seen_from}")
        if self.chosen is not None and not 0 <= self.chosen < len(self.candidates):
            raise ValueError(f"cue {self.id} chose {self.chosen} of {len(self.candidates)} candidates")
        # A track travels with its film, and must not choose a voice that sends the lines away.
        if self.voice and not re.fullmatch(LOCAL_VOICES, self.voice):
            raise ValueError(f"cue {self.id} has a voice that is not of this machine: {quoted(self.voice)}")
        if not MIN_PACE <= self.pace <= MAX_PACE:
            raise ValueError(f"cue {self.id} must have a pace of {MIN_PACE} to {MAX_PACE}, got {self.pace}")

    @property
    def start(self) -> float:
        """Second at which the line begins."""
        return self.interval.start

    @property
    def end(self) -> float:
        """Second by which the line is over."""
        return self.interval.end

    @property
    def machine(self) -> Derived | None:
        """The machine's version: this line itself until a person changes it; None where there is none."""
        if self.edited is not None:
            return self.edited.machine
        return Derived(self.interval, self.text, self.status, self.reason)

    @property
    def heard(self) -> bool:
        """Whether the line is spoken."""
        return self.status.heard

    @property
    def doubt(self) -> Doubt | None:
        """The doubt about the text as it is; None where the line is not spoken, where a person wrote or
        accepted it, and where no doubt is known."""
        doubt = self.stored_doubt
        if doubt is None or doubt.stamp != short_hash(self.text) or not self.heard:
            return None
        return None if self.state is LineState.ACCEPTED else doubt

    @property
    def spoken(self) -> SpokenTake | None:
        """How the line was last spoken; None where its times or text have changed since."""
        if self.stored_take is None or self.stored_take.stamp != line_stamp(self.interval, self.text):
            return None
        return self.stored_take

    @property
    def recording(self) -> Recording | None:
        """A person's recording of the line; None where there is none, or the line has other words now."""
        recording = self.stored_recording
        return None if recording is None or recording.stamp != spoken_stamp(self.text) else recording

    @property
    def review(self) -> Accepted | None:
        """Who accepted the line; None where it has changed since."""
        if self.accepted is None or self.accepted.stamp != review_stamp(self):
            return None
        return self.accepted

    @property
    def state(self) -> LineState:
        """The machine's, edited or accepted, as the line is now.

        A line that the machine described again is the machine's, although later runs keep it.
        """
        if self.review is not None:
            return LineState.ACCEPTED
        is_redone = self.edited is not None and self.edited.source == REDO
        return LineState.EDITED if is_changed(self) and not is_redone else LineState.MACHINE


def looks_like_timing(text: str) -> bool:
    """Whether ``text`` contains the times of a cue: ``00:01:02,500 --> 00:01:05,000``.

    Arrows as word processors write them count too. Nobody says that: a reader took the next cue for text.
    """
    return _TIMING_IN_TEXT.search(text) is not None


def incomplete_error(name: str, reason: str, if_whole: str = "") -> ScriptError:
    """The error for a script whose end is missing. ``if_whole``: what to do if nothing is missing."""
    alternative = f" {if_whole}, and try again." if if_whole else ""
    return ScriptError(
        f"{name} is not complete: {reason}. The file was cut off, or its last line was deleted.",
        f"Take the whole file, or export the script again.{alternative}",
    )


def check_line_count(lines: Sequence[object], name: str) -> None:
    """Raise ScriptError for more than `MAX_SCRIPT_LINES` lines."""
    if len(lines) > MAX_SCRIPT_LINES:
        message = f"{name} has over {plural(MAX_SCRIPT_LINES, 'line')}."
        raise ScriptError(message, "Is it a script of one film?")


@dataclass(frozen=True, slots=True)
class ScriptCue:
    """A line as a script file has it. ``id`` is None where the file gives none.

    ``note`` is a note to a colleague, empty where there is none. Raises ScriptError for a text of more than
    `MAX_TEXT_LENGTH` characters, or one that contains the times of a cue, and for a note that is too long.
    """

    id: str | None
    interval: Interval
    text: str
    note: str = ""

    def __post_init__(self) -> None:
        if len(self.note) > MAX_NOTE_LENGTH:
            raise ScriptError(
                f"The note at {self.interval.start:.3f} s has {len(self.note)} characters; "
                f"at most {MAX_NOTE_LENGTH} are read.",
                "Shorten it.",
            )
        if len(self.text) > MAX_TEXT_LENGTH:
            raise ScriptError(
                f"The line at {self.interval.start:.3f} s has {len(self.text)} characters; "
                f"at most {MAX_TEXT_LENGTH} are read.",
                "Make several lines of it.",
            )
        if looks_like_timing(self.text):
            raise ScriptError(
                f"The text of the line at {self.interval.start:.3f} s holds what looks like the times of "
                f"another line: {quoted(self.text)}.",
                "Make two lines of it, or take the times out of the text.",
            )


@dataclass(frozen=True, slots=True)
class VisibleTime:
    """When a line may start so that everything in it is spoken while it is seen.

    Seconds: from ``since`` on, and best before ``until`` (None: not known). If it starts later, something in
    it has gone from the picture before it is spoken.
    """

    since: float
    until: float | None = None

    @staticmethod
    def of(parts: Iterable[tuple[int, float, float | None]], seconds_per_word: float) -> VisibleTime | None:
        """The visible time of a line from its parts; None for a line without any.

        A part is the number of words of the line before it, and the seconds from and until which it is seen.
        ``[(0, 12.0, 13.0), (4, 14.0, None)]`` at 0.375 s a word → from 12.5, until 13.0.
        """
        earliest_starts: list[float] = []
        latest_starts: list[float] = []
        for words_before, seen_since, seen_until in parts:
            # The line starts this long before it comes to the part.
            delay = words_before * seconds_per_word
            earliest_starts.append(seen_since - delay)
            if seen_until is not None:
                latest_starts.append(seen_until - delay)
        if not earliest_starts:
            return None
        return VisibleTime(max(earliest_starts), min(latest_starts, default=None))

    @property
    def best(self) -> float:
        """The best second to start: ``since``, or up to `MAX_LEAD` before it where ``until`` is earlier."""
        if self.until is None:
            return self.since
        return max(self.since - MAX_LEAD, min(self.since, self.until))


def spoken_interval(
    slot: Interval, words: int, seconds_per_word: float, sight: VisibleTime | None = None
) -> Interval:
    """The time of a line of ``words`` words in a slot: 8 words at 0.375 s in [10, 20) → [10, 13).

    It ends with the slot at the latest. With ``sight`` it starts at `VisibleTime.best`, or, where the slot
    ends too soon for that, up to `MAX_LEAD` before: → [12, 15) seen from 12 on, [17, 20) from 17.5 on.
    """
    is_too_short = slot.end <= 2 * EARLIEST_CUE
    start = slot.start if slot.start >= EARLIEST_CUE or is_too_short else EARLIEST_CUE
    length = max(1, words) * seconds_per_word
    if sight is not None:
        last_start = max(slot.end - length, sight.since - MAX_LEAD)
        start = max(start, min(sight.best, last_start))
    return Interval(start, min(slot.end, start + length))


def visible_part(slot: Interval, since: float | None) -> Interval | None:
    """The part of a slot for a line that describes what is seen from second ``since`` on (None: the whole
    slot); None where the slot ends before."""
    start = slot.start if since is None else max(slot.start, since - MAX_LEAD)
    return Interval(start, slot.end) if start < slot.end else None


def hand_id(start: float, taken: Iterable[str] = ()) -> str:
    """An id for a line added by hand, from its start: ``83.12 → h00083120``, or the next free number."""
    return hand_ids([start], taken)[0]


def hand_ids(starts: Iterable[float], taken: Iterable[str] = ()) -> list[str]:
    """As `hand_id`, for many lines at once, in their order."""
    taken_ids = taken if isinstance(taken, set) else set(taken)
    ids: list[str] = []
    # From a number that is in use to where the search goes on: thousands of lines may start together, and
    # would try all numbers in between one by one.
    next_to_try: dict[int, int] = {}
    new_numbers: set[int] = set()
    for start in starts:
        number = milliseconds(start)
        tried: list[int] = []
        while number in new_numbers or f"h{number:08d}" in taken_ids:
            tried.append(number)
            number = next_to_try.get(number, number + 1)
        next_to_try.update(dict.fromkeys(tried, number + 1))
        new_numbers.add(number)
        ids.append(f"h{number:08d}")
    return ids


def is_changed(cue: Cue) -> bool:
    """Whether a person changed the line; accepting it is no change."""
    return cue.edited is not None and set(cue.edited.fields) != {EditField.ACCEPTED}


def mark_edit(cue: Cue, before: Cue | None, fields: tuple[EditField, ...], source: str) -> Cue:
    """``cue`` marked as edited by a person through ``source``.

    ``fields`` are added to those edited in ``before``, the line before the edit, and the machine's version
    is taken from there; None where the line is new.
    """
    machine = before.machine if before is not None else None
    fields_before = before.edited.fields if before is not None and before.edited is not None else ()
    all_fields = tuple(field for field in EditField if field in (*fields_before, *fields))
    return replace(cue, edited=Edit(all_fields, source, machine))


def accept(cue: Cue, by: str, source: str) -> Cue:
    """The line as accepted by the person called ``by``, through ``source``; later runs keep it."""
    # The source of an earlier edit stays: accepting a line does not change where its text came from.
    edit_source = cue.edited.source if cue.edited is not None else source
    edited = mark_edit(cue, cue, (EditField.ACCEPTED,), edit_source)
    return replace(edited, accepted=Accepted(by, review_stamp(cue)))


def unaccept(cue: Cue) -> Cue:
    """The line accepted by nobody; other edits of it stay."""
    if cue.edited is None:
        return replace(cue, accepted=None)
    other_fields = tuple(field for field in cue.edited.fields if field is not EditField.ACCEPTED)
    # An edit must have a field.
    edited = replace(cue.edited, fields=other_fields) if other_fields else None
    return replace(cue, accepted=None, edited=edited)


@dataclass(frozen=True, slots=True)
class Script:
    """The content of a script file.

    ``stamp`` is that of the track it was written from, ``line_stamps`` are those of the lines as they were
    written, by id; both only where the file has them. Import detects by them what a person changed.
    ``frame_rate``: frames a second of a file that counts in frames. ``is_proven``: the format or a mark in
    the file shows that nothing is missing at its end.
    """

    cues: tuple[ScriptCue, ...]
    stamp: str | None = None
    line_stamps: Mapping[str, str] = field(default_factory=dict)
    frame_rate: Fraction | None = None
    is_proven: bool = False


_CLOCK = re.compile(r"(?:(?P<h>\d+):)?(?P<m>\d{1,2}):(?P<s>\d{1,2})(?:[.,](?P<f>\d+))?")
_SECONDS = re.compile(r"\d+(?:[.,]\d+)?")


def timecode(seconds: float, mark: str = ".") -> str:
    """``83.12 → 00:01:23.120``; ``mark`` stands before the milliseconds, a comma in SRT."""
    whole_seconds, thousandths = divmod(milliseconds(seconds), 1000)
    hours, minutes = whole_seconds // 3600, whole_seconds // 60 % 60
    return f"{hours:02d}:{minutes:02d}:{whole_seconds % 60:02d}{mark}{thousandths:03d}"


def parse_interval(start: str, end: str, where: str) -> Interval:
    """The interval between two times as a script writes them. Raises ScriptError that begins with
    ``where``."""
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
        whole_seconds = int(match["h"] or 0) * 3600 + int(match["m"]) * 60 + int(match["s"])
        # As a decimal, not a sum: the nearest float to what stands in the text.
        return float(f"{whole_seconds}.{match['f'] or 0}")
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

_GRANDFATHERED_TAGS = re.compile(
    "en-gb-oed|i-(?:ami|bnn|default|enochian|hak|klingon|lux|mingo|navajo|pwn|tao|tay|tsu)|sgn-be-(?:fr|nl)"
    "|sgn-ch-de|art-lojban|cel-gaulish|no-(?:bok|nyn)|zh-(?:guoyu|hakka|min|min-nan|xiang)",
    re.IGNORECASE,
)


def is_language(value: str) -> bool:
    """Whether ``value`` is a well-formed language tag (RFC 5646, 2.1), in any case, with no variant or
    singleton twice."""
    match = _LANGUAGE.fullmatch(value)
    if match is None:
        return _GRANDFATHERED_TAGS.fullmatch(value) is not None
    variants = (match["variants"] or "").lower().split("-")[1:]
    extension_parts = (match["extensions"] or "").lower().split("-")
    singletons = [part for part in extension_parts if len(part) == 1]
    return len(variants) == len(set(variants)) and len(singletons) == len(set(singletons))


DEFAULT_FRAME_RATE: Fraction = Fraction(25)
"""Frames a second where a format counts in frames and nothing names the rate."""


def nearest_frame(second: float, frame_rate: Fraction) -> int:
    """The number, from 0, of the frame that begins nearest to ``second``."""
    return round(Fraction(second).limit_denominator(1_000_000) * frame_rate)


def on_frames(interval: Interval, frame_rate: Fraction) -> Interval:
    """The interval rounded to frames, a frame long at least: at 25 a second, [1.019, 1.03) is [1, 1.04)."""
    first_frame = nearest_frame(interval.start, frame_rate)
    end_frame = max(nearest_frame(interval.end, frame_rate), first_frame + 1)
    return Interval(float(first_frame / frame_rate), float(end_frame / frame_rate))
