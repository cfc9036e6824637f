"""L6: a pronoun of which nobody knows whom it means. Pure logic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shotad.evaluation.names.members import Member
from shotad.evaluation.names.mentions import Mention, book_of, mentions
from shotad.evaluation.names.tokens import Token, tokens_of
from shotad.lint.lines import TrackLine
from shotad.script.rules import Finding, Level
from shotad.types import Interval

_EVERYBODY: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True)
class Reach:
    """How far back somebody may have been named: ``lines``, and ``seconds`` before the pronoun."""

    lines: int = 3
    seconds: float = 60.0


def check_pronouns(lines: Sequence[TrackLine], reach: Reach = Reach()) -> tuple[tuple[Finding, ...], ...]:
    """What is wrong with the pronouns of each of ``lines``, which follow each other in time.

    ``he`` and ``she`` need somebody who may be meant, ``they`` several people or things: in the same line,
    before or after (``As he runs, Tom …``), or in the last ones. A pronoun that is understood, or was
    complained of, carries on whom it means, so of a run of lines only the first is found. ``it`` is not
    looked at: it means too many things that are no people.
    """
    tokens = [tokens_of(line.text) for line in lines]
    book = book_of(_EVERYBODY, tokens)
    told: list[tuple[Interval, frozenset[str]]] = []
    found: list[tuple[Finding, ...]] = []
    for line, words in zip(lines, tokens, strict=True):
        there = mentions(words, _EVERYBODY, book)
        recent = told[-reach.lines :] if reach.lines else []
        known = frozenset[str]().union(
            *(who for time, who in recent if line.heard.start - time.end <= reach.seconds)
        )
        found.append(tuple(_unclear(line.text, words, there, known)))
        told.append((line.heard, _who(there, words)))
    return tuple(found)


def _unclear(
    text: str, words: Sequence[Token], there: Sequence[Mention], known: frozenset[str]
) -> Iterator[Finding]:
    """The first use of each pronoun that has nobody."""
    named = known | _who([mention for mention in there if mention.kind != "pronoun"], words)
    seen: set[str] = set()
    for mention in there:
        pronoun = mention.pronoun
        if mention.kind != "pronoun" or pronoun in seen:
            continue
        seen.add(pronoun)
        if pronoun not in named:
            start, end = words[mention.start].at, words[mention.end - 1].end
            what = f"nobody in the last lines whom {text[start:end]!r} could mean"
            yield Finding("L6", Level.WARNING, what, span=(start, end))


def _who(there: Sequence[Mention], words: Sequence[Token]) -> frozenset[str]:
    """The pronouns by which those mentioned may be spoken of: ``he``, ``she``, ``they``."""
    may: set[str] = set()
    for mention in there:
        if mention.kind == "group":
            may |= {"they"}
        elif mention.pronoun:
            may |= {mention.pronoun, "they"} if mention.kind != "pronoun" else {mention.pronoun}
        else:
            may |= {"he", "she", "they"}
    if any(_is_plural(token) for token in words):
        may.add("they")
    return frozenset(may)


def _is_plural(token: Token) -> bool:
    """Whether a word may name several things: ``cards``, ``two``. Verbs in -s are let pass for them."""
    return token.key in _NUMBERS or (token.key.endswith("s") and len(token.key) > 3)


_NUMBERS = frozenset(("two", "three", "four", "five", "six", "seven", "both", "several", "all", "others"))
