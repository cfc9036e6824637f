"""How doubtful a line is, from 0 to 1, and why: what was measured and answered is held against its words.

Each sign for or against a line changes the odds that something in it is wrong. By how much was measured on
lines into which errors were put (benchmarks/doubt.py, the tuning half); signs of models that cannot be had
there are set by judgement. Signs hang together: the number puts lines in order, it is no frequency.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from shotad.core import NOBODY, Facts, PeopleFact, Presence, is_english
from shotad.description.wording import content_of, letters_of, verbs_of, without_quotations, words_of
from shotad.script import (
    PEOPLE_NOUNS,
    Doubt,
    cast_mentions,
    count_words,
    keys_of,
    people_named,
    quotations,
    short_hash,
)
from shotad.sight import KINDS

_WEIGHTS: Mapping[str, float] = {
    # Of a line of which nothing else is known. One statement of the embedded narrator in ten was not true on
    # film that nothing was tuned to (benchmarks/statements.py).
    "narrated": -2.2,
    "from a description": -2.3,
    "from nothing": -0.3,
    # Fitted to the tuning half of benchmarks/doubt.py (logistic regression, rounded).
    "name of nobody": 2.9,
    "other number": 3.3,
    "not described": 3.8,
    "text unread": 2.7,
    "text read": -1.6,
    "thing unseen": 1.9,
    "thing seen": -2.7,
    "unsaid": 1.2,
    "nobody": 0.6,
    "act unseen": 0.4,
    # That people, their number, what they do and where they go were measured as told weighs nothing.
    "people": 0.0,
    "number": 0.0,
    "act": 0.0,
    "way": 0.0,
    # Set by judgement.
    "other way": 1.5,
    "name unseen": 2.5,
    "name seen": -1.0,
    "weak": 1.0,
    "unsure kind": 1.0,
    "unseen": 2.0,
    "unlooked": 0.3,
    "invented": 1.5,
    "answers differ": 1.0,
    "long": 0.5,
}
"""What each sign adds to the log odds of an error."""

_READ = 0.75
"""Likeness of what a line reads out to what was read, from which they are the same text."""
_WEAK = 0.8
"""What is measured less surely than this is told to be so."""
_LONG = 25
"""Words from which a line has room for more errors than others."""
_SAID = 0.3
"""Share of the words of a line that Stage I need not have said."""
_DIFFERENT = 0.2
"""Share of the words of a line that other answers have too, below which they tell something else."""

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sign:
    """Something for or against a line. ``reason`` is empty for what speaks for it."""

    kind: str
    reason: str = ""
    times: float = 1.0

    @property
    def weight(self) -> float:
        return self.times * _WEIGHTS[self.kind]


def doubt_of(line: str, signs: Sequence[Sign]) -> Doubt:
    """The doubt about ``line`` that follows from `signs_of` it."""
    odds = sum(sign.weight for sign in signs)
    told = sorted((sign for sign in signs if sign.reason), key=lambda sign: -sign.weight)
    reasons = tuple(dict.fromkeys(sign.reason for sign in told))
    return Doubt(round(1 / (1 + math.exp(-odds)), 2), reasons, short_hash(line))


def signs_of(
    line: str,
    stage1: Record,
    stage2: Record | None = None,
    *,
    said: Sequence[Record] = (),
    unseen: Sequence[str] = (),
    presence: Presence = NOBODY,
    language: str = "en",
) -> list[Sign]:
    """What the line was made from, then what speaks for and against it, by the records of both stages.

    ``said`` are the narrator's notes on the line, empty where a model wrote it; ``unseen`` is what
    a second look did not find. Words are held against what was measured in English only.
    """
    signs = [Sign("narrated" if said else "from a description" if stage1.get("raw") else "from nothing")]
    for row in said:  # how sure its statements are, each as the narrator notes it
        sure, what = float(row["sure"]), str(row["what"])
        if sure < _WEAK:
            kind = "text" if what in ("title", "sign", "text", "credit") else what
            signs.append(Sign("weak", f"{kind} measured at {sure:.2f}", times=(_WEAK - sure) / 0.15))
        if what in _UNSURE_KINDS:
            signs.append(Sign("unsure kind", _UNSURE_KINDS[what]))
    if unseen:
        signs.append(Sign("unseen", f"the second look did not find: {'; '.join(unseen)}"))
    signs += _by_answers(line, stage1, stage2 or {}, language)
    # The narrator's lines are made of what was measured, and agree with it whether that is right or wrong.
    if is_english(language) and not said:
        notes = stage1.get("notes") or {}
        measured = notes if "current" in notes else (stage2 or {}).get("measured")
        signs += _by_facts(line, Facts.from_json(measured)) if measured else ()
        signs += _by_names(line, stage1, presence)
    return signs


_UNSURE_KINDS = {
    "credits": "a page that scrolls can look like credits",
    "sits down": "kneeling looks like sitting down where the feet are out of sight",
}
"""Statements of the narrator that rest on little, and why."""


def _by_answers(line: str, stage1: Record, stage2: Record, language: str) -> Iterator[Sign]:
    """What the engines' own answers say: other candidates, Stage I's description."""
    if stage2.get("unlooked"):
        yield Sign("unlooked", "the second look at the frames failed")
    names = [str(name) for name in stage1.get("invented", ()) if set(keys_of(line)) & set(keys_of(str(name)))]
    if names:
        yield Sign("invented", f"named by the model alone: {', '.join(names)}")
    if (stage2.get("notes") or {}).get("said"):
        return
    mine = set(content_of(line))
    others = [set(content_of(str(text))) for text in stage2.get("candidates", ()) if str(text) != line]
    shared = [len(mine & other) / len(mine) for other in others if mine]
    if len(shared) > 1 and sum(shared) / len(shared) < _DIFFERENT:
        yield Sign("answers differ", "the model's answers tell different things")
    described = set(content_of(str(stage1.get("raw") or "")))
    if mine and described and is_english(language):
        absent = list(dict.fromkeys(w.text for w in words_of(line) if w.lemma in mine - described))
        share = len(mine - described) / len(mine)
        if share > _SAID:
            why = f"Stage I does not say: {', '.join(absent[:4])}"
            yield Sign("not described", why, times=(share - _SAID) / (1 - _SAID))
    if count_words(line) > _LONG:
        yield Sign("long", f"a long line, {count_words(line)} words")


def _by_facts(line: str, facts: Facts) -> list[Sign]:
    """What the line says of text, people, things, acts and ways, against what was measured."""
    bare = without_quotations(line)
    signs = [*_texts(line, facts), *_people(bare, facts), *_things(bare, facts), *_moves(bare, facts)]
    titles = [f'the text "{text.text}"' for text in facts.texts if text.kind == "title"]
    if any(not sign.reason for sign in signs) or not (facts.people or facts.things or titles):
        return signs
    most, things = max(map(_at_once, facts.people), default=0), sorted({fact.name for fact in facts.things})
    people = [f"{most} {'person' if most == 1 else 'people'}"] if most else []
    summary = ", ".join([*titles[:1], *people, *things])
    return [*signs, Sign("unsaid", f"nothing of what was measured is told: {summary}")]


def _texts(line: str, facts: Facts) -> Iterator[Sign]:
    for start, end in quotations(line):
        quote = letters_of(line[start:end])
        alike = [
            (SequenceMatcher(None, quote, letters_of(fact.text), autojunk=False).ratio(), fact.sure)
            for fact in facts.texts
            if letters_of(fact.text)
        ]
        joined = letters_of(" ".join(fact.text for fact in facts.texts))
        best, sure = max(alike, default=(0.0, 0.0))
        if quote and (best >= _READ or quote in joined):
            yield Sign("text read")
            if sure < _WEAK and best >= _READ:
                yield Sign("weak", f"text read at {sure:.2f}", times=(_WEAK - sure) / 0.15)
        elif quote:
            yield Sign("text unread", f"this was not read on the screen: {line[start:end].strip()}")


_NUMBERS = {"two": 2, "both": 2, "three": 3, "four": 4, "five": 5, "six": 6, "2": 2, "3": 3, "4": 4}
_COUPLES = frozenset({"couple", "pair", "twins"})
_PEOPLE = PEOPLE_NOUNS | frozenset({"someone", "somebody", "he", "she", "him", "her", "they", "who"})
_NEAR = 3
"""Words after a number among which the noun stands that it counts."""


def _people(line: str, facts: Facts) -> Iterator[Sign]:
    words = words_of(line)
    told = bool(people_named(line)) or any({word.lemma, word.text} & _PEOPLE for word in words)
    seen = {_at_once(fact) for fact in facts.people} | {0}
    # How many people the line counts: ``two young women`` → 2
    lemmas, counted = [word.lemma for word in words], []
    for at, lemma in enumerate(lemmas):
        near = lemmas[at + 1 : at + 1 + _NEAR]
        if lemma in _COUPLES:
            counted.append(2)
        elif lemma in _NUMBERS and any(word in PEOPLE_NOUNS for word in near):
            counted.append(_NUMBERS[lemma])
    number = max(counted, default=None)
    if told and not max(seen):
        yield Sign("nobody", "the detectors saw nobody")
    elif number in seen:
        yield Sign("number")
    elif number is not None:
        yield Sign("other number", f"{number} people are told, {max(seen)} measured")
    elif told:
        yield Sign("people")


def _at_once(fact: PeopleFact) -> int:
    return max(fact.count, fact.among + 1 if fact.among else 0)


_CALLED: Mapping[str, str] = {
    "mug": "cup", "phone": "cell phone", "plane": "airplane", "jet": "airplane", "ship": "boat",
    "bike": "bicycle", "motorbike": "motorcycle", "taxi": "car", "lorry": "truck", "kitten": "cat",
    "puppy": "dog", "hound": "dog", "pony": "horse", "lamb": "sheep", "calf": "cow", "cub": "bear",
}  # fmt: skip
"""Other words for things that detectors know."""
_THINGS = {**{kind: kind for kind in KINDS}, **_CALLED}


def things_told(line: str) -> frozenset[str]:
    """The things in a line that detectors know, by their names for them."""
    lemmas = [word.lemma for word in words_of(line) if not word.verb]
    pairs = [f"{one} {other}" for one, other in pairwise(lemmas)]
    return frozenset(_THINGS[word] for word in (*lemmas, *pairs) if word in _THINGS)


def _things(line: str, facts: Facts) -> Iterator[Sign]:
    seen = {fact.name for fact in facts.things}
    for thing in sorted(things_told(line)):
        if thing in seen:
            yield Sign("thing seen")
        else:
            instead = f", but {' and '.join(sorted(seen))}" if seen else ""
            yield Sign("thing unseen", f"no {thing} was seen by the detectors{instead}")


_ACTS: Mapping[str, Callable[[PeopleFact], bool]] = {
    "enter": lambda fact: fact.enters,
    "leave": lambda fact: fact.leaves,
    "walk": lambda fact: fact.walks or (fact.deed or "").startswith("walks"),
    "stand": lambda fact: fact.posture == "stands" or fact.deed == "stands up",
    "sit": lambda fact: fact.posture == "sits" or fact.deed == "sits down",
    "lie": lambda fact: fact.posture == "lies",
    "crouch": lambda fact: fact.deed == "crouches",
    "bend": lambda fact: fact.deed == "bends forward",
    "raise": lambda fact: (fact.deed or "").startswith("raises"),
    "spread": lambda fact: fact.deed == "spreads the arms",
    "turn": lambda fact: fact.turns is not None,
}
"""What people do that is measured, by its verb."""


_WAYS = ("left", "right")
_MOVING = re.compile(r"\b(?:to|towards?|off|out)\s+(?:to\s+)?(?:the\s+)?(left|right)\b", re.IGNORECASE)


def _moves(line: str, facts: Facts) -> Iterator[Sign]:
    """What people do, and which way something goes."""
    for verb in sorted(verbs_of(line) & _ACTS.keys()):
        if any(_ACTS[verb](fact) for fact in facts.people):
            yield Sign("act")
        elif facts.people:
            yield Sign("act unseen", f"of the people seen nobody was measured to {verb}")
    measured = {
        str(way)
        for fact in facts.people
        for way in (fact.movement, fact.looks, fact.turns, (fact.deed or "").rpartition(" ")[2])
        if way in _WAYS
    } | {str(fact.movement) for fact in facts.figures if fact.movement in _WAYS}
    for way in sorted({match[1].lower() for match in _MOVING.finditer(line)}):
        if way in measured:
            yield Sign("way")
        elif measured:
            yield Sign("other way", f"to the {way} is told, to the {' and '.join(sorted(measured))} measured")


def _by_names(line: str, stage1: Record, presence: Presence) -> Iterator[Sign]:
    """Whom the line names: recognised on the frames, in the cast but not seen, or of nobody that is known."""
    bare = without_quotations(line)
    by_id = {character.id: character for character in presence.cast}
    seen = {character.id for character in presence.seen}
    mentions = [mention for mention in cast_mentions(bare, presence.cast) if not mention.hidden]
    for who in dict.fromkeys(mention.id for mention in mentions):
        if who in seen:
            yield Sign("name seen")
        else:
            yield Sign("name unseen", f"{by_id[who].called or who} was not recognised on the frames")
    given = {key for row in stage1.get("heard", ()) for key in keys_of(str(row["name"]))}
    spans = [(m.start, m.end) for m in mentions]
    for start, end in people_named(bare):
        free = all(end <= first or last <= start for first, last in spans)
        if free and not set(keys_of(bare[start:end])) & given:
            yield Sign("name of nobody", f"nobody is known to be called {bare[start:end]}")
