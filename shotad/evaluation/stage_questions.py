"""STAGE's second task (docs/stage.md): open questions on the whole story, answered five times each.

What an engine answers from is found in several ways (`WAYS`). Three of them are the paper's: words and
vectors fused, a tree of summaries, a graph of the story. What the three reach together, each at its best, is
the paper's oracle. Where a way comes to nothing because the engine fails, the question counts as wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from shotad.evaluation.metric import Json, Result
from shotad.evaluation.metrics.judge import Pair, by_judge, map_items, question
from shotad.evaluation.stage import ANSWER, StageFilm, StageRun, sampled
from shotad.evaluation.stage_graph import StoryReports, build_reports, nearest_reports, require_networkx
from shotad.evaluation.stage_retrieval import (
    TOP,
    TOP_FUSED,
    check_settings,
    chooser,
    hybrid_chooser,
    scene_text,
)
from shotad.evaluation.stage_tree import SceneTree, build_trees, walk_tree
from shotad.evaluation.store import MetricContext, vectors_of
from shotad.evaluation.story import TRIES, answer_check, figure, row
from shotad.evaluation.story_questions import StoryQuestion

PAPERS_WAYS = ("hybrid", "pageindex", "graph")
"""The paper's three ways to reach evidence (section 4)."""
WAYS = ("none", "full", "bm25", "dense", *PAPERS_WAYS)
"""How scenes, or reports on the story, are found for a question."""
_NEED_VECTORS = {"dense", "hybrid", "graph"}
UNION = "union"
"""The three together: a question passes where it passes in one of them."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a question is answered from: scenes by their places in the script, or reports on the story; or why
    there is neither."""

    scenes: tuple[int, ...] = ()
    reports: tuple[Json, ...] = ()
    failure: str = ""


Reach = Callable[[str], Evidence]
"""A question → its evidence. May ask the engine that is scored."""


def evaluate_questions(
    films: Sequence[StageFilm],
    engine: str,
    context: MetricContext,
    *,
    judge: str = "",
    memory: Sequence[str] = ("bm25",),
    top: int | None = None,
    limit: int | None = None,
) -> StageRun:
    """All questions, or the first ``limit``, answered with each of the ways in ``memory``.

    ``top`` is how many scenes or reports are given (default: `TOP`, of the paper's ways `TOP_FUSED`). Raises
    EvaluationError for an unknown way, ShotadError where vectors cannot be counted here, EngineError for what
    stops an engine.
    """
    ways = check_settings(memory, WAYS)
    pair = Pair(engine, judge, context, "stage", "question")
    picked = [(film, story_question) for film in films for story_question in film.questions][:limit]
    asked_films = list({film.id: film for film, _ in picked}.values())
    # What is missing here is told before an engine is paid for an index.
    if _NEED_VECTORS & set(ways):
        vectors_of(context)
    if "graph" in ways:
        require_networkx()
    trees = build_trees(asked_films, pair.actor) if "pageindex" in ways else {}
    graphs = build_reports(asked_films, pair.actor, context) if "graph" in ways else {}
    reaches: dict[tuple[str, str], Reach] = {}
    for way, film in product(ways, asked_films):
        count = top or top_of(way)
        if way == "pageindex":
            reaches[way, film.id] = _reach_by_tree(trees[film.id], pair, count)
        elif way == "graph":
            reaches[way, film.id] = _reach_by_graph(graphs[film.id], context, count)
        else:
            reaches[way, film.id] = _reach_by_nearness(way, film, context, count)

    def answer(case: tuple[str, tuple[StageFilm, StoryQuestion]]) -> Json:
        way, (film, story_question) = case
        return _answer_question(film, story_question, way, reaches[way, film.id], pair)

    cases = list(product(ways, picked))
    items = list(map_items(answer, cases, pair.judges, "Questions", "questions"))
    tops = {way: top or top_of(way) for way in ways}
    identity = {**pair.identity, "memory": list(ways), "top": tops, "tries": TRIES}
    results: list[Result] = []
    for way in ways:
        of_way = [item for item in items if item["memory"] == way]
        results += _figures_of_way(way, of_way, identity)
    if set(PAPERS_WAYS) <= set(ways):
        results += _figures_of_union(items, identity)
    indexes = [_index_item("pageindex", film_id, tree.record) for film_id, tree in trees.items()]
    indexes += [_index_item("graph", film_id, graph.record) for film_id, graph in graphs.items()]
    for way in ("pageindex", "graph"):
        rows = [
            row(index["id"], index["made"], index["asked"], index["failure"])
            for index in indexes
            if index["memory"] == way
        ]
        if rows:
            results.append(figure(f"{way}: answers the index is made of", "asked", rows, identity))
    return StageRun("question answering", tuple(results), (*items, *indexes), identity)


def top_of(way: str) -> int:
    """How many scenes or reports a way gives where nothing else is asked for."""
    return TOP_FUSED if way in PAPERS_WAYS else TOP


def _reach_by_nearness(way: str, film: StageFilm, context: MetricContext, top: int) -> Reach:
    if way == "hybrid":
        choose = hybrid_chooser(film.scenes, film.language, context, top)
    else:
        choose = chooser(way, [scene_text(scene) for scene in film.scenes], film.language, context, top)
    return lambda text: Evidence(tuple(choose(text)))


def _reach_by_tree(tree: SceneTree, pair: Pair, top: int) -> Reach:
    def reach(text: str) -> Evidence:
        walk = walk_tree(tree, text, pair.actor, top)
        return Evidence(walk.value or (), failure=walk.failure)

    return reach


def _reach_by_graph(graph: StoryReports, context: MetricContext, top: int) -> Reach:
    choose = nearest_reports(graph.reports, context, top)
    if not graph.reports:
        failure = graph.failure or "the graph has no community"
        return lambda text: Evidence(failure=failure)
    return lambda text: Evidence(reports=tuple(report.record for report in choose(text)))


def _answer_question(
    film: StageFilm, story_question: StoryQuestion, way: str, reach: Reach, pair: Pair
) -> Json:
    """A question answered `TRIES` times; equal answers are judged once."""
    evidence = reach(story_question.text)
    scenes = [film.scenes[place] for place in sorted(evidence.scenes)]
    item = {
        "id": f"{way}/{film.id}/{story_question.id}",
        "film": film.id,
        "question": story_question.id,
        "type": story_question.kind,
        "memory": way,
        "scenes": [scene.id for scene in scenes],
        "reports": [report["title"] for report in evidence.reports],
    }
    if evidence.failure:
        nothing: Json = {"said": [""] * TRIES, "right": [False] * TRIES}
        return {**item, **nothing, "failure": evidence.failure}
    values = {"scenes": scenes, "reports": evidence.reports, "question": story_question.text}
    shown = question("stage-question", values, ANSWER)
    answers = pair.actor.ask_all([sampled(shown, draw=draw) for draw in range(TRIES)])
    texts = list(dict.fromkeys(answer.value for answer in answers if answer.value))
    checks = [
        answer_check(story_question.text, story_question.answer, story_question.reason, text)
        for text in texts
    ]
    verdicts = pair.judge.ask_all(checks)
    right = dict(zip(texts, (checked.value is True for checked in verdicts), strict=True))
    failure = next((answer.failure for answer in answers if answer.failure), "")
    return {
        **item,
        "said": [answer.value or "" for answer in answers],
        "right": [right.get(answer.value or "", False) for answer in answers],
        "failure": failure or by_judge(verdicts),
    }


def _figures_of_way(way: str, items: Sequence[Json], identity: Json) -> list[Result]:
    """Pass@5 and average accuracy, of all questions and of each type."""
    results = []
    for kind, of_kind in _by_type(items):
        rows = [row(item["id"], any(item["right"]), 1, item["failure"]) for item in of_kind]
        results.append(figure(f"{way}: pass@{TRIES}{kind}", "questions", rows, identity))
    for kind, of_kind in _by_type(items):
        rows = [row(item["id"], sum(item["right"]), TRIES, item["failure"]) for item in of_kind]
        results.append(figure(f"{way}: average accuracy{kind}", "tries", rows, identity))
    return results


def _figures_of_union(items: Sequence[Json], identity: Json) -> list[Result]:
    """Pass@5 of the paper's three ways together, of all questions and of each type."""
    passed: dict[tuple[str, str], bool] = {}
    for item in items:
        if item["memory"] in PAPERS_WAYS:
            key = item["film"], item["question"]
            passed[key] = passed.get(key, False) or any(item["right"])
    # Each question once, by the item of the way that comes first.
    questions = [item for item in items if item["memory"] == PAPERS_WAYS[0]]
    results = []
    for kind, of_kind in _by_type(questions):
        rows = [row(item["id"], passed[item["film"], item["question"]], 1) for item in of_kind]
        results.append(figure(f"{UNION}: pass@{TRIES}{kind}", "questions", rows, identity))
    return results


def _by_type(items: Sequence[Json]) -> list[tuple[str, list[Json]]]:
    """All items under "", and those of each type of question under ``, TYPE``."""
    groups = [("", list(items))]
    for kind in sorted({item["type"] for item in items} - {""}):
        groups.append((f", {kind}", [item for item in items if item["type"] == kind]))
    return groups


def _index_item(way: str, film_id: str, record: Json) -> Json:
    return {"id": f"{way}/{film_id}", "film": film_id, "memory": way, **record}
