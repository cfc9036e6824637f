"""STAGE's second task (docs/stage.md): open questions on the whole story, answered five times each.

What an engine answers from is found by one of several methods (`METHODS`). Three of them are the paper's:
words and vectors fused, a tree of summaries, a graph of the story. The three together are its oracle. Where
a method finds nothing because the engine fails, the question counts as wrong.
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

PAPER_METHODS = ("hybrid", "pageindex", "graph")
"""The paper's three methods to reach evidence (section 4)."""
METHODS = ("none", "full", "bm25", "dense", *PAPER_METHODS)
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
    """All questions, or the first ``limit``, answered with each of the methods in ``memory``.

    ``top`` is how many scenes or reports are given (default: `TOP`, of the paper's methods `TOP_FUSED`).
    Raises EvaluationError for an unknown method, ShotadError where vectors cannot be counted here,
    EngineError for what stops an engine.
    """
    methods = check_settings(memory, METHODS)
    pair = Pair(engine, judge, context, "stage", "question")
    picked = [(film, story_question) for film in films for story_question in film.questions][:limit]
    films_with_questions = list({film.id: film for film, _ in picked}.values())
    # What is missing here is told before an engine is paid for an index.
    if _NEED_VECTORS & set(methods):
        vectors_of(context)
    if "graph" in methods:
        require_networkx()
    trees = build_trees(films_with_questions, pair.actor) if "pageindex" in methods else {}
    graphs = build_reports(films_with_questions, pair.actor, context) if "graph" in methods else {}
    reaches: dict[tuple[str, str], Reach] = {}
    for method, film in product(methods, films_with_questions):
        count = top or top_of(method)
        if method == "pageindex":
            reaches[method, film.id] = _reach_by_tree(trees[film.id], pair, count)
        elif method == "graph":
            reaches[method, film.id] = _reach_by_graph(graphs[film.id], context, count)
        else:
            reaches[method, film.id] = _reach_by_nearness(method, film, context, count)

    def answer(case: tuple[str, tuple[StageFilm, StoryQuestion]]) -> Json:
        method, (film, story_question) = case
        return _answer_question(film, story_question, method, reaches[method, film.id], pair)

    cases = list(product(methods, picked))
    items = list(map_items(answer, cases, pair.judges, "Questions", "questions"))
    tops = {method: top or top_of(method) for method in methods}
    identity = {**pair.identity, "memory": list(methods), "top": tops, "tries": TRIES}
    results: list[Result] = []
    for method in methods:
        of_method = [item for item in items if item["memory"] == method]
        results += _figures_of_method(method, of_method, identity)
    if set(PAPER_METHODS) <= set(methods):
        results += _figures_of_union(items, identity)
    indexes = [_index_item("pageindex", film_id, tree.record) for film_id, tree in trees.items()]
    indexes += [_index_item("graph", film_id, graph.record) for film_id, graph in graphs.items()]
    for method in ("pageindex", "graph"):
        rows = [
            row(index["id"], index["answers"], index["requests"], index["failure"])
            for index in indexes
            if index["memory"] == method
        ]
        if rows:
            results.append(figure(f"{method}: index answers", "requests", rows, identity))
    return StageRun("question answering", tuple(results), (*items, *indexes), identity)


def top_of(method: str) -> int:
    """How many scenes or reports a method gives where nothing else is asked for."""
    return TOP_FUSED if method in PAPER_METHODS else TOP


def _reach_by_nearness(method: str, film: StageFilm, context: MetricContext, top: int) -> Reach:
    if method == "hybrid":
        choose = hybrid_chooser(film.scenes, film.language, context, top)
    else:
        choose = chooser(method, [scene_text(scene) for scene in film.scenes], film.language, context, top)
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
    film: StageFilm, story_question: StoryQuestion, method: str, reach: Reach, pair: Pair
) -> Json:
    """A question answered `TRIES` times; equal answers are judged once."""
    evidence = reach(story_question.text)
    scenes = [film.scenes[place] for place in sorted(evidence.scenes)]
    item = {
        "id": f"{method}/{film.id}/{story_question.id}",
        "film": film.id,
        "question": story_question.id,
        "type": story_question.kind,
        "memory": method,
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


def _figures_of_method(method: str, items: Sequence[Json], identity: Json) -> list[Result]:
    """Pass@5 and average accuracy, of all questions and of each type."""
    results = []
    for kind, of_kind in _by_type(items):
        rows = [row(item["id"], any(item["right"]), 1, item["failure"]) for item in of_kind]
        results.append(figure(f"{method}: pass@{TRIES}{kind}", "questions", rows, identity))
    for kind, of_kind in _by_type(items):
        rows = [row(item["id"], sum(item["right"]), TRIES, item["failure"]) for item in of_kind]
        results.append(figure(f"{method}: average accuracy{kind}", "tries", rows, identity))
    return results


def _figures_of_union(items: Sequence[Json], identity: Json) -> list[Result]:
    """Pass@5 of the paper's three methods together, of all questions and of each type."""
    passed: dict[tuple[str, str], bool] = {}
    for item in items:
        if item["memory"] in PAPER_METHODS:
            key = item["film"], item["question"]
            passed[key] = passed.get(key, False) or any(item["right"])
    # Each question once, by the item of the method that comes first.
    questions = [item for item in items if item["memory"] == PAPER_METHODS[0]]
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


def _index_item(method: str, film_id: str, record: Json) -> Json:
    return {"id": f"{method}/{film_id}", "film": film_id, "memory": method, **record}
