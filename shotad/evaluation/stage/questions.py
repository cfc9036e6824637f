"""STAGE's second task: open questions on the whole story, each asked five times.

A try is right if the judge says so beside the right answer and its reason. Average accuracy is the share of
right tries, Pass@5 of questions with one among five. What the engine reads is chosen among the scenes as
`shotad.evaluation.stage.memory` says. What cannot be read is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shotad.description import render
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.judged import by_judge, quoted
from shotad.evaluation.stage.films import StageFilm, StageQuestion, StageScene
from shotad.evaluation.stage.memory import TOP, Chooser
from shotad.evaluation.stage.run import (
    Pair,
    StageRun,
    Steps,
    figure,
    one_answer,
    row,
    scene_text,
    worked,
)
from shotad.evaluation.store import MetricContext
from shotad.evaluation.story import ASKING, TRIES, answer_check

TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "stage/reader-system": (),
    "stage/question": ("scenes", "question", "template"),
    "stage/scene": ("scene", "heading", "text"),
    "stage/nothing": (),
    "questions/judge-system": (),
    "questions/judge": ASKING["questions/judge"],
}
"""The templates of this module and their variables."""


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
    setting.

    Raises EvaluationError for an unknown setting, EngineError for what stops an engine.
    """
    pair = Pair(engine, judge, context, TEMPLATES)
    picked = [(film, one) for film in films for one in film.questions][:limit]
    asked = []
    for setting in dict.fromkeys(memory):
        choosers = {
            film.id: Chooser(setting, [_scene(one) for one in film.scenes], film.language, context, top)
            for film in {film.id: film for film, _ in picked}.values()
        }
        asked += [_answered(film, one, setting, choosers[film.id], pair) for film, one in picked]
    items = tuple(worked("Questions", "questions", asked, context))
    identity = {**pair.identity, "memory": list(memory), "top": top, "tries": TRIES}
    results = []
    for setting in dict.fromkeys(memory):
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


def _scene(scene: StageScene) -> str:
    return f"{scene.heading}\n{scene.content}"


def _answered(
    film: StageFilm, asked: StageQuestion, setting: str, chooser: Chooser, pair: Pair
) -> Steps[Json]:
    given = [film.scenes[place] for place in sorted(chooser.of(asked.text))]
    shown = "\n\n".join(map(scene_text, given)) or render("stage/nothing")
    texts = {"scenes": shown, "question": quoted(asked.text)}
    tries = [one_answer("stage/reader-system", "stage/question", texts, draw) for draw in range(TRIES)]
    answers = yield pair.actor, tries
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
