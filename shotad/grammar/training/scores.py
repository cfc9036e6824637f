"""Accuracy and F1 of a classifier from its confusion matrix. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import ShotScale

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
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
        there = self._either() > 0
        return float(np.mean(np.array(self.f1)[there]))

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


@dataclass(frozen=True, slots=True)
class Published:
    """A figure on the test split of MovieShots, from the paper's table of classifiers."""

    name: str
    accuracy: float
    macro_f1: float | None


PUBLISHED = (
    Published("ViViT", 0.747, 0.751),
    Published("SGNet (Rao et al. 2020)", 0.875, None),
    Published("Lu et al.", 0.892, None),
    Published("Li et al.", 0.895, 0.897),
    Published("Shot-by-Shot (Xie et al. 2025)", 0.897, 0.899),
)


def beside_published(test: Scores) -> str:
    """The table of the paper with this run's figures below."""
    rows = [*PUBLISHED, Published("this run, on its own test split", test.accuracy, test.macro_f1)]
    wide = max(len(row.name) for row in rows)
    lines = [f"{'MovieShots, test split':{wide}}  accuracy  macro-F1"]
    for row in rows:
        f1 = "–" if row.macro_f1 is None else f"{row.macro_f1:.3f}"
        lines.append(f"{row.name:{wide}}  {row.accuracy:8.3f}  {f1:>8}")
    return "\n".join(lines)


def by_class(test: Scores) -> str:
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


def published_rows() -> list[Mapping[str, Any]]:
    """The paper's table as JSON."""
    return [{"name": p.name, "accuracy": p.accuracy, "macro_f1": p.macro_f1} for p in PUBLISHED]
