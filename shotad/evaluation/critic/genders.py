"""Who is she and who is he, from titles, given names, and what the film's lines say. Pure logic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from shotad.evaluation.critic.clauses import Place
from shotad.script import REFLEXIVES, Member, Mention, listed_as

Who = tuple[str, int | str]
"""Somebody: ``("cast", 3)``, ``("name", "mike")``, ``("noun", "man")``, ``("someone", 7)``."""
_CLEAR = 3
"""How many times as many lines as speak against it must speak for a pronoun."""
_LEAD_TIMES, _LEAD_SHARE = 5, 0.6
"""How often the lead is named, and of all names of that gender which share."""
_AGAINST_LIST = 4
"""How many lines must say so where the list of given names says otherwise."""


def by_name(member: Member) -> str:
    """``he``, ``she`` or nothing, as titles, roles and given names say of somebody."""
    return member.pronoun or next((said for name in member.given if (said := listed_as(name))), "")


def learned(
    cast: Sequence[Member], lines: Sequence[tuple[Sequence[Mention], Sequence[Place]]]
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
    listed: dict[Who, str] = {("cast", place): by_name(one) for place, one in enumerate(cast)}
    several = {shared(mention) for found, _ in lines for mention in found if len(mention.members) > 1}
    for who in [*said, *several]:
        listed.setdefault(who, listed_as(str(who[1])))
    known = {who: _decided(said.get(who, Counter()), before) for who, before in listed.items()}
    return {who: pronoun for who, pronoun in {**known, **titled}.items() if pronoun}


def _own(found: Sequence[Mention], where: Sequence[Place]) -> Iterator[tuple[Who, str]]:
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
    times = Counter(who for found in lines for mention in found if (who := _by_name(mention)) is not None)
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


def _by_name(mention: Mention) -> Who | None:
    return who_of(mention) if mention.kind in ("cast", "name") else None


def suits(pronoun: str, known: str) -> bool:
    """Whether a pronoun may mean somebody of whom this is known; nothing is known of many."""
    return not known or known == pronoun
