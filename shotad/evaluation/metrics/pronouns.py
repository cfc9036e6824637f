"""The resolver that is built in: names by rules, pronouns by gender and recency. No model, English only.

In the spirit of Lappin and Leass (1994): candidates are weighed by how recently they were mentioned and in
which grammatical role (subject, object, owner); those that grammar rules out are skipped. A candidate need
not be of the cast (``the man``, another film's Mike): a pronoun that means it means no one of the cast.

Roles are read from the order of words and from commas, without a parser: AD is short, active and in the
present. Genders come from titles, given names, and pronouns in the film's lines.
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
    """One film's AD: ``sentences`` in order of time (some may be empty), ``starts`` their seconds in the film
    (one for each, or none where they are not known), ``cast`` the characters' names as the list has them;
    equal names are one character."""

    sentences: tuple[str, ...]
    cast: tuple[str, ...]
    starts: tuple[float, ...] = ()


class Resolver(Protocol):
    """Finds the characters that sentences mean. ``Class(context)``, with the `MetricContext`, is cheap: a
    model is loaded at the first `resolve`.

    ``remarks`` are notes for the report. ``comparable``: the published numbers were made with it.
    ``identity`` is all that changes an answer, as JSON. ``uses_time``: `Document.starts` change its answers.
    """

    remarks: tuple[str, ...]
    comparable: bool
    identity: Json
    uses_time: bool

    def resolve(self, documents: Sequence[Document]) -> list[tuple[People, ...]]:
        """For each document and each of its sentences the characters that it means, by their names in the
        cast."""
        ...


_VERSION = 2


class PlainResolver:
    """Finds names in full and in part, ``he`` and ``she`` by who is in focus, and ``they`` for those named
    together (not with the published code's rules, by which a mention of several means no one)."""

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
        """The characters that each sentence of each film means."""
        return [resolved(document, self._groups) for document in documents]


Lines = list[tuple[NameToken, ...]]
"""The words of each line of a film."""


def read(document: Document) -> tuple[tuple[Member, ...], Lines, list[tuple[Mention, ...]]]:
    """The cast, the words of a film's lines, and the mentions of people in each line: names, nouns, and
    pronouns, which are not yet resolved."""
    cast = members(document.cast)
    lines = respell_names(cast, [tokens_of(sentence) for sentence in document.sentences])
    name_index = index_names(cast, lines)
    return cast, lines, [find_mentions(line, cast, name_index) for line in lines]


def named(document: Document) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """For each sentence its names: first and end character, and the character's name in the cast.

    Pronouns are not among them, nor names that several of the cast share.
    """
    cast, lines, mentions = read(document)
    names_by_line = []
    for line, line_mentions in zip(lines, mentions, strict=True):
        names = []
        for mention in line_mentions:
            if len(mention.members) == 1:
                start, end = line[mention.start].start, line[mention.end - 1].end
                names.append((start, end, cast[mention.members[0]].name))
        names_by_line.append(tuple(names))
    return tuple(names_by_line)


def resolved(document: Document, groups: bool = True) -> tuple[People, ...]:
    """The characters that each sentence means, by name or by pronoun; by ``they`` only with ``groups``."""
    cast, lines, mentions = read(document)
    places = [places_of(line, line_mentions) for line, line_mentions in zip(lines, mentions, strict=True)]
    pronouns = learn_pronouns(cast, list(zip(mentions, places, strict=True)))
    focus = Focus(pronouns, leads(cast, mentions, pronouns), groups)
    people: list[People] = []
    for number, line in enumerate(map(LineMentions, lines, mentions, places)):
        # After a pause without AD the scene has changed.
        if number and document.starts and document.starts[number] - document.starts[number - 1] > PAUSE:
            focus.forget()
        people.append(tuple(sorted({cast[member].name for member in focus.read(line)})))
    return tuple(people)


Role = Literal["subject", "object", "oblique", "owner"]


@dataclass(frozen=True, slots=True)
class MentionPlace:
    """Of one mention: its role, its clause in the line (from 0), and the word with which that begins.
    ``fronted``: it stands in a part without a subject before the comma (``Wiping his brow, Tony …``).
    ``joined``: it continues a list (``Tony and Mark``) that began with the mention before."""

    role: Role
    clause: int
    start: int
    fronted: bool = False
    joined: bool = False


def places_of(line: Sequence[NameToken], mentions: Sequence[Mention]) -> tuple[MentionPlace, ...]:
    """The place of each mention of a line."""
    clause_starts = _clause_starts(line, mentions)
    places: list[MentionPlace] = []
    for number, mention in enumerate(mentions):
        clause = sum(start <= mention.start for start in clause_starts) - 1
        before = mentions[number - 1] if number else None
        after = mentions[number + 1] if number + 1 < len(mentions) else None
        if before is not None and _joined(line, before, mention, after):
            places.append(replace(places[-1], joined=True))
        else:
            start = clause_starts[clause]
            places.append(MentionPlace(_role(line, mention, start, before), clause, start))
    clauses_with_subject = {place.clause for place in places if place.role == "subject"}
    fronted_clauses = set()
    for clause, (start, next_start) in enumerate(pairwise(clause_starts)):
        if clause not in clauses_with_subject and line[start].begins_sentence and "," in line[next_start].gap:
            fronted_clauses.add(clause)
    return tuple(replace(place, fronted=place.clause in fronted_clauses) for place in places)


def _clause_starts(line: Sequence[NameToken], mentions: Sequence[Mention]) -> list[int]:
    """The words of a line that begin a clause: after punctuation, and words such as ``and`` or ``while``."""
    mention_starts = {mention.start for mention in mentions}
    mention_ends = {mention.end for mention in mentions}
    starts = []
    for index, token in enumerate(line):
        # The ``and`` of ``Tony and Mark`` begins no clause.
        between_mentions = index in mention_ends and index + 1 in mention_starts
        if (
            index == 0
            or token.begins_sentence
            or re.search(r"[,;:—–()]| - ", token.gap)
            or (token.key in CLAUSE_WORDS and not between_mentions)
        ):
            starts.append(index)
    return starts


def _joined(line: Sequence[NameToken], before: Mention, mention: Mention, after: Mention | None) -> bool:
    """Whether a mention continues the list of the mention ``before`` it: ``Tony, Mark and Margot``.

    A comma joins two only if ``and`` joins the second to the mention ``after`` it.
    """
    if "pronoun" in (mention.kind, before.kind) or before.possessive:
        return False
    between = line[before.end : mention.start]
    if between:
        return len(between) == 1 and between[0].key in ("and", "or")
    if line[mention.start].gap.strip() != "," or after is None:
        return False
    return _joined(line, mention, after, None)


def _role(line: Sequence[NameToken], mention: Mention, start: int, before: Mention | None) -> Role:
    """The role of a mention in its clause, which begins with word ``start``; ``before`` is the mention before
    it in the line."""
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
    # A verb before the name: its subject stands before that.
    after_verb = any(
        is_followed_by_verb(line, index) for index in range(start, max(start, mention.start - 1))
    )
    return "object" if after_verb or any(word.key.endswith("ing") for word in between) else "subject"


def _role_of_pronoun(line: Sequence[NameToken], mention: Mention) -> Role:
    """The role of a pronoun, by its form; of ``her`` by the word after it."""
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
    # An adverb is nothing that she owns: ``looks at her warily``.
    adverb = after.key.endswith("ly") and after.key not in ("belly", "family", "jelly", "only")
    return "object" if adverb else "owner"


Entity = tuple[str, int | str]
"""A person in the text: ``("cast", 3)``, ``("name", "mike")``, ``("noun", "man")``, ``("someone", 7)``."""
_CLEAR = 3
"""A pronoun is clear where this many times as many lines have it as have the other."""
_LEAD_TIMES, _LEAD_SHARE = 5, 0.6
"""How often the lead is named at least, and which share of all names of that gender are the lead's."""
_AGAINST_LIST = 4
"""Number of lines that outweigh the list of given names."""


def entity_of(mention: Mention) -> Entity | None:
    """The person that a name or a noun means; None for a name that several of the cast share."""
    if mention.kind == "cast":
        return ("cast", mention.members[0]) if len(mention.members) == 1 else None
    return (mention.kind, mention.key)


def shared_name(mention: Mention) -> Entity:
    """A name that several of the cast have, as if it were a person."""
    return ("shared", mention.key)


def learn_pronouns(
    cast: Sequence[Member], lines: Sequence[tuple[Sequence[Mention], Sequence[MentionPlace]]]
) -> dict[Entity, str]:
    """``he`` or ``she`` for each person with a name for whom it is clear.

    Titles and roles decide (``Mrs``, ``the king``). A given name does, unless the film's lines contradict the
    list of names several times. For the others lines count in which a subject owns something: ``Four rubs his
    eyes``.
    """
    counts = _count_pronouns(lines)
    by_title: dict[Entity, str] = {}
    pronouns: dict[Entity, str] = {}
    for number, member in enumerate(cast):
        genders = [listed_gender(name) for name in member.given_names]
        by_given_name = next((gender for gender in genders if gender), "")
        pronouns["cast", number] = member.pronoun or by_given_name
        if member.pronoun:
            by_title["cast", number] = member.pronoun
    names_of_several: set[Entity] = set()
    for mentions, _ in lines:
        names_of_several.update(shared_name(mention) for mention in mentions if len(mention.members) > 1)
    for entity in [*counts, *names_of_several]:
        pronouns.setdefault(entity, listed_gender(str(entity[1])))
    for entity, listed_pronoun in pronouns.items():
        count = counts.get(entity, Counter())
        he, she = count["he"], count["she"]
        clear = "he" if he > _CLEAR * she else "she" if she > _CLEAR * he else ""
        if clear and (not listed_pronoun or max(he, she) >= _AGAINST_LIST):
            pronouns[entity] = clear
    return {entity: pronoun for entity, pronoun in {**pronouns, **by_title}.items() if pronoun}


def _count_pronouns(
    lines: Sequence[tuple[Sequence[Mention], Sequence[MentionPlace]]],
) -> dict[Entity, Counter[str]]:
    """For each person how often a line has ``he`` or ``she`` for them.

    Only lines count that name one person, as the subject, before a ``his``, ``her`` or ``himself`` in the
    same clause: there the pronoun can hardly be another's.
    """
    counts: dict[Entity, Counter[str]] = {}
    for mentions, places in lines:
        people = [number for number, mention in enumerate(mentions) if mention.kind != "pronoun"]
        if len(people) != 1 or people[0] + 1 == len(mentions):
            continue
        person = people[0]
        entity = entity_of(mentions[person]) or shared_name(mentions[person])
        pronoun, pronoun_place = mentions[person + 1], places[person + 1]
        owns = pronoun.key in REFLEXIVES or pronoun_place.role == "owner"
        same_clause = pronoun_place.clause == places[person].clause
        if owns and entity[0] != "noun" and places[person].role == "subject" and same_clause:
            counts.setdefault(entity, Counter())[pronoun.pronoun] += 1
    return counts


def leads(
    cast: Sequence[Member], lines: Sequence[Sequence[Mention]], pronouns: Mapping[Entity, str]
) -> dict[str, Entity]:
    """For ``he`` and ``she`` the character whom a film's lines name far more often than all others who have
    that pronoun, or may have it; no entry where there is none. A character without a proper name is no
    lead."""
    times: Counter[Entity] = Counter()
    for mentions in lines:
        for mention in mentions:
            entity = entity_of(mention) if mention.kind in ("cast", "name") else None
            if entity is not None:
                times[entity] += 1
    leads: dict[str, Entity] = {}
    for pronoun in ("he", "she"):
        candidates = {entity: n for entity, n in times.items() if pronouns.get(entity, pronoun) == pronoun}
        most_named = max(candidates, key=lambda entity: candidates[entity], default=None)
        if most_named is None or most_named[0] != "cast" or pronouns.get(most_named) != pronoun:
            continue
        if all(form.is_role for form in cast[int(most_named[1])].forms):
            continue
        if candidates[most_named] >= max(_LEAD_TIMES, _LEAD_SHARE * sum(candidates.values())):
            leads[pronoun] = most_named
    return leads


REACH = 4
"""Lines after which a person is out of focus."""
PAUSE = 60.0
"""Seconds without AD after which no one is in focus any more."""
_GROUP_REACH = 2
"""Lines after which a group is out of focus."""
_WEIGHT: dict[Role, float] = {"subject": 1.0, "owner": 0.6, "object": 0.3, "oblique": 0.0}
_AROUND = listed("behind around about beside after over above before with under past through")
"""Words before a ``him`` that may mean the subject: ``closes the door behind him``."""


@dataclass(frozen=True, slots=True)
class InFocus:
    """A person in focus: number of the line and word of the last mention, its role, and how many mentions
    there were (``times``)."""

    entity: Entity
    pronoun: str
    line: int
    word: int
    role: Role
    times: int


@dataclass
class LineMentions:
    """The words of a line, its mentions and their places. ``resolved`` has the people of each mention that
    was resolved so far, ``subjects`` the people who act in each clause."""

    words: Sequence[NameToken]
    mentions: Sequence[Mention]
    places: Sequence[MentionPlace]
    resolved: list[tuple[Entity, ...]] = field(default_factory=list)
    subjects: dict[int, tuple[Entity, ...]] = field(default_factory=dict)

    def acting(self, number: int, acted_before: tuple[Entity, ...]) -> tuple[Entity, ...]:
        """Who acts in the clause of mention ``number``, a pronoun; no one where the pronoun is the subject.

        In a clause that begins with a verb it is the subject of the last clause; behind ``who`` the person
        before it; in ``lets Mark kiss her`` Mark; in a line that begins with ``and`` the subject of the line
        before (``acted_before``).
        """
        place = self.places[number]
        if place.role == "subject":
            return ()
        if number:
            before, place_before = self.mentions[number - 1], self.places[number - 1]
            between = self.words[before.end : self.mentions[number].start]
            if (
                (place_before.clause, place_before.role) == (place.clause, "object")
                and between
                and between[0].key not in NAME_FUNCTION_WORDS
                and before.kind != "pronoun"
            ):
                return self.resolved[number - 1]
        first_word = self.words[place.start].key
        if place.clause not in self.subjects and first_word in WHO_PRONOUNS:
            resolved_mentions = self.mentions[: len(self.resolved)]
            before_clause = [
                people
                for mention, people in zip(resolved_mentions, self.resolved, strict=True)
                if mention.end <= place.start
            ]
            self.subjects[place.clause] = before_clause[-1] if before_clause else ()
        if place.clause not in self.subjects and first_word in DETERMINERS and place.role != "owner":
            # ``…, the scissors deep in him``: a thing is the subject.
            return ()
        clauses = [clause for clause in self.subjects if clause <= place.clause]
        if clauses:
            return self.subjects[max(clauses)]
        return acted_before if self.words[0].key in ("and", "then") else ()


class Focus:
    """The people in focus, line after line of one film."""

    def __init__(self, pronouns: Mapping[Entity, str], leads: Mapping[str, Entity], groups: bool) -> None:
        self._pronouns = pronouns
        self._leads = leads
        self._with_groups = groups
        self._in_focus: dict[Entity, InFocus] = {}
        self._groups: list[tuple[int, tuple[Entity, ...]]] = []
        """Number of a line, and the people mentioned together there; empty for a group (``the boys``)."""
        self._line_number = -1
        self._unknown_people = 0
        self._acted: tuple[Entity, ...] = ()
        """The subject of the line before."""

    def forget(self) -> None:
        """Put everyone out of focus."""
        self._in_focus.clear()
        self._groups.clear()
        self._acted = ()

    def read(self, line: LineMentions) -> frozenset[int]:
        """The characters that a line means, by their numbers in the cast; its people come into focus."""
        self._line_number += 1
        for number, mention in enumerate(line.mentions):
            place = line.places[number]
            people = self._resolve(number, line)
            line.resolved.append(people)
            if len(people) == 1:
                self._put_in_focus(people[0], mention, place, line)
            if place.joined:
                # ``Tony and Mark`` are who ``they`` are in what follows.
                first = max(index for index, earlier in enumerate(line.places[:number]) if not earlier.joined)
                group: dict[Entity, None] = {}
                for people_of_mention in line.resolved[first:]:
                    group.update(dict.fromkeys(people_of_mention))
                if len(group) > 1:
                    self._groups.append((self._line_number, tuple(group)))
        self._acted = line.subjects[max(line.subjects)] if line.subjects else ()
        members: set[int] = set()
        for people in line.resolved:
            members.update(int(key) for kind, key in people if kind == "cast")
        return frozenset(members)

    def _put_in_focus(
        self, entity: Entity, mention: Mention, place: MentionPlace, line: LineMentions
    ) -> None:
        """Record a mention of one person."""
        role = place.role
        if role == "subject" and (place.joined or place.clause not in line.subjects):
            line.subjects[place.clause] = (*line.subjects.get(place.clause, ()), entity)
        earlier = self._in_focus.get(entity)
        # Of several mentions in a line the role of most weight counts.
        if (
            earlier is not None
            and earlier.line == self._line_number
            and _WEIGHT[earlier.role] > _WEIGHT[role]
        ):
            role = earlier.role
        pronoun = self._pronoun(entity) or mention.pronoun
        times = earlier.times + 1 if earlier else 1
        self._in_focus[entity] = InFocus(entity, pronoun, self._line_number, mention.start, role, times)

    def _resolve(self, number: int, line: LineMentions) -> tuple[Entity, ...]:
        """The people that mention ``number`` of a line means."""
        mention = line.mentions[number]
        if mention.kind == "cast":
            return (self._bearer(mention),)
        if mention.kind == "group":
            self._groups.append((self._line_number, ()))
            return ()
        if mention.kind != "pronoun":
            return ((mention.kind, mention.key),)
        if mention.pronoun == "they":
            return self._resolve_they(mention, line) if self._with_groups else ()
        if mention.key in ("his", "her") and line.places[number].fronted:
            # ``Wiping his brow, Tony …``: the subject stands behind the comma.
            later = zip(line.mentions[number + 1 :], line.places[number + 1 :], strict=True)
            subject = next((later_mention for later_mention, place in later if place.role == "subject"), None)
            entity = entity_of(subject) if subject is not None and subject.kind in ("cast", "name") else None
            if entity is not None and self._pronoun(entity) in ("", mention.pronoun):
                return (entity,)
        return (self._resolve_he_or_she(number, line),)

    def _bearer(self, mention: Mention) -> Entity:
        """The character whose name is mentioned. Of several with that name, it is the one with the pronoun of
        the title, or of the film's lines with that name; else the one mentioned last."""
        bearers: list[Entity] = [("cast", member) for member in mention.members]
        pronoun = mention.pronoun or self._pronouns.get(shared_name(mention), "")
        if pronoun and len(bearers) > 1:
            with_pronoun = [entity for entity in bearers if self._pronouns.get(entity) == pronoun]
            bearers = with_pronoun or [entity for entity in bearers if not self._pronouns.get(entity)]
        if len(bearers) == 1:
            return bearers[0]
        near = []
        for entity, person in self._in_focus.items():
            if entity in bearers and self._is_near(person):
                near.append(person)
        last = max(near, key=lambda person: (person.line, person.word), default=None)
        return last.entity if last else ("name", mention.key)

    def _is_near(self, person: InFocus) -> bool:
        return self._line_number - person.line <= REACH

    def _pronoun(self, entity: Entity) -> str:
        """``he`` or ``she``; empty where it is not known."""
        person = self._in_focus.get(entity)
        return self._pronouns.get(entity, "") or (person.pronoun if person else "")

    def _resolve_he_or_she(self, number: int, line: LineMentions) -> Entity:
        """The person that a pronoun means; where no one is in focus, the lead or a new unknown person."""
        mention, place = line.mentions[number], line.places[number]
        role = place.role
        acting = line.acting(number, self._acted)
        words_before = line.words[max(0, mention.start - 5) : mention.start]
        candidates = []
        for person in self._in_focus.values():
            if self._is_near(person) and person.pronoun in ("", mention.pronoun):
                candidates.append(person)
        if mention.key in REFLEXIVES:
            candidates = [person for person in candidates if person.entity in acting] or candidates
        elif role == "object":
            # Not the subject, except: ``closes the door behind him``, but not ``creeps behind him``.
            before = words_before[-1].key if words_before else ""
            has_object = before in ("around", "about") or any(
                token.key in DETERMINERS for token in words_before[:-1]
            )
            if not (before in _AROUND and has_object):
                candidates = [person for person in candidates if person.entity not in acting]
        elif role == "subject":
            # Not those on whom he acts: ``He glares at Holmes``.
            objects = set()
            later = zip(line.mentions[number + 1 :], line.places[number + 1 :], strict=True)
            for later_mention, later_place in later:
                if later_place.clause == place.clause:
                    objects.add(entity_of(later_mention))
            candidates = [person for person in candidates if person.entity not in objects]
        # Such things are rarely done to oneself: ``grabs his fist``.
        upon_others = role == "owner" and any(token.key in DONE_TO_OTHERS for token in words_before[-2:])

        def weight(person: InFocus) -> float:
            total = _WEIGHT[person.role] - (self._line_number - person.line)
            total += 0.4 if person.pronoun == mention.pronoun else -0.3
            total += 0.15 * min(math.log2(person.times), 3)
            if person.entity in acting:
                total += -2.0 if upon_others else 1.5
            # Objects stay objects: ``He follows Ann. He calls her``.
            if role == "object" and person.role in ("object", "oblique"):
                total += 0.3
            return total

        best = max(candidates, key=lambda person: (weight(person), person.word), default=None)
        if best is not None:
            return best.entity
        lead = self._leads.get(mention.pronoun)
        named_in_line = {entity_of(named) for named in line.mentions if named.kind == "cast"}
        if lead is not None and lead not in named_in_line:
            return lead
        self._unknown_people += 1
        return ("someone", self._unknown_people)

    def _resolve_they(self, mention: Mention, line: LineMentions) -> tuple[Entity, ...]:
        """The last group; else, where ``they`` act, all people of this line so far, or of the line before."""
        # ``them`` is rarely a group of the same line.
        min_distance = 1 if mention.key == "them" else 0
        for group_line, group in reversed(self._groups):
            if min_distance <= self._line_number - group_line <= _GROUP_REACH:
                self._groups.append((self._line_number, group))
                return group
        if mention.key != "they":
            return ()
        in_this_line: dict[Entity, None] = {}
        for people_of_mention in line.resolved:
            in_this_line.update(dict.fromkeys(people_of_mention))
        in_line_before = tuple(
            person.entity for person in self._in_focus.values() if self._line_number - person.line == 1
        )
        people: tuple[Entity, ...] = ()
        if len(in_this_line) > 1:
            people = tuple(in_this_line)
        elif len(in_line_before) > 1:
            people = in_line_before
        self._groups.append((self._line_number, people))
        return people
