"""What training writes down as it goes: a CSV that any program opens, and TensorBoard beside it."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from shotad.core import DatasetError

FILE = "metrics.csv"


class MetricLog:
    """Figures by step: ``metrics.csv`` in ``folder``, and ``tensorboard/`` where that is installed.

    ``resume_after`` is the last step that counts: rows after it, written by a run that was broken off, are
    taken out, so that no step stands twice; None begins anew. ``note`` says why TensorBoard is not written,
    or is None.
    """

    def __init__(self, folder: Path, *, resume_after: int | None = None, tensorboard: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        self._rows: list[dict[str, str]] = []
        self._columns = ["step"]
        if resume_after is not None and self._path.is_file():
            self._columns, rows = _read(self._path)
            self._rows = [row for row in rows if int(row["step"]) <= resume_after]
        self._last = int(self._rows[-1]["step"]) if self._rows else None
        self._rewrite()
        self.note: str | None = None
        self._board: Any = None
        if tensorboard:
            self._board, self.note = _board(folder / "tensorboard", resume_after)

    @property
    def rows(self) -> tuple[Mapping[str, str], ...]:
        """All rows as they stand in the file; a figure that was not given for a step is empty."""
        return tuple({column: row.get(column, "") for column in self._columns} for row in self._rows)

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Write one row at once. Steps ascend; a figure of a new name opens a new column.

        Raises ValueError for a step that is not after the last, or a figure named ``step``.
        """
        if self._last is not None and step <= self._last:
            raise ValueError(f"steps must ascend, got {step} after {self._last}")
        if "step" in values:
            raise ValueError("a figure cannot be named step")
        self._last = step
        row = {"step": str(step), **{name: f"{value:.8g}" for name, value in values.items()}}
        self._rows.append(row)
        new = [name for name in values if name not in self._columns]
        if new:
            self._columns += new
            self._rewrite()
        else:
            with self._path.open("a", encoding="utf-8", newline="") as file:
                csv.DictWriter(file, self._columns, restval="", lineterminator="\n").writerow(row)
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(name, value, step)
            self._board.flush()

    def _rewrite(self) -> None:
        draft = self._path.with_name(f"{FILE}.part")
        with draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self._columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(self._rows)
        os.replace(draft, self._path)

    def close(self) -> None:
        """Finish the files."""
        if self._board is not None:
            self._board.close()
            self._board = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Columns and rows; the last row is left out where the run was broken off while it was written."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if lines and not text.endswith("\n"):
        lines.pop()
    columns, *table = list(csv.reader(lines)) or [[]]
    if columns[:1] != ["step"]:
        raise DatasetError(f"{path} is no log of training: its first column is not step.", "Move it away.")
    rows = [dict(zip(columns, row, strict=False)) for row in table]
    broken = next((row for row in rows if not row.get("step", "").isdecimal()), None)
    if broken is not None:
        raise DatasetError(f"{path} has a row without a step: {broken}.", "Repair it, or move it away.")
    return columns, rows


def _board(folder: Path, resume_after: int | None) -> tuple[Any, str | None]:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None, (
            "TensorBoard is not installed, so the figures go to metrics.csv alone; "
            "the extra shotad[train] brings it."
        )
    # TensorBoard itself hides what an earlier run wrote from this step on.
    purge = None if resume_after is None else resume_after + 1
    return SummaryWriter(log_dir=str(folder), purge_step=purge), None
