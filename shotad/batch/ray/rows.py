"""What travels from worker to worker, row by row: a film, a slot with what Stage I is shown, a result.

A clip is carried as the engine is to see it, without loss, for the answer must be that of a one-machine run.
Neighbouring pixels are taken from each other before they are compressed: a third of the bytes at 40 ms a clip
(measured, docs/experiments.md), where compression alone leaves two thirds and PNG takes 200 ms.

Stage I's records lie slot by slot in the film's work folder, ``.stage1.parts/SLOT.jsonl``: workers on several
machines look at slots of one film at once, and none of them holds the work folder. Who holds the folder lays
them into ``stage1.jsonl``. Of a folder on object storage each file is an object.
"""

from __future__ import annotations

import json
import pickle
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from shotad.batch.places import is_local, join, local_path, name_of
from shotad.core import Clip, RecordLog, WorkFolder
from shotad.description import SlotPlan, is_done

Columns = dict[str, Any]
"""A batch of rows as Ray Data has it: name → values."""

_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Question:
    """A slot that Stage I is to look at. ``known`` are the keys of its records that are good already.

    ``clip`` None and ``unread``: no frame of it could be decoded. ``pixels`` stands for the film and the way
    its frames are read.
    """

    plan: SlotPlan
    pixels: str
    known: tuple[str, ...] = ()
    clip: bytes | None = None
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One step of a film: a slot that was prepared or looked at, or, last of all, the film's ``end``.

    ``name`` tells the rows of a film apart. ``count`` (of the end) is how many rows went before it. Rows that
    only keep others in their place have no ``question`` and are no end.
    """

    film: int
    name: str
    job: str = ""
    question: Question | None = None
    end: bool = False
    count: int = 0
    error: Mapping[str, str] = field(default_factory=dict)
    """Kind, what and hint of what ended the film; empty where all is well."""
    seconds: float = 0.0
    peak: int = 0
    result: str = ""
    """The film's result as JSON, when all is done."""


def columns(rows: Sequence[Row]) -> Columns:
    """Rows as a batch."""
    return {
        "film": [row.film for row in rows],
        "name": [row.name for row in rows],
        "row": [pickle.dumps(row) for row in rows],
    }


def rows(batch: Columns) -> Iterator[Row]:
    """The rows of a batch."""
    for data in batch["row"]:
        row = pickle.loads(bytes(data))
        assert isinstance(row, Row)
        yield row


def packed(clip: Clip) -> bytes:
    """A clip as bytes, without loss."""
    import pyarrow

    images = np.ascontiguousarray(clip.images)
    steps = images.copy()
    steps[:, :, 1:] -= images[:, :, :-1]  # modulo 256
    data = pyarrow.Codec("zstd", _LEVEL).compress(steps.tobytes(), asbytes=True)
    return pickle.dumps((images.shape, clip.seconds, clip.shot_numbers, data))


def unpacked(data: bytes) -> Clip:
    """The clip that `packed` was given."""
    import pyarrow

    shape, seconds, numbers, held = pickle.loads(data)
    raw = pyarrow.Codec("zstd", _LEVEL).decompress(held, int(np.prod(shape)), asbytes=True)
    steps = np.frombuffer(raw, np.uint8).reshape(shape)
    return Clip(np.cumsum(steps, axis=2, dtype=np.uint8), seconds, numbers)


def as_text(value: Mapping[str, Any]) -> str:
    """A job or a result as text."""
    return json.dumps(value, ensure_ascii=False)


Record = dict[str, Any]

FOLDER = ".stage1.parts"


def parts_of(folder: str) -> Parts:
    """The parts of the film whose work folder is ``folder``, a path or an address."""
    return LocalParts(local_path(folder)) if is_local(folder) else StoredParts(folder)


class LocalParts:
    """Parts of one film in a folder that all workers reach by the same path."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def get(self, slot: str, key: str) -> Record | None:
        """The record of a slot with this key, or None."""
        return RecordLog(self._folder / f"{slot}.jsonl").get(key)

    def add(self, slot: str, key: str, record: Mapping[str, Any]) -> None:
        """Keep a record, at once."""
        self._folder.mkdir(parents=True, exist_ok=True)
        RecordLog(self._folder / f"{slot}.jsonl").add(key, record)

    def records(self) -> Iterator[Record]:
        """All records, by slot; of each slot those written last at the end."""
        for file in sorted(self._folder.glob("*.jsonl")):
            yield from RecordLog(file).records()

    def remove(self) -> None:
        """Remove them all."""
        shutil.rmtree(self._folder, ignore_errors=True)


class StoredParts:
    """The same in a store. Two workers never write the same slot at once."""

    def __init__(self, folder: str) -> None:
        from shotad.batch.store import Store

        self._place = join(folder, FOLDER)
        self._store = Store(folder)

    def get(self, slot: str, key: str) -> Record | None:
        return next((one for one in reversed(self._read(self._of(slot))) if one["key"] == key), None)

    def add(self, slot: str, key: str, record: Mapping[str, Any]) -> None:
        place = self._of(slot)
        found = self._store.find(place)
        before = self._store.read(place) if found is not None else b""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "part.jsonl"
            file.write_bytes(before)
            RecordLog(file).add(key, record)
            self._store.write(place, file.read_bytes(), over=found.mark if found is not None else None)

    def records(self) -> Iterator[Record]:
        for entry in self._store.entries(self._place):
            yield from self._read(entry.place)

    def remove(self) -> None:
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


Parts = LocalParts | StoredParts


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
