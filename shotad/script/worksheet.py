"""What is known of a film's slots and is not said: the material from which a describer writes.

A worksheet has an entry for each slot: its shots, who is in them, texts on the screen, the dialogue around
it. `shotad.description.read_worksheet` fills it from the records of a work folder; the worksheet page, the
review page and the scripts for Word and Excel show it in the same words, which are made here in the language
that is asked for (`track_texts`). In records shots have their index in the film, which begins at 0; for
people they are counted from 1, as on the review page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from shotad.core import Interval
from shotad.core.types import SlotVoice
from shotad.script.cue import Cue, count_words
from shotad.script.pace import budget_in_language_units, has_blanks
from shotad.script.track_texts import Texts, has_texts, texts_in

_LONGEST_SHOWN = 160
"""Characters of a text that nobody can read out in its slot."""

_PERSON = "person "
"""What stands in records before the letter of somebody who has no name."""


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
    """The line that reads a text out: ``Text reads: "READY."``; the text alone in a language without texts.

    The narrator of the embedded engine words its lines so too.
    """
    words = " ".join(text.split())
    if not has_texts(language):
        return words
    texts = texts_in(language)
    has_ending = words.endswith((".", "!", "?", "…"))
    # English sets the full stop within the quotation marks, where the text may have brought its own.
    quote = texts("quote.last_marked" if has_ending else "quote.last", words=words)
    return texts("line.reads", introduction=reading_introduction(kind, texts), quote=quote)


def reading_introduction(kind: str, texts: Texts) -> str:
    """What stands before text that is read out, by its kind.

    Whether a card has the film's title, a chapter's or a date is not known.
    """
    return texts(f"line.{kind}" if kind in ("title", "credit") else "line.text")


def text_summary(text: SheetText, language: str = "en") -> str:
    """The offer of a text; of one that is too long for that, its beginning and how long it is."""
    if text.offer:
        return text.offer
    texts = texts_in(language)
    words = texts.count("count.words", count_words(text.text))
    return texts("sheet.too_long", kind=texts(f"kind.{text.kind}"), words=words, text=text_beginning(text))


def text_beginning(text: SheetText) -> str:
    """The beginning of a text; all of it if it is short."""
    return text.text if len(text.text) <= _LONGEST_SHOWN else f"{text.text[:_LONGEST_SHOWN].rstrip()} …"


def is_text_read_out(text: SheetText, line: str) -> bool:
    """Whether a line says the words of a text already."""
    return _letters_only(text.text) in _letters_only(line)


def _letters_only(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def slot_length_text(entry: SheetEntry, language: str = "en") -> str:
    """``4.2 s, 12 words fit``; the words, or characters, are those of ``language``."""
    texts = texts_in(language)
    seconds = texts.decimal(entry.end - entry.start)
    if entry.max_words is None:
        return texts("sheet.length", seconds=seconds)
    key = "sheet.words_fit" if has_blanks(language) else "sheet.characters_fit"
    return texts.count(key, budget_in_language_units(language, entry.max_words), seconds=seconds)


def scale_text(shot: SheetShot, language: str = "en") -> str:
    """How near the camera is: ``medium``; empty where that is not known."""
    return texts_in(language)(f"scale.{shot.scale}") if shot.scale else ""


def setup_text(shot: SheetShot, language: str = "en") -> str:
    """How the shot belongs to those before it; empty where that is not known."""
    texts = texts_in(language)
    if shot.same_as is not None:
        return texts("sheet.same_setup", number=shot.same_as + 1)
    return texts("sheet.new_place") if shot.new_place else ""


def shot_text(shot: SheetShot, language: str = "en") -> str:
    """``Shot 5 from 1:12.4: medium, same set-up as shot 3``."""
    texts = texts_in(language)
    text = texts("sheet.shot_from", number=shot.shot + 1, time=short_time(shot.start))
    details = ", ".join(filter(None, (scale_text(shot, language), setup_text(shot, language))))
    return texts("sheet.shot_details", shot=text, details=details) if details else text


def short_time(seconds: float) -> str:
    """To the nearest tenth, as the review page writes it: ``72.43 → 1:12.4``."""
    tenths = round(seconds * 10)
    hours, minutes, tenths_of_minute = tenths // 36_000, tenths // 600 % 60, tenths % 600
    clock = f"{tenths_of_minute // 10:02d}.{tenths_of_minute % 10}"
    return f"{hours}:{minutes:02d}:{clock}" if hours else f"{minutes}:{clock}"


def called_text(called: str, language: str = "en") -> str:
    """What somebody is called: a name as it is, ``person A`` in ``language``."""
    if not called.startswith(_PERSON):
        return called
    return texts_in(language)("sheet.person", letter=called.removeprefix(_PERSON))


def people_lines(people: Sequence[SheetPeople], language: str = "en") -> tuple[str, ...]:
    """Who is seen, one text for each shot; shots in a row with the same people share one.

    ``("Shots 4 and 5: Thom, person A and 2 other faces", "Shot 6: 3 faces")``
    """
    texts = texts_in(language)
    lines = []
    for shots, names, faces in people_by_shots(people):
        parts = [called_text(name, language) for name in names]
        if faces:
            parts.append(texts.count("sheet.other_faces" if names else "sheet.faces", faces))
        shot_numbers = texts.listed([str(shot) for shot in shots])
        people_text = texts.listed(parts)
        lines.append(texts.count("sheet.people_in", len(shots), shots=shot_numbers, people=people_text))
    return tuple(lines)


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


def slot_note(entry: SheetEntry, language: str = "en") -> tuple[str, ...]:
    """What a describer should know before writing a line here at all."""
    texts = texts_in(language)
    marks = []
    if entry.voice is not None:
        marks.append(texts(f"sheet.{entry.voice}"))
    if entry.credits:
        marks.append(texts("sheet.credits"))
    return tuple(marks)


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
