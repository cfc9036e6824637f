"""A line while it is read from left to right: whom its words mean so far, and whom grammar rules out.
Pure logic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shotad.evaluation.critic.clauses import Place
from shotad.evaluation.critic.genders import Who, who_of
from shotad.script import NAME_DETERMINERS, NAME_FUNCTION_WORDS, UPON_OTHERS, WHO, Mention, NameToken, listed

_AROUND = listed("behind around about beside after over above before with under past through")
"""Before ``him``, where he may be the one who acts: ``closes the door behind him``."""


@dataclass
class Line:
    """The words of a line, the people in it and their places. ``meant`` grows as they are understood;
    ``subjects`` are those who act in each clause."""

    words: Sequence[NameToken]
    found: Sequence[Mention]
    where: Sequence[Place]
    meant: list[tuple[Who, ...]] = field(default_factory=list)
    subjects: dict[int, tuple[Who, ...]] = field(default_factory=dict)

    def note(self, at: int, people: tuple[Who, ...]) -> None:
        """These are meant by the mention at this place."""
        place = self.where[at]
        self.meant.append(people)
        if (
            len(people) == 1
            and place.role == "subject"
            and (place.joined or place.clause not in self.subjects)
        ):
            self.subjects[place.clause] = (*self.subjects.get(place.clause, ()), people[0])

    def named(self) -> set[Who | None]:
        """All who stand in the line by name."""
        return {who_of(mention) for mention in self.found if mention.kind == "cast"}

    def acts_in(self, at: int) -> int | None:
        """The clause of a mention that acts in it."""
        place = self.where[at]
        return place.clause if place.role == "subject" else None

    def last_subject(self) -> tuple[Who, ...]:
        """Who acts at the end of the line."""
        return self.subjects[max(self.subjects)] if self.subjects else ()

    def acting(self, at: int, before: tuple[Who, ...]) -> tuple[Who, ...]:
        """Who acts where a pronoun stands that is no subject itself.

        In a clause that begins with a verb, who acts in the last; behind ``who`` the one before it; in ``lets
        Mark kiss her`` Mark; in a line that begins with ``and``, those who acted ``before``.
        """
        place = self.where[at]
        if place.role == "subject":
            return ()
        embedded = self._embedded(at)
        if embedded is not None:
            return embedded
        if place.thing and place.role != "owner":
            return ()
        if place.clause not in self.subjects and self.words[place.start].key in WHO:
            self.subjects[place.clause] = self._before(place.start)
        known = [clause for clause in self.subjects if clause <= place.clause]
        if known:
            return self.subjects[max(known)]
        return before if self.words[0].key in ("and", "then") else ()

    def _embedded(self, at: int) -> tuple[Who, ...] | None:
        if (
            not at
            or self.where[at - 1].clause != self.where[at].clause
            or self.where[at - 1].role != "object"
        ):
            return None
        then = self.words[self.found[at - 1].end : self.found[at].start]
        if then and then[0].key not in NAME_FUNCTION_WORDS and self.found[at - 1].kind != "pronoun":
            return self.meant[at - 1]
        return None

    def _before(self, word: int) -> tuple[Who, ...]:
        """Whom the last mention before a word means."""
        ended = [at for at, mention in enumerate(self.found[: len(self.meant)]) if mention.end <= word]
        return self.meant[ended[-1]] if ended else ()

    def others(self, at: int, acting: tuple[Who, ...]) -> set[Who | None]:
        """Who is not meant by ``him`` or ``he``: who acts, and whom he acts on: ``He glares at Holmes``."""
        role = self.where[at].role
        if role == "object" and not self._around(at):
            return set(acting)
        return self._behind(at) if role == "subject" else set()

    def _around(self, at: int) -> bool:
        """Whether ``him`` may be who acts: ``closes the door behind him``, not ``creeps behind him``."""
        start = self.found[at].start
        if start == 0 or self.words[start - 1].key not in _AROUND:
            return False
        thing = self.words[max(0, start - 5) : start - 1]
        near = self.words[start - 1].key in ("around", "about")
        return near or any(token.key in NAME_DETERMINERS for token in thing)

    def _behind(self, at: int) -> set[Who | None]:
        """Those who are named behind ``he`` in the same clause."""
        return {
            who_of(mention)
            for mention, place in zip(self.found[at + 1 :], self.where[at + 1 :], strict=True)
            if place.clause == self.where[at].clause and mention.kind != "pronoun"
        }

    def behind_comma(self, at: int) -> Mention | None:
        """Who acts behind the comma, where a pronoun stands in a part of a sentence before it without a
        subject."""
        here = self.where[at]
        if not here.fronted or any(place.fronted for place in self.where[:at] if place.role != "owner"):
            return None
        return next(
            (
                mention
                for mention, place in zip(self.found[at + 1 :], self.where[at + 1 :], strict=True)
                if place.role == "subject" and place.sentence == here.sentence
            ),
            None,
        )

    def upon_others(self, at: int) -> bool:
        """Whether what is done is rarely done to oneself: ``grabs his fist``."""
        start = self.found[at].start
        return any(token.key in UPON_OTHERS for token in self.words[max(0, start - 2) : start])
