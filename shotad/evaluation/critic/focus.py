"""Whom pronouns mean: those in focus, by gender, and by how lately and in which place they were spoken of.
Pure logic.

In the spirit of Lappin and Leass (1994): candidates are weighed by distance and place, those whom grammar
rules out are left aside. Somebody in focus may be nobody of the cast (``the man``, another film's Mike): then
the pronoun means nobody of the cast either.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shotad.evaluation.critic.clauses import Place, Role
from shotad.evaluation.critic.genders import Who, suits, who_of
from shotad.evaluation.critic.mentions import Mention, Token
from shotad.evaluation.critic.words import DETERMINERS, FUNCTION_WORDS, REFLEXIVES, listed

REACH = 4
"""Lines after which somebody is out of focus."""
PAUSE = 60.0
"""Seconds without AD after which nobody is in focus any more."""
_WEIGHT: dict[Role, float] = {"subject": 1.0, "owner": 0.6, "object": 0.3, "oblique": 0.0}
_AROUND = listed("behind around about beside after over above before with under past through")
"""Before ``him``, where he may be the one who acts: ``closes the door behind him``."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Somebody in focus: where they were spoken of last, and how."""

    who: Who
    pronoun: str
    line: int
    at: int
    role: Role
    times: int


class Focus:
    """Who is in focus, line after line of one film."""

    def __init__(self, pronouns: Mapping[Who, str], groups: bool = True) -> None:
        self._pronouns = pronouns
        self._groups = groups
        self._standing: dict[Who, Standing] = {}
        self._group: tuple[tuple[Who, ...], int] | None = None
        self._line = -1
        self._someone = 0
        self._acted: tuple[Who, ...] = ()

    def forget(self) -> None:
        """Nobody is in focus."""
        self._standing.clear()
        self._group = None
        self._acted = ()

    def read(self, line: Sequence[Token], found: Sequence[Mention], where: Sequence[Place]) -> frozenset[int]:
        """Whom of the cast a line means; they are in focus then."""
        self._line += 1
        meant: list[tuple[Who, ...]] = []
        subjects: dict[int, tuple[Who, ...]] = {}
        for at, (mention, place) in enumerate(zip(found, where, strict=True)):
            people = self._people(at, line, found, where, subjects, meant)
            meant.append(people)
            if len(people) == 1:
                self._note(people[0], mention, place)
                if place.role == "subject" and (place.joined or place.clause not in subjects):
                    subjects[place.clause] = (*subjects.get(place.clause, ()), people[0])
        self._note_rows(where, meant)
        self._acted = subjects.get(max(subjects, default=0), ())
        return frozenset(int(who[1]) for people in meant for who in people if who[0] == "cast")

    def _people(
        self,
        at: int,
        line: Sequence[Token],
        found: Sequence[Mention],
        where: Sequence[Place],
        subjects: dict[int, tuple[Who, ...]],
        meant: Sequence[tuple[Who, ...]],
    ) -> tuple[Who, ...]:
        mention = found[at]
        if mention.kind == "cast":
            return (self._owner(mention),)
        if mention.kind == "group":
            self._group = ((), self._line)
            return ()
        if mention.kind != "pronoun":
            return ((mention.kind, mention.key),)
        if mention.pronoun == "they":
            return self._they(mention, meant) if self._groups else ()
        ahead = self._ahead(at, found, where)
        return (ahead or self._one(line, at, found, where, subjects, meant),)

    def _owner(self, mention: Mention) -> Who:
        """Whose a shared name is: theirs who was spoken of last, by that name or otherwise."""
        owners: list[Who] = [("cast", place) for place in mention.members]
        if mention.pronoun:
            told = [who for who in owners if self._pronouns.get(who) == mention.pronoun]
            owners = told or [who for who in owners if not self._pronouns.get(who)]
        if len(owners) == 1:
            return owners[0]
        near = [self._standing[who] for who in owners if self._in_reach(who)]
        last = max(near, key=lambda one: (one.line, one.at), default=None)
        return last.who if last else ("name", mention.key)

    def _in_reach(self, who: Who) -> bool:
        return who in self._standing and self._line - self._standing[who].line <= REACH

    def _ahead(self, at: int, found: Sequence[Mention], where: Sequence[Place]) -> Who | None:
        """``Wiping his brow, Tony …``: who acts behind the comma."""
        if (
            not where[at].fronted
            or where[at].role != "owner"
            or any(place.fronted for place in where[:at] if place.role != "owner")
        ):
            return None
        for mention, place in zip(found[at + 1 :], where[at + 1 :], strict=True):
            if place.role == "subject" and place.sentence == where[at].sentence:
                known = mention.kind in ("cast", "name") and len(mention.members) < 2
                who: Who = ("cast", mention.members[0]) if mention.members else ("name", mention.key)
                return who if known and suits(found[at].pronoun, self._gender(who, mention)) else None
        return None

    def _gender(self, who: Who, mention: Mention) -> str:
        standing = self._standing.get(who)
        return self._pronouns.get(who, "") or (standing.pronoun if standing else "") or mention.pronoun

    def _one(
        self,
        line: Sequence[Token],
        at: int,
        found: Sequence[Mention],
        where: Sequence[Place],
        subjects: dict[int, tuple[Who, ...]],
        meant: Sequence[tuple[Who, ...]],
    ) -> Who:
        """Whom ``he`` or ``she`` means; a new somebody where nobody is in focus."""
        mention, place = found[at], where[at]
        acting = () if place.role == "subject" else self._acting(line, at, found, where, subjects, meant)
        near = [
            one
            for one in self._standing.values()
            if self._line - one.line <= REACH and suits(mention.pronoun, one.pronoun)
        ]
        if mention.key in REFLEXIVES:
            near = [one for one in near if one.who in acting] or near
        elif place.role == "object" and not _around(line, at, found):
            near = [one for one in near if one.who not in acting]
        elif place.role == "subject":
            others = _behind(at, found, where)
            near = [one for one in near if one.who not in others]
        best = max(near, key=lambda one: (self._weight(one, mention, place, acting), one.at), default=None)
        if best is not None:
            return best.who
        self._someone += 1
        return ("someone", self._someone)

    def _acting(
        self,
        line: Sequence[Token],
        at: int,
        found: Sequence[Mention],
        where: Sequence[Place],
        subjects: dict[int, tuple[Who, ...]],
        meant: Sequence[tuple[Who, ...]],
    ) -> tuple[Who, ...]:
        """Who acts where a pronoun stands; in a clause that begins with a verb, who acts in the last before,
        in ``lets Mark kiss her`` Mark."""
        place = where[at]
        if at and where[at - 1].clause == place.clause and where[at - 1].role == "object":
            then = line[found[at - 1].end : found[at].start]
            if then and then[0].key not in FUNCTION_WORDS and found[at - 1].kind != "pronoun":
                return meant[at - 1]
        before = [number for number in subjects if number <= place.clause]
        if place.thing:
            return ()
        if before:
            return subjects[max(before)]
        return self._acted if line[0].key in ("and", "then") else ()

    def _weight(self, one: Standing, mention: Mention, place: Place, acting: Sequence[Who]) -> float:
        weight = _WEIGHT[one.role] - (self._line - one.line)
        weight += 0.4 if one.pronoun == mention.pronoun else -0.3
        weight += 0.15 * min(math.log2(one.times), 3)
        if one.who in acting and (place.role == "owner" or mention.key not in REFLEXIVES):
            weight += 1.0
        if place.role == "object" and one.role in ("object", "oblique"):
            weight += 0.3
        return weight

    def _they(self, mention: Mention, meant: Sequence[tuple[Who, ...]]) -> tuple[Who, ...]:
        """The last row or group; else, for those who act, everybody of the line before."""
        if self._group is not None and self._line - self._group[1] <= 2:
            self._group = (self._group[0], self._line)
            return self._group[0]
        if mention.key != "they":
            return ()
        here = tuple(dict.fromkeys(who for people in meant for who in people))
        before = tuple(one.who for one in self._standing.values() if one.line == self._line - 1)
        people = here if len(here) > 1 else before
        if len(people) > 1:
            self._group = (people, self._line)
            return people
        self._group = ((), self._line)
        return ()

    def _note(self, who: Who, mention: Mention, place: Place) -> None:
        old = self._standing.get(who)
        role = place.role
        if old is not None and old.line == self._line and _WEIGHT[old.role] > _WEIGHT[role]:
            role = old.role
        known = self._gender(who, mention) or (old.pronoun if old else "")
        pronoun = known or (mention.pronoun if mention.kind == "pronoun" else "")
        times = old.times + 1 if old else 1
        self._standing[who] = Standing(who, pronoun, self._line, mention.start, role, times)

    def _note_rows(self, where: Sequence[Place], meant: Sequence[tuple[Who, ...]]) -> None:
        """``Tony and Mark`` are who ``they`` are in what follows."""
        row: list[Who] = []
        for place, people in zip(where, meant, strict=True):
            row = [*row, *people] if place.joined else list(people)
            if len(set(row)) > 1 and place.joined:
                self._group = (tuple(dict.fromkeys(row)), self._line)


def _around(line: Sequence[Token], at: int, found: Sequence[Mention]) -> bool:
    """Whether ``him`` may be the one who acts: ``closes the door behind him``, not ``creeps behind him``."""
    start = found[at].start
    if start == 0 or line[start - 1].key not in _AROUND:
        return False
    thing = line[max(0, start - 5) : start - 1]
    return line[start - 1].key in ("around", "about") or any(token.key in DETERMINERS for token in thing)


def _behind(at: int, found: Sequence[Mention], where: Sequence[Place]) -> set[Who | None]:
    """Those whom ``he`` does something to in the same clause, who are not he: ``He glares at Holmes``."""
    return {
        who_of(mention)
        for mention, place in zip(found[at + 1 :], where[at + 1 :], strict=True)
        if place.clause == where[at].clause and mention.kind != "pronoun" and place.role != "owner"
    }
