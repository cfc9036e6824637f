"""The resolver that is built in: names by rules, pronouns by gender and recency. No model, English only.

In the spirit of Lappin and Leass (1994): candidates are weighed by how lately and in which place they were
spoken of (who acts, to whom it is done, whose it is), those whom grammar rules out are left aside. Somebody
in focus may be nobody of the cast (``the man``, another film's Mike): then the pronoun means nobody of the
cast either.

Places are read from the order of words and from commas, without a parser: AD is short, active and in the
present. Genders come from titles, given names, and what the film's lines say.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, Protocol

from shotad.evaluation.metric import Json
from shotad.evaluation.store import MetricContext
from shotad.script.cast_members import (
    AFTER_OBJECT,
    CLAUSE_WORDS,
    DONE_TO_OTHERS,
    NAME_FUNCTION_WORDS,
    NAME_PREPOSITIONS,
    REFLEXIVES,
    SUBJECT_PRONOUNS,
    WHO_PRONOUNS,
    Member,
    listed_gender,
    members,
)
from shotad.script.english_words import DETERMINERS, listed
from shotad.script.line_mentions import (
    Mention,
    NameToken,
    find_mentions,
    index_names,
    is_followed_by_verb,
    respell_names,
    tokens_of,
)

People = tuple[str, ...]
"""Names of the cast, sorted, each once."""


@dataclass(frozen=True, slots=True)
class Document:
    """One film's AD: ``sentences`` in order of time (an empty one says nothing), ``starts`` their seconds in
    the film (one for each, or none where they are not known), ``cast`` the characters as the list has them;
    equal ones are one."""

    sentences: tuple[str, ...]
    cast: tuple[str, ...]
    starts: tuple[float, ...] = ()


class Resolver(Protocol):
    """Says who is meant. A class is made with the `MetricContext`, cheaply; its model is loaded when it is
    first asked.

    ``remarks`` are what the report must say of it; ``comparable``: the published numbers were made with it;
    ``identity`` is all that changes an answer; ``uses_time``: `Document.starts` change its answers.
    """

    remarks: tuple[str, ...]
    comparable: bool
    identity: Json
    uses_time: bool

    def resolve(self, documents: Sequence[Document]) -> list[tuple[People, ...]]:
        """For each document whom of its cast each sentence means, by names as the cast has them."""
        ...


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


Lines = list[tuple[NameToken, ...]]
"""The words of each line of a film."""


def read(document: Document) -> tuple[tuple[Member, ...], Lines, list[tuple[Mention, ...]]]:
    """The cast, the words of a film's lines, and everybody who is named or meant in each; pronouns not yet
    resolved."""
    cast = members(document.cast)
    lines = respell_names(cast, [tokens_of(sentence) for sentence in document.sentences])
    book = index_names(cast, lines)
    return cast, lines, [find_mentions(line, cast, book) for line in lines]


def named(document: Document) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """The names alone, for each sentence: where each begins and ends in it, and whose it is; those that
    several share are left out."""
    cast, lines, found = read(document)
    return tuple(
        tuple(
            (line[mention.start].start, line[mention.end - 1].end, cast[mention.members[0]].name)
            for mention in those
            if len(mention.members) == 1
        )
        for line, those in zip(lines, found, strict=True)
    )


def resolved(document: Document, groups: bool = True) -> tuple[People, ...]:
    """Whom of the cast each sentence means, by name or by pronoun."""
    cast, lines, found = read(document)
    where = [places(line, those) for line, those in zip(lines, found, strict=True)]
    pronouns = learned(cast, list(zip(found, where, strict=True)))
    focus = Focus(pronouns, leads(cast, found, pronouns), groups)
    people: list[People] = []
    for at, line in enumerate(map(LineMentions, lines, found, where)):
        if at and document.starts and document.starts[at] - document.starts[at - 1] > PAUSE:
            focus.forget()
        people.append(tuple(sorted({cast[place].name for place in focus.read(line)})))
    return tuple(people)


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
    begins, ends = {mention.start for mention in found}, {mention.end for mention in found}
    starts = [
        at
        for at, token in enumerate(line)
        if not at
        or token.begins_sentence
        or re.search(r"[,;:—–()]| - ", token.gap)
        or (token.key in CLAUSE_WORDS and not (at in ends and at + 1 in begins))
    ]
    result: list[MentionPlace] = []
    for at, mention in enumerate(found):
        clause = sum(start <= mention.start for start in starts) - 1
        before = found[at - 1] if at else None
        if before is not None and _joined(line, before, mention, found[at + 1 : at + 2]):
            result.append(replace(result[-1], joined=True))
        else:
            result.append(MentionPlace(_role(line, mention, starts[clause], before), clause, starts[clause]))
    subjects = {place.clause for place in result if place.role == "subject"}
    fronted = {
        clause
        for clause, (start, after) in enumerate(pairwise(starts))
        if clause not in subjects and line[start].begins_sentence and "," in line[after].gap
    }
    return tuple(replace(place, fronted=place.clause in fronted) for place in result)


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
        return _role_of_pronoun(line, mention)
    if mention.possessive:
        return "owner"
    between = line[start : mention.start]
    if before is not None and start <= before.start < mention.start and before.possessive:
        between = line[start : before.start]
    elif before is not None and start <= before.start and before.end <= mention.start:
        return "oblique" if between and between[-1].key in NAME_PREPOSITIONS else "object"
    if any(word.key in NAME_PREPOSITIONS - {"as"} for word in between):
        return "oblique"
    moved = any(is_followed_by_verb(line, at) for at in range(start, max(start, mention.start - 1)))
    return "object" if moved or any(word.key.endswith("ing") for word in between) else "subject"


def _role_of_pronoun(line: Sequence[NameToken], mention: Mention) -> Role:
    word = mention.key
    if word in SUBJECT_PRONOUNS:
        return "subject"
    if word in ("his", "their", "theirs", "hers"):
        return "owner"
    if word != "her":
        return "object"
    after = line[mention.end] if mention.end < len(line) else None
    if after is None or after.gap != " " or after.begins_sentence or after.key in AFTER_OBJECT:
        return "object"
    # A word that tells how, and is not what is hers: ``looks at her warily``.
    how = after.key.endswith("ly") and after.key not in ("belly", "family", "jelly", "only")
    return "object" if how else "owner"


Who = tuple[str, int | str]
"""Somebody: ``("cast", 3)``, ``("name", "mike")``, ``("noun", "man")``, ``("someone", 7)``."""
_CLEAR = 3
"""How many times as many lines as speak against it must speak for a pronoun."""
_LEAD_TIMES, _LEAD_SHARE = 5, 0.6
"""How often the lead is named, and of all names of that gender which share."""
_AGAINST_LIST = 4
"""How many lines must say so where the list of given names says otherwise."""


def who_of(mention: Mention) -> Who | None:
    """Whom a name or a noun means, where it is one's alone."""
    if mention.kind == "cast":
        return ("cast", mention.members[0]) if len(mention.members) == 1 else None
    return (mention.kind, mention.key)


def shared(mention: Mention) -> Who:
    """A name that several of the cast have, as if it were somebody."""
    return ("shared", mention.key)


def learned(
    cast: Sequence[Member], lines: Sequence[tuple[Sequence[Mention], Sequence[MentionPlace]]]
) -> dict[Who, str]:
    """``he`` or ``she`` for everybody with a name of whom it is known. Titles and roles decide; a given name
    does where the lines do not say otherwise again and again; of the others the lines speak in which somebody
    acts and has something: ``Four rubs his eyes``."""
    said: dict[Who, Counter[str]] = {}
    for found, where in lines:
        # A line that names one, who acts, and whose the first ``his``, ``her``, ``himself`` in it is.
        people = [at for at, mention in enumerate(found) if mention.kind != "pronoun"]
        if len(people) != 1 or people[0] + 1 == len(found):
            continue
        at = people[0]
        who, then, place = who_of(found[at]) or shared(found[at]), found[at + 1], where[at + 1]
        owns = then.key in REFLEXIVES or place.role == "owner"
        if owns and who[0] != "noun" and where[at].role == "subject" and place.clause == where[at].clause:
            said.setdefault(who, Counter())[then.pronoun] += 1
    titled: dict[Who, str] = {("cast", place): one.pronoun for place, one in enumerate(cast) if one.pronoun}
    known: dict[Who, str] = {
        ("cast", place): one.pronoun or next(filter(None, map(listed_gender, one.given_names)), "")
        for place, one in enumerate(cast)
    }
    several = {shared(mention) for found, _ in lines for mention in found if len(mention.members) > 1}
    for who in [*said, *several]:
        known.setdefault(who, listed_gender(str(who[1])))
    for who, before in known.items():
        he, she = (said.get(who, Counter())[pronoun] for pronoun in ("he", "she"))
        clear = "he" if he > _CLEAR * she else "she" if she > _CLEAR * he else ""
        if clear and (not before or max(he, she) >= _AGAINST_LIST):
            known[who] = clear
    return {who: pronoun for who, pronoun in {**known, **titled}.items() if pronoun}


def leads(
    cast: Sequence[Member], lines: Sequence[Sequence[Mention]], pronouns: Mapping[Who, str]
) -> dict[str, Who]:
    """The one of the cast whom a film's lines name far more often than all others who are ``he``, or ``she``,
    or perhaps so; one without a name of their own leads nobody."""
    named = (mention for found in lines for mention in found if mention.kind in ("cast", "name"))
    times = Counter(who for mention in named if (who := who_of(mention)) is not None)
    found: dict[str, Who] = {}
    for pronoun in ("he", "she"):
        some = {who: n for who, n in times.items() if pronouns.get(who, pronoun) == pronoun}
        first = max(some, key=lambda who: some[who], default=None)
        if first is None or first[0] != "cast" or pronouns.get(first) != pronoun:
            continue
        if all(form.is_role for form in cast[int(first[1])].forms):
            continue
        if some[first] >= max(_LEAD_TIMES, _LEAD_SHARE * sum(some.values())):
            found[pronoun] = first
    return found


REACH = 4
"""Lines after which somebody is out of focus."""
PAUSE = 60.0
"""Seconds without AD after which nobody is in focus any more."""
_GROUP_REACH = 2
_WEIGHT: dict[Role, float] = {"subject": 1.0, "owner": 0.6, "object": 0.3, "oblique": 0.0}
_AROUND = listed("behind around about beside after over above before with under past through")
"""Before ``him``, where he may be the one who acts: ``closes the door behind him``."""


@dataclass(frozen=True, slots=True)
class InFocus:
    """Somebody in focus: where they were spoken of last, and how."""

    who: Who
    pronoun: str
    line: int
    at: int
    role: Role
    times: int


@dataclass
class LineMentions:
    """The words of a line, the people in it and their places. ``meant`` grows as they are understood;
    ``subjects`` are those who act in each clause."""

    words: Sequence[NameToken]
    found: Sequence[Mention]
    where: Sequence[MentionPlace]
    meant: list[tuple[Who, ...]] = field(default_factory=list)
    subjects: dict[int, tuple[Who, ...]] = field(default_factory=dict)

    def acting(self, at: int, before: tuple[Who, ...]) -> tuple[Who, ...]:
        """Who acts where a pronoun stands that is no subject itself: in a clause that begins with a verb, who
        acts in the last; behind ``who`` the one before it; in ``lets Mark kiss her`` Mark; in a line that
        begins with ``and``, those who acted ``before``."""
        place = self.where[at]
        if place.role == "subject":
            return ()
        before_it = self.found[at - 1] if at else None
        if before_it and (self.where[at - 1].clause, self.where[at - 1].role) == (place.clause, "object"):
            then = self.words[before_it.end : self.found[at].start]
            if then and then[0].key not in NAME_FUNCTION_WORDS and before_it.kind != "pronoun":
                return self.meant[at - 1]
        begins = self.words[place.start].key
        if place.clause not in self.subjects and begins in WHO_PRONOUNS:
            ended = [n for n, one in enumerate(self.found[: len(self.meant)]) if one.end <= place.start]
            self.subjects[place.clause] = self.meant[ended[-1]] if ended else ()
        if place.clause not in self.subjects and begins in DETERMINERS and place.role != "owner":
            # ``…, the scissors deep in him``: what acts is nobody.
            return ()
        known = [clause for clause in self.subjects if clause <= place.clause]
        if known:
            return self.subjects[max(known)]
        return before if self.words[0].key in ("and", "then") else ()


class Focus:
    """Who is in focus, line after line of one film."""

    def __init__(self, pronouns: Mapping[Who, str], leads: Mapping[str, Who], groups: bool) -> None:
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
            place, people = line.where[at], self._people(at, line)
            line.meant.append(people)
            if len(people) == 1:
                who, role, old = people[0], place.role, self._standing.get(people[0])
                if role == "subject" and (place.joined or place.clause not in line.subjects):
                    line.subjects[place.clause] = (*line.subjects.get(place.clause, ()), who)
                if old is not None and old.line == self._number and _WEIGHT[old.role] > _WEIGHT[role]:
                    role = old.role
                pronoun, times = self._gender(who) or mention.pronoun, old.times + 1 if old else 1
                self._standing[who] = InFocus(who, pronoun, self._number, mention.start, role, times)
            if place.joined:
                # ``Tony and Mark`` are who ``they`` are in what follows.
                first = max(n for n, one in enumerate(line.where[:at]) if not one.joined)
                row = dict.fromkeys(who for those in line.meant[first:] for who in those)
                if len(row) > 1:
                    self._groups.append((self._number, tuple(row)))
        self._acted = line.subjects[max(line.subjects)] if line.subjects else ()
        return frozenset(int(who[1]) for people in line.meant for who in people if who[0] == "cast")

    def _people(self, at: int, line: LineMentions) -> tuple[Who, ...]:
        mention = line.found[at]
        if mention.kind == "cast":
            return (self._owner(mention),)
        if mention.kind == "group":
            self._groups.append((self._number, ()))
            return ()
        if mention.kind != "pronoun":
            return ((mention.kind, mention.key),)
        if mention.pronoun == "they":
            return self._they(mention, line) if self._with_groups else ()
        if mention.key in ("his", "her") and line.where[at].fronted:
            # ``Wiping his brow, Tony …``: who acts behind the comma.
            after = zip(line.found[at + 1 :], line.where[at + 1 :], strict=True)
            subject = next((one for one, place in after if place.role == "subject"), None)
            who = who_of(subject) if subject is not None and subject.kind in ("cast", "name") else None
            if who is not None and self._gender(who) in ("", mention.pronoun):
                return (who,)
        return (self._one(at, line),)

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

    def _gender(self, who: Who) -> str:
        standing = self._standing.get(who)
        return self._pronouns.get(who, "") or (standing.pronoun if standing else "")

    def _one(self, at: int, line: LineMentions) -> Who:
        """Whom ``he`` or ``she`` means; where nobody is in focus, the lead or a new somebody."""
        mention, place, acting = line.found[at], line.where[at], line.acting(at, self._acted)
        role, words = place.role, line.words[max(0, mention.start - 5) : mention.start]
        near = [
            one for one in self._standing.values() if self._near(one) and one.pronoun in ("", mention.pronoun)
        ]
        if mention.key in REFLEXIVES:
            near = [one for one in near if one.who in acting] or near
        elif role == "object":
            # Not who acts, but where he may be: ``closes the door behind him``, not ``creeps behind him``.
            before = words[-1].key if words else ""
            thing = before in ("around", "about") or any(token.key in DETERMINERS for token in words[:-1])
            if not (before in _AROUND and thing):
                near = [one for one in near if one.who not in acting]
        elif role == "subject":
            # Not those on whom he acts: ``He glares at Holmes``.
            after = zip(line.found[at + 1 :], line.where[at + 1 :], strict=True)
            others = {who_of(one) for one, there in after if there.clause == place.clause}
            near = [one for one in near if one.who not in others]
        # What is done is rarely done to oneself: ``grabs his fist``.
        upon_others = role == "owner" and any(token.key in DONE_TO_OTHERS for token in words[-2:])

        def weight(one: InFocus) -> float:
            found = _WEIGHT[one.role] - (self._number - one.line)
            found += 0.4 if one.pronoun == mention.pronoun else -0.3
            found += 0.15 * min(math.log2(one.times), 3)
            if one.who in acting:
                found += -2.0 if upon_others else 1.5
            return found + 0.3 if role == "object" and one.role in ("object", "oblique") else found

        best = max(near, key=lambda one: (weight(one), one.at), default=None)
        if best is not None:
            return best.who
        lead = self._leads.get(mention.pronoun)
        if lead is not None and lead not in {who_of(one) for one in line.found if one.kind == "cast"}:
            return lead
        self._someone += 1
        return ("someone", self._someone)

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
