"""From scores of pairs to the figures of a whole data set, and to the records that hold them.

*Pooled* figures are over all pairs (AP, precision, recall) and all shots (WCP) of all clips; *means* are
over the clips for which a figure is defined. The paper does not say which of the two it reports; its text
speaks of one set of pairs, so pooled stands first. A clip that failed counts as nothing found in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from shotad.evaluation.threads.labels import LabelledClip
from shotad.evaluation.threads.metrics import (
    BestThreshold,
    Bools,
    ClipCounts,
    Floats,
    PairCounts,
    average_precision,
    best_threshold,
    count_clip,
    count_failed,
    together_pairs,
)

Json = dict[str, Any]
Frames = Literal["side", "mid", "all"]
Match = Literal["patches", "whole"]


@dataclass(frozen=True, slots=True)
class Setup:
    """One row of Table 1: which frames of two shots are compared, and what of them."""

    frames: Frames
    match: Match

    def __post_init__(self) -> None:
        if self.frames not in get_args(Frames) or self.match not in get_args(Match):
            raise ValueError(f"frames must be side, mid or all and match patches or whole, got {self}")

    def __str__(self) -> str:
        return f"{self.frames} {self.match}"


TABLE = (Setup("side", "patches"), Setup("mid", "patches"), Setup("all", "patches"), Setup("side", "whole"))
"""What Table 1 of the paper compares, for one kind of features."""


@dataclass(frozen=True, slots=True, eq=False)
class ClipScores:
    """What a run found out about one clip: a score for each pair, float64 ``[n (n - 1) / 2]`` in the
    order of `together_pairs`; or, with ``scores`` None, why it failed."""

    clip: LabelledClip
    scores: Floats | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """The six figures of a clip or of many; None where a figure is not defined."""

    ap: float | None
    precision: float | None
    recall: float | None
    wcp: float | None
    closed_precision: float | None
    closed_recall: float | None

    @classmethod
    def of(cls, ap: float | None, counts: ClipCounts) -> Figures:
        """The figures that follow from counts; AP comes from the scores themselves."""
        edges, closed = counts.edges, counts.closed
        return cls(ap, edges.precision, edges.recall, counts.wcp, closed.precision, closed.recall)

    @classmethod
    def mean(cls, rows: Sequence[Figures]) -> tuple[Figures, Json]:
        """The mean of each figure over the rows that have it, and over how many that is."""
        kept = {name: [v for row in rows if (v := getattr(row, name)) is not None] for name in FIGURES}
        means = {name: sum(values) / len(values) if values else None for name, values in kept.items()}
        return cls(**means), {name: len(values) for name, values in kept.items()}

    def record(self) -> Json:
        """By name, in full precision."""
        return {name: getattr(self, name) for name in FIGURES}


FIGURES = ("ap", "precision", "recall", "wcp", "closed_precision", "closed_recall")


@dataclass(frozen=True, slots=True)
class ClipRow:
    """One clip's counts and figures."""

    clip: LabelledClip
    counts: ClipCounts
    ap: float | None
    failure: str = ""

    @property
    def figures(self) -> Figures:
        return Figures.of(self.ap, self.counts)

    def record(self, setup: Setup) -> Json:
        """One line of ``threads.json``."""
        return {
            "labels": self.clip.name,
            "clip": self.clip.clip,
            "frames": setup.frames,
            "match": setup.match,
            **({"failed": self.failure} if self.failure else {}),
            **self.figures.record(),
            **counts_record(self.counts),
        }


@dataclass(frozen=True, slots=True)
class SetupResult:
    """The figures of one set-up over all clips."""

    setup: Setup
    threshold: float
    rows: tuple[ClipRow, ...]
    ap: float | None
    """Pooled over all pairs."""
    best: BestThreshold | None = None
    tuned: bool = False
    """True where ``threshold`` is the best one, found by looking at the labels."""

    @property
    def counts(self) -> ClipCounts:
        """The sum of all clips' counts."""
        return sum((row.counts for row in self.rows), ClipCounts())

    @property
    def pooled(self) -> Figures:
        return Figures.of(self.ap, self.counts)

    @property
    def mean(self) -> tuple[Figures, Json]:
        return Figures.mean([row.figures for row in self.rows])

    def record(self) -> Json:
        """One line of ``threads.json``."""
        mean, over = self.mean
        return {
            "frames": self.setup.frames,
            "match": self.setup.match,
            "threshold": self.threshold if np.isfinite(self.threshold) else None,
            "tuned": self.tuned,
            "best": {"threshold": self.best.threshold, "f1": self.best.f1} if self.best else None,
            "pooled": self.pooled.record(),
            "mean": mean.record(),
            "mean_over": over,
            "counts": counts_record(self.counts),
        }


Threads = Callable[[Any, float], Iterable[Sequence[int]]]
"""Connected components of a float ``[n, n]`` matrix of scores above a threshold."""


def setup_result(
    setup: Setup, clips: Sequence[ClipScores], threshold: float | None, threads: Threads
) -> SetupResult:
    """Counts and figures of all ``clips`` at ``threshold``; None takes the one with the best F1."""
    scores, together, missed = _pool(clips)
    best = best_threshold(scores, together, missed)
    chosen = threshold if threshold is not None else best.threshold if best else float("inf")
    rows = tuple(_row(clip, chosen, threads) for clip in clips)
    pooled = average_precision(scores, together, missed)
    return SetupResult(setup, chosen, rows, pooled, best, tuned=threshold is None)


def _pool(clips: Sequence[ClipScores]) -> tuple[Floats, Bools, int]:
    """All scored pairs, whether each belongs together, and how many such pairs have no score."""
    scored = [(clip.scores, _together(clip.clip)) for clip in clips if clip.scores is not None]
    failed = [_together(clip.clip) for clip in clips if clip.scores is None]
    return (
        np.concatenate([np.zeros(0), *(scores for scores, _ in scored)]),
        np.concatenate([np.zeros(0, bool), *(together for _, together in scored)]),
        sum(int(np.count_nonzero(together)) for together in failed),
    )


def _row(found: ClipScores, threshold: float, threads: Threads) -> ClipRow:
    clip, n = found.clip, len(found.clip.shots)
    together = _together(clip)
    if found.scores is None:
        missed = average_precision(np.zeros(0), np.zeros(0, bool), int(np.count_nonzero(together)))
        return ClipRow(clip, count_failed(clip.clusters, n), missed, found.failure)
    components = threads(matrix_of(found.scores, n), threshold)
    counts = count_clip(found.scores, threshold, components, clip.clusters, n)
    return ClipRow(clip, counts, average_precision(found.scores, together))


def _together(clip: LabelledClip) -> Bools:
    return together_pairs(clip.clusters, len(clip.shots))


def matrix_of(scores: Floats, shots: int) -> Floats:
    """Scores of pairs ``[n (n - 1) / 2]`` as a symmetric ``[n, n]`` with 1 on the diagonal."""
    matrix = np.eye(shots)
    i, j = np.triu_indices(shots, 1)
    matrix[i, j] = matrix[j, i] = scores
    return matrix


def counts_record(counts: ClipCounts) -> Json:
    """Raw counts, flat, so that lines add up."""
    return {
        "shots": counts.shots,
        "pairs": counts.pairs,
        "together": counts.together,
        **_pair_record("", counts.edges),
        **_pair_record("closed_", counts.closed),
        "pure": counts.pure,
        "clusters": counts.clusters,
        "true_clusters": counts.true_clusters,
    }


def _pair_record(prefix: str, pairs: PairCounts) -> Json:
    return {
        f"{prefix}right": pairs.right,
        f"{prefix}wrong": pairs.wrong,
        f"{prefix}missed": pairs.missed,
    }
