"""The metrics of CML-Bench: the nine of the paper, and the eight of its published code.

The paper's text has nine (equations 1 to 8; PR1 and PR2 share one), its code and its per-film tables have
eight. Four of these are something else than the paper's metric of the same number: question-answer relevance
(dc2), concentration around a centre (dc3), consistency of style (cc2), and cc3, which takes any action and
not only later ones. So both sets are here, the paper's under ``dc1`` … ``pr3``, the code's under the columns
of its tables. The "causality density" that the paper's introduction calls PR2 has no formula anywhere and is
left out.

The code's limits are kept in its own set: 20 turns of a character for emotions, 30 turns of a script for
intentions, cosines within 0 and 1, headings among the actions, how a line is spoken behind the line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from shotad.evaluation.cml.features import VOICE_TURNS, ScriptFeatures, ScriptParts
from shotad.evaluation.cml.formulas import (
    Rows,
    adjacent_similarity,
    alignment,
    central_similarity,
    creativity,
    emotional_stability,
    innovation,
    mutual_similarity,
    originality,
    paired_similarity,
    topic_concentration,
)

Needed = Literal["judge", "analyst", "embedding", "weights"]


@dataclass(frozen=True, slots=True)
class CmlMetric:
    """A metric. ``needs`` is what its figure depends on (``weights`` are numbers that nobody published),
    ``asks`` what engines are asked about for it, as `ScriptFeatures.failures` names it.
    """

    title: str
    source: Literal["paper", "code"]
    needs: tuple[Needed, ...]
    asks: tuple[str, ...] = ()


_BY_JUDGE: tuple[Needed, ...] = ("judge", "embedding")
_BY_BOTH: tuple[Needed, ...] = ("judge", "analyst", "embedding")
_VECTORS: tuple[Needed, ...] = ("embedding",)
CML_METRICS: Mapping[str, CmlMetric] = {
    "dc1": CmlMetric("DC1 adjacent similarity", "paper", _VECTORS),
    "dc2": CmlMetric("DC2 topic concentration", "paper", ("judge",), ("turns",)),
    "dc3": CmlMetric("DC3 linguistic creativity", "paper", _BY_BOTH, ("creative", "creative analyses")),
    "cc1": CmlMetric("CC1 emotional stability", "paper", ("judge",), ("turns",)),
    "cc2": CmlMetric(
        "CC2 character originality", "paper", (*_BY_BOTH, "weights"), ("voices", "voice analyses")
    ),
    "cc3": CmlMetric("CC3 action and intention", "paper", _BY_JUDGE, ("turns",)),
    "pr1": CmlMetric("PR1 scene coherence", "paper", _VECTORS),
    "pr2": CmlMetric("PR2 event coherence", "paper", ("analyst", "embedding"), ("events",)),
    "pr3": CmlMetric(
        "PR3 narrative innovation", "paper", (*_BY_BOTH, "weights"), ("patterns", "pattern analyses")
    ),
    "dc1_adjacent_similarity": CmlMetric("DC1 adjacent similarity", "code", _VECTORS),
    "dc2_qa_relevance": CmlMetric("DC2 question and answer", "code", _BY_JUDGE, ("turns",)),
    "dc3_topic_concentration": CmlMetric("DC3 topic concentration", "code", _VECTORS),
    "cc1_emotional_stability": CmlMetric("CC1 emotional stability", "code", ("judge",), ("turns",)),
    "cc2_linguistic_consistency": CmlMetric("CC2 linguistic consistency", "code", _VECTORS),
    "cc3_action_intention_alignment": CmlMetric("CC3 action and intention", "code", _BY_JUDGE, ("turns",)),
    "pr1_scene_similarity": CmlMetric("PR1 scene similarity", "code", _VECTORS),
    "pr2_event_coherence": CmlMetric("PR2 event coherence", "code", _BY_JUDGE, ("code events",)),
}
"""All metrics by name, in the order of reports."""

_PAPER: Mapping[Needed, tuple[str, re.Pattern[str]]] = {
    "judge": ("gemma-2-2b-it", re.compile(r"gemma[-_]?2[-_:]2b", re.IGNORECASE)),
    "analyst": ("QwQ-32B", re.compile(r"qwq[-_:]?32b", re.IGNORECASE)),
    "embedding": ("gemma-2-2b-it", re.compile(r"gemma[-_]?2[-_:]2b", re.IGNORECASE)),
}
"""The models of the paper (appendix F; published code)."""
_CODE_EMOTIONS, _CODE_INTENTIONS = 20, 30
_EVENT_WORDS = range(2, 25)
"""Limits of the published code: turns of a character, turns of a script, words of an event."""


@dataclass(frozen=True, slots=True)
class CmlScore:
    """A figure, mostly from 0 to 1. Not defined it counts 0, as published, and ``reason`` says why."""

    value: float
    reason: str = ""


Embed = Callable[[Sequence[str]], Rows]
"""A vector for each text: float[n, d]."""


def differences(models: Mapping[Needed, str]) -> dict[Needed, str]:
    """What keeps a figure from standing beside the paper's, by what a metric needs.

    ``models`` are those of judge, analyst and embedding. The words of the questions differ in any case.
    """
    found = {
        need: f"{need} {models[need]}, the paper's is {paper}"
        for need, (paper, pattern) in _PAPER.items()
        if not pattern.search(models[need])
    }
    return {**found, "weights": "λ1 to λ4 of CC2 and PR3 are 0.5 here, and not published"}


def compared_texts(parts: ScriptParts, found: ScriptFeatures) -> list[str]:
    """All texts whose vectors `cml_scores` asks for, so that those of many scripts can be made together."""
    events = [*found.lists["events"], *found.lists["code events"]]
    analyses = [one for those in (*found.analyses.values(), found.voices.values()) for one in those]
    spoken = [text for turn in parts.turns for text in (turn.text, turn.with_manner)]
    return [*spoken, *parts.actions, *parts.headings, *parts.scenes, *events, *analyses]


def cml_scores(parts: ScriptParts, found: ScriptFeatures, embed: Embed) -> dict[str, CmlScore]:
    """The score of each metric of `CML_METRICS`; one that an engine's failure left undefined says so."""
    scores = {**dict(_paper(parts, found, embed)), **dict(_code(parts, found, embed))}
    for name, metric in CML_METRICS.items():
        failed = [found.failures[what] for what in metric.asks if what in found.failures]
        if failed and scores[name].reason:
            scores[name] = CmlScore(0.0, f"engine: {failed[0]}")
    return scores


def _paper(parts: ScriptParts, found: ScriptFeatures, embed: Embed) -> Iterator[tuple[str, CmlScore]]:
    turns, known = parts.turns, found.known_turns()
    spoken = embed([turn.text for turn in turns])
    yield "dc1", _score(adjacent_similarity(spoken), "fewer than 2 turns")
    yield "dc2", _score(topic_concentration([one.keywords for one in known.values()]), "no keywords")
    yield "dc3", _score(creativity(embed(found.analyses["creative"])), "fewer than 2 creative features")
    yield "cc1", _stability(parts, found)
    own = [mutual_similarity(spoken[parts.characters()[name]]) for name in found.voices]
    voices = originality(embed(list(found.voices.values())), [one for one in own if one is not None])
    yield "cc2", _score(voices, f"fewer than 2 characters with {VOICE_TURNS} turns and a way of speaking")
    meant = [number for number, one in known.items() if one.intention]
    first = [turns[number].before for number in meant]
    kept = alignment(embed([turns[number].text for number in meant]), embed(parts.actions), first)
    yield "cc3", _score(kept, "no intentions, or no actions")
    yield "pr1", _score(adjacent_similarity(embed(parts.scenes)), "fewer than 2 scenes")
    yield "pr2", _score(adjacent_similarity(embed(found.lists["events"])), "fewer than 2 events")
    yield "pr3", _score(innovation(embed(found.analyses["pattern"])), "fewer than 2 narrative patterns")


def _code(parts: ScriptParts, found: ScriptFeatures, embed: Embed) -> Iterator[tuple[str, CmlScore]]:
    texts = [turn.with_manner for turn in parts.turns]
    spoken, few = embed(texts), "fewer than 2 turns"
    yield "dc1_adjacent_similarity", _score(adjacent_similarity(spoken, clipped=True), few)
    known = found.known_turns()
    asked = [k for k in known if known[k].question and k + 1 in known and not known[k + 1].question]
    relevance = paired_similarity(spoken[asked], spoken[[k + 1 for k in asked]], clipped=True)
    yield "dc2_qa_relevance", _score(relevance, "no question with an answer")
    centred = central_similarity(spoken) if len(spoken) > 1 else None
    yield "dc3_topic_concentration", _score(centred if centred is None else max(0.0, centred), few)
    yield "cc1_emotional_stability", _stability(parts, found, _CODE_EMOTIONS)
    styles = [central_similarity(spoken[turns]) for turns in parts.characters(VOICE_TURNS).values()]
    style = _mean([max(0.0, one) for one in styles if one is not None])
    yield "cc2_linguistic_consistency", _score(style, f"no character with {VOICE_TURNS} turns")
    meant = [number for number in known if number < _CODE_INTENTIONS and known[number].intention]
    actions = list(dict.fromkeys((*parts.headings, *parts.actions)))
    vectors = embed([texts[number] for number in meant])
    kept = alignment(vectors, embed(actions), [0] * len(meant), clipped=True)
    yield "cc3_action_intention_alignment", _score(kept, "no intentions, or no actions")
    scenes = adjacent_similarity(embed(parts.scenes), clipped=True)
    yield "pr1_scene_similarity", _score(scenes, "fewer than 2 scenes")
    events = [event for event in found.lists["code events"] if len(event.split()) in _EVENT_WORDS]
    yield "pr2_event_coherence", _score(adjacent_similarity(embed(events)), "fewer than 2 events")


def _stability(parts: ScriptParts, found: ScriptFeatures, most: int | None = None) -> CmlScore:
    """The mean over characters with two turns whose emotion is known, of the first ``most`` turns of each."""
    known = found.known_turns()
    steady = [
        emotional_stability([known[k].emotion for k in numbers[:most] if k in known])
        for numbers in parts.characters(2).values()
    ]
    return _score(_mean([one for one in steady if one is not None]), "no character with 2 turns")


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _score(value: float | None, reason: str) -> CmlScore:
    return CmlScore(0.0, reason) if value is None else CmlScore(value)
