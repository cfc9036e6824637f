"""STAGE's first task: what becomes of a character, as a timeline of lasting developments and arcs over them.

The engine writes both from the screenplay; the judge holds them against the people's (paper, section C.2.1;
docs/stage.md). A timeline that cannot be had covers no fact, and all arcs of its character are wrong; of
facts and transitions that it does not have nothing is said. Arcs of a character without a timeline of the
people's (49 in the release) are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from shotad.description import render
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.asking import (
    STRING,
    STRINGS,
    Pair,
    Part,
    Steps,
    by_judge,
    entries_schema,
    listing,
    question,
    quoted,
    worked,
)
from shotad.evaluation.metrics.judge import Answer, Question, Unreadable, sentence
from shotad.evaluation.stage.films import (
    StageArc,
    StageFilm,
    StageNode,
    StageRun,
    StageTimeline,
    drawn,
    entries,
    lines_of,
    scene_text,
    verdict,
)
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
    """Timelines and arcs of all characters, or of the first ``limit``.

    Raises EngineError for what stops an engine, ShotadError where vectors cannot be counted here.
    """
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
        before, then = (lines_of(film.scenes[film.places[one.scene]].content[:EXCERPT]) for one in two)
        earlier, later = (_node_text(film, one) for one in two)
        says = {"character": quoted(gold.character), "earlier": earlier, "later": later}
        after.append(verdict("stage/follows", {**says, "before": before, "after": then}))
    follows = yield pair.judge, after
    theirs = [arc for arc in film.arcs if arc.character == gold.character]
    nearest = _nearest(theirs, gold, arcs, ours, vectors)
    texts = [
        {
            "character": quoted(gold.character),
            "reference": _arc_text(film, arc, gold),
            "predicted": _arc_text(film, best, ours),
        }
        for arc, best in zip(theirs, nearest, strict=False)
    ]
    aspect = yield pair.judge, [verdict("stage/aspect", one) for one in texts]
    progression = yield pair.judge, [verdict("stage/progression", one) for one in texts]
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
    texts = {"character": quoted(one.character), "timeline": _timeline_text(film, one), "most": str(FACTS)}
    parts, room = {"facts": listing(FACTS)}, _FACT_TOKENS * FACTS
    asked = question("stage/judge-system", "stage/facts", texts, parts, tokens=room)
    (facts,) = yield pair.judge, [asked]
    if facts.value is None:
        return 0, FACTS, by_judge([facts])
    texts = {"character": quoted(one.character), "timeline": _timeline_text(film, other)}
    told = facts.value if other.nodes else ()
    covered = yield pair.judge, [verdict("stage/covered", texts | {"fact": quoted(fact)}) for fact in told]
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
                raise Unreadable(f"{quoted(node.scene)} is no scene of this script.")
        nodes.sort(key=lambda node: film.places[node.scene])
        numbered = (node.model_copy(update={"id": str(n)}) for n, node in enumerate(nodes, 1))
        return StageTimeline(character=gold.character, nodes=tuple(numbered))

    texts = {
        "character": quoted(gold.character),
        "aliases": ", ".join(map(quoted, gold.aliases)) or "–",
        "scenes": "\n\n".join(map(scene_text, film.scenes)),
    }
    parts = {"nodes": _entries(_NODE, StageNode)}
    return question("stage/reader-system", "stage/timeline", texts, parts, read)


def arcs_question(film: StageFilm, timeline: StageTimeline) -> Question[tuple[StageArc, ...]]:
    """Which longer changes join these nodes?"""
    known = {node.id for node in timeline.nodes}

    def read(arcs: list[StageArc]) -> tuple[StageArc, ...]:
        for arc in arcs:
            sentence(arc.summary, "summary")
            if len(set(arc.nodes)) < 2 or not known.issuperset(arc.nodes):
                raise Unreadable(f"Each arc must have two nodes or more of {', '.join(sorted(known))}.")
        return tuple(arcs)

    texts = {"character": quoted(timeline.character), "nodes": _timeline_text(film, timeline)}
    parts = {"arcs": _entries(_ARC, StageArc, character=timeline.character)}
    return question("stage/reader-system", "stage/arcs", texts, parts, read)


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


def _timeline_text(film: StageFilm, timeline: StageTimeline) -> str:
    return "\n".join(_node_text(film, node) for node in timeline.nodes)


def _node_text(film: StageFilm, node: StageNode) -> str:
    place = film.places.get(node.scene)
    heading = "" if place is None else film.scenes[place].heading
    parts = ("development", "goal", "result", "unresolved")
    texts = {part: quoted(getattr(node, part)) for part in parts}
    return render(
        "stage/node", node=quoted(node.id), scene=quoted(node.scene), heading=quoted(heading), **texts
    )


def _arc_text(film: StageFilm, arc: StageArc, timeline: StageTimeline) -> str:
    nodes = [_node_text(film, node) for node in timeline.nodes if node.id in arc.nodes]
    texts = {part: quoted(getattr(arc, part)) for part in ("title", "summary", "start", "end", "unresolved")}
    return render("stage/arc", **texts, nodes="\n".join(nodes))
