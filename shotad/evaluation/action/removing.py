"""Characters out of an AD: names, roles and jobs become pronouns, by rules over a parse.

The method has a large model do this (Shot-by-Shot, section 4.2); objects, places and animals stay, and so do
nouns that tell nobody apart (``the man``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shotad.evaluation.critic.givennames import HER_NAMES, HIS_NAMES
from shotad.evaluation.critic.words import (
    ANY_NOUNS,
    GENERIC_NOUNS,
    HE,
    HER_NOUNS,
    HIS_NOUNS,
    PERSON_NOUNS,
    PLURAL_NOUNS,
    SHE,
    THEY,
)
from shotad.language.parsing import Parse, Token
from shotad.script.namewords import HER_TITLES, HIS_TITLES, NAME_TITLES

UNKNOWN = "the person"
"""Somebody of whom the text tells neither he nor she."""
_PRONOUNS = {
    "he": ("he", "him", "his"),
    "she": ("she", "her", "her"),
    "they": ("they", "them", "their"),
    "": (UNKNOWN, UNKNOWN, f"{UNKNOWN}'s"),
}
"""As a subject, as an object, of whom something is."""
_PLACED = frozenset("in into within throughout across along".split())  # noqa: SIM905
"""What names after these prepositions are is more often a place."""
_SUBJECTS = ("nsubj", "nsubjpass")
_PHRASE = frozenset("det amod compound nummod poss case appos flat predet quantmod advmod nmod punct".split())  # noqa: SIM905
_TAGS = ("NNP", "NNPS")


@dataclass(frozen=True, slots=True)
class Person:
    """A noun phrase that means somebody: ``places`` of its words, whom a pronoun for it says (``he``,
    ``she``, ``they``, or nothing where it is not known), and the pronoun's case."""

    places: tuple[int, ...]
    who: str
    case: int


def without_characters(parse: Parse) -> str:
    """The text with a pronoun for each character."""
    instead: dict[int, str] = {}
    for person in _people(parse):
        word = _PRONOUNS[person.who][person.case]
        instead |= dict.fromkeys(person.places, "")
        instead[person.places[0]] = word
    return _written(parse, instead)


def gender_of(parse: Parse, head: int) -> str:
    """``he``, ``she`` or ``they`` for a noun with its names and determiners; empty where nothing tells."""
    token = parse.tokens[head]
    if any(parse.tokens[child].dep == "conj" for child in parse.children[head]):
        return "they"
    words = [token, *(parse.tokens[child] for child in parse.children[head] if _names(parse.tokens[child]))]
    for word in (*words[1:], words[0]):
        text = word.text.lower().strip(".")
        if text in HIS_TITLES or text in HIS_NOUNS or text in HIS_NAMES:
            return "he"
        if text in HER_TITLES or text in HER_NOUNS or text in HER_NAMES:
            return "she"
    return "they" if token.text.lower() in PLURAL_NOUNS or token.tag in ("NNPS", "NNS") else ""


def _people(parse: Parse) -> Iterator[Person]:
    taken: set[int] = set()
    for head, token in enumerate(parse.tokens):
        if head not in taken and _is_character(parse, head, token):
            places = _phrase(parse, head)
            taken.update(places)
            yield Person(
                places, gender_of(parse, head) or _told_elsewhere(parse, head), _case(parse, head, places)
            )


def _is_character(parse: Parse, head: int, token: Token) -> bool:
    """A name in a place where people stand, or a role."""
    word = token.text.lower()
    if token.dep == "compound" or (token.dep == "poss" and not _has_case(parse, head)):
        return False
    if token.tag in _TAGS and token.text[:1].isupper() and any(map(str.isalpha, token.text)):
        known = word in HIS_NAMES or word in HER_NAMES or bool(gender_of(parse, head))
        return known or not (_has_article(parse, head) or _is_placed(parse, token))
    singular = word if word in PERSON_NOUNS else token.lemma.lower()
    return token.pos == "NOUN" and singular in ANY_NOUNS and singular not in GENERIC_NOUNS


def _has_article(parse: Parse, head: int) -> bool:
    return any(parse.tokens[child].dep == "det" for child in parse.children[head])


def _is_placed(parse: Parse, token: Token) -> bool:
    return token.dep == "pobj" and parse.tokens[token.head].text.lower() in _PLACED


def _has_case(parse: Parse, head: int) -> bool:
    return any(parse.tokens[child].dep == "case" for child in parse.children[head])


def _names(token: Token) -> bool:
    return token.dep in ("compound", "appos", "nmod", "flat") or token.text.lower().strip(".") in NAME_TITLES


def _phrase(parse: Parse, head: int) -> tuple[int, ...]:
    """The noun with what stands before it and belongs to it, and with others that are coordinated with it."""
    found = {head}
    for child in parse.children[head]:
        dep = parse.tokens[child].dep
        if dep in ("cc", "conj") or (dep in _PHRASE and not (dep == "punct" and child > head)):
            found.update(parse.subtree(child))
    run = [head]
    while run[-1] + 1 in found:
        run.append(run[-1] + 1)
    while run[0] - 1 in found:
        run.insert(0, run[0] - 1)
    return tuple(run)


def _case(parse: Parse, head: int, places: tuple[int, ...]) -> int:
    token = parse.tokens[head]
    if token.dep == "poss" or parse.tokens[places[-1]].tag == "POS":
        return 2
    return 0 if token.dep in _SUBJECTS or (token.dep == "ROOT" and head != 0) else 1


def _told_elsewhere(parse: Parse, head: int) -> str:
    """The gender by pronouns of the text, where all that could be said of this person agree."""
    words = [token.text.lower() for token in parse.tokens]
    told = {name for name, forms in (("he", HE), ("she", SHE), ("they", THEY)) if forms & set(words)}
    told.discard("they")
    own = parse.tokens[head]
    if own.dep not in (*_SUBJECTS, "poss"):
        return ""
    objects = {
        "he" if token.text.lower() == "him" else "she"
        for token in parse.tokens
        if token.text.lower() in ("him", "her") and token.dep not in ("poss",)
    }
    left = told - objects
    return left.pop() if len(left) == 1 else ""


def _written(parse: Parse, instead: dict[int, str]) -> str:
    """The text with other words in some places; an empty one takes its blank along."""
    words: list[str] = []
    for place, token in enumerate(parse.tokens):
        word = instead.get(place, token.text)
        if word and token.begins:
            word = word[:1].upper() + word[1:]
        words.append(word + " " * token.space if word else "")
        if (
            place in instead
            and not word
            and token.space
            and words[-2:-1]
            and not "".join(words).endswith(" ")
        ):
            words.append(" ")
    return "".join(words).strip()
