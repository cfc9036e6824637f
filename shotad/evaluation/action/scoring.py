"""Human actions held against what a prediction says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.evaluation.action.told import Told
from shotad.script import Vectors

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Action:
    """A human action: one verb, no characters; ``lemma`` as that of `Phrase`."""

    text: str
    lemma: str | None


@dataclass(frozen=True, slots=True)
class Match:
    """What was found of one action. ``similarity`` is the largest cosine over texts and phrases, that with
    ``nearest``; ``verb`` the largest over phrases with the same lemma, with ``phrase`` (none: 0)."""

    action: Action
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


def matches(actions: Sequence[Action], told: Told, table: Table, weight: float) -> list[Match]:
    """The best matches of each action (Shot-by-Shot, section 4.2): ``score`` is
    ``weight * similarity + (1 - weight) * verb``; all 0 where nothing is told."""
    texts = [*(phrase.text for phrase in told.phrases), *told.texts]
    if not texts:
        return [Match(action, 0.0, 0.0, "", 0.0, None) for action in actions]
    cosines = table.cosines([action.text for action in actions], texts)
    return [_match(action, row, texts, told, weight) for action, row in zip(actions, cosines, strict=True)]


def _match(action: Action, cosines: Floats, texts: Sequence[str], told: Told, weight: float) -> Match:
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
