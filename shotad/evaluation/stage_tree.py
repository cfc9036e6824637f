"""Questions of STAGE by a tree of summaries that the engine walks: the paper's PageIndex.

The leaves are the scenes. Up to `FANOUT` neighbours have a parent, and so on up to a table of contents of as
many entries. Each node has a summary by the engine that is scored. For a question the engine is shown the
entries, names the ones to open, and is shown their children, until it names scenes: it never sees a vector.

The paper gives no number, and its runner is not published. PageIndex (Zhang et al., 2025,
github.com/VectifyAI/PageIndex) has at most 10 pages in a node, unless told otherwise; how many nodes are
opened at once is our choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.judge import (
    SENTENCE,
    Answer,
    Judge,
    Part,
    Question,
    Unreadable,
    failed,
    map_items,
    question,
    text_part,
    whole_number,
)
from shotad.evaluation.stage import StageFilm, StageScene

FANOUT = 10
"""Children of a node at most (PageIndex: ``max-pages-per-node``)."""
OPENED = 3
"""Nodes above the scenes that are opened at most: their 30 children still make a short list."""
SUMMARY_TOKENS = 400
WALK_TOKENS = 300


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A part of a screenplay, from the scene at place ``first`` to ``last``; a scene has no children."""

    title: str
    summary: str
    first: int
    last: int
    children: tuple[TreeNode, ...] = ()


@dataclass(frozen=True, slots=True)
class SceneTree:
    """A film's table of contents. Of ``requests`` for summaries so many have ``answers``; ``failure`` says
    why one has not. A node without a summary has only its title."""

    top: tuple[TreeNode, ...]
    requests: int
    answers: int
    failure: str = ""

    @property
    def record(self) -> Json:
        """How many summaries were asked for and could be had, as JSON."""
        return {"requests": self.requests, "answers": self.answers, "failure": self.failure}


@dataclass(slots=True)
class _Growing:
    """The level of a film's tree that has no parents yet, and the answers so far."""

    film: StageFilm
    nodes: list[TreeNode]
    answers: list[Answer[str]] = field(default_factory=list)


def build_trees(films: Sequence[StageFilm], engine: Judge) -> dict[str, SceneTree]:
    """The tree of each film, by its id; level by level, and all films together. Raises EngineError for what
    stops the engine."""
    growing = {film.id: _Growing(film, []) for film in films}
    scenes = [(film, place) for film in films for place in range(len(film.scenes))]

    def sum_up_scene(at: tuple[StageFilm, int]) -> Answer[str]:
        film, place = at
        return engine.ask(summary_question(scene=film.scenes[place]))

    summaries = map_items(sum_up_scene, scenes, [engine], "Summing up scenes", "scenes")
    for (film, place), answer in zip(scenes, summaries, strict=True):
        title = film.scenes[place].heading or f"Scene {film.scenes[place].id}"
        growing[film.id].nodes.append(TreeNode(title, answer.value or "", place, place))
        growing[film.id].answers.append(answer)

    def sum_up_group(at: tuple[_Growing, list[TreeNode]]) -> Answer[str]:
        return engine.ask(summary_question(parts=at[1]))

    while groups := [(tree, group) for tree in growing.values() for group in _parents_to_be(tree.nodes)]:
        for tree in {id(tree): tree for tree, _ in groups}.values():
            tree.nodes = []
        summaries = map_items(sum_up_group, groups, [engine], "Summing up parts", "parts")
        for (tree, group), answer in zip(groups, summaries, strict=True):
            first, last = group[0].first, group[-1].last
            ids = [tree.film.scenes[place].id for place in (first, last)]
            title = f"Scenes {ids[0]} to {ids[1]}"
            tree.nodes.append(TreeNode(title, answer.value or "", first, last, tuple(group)))
            tree.answers.append(answer)
    trees: dict[str, SceneTree] = {}
    for film_id, tree in growing.items():
        answers = sum(answer.value is not None for answer in tree.answers)
        trees[film_id] = SceneTree(tuple(tree.nodes), len(tree.answers), answers, failed(tree.answers))
    return trees


def summaries_of(scenes: int) -> int:
    """How many summaries the tree of so many scenes has.

    >>> summaries_of(10), summaries_of(151)
    (10, 169)
    """
    count = level = scenes
    while level > FANOUT:
        level = math.ceil(level / FANOUT)
        count += level
    return count


def levels_of(scenes: int) -> int:
    """How many lists the engine is shown until it comes to one of so many scenes.

    >>> levels_of(10), levels_of(151)
    (1, 3)
    """
    levels = 1
    while scenes > FANOUT:
        scenes = math.ceil(scenes / FANOUT)
        levels += 1
    return levels


def _parents_to_be(nodes: list[TreeNode]) -> list[list[TreeNode]]:
    """Neighbours that get a parent, in groups as equal as can be; none where the nodes are few enough."""
    if len(nodes) <= FANOUT:
        return []
    count = math.ceil(len(nodes) / FANOUT)
    borders = [len(nodes) * number // count for number in range(count + 1)]
    return [nodes[start:end] for start, end in pairwise(borders)]


def summary_question(*, scene: StageScene | None = None, parts: Sequence[TreeNode] = ()) -> Question[str]:
    """What happens in a scene, or in parts that are summed up already?"""
    values = {"scenes": [scene] if scene else [], "parts": _part_values(parts)}
    return question("stage-summary", values, {"summary": text_part('"…"')}, tokens=SUMMARY_TOKENS)


def _part_values(parts: Sequence[TreeNode]) -> list[Json]:
    return [
        {"number": number, "title": part.title, "summary": part.summary}
        for number, part in enumerate(parts, 1)
    ]


def walk_tree(tree: SceneTree, text: str, engine: Judge, top: int) -> Answer[tuple[int, ...]]:
    """The places of ``top`` scenes at most that the engine finds for a question, the first that it names
    first; or why there are none. A list that may be opened whole is not asked about."""
    nodes = tree.top
    # All nodes of a list are equally far from the scenes.
    while nodes and nodes[0].children:
        opened = _choose_parts(nodes, text, engine, OPENED)
        if opened.value is None:
            return Answer(None, opened.failure)
        nodes = tuple(child for node in opened.value for child in node.children)
    scenes = _choose_parts(nodes, text, engine, top)
    if scenes.value is None:
        return Answer(None, scenes.failure)
    return Answer(tuple(node.first for node in scenes.value))


def _choose_parts(
    nodes: Sequence[TreeNode], text: str, engine: Judge, most: int
) -> Answer[tuple[TreeNode, ...]]:
    if len(nodes) <= most:
        return Answer(tuple(nodes))
    chosen = engine.ask(walk_question(nodes, text, most))
    if chosen.value is None:
        return Answer(None, chosen.failure)
    return Answer(tuple(nodes[place] for place in chosen.value))


def walk_question(nodes: Sequence[TreeNode], text: str, most: int) -> Question[tuple[int, ...]]:
    """Which of these parts answer the question? The answer is their places in the list, from 0."""
    values = {"parts": _part_values(nodes), "question": text, "most": most}
    parts = {"reason": SENTENCE, "parts": numbers_part(len(nodes), most)}
    return question("stage-walk", values, parts, tokens=WALK_TOKENS)


def numbers_part(highest: int, most: int) -> Part:
    """Numbers from 1 to ``highest``, read as places from 0: each once, and the first ``most`` of them."""

    def read(value: Any, key: str) -> tuple[int, ...]:
        if not isinstance(value, list) or not value:
            raise Unreadable(f"{key} must be a list of one number or more.")
        places = dict.fromkeys(whole_number(number, f"each of {key}", 1, highest) - 1 for number in value)
        return tuple(places)[:most]

    entry = {"type": "integer", "minimum": 1, "maximum": highest}
    return Part("[<numbers>]", {"type": "array", "items": entry, "minItems": 1}, read)
