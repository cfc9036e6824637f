"""What a metric is, and the table of all."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Sequence
from typing import Protocol

from shotad.core import EvaluationError
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus
from shotad.evaluation.measure.rows import Figure, Json, Row


class Metric(Protocol):
    """The interface that every metric keeps.

    A class is made by ``Class.of(name, bench)``, cheaply: it loads no model then, but it raises
    EvaluationError (or another ShotadError) where something that it needs is not here, saying what and how
    to get it. Models are loaded when the first row is wanted. A class whose small numbers are the good ones
    says so by ``higher_is_better = False``.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    figure: Figure

    @property
    def remarks(self) -> tuple[str, ...]:
        """For people: a smaller model than the paper's, a fallback that was taken, what was left out."""
        ...

    @property
    def comparable(self) -> bool:
        """Whether the number may stand beside the paper's."""
        ...

    @property
    def identity(self) -> Json:
        """All that changes a row besides its item: definition, its version, settings, model and revision."""
        ...

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """For each place in ``corpus.items`` all of the corpus that its row depends on, as JSON: rows with
        the same identity, basis, key and `Item.failure` are the same row, whatever their ids."""
        ...

    def basis(self, corpus: Corpus) -> str:
        """Hash of what the whole corpus lends to each row; empty where a row needs nothing of it."""
        ...

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterable[Row]:
        """The rows of these places, in order, each as soon as it is known: what is done is kept."""
        ...


METRICS = {
    "cider": "shotad.evaluation.caption.metrics:Cider",
    "cider-plain": "shotad.evaluation.caption.metrics:Cider",
    "bleu-1": "shotad.evaluation.caption.metrics:Bleu",
    "bleu-2": "shotad.evaluation.caption.metrics:Bleu",
    "bleu-3": "shotad.evaluation.caption.metrics:Bleu",
    "bleu-4": "shotad.evaluation.caption.metrics:Bleu",
    "rouge-l": "shotad.evaluation.caption.metrics:RougeL",
    "meteor": "shotad.evaluation.caption.java_metrics:Meteor",
    "spice": "shotad.evaluation.caption.java_metrics:Spice",
    "action": "shotad.evaluation.action.metrics:Action",
    "action-description": "shotad.evaluation.action.metrics:Action",
    "critic": "shotad.evaluation.critic.metrics:Critic",
    "recall": "shotad.evaluation.recall.metrics:Recall",
    "llm-ad-eval": "shotad.evaluation.judges.metrics:LlmAdEval",
    "llm-action": "shotad.evaluation.judges.metrics:LlmAction",
    "repetition": "shotad.evaluation.sequences.metrics:Repetition",
    "repetition-meaning": "shotad.evaluation.sequences.metrics:RepetitionOfMeaning",
    "names-kept": "shotad.evaluation.sequences.metrics:NamesKept",
    "story-recall": "shotad.evaluation.judges.metrics:StoryRecall",
}
"""Name → ``module:Class``; imported when it is asked for."""

ENGINE_METRICS = ("llm-ad-eval", "llm-action", "story-recall")
"""Those that ask an engine: ``all`` has them only where an engine is named."""


def make_metric(name: str, bench: Bench) -> Metric:
    """The metric called ``name``; what asks an engine may name it: ``llm-action@openai:gpt-4o``.

    Raises EvaluationError for an unknown one, or one that cannot run here.
    """
    plain, at, _ = name.partition("@")
    if plain not in METRICS:
        near = difflib.get_close_matches(plain, METRICS, 1)
        meant = f"Did you mean {near[0]}? " if near else ""
        known = f"{meant}Known: all, {', '.join(METRICS)}."
        raise EvaluationError(f"There is no metric {name!r}.", known, usage=True)
    if at and plain not in ENGINE_METRICS:
        raise EvaluationError(f"The metric {plain} asks no engine.", f"Leave out what follows {plain}.")
    module, _, attribute = METRICS[plain].partition(":")
    made: Metric = getattr(importlib.import_module(module), attribute).of(name, bench)
    return made
