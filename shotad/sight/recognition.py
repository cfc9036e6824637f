"""Who is seen: recognised faces go to the people in the pictures, and names to their tracks. Pure logic.

In doubt nobody is named: a name stands only where the face of the track and the recognised face lie in the
same place in a clear majority of the frames in which both are known, and no two people who are seen at one
moment have the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from shotad.core import Box, Sighting
from shotad.sight.people import Glimpse, around, head_distance, holds
from shotad.sight.tracks import Track

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
    left = list(_one_each(sightings))
    pairs = [(_nearness(g, s.box), i, k) for i, g in enumerate(found) for k, s in enumerate(left)]
    taken: dict[int, int] = {}
    for nearness, i, k in sorted(pairs, key=lambda pair: (-pair[0], pair[1:])):
        if nearness > 0 and i not in taken and k not in taken.values():
            taken[i] = k
    for i, k in taken.items():
        found[i : i + 1] = [replace(found[i], who=left[k].name)]
    for sighting in (s for k, s in enumerate(left) if k not in taken.values()):
        found = _with_alone(found, sighting)
    return tuple(sorted(found, key=lambda g: (g.box.centre, -g.body, -g.part))) if left else tuple(people)


def identities(tracks: Sequence[Track[Glimpse]]) -> tuple[str, ...]:
    """Whose each track is, by id; empty for an unknown person's, and where it is in doubt."""
    claims = [_claim(track, tracks) for track in tracks]
    return tuple(
        who if votes and not _outvoted(i, tracks, claims) else "" for i, (who, votes) in enumerate(claims)
    )


def looks_known(track: Track[Glimpse], who: str) -> int:
    """In how many frames ``who`` was recognised in the track."""
    return sum(glimpse.who == who for glimpse in track.seen)


def share_a_moment(one: Track[Glimpse], other: Track[Glimpse]) -> bool:
    """True where both are seen in one frame."""
    return not {g.seconds for g in one.seen}.isdisjoint(g.seconds for g in other.seen)


def _one_each(sightings: Sequence[Sighting]) -> list[Sighting]:
    """The surest sighting of each person."""
    best: dict[str, Sighting] = {}
    for sighting in sorted(sightings, key=lambda s: (-s.score, s.name, s.box.left)):
        best.setdefault(sighting.name, sighting)
    return list(best.values())


def _nearness(glimpse: Glimpse, face: Box) -> float:
    """Above 1 for one with this face, up to 1 for one whose head is where the face is, 0 for others."""
    if glimpse.box.top < face.top - _HAT * face.height:
        return 0.0
    if glimpse.face is not None:
        shared = glimpse.face.box.iou(face)
        return 1 + shared if shared >= _SAME_FACE else 0.0
    return 1 / (1 + head_distance(glimpse.box, face)) if holds(glimpse.box, face) else 0.0


def _with_alone(found: Sequence[Glimpse], sighting: Sighting) -> list[Glimpse]:
    """One more person; a face that was taken for that of a body too tall for it is theirs."""
    mine = [g for g in found if not g.who and g.face and g.face.box.iou(sighting.box) >= _SAME_FACE]
    face = mine[0].face if mine else None
    others = [replace(g, face=None) if mine and g is mine[0] else g for g in found]
    return [*others, Glimpse(around(sighting.box), sighting.seconds, face=face, who=sighting.name)]


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


def _outvoted(i: int, tracks: Sequence[Track[Glimpse]], claims: Sequence[tuple[str, int]]) -> bool:
    """True where another track has the same claim at the same time with more frames, or as many."""
    who, votes = claims[i]
    return any(
        claims[k][0] == who and claims[k][1] >= votes and share_a_moment(tracks[i], tracks[k])
        for k in range(len(tracks))
        if k != i
    )
