"""A work folder in a store and its copy on this machine: brought down, and sent up while a run writes it.

One run at a time writes a work folder; a lease says which (`shotad.batch.staging`). Of each file it is kept,
from run to run, how it was when both sides were last alike: its mark in the store, and its state here. So
what others write into the folder all the same is found: it is never written over, the run that finds it
fails, and the next one goes on from it.

``scripts.json`` says how scripts were written, and one that is not so is somebody's work. So it goes up first
with the hashes of what is there and of what is coming, then the scripts, then it alone as it is, and the
track last: who finds that finds all it rests on.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from shotad.batch.downloads import check_room, fetch_object
from shotad.batch.jobs import DONE
from shotad.batch.places import Addresses, join, shown
from shotad.batch.store import Store, StoredObject, WriteRefused, names_below
from shotad.core import Progress
from shotad.core.errors import StorageError
from shotad.core.files import remove_file, write_bytes, write_text
from shotad.core.progress import progress_task
from shotad.core.workfolder import SETTINGS_FILE, readable_json
from shotad.script import track_lock

State = tuple[int, int]
"""Size in bytes and time of writing in ns, by which a file here is known to be untouched."""


class LastKnown(NamedTuple):
    """How a file was when both sides were last alike: None where a side had none."""

    mark: str | None
    state: State | None


_LARGE = 32 << 20
"""Bytes from which on a file is sent in parts, from the disk."""
_SIDE_BY_SIDE = 8
_TRIES = 3
_TIME = "shotad-mtime-ns"


@dataclass(slots=True)
class Mirror:
    """The copy ``folder`` of the work folder at ``place``; ``notes`` is where what was seen is kept.

    ``media``: whether what earlier runs rendered is wanted here too. ``progress`` reports large files.
    """

    store: Store
    place: str
    folder: Path
    notes: Path
    addresses: Addresses
    progress: Progress
    media: bool = False
    _seen: dict[str, LastKnown] = field(default_factory=dict)
    _sent: set[str] = field(default_factory=set)

    def bring_down(self) -> None:
        """Make the copy: what the run needs of the folder.

        What an earlier run on this machine could not send stays, but where others have written since.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with suppress(OSError, ValueError, TypeError, AttributeError, IndexError):
            rows = json.loads(self.notes.read_text(encoding="utf-8"))
            self._seen = {
                name: LastKnown(mark, state and tuple(state[:2])) for name, (mark, state) in rows.items()
            }
        entries = self._there()
        news = {
            name: entry
            for name, entry in entries.items()
            if self._known(name).mark != entry.mark or (self._state(name) is None and not self._stays(name))
        }
        if any(_is_of_track(name) for name in news):
            # Track and scripts are one: they come together.
            news |= {name: entry for name, entry in entries.items() if _is_of_track(name)}
        for name in [name for name in news if self._stays(name)]:
            remove_file(self.folder / name)
            self._seen[name] = LastKnown(news.pop(name).mark, None)
        check_room(self.folder, sum(entry.size or 0 for entry in news.values()), self.place)
        with ThreadPoolExecutor(_SIDE_BY_SIDE, "bring") as pool:
            list(pool.map(self._fetch, news, news.values()))
        self._remember()

    @property
    def unsent(self) -> bool:
        """Whether anything here differs from what was last alike on both sides."""
        return any(True for _ in self._changed())

    def sync(self) -> None:
        """Send what has changed. Raises StorageError where others have written, when all else is sent."""
        for _ in range(_TRIES):
            try:
                self._sync()
                return
            except (WriteRefused, FileNotFoundError):
                continue  # somebody wrote between the look and the sending
            finally:
                self._remember()
        raise StorageError(
            f"{shown(self.place)} is being written by others all the time.", "Run again later.", again=True
        )

    def _sync(self) -> None:
        entries = self._there()
        for name, last_known in self._seen.items():
            # What others removed stays so, unless the run changes it again: then it is there again.
            if last_known.mark is not None and name not in entries:
                self._seen[name] = LastKnown(None, last_known.state)
        theirs = [name for name, entry in entries.items() if self._is_theirs(name, entry)]
        changed = sorted(self._changed(), key=_turn)
        for name in changed:
            if name not in theirs and name != DONE and not _is_of_track(name):
                self._send_file(name)
        if not any(_is_of_track(name) for name in theirs):
            self._send_track(entries)
        if DONE in changed and not theirs:
            self._send_file(DONE)
        for name in [name for name in self._sent if self._state(name) is None]:
            # Sent by this run and removed here; there it goes too, where nobody has changed it since.
            self._sent.discard(name)
            if name in entries and entries[name].mark == self._known(name).mark:
                self.store.remove(entries[name].place)
            self._seen.pop(name, None)
        if theirs:
            raise StorageError(
                f"{shown(entries[theirs[0]].place)} was changed by others while this run was at the folder; "
                "theirs stays.",
                "Run again, to go on from theirs: what this run was answered is kept.",
                again=True,
            )

    # What comes down

    def _stays(self, name: str) -> bool:
        """Whether a file is not needed here: it stays there, and may be made again in its place."""
        kind = kind_of(name)
        return kind is MirroredKind.WORKSHEET or (kind is MirroredKind.MEDIA and not self.media)

    def _fetch(self, name: str, entry: StoredObject) -> None:
        """Fetch one file; nothing where it was removed since the folder was listed."""
        path, kind = self.folder / name, kind_of(name)
        try:
            if kind is MirroredKind.MEDIA:
                # Fetch what was rendered, with the time at which it was, by which it is known to be
                # untouched.
                time_there = self.store.note_of(entry.place).get(_TIME)
                if not self._is_of_time(name, entry, time_there):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    fetch_object(self.store, entry, path)
                    if time_there:
                        os.utime(path, ns=(int(time_there), int(time_there)))
                self._seen[name] = LastKnown(entry.mark, self._state(name))
                return
            data = self.store.read(entry.place)
        except FileNotFoundError:
            return
        if kind is MirroredKind.LINES and path.is_file() and path.read_bytes().startswith(data):
            # A run that was stopped here wrote on from there: its answers are kept, and sent.
            self._seen[name] = LastKnown(entry.mark, None)
            return
        write_bytes(path, [self.addresses.back(data) if name == SETTINGS_FILE else data])
        self._seen[name] = LastKnown(entry.mark, self._state(name))

    def _is_of_time(self, name: str, entry: StoredObject, time_there: str | None) -> bool:
        here = self._state(name)
        return here is not None and (entry.size, time_there) == (here[0], str(here[1]))

    # What others did meanwhile

    def _is_theirs(self, name: str, entry: StoredObject) -> bool:
        """Whether others wrote a file. What this run sent itself may look so: an answer can get lost."""
        if self._known(name).mark == entry.mark:
            return False
        if self._state(name) is None:
            return True
        if _goes_in_parts(name, entry.size or 0):
            is_ours = self._is_of_time(name, entry, self.store.note_of(entry.place).get(_TIME))
        else:
            data, here = self.store.read(entry.place), (self.folder / name).read_bytes()
            if kind_of(name) is MirroredKind.LINES:
                is_ours = here.startswith(data)
            else:
                is_ours = data == (self.addresses.out(here) if name == SETTINGS_FILE else here)
        if is_ours:
            self._seen[name] = LastKnown(entry.mark, None)
        return not is_ours

    # What goes up

    def _send_file(self, name: str) -> None:
        path, place, over = self.folder / name, join(self.place, name), self._known(name).mark
        state = self._state(name)
        if state is None:
            return
        if _goes_in_parts(name, state[0]):
            note = {_TIME: str(state[1])}
            with progress_task(self.progress, f"Sending {path.name}", state[0], "B") as task:
                mark = self.store.send(path, place, over=over, note=note, done=task.advance)
        else:
            data = path.read_bytes()
            if kind_of(name) is MirroredKind.LINES:
                data = data[: data.rfind(b"\n") + 1]  # a line that is still being written waits
            mark = self.store.write(
                place, self.addresses.out(data) if name == SETTINGS_FILE else data, over=over
            )
        self._sent.add(name)
        self._seen[name] = LastKnown(mark, state)

    def _send_track(self, entries: Mapping[str, StoredObject]) -> None:
        """Send the track and its scripts, as they stand at one moment, in an order that is safe to end in."""
        with track_lock(self.folder):
            names = sorted((name for name in self._changed() if _is_of_track(name)), key=_turn)
            texts = {name: (self.folder / name).read_bytes() for name in names}
            states = {name: self._state(name) for name in names}
        first = {name: text for name, text in texts.items() if kind_of(name) is MirroredKind.WRITTEN}
        for name in first.keys() & entries.keys():
            first[name] = _both(texts[name], self.store.read(entries[name].place))
        then = {name: text for name, text in texts.items() if first.get(name) != text}
        for name, data in (*first.items(), *then.items()):
            mark = self.store.write(join(self.place, name), data, over=self._known(name).mark)
            self._sent.add(name)
            self._seen[name] = LastKnown(mark, states[name] if data == texts[name] else None)

    # Both sides

    def _there(self) -> dict[str, StoredObject]:
        entries = names_below(self.store.entries(self.place), self.place)
        return {name: entry for name, entry in entries if kind_of(name) is not None}

    def _changed(self) -> Iterator[str]:
        for path in self.folder.rglob("*"):
            name = path.relative_to(self.folder).as_posix()
            travels = kind_of(name) is not None and path.is_file() and not path.is_symlink()
            if travels and self._state(name) != self._known(name).state:
                yield name

    def _known(self, name: str) -> LastKnown:
        return self._seen.get(name, LastKnown(None, None))

    def _state(self, name: str) -> State | None:
        try:
            state = (self.folder / name).stat()
        except OSError:
            return None
        return state.st_size, state.st_mtime_ns

    def _remember(self) -> None:
        write_text(self.notes, json.dumps(self._seen, sort_keys=True))


def _is_of_track(name: str) -> bool:
    return kind_of(name) in (MirroredKind.SCRIPT, MirroredKind.WRITTEN, MirroredKind.TRACK)


def _turn(name: str) -> tuple[int, str]:
    return (kind_of(name) or 0, name)


def _goes_in_parts(name: str, size: int) -> bool:
    return kind_of(name) is MirroredKind.MEDIA or size >= _LARGE


def _both(new: bytes, old: bytes) -> bytes:
    """``scripts.json`` that knows scripts both as they are and as they will be."""
    coming, earlier = _hashes(new), _hashes(old)
    if not coming:
        return new
    scripts: dict[str, Any] = json.loads(new)["scripts"]
    before = {name: sorted((coming[name] | earlier.get(name, set())) - {scripts[name]}) for name in scripts}
    return readable_json({"scripts": scripts, "before": before}).encode()


def _hashes(record: bytes) -> dict[str, set[str]]:
    """All hashes that a script may have, by its name; none where the record cannot be read."""
    try:
        tree = json.loads(record)
        before = tree.get("before", {})
        return {name: {value, *before.get(name, ())} for name, value in tree["scripts"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


_MEDIA = frozenset(
    {
        *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".ts", ".m2ts", ".mts", ".mxf", ".ogv"),
        *(".wav", ".flac", ".mp3", ".m4a", ".aac", ".ac3", ".eac3", ".opus", ".ogg", ".mka", ".aiff"),
    }
)
_PASSING = (".pack", ".index")
"""Of frames kept for this run alone (`shotad.film.framestore`): far larger than all else, and decoded again
where they are missing."""


class MirroredKind(IntEnum):
    """Kinds of files, in the order in which they are sent: what others rest on comes first."""

    LINES = 1
    """Records that come one by one, and the log."""
    RECORD = 2
    """Other files that are replaced whole."""
    WORKSHEET = 3
    """The worksheet and its pictures: drawn again by each run, and never looked at by one."""
    MEDIA = 4
    """What is rendered: large, and not needed to describe."""
    SCRIPT = 5
    WRITTEN = 6
    """``scripts.json``, which says how scripts were written."""
    TRACK = 7
    MARK = 8
    """That all is done, and by which terms: the last, for who finds it looks no further."""


_OF_NAME = {
    re.compile(r"done\.json"): MirroredKind.MARK,
    # Those of a translation have its language in the middle.
    re.compile(r"track(\.[\w-]+)?\.json"): MirroredKind.TRACK,
    re.compile(r"scripts(\.[\w-]+)?\.json"): MirroredKind.WRITTEN,
    re.compile(r"[^/]+\.ad\.(vtt|srt|dapt\.xml|csv)"): MirroredKind.SCRIPT,
}


def kind_of(name: str) -> MirroredKind | None:
    """The kind of a file by its name within the folder (``voice/a.flac``); None: it stays where it is."""
    path = PurePosixPath(name)
    if any(part.startswith(".") for part in path.parts) or path.suffix in _PASSING:
        return None
    if path.parts[0] == "worksheet" or name == "worksheet.html":
        return MirroredKind.WORKSHEET
    for pattern, kind in _OF_NAME.items():
        if pattern.fullmatch(name):
            return kind
    if path.suffix == ".jsonl" or name == "log.txt":
        return MirroredKind.LINES
    return MirroredKind.MEDIA if path.suffix.lower() in _MEDIA else MirroredKind.RECORD
