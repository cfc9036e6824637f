"""The work folder: what has been done for one film, readable by people, safe against being killed.

Whole files are replaced by a temporary file and a rename; records that come one by one are lines of
a ``.jsonl`` file, each written out before the next begins. Every record carries a key, the hash of
all that changes it, so that a second run goes on where the first stopped and redoes only what a
change makes stale. Records hold no clock times; ``log.txt`` does.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout

from shotad.core.errors import InUse, WorkFolderError
from shotad.core.printing import is_text, printable
from shotad.core.recordlog import RecordLog, plain
from shotad.core.records import read_record
from shotad.core.wholefiles import DRAFT, explained, make_folder, readable_json, sweep, write_text

Json = Mapping[str, Any]

_LOCK = ".lock"

_LONGEST_STEM = 200
"""Bytes of a film's name that names of files take over: 255 are what most disks take for a whole name."""


def key_of(*parts: Any) -> str:
    """Hash of JSON values: 16 hex digits, the same for the same values on every machine."""
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


class WorkFolder:
    """An open work folder, held by one process at a time."""

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path = path
        self._force = force
        self._fresh: set[str] = set()
        self._lock = FileLock(path / _LOCK, timeout=0)

    def __enter__(self) -> Self:
        if not is_text(str(self.path.absolute())):
            raise WorkFolderError(
                f"The name of the work folder {printable(str(self.path))} is not in UTF-8.",
                "Name another folder (--out, where the command takes it).",
            )
        with explained(self.path, "cannot be made"):
            make_folder(self.path, self.path, "cannot be made")
        try:
            with explained(self.path, "cannot be written"):
                self._lock.acquire()
        except Timeout:
            raise InUse(
                f"The work folder {self.path} is in use by another shotad.",
                "Wait until that is done.",
            ) from None
        self._sweep()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def step(self, name: str, key: str, make: Callable[[], Json]) -> dict[str, Any]:
        """The record of a step, made by ``make`` unless one with the same key is there.

        Kept in ``NAME.json``; returned as read back from JSON, so that a fresh and a resumed run see
        the same values.
        """
        found = None if self._is_forced(name) else self.read_json(f"{name}.json")
        if found is None or found.get("key") != key:
            self.write_json(f"{name}.json", {"key": key, **make()})
            found = self.read_json(f"{name}.json")
        self._fresh.add(name)
        if found is None:
            raise WorkFolderError(
                f"{self.path / name}.json vanished while it was in use.", "Run again.", again=True
            )
        return found

    def known(self, name: str, key: str) -> dict[str, Any] | None:
        """What ``NAME.json`` holds, if it has this key and the run was not told to redo everything."""
        found = None if self._is_forced(name) else self.read_json(f"{name}.json")
        self._fresh.add(name)
        return found if found is not None and found.get("key") == key else None

    def log_of_records(self, name: str) -> RecordLog:
        """The records of ``NAME.jsonl``; empty where the run was told to redo everything."""
        log = RecordLog(self.path / f"{name}.jsonl", discard=self._is_forced(name))
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
        with (
            explained(self.path, "cannot be written"),
            (self.path / "log.txt").open("a", encoding="utf-8") as log,
        ):
            log.write(f"{stamp} {text}\n")

    def _is_forced(self, name: str) -> bool:
        return self._force and name not in self._fresh

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
