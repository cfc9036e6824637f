"""What is known of a film's slots and is not said: the material from which a describer writes.

A worksheet has an entry for each slot: its shots, who is in them, texts on the screen, the dialogue around
it. `shotad.description.read_worksheet` fills it from the records of a work folder; the worksheet page, the
review page and the scripts for Word and Excel show it in the same words, which are made here. In records
shots have their index in the film, which begins at 0; for people they are counted from 1, as on the review
page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from shotad.core import Interval
from shotad.core.config.languages import is_english
from shotad.core.types import SlotVoice
from shotad.script.cue import Cue, count_words

_LONGEST_SHOWN = 160
"""Characters of a text that nobody can read out in its slot."""

INTRODUCTIONS = {"title": "Words appear", "credit": "A credit reads"}
"""What stands before text that is read out, by its kind; before all others "Text reads". Whether a card has
the film's title, a chapter's or a date is not known."""

NO_FILM = "No pictures: the film is not at hand."
SOME_PICTURES = "Some pictures are missing: the film is not at hand."


@dataclass(frozen=True, slots=True)
class SheetShot:
    """The part of one shot that a slot shows. ``shot`` is its index in the film.

    ``pictures`` are the seconds of the frames that stand for it: one just behind its cut or the slot's
    beginning, of a long part some more. ``same_as`` is the last earlier shot of the same camera set-up;
    ``new_place``: the film may be in another place from here on.
    """

    shot: int
    start: float
    end: float
    pictures: tuple[float, ...]
    scale: str = ""
    same_as: int | None = None
    new_place: bool = False

    @property
    def setup(self) -> str:
        """How the shot belongs to those before it, in words; empty where that is not known."""
        if self.same_as is not None:
            return f"same set-up as shot {self.same_as + 1}"
        return "perhaps a new place: no set-up from before comes back" if self.new_place else ""


@dataclass(frozen=True, slots=True)
class SheetPeople:
    """Who is seen in one shot of a slot: ``known`` by name or letter, and how many other ``faces``."""

    shot: int
    known: tuple[str, ...]
    faces: int = 0


@dataclass(frozen=True, slots=True)
class SheetText:
    """A text on the screen, and the line that would read it out: ``offer``, empty where it is too long."""

    shot: int
    text: str
    kind: str
    first: float
    last: float
    offer: str


@dataclass(frozen=True, slots=True)
class SheetDialogue:
    """A line of the film's own dialogue near a slot; ``speaker`` is empty where the subtitles name nobody."""

    start: float
    end: float
    text: str
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class SheetFace:
    """Somebody who has a letter instead of a name, and where a picture of the face can be cut from the film.

    ``box`` is left, top, right and bottom as fractions of the picture at ``second``; ``slots`` counts the
    slots in which they are seen. ``cast_id`` is theirs in the cast, if they are in it.
    """

    called: str
    second: float
    box: tuple[float, float, float, float]
    slots: int
    cast_id: str = ""


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """One slot, or the time of a line that belongs to none (``max_words`` is None then).

    ``voice``: whose voice is likely heard here. ``before`` and ``after`` are the last and the next lines of
    dialogue.
    """

    id: str
    start: float
    end: float
    max_words: int | None = None
    credits: bool = False
    voice: SlotVoice | None = None
    shots: tuple[SheetShot, ...] = ()
    people: tuple[SheetPeople, ...] = ()
    texts: tuple[SheetText, ...] = ()
    before: tuple[SheetDialogue, ...] = ()
    after: tuple[SheetDialogue, ...] = ()

    @property
    def interval(self) -> Interval:
        return Interval(self.start, self.end)


@dataclass(frozen=True)
class Worksheet:
    """The entries of a film in order of time.

    ``missing`` says in sentences what could not be read. ``pictures`` are JPEGs by the seconds of
    `SheetShot.pictures`; ``no_pictures`` says why some or all are missing.
    """

    film: str
    end: float
    entries: tuple[SheetEntry, ...] = ()
    faces: tuple[SheetFace, ...] = ()
    missing: tuple[str, ...] = ()
    pictures: Mapping[float, bytes] = field(default_factory=dict, compare=False)
    no_pictures: str = ""

    @cached_property
    def _by_id(self) -> Mapping[str, SheetEntry]:
        return {entry.id: entry for entry in self.entries}

    def entry_of(self, cue: Cue) -> SheetEntry | None:
        """The entry of a line: that of its slot, else the one of its own id."""
        return self._by_id.get(cue.slot_id or "") or self._by_id.get(cue.id)

    @property
    def moments(self) -> list[float]:
        """The seconds of all pictures of slots, ascending."""
        return sorted({second for entry in self.entries for shot in entry.shots for second in shot.pictures})

    @property
    def in_one_reading(self) -> tuple[SheetEntry, ...]:
        """The entries for reading them in order: each line of dialogue stands once, at its nearest slot."""
        shown_starts: set[float] = set()
        entries = []
        followers = [*self.entries[1:], None] if self.entries else []
        for entry, following in zip(self.entries, followers, strict=True):
            until = math.inf if following is None else following.start
            before = tuple(line for line in entry.before if line.start not in shown_starts)
            after = tuple(line for line in entry.after if line.start < until)
            shown_starts |= {line.start for line in (*before, *after)}
            entries.append(replace(entry, before=before, after=after))
        return tuple(entries)

    def to_json(self) -> dict[str, Any]:
        """The content of ``material.json``: all but the pictures."""
        return {
            "film": self.film,
            "end": self.end,
            "slots": [asdict(entry) for entry in self.entries],
            "faces": [asdict(face) for face in self.faces],
            "missing": list(self.missing),
        }


def text_offer(text: str, kind: str, language: str) -> str:
    """The line that reads a text out: ``Text reads: "READY."``; in other languages the text alone.

    The narrator of the embedded engine words its lines so too.
    """
    words = " ".join(text.split())
    if not is_english(language):
        return words
    ended = words if words.endswith((".", "!", "?", "…")) else f"{words}."
    return f'{INTRODUCTIONS.get(kind, "Text reads")}: "{ended}"'


def text_summary(text: SheetText) -> str:
    """The offer of a text; of one that is too long for that, its beginning and how long it is."""
    if text.offer:
        return text.offer
    words = count_words(text.text)
    return f"{text.kind.capitalize()}, {words} words, too long to read out here: {text_beginning(text)}"


def text_beginning(text: SheetText) -> str:
    """The beginning of a text; all of it if it is short."""
    return text.text if len(text.text) <= _LONGEST_SHOWN else f"{text.text[:_LONGEST_SHOWN].rstrip()} …"


def is_text_read_out(text: SheetText, line: str) -> bool:
    """Whether a line says the words of a text already."""
    return _letters_only(text.text) in _letters_only(line)


def _letters_only(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def slot_length_text(entry: SheetEntry) -> str:
    """``4.2 s, 12 words fit``."""
    seconds = f"{entry.end - entry.start:.1f} s"
    if entry.max_words is None:
        return seconds
    return f"{seconds}, {entry.max_words} {'word fits' if entry.max_words == 1 else 'words fit'}"


def shot_text(shot: SheetShot) -> str:
    """``Shot 5 from 1:12.4: medium, same set-up as shot 3``."""
    details = ", ".join(filter(None, (shot.scale, shot.setup)))
    return f"Shot {shot.shot + 1} from {short_time(shot.start)}" + (f": {details}" if details else "")


def short_time(seconds: float) -> str:
    """To the nearest tenth, as the review page writes it: ``72.43 → 1:12.4``."""
    tenths = round(seconds * 10)
    hours, minutes, tenths_of_minute = tenths // 36_000, tenths // 600 % 60, tenths % 600
    clock = f"{tenths_of_minute // 10:02d}.{tenths_of_minute % 10}"
    return f"{hours}:{minutes:02d}:{clock}" if hours else f"{minutes}:{clock}"


def people_lines(people: Sequence[SheetPeople]) -> tuple[str, ...]:
    """Who is seen, one text for each shot; shots in a row with the same people share one.

    ``("Shots 4 and 5: Thom, person A and 2 other faces", "Shot 6: 3 faces")``
    """
    texts = []
    for shots, names, faces in people_by_shots(people):
        parts = list(names)
        if faces:
            other = "other " if names else ""
            parts.append(f"{faces} {other}{'face' if faces == 1 else 'faces'}")
        noun = "Shot" if len(shots) == 1 else "Shots"
        numbers = [str(shot) for shot in shots]
        texts.append(f"{noun} {listed(numbers)}: {listed(parts)}")
    return tuple(texts)


def people_by_shots(people: Sequence[SheetPeople]) -> list[tuple[list[int], tuple[str, ...], int]]:
    """Numbers (from 1) of shots in a row with the same people, who is known there, how many faces are not."""
    groups: list[tuple[list[int], tuple[str, ...], int]] = []
    for people_of_shot in people:
        number, known, faces = people_of_shot.shot + 1, people_of_shot.known, people_of_shot.faces
        if groups and groups[-1][1:] == (known, faces):
            groups[-1][0].append(number)
        else:
            groups.append(([number], known, faces))
    return groups


def dialogue_text(line: SheetDialogue) -> str:
    """``1:10.2 Anna: Wait for me!``"""
    speaker = f"{line.speaker}: " if line.speaker else ""
    words = " ".join(line.text.split())
    return f"{short_time(line.start)} {speaker}{words}"


def slot_note(entry: SheetEntry) -> tuple[str, ...]:
    """What a describer should know before writing a line here at all."""
    marks = []
    if entry.voice is not None:
        words = entry.voice.words
        marks.append(f"{words[0].upper()}{words[1:]}: a line is a choice.")
    if entry.credits:
        marks.append("Credits.")
    return tuple(marks)


def listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def entries_by_cue(
    sheet: Worksheet | None, cues: Sequence[Cue], *, each_once: bool = False
) -> dict[str, SheetEntry]:
    """The entry of each line that has one, by the line's id; ``each_once`` as `Worksheet.in_one_reading`."""
    if sheet is None:
        return {}
    entries = {entry.id: entry for entry in (sheet.in_one_reading if each_once else sheet.entries)}
    entry_of_cue = {}
    for cue in cues:
        entry = sheet.entry_of(cue)
        if entry is not None:
            entry_of_cue[cue.id] = entries[entry.id]
    return entry_of_cue
