"""The base class of metrics, the table of all metrics, the items that they score, and their results.

A metric gives each item a `Row` of sums; its value is a function of the rows' total (`MetricFormula`). So
results of shards are merged by adding, and a confidence interval leaves films out instead of scoring again.
Rows of earlier runs are read from the store, the others are computed and stored.
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

from shotad.core import Interval
from shotad.core.errors import (
    EvaluationError,
    did_you_mean,
    quoted,
)
from shotad.core.model_cache import ModelNeed
from shotad.core.progress import progress_task, without_folder
from shotad.core.workfolder import hash_key
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
"""Name → ``module:Class``; `make_metric` imports the module."""

ENGINE_METRICS = ("llm-ad-eval", "llm-action", "story-recall")
"""Metrics that ask an engine: ``all`` includes them only where an engine is named."""


@dataclass(frozen=True, slots=True)
class Item:
    """One AD of a dataset, and the prediction for it.

    ``id`` is unique in the dataset; ``film`` names the film or episode, whose ADs some metrics read in order;
    ``interval`` is when the human AD is spoken, in seconds of the film. ``references`` are the human ADs, the
    dataset's own first. ``prediction`` is None where it is missing or failed, and ``failure`` says why.
    ``candidates`` are all lines that were offered for it, ``description`` is Stage I's text. ``actions`` are
    the human AD's, without characters and with one verb each; None where none are known.
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
    """All items of one evaluation; raises ValueError where two have the same id.

    It is the whole dataset also where only a shard of it is scored: frequencies of words and windows of
    neighbours are those of the whole. ``casts`` has the characters' names of each film, by `Item.film`.
    """

    items: tuple[Item, ...]
    casts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dataset: str = ""

    def __post_init__(self) -> None:
        counts = Counter(item.id for item in self.items)
        if len(counts) < len(self.items):
            name, times = counts.most_common(1)[0]
            raise ValueError(f"{times} items of the corpus have the id {quoted(name)}")

    def films(self) -> dict[str, list[int]]:
        """For each film the indices into ``items`` of its ADs, in order of time.

        ADs at the same time are in order of their ids, so the order of the items has no influence.
        """

        def time_and_id(place: int) -> tuple[float, float, int, str]:
            item = self.items[place]
            # The length of the id first: so 10 follows 9.
            return item.interval.start, item.interval.end, len(item.id), item.id

        places_by_film: dict[str, list[int]] = {item.film: [] for item in self.items}
        for place in sorted(range(len(self.items)), key=time_and_id):
            places_by_film[self.items[place].film].append(place)
        return places_by_film


Json = dict[str, Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """What a metric says of one item.

    ``sums`` are in the order of the metric's columns. ``value`` is the item's own value on the metric's
    scale, None where the metric does not apply (CRITIC where the human AD has no names). ``failure`` is why
    it could not be scored properly: it counts as 0. ``notes`` are details for the report (JSON).
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
    """``[…, 2] → […]``: the first sum divided by the second; nan where both are 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1], np.float64)


def f1(sums: Floats) -> Floats:
    """``[…, 4] → […]``: the harmonic mean of two shares, the sums of the first and then of the second; a
    share of nothing is 0, and the mean is nan where both are."""
    with np.errstate(invalid="ignore", divide="ignore"):
        first = np.nan_to_num(share(sums[..., :2]))
        second = np.nan_to_num(share(sums[..., 2:]))
        mean = np.nan_to_num(2 * first * second / (first + second))
    return np.asarray(np.where((sums[..., 1] == 0) & (sums[..., 3] == 0), np.nan, mean), np.float64)


def bleu(sums: Floats) -> Floats:
    """Corpus BLEU: ``[…, 2 n + 2] → […]``.

    The sums are the clipped matches of 1..n-grams, their totals, the length of the predictions and that of
    the nearest references. The small constants are the COCO tool's, to whose values these are equal.
    """
    n = (sums.shape[-1] - 2) // 2
    matches, totals = sums[..., :n], sums[..., n : 2 * n]
    predicted_length, reference_length = sums[..., -2], sums[..., -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.exp(np.log((matches + 1e-15) / (totals + 1e-9)).mean(axis=-1))
        length_ratio = (predicted_length + 1e-15) / (reference_length + 1e-9)
        brevity_penalty = np.exp(np.minimum(0.0, 1.0 - 1.0 / length_ratio))
    return np.asarray(precision * brevity_penalty, np.float64)


METEOR_STAGES = ("exact", "stem", "synonym", "paraphrase")
"""METEOR's matchers of words, in the order in which they are tried."""
# The weights of METEOR 1.5 for English (Denkowski and Lavie, WMT 2014).
_METEOR_WEIGHTS = np.array((1.0, 0.6, 0.8, 0.6))
"""Weight of each matcher."""
_METEOR_CONTENT = 0.75
"""Weight of content words; function words have the rest."""
_METEOR_RECALL = 0.85
"""Weight of recall; precision has the rest."""
_METEOR_ORDER = (0.6, 0.2)
"""Factor and exponent of the penalty for words in another order."""


def meteor(sums: Floats) -> Floats:
    """METEOR 1.5: ``[…, 23] → […]``; 0 where nothing matches.

    The sums are the counts of METEOR's program: both sides' words (2) and function words (2); for each
    matcher both sides' content and function words that it matched (16); chunks, which are runs of words in
    the same order (1; none of an item that is matched whole); both sides' matched words (2).
    """
    content_and_function = np.array((_METEOR_CONTENT, 1.0 - _METEOR_CONTENT))
    words, function_words = sums[..., 0:2], sums[..., 2:4]
    # Axes: matcher, content or function word, prediction or reference.
    matched = sums[..., 4:20].reshape((*sums.shape[:-1], len(METEOR_STAGES), 2, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        weighted_matches = np.einsum("...mks,m,k->...s", matched, _METEOR_WEIGHTS, content_and_function)
        weighted_words = np.stack([words - function_words, function_words], -1).dot(content_and_function)
        precision, recall = np.moveaxis(weighted_matches / weighted_words, -1, 0)
        mean = 1.0 / ((1.0 - _METEOR_RECALL) / precision + _METEOR_RECALL / recall)
        fragmentation = sums[..., 20] / sums[..., 21:23].mean(axis=-1)
        score = mean * (1.0 - _METEOR_ORDER[0] * fragmentation ** _METEOR_ORDER[1])
    return np.asarray(np.where(np.isnan(score), 0.0, np.maximum(score, 0.0)), np.float64)


KINDS: dict[str, Callable[[Floats], Floats]] = {"share": share, "f1": f1, "bleu": bleu, "meteor": meteor}
"""Functions from sums ``float64[…, columns]`` to values, by `MetricFormula.kind`.

They stand here and not beside their metrics, so that a report can be read without importing those.
"""


@dataclass(frozen=True, slots=True)
class MetricFormula:
    """How a metric's value comes from its sums: ``factor * (KINDS[kind](sums) + shift)``."""

    kind: str = "share"
    factor: float = 1.0
    shift: float = 0.0

    def of(self, sums: Floats) -> Floats:
        """``float64[…, columns] → float64[…]``; nan where it is not defined."""
        return np.asarray(self.factor * (KINDS[self.kind](sums) + self.shift), np.float64)


class Metric:
    """Base class of metrics.

    ``Class(name, context)`` is cheap: models are loaded when the first row is computed. It raises
    ShotadError, with how to get it, where a model or program that the metric needs is not installed.
    """

    title: str
    columns: tuple[str, ...] = ("score", "ADs")
    figure: MetricFormula = MetricFormula(factor=100.0)
    higher_is_better: bool = True
    """False where a smaller value is better."""
    model: str = ""
    """The model of this process by which new rows are computed, by a name of ours; empty where there is none.
    Metrics with the same are scored one after another, so that a large model is loaded once."""

    def __init__(self, name: str, context: MetricContext) -> None:
        self.name = name
        self._context = context

    @classmethod
    def needs(cls, name: str, context: MetricContext) -> tuple[ModelNeed, ...]:
        """What the models of the metric called ``name`` take of this machine, as far as that is known before
        they are fetched.

        Fetches no weights. Raises ShotadError for a model that cannot run here.
        """
        return ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes for the report: a smaller model than the paper's, a fallback, what was left out."""
        return ()

    @property
    def comparable(self) -> bool:
        """Whether the value may be compared with the paper's."""
        return True

    @property
    def identity(self) -> Json:
        """All that changes a row besides its item: definition, its version, settings, model and revision."""
        raise NotImplementedError

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """For each place in ``corpus.items`` all of the corpus that its row depends on, as JSON.

        Rows with the same identity, basis, key and `Item.failure` are the same row, whatever their ids.
        """
        raise NotImplementedError

    def basis(self, corpus: Corpus) -> str:
        """Hash of what every row takes from the whole corpus (word frequencies); empty for most metrics."""
        return ""

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """The rows of these places, in order; `score` stores each as soon as it comes."""
        raise NotImplementedError


def make_metric(name: str, context: MetricContext) -> Metric:
    """The metric called ``name``; a metric that asks an engine may name it: ``llm-action@openai:gpt-4o``.

    Raises EvaluationError for an unknown name, ShotadError where the metric cannot run here.
    """
    return metric_class(name)(name, context)


def metric_class(name: str) -> type[Metric]:
    """The class of the metric called ``name``. Raises EvaluationError for an unknown name."""
    plain, at, _ = name.partition("@")
    if plain not in METRICS:
        hint = f"{did_you_mean(plain, METRICS)}Known: all, {', '.join(METRICS)}."
        raise EvaluationError(f"There is no metric {quoted(name)}.", hint, usage=True)
    if at and plain not in ENGINE_METRICS:
        raise EvaluationError(f"The metric {plain} asks no engine.", f"Leave out what follows {plain}.")
    module_name, _, class_name = METRICS[plain].partition(":")
    metric: type[Metric] = getattr(importlib.import_module(module_name), class_name)
    return metric


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of one metric, with the attributes of its `Metric`.

    ``fresh`` rows were computed in this run, the others come from the store. ``seconds`` is the time taken.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    figure: MetricFormula
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
        """``float64[columns]``: the total of the rows."""
        rows = np.array([row.sums for row in self.rows], np.float64)
        # The shape is given, because the array of no rows has none.
        return np.asarray(rows.reshape(len(self.rows), len(self.columns)).sum(axis=0), np.float64)

    @property
    def value(self) -> float | None:
        """The metric's value over all rows; None where it is not defined."""
        value = float(self.figure.of(self.sums))
        return value if np.isfinite(value) else None

    @property
    def scored(self) -> int:
        """Number of items to which the metric applies."""
        return sum(row.value is not None for row in self.rows)

    @property
    def failed(self) -> int:
        """Number of items that could not be scored properly, and count as 0."""
        return sum(bool(row.failure) for row in self.rows)

    def __add__(self, other: Result) -> Result:
        """The result over both shards. Raises EvaluationError where they do not belong together."""
        for name in ("name", "columns", "figure", "identity", "basis"):
            value, other_value = getattr(self, name), getattr(other, name)
            if value != other_value:
                raise EvaluationError(
                    f"Results of {self.title} differ in {name} and do not add up: "
                    f"{quoted(value)}, {quoted(other_value)}.",
                    "Score both shards with the same dataset, settings and models.",
                )
        common_ids = {row.id for row in self.rows} & {row.id for row in other.rows}
        if common_ids:
            raise EvaluationError(
                f"{len(common_ids)} items stand in both results of {self.title}, such as {min(common_ids)}.",
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
    """The result with the rows of these items alone, in this order. Raises KeyError for an unknown id."""
    rows = {row.id: row for row in result.rows}
    return replace(result, rows=tuple(rows[item_id] for item_id in ids))


JUDGE_FAILED = "judge:"
"""Prefix of a row's failure where the judge failed, not the system that is judged."""
_GROUP = 64
"""Rows that are written to the store together."""


def score(
    metric: Metric, corpus: Corpus, context: MetricContext, places: Sequence[int] | None = None
) -> Result:
    """The metric's rows for the items at ``places`` (None: all), in that order.

    Rows that are equal by the metric's identity, basis and keys are computed once, and kept in the store.
    Where the judge failed the row is not stored, so that the next run tries again.
    """
    places = list(range(len(corpus.items))) if places is None else list(places)
    began = time.perf_counter()
    basis = metric.basis(corpus)
    space = f"rows/{metric.name}/{hash_key(metric.identity, basis)}"
    keys = dict(zip(places, row_keys(metric, corpus, places), strict=True))
    rows_by_key = {}
    for key, value in context.store.get(space, list(keys.values())).items():
        record = json.loads(value)
        rows_by_key[key] = Row(**{**record, "sums": tuple(record["sums"])})
    # One place for each new key: items with the same key have the same row.
    new_places: dict[str, int] = {}
    for place, key in keys.items():
        if key not in rows_by_key:
            new_places.setdefault(key, place)
    fresh = sum(keys[place] in new_places for place in places)
    if new_places:
        rows_by_key |= _compute_rows(metric, corpus, context, new_places, space)
    rows = tuple(replace(rows_by_key[keys[place]], id=corpus.items[place].id) for place in places)
    remarks = metric.remarks  # read before the clock is: some metrics compute what they remark
    return Result(
        without_folder(metric.name),
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
    """For each place the key of its row in the store.

    It is made of the metric's key and of `Item.failure`, which the row repeats.
    """
    keys = metric.keys(corpus, places)
    return [hash_key(key, corpus.items[place].failure) for key, place in zip(keys, places, strict=True)]


def _compute_rows(
    metric: Metric, corpus: Corpus, context: MetricContext, places: Mapping[str, int], space: str
) -> dict[str, Row]:
    """The rows of ``places`` (by key), computed and written to the store in groups; by key."""
    rows: dict[str, Row] = {}
    unwritten: dict[str, bytes] = {}
    with (
        progress_task(context.progress, f"Scoring {metric.title}", len(places), "ADs") as task,
        _closing(metric.rows(corpus, list(places.values()))) as new_rows,
    ):
        try:
            for key, row in zip(places, new_rows, strict=True):
                rows[key] = row
                if not row.failure.startswith(JUDGE_FAILED):
                    record = {field.name: getattr(row, field.name) for field in fields(row)}
                    unwritten[key] = json.dumps(record).encode()
                if len(unwritten) >= _GROUP:
                    context.store.put(space, unwritten)
                    unwritten = {}
                task.advance(1)
        finally:
            # Also after an error: the rows so far need not be computed again.
            context.store.put(space, unwritten)
    return rows


@contextmanager
def _closing(rows: Iterable[Row]) -> Iterator[Iterable[Row]]:
    """``rows``; if they are a generator it is closed at the end, since it may be asking an engine."""
    try:
        yield rows
    finally:
        if isinstance(rows, Generator):
            rows.close()
