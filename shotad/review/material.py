"""The material of a line on the page: what the worksheet has of its slot, for the page to put into words."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from shotad.core import ShotadError
from shotad.core.errors import ReviewError
from shotad.core.files import read_file
from shotad.description import read_worksheet
from shotad.description.worksheet.page import picture_file
from shotad.description.worksheet.people import find_cast
from shotad.review.session import Session
from shotad.review.session_files import signatures
from shotad.review.work import state_of_cast
from shotad.script import Cue, Worksheet, count_words
from shotad.script.worksheet import (
    SheetDialogue,
    SheetEntry,
    SheetPeople,
    SheetShot,
    SheetText,
    people_by_shots,
    text_beginning,
)

_SOURCES = ("shots.json", "slots.json", "speech.json", "grammar.json", "stage1.jsonl", "faces.jsonl")
"""Records of the work folder from which the worksheet is read, beside those of the cast."""


class MaterialViews:
    """The worksheet of a session's film, read again when a record has changed. Safe in threads."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._kept: tuple[object, Worksheet] | None = None

    def view(self, cue: Cue) -> dict[str, Any] | None:
        """The material of a line as the page shows it; None where nothing can be read."""
        try:
            worksheet = self._worksheet()
        except ShotadError:
            return None
        entry = worksheet.entry_of(cue)
        if entry is None:
            return None
        pictures = [
            {"url": f"/media/moments/{round(second * 1000)}.jpg", "shot": shot.shot + 1, "second": second}
            for shot in entry.shots
            for second in shot.pictures
            if self._session.film.path is not None or self.kept_picture(second) is not None
        ]
        return {
            "marks": _marks(entry),
            "pictures": pictures,
            "lacks_pictures": bool(entry.shots and not pictures),
            "people": _people_view(entry.people),
            "texts": [_text_view(text) for text in entry.texts],
            "shots": [_shot_view(shot) for shot in entry.shots],
            "before": [_dialogue_view(line) for line in entry.before],
            "after": [_dialogue_view(line) for line in entry.after],
        }

    def moment(self, milliseconds: int) -> float:
        """The second of a picture of the worksheet. Raises ReviewError for any other moment."""
        for second in self._worksheet().moments:
            if round(second * 1000) == milliseconds:
                return second
        raise ReviewError("There is no such picture.", "The slots may have changed: load the page again.")

    def kept_picture(self, second: float) -> bytes | None:
        """A picture that the worksheet keeps in the work folder; None where it is not there."""
        with suppress(OSError, ShotadError):
            return read_file(picture_file(self._session.folder, second))
        return None

    def _worksheet(self) -> Worksheet:
        session = self._session
        slots = {slot.id for slot in session.prepared.slots}
        alone = tuple(
            (cue.id, cue.start, cue.end)
            for cue in session.track.heard
            if cue.id not in slots and cue.slot_id not in slots
        )
        with self._lock:
            place = find_cast(session.folder, session.film.path)
            files = tuple(signatures(session.folder / name for name in _SOURCES))
            state = (alone, files, state_of_cast(session.folder, place))
            if self._kept is None or self._kept[0] != state:
                info = session.film if session.film.path is not None else None
                self._kept = (state, read_worksheet(session.folder, session.config, info))
            return self._kept[1]


def _marks(entry: SheetEntry) -> list[str]:
    """What to know before a line is written here: ``song``, ``shout``, ``credits``."""
    marks = [] if entry.voice is None else [entry.voice.value]
    return [*marks, "credits"] if entry.credits else marks


def _people_view(people: Sequence[SheetPeople]) -> list[dict[str, Any]]:
    """Who is seen; shots in a row with the same people share an entry."""
    return [
        {"shots": shots, "known": list(names), "faces": faces}
        for shots, names, faces in people_by_shots(people)
    ]


def _text_view(text: SheetText) -> dict[str, Any]:
    """A text on the screen; for one that is too long to be offered, its length in words and how it begins."""
    return {
        "text": text.text,
        "kind": text.kind,
        "offer": text.offer,
        "words": count_words(text.text),
        "beginning": text_beginning(text),
    }


def _shot_view(shot: SheetShot) -> dict[str, Any]:
    return {
        "number": shot.shot + 1,
        "start": shot.start,
        "scale": shot.scale,
        "same_as": None if shot.same_as is None else shot.same_as + 1,
        "new_place": shot.new_place,
    }


def _dialogue_view(line: SheetDialogue) -> dict[str, Any]:
    return {"start": line.start, "text": " ".join(line.text.split()), "speaker": line.speaker}
