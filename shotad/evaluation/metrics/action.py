"""The action score: is what happens told, whoever does it? Of ADs and of Stage I's descriptions.

Shot-by-Shot, section 4.2. What a prediction says comes from `shotad.evaluation.metrics.told`; human actions
are held against it here, and what differs from the paper's measure is said in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from shotad.core import MeasureSettings
from shotad.evaluation.metric import Corpus, Figure, Floats, Item, Json, Row
from shotad.evaluation.metrics.told import CodeRules, PaperRules, Rules, Told
from shotad.evaluation.store import MetricContext
from shotad.evaluation.texts import parser_of, vectors_of
from shotad.script import Vectors

RULES: dict[str, type[Rules]] = {"paper": PaperRules, "code": CodeRules}
"""By ``measures.action.rules``."""

_VERSION = 2
"""Of the definition; a change makes all rows new."""
_CHANCE, _SPREAD = 0.25, 2.0
"""The paper's rescaling: ``100 * (x - 0.25) * 2``, not clipped, so that 1 becomes 150."""
DESCRIPTION = "action-description"
_TITLES = {"action": "Action score", DESCRIPTION: "Action score of descriptions"}


class Action:
    """The mean over an AD's human actions of ``0.8 s_sim + 0.2 s_verb``, then over ADs.

    ``s_sim`` is the largest cosine of the action with a sentence or phrase of the prediction, ``s_verb`` the
    largest with a phrase whose verb has the same lemma. An empty prediction scores 0 before rescaling. An AD
    whose actions are not known is not scored. As ``action-description`` it scores Stage I's text.
    """

    columns = ("score", "ads")
    figure = Figure("share", 100.0 * _SPREAD, -_CHANCE)

    def __init__(self, name: str, bench: MetricContext) -> None:
        self.name, self.title = name, _TITLES[name]
        self._settings = bench.settings
        self._rules = RULES[bench.settings.action.rules]()
        self._parses, self._vectors = parser_of(bench), vectors_of(bench)
        self._paragraphs = name == DESCRIPTION

    @classmethod
    def of(cls, name: str, bench: MetricContext) -> Self:
        """Raises ShotadError where spaCy, its model or sentence-transformers is missing."""
        return cls(name, bench)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What differs from the paper's measure, for people."""
        return remarks(self._settings, self._parses.identity)

    @property
    def comparable(self) -> bool:
        """Whether embeddings, instruction and parser are the paper's."""
        return comparable(self._settings, self._parses.identity)

    @property
    def identity(self) -> Json:
        """The definition, both models and the instruction."""
        return {
            "version": _VERSION,
            "rules": self._settings.action.rules,
            "similarity": self._settings.action.similarity,
            "instruction": self._vectors.instruction,
            "embedding": self._vectors.identity,
            "parser": self._parses.identity,
            "paragraphs": self._paragraphs,
        }

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """The predicted text, or why there is none, and the actions."""
        return [self._key(corpus.items[place]) for place in places]

    def basis(self, corpus: Corpus) -> str:
        """A row needs nothing of other items."""
        return ""

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        """Everything is taken apart and embedded at once; then a row for each place."""
        items = [corpus.items[place] for place in places]
        told = self._told([text for item in items if item.actions and (text := self._text(item))])
        deeds = self._human(dict.fromkeys(action for item in items for action in item.actions or ()))
        texts = dict.fromkeys(deeds)
        texts.update(dict.fromkeys(text for one in told.values() for text in _all_texts(one)))
        table = Table(list(texts), self._vectors.of(list(texts), prompt=self._vectors.instruction))
        for item in items:
            actions = [deeds[text] for text in item.actions or ()]
            yield self._row(item, actions, told.get(self._text(item) or "", Told()), table)

    def _text(self, item: Item) -> str | None:
        return item.description if self._paragraphs else item.prediction

    def _failure(self, item: Item) -> str:
        if self._text(item) is not None:
            return ""
        return item.failure or ("no description" if self._paragraphs else "no prediction")

    def _key(self, item: Item) -> Json:
        actions = None if item.actions is None else list(item.actions)
        return {"text": self._text(item), "failure": self._failure(item), "actions": actions}

    def _told(self, texts: Sequence[str]) -> dict[str, Told]:
        return self._rules.told(list(dict.fromkeys(texts)), self._parses, paragraphs=self._paragraphs)

    def _human(self, actions: dict[str, None]) -> dict[str, HumanAction]:
        parses = self._parses.of(actions)
        return {text: HumanAction(text, self._rules.lemma(parses[text])) for text in actions}

    def _row(self, item: Item, actions: Sequence[HumanAction], told: Told, table: Table) -> Row:
        failure = self._failure(item)
        if not actions:
            return Row(item.id, (0.0, 0.0), None, failure, {"unscored": "no human actions are known"})
        if not told and self._rules.skips:
            return Row(item.id, (0.0, 0.0), None, failure, {"unscored": "left out, as in the published code"})
        found = matches(actions, told, table, self._settings.action.similarity)
        score = _mean(found)
        if score < 0.0 and self._rules.skips:
            return Row(
                item.id, (0.0, 0.0), None, failure, {"unscored": "below 0, left out as in the published code"}
            )
        notes = {"actions": [match.to_json() for match in found]}
        return Row(item.id, (score, 1.0), 100.0 * _SPREAD * (score - _CHANCE), failure, notes)


def published(mean: float) -> float:
    """The number that the published code prints for this mean over ADs, a fraction: rounded twice."""
    return round((round(mean, 5) - _CHANCE) * _SPREAD, 4)


def _all_texts(told: Told) -> list[str]:
    return [*(phrase.text for phrase in told.phrases), *told.texts]


def _mean(found: Sequence[Match]) -> float:
    return sum(match.score for match in found) / len(found)


PAPER_MODEL = "gte-Qwen2-7B-instruct"
"""The paper's embeddings (Alibaba-NLP), float32[3584]."""
PAPER_PARSER = "en_core_web_lg"
"""The published code's parser."""
PAPER_WEIGHT = 0.8
_VERSIONS = (
    f"{PAPER_MODEL} runs as the library's own Qwen2 with attention both ways, which transformers 5.2 and "
    "later do by its config; the published numbers come from the repository's own code (transformers 4.44.2, "
    "flash-attn 2.5.6, spaCy 3.8.2), which fails from transformers 4.56 on. It wants bfloat16 or float32."
)

_LEFT_OUT = (
    "What failed, and what scores below 0, is left out, as in the published code: that raises the number."
)


def is_paper_model(name: str) -> bool:
    """Whether this names the paper's embedding model, as a repository or a folder."""
    return PurePath(name).name == PAPER_MODEL


def comparable(settings: MeasureSettings, parser: Json) -> bool:
    """Whether the number may stand beside published ones: models, instruction and weight are theirs."""
    return not _differences(settings, parser)


def remarks(settings: MeasureSettings, parser: Json) -> tuple[str, ...]:
    """Each difference as a sentence, and on what the paper's model runs."""
    found = [f"{what}: not comparable with the paper's numbers." for what in _differences(settings, parser)]
    if settings.action.rules == "code":
        found.append(_LEFT_OUT)
    if is_paper_model(settings.embedding.model):
        found.append(_VERSIONS)
    return tuple(found)


def _differences(settings: MeasureSettings, parser: Json) -> list[str]:
    embedding, found = settings.embedding, []
    if not is_paper_model(embedding.model):
        found.append(f"{_called(embedding.model)} instead of {PAPER_MODEL}")
    elif embedding.instruction == "none":
        found.append(f"{PAPER_MODEL} without an instruction")
    if parser["model"] != PAPER_PARSER:
        found.append(f"spaCy's {parser['model']} instead of {PAPER_PARSER}")
    if settings.action.similarity != PAPER_WEIGHT:
        found.append(f"the meaning weighs {settings.action.similarity:g} instead of {PAPER_WEIGHT:g}")
    return found


def _called(model: str) -> str:
    return "all-MiniLM-L6-v2" if model == "minilm" else PurePath(model).name


@dataclass(frozen=True, slots=True)
class HumanAction:
    """A human action: one verb, no characters; ``lemma`` as that of `Phrase`."""

    text: str
    lemma: str | None


@dataclass(frozen=True, slots=True)
class Match:
    """What was found of one action. ``similarity`` is the largest cosine over texts and phrases, that with
    ``nearest``; ``verb`` the largest over phrases with the same lemma, with ``phrase`` (none: 0)."""

    action: HumanAction
    score: float
    similarity: float
    nearest: str
    verb: float
    phrase: str | None

    def to_json(self) -> dict[str, Any]:
        """For people, rounded."""
        found: dict[str, Any] = {"action": self.action.text, "lemma": self.action.lemma}
        found |= {"score": round(self.score, 4), "nearest": self.nearest}
        found |= {"similarity": round(self.similarity, 4), "verb": round(self.verb, 4)}
        return found | ({} if self.phrase is None else {"phrase": self.phrase})


class Table:
    """Unit vectors of texts, by text."""

    def __init__(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._places: Mapping[str, int] = {text: place for place, text in enumerate(texts)}
        self._vectors = vectors

    def cosines(self, some: Sequence[str], others: Sequence[str]) -> Floats:
        """float64[len(some), len(others)] within [-1, 1]; exactly 1 for equal texts."""
        rows, columns = self._of(some), self._of(others)
        product = self._vectors[rows].astype(np.float64) @ self._vectors[columns].T.astype(np.float64)
        equal = rows[:, None] == columns[None, :]
        return np.asarray(np.where(equal, 1.0, np.clip(product, -1.0, 1.0)), np.float64)

    def _of(self, texts: Sequence[str]) -> npt.NDArray[np.intp]:
        return np.array([self._places[text] for text in texts], np.intp)


def matches(actions: Sequence[HumanAction], told: Told, table: Table, weight: float) -> list[Match]:
    """The best matches of each action (Shot-by-Shot, section 4.2): ``score`` is
    ``weight * similarity + (1 - weight) * verb``; all 0 where nothing is told."""
    texts = _all_texts(told)
    if not texts:
        return [Match(action, 0.0, 0.0, "", 0.0, None) for action in actions]
    cosines = table.cosines([action.text for action in actions], texts)
    return [_match(action, row, texts, told, weight) for action, row in zip(actions, cosines, strict=True)]


def _match(action: HumanAction, cosines: Floats, texts: Sequence[str], told: Told, weight: float) -> Match:
    nearest = int(cosines.argmax())
    same = [action.lemma is not None and phrase.lemma == action.lemma for phrase in told.phrases]
    verbs = np.where(same, cosines[: len(same)], 0.0)
    best = int(verbs.argmax()) if same else 0
    verb = float(verbs[best]) if same else 0.0
    similarity = float(cosines[nearest])
    return Match(
        action,
        weight * similarity + (1.0 - weight) * verb,
        similarity,
        texts[nearest],
        verb,
        texts[best] if same and same[best] else None,
    )
