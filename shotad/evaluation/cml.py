"""CML-Bench (Zheng et al. 2025; docs/cml-bench.md) over many screenplays: what engines find in each, the
formulas over that and over vectors of texts, a table like the paper's Table 1.

The ``judge`` finds features, the ``analyst`` says what is special in them and lists the events; they may be
one. The paper's text has nine metrics (``dc1`` … ``pr3``), its code eight, which have the names of the
columns of its tables: four of these are something else than the paper's of the same number.

Vectors are float[n, d], a row to each text; a row of zeros is like nothing (cosine 0). A formula is None
where it is not defined: that is 0 in the published figures, and `evaluate_cml` says why. ``clipped`` keeps
each cosine within 0 and 1, as the published code does. Numbers in brackets are the paper's equations.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shotad import __version__
from shotad.core.errors import EvaluationError
from shotad.core.progress import (
    plural,
    progress_task,
    table_lines,
)
from shotad.core.text_files import read_text_file
from shotad.description.templates import prompt_messages
from shotad.evaluation.datasets.tables import read_records
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.judge import (
    YES_OR_NO,
    Judge,
    Pair,
    Question,
    failed,
    listing,
    map_items,
    question,
    text_part,
    word,
)
from shotad.evaluation.screenplay import Element, Screenplay, read_cml
from shotad.evaluation.store import MetricContext, vectors_of

VOICE_TURNS = 3
"""Turns from which on a character has a style of speaking (paper, appendix D.2; published code)."""
EMOTIONS = {"negative": -1, "neutral": 0, "positive": 1}
_KEYWORDS, _CREATIVE, _VOICE, _PATTERNS, _EVENTS = 5, 12, 6, 8, 30
"""The most that may be listed; the published code leaves room for about 25 events."""
_TOKENS = 48
"""Room for a short sentence in JSON."""


class ScriptParts:
    """What the metrics take of a screenplay, in order: ``turns`` are its dialogues, with names in capitals,
    ``before`` how many actions stand before each; ``scenes`` are texts, each a heading and what is done, none
    of a scene that has neither."""

    def __init__(self, screenplay: Screenplay) -> None:
        self.turns: list[Element] = []
        self.before: list[int] = []
        self.actions: list[str] = []
        self.scenes: list[str] = []
        self.headings = [scene.heading for scene in screenplay.scenes if scene.heading]
        for scene in screenplay.scenes:
            scene_parts = [scene.heading] if scene.heading else []
            for element in scene.elements:
                if element.kind == "dialogue":
                    self.turns.append(replace(element, character=element.character.upper()))
                    self.before.append(len(self.actions))
                else:
                    self.actions.append(element.text)
                    scene_parts.append(element.text)
            if text := "\n".join(scene_parts):
                self.scenes.append(text)

    def characters(self, min_turns: int = 1) -> dict[str, list[int]]:
        """The numbers of each character's turns, from 0; of who has a name and ``min_turns`` of them."""
        turns_by_character: dict[str, list[int]] = {}
        for number, turn in enumerate(self.turns):
            if turn.character:
                turns_by_character.setdefault(turn.character, []).append(number)
        return {name: turns for name, turns in turns_by_character.items() if len(turns) >= min_turns}


@dataclass(slots=True)
class ScriptFeatures:
    """What engines said of one screenplay.

    ``turns`` say what each is about and how it is meant: ``keywords``, ``question``, ``emotion`` (-1, 0 or 1)
    and ``intention``; None where an answer could not be read. ``lists`` has what was listed; ``analyses`` the
    analysis of each creative feature and ``pattern``; ``voices`` that of each character. ``failures`` says,
    by what was asked about, how many answers failed and why the first did.
    """

    turns: list[Json | None] = field(default_factory=list)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    analyses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    voices: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def known_turns(self) -> dict[int, Json]:
        """The turns whose answer could be read, by number, in order."""
        return {number: turn for number, turn in enumerate(self.turns) if turn is not None}

    def ask(self, judge: Judge, questions: Mapping[str, Sequence[Question[Any]]]) -> dict[str, list[Any]]:
        """What a judge answers to the questions of each kind, asked together; None for what failed, which is
        noted."""
        together = [question for of_kind in questions.values() for question in of_kind]
        answers = iter(judge.ask_all(together))
        values: dict[str, list[Any]] = {}
        for kind, of_kind in questions.items():
            of_this_kind = [next(answers) for _ in of_kind]
            if failure := failed(of_this_kind):
                self.failures[kind] = failure
            values[kind] = [answer.value for answer in of_this_kind]
        return values


def extract_features(parts: ScriptParts, judge: Judge, analyst: Judge) -> ScriptFeatures:
    """What the engines find in a screenplay. An answer that fails is noted, and raises nothing."""
    features, turns, speakers = ScriptFeatures(), parts.turns, parts.characters(VOICE_TURNS)
    lines = [f"{turn.character}: {turn.text}" for turn in turns]
    events = [list_question("events", parts.scenes, _EVENTS)] if parts.scenes else []
    values = features.ask(
        judge,
        {
            "turns": [turn_question(turn.character, turn.text) for turn in turns],
            "creative": [list_question("creative", lines, _CREATIVE)] if turns else [],
            "patterns": [list_question("patterns", parts.scenes, _PATTERNS)] if parts.scenes else [],
            "code events": events,
            "voices": [
                list_question("voice", [turns[number].text for number in numbers], _VOICE, name)
                for name, numbers in speakers.items()
            ],
        },
    )
    features.turns = values["turns"]
    creative, patterns, code_events = (
        _only_list(values[kind]) for kind in ("creative", "patterns", "code events")
    )
    voices = {name: voice for name, voice in zip(speakers, values["voices"], strict=True) if voice}
    values = features.ask(
        analyst,
        {
            "events": events,
            "creative analyses": [analysis_question("creative", [feature]) for feature in creative],
            "pattern analyses": [analysis_question("pattern", [pattern]) for pattern in patterns],
            "voice analyses": [analysis_question("voice", voice, name) for name, voice in voices.items()],
        },
    )
    features.lists = {
        "creative": creative,
        "patterns": patterns,
        "code events": code_events,
        "events": _only_list(values["events"]),
    }
    for kind in ("creative", "pattern"):
        analyses = values[f"{kind} analyses"]
        features.analyses[kind] = tuple(analysis for analysis in analyses if analysis is not None)
    for name, analysis in zip(voices, values["voice analyses"], strict=True):
        if analysis is not None:
            features.voices[name] = analysis
    return features


def _only_list(values: Sequence[tuple[str, ...] | None]) -> tuple[str, ...]:
    """The value of a question that was asked once at most; empty where it was not, or failed."""
    return (values[0] if values else None) or ()


def turn_question(character: str, line: str) -> Question[Json]:
    """Keywords of a line of dialogue, whether it asks, its emotion, and whether it says an intention."""
    values = {"character": character, "line": line, "most": _KEYWORDS}
    parts = {
        "keywords": listing(_KEYWORDS, '["…", …]', empty=True),
        "question": YES_OR_NO,
        "emotion": word(EMOTIONS, '<"positive", "neutral" or "negative">'),
        "intention": YES_OR_NO,
    }
    return question("cml-turn", values, parts, lambda *replies: dict(zip(parts, replies, strict=True)))


def list_question(
    kind: str, lines: Sequence[str], max_items: int, character: str = ""
) -> Question[tuple[str, ...]]:
    """What is listed of these lines: creative language, a ``voice`` (of this ``character``), narrative
    patterns or events. The list may be empty."""
    values = {"lines": lines, "most": max_items, "character": character}
    parts = {"events" if kind == "events" else "features": listing(max_items, empty=True)}
    return question(f"cml-{kind}", values, parts, tokens=_TOKENS * (max_items + 1))


def analysis_question(kind: str, features: Sequence[str], character: str = "") -> Question[str]:
    """What is special in a creative feature, a narrative ``pattern``, or a ``voice`` with its features."""
    values = {"kind": kind, "features": features, "character": character}
    parts = {"analysis": text_part('"<two sentences>"')}
    return question("cml-analysis", values, parts, tokens=4 * _TOKENS)


Rows = npt.NDArray[Any]
"""float[n, d]"""

WEIGHT = 0.5
"""λ1 to λ4 of equations 5 and 8: only that each pair adds up to 1 is published."""


def adjacent_similarity(vectors: Rows, *, clipped: bool = False) -> float | None:
    """The mean cosine of each text and the next (1, 7). None for fewer than two texts."""
    return paired_similarity(vectors[:-1], vectors[1:], clipped=clipped)


def paired_similarity(first_vectors: Rows, second_vectors: Rows, *, clipped: bool = False) -> float | None:
    """The mean cosine of the k-th of the first and the k-th of the second vectors. None for no pair."""
    if not len(first_vectors):
        return None
    return _mean_cosine((_unit_vectors(first_vectors) * _unit_vectors(second_vectors)).sum(axis=1), clipped)


def mutual_similarity(vectors: Rows) -> float | None:
    """The mean cosine over all pairs (within 3, 5, 8). None for fewer than two texts."""
    n = len(vectors)
    if n < 2:
        return None
    table = _unit_vectors(vectors) @ _unit_vectors(vectors).T
    return float(table[np.triu_indices(n, 1)].mean())


def central_similarity(vectors: Rows) -> float | None:
    """The mean cosine to the mean vector (within 8; dc3 and cc2 of the published code). None for no text."""
    if not len(vectors):
        return None
    centre = np.asarray(vectors, np.float64).mean(axis=0, keepdims=True)
    return _mean_cosine((_unit_vectors(vectors) @ _unit_vectors(centre).T)[:, 0], clipped=False)


def creativity(analyses: Rows) -> float | None:
    """1 minus the mean cosine of what was said of each creative feature (3). None for fewer than two."""
    similarity = mutual_similarity(analyses)
    return None if similarity is None else 1.0 - similarity


def originality(voices: Rows, similarities: Sequence[float]) -> float | None:
    """How unlike characters speak, and how alike each speaks (5). None for fewer than two characters.
    ``voices`` has a row for each character, ``similarities`` the mean cosine of each character's turns."""
    voice_similarity = mutual_similarity(voices)
    if voice_similarity is None or not similarities:
        return None
    return WEIGHT * (1.0 - voice_similarity) + (1.0 - WEIGHT) * math.fsum(similarities) / len(similarities)


def innovation(patterns: Rows) -> float | None:
    """1 minus the similarity of patterns, each to each and to their mean (8). None for fewer than two."""
    similarity, central = mutual_similarity(patterns), central_similarity(patterns)
    if similarity is None or central is None:
        return None
    return 1.0 - (WEIGHT * similarity + (1.0 - WEIGHT) * central)


def alignment(
    intentions: Rows, actions: Rows, first_actions: Sequence[int], *, clipped: bool = False
) -> float | None:
    """The mean over intentions of the largest cosine with a later action (6).

    ``first_actions[k]`` is the number, from 0, of the first action that may follow intention k.
    An intention that no action follows counts 0. None without intentions or actions.
    """
    if not len(intentions) or not len(actions):
        return None
    table = _unit_vectors(intentions) @ _unit_vectors(actions).T
    best = []
    for cosines, start in zip(table, first_actions, strict=True):
        best.append(float(cosines[start:].max()) if start < len(cosines) else 0.0)
    return _mean_cosine(np.array(best), clipped)


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


def _unit_vectors(vectors: Rows) -> npt.NDArray[np.float64]:
    rows = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def _mean_cosine(cosines: npt.NDArray[np.float64], clipped: bool) -> float:
    return float((np.clip(cosines, 0.0, 1.0) if clipped else cosines).mean())


Needed = Literal["judge", "analyst", "embedding", "weights"]


@dataclass(frozen=True, slots=True)
class CmlMetric:
    """A metric. ``needs`` is what its figure depends on (``weights`` are numbers that nobody published),
    ``asks`` what engines are asked about for it, as `ScriptFeatures.failures` names it."""

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

_PAPER_MODELS: Mapping[Needed, tuple[str, re.Pattern[str]]] = {
    "judge": ("gemma-2-2b-it", re.compile(r"gemma[-_]?2[-_:]2b", re.IGNORECASE)),
    "analyst": ("QwQ-32B", re.compile(r"qwq[-_:]?32b", re.IGNORECASE)),
    "embedding": ("gemma-2-2b-it", re.compile(r"gemma[-_]?2[-_:]2b", re.IGNORECASE)),
}
"""The models of the paper (appendix F; published code)."""
_CODE_EMOTIONS, _CODE_INTENTIONS = 20, 30
_EVENT_WORDS = range(2, 25)
"""Limits of the published code: turns of a character, turns of a script, words of an event."""


Embed = Callable[[Sequence[str]], Rows]
"""A vector for each text: float[n, d]."""
Scores = Iterator[tuple[str, float | None, str]]
"""Metrics by name with their figures, mostly from 0 to 1, and why one that is None is not defined."""


def differences(models: Mapping[Needed, str]) -> dict[Needed, str]:
    """What keeps a figure from standing beside the paper's, by what a metric needs. ``models`` are those of
    judge, analyst and embedding."""
    reasons = {
        need: f"{need} {models[need]}, the paper's is {paper}"
        for need, (paper, pattern) in _PAPER_MODELS.items()
        if not pattern.search(models[need])
    }
    return {**reasons, "weights": "λ1 to λ4 of CC2 and PR3 are 0.5 here, and not published"}


def _paper_scores(parts: ScriptParts, features: ScriptFeatures, embed: Embed) -> Scores:
    turns, known_turns = parts.turns, features.known_turns()
    spoken = embed([turn.text for turn in turns])
    yield "dc1", adjacent_similarity(spoken), "fewer than 2 turns"
    yield "dc2", topic_concentration([turn["keywords"] for turn in known_turns.values()]), "no keywords"
    yield "dc3", creativity(embed(features.analyses["creative"])), "fewer than 2 creative features"
    yield "cc1", _mean_stability(parts, features), "no character with 2 turns"
    voice_similarities = [mutual_similarity(spoken[parts.characters()[name]]) for name in features.voices]
    defined = [similarity for similarity in voice_similarities if similarity is not None]
    voices = originality(embed(list(features.voices.values())), defined)
    yield "cc2", voices, f"fewer than 2 characters with {VOICE_TURNS} turns and a way of speaking"
    intentional_turns = [number for number, turn in known_turns.items() if turn["intention"]]
    first_actions = [parts.before[number] for number in intentional_turns]
    intentions = embed([turns[number].text for number in intentional_turns])
    intention_alignment = alignment(intentions, embed(parts.actions), first_actions)
    yield "cc3", intention_alignment, "no intentions, or no actions"
    yield "pr1", adjacent_similarity(embed(parts.scenes)), "fewer than 2 scenes"
    yield "pr2", adjacent_similarity(embed(features.lists["events"])), "fewer than 2 events"
    yield "pr3", innovation(embed(features.analyses["pattern"])), "fewer than 2 narrative patterns"


def _code_scores(parts: ScriptParts, features: ScriptFeatures, embed: Embed) -> Scores:
    # Behind a turn in brackets how it is spoken, as in the published code.
    texts = [f"{turn.text} ({turn.manner})" if turn.manner else turn.text for turn in parts.turns]
    spoken, too_few_turns = embed(texts), "fewer than 2 turns"
    yield "dc1_adjacent_similarity", adjacent_similarity(spoken, clipped=True), too_few_turns
    known_turns = features.known_turns()
    questions, answers = list[int](), list[int]()
    for number, turn in known_turns.items():
        next_turn = known_turns.get(number + 1)
        if turn["question"] and next_turn is not None and not next_turn["question"]:
            questions.append(number)
            answers.append(number + 1)
    relevance = paired_similarity(spoken[questions], spoken[answers], clipped=True)
    yield "dc2_qa_relevance", relevance, "no question with an answer"
    centred = central_similarity(spoken) if len(spoken) > 1 else None
    yield "dc3_topic_concentration", centred if centred is None else max(0.0, centred), too_few_turns
    yield (
        "cc1_emotional_stability",
        _mean_stability(parts, features, _CODE_EMOTIONS),
        "no character with 2 turns",
    )
    styles = [central_similarity(spoken[turns]) for turns in parts.characters(VOICE_TURNS).values()]
    style = _mean([max(0.0, similarity) for similarity in styles if similarity is not None])
    yield "cc2_linguistic_consistency", style, f"no character with {VOICE_TURNS} turns"
    intentional_turns = [
        number for number in known_turns if number < _CODE_INTENTIONS and known_turns[number]["intention"]
    ]
    actions = list(dict.fromkeys((*parts.headings, *parts.actions)))
    vectors = embed([texts[number] for number in intentional_turns])
    intention_alignment = alignment(vectors, embed(actions), [0] * len(intentional_turns), clipped=True)
    yield "cc3_action_intention_alignment", intention_alignment, "no intentions, or no actions"
    scenes = adjacent_similarity(embed(parts.scenes), clipped=True)
    yield "pr1_scene_similarity", scenes, "fewer than 2 scenes"
    events = [event for event in features.lists["code events"] if len(event.split()) in _EVENT_WORDS]
    yield "pr2_event_coherence", adjacent_similarity(embed(events)), "fewer than 2 events"


def _mean_stability(
    parts: ScriptParts, features: ScriptFeatures, max_turns: int | None = None
) -> float | None:
    """The mean over characters with two turns whose emotion is known, of the first ``max_turns`` of each."""
    known_turns = features.known_turns()
    stabilities = [
        emotional_stability([known_turns[k]["emotion"] for k in numbers[:max_turns] if k in known_turns])
        for numbers in parts.characters(2).values()
    ]
    return _mean([stability for stability in stabilities if stability is not None])


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


_RECORDS, _TEXTS = (".json", ".jsonl"), (".xml", ".cml", ".txt")
_TEXT = ("script_segment", "response", "script", "text")
_TITLE = ("movie_name", "title")
_ID = ("imdb_id", "id")
"""Names that a column may have; the first are those of the published files."""
_SHOWN = 10
"""Failures that the text names; cml.json has all."""


def cml_instruction(title: str, summary: str) -> str:
    """A prompt that asks any language model for a screenplay of a summary, in CML: the paper's
    CML-Instruction (appendix E) in our own words. Raises PromptError for a template that was edited and lacks
    a variable."""
    (message,) = prompt_messages("cml-instruction", title=title, summary=summary)
    return message.text


@dataclass(frozen=True, slots=True)
class ScriptText:
    """A screenplay as it came. ``source`` is what it is counted under: its file of many, or its folder."""

    id: str
    title: str
    source: str
    text: str


def read_scripts(paths: Sequence[Path]) -> tuple[ScriptText, ...]:
    """The screenplays in files and folders: ``.xml``, ``.cml`` and ``.txt`` hold one each, ``.json`` and
    ``.jsonl`` many, as in the published dataset. Raises EvaluationError for what is not there or holds none,
    DatasetError for a table that cannot be read."""
    scripts = [script for path in paths for script in _scripts_in(path)]
    if not scripts:
        suffixes = " ".join((*_TEXTS, *_RECORDS))
        raise EvaluationError(f"No screenplay in {', '.join(map(str, paths))}.", f"Known: {suffixes}.")
    return tuple(scripts)


def _scripts_in(path: Path) -> Iterator[ScriptText]:
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.suffix.lower() in (*_TEXTS, *_RECORDS):
                yield from _scripts_in(file)
    elif not path.is_file():
        raise EvaluationError(f"There is no file or folder {path}.", "Name screenplays, or a folder of them.")
    elif path.suffix.lower() in _RECORDS:
        table = read_records(path)
        text, title, name = table.needed(_TEXT, "the screenplay"), table.column(_TITLE), table.column(_ID)
        for number, row in enumerate(table.rows, 1):
            key = row.text(name) or f"{path.stem}:{number}"
            yield ScriptText(key, row.text(title) or "", path.stem, row.text(text) or "")
    else:
        hint = "Save it as text in UTF-8."
        content = read_text_file(path, "screenplay", EvaluationError, hint=hint, encoding="utf-8").text
        yield ScriptText(path.stem, path.stem, path.absolute().parent.name, content)


def evaluate_cml(scripts: Sequence[ScriptText], judge: str, analyst: str, context: MetricContext) -> Json:
    """CML-Bench of these screenplays, as JSON (``cml.json``), the features too, so that a figure can be
    looked into. A figure that is not defined is 0, as published, and has a ``reason``.

    ``judge`` and ``analyst`` are engines by name (`JudgeName`). Raises ShotadError for an engine or an
    embedding model that cannot be had, EngineError for what stops an engine.
    """
    pair, vectors = Pair(judge, analyst, context, "cml"), vectors_of(context)
    # A model that is not here is said before any engine is asked.
    made_by = {"judge": pair.actor.identity, "analyst": pair.judge.identity, "embedding": vectors.identity}

    def read(script: ScriptText) -> ReadScript:
        return read_script(script, pair)

    readings = list(map_items(read, scripts, pair.judges, "Reading screenplays", "screenplays"))
    results = []
    with progress_task(context.progress, "Scoring screenplays", len(scripts), "screenplays") as task:
        for script, reading in zip(scripts, readings, strict=True):
            results.append(_score_script(script, reading, vectors.of))
            task.advance(1)
    reasons_by_need, metrics = differences(_model_names(made_by)), []
    for name, metric in CML_METRICS.items():
        reasons = [reason for need, reason in reasons_by_need.items() if need in metric.needs]
        heads = {"name": name, "title": metric.title, "definition": metric.source}
        metrics.append({**heads, "comparable": not reasons, "why_not": reasons})
    sources: dict[str, list[Json]] = {}
    for result in results:
        sources.setdefault(result["source"], []).append(result)
    failed = sum(bool(result["features"]["failures"]) for result in results)
    return {
        "schema": 1,
        "shotad": __version__,
        "made_by": {**made_by, "prompts": pair.identity["prompts"]},
        "n": {"scripts": len(results), "failed": failed},
        "metrics": metrics,
        "sources": [
            {
                "source": source,
                "scripts": len(of_source),
                "read": sum(result["read"] != "none" for result in of_source),
                "by_tags": sum(result["read"] == "tags" for result in of_source),
                "means": {
                    name: _mean([result["scores"][name]["value"] for result in of_source])
                    for name in CML_METRICS
                },
            }
            for source, of_source in sources.items()
        ],
        "scripts": results,
    }


@dataclass(frozen=True, slots=True)
class ReadScript:
    """A screenplay taken apart, and what engines said of it. ``form``: it was read by its ``tags``, as plain
    ``text``, or not at all (``none``)."""

    parts: ScriptParts
    form: str
    features: ScriptFeatures


def read_script(script: ScriptText, pair: Pair) -> ReadScript:
    """Take a screenplay apart, and ask both engines about it."""
    screenplay, form = read_cml(script.text, script.title)
    parts = ScriptParts(screenplay)
    return ReadScript(parts, form, extract_features(parts, pair.actor, pair.judge))


def _score_script(script: ScriptText, reading: ReadScript, embed: Embed) -> Json:
    """All metrics of a screenplay, as it stands in ``cml.json``."""
    parts, features = reading.parts, reading.features
    scores = {}
    for name, value, undefined in chain(
        _paper_scores(parts, features, embed), _code_scores(parts, features, embed)
    ):
        failures = [features.failures[kind] for kind in CML_METRICS[name].asks if kind in features.failures]
        reason = f"engine: {failures[0]}" if failures else undefined
        scores[name] = {"value": 0.0, "reason": reason} if value is None else {"value": value, "reason": ""}
    counts = {name: len(getattr(parts, name)) for name in ("scenes", "turns", "actions")}
    return {
        **{name: getattr(script, name) for name in ("id", "title", "source")},
        "read": reading.form,
        "n": {**counts, "characters": len(parts.characters())},
        "scores": scores,
        "features": asdict(features),
    }


def _model_names(made_by: Json) -> dict[Needed, str]:
    names: dict[Needed, str] = {}
    roles: tuple[Needed, ...] = ("judge", "analyst", "embedding")
    for role in roles:
        identity = made_by[role]
        # An embedding has a model and no engine.
        names[role] = " ".join(filter(None, (identity.get("engine"), identity["model"])))
    return names


def cml_text(record: Json) -> str:
    """What `evaluate_cml` found, for people."""
    scripts, models = record["scripts"], _model_names(record["made_by"])
    count, forms = len(scripts), Counter(script["read"] for script in scripts)
    read = forms["tags"] + forms["text"]
    lines = [
        f"CML-Bench of {plural(count, 'screenplay')}.",
        f"Features by {models['judge']}, analyses by {models['analyst']}, vectors by {models['embedding']}.",
        f"Read: {read} of {count} ({100 * read / count:.1f}%), {forms['tags']} by their tags, "
        f"{forms['text']} as plain text.",
    ]
    for kind, head in (("paper", "By the paper's text"), ("code", "By the published code")):
        metrics = [metric for metric in record["metrics"] if metric["definition"] == kind]
        heads = [f"{metric['name'][:3].upper()}{'*' if metric['why_not'] else ''}" for metric in metrics]
        rows = []
        for source in record["sources"]:
            means = [f"{source['means'][metric['name']]:.3f}" for metric in metrics]
            rows.append((source["source"], f"{source['scripts']:,}", *means))
        lines += ["", *table_lines((head, "Scripts", *heads), rows, range(1, len(metrics) + 2))]
    caveats = "; ".join(differences(models).values())
    lines += ["", f"* Not comparable with the paper: {caveats}. All questions are in our own words."]
    for name, metric in CML_METRICS.items():
        all_reasons = [script["scores"][name]["reason"] for script in scripts]
        reasons = [reason for reason in all_reasons if reason]
        if reasons:
            message = f"Counted as 0: {metric.title} ({metric.source}), {len(reasons)} of {count}"
            lines.append(f"{message}: {'; '.join(dict.fromkeys(reasons)).rstrip('.')}.")
    failures = []
    for script in scripts:
        for kind, reason in script["features"]["failures"].items():
            failures.append(f"Engine failed: {script['id']}, {kind}: {reason}")
    lines += failures[:_SHOWN]
    if failures:
        more = f"{plural(record['n']['failed'], 'screenplay')} with answers that failed"
        lines.append(f"{more}. Run the same command again: what is done is kept.")
    return "\n".join(lines)
