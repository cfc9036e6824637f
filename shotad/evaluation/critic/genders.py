"""Who is she and who is he, from titles, given names, and what the film's lines say. Pure logic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from shotad.evaluation.critic.clauses import Place
from shotad.evaluation.critic.givennames import HER_NAMES, HIS_NAMES
from shotad.evaluation.critic.members import Member
from shotad.evaluation.critic.mentions import Mention

Who = tuple[str, int | str]
"""Somebody: ``("cast", 3)``, ``("name", "mike")``, ``("noun", "man")``, ``("someone", 7)``."""
_LISTED = 4.0
"""How many sentences that say otherwise a given name withstands."""
_TELLS = {"subject": 1.0, "owner": 0.7, "object": 0.0, "oblique": 0.0}
"""How far a pronoun behind a name is that one's: ``him`` and ``her`` are mostly somebody else."""


def by_name(member: Member) -> float:
    """What is known of somebody before a line is read: above 0 ``he``, below ``she``."""
    if member.pronoun:
        return 100.0 if member.pronoun == "he" else -100.0
    return float(sum((name in HIS_NAMES) - (name in HER_NAMES) for name in member.given)) * _LISTED


def learned(
    lines: Sequence[tuple[Sequence[Mention], Sequence[Place]]], given: Mapping[Who, float]
) -> dict[Who, str]:
    """``he``, ``she`` or nothing for everybody with a name: ``given`` is what is known of each before.

    A line that names one person and nobody else speaks for the pronouns behind the name in it, and half as
    much for one that begins the next line.
    """
    votes: defaultdict[Who, float] = defaultdict(float, given)
    last: Who | None = None
    for found, where in lines:
        people = [mention for mention in found if mention.kind != "pronoun"]
        pronouns = [
            (mention, place)
            for mention, place in zip(found, where, strict=True)
            if mention.kind == "pronoun" and mention.pronoun != "they"
        ]
        if last is not None and not people and pronouns and pronouns[0][1].role == "subject":
            votes[last] += _vote(pronouns[0][0]) * 0.5
        last = None
        alone = _alone(people)
        if alone is None:
            continue
        if len({mention.pronoun for mention, _ in pronouns}) == 1:
            votes[alone] += max(
                (_vote(m) * _TELLS[p.role] for m, p in pronouns if m.start > people[0].start),
                key=abs,
                default=0.0,
            )
        last = alone if where[found.index(people[0])].role == "subject" else None
    return {who: _said(value) for who, value in votes.items()}


def known(cast: Sequence[Member], lines: Sequence[Sequence[Mention]]) -> dict[Who, float]:
    """What titles and given names say of everybody in these lines."""
    others = {mention.key for line in lines for mention in line if mention.kind == "name"}
    said: dict[Who, float] = {("cast", place): by_name(one) for place, one in enumerate(cast)}
    return said | {("name", name): before(name) for name in sorted(others)}


def before(name: str) -> float:
    """What a word says that is the name of somebody who is not in the cast."""
    return float((name in HIS_NAMES) - (name in HER_NAMES)) * _LISTED


def _alone(people: Sequence[Mention]) -> Who | None:
    """The one with a name, where all that a line names is that one."""
    everybody = {who_of(mention) for mention in people}
    one = who_of(people[0]) if len(everybody) == 1 else None
    return one if one is not None and one[0] in ("cast", "name") else None


def who_of(mention: Mention) -> Who | None:
    """Whom a name or a noun means, where it is one's alone."""
    if mention.kind == "cast":
        return ("cast", mention.members[0]) if len(mention.members) == 1 else None
    return (mention.kind, mention.key)


def _vote(mention: Mention) -> float:
    return 1.0 if mention.pronoun == "he" else -1.0


def _said(value: float) -> str:
    return "he" if value >= 1 else "she" if value <= -1 else ""


def suits(pronoun: str, known: str) -> bool:
    """Whether a pronoun may mean somebody of whom this is known; nothing is known of many."""
    return not known or known == pronoun
