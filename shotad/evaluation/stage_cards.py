"""A character's timeline by scene cards and milestones, as the systems of STAGE's Table 2 work (paper,
section B.4).

The scenes that name the character are chosen by their text. The engine writes a card of each: what the scene
does for the character's story, and how much it matters. Of the cards milestones are chosen by rule, spread
over the story, and each becomes a node, written from its scene alone.

The numbers are those of the published code (github.com/roytian1992/STAGE_v0, commit 1396258,
``tools/task1/pipeline.py`` and ``recall.py``). Its choice goes on by words of the cards (``reveal``,
``boundary`` and others) and by the engine's judgement of pairs; here a milestone next to another waits until
the rest of the story is covered. As there, answers are drawn by the likeliest tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from shotad.evaluation.metrics.judge import (
    SENTENCE,
    STRING,
    STRINGS,
    Judge,
    Part,
    Question,
    Unreadable,
    failed,
    points,
    question,
    word,
)
from shotad.evaluation.stage import StageFilm, StageNode, StageScene, StageTimeline

MOST_SCENES, SCENES_OF_THIRD = 120, 24
"""Scenes of a character that get a card at most, and of each third of the script at least."""
STRONG, AROUND = 6, 2
"""From which score of the names a scene is surely the character's, so that scenes around it are read too."""
CARD_LENGTH, NODE_LENGTH = 7000, 6000
"""Characters of a scene that are read for a card and for a node."""
FEWEST, MOST = 20, 24
"""Between how many milestones a timeline has, where there are as many cards."""
MILESTONES_OF_THIRD = 3
"""Milestones of each third of the script at least."""
CARD_TOKENS, NODE_TOKENS = 700, 500

PRESENCES = ("foreground", "active", "indirect", "absent")
CHANGES = ("change", "relation", "goal", "pressure", "mission")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SceneCard:
    """What the scene at ``place`` does for a character's story. ``score`` is 0 to 5; ``changes`` are those
    that last, by `CHANGES`; ``quotes`` stand in the scene word for word."""

    place: int
    presence: str
    part: str
    changes: dict[str, str]
    score: int
    quotes: tuple[str, ...]

    @property
    def weight(self) -> int:
        """How much the scene matters: by its score, then by how much changes and how present the character
        is."""
        presence = {"foreground": 2, "active": 1}.get(self.presence, 0)
        return 10 * self.score + 2 * len(self.changes) + presence


@dataclass(frozen=True, slots=True)
class WrittenTimeline:
    """A timeline that an engine wrote, None without a node, and the cards that it comes from, if any.
    ``failure`` says why there is no timeline, or how many cards and nodes are missing."""

    timeline: StageTimeline | None
    cards: tuple[SceneCard, ...]
    failure: str


def timeline_by_cards(film: StageFilm, gold: StageTimeline, engine: Judge) -> WrittenTimeline:
    """The timeline that the engine writes of a character of whom only the names are told."""
    places = scenes_of_character(film, gold)
    answers = engine.ask_all([card_question(film, place, gold) for place in places])
    cards = tuple(answer.value for answer in answers if answer.value is not None)
    milestones = choose_milestones(cards, len(film.scenes))
    nodes = engine.ask_all([node_question(film, card, gold) for card in milestones])
    written = [answer.value for answer in nodes if answer.value is not None]
    numbered = [node.model_copy(update={"id": str(number)}) for number, node in enumerate(written, 1)]
    failure = "; ".join(filter(None, (failed(answers), failed(nodes))))
    if not numbered:
        return WrittenTimeline(None, cards, failure or "no scene has a part in this character's story")
    return WrittenTimeline(StageTimeline(character=gold.character, nodes=tuple(numbered)), cards, failure)


def scenes_of_character(film: StageFilm, gold: StageTimeline) -> list[int]:
    """The places of the scenes that may be the character's, in order: those with one of its names or a word
    of one, and those around a scene that is surely the character's. Of more than `MOST_SCENES` those that
    name it most, from the whole script."""
    scores = [_naming_score(scene, (gold.character, *gold.aliases)) for scene in film.scenes]
    places = {place for place, score in enumerate(scores) if score}
    for place, score in enumerate(scores):
        if score >= STRONG:
            places.update(range(max(0, place - AROUND), min(len(scores), place + AROUND + 1)))
    if len(places) <= MOST_SCENES:
        return sorted(places)
    named = [place for place in places if scores[place]]
    return spread(
        named, lambda place: place, lambda place: scores[place], len(scores), SCENES_OF_THIRD, MOST_SCENES
    )


def _naming_score(scene: StageScene, names: Sequence[str]) -> int:
    """How surely a scene is of somebody with one of these names: as the published code counts, 3 for a name
    in the heading and in the text, 4 as a speaker, and 1 and 2 for a word of it."""
    heading, content = scene.heading.casefold(), scene.content.casefold()
    speakers = set()
    for line in content.splitlines():
        # A name stands alone above what it says, or before a colon; "(V.O.)" may follow it.
        speakers.add(re.split(r"[:：(（]", line, maxsplit=1)[0].strip())
    score = 0
    for name in {name.casefold().strip() for name in names} - {""}:
        words = [word for word in name.split() if len(word) >= 3]
        score += 3 * (name in heading) + 3 * (name in content) + 4 * (name in speakers)
        score += any(word in content for word in words) + 2 * any(word in speakers for word in words)
    return score


def choose_milestones(cards: Sequence[SceneCard], scenes: int) -> list[SceneCard]:
    """The cards that become nodes, in order of the script of so many scenes: those with the most weight,
    from each third of the script, and scenes that lie next to each other only when the rest is covered."""
    present = [card for card in cards if card.presence != "absent" or card.score]
    # Within so many scenes two cards mostly tell the same development.
    apart = 3 if scenes >= 54 else 2 if scenes >= 24 else 1
    return spread(
        present, lambda card: card.place, lambda card: card.weight, scenes, MILESTONES_OF_THIRD,
        most_milestones(present), apart,
    )  # fmt: skip


def most_milestones(cards: Sequence[SceneCard]) -> int:
    """How many of these cards become nodes at most: more where more happens."""
    scores = [card.score for card in cards]
    more = [len(cards) >= count for count in (18, 28, 40)]
    more += [
        sum(score >= 3 for score in scores) >= 10,
        sum(score >= 4 for score in scores) >= 8,
        sum(score >= 5 for score in scores) >= 5,
        sum(card.presence in PRESENCES[:2] for card in cards) >= 16,
    ]
    return min(MOST, FEWEST + sum(more))


def spread(
    candidates: Sequence[T],
    place: Callable[[T], int],
    weight: Callable[[T], int],
    scenes: int,
    of_third: int,
    most: int,
    apart: int = 1,
) -> list[T]:
    """The ``most`` heaviest candidates in order of their places among ``scenes``: ``of_third`` of each third
    of the script, then the others. Those less than ``apart`` places from a chosen one come last of all."""
    heaviest = sorted(candidates, key=lambda candidate: (-weight(candidate), place(candidate)))
    thirds = [place(candidate) * 3 // max(1, scenes) for candidate in heaviest]
    by_place: dict[int, T] = {}
    for quota, gap in ((of_third, apart), (most, apart), (most, 1)):
        counts = [sum(number * 3 // max(1, scenes) == third for number in by_place) for third in range(3)]
        for third, candidate in zip(thirds, heaviest, strict=True):
            near = any(abs(place(candidate) - taken_place) < gap for taken_place in by_place)
            if not near and counts[third] < quota and len(by_place) < most:
                by_place[place(candidate)] = candidate
                counts[third] += 1
    return [by_place[number] for number in sorted(by_place)]


def card_question(film: StageFilm, place: int, gold: StageTimeline) -> Question[SceneCard]:
    """What does the scene at this place do for the character's story?"""
    scene = film.scenes[place]

    def read(presence: str, part: str, *changes_score_quotes: Any) -> SceneCard:
        *changes, score, quotes = changes_score_quotes
        lasting = {name: text for name, text in zip(CHANGES, changes, strict=True) if text}
        verbatim = tuple(quote for quote in quotes if quote and quote in scene.content)
        return SceneCard(place, presence, part, lasting, score, verbatim)

    parts = {
        "presence": word({name: name for name in PRESENCES}, '"<foreground, active, indirect or absent>"'),
        "part": TEXT,
        **dict.fromkeys(CHANGES, TEXT),
        "score": points(0, 5),
        "quotes": TEXTS,
    }
    values = {
        "passage": scene.model_copy(update={"content": scene.content[:CARD_LENGTH]}),
        "character": gold.character,
        "aliases": gold.aliases,
    }
    return question("stage-card", values, parts, read, tokens=CARD_TOKENS)


def node_question(film: StageFilm, card: SceneCard, gold: StageTimeline) -> Question[StageNode]:
    """Which development does this milestone bring?"""
    scene = film.scenes[card.place]

    def read(development: str, goal: str, result: str, unresolved: str) -> StageNode:
        texts = {"development": development, "goal": goal, "result": result, "unresolved": unresolved}
        return StageNode(scene=scene.id, **texts)

    values = {
        "passage": scene.model_copy(update={"content": scene.content[:NODE_LENGTH]}),
        "character": gold.character,
        "card": [text for text in (card.part, *card.changes.values(), *card.quotes) if text],
    }
    parts = {"development": SENTENCE, "goal": TEXT, "result": TEXT, "unresolved": TEXT}
    return question("stage-node", values, parts, read, tokens=NODE_TOKENS)


def card_record(card: SceneCard, film: StageFilm) -> dict[str, Any]:
    """A card as JSON, with the id of its scene."""
    return {"scene": film.scenes[card.place].id, **asdict(card)}


def _read_text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise Unreadable(f"{key} must be a text.")
    return " ".join(value.split())


def _read_texts(value: Any, key: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise Unreadable(f"{key} must be a list of texts.")
    return [text.strip() for text in value]


TEXT = Part('"…"', STRING, _read_text)
"""A text that may be empty."""
TEXTS = Part('["…", …]', STRINGS, _read_texts)
