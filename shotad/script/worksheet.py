"""What is known of a film's slots and is not said: the material from which a describer writes.

A worksheet has an entry for each slot: its shots, who is in them, texts on the screen, the dialogue around it.
`shotad.description.read_worksheet` fills it from the records of a work folder; the worksheet page, the review
page and the scripts for Word and Excel show it in the same words, which are made here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from shotad.core import Interval, is_english
from shotad.script.cue import Cue, timecode

NO_FILM = "No pictures: the film is not at hand."


@dataclass(frozen=True, slots=True)
class SheetShot:
    """The part of one shot that a slot shows. ``shot`` is its index in the film.

    ``picture`` is the second of the frame that stands for it, just behind its cut or the slot's beginning.
    ``setup`` says how it belongs to the shots before it (``same set-up as shot 4``), empty where that is not
    known.
    """

    shot: int
    start: float
    end: float
    picture: float
    scale: str = ""
    setup: str = ""


@dataclass(frozen=True, slots=True)
class SheetPeople:
    """Who is seen in one shot of a slot: ``known`` by name or letter, and how many other ``faces`` at once."""

    shot: int
    known: tuple[str, ...]
    faces: int = 0


@dataclass(frozen=True, slots=True)
class SheetText:
    """A text on the screen, and the line that would read it out (``offer``)."""

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
    slots in which they are seen.
    """

    called: str
    second: float
    box: tuple[float, float, float, float]
    slots: int


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """One slot, or the time of a line that belongs to none (``max_words`` is None then).

    ``song``: song is likely here. ``before`` and ``after`` are the last and the next lines of dialogue.
    """

    id: str
    start: float
    end: float
    max_words: int | None = None
    credits: bool = False
    song: bool = False
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

    ``missing`` says in sentences what could not be read. ``pictures`` are JPEGs by the second of
    `SheetShot.picture`; ``no_pictures`` says why there are none.
    """

    film: str
    end: float
    entries: tuple[SheetEntry, ...] = ()
    faces: tuple[SheetFace, ...] = ()
    missing: tuple[str, ...] = ()
    pictures: Mapping[float, bytes] = field(default_factory=dict, compare=False)
    no_pictures: str = ""

    def entry_of(self, cue: Cue) -> SheetEntry | None:
        """The entry of a line: that of its slot, else the one of its own id."""
        by_id = {entry.id: entry for entry in self.entries}
        return by_id.get(cue.slot_id or "") or by_id.get(cue.id)

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
    """The line that reads a text out: ``Text reads: "READY."``; in other languages than English the text alone.

    The narrator of the embedded engine words its lines so too.
    """
    words = " ".join(text.split())
    if not is_english(language):
        return words
    ended = words if words.endswith((".", "!", "?", "…")) else f"{words}."
    introduction = {"title": "A title reads", "credit": "A credit reads"}.get(kind, "Text reads")
    return f'{introduction}: "{ended}"'


def is_taken_in(text: SheetText, line: str) -> bool:
    """Whether a line says the words of a text already."""
    return _letters(text.text) in _letters(line)


def with_offer(line: str, text: SheetText) -> str:
    """A line with an offer taken in, behind what it says so far."""
    return f"{line.strip()} {text.offer}".strip()


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def length_words(entry: SheetEntry) -> str:
    """``4.2 s, 12 words fit``."""
    seconds = f"{entry.end - entry.start:.1f} s"
    if entry.max_words is None:
        return seconds
    return f"{seconds}, {entry.max_words} {'word fits' if entry.max_words == 1 else 'words fit'}"


def shot_words(shot: SheetShot) -> str:
    """``Shot 5 from 00:01:12.400: medium, same set-up as shot 3``."""
    known = ", ".join(filter(None, (shot.scale, shot.setup)))
    return f"Shot {shot.shot} from {timecode(shot.start)}" + (f": {known}" if known else "")


def people_words(people: Sequence[SheetPeople]) -> tuple[str, ...]:
    """One text for each shot, those that follow each other with the same people together.

    ``("Shots 4 and 5: Thom, person A and 2 other faces", "Shot 6: 3 faces")``
    """
    groups: list[tuple[list[int], tuple[tuple[str, ...], int]]] = []
    for one in people:
        seen = (one.known, one.faces)
        if groups and groups[-1][1] == seen:
            groups[-1][0].append(one.shot)
        else:
            groups.append(([one.shot], seen))
    texts = []
    for shots, (known, faces) in groups:
        parts = list(known)
        if faces:
            other = "other " if known else ""
            parts.append(f"{faces} {other}{'face' if faces == 1 else 'faces'}")
        texts.append(f"{'Shot' if len(shots) == 1 else 'Shots'} {listed(list(map(str, shots)))}: {listed(parts)}")
    return tuple(texts)


def dialogue_words(line: SheetDialogue) -> str:
    """``00:01:10.200 Anna: Wait for me!``"""
    return f"{timecode(line.start)} {f'{line.speaker}: ' if line.speaker else ''}{' '.join(line.text.split())}"


def mark_words(entry: SheetEntry) -> tuple[str, ...]:
    """What a describer should know before writing a line here at all."""
    marks = []
    if entry.song:
        marks.append("Song likely here: a line is a choice.")
    if entry.credits:
        marks.append("Credits.")
    return tuple(marks)


def listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
