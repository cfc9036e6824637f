"""STAGE's first and third task (docs/stage.md; the second: `stage_questions`). First what becomes of a
character, as a timeline of lasting developments and arcs over them; third answers as a character of it.

The judge holds the engine's timelines and arcs against the people's (paper, section C.2.1). A timeline that
cannot be had covers no fact, and all arcs of its character are wrong; of facts and transitions that it does
not have nothing is said. Arcs of a character without a timeline of the people's are left out.

In an interview of several turns the engine's own answers stand in the history. An interview of which an
answer is missing has 0 in every dimension, unasked, and so has what the judge does not score. Support hit and
recall say of the memories that a question was made of whether one is given, and how many; they need no judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise, product
from typing import Any, TypeVar

import numpy as np

from shotad.core.errors import DatasetError
from shotad.description.templates import in_quotes
from shotad.evaluation.metric import Json, MetricFormula, Result, Row
from shotad.evaluation.metrics.judge import (
    SENTENCE,
    STRING,
    STRINGS,
    Answer,
    Judge,
    Pair,
    Part,
    Question,
    Unreadable,
    by_judge,
    entries_schema,
    listing,
    map_items,
    points,
    question,
    sentence,
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
    entries,
    sampled,
    verdict,
)
from shotad.evaluation.stage_cards import WrittenTimeline, card_record, timeline_by_cards
from shotad.evaluation.stage_retrieval import TOP, Choose, check_settings, chooser
from shotad.evaluation.store import MetricContext, VectorService, vectors_of
from shotad.evaluation.story import figure, row

FACTS = 8
"""Facts of a timeline at most (published code)."""
EXCERPT = 900
"""Characters of a scene that a judge of a transition reads (published code)."""
NEARNESS = (0.85, 0.15)
"""What vectors, and common scenes, weigh in matching arcs (published code)."""
TOKENS = 8192
"""Of an answer at most (section 4)."""
_FACT_TOKENS = 80

T = TypeVar("T")

Tally = tuple[int, int, str]
"""How many are right, how many could be, and what failed."""

FIGURES = {
    "gold-fact recall": "facts",
    "predicted-fact precision": "facts",
    "transition coherence": "transitions",
    "arc narrative aspect": "arcs",
    "arc progression": "arcs",
    "scene grounding precision": "scenes",
    "scene grounding recall": "scenes",
    "scene grounding F1": "scenes of both",
    "node grounding precision": "nodes",
    "node grounding recall": "nodes",
    "node grounding F1": "nodes of both",
}
"""Each figure, and of what it is the share. Those of grounding are diagnostics (paper, section C.2.1)."""
FACT_F1 = "Fact-F1"
"""The harmonic mean of the first two figures."""
READINGS = ("full", "cards")
"""How the engine reads a screenplay: the whole at once, or scene by scene (`stage_cards`)."""
SAME_NODE = 0.35
"""From which cosine of their vectors two nodes of a scene may be one (published code)."""


def evaluate_timelines(
    films: Sequence[StageFilm],
    engine: str,
    context: MetricContext,
    *,
    judge: str = "",
    memory: Sequence[str] = ("full",),
    limit: int | None = None,
) -> StageRun:
    """Timelines and arcs of all characters, or of the first ``limit``, with each of the `READINGS` in
    ``memory``. Raises EvaluationError for an unknown one, EngineError for what stops an engine, ShotadError
    where vectors cannot be counted here."""
    readings = check_settings(memory, READINGS)
    pair = Pair(engine, judge, context, "stage")
    vectors = vectors_of(context)
    characters = [(film, gold) for film in films for gold in film.timelines][:limit]

    def evaluate(case: tuple[str, tuple[StageFilm, StageTimeline]]) -> Json:
        reading, (film, gold) = case
        return _evaluate_character(film, gold, reading, pair, vectors)

    cases = list(product(readings, characters))
    items = tuple(map_items(evaluate, cases, pair.judges, "Timelines", "characters"))
    identity = {**pair.identity, "memory": list(readings), "vectors": vectors.identity}
    results = []
    for reading in readings:
        of_reading = [item for item in items if item["memory"] == reading]
        for name, of in FIGURES.items():
            rows = [row(item["id"], *item["figures"][name]) for item in of_reading]
            results.append(figure(f"{reading}: {name}", of, rows, identity))
        results.append(_fact_f1(f"{reading}: {FACT_F1}", of_reading, identity))
    return StageRun("timelines and arcs", tuple(results), items, identity)


def _fact_f1(name: str, items: Sequence[Json], identity: Json) -> Result:
    """Fact-F1 over all facts, from the counts of recall and precision."""
    formula = MetricFormula("f1", factor=100.0)
    rows = []
    for item in items:
        recall, precision = (item["figures"][part] for part in list(FIGURES)[:2])
        sums = tuple(float(count) for count in (*recall[:2], *precision[:2]))
        value = float(formula.of(np.array(sums)))
        failure = recall[2] or precision[2]
        rows.append(Row(item["id"], sums, None if np.isnan(value) else value, failure))
    columns = ("covered human facts", "human facts", "covered facts", "facts")
    return Result(name, name, columns, formula, identity, tuple(rows))


def _evaluate_character(
    film: StageFilm, gold: StageTimeline, reading: str, pair: Pair, vectors: VectorService
) -> Json:
    """What is found of a character; ``figures`` has a tally of each figure."""
    if reading == "cards":
        written = timeline_by_cards(film, gold, pair.actor)
    else:
        answer = pair.actor.ask(sampled(timeline_question(film, gold), TOKENS))
        written = WrittenTimeline(answer.value, (), answer.failure)
    ours = written.timeline or StageTimeline(character=gold.character, nodes=())
    arcs: tuple[StageArc, ...] = ()
    failure = "" if written.timeline else written.failure
    if len(ours.nodes) > 1:
        joined = pair.actor.ask(sampled(arcs_question(film, ours), TOKENS))
        arcs, failure = joined.value or (), joined.failure
    recall = _covered_facts(film, gold, ours, pair.judge)
    precision = _covered_facts(film, ours, gold, pair.judge)
    follows = pair.judge.ask_all(_transition_questions(film, gold, ours))
    theirs = [arc for arc in film.arcs if arc.character == gold.character]
    nearest = _nearest_arcs(theirs, gold, arcs, ours, vectors)
    texts = [
        {
            "character": gold.character,
            "reference": _arc_values(film, arc, gold),
            "predicted": _arc_values(film, best, ours),
        }
        for arc, best in zip(theirs, nearest, strict=False)
    ]
    aspect = pair.judge.ask_all([verdict("stage-aspect", values) for values in texts])
    progression = pair.judge.ask_all([verdict("stage-progression", values) for values in texts])
    same_nodes = matched_nodes(gold.nodes, ours.nodes, vectors)
    tallies = (
        recall,
        precision,
        _tally_of(follows, len(follows)),
        _tally_of(aspect, len(theirs), failure),
        _tally_of(progression, len(theirs), failure),
        *_grounding({node.scene for node in ours.nodes}, {node.scene for node in gold.nodes}),
        *_shares_of_both(len(same_nodes), len(ours.nodes), len(gold.nodes)),
    )
    return {
        "id": f"{reading}/{film.id}/{gold.character}",
        "film": film.id,
        "memory": reading,
        "timeline": ours.model_dump(mode="json"),
        "arcs": [arc.model_dump(mode="json") for arc in arcs],
        "matched": {arc.id: best.id for arc, best in zip(theirs, nearest, strict=False)},
        "nodes": {gold_node.id: node.id for gold_node, node in same_nodes},
        "cards": [card_record(card, film) for card in written.cards],
        "figures": dict(zip(FIGURES, tallies, strict=True)),
        "failure": failure or written.failure,
    }


def _grounding(ours: set[str], theirs: set[str]) -> tuple[Tally, Tally, Tally]:
    """Precision, recall and F1 of the scenes of a timeline, whatever its nodes say of them."""
    return _shares_of_both(len(ours & theirs), len(ours), len(theirs))


def _shares_of_both(common: int, ours: int, theirs: int) -> tuple[Tally, Tally, Tally]:
    """Of what both timelines have: its share in ours, in theirs, and in both, which is their F1."""
    failure = "" if ours else "no timeline"
    return (common, ours, ""), (common, theirs, failure), (2 * common, ours + theirs, failure)


def matched_nodes(
    theirs: Sequence[StageNode], ours: Sequence[StageNode], vectors: VectorService
) -> list[tuple[StageNode, StageNode]]:
    """Nodes of one scene that tell the same, each once, the nearest first (published code)."""
    if not theirs or not ours:
        return []
    nearness = (
        vectors.of([_node_text(node) for node in theirs]) @ vectors.of([_node_text(node) for node in ours]).T
    )
    candidates = [
        (-float(nearness[i, k]), i, k)
        for i, their_node in enumerate(theirs)
        for k, node in enumerate(ours)
        if their_node.scene == node.scene and nearness[i, k] >= SAME_NODE
    ]
    matched: dict[int, int] = {}
    for _, i, k in sorted(candidates):
        if i not in matched and k not in matched.values():
            matched[i] = k
    return [(theirs[i], ours[k]) for i, k in sorted(matched.items())]


def _node_text(node: StageNode) -> str:
    return "\n".join(filter(None, (node.development, node.goal, node.result, node.unresolved)))


def _transition_questions(film: StageFilm, gold: StageTimeline, ours: StageTimeline) -> list[Question[bool]]:
    """Can each development of the engine's timeline come after the one before it?"""
    questions = []
    for earlier, later in pairwise(ours.nodes):
        values = {
            "character": gold.character,
            "earlier": _node_values(film, earlier),
            "later": _node_values(film, later),
            "before": film.scenes[film.places[earlier.scene]].content[:EXCERPT],
            "after": film.scenes[film.places[later.scene]].content[:EXCERPT],
        }
        questions.append(verdict("stage-follows", values))
    return questions


def _tally_of(answers: Sequence[Answer[bool]], possible: int, failure: str = "") -> Tally:
    return sum(answer.value is True for answer in answers), possible, failure or by_judge(answers)


def _covered_facts(
    film: StageFilm, timeline: StageTimeline, other_timeline: StageTimeline, judge: Judge
) -> Tally:
    """How many facts of one timeline the other covers. Where the judge lists none, none of as many as it may
    list."""
    if not timeline.nodes:
        return 0, 0, ""
    values = {"character": timeline.character, "timeline": _timeline_values(film, timeline), "most": FACTS}
    parts, tokens = {"facts": listing(FACTS)}, _FACT_TOKENS * FACTS
    facts: Answer[tuple[str, ...]] = judge.ask(question("stage-facts", values, parts, tokens=tokens))
    if facts.value is None:
        return 0, FACTS, by_judge([facts])
    if not other_timeline.nodes:
        return 0, len(facts.value), "no timeline"
    values = {"character": timeline.character, "timeline": _timeline_values(film, other_timeline)}
    covered = judge.ask_all([verdict("stage-covered", {**values, "fact": fact}) for fact in facts.value])
    return _tally_of(covered, len(facts.value))


def _nearest_arcs(
    theirs: Sequence[StageArc],
    gold: StageTimeline,
    arcs: Sequence[StageArc],
    ours: StageTimeline,
    vectors: VectorService,
) -> list[StageArc]:
    """The engine's arc that is nearest to each of the people's; none where there are none."""
    if not theirs or not arcs:
        return []
    words = vectors.of([_arc_text(arc) for arc in theirs]) @ vectors.of([_arc_text(arc) for arc in arcs]).T
    shared = np.zeros((len(theirs), len(arcs)))
    for i, reference_arc in enumerate(theirs):
        reference_scenes = _scenes_of_arc(reference_arc, gold)
        for k, arc in enumerate(arcs):
            arc_scenes = _scenes_of_arc(arc, ours)
            shared[i, k] = len(reference_scenes & arc_scenes) / max(1, len(reference_scenes | arc_scenes))
    best = np.argmax(NEARNESS[0] * words + NEARNESS[1] * shared, axis=1)
    return [arcs[int(place)] for place in best]


def _scenes_of_arc(arc: StageArc, timeline: StageTimeline) -> set[str]:
    return {node.scene for node in timeline.nodes if node.id in arc.nodes}


def _arc_text(arc: StageArc) -> str:
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
    parts = {"nodes": _entries_part(_NODE, StageNode)}
    return question("stage-timeline", values, parts, read)


def arcs_question(film: StageFilm, timeline: StageTimeline) -> Question[tuple[StageArc, ...]]:
    """Which longer changes join these nodes?"""
    node_ids = {node.id for node in timeline.nodes}

    def read(arcs: list[StageArc]) -> tuple[StageArc, ...]:
        for arc in arcs:
            sentence(arc.summary, "summary")
            if len(set(arc.nodes)) < 2 or not node_ids.issuperset(arc.nodes):
                raise Unreadable(f"Each arc must have two nodes or more of {', '.join(sorted(node_ids))}.")
        return tuple(arcs)

    values = {"character": timeline.character, "timeline": _timeline_values(film, timeline)}
    parts = {"arcs": _entries_part(_ARC, StageArc, character=timeline.character)}
    return question("stage-arcs", values, parts, read)


_NODE = dict.fromkeys(("scene", "development", "goal", "result", "unresolved"), STRING)
_ARC = {"title": STRING, "nodes": STRINGS} | dict.fromkeys(("summary", "start", "end", "unresolved"), STRING)


def _entries_part(entry: Mapping[str, Any], kind: type[T], **fixed_values: str) -> Part:
    """A list of such entries, read as ``kind`` and numbered as their ids."""

    def read(content: Any, key: str) -> list[T]:
        if not isinstance(content, list) or not content:
            raise Unreadable(f"{key} must be a list with an entry or more.")
        if not all(isinstance(entry_values, dict) for entry_values in content):
            raise Unreadable(f"{key} must be a list with an entry or more.")
        records = [
            {**entry_values, **fixed_values, "id": str(number)}
            for number, entry_values in enumerate(content, 1)
        ]
        try:
            return list(entries(records, kind))
        except ValueError as error:
            raise Unreadable(f"{key}, {error}.") from None

    form = ", ".join(f'"{name}": {"[…]" if schema is STRINGS else "…"}' for name, schema in entry.items())
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
MEMORIES = ("none", "full", "bm25", "dense")
"""Which memories an actor may be given (paper, section 4)."""
KNOWN = ("facts", "against", "allowed", "forbidden", "constraints")
"""What the judge of a turn knows, and the actor does not."""


def evaluate_role_play(
    films: Sequence[StageFilm],
    engine: str,
    context: MetricContext,
    *,
    judge: str = "",
    memory: Sequence[str] = ("bm25",),
    top: int | None = None,
    limit: int | None = None,
) -> StageRun:
    """All interviews, or the first ``limit`` of each kind, with each setting of memory; ``top`` is how many
    memories ``bm25`` and ``dense`` give (default: `TOP`). Raises EvaluationError for an unknown setting,
    DatasetError for a character without a role, EngineError for what stops an engine.
    """
    settings, count = check_settings(memory, MEMORIES), top or TOP
    pair = Pair(engine, judge, context, "stage")
    banks = {
        (film.id, role.character): _MemoryBank(role, film.language) for film in films for role in film.roles
    }
    talks: list[tuple[StageFilm, StageInterview]] = []
    for kind in DIMENSIONS:
        talks += [(film, talk) for film in films for talk in film.interviews if talk.kind == kind][:limit]
    strange = [talk.id for film, talk in talks if (film.id, talk.character) not in banks]
    if strange:
        raise DatasetError(
            f"The interview {strange[0]} is of a character without a role.", "See what else by --check."
        )

    @cache
    def choose(setting: str, bank: _MemoryBank) -> Choose:
        return bank.chooser(setting, context, count)

    cases: list[tuple[StageFilm, StageInterview, _MemoryBank, Choose, str]] = []
    for setting, (film, talk) in product(settings, talks):
        bank = banks[film.id, talk.character]
        cases.append((film, talk, bank, choose(setting, bank), setting))

    def interview(case: tuple[StageFilm, StageInterview, _MemoryBank, Choose, str]) -> Json:
        return _score_interview(*case, pair)

    items = tuple(map_items(interview, cases, pair.judges, "Role-play", "interviews"))
    identity = {**pair.identity, "memory": list(settings), "top": count}
    results = []
    for setting, (kind, names) in product(settings, DIMENSIONS.items()):
        head = f"{kind}-turn, {setting}: "
        talked = [item for item in items if (item["memory"], item["kind"]) == (setting, kind)]
        for name in names if talked else ():
            rows = [row(item["id"], *item["scores"][name], factor=1.0) for item in talked]
            results.append(figure(head + name, "interviews", rows, identity, 1.0))
        for name in ("hit", "recall") if talked else ():
            rows = []
            for item in talked:
                shares = [turn[name] for turn in item["turns"] if turn[name] is not None]
                rows.append(row(item["id"], sum(shares), len(shares)))
            results.append(figure(f"{head}support {name}", "questions", rows, identity))
    return StageRun("role-play", tuple(results), items, identity)


class _MemoryBank:
    """A role with its memories in order of the story, and the texts by which they are looked for: with the
    labels of the published code, so that BM25 chooses the same."""

    def __init__(self, role: StageRole, language: str) -> None:
        self.role, self._language = role, language
        self.memories = sorted(
            role.memories, key=lambda memory: (memory.order is None, memory.order or 0, memory.id)
        )
        persona = role.persona
        self._summary = [
            *_labelled("Traits", ", ".join(persona.traits[:6])),
            *_labelled("Style", ", ".join(persona.style[:4])),
            *_labelled("Constraints", " ".join(persona.constraints[:3])),
        ]

    def chooser(self, setting: str, context: MetricContext, top: int) -> Choose:
        texts = []
        for memory in self.memories:
            facts = _labelled("Grounded facts", " ".join(memory.facts))
            tags = _labelled("Tags", ", ".join(memory.tags))
            texts.append("\n".join([memory.text, *facts, *tags]))
        return chooser(setting, texts, self._language, context, top)

    def query(self, user_turn: str, lines: Sequence[tuple[str, str]]) -> str:
        """What is asked stands first, for long texts are cut before they become vectors."""
        history = _labelled("Dialogue history", "\n".join(f"{speaker}: {text}" for speaker, text in lines))
        return "\n".join([f"Current user turn: {user_turn}", *self._summary, *history])


def _labelled(name: str, text: str) -> list[str]:
    return [f"{name}: {text}"] if text else []


def _score_interview(
    film: StageFilm, talk: StageInterview, bank: _MemoryBank, choose: Choose, setting: str, pair: Pair
) -> Json:
    """An interview: the actor answers turn by turn, then the judge scores the whole."""
    turns: list[Json] = []
    for_judge: list[Json] = []
    follow_ups: list[Question[int]] = []
    persona, failure = _persona_values(bank.role), ""
    for turn in talk.turns:
        history = [
            (line.speaker, turns[line.turn - 1]["answer"] if line.turn else line.text)
            for line in turn.history
        ]
        chosen_memories = [bank.memories[place] for place in choose(bank.query(turn.asked, history))]
        memories = [memory.text for memory in chosen_memories]
        values = {"persona": persona, "memories": memories, "history": history, "asked": turn.asked}
        answer = pair.actor.ask(sampled(question("stage-actor", values, ANSWER)))
        text, failure = answer.value or "", answer.failure
        ids, sources = [memory.id for memory in chosen_memories], set(turn.sources)
        shared = len(sources & set(ids))
        hit, recall = (float(shared > 0), shared / len(sources)) if sources else (None, None)
        turns.append({"asked": turn.asked, "answer": text, "memories": ids, "hit": hit, "recall": recall})
        if failure:
            break
        hidden = {name: getattr(turn, name) for name in KNOWN}
        for_judge.append({"asked": turn.asked, "memories": memories, "answer": text, **hidden})
        if history:
            values = {"history": history, "asked": turn.asked}
            follow_ups.append(question("stage-follow-up", values, _SCORE))
    scores = dict.fromkeys(DIMENSIONS[talk.kind], (0.0, 1, failure))
    if not failure:
        dimensions = SEVERAL if talk.kind == "multi" else SINGLE
        interview: Json = {"persona": persona, "turns": for_judge}
        of_whole: list[Question[int]] = []
        for dimension in dimensions.values():
            of_whole.append(question("stage-score", {**interview, "dimension": dimension}, _SCORE))
        answers = pair.judge.ask_all([*of_whole, *follow_ups])
        for name, scored in zip(dimensions, answers, strict=False):
            scores[name] = _mean_score([scored])
        if FOLLOW_UP in scores:
            scores[FOLLOW_UP] = _mean_score(answers[len(of_whole) :])
    return {
        "id": f"{setting}/{talk.id}",
        "film": film.id,
        "character": talk.character,
        "kind": talk.kind,
        "memory": setting,
        "turns": turns,
        "scores": scores,
    }


def _mean_score(answers: Sequence[Answer[int]]) -> tuple[float, int, str]:
    """The mean of these scores, of which one that failed is 0; that it counts once; and what failed."""
    return sum(answer.value or 0 for answer in answers) / max(1, len(answers)), 1, by_judge(answers)


def _persona_values(role: StageRole) -> Json:
    """What a character is like, as the prompts take it."""
    persona = role.persona
    return {
        "character": role.character,
        "traits": persona.traits,
        "style": persona.style,
        "constraints": persona.constraints,
        "examples": persona.examples,
        "relations": [f"{relation.other}: {relation.relation}" for relation in role.relations],
    }
