"""Characters out of an AD: names, roles and jobs become pronouns, by rules over a parse.

The method has a large model do this (Shot-by-Shot, section 4.2); objects, places and animals stay, and so do
nouns that tell nobody apart (``the man``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shotad.core import HER_TITLES, HIS_TITLES, NAME_TITLES
from shotad.script import (
    ANY_NOUNS,
    BASES,
    GENERIC_NOUNS,
    HE,
    HER_NAMES,
    HER_NOUNS,
    HIS_NAMES,
    HIS_NOUNS,
    PERSON_NOUNS,
    PLURAL_NOUNS,
    SHE,
    THEY,
    Parse,
    Token,
    third,
)

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
_PHRASE = frozenset("det amod compound nummod poss flat predet quantmod nmod".split())  # noqa: SIM905
_TAGS = ("NNP", "NNPS")
_THIRDS = frozenset(third(base) for base in BASES)


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
    spaces: dict[int, bool] = {}
    for person in _people(parse):
        first, last = person.places[0], person.places[-1]
        instead |= dict.fromkeys(person.places, "")
        instead[first] = _PRONOUNS[person.who][person.case]
        spaces[first] = parse.tokens[last].space
    return _written(parse, instead, spaces)


def gender_of(parse: Parse, head: int) -> str:
    """``he``, ``she`` or ``they`` for a noun with its names and determiners; empty where nothing tells."""
    token = parse.tokens[head]
    words = [token, *(parse.tokens[child] for child in parse.children[head] if _names(parse.tokens[child]))]
    for word in (*words[1:], words[0]):
        text = word.text.lower().strip(".")
        if text in HIS_TITLES or text in HIS_NOUNS or text in HIS_NAMES:
            return "he"
        if text in HER_TITLES or text in HER_NOUNS or text in HER_NAMES:
            return "she"
    return "they" if token.text.lower() in PLURAL_NOUNS or token.tag == "NNS" else ""


def _people(parse: Parse) -> Iterator[Person]:
    taken: set[int] = set()
    for head in range(len(parse.tokens)):
        if head not in taken and _is_character(parse, head):
            others = _with(parse, head)
            places = _phrase(parse, head, others)
            taken.update(places)
            who = "they" if others else gender_of(parse, head) or _told_elsewhere(parse, head)
            yield Person(places, who, _case(parse, head, places))


def _is_character(parse: Parse, head: int) -> bool:
    """A name in a place where people stand, or a role."""
    token = parse.tokens[head]
    if _is_name(parse, head, token):
        return True
    word = token.text.lower()
    role = word if word in PERSON_NOUNS else token.lemma.lower()
    return token.pos == "NOUN" and _stands_alone(parse, head) and role in ANY_NOUNS - GENERIC_NOUNS


def _is_name(parse: Parse, head: int, token: Token) -> bool:
    """A word with a capital letter that means somebody; also where the parser took the verb for a noun."""
    word = token.text.lower()
    if not token.text[:1].isupper() or word in ("i", "ok"):
        return False
    if _before_unseen_verb(parse, head):
        return not token.begins or token.tag in _TAGS or word in HIS_NAMES | HER_NAMES or token.pos != "NOUN"
    return _stands_alone(parse, head) and _names_somebody(parse, head, token)


def _names_somebody(parse: Parse, head: int, token: Token) -> bool:
    """A given name, or a title with a name; others where neither an article nor a place speaks against."""
    article = _has_article(parse, head)
    if token.text.lower() in HIS_NAMES | HER_NAMES and not article:
        return token.tag in _TAGS or token.pos in ("NOUN", "ADJ", "ADV")
    return token.tag in _TAGS and (_titled(parse, head) or not (article or _is_placed(parse, token)))


def _before_unseen_verb(parse: Parse, place: int) -> bool:
    """Whether this is all of a sentence before a verb that the parser took for a noun: ``Jack frowns``."""
    token = parse.tokens[place]
    following = parse.tokens[place + 1] if place + 1 < len(parse.tokens) else None
    return (
        following is not None
        and token.head == place + 1
        and token.dep in ("compound", "amod", "nmod")
        and following.head == place + 1
        and following.text.lower() in _THIRDS
        and not any(parse.tokens[c].dep in ("det", "poss") for c in parse.children[place + 1])
    )


def _stands_alone(parse: Parse, head: int) -> bool:
    """Whether a noun is none that only says what kind of thing another is."""
    token = parse.tokens[head]
    return token.dep not in ("compound", "amod", "nmod") and (token.dep != "poss" or _has_case(parse, head))


def _titled(parse: Parse, head: int) -> bool:
    words = (parse.tokens[child].text.lower().strip(".") for child in parse.children[head] if child < head)
    return any(word in NAME_TITLES for word in words)


def _with(parse: Parse, head: int) -> tuple[int, ...]:
    """Other people who are coordinated with this one; none where one of them is a thing."""
    found: list[int] = []
    waiting = [head]
    while waiting:
        here = waiting.pop()
        others = [child for child in parse.children[here] if parse.tokens[child].dep == "conj"]
        if not all(_is_somebody(parse, other) for other in others):
            return ()
        found += others
        waiting += others
    return tuple(found)


def _is_somebody(parse: Parse, place: int) -> bool:
    token = parse.tokens[place]
    return (
        _is_character(parse, place)
        or token.text.lower() in HE | SHE | THEY | PLURAL_NOUNS
        or (token.pos == "NOUN" and token.lemma.lower() in PERSON_NOUNS)
    )


def _has_article(parse: Parse, head: int) -> bool:
    return any(parse.tokens[child].dep == "det" for child in parse.children[head])


def _is_placed(parse: Parse, token: Token) -> bool:
    before = parse.tokens[token.head]
    after_no_verb = before.text.lower() == "at" and parse.tokens[before.head].pos != "VERB"
    return token.dep == "pobj" and (before.text.lower() in _PLACED or after_no_verb)


def _has_case(parse: Parse, head: int) -> bool:
    return any(parse.tokens[child].dep == "case" for child in parse.children[head])


def _names(token: Token) -> bool:
    return token.dep in ("compound", "nmod", "flat") or token.text.lower().strip(".") in NAME_TITLES


def _phrase(parse: Parse, head: int, others: tuple[int, ...]) -> tuple[int, ...]:
    """The noun with what stands before it and belongs to it, and with others that are coordinated with it."""
    found = {head}
    for noun in (head, *others):
        found.add(noun)
        for child in parse.children[noun]:
            dep = parse.tokens[child].dep
            if dep == "case" or (child < noun and dep in _PHRASE) or (others and dep in ("cc", "punct")):
                found.update(parse.subtree(child))
    last = max((head, *others))
    found = {place for place in found if place <= last or parse.tokens[place].dep == "case"}
    run = [head]
    while run[-1] + 1 in found:
        run.append(run[-1] + 1)
    while run[0] - 1 in found:
        run.insert(0, run[0] - 1)
    return tuple(run)


def _case(parse: Parse, head: int, places: tuple[int, ...]) -> int:
    if parse.tokens[places[-1]].tag == "POS":
        return 2
    while parse.tokens[head].dep == "conj":
        head = parse.tokens[head].head
    token = parse.tokens[head]
    subject = (
        token.dep in (*_SUBJECTS, "ROOT")
        or parse.tokens[places[0]].begins
        or _before_unseen_verb(parse, head)
    )
    return 2 if token.dep == "poss" else 0 if subject else 1


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


def _written(parse: Parse, instead: dict[int, str], spaces: dict[int, bool]) -> str:
    """The text with other words in some places, an empty one for a word that goes."""
    words: list[str] = []
    for place, token in enumerate(parse.tokens):
        word = instead.get(place, token.text)
        if word and token.begins:
            word = word[:1].upper() + word[1:]
        if word:
            words.append(word + " " * spaces.get(place, token.space))
    return "".join(words).strip()
