"""Where in a line somebody stands (who acts, to whom it is done, whose it is), and who is she and who is he.

Places are read from the order of words and from commas, without a parser: AD is short, active and in the
present. Genders come from titles, given names, and what the film's lines say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shotad.script import (
    AFTER_OBJECT,
    CLAUSE_WORDS,
    NAME_PREPOSITIONS,
    REFLEXIVES,
    SUBJECT_PRONOUNS,
    Member,
    Mention,
    NameToken,
    acts,
    listed_as,
)

Role = Literal["subject", "object", "oblique", "owner"]


@dataclass(frozen=True, slots=True)
class MentionPlace:
    """Of one mention: its role, its clause in the line (from 0), and the word with which that begins.
    ``fronted``: it stands in a part without a subject before the comma (``Wiping his brow, Tony …``).
    ``joined``: it goes on a row (``Tony and Mark``) that began with the mention before."""

    role: Role
    clause: int
    start: int
    fronted: bool = False
    joined: bool = False


def places(line: Sequence[NameToken], found: Sequence[Mention]) -> tuple[MentionPlace, ...]:
    """The place of each mention of a line."""
    starts = _clauses(line, found)
    result: list[MentionPlace] = []
    for at, mention in enumerate(found):
        clause = sum(start <= mention.start for start in starts) - 1
        before = found[at - 1] if at else None
        joined = before is not None and _joined(line, before, mention, found[at + 1 : at + 2])
        if joined:
            result.append(replace(result[-1], joined=True))
        else:
            result.append(MentionPlace(_role(line, mention, starts[clause], before), clause, starts[clause]))
    subjects = {place.clause for place in result if place.role == "subject"}
    return tuple(replace(place, fronted=_fronted(line, starts, place, subjects)) for place in result)


def _clauses(line: Sequence[NameToken], found: Sequence[Mention]) -> list[int]:
    """Places of the words that begin a clause."""
    starts = {0}
    begins = {mention.start for mention in found}
    ends = {mention.end for mention in found}
    for at, token in enumerate(line):
        if (
            token.opens
            or re.search(r"[,;:—–()]| - ", token.gap)
            or (token.key in CLAUSE_WORDS and not (at in ends and at + 1 in begins))
        ):
            starts.add(at)
    return sorted(starts)


def _joined(line: Sequence[NameToken], before: Mention, mention: Mention, after: Sequence[Mention]) -> bool:
    """Whether two stand in one row: ``Tony, Mark and Margot``; a comma makes one only if ``and`` follows."""
    if "pronoun" in (mention.kind, before.kind) or before.possessive:
        return False
    between = line[before.end : mention.start]
    if between:
        return len(between) == 1 and between[0].key in ("and", "or")
    return line[mention.start].gap.strip() == "," and any(_joined(line, mention, one, ()) for one in after)


def _role(line: Sequence[NameToken], mention: Mention, start: int, before: Mention | None) -> Role:
    if mention.kind == "pronoun":
        return _of_pronoun(line, mention)
    if mention.possessive:
        return "owner"
    between = line[start : mention.start]
    if before is not None and start <= before.start < mention.start and before.possessive:
        between = line[start : before.start]
    elif before is not None and start <= before.start and before.end <= mention.start:
        return "oblique" if between and between[-1].key in NAME_PREPOSITIONS else "object"
    if any(word.key in NAME_PREPOSITIONS - {"as"} for word in between):
        return "oblique"
    moved = any(acts(line, at) for at in range(start, max(start, mention.start - 1)))
    return "object" if moved or any(word.key.endswith("ing") for word in between) else "subject"


def _of_pronoun(line: Sequence[NameToken], mention: Mention) -> Role:
    word = mention.key
    if word in SUBJECT_PRONOUNS:
        return "subject"
    if word in ("his", "their", "theirs", "hers"):
        return "owner"
    if word != "her":
        return "object"
    after = line[mention.end] if mention.end < len(line) else None
    if after is None or after.gap != " " or after.opens or after.key in AFTER_OBJECT:
        return "object"
    # A word that tells how, and is not what is hers: ``looks at her warily``.
    how = after.key.endswith("ly") and after.key not in ("belly", "family", "jelly", "only")
    return "object" if how else "owner"


def _fronted(
    line: Sequence[NameToken], starts: Sequence[int], place: MentionPlace, subjects: set[int]
) -> bool:
    if place.clause in subjects or place.role == "subject":
        return False
    start = starts[place.clause]
    return line[start].opens and place.clause + 1 < len(starts) and "," in line[starts[place.clause + 1]].gap


Who = tuple[str, int | str]
"""Somebody: ``("cast", 3)``, ``("name", "mike")``, ``("noun", "man")``, ``("someone", 7)``."""
_CLEAR = 3
"""How many times as many lines as speak against it must speak for a pronoun."""
_LEAD_TIMES, _LEAD_SHARE = 5, 0.6
"""How often the lead is named, and of all names of that gender which share."""
_AGAINST_LIST = 4
"""How many lines must say so where the list of given names says otherwise."""


def learned(
    cast: Sequence[Member], lines: Sequence[tuple[Sequence[Mention], Sequence[MentionPlace]]]
) -> dict[Who, str]:
    """``he`` or ``she`` for everybody with a name of whom it is known.

    Titles and roles decide; a given name does where the lines do not say otherwise again and again; of the
    others the lines speak in which somebody acts and has something: ``Four rubs his eyes``.
    """
    said: dict[Who, Counter[str]] = {}
    for found, where in lines:
        for who, pronoun in _own(found, where):
            said.setdefault(who, Counter())[pronoun] += 1
    titled: dict[Who, str] = {("cast", place): one.pronoun for place, one in enumerate(cast) if one.pronoun}
    listed: dict[Who, str] = {
        ("cast", place): one.pronoun or next(filter(None, map(listed_as, one.given)), "")
        for place, one in enumerate(cast)
    }
    several = {shared(mention) for found, _ in lines for mention in found if len(mention.members) > 1}
    for who in [*said, *several]:
        listed.setdefault(who, listed_as(str(who[1])))
    known = {who: _decided(said.get(who, Counter()), before) for who, before in listed.items()}
    return {who: pronoun for who, pronoun in {**known, **titled}.items() if pronoun}


def _own(found: Sequence[Mention], where: Sequence[MentionPlace]) -> Iterator[tuple[Who, str]]:
    """Whose the first ``his``, ``her``, ``himself`` or ``herself`` is in a line that names one who acts."""
    people = [mention for mention in found if mention.kind != "pronoun"]
    who = who_of(people[0]) or shared(people[0]) if len(people) == 1 else None
    if who is None or who[0] == "noun":
        return
    at = list(found).index(people[0])
    then = found[at + 1] if at + 1 < len(found) else None
    if where[at].role != "subject" or then is None or where[at + 1].clause != where[at].clause:
        return
    if then.key in REFLEXIVES or where[at + 1].role == "owner":
        yield who, then.pronoun


def _decided(said: Mapping[str, int], before: str) -> str:
    he, she = said.get("he", 0), said.get("she", 0)
    clear = "he" if he > _CLEAR * she else "she" if she > _CLEAR * he else ""
    if not before:
        return clear
    return clear if clear and max(he, she) >= _AGAINST_LIST else before


def who_of(mention: Mention) -> Who | None:
    """Whom a name or a noun means, where it is one's alone."""
    if mention.kind == "cast":
        return ("cast", mention.members[0]) if len(mention.members) == 1 else None
    return (mention.kind, mention.key)


def shared(mention: Mention) -> Who:
    """A name that several of the cast have, as if it were somebody."""
    return ("shared", mention.key)


def leads(
    cast: Sequence[Member], lines: Sequence[Sequence[Mention]], pronouns: Mapping[Who, str]
) -> dict[str, Who]:
    """The one of the cast whom a film's lines name far more often than all others who are ``he``, or ``she``;
    people of whom neither is known count against both, and one without a name of their own leads nobody."""
    named = (mention for found in lines for mention in found if mention.kind in ("cast", "name"))
    times = Counter(who for mention in named if (who := who_of(mention)) is not None)
    found: dict[str, Who] = {}
    for pronoun in ("he", "she"):
        some = {who: n for who, n in times.items() if pronouns.get(who, pronoun) == pronoun}
        first = max(some, key=lambda who: some[who], default=None)
        if first is None or first[0] != "cast" or pronouns.get(first) != pronoun:
            continue
        if all(form.role for form in cast[int(first[1])].forms):
            continue
        if some[first] >= max(_LEAD_TIMES, _LEAD_SHARE * sum(some.values())):
            found[pronoun] = first
    return found


def suits(pronoun: str, known: str) -> bool:
    """Whether a pronoun may mean somebody of whom this is known; nothing is known of many."""
    return not known or known == pronoun
