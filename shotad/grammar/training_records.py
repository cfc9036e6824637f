"""The records of a training: its log as CSV and for TensorBoard, its scores, and the paper's beside them."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from types import TracebackType
from typing import Any, Self, TextIO

import numpy as np
import numpy.typing as npt

from shotad.core import ShotScale
from shotad.core.errors import DatasetError
from shotad.core.files import append_to_file, replace_file, write_text
from shotad.core.installation import install_command
from shotad.grammar.scale_data import ScaleData, ScaleItem
from shotad.grammar.scale_net import ScaleDesign

FILE = "metrics.csv"
COLUMNS = (
    "step", "train/loss", "train/lr", "train/gradient", "train/loss_scale",
    "epoch/loss", "epoch/images_per_second", "epoch/waiting",
    "val/loss", "val/accuracy", "val/macro_f1", *(f"val/f1/{scale.value}" for scale in ShotScale),
)  # fmt: skip
"""``train/lr`` is the head's rate, ``train/gradient`` the gradient's norm before it is clipped,
``train/loss_scale`` the factor of losses in float16, ``epoch/waiting`` the share of the time in which the net
waits for pictures."""


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
        """Share of the items whose label is the predicted class."""
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
        return _ratios(2 * np.diag(self.confusion), self._labelled_or_predicted())

    @property
    def macro_f1(self) -> float:
        """Mean of F1 over the classes that occur or are predicted."""
        present = self._labelled_or_predicted() > 0
        return float(np.mean(np.array(self.f1)[present]))

    def _labelled_or_predicted(self) -> Counts:
        return np.asarray(self.confusion.sum(axis=0) + self.confusion.sum(axis=1))

    @property
    def accuracy_interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy by Wilson (1927): what the number of items leaves open, not what
        another seed would change."""
        deviations, total = NormalDist().inv_cdf(0.975), int(self.confusion.sum())
        spread = deviations**2 / total
        middle = (self.accuracy + spread / 2) / (1 + spread)
        half = math.sqrt(spread * (self.accuracy * (1 - self.accuracy) + spread / 4)) / (1 + spread)
        return max(0.0, middle - half), min(1.0, middle + half)

    def values(self, split: str) -> dict[str, float]:
        """The figures for the log, by their columns."""
        by_class = {f"{split}/f1/{scale.value}": self.f1[scale.number] for scale in ShotScale}
        return {
            f"{split}/loss": self.loss,
            f"{split}/accuracy": self.accuracy,
            f"{split}/macro_f1": self.macro_f1,
            **by_class,
        }

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
            "accuracy_95": [round(end, 6) for end in self.accuracy_interval],
            "macro_f1": round(self.macro_f1, 6),
            "loss": round(self.loss, 6),
            "classes": by_class,
            "confusion": self.confusion.tolist(),
        }


def _ratios(above: Counts, below: Counts) -> tuple[float, ...]:
    return tuple(float(a / b) if b else 0.0 for a, b in zip(above, below, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class ScalePredictions:
    """What a net says of the items of a split, in their order.

    ``labels`` are ``int64[n]``, ``log_probabilities`` ``float32[n, 5]``: the logarithms of its softmax.
    """

    labels: npt.NDArray[np.int64]
    log_probabilities: npt.NDArray[np.float32]

    @property
    def classes(self) -> npt.NDArray[np.int64]:
        """The most probable class of each item, ``int64[n]``."""
        return np.asarray(self.log_probabilities.argmax(axis=1), np.int64)

    def scores(self) -> ScaleScores:
        """Accuracy, F1 and loss."""
        confusion = np.zeros((len(ShotScale), len(ShotScale)), np.int64)
        np.add.at(confusion, (self.labels, self.classes), 1)
        of_labels = self.log_probabilities[np.arange(len(self.labels)), self.labels]
        return ScaleScores(confusion, float(-of_labels.mean(dtype=np.float64)))

    def write(self, path: Path, items: Sequence[ScaleItem]) -> None:
        """Write a CSV with a row for each item: ``key``, ``label``, ``predicted``, and five probabilities."""
        scales = list(ShotScale)
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["key", "label", "predicted", *(scale.value for scale in scales)])
        rows = zip(items, self.labels, self.classes, np.exp(self.log_probabilities), strict=True)
        for item, label, predicted, probabilities in rows:
            shares = [f"{probability:.4f}" for probability in probabilities]
            writer.writerow([item.key, scales[label].value, scales[predicted].value, *shares])
        write_text(path, text.getvalue())


PAPER = "Shot-by-Shot (Xie et al. 2025)"

PUBLISHED: Mapping[str, tuple[float, float | None]] = {
    "ViViT": (0.747, 0.751),
    "SGNet (Rao et al. 2020)": (0.875, None),
    "Lu et al.": (0.892, None),
    "Li et al.": (0.895, 0.897),
    PAPER: (0.897, 0.899),
}
"""Accuracy and macro-F1 on the test split of MovieShots, from the paper's Table 2."""

PAPER_SHOTS = range(46_000, 47_000)
"""Labelled shots of MovieShots in the paper: "46K", over all splits."""


RECIPE_DIFFERENCE = (
    "the recipe: rates, epochs, augmentation and loss are not published, so they are shotad's own"
)
"""What every training of ours differs in."""


def paper_record(test: ScaleScores, differences: Sequence[str]) -> dict[str, Any]:
    """This run beside the paper, as JSON.

    ``accuracy`` and ``macro_f1`` each hold the paper's figure, this run's and the difference; ``differs``
    says in what else the run differs; ``table`` is the paper's whole Table 2.
    """

    def beside(published: float, measured: float) -> dict[str, float]:
        difference = measured - published
        return {"paper": published, "this_run": round(measured, 6), "difference": round(difference, 6)}

    accuracy, macro_f1 = PUBLISHED[PAPER]
    assert macro_f1 is not None
    return {
        "source": "arXiv:2504.01020, Table 2: test split of MovieShots",
        "accuracy": beside(accuracy, test.accuracy),
        "macro_f1": beside(macro_f1, test.macro_f1),
        "differs": list(differences),
        "table": [{"name": name, "accuracy": a, "macro_f1": f1} for name, (a, f1) in PUBLISHED.items()],
    }


def published_comparison(test: ScaleScores, differences: Sequence[str]) -> str:
    """The table of the paper with this run's figures below, and what differs from the paper's own run."""
    rows = {**PUBLISHED, "this run, on its own test split": (test.accuracy, test.macro_f1)}
    width = max(map(len, rows))
    lines = [f"{'MovieShots, test split':{width}}  accuracy  macro-F1"]
    for name, (accuracy, macro_f1) in rows.items():
        f1 = "–" if macro_f1 is None else f"{macro_f1:.3f}"
        lines.append(f"{name:{width}}  {accuracy:8.3f}  {f1:>8}")
    low, high = test.accuracy_interval
    items = int(test.confusion.sum())
    lines.append(f"95 % interval of this run's accuracy, by its {items:,} shots: {low:.3f} to {high:.3f}.")
    if differences:
        lines += ["", "This run differs from the paper in:", *(f"- {text}" for text in differences)]
    return "\n".join(lines)


def differences_from_paper(data: ScaleData, design: ScaleDesign, backbone: str | None) -> list[str]:
    """In what a training, or a checkpoint, differs from the paper's classifier: a clause for each.

    ``backbone`` is its name, None for a checkpoint of which it is not known.
    """
    differences = []
    if not data.is_movieshots:
        differences.append(f"the data: {data.layout}; the paper's are MovieShots")
    elif not data.has_published_split:
        differences.append("the split: by the hash of the films' ids, not the published one")
    if data.is_movieshots and len(data.items) not in PAPER_SHOTS:
        differences.append(f"the data: {len(data.items):,} labelled shots; the paper has about 46,000")
    if backbone is not None and not backbone.startswith("dinov2-base"):
        differences.append(
            f"the backbone: {backbone.split(' ')[0]}; the paper's is DINOv2 ViT-B/14 (dinov2-base)"
        )
    if design.tuned_blocks != 6:
        differences.append(f"the tuned blocks: the last {design.tuned_blocks}; in the paper the last 6")
    if (design.long_side, design.short_side) != (448, 336):
        sides = f"{design.long_side} x {design.short_side}"
        differences.append(f"the size of pictures: {sides}; in the published code 448 x 336")
    return differences


def scores_by_class(test: ScaleScores) -> str:
    """Precision, recall and F1 of each class, as a table."""
    width = max(len(scale.value) for scale in ShotScale)
    lines = [f"{'on test':{width}}  precision  recall     F1  items"]
    for scale in ShotScale:
        k = scale.number
        lines.append(
            f"{scale.value:{width}}  {test.precision[k]:9.3f}  {test.recall[k]:6.3f}  {test.f1[k]:5.3f}"
            f"  {int(test.confusion[k].sum()):5d}"
        )
    return "\n".join(lines)
