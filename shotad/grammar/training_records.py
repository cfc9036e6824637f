"""What training writes down as it goes, a CSV and TensorBoard beside it, and its accuracy and F1."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import numpy as np
import numpy.typing as npt

from shotad.core import ShotScale
from shotad.core.errors import DatasetError
from shotad.core.files import append_to_file, replace_file
from shotad.core.installation import install_command

FILE = "metrics.csv"
COLUMNS = (
    "step", "train/loss", "train/lr", "train/gradient", "epoch/loss",
    "val/loss", "val/accuracy", "val/macro_f1",
)  # fmt: skip


class MetricLog:
    """Figures by step: ``metrics.csv`` in ``folder``, and ``tensorboard/`` where that is installed.

    ``resume_after`` is the last step that counts: rows after it, written by a run that was broken off, are
    taken out, so that no step stands twice; None starts again. ``note`` says why TensorBoard is not written,
    or is None. Raises DatasetError where ``metrics.csv`` is something else.
    """

    def __init__(self, folder: Path, *, resume_after: int | None = None, tensorboard: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        kept_rows = []
        if resume_after is not None and self._path.is_file():
            # Without the file's last line where the run was broken off while it was written.
            lines = self._path.read_text(encoding="utf-8").splitlines(keepends=True)
            rows = csv.DictReader(line for line in lines if line.endswith("\n"))
            if tuple(rows.fieldnames or COLUMNS) != COLUMNS:
                problem = f"{self._path} is no log of training: its columns are not {', '.join(COLUMNS)}."
                raise DatasetError(problem, "Move it away.")
            try:
                kept_rows = [row for row in rows if int(row["step"]) <= resume_after]
            except (TypeError, ValueError):
                problem = f"{self._path} is no log of training: it has rows without a step."
                raise DatasetError(problem, "Move it away.") from None
        with replace_file(self._path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            writer = _writer(file)
            writer.writeheader()
            writer.writerows(kept_rows)
        self.note: str | None = None
        self._board: Any = None
        if not tensorboard:
            return
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            self.note = (
                "TensorBoard is not installed, so the figures go to metrics.csv alone; "
                f"{install_command('shotad[train]')} brings it."
            )
        else:
            # TensorBoard itself hides what an earlier run wrote from this step on.
            purge = None if resume_after is None else resume_after + 1
            self._board = SummaryWriter(log_dir=str(folder / "tensorboard"), purge_step=purge)

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Write one row at once: figures by their names in `COLUMNS`, of a step after the last."""
        row = io.StringIO(newline="")
        _writer(row).writerow({"step": step, **{name: f"{value:.8g}" for name, value in values.items()}})
        append_to_file(self._path, row.getvalue().encode())
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(name, value, step)
            self._board.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._board is not None:
            self._board.close()


def _writer(file: TextIO) -> csv.DictWriter[str]:
    return csv.DictWriter(file, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")


Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ScaleScores:
    """How a classifier does on a split. ``confusion`` is ``int64[5, 5]``: rows true, columns predicted;
    ``loss`` is the mean cross-entropy, unweighted and unsmoothed."""

    confusion: Counts
    loss: float

    def __post_init__(self) -> None:
        if self.confusion.shape != (len(ShotScale), len(ShotScale)) or (self.confusion < 0).any():
            raise ValueError(f"confusion must be 5 x 5 counts, got {self.confusion.tolist()}")
        if not self.confusion.any():
            raise ValueError("scores of no items are undefined")

    @property
    def accuracy(self) -> float:
        """Part of the items that are told rightly."""
        return float(np.trace(self.confusion) / self.confusion.sum())

    @property
    def recall(self) -> tuple[float, ...]:
        """By class; 0 for one that does not occur."""
        return _ratios(np.diag(self.confusion), self.confusion.sum(axis=1))

    @property
    def precision(self) -> tuple[float, ...]:
        """By class; 0 for one that is never predicted."""
        return _ratios(np.diag(self.confusion), self.confusion.sum(axis=0))

    @property
    def f1(self) -> tuple[float, ...]:
        """By class: harmonic mean of precision and recall."""
        return _ratios(2 * np.diag(self.confusion), self._either())

    @property
    def macro_f1(self) -> float:
        """Mean of F1 over the classes that occur or are predicted."""
        present = self._either() > 0
        return float(np.mean(np.array(self.f1)[present]))

    def _either(self) -> Counts:
        return np.asarray(self.confusion.sum(axis=0) + self.confusion.sum(axis=1))

    def record(self) -> dict[str, Any]:
        """As JSON, rounded to six digits."""
        by_class = {
            scale.value: {
                "items": int(self.confusion[scale.number].sum()),
                "precision": round(self.precision[scale.number], 6),
                "recall": round(self.recall[scale.number], 6),
                "f1": round(self.f1[scale.number], 6),
            }
            for scale in ShotScale
        }
        return {
            "items": int(self.confusion.sum()),
            "accuracy": round(self.accuracy, 6),
            "macro_f1": round(self.macro_f1, 6),
            "loss": round(self.loss, 6),
            "classes": by_class,
            "confusion": self.confusion.tolist(),
        }


def _ratios(above: Counts, below: Counts) -> tuple[float, ...]:
    return tuple(float(a / b) if b else 0.0 for a, b in zip(above, below, strict=True))


PUBLISHED: Mapping[str, tuple[float, float | None]] = {
    "ViViT": (0.747, 0.751),
    "SGNet (Rao et al. 2020)": (0.875, None),
    "Lu et al.": (0.892, None),
    "Li et al.": (0.895, 0.897),
    "Shot-by-Shot (Xie et al. 2025)": (0.897, 0.899),
}
"""Accuracy and macro-F1 on the test split of MovieShots, from the paper's table of classifiers."""


def published_comparison(test: ScaleScores) -> str:
    """The table of the paper with this run's figures below."""
    rows = {**PUBLISHED, "this run, on its own test split": (test.accuracy, test.macro_f1)}
    wide = max(map(len, rows))
    lines = [f"{'MovieShots, test split':{wide}}  accuracy  macro-F1"]
    for name, (accuracy, macro_f1) in rows.items():
        f1 = "–" if macro_f1 is None else f"{macro_f1:.3f}"
        lines.append(f"{name:{wide}}  {accuracy:8.3f}  {f1:>8}")
    return "\n".join(lines)


def scores_by_class(test: ScaleScores) -> str:
    """Precision, recall and F1 of each class, as a table."""
    wide = max(len(scale.value) for scale in ShotScale)
    lines = [f"{'on test':{wide}}  precision  recall     F1  items"]
    for scale in ShotScale:
        k = scale.number
        lines.append(
            f"{scale.value:{wide}}  {test.precision[k]:9.3f}  {test.recall[k]:6.3f}  {test.f1[k]:5.3f}"
            f"  {int(test.confusion[k].sum()):5d}"
        )
    return "\n".join(lines)
