"""The work folder: the results of each step for one film, readable by people, safe when a run is killed.

Whole files are replaced by a temporary file and a rename. Records that come one by one are lines of a
``.jsonl`` file, each on the disk before the next begins. Every record carries a key, the hash of all that
changes it: a second run goes on where the first stopped, and redoes only what a change makes stale. Records
hold no clock times, so that equal runs write equal files; ``log.txt`` does.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Self, TypeVar

from filelock import Timeout
from pydantic import BaseModel

from shotad.core.errors import FilmError, FolderInUse, ShotadError, WorkFolderError
from shotad.core.files import (
    DRAFT,
    append_to_file,
    as_work_folder_errors,
    held_folder,
    inner_folder,
    lock_file,
    make_folder,
    read_file,
    refuse_special,
    remove_file,
    remove_leftover,
    write_text,
)
from shotad.core.progress import is_text, printable
from shotad.core.records import parse_json, parse_record, record_in, shape_of
from shotad.core.redaction import redact_sent_secrets
from shotad.core.system import usable_name

Result = TypeVar("Result")

SETTINGS_FILE = "settings.json"
"""The record of a run's settings, which also holds the format of the folder."""

FORMAT = 3
"""The format of a work folder. Raise it when a record changes so that older ones cannot be read any more; a
folder of another format is refused (see `check_format`)."""

_LOCK = ".lock"
_LOCKS = frozenset({_LOCK, ".track.lock"})

_NAMES_OF_OTHER_FILES = re.compile(
    r"log\.txt|transcript\.vtt"
    r"|(?:given-)?track(?:\.[\w-]+)?\.json|review(?:\.begun)?\.json|worksheet\.html|screen\.json"
    r"|material\.json|done\.json|missing\.json|lint-accepted\.txt|frames\.(?:pack|index)|\.(?:\w+\.)?lock"
    r"|\.review\.address|.+\.ad\.(?:vtt|srt|csv|dapt\.xml)"
)
"""Names of our files that are not records with a shape (`shape_of`)."""

_NAMES_OF_FOLDERS = re.compile(r"worksheet|review|voice(?:\.[\w-]+)?")
"""Names of our folders."""

_MAX_STEM_BYTES = 200
"""Bytes of a film's name that go into names of files: most disks take 255 for a whole name, and an ending
follows."""


def hash_key(*parts: Any) -> str:
    """Hash of JSON values: 16 hex digits, the same for the same values on every machine.

    The first part of a record's key is the step that made it and the version of its code: ``shots/3``. Raise
    the number when the step returns something else for the same input; its records are then made again.
    """
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def work_folder_of(film: str | os.PathLike[str]) -> Path:
    """The folder beside the film: ``movie.mp4 → movie.shotad``. Raises FilmError for the root of a disk."""
    path = Path(film)
    if not path.name:  # as "." has none
        path = path.absolute()
    if not path.name:
        raise FilmError(f"{path} is no film.", "Name a film file, or a folder of numbered frames.")
    # The name of a folder of frames has no ending: "scene.01" is a whole name.
    is_folder = os.path.isdir(path)  # without an error for a name that is too long
    stem = _cut(path.name) if is_folder else file_stem(path.name)
    return path.with_name(f"{stem}.shotad")


def file_stem(name: str) -> str:
    """The beginning of names of files made for a film called ``name``: its name without the ending, cut at
    200 bytes, in letters that a name here can have."""
    return film_stem(usable_name(name))


def film_stem(name: str) -> str:
    """A film's name without the ending, cut at 200 bytes; the same on every system."""
    return _cut(PurePosixPath(name).stem or name)


def _cut(name: str) -> str:
    """The name, cut at `_MAX_STEM_BYTES` and between two characters."""
    data = os.fsencode(name)
    if len(data) <= _MAX_STEM_BYTES:
        return name
    return data[:_MAX_STEM_BYTES].decode(errors="ignore").rstrip()


def refuse_special_records(folder: Path) -> None:
    """Check that our files in ``folder`` are plain files, and our folders are folders.

    Raises WorkFolderError for a link, a pipe or a device in the place of one: a folder that came from
    somebody else must not lead us elsewhere.
    """
    with as_work_folder_errors(folder, "cannot be read"):
        names = sorted(os.listdir(folder))
    for name in names:
        if _NAMES_OF_FOLDERS.fullmatch(name):
            inner_folder(folder, name)
        elif _NAMES_OF_OTHER_FILES.fullmatch(name) or shape_of(name) is not None:
            refuse_special(folder / name)


def check_format(folder: Path) -> None:
    """Raise WorkFolderError where ``folder`` has another format, written by another version of shotad.

    Settings that are missing or damaged are not an error here: `read_settings` reports those.
    """
    try:
        settings = parse_json(read_file(folder / SETTINGS_FILE))
        version = settings["schema_version"]
        is_ours = "shotad" in settings
    except (OSError, WorkFolderError, ValueError, KeyError, TypeError):
        return
    if not is_ours or not isinstance(version, int) or version == FORMAT:
        return
    formats = f"format {version}; this one has {FORMAT}"
    if version > FORMAT:
        raise WorkFolderError(
            f"The work folder {folder} was made by a newer shotad ({formats}).",
            "Use that version, or name another with --out.",
        )
    raise WorkFolderError(
        f"The work folder {folder} was made by an older shotad ({formats}).",
        "Name another with --out, or have it made again by shotad describe --force, which keeps the edits in "
        "its track.json.",
    )


class WorkFolder:
    """A work folder, open in a ``with`` block, for one process at a time.

    ``force``: records of earlier runs are not used. Entering it makes the folder where it is missing. It
    raises WorkFolderError for a folder of another format, unless ``force`` is set, and FolderInUse while
    another process has it open.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path = path
        self._force = force
        self._made_by_this_run: set[str] = set()
        """Names of records that this run has asked for: with ``force`` they are used from then on."""
        self._open = ExitStack()
        self._is_new = False

    @property
    def is_outdated(self) -> bool:
        """Whether it has another format: then only the edits of people are read from it."""
        try:
            check_format(self.path)
        except WorkFolderError:
            return True
        return False

    def __enter__(self) -> Self:
        if not is_text(str(self.path.absolute())):
            raise WorkFolderError(
                f"The name of the work folder {printable(str(self.path))} is not in UTF-8.",
                "Name another folder (--out).",
            )
        self._is_new = not os.path.lexists(self.path)
        with as_work_folder_errors(self.path, "cannot be made"):
            make_folder(self.path, self.path, "cannot be made")
        refuse_special_records(self.path)
        if not self._force:
            check_format(self.path)
        lock = lock_file(self.path / _LOCK, timeout=0)
        try:
            with as_work_folder_errors(self.path, "cannot be written"):
                lock.acquire()
        except Timeout:
            raise FolderInUse(
                f"The work folder {self.path} is in use by another shotad.", "Wait until that is done."
            ) from None
        with ExitStack() as resources:
            resources.callback(lock.release)
            resources.enter_context(held_folder(self.path))
            # Only with the lock: without it another run may be writing these files.
            self._sweep()
            self._open = resources.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._is_new and isinstance(error[1], ShotadError):
            self._remove_empty()
        self._open.__exit__(*error)

    def _remove_empty(self) -> None:
        """Remove the folder if it holds nothing but locks: the run was refused before it wrote anything."""
        with suppress(OSError):
            if {*os.listdir(self.path)} <= _LOCKS:
                self._open.close()
                for name in _LOCKS:
                    remove_file(self.path / name)
                self.path.rmdir()

    def _sweep(self) -> None:
        """Remove temporary files and folders of killed runs, here and up to two folders deeper.

        Those of living processes stay: the review page writes beside a run, without the lock of the folder.
        """
        drafts = ".*.part.*"
        for pattern in (".tmp-*", "*/.tmp-*", "*/*/.tmp-*", drafts):
            for leftover in self.path.glob(pattern):
                # A linked folder belongs to somebody else.
                if self._is_behind_link(leftover):
                    continue
                if pattern != drafts or DRAFT.fullmatch(leftover.name):
                    remove_leftover(leftover)

    def _is_behind_link(self, path: Path) -> bool:
        """Whether a folder between this one and ``path`` is a link."""
        for parent in path.relative_to(self.path).parents:
            if parent.name and (self.path / parent).is_symlink():
                return True
        return False

    def cached(
        self,
        name: str,
        key: str,
        make: Callable[[], Result],
        *,
        write: Callable[[Result], Json],
        read: Callable[[dict[str, Any]], Result],
    ) -> Result:
        """The result of a step, made by ``make`` unless ``NAME.json`` holds it under the same key.

        ``write`` returns the content of the record of a result, ``read`` the result of a record. A new result
        is read back too, so that a new and a resumed run see the same values. Raises as `read_record`, and
        what ``make`` raises.
        """
        record = self.record_under_key(name, key)
        if record is None:
            self.write_json(f"{name}.json", {"key": key, **write(make())})
            record = self.read_json(f"{name}.json")
        if record is None:
            raise WorkFolderError(
                f"{self.path / name}.json vanished while it was in use.", "Run again.", again=True
            )
        return read(record)

    def record_under_key(self, name: str, key: str) -> dict[str, Any] | None:
        """The content of ``NAME.json``; None where it is missing, has another key, or has to be redone
        (``force``)."""
        is_forced = self._is_forced(name)
        self._made_by_this_run.add(name)
        if is_forced or self._is_stale(name, key):
            return None
        return self.read_json(f"{name}.json")

    def _is_stale(self, name: str, key: str) -> bool:
        """Whether ``NAME.json`` has another key. Then it is made again, so its shape does not matter."""
        try:
            return bool(parse_json(read_file(self.path / f"{name}.json"))["key"] != key)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return False  # missing or damaged: `read_record` says so

    def log_of_records(self, name: str, *, durable: bool = True) -> RecordLog:
        """The records of ``NAME.jsonl``. ``durable`` as in `RecordLog`.

        With ``force`` the log is empty the first time, and holds the records of this run afterwards.
        """
        log = RecordLog(self.path / f"{name}.jsonl", discard=self._is_forced(name), durable=durable)
        self._made_by_this_run.add(name)
        if log.damaged:
            self.note(f"{name}.jsonl: {log.damaged} damaged records left out")
        return log

    def read_json(self, name: str) -> dict[str, Any] | None:
        """The content of a JSON file, or None where it is missing. Raises as `read_record`."""
        return read_record(self.path / name)

    def write_json(self, name: str, value: Json) -> None:
        """Replace a JSON file whole; lists of records get one line each."""
        self.write_text(name, readable_json(value))

    def write_text(self, name: str, text: str) -> None:
        """Replace a text file whole."""
        write_text(self.path / name, text)

    def note(self, text: str) -> None:
        """Add one line with the time of day to ``log.txt``."""
        stamp = datetime.now(UTC).isoformat(timespec="seconds")
        line = f"{stamp} {redact_sent_secrets(text)}\n"
        append_to_file(self.path / "log.txt", line.encode("utf-8", "backslashreplace"))

    def _is_forced(self, name: str) -> bool:
        """Whether records of this name have to be made again, for they are of an earlier run."""
        return self._force and name not in self._made_by_this_run


class RecordLog:
    """A ``.jsonl`` file of records, read by key and added to. Lines that are damaged or half written are
    skipped.

    Records that no run uses now but that are worth keeping stand in ``NAME.aside.jsonl``. May be called by
    several threads. ``discard``: the records of both files are removed first. ``durable``: each record is on
    the disk before the next begins.
    """

    def __init__(self, path: Path, *, discard: bool = False, durable: bool = True) -> None:
        self._path, self._aside = path, path.with_suffix(".aside.jsonl")
        self._durable, self._lock = durable, threading.Lock()
        self._records: dict[str, dict[str, Any]] = {}
        self.damaged = 0
        """How many lines were skipped."""
        # The file itself last: of two records with the same key its own counts.
        for file in (self._aside, self._path):
            if discard:
                remove_file(file)
                continue
            try:
                raw = read_file(file)
            except FileNotFoundError:
                continue
            # A run that was killed while it wrote leaves a last line without its end.
            whole, newline, rest = raw.rpartition(b"\n")
            for line in whole.splitlines():
                record = parse_record(file.name, line)
                if record is not None and isinstance(record.get("key"), str):
                    self._set(record["key"], record)
                elif line.strip():
                    self.damaged += 1
            if rest or (raw and not newline):
                write_text(file, (whole + newline).decode("utf-8", "replace"))

    def get(self, key: str) -> dict[str, Any] | None:
        """The record with this key, or None."""
        return self._records.get(key)

    def record(self, key: str) -> dict[str, Any]:
        """The record with this key. Raises KeyError where there is none."""
        return self._records[key]

    def records(self) -> tuple[dict[str, Any], ...]:
        """All records, in the order in which their keys were first written."""
        return tuple(self._records.values())

    def add(self, key: str, record: Json) -> dict[str, Any]:
        """Write a record at once. Returns it as it reads back.

        Raises WorkFolderError; then no part of the record is left in the file.
        """
        return self.add_all({key: record})[0]

    def add_all(self, records: Mapping[str, Json]) -> list[dict[str, Any]]:
        """Write records, given by their keys, in one piece. Returns them as they read back.

        A run that is killed has written all of them or none. Raises as `add`.
        """
        lines = {
            key: redact_sent_secrets(_json_line({"key": key, **record})) for key, record in records.items()
        }
        written = {key: json.loads(line) for key, line in lines.items()}
        with self._lock:
            append_to_file(self._path, "".join(lines.values()).encode(), durable=self._durable)
            for key, record in written.items():
                self._set(key, record)
        return list(written.values())

    def _set(self, key: str, record: dict[str, Any]) -> None:
        """Put the record last, also where there is an older one with this key."""
        self._records.pop(key, None)
        self._records[key] = record

    def keep(self, keys: Iterable[str], spare: Callable[[Json], object] = lambda _: None) -> None:
        """Rewrite the file with just the records of ``keys``, in this order. Keys without a record are
        skipped.

        ``spare`` returns a name for each other record: of those with the same name the last is kept aside.
        Those with the name None are dropped.
        """
        kept_records = {key: self._records[key] for key in keys if key in self._records}
        aside: dict[object, Json] = {}
        for key, record in self._records.items():
            name = spare(record) if key not in kept_records else None
            if name is not None:
                aside[name] = record
        if aside or self._aside.exists():
            write_text(self._aside, "".join(map(_json_line, aside.values())))
        write_text(self._path, "".join(map(_json_line, kept_records.values())))


def _json_line(record: Json) -> str:
    """The line of a record in a ``.jsonl`` file."""
    return json.dumps(record, ensure_ascii=False, default=plain) + "\n"


def plain(value: Any) -> Any:
    """Settings, numpy arrays and numbers as JSON values. Raises TypeError for other objects."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no JSON value")


_REPAIR_HINT = "Correct it there, or delete the file: shotad describe makes it again."


def read_record(path: Path, hint: str = _REPAIR_HINT) -> dict[str, Any] | None:
    """The content of a JSON file of a work folder; None where there is no such file.

    Raises WorkFolderError, with the place of the error and ``hint``, where it is damaged. It is not made
    again silently: it may hold edits of a person.
    """
    try:
        data = read_file(path)
    except FileNotFoundError:
        return None
    try:
        return record_in(path.name, data)
    except ValueError as error:
        raise WorkFolderError(f"{path} is damaged: {error}.", hint) from None


Json = Mapping[str, Any]


def readable_json(value: Json) -> str:
    """JSON for people: one line for each top-level value, and one for each record of a list."""
    parts = []
    for key, inner in value.items():
        if isinstance(inner, list) and inner and isinstance(inner[0], (dict, list)):
            rows = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in inner)
            parts.append(f"  {json.dumps(key)}: [\n{rows}\n  ]")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(inner, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
