"""The track of a work folder as a session keeps it: what others write is taken in, what it writes is safe.

Edits in the scripts beside the track come in, and the scripts follow the track; what the run found of the
film is read again when its records change; the track is written whole and at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Generic, TypeVar

from shotad.core import (
    Config,
    FilmInfo,
    ReviewError,
    ScriptError,
    ShotadError,
    WorkFolder,
    WorkFolderError,
    plural,
    write_bytes,
)
from shotad.film import Prepared, SlotChange, change_slots, recorded
from shotad.review.events import Tabs
from shotad.review.history import changed_track, stamp_of
from shotad.review.jobs import WhenQuiet
from shotad.review.scene import Change
from shotad.script import (
    REDO,
    TRACK,
    WRITTEN,
    Cue,
    Format,
    Track,
    are_written,
    cue_block,
    cue_span,
    edited_scripts,
    from_json,
    script_places,
    script_texts,
    to_json,
    track_lock,
    with_scripts,
    write_texts,
)

_RECORDS = ("shots.json", "speech.json", "slots.json")


class SideScripts:
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
        return signatures(self._files) != self._seen

    def brought_into(self, track: Track) -> tuple[Track, ShotadError | None]:
        """The track with what people changed in scripts, itself where that is nothing new or the scripts are
        as they were looked at last; and why some of it cannot be brought in."""
        now = signatures(self._files)
        if now == self._seen:
            return track, None
        self._seen, self._blocked = now, frozenset()
        edited = edited_scripts(self._folder, self._name)

        def brought(scripts: Sequence[tuple[Format, Path]]) -> Track:
            return with_scripts(track, WorkFolder(self._folder), scripts).track

        def fits(scripts: Sequence[tuple[Format, Path]]) -> bool:
            try:
                brought(scripts)
            except ShotadError:
                return False
            return True

        try:
            return brought(edited), None
        except ShotadError as error:
            # Those that contradict neither the track nor each other come in.
            alone = [script for script in edited if fits([script])]
            pairs = (pair for pair in combinations(alone, 2) if not fits(pair))
            bad = {path for pair in pairs for _, path in pair}
            good = [(form, path) for form, path in alone if path not in bad]
            self._blocked = frozenset(path for _, path in edited) - {path for _, path in good}
            return brought(good), error

    def texts(self, track: Track) -> Mapping[Path, str]:
        """What the scripts of a track hold."""
        return script_texts(track, self._folder, self._name)

    def write(self, texts: Mapping[Path, str]) -> None:
        """Write the scripts that are not so already, but those in which somebody's edits wait."""
        free = {path: text for path, text in texts.items() if path not in self._blocked}
        edited = {path for _, path in edited_scripts(self._folder, self._name)}
        there = all(path.is_file() for path in free)
        if not (there and are_written(free, self._folder) and not edited & free.keys()):
            write_texts(free, self._folder)
            self._seen = signatures(self._files)


class Keeper:
    """Reads and writes one track, its slots and its scripts, under locks (`open`).

    ``revision`` counts the states of the track since it began; ``prepared`` is what the run found of the
    film, with the slots as they are now. Raises WorkFolderError where the folder belongs to another film, or
    a record is missing or damaged, ScriptError for a track that cannot be read.
    """

    def __init__(self, folder: Path, film: FilmInfo, config: Config, hub: Tabs | None) -> None:
        self.folder, self.film, self.config, self._hub = folder, film, config, hub
        self.revision, self.news = 0, News()
        self._records = tuple(folder / name for name in _RECORDS)
        self._seen: tuple[Signature, ...] = ()
        self._read_records()
        self._lock = threading.RLock()
        self._file = TrackFile(folder / TRACK)
        self._trouble: tuple[str, str] | None = None
        self._broken = False
        self._scripts = WhenQuiet(self._write_scripts, 1.0, "shotad scripts", longest=5.0)
        try:
            with self.open():
                track = self._file.look()
                if track is None or track.film.fingerprint != self.film.fingerprint:
                    name = "none" if track is None else track.film.name
                    raise WorkFolderError(
                        f"{self._file.path} belongs to another film: {name}, not {self.film.name}.",
                        "Name that film with --film, or another work folder.",
                    )
                self.track = track
                self._beside = SideScripts(folder, self.track.film.name)
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
            stale = signatures(self._records) != self._seen
            return stale or self._file.is_stale or self._beside.is_stale

    @contextmanager
    def written(self) -> Iterator[Track]:
        """The track, and the scripts beside it written as it is; nobody changes either meanwhile."""
        with self.open():
            self.take_in()
            self._beside.write(self._beside.texts(self.track))
            yield self.track

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
                if found.film.fingerprint != self.film.fingerprint:
                    self._file.forget()
                    raise ReviewError(
                        f"{self._file.path} now belongs to another film: {found.film.name}.",
                        f"Put the track of {self.film.name} back; until then nothing is changed here.",
                    )
                kept = {cue.id: cue for cue in self.track.cues}
                # Same lines stay the same objects, by which what is known of them is found again.
                same = (kept[cue.id] if kept.get(cue.id) == cue else cue for cue in found.cues)
                self.track = replace(found, cues=tuple(same))
                self._scripts.ask()
            self._look_beside()
        finally:
            self.news.add(differences(before, self.track))
            self.revision += self.track is not before
        if signatures(self._records) != self._seen:
            try:
                self._read_records()
            except WorkFolderError:
                self._seen = ()  # a run that is in the middle of writing them is waited for
                return
            if self._hub is not None:
                self._hub.tell("film", {})

    def keep(self, change: Change) -> None:
        """Write a change, its slots and then its lines, both or none; it is `open`."""
        slots, track = change.slots, changed_track(self.track, change)
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
            self._read_records()
        self.track = track
        self.revision += 1
        self._scripts.ask()

    def close(self) -> None:
        """Write the scripts that are still due. Only reading is possible afterwards."""
        self._scripts.close(finish=True)

    def tell(self, what: str, hint: str) -> None:
        if self._hub is not None and self._trouble != (what, hint):
            self._hub.tell("trouble", {"what": what, "hint": hint})
        self._trouble = (what, hint)

    def _read_records(self) -> None:
        self._seen = signatures(self._records)
        self.prepared: Prepared = recorded(WorkFolder(self.folder), self.film, self.config)

    def _look_beside(self) -> None:
        """Bring in scripts that a person edited; where that cannot be, say so and go on without."""
        track, trouble = self._beside.brought_into(self.track)
        if trouble is None:
            self._trouble = None
        else:
            self.tell(trouble.what, trouble.hint)
        if track is not self.track:
            self._file.write(track)
            self.track = track
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


K = TypeVar("K")
T = TypeVar("T")

Signature = tuple[int, int, int] | None
"""By what a file is known to be the same: when it was changed, its size, its place on the disk."""


def signature(path: Path) -> Signature:
    """None where there is no such file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def signatures(paths: Iterable[Path]) -> tuple[Signature, ...]:
    return tuple(map(signature, paths))


@dataclass(slots=True, eq=False)
class Watched(Generic[K, T]):
    """What a file holds, read again when it has changed; nothing where it is gone."""

    path: Path
    parse: Callable[[Path], Mapping[K, T]]
    _seen: Signature = None
    _held: Mapping[K, T] = field(default_factory=dict)

    def read(self) -> Mapping[K, T]:
        """What ``parse`` makes of it; raises what that does."""
        now = signature(self.path)
        if now != self._seen:
            with suppress(FileNotFoundError):
                self._held, self._seen = self.parse(self.path) if now else {}, now
        return self._held


class TrackFile:
    """The file of a track, as far as this process knows it.

    Lines that did not change keep their text, so that writing 2,000 of them takes milliseconds.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: Signature = None
        self._data: bytes | None = None
        self._blocks: dict[str, tuple[Cue, str, str]] = {}

    @property
    def is_stale(self) -> bool:
        """Whether the file is another than the one that was last read or written."""
        return self._known is None or signature(self.path) != self._known

    def forget(self) -> None:
        """Read the file again at the next `look`, whatever it holds."""
        self._known, self._data = None, None

    def look(self) -> Track | None:
        """The track, where it is not what was last read or written; else None.

        Raises ScriptError while it cannot be read or understood.
        """
        now = signature(self.path)
        if now is not None and now == self._known:
            return None
        try:
            data = self.path.read_bytes()
            text = data.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ScriptError(f"The track {self.path} cannot be read: {error}.") from None
        track = None if data == self._data else from_json(text, str(self.path))
        self._known, self._data = now, data
        return track

    def write(self, track: Track) -> None:
        """Replace the file; it is on the disk when this returns. Raises WorkFolderError."""
        data = to_json(track, lambda cue: self._of(cue)[1], lambda cue: self._of(cue)[2]).encode()
        write_bytes(self.path, [data])
        self._known, self._data = signature(self.path), data
        if len(self._blocks) > 2 * len(track.cues) + 100:
            there = {cue.id for cue in track.cues}
            self._blocks = {name: kept for name, kept in self._blocks.items() if name in there}

    def _of(self, cue: Cue) -> tuple[Cue, str, str]:
        kept = self._blocks.get(cue.id)
        if kept is None or kept[0] is not cue:
            kept = self._blocks[cue.id] = (cue, cue_block(cue), cue_span(cue))
        return kept


Before = Mapping[str, Cue | None]
"""Lines that have changed, as they were; None: they were not there."""


def differences(before: Track, after: Track) -> Before:
    """The lines that are not the same objects in two states of a track."""
    if before is after:
        return {}
    old, new = ({cue.id: cue for cue in track.cues} for track in (before, after))
    return {name: old.get(name) for name in (*new, *old) if old.get(name) is not new.get(name)}


class News:
    """Lines that others changed: which of them nobody was told of yet, and which a job may have written."""

    def __init__(self) -> None:
        self._untold: dict[str, Cue | None] = {}
        self._taken: dict[str, Cue | None] = {}
        self._expects = False

    def __bool__(self) -> bool:
        return bool(self._untold)

    def add(self, changed: Before) -> None:
        """Lines have been taken in."""
        self._untold = {**changed, **self._untold}
        self._taken = {**changed, **self._taken}

    def expect(self) -> None:
        """A job begins: what is taken in from now on is what it wrote, which it tells itself."""
        self._taken, self._expects = {}, True

    def of_job(self, now: Track, last: Before) -> Before:
        """The lines that a job wrote, as they were before it; it is at its end.

        Where nobody said when it began, they are the ``last`` that were taken in, and those that were
        described again.
        """
        anew = {cue.id for cue in now.cues if cue.edited is not None and cue.edited.source == REDO}
        found = {
            name: cue for name, cue in self._taken.items() if self._expects or name in anew or name in last
        }
        self._taken, self._expects = {}, False
        return {**last, **found}

    def told(self, known: Container[str], now: Track) -> Change:
        """What nobody was told of, less the lines that are ``known``; from now on it is told.

        No words are made of how a render spoke a line, nor of what a job does.
        """
        before = {name: cue for name, cue in sorted(self._untold.items()) if name not in known}
        self._untold = {}
        there = {cue.id: cue for cue in now.cues}
        gone = tuple(name for name in before if name not in there)
        cues = tuple(there[name] for name in before if name in there)
        olds = ((before[cue.id], cue) for cue in cues)
        others = sum(old is None or stamp_of(old) != stamp_of(cue) for old, cue in olds)
        number = 0 if self._expects else len(gone) + others
        what = plural(number, "line was", "lines were")
        said = f"{what} changed by another program." if number else ""
        return Change(said, cues, gone)
