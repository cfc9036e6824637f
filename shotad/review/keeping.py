"""The files of a work folder as a session knows them: its track, scripts beside it, records that may change.

Edits in the scripts come in, and the scripts follow the track, which is written whole and at once. And what
others have changed of it that nobody was told of yet.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Generic, TypeVar

from shotad.core import (
    ScriptError,
    ShotadError,
    WorkFolder,
    WorkFolderError,
    explained,
    is_busy,
    plural,
    read_file,
    write_bytes,
)
from shotad.review.scene import Change
from shotad.script import (
    REDO,
    WRITTEN,
    Cue,
    Format,
    Track,
    are_written,
    content_stamp,
    cue_block,
    cue_span,
    edited_scripts,
    from_json,
    script_places,
    script_texts,
    to_json,
    with_scripts,
    write_texts,
)


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
        edited = edited_scripts(self._folder, self._name, track)

        def brought(scripts: Sequence[tuple[Format, Path]]) -> Track:
            return with_scripts(track, WorkFolder(self._folder), scripts)

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


_LINES = 1 << 14


class TrackFile:
    """The file of a track, as far as this process knows it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: Signature = None
        self._data: bytes | None = None

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
            data = read_file(self.path)
            text = data.decode("utf-8-sig")
        except WorkFolderError as error:
            raise ScriptError(error.what, error.hint) from None
        except (OSError, UnicodeDecodeError) as error:
            if is_busy(error):  # the file is good, and nobody has to mend it
                with explained(self.path, "cannot be read"):
                    raise
            raise ScriptError(f"The track {self.path} cannot be read: {error}.") from None
        track = None if data == self._data else from_json(text, str(self.path))
        self._known, self._data = now, data
        return track

    def write(self, track: Track) -> None:
        """Replace the file; it is on the disk when this returns. Raises WorkFolderError."""
        data = to_json(track, _block, _span).encode()
        write_bytes(self.path, [data])
        self._known, self._data = signature(self.path), data


_block, _span = lru_cache(_LINES)(cue_block), lru_cache(_LINES)(cue_span)
"""Lines that did not change keep their text: writing 2,000 takes 13 ms, and 340 ms without."""

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
        others = sum(old is None or content_stamp(old) != content_stamp(cue) for old, cue in olds)
        number = 0 if self._expects else len(gone) + others
        what = plural(number, "line was", "lines were")
        said = f"{what} changed by another program." if number else ""
        return Change(said, cues, gone)
