"""Rows of sums, and results that add up.

Whatever a metric says of one item is a row of sums; a figure is a function of the rows' total. So results of
shards are merged by adding, and an interval leaves films out instead of scoring again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import EvaluationError

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """What one item adds.

    ``sums`` are in the order of the metric's columns. ``value`` is the item's own figure on the metric's
    scale, None where the item says nothing about it (CRITIC where the human AD has no names). ``failure`` is
    a reason why it could not be scored properly: it counts with its sums all the same, as 0. ``notes`` is for
    people (JSON): names found, a judge's reason.
    """

    id: str
    sums: tuple[float, ...]
    value: float | None
    failure: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)


def share(sums: Floats) -> Floats:
    """``[…, 2] → […]``: the first sum divided by the second, nan of nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1], np.float64)


def bleu(sums: Floats) -> Floats:
    """Corpus BLEU: ``[…, 2 n + 2] → […]``, of clipped matches of 1..n-grams, their totals, the length of the
    predictions and that of the nearest references. Equal to the COCO tool's, with its small constants."""
    n = (sums.shape[-1] - 2) // 2
    matches, totals = sums[..., :n], sums[..., n : 2 * n]
    predicted, wanted = sums[..., -2], sums[..., -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.exp(np.log((matches + 1e-15) / (totals + 1e-9)).mean(axis=-1))
        short = np.exp(np.minimum(0.0, 1.0 - 1.0 / ((predicted + 1e-15) / (wanted + 1e-9))))
    return np.asarray(precision * short, np.float64)


METEOR_STAGES = ("exact", "stem", "synonym", "paraphrase")
"""How METEOR matches words, one after the other."""
_METEOR_WEIGHTS = np.array((1.0, 0.6, 0.8, 0.6))
_METEOR_CONTENT = 0.75
_METEOR_RECALL = 0.85
_METEOR_ORDER = (0.6, 0.2)
"""Weights of the matchers, of content words against function words, of recall, and of broken order: METEOR
1.5's for English (Denkowski and Lavie, WMT 2014)."""


def meteor(sums: Floats) -> Floats:
    """METEOR 1.5: ``[…, 23] → […]``, of what its program counts. Both sides' words and function words; for
    each matcher both sides' content words and both sides' function words that it matched; runs of words in
    the same order (none of an item that is matched whole); both sides' matched words. 0 where nothing
    matches."""
    kinds = np.array((_METEOR_CONTENT, 1.0 - _METEOR_CONTENT))
    words, functions = sums[..., 0:2], sums[..., 2:4]
    matched = sums[..., 4:20].reshape((*sums.shape[:-1], len(METEOR_STAGES), 2, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        weighted = np.einsum("...mks,m,k->...s", matched, _METEOR_WEIGHTS, kinds)
        precision, recall = np.moveaxis(
            weighted / np.stack([words - functions, functions], -1).dot(kinds), -1, 0
        )
        mean = 1.0 / ((1.0 - _METEOR_RECALL) / precision + _METEOR_RECALL / recall)
        broken = sums[..., 20] / sums[..., 21:23].mean(axis=-1)
        score = mean * (1.0 - _METEOR_ORDER[0] * broken ** _METEOR_ORDER[1])
    return np.asarray(np.where(np.isnan(score), 0.0, np.maximum(score, 0.0)), np.float64)


KINDS: dict[str, Callable[[Floats], Floats]] = {"share": share, "bleu": bleu, "meteor": meteor}
"""How a figure comes from sums ``float64[…, columns]``. Each is known as soon as this module is."""


@dataclass(frozen=True, slots=True)
class Figure:
    """How a metric's number comes from its sums: ``factor * (KINDS[kind](sums) + shift)``."""

    kind: str = "share"
    factor: float = 1.0
    shift: float = 0.0

    def of(self, sums: Floats) -> Floats:
        """``float64[…, columns] → float64[…]``; nan where it is not defined."""
        return np.asarray(self.factor * (KINDS[self.kind](sums) + self.shift), np.float64)


@dataclass(frozen=True, slots=True)
class Result:
    """What one metric says of the items scored. ``identity`` is all that changes a row besides its item:
    definition, settings, models and revisions. ``basis`` is a hash of what the whole dataset lends to each
    row (frequencies of words); results of different bases do not add up. ``fresh`` rows were counted in this
    run, the others were kept from earlier ones."""

    name: str
    title: str
    columns: tuple[str, ...]
    figure: Figure
    identity: Json
    rows: tuple[Row, ...]
    basis: str = ""
    fresh: int = 0
    seconds: float = 0.0
    remarks: tuple[str, ...] = ()
    """For people: a smaller model than the paper's, a fallback that was taken."""
    comparable: bool = True
    """Whether the number may stand beside the paper's."""
    higher_is_better: bool = True
    """False where a small number is the good one (repetition)."""

    @property
    def sums(self) -> Floats:
        """``float64[columns]``: the total."""
        return np.asarray(self.matrix.sum(axis=0), np.float64)

    @property
    def matrix(self) -> Floats:
        """``float64[n, columns]``, a row for each item."""
        shape = (len(self.rows), len(self.columns))
        return np.array([row.sums for row in self.rows], np.float64).reshape(shape)

    @property
    def value(self) -> float | None:
        """The number; None where it is not defined."""
        found = float(self.figure.of(self.sums))
        return found if np.isfinite(found) else None

    @property
    def scored(self) -> int:
        """Items that the number speaks of."""
        return sum(row.value is not None for row in self.rows)

    @property
    def failed(self) -> int:
        """Items that could not be scored properly, and count as 0."""
        return sum(bool(row.failure) for row in self.rows)

    def __add__(self, other: Result) -> Result:
        """The result over both shards. Raises EvaluationError where they do not belong together."""
        for what in ("name", "columns", "figure", "identity", "basis"):
            if getattr(self, what) != getattr(other, what):
                raise EvaluationError(
                    f"Results of {self.title} differ in {what} and do not add up: "
                    f"{getattr(self, what)!r}, {getattr(other, what)!r}.",
                    "Score both shards with the same dataset, settings and models.",
                )
        twice = {row.id for row in self.rows} & {row.id for row in other.rows}
        if twice:
            raise EvaluationError(
                f"{len(twice)} items stand in both results of {self.title}, such as {min(twice)}.",
                "Give each shard once.",
            )
        return replace(
            self,
            rows=(*self.rows, *other.rows),
            fresh=self.fresh + other.fresh,
            seconds=self.seconds + other.seconds,
            remarks=tuple(dict.fromkeys((*self.remarks, *other.remarks))),
            comparable=self.comparable and other.comparable,
        )


def only(result: Result, ids: Sequence[str]) -> Result:
    """The result of these items alone, in this order. Raises KeyError for one that it has not."""
    rows = {row.id: row for row in result.rows}
    return replace(result, rows=tuple(rows[name] for name in ids))
