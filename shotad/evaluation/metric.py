"""What a metric is, the table of all, what is scored, and the results.

Whatever a metric says of one item is a row of sums; a figure is a function of the rows' total. So results
of shards are merged by adding, and an interval leaves films out instead of scoring again. A row that is
known from an earlier run is taken, the others are counted and kept.
"""

from __future__ import annotations

import importlib
import json
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import EvaluationError, Interval, did_you_mean, key_of, quoted, reported
from shotad.evaluation.store import MetricContext

METRICS = {
    "cider": "shotad.evaluation.metrics.caption:Cider",
    "cider-plain": "shotad.evaluation.metrics.caption:Cider",
    "bleu-1": "shotad.evaluation.metrics.caption:Bleu",
    "bleu-2": "shotad.evaluation.metrics.caption:Bleu",
    "bleu-3": "shotad.evaluation.metrics.caption:Bleu",
    "bleu-4": "shotad.evaluation.metrics.caption:Bleu",
    "rouge-l": "shotad.evaluation.metrics.caption:RougeL",
    "meteor": "shotad.evaluation.metrics.caption:Meteor",
    "spice": "shotad.evaluation.metrics.caption:Spice",
    "action": "shotad.evaluation.metrics.action:Action",
    "action-description": "shotad.evaluation.metrics.action:Action",
    "events": "shotad.evaluation.metrics.events:Events",
    "event-verbs": "shotad.evaluation.metrics.events:Events",
    "event-participants": "shotad.evaluation.metrics.events:Events",
    "critic": "shotad.evaluation.metrics.critic:Critic",
    "recall": "shotad.evaluation.metrics.recall:Recall",
    "llm-ad-eval": "shotad.evaluation.metrics.judged:LlmAdEval",
    "llm-action": "shotad.evaluation.metrics.judged:LlmAction",
    "repetition": "shotad.evaluation.metrics.sequences:Repetition",
    "repetition-meaning": "shotad.evaluation.metrics.sequences:RepetitionOfMeaning",
    "names-kept": "shotad.evaluation.metrics.sequences:NamesKept",
    "story-recall": "shotad.evaluation.metrics.judged:StoryRecall",
}
"""Name → ``module:Class``; imported when it is asked for."""

ENGINE_METRICS = ("llm-ad-eval", "llm-action", "story-recall")
"""Those that ask an engine: ``all`` has them only where an engine is named."""


@dataclass(frozen=True, slots=True)
class Item:
    """One AD of a dataset, and the prediction for it.

    ``id`` is unique in the dataset; ``film`` groups what is read along one film or episode; ``interval`` is
    when the human AD is spoken there. ``references`` are the human ADs, the dataset's own first.
    ``prediction`` None is a missing or failed one, ``failure`` says why. ``candidates`` are all lines that
    were offered for it, ``description`` is Stage I's text. ``actions`` are the human AD's, without characters
    and with one verb each; None where none are known.
    """

    id: str
    film: str
    interval: Interval
    references: tuple[str, ...]
    prediction: str | None = None
    failure: str = ""
    candidates: tuple[str, ...] = ()
    description: str | None = None
    actions: tuple[str, ...] | None = None
    clip: str = ""
    scale: float | None = None
    """Effective shot scale, where it is known."""
    threaded: bool | None = None
    """Whether the clip has a thread, where it is known."""

    def __post_init__(self) -> None:
        if not self.references:
            raise ValueError(f"item {quoted(self.id)} has no reference")

    @property
    def reference(self) -> str:
        """The dataset's own AD."""
        return self.references[0]

    @property
    def missing(self) -> str:
        """Why there is no prediction; empty where there is one."""
        return (self.failure or "no prediction") if self.prediction is None else ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """All items of one evaluation, no two with one id: the whole dataset also where only a shard of it is
    scored, for frequencies of words and windows of neighbours are those of the whole. ``casts`` has the
    characters' names of each film, by `Item.film`."""

    items: tuple[Item, ...]
    casts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dataset: str = ""

    def __post_init__(self) -> None:
        counts = Counter(item.id for item in self.items)
        if len(counts) < len(self.items):
            name, times = counts.most_common(1)[0]
            raise ValueError(f"{times} items of the corpus have the id {quoted(name)}")

    def films(self) -> dict[str, list[int]]:
        """The places in ``items`` of each film's ADs, in order of time, those at the same time in order of
        their ids (numbers by size): whatever the order of the items is."""

        def when(place: int) -> tuple[float, float, int, str]:
            item = self.items[place]
            return item.interval.start, item.interval.end, len(item.id), item.id

        found: dict[str, list[int]] = {item.film: [] for item in self.items}
        for place in sorted(range(len(self.items)), key=when):
            found[self.items[place].film].append(place)
        return found


Json = dict[str, Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """What one item adds.

    ``sums`` are in the order of the metric's columns. ``value`` is the item's own figure on the metric's
    scale, None where it says nothing of it (CRITIC where the human AD has no names). ``failure`` is why it
    could not be scored properly: it counts as 0. ``notes`` is for people (JSON).
    """

    id: str
    sums: tuple[float, ...]
    value: float | None
    failure: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)


def says_something(text: str | None) -> bool:
    """Whether a text has a letter or a digit."""
    return text is not None and any(map(str.isalnum, text))


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
    """METEOR 1.5: ``[…, 23] → […]``, of what its program counts: both sides' words and function words; for
    each matcher both sides' content and function words that it matched; runs of words in the same order (none
    of an item that is matched whole); both sides' matched words. 0 where nothing matches."""
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


class Metric:
    """What every metric is, and what most of them have in common.

    One is made by ``Class(name, context)``, cheaply: models are loaded when the first row is wanted, but
    ShotadError is raised where something that it needs is not here, saying how to get it.
    """

    title: str
    columns: tuple[str, ...] = ("score", "ADs")
    figure: Figure = Figure(factor=100.0)
    higher_is_better: bool = True
    """False where small numbers are the good ones."""

    def __init__(self, name: str, context: MetricContext) -> None:
        self.name = name
        self._context = context

    @property
    def remarks(self) -> tuple[str, ...]:
        """For people: a smaller model than the paper's, a fallback that was taken, what was left out."""
        return ()

    @property
    def comparable(self) -> bool:
        """Whether the number may stand beside the paper's."""
        return True

    @property
    def identity(self) -> Json:
        """All that changes a row besides its item: definition, its version, settings, model and revision."""
        raise NotImplementedError

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """For each place in ``corpus.items`` all of the corpus that its row depends on, as JSON: rows with
        the same identity, basis, key and `Item.failure` are the same row, whatever their ids."""
        raise NotImplementedError

    def basis(self, corpus: Corpus) -> str:
        """Hash of what the whole corpus lends to each row; empty where a row needs nothing of it."""
        return ""

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """The rows of these places, in order, each as soon as it is known: what is done is kept."""
        raise NotImplementedError


def make_metric(name: str, context: MetricContext) -> Metric:
    """The metric called ``name``; what asks an engine may name it: ``llm-action@openai:gpt-4o``.

    Raises EvaluationError for an unknown one, or one that cannot run here.
    """
    plain, at, _ = name.partition("@")
    if plain not in METRICS:
        known = f"{did_you_mean(plain, METRICS)}Known: all, {', '.join(METRICS)}."
        raise EvaluationError(f"There is no metric {quoted(name)}.", known, usage=True)
    if at and plain not in ENGINE_METRICS:
        raise EvaluationError(f"The metric {plain} asks no engine.", f"Leave out what follows {plain}.")
    module, _, attribute = METRICS[plain].partition(":")
    made: Metric = getattr(importlib.import_module(module), attribute)(name, context)
    return made


@dataclass(frozen=True, slots=True)
class Result:
    """What one metric says of the items scored; beside its rows all as `Metric` has it. ``fresh`` rows were
    counted in this run, the others were kept from earlier ones."""

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
    comparable: bool = True
    higher_is_better: bool = True

    @property
    def sums(self) -> Floats:
        """``float64[columns]``: the total."""
        rows = np.array([row.sums for row in self.rows], np.float64)
        return np.asarray(rows.reshape(len(self.rows), len(self.columns)).sum(axis=0), np.float64)

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
                    f"{quoted(getattr(self, what))}, {quoted(getattr(other, what))}.",
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


JUDGE_FAILED = "judge:"
"""What the failure of a row begins with where the judge is to blame, not the system."""
_GROUP = 64
"""Rows that are written out together."""


def score(
    metric: Metric, corpus: Corpus, context: MetricContext, places: Sequence[int] | None = None
) -> Result:
    """What ``metric`` says of the items at ``places`` (None: of all), in that order.

    Rows that are equal by the metric's identity, basis and keys are counted once, and kept in the store; rows
    of a judge's failure are not kept, so that it is tried again next time.
    """
    wanted = list(range(len(corpus.items))) if places is None else list(places)
    began = time.perf_counter()
    basis = metric.basis(corpus)
    space = f"rows/{metric.name}/{key_of(metric.identity, basis)}"
    keys = dict(zip(wanted, row_keys(metric, corpus, wanted), strict=True))
    kept = {}
    for key, value in context.store.get(space, list(keys.values())).items():
        record = json.loads(value)
        kept[key] = Row(**{**record, "sums": tuple(record["sums"])})
    new: dict[str, int] = {}
    for place, key in keys.items():
        if key not in kept:
            new.setdefault(key, place)
    fresh = sum(keys[place] in new for place in wanted)
    if new:
        kept |= _counted(metric, corpus, context, new, space)
    rows = tuple(replace(kept[keys[place]], id=corpus.items[place].id) for place in wanted)
    remarks = metric.remarks  # some are counted too: what they cost belongs to the metric
    return Result(
        metric.name,
        metric.title,
        metric.columns,
        metric.figure,
        metric.identity,
        rows,
        basis,
        fresh=fresh,
        seconds=time.perf_counter() - began,
        remarks=remarks,
        comparable=metric.comparable,
        higher_is_better=metric.higher_is_better,
    )


def row_keys(metric: Metric, corpus: Corpus, places: Sequence[int]) -> list[str]:
    """For each place the key of its row: the metric's, and why nothing was predicted, which the row says."""
    keys = metric.keys(corpus, places)
    return [key_of(key, corpus.items[place].failure) for key, place in zip(keys, places, strict=True)]


def _counted(
    metric: Metric, corpus: Corpus, context: MetricContext, new: Mapping[str, int], space: str
) -> dict[str, Row]:
    """The rows of these places, by key; in groups they go into the store."""
    rows: dict[str, Row] = {}
    waiting: dict[str, bytes] = {}
    with (
        reported(context.progress, f"Scoring {metric.title}", len(new), "ADs") as task,
        _drawn(metric.rows(corpus, list(new.values()))) as coming,
    ):
        try:
            for key, row in zip(new, coming, strict=True):
                rows[key] = row
                if not row.failure.startswith(JUDGE_FAILED):
                    plain = {one.name: getattr(row, one.name) for one in fields(row)}
                    waiting[key] = json.dumps(plain).encode()
                if len(waiting) >= _GROUP:
                    context.store.put(space, waiting)
                    waiting = {}
                task.advance(1)
        finally:
            context.store.put(space, waiting)
    return rows


@contextmanager
def _drawn(rows: Iterable[Row]) -> Iterator[Iterable[Row]]:
    """The rows. A generator of them ends with the block, also where not all were drawn: it may be asking an
    engine."""
    try:
        yield rows
    finally:
        if isinstance(rows, Generator):
            rows.close()
