"""The track of a work folder as a session keeps it: what others write is taken in, what it writes is safe.

The scripts beside the track, while a page is open: edits in them come in, and they follow the track.

What the run found of a film, read anew when its records change.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from shotad.core import Config, FilmInfo, ReviewError, ScriptError, ShotadError, WorkFolder, WorkFolderError
from shotad.film import Prepared, SlotChange, change_slots, recorded
from shotad.review.editing.news import News, differences
from shotad.review.editing.saving import TrackFile, signatures
from shotad.review.editing.steps import changed_track, slots_in
from shotad.review.kinds import Change, Hub
from shotad.review.later import WhenQuiet
from shotad.script import (
    TRACK,
    WRITTEN,
    Format,
    Track,
    are_written,
    edited_scripts,
    script_places,
    script_texts,
    track_lock,
    with_scripts,
    write_texts,
)

_RECORDS = ("shots.json", "speech.json", "slots.json")


class Known:
    """The records of a work folder. Raises WorkFolderError where one is missing or damaged."""

    def __init__(self, folder: Path, film: FilmInfo, config: Config) -> None:
        self._folder, self._film, self._config = folder, film, config
        self._files = tuple(folder / name for name in _RECORDS)
        self.read()

    @property
    def is_stale(self) -> bool:
        """Whether a record is another than the one that was read."""
        return signatures(self._files) != self._seen

    def read(self) -> None:
        """Read the records."""
        self._seen = signatures(self._files)
        self.prepared: Prepared = recorded(WorkFolder(self._folder), self._film, self._config)

    def look(self) -> bool:
        """Read them if they are stale; whether something new was found. A run that is in the middle of
        writing them is waited for, until the next look."""
        if not self.is_stale:
            return False
        try:
            self.read()
        except WorkFolderError:
            self._seen = ()
            return False
        return True


Edited = tuple[Format, Path]


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of a look at the scripts: the ``track`` with what people changed in them, None where that is
    nothing new; ``trouble`` is why some of it cannot be brought in."""

    track: Track | None = None
    trouble: ShotadError | None = None


class Beside:
    """The scripts of a folder for the film called ``name``. Who reads or writes them holds the track's lock.

    Those with somebody's edits that cannot be brought in are left as they are; the others follow the track.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._files = (*script_places(folder, name), folder / WRITTEN)
        self._seen: object = None
        self._blocked: frozenset[Path] = frozenset()

    @property
    def is_stale(self) -> bool:
        """Whether a script is another than when they were last looked at."""
        return signatures(self._files) != self._seen

    def brought_into(self, track: Track) -> Looked:
        """What came of the edits in scripts; nothing where the scripts are as they were looked at last."""
        now = signatures(self._files)
        if now == self._seen:
            return Looked()
        self._seen, self._blocked, trouble = now, frozenset(), None
        edited = edited_scripts(self._folder, self._name)
        try:
            brought = self._with(track, edited)
        except ShotadError as error:
            good = self._sound(track, edited)
            self._blocked = frozenset(path for _, path in edited) - {path for _, path in good}
            brought, trouble = self._with(track, good), error
        return Looked(None if brought is track else brought, trouble)

    def texts(self, track: Track) -> Mapping[Path, str]:
        """What the scripts of a track hold."""
        return script_texts(track, self._folder, self._name)

    def write(self, texts: Mapping[Path, str]) -> None:
        """Write the scripts that are not so already, but those in which somebody's edits wait."""
        free = {path: text for path, text in texts.items() if path not in self._blocked}
        if self._are_so(free):
            return
        write_texts(free, self._folder)
        self._seen = signatures(self._files)

    def _are_so(self, texts: Mapping[Path, str]) -> bool:
        edited = {path for _, path in edited_scripts(self._folder, self._name)}
        there = all(path.is_file() for path in texts)
        return there and are_written(texts, self._folder) and not edited & texts.keys()

    def _with(self, track: Track, edited: Sequence[Edited]) -> Track:
        return with_scripts(track, WorkFolder(self._folder), edited).track

    def _sound(self, track: Track, edited: Sequence[Edited]) -> list[Edited]:
        """The edited scripts that contradict neither the track nor each other."""
        alone = [script for script in edited if self._fits(track, [script])]
        pairs = (pair for pair in combinations(alone, 2) if not self._fits(track, pair))
        bad = {path for pair in pairs for _, path in pair}
        return [(form, path) for form, path in alone if path not in bad]

    def _fits(self, track: Track, edited: Sequence[Edited]) -> bool:
        try:
            self._with(track, edited)
        except ShotadError:
            return False
        return True


class Keeper:
    """Reads and writes one track, its slots and its scripts, under locks (`open`).

    ``revision`` counts states of the track. Raises as `shotad.review.editing.session.Session`.
    """

    def __init__(self, folder: Path, film: FilmInfo, config: Config, hub: Hub | None) -> None:
        self.folder, self.revision, self.news = folder, 0, News()
        self.known = Known(folder, film, config)
        self._film, self._hub = film, hub
        self._lock = threading.RLock()
        self._file = TrackFile(folder / TRACK)
        self._trouble: tuple[str, str] | None = None
        self._broken = False
        self._scripts = WhenQuiet(self._write_scripts, 1.0, "shotad scripts", longest=5.0)
        try:
            with self.open():
                self.track = self._read_first()
                self._beside = Beside(folder, self.track.film.name)
                self._look_beside()
        except BaseException:
            self._scripts.close()
            raise
        self._scripts.ask()  # those that a killed server left as they were

    @contextmanager
    def open(self) -> Iterator[None]:
        """Nobody else, in this process or another, changes the track meanwhile."""
        with self._lock, track_lock(self.folder):
            yield

    @property
    def is_stale(self) -> bool:
        """Whether something on the disk is another than what was last read or written."""
        with self._lock:
            return self._file.is_stale or self._beside.is_stale or self.known.is_stale

    def take_in(self) -> None:
        """Bring the track up to what the disk has; it is `open`. Raises ReviewError while that is no good."""
        before = self.track
        try:
            found = self._file.look()
        except ScriptError as error:
            hint = f"{error.hint} Mend that file; until then nothing is changed here.".strip()
            self.tell(error.what, hint)
            self._broken = True
            raise ReviewError(error.what, hint) from None
        if self._broken:
            self._broken = False
            self.tell("", "")  # it is mended
        try:
            if found is not None:
                self._adopt(found)
            self._look_beside()
        finally:
            self.news.add(differences(before, self.track))
            self.revision += self.track is not before
        if self.known.look() and self._hub is not None:
            self._hub.tell("film", {})

    def keep(self, change: Change) -> None:
        """Write a change, its slots and then its lines, both or none; it is `open`."""
        slots, track = slots_in(change), changed_track(self.track, change)
        moved = slots != SlotChange()
        if moved:
            change_slots(self.folder, slots)
        try:
            self._file.write(track)
        except ShotadError:
            if moved:
                change_slots(self.folder, slots.inverse)
            raise
        if moved:
            self.known.read()
        self.track = track
        self.revision += 1
        self._scripts.ask()

    def close(self) -> None:
        """Write the scripts that are still due."""
        self._scripts.close(finish=True)

    def tell(self, what: str, hint: str) -> None:
        """Tell all pages of trouble, once."""
        if self._hub is not None and self._trouble != (what, hint):
            self._hub.tell("trouble", {"what": what, "hint": hint})
        self._trouble = (what, hint)

    def _read_first(self) -> Track:
        track = self._file.look()
        if track is None or track.film.fingerprint != self._film.fingerprint:
            name = "none" if track is None else track.film.name
            raise WorkFolderError(
                f"{self._file.path} belongs to another film: {name}, not {self._film.name}.",
                "Name that film with --film, or another work folder.",
            )
        return track

    def _adopt(self, found: Track) -> None:
        if found.film.fingerprint != self._film.fingerprint:
            self._file.forget()
            raise ReviewError(
                f"{self._file.path} now belongs to another film: {found.film.name}.",
                f"Put the track of {self._film.name} back; until then nothing is changed here.",
            )
        kept = {cue.id: cue for cue in self.track.cues}
        # Lines that are the same stay the same objects, by which what is known of them is found again.
        same = (kept[cue.id] if kept.get(cue.id) == cue else cue for cue in found.cues)
        self.track = replace(found, cues=tuple(same))
        self._scripts.ask()

    def _look_beside(self) -> None:
        """Bring in scripts that a person edited; where that cannot be, say so and go on without."""
        looked = self._beside.brought_into(self.track)
        if looked.trouble is None:
            self._trouble = None
        else:
            self.tell(looked.trouble.what, looked.trouble.hint)
        if looked.track is not None:
            self._file.write(looked.track)
            self.track = looked.track
            self._scripts.ask()

    def _write_scripts(self) -> None:
        """Write the scripts as the track now is, but those in which edits wait to be sorted out."""
        texts = self._beside.texts(self.track)
        try:
            with self.open():
                self.take_in()
                self._beside.write(texts)
        except ShotadError as error:
            self.tell(error.what, error.hint)
