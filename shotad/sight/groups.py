"""Of which people of a stretch to tell together, and of which alone. Pure logic.

Without names, several tracks are told as so many people and no more: whose movement it is could not be said.
Somebody with a name can be told of alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shotad.sight.people import Glimpse
from shotad.sight.persons import Person
from shotad.sight.recognition import share_a_moment
from shotad.sight.tracks import Track

Company = tuple[Person, ...]


def companies(people: Sequence[Person]) -> tuple[Company, ...]:
    """Those who are told of together, then each one with a name who is told of alone, by appearance.

    Somebody unknown who is seen at other moments than everybody else is left out beside a name: it may be the
    same person.
    """
    if not any(person.who for person in people):
        return (tuple(people),) if people else ()
    whole = _whole(people)
    beside = {p: [q for q in whole if q is not p and share_a_moment(p.track, q.track)] for p in whole}
    together = tuple(person for person in whole if beside[person])
    named = sorted((p for p in whole if p.who), key=lambda p: (p.track.first, p.who))
    alone = [(replace(p, parts=(*p.parts, *_perhaps(p, whole))),) for p in named]
    return (together, *alone) if together else tuple(alone)


def _whole(people: Sequence[Person]) -> list[Person]:
    """The people with the tracks of one and the same put together: the longest, the others as its parts."""
    found: list[Person] = []
    for person in people:
        same = [p for p in people if person.who and p.who == person.who]
        longest = max(same, key=lambda p: (len(p.track.seen), -p.track.first), default=person)
        if person is longest:
            found.append(replace(person, parts=tuple(p.track for p in same if p is not longest)))
    return found


def _perhaps(person: Person, people: Sequence[Person]) -> list[Track[Glimpse]]:
    """Tracks of unknown people which may be those of ``person``: they are seen at other moments only."""
    return [p.track for p in people if not p.who and not share_a_moment(p.track, person.track)]
