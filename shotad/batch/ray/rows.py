"""What travels from worker to worker, row by row: a film, a slot with what Stage I is shown, a result.

A clip is carried as the engine is to see it, without loss, for the answer must be that of a one-machine run.
Neighbouring pixels are taken from each other before they are compressed: a third of the bytes at 40 ms a clip
(measured, benchmarks/LOG.md), where compression alone leaves two thirds and PNG takes 200 ms.

Stage I's answers lie slot by slot in the film's work folder, ``.stage1.parts/SLOT.jsonl``: workers on several
machines look at slots of one film at once, and none of them holds the work folder. Who holds the folder lays
them into ``answers.jsonl``. Of a folder on object storage each file is an object.
"""

from __future__ import annotations

import pickle
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shotad.batch.jobs import FilmJob, FilmResult
from shotad.batch.places import is_local, join, local_path
from shotad.batch.store import Store
from shotad.core import (
    Clip,
    Identity,
    RecordLog,
    Reply,
    Request,
    WorkFolder,
)
from shotad.core.engine import Stage
from shotad.core.files import inner_folder, own_files, remove_file
from shotad.description import SlotPlan
from shotad.engines import Memory, NoMemory
from shotad.engines.answer_log import ANSWERS_RECORD, DESCRIPTION_PURPOSE, answer_record, reply_of

Columns = dict[str, Any]
"""A batch of rows as Ray Data has it: name → values."""

_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Question:
    """A slot that Stage I is to look at. ``is_described``: it was answered before, and is not asked about.

    ``clip`` is what the engine is to see, packed; ``clip_key`` stands for it. None: no frame of it could be
    decoded, or it is not needed.
    """

    plan: SlotPlan
    clip_key: str
    is_described: bool = False
    clip: bytes | None = None


@dataclass(frozen=True, slots=True)
class RayRow:
    """One step of a film: a slot that was prepared or looked at, or, last of all, the film's ``end``.

    ``name`` tells the rows of a film apart. ``count`` (of the end) is how many rows went before it. Rows that
    only keep others in their place have no ``question`` and are no end.
    """

    film: int
    name: str
    job: FilmJob | None = None
    question: Question | None = None
    end: bool = False
    count: int = 0
    seconds: float = 0.0
    peak: int = 0
    result: FilmResult | None = None
    """The film's result, when all is done, or its failure, which ends it before."""


def columns(rows: Sequence[RayRow]) -> Columns:
    """Rows as a batch."""
    return {
        "film": [row.film for row in rows],
        "name": [row.name for row in rows],
        "row": [pickle.dumps(row) for row in rows],
    }


def rows(batch: Columns) -> Iterator[RayRow]:
    """The rows of a batch."""
    for data in batch["row"]:
        row = pickle.loads(bytes(data))
        assert isinstance(row, RayRow)
        yield row


def job_of(row: RayRow) -> FilmJob:
    """What is asked of the film of a row that is on its way."""
    assert row.job is not None
    return row.job


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


Record = dict[str, Any]

FOLDER = ".stage1.parts"
_PART = re.compile(r"[\w-]+(?:\.aside)?\.jsonl")
"""Names of its files."""


class Parts:
    """Parts of the film whose work folder is ``folder``: files that all workers reach by the same path, or
    objects of a store. Two workers never write the same slot at once."""

    def __init__(self, folder: str) -> None:
        self._place = join(folder, FOLDER)
        self._store = None if is_local(folder) else Store(folder)
        if self._store is None:
            inner_folder(local_path(folder), FOLDER)

    def of_slot(self, slot: str) -> tuple[Record, ...]:
        """The records of a slot, those written last at the end."""
        with self._file(self._of(slot)) as file:
            return RecordLog(file).records()

    def add(self, slot: str, key: str, record: Mapping[str, Any]) -> Record:
        """Keep a record, at once; it is returned as it reads back."""
        place = self._of(slot)
        earlier = None if self._store is None else self._store.find(place)
        with self._file(place) as file:
            file.parent.mkdir(parents=True, exist_ok=True)
            written = RecordLog(file).add(key, record)
            if self._store is not None:
                self._store.write(place, file.read_bytes(), over=None if earlier is None else earlier.mark)
        return written

    def records(self) -> Iterator[Record]:
        """All records, by slot; of each slot those written last at the end."""
        if self._store is None:
            places = [str(file) for file in own_files(local_path(self._place), _PART)]
        else:
            places = [entry.place for entry in self._store.entries(self._place)]
        for place in places:
            with self._file(place) as file:
                yield from RecordLog(file).records()

    def remove(self) -> None:
        """Remove them all."""
        if self._store is None:
            folder = local_path(self._place)
            for file in own_files(folder, _PART):
                remove_file(file)
            with suppress(OSError):  # it is not there, or holds what is not ours
                folder.rmdir()
            return
        for entry in self._store.entries(self._place):
            self._store.remove(entry.place)

    def _of(self, slot: str) -> str:
        return join(self._place, f"{slot}.jsonl")

    @contextmanager
    def _file(self, place: str) -> Iterator[Path]:
        """A part on this machine: itself, or a copy for the time of the block."""
        if self._store is None:
            yield local_path(place)
            return
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "part.jsonl"
            with suppress(FileNotFoundError):
                file.write_bytes(self._store.read(place))
            yield file


class PartsMemory:
    """The answers about some slots of a film, kept part by part. ``beside`` knows those of earlier runs.

    ``asked`` are the slots about which an engine was asked since this was made. Safe in threads.
    """

    def __init__(self, parts: Parts, slots: Iterable[str], beside: Memory | None = None) -> None:
        self._parts, self._beside = parts, beside or NoMemory()
        self._replies: dict[str, Reply] = {}
        self._slots: dict[str, str] = {}
        self.asked: set[str] = set()
        for slot in slots:
            for record in parts.of_slot(slot):
                if record["error"] is None and not record.get("again"):
                    self._replies[record["key"]] = reply_of(record)

    def get(self, key: str) -> Reply | None:
        return self._beside.get(key) or self._replies.get(key)

    def add(self, key: str, stage: Stage, request: Request, identity: Identity, reply: Reply) -> Reply:
        record = answer_record(DESCRIPTION_PURPOSE, stage, request, identity, reply)
        reply_kept = reply_of(self._parts.add(request.slot_id, key, record))
        self._replies[key] = reply_kept
        self._slots[key] = request.slot_id
        self.asked.add(request.slot_id)
        return reply_kept

    def forget(self, keys: Iterable[str]) -> None:
        for key in keys:
            slot = self._slots.get(key)
            records = self._parts.of_slot(slot) if slot is not None else ()
            for record in records:
                if slot is not None and record["key"] == key:
                    self._parts.add(slot, key, {**record, "again": True})


def laid_together(folder: WorkFolder, parts: Parts) -> list[Record]:
    """Lay the answers of all parts into ``answers.jsonl`` of an open work folder; those of which nothing came
    are given back."""
    log = folder.log_of_records(ANSWERS_RECORD)
    failed = []
    for record in parts.records():
        if record["error"] is not None or record.get("again"):
            failed.append(record)
        elif log.get(record["key"]) is None:
            log.add(record["key"], {name: value for name, value in record.items() if name != "key"})
    return failed
