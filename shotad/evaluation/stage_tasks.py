"""STAGE's tasks (docs/stage.md). First what becomes of a character, as a timeline of lasting developments and
arcs over them; second open questions on the whole story; third answers as a character of it.

The judge holds the engine's timelines and arcs against the people's (paper, section C.2.1). A timeline that
cannot be had covers no fact, and all arcs of its character are wrong; of facts and transitions that it does
not have nothing is said. Arcs of a character without a timeline of the people's are left out.

In an interview of several turns the engine's own answers stand in the history. An interview of which an
answer is missing has 0 in every dimension, unasked, and so has what the judge does not score. Support hit and
recall say of the memories that a question was made of whether one is given, and how many; they need no judge.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise, product
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from shotad.core import DatasetError, EvaluationError
from shotad.description import in_quotes
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.judge import (
    SENTENCE,
    STRING,
    STRINGS,
    Answer,
    Pair,
    Part,
    Question,
    Steps,
    Unreadable,
    by_judge,
    entries_schema,
    listing,
    points,
    question,
    sentence,
    worked,
)
from shotad.evaluation.stage import (
    ANSWER,
    StageArc,
    StageFilm,
    StageInterview,
    StageNode,
    StageRole,
    StageRun,
    StageTimeline,
    drawn,
    entries,
    verdict,
)
from shotad.evaluation.store import MetricContext, VectorService, vectors_of
from shotad.evaluation.story import TRIES, answer_check, figure, row
from shotad.evaluation.story_questions import StoryQuestion

FACTS = 8
"""Facts of a timeline at most (published code)."""
EXCERPT = 900
"""Characters of a scene that a judge of a transition reads (published code)."""
NEARNESS = (0.85, 0.15)
"""What vectors, and common scenes, weigh in matching arcs (published code)."""
TOKENS = 8192
"""Of an answer at most (section 4)."""
_FACT_TOKENS = 80

FIGURES = {
    "gold-fact recall": "facts",
    "predicted-fact precision": "facts",
    "transition coherence": "transitions",
    "arc narrative aspect": "arcs",
    "arc progression": "arcs",
}
"""Each figure, and of what it is the share."""

T = TypeVar("T")


def evaluate_timelines(
    films: Sequence[StageFilm],
    engine: str,
    context: MetricContext,
    *,
    judge: str = "",
    limit: int | None = None,
) -> StageRun:
    """Timelines and arcs of all characters, or of the first ``limit``. Raises EngineError for what stops an
    engine, ShotadError where vectors cannot be counted here."""
    pair = Pair(engine, judge, context, "stage")
    vectors = vectors_of(context)
    asked = [_character(film, gold, pair, vectors) for film in films for gold in film.timelines][:limit]
    items = tuple(worked("Timelines", "characters", asked, context))
    identity = {**pair.identity, "vectors": vectors.identity}
    results = [
        figure(name, of, (row(one["id"], *one["figures"][name]) for one in items), identity)
        for name, of in FIGURES.items()
    ]
    return StageRun("timelines and arcs", tuple(results), items, identity)


def _character(film: StageFilm, gold: StageTimeline, pair: Pair, vectors: VectorService) -> Steps[Json]:
    """What is found of a character; ``figures`` has a tally of each figure."""
    (told,) = yield pair.actor, [drawn(timeline_question(film, gold), TOKENS)]
    ours: StageTimeline = told.value or StageTimeline(character=gold.character, nodes=())
    arcs: tuple[StageArc, ...] = ()
    failed = told.failure
    if len(ours.nodes) > 1:
        (joined,) = yield pair.actor, [drawn(arcs_question(film, ours), TOKENS)]
        arcs, failed = joined.value or (), joined.failure
    recall = yield from _covered(film, gold, ours, pair)
    precision = yield from _covered(film, ours, gold, pair)
    after = []  # can one development come after another?
    for two in pairwise(ours.nodes):
        before, then = (film.scenes[film.places[one.scene]].content[:EXCERPT] for one in two)
        earlier, later = (_node_values(film, one) for one in two)
        says = {"character": gold.character, "earlier": earlier, "later": later}
        after.append(verdict("stage-follows", {**says, "before": before, "after": then}))
    follows = yield pair.judge, after
    theirs = [arc for arc in film.arcs if arc.character == gold.character]
    nearest = _nearest(theirs, gold, arcs, ours, vectors)
    texts = [
        {
            "character": gold.character,
            "reference": _arc_values(film, arc, gold),
            "predicted": _arc_values(film, best, ours),
        }
        for arc, best in zip(theirs, nearest, strict=False)
    ]
    aspect = yield pair.judge, [verdict("stage-aspect", one) for one in texts]
    progression = yield pair.judge, [verdict("stage-progression", one) for one in texts]
    tallies = (
        recall,
        precision,
        _tally(follows, len(follows)),
        _tally(aspect, len(theirs), failed),
        _tally(progression, len(theirs), failed),
    )
    return {
        "id": f"{film.id}/{gold.character}",
        "film": film.id,
        "timeline": ours.model_dump(mode="json"),
        "arcs": [arc.model_dump(mode="json") for arc in arcs],
        "matched": {arc.id: best.id for arc, best in zip(theirs, nearest, strict=False)},
        "figures": dict(zip(FIGURES, tallies, strict=True)),
        "failure": failed,
    }


Tally = tuple[int, int, str]
"""How many are right, how many could be, and what failed."""


def _tally(answers: Sequence[Answer[bool]], of: int, failure: str = "") -> Tally:
    return sum(answer.value is True for answer in answers), of, failure or by_judge(answers)


def _covered(film: StageFilm, one: StageTimeline, other: StageTimeline, pair: Pair) -> Steps[Tally]:
    """How many facts of one timeline the other covers. Where the judge lists none, none of as many as it may
    list."""
    if not one.nodes:
        return 0, 0, ""
    values = {"character": one.character, "timeline": _timeline_values(film, one), "most": FACTS}
    parts, room = {"facts": listing(FACTS)}, _FACT_TOKENS * FACTS
    asked = question("stage-facts", values, parts, tokens=room)
    (facts,) = yield pair.judge, [asked]
    if facts.value is None:
        return 0, FACTS, by_judge([facts])
    values = {"character": one.character, "timeline": _timeline_values(film, other)}
    told = facts.value if other.nodes else ()
    covered = yield pair.judge, [verdict("stage-covered", {**values, "fact": fact}) for fact in told]
    return _tally(covered, len(facts.value), "" if other.nodes else "no timeline")


def _nearest(
    theirs: Sequence[StageArc],
    gold: StageTimeline,
    arcs: Sequence[StageArc],
    ours: StageTimeline,
    vectors: VectorService,
) -> list[StageArc]:
    """The engine's arc that is nearest to each of the people's; none where there are none."""
    if not theirs or not arcs:
        return []
    words = vectors.of([_words(arc) for arc in theirs]) @ vectors.of([_words(arc) for arc in arcs]).T
    shared = np.zeros((len(theirs), len(arcs)))
    for i, one in enumerate(theirs):
        for k, arc in enumerate(arcs):
            some, others = _scenes(one, gold), _scenes(arc, ours)
            shared[i, k] = len(some & others) / max(1, len(some | others))
    best = np.argmax(NEARNESS[0] * words + NEARNESS[1] * shared, axis=1)
    return [arcs[int(place)] for place in best]


def _scenes(arc: StageArc, timeline: StageTimeline) -> set[str]:
    return {node.scene for node in timeline.nodes if node.id in arc.nodes}


def _words(arc: StageArc) -> str:
    parts = (arc.title, arc.focus, arc.summary, arc.start, arc.end, arc.unresolved)
    return "\n".join(filter(None, parts))


def timeline_question(film: StageFilm, gold: StageTimeline) -> Question[StageTimeline]:
    """What becomes of this character, of whom nothing but the names is told?"""

    def read(nodes: list[StageNode]) -> StageTimeline:
        for node in nodes:
            sentence(node.development, "development")
            if node.scene not in film.places:
                raise Unreadable(f"{in_quotes(node.scene)} is no scene of this script.")
        nodes.sort(key=lambda node: film.places[node.scene])
        numbered = (node.model_copy(update={"id": str(n)}) for n, node in enumerate(nodes, 1))
        return StageTimeline(character=gold.character, nodes=tuple(numbered))

    values = {"character": gold.character, "aliases": gold.aliases, "scenes": film.scenes}
    parts = {"nodes": _entries(_NODE, StageNode)}
    return question("stage-timeline", values, parts, read)


def arcs_question(film: StageFilm, timeline: StageTimeline) -> Question[tuple[StageArc, ...]]:
    """Which longer changes join these nodes?"""
    known = {node.id for node in timeline.nodes}

    def read(arcs: list[StageArc]) -> tuple[StageArc, ...]:
        for arc in arcs:
            sentence(arc.summary, "summary")
            if len(set(arc.nodes)) < 2 or not known.issuperset(arc.nodes):
                raise Unreadable(f"Each arc must have two nodes or more of {', '.join(sorted(known))}.")
        return tuple(arcs)

    values = {"character": timeline.character, "timeline": _timeline_values(film, timeline)}
    parts = {"arcs": _entries(_ARC, StageArc, character=timeline.character)}
    return question("stage-arcs", values, parts, read)


_NODE = dict.fromkeys(("scene", "development", "goal", "result", "unresolved"), STRING)
_ARC = {"title": STRING, "nodes": STRINGS} | dict.fromkeys(("summary", "start", "end", "unresolved"), STRING)


def _entries(entry: Mapping[str, Any], kind: type[T], **more: str) -> Part:
    """A list of such entries, read as ``kind`` and numbered as their ids."""

    def read(content: Any, key: str) -> list[T]:
        if not isinstance(content, list) or not content or not all(isinstance(one, dict) for one in content):
            raise Unreadable(f"{key} must be a list with an entry or more.")
        try:
            return list(entries([{**one, **more, "id": str(n)} for n, one in enumerate(content, 1)], kind))
        except ValueError as error:
            raise Unreadable(f"{key}, {error}.") from None

    form = ", ".join(f'"{one}": {"[…]" if kind is STRINGS else "…"}' for one, kind in entry.items())
    return Part(f"[{{{form}}}, …]", {"type": "array", "items": entries_schema(entry)}, read)


def _timeline_values(film: StageFilm, timeline: StageTimeline) -> list[Json]:
    return [_node_values(film, node) for node in timeline.nodes]


def _node_values(film: StageFilm, node: StageNode) -> Json:
    """A node with the heading of its scene, as the prompts take it."""
    place = film.places.get(node.scene)
    heading = "" if place is None else film.scenes[place].heading
    return {**node.model_dump(mode="json"), "heading": heading}


def _arc_values(film: StageFilm, arc: StageArc, timeline: StageTimeline) -> Json:
    """An arc with its nodes."""
    nodes = [_node_values(film, node) for node in timeline.nodes if node.id in arc.nodes]
    return {**arc.model_dump(mode="json"), "nodes": nodes}


Scores = npt.NDArray[np.float64]
"""float64[n], one for each text: the nearer, the higher."""

TOP = 4
"""Memories that are given (paper, section 4)."""
K1, B, FLOOR = 1.5, 0.75, 0.25
"""As rank-bm25 0.2.2, which STAGE's own runs use; the last is what a word that more than half of the texts
have weighs, of the mean weight."""

_WORD = {"zh": re.compile(r"[a-z0-9_]+|[\u4e00-\u9fff]")}
_USUAL = re.compile(r"[a-z0-9']+")


def words_of(text: str, language: str) -> list[str]:
    """The words by which texts are compared; of Chinese each character.

    >>> words_of("Ann's 2 cats", "en")
    ["ann's", '2', 'cats']
    """
    return _WORD.get(language, _USUAL).findall(text.lower())


class Bm25:
    """The weights of ``texts`` (lists of words), counted once."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(text) for text in texts]
        lengths = np.array([len(text) for text in texts], np.float64)
        mean = lengths.mean() if lengths.size and lengths.any() else 1.0
        self._norms = K1 * (1 - B + B * lengths / mean)
        found = Counter(word for counts in self._counts for word in counts)
        weights = {
            word: math.log(len(texts) - times + 0.5) - math.log(times + 0.5) for word, times in found.items()
        }
        floor = FLOOR * sum(weights.values()) / max(1, len(weights))
        self._weights = {word: floor if weight < 0 else weight for word, weight in weights.items()}

    def scores(self, query: Sequence[str]) -> Scores:
        """How near each text is to the words of ``query``; one that stands twice counts twice."""
        total = np.zeros(len(self._counts))
        for word in query:
            if word in self._weights:
                times = np.array([counts[word] for counts in self._counts], np.float64)
                total += self._weights[word] * times * (K1 + 1) / (times + self._norms)
        return total


SETTINGS = ("none", "full", "bm25", "dense")
"""What may be given."""
Choose = Callable[[str], list[int]]
"""A query → the places of what is given, the nearest first; of equals, the one that comes first."""


def chooser(setting: str, texts: Sequence[str], language: str, context: MetricContext, top: int) -> Choose:
    """How ``setting`` chooses among ``texts``. Raises EvaluationError for an unknown one; ShotadError where
    vectors cannot be counted here."""
    if setting not in SETTINGS:
        known = f"Known: {', '.join(SETTINGS)}."
        raise EvaluationError(f"There is no memory setting {setting!r}.", known, usage=True)
    most = {"none": 0, "full": len(texts)}.get(setting, top)
    if setting == "bm25":
        index = Bm25([words_of(text, language) for text in texts])
        return lambda query: _ranked(index.scores(words_of(query, language)), most)
    if setting == "dense" and texts:
        service = vectors_of(context)
        vectors = service.of(texts)
        return lambda query: _ranked(vectors @ service.of([query])[0], most)
    return lambda query: list(range(most))[: len(texts)]


def _ranked(scores: npt.NDArray[Any], most: int) -> list[int]:
    return [int(place) for place in np.argsort(-scores, kind="stable")[:most]]


def evaluate_questions(
    films: Sequence[StageFilm],
    engine: str,
    context: MetricContext,
    *,
    judge: str = "",
    memory: Sequence[str] = ("bm25",),
    top: int = TOP,
    limit: int | None = None,
) -> StageRun:
    """All questions, or the first ``limit``, answered from none, all or the nearest ``top`` scenes, with each
    setting. Raises EvaluationError for an unknown setting, EngineError for what stops an engine."""
    pair = Pair(engine, judge, context, "stage", "question")
    picked = [(film, one) for film in films for one in film.questions][:limit]
    settings = dict.fromkeys(memory)

    @cache
    def choose(setting: str, film: StageFilm) -> Choose:
        scenes = [f"{one.heading}\n{one.content}" for one in film.scenes]
        return chooser(setting, scenes, film.language, context, top)

    both = product(settings, picked)
    asked = [_answered(film, one, name, choose(name, film), pair) for name, (film, one) in both]
    items = tuple(worked("Questions", "questions", asked, context))
    identity = {**pair.identity, "memory": list(memory), "top": top, "tries": TRIES}
    results = []
    for setting in settings:
        its = [one for one in items if one["memory"] == setting]
        passed = [row(one["id"], any(one["right"]), 1, one["failure"]) for one in its]
        results.append(figure(f"{setting}: pass@{TRIES}", "questions", passed, identity))
        for kind in ("", *sorted({one["type"] for one in its} - {""})):
            rows = [
                row(one["id"], sum(one["right"]), TRIES, one["failure"])
                for one in its
                if kind in ("", one["type"])
            ]
            name = f"{setting}: average accuracy{kind and ', '}{kind}"
            results.append(figure(name, "tries", rows, identity))
    return StageRun("question answering", tuple(results), items, identity)


def _answered(film: StageFilm, asked: StoryQuestion, setting: str, choose: Choose, pair: Pair) -> Steps[Json]:
    given = [film.scenes[place] for place in sorted(choose(asked.text))]
    one = question("stage-question", {"scenes": given, "question": asked.text}, ANSWER)
    answers = yield pair.actor, [drawn(one, draw=draw) for draw in range(TRIES)]
    said = list(dict.fromkeys(answer.value for answer in answers if answer.value))
    verdicts = yield pair.judge, [answer_check(asked.text, asked.answer, asked.reason, one) for one in said]
    right = dict(zip(said, (answer.value is True for answer in verdicts), strict=True))
    failure = next((answer.failure for answer in answers if answer.failure), "")
    return {
        "id": f"{setting}/{film.id}/{asked.id}",
        "film": film.id,
        "type": asked.kind,
        "memory": setting,
        "scenes": [scene.id for scene in given],
        "said": [answer.value or "" for answer in answers],
        "right": [right.get(answer.value, False) for answer in answers],
        "failure": failure or by_judge(verdicts),
    }


SINGLE = {
    "character fidelity": "fidelity",
    "response naturalness": "naturalness",
    "memory faithfulness": "memory",
    "boundary compliance": "boundary",
}
SEVERAL = {**SINGLE, "cross-turn consistency": "consistency"}
"""The dimensions of one turn and of several, and what each asks for."""
FOLLOW_UP = "follow-up compatibility"
DIMENSIONS = {"single": tuple(SINGLE), "multi": (*SEVERAL, FOLLOW_UP)}
_SCORE = {"reason": SENTENCE, "score": points(1, 5)}
KNOWN = ("facts", "against", "allowed", "forbidden", "kept")
"""What the judge of a turn knows, and the actor does not."""


def evaluate_role_play(
    films: Sequence[StageFilm],
    engine: str,
    context: MetricContext,
    *,
    judge: str = "",
    memory: Sequence[str] = ("bm25",),
    top: int = TOP,
    limit: int | None = None,
) -> StageRun:
    """All interviews, or the first ``limit`` of each kind, with each setting of memory. Raises
    EvaluationError for an unknown setting, DatasetError for a character without a role, EngineError for what
    stops an engine.
    """
    pair = Pair(engine, judge, context, "stage")
    banks = {(film.id, role.character): _Bank(role, film.language) for film in films for role in film.roles}
    talks: list[tuple[StageFilm, StageInterview]] = []
    for kind in DIMENSIONS:
        talks += [(film, one) for film in films for one in film.interviews if one.kind == kind][:limit]
    strange = [talk.id for film, talk in talks if (film.id, talk.character) not in banks]
    if strange:
        raise DatasetError(
            f"The interview {strange[0]} is of a character without a role.", "See what else by --check."
        )

    @cache
    def choose(setting: str, bank: _Bank) -> Choose:
        return bank.chooser(setting, context, top)

    asked = []
    for setting, (film, talk) in product(dict.fromkeys(memory), talks):
        bank = banks[film.id, talk.character]
        asked.append(_interview(film, talk, bank, choose(setting, bank), setting, pair))
    items = tuple(worked("Role-play", "interviews", asked, context))
    identity = {**pair.identity, "memory": list(memory), "top": top}
    results = []
    for setting, (kind, names) in product(dict.fromkeys(memory), DIMENSIONS.items()):
        head = f"{kind}-turn, {setting}: "
        its = [one for one in items if (one["memory"], one["kind"]) == (setting, kind)]
        for name in names if its else ():
            rows = [row(one["id"], *one["scores"][name], factor=1.0) for one in its]
            results.append(figure(head + name, "interviews", rows, identity, 1.0))
        for name in ("hit", "recall") if its else ():
            found = [[turn[name] for turn in one["turns"] if turn[name] is not None] for one in its]
            rows = [row(one["id"], sum(of), len(of)) for one, of in zip(its, found, strict=True)]
            results.append(figure(f"{head}support {name}", "questions", rows, identity))
    return StageRun("role-play", tuple(results), items, identity)


class _Bank:
    """A role with its memories in order of the story, and the texts by which they are looked for: with the
    labels of the published code, so that BM25 chooses the same."""

    def __init__(self, role: StageRole, language: str) -> None:
        self.role, self._language = role, language
        self.memories = sorted(role.memories, key=lambda one: (one.order is None, one.order or 0, one.id))
        one = role.persona
        self._summary = [
            *_labelled("Traits", ", ".join(one.traits[:6])),
            *_labelled("Style", ", ".join(one.style[:4])),
            *_labelled("Constraints", " ".join(one.constraints[:3])),
        ]

    def chooser(self, setting: str, context: MetricContext, top: int) -> Choose:
        texts = []
        for one in self.memories:
            facts = _labelled("Grounded facts", " ".join(one.facts))
            texts.append("\n".join([one.text, *facts, *_labelled("Tags", ", ".join(one.tags))]))
        return chooser(setting, texts, self._language, context, top)

    def query(self, asked: str, lines: Sequence[tuple[str, str]]) -> str:
        """What is asked stands first, for long texts are cut before they become vectors."""
        history = _labelled("Dialogue history", "\n".join(f"{speaker}: {text}" for speaker, text in lines))
        return "\n".join([f"Current user turn: {asked}", *self._summary, *history])


def _labelled(name: str, text: str) -> list[str]:
    return [f"{name}: {text}"] if text else []


def _interview(
    film: StageFilm, talk: StageInterview, bank: _Bank, choose: Choose, setting: str, pair: Pair
) -> Steps[Json]:
    turns: list[Json] = []
    shown: list[Json] = []
    later: list[Question[int]] = []
    persona, failure = _persona_values(bank.role), ""
    for turn in talk.turns:
        lines = [
            (line.speaker, turns[line.turn - 1]["answer"] if line.turn else line.text)
            for line in turn.history
        ]
        given = [bank.memories[place] for place in choose(bank.query(turn.asked, lines))]
        memories = [one.text for one in given]
        values = {"persona": persona, "memories": memories, "history": lines, "asked": turn.asked}
        one = question("stage-actor", values, ANSWER)
        (answer,) = yield pair.actor, [drawn(one)]
        said, failure = answer.value or "", answer.failure
        ids, sources = [one.id for one in given], set(turn.sources)
        shared = len(sources & set(ids))
        hit, recall = (float(shared > 0), shared / len(sources)) if sources else (None, None)
        turns.append({"asked": turn.asked, "answer": said, "memories": ids, "hit": hit, "recall": recall})
        if failure:
            break
        knows = {name: getattr(turn, name) for name in KNOWN}
        shown.append({"asked": turn.asked, "memories": memories, "answer": said, **knows})
        if lines:
            values = {"history": lines, "asked": turn.asked}
            later.append(question("stage-follow-up", values, _SCORE))
    scores = dict.fromkeys(DIMENSIONS[talk.kind], (0.0, 1, failure))
    if not failure:
        names = SEVERAL if talk.kind == "multi" else SINGLE
        talked: Json = {"persona": persona, "turns": shown}
        each = [question("stage-score", {**talked, "dimension": name}, _SCORE) for name in names.values()]
        answers = yield pair.judge, each + later
        for name, of in zip(
            scores, [*([one] for one in answers[: len(each)]), answers[len(each) :]], strict=False
        ):
            scores[name] = (sum(one.value or 0 for one in of) / max(1, len(of)), 1, by_judge(of))
    return {
        "id": f"{setting}/{talk.id}",
        "film": film.id,
        "character": talk.character,
        "kind": talk.kind,
        "memory": setting,
        "turns": turns,
        "scores": scores,
    }


def _persona_values(role: StageRole) -> Json:
    """What a character is like, as the prompts take it."""
    persona = role.persona
    return {
        "character": role.character,
        "traits": persona.traits,
        "style": persona.style,
        "constraints": persona.constraints,
        "examples": persona.examples,
        "relations": [f"{one.other}: {one.relation}" for one in role.relations],
    }
