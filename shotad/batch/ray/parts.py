"""Stage I's records as they come, slot by slot, in the film's work folder: ``.stage1.parts/SLOT.jsonl``.

Workers on several machines look at slots of one film at once, and none of them holds the work folder; so each
record is a file of its own. Who holds the folder lays them into ``stage1.jsonl``. Of a folder on object
storage each file is an object.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from shotad.batch.storage.places import is_local, join, local_path, name_of
from shotad.core import RecordLog, WorkFolder
from shotad.description import is_done

Record = dict[str, Any]

FOLDER = ".stage1.parts"


class Parts(Protocol):
    """The parts of one film."""

    def get(self, slot: str, key: str) -> Record | None:
        """The record of a slot with this key, or None."""

    def add(self, slot: str, key: str, record: Mapping[str, Any]) -> None:
        """Keep a record, at once."""

    def records(self) -> Iterator[Record]:
        """All records, by slot; of each slot those written last at the end."""

    def remove(self) -> None:
        """Remove them all."""


def parts_of(folder: str) -> Parts:
    """The parts of the film whose work folder is ``folder``, a path or an address."""
    return LocalParts(local_path(folder)) if is_local(folder) else StoredParts(folder)


class LocalParts:
    """Parts in a folder that all workers reach by the same path."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def get(self, slot: str, key: str) -> Record | None:
        """See `Parts`."""
        return RecordLog(self._folder / f"{slot}.jsonl").get(key)

    def add(self, slot: str, key: str, record: Mapping[str, Any]) -> None:
        """See `Parts`."""
        self._folder.mkdir(parents=True, exist_ok=True)
        RecordLog(self._folder / f"{slot}.jsonl").add(key, record)

    def records(self) -> Iterator[Record]:
        """See `Parts`."""
        for file in sorted(self._folder.glob("*.jsonl")):
            yield from RecordLog(file).records()

    def remove(self) -> None:
        """See `Parts`."""
        shutil.rmtree(self._folder, ignore_errors=True)


class StoredParts:
    """Parts in a store. Two workers never write the same slot at once."""

    def __init__(self, folder: str) -> None:
        from shotad.batch.storage.store import Store

        self._place = join(folder, FOLDER)
        self._store = Store(folder)

    def get(self, slot: str, key: str) -> Record | None:
        """See `Parts`."""
        return next((one for one in reversed(self._read(self._of(slot))) if one["key"] == key), None)

    def add(self, slot: str, key: str, record: Mapping[str, Any]) -> None:
        """See `Parts`."""
        place = self._of(slot)
        found = self._store.find(place)
        before = self._store.read(place) if found is not None else b""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "part.jsonl"
            file.write_bytes(before)
            RecordLog(file).add(key, record)
            self._store.write(place, file.read_bytes(), over=found.mark if found is not None else None)

    def records(self) -> Iterator[Record]:
        """See `Parts`."""
        for entry in self._store.entries(self._place):
            yield from self._read(entry.place)

    def remove(self) -> None:
        """See `Parts`."""
        for entry in self._store.entries(self._place):
            self._store.remove(entry.place)

    def _of(self, slot: str) -> str:
        return join(self._place, f"{slot}.jsonl")

    def _read(self, place: str) -> tuple[Record, ...]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name_of(place)
            with suppress(FileNotFoundError):
                file.write_bytes(self._store.read(place))
            return RecordLog(file).records()


def laid_together(folder: WorkFolder, parts: Parts) -> list[Record]:
    """Lay good parts into ``stage1.jsonl`` of an open work folder; those that failed are given back."""
    log = folder.log_of_records("stage1")
    failed = []
    for record in parts.records():
        if not is_done(record):
            failed.append(record)
        elif not is_done(log.get(record["key"])):
            log.add(record["key"], {name: value for name, value in record.items() if name != "key"})
    return failed
