"""The people who were marked on a slot's frames, found again: whose faces stand in ``characters.json``, where
they are in ``faces.jsonl``.

Only what the records agree on: a face whose track is in none of them any more (``shotad cast
forget``, another cast since) has no outline.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from shotad.core import NOBODY, Character, Mark, Presence, Sighting, parse_json
from shotad.description import CHARACTERS, FACES
from shotad.film import COLOURS
from shotad.review.kinds import FrameNote
from shotad.sight import FaceTrack, from_row

SAME = 1e-5
"""Seconds by which records round."""

ALIKE = 0.5
"""Overlap (intersection over union) above which two boxes of one moment are of one face."""

_MARK = re.compile(r"(?:(dashed|double) )?(\w+)(?:, tagged (\w+))?")
_BROKEN = (KeyError, ValueError, TypeError, AttributeError, IndexError)

T = TypeVar("T")

Tracks = tuple[FaceTrack, ...]
Triple = tuple[float, float, int]
"""By which ``characters.json`` tells a track: its first and last second, and its number of looks."""


class Outlines:
    """Whose faces are where, as one run has seen it; thread-safe. Files are read again when they change."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        self._named = _File(folder / f"{CHARACTERS}.json", _named)
        self._faces = _File(folder / f"{FACES}.jsonl", _faces)

    def on(self, note: FrameNote, marks: Mapping[str, str], *, newest: bool = False) -> Presence:
        """Those who have one of ``marks`` (in words, by id) and are on a frame.

        ``newest``: the faces are those that were looked for last, by a redo; else those of the run.
        """
        known = {name: mark for name, words in marks.items() if (mark := mark_of(words)) is not None}
        if not known:
            return NOBODY
        try:
            with self._lock:
                found = list(self._sightings(note, known, newest))
        except (OSError, *_BROKEN):
            return NOBODY
        names = dict.fromkeys(one.name for one in found)
        cast = tuple(Character(name, name, name) for name in names)
        return Presence(cast, tuple(names), (), {name: known[name] for name in names}, tuple(found))

    def _sightings(self, note: FrameNote, known: Mapping[str, Mark], newest: bool) -> Iterator[Sighting]:
        shot = int(note.extra["index"])
        rows = self._named.read().get(shot, ())
        looked = [_Looked.of(row) for row in self._faces.read().get(shot, ())]
        # Of several the last, which is that of the run where it is the one that was decided on.
        decided = next((one for one in reversed(looked) if one.triples == [row[0] for row in rows]), None)
        if decided is None:
            return
        names = [name for _, name in rows]
        order = looked if newest else [*looked, decided]
        seen = next((one for one in reversed(order) if one.came_up(note.seconds) is not None), None)
        if seen is None:
            return
        shown = seen.came_up(note.seconds)
        assert shown is not None
        for track in seen.tracks:
            box, name = track.box_at(shown), _name_of(track, decided.tracks, names)
            if box is not None and name is not None and name in known:
                yield Sighting(name, box, note.seconds, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """The faces of one shot in one look for them, and when the frames of wanted moments came up."""

    tracks: Tracks
    frames: Sequence[Sequence[float]]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> _Looked:
        return cls(tuple(from_row(track) for track in row["tracks"]), row["frames"])

    @property
    def triples(self) -> list[Triple]:
        return [(track.first, track.last, len(track.faces)) for track in self.tracks]

    def came_up(self, second: float) -> float | None:
        return next((shown for wanted, shown in self.frames if abs(wanted - second) < SAME), None)


@dataclass(slots=True, eq=False)
class _File(Generic[T]):
    """What a file holds, read anew when it has changed; nothing where it is gone."""

    path: Path
    parse: Callable[[bytes], Mapping[int, T]]
    _read_at: tuple[int, int] | None = None
    _held: Mapping[int, T] = field(default_factory=dict)

    def read(self) -> Mapping[int, T]:
        """By shot."""
        try:
            state = self.path.stat()
        except OSError:
            return {}
        stamp = state.st_mtime_ns, state.st_size
        if stamp != self._read_at:
            self._held, self._read_at = self.parse(self.path.read_bytes()), stamp
        return self._held


def _named(data: bytes) -> Mapping[int, list[tuple[Triple, str | None]]]:
    """By shot: each track's triple and whose it is, in the order of the records."""
    found: dict[int, list[tuple[Triple, str | None]]] = {}
    for row in parse_json(data)["tracks"]:
        triple = (float(row["first"]), float(row["last"]), int(row["looks"]))
        found.setdefault(int(row["shot"]), []).append((triple, row["named"]))
    return found


def _faces(data: bytes) -> Mapping[int, list[Mapping[str, Any]]]:
    """By shot: the records, oldest first; one that is half written is left out."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    for line in data.splitlines():
        try:
            row = parse_json(line)
            found.setdefault(int(row["shot"]), []).append(row)
        except _BROKEN:
            continue
    return found


def _name_of(track: FaceTrack, decided: Tracks, names: Sequence[str | None]) -> str | None:
    """Whose a track is: as the same one, or the one that is in the same place, was decided to be."""
    for other, name in zip(decided, names, strict=True):
        if other is track:
            return name
    for other, name in zip(decided, names, strict=True):
        middle = track.faces[len(track.faces) // 2]
        box = other.box_at(middle.seconds)
        if box is not None and middle.box.iou(box) > ALIKE:
            return name
    return None


def mark_of(words: str) -> Mark | None:
    """The mark that such words tell (``str`` of a `Mark`).

    >>> mark_of("dashed green"), mark_of("blue, tagged 23")
    (Mark(colour='green', style='dashed', tag=''), Mark(colour='blue', style='solid', tag='23'))
    """
    found = _MARK.fullmatch(words)
    if found is None or found[2] not in COLOURS:
        return None
    style = {"dashed": "dashed", "double": "double"}.get(found[1] or "", "solid")
    return Mark(found[2], style, found[3] or "")  # type: ignore[arg-type]
