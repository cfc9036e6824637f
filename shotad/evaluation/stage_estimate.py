"""How much a run of STAGE asks of the engine and of the judge, before it asks anything.

Questions are counted as the tasks ask them: nothing is kept yet, no two answers are equal, none has to be
asked for again. What the prompts hold is counted in tokens where it is known (scenes, memories, the prompt's
own words), and assumed where an engine has yet to write it (`LENGTHS`), like the number of a graph's reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product

from shotad.core.settings import shipped_prompts
from shotad.description.templates import tokens_in
from shotad.evaluation.metric import Json
from shotad.evaluation.stage import StageFilm, StageRole, StageTimeline
from shotad.evaluation.stage_cards import CARD_LENGTH, MOST, NODE_LENGTH, scenes_of_character
from shotad.evaluation.stage_graph import BONDS, ENTITIES, MEMBERS, RELATIONS, passages_in
from shotad.evaluation.stage_questions import METHODS, top_of
from shotad.evaluation.stage_retrieval import TOP, check_settings, scene_text
from shotad.evaluation.stage_tasks import DIMENSIONS, EXCERPT, FACTS, FOLLOW_UP, MEMORIES, READINGS
from shotad.evaluation.stage_tree import FANOUT, OPENED, levels_of, summaries_of
from shotad.evaluation.story import TRIES

LENGTHS = {
    "answer": 40,
    "node": 120,
    "arc": 150,
    "summary": 100,
    "report": 250,
    "card": 150,
    "entity": 12,
    "description": 25,
}
"""Tokens of what an engine writes, each time: our guess, for no engine was measured."""
NODES, ARCS = 23, 5
"""Nodes and arcs of a character's timeline: as many as people wrote (paper, Table 1)."""
PASSAGES_PER_REPORT = 4
"""Passages whose entities make one community: the paper's graphs have ten entities a passage (Table 12), and
Louvain's communities of such graphs some tens of entities."""


@dataclass(slots=True)
class _Bill:
    """Questions to one engine, and the tokens of their prompts and of the answers."""

    questions: int = 0
    sent: float = 0.0
    answered: float = 0.0

    def add(self, prompt: str, times: int, material: float, answer: float) -> None:
        """``times`` questions by this prompt, each with so many tokens of material and of an answer."""
        self.questions += times
        self.sent += times * (_own_words(prompt) + material)
        self.answered += times * answer


@dataclass(slots=True)
class _Estimate:
    engine: _Bill = field(default_factory=_Bill)
    judge: _Bill = field(default_factory=_Bill)


def estimate_stage(
    films: Sequence[StageFilm],
    task: str,
    memory: Sequence[str],
    *,
    top: int | None = None,
    limit: int | None = None,
) -> Json:
    """What ``task`` (``timelines``, ``questions``, ``role-play``) asks: of the ``engine`` and of the
    ``judge`` the ``questions``, and the tokens ``sent`` and ``history``. Raises EvaluationError for a setting
    that the task does not know."""
    estimate = _Estimate()
    if task == "timelines":
        characters = [(film, gold) for film in films for gold in film.timelines][:limit]
        for reading, (film, gold) in product(check_settings(memory, READINGS), characters):
            _add_timeline(estimate, film, gold, reading)
    elif task == "questions":
        _add_questions(estimate, films, check_settings(memory, METHODS), top, limit)
    else:
        for setting in check_settings(memory, MEMORIES):
            _add_role_play(estimate, films, setting, top or TOP, limit)
    bills = {"engine": estimate.engine, "judge": estimate.judge}
    return {
        name: {"questions": bill.questions, "sent": round(bill.sent), "answered": round(bill.answered)}
        for name, bill in bills.items()
    }


def estimate_text(estimate: Json) -> str:
    """The estimate in a sentence or two."""
    parts = []
    for name, bill in estimate.items():
        sent, answered = (bill[key] / 1e6 for key in ("sent", "answered"))
        tokens = f"{sent:,.2f} million tokens sent, {answered:,.2f} million answered"
        parts.append(f"{bill['questions']:,} questions to the {name} ({tokens})")
    return f"About {' and '.join(parts)}. What is kept from earlier runs is not asked again."


@cache
def _own_words(prompt: str) -> int:
    """Tokens of a prompt without what is filled in; its marks of the template are counted with it."""
    return tokens_in(shipped_prompts(prompt)[prompt])


def _scene_tokens(film: StageFilm, longest: int | None = None) -> list[int]:
    return [tokens_in(scene_text(scene)[:longest]) for scene in film.scenes]


def _mean(sizes: Sequence[int]) -> float:
    return sum(sizes) / max(1, len(sizes))


def _add_timeline(estimate: _Estimate, film: StageFilm, gold: StageTimeline, reading: str) -> None:
    engine, judge = estimate.engine, estimate.judge
    if reading == "full":
        engine.add("stage-timeline", 1, sum(_scene_tokens(film)), NODES * LENGTHS["node"])
    else:
        sizes = _scene_tokens(film, CARD_LENGTH)
        places = scenes_of_character(film, gold)
        for place in places:
            engine.add("stage-card", 1, sizes[place], LENGTHS["card"])
        nodes = min(MOST, len(places))
        scene = _mean(_scene_tokens(film, NODE_LENGTH))
        engine.add("stage-node", nodes, scene + LENGTHS["card"], LENGTHS["node"])
    timeline = NODES * LENGTHS["node"]
    engine.add("stage-arcs", 1, timeline, ARCS * LENGTHS["arc"])
    judge.add("stage-facts", 2, timeline, FACTS * LENGTHS["answer"])
    judge.add("stage-covered", 2 * FACTS, timeline, LENGTHS["answer"])
    excerpt = _mean(_scene_tokens(film, EXCERPT))
    judge.add("stage-follows", NODES - 1, 2 * (LENGTHS["node"] + excerpt), LENGTHS["answer"])
    arcs = sum(arc.character == gold.character for arc in film.arcs)
    of_two_arcs = 2 * (LENGTHS["arc"] + NODES / ARCS * LENGTHS["node"])
    for prompt in ("stage-aspect", "stage-progression"):
        judge.add(prompt, arcs, of_two_arcs, LENGTHS["answer"])


def _add_questions(
    estimate: _Estimate,
    films: Sequence[StageFilm],
    methods: Sequence[str],
    top: int | None,
    limit: int | None,
) -> None:
    picked = [(film, story_question) for film in films for story_question in film.questions][:limit]
    films_with_questions = list({film.id: film for film, _ in picked}.values())
    sizes = {film.id: _scene_tokens(film) for film in films_with_questions}
    for method in methods:
        for film in films_with_questions:
            if method == "pageindex":
                _add_tree(estimate.engine, sizes[film.id])
            elif method == "graph" and film.graph is None:
                _add_graph(estimate.engine, film)
        count = top or top_of(method)
        for film, story_question in picked:
            whole = sum(sizes[film.id])
            nearest = min(count, len(film.scenes)) * _mean(sizes[film.id])
            evidence = {"none": 0.0, "full": float(whole), "graph": float(count * LENGTHS["report"])}.get(
                method, nearest
            )
            text = tokens_in(story_question.text)
            if method == "pageindex":
                lists = levels_of(len(film.scenes))
                estimate.engine.add(
                    "stage-walk", lists, OPENED * FANOUT * LENGTHS["summary"] + text, LENGTHS["answer"]
                )
            estimate.engine.add("stage-question", TRIES, evidence + text, LENGTHS["answer"])
            reference = text + tokens_in(story_question.answer) + tokens_in(story_question.reason)
            estimate.judge.add("question-check", TRIES, reference + LENGTHS["answer"], LENGTHS["answer"])


def _add_tree(engine: _Bill, sizes: Sequence[int]) -> None:
    for size in sizes:
        engine.add("stage-summary", 1, size, LENGTHS["summary"])
    parents = summaries_of(len(sizes)) - len(sizes)
    engine.add("stage-summary", parents, FANOUT * LENGTHS["summary"], LENGTHS["summary"])


def _add_graph(engine: _Bill, film: StageFilm) -> None:
    passages = passages_in(film)
    for passage in passages:
        size, listed = tokens_in(passage.content), 10 * (LENGTHS["entity"] + LENGTHS["description"])
        engine.add("stage-entities", len(ENTITIES), size, listed)
        engine.add("stage-relations", len(RELATIONS), size + 10 * LENGTHS["entity"], listed)
    reports = math.ceil(len(passages) / PASSAGES_PER_REPORT)
    shown = (MEMBERS + BONDS) * (LENGTHS["entity"] + LENGTHS["description"])
    engine.add("stage-report", reports, shown, LENGTHS["report"])


def _add_role_play(
    estimate: _Estimate, films: Sequence[StageFilm], setting: str, top: int, limit: int | None
) -> None:
    for kind, dimensions in DIMENSIONS.items():
        talks = [(film, talk) for film in films for talk in film.interviews if talk.kind == kind][:limit]
        for film, talk in talks:
            role = next((role for role in film.roles if role.character == talk.character), None)
            persona, memories = _role_tokens(role, setting, top)
            history = 0.0
            for turn in talk.turns:
                text = tokens_in(turn.asked)
                estimate.engine.add("stage-actor", 1, persona + memories + history + text, LENGTHS["answer"])
                history += text + LENGTHS["answer"]
            of_whole = len(dimensions) - (FOLLOW_UP in dimensions)
            shown = persona + len(talk.turns) * memories + history
            estimate.judge.add("stage-score", of_whole, shown, LENGTHS["answer"])
            follow_ups = sum(bool(turn.history) for turn in talk.turns) if FOLLOW_UP in dimensions else 0
            estimate.judge.add("stage-follow-up", follow_ups, history, LENGTHS["answer"])


def _role_tokens(role: StageRole | None, setting: str, top: int) -> tuple[float, float]:
    """Tokens of a persona, and of the memories that are evidence."""
    if role is None:
        return 0.0, 0.0
    persona = tokens_in(role.persona.model_dump_json())
    sizes = [tokens_in(memory.text) for memory in role.memories]
    evidence = {"none": 0.0, "full": float(sum(sizes))}.get(setting, min(top, len(sizes)) * _mean(sizes))
    return float(persona), evidence
