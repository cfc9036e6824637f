"""The files of a work folder that a session reads and writes, and what other programs changed in them.

`TrackFile` is the track, `SideScripts` the scripts beside it, `WatchedFile` a record that is read again when
it changes. `OutsideChanges` holds lines that others changed until the page is told of them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Generic, TypeVar

from shotad.core import ShotadError, WorkFolder
from shotad.core.errors import ScriptError, WorkFolderError
from shotad.core.files import (
    as_work_folder_errors,
    is_busy,
    read_file,
    write_bytes,
)
from shotad.review.messages import Sentence, message
from shotad.review.timeline import Change
from shotad.script import (
    Cue,
    Format,
    Track,
)
from shotad.script.cue import REDO
from shotad.script.newer import content_stamp
from shotad.script.track import (
    cue_block,
    cue_span,
    from_json,
    to_json,
)
from shotad.script.track_files import (
    SCRIPTS_RECORD,
    are_scripts_current,
    edited_line_stamps,
    edited_scripts,
    script_places,
    script_texts,
    with_edits_of_scripts,
    write_texts,
)


class SideScripts:
    """The scripts in ``folder`` for the film called ``film_name``. Callers must hold the track's lock.

    Scripts that people edited and that cannot be imported are left as they are; the others follow the track.
    """

    def __init__(self, folder: Path, film_name: str) -> None:
        self._folder, self._film_name = folder, film_name
        self._files = (*script_places(folder, film_name), folder / SCRIPTS_RECORD)
        # As they were last read or written here
        self._last_signatures: dict[Path, Signature] = {}
        # Scripts with edits that could not be imported, and why
        self._blocked: frozenset[Path] = frozenset()
        self._problem: ShotadError | None = None

    @property
    def is_stale(self) -> bool:
        """Whether a file has changed since it was last read or written here."""
        return self._signatures() != self._last_signatures

    def _signatures(self) -> dict[Path, Signature]:
        return {path: signature(path) for path in self._files}

    def import_edits(self, track: Track) -> tuple[Track, ShotadError | None]:
        """The track with what people changed in the scripts, and the error where not all could be imported.

        The same track object where the scripts are as before, or nothing in them is new. The error is told
        as long as they are the same.
        """
        current_signatures = self._signatures()
        if current_signatures == self._last_signatures:
            return track, self._problem
        self._last_signatures, self._blocked, self._problem = current_signatures, frozenset(), None
        edited = edited_scripts(self._folder, self._film_name, track)

        def imported(scripts: Sequence[tuple[Format, Path]]) -> Track:
            return with_edits_of_scripts(track, WorkFolder(self._folder), scripts)

        def can_import(scripts: Sequence[tuple[Format, Path]]) -> bool:
            try:
                imported(scripts)
            except ShotadError:
                return False
            return True

        try:
            return imported(edited), None
        except ShotadError as error:
            # Import those that contradict neither the track nor each other.
            usable = [script for script in edited if can_import([script])]
            contradicting: set[Path] = set()
            for pair in combinations(usable, 2):
                if not can_import(pair):
                    contradicting.update(path for _, path in pair)
            good = [(form, path) for form, path in usable if path not in contradicting]
            self._blocked = frozenset(path for _, path in edited) - {path for _, path in good}
            self._problem = error
            return imported(good), error

    def texts(self, track: Track) -> Mapping[Path, str]:
        """The text of each script of a track, by path."""
        return script_texts(track, self._folder, self._film_name)

    def write(self, texts: Mapping[Path, str], track: Track) -> None:
        """Write the scripts of ``track`` whose text has changed, except those with edits that could not be
        imported."""
        writable = {path: text for path, text in texts.items() if path not in self._blocked}
        edited = {path for _, path in edited_scripts(self._folder, self._film_name)}
        all_exist = all(path.is_file() for path in writable)
        if not (all_exist and are_scripts_current(writable, self._folder) and not edited & writable.keys()):
            write_texts(writable, self._folder, stamps=edited_line_stamps(track))
            # Only of what was written: what somebody did to the others meanwhile is still to be read, and to
            # these since. Signatures come first, so that a change after the look makes another.
            written = {*writable, self._folder / SCRIPTS_RECORD}
            current_signatures = self._signatures()
            written -= {path for _, path in edited_scripts(self._folder, self._film_name)}
            for path in written & current_signatures.keys():
                self._last_signatures[path] = current_signatures[path]


K = TypeVar("K")
T = TypeVar("T")

Signature = tuple[int, int, int] | None
"""Time of change (ns), size (bytes) and inode of a file, by which a change is noticed; None: no file."""


def signature(path: Path) -> Signature:
    """The signature of one file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def signatures(paths: Iterable[Path]) -> tuple[Signature, ...]:
    """The signatures of several files, in order."""
    return tuple(signature(path) for path in paths)


@dataclass(slots=True, eq=False)
class WatchedFile(Generic[K, T]):
    """The parsed contents of a file, read again when it has changed; empty where there is no file."""

    path: Path
    parse: Callable[[Path], Mapping[K, T]]
    _last_signature: Signature = None
    _contents: Mapping[K, T] = field(default_factory=dict)

    def read(self) -> Mapping[K, T]:
        """What ``parse(path)`` returns for the file as it is now. Raises what ``parse`` does."""
        current = signature(self.path)
        if current != self._last_signature:
            # A file that goes between the two calls: keep what was read before, and try again next time.
            with suppress(FileNotFoundError):
                self._contents, self._last_signature = self.parse(self.path) if current else {}, current
        return self._contents


_CACHED_LINES = 1 << 14
"""Lines of which the text in the file is kept: more than a film has."""


class TrackFile:
    """The file of a track, and the signature and bytes with which it was last read or written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last_signature: Signature = None
        self._data: bytes | None = None

    @property
    def is_stale(self) -> bool:
        """Whether the file is another than the one that was last read or written."""
        return self._last_signature is None or signature(self.path) != self._last_signature

    def forget(self) -> None:
        """Read the file again at the next `read_if_changed`, whatever it holds."""
        self._last_signature, self._data = None, None

    def read_if_changed(self) -> Track | None:
        """The track, if it is not the one that was last read or written; else None.

        Raises ScriptError while it cannot be read or understood, OSError where no more files can be opened.
        """
        current = signature(self.path)
        if current is not None and current == self._last_signature:
            return None
        try:
            data = read_file(self.path)
            text = data.decode("utf-8-sig")
        except WorkFolderError as error:
            raise ScriptError(error.what, error.hint) from None
        except (OSError, UnicodeDecodeError) as error:
            if is_busy(error):  # the file is good, and nobody has to mend it
                with as_work_folder_errors(self.path, "cannot be read"):
                    raise
            raise ScriptError(f"The track {self.path} cannot be read: {error}.") from None
        # A file that was written again unchanged is no change.
        track = None if data == self._data else from_json(text, str(self.path))
        self._last_signature, self._data = current, data
        return track

    def write(self, track: Track) -> None:
        """Replace the file; it is on the disk when this returns. Raises WorkFolderError."""
        data = to_json(track, _cached_block, _cached_span).encode()
        write_bytes(self.path, [data])
        self._last_signature, self._data = signature(self.path), data


# Lines that did not change keep their text: writing 2,000 takes 13 ms, and 340 ms without.
_cached_block = lru_cache(_CACHED_LINES)(cue_block)
_cached_span = lru_cache(_CACHED_LINES)(cue_span)

OldLines = Mapping[str, Cue | None]
"""Lines that have changed, by id, as they were before; None: they were not in the track."""


def differences(before: Track, after: Track) -> OldLines:
    """The lines that are not the same objects in two states of a track, as they were before."""
    if before is after:
        return {}
    old = {cue.id: cue for cue in before.cues}
    new = {cue.id: cue for cue in after.cues}
    changed_ids = [line_id for line_id in (*new, *old) if old.get(line_id) is not new.get(line_id)]
    return {line_id: old.get(line_id) for line_id in changed_ids}


class OutsideChanges:
    """Lines that other programs or jobs changed: which were not reported yet, and which a job may have
    written. True where something is not reported."""

    def __init__(self) -> None:
        self._unreported: dict[str, Cue | None] = {}
        # What was read since the last job, or since the present one began
        self._since_job: dict[str, Cue | None] = {}
        self._job_runs = False

    def __bool__(self) -> bool:
        return bool(self._unreported)

    def add(self, old_lines: OldLines) -> None:
        """Lines have changed on the disk. Of a line that changed twice the oldest state is kept."""
        self._unreported = {**old_lines, **self._unreported}
        self._since_job = {**old_lines, **self._since_job}

    def begin_job(self) -> None:
        """From now on, what changes was written by the job that begins, which reports it itself."""
        self._since_job, self._job_runs = {}, True

    def end_job(self, track: Track, last_read: OldLines) -> OldLines:
        """The lines that a job wrote, which ends now, as they were before it.

        Where `begin_job` was not called: those just read from the disk (``last_read``), and those of
        ``track`` that were described again.
        """
        if self._job_runs:
            job_ids = set(self._since_job)
        else:
            job_ids = set(last_read)
            job_ids |= {cue.id for cue in track.cues if cue.edited is not None and cue.edited.source == REDO}
        of_job = {line_id: old for line_id, old in self._since_job.items() if line_id in job_ids}
        self._since_job, self._job_runs = {}, False
        return {**last_read, **of_job}

    def take_unreported(self, reported: Container[str], track: Track) -> Change:
        """The change that nobody was told of, without lines whose ids are ``reported``; it counts as reported
        from now on. ``track`` has the lines as they are now.

        The message does not count lines that a render only spoke, and is empty while a job runs.
        """
        before = {
            line_id: old for line_id, old in sorted(self._unreported.items()) if line_id not in reported
        }
        self._unreported = {}
        current = {cue.id: cue for cue in track.cues}
        removed_ids = tuple(line_id for line_id in before if line_id not in current)
        cues = tuple(current[line_id] for line_id in before if line_id in current)
        count = 0
        if not self._job_runs:
            count = len(removed_ids)
            for cue in cues:
                old = before[cue.id]
                if old is None or content_stamp(old) != content_stamp(cue):
                    count += 1
        said: Sentence = ""
        if count:
            said = message("act.changed_outside", count=count)
        return Change(said, cues, removed_ids)
