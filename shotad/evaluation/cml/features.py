"""What engines find in a screenplay for CML-Bench, of each turn, of each character, and of the whole; and the
formulas over that, and over vectors of texts.

The ``judge`` finds features (in the paper Gemma-2-2B), the ``analyst`` says what is special in them and lists
the events (QwQ-32B); they may be one. One question about a turn asks for all that is asked of it.

Vectors are float[n, d], a row to each text, of any length; a row of zeros is like nothing (cosine 0). A
formula is None where it is not defined: that is 0 in the published figures, and
`shotad.evaluation.cml.report` says why. ``clipped`` keeps each cosine within 0 and 1, as the published code
does and the paper does not say; embeddings with negative cosines come out otherwise. Numbers in brackets are
the paper's equations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.evaluation.metrics.asking import (
    STRING,
    YES_OR_NO,
    Part,
    Steps,
    failed,
    listing,
    numbered,
    question,
    quoted,
    word,
)
from shotad.evaluation.metrics.judge import Judge, Question, sentence
from shotad.evaluation.screenplay import Screenplay

VOICE_TURNS = 3
"""Turns from which on a character has a style of speaking (paper, appendix D.2; published code)."""
EMOTIONS = {"negative": -1, "neutral": 0, "positive": 1}
_KEYWORDS, _CREATIVE, _VOICE, _PATTERNS, _EVENTS = 5, 12, 6, 8, 30
"""The most that may be listed; the published code leaves room for about 25 events."""
_TOKENS = 48
"""Room for a short sentence in JSON."""


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """A dialogue; ``before`` is how many actions stand before it."""

    character: str
    text: str
    manner: str
    before: int


@dataclass(frozen=True, slots=True)
class ScriptParts:
    """What the metrics take of a screenplay; ``scenes`` are texts, each a heading and what is done."""

    turns: tuple[SpokenTurn, ...]
    actions: tuple[str, ...]
    scenes: tuple[str, ...]
    headings: tuple[str, ...]

    @classmethod
    def of(cls, screenplay: Screenplay) -> ScriptParts:
        """The parts of a screenplay, in order. Scenes of dialogue alone, without a heading, have no text."""
        turns, actions, scenes = [], list[str](), []
        for scene in screenplay.scenes:
            told = [scene.heading] if scene.heading else []
            for one in scene.elements:
                if one.kind == "dialogue":
                    turns.append(SpokenTurn(one.character.upper(), one.text, one.manner, len(actions)))
                else:
                    actions.append(one.text)
                    told.append(one.text)
            scenes.append("\n".join(told))
        headings = (scene.heading for scene in screenplay.scenes)
        return cls(tuple(turns), tuple(actions), tuple(filter(None, scenes)), tuple(filter(None, headings)))

    def characters(self, least: int = 1) -> dict[str, list[int]]:
        """The numbers of each character's turns; of those who have at least so many and a name."""
        found: dict[str, list[int]] = {}
        for number, turn in enumerate(self.turns):
            if turn.character:
                found.setdefault(turn.character, []).append(number)
        return {name: turns for name, turns in found.items() if len(turns) >= least}


@dataclass(frozen=True, slots=True)
class TurnFeatures:
    """What a turn is about and how it is meant; ``emotion`` is -1, 0 or 1."""

    keywords: tuple[str, ...]
    question: bool
    emotion: int
    intention: bool


@dataclass(slots=True)
class ScriptFeatures:
    """What engines said of one screenplay.

    ``turns`` has None where an answer could not be read. ``lists`` has what was listed; ``analyses`` the
    analysis of each creative feature and ``pattern``; ``voices`` that of each character. ``failures`` says,
    by what was asked about, how many answers failed and why the first did.
    """

    turns: list[TurnFeatures | None] = field(default_factory=list)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    analyses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    voices: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def known_turns(self) -> dict[int, TurnFeatures]:
        """The turns whose answer could be read, by number, in order."""
        return {number: one for number, one in enumerate(self.turns) if one is not None}

    def ask(
        self, judge: Judge, questions: Mapping[str, Sequence[Question[Any]]]
    ) -> Steps[dict[str, list[Any]]]:
        """What a judge answers to each question, asked together; None for what failed, which is noted."""
        answers = iter((yield judge, [one for those in questions.values() for one in those]))
        found: dict[str, list[Any]] = {}
        for what, those in questions.items():
            said = [next(answers) for _ in those]
            if wrong := failed(said):
                self.failures[what] = wrong
            found[what] = [answer.value for answer in said]
        return found


def extract_features(parts: ScriptParts, judge: Judge, analyst: Judge) -> Steps[ScriptFeatures]:
    """What the engines find in a screenplay: features by ``judge``; events and analyses by ``analyst``. An
    answer that fails is noted, and raises nothing."""
    found, turns, speakers = ScriptFeatures(), parts.turns, parts.characters(VOICE_TURNS)
    lines = [f"{turn.character}: {turn.text}" for turn in turns]
    events = [list_question("events", parts.scenes, _EVENTS)] if parts.scenes else []
    first: dict[str, Sequence[Question[Any]]] = {
        "turns": [turn_question(turn.character, turn.text) for turn in turns],
        "creative": [list_question("creative", lines, _CREATIVE)] if turns else [],
        "patterns": [list_question("patterns", parts.scenes, _PATTERNS)] if parts.scenes else [],
        "code events": events,
        "voices": [
            list_question("voice", [turns[k].text for k in numbers], _VOICE, name)
            for name, numbers in speakers.items()
        ],
    }
    said = yield from found.ask(judge, first)
    found.turns = said["turns"]
    listed = {kind: _joined(said[kind]) for kind in ("creative", "patterns", "code events")}
    special = {name: told for name, told in zip(speakers, said["voices"], strict=True) if told}
    second: dict[str, Sequence[Question[Any]]] = {
        "events": events,
        "creative analyses": [analysis_question("creative", [one]) for one in listed["creative"]],
        "pattern analyses": [analysis_question("pattern", [one]) for one in listed["patterns"]],
        "voice analyses": [analysis_question("voice", told, name) for name, told in special.items()],
    }
    said = yield from found.ask(analyst, second)
    found.lists = {**listed, "events": _joined(said["events"])}
    for kind in ("creative", "pattern"):
        found.analyses[kind] = tuple(one for one in said[f"{kind} analyses"] if one is not None)
    analyses = zip(special, said["voice analyses"], strict=True)
    found.voices = {name: analysis for name, analysis in analyses if analysis is not None}
    return found


def _joined(lists: Sequence[tuple[str, ...] | None]) -> tuple[str, ...]:
    return tuple(one for listed in lists if listed for one in listed)


def turn_question(character: str, line: str) -> Question[TurnFeatures]:
    """Keywords of a line of dialogue, whether it asks, its emotion, and whether it says an intention."""
    texts = {"character": quoted(character), "line": quoted(line), "most": str(_KEYWORDS)}
    parts = {
        "keywords": listing(_KEYWORDS, '["…", …]', empty=True),
        "question": YES_OR_NO,
        "emotion": word(EMOTIONS, '<"positive", "neutral" or "negative">'),
        "intention": YES_OR_NO,
    }
    return question("cml/system", "cml/turn", texts, parts, TurnFeatures)


def list_question(
    kind: str, lines: Sequence[str], most: int, character: str = ""
) -> Question[tuple[str, ...]]:
    """What is listed of these lines: creative language, a ``voice``, narrative patterns or events.

    ``character`` says whose lines they are, for ``voice``. The list may be empty.
    """
    texts = {"lines": numbered(lines), "most": str(most)}
    if kind == "voice":
        texts["character"] = quoted(character)
    parts = {"events" if kind == "events" else "features": listing(most, empty=True)}
    return question("cml/system", f"cml/{kind}", texts, parts, tokens=_TOKENS * (most + 1))


def analysis_question(kind: str, features: Sequence[str], character: str = "") -> Question[str]:
    """What is special in a creative feature, a narrative ``pattern``, or a ``voice`` with its features."""
    texts = {"feature": numbered(features) if kind == "voice" else quoted(features[0])}
    if kind == "voice":
        texts["character"] = quoted(character)
    parts = {"analysis": Part('"<two sentences>"', STRING, sentence)}
    return question("cml/system", f"cml/{kind}-analysis", texts, parts, tokens=4 * _TOKENS)


Rows = npt.NDArray[Any]
"""float[n, d]"""

WEIGHT = 0.5
"""λ1 to λ4 of equations 5 and 8: only that each pair adds up to 1 is published."""


def adjacent_similarity(vectors: Rows, *, clipped: bool = False) -> float | None:
    """The mean cosine of each text and the next (1, 7). None for fewer than two texts."""
    return paired_similarity(vectors[:-1], vectors[1:], clipped=clipped)


def paired_similarity(some: Rows, others: Rows, *, clipped: bool = False) -> float | None:
    """The mean cosine of the k-th of some and the k-th of the others. None for no pair."""
    if not len(some):
        return None
    return _mean((_units(some) * _units(others)).sum(axis=1), clipped)


def mutual_similarity(vectors: Rows) -> float | None:
    """The mean cosine over all pairs (within 3, 5, 8). None for fewer than two texts."""
    n = len(vectors)
    if n < 2:
        return None
    table = _units(vectors) @ _units(vectors).T
    return float(table[np.triu_indices(n, 1)].mean())


def central_similarity(vectors: Rows) -> float | None:
    """The mean cosine to the mean vector (within 8; dc3 and cc2 of the published code). None for no text."""
    if not len(vectors):
        return None
    centre = np.asarray(vectors, np.float64).mean(axis=0, keepdims=True)
    return _mean((_units(vectors) @ _units(centre).T)[:, 0], clipped=False)


def creativity(analyses: Rows) -> float | None:
    """1 minus the mean cosine of what was said of each creative feature (3). None for fewer than two."""
    alike = mutual_similarity(analyses)
    return None if alike is None else 1.0 - alike


def originality(voices: Rows, own: Sequence[float], weight: float = WEIGHT) -> float | None:
    """How unlike characters speak, and how alike each speaks (5). None for fewer than two characters.

    ``voices`` has a row for each character, ``own`` the mean cosine of the character's turns; ``weight`` is
    λ1.
    """
    alike = mutual_similarity(voices)
    if alike is None or not own:
        return None
    return weight * (1.0 - alike) + (1.0 - weight) * math.fsum(own) / len(own)


def innovation(patterns: Rows, weight: float = WEIGHT) -> float | None:
    """1 minus how alike patterns are, each to each and to their mean (8). None for fewer than two.

    ``weight`` is λ3.
    """
    alike, central = mutual_similarity(patterns), central_similarity(patterns)
    if alike is None or central is None:
        return None
    return 1.0 - (weight * alike + (1.0 - weight) * central)


def alignment(
    intentions: Rows, actions: Rows, first: Sequence[int], *, clipped: bool = False
) -> float | None:
    """The mean, over intentions, of the largest cosine with an action from number ``first[k]`` on (6).

    An intention that no action follows counts 0. None without intentions or actions.
    """
    if not len(intentions) or not len(actions):
        return None
    table = _units(intentions) @ _units(actions).T
    best = [
        float(row[start:].max()) if start < len(row) else 0.0 for row, start in zip(table, first, strict=True)
    ]
    return _mean(np.array(best), clipped)


def topic_concentration(keywords: Sequence[Sequence[str]]) -> float | None:
    """1 minus the entropy of the keywords of all turns, over its largest value (2). None without keywords.

    One keyword alone is the highest concentration, 1; the paper leaves 0 / 0 open.
    """
    counts = Counter(word.casefold() for words in keywords for word in words)
    if not counts:
        return None
    if len(counts) == 1:
        return 1.0
    shares = [count / counts.total() for count in counts.values()]
    return 1.0 + math.fsum(share * math.log(share) for share in shares) / math.log(len(counts))


def emotional_stability(emotions: Sequence[int]) -> float | None:
    """1 minus the mean change of a character's emotion, from turn to turn, of 2 that are possible (4).

    Emotions are -1, 0 or 1. None for fewer than two turns.

    >>> emotional_stability([0, 1, -1])
    0.25
    """
    if len(emotions) < 2:
        return None
    changes = [abs(b - a) / 2 for a, b in pairwise(emotions)]
    return 1.0 - math.fsum(changes) / len(changes)


def _units(vectors: Rows) -> npt.NDArray[np.float64]:
    rows = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def _mean(cosines: npt.NDArray[np.float64], clipped: bool) -> float:
    return float((np.clip(cosines, 0.0, 1.0) if clipped else cosines).mean())
