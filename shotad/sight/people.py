"""Who is in the pictures: people of one frame, recognised faces, and people that no track shows. Pure logic.

A person of a frame is put together from weak evidence: bodies by two detectors, and faces (`Glimpse`).
Recognised faces go to these people, and names to their tracks. In doubt nobody is named: a name stands only
where the face of the track and the recognised face lie in the same place in a clear majority of the frames in
which both are known, and no two people who are seen at one moment have the same.

Where the picture shakes or others stand before somebody, the detectors see too little of the body to follow.
A face that was recognised is somebody's nevertheless: that they are there is told, and no more
(`with_missed`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shotad.core import Box, Framing, Named, PeopleFact, Place, Sighting
from shotad.sight.faces import Face
from shotad.sight.motion import Track, best_pairs
from shotad.sight.things import ANIMALS, overlap

_LONE_SECOND = 0.5
"""Score from which the second detector alone is worth following."""
_LONE_FACE = 0.6
_SAME_BODY = 0.4


@dataclass(frozen=True, slots=True)
class Glimpse:
    """One possible person at one moment, and what speaks for and against.

    ``body`` is the first detector's score in the whole picture, ``part`` its score in a tile of it,
    ``second`` the second detector's (0: it saw none), ``face`` the face in it, ``rival`` the best
    score of an animal in the same place. ``who`` is the id of the one of the cast whose face was recognised
    in it at this very moment, empty for everybody else.
    """

    box: Box
    seconds: float
    body: float = 0.0
    part: float = 0.0
    second: float = 0.0
    face: Face | None = None
    rival: float = 0.0
    who: str = ""

    @property
    def face_score(self) -> float:
        """The face's score, 0 where there is none."""
        return self.face.score if self.face else 0.0


def glimpses_of(
    whole: Sequence[Sighting], parts: Sequence[Sighting], second: Sequence[Sighting], faces: Sequence[Face]
) -> list[Glimpse]:
    """All possible people of one frame, from left to right.

    ``whole`` and ``parts``: what the first detector saw in the picture and in its tiles.
    """
    found = [Glimpse(s.box, s.seconds, body=s.score) for s in whole if s.name == "person"]
    for other in (s for s in parts if s.name == "person"):
        found = _with_part(found, other)
    for other in (s for s in second if s.name == "person"):
        found = _with_second(found, other)
    for face in faces:
        found = _with_face(found, face)
    rivals = [s for s in (*whole, *parts, *second) if s.name in ANIMALS]
    best = (max((s.score for s in rivals if s.box.iou(g.box) > 0.5), default=0.0) for g in found)
    found = [replace(g, rival=rival) for g, rival in zip(found, best, strict=True)]
    return sorted(found, key=lambda g: (g.box.centre, -g.body, -g.part))


def around(box: Box) -> Box:
    """Where head and shoulders must be, given the face's box."""
    x, width, height = box.centre[0], box.width, box.height
    return Box(
        max(0.0, x - 1.5 * width),
        max(0.0, box.top - 0.4 * height),
        min(1.0, x + 1.5 * width),
        min(1.0, box.bottom + 1.2 * height),
    )


def holds(body: Box, face: Box) -> bool:
    """True where the face lies in the upper part of the body."""
    return overlap(body, face) > 0.7 and face.centre[1] < body.top + 0.65 * body.height


def head_distance(body: Box, face: Box) -> float:
    """How far the face lies from where the body's head should be, in widths and heights of the body."""
    across = abs(body.centre[0] - face.centre[0]) / body.width
    return across + abs(body.top + face.height / 2 - face.centre[1]) / body.height


def _with_part(found: list[Glimpse], other: Sighting) -> list[Glimpse]:
    """A tile cuts people who fill the picture: what it shows of one lies inside the whole."""
    best = max(found, key=lambda g: g.box.iou(other.box), default=None)
    if best is None or (best.box.iou(other.box) < _SAME_BODY and overlap(best.box, other.box) < 0.8):
        return [*found, Glimpse(other.box, other.seconds, part=other.score)]
    better = replace(best, part=max(best.part, other.score))
    return [better if g is best else g for g in found]


def _with_second(found: list[Glimpse], other: Sighting) -> list[Glimpse]:
    best = max(found, key=lambda g: g.box.iou(other.box), default=None)
    if best is not None and best.box.iou(other.box) > _SAME_BODY:
        better = replace(best, second=max(best.second, other.score))
        return [better if g is best else g for g in found]
    if other.score < _LONE_SECOND:
        return found
    return [*found, Glimpse(other.box, other.seconds, second=other.score)]


def _with_face(found: list[Glimpse], face: Face) -> list[Glimpse]:
    """The face goes to the free body whose head is nearest; without one it stands for a body itself."""
    free = [g for g in found if g.face is None and holds(g.box, face.box)]
    if free:
        best = min(free, key=lambda g: head_distance(g.box, face.box))
        return [replace(g, face=face) if g is best else g for g in found]
    if face.score < _LONE_FACE:
        return found
    return [*found, Glimpse(around(face.box), face.seconds, face=face)]


_SAME_FACE = 0.3
"""IoU from which two boxes are of one face; those of different detectors share about 0.6."""
_HAT = 1.0
"""Face heights by which a body may reach above its face; beyond it is somebody else's, or an arm."""
_COMMON = 2
"""Frames in which a track's face must be the recognised one."""


def recognised(people: Sequence[Glimpse], sightings: Sequence[Sighting]) -> tuple[Glimpse, ...]:
    """The people of one frame, from left to right, with ``who`` they are.

    ``sightings`` are the recognised faces of that frame: each is one person's, the nearest. One that is
    nobody's is a person itself, of whom head and shoulders are known to be there.
    """
    found = list(people)
    surest: dict[str, Sighting] = {}
    for sighting in sorted(sightings, key=lambda s: (-s.score, s.name, s.box.left)):
        surest.setdefault(sighting.name, sighting)
    left = list(surest.values())
    pairs = ((_nearness(g, s.box), k, i) for i, g in enumerate(found) for k, s in enumerate(left))
    taken = best_pairs(pair for pair in pairs if pair[0] > 0)
    for k, i in taken.items():
        found[i] = replace(found[i], who=left[k].name)
    for sighting in (s for k, s in enumerate(left) if k not in taken):
        # A face that was taken for that of a body too tall for it is theirs.
        mine = (g for g in found if not g.who and g.face and g.face.box.iou(sighting.box) >= _SAME_FACE)
        body = next(mine, None)
        alone = Glimpse(
            around(sighting.box), sighting.seconds, face=body.face if body else None, who=sighting.name
        )
        found = [*(replace(g, face=None) if g is body else g for g in found), alone]
    return tuple(sorted(found, key=lambda g: (g.box.centre, -g.body, -g.part))) if left else tuple(people)


def identities(tracks: Sequence[Track[Glimpse]]) -> tuple[str, ...]:
    """Whose each track is, by id; empty for an unknown person's, and where it is in doubt."""
    claims = [(track, *_claim(track, tracks)) for track in tracks]
    names = []
    for track, who, votes in claims:
        # In doubt where another one has the same claim at the same time with more frames, or as many
        rivals = (one for one, its, most in claims if one is not track and its == who and most >= votes)
        names.append("" if any(share_a_moment(track, rival) for rival in rivals) else who)
    return tuple(names)


def share_a_moment(one: Track[Glimpse], other: Track[Glimpse]) -> bool:
    """True where both are seen in one frame."""
    return not {g.seconds for g in one.seen}.isdisjoint(g.seconds for g in other.seen)


def _nearness(glimpse: Glimpse, face: Box) -> float:
    """Above 1 for one with this face, up to 1 for one whose head is where the face is, 0 for others."""
    if glimpse.box.top < face.top - _HAT * face.height:
        return 0.0
    if glimpse.face is not None:
        shared = glimpse.face.box.iou(face)
        return 1 + shared if shared >= _SAME_FACE else 0.0
    return 1 / (1 + head_distance(glimpse.box, face)) if holds(glimpse.box, face) else 0.0


def _claim(track: Track[Glimpse], tracks: Sequence[Track[Glimpse]]) -> tuple[str, int]:
    """Who the track is by most of its frames, and by how many; none where others have a part in it."""
    votes = Counter(g.who for g in track.seen if g.who)
    if not votes:
        return "", 0
    who, most = min(votes.items(), key=lambda vote: (-vote[1], vote[0]))
    moments = {g.seconds for g in track.seen if not g.who}
    elsewhere = sum(g.who == who and g.seconds in moments for t in tracks if t is not track for g in t.seen)
    clear = 3 * most > 2 * (votes.total() + elsewhere)
    return (who, most) if most >= _COMMON and clear else ("", 0)


PROOF = 3
"""Frames in which a face must be recognised to be the only proof of a person."""
_PAIR = 2
"""Frames in which several must be seen at once."""
_SURE = 0.9

Faces = dict[str, list[Sighting]]


def with_missed(
    facts: Sequence[PeopleFact], shot: int, faces: Sequence[Sighting], cast: Mapping[str, Named]
) -> list[PeopleFact]:
    """The facts about one shot's people, and those about whom its recognised ``faces`` show as well.

    ``cast`` says by id how they are called; others are left out. In place of somebody unknown who was
    counted at the same time the name is put in. Beside somebody unknown who was seen alone nobody is told:
    it may be the same person.
    """
    proven = _proven(faces, cast)
    told = list(facts)
    group = _at_once(proven)
    if len(group) > 1:
        fact = _fact(shot, {who: proven[who] for who in group}, cast)
        told = [_with_names(one, fact) for one in told]
        told += [] if any(_ids(fact) <= _ids(one) for one in told) else [fact]
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
    return {who: list(seen.values()) for who, seen in found.items() if len(seen) >= PROOF}


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


def _with_names(fact: PeopleFact, group: PeopleFact) -> PeopleFact:
    """The fact with all names of the group where some of it were counted at that time."""
    less = fact.names and _ids(fact) < _ids(group)
    if not less or fact.count < group.count or not _overlap(fact, group):
        return fact
    later = group.first > (fact.first if fact.since is None else fact.since)
    return replace(fact, names=group.names, since=group.first if later else fact.since)


def _fact(shot: int, group: Faces, cast: Mapping[str, Named]) -> PeopleFact:
    """That these people are there, while all of them are."""
    moments = set.intersection(*({s.seconds for s in seen} for seen in group.values()))
    seen = [s for sightings in group.values() for s in sightings if s.seconds in moments]
    ordered = sorted(group, key=lambda who: (_across(group[who]), who))
    near = sorted(s.box.height for s in seen)[len(seen) // 2]  # of the face; the body is not known
    framing: Framing | None = "face" if near > 0.6 else "head and shoulders" if near > 0.33 else None
    return PeopleFact(
        shot=shot,
        first=round(min(moments), 3),
        last=round(max(moments), 3),
        count=len(group),
        place=place_at(_across(seen)),
        size=round(max(around(s.box).height for s in seen), 3),
        face=True,
        movement=None,
        enters=False,
        leaves=False,
        sure=_SURE,
        framing=framing if len(group) == 1 else None,
        frames=len(moments),
        names=tuple(cast[who] for who in ordered),
    )


def _ids(fact: PeopleFact) -> set[str]:
    return {name.id for name in fact.names}


def _overlap(one: PeopleFact, other: PeopleFact) -> bool:
    return one.first <= other.last and other.first <= one.last


def _across(seen: Sequence[Sighting]) -> float:
    return sum(s.box.centre[0] for s in seen) / len(seen)


def place_at(middle: float) -> Place:
    """The outer three tenths of the picture are left and right."""
    return "left" if middle < 0.3 else "right" if middle > 0.7 else "centre"
