"""A work folder in a store and its copy on this machine, kept alike by a look at both sides.

What was last alike is remembered of each file, from run to run: its mark in the store, and its state here.
Whatever differs from that was changed: here by the run, there by others. What others changed is never written
over: it comes down where this run has not changed the same file, lines of records are laid together, a track
that a person edited keeps the edits, and anything else is refused.

``scripts.json`` says how scripts were written, and one that is not so is somebody's work. So it goes up first
with the hashes of what is there and of what is coming, then the scripts, then it alone as it is, and the
track last: who finds that finds all it rests on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path, PurePosixPath
from typing import Any

from shotad.batch.fetching import check_room, fetch_object
from shotad.batch.jobs import DONE
from shotad.batch.places import Addresses, join, shown
from shotad.batch.store import Entry, Store, names_below
from shotad.batch.store_errors import Refused
from shotad.core import (
    SETTINGS,
    EditConflict,
    Progress,
    ShotadError,
    StorageError,
    readable_json,
    reported,
    write_bytes,
    write_text,
)
from shotad.script import TRACK, derive, load_track, save_track, track_lock, without_edits

State = tuple[int, int]
"""Size in bytes and time of writing in ns, by which a file here is known to be untouched."""


@dataclass(frozen=True, slots=True)
class Seen:
    """How a file was when both sides were last alike: None where a side had none."""

    mark: str | None
    state: State | None


def read_seen(notes: Path) -> dict[str, Seen]:
    """What was written down, by the name of the file; nothing where it cannot be read."""
    try:
        rows = json.loads(notes.read_text(encoding="utf-8"))
        return {
            str(name): Seen(mark, None if state is None else (int(state[0]), int(state[1])))
            for name, (mark, state) in rows.items()
        }
    except (OSError, ValueError, TypeError, AttributeError, IndexError):
        return {}


def write_seen(notes: Path, seen: Mapping[str, Seen]) -> None:
    """Write it down."""
    rows = {name: [one.mark, one.state] for name, one in sorted(seen.items())}
    write_text(notes, json.dumps(rows))


_LARGE = 32 << 20
"""Bytes from which on a file is sent in parts, from the disk."""
_SIDE_BY_SIDE = 8
_TRIES = 3
_TIME = "shotad-mtime-ns"


@dataclass(slots=True)
class Mirror:
    """The copy ``folder`` of the work folder at ``place``; ``notes`` is where what was seen is kept.

    ``media``: whether what earlier runs rendered is wanted here too. ``progress`` tells of large files.
    """

    store: Store
    place: str
    folder: Path
    notes: Path
    addresses: Addresses
    progress: Progress
    media: bool = False
    _seen: dict[str, Seen] = field(default_factory=dict)
    _others: dict[str, bytes] = field(default_factory=dict)
    _sent: set[str] = field(default_factory=set)

    def bring_down(self) -> None:
        """Make the copy: what the run needs of the folder. What an earlier run could not send stays."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._seen = read_seen(self.notes)
        there = self._there()
        self._leave_media(there)
        missing = {name for name in there if self._state(name) is None and not self._stays(name)}
        news = {
            name: entry
            for name, entry in there.items()
            if name in missing or self._known(name).mark != entry.mark
        }
        check_room(self.folder, sum(entry.size or 0 for entry in news.values()), self.place)
        amiss = self._take_in(news, begins=True)
        if amiss:
            self._give_way(amiss, there)
        self._remember()

    @property
    def unsent(self) -> bool:
        """Whether anything here differs from what was last alike on both sides."""
        return any(True for _ in self._changed())

    def sync(self) -> None:
        """Bring both sides together. Raises StorageError for what cannot be, when all else has been sent."""
        for attempt in range(_TRIES):
            try:
                self._sync()
                return
            except Refused as trouble:
                if attempt == _TRIES - 1:
                    raise StorageError(
                        f"{shown(str(trouble))} is being written by others all the time.",
                        "Run again later.",
                        again=True,
                    ) from None
            finally:
                self._remember()

    def _sync(self) -> None:
        there = self._there()
        self._leave_media(there)
        self._forget_removed(there)
        changed = {name: entry for name, entry in there.items() if self._known(name).mark != entry.mark}
        amiss = self._take_in(changed)
        blocked = {name for name, entry in there.items() if self._known(name).mark != entry.mark}
        self._send_files(blocked)
        if not any(_is_of_track(name) for name in blocked):
            self._send_track(there)
        if not blocked and self._state(DONE) not in (None, self._known(DONE).state):
            self._send_file(DONE)
        self._remove_own(there)
        for trouble in amiss.values():
            raise trouble

    # What comes down

    def _stays(self, name: str) -> bool:
        """Whether a file is not needed here."""
        kind = kind_of(name)
        return kind is Kind.OVERVIEW or (kind is Kind.MEDIA and not self.media)

    def _leave_media(self, there: Mapping[str, Entry]) -> None:
        """What is not needed here stays there, and may be made anew in its place."""
        for name, entry in there.items():
            here = self._state(name)
            if self._stays(name) and (name not in self._seen or here == self._known(name).state):
                self._seen[name] = Seen(entry.mark, here)

    def _forget_removed(self, there: Mapping[str, Entry]) -> None:
        """What others removed stays so, unless the run changes it again: then it is there anew."""
        for name, seen in self._seen.items():
            if seen.mark is not None and name not in there:
                self._seen[name] = Seen(None, seen.state)

    def _give_way(self, names: Collection[str], there: Mapping[str, Entry]) -> None:
        """Put what is there in place of what an earlier run left here and cannot be laid together with it.

        Track and scripts are one: they go together. All of it is made again from records, which stay.
        """
        whole = any(_is_of_track(name) for name in names)
        theirs = {
            name: entry for name, entry in there.items() if name in names or (whole and _is_of_track(name))
        }
        for name in theirs:
            (self.folder / name).unlink(missing_ok=True)
        self._take_in({name: entry for name, entry in theirs.items() if not self._stays(name)}, begins=True)

    def _take_in(self, news: Mapping[str, Entry], *, begins: bool = False) -> dict[str, ShotadError]:
        """Take in what others wrote; what cannot be laid together with what is here, by name.

        ``begins``: no run has files open here yet. All is read first: nothing is waited for while the track
        is locked.
        """

        def fetched(name: str) -> bytes | None:
            return self._fetched(name, news[name], begins=begins)

        with ThreadPoolExecutor(_SIDE_BY_SIDE, "bring") as pool:
            texts = dict(zip(news, pool.map(fetched, news), strict=True))
        records = [data for name, data in texts.items() if kind_of(name) is Kind.WRITTEN and data is not None]
        amiss: dict[str, ShotadError] = {}
        with track_lock(self.folder):
            for name, data in texts.items():
                if data is not None:
                    try:
                        self._meet(name, news[name], data, records, begins=begins)
                    except ShotadError as trouble:
                        amiss[name] = trouble
        return amiss

    def _fetched(self, name: str, entry: Entry, *, begins: bool) -> bytes | None:
        """The content of a file; None where it was removed since the folder was listed, or is here now."""
        try:
            if kind_of(name) is Kind.MEDIA:
                # It may be larger than the memory. Empty: both sides changed it.
                return None if self._bring_media(name, entry, begins=begins) else b""
            data = self.store.read(entry.place)
        except FileNotFoundError:
            return None
        return self.addresses.back(data) if name == SETTINGS else data

    def _bring_media(self, name: str, entry: Entry, *, begins: bool) -> bool:
        """Fetch what was rendered, with the time at which it was, by which it is known to be untouched.

        Returns whether what is here now is what is there.
        """
        path, here = self.folder / name, self._state(name)
        told = self.store.note_of(entry.place).get(_TIME)
        if here is None or (entry.size, told) != (here[0], str(here[1])):
            if not begins and here not in (None, self._known(name).state):
                return False
            path.parent.mkdir(parents=True, exist_ok=True)
            fetch_object(self.store, entry, path)
            if told:
                os.utime(path, ns=(int(told), int(told)))
        self._seen[name] = Seen(entry.mark, self._state(name))
        return True

    def _meet(self, name: str, entry: Entry, data: bytes, records: list[bytes], *, begins: bool) -> None:
        """Take in one file. Raises StorageError where both sides changed it and cannot be laid together."""
        path, kind, here, known = self.folder / name, kind_of(name), self._state(name), self._known(name)
        if here is None or (here == known.state and kind is not Kind.LINES):
            write_bytes(path, [data])
            self._seen[name] = Seen(entry.mark, self._state(name))
        elif kind is not Kind.MEDIA and path.read_bytes() == data:
            self._seen[name] = Seen(entry.mark, here)
        elif kind is Kind.LINES:
            others = lines_of_others(data, path.read_bytes())
            if begins:
                write_bytes(path, [with_lines(others, path.read_bytes())])
            else:
                # A run has the file open: the lines of others go before its own when it is sent.
                self._others[name] = others
            self._seen[name] = Seen(entry.mark, None)
        elif name == TRACK:
            self._merge(name, entry, data)
        elif kind is Kind.WRITTEN or (kind is Kind.SCRIPT and is_as_written(name, data, records)):
            self._seen[name] = Seen(entry.mark, None)
        else:
            raise self._refusal(entry)

    def _merge(self, name: str, entry: Entry, theirs: bytes) -> None:
        try:
            merge_track(self.folder, theirs)
        except EditConflict as trouble:
            raise StorageError(
                f"{shown(entry.place)}: {trouble.what}", trouble.hint, again=trouble.again
            ) from None
        self._seen[name] = Seen(entry.mark, None)

    def _refusal(self, entry: Entry) -> StorageError:
        return StorageError(
            f"{shown(entry.place)} was changed by others while this run made its own; theirs stays.",
            "Run again, to go on from theirs: what this run was answered is kept.",
            again=True,
        )

    # What goes up

    def _send_files(self, blocked: set[str]) -> None:
        own = (name for name in self._changed() if (kind_of(name) or Kind.MARK) < Kind.SCRIPT)
        names = [name for name in own if name not in blocked]
        for name in sorted(names, key=lambda name: (kind_of(name) or 0, name)):
            self._send_file(name)

    def _send_file(self, name: str) -> None:
        path, place, over = self.folder / name, join(self.place, name), self._known(name).mark
        state = self._state(name)
        if state is None:
            return
        if kind_of(name) is Kind.MEDIA or state[0] >= _LARGE:
            note = {_TIME: str(state[1])}
            with reported(self.progress, f"Sending {path.name}", state[0], "B") as task:
                mark = self.store.send(path, place, over=over, note=note, done=task.advance)
        else:
            data = path.read_bytes()
            if kind_of(name) is Kind.LINES:
                data = with_lines(self._others.get(name, b""), data)
            mark = self.store.write(place, self.addresses.out(data) if name == SETTINGS else data, over=over)
        self._sent.add(name)
        self._seen[name] = Seen(mark, state)

    def _send_track(self, there: Mapping[str, Entry]) -> None:
        """Send the track and its scripts, as they stand at one moment, in an order that is safe to end in."""
        with track_lock(self.folder):
            names = [name for name in self._changed() if _is_of_track(name)]
            texts = {name: (self.folder / name).read_bytes() for name in names}
            states = {name: self._state(name) for name in names}

        def there_now(name: str) -> bytes | None:
            return self.store.read(there[name].place) if name in there else None

        for name, data in in_order(texts, there_now):
            mark = self.store.write(join(self.place, name), data, over=self._known(name).mark)
            whole = data == texts[name]
            self._sent.add(name)
            self._seen[name] = Seen(mark, states[name] if whole else None)

    def _remove_own(self, there: Mapping[str, Entry]) -> None:
        """Remove there what this run sent, has removed here, and nobody has changed since."""
        for name in [name for name in self._sent if self._state(name) is None]:
            self._sent.discard(name)
            if name in there and there[name].mark == self._known(name).mark:
                self.store.remove(there[name].place)
            self._seen.pop(name, None)

    # Both sides

    def _there(self) -> dict[str, Entry]:
        found = names_below(self.store.entries(self.place), self.place)
        return {name: entry for name, entry in found if kind_of(name) is not None}

    def _changed(self) -> Iterator[str]:
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            travels = kind_of(name) is not None and path.is_file() and not path.is_symlink()
            if travels and self._state(name) != self._known(name).state:
                yield name

    def _known(self, name: str) -> Seen:
        return self._seen.get(name, Seen(None, None))

    def _state(self, name: str) -> State | None:
        try:
            found = (self.folder / name).stat()
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns

    def _remember(self) -> None:
        write_seen(self.notes, self._seen)


def _is_of_track(name: str) -> bool:
    kind = kind_of(name)
    return kind is not None and kind.is_of_track


def lines_of_others(theirs: bytes, ours: bytes) -> bytes:
    """The whole lines of ``theirs`` that ``ours`` has not."""
    known = set(_whole(ours).splitlines(keepends=True))
    return b"".join(line for line in _whole(theirs).splitlines(keepends=True) if line not in known)


def with_lines(others: bytes, ours: bytes) -> bytes:
    """Lines of others, then ours; a line that is still being written is left for the next time."""
    return others + _whole(ours)


def merge_track(folder: Path, theirs: bytes) -> None:
    """Lay the edits of a track that others wrote over that of ``folder``, and write it with its scripts.

    The usual rules hold: a person's line stays as it is, the machine's is kept beside it. Whoever calls holds
    the track's lock. Raises EditConflict and ScriptError.
    """
    other = folder / f".theirs.{TRACK}"
    try:
        other.write_bytes(theirs)
        edited, own = load_track(other), load_track(folder / TRACK)
    finally:
        other.unlink(missing_ok=True)
    merged = derive(edited, without_edits(own)).track
    save_track(merged, folder, own.film.name)


def _whole(data: bytes) -> bytes:
    whole, newline, _ = data.rpartition(b"\n")
    return whole + newline


Texts = Mapping[str, bytes]
"""Track, scripts and ``scripts.json``, by name."""


def in_order(texts: Texts, there: Callable[[str], bytes | None]) -> Iterator[tuple[str, bytes]]:
    """What is to be written, one after the other; ``there`` gives what is in the store now."""
    first: dict[str, bytes] = {}
    for name in sorted(texts):
        if kind_of(name) is Kind.WRITTEN:
            before = there(name)
            first[name] = texts[name] if before is None else _both(texts[name], before)
            yield name, first[name]
    for name in sorted(texts, key=lambda name: (kind_of(name) or 0, name)):
        if first.get(name) != texts[name]:
            yield name, texts[name]


def is_as_written(name: str, script: bytes, records: Iterable[bytes]) -> bool:
    """Whether a script is as one of the ``scripts.json`` says that it was written: nobody's own work."""
    digest = hashlib.sha256(script).hexdigest()
    return any(digest in hashes for record in records for hashes in (_hashes(record).get(name, set()),))


def _both(new: bytes, old: bytes) -> bytes:
    """``scripts.json`` that knows scripts both as they are and as they will be."""
    coming, known = _hashes(new), _hashes(old)
    if not coming:
        return new
    scripts: dict[str, Any] = json.loads(new)["scripts"]
    before = {name: sorted((coming[name] | known.get(name, set())) - {scripts[name]}) for name in scripts}
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
_DONE = re.compile(re.escape(DONE))
_SCRIPT = re.compile(r".+\.ad\.(vtt|srt|dapt\.xml|csv)", re.DOTALL)
_TRACK = re.compile(r"track(\.[\w-]+)?\.json")
_WRITTEN = re.compile(r"scripts(\.[\w-]+)?\.json")
"""Those of a translation have its language in the middle."""
_PASSING = (".pack", ".index")
"""Of frames kept for this run alone (`shotad.film.framestore`): far larger than all else, and decoded again
where they are missing."""


class Kind(IntEnum):
    """Kinds of files, in the order in which they are sent: what others rest on comes first."""

    LINES = 1
    """Records that come one by one, and the log."""
    RECORD = 2
    """Other files that are replaced whole."""
    OVERVIEW = 3
    """The overview: drawn anew by each run, and never looked at by one."""
    MEDIA = 4
    """What is rendered: large, and not needed to describe."""
    SCRIPT = 5
    WRITTEN = 6
    """``scripts.json``, which says how scripts were written."""
    TRACK = 7
    MARK = 8
    """That all is done, and by which terms: the last, for who finds it looks no further."""

    @property
    def is_of_track(self) -> bool:
        """Whether it is written together with the track."""
        return Kind.SCRIPT <= self <= Kind.TRACK


def kind_of(name: str) -> Kind | None:
    """The kind of a file by its name within the folder (``voice/a.flac``); None: it stays where it is."""
    path = PurePosixPath(name)
    if any(part.startswith(".") for part in path.parts) or path.suffix in _PASSING:
        return None
    if name == "overview.html":
        return Kind.OVERVIEW
    if len(path.parts) == 1 and (known := _of_track(name)) is not None:
        return known
    if path.suffix == ".jsonl" or name == "log.txt":
        return Kind.LINES
    return Kind.MEDIA if path.suffix.lower() in _MEDIA else Kind.RECORD


def _of_track(name: str) -> Kind | None:
    patterns = {Kind.MARK: _DONE, Kind.TRACK: _TRACK, Kind.WRITTEN: _WRITTEN, Kind.SCRIPT: _SCRIPT}
    return next((kind for kind, pattern in patterns.items() if pattern.fullmatch(name)), None)
