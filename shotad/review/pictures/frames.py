"""The frames that the models saw of a slot, as its record tells, with the same pixels that they saw.

Which frames they were stands in ``stage1.jsonl`` or ``redo.jsonl`` (`seen`), who was marked on them in the
records of faces (`outlines`); the pictures are decoded from the film when they are
asked for (or come from the frame store, while a run keeps one), all of a slot in one go.
"""

from __future__ import annotations

import hashlib
import io
import json
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from shotad.core import (
    Clip,
    Config,
    FilmError,
    FilmInfo,
    Image,
    Interval,
    OverlaySettings,
    ReviewError,
    WorkFolder,
)
from shotad.film import STILLS, Film, Frames as Reading, open_film
from shotad.review.kinds import FrameNote, Picture
from shotad.review.pictures.outlines import Outlines
from shotad.review.pictures.seen import Looks, Seen

MOST_BYTES = 48 << 20
"""Of pictures that are held in memory."""

QUALITY = 85
"""Of JPEGs."""

AT_ONCE = 2
"""Slots that are decoded at the same time, at most."""

_BROKEN = (KeyError, ValueError, TypeError, AttributeError, IndexError)


class Told(Protocol):
    """What is read of a session."""

    @property
    def folder(self) -> Path:
        """The work folder."""

    @property
    def config(self) -> Config:
        """The run's settings."""

    @property
    def film(self) -> FilmInfo:
        """What is known of the film."""


_Name = tuple[str, str, int, bool]
"""Slot, key of its record, number of the frame, painted or not."""


_Job = tuple[str, str, bool, int]
"""Slot, key of its record, painted or not, how many frames are wanted."""


@dataclass(slots=True)
class _Pass:
    """One decoding of a slot: what it wants, what it has made so far by number, and once it has ended why it
    made no more."""

    wanted: Sequence[FrameNote]
    made: dict[int, Picture] = field(default_factory=dict)
    why: str | None = None


class Frames:
    """The frames of all slots of one film; thread-safe. `notes` decodes nothing."""

    def __init__(self, session: Told, film: Path) -> None:
        self._session, self._path = session, film
        self._people = Outlines(session.folder)
        self._records = Looks(session.folder)
        self._kept = _Kept(MOST_BYTES)
        self._change = threading.Condition()
        self._under_way: dict[_Job, _Pass] = {}
        self._film: Film | None = None
        # One archive of numbered frames cannot be read in two places at once.
        self._decoding = threading.Semaphore(1 if session.film.video_codec == STILLS else AT_ONCE)

    def notes(self, slot_id: str) -> tuple[FrameNote, ...]:
        """The frames in the order in which the model saw them; none where no model has looked.

        ``shot`` is the number that is painted on its shot's frames; in ``extra``: ``index`` of the shot in
        the film, ``role`` (past, current, future), ``scale`` (or None), ``shown``: whether it is one of the
        few that tell enough, ``painted``: whether the model saw marks on it.
        """
        seen = self._records.of(slot_id)
        return seen.notes if seen is not None else ()

    def picture(self, slot_id: str, number: int, painted: bool = False) -> Picture:
        """Frame ``number`` (from 1), as it is or with the marks that the model saw on it.

        Raises ReviewError for a frame that the model did not see, or that cannot be decoded any more.
        """
        seen = self._records.of(slot_id)
        if seen is None or not 1 <= number <= len(seen.notes):
            there = f"it saw {len(seen.notes)}" if seen is not None else "no model has looked at it"
            raise ReviewError(
                f"There is no frame {number} of slot {slot_id}: {there}.", "Open the line again."
            )
        painted = painted and seen.overlay is not None
        name = (slot_id, seen.record, number, painted)
        with self._change:
            if (found := self._kept.get(name)) is not None:
                return found
            going = self._pass(slot_id, seen, number, painted)
            self._change.wait_for(lambda: number in going.made or going.why is not None)
            if number in going.made:
                return going.made[number]
        raise ReviewError(going.why or "", "Look whether the film is still where it was.")

    def close(self) -> None:
        """Let go of the film."""
        with self._change:
            film, self._film = self._film, None
        if film is not None:
            film.close()

    def _pass(self, slot_id: str, seen: Seen, number: int, painted: bool) -> _Pass:
        """The pass under way in which that frame is decoded, or a new one: of what is shown of the slot, or
        of all where the frame is none of these."""
        shown = tuple(note for note in seen.notes if note.extra["shown"])
        wanted = shown if seen.notes[number - 1].extra["shown"] else seen.notes
        job = (slot_id, seen.record, painted, len(wanted))
        if job not in self._under_way:
            self._under_way[job] = going = _Pass(wanted)
            name = f"frames of {slot_id}"
            threading.Thread(target=self._decode, args=(job, going, seen), name=name, daemon=True).start()
        return self._under_way[job]

    def _decode(self, job: _Job, going: _Pass, seen: Seen) -> None:
        """Decode what a pass wants, each picture to be had as soon as it is there."""
        slot_id, record, painted, _ = job
        why = "The film ends before this frame, or cannot be decoded there."
        try:
            with self._decoding:
                for note, image in self._images(going.wanted):
                    made = _jpeg(self._as_seen(image, note, seen) if painted else image)
                    with self._change:
                        going.made[note.number] = made
                        self._kept.put((slot_id, record, note.number, painted), made)
                        self._change.notify_all()
        except (FilmError, OSError) as trouble:
            why = getattr(trouble, "what", None) or f"The film cannot be read: {trouble}."
        finally:
            with self._change:
                going.why = why
                del self._under_way[job]
                self._change.notify_all()

    def _images(self, wanted: Sequence[FrameNote]) -> Iterator[tuple[FrameNote, Image]]:
        """The frames with their pictures, in order of time; one pass over the film."""
        of_moment: dict[float, list[FrameNote]] = {}
        for note in wanted:
            of_moment.setdefault(note.seconds, []).append(note)
        reading = self._reading()
        left = sorted(of_moment)
        try:
            for picture in reading.pictures(left):
                for note in of_moment.pop(picture.wanted):
                    yield note, picture.image
        except FileNotFoundError:
            # A run that ended has deleted its frame store.
            for picture in self._reading(stored=False).pictures(sorted(of_moment)):
                for note in of_moment.pop(picture.wanted):
                    yield note, picture.image

    def _reading(self, stored: bool = True) -> Reading:
        folder = WorkFolder(self._session.folder)
        slots = folder.read_json("slots.json")
        # Given slots, which alone were looked at frame by frame, were not planned in gaps.
        exact = slots is not None and "gaps" not in slots
        reading = Reading(self._opened(), folder, self._session.config, exact=exact)
        if stored and (zones := _zones_of(folder.path / "frames.index")):
            reading.keep(zones)
        return reading

    def _opened(self) -> Film:
        with self._change:
            if self._film is None:
                info = self._session.film
                rate = info.frame_rate if info.video_codec == STILLS else None
                reader = self._session.config.film.reader
                self._film = open_film(self._path, reader=reader, frame_rate=rate)
            return self._film

    def _as_seen(self, image: Image, note: FrameNote, seen: Seen) -> Image:
        """At the model's size, with the marks of its run."""
        from shotad.film import fit, paint, vlm_size

        height, width = image.shape[:2]
        size = seen.size or vlm_size(width, height, self._session.config.frames)
        number = note.shot if note.shot is not None else 0
        one = Clip(fit(image[np.newaxis], size), np.array([note.seconds]), np.array([number], np.int64))
        config = self._session.config
        marks = OverlaySettings(label=seen.overlay or "none", characters=config.overlay.characters)
        # Where each frame was decided for itself, nothing is kept of that.
        people = seen.marks if config.cast.decide == "track" else {}
        presence = self._people.on(note, people, newest=seen.redone)
        painted: Image = paint(one, marks, current=seen.current, presence=presence).images[0]
        return painted


class _Kept:
    """Pictures in memory, those used last; not thread-safe."""

    def __init__(self, most: int) -> None:
        self._most, self.size = most, 0
        self._pictures: OrderedDict[_Name, Picture] = OrderedDict()

    def get(self, name: _Name) -> Picture | None:
        if name in self._pictures:
            self._pictures.move_to_end(name)
        return self._pictures.get(name)

    def put(self, name: _Name, picture: Picture) -> None:
        before = self._pictures.pop(name, None)
        self._pictures[name] = picture
        self.size += len(picture.data) - (len(before.data) if before else 0)
        while self.size > self._most and len(self._pictures) > 1:
            _, old = self._pictures.popitem(last=False)
            self.size -= len(old.data)


def _zones_of(index: Path) -> list[Interval]:
    """The zones of the frame store that a run keeps now, or none."""
    try:
        with index.open("rb") as file:
            zones = json.loads(file.readline())["zones"]
        return [Interval(float(start), float(end)) for start, end in zones or ()]
    except (OSError, *_BROKEN):
        return []


def _jpeg(image: Image) -> Picture:
    from PIL import Image as Pillow

    out = io.BytesIO()
    Pillow.fromarray(image).save(out, "JPEG", quality=QUALITY)
    data = out.getvalue()
    return Picture("image/jpeg", data, hashlib.sha256(data).hexdigest()[:16])
