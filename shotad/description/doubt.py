"""How doubtful a line is, from 0 to 1, and why: its words are compared with what was measured and answered.

Each sign for or against a line changes the odds that something in it is wrong. By how much was measured on
lines into which errors were put (benchmarks/doubt.py, the tuning half); signs of models that cannot be had
there are set by judgement. Signs depend on each other: the number puts lines in order, it is no frequency.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from shotad.core.cast import EMPTY_PRESENCE, Presence
from shotad.core.config.languages import is_english
from shotad.core.engine import Facts
from shotad.description.english_words import content_of, letters_of, without_quotations, words_of
from shotad.description.stage_answers import Stage1Answer, Stage2Answer, Statement
from shotad.script import Doubt, count_words
from shotad.script.cast_members import name_keys
from shotad.script.cue import short_hash
from shotad.script.names import cast_mentions, people_named
from shotad.script.reasons import in_english
from shotad.script.rules import quotations
from shotad.script.track_texts import texts_in

_WEIGHTS: Mapping[str, float] = {
    # Of a line of which nothing else is known.
    "narrated": -2.2,
    "from a description": -2.3,
    "from nothing": -0.3,
    # Fitted to the tuning half of benchmarks/doubt.py (logistic regression, rounded).
    "name of nobody": 2.9,
    "not described": 2.9,
    "text unread": 2.7,
    "text read": -1.6,
    # Set by judgement.
    "name unseen": 2.5,
    "name seen": -1.0,
    "weak": 1.0,
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
"""Confidence of a measurement below which it is a reason for doubt."""
_LONG = 25
"""Words from which a line is long enough for more errors than others."""
_UNDESCRIBED = 0.3
"""Share of the words of a line that need not stand in Stage I's description."""
_DIFFERENT = 0.2
"""Share of the words of a line that other answers have too, below which they tell something else."""


@dataclass(frozen=True, slots=True)
class Sign:
    """Something for or against a line. ``reason`` is empty for what speaks for it."""

    kind: str
    reason: str = ""
    times: float = 1.0

    @property
    def weight(self) -> float:
        return self.times * _WEIGHTS[self.kind]


def estimate_doubt(line: str, signs: Sequence[Sign]) -> Doubt:
    """The doubt about ``line`` that follows from its `doubt_signals`."""
    odds = sum(sign.weight for sign in signs)
    doubts = [sign for sign in signs if sign.reason]
    doubts.sort(key=lambda sign: -sign.weight)
    reasons = tuple(dict.fromkeys(sign.reason for sign in doubts))
    # From log odds to a probability
    return Doubt(round(1 / (1 + math.exp(-odds)), 2), reasons, short_hash(line))


def doubt_signals(
    line: str,
    stage1: Stage1Answer,
    stage2: Stage2Answer | None = None,
    *,
    statements: Sequence[Statement] = (),
    unseen: Sequence[str] = (),
    presence: Presence = EMPTY_PRESENCE,
    language: str = "en",
) -> list[Sign]:
    """What the line was made from, then what speaks for and against it, by the answers of both stages.

    ``statements`` are the narrator's of the line, empty where a model wrote it; ``unseen`` is what a second
    look did not find. Words are compared with what was measured in English only.
    """
    from_description = "from a description" if stage1.description.raw else "from nothing"
    signs = [Sign("narrated" if statements else from_description)]
    texts = texts_in(language)
    for statement in statements:
        if statement.sure < _WEAK:
            kind = "text" if statement.kind in ("title", "caption", "scene") else "people"
            reason = texts(f"doubt.{kind}_measured", confidence=texts.decimal(statement.sure, 2))
            signs.append(Sign("weak", reason, times=(_WEAK - statement.sure) / 0.15))
    if unseen:
        signs.append(Sign("unseen", texts("doubt.unseen", claims="; ".join(unseen))))
    signs += _by_answers(line, stage1, stage2, language)
    # The narrator's lines are made of what was measured, and agree with it whether that is right or wrong.
    if is_english(language) and not statements:
        if stage1.facts is not None:
            signs += _by_texts(line, stage1.facts)
        signs += _by_names(line, stage1, presence)
    return signs


def _by_answers(
    line: str, stage1: Stage1Answer, stage2: Stage2Answer | None, language: str
) -> Iterator[Sign]:
    """What the engines' own answers say: other candidates, Stage I's description."""
    texts = texts_in(language)
    if stage2 is not None and stage2.unlooked:
        yield Sign("unlooked", texts("doubt.unlooked"))
    # A name that Stage I made up counts where the line says it.
    keys_of_line = set(name_keys(line))
    names = [name for name in stage1.invented if keys_of_line & set(name_keys(name))]
    if names:
        yield Sign("invented", texts("reason.invented", names=", ".join(names)))
    candidates = stage2.candidates if stage2 is not None else ()
    # The narrator writes from measurements: candidates that differ, or words that Stage I lacks, say nothing.
    if any(candidate.statements for candidate in candidates):
        return
    line_lemmas = set(content_of(line))
    shared: list[float] = []
    for candidate in candidates:
        if candidate.text != line and line_lemmas:
            shared.append(len(line_lemmas & set(content_of(candidate.text))) / len(line_lemmas))
    if len(shared) > 1 and sum(shared) / len(shared) < _DIFFERENT:
        yield Sign("answers differ", texts("doubt.answers_differ"))
    described = set(content_of(stage1.description.raw))
    if line_lemmas and described and is_english(language):
        undescribed = line_lemmas - described
        share = len(undescribed) / len(line_lemmas)
        if share > _UNDESCRIBED:
            absent = list(dict.fromkeys(word.text for word in words_of(line) if word.lemma in undescribed))
            reason = texts("doubt.not_described", absent=", ".join(absent[:4]))
            yield Sign("not described", reason, times=(share - _UNDESCRIBED) / (1 - _UNDESCRIBED))
    if count_words(line) > _LONG:
        yield Sign("long", texts("doubt.long", words=texts.count("count.words", count_words(line))))


def _by_texts(line: str, facts: Facts) -> Iterator[Sign]:
    """What the line reads out, against what was read on the screen."""
    for start, end in quotations(line):
        quote = letters_of(line[start:end])
        alike = [
            (SequenceMatcher(None, quote, letters_of(fact.text), autojunk=False).ratio(), fact.sure)
            for fact in facts.texts
            if letters_of(fact.text)
        ]
        # A line may join texts that were read one by one.
        joined = letters_of(" ".join(fact.text for fact in facts.texts))
        best, sure = max(alike, default=(0.0, 0.0))
        if quote and (best >= _READ or quote in joined):
            yield Sign("text read")
            if sure < _WEAK and best >= _READ:
                yield Sign(
                    "weak",
                    in_english("doubt.text_read", confidence=f"{sure:.2f}"),
                    times=(_WEAK - sure) / 0.15,
                )
        elif quote:
            yield Sign("text unread", in_english("doubt.text_unread", text=line[start:end].strip()))


def _by_names(line: str, stage1: Stage1Answer, presence: Presence) -> Iterator[Sign]:
    """The people whom the line names: recognised on the frames, in the cast but not seen, or unknown."""
    # Names within a text that is read out were not said of anybody in the picture.
    bare = without_quotations(line)
    by_id = {character.id: character for character in presence.cast}
    seen_ids = {character.id for character in presence.seen}
    mentions = [mention for mention in cast_mentions(bare, presence.cast) if not mention.hidden]
    for member_id in dict.fromkeys(mention.id for mention in mentions):
        if member_id in seen_ids:
            yield Sign("name seen")
        else:
            called = by_id[member_id].called or member_id
            yield Sign("name unseen", in_english("doubt.name_unseen", name=called))
    keys_in_dialogue: set[str] = set()
    for nearby in stage1.nearby_names:
        keys_in_dialogue.update(name_keys(nearby.name))
    for start, end in people_named(bare):
        is_of_cast = any(start < mention.end and mention.start < end for mention in mentions)
        if not is_of_cast and not set(name_keys(bare[start:end])) & keys_in_dialogue:
            yield Sign("name of nobody", in_english("doubt.nobody", name=bare[start:end]))
