"""What travels from worker to worker, row by row: a film, a slot with what Stage I is shown, a result.

A clip is carried as the engine is to see it, without loss, for the answer must be that of a one-machine run.
Neighbouring pixels are taken from each other before they are compressed: a third of the bytes at 40 ms a clip
(measured, docs/experiments.md), where compression alone leaves two thirds and PNG takes 200 ms.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shotad.core import Clip
from shotad.description import SlotPlan

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
