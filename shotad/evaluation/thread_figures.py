"""How well threads are found: from scores of pairs to figures of a data set (Shot-by-Shot, section 5.3).

A pair is two different shots of one clip, counted once. It is *together* where people put both shots
into one cluster, and *joined* where its score is above the threshold. Precision and recall are those of
the joined pairs themselves, as the paper words it ("predicted relationships"). Undefined figures are None,
never 0 or 1.

*Pooled* figures are over all pairs (AP, precision, recall) and all shots (WCP) of all clips; *means* are
over the clips for which a figure is defined. The paper does not say which of the two it reports; its text
speaks of one set of pairs, so pooled stands first. A clip that failed counts as nothing found in both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from shotad.evaluation.thread_labels import LabelledClip

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
    """The four figures of a clip or of many; None where a figure is not defined."""

    ap: float | None
    precision: float | None
    recall: float | None
    wcp: float | None

    @classmethod
    def of(cls, ap: float | None, counts: ClipCounts) -> Figures:
        """The figures that follow from counts; AP comes from the scores themselves."""
        return cls(ap, counts.precision, counts.recall, counts.wcp)


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
            **asdict(self.figures),
            **asdict(self.counts),
        }


@dataclass(frozen=True, slots=True)
class SetupResult:
    """The figures of one set-up over all clips."""

    setup: Setup
    threshold: float
    rows: tuple[ClipRow, ...]
    ap: float | None
    """Pooled over all pairs."""
    best: tuple[float, float] | None = None
    """As `best_threshold`."""
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
        """The mean of each figure over the clips that have it, and over how many that is."""
        rows = [row.figures for row in self.rows]
        names = [one.name for one in fields(Figures)]
        kept = {name: [v for row in rows if (v := getattr(row, name)) is not None] for name in names}
        means = {name: sum(values) / len(values) if values else None for name, values in kept.items()}
        return Figures(**means), {name: len(values) for name, values in kept.items()}

    def record(self) -> Json:
        """One line of ``threads.json``."""
        mean, over = self.mean
        return {
            "frames": self.setup.frames,
            "match": self.setup.match,
            "threshold": self.threshold if np.isfinite(self.threshold) else None,
            "tuned": self.tuned,
            "best": {"threshold": self.best[0], "f1": self.best[1]} if self.best else None,
            "pooled": asdict(self.pooled),
            "mean": asdict(mean),
            "mean_over": over,
            "counts": asdict(self.counts),
        }


Threads = Callable[[Any, float], Iterable[Sequence[int]]]
"""Connected components of a float ``[n, n]`` matrix of scores above a threshold."""


def setup_result(
    setup: Setup, clips: Sequence[ClipScores], threshold: float | None, threads: Threads
) -> SetupResult:
    """Counts and figures of all ``clips`` at ``threshold``; None takes the one with the best F1."""
    truths = [together_pairs(clip.clip.clusters, len(clip.clip.shots)) for clip in clips]
    scored = [
        (clip.scores, pairs) for clip, pairs in zip(clips, truths, strict=True) if clip.scores is not None
    ]
    scores = np.concatenate([np.zeros(0), *(values for values, _ in scored)])
    together = np.concatenate([np.zeros(0, bool), *(pairs for _, pairs in scored)])
    missed = sum(int(np.count_nonzero(pairs)) for pairs in truths) - int(np.count_nonzero(together))
    best = best_threshold(scores, together, missed)
    chosen = threshold if threshold is not None else best[0] if best else float("inf")
    rows = []
    for found, pairs in zip(clips, truths, strict=True):
        shots, values = len(found.clip.shots), found.scores
        components: Iterable[Sequence[int]] = ()
        if values is not None:
            matrix = np.eye(shots)
            i, j = np.triu_indices(shots, 1)
            matrix[i, j] = matrix[j, i] = values
            components = threads(matrix, chosen)
        counts = count_clip(values, chosen, components, found.clip.clusters, shots)
        ap = 0.0 if counts.together else None
        if values is not None:
            ap = average_precision(values, pairs)
        rows.append(ClipRow(found.clip, counts, ap, found.failure))
    pooled = average_precision(scores, together, missed)
    return SetupResult(setup, chosen, tuple(rows), pooled, best, tuned=threshold is None)


Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ClipCounts:
    """Raw counts of one clip or of many: they add up.

    Pairs of shots are joined where their own score is above the threshold: rightly, or wrongly; others are
    missed. ``pure`` is the number of shots that belong to the largest true share of their predicted cluster.
    """

    right: int = 0
    wrong: int = 0
    missed: int = 0
    shots: int = 0
    pairs: int = 0
    together: int = 0
    pure: int = 0
    clusters: int = 0
    true_clusters: int = 0

    @property
    def precision(self) -> float | None:
        """Share of the joined pairs that belong together; None where nothing was joined."""
        return share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> float | None:
        """Share of the pairs that belong together that were joined; None where there are none."""
        return share(self.right, self.right + self.missed)

    @property
    def wcp(self) -> float | None:
        """Weighted clustering purity: predicted clusters' purities, weighted by their sizes.

        It is 1 for shots that are all alone, so it is read beside recall and the number of clusters.
        (M. Tapaswi, O. M. Parkhi, E. Rahtu, E. Sommerlade, R. Stiefelhagen, A. Zisserman: Total Cluster:
        a person agnostic clustering method for broadcast videos, ICVGIP 2014.)
        """
        return share(self.pure, self.shots)

    def __add__(self, other: ClipCounts) -> ClipCounts:
        return ClipCounts(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


def share(part: int, whole: int) -> float | None:
    """``part / whole``; None of nothing."""
    return part / whole if whole else None


def average_precision(scores: Floats, together: Bools, unscored: int = 0) -> float | None:
    """Area under the precision-recall steps: the sum of precision x gain in recall, from the best score down.

    ``scores`` is float ``[n]``, ``together`` bool ``[n]``. Equal scores are one step, so their order does
    not matter; nothing is interpolated (the definition of scikit-learn's ``average_precision_score``).
    ``unscored`` pairs belong together but have no score: they are never found. None where no pair belongs
    together.
    """
    _, found, taken = _steps(scores, together)
    positives = int(np.count_nonzero(together)) + unscored
    if positives == 0:
        return None
    return float(np.sum(found / taken * np.diff(found, prepend=0)) / positives)


def best_threshold(scores: Floats, together: Bools, unscored: int = 0) -> tuple[float, float] | None:
    """The threshold with the greatest F1 (harmonic mean of precision and recall) over these pairs, half-way
    between two scores, of equals the top; and that F1.

    It is chosen by looking at the truth, so figures at it are those of a tuned threshold. None where no
    scored pair belongs together.
    """
    levels, found, taken = _steps(scores, together)
    positives = int(np.count_nonzero(together)) + unscored
    if not np.any(together):
        return None
    f1 = 2 * found / (taken + positives)
    best = int(np.argmax(f1))
    below = levels[best + 1] if best + 1 < len(levels) else levels[best] - 1
    return float(levels[best] + below) / 2, float(f1[best])


def _steps(scores: Floats, together: Bools) -> tuple[Floats, Floats, Floats]:
    """The distinct scores, highest first; how many pairs that belong together, and how many in all, have
    at least that score: three arrays ``[levels]``."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], np.ones(min(len(ranked), 1), bool)))
    return ranked[ends], np.cumsum(together[order])[ends].astype(np.float64), (ends + 1).astype(np.float64)


def together_pairs(clusters: Iterable[Collection[int]], shots: int) -> Bools:
    """For each pair i < j of ``shots`` shots whether one cluster holds both: bool ``[n (n - 1) / 2]``.

    Pairs run by rows, (0, 1), (0, 2), … (1, 2) …; shots in no cluster are alone. For clusters [0, 2] of
    three shots: [False, True, False].
    """
    label = labels_of(clusters, shots)
    i, j = np.triu_indices(shots, 1)
    found: Bools = label[i] == label[j]
    return found


def labels_of(clusters: Iterable[Collection[int]], shots: int) -> npt.NDArray[np.int64]:
    """For each of ``shots`` shots the number of its cluster; shots in none get numbers of their own."""
    label = np.full(shots, -1, dtype=np.int64)
    for number, cluster in enumerate(clusters, shots):
        label[list(cluster)] = number
    alone = label < 0
    label[alone] = np.flatnonzero(alone)
    return label


def pure_shots(predicted: Sequence[int], truth: Sequence[int]) -> int:
    """Shots that agree with most of their predicted cluster; both give a cluster's number for each shot.

    For predicted 0 0 0 1 and truth 5 5 6 6 it is 2 + 1 = 3.
    """
    shared = Counter(zip(predicted, truth, strict=True))
    best: dict[int, int] = {}
    for (cluster, _), number in shared.items():
        best[cluster] = max(best.get(cluster, 0), number)
    return sum(best.values())


def count_clip(
    scores: Floats | None,
    threshold: float,
    threads: Iterable[Collection[int]],
    clusters: Iterable[Collection[int]],
    shots: int,
) -> ClipCounts:
    """The counts of one clip.

    ``scores`` is float ``[shots (shots - 1) / 2]`` in the order of `together_pairs`; ``threads`` are the
    connected components that were found, ``clusters`` the true ones; single shots may be left out of both.
    ``scores`` None: it could not be scored. Then nothing is joined and nothing is pure, so that a failure
    never raises a figure.
    """
    truth = labels_of(clusters, shots)
    i, j = np.triu_indices(shots, 1)
    together = truth[i] == truth[j]
    count = int(np.count_nonzero(together))
    what = {"shots": shots, "pairs": len(i), "together": count, "true_clusters": len(np.unique(truth))}
    if scores is None:
        return ClipCounts(missed=count, **what)
    predicted, joined = labels_of(threads, shots), scores > threshold
    right = int(np.count_nonzero(joined & together))
    return ClipCounts(
        right,
        int(np.count_nonzero(joined)) - right,
        count - right,
        pure=pure_shots(predicted.tolist(), truth.tolist()),
        clusters=len(np.unique(predicted)),
        **what,
    )
