"""What engines find in a screenplay for CML-Bench: of each turn, of each character, and of the whole.

The ``judge`` finds features (in the paper Gemma-2-2B), the ``analyst`` says what is special in them and lists
the events (QwQ-32B); they may be one. One question about a turn asks for all that is asked of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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

    @property
    def with_manner(self) -> str:
        """The text, and behind it in brackets how it is spoken, as in the published code."""
        return f"{self.text} ({self.manner})" if self.manner else self.text


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
