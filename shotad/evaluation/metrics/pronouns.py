"""The resolver that is built in: names by rules, pronouns by gender and recency. No model, English only.

In the spirit of Lappin and Leass (1994): candidates are weighed by how lately and in which place they were
spoken of, those whom grammar rules out are left aside. Somebody in focus may be nobody of the cast (``the
man``, another film's Mike): then the pronoun means nobody of the cast either.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.clauses import (
    MentionPlace,
    Role,
    Who,
    leads,
    learned,
    places,
    shared,
    suits,
    who_of,
)
from shotad.evaluation.metrics.critic import Document, People
from shotad.evaluation.store import MetricContext
from shotad.script import (
    DETERMINERS,
    NAME_FUNCTION_WORDS,
    REFLEXIVES,
    UPON_OTHERS,
    WHO,
    Member,
    Mention,
    NameToken,
    book_of,
    listed,
    members,
    mentions,
    respelt,
    tokens_of,
)

REACH = 4
"""Lines after which somebody is out of focus."""
PAUSE = 60.0
"""Seconds without AD after which nobody is in focus any more."""
_GROUP_REACH = 2
_WEIGHT: dict[Role, float] = {"subject": 1.0, "owner": 0.6, "object": 0.3, "oblique": 0.0}


@dataclass(frozen=True, slots=True)
class InFocus:
    """Somebody in focus: where they were spoken of last, and how."""

    who: Who
    pronoun: str
    line: int
    at: int
    role: Role
    times: int


class Focus:
    """Who is in focus, line after line of one film."""

    def __init__(self, pronouns: Mapping[Who, str], leads: Mapping[str, Who], groups: bool = True) -> None:
        self._pronouns = pronouns
        self._leads = leads
        self._with_groups = groups
        self._standing: dict[Who, InFocus] = {}
        self._groups: list[tuple[int, tuple[Who, ...]]] = []
        """Lines, and who were spoken of together there; nobody where they are nobody that one knows."""
        self._number = -1
        self._someone = 0
        self._acted: tuple[Who, ...] = ()

    def forget(self) -> None:
        """Nobody is in focus."""
        self._standing.clear()
        self._groups.clear()
        self._acted = ()

    def read(self, line: LineMentions) -> frozenset[int]:
        """Whom of the cast a line means; they are in focus then."""
        self._number += 1
        for at, mention in enumerate(line.found):
            people = self._people(at, mention, line)
            line.note(at, people)
            if len(people) == 1:
                self._note(people[0], mention, line.where[at])
            self._note_row(at, line)
        self._acted = line.subjects[max(line.subjects)] if line.subjects else ()
        return frozenset(int(who[1]) for people in line.meant for who in people if who[0] == "cast")

    def _people(self, at: int, mention: Mention, line: LineMentions) -> tuple[Who, ...]:
        if mention.kind == "cast":
            return (self._owner(mention),)
        if mention.kind == "group":
            self._groups.append((self._number, ()))
            return ()
        if mention.kind != "pronoun":
            return ((mention.kind, mention.key),)
        if mention.pronoun == "they":
            return self._they(mention, line) if self._with_groups else ()
        return (self._ahead(at, mention, line) or self._one(at, mention, line),)

    def _owner(self, mention: Mention) -> Who:
        """Whose a shared name is: theirs who is she or he as the title or the film's lines say; of several,
        theirs who was spoken of last, by that name or otherwise."""
        owners: list[Who] = [("cast", place) for place in mention.members]
        pronoun = mention.pronoun or self._pronouns.get(shared(mention), "")
        if pronoun and len(owners) > 1:
            told = [who for who in owners if self._pronouns.get(who) == pronoun]
            owners = told or [who for who in owners if not self._pronouns.get(who)]
        if len(owners) == 1:
            return owners[0]
        near = [one for who, one in self._standing.items() if who in owners and self._near(one)]
        last = max(near, key=lambda one: (one.line, one.at), default=None)
        return last.who if last else ("name", mention.key)

    def _near(self, one: InFocus) -> bool:
        return self._number - one.line <= REACH

    def _ahead(self, at: int, mention: Mention, line: LineMentions) -> Who | None:
        """``Wiping his brow, Tony …``: who acts behind the comma."""
        subject = line.behind_comma(at) if mention.key in ("his", "her") else None
        who = who_of(subject) if subject is not None else None
        named = subject is not None and subject.kind in ("cast", "name")
        return who if who and named and suits(mention.pronoun, self._gender(who, "")) else None

    def _gender(self, who: Who, said: str) -> str:
        standing = self._standing.get(who)
        return self._pronouns.get(who, "") or (standing.pronoun if standing else "") or said

    def _one(self, at: int, mention: Mention, line: LineMentions) -> Who:
        """Whom ``he`` or ``she`` means; where nobody is in focus, the lead or a new somebody."""
        acting = line.acting(at, self._acted)
        near = [
            one for one in self._standing.values() if self._near(one) and suits(mention.pronoun, one.pronoun)
        ]
        if mention.key in REFLEXIVES:
            near = [one for one in near if one.who in acting] or near
        else:
            others = line.others(at, acting)
            near = [one for one in near if one.who not in others]
        best = max(near, key=lambda one: (self._weight(one, at, mention, line, acting), one.at), default=None)
        if best is not None:
            return best.who
        lead = self._leads.get(mention.pronoun)
        if lead is not None and lead not in {who_of(one) for one in line.found if one.kind == "cast"}:
            return lead
        self._someone += 1
        return ("someone", self._someone)

    def _weight(
        self, one: InFocus, at: int, mention: Mention, line: LineMentions, acting: tuple[Who, ...]
    ) -> float:
        role = line.where[at].role
        weight = _WEIGHT[one.role] - (self._number - one.line)
        weight += 0.4 if one.pronoun == mention.pronoun else -0.3
        weight += 0.15 * min(math.log2(one.times), 3)
        if one.who in acting:
            weight += -2.0 if role == "owner" and line.upon_others(at) else 1.5
        if role == "object" and one.role in ("object", "oblique"):
            weight += 0.3
        return weight

    def _they(self, mention: Mention, line: LineMentions) -> tuple[Who, ...]:
        """The last row or group; else, for those who act, everybody of the line before."""
        them = mention.key == "them"
        near = [people for line, people in self._groups if them <= self._number - line <= _GROUP_REACH]
        if near:
            self._groups.append((self._number, near[-1]))
            return near[-1]
        if mention.key != "they":
            return ()
        here = tuple(dict.fromkeys(who for people in line.meant for who in people))
        before = tuple(one.who for one in self._standing.values() if self._number - one.line == 1)
        people = next((some for some in (here, before) if len(some) > 1), ())
        self._groups.append((self._number, people))
        return people

    def _note(self, who: Who, mention: Mention, place: MentionPlace) -> None:
        old = self._standing.get(who)
        role = place.role
        if old is not None and old.line == self._number and _WEIGHT[old.role] > _WEIGHT[role]:
            role = old.role
        pronoun = self._gender(who, mention.pronoun)
        times = old.times + 1 if old else 1
        self._standing[who] = InFocus(who, pronoun, self._number, mention.start, role, times)

    def _note_row(self, at: int, line: LineMentions) -> None:
        """``Tony and Mark`` are who ``they`` are in what follows."""
        row: list[Who] = []
        for place, people in zip(reversed(line.where[: at + 1]), reversed(line.meant), strict=True):
            row = [*people, *row]
            if not place.joined:
                break
        if line.where[at].joined and len(set(row)) > 1:
            self._groups.append((self._number, tuple(dict.fromkeys(row))))


_VERSION = 2


class PlainResolver:
    """Names in full and in part; ``he`` and ``she`` by who is in focus; ``they`` for those named together
    (not with the published code's rules, by which a mention of several is nobody's)."""

    remarks = (
        "Pronouns were resolved by the plain resolver that is built in (names by rules, pronouns by gender "
        "and recency), not by the coreference model of the paper: compare only with figures made so.",
    )
    comparable = False
    uses_time = True

    def __init__(self, context: MetricContext) -> None:
        self._groups = context.settings.critic.rules != "code"

    @property
    def identity(self) -> Json:
        return {"resolver": "plain", "version": _VERSION, "groups": self._groups}

    def resolve(self, documents: Sequence[Document]) -> list[tuple[People, ...]]:
        """Whom each sentence of each film means."""
        return [resolved(document, self._groups) for document in documents]


@dataclass(frozen=True, slots=True)
class FilmMentions:
    """What stands in the lines of a film: its cast, words, people, and their places in the lines."""

    cast: tuple[Member, ...]
    lines: tuple[tuple[NameToken, ...], ...]
    found: tuple[tuple[Mention, ...], ...]
    where: tuple[tuple[MentionPlace, ...], ...]


def read(document: Document) -> FilmMentions:
    """Everybody who is named or meant in a film's lines; pronouns not yet resolved."""
    cast = members(document.cast)
    lines = respelt(cast, [tokens_of(sentence) for sentence in document.sentences])
    book = book_of(cast, lines)
    found = tuple(mentions(line, cast, book) for line in lines)
    where = tuple(places(line, those) for line, those in zip(lines, found, strict=True))
    return FilmMentions(cast, tuple(lines), found, where)


def resolved(document: Document, groups: bool = True) -> tuple[People, ...]:
    """Whom of the cast each sentence means, by name or by pronoun."""
    text = read(document)
    pronouns = learned(text.cast, list(zip(text.found, text.where, strict=True)))
    focus = Focus(pronouns, leads(text.cast, text.found, pronouns), groups)
    people: list[People] = []
    for at, (line, found, where) in enumerate(zip(text.lines, text.found, text.where, strict=True)):
        if at and document.starts and document.starts[at] - document.starts[at - 1] > PAUSE:
            focus.forget()
        meant = focus.read(LineMentions(line, found, where))
        people.append(tuple(sorted({text.cast[place].name for place in meant})))
    return tuple(people)


def named(document: Document) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """The names alone, for each sentence: where each begins and ends in it, and whose it is; those that
    several share are left out."""
    text = read(document)
    return tuple(
        tuple(
            (line[mention.start].at, line[mention.end - 1].end, text.cast[mention.members[0]].name)
            for mention in found
            if len(mention.members) == 1
        )
        for line, found in zip(text.lines, text.found, strict=True)
    )


_AROUND = listed("behind around about beside after over above before with under past through")
"""Before ``him``, where he may be the one who acts: ``closes the door behind him``."""


@dataclass
class LineMentions:
    """The words of a line, the people in it and their places. ``meant`` grows as they are understood;
    ``subjects`` are those who act in each clause."""

    words: Sequence[NameToken]
    found: Sequence[Mention]
    where: Sequence[MentionPlace]
    meant: list[tuple[Who, ...]] = field(default_factory=list)
    subjects: dict[int, tuple[Who, ...]] = field(default_factory=dict)

    def note(self, at: int, people: tuple[Who, ...]) -> None:
        """These are meant by the mention at this place."""
        place = self.where[at]
        self.meant.append(people)
        alone = len(people) == 1 and place.role == "subject"
        if alone and (place.joined or place.clause not in self.subjects):
            self.subjects[place.clause] = (*self.subjects.get(place.clause, ()), people[0])

    def acting(self, at: int, before: tuple[Who, ...]) -> tuple[Who, ...]:
        """Who acts where a pronoun stands that is no subject itself.

        In a clause that begins with a verb, who acts in the last; behind ``who`` the one before it; in ``lets
        Mark kiss her`` Mark; in a line that begins with ``and``, those who acted ``before``.
        """
        place = self.where[at]
        if place.role == "subject":
            return ()
        before_it = self.found[at - 1] if at else None
        if before_it and (self.where[at - 1].clause, self.where[at - 1].role) == (place.clause, "object"):
            then = self.words[before_it.end : self.found[at].start]
            if then and then[0].key not in NAME_FUNCTION_WORDS and before_it.kind != "pronoun":
                return self.meant[at - 1]
        begins = self.words[place.start].key
        if place.clause not in self.subjects and begins in WHO:
            ended = [n for n, one in enumerate(self.found[: len(self.meant)]) if one.end <= place.start]
            self.subjects[place.clause] = self.meant[ended[-1]] if ended else ()
        if place.clause not in self.subjects and begins in DETERMINERS and place.role != "owner":
            # ``…, the scissors deep in him``: what acts is nobody.
            return ()
        known = [clause for clause in self.subjects if clause <= place.clause]
        if known:
            return self.subjects[max(known)]
        return before if self.words[0].key in ("and", "then") else ()

    def others(self, at: int, acting: tuple[Who, ...]) -> set[Who | None]:
        """Who is not meant by ``him`` or ``he``: who acts, and whom he acts on: ``He glares at Holmes``."""
        role = self.where[at].role
        if role == "object" and not self._around(at):
            return set(acting)
        if role != "subject":
            return set()
        after = zip(self.found[at + 1 :], self.where[at + 1 :], strict=True)
        return {who_of(mention) for mention, place in after if place.clause == self.where[at].clause}

    def _around(self, at: int) -> bool:
        """Whether ``him`` may be who acts: ``closes the door behind him``, not ``creeps behind him``."""
        start = self.found[at].start
        if start == 0 or self.words[start - 1].key not in _AROUND:
            return False
        thing = any(token.key in DETERMINERS for token in self.words[max(0, start - 5) : start - 1])
        return thing or self.words[start - 1].key in ("around", "about")

    def behind_comma(self, at: int) -> Mention | None:
        """Who acts behind the comma, where a pronoun stands in a part of a sentence before it without a
        subject."""
        after = zip(self.found[at + 1 :], self.where[at + 1 :], strict=True)
        subjects = (mention for mention, place in after if place.role == "subject")
        return next(subjects, None) if self.where[at].fronted else None

    def upon_others(self, at: int) -> bool:
        """Whether what is done is rarely done to oneself: ``grabs his fist``."""
        start = self.found[at].start
        return any(token.key in UPON_OTHERS for token in self.words[max(0, start - 2) : start])
