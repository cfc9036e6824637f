"""The work folder: what has been done for one film, readable by people, safe against being killed.

Whole files are replaced by a temporary file and a rename; records that come one by one are lines of
a ``.jsonl`` file, each on the disk before the next begins. Every record carries a key, the hash of
all that changes it, so that a second run goes on where the first stopped and redoes only what a
change makes stale. Records hold no clock times; ``log.txt`` does.
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
from pathlib import Path
from typing import Any, Self, TypeVar

from filelock import Timeout
from pydantic import BaseModel

from shotad.core.errors import InUse, ShotadError, WorkFolderError
from shotad.core.files import (
    DRAFT,
    append,
    explained,
    held_folder,
    inner_folder,
    lock_file,
    make_folder,
    read_file,
    refuse_special,
    sweep,
    write_text,
)
from shotad.core.progress import is_text, printable
from shotad.core.records import parse_json, record_in, shape_of, whole_record
from shotad.core.redaction import without_sent_secrets

Result = TypeVar("Result")

SETTINGS = "settings.json"
"""The record of what a run was asked to do, which also says which format the folder has."""

FORMAT = 3
"""The format of a work folder. Raise it when a record changes so that those made before cannot be read any
more; a folder of another format is refused (see `check_format`)."""

_LOCK = ".lock"
_LOCKS = frozenset({_LOCK, ".track.lock"})

_OTHER_FILES = re.compile(
    r"log\.txt|(?:given-)?track(?:\.[\w-]+)?\.json|review(?:\.begun)?\.json|worksheet\.html|screen\.json"
    r"|material\.json|done\.json|missing\.json|lint-accepted\.txt|frames\.(?:pack|index)|\.(?:\w+\.)?lock"
    r"|\.review\.address|.+\.ad\.(?:vtt|srt|csv|dapt\.xml)"
)
"""Names of our files that are no records with a shape."""

_FOLDERS = re.compile(r"worksheet|review|voice(?:\.[\w-]+)?")
"""Names of our folders."""

_LONGEST_STEM = 200
"""Bytes of a film's name that names of files take over: 255 are what most disks take for a whole name."""


def key_of(*parts: Any) -> str:
    """Hash of JSON values: 16 hex digits, the same for the same values on every machine.

    The first part of a record's key is the step that made it and the version of its code: ``shots/3``. Who
    changes what a step finds for the same input raises the number, and its records are made again.
    """
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def work_folder_of(film: str | os.PathLike[str]) -> Path:
    """The folder beside the film: ``movie.mp4 → movie.shotad``."""
    path = Path(film)
    return path.with_name(f"{_cut(path.name) if path.is_dir() else stem_of(path.name)}.shotad")


def stem_of(name: str) -> str:
    """What files made for a film called ``name`` begin with: its name without the ending, cut at 200 bytes,
    so that there is room for what comes after."""
    return _cut(Path(name).stem or name)


def _cut(name: str) -> str:
    data = os.fsencode(name)
    return name if len(data) <= _LONGEST_STEM else data[:_LONGEST_STEM].decode(errors="ignore").rstrip()


def refuse_special_records(folder: Path) -> None:
    """Raise WorkFolderError where a link, a pipe or a device in ``folder`` has the name of one of our files,
    or anything but a folder that of one of our folders."""
    with explained(folder, "cannot be read"):
        names = sorted(os.listdir(folder))
    for name in names:
        if _FOLDERS.fullmatch(name):
            inner_folder(folder, name)
        elif _OTHER_FILES.fullmatch(name) or shape_of(name) is not None:
            refuse_special(folder / name)


def check_format(folder: Path) -> None:
    """Raise WorkFolderError where another version of shotad wrote ``folder``, in another format.

    Settings that are missing or cannot be read say nothing of it: `read_settings` judges those.
    """
    try:
        settings = parse_json(read_file(folder / SETTINGS))
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
    """An open work folder, held by one process at a time.

    ``force``: no record that is in it is used again. Entering it raises WorkFolderError for a folder of
    another format, unless ``force`` is set, and InUse while another process holds it.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path = path
        self._force = force
        self._fresh: set[str] = set()
        self._open = ExitStack()
        self._is_new = False

    @property
    def is_outdated(self) -> bool:
        """Whether another version of shotad wrote it: only what people did is read of it."""
        try:
            check_format(self.path)
        except WorkFolderError:
            return True
        return False

    def __enter__(self) -> Self:
        if not is_text(str(self.path.absolute())):
            raise WorkFolderError(
                f"The name of the work folder {printable(str(self.path))} is not in UTF-8.",
                "Name another folder (--out, where the command takes it).",
            )
        self._is_new = not os.path.lexists(self.path)
        with explained(self.path, "cannot be made"):
            make_folder(self.path, self.path, "cannot be made")
        refuse_special_records(self.path)
        if not self._force:
            check_format(self.path)
        lock = lock_file(self.path / _LOCK, timeout=0)
        try:
            with explained(self.path, "cannot be written"):
                lock.acquire()
        except Timeout:
            raise InUse(
                f"The work folder {self.path} is in use by another shotad.", "Wait until that is done."
            ) from None
        with ExitStack() as opened:
            opened.callback(lock.release)
            opened.enter_context(held_folder(self.path))
            self._sweep()
            self._open = opened.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._is_new and isinstance(error[1], ShotadError):
            self._remove_empty()
        self._open.__exit__(*error)

    def _remove_empty(self) -> None:
        """Remove a folder that was made for a run which was refused before it wrote anything."""
        with suppress(OSError):
            if {*os.listdir(self.path)} <= _LOCKS:
                self._open.close()
                for name in _LOCKS:
                    (self.path / name).unlink(missing_ok=True)
                self.path.rmdir()

    def _sweep(self) -> None:
        """Remove temporary files and folders that a killed run has left, here and up to two folders deeper.

        Those of living processes stay: a page that is open writes beside a run, without holding the folder.
        """
        for pattern in (".tmp-*", "*/.tmp-*", "*/*/.tmp-*", ".*.part.*"):
            for leftover in self.path.glob(pattern):
                above = leftover.relative_to(self.path).parents
                if any((self.path / one).is_symlink() for one in above if one.name):
                    continue  # another's folder, only linked here
                if pattern != ".*.part.*" or DRAFT.fullmatch(leftover.name):
                    sweep(leftover)

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

        ``write`` gives the content of the record, ``read`` the result that a record holds. A fresh result is
        read back too, so that a fresh and a resumed run see the same values.
        """
        record = self.known(name, key)
        if record is None:
            self.write_json(f"{name}.json", {"key": key, **write(make())})
            record = self.read_json(f"{name}.json")
        if record is None:
            raise WorkFolderError(
                f"{self.path / name}.json vanished while it was in use.", "Run again.", again=True
            )
        return read(record)

    def known(self, name: str, key: str) -> dict[str, Any] | None:
        """What ``NAME.json`` holds, if it has this key and the run was not told to redo everything."""
        is_forced = self._is_forced(name)
        self._fresh.add(name)
        if is_forced or self._is_stale(name, key):
            return None
        return self.read_json(f"{name}.json")

    def _is_stale(self, name: str, key: str) -> bool:
        """Whether ``NAME.json`` has another key: it is made again, whatever shape it has by now."""
        try:
            return bool(parse_json(read_file(self.path / f"{name}.json"))["key"] != key)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return False  # reading it says what is wrong

    def log_of_records(self, name: str, *, durable: bool = True) -> RecordLog:
        """The records of ``NAME.jsonl``; empty where the run was told to redo everything, but for those that
        it has added itself since it asked first. ``durable`` as of `RecordLog`."""
        log = RecordLog(self.path / f"{name}.jsonl", discard=self._is_forced(name), durable=durable)
        self._fresh.add(name)
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
        line = f"{stamp} {without_sent_secrets(text)}\n"
        append(self.path / "log.txt", line.encode("utf-8", "backslashreplace"))

    def _is_forced(self, name: str) -> bool:
        return self._force and name not in self._fresh


class RecordLog:
    """Records that come one by one, found again by key. Lines that are damaged or half written are left out.

    What is not of this run and yet worth keeping lies aside, in ``NAME.aside.jsonl``. May be called by
    several threads. ``durable``: each record is on the disk before the next begins.
    """

    def __init__(self, path: Path, *, discard: bool = False, durable: bool = True) -> None:
        self._path, self._aside = path, path.with_suffix(".aside.jsonl")
        self._durable, self._lock = durable, threading.Lock()
        self._records: dict[str, dict[str, Any]] = {}
        self.damaged = 0
        """How many lines were left out."""
        for file in (self._aside, self._path):
            if discard:
                file.unlink(missing_ok=True)
                continue
            try:
                raw = read_file(file)
            except FileNotFoundError:
                continue
            whole, newline, rest = raw.rpartition(b"\n")
            for line in whole.splitlines():
                record = whole_record(file.name, line)
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
        """The record with this key, which must be there."""
        return self._records[key]

    def records(self) -> tuple[dict[str, Any], ...]:
        """All records, those written last at the end."""
        return tuple(self._records.values())

    def add(self, key: str, record: Json) -> dict[str, Any]:
        """Write the record out, at once; it is returned as it reads back.

        Raises WorkFolderError; nothing of the record is left then: a later one has its line to itself.
        """
        return self.add_all({key: record})[0]

    def add_all(self, records: Mapping[str, Json]) -> list[dict[str, Any]]:
        """Write records of one answer out in one piece, by their keys; they are returned as they read back.

        A run that is killed has all of them or none, so that it asks the same again. Raises as `add`.
        """
        lines = {key: without_sent_secrets(_line({"key": key, **record})) for key, record in records.items()}
        written = {key: json.loads(line) for key, line in lines.items()}
        with self._lock:
            append(self._path, "".join(lines.values()).encode(), durable=self._durable)
            for key, record in written.items():
                self._set(key, record)
        return list(written.values())

    def _set(self, key: str, record: dict[str, Any]) -> None:
        """Put the record last, also where there is an older one with this key."""
        self._records.pop(key, None)
        self._records[key] = record

    def keep(self, keys: Iterable[str], spare: Callable[[Json], object] = lambda _: None) -> None:
        """Rewrite the file with just these records, in this order; stale ones go.

        ``spare`` names what others are kept for, aside: of those with the same name the last. None: it goes.
        """
        kept = {key: self._records[key] for key in dict.fromkeys(keys) if key in self._records}
        named = ((spare(record), record) for key, record in self._records.items() if key not in kept)
        aside = {name: record for name, record in named if name is not None}
        if aside or self._aside.exists():
            write_text(self._aside, "".join(map(_line, aside.values())))
        write_text(self._path, "".join(map(_line, kept.values())))


def _line(record: Json) -> str:
    return json.dumps(record, ensure_ascii=False, default=plain) + "\n"


def plain(value: Any) -> Any:
    """What JSON has no word for, of settings and numpy, as what it has."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no JSON value")


_MEND = "Correct it there, or delete the file: shotad describe makes it again."


def read_record(path: Path, hint: str = _MEND) -> dict[str, Any] | None:
    """The content of a JSON file of a work folder; None where there is no such file.

    Raises WorkFolderError, with the place, where it is damaged: it may hold a person's work.
    """
    try:
        data = read_file(path)
    except FileNotFoundError:
        return None
    try:
        return record_in(path.name, data)
    except ValueError as trouble:
        raise WorkFolderError(f"{path} is damaged: {trouble}.", hint) from None


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
