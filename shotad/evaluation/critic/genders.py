"""Who is she and who is he, from titles, given names, and what the film's lines say. Pure logic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

from shotad.evaluation.critic.clauses import Place
from shotad.evaluation.critic.givennames import HER_NAMES, HIS_NAMES
from shotad.evaluation.critic.members import Member
from shotad.evaluation.critic.mentions import Mention

_LISTED = 2.5
"""How many sentences that say otherwise a given name withstands."""


def by_name(member: Member) -> float:
    """What is known of somebody before a line is read: above 0 ``he``, below ``she``."""
    if member.pronoun:
        return 100.0 if member.pronoun == "he" else -100.0
    return float(sum((name in HIS_NAMES) - (name in HER_NAMES) for name in member.given)) * _LISTED


def learned(
    lines: Sequence[tuple[Sequence[Mention], Sequence[Place]]], given: Sequence[float]
) -> tuple[str, ...]:
    """``he``, ``she`` or nothing for each of the cast: ``given`` is what is known of each.

    A line that names one person and nobody else speaks for the pronouns behind the name in it, and half as
    much for one that begins the next line.
    """
    votes: defaultdict[int, float] = defaultdict(float)
    last: int | None = None
    for found, where in lines:
        people = [mention for mention in found if mention.kind != "pronoun"]
        pronouns = [mention for mention in found if mention.kind == "pronoun" and mention.pronoun != "they"]
        if last is not None and not people and pronouns and where[found.index(pronouns[0])].role == "subject":
            votes[last] += _vote(pronouns[0]) * 0.5
        last = None
        alone = _alone(people)
        if alone is not None:
            after = [m for m in pronouns if m.start > people[0].start]
            for pronoun in {mention.pronoun: mention for mention in after}.values():
                weight = 1.0 if len({mention.pronoun for mention in pronouns}) == 1 else 0.0
                votes[alone] += _vote(pronoun) * weight
            subject = where[found.index(people[0])].role == "subject"
            last = alone if subject else None
    return tuple(_said(value + votes[place]) for place, value in enumerate(given))


def _alone(people: Sequence[Mention]) -> int | None:
    owners: set[Hashable] = {mention.members if mention.members else mention.key for mention in people}
    if len(owners) != 1 or len(people[0].members) != 1:
        return None
    return people[0].members[0]


def _vote(mention: Mention) -> float:
    return 1.0 if mention.pronoun == "he" else -1.0


def _said(value: float) -> str:
    return "he" if value >= 1 else "she" if value <= -1 else ""


def suits(pronoun: str, known: str) -> bool:
    """Whether a pronoun may mean somebody of whom this is known; nothing is known of many."""
    return not known or known == pronoun
