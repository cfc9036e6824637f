"""The frames that the models saw of a slot, as its record says, with the same pixels that they saw.

Which frames they were stands in ``stage1.jsonl`` or ``redo.jsonl``; the pictures are decoded from the film
when they are asked for, all of a slot in one pass. Who was marked on them stands in ``characters.json``, and
where in ``faces.jsonl``: a face whose track is in none of them any more (``shotad cast forget``, another cast
since) has no outline.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from shotad.core import (
    Character,
    Clip,
    Image,
    Sighting,
    WorkFolder,
)
from shotad.core.cast import (
    EMPTY_PRESENCE,
    FrameMark,
    Presence,
)
from shotad.core.config.film import OverlaySettings
from shotad.core.errors import (
    ReviewError,
    quoted,
)
from shotad.core.files import (
    read_file,
)
from shotad.core.records import parse_json
from shotad.core.types import Role
from shotad.core.workfolder import hash_key
from shotad.description.casting.recognition import CHARACTERS, FACES
from shotad.film import (
    Film,
    Frames as Reading,
    open_film,
    paint,
    resize_images,
    vlm_size,
)
from shotad.film.frame_cache import STILLS
from shotad.film.overlays import COLOURS
from shotad.film.palette import jpeg
from shotad.review.details import records_of, stage1_answer
from shotad.review.session import Session
from shotad.review.session_files import WatchedFile
from shotad.sight import FaceTrack
from shotad.sight.facetracks import track_from_json

KEPT = 24
"""Slots whose pictures are held in memory, those asked for last: about 2 MB each."""

QUALITY = 85
"""Of JPEGs."""

MOMENT_QUALITY = 75
"""Of JPEGs of the material."""

MOMENT_PIXELS = 32_000
"""Of a picture of the material: 238 x 134 for 16:9."""

SHOWN = 24
"""Frames of a slot that are marked as worth showing, where the model saw more: about so many, evenly, and the
first of each shot."""

SAME = 1e-5
"""Seconds by which records round."""

ALIKE = 0.5
"""Overlap (intersection over union) above which two boxes of one moment are of one face."""

_MARK = re.compile(r"(?:(dashed|double) )?(\w+)(?:, tagged (\w+))?")

Label = Literal["number", "box", "none"]
_LABELS: tuple[Label, ...] = ("number", "box", "none")


Pass = tuple[Iterator[tuple[int, bytes]], dict[int, bytes]]
"""One decoding of a slot: the JPEGs that are still to come of it, and what it has made so far, by number."""

Triple = tuple[float, float, int]
"""By which ``characters.json`` names a track: its first and last second, and its number of looks."""

_BROKEN = (KeyError, ValueError, TypeError, AttributeError, IndexError)


@dataclass(frozen=True, slots=True)
class FrameNote:
    """A frame that a model saw of a slot: its ``number`` from 1, its second, the number painted on its shot
    and the ``index`` of that in the film, its ``role`` (past, current, future), its scale; whether it is one
    of the few that tell enough, and whether the model saw marks on it."""

    number: int
    seconds: float
    shot: int
    index: int
    role: str
    scale: str | None
    shown: bool = True
    painted: bool = False


@dataclass(frozen=True, slots=True)
class ShownClip:
    """What one slot's record says. ``record`` is its hash; ``overlay`` None: its frames were seen as they
    are; ``marks`` are those of the people on them, by id, in words; ``redone``: only a redo has looked."""

    record: str
    notes: tuple[FrameNote, ...]
    current: frozenset[int]
    overlay: Label | None
    marks: Mapping[str, str]
    redone: bool


class ShownFrames:
    """The frames of all slots of one film; thread-safe. `notes` decodes nothing."""

    def __init__(self, session: Session, film: Path) -> None:
        self._session, self._path = session, film
        folder = session.folder
        self._run, self._redo = records_of(folder / "stage1.jsonl"), records_of(folder / "redo.jsonl")
        self._named = WatchedFile(folder / f"{CHARACTERS}.json", _named)
        self._faces = WatchedFile(folder / f"{FACES}.jsonl", _faces)
        self._passes: OrderedDict[object, Pass] = OrderedDict()
        self._film: Film | None = None
        self._lock = threading.Lock()

    def notes(self, slot_id: str) -> tuple[FrameNote, ...]:
        """The frames in the order in which the model saw them; none where no model has looked."""
        shown_clip = self._seen(slot_id)
        return shown_clip.notes if shown_clip is not None else ()

    def picture(self, slot_id: str, number: int, painted: bool = False) -> bytes:
        """Frame ``number`` (from 1) as JPEG, as it is or with the marks that the model saw on it.

        Raises ReviewError for a frame that the model did not see, or that cannot be decoded any more,
        FilmError.
        """
        shown_clip = self._seen(slot_id)
        if shown_clip is None or not 1 <= number <= len(shown_clip.notes):
            frames_here = (
                f"it saw {len(shown_clip.notes)}" if shown_clip is not None else "no model has looked at it"
            )
            problem = f"There is no frame {number} of slot {quoted(slot_id)}: {frames_here}."
            raise ReviewError(problem, "Open the line again.")
        painted = painted and shown_clip.overlay is not None
        shown = shown_clip.notes[number - 1].shown
        name = (slot_id, shown_clip.record, painted, shown)
        with self._lock:
            if name not in self._passes:
                notes_to_read = [note for note in shown_clip.notes if note.shown or not shown]
                self._passes[name] = (self._pictures(notes_to_read, shown_clip, painted), {})
            coming, pictures = self._passes[name]
            self._passes.move_to_end(name)
            if len(self._passes) > KEPT:
                self._passes.popitem(last=False)
            # Whoever asks decodes up to the frame in question; the next one goes on from there.
            while number not in pictures:
                try:
                    at, pictures[at] = next(coming)
                except StopIteration:
                    raise ReviewError("The film ends before this frame.") from None
                except Exception:
                    del self._passes[name]
                    raise
            return pictures[number]

    def at(self, second: float) -> bytes:
        """The frame of a moment, small, as JPEG. Raises ReviewError where the film has none, FilmError."""
        with self._lock:
            film = self._opened()
            for picture in film.pictures([second], max_pixels=MOMENT_PIXELS):
                return jpeg(picture.image, MOMENT_QUALITY)
        raise ReviewError("The film ends before this moment, or cannot be decoded there.")

    def _opened(self) -> Film:
        """The film as the session's run read it. Raises FilmError."""
        info = self._session.film
        rate = info.frame_rate if info.video_codec == STILLS else None
        reader = self._session.config.film.reader
        self._film = self._film or open_film(self._path, reader=reader, frame_rate=rate)
        return self._film

    def close(self) -> None:
        with self._lock:
            self._passes.clear()
            if self._film is not None:
                self._film.close()
                self._film = None

    def _seen(self, slot_id: str) -> ShownClip | None:
        """What was seen of that slot: by the run; where only a redo has looked, by the last that did."""
        for record in reversed(self._run.all(slot_id)):
            if (shown_clip := _seen_in(record, redone=False)) is not None:
                return shown_clip
        for record in reversed(self._redo.all(slot_id)):
            if (shown_clip := _seen_in(record.get("stage1"), redone=True)) is not None:
                return shown_clip
        return None

    def _pictures(
        self, notes_to_read: Sequence[FrameNote], shown_clip: ShownClip, painted: bool
    ) -> Iterator[tuple[int, bytes]]:
        """The frames with their pictures, in order of time; one pass over the film."""
        folder = WorkFolder(self._session.folder)
        slots = folder.read_json("slots.json")
        # Given slots, which alone were looked at frame by frame, were not planned in gaps.
        exact = slots is not None and "gaps" not in slots
        # A run may be at work in the folder, so nothing is kept there.
        reading = Reading(self._opened(), None, self._session.config, exact=exact)
        of_moment: dict[float, list[FrameNote]] = {}
        for note in notes_to_read:
            of_moment.setdefault(note.seconds, []).append(note)
        for picture in reading.pictures(sorted(of_moment)):
            for note in of_moment[picture.wanted]:
                image = self._as_seen(picture.image, note, shown_clip) if painted else picture.image
                yield note.number, jpeg(image, QUALITY)

    def _as_seen(self, image: Image, note: FrameNote, shown_clip: ShownClip) -> Image:
        """At the model's size, with the marks of its run."""
        config, presence = self._session.config, EMPTY_PRESENCE
        marks_by_member: dict[str, FrameMark] = {}
        for name, words in shown_clip.marks.items():
            mark = mark_of(words)
            if mark is not None:
                marks_by_member[name] = mark
        # Where each frame was decided for itself, nothing is kept of that.
        if marks_by_member and config.cast.by_rules.decide == "track":
            with suppress(OSError, *_BROKEN):
                faces = self._sightings(note, newest=shown_clip.redone)
                sightings = tuple(face for face in faces if face.name in marks_by_member)
                names = dict.fromkeys(sighting.name for sighting in sightings)
                cast = tuple(Character(name, name, name) for name in names)
                marks_here = {name: marks_by_member[name] for name in names}
                presence = Presence(cast, tuple(names), (), marks_here, sightings)
        height, width = image.shape[:2]
        size = vlm_size(width, height, config.frames)
        marked_clip = Clip(
            resize_images(image[np.newaxis], size), np.array([note.seconds]), np.array([note.shot], np.int64)
        )
        marks = OverlaySettings(label=shown_clip.overlay or "none", characters=config.overlay.characters)
        painted: Image = paint(marked_clip, marks, current=shown_clip.current, presence=presence).images[0]
        return painted

    def _sightings(self, note: FrameNote, *, newest: bool) -> Iterator[Sighting]:
        """The faces on a frame of people who were recognised.

        ``newest``: as they were looked for last, by a redo; else as the run has seen them.
        """
        rows = self._named.read().get(note.index, ())
        looked = [
            (tuple(track_from_json(track) for track in row["tracks"]), row["frames"])
            for row in self._faces.read().get(note.index, ())
        ]
        triples = [triple for triple, _ in rows]
        # Of several the last, which is that of the run where it is the one that was decided on.
        decided = None
        for tracks, frames in reversed(looked):
            if [(track.first, track.last, len(track.faces)) for track in tracks] == triples:
                decided = tracks, frames
                break
        if decided is None:
            return
        names = [name for _, name in rows]
        for tracks, frames in reversed(looked if newest else [*looked, decided]):
            shown = next((at for second, at in frames if abs(second - note.seconds) < SAME), None)
            if shown is None:
                continue
            for track in tracks:
                box, name = track.box_at(shown), _name_of(track, decided[0], names)
                if box is not None and name is not None:
                    yield Sighting(name, box, note.seconds, 1.0)
            return


def _seen_in(record: Any, *, redone: bool) -> ShownClip | None:
    """What a record of Stage I says was seen; None for one that a person has broken, or none at all."""
    stage1 = stage1_answer(record)
    if stage1 is None or stage1.overlay not in (*_LABELS, None):
        return None
    notes = []
    for shot in stage1.shots:
        scale = stage1.scales.get(shot.number)
        about = shot.number, shot.index, shot.role.value, scale.value if scale else None
        notes += [FrameNote(0, second, *about) for second in shot.seconds]
    step = -(-len(notes) // SHOWN)
    shown = [not at % step or not at or notes[at - 1].shot != note.shot for at, note in enumerate(notes)]
    return ShownClip(
        record=hash_key(record),
        notes=tuple(
            replace(note, number=at + 1, shown=shown[at], painted=stage1.overlay is not None)
            for at, note in enumerate(notes)
        ),
        current=frozenset(shot.number for shot in stage1.shots if shot.role is Role.CURRENT),
        overlay=stage1.overlay,
        marks={person.id: person.mark for person in stage1.people if person.mark},
        redone=redone,
    )


def _named(path: Path) -> Mapping[int, list[tuple[Triple, str | None]]]:
    """By shot: each track's triple and whose it is, in the order of the records."""
    names_by_shot: dict[int, list[tuple[Triple, str | None]]] = {}
    for row in parse_json(read_file(path))["tracks"]:
        triple = (float(row["first"]), float(row["last"]), int(row["looks"]))
        names_by_shot.setdefault(int(row["shot"]), []).append((triple, row["named"]))
    return names_by_shot


def _faces(path: Path) -> Mapping[int, list[Mapping[str, Any]]]:
    """By shot: the records, oldest first; one that is half written is left out."""
    faces_by_shot: dict[int, list[Mapping[str, Any]]] = {}
    for line in read_file(path).splitlines():
        try:
            row = parse_json(line)
            faces_by_shot.setdefault(int(row["shot"]), []).append(row)
        except _BROKEN:
            continue
    return faces_by_shot


def _name_of(track: FaceTrack, decided: Sequence[FaceTrack], names: Sequence[str | None]) -> str | None:
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


def mark_of(words: str) -> FrameMark | None:
    """The mark that such words tell (``str`` of a `FrameMark`).

    >>> mark_of("dashed green"), mark_of("blue, tagged 23")
    (FrameMark(colour='green', style='dashed', tag=''), FrameMark(colour='blue', style='solid', tag='23'))
    """
    match = _MARK.fullmatch(words)
    if match is None or match[2] not in COLOURS:
        return None
    style = {"dashed": "dashed", "double": "double"}.get(match[1] or "", "solid")
    return FrameMark(match[2], style, match[3] or "")  # type: ignore[arg-type]
