"""STAGE's third task: the engine answers as a character, who knows what the script has told it.

It is given the character's persona, relations, and of its memories none, all, or those that are nearest to
the persona, what was said so far and what is asked. In an interview of several turns its own answers stand in
the history. The judge knows what a right answer rests on, and gives 1 to 5 points for each dimension; for a
whole interview at once, and for each later question whether it fits what was said (follow-up). An interview
of which an answer is missing has 0 in every dimension, unasked, and so has what the judge does not score.

Support hit and recall say how good the choice of memories was: of the memories that a question was made of,
whether one is given, and how many. They need no judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from shotad.core import DatasetError
from shotad.description import render
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.judge import Question, record_in, sentence, whole_number
from shotad.evaluation.metrics.judged import STRING, by_judge, question, quoted
from shotad.evaluation.stage.films import StageFilm, StageInterview, StageRole, StageTurn
from shotad.evaluation.stage.memory import TOP, Chooser
from shotad.evaluation.stage.run import Pair, StageRun, Steps, figure, one_answer, row, worked
from shotad.evaluation.store import MetricContext

SINGLE = {
    "character fidelity": "stage/fidelity",
    "response naturalness": "stage/naturalness",
    "memory faithfulness": "stage/memory",
    "boundary compliance": "stage/boundary",
}
SEVERAL = {**SINGLE, "cross-turn consistency": "stage/consistency"}
"""The dimensions of one turn and of several, and what each asks for."""
FOLLOW_UP = "follow-up compatibility"
DIMENSIONS = {"single": tuple(SINGLE), "multi": (*SEVERAL, FOLLOW_UP)}
KNOWN = ("facts", "against", "allowed", "forbidden", "kept")
"""What the judge of a turn knows, and the actor does not."""

TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "stage/actor-system": (),
    "stage/actor": ("role", "memories", "history", "asked", "template"),
    "stage/role": ("character", "traits", "style", "constraints", "examples", "relations"),
    "stage/score-system": (),
    "stage/score": ("rubric", "role", "turns", "template"),
    "stage/turn": ("turn", "asked", "memories", *KNOWN, "answer"),
    "stage/nothing": (),
    **dict.fromkeys(SEVERAL.values(), ()),
    "stage/follow-up": ("history", "asked", "template"),
}
"""The templates of this module and their variables."""


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
    """All interviews, or the first ``limit`` of each kind, with each setting of memory.

    Raises EvaluationError for an unknown setting, DatasetError for a character without a role, EngineError
    for what stops an engine.
    """
    pair = Pair(engine, judge, context, TEMPLATES)
    banks = {(film.id, role.character): _Bank(role, film.language) for film in films for role in film.roles}
    talks: list[tuple[StageFilm, StageInterview]] = []
    for kind in DIMENSIONS:
        talks += [(film, one) for film in films for one in film.interviews if one.kind == kind][:limit]
    strange = [talk.id for film, talk in talks if (film.id, talk.character) not in banks]
    if strange:
        raise DatasetError(
            f"The interview {strange[0]} is of a character without a role.", "See what else by --check."
        )
    asked = []
    for setting in dict.fromkeys(memory):
        wanted = {(film.id, talk.character) for film, talk in talks}
        choosers = {key: banks[key].chooser(setting, context, top) for key in wanted}
        for film, talk in talks:
            key = (film.id, talk.character)
            asked.append(_interview(film, talk, banks[key], choosers[key], setting, pair))
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

    def chooser(self, setting: str, context: MetricContext, top: int) -> Chooser:
        texts = []
        for one in self.memories:
            facts = _labelled("Grounded facts", " ".join(one.facts))
            texts.append("\n".join([one.text, *facts, *_labelled("Tags", ", ".join(one.tags))]))
        return Chooser(setting, texts, self._language, context, top)

    def query(self, asked: str, lines: Sequence[tuple[str, str]]) -> str:
        """What is asked stands first, for long texts are cut before they become vectors."""
        history = _labelled("Dialogue history", "\n".join(f"{speaker}: {text}" for speaker, text in lines))
        return "\n".join([f"Current user turn: {asked}", *self._summary, *history])


def _labelled(name: str, text: str) -> list[str]:
    return [f"{name}: {text}"] if text else []


def _interview(
    film: StageFilm, talk: StageInterview, bank: _Bank, chooser: Chooser, setting: str, pair: Pair
) -> Steps[Json]:
    """What was said in an interview, and its scores."""
    turns: list[Json] = []
    shown: list[str] = []
    later: list[Question[int]] = []
    role, failure = _role_text(bank.role), ""
    for turn in talk.turns:
        lines = [
            (line.speaker, turns[line.turn - 1]["answer"] if line.turn else line.text)
            for line in turn.history
        ]
        given = [bank.memories[place] for place in chooser.of(bank.query(turn.asked, lines))]
        texts = {"memories": _list([one.text for one in given]), "asked": quoted(turn.asked)}
        history = "\n".join(f"{speaker}: {quoted(text)}" for speaker, text in lines)
        asked = texts | {"role": role, "history": history or render("stage/nothing")}
        (answer,) = yield pair.actor, [one_answer("stage/actor-system", "stage/actor", asked)]
        said, failure = answer.value or "", answer.failure
        turns.append({"asked": turn.asked, "answer": said, **_support(turn, [one.id for one in given])})
        if failure:
            break
        knows = {name: _list(getattr(turn, name)) for name in KNOWN}
        shown.append(render("stage/turn", turn=str(len(turns)), answer=quoted(said), **texts, **knows))
        if history:
            asked = {"history": history, "asked": quoted(turn.asked)}
            later.append(_points_question("stage/follow-up", asked))
    scores = dict.fromkeys(DIMENSIONS[talk.kind], (0.0, 1, failure))
    if not failure:
        names = SEVERAL if talk.kind == "multi" else SINGLE
        texts = {"role": role, "turns": "\n\n".join(shown)}
        each = [_points_question("stage/score", texts | {"rubric": render(name)}) for name in names.values()]
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


def _support(turn: StageTurn, given: Sequence[str]) -> Json:
    """The memories that are given; of those that the question was made of, whether one is, and how many."""
    shared, of = len(set(turn.sources) & set(given)), len(set(turn.sources))
    return {
        "memories": list(given),
        "hit": float(shared > 0) if of else None,
        "recall": shared / of if of else None,
    }


def _points_question(name: str, texts: Mapping[str, str]) -> Question[int]:
    """A question for 1 to 5 points, with the reason first."""

    def read(answer: str) -> int:
        record = record_in(answer, ["reason", "score"])
        sentence(record["reason"], "reason")
        return whole_number(record["score"], "score", 1, 5)

    score: Any = {"type": "integer", "minimum": 1, "maximum": 5}
    template = '{"reason": "<one sentence>", "score": <1 to 5>}'
    return question("stage/score-system", name, texts, template, {"reason": STRING, "score": score}, read)


def _role_text(role: StageRole) -> str:
    persona = role.persona
    return render(
        "stage/role",
        character=quoted(role.character),
        traits=_list(persona.traits),
        style=_list(persona.style),
        constraints=_list(persona.constraints),
        examples=_list(persona.examples),
        relations=_list([f"{one.other}: {one.relation}" for one in role.relations]),
    )


def _list(texts: Sequence[str]) -> str:
    return "\n".join(f"- {quoted(text)}" for text in texts) or render("stage/nothing")
