"""The file of predictions: a line for each AD, written as soon as it is known, taken up again by a later run.

It may be read at any time. A half-written last line is dropped; lines of other settings are laid aside, in
``NAME.aside.jsonl``, and come back with those settings. When a run ends, its lines stand in the dataset's
order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from shotad.core.errors import WorkFolderError
from shotad.core.recordlog import RecordLog
from shotad.evaluation.predicting.lines import PredictedLine, line_of


class Ledger:
    """The lines of one file, by key and by id; held by one process at a time (`WorkFolder`)."""

    def __init__(self, path: Path, order: Sequence[str], terms: str) -> None:
        """The file at ``path``, which need not be there; ``order`` are all ids of the dataset.

        Lines of other ``terms`` are laid aside, and so are those that failed and may do better. Raises
        WorkFolderError for a file that holds something else.
        """
        _refuse_others(path)
        self._log = RecordLog(path)
        self._order = {name: place for place, name in enumerate(order)}
        self._terms = terms
        self._lines: dict[str, PredictedLine] = {}
        for record in self._log.records():
            line = _line(record)
            if line is not None and line.terms == terms and line.id in self._order and not line.again:
                self._lines[line.id] = line
        if path.exists():
            self._tidy()

    @property
    def lines(self) -> tuple[PredictedLine, ...]:
        """All lines of these terms, in the dataset's order."""
        return tuple(sorted(self._lines.values(), key=lambda line: self._order[line.id]))

    def known(self, name: str, key: str) -> PredictedLine | None:
        """The line of this id and key, if it need not be made again."""
        line = self._lines.get(name)
        if line is None or line.key != key:
            record = self._log.get(key)
            line = _line(record) if record is not None else None
        return line if line is not None and line.id == name and not line.again else None

    def at(self, name: str) -> PredictedLine | None:
        """The line of this id, if it need not be made again."""
        line = self._lines.get(name)
        return None if line is None or line.again else line

    def add(self, lines: Iterable[PredictedLine]) -> None:
        """Write these lines out, each at once; a line of the same id goes."""
        replaced = False
        for line in lines:
            before = self._lines.get(line.id)
            if before == line:
                continue
            replaced |= before is not None
            self._log.add(line.key, line.to_json())
            self._lines[line.id] = line
        if replaced:
            self._tidy()

    def finish(self) -> None:
        """Put the lines into the dataset's order."""
        self._tidy()

    def _tidy(self) -> None:
        self._log.keep([line.key for line in self.lines], _spare)


def _spare(record: Mapping[str, Any]) -> object:
    """What a line that is not of this run is kept by, aside; None for one that would be made again."""
    line = _line(record)
    return None if line is None or line.again else (line.id, line.terms)


def _line(record: Mapping[str, Any]) -> PredictedLine | None:
    try:
        return line_of(record)
    except (KeyError, TypeError, ValueError):
        return None


def _refuse_others(path: Path) -> None:
    """Raise WorkFolderError for a file in which there is no line of ours, but something else."""
    try:
        rows = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        raise WorkFolderError(f"{path} cannot be read: {error.strerror}.", "Name another --out.") from None
    if any(rows) and not any(map(_is_ours, rows)) and not _is_torn(rows):
        raise WorkFolderError(
            f"{path} holds something else than the lines of shotad predict.", "Name another --out."
        )


def _is_ours(row: bytes) -> bool:
    try:
        record = json.loads(row)
    except ValueError:
        return False
    return isinstance(record, dict) and _line(record) is not None


def _is_torn(rows: Sequence[bytes]) -> bool:
    """True for the beginning of a first line of ours that was not written to its end."""
    return len(rows) == 1 and rows[0].startswith(b'{"key": "')
