"""Records that come one by one: lines of a ``.jsonl`` file, each on the disk before the next begins."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from shotad.core.records import whole_record
from shotad.core.wholefiles import explained, write_text

Json = Mapping[str, Any]


class RecordLog:
    """Records that come one by one, found again by key. Lines that are damaged or half written are left out.

    What is not of this run and yet worth keeping lies aside, in ``NAME.aside.jsonl``.
    """

    def __init__(self, path: Path, *, discard: bool = False) -> None:
        self._path, self._aside = path, path.with_suffix(".aside.jsonl")
        self._records: dict[str, dict[str, Any]] = {}
        self.damaged = 0
        """How many lines were left out."""
        for file in (self._aside, self._path):
            if discard:
                file.unlink(missing_ok=True)
            else:
                self._load(file)

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
        line = _line({"key": key, **record})
        with explained(self._path, "cannot be written"):
            _append(self._path, line.encode())
        self._records[key] = json.loads(line)
        return self._records[key]

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

    def _load(self, path: Path) -> None:
        try:
            with explained(path, "cannot be read"):
                raw = path.read_bytes()
        except FileNotFoundError:
            return
        whole, newline, rest = raw.rpartition(b"\n")
        for line in whole.splitlines():
            record = whole_record(path.name, line)
            if record is not None and isinstance(record.get("key"), str):
                self._records[record["key"]] = record
            elif line.strip():
                self.damaged += 1
        if rest or (raw and not newline):
            write_text(path, (whole + newline).decode("utf-8", "replace"))


def _append(path: Path, line: bytes) -> None:
    """Write ``line`` at the end and onto the disk, or, where that fails, leave the file as it was."""
    before = path.stat().st_size if path.exists() else 0
    try:
        with path.open("ab") as out:
            out.write(line)
            out.flush()
            os.fsync(out.fileno())
    except OSError:
        with suppress(OSError):
            os.truncate(path, before)
        raise


def _line(record: Json) -> str:
    return json.dumps(record, ensure_ascii=False, default=plain) + "\n"


def plain(value: Any) -> Any:
    """What JSON has no word for, of settings and numpy, as what it has."""
    if hasattr(value, "with_former"):
        return value.with_former()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no JSON value")
