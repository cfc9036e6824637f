"""L6: a pronoun of which nobody knows whom it means. Pure logic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shotad.core import STARTERS, Interval
from shotad.script.english.nouns import NO_ARTICLE
from shotad.script.english.persons import people_named
from shotad.script.english.smallwords import FUNCTION_WORDS, listed
from shotad.script.english.verbs import THIRD
from shotad.script.lint.lines import TrackLine
from shotad.script.names.givennames import listed_as
from shotad.script.names.members import Member
from shotad.script.names.mentions import Mention, book_of, mentions
from shotad.script.names.tokens import NameToken, tokens_of
from shotad.script.rules import Finding, Level

_EVERYBODY: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True)
class Reach:
    """How far back somebody may have been named: ``lines``, and ``seconds`` before the pronoun."""

    lines: int = 3
    seconds: float = 90.0


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
        more = _others(line.text, words)
        recent = told[-reach.lines :] if reach.lines else []
        known = frozenset[str]().union(
            *(who for time, who in recent if line.heard.start - time.end <= reach.seconds)
        )
        found.append(tuple(_unclear(line.text, words, there, known | more)))
        told.append((line.heard, _who(there, words) | more))
    return tuple(found)


def _unclear(
    text: str, words: Sequence[NameToken], there: Sequence[Mention], known: frozenset[str]
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


def _who(there: Sequence[Mention], words: Sequence[NameToken]) -> frozenset[str]:
    """The pronouns by which those mentioned may be spoken of: ``he``, ``she``, ``they``."""
    may: set[str] = set()
    for mention in there:
        if mention.kind == "pronoun" and mention.pronoun == "they":
            may |= _ANY
        elif mention.pronoun:
            may |= {mention.pronoun, "they"} if mention.kind != "pronoun" else {mention.pronoun}
        else:
            may |= _ANY
    if any(_is_plural(token) for token in words):
        may.add("they")
    return frozenset(may)


def _others(text: str, words: Sequence[NameToken]) -> frozenset[str]:
    """As `_who`, of animals, and of names that no list has: ``Dev holds up his hands``."""
    if any(token.key in _ANIMALS for token in words):
        return _ANY
    spans = people_named(text)
    keys = [token.key for token in words if any(start <= token.at < end for start, end in spans)]
    keys += [one.key for at, one in enumerate(words[:-1]) if _is_named(words, at)]
    return frozenset[str]().union(*(_AS[listed_as(key)] for key in keys))


def _is_named(words: Sequence[NameToken], at: int) -> bool:
    """Whether a word that may have its capital letter from the sentence it begins acts as people do."""
    one = words[at]
    acts = one.possessive or (words[at + 1].key in THIRD and not words[at + 1].gap.strip())
    return one.text[0].isupper() and acts and one.key not in _NO_NAMES


def _is_plural(token: NameToken) -> bool:
    """Whether a word may name several things: ``cards``, ``two``. Verbs in -s are let pass for them."""
    return token.key in _NUMBERS or bool(_PLURAL.search(token.key))


_ANY = frozenset(("he", "she", "they"))
_AS = {"he": frozenset(("he", "they")), "she": frozenset(("she", "they")), "": _ANY}
_PLURAL = re.compile(r"\w\w[^sui\W]s$")
_NO_NAMES = FUNCTION_WORDS | STARTERS | NO_ARTICLE | {"it", "text"}
_ANIMALS = listed(
    """
    animal beast creature thing pet cat kitten dog puppy hound horse pony stallion mare bull cow calf ox goat
    sheep lamb ram pig boar piglet donkey mule camel elephant giraffe lion lioness tiger leopard panther bear
    cub wolf fox rabbit bunny hare squirrel chinchilla mouse rat hamster monkey ape gorilla chimp chimpanzee
    deer stag fish shark whale dolphin seal octopus frog toad snake lizard crocodile turtle tortoise dragon
    dinosaur raptor bird owl eagle hawk crow raven parrot penguin duck duckling goose swan hen chicken rooster
    spider bee fly butterfly ant bug doll puppet toy
    """
)
_NUMBERS = frozenset(("two", "three", "four", "five", "six", "seven", "both", "several", "all", "others"))
