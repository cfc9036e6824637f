"""How much work the models of metrics have, and how long it takes, before anything is computed.

The metrics run as they will, over a store that is not written (`TrialStore`), with services and engines in
the models' place that only count: so what earlier runs have kept is not counted again. No model is fetched or
loaded but the parser of sentences.

Seconds are computed, not measured, by the formula of docs/planning.md: what is read is limited by arithmetic,
what is written by the speed of the memory. They are known for the cards of `CARDS`, in 16 bits and fewer.
Left out are metrics without a model, which take seconds, and CRITIC: F-coref reads 2,800 documents in 25 s on
a V100 (Otmazgin et al. 2022).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core import Engine, Identity, NoProgress, Reply, Request, ShotadError, Usage
from shotad.core.engine import SupportsNeeds
from shotad.core.model_cache import ModelNeed, cards_for
from shotad.core.model_loading import require_torch
from shotad.core.progress import duration
from shotad.core.workfolder import hash_key
from shotad.description import CountingEngine
from shotad.description.engine_pair import Terms, money
from shotad.description.templates import tokens_in
from shotad.evaluation.metric import (
    ENGINE_METRICS,
    Corpus,
    Json,
    make_metric,
    metric_class,
    score,
)
from shotad.evaluation.metrics.recall import Pair, PairScores, published, source_of
from shotad.evaluation.store import LONGEST, MetricContext, Store, VectorService
from shotad.script.embeddings import LocalEncoder, Vectors, is_model_here

CARDS = {
    "H200": (989e12, 4800e9),
    "H100 PCIe": (756e12, 2000e9),
    "H100": (989e12, 3350e9),
    "A100-SXM4-40GB": (312e12, 1555e9),
    "A100-PCIE-40GB": (312e12, 1555e9),
    "A100": (312e12, 2039e9),
    "L40S": (362e12, 864e9),
    "L4": (121e12, 300e9),
    "RTX A6000": (155e12, 768e9),
    "RTX 6000 Ada": (364e12, 960e9),
    "RTX 4090": (165e12, 1008e9),
    "RTX 3090": (71e12, 936e9),
    "V100": (125e12, 900e9),
    "T4": (65e12, 320e9),
}
"""Peak arithmetic in 16 bits without sparsity (operations a second) and memory (bytes a second), by NVIDIA's
data sheets. The first whose name stands in the card's counts."""
ARITHMETIC, MEMORY = 0.4, 0.34
"""Shares of both that are reached: the first assumed, the second by Qwen's speed benchmark with transformers
(docs/planning.md)."""
_BYTES_PER_WEIGHT = {"bfloat16": 2.0, "float16": 2.0, "8bit": 1.1, "4bit": 0.65}
_SHOWN_LATER = "the time left is measured and shown from the first batch on"


@dataclass(frozen=True, slots=True)
class ModelWork:
    """What one model has to do for these metrics.

    ``unit`` is ``texts`` or ``questions``, ``count`` how many. ``seconds`` are None where they are not known;
    ``basis`` says what they come from, or when they will be. ``cost`` is that of a server, None where its
    prices are not known.
    """

    model: str
    metrics: tuple[str, ...]
    unit: str
    count: int
    tokens_in: int
    tokens_out: int = 0
    seconds: float | None = None
    basis: str = ""
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Workload:
    """What the models of an evaluation have to do; ``left_out`` are metrics that cannot run, with why."""

    models: tuple[ModelWork, ...]
    left_out: tuple[tuple[str, str], ...] = ()


def count_work(
    names: Sequence[str], corpus: Corpus, places: Sequence[int], context: MetricContext
) -> Workload:
    """What the models of the metrics called ``names`` have to do for the items at ``places``.

    ``context`` is that of the run; nothing is stored in it but parses.
    """
    counted = _Counted(context)
    left_out = []
    for name in names:
        asks_engine = name.partition("@")[0] in ENGINE_METRICS
        model = metric_class(name).model
        if not asks_engine and model in ("", "coreference"):
            continue
        try:
            if not asks_engine:
                counted.needs |= dict.fromkeys([model], metric_class(name).needs(name, context))
            score(make_metric(name, counted.context), corpus, counted.context, places)
        except ShotadError as error:
            left_out.append((name, str(error)))
        counted.note_metric(name.partition("@")[0])
    return Workload(tuple(counted.work()), tuple(left_out))


class _Counted:
    """A context in which models only count, and what they counted."""

    def __init__(self, context: MetricContext) -> None:
        self._config = context.config
        self._engines: list[tuple[Engine, CountingEngine]] = []
        self._metrics: dict[int, list[str]] = {}
        self._counts_before: dict[int, int] = {}
        self.needs: dict[str, tuple[ModelNeed, ...]] = {}
        trial_store = TrialStore(context.store)
        self.context = MetricContext(
            context.config, trial_store, NoProgress(), stand_in=self._count_questions
        )
        self._vectors = self.context.once("vectors", lambda: CountingVectors(self.context))
        self._pairs = self.context.once("pair scores", lambda: CountingPairs(self.context))

    def _count_questions(self, engine: Engine) -> Engine:
        counting = CountingEngine(engine, "stage2", placeholder_answer)
        self._engines.append((engine, counting))
        self.needs[engine.identity.model] = engine.needs() if isinstance(engine, SupportsNeeds) else ()
        return counting

    def note_metric(self, metric: str) -> None:
        """Note that ``metric`` is what gave models more to do since the last call."""
        requests = [counting.requests for _, counting in self._engines]
        for counted in (self._vectors.new_texts, self._pairs.new_texts, *requests):
            if len(counted) > self._counts_before.get(id(counted), 0):
                self._counts_before[id(counted)] = len(counted)
                self._metrics.setdefault(id(counted), []).append(metric)

    def work(self) -> list[ModelWork]:
        """What was counted, model by model; nothing of models that have nothing to do."""
        work = []
        encoders = {
            "embedder": (self._config.measures.embedding.model, self._vectors.new_texts),
            "encoder": (self._config.measures.recall.model, self._pairs.new_texts),
        }
        for kind, (model, texts) in encoders.items():
            if texts:
                # Of a folder the name alone.
                label = Path(model).resolve().name if Path(model).is_dir() else model
                tokens = sum(map(tokens_in, texts))
                seconds, basis = seconds_of(self.needs.get(kind, ()), tokens)
                metrics = tuple(self._metrics[id(texts)])
                work.append(ModelWork(label, metrics, "texts", len(texts), tokens, 0, seconds, basis))
        for engine, counting in self._engines:
            if not counting.requests:
                continue
            metrics = tuple(dict.fromkeys(self._metrics[id(counting.requests)]))
            terms = Terms.of(engine, self._config)
            tokens = sum(
                tokens_in(message.text) for request in counting.requests for message in request.messages
            )
            answered = sum(request.likely_answer for request in counting.requests)
            needs = self.needs[engine.identity.model]
            seconds, basis = seconds_of(needs, tokens, answered, self._config.local.batch)
            cost = terms.cost(tokens, answered)
            count = len(counting.requests)
            work.append(
                ModelWork(terms.engine, metrics, "questions", count, tokens, answered, seconds, basis, cost)
            )
        return work


def seconds_of(
    needs: Sequence[ModelNeed], tokens_in: int, tokens_out: int = 0, at_once: int = 1
) -> tuple[float | None, str]:
    """The seconds that a model takes for so many tokens, and what they come from; None and why they are not
    known. ``at_once`` are the answers that are written together."""
    cards = cards_for(needs[0].device) if needs else []
    if not cards:
        return None, _SHOWN_LATER
    (need,) = needs
    precision = need.precision.rpartition(" ")[2]
    properties = require_torch("A model").cuda.get_device_properties(cards[0])
    card_name = str(getattr(properties, "name", ""))
    speeds = next((speeds for name, speeds in CARDS.items() if name in card_name), None)
    if speeds is None or precision not in _BYTES_PER_WEIGHT:
        return None, f"the speed of {card_name or 'this card'} in {precision} is not known; {_SHOWN_LATER}"
    arithmetic, memory = speeds
    weights = need.bytes / _BYTES_PER_WEIGHT[precision]
    reading = 2 * weights * tokens_in / (arithmetic * ARITHMETIC)
    writing = tokens_out * need.bytes / at_once / (memory * MEMORY)
    return reading + writing, f"by the data sheet of {card_name}"


def work_lines(workload: Workload) -> list[str]:
    """Plain lines for a terminal, without what is left out."""
    models = workload.models
    if not models:
        return ["No model has anything left to do."]
    lines = []
    for work in models:
        tokens = f"{work.tokens_in:,} tokens in" + (f", {work.tokens_out:,} out" if work.tokens_out else "")
        time = work.basis if work.seconds is None else f"about {duration(work.seconds)} ({work.basis})"
        metrics = ", ".join(work.metrics)
        lines.append(f"{work.model} for {metrics}: {work.count:,} {work.unit}, {tokens}; {time}.")
        if work.cost is None:
            lines.append("  Cost: unknown; give openai.price_in and openai.price_out, of a million tokens.")
        elif work.cost:
            lines.append(f"  Cost: about {money(work.cost)}.")
    known_seconds = [work.seconds for work in models if work.seconds is not None]
    if len(known_seconds) > 1:
        exception = "" if len(known_seconds) == len(models) else ", without those of which it is not known"
        lines.append(f"All models together: about {duration(sum(known_seconds))}{exception}.")
    return lines


def left_out_lines(workload: Workload) -> list[str]:
    """Plain lines on the metrics that cannot run."""
    return [f"Left out: {name}. {reason}" for name, reason in workload.left_out]


def work_json(workload: Workload) -> Json:
    """The same for programs."""
    left_out = [{"metric": name, "reason": reason} for name, reason in workload.left_out]
    return {"models": [asdict(work) for work in workload.models], "left_out": left_out}


class TrialStore(Store):
    """What is in ``store`` can be read; what is put here stays here, but for parses, which are true."""

    _KEPT = "parses/"

    def __init__(self, store: Store) -> None:
        super().__init__(None)
        self._store = store

    def get(self, space: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values by key, of this trial or of the store."""
        return {**self._store.get(space, keys), **super().get(space, keys)}

    def put(self, space: str, values: Mapping[str, bytes]) -> None:
        """Keep these values for this trial."""
        if space.startswith(self._KEPT):
            self._store.put(space, values)
        else:
            super().put(space, values)


class CountingVectors(VectorService):
    """Stands in for the embedder: notes the texts whose vectors are new, and gives one vector for all."""

    def __init__(self, context: MetricContext) -> None:
        super().__init__(context)
        self.new_texts: dict[str, None] = {}

    @cached_property
    def identity(self) -> Json:
        """As that of the model where it is here; else one by which nothing was kept."""
        model = self._settings.model
        return super().identity if is_model_here(model) else {"model": model, "revision": ""}

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        """``float32[n, 1]``: ones."""
        keys = {text: hash_key(text[:LONGEST]) for text in texts}
        stored = self._context.store.get(f"vectors/{hash_key(self.identity, prompt)}", list(keys.values()))
        self.new_texts.update(dict.fromkeys(prompt + text for text, key in keys.items() if key not in stored))
        return np.ones((len(texts), 1), np.float32)


class CountingPairs(PairScores):
    """Stands in for BERTScore's encoder: notes the texts of pairs that are new, and finds all alike."""

    def __init__(self, context: MetricContext) -> None:
        super().__init__(context)
        self.new_texts: dict[str, None] = {}

    @cached_property
    def place(self) -> LocalEncoder:
        """As that of the model where it is here; else one by which nothing was kept."""
        model = source_of(self._settings.model)
        if is_model_here(model):
            return super().place
        encoder = published(model)
        return LocalEncoder(Path(), Identity("token vectors", model, ""), encoder[1] if encoder else 1)

    def of(self, pairs: Iterable[Pair]) -> dict[Pair, float]:
        """A half for each pair."""
        keys = {pair: hash_key("\0".join(pair)) for pair in dict.fromkeys(pairs)}
        stored = self._context.store.get(f"bertscore/{hash_key(self.identity)}", list(keys.values()))
        for pair, key in keys.items():
            if key not in stored:
                self.new_texts.update(dict.fromkeys(pair))
        return dict.fromkeys(keys, 0.5)


_SENTENCES = ("Somebody opens a door.", "Somebody sits down.", "Somebody looks out.")


def placeholder_answer(request: Request) -> Reply:
    """A reply in the form that a judge's question asks for, such as a run takes at once."""
    text = json.dumps(_value_for(request.schema or {"type": "string"}))
    return Reply(text, usage=Usage(0, tokens_in(text)))


def _value_for(schema: Mapping[str, Any]) -> Any:
    """A value of this JSON schema: the least number, the first word, some sentences."""
    if schema["type"] == "object":
        return {name: _value_for(part) for name, part in schema["properties"].items()}
    if schema["type"] == "array":
        return list(_SENTENCES)
    if schema["type"] == "integer":
        return schema["minimum"]
    return schema["enum"][0] if "enum" in schema else _SENTENCES[0]
