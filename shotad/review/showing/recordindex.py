"""Records of a ``.jsonl`` file by slot, read one at a time: the file may be large, and stays on the disk."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shotad.core import whole_record

Record = Mapping[str, Any]

_SLOT = re.compile(rb'"slot": ?"([^"\\]+)"')
_HEAD = 400
"""Bytes at a record's beginning within which its slot stands: it is written first, after the key."""

_State = tuple[int, int, int]


@dataclass(slots=True)
class RecordIndex:
    """Where each record of a file begins, by the slot it is of, in the order of the file.

    The file is looked at before each answer: what was added is read, one that was replaced is read anew.
    Safe in threads.
    """

    path: Path
    _places: dict[str, list[int]] = field(default_factory=dict)
    _state: _State = (0, 0, 0)
    _end: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def exists(self) -> bool:
        """Whether there is such a file."""
        return self.path.is_file()

    def last(self, slot: str) -> Record | None:
        """The newest record of a slot that is whole; None where there is none."""
        return next(iter(reversed(self.all(slot))), None)

    def all(self, slot: str) -> tuple[Record, ...]:
        """The records of a slot that are whole, oldest first."""
        with self._lock:
            try:
                self._refresh()
                places = self._places.get(slot)
                if not places:
                    return ()
                with self.path.open("rb") as file:
                    found = [self._read(file, place) for place in places]
            except FileNotFoundError:
                self._places, self._state, self._end = {}, (0, 0, 0), 0
                return ()
        return tuple(record for record in found if record is not None and record.get("slot") == slot)

    def _read(self, file: Any, place: int) -> Record | None:
        file.seek(place)
        return whole_record("", file.readline())

    def _refresh(self) -> None:
        state = self.path.stat()
        now = (state.st_ino, state.st_mtime_ns, state.st_size)
        if now == self._state:
            return
        if now[0] != self._state[0] or now[2] <= self._state[2]:
            self._places, self._end = {}, 0
        with self.path.open("rb") as file:
            file.seek(self._end)
            # A last line without an end is still being written.
            while (line := file.readline()).endswith(b"\n"):
                if match := _SLOT.search(line[:_HEAD]):
                    self._places.setdefault(match[1].decode("utf-8", "replace"), []).append(self._end)
                self._end += len(line)
        self._state = now
