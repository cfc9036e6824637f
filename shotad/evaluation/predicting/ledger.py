"""The file of predicted lines.

Lines of other settings are moved to ``NAME.aside.jsonl``, and come back with those settings. At the end of a
run the lines are in the dataset's order.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from shotad.core import RecordLog
from shotad.core.errors import WorkFolderError
from shotad.evaluation.predicting.clip import PredictedLine, line_of


class Ledger:
    """The file of predicted lines, by key and by id; the lock of `WorkFolder` keeps other processes away."""

    def __init__(self, path: Path, order: Sequence[str], terms: str) -> None:
        """Open the file at ``path``, which need not exist; ``order`` are all ids of the dataset.

        Lines of other ``terms`` are moved to another file, and lines that failed and may do better are
        dropped. Raises WorkFolderError for a file that holds something else.
        """
        lines_in_file = _lines_in(path)
        self._log = RecordLog(path)
        self._order = {ad_id: place for place, ad_id in enumerate(order)}
        self._terms = terms
        self._lines: dict[str, PredictedLine] = {}
        self._records_by_id: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        """Records of earlier runs by the id of their AD."""
        for record in self._log.records():
            self._records_by_id[str(record.get("id"))].append(record)
            line = line_of(record)
            if line is not None and line.terms == terms and line.id in self._order and not line.again:
                self._lines[line.id] = line
        self.moved = 0
        """How many lines of other terms, or of another dataset, were moved to the other file."""
        for line in lines_in_file:
            belongs_here = line.terms == terms and line.id in self._order
            if not belongs_here and not line.again:
                self.moved += 1
        if path.exists():
            self.tidy()

    @property
    def lines(self) -> tuple[PredictedLine, ...]:
        """All lines of these terms, in the dataset's order."""
        return tuple(sorted(self._lines.values(), key=lambda line: self._order[line.id]))

    def line_with_key(self, name: str, key: str) -> PredictedLine | None:
        """The line with the id ``name`` and this key; None where there is none, or it is to be made again."""
        line = self._lines.get(name)
        if line is None or line.key != key:
            record = self._log.get(key)
            line = line_of(record) if record is not None else None
        return line if line is not None and line.id == name and not line.again else None

    def line(self, name: str) -> PredictedLine | None:
        """The line with the id ``name``; None where there is none, or it is to be made again."""
        line = self._lines.get(name)
        return None if line is None or line.again else line

    def known(self, names: Iterable[str]) -> tuple[PredictedLine, ...]:
        """All lines with these ids that need not be made again, of other terms too; of each id first the line
        of these terms."""
        lines: dict[str, PredictedLine] = {}
        for name in names:
            line = self.line(name)
            if line is not None:
                lines[line.key] = line
            for record in self._records_by_id.get(name, ()):
                earlier = line_of(record)
                if earlier is not None and not earlier.again:
                    lines.setdefault(earlier.key, earlier)
        return tuple(lines.values())

    def add(self, lines: Iterable[PredictedLine]) -> None:
        """Write the lines to the file, each at once; they replace lines with the same id."""
        replaced = False
        for line in lines:
            earlier = self._lines.get(line.id)
            if earlier == line:
                continue
            replaced |= earlier is not None
            self._log.add(line.key, line.to_json())
            self._lines[line.id] = line
        if replaced:
            self.tidy()

    def tidy(self) -> None:
        """Write the file anew with its lines in the dataset's order, without replaced lines."""

        def key_aside(record: Mapping[str, Any]) -> object:
            """The key of a line that is moved to the other file; None drops a line to be made again."""
            line = line_of(record)
            return None if line is None or line.again else (line.id, line.terms)

        self._log.keep([line.key for line in self.lines], key_aside)


def _lines_in(path: Path) -> list[PredictedLine]:
    """The lines in the file at ``path``; none where it is absent, or a line is not whole.

    Raises WorkFolderError for a file that has contents, but none of our lines.
    """
    try:
        rows = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise WorkFolderError(f"{path} cannot be read: {error.strerror}.", "Name another --out.") from None
    lines: list[PredictedLine] = []
    for row in rows:
        with suppress(ValueError):
            line = line_of(json.loads(row))
            if line is not None:
                lines.append(line)
    # A single line may be our first one, in whose middle an earlier run was killed.
    is_first_line = len(rows) == 1 and rows[0].startswith(b'{"key": "')
    if any(rows) and not lines and not is_first_line:
        message = f"{path} holds something else than the lines of shotad predict."
        raise WorkFolderError(message, "Name another --out.")
    return lines
