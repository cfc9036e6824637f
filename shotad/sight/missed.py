"""People of a shot whom no track shows, known by their recognised faces alone. Pure logic.

Where the picture shakes or others stand before somebody, the detectors see too little of the body to follow.
A face that was recognised is somebody's nevertheless: that they are there is told, and no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from shotad.core import Framing, Named, PeopleFact, Place, Sighting
from shotad.sight.people import around

_PROOF = 3
"""Frames in which a face must be recognised to be the only proof of a person."""
_PAIR = 2
"""Frames in which several must be seen at once."""
_SURE = 0.9

Faces = dict[str, list[Sighting]]


def with_missed(
    facts: Sequence[PeopleFact], shot: int, faces: Sequence[Sighting], cast: Mapping[str, Named]
) -> list[PeopleFact]:
    """The facts about one shot's people, and those about whom its recognised ``faces`` show besides.

    ``cast`` tells by id how they are called; others are left out. In place of somebody unknown who was
    counted at the same time the name is put in. Beside somebody unknown who was seen alone nobody is told:
    it may be the same person.
    """
    proven = _proven(faces, cast)
    told = list(facts)
    group = _at_once(proven)
    if len(group) > 1:
        told = _with_group(told, _fact(shot, {who: proven[who] for who in group}, cast))
    for who in sorted(proven, key=lambda who: (proven[who][0].seconds, who)):
        alone = _fact(shot, {who: proven[who]}, cast)
        doubtful = any(f.count == 1 and not f.names and _overlap(f, alone) for f in told)
        if not doubtful and not any(who in _ids(fact) for fact in told):
            told.append(alone)
    return told


def _proven(faces: Sequence[Sighting], cast: Mapping[str, Named]) -> Faces:
    """The sightings of each who was recognised often enough, one for each moment, in film order."""
    found: dict[str, dict[float, Sighting]] = {}
    for face in sorted(faces, key=lambda s: (s.seconds, -s.score, s.box.left)):
        if face.name in cast:
            found.setdefault(face.name, {}).setdefault(face.seconds, face)
    return {who: list(seen.values()) for who, seen in found.items() if len(seen) >= _PROOF}


def _at_once(proven: Faces) -> frozenset[str]:
    """The most who are seen at one moment, at two at least."""
    moments: dict[float, set[str]] = {}
    for who, seen in proven.items():
        for sighting in seen:
            moments.setdefault(sighting.seconds, set()).add(who)
    often = [
        (len(g), n, sorted(g)) for g, n in Counter(map(frozenset, moments.values())).items() if n >= _PAIR
    ]
    return frozenset(max(often)[2]) if often else frozenset()


def _with_group(told: Sequence[PeopleFact], group: PeopleFact) -> list[PeopleFact]:
    """The facts with all names of the group where some of it were counted at that time; else it besides."""
    named = [_with_names(fact, group) if _knows_some(fact, group) else fact for fact in told]
    return named if any(_ids(group) <= _ids(fact) for fact in named) else [*named, group]


def _with_names(fact: PeopleFact, group: PeopleFact) -> PeopleFact:
    later = group.first > (fact.first if fact.since is None else fact.since)
    return replace(fact, names=group.names, since=group.first if later else fact.since)


def _knows_some(fact: PeopleFact, group: PeopleFact) -> bool:
    less = fact.names and _ids(fact) < _ids(group)
    return bool(less and fact.count >= group.count and _overlap(fact, group))


def _fact(shot: int, group: Faces, cast: Mapping[str, Named]) -> PeopleFact:
    """That these people are there, while all of them are."""
    moments = set.intersection(*({s.seconds for s in seen} for seen in group.values()))
    seen = [s for sightings in group.values() for s in sightings if s.seconds in moments]
    ordered = sorted(group, key=lambda who: (_across(group[who]), who))
    return PeopleFact(
        shot=shot,
        first=round(min(moments), 3),
        last=round(max(moments), 3),
        count=len(group),
        place=_place(_across(seen)),
        size=round(max(around(s.box).height for s in seen), 3),
        face=True,
        movement=None,
        enters=False,
        leaves=False,
        sure=_SURE,
        framing=_framing(seen) if len(group) == 1 else None,
        frames=len(moments),
        names=tuple(cast[who] for who in ordered),
    )


def _ids(fact: PeopleFact) -> set[str]:
    return {name.id for name in fact.names}


def _overlap(one: PeopleFact, other: PeopleFact) -> bool:
    return one.first <= other.last and other.first <= one.last


def _across(seen: Sequence[Sighting]) -> float:
    return sum(s.box.centre[0] for s in seen) / len(seen)


def _place(middle: float) -> Place:
    return "left" if middle < 0.3 else "right" if middle > 0.7 else "centre"


def _framing(seen: Sequence[Sighting]) -> Framing | None:
    """How near the face is; of the body nothing is known."""
    height = sorted(s.box.height for s in seen)[len(seen) // 2]
    return "face" if height > 0.6 else "head and shoulders" if height > 0.33 else None
