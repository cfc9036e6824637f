"""The action score as a metric, of ADs and of Stage I's descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from shotad.evaluation.action.code import CodeRules
from shotad.evaluation.action.paper import PaperRules
from shotad.evaluation.action.remarks import comparable, remarks
from shotad.evaluation.action.scoring import Action as Deed
from shotad.evaluation.action.scoring import Match, Table, matches
from shotad.evaluation.action.told import Rules, Told
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.rows import Figure, Json, Row
from shotad.evaluation.measure.texts import parser_of, vectors_of

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

    def __init__(self, name: str, bench: Bench) -> None:
        self.name, self.title = name, _TITLES[name]
        self._settings = bench.settings
        self._rules = RULES[bench.settings.action.rules]()
        self._parses, self._vectors = parser_of(bench), vectors_of(bench)
        self._paragraphs = name == DESCRIPTION

    @classmethod
    def of(cls, name: str, bench: Bench) -> Self:
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
        deeds = self._deeds(dict.fromkeys(action for item in items for action in item.actions or ()))
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

    def _deeds(self, actions: dict[str, None]) -> dict[str, Deed]:
        parses = self._parses.of(actions)
        return {text: Deed(text, self._rules.lemma(parses[text])) for text in actions}

    def _row(self, item: Item, actions: Sequence[Deed], told: Told, table: Table) -> Row:
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
